//! What an instruction does.
//!
//! One handler per instruction, one file per family. A handler changes the thread and what threads
//! share; it knows nothing of time. It is chosen once, when the instruction is decoded: privilege and
//! facilities depend on the [`Mode`] that the block was decoded in, and so cost nothing later.
//!
//! Guards first, effect second, flags last.

pub mod branch;
pub mod decimal_floating_point;
mod declet;
pub mod facility;
pub mod fixed_point;
pub mod floating_point;
pub mod history;
pub mod invalidate;
pub mod message;
pub mod power;
pub mod prefetch;
pub mod segment;
pub mod spr;
pub mod storage;
pub mod synchronization;
pub mod system;
pub mod transaction;
pub mod vector;
pub mod vector_facility;
pub mod vector_scalar;

use arch::instruction::{Privilege, Row, VectorFacility, Word, decode};
use arch::interrupt::program;
use arch::processor::Processor;
use arch::registers::hfscr::Facility;
use arch::registers::pcr::Level;
use arch::registers::spr::Spr;
use arch::registers::{msr, pcr};

use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::{StopReason, Trap};

/// How a completed instruction hands over to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// The next instruction in memory.
    Next,
    /// The instruction set the thread's `nia`.
    Branch,
    /// The next instruction in memory, but in what may be another state: the MSR, a translation or an
    /// interrupt may have changed.
    Synchronize,
    /// Both: the instruction set the thread's `nia`, and the state may have changed.
    Return,
}

/// What executing an instruction gives.
pub type Outcome = Result<Flow, Trap>;

/// Executes one instruction. `thread.cia` is its address.
pub type Handler = fn(&mut Thread, &mut Shared, Word) -> Outcome;

/// How execution goes on after a store: not into instructions that it may have overwritten, nor past an interrupt
/// that it may have asked for.
#[inline(always)]
fn stored(shared: &Shared) -> Outcome {
    Ok(if shared.must_look() { Flow::Synchronize } else { Flow::Next })
}

/// The state that instructions are decoded for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Mode(u16);

impl Mode {
    const PROBLEM: u16 = 1;
    const HYPERVISOR: u16 = 2;
    const LITTLE_ENDIAN: u16 = 4;
    const FLOATING_POINT: u16 = 8;
    const SIXTY_FOUR_BIT: u16 = 16;
    const VECTOR: u16 = 32;
    const VSX: u16 = 64;
    /// What PCR takes from problem state.
    const NO_TRANSACTIONS: u16 = 0x80;
    const NOTHING_BEHIND_2_07: u16 = 0x100;
    const NOTHING_BEHIND_2_06: u16 = 0x200;
    const NOTHING_BEHIND_2_05: u16 = 0x400;

    /// The mode that an MSR means.
    #[must_use]
    pub fn from_msr(value: u64) -> Self {
        let is = |bit: u64, flag: u16| if value & bit != 0 { flag } else { 0 };
        let hypervisor = if value & (msr::HV | msr::PR) == msr::HV { Self::HYPERVISOR } else { 0 };
        Self(
            is(msr::PR, Self::PROBLEM)
                | is(msr::LE, Self::LITTLE_ENDIAN)
                | is(msr::FP, Self::FLOATING_POINT)
                | is(msr::SF, Self::SIXTY_FOUR_BIT)
                | is(msr::VEC, Self::VECTOR)
                | is(msr::VSX, Self::VSX)
                | hypervisor,
        )
    }

    /// The mode that `thread` is in: its MSR, less what PCR takes from problem state and HFSCR from a partition.
    #[must_use]
    pub fn of(thread: &Thread) -> Self {
        let mut mode = Self::from_msr(thread.msr());
        if thread.is_problem() {
            mode.0 |= Self::taken_by_pcr(thread.spr(Spr::Pcr));
        }
        if thread.msr() & msr::HV != 0 {
            return mode;
        }
        let taken = |facility: Facility, flags: u16| {
            if thread.spr(Spr::Hfscr) & facility.bit() == 0 { flags } else { 0 }
        };
        let floating = taken(Facility::Fp, Self::FLOATING_POINT);
        Self(mode.0 & !floating & !taken(Facility::VecVsx, Self::VECTOR | Self::VSX))
    }

    /// A number that differs between modes.
    #[must_use]
    pub fn number(self) -> u16 {
        self.0
    }

    fn taken_by_pcr(pcr: u64) -> u16 {
        let level = match Level::left_by(pcr) {
            Level::V3_0 => 0,
            Level::V2_07 => Self::NOTHING_BEHIND_2_07,
            Level::V2_06 => Self::NOTHING_BEHIND_2_06,
            Level::V2_05 => Self::NOTHING_BEHIND_2_05,
        };
        if pcr & pcr::TM != 0 { level | Self::NO_TRANSACTIONS } else { level }
    }

