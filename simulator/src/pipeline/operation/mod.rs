//! An instruction as the pipeline sees it, made once from its word.
//!
//! `power8` and `power9` say how many internal operations it has there, and `power8` how it lies in groups.

mod power8;
mod power9;

use arch::instruction::{Mnemonic, Word};
use arch::registers::spr::{Spr, SprRow};

use super::class::{Class, class};
use super::effects::Effects;
use super::parameters::Parameters;
use super::predictor::Kind;
use super::registers::{Registers, UNREAD, UNWRITTEN, Walk};
use super::units::{Engine, Units, engine};
use crate::ledger::{Cause, CauseSet};
use crate::state::thread::Thread;

/// An instruction as the pipeline sees it.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// What it is.
    pub class: Class,
    /// Renamed registers it reads and writes.
    pub effects: Effects,
    /// Those that it reads.
    pub sources: Walk<3>,
    /// Those that it writes.
    pub targets: Walk<2>,
    /// The units that it takes when it issues.
    pub units: Units,
    /// The unit that it goes on to, and for how many cycles no other can begin there.
    pub engine: Option<(Engine, u64)>,
    /// From issue to result, beyond an access to memory.
    pub latency: u64,
    /// Why the result takes so long.
    pub cause: Cause,
    /// Whether it has to do with renamed registers only.
    pub is_plain: bool,
    /// Whether it makes a carry, which takes its own time.
    pub carries: bool,
    /// Internal operations: more than one if it is cracked.
    pub operations: u64,
    /// Where it may be in a group.
    pub grouping: Grouping,
    /// Whether it makes a condition, which takes its own time.
    pub compares: bool,
    /// Whether the sequencer makes them: more than three.
    pub is_microcode: bool,
    /// How its target and direction are predicted, if it is a branch.
    pub branch: Option<Kind>,
    /// Whether it is a branch that leaves a return address.
    pub is_call: bool,
    /// Whether it is dispatched only when everything before it has completed.
    pub waits_to_be_next: bool,
    /// Whether other threads must have come as far in time first.
    pub orders_threads: bool,
    /// Where it accesses memory, if it does.
    pub operand: Option<Operand>,
    /// Whether a later `isync` has to wait for it.
    pub alters_context: bool,
}

/// Where an instruction may be in a group of instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grouping {
    /// Anywhere.
    Any,
    /// The first.
    First,
    /// The only one.
    Alone,
}

/// The operand in memory of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// RA, or 0 for none.
    base: u8,
    /// RB, where it has one.
    index: Option<u8>,
    displacement: i16,
}

impl Operand {
    fn of(mnemonic: Option<Mnemonic>, word: Word) -> Self {
        /// X forms; all others have a displacement.
        const INDEXED: u32 = 31;
        // Opcode 61 has forms of both kinds, by its last three bits.
        let displacement = match (word.0 >> 26, word.0 & 7) {
            (INDEXED, _) => 0,
            (56, _) | (61, 1 | 5) => word.dq(),
            (57 | 58 | 61 | 62, _) => word.ds(),
            _ => word.d(),
        };
        // Where others have RB, these have a number of bytes.
        let has_index = !matches!(mnemonic, Some(Mnemonic::Lswi | Mnemonic::Stswi));
        let index = (word.0 >> 26 == INDEXED && has_index).then_some(word.rb() as u8);
        Self { base: word.ra() as u8, index, displacement: displacement as i16 }
    }

    /// Its effective address, before `thread` executes the instruction.
    #[inline]
    #[must_use]
    pub fn address(self, thread: &Thread) -> u64 {
        let base = thread.gpr_or_zero(usize::from(self.base));
        let index = self.index.map_or(0, |index| thread.gpr[usize::from(index)]);
        let address = base.wrapping_add(index).wrapping_add_signed(self.displacement.into());
        thread.effective(address).0
    }
}

