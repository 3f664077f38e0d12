//! What passes for a thread without its executing anything: interrupts, sleep, changes of its core's SMT mode.

mod power8;
mod power9;

use arch::processor::Processor;

use super::Timing;
use super::sharing::Core;
use crate::interrupt::Taken;
use crate::ledger::{Cause, Owner};
use crate::state::thread::{Activity, Thread};

impl Timing {
    /// `thread` took an interrupt.
    pub fn interrupted(&mut self, thread: &mut Thread, taken: Taken) {
        if taken.is_exit() {
            let lpid = thread.lpid();
            self.owners[thread.index] = Owner::Serving { lpid, vector: taken.vector.offset() };
        }
        let owner = self.owner(thread);
        let cost = self.parameters.special.interrupt;
        let cost = self.settings.free.cost(Cause::FlushInterrupt, cost).max(1);
        self.wait(thread, owner, Cause::FlushInterrupt, cost);
    }

    /// `thread` woke from where it was asleep: it waited until its time.
    pub fn woke(&mut self, thread: &mut Thread, from: Activity) {
        self.charge_idle(thread, Cause::WaitStop);
        let wake = &self.parameters.wake;
        let nanoseconds = match from {
            Activity::Stopped => match self.processor {
                Processor::Power8 => power8::wake(wake, thread),
                Processor::Power9 => power9::wake(wake, thread),
            },
            // `wait` is part of the pipeline.
            _ => 0,
        };
        let cycles =
            (u128::from(nanoseconds) * u128::from(self.clock.core_hz)).div_ceil(1_000_000_000);
        let cycles = self.settings.free.cost(Cause::WaitWake, cycles as u64);
        self.wait(thread, Owner::Idle, Cause::WaitWake, cycles);
        if let Owner::Serving { .. } = self.owners[thread.index] {
            self.owners[thread.index] = Owner::Host;
        }
    }

    /// Charges what passed for `thread` without its executing anything to nobody.
    fn charge_idle(&mut self, thread: &mut Thread, cause: Cause) {
        if thread.time.cycles() > self.pipelines[thread.index].completed() {
            self.wait(thread, Owner::Idle, cause, 0);
        }
    }

    /// Lets `cycles` more pass for `thread`, and charges them with what has passed before to `owner`.
    fn wait(&mut self, thread: &mut Thread, owner: Owner, cause: Cause, cycles: u64) {
        let caller = self.caller(thread, owner);
        let account = self.charges.account(owner, thread.nia, caller);
        let pipeline = &mut self.pipelines[thread.index];
        let now = thread.time.cycles().max(pipeline.completed() + cycles);
        pipeline.wait(&mut self.charges, now, cause, account);
        thread.time.charge_completion(now);
    }

    /// Looks at what threads do: who is awake decides the SMT mode of a core, and who was released by
    /// firmware waited for it until its time.
    pub fn look(&mut self, threads: &mut [Thread]) {
        for thread in threads.iter_mut() {
            self.charge_idle(thread, Cause::WaitFirmware);
        }
        for (index, members) in threads.chunks(self.threads_per_core).enumerate() {
            let core = &mut self.cores[index];
            let before = core.divisor();
            note_awake(core, members);
            let divisor = core.divisor();
            if divisor == before {
                continue;
            }
            self.memory.set_mode(index, divisor);
            let cost = self.settings.free.cost(Cause::WaitMode, self.parameters.core.mode_change);
            for thread in members.iter() {
                let owner = self.owners[thread.index];
                let pipeline = &mut self.pipelines[thread.index];
                let account = self.charges.account(owner, thread.nia, pipeline.caller);
                pipeline.change_mode(cost, account);
            }
        }
    }
}

/// Notes which of its threads run in a core, and which are awake.
pub(super) fn note_awake(core: &mut Core, threads: &[Thread]) {
    let mut is_changed = false;
    for (member, thread) in core.members.iter_mut().zip(threads) {
        let before = (member.is_awake, member.is_running);
        member.is_awake = is_awake(thread);
        member.is_running = thread.activity == Activity::Running;
        if member.is_running && !before.1 {
            member.place = thread.time.cycles();
        }
        is_changed |= before != (member.is_awake, member.is_running);
    }
    if is_changed {
        core.look();
    }
}

/// Whether a thread takes part in its core's SMT mode: it runs, or waits in a `wait` or a `stop` that
/// gives nothing up.
fn is_awake(thread: &Thread) -> bool {
    match thread.activity {
        Activity::Running | Activity::Waiting => true,
        Activity::Stopped => !thread.asked.loses_state,
        Activity::InFirmware => false,
    }
}
