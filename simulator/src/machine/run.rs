//! The run loop: from block to block, slice to slice.

use arch::interrupt::Vector;
use arch::marker::Mark;
use arch::opal::token;

use super::execution::{StretchEnd, execute, find_block, next_at};
use super::{Machine, Report, power, siblings, step, subcores};
use crate::exec::Mode;
use crate::interrupt::{self, Taken};
use crate::machine::state::State;
use crate::mmu;
use crate::platform::{Power, opal};
use crate::state::thread::Thread;
use crate::state::thread::trap::{Cause, StopReason};
use crate::trace::Observer;

/// How a run ended.
#[derive(Debug)]
pub enum RunState {
    /// The asked-for steps are done; the machine can go on.
    Running,
    /// A mark that [`Machine::stop_at`] named was passed; the machine can go on.
    AtMark {
        /// By which thread.
        thread: usize,
        /// Which one.
        mark: Mark,
    },
    /// A thread is about to execute what lies at a place that [`Machine::stop_before`] named; the machine can go on.
    AtPlace {
        /// Which thread.
        thread: usize,
    },
    /// Every thread sleeps beyond the cycle that [`Machine::sleep_until`] named; the machine can go on.
    Asleep {
        /// The cycle at which the first one wakes.
        until: u64,
    },
    /// The payload switched the machine off.
    PoweredOff,
    /// The payload asked for a reboot.
    Rebooted,
    /// The machine cannot go on.
    Stopped(Box<Report>),
}

impl Machine {
    /// Runs for `steps` more (instructions completed and interrupts taken), or until the machine ends.
    pub fn run<O: Observer>(&mut self, steps: u64, observer: &mut O) -> RunState {
        let end = self.run_to_end(steps, observer);
        if let Some(timing) = &self.state.timing {
            timing.check(&self.state.threads);
        }
        end
    }

    fn run_to_end<O: Observer>(&mut self, steps: u64, observer: &mut O) -> RunState {
        let target = self.state.steps().saturating_add(steps);
        self.agenda.forget();
        loop {
            if let Err((index, reason)) = self.pay_attention() {
                return self.stopped(index, reason);
            }
            match self.state.platform.power {
                Power::Off => {
                    self.state.platform.console.drain();
                    return RunState::PoweredOff;
                }
                Power::Rebooting => return RunState::Rebooted,
                Power::On | Power::GoingOff => {}
            }
            if let Some((thread, mark)) = self.at_mark.take() {
                return RunState::AtMark { thread, mark };
            }
            if let Some(thread) = self.places.take_reached() {
                return RunState::AtPlace { thread };
            }
            let now = self.steps();
            if now >= target {
                return RunState::Running;
            }
            let idle = now - self.state.progress_at;
            let patience = self.state.description.watchdog_instructions().unwrap_or(u64::MAX);
            if idle >= patience {
                let reason = format!(
                    "watchdog: {idle} steps without a firmware call or a hypercall, as [watchdog] of the machine file \
                     asks"
                );
                return self.stopped(0, reason);
            }
            let Some(index) = self.next_thread() else {
                return self.stopped(0, self.deadlock());
            };
            let thread = &self.state.threads[index];
            if thread.activity.is_asleep() {
                if let Some(until) = next_at(thread).filter(|&until| until > self.sleep_until) {
                    return RunState::Asleep { until };
                }
                // It may have come into the next quantum: whoever is first then goes on.
                self.wake(index, observer);
                continue;
            }
            let budget = (target - now).min(patience - idle);
            let end = if self.state.timing.is_some() {
                self.timed_slice(index, budget, observer)
            } else {
                self.slice(index, budget, observer).map_err(|reason| (index, reason))
            };
            self.agenda.note(&self.state.threads[index]);
            if let Err((index, reason)) = end {
                return self.stopped(index, reason);
            }
        }
    }

    /// Instructions completed and interrupts taken by all threads.
    fn steps(&mut self) -> u64 {
        if self.state.timing.is_some() {
            return self.state.steps();
        }
        self.agenda.look(&self.state.threads);
        self.agenda.all_steps()
    }

    fn stopped(&mut self, index: usize, reason: impl ToString) -> RunState {
        self.state.platform.console.drain();
        RunState::Stopped(Box::new(Report::new(&self.state, index, reason.to_string())))
    }