impl Operation {
    /// The operation of `word`. What `free` names costs nothing.
    #[must_use]
    pub fn new(
        mnemonic: Option<Mnemonic>,
        word: Word,
        parameters: &Parameters,
        free: CauseSet,
    ) -> Self {
        let class = class(mnemonic, word);
        let effects =
            mnemonic.map_or_else(Effects::default, |mnemonic| Effects::of(mnemonic.row(), word));
        let (operations, grouping) = if parameters.has_groups() {
            let operations = power8::operations(mnemonic, word, class, effects);
            (operations, power8::grouping(mnemonic, class, effects))
        } else {
            (power9::operations(mnemonic, word, class, effects), Grouping::Any)
        };
        Self {
            class,
            effects,
            sources: Walk::new(effects.sources, UNREAD),
            targets: Walk::new(effects.targets, UNWRITTEN),
            units: Units::of(mnemonic, class, effects, parameters.has_groups()),
            engine: engine(class, parameters),
            latency: free.cost(class.cause(), latency(class, word, parameters)),
            cause: class.cause(),
            is_plain: class.is_plain(),
            carries: class == Class::Fixed && !effects.targets.and(Registers::CARRY).is_empty(),
            operations,
            grouping,
            compares: class == Class::Fixed
                && !effects.targets.and(Registers::CONDITION).is_empty(),
            is_microcode: operations > parameters.core.cracked,
            branch: branch(mnemonic, word).filter(|_| class == Class::Branch),
            is_call: class == Class::Branch && word.lk() && word != NEXT_ADDRESS,
            waits_to_be_next: class.waits_to_be_next(),
            orders_threads: class.orders_threads(),
            operand: class.is_access().then(|| Operand::of(mnemonic, word)),
            alters_context: alters_context(mnemonic, word, class),
        }
    }
}

impl Operation {
    /// Whether it is a branch that returns from a call.
    #[must_use]
    pub const fn returns(&self) -> bool {
        matches!(self.branch, Some(Kind::Return { .. }))
    }
}

/// `bcl 20,31,.+4`: how a program finds where it is. The link stack takes it for no call.
const NEXT_ADDRESS: Word = Word(0x429F_0005);

/// From issue to result: of its class, but for registers that were measured by themselves.
fn latency(class: Class, word: Word, parameters: &Parameters) -> u64 {
    let spr = || SprRow::of_number(word.spr()).map(|row| row.spr);
    match class {
        Class::SprRead if spr() == Some(Spr::Cfar) => parameters.special.cfar_read,
        Class::SprWrite if spr() == Some(Spr::Hdsisr) => parameters.special.hdsisr_write,
        _ => class.latency(parameters),
    }
}

fn branch(mnemonic: Option<Mnemonic>, word: Word) -> Option<Kind> {
    /// BO of a branch that tests nothing.
    const ALWAYS: u32 = 0b10100;
    let is_conditional = word.bo() & ALWAYS != ALWAYS;
    Some(match mnemonic? {
        Mnemonic::B => Kind::Direct,
        Mnemonic::Bc if is_conditional => Kind::Conditional,
        Mnemonic::Bc => Kind::Direct,
        Mnemonic::Bclr if !word.lk() => Kind::Return { is_conditional },
        Mnemonic::Bclr | Mnemonic::Bcctr | Mnemonic::Bctar => Kind::Indirect { is_conditional },
        _ => return None,
    })
}

/// Whether a later `isync` has to wait for it.
fn alters_context(mnemonic: Option<Mnemonic>, word: Word, class: Class) -> bool {
    let is_key = || {
        let row = SprRow::of_number(word.spr());
        row.is_some_and(|row| matches!(row.spr, Spr::Amr | Spr::Iamr | Spr::Amor | Spr::Uamor))
    };
    match class {
        Class::ContextWrite | Class::MsrWrite | Class::Segment | Class::Tlbie | Class::Tlbiel => {
            true
        }
        Class::SprWrite => is_key(),
        _ => mnemonic == Some(Mnemonic::Icbi),
    }
}
