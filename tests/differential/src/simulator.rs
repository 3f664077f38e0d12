//! The simulator's side: executes a case's words by their handlers, on two pages of memory.

use arch::address::RealAddress;
use arch::interrupt::{Vector, program};
use arch::processor::Processor;
use arch::registers::msr;
use arch::registers::spr::Spr;
use simulator::exec::{Flow, Mode, select};
use simulator::ledger::Clock;
use simulator::state::cores::Core;
use simulator::state::memory::{Memory, Region};
use simulator::state::shared::{FirmwarePlace, Shared};
use simulator::state::thread::Thread;
use simulator::state::thread::trap::{Cause, StopReason};

use crate::case::Case;
use crate::layout::{LANDING, SCRATCH, SCRATCH_BYTES, WINDOW};
use crate::program::BACKWARD;
use crate::state::{ByteOrder, Exit, State, WINDOW_BYTES};

/// What the simulator makes of a case.
#[derive(Debug)]
pub enum Verdict {
    /// The words completed.
    Completed(Box<State>),
    /// An interrupt that a Linux program gets as this signal.
    Signal(i32),
    /// The instruction is not modelled.
    NotModelled,
    /// Nothing to compare, and why: a result that is undefined, or an access outside of the window.
    NotComparable(String),
}

/// Signals of Linux.
pub mod signal {
    /// An instruction that does not exist.
    pub const ILLEGAL: i32 = 4;
    /// A trap instruction.
    pub const TRAP: i32 = 5;
    /// An operand that is not aligned.
    pub const BUS: i32 = 7;
    /// An enabled floating-point exception.
    pub const FLOATING_POINT: i32 = 8;
    /// An access that storage refuses.
    pub const SEGMENTATION: i32 = 11;
}

/// A hardware thread in problem state without translation: a state that no software reaches, and
/// that has the semantics of problem state on flat memory.
#[derive(Debug)]
pub struct Simulator {
    thread: Thread,
    shared: Shared,
}

impl Simulator {
    /// A simulator of `processor` for programs of this byte order.
    #[must_use]
    pub fn new(processor: Processor, order: ByteOrder) -> Self {
        let region = Region { base: SCRATCH, bytes: SCRATCH_BYTES, node: 0 };
        let clock = Clock { core_hz: 4_000_000_000, timebase_hz: 512_000_000 };
        let shared = Shared::new(
            processor,
            clock,
            Memory::new(vec![region]),
            vec![Core::new(0)],
            FirmwarePlace { base: 0, entry: 0 },
            1,
            0,
        );
        let mut thread = Thread::new(shared.processor, 0, 0);
        let little = if order == ByteOrder::Little { msr::LE } else { 0 };
        let facilities = msr::FP | msr::VEC | msr::VSX;
        thread.set_msr(msr::SF | msr::HV | msr::PR | facilities | msr::FE0 | msr::FE1 | little);
        Self { thread, shared }
    }

    /// Executes a case whose first word lies at `address`.
    pub fn run(&mut self, case: &Case, address: u64) -> Verdict {
        self.load(&case.start);
        let mode = Mode::from_msr(self.thread.msr());
        let mut at = address;
        for (index, &word) in case.words.iter().enumerate() {
            let Self { thread, shared } = self;
            thread.cia = at;
            let (handler, word, _) = select(word, shared.processor, mode);
            match handler(thread, shared, word) {
                Ok(Flow::Branch | Flow::Return) => at = thread.nia,
                Ok(Flow::Next | Flow::Synchronize) => at += 4,
                Err(_) => return self.refused(),
            }
            let is_last = index + 1 == case.words.len();
            if !is_last && at != address + 4 * (index as u64 + 1) {
                return Verdict::NotComparable("the preparing word branches".to_owned());
            }
        }
        self.finish(address + 4 * (case.words.len() as u64 - 1), at)
    }

    fn load(&mut self, start: &State) {
        let Self { thread, shared } = self;
        thread.gpr = start.gpr;
        thread.cr = start.cr as u32;
        thread.xer = start.xer;
        thread.lr = start.lr;
        thread.ctr = start.ctr;
        // As an operating system that has given problem state every facility.
        thread.set_spr(Spr::Fscr, u64::MAX);
        thread.set_spr(Spr::Tar, start.tar);
        thread.set_spr(Spr::Vrsave, start.vrsave);
        thread.fpscr = start.fpscr;
        thread.vscr = start.vscr[1] as u32;
        thread.vsr = start.vsr;
        shared.take_reservation(thread, 0, 0);
        let copied = shared.memory.copy_in(RealAddress(SCRATCH), &[0; SCRATCH_BYTES as usize]);
        copied.expect("the scratch pages are memory");
        let copied = shared.memory.copy_in(RealAddress(WINDOW), &start.window);
        copied.expect("the window lies in the scratch pages");
    }

    fn refused(&mut self) -> Verdict {
        match self.thread.take_cause() {
            Some(Cause::Interrupt(interrupt)) => match interrupt.vector {
                Vector::Program if interrupt.status == program::TRAP => {
                    Verdict::Signal(signal::TRAP)
                }
                Vector::Program if interrupt.status == program::FLOATING_POINT => {
                    Verdict::Signal(signal::FLOATING_POINT)
                }
                Vector::Alignment => Verdict::Signal(signal::BUS),
                Vector::DataStorage => Verdict::Signal(signal::SEGMENTATION),
                Vector::HypervisorEmulationAssistance => Verdict::Signal(signal::ILLEGAL),
                vector => Verdict::NotComparable(format!("{} interrupt", vector.name())),
            },
            Some(Cause::Stop(StopReason::InstructionNotModelled(_))) => Verdict::NotModelled,
            Some(Cause::Stop(reason)) => Verdict::NotComparable(reason.to_string()),
            cause => Verdict::NotComparable(format!("{cause:?}")),
        }
    }

    /// The state after the instruction under test, at `address`, went on at `next`.
    fn finish(&self, address: u64, next: u64) -> Verdict {
        let Self { thread, shared } = self;
        let exit = match next.wrapping_sub(address) as i64 {
            4 => Exit::Next,
            8 => Exit::Forward,
            BACKWARD => Exit::Backward,
            _ if next == LANDING => Exit::Landing,
            _ => return Verdict::NotComparable("a branch to elsewhere".to_owned()),
        };
        let scratch = shared
            .memory
            .copy_out(RealAddress(SCRATCH), SCRATCH_BYTES as usize)
            .expect("the scratch pages are memory");
        let (before, rest) = scratch.split_at((WINDOW - SCRATCH) as usize);
        let (window, after) = rest.split_at(WINDOW_BYTES);
        if before.iter().chain(after).any(|&byte| byte != 0) {
            return Verdict::NotComparable("a store outside of the window".to_owned());
        }
        Verdict::Completed(Box::new(State {
            gpr: thread.gpr,
            cr: thread.cr.into(),
            xer: thread.xer & shared.processor.facts().xer,
            lr: thread.lr,
            ctr: thread.ctr,
            tar: thread.spr(Spr::Tar),
            vrsave: thread.spr(Spr::Vrsave),
            fpscr: thread.fpscr,
            exit: exit as u64,
            vscr: [0, thread.vscr.into()],
            vsr: thread.vsr,
            window: window.try_into().expect("the window has its size"),
        }))
    }
}
