//! One instruction at a time, for a thread that is traced: MSR\[TE\] and CIABR.
//!
//! Power ISA 3.0B Book III, Trace Interrupt: it follows the completed instruction, except those that
//! change context by themselves. SRR1 bit 33 is always set; 35 and 36 mark loads and stores, 43 a CIABR
//! match; SIAR holds the traced address. (Bits as in QEMU's later versions; SDAR is left alone.)

use arch::address::EffectiveAddress;
use arch::bits::bit;
use arch::instruction::{Mnemonic, decode};
use arch::interrupt::Vector;
use arch::registers::msr;
use arch::registers::spr::Spr;

use super::Machine;
use super::execution::{Stretch, StretchEnd, execute};
use crate::blocks::Op;
use crate::exec::Mode;
use crate::interrupt;
use crate::mmu::{self, Access};
use crate::state::thread::trap::{Interrupt, StopReason};
use crate::state::thread::{Activity, Thread};
use crate::trace::Observer;

const BRANCH_TRACE: u64 = 1;
const SINGLE_STEP: u64 = 2;
const RESERVED: u64 = 3;

const TRACED: u64 = bit(33);
const LOAD: u64 = bit(35);
const STORE: u64 = bit(36);
const BREAKPOINT: u64 = bit(43);

/// CIABR\[PRIV\] of the thread's state; never 0, which is for no state.
fn privilege(thread: &Thread) -> u64 {
    if thread.is_problem() {
        1
    } else if thread.is_hypervisor() {
        3
    } else {
        2
    }
}

/// Whether the thread's next instruction may be followed by a trace interrupt.
pub(super) fn is_traced(thread: &Thread) -> bool {
    let ciabr = thread.spr(Spr::Ciabr);
    thread.msr() & msr::TE.mask() != 0 || ciabr & 3 == privilege(thread)
}

impl Machine {
    /// Executes the thread's next instruction, and takes the trace interrupt behind it if it is due.
    pub(super) fn step<O: Observer>(
        &mut self,
        index: usize,
        observer: &mut O,
    ) -> Result<StretchEnd, StopReason> {
        let thread = &mut self.state.threads[index];
        let shared = &mut self.state.shared;
        let trace = match msr::TE.get(thread.msr()) {
            RESERVED if thread.msr() & msr::HV != 0 => {
                return Err(StopReason::InvalidForm("MSR[TE]=3"));
            }
            // A partition cannot be told: each of the two bits means what it meant before ISA 2.07.
            RESERVED => SINGLE_STEP,
            trace => trace,
        };
        let ciabr = thread.spr(Spr::Ciabr);
        let address = thread.nia;
        let is_breakpoint = ciabr & 3 == privilege(thread) && ciabr & !3 == address;
        let mode = Mode::of(thread);
        let place = mmu::translate(thread, shared, EffectiveAddress(address), Access::Fetch);
        let Ok(place) = place else { return Ok(StretchEnd::Trap) };
        let number = self.blocks.find(&mut shared.memory, shared.processor, place.offset, mode);
        let end = if self.state.timing.is_some() {
            let limit = thread.steps() + 1;
            let stretch = Stretch { deadline: u64::MAX, limit, mode };
            self.timed_block(index, number, &mut 0, stretch, observer)
        } else {
            execute(thread, shared, self.blocks.get(number), 1, mode, observer)
        };
        if end == StretchEnd::Turn {
            return Ok(end);
        }
        let thread = &mut self.state.threads[index];
        let shared = &mut self.state.shared;
        let op = &self.blocks.get(number).ops[0];
        let is_wanted = trace == SINGLE_STEP || trace == BRANCH_TRACE && is_branch(op.mnemonic);
        if end == StretchEnd::Trap || changes_context(op.mnemonic) || !(is_wanted || is_breakpoint)
        {
            return Ok(if end == StretchEnd::Trap { end } else { StretchEnd::Synchronize });
        }
        if thread.activity == Activity::Waiting {
            // The trace exception ends a wait.
            thread.activity = Activity::Running;
        }
        thread.set_spr(Spr::Siar, address);
        let breakpoint = if is_breakpoint { BREAKPOINT } else { 0 };
        let status = TRACED | access(op) | breakpoint;
        let trace =
            Interrupt { status, is_after_instruction: true, ..Interrupt::new(Vector::Trace) };
        let taken = interrupt::take(thread, shared, &trace);
        self.took(index, taken, observer);
        Ok(StretchEnd::Synchronize)
    }
}

fn is_branch(mnemonic: Option<Mnemonic>) -> bool {
    use Mnemonic::{B, Bc, Bcctr, Bclr, Bctar};
    matches!(mnemonic, Some(B | Bc | Bclr | Bcctr | Bctar))
}

fn changes_context(mnemonic: Option<Mnemonic>) -> bool {
    use Mnemonic::{Hrfid, Rfid, Rfscv, Sc, Scv, Stop};
    matches!(mnemonic, Some(Rfid | Hrfid | Rfscv | Sc | Scv | Stop))
}

/// SRR1's bit for a load or a store. Only loads have names with `l`, only stores with `st` in front.
fn access(op: &Op) -> u64 {
    match decode(op.word).map_or("", |row| row.name) {
        name if name.starts_with("st") => STORE,
        name if name.starts_with('l') => LOAD,
        _ => 0,
    }
}