    /// Ends the sleep of thread `index`.
    fn wake<O: Observer>(&mut self, index: usize, observer: &mut O) {
        let from = self.state.threads[index].activity;
        self.agenda.forget();
        let taken = power::wake(&mut self.state, index);
        let State { threads, shared, timing, .. } = &mut self.state;
        // What ended the wait may have been a timer.
        shared.show_time(&threads[index]);
        if let Some(taken) = taken {
            observer.interrupted(&threads[index], shared, taken);
        }
        if let Some(timing) = timing {
            timing.woke(&mut threads[index], from);
            timing.look(threads);
        }
    }

    /// Thread `index` took an interrupt.
    pub(super) fn took<O: Observer>(&mut self, index: usize, taken: Taken, observer: &mut O) {
        let State { threads, shared, timing, .. } = &mut self.state;
        if matches!(taken.vector, Vector::Decrementer | Vector::HypervisorDecrementer) {
            // Whoever set the timer knows what time it is.
            shared.show_time(&threads[index]);
        }
        if let Some((vector, region)) = self.begin_at
            && taken.is_exit()
            && taken.vector == vector
        {
            observer.region_began(&threads[index], region);
            shared.pass_mark(index, Mark::Begin(region));
        }
        observer.interrupted(&threads[index], shared, taken);
        if let Some(timing) = timing {
            timing.interrupted(&mut threads[index], taken);
        }
    }

    /// The thread that goes on. In timing mode turns decide.
    fn next_thread(&mut self) -> Option<usize> {
        if self.state.timing.is_some() { self.next_turn() } else { self.agenda.first() }
    }

    /// Looks at what happened: finds out anew when each waiting thread wakes, and does what is planned for
    /// the marks that were passed.
    ///
    /// # Errors
    /// The thread that the machine cannot go on with, and why.
    fn pay_attention(&mut self) -> Result<(), (usize, StopReason)> {
        let State { threads, shared, .. } = &mut self.state;
        if !shared.shared_writes().is_empty() {
            siblings::tell(threads, shared);
            shared.clear_shared_writes();
            self.agenda.forget();
            if threads.iter().any(|thread| thread.activity.is_asleep()) {
                // The timers of a thread that waits may be due at another cycle now.
                shared.call_attention();
            }
        }
        if shared.is_calling() {
            self.agenda.forget();
            subcores::arrange(threads, shared)?;
            shared.clear_attention();
            power::find_levels(threads, shared);
            for thread in threads.iter_mut().filter(|thread| thread.activity.is_asleep()) {
                thread.wakes_at = interrupt::wake::wakes_at(thread, shared);
            }
            for (thread, mark) in shared.take_marks() {
                if self.stop_at.contains(&mark) {
                    self.at_mark = Some((thread, mark));
                }
                self.pass_mark(thread, mark);
            }
            if let Some(timing) = &mut self.state.timing {
                timing.turn = None;
            }
        }
        let State { threads, timing, .. } = &mut self.state;
        if let Some(timing) = timing {
            timing.look(threads);
        }
        Ok(())
    }

    fn deadlock(&self) -> String {
        let is_asleep = |thread: &&Thread| thread.activity.is_asleep();
        match self.state.threads.iter().filter(is_asleep).count() {
            0 => "every thread waits inside firmware".to_owned(),
            asleep => format!(
                "every thread waits for ever: {asleep} in stop or wait, with nothing left that could wake \
                 them, the others inside firmware"
            ),
        }
    }

