//! One hardware thread and what it shares, to execute single instructions in any state.

use arch::instruction::{Mnemonic, Word, encode};
use arch::interrupt::Vector;
use arch::registers::hfscr::INTERRUPT_CAUSE;
use arch::registers::spr::Spr;
use arch::registers::{lpcr, msr};
use simulator::exec::{Flow, Mode, select};
use simulator::state::shared::Shared;
use simulator::state::thread::Thread;
use simulator::state::thread::trap::{Cause, Interrupt};
use simulator::{Description, Machine};

pub(crate) const HYPERVISOR: u64 = msr::SF | msr::HV | msr::ME;
pub(crate) const GUEST: u64 = msr::SF | msr::ME;
pub(crate) const PROBLEM: u64 = GUEST | msr::PR | msr::EE | msr::IR | msr::DR;

/// POWER9 with radix translation and every facility on.
pub(crate) struct Parts {
    pub(crate) thread: Thread,
    pub(crate) shared: Shared,
}

impl Parts {
    pub(crate) fn new(state: u64) -> Self {
        let text = include_str!("../../../../machines/power9.toml");
        let machine = Machine::new(Description::from_toml(text).unwrap(), 1);
        let (mut threads, shared) = machine.into_parts();
        let mut thread = threads.remove(0);
        thread.set_spr(Spr::Lpcr, lpcr::HR | lpcr::UPRT);
        for facilities in [Spr::Hfscr, Spr::Fscr] {
            thread.set_spr(facilities, !INTERRUPT_CAUSE.mask());
        }
        (thread.cia, thread.run_start) = (0x1000, 0x1000);
        thread.set_msr(state);
        Self { thread, shared }
    }

    /// Executes an instruction without Rc.
    pub(crate) fn run(&mut self, mnemonic: Mnemonic, operands: &[i64]) -> Result<Flow, Cause> {
        self.run_variant(mnemonic, operands, false)
    }

    /// Executes an instruction with or without Rc.
    pub(crate) fn run_variant(
        &mut self,
        mnemonic: Mnemonic,
        operands: &[i64],
        rc: bool,
    ) -> Result<Flow, Cause> {
        self.execute(encode(mnemonic, operands, rc, false).expect("an instruction"))
    }

    /// Executes `word`.
    pub(crate) fn execute(&mut self, word: Word) -> Result<Flow, Cause> {
        let mode = Mode::from_msr(self.thread.msr());
        let (handler, word, _) = select(word, self.shared.processor, mode);
        let outcome = handler(&mut self.thread, &mut self.shared, word);
        outcome.map_err(|_| self.thread.take_cause().expect("a trap has a cause"))
    }
}

/// The interrupt that kept an instruction from completing.
pub(crate) fn interrupt(outcome: Result<Flow, Cause>) -> Interrupt {
    match outcome {
        Err(Cause::Interrupt(interrupt)) => interrupt,
        other => panic!("expected an interrupt, not {other:?}"),
    }
}

/// Which interrupt, and with which status.
pub(crate) fn vector(outcome: Result<Flow, Cause>) -> (Vector, u64) {
    let interrupt = interrupt(outcome);
    (interrupt.vector, interrupt.status)
}