    /// Whether PCR leaves `row` to the mode.
    fn leaves(self, row: &Row) -> bool {
        let level = if self.0 & Self::NOTHING_BEHIND_2_05 != 0 {
            Level::V2_05
        } else if self.0 & Self::NOTHING_BEHIND_2_06 != 0 {
            Level::V2_06
        } else if self.0 & Self::NOTHING_BEHIND_2_07 != 0 {
            Level::V2_07
        } else {
            Level::V3_0
        };
        row.level <= level
            && (self.0 & Self::NO_TRANSACTIONS == 0 || !transaction::is_one(row.mnemonic))
    }

    /// MSR\[PR\].
    #[must_use]
    pub fn is_problem(self) -> bool {
        self.0 & Self::PROBLEM != 0
    }

    /// MSR\[HV\] without PR.
    #[must_use]
    pub fn is_hypervisor(self) -> bool {
        self.0 & Self::HYPERVISOR != 0
    }

    /// MSR\[LE\].
    #[must_use]
    pub fn is_little_endian(self) -> bool {
        self.0 & Self::LITTLE_ENDIAN != 0
    }

    /// MSR\[FP\].
    #[must_use]
    pub fn has_floating_point(self) -> bool {
        self.0 & Self::FLOATING_POINT != 0
    }

    /// Whether a vector or vector-scalar instruction is available that needs `facility`.
    #[must_use]
    pub fn has(self, facility: VectorFacility) -> bool {
        let flag = match facility {
            VectorFacility::FloatingPoint => Self::FLOATING_POINT,
            VectorFacility::Vector => Self::VECTOR,
            VectorFacility::Vsx => Self::VSX,
        };
        self.0 & flag != 0
    }
}

/// The handler for `word`, decoded for `processor` in `mode`, the word that it wants, and its row if it has one.
///
/// Processors ignore reserved bits, so a handler does not see them. What is refused here goes to HEIR as it is.
#[must_use]
pub fn select(
    word: Word,
    processor: Processor,
    mode: Mode,
) -> (Handler, Word, Option<&'static Row>) {
    let row = decode(word).filter(|row| row.processors.includes(processor) && mode.leaves(row));
    let Some(row) = row else {
        let handler = if word == FIRMWARE_ENTRY { system::firmware } else { system::illegal };
        return (handler, word, None);
    };
    if let Some(facility) = arch::instruction::vector_facility(word)
        && !mode.has(facility)
    {
        return (vector_facility::unavailable(facility), word, Some(row));
    }
    let is_refused = match row.privilege {
        Privilege::Problem => false,
        Privilege::Privileged => mode.is_problem(),
        Privilege::Hypervisor => !mode.is_hypervisor(),
    };
    if is_refused {
        return (system::privileged, word, Some(row));
    }
    if row.is_invalid_form(word, processor) {
        return (invalid_form, word, Some(row));
    }
    let read = row.as_read(word, processor);
    let families = [
        fixed_point::handler,
        floating_point::handler,
        decimal_floating_point::handler,
        vector::handler,
        vector_scalar::handler,
        storage::handler,
        branch::handler,
        system::handler,
        spr::handler,
        invalidate::handler,
        segment::handler,
        synchronization::handler,
        power::handler,
        message::handler,
        prefetch::handler,
        transaction::handler,
        history::handler,
    ];
    match families.iter().find_map(|family| family(row.mnemonic, read, mode)) {
        Some(handler) => (handler, read, Some(row)),
        None => (not_modelled, word, Some(row)),
    }
}

/// The firmware's entry word: primary opcode 0, which no POWER processor executes.
pub const FIRMWARE_ENTRY: Word = Word(0x0000_4F50);

fn name(word: Word) -> &'static str {
    decode(word).map_or("an unknown instruction", |row| row.name)
}

fn invalid_form(thread: &mut Thread, _: &mut Shared, word: Word) -> Outcome {
    Err(thread.stop(StopReason::InvalidForm(name(word))))
}

fn not_modelled(thread: &mut Thread, _: &mut Shared, word: Word) -> Outcome {
    Err(thread.stop(StopReason::InstructionNotModelled(name(word))))
}

/// Whether a hypervisor-privileged instruction or register in privileged state is left to the
/// hypervisor (LPCR\[EVIRT\]) or is the guest's own mistake.
fn hypervisor_privileged(thread: &mut Thread, word: Word) -> Trap {
    use arch::registers::lpcr;
    if !thread.is_problem() && thread.spr(Spr::Lpcr) & lpcr::EVIRT != 0 {
        thread.emulation_assistance(word)
    } else {
        thread.program_interrupt(program::PRIVILEGED)
    }
}