    /// Runs thread `index` to the end of its slice, for `budget` steps at most.
    fn slice<O: Observer>(
        &mut self,
        index: usize,
        budget: u64,
        observer: &mut O,
    ) -> Result<(), StopReason> {
        let thread = &self.state.threads[index];
        let limit = thread.steps().saturating_add(budget);
        // A step is a cycle.
        let now = thread.time.cycles();
        let end = self.agenda.slice_end(index, now).min(now.saturating_add(budget));
        while self.state.threads[index].time.cycles() < end
            && self.state.threads[index].steps() < limit
        {
            if self.state.shared.needs_attention() {
                return Ok(());
            }
            self.run_engines(self.state.threads[index].time.cycles(), observer)?;
            self.enter(index, observer)?;
            let thread = &mut self.state.threads[index];
            if step::is_traced(thread) {
                if self.places.reach(thread) {
                    return Ok(());
                }
                match self.step(index, observer)? {
                    StretchEnd::Trap if self.trap(index, observer)? => return Ok(()),
                    _ => continue,
                }
            }
            let deadline = end.min(interrupt::decrementers::next_timer(thread, &self.state.shared));
            // An instruction is a cycle.
            let (cycles, instructions) = thread.next_alert();
            let alert = thread.time.cycles().saturating_add(cycles.min(instructions));
            let deadline = deadline.min(alert);
            match self.blocks(index, deadline, observer) {
                StretchEnd::Place => return Ok(()),
                StretchEnd::Trap if self.trap(index, observer)? => return Ok(()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes a pending interrupt, if one is due, and enters the thread's state: translations and
    /// decoded code of this state come within reach.
    pub(super) fn enter<O: Observer>(
        &mut self,
        index: usize,
        observer: &mut O,
    ) -> Result<(), StopReason> {
        let thread = &mut self.state.threads[index];
        let shared = &mut self.state.shared;
        thread.cia = thread.nia;
        thread.run_start = thread.nia;
        thread.count();
        if let Some(taken) = interrupt::take_pending(thread, shared) {
            self.took(index, taken, observer);
        }
        let thread = &mut self.state.threads[index];
        let shared = &mut self.state.shared;
        interrupt::event::take(thread, shared);
        shared.looked();
        if shared.has_stale_code() {
            let frames = shared.take_stale_code();
            self.blocks.discard(&mut shared.memory, &frames);
        }
        let context = mmu::context(thread, shared);
        let generation = (shared.cores[thread.core].tlb.generation(), self.blocks.generation());
        let mode = Mode::of(thread);
        thread.shortcuts.enter(context, mode.number(), generation);
        if mmu::watch::is_armed(thread) {
            thread.shortcuts.bypass_pages();
        }
        thread.accesses.is_on = self.state.timing.is_some() || O::SEES_STORES;
        if thread.accesses.is_on {
            thread.shortcuts.record_pages();
        }
        Ok(())
    }

    /// Executes block after block in the state that was entered, until `deadline` in the thread's time
    /// or until an instruction leaves that state.
    fn blocks<O: Observer>(&mut self, index: usize, deadline: u64, observer: &mut O) -> StretchEnd {
        let thread = &mut self.state.threads[index];
        let shared = &mut self.state.shared;
        let mode = Mode::of(thread);
        loop {
            debug_assert!(!shared.must_look(), "a store into code synchronizes");
            thread.cia = thread.nia;
            thread.run_start = thread.nia;
            if self.places.reach(thread) {
                return StretchEnd::Place;
            }
            let Ok(number) = find_block(thread, shared, &mut self.blocks, mode) else {
                return StretchEnd::Trap;
            };
            let allowed = self.places.room(thread, deadline - thread.time.cycles());
            let end = execute(thread, shared, self.blocks.get(number), allowed, mode, observer);
            if end != StretchEnd::Straight || thread.time.cycles() >= deadline {
                return end;
            }
        }
    }

    /// Deals with the instruction that did not complete. `Ok(true)` after a firmware call: it may have
    /// started or stopped threads, or the machine.
    pub(super) fn trap<O: Observer>(
        &mut self,
        index: usize,
        observer: &mut O,
    ) -> Result<bool, StopReason> {
        let thread = &mut self.state.threads[index];
        let cause = thread.take_cause().expect("a trap leaves its cause");
        match cause {
            Cause::Interrupt(interrupt) => {
                let taken = interrupt::take(thread, &self.state.shared, &interrupt);
                self.took(index, taken, observer);
                if taken.is_exit() && taken.vector == Vector::SystemCall {
                    self.state.progress_at = self.state.steps();
                }
                Ok(false)
            }
            Cause::Firmware => {
                self.agenda.forget();
                if opal::hold(&mut self.state, index) {
                    return Ok(true);
                }
                let thread = &self.state.threads[index];
                observer.firmware_called(thread, thread.gpr[0]);
                if thread.gpr[0] != token::POLL_EVENTS {
                    self.state.progress_at = self.state.steps();
                }
                opal::call(&mut self.state, index)?;
                if let Some(timing) = &mut self.state.timing {
                    timing.turn = None;
                }
                Ok(true)
            }
            Cause::Stop(reason) => Err(reason),
        }
    }
}
