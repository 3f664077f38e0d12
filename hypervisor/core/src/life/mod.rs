//! The life of a partition: its states, what leads from one to another, and the permission that its vCPUs need to run.
//!
//! | state | what happens | next |
//! |---|---|---|
//! | runs | RTAS power-off, an exit that ends it, its time limit, all of its vCPUs stopped, or nothing will wake one | concluded: end |
//! | runs | RTAS system-reboot | concluded: restart |
//! | runs | the time comes at which it is to be suspended | concluded: suspension |
//! | concluded: restart or suspension | a vCPU that had left before comes with an end | concluded: end |
//! | concluded: suspension | a vCPU that had left before comes with a restart | concluded: restart; it is suspended later |
//! | concluded | the same with anything else | as it was: the first end counts |
//! | concluded | a hypercall or an exit of a vCPU that has not left yet | as it was: it is not carried out unless it needs no lock of the partition, and the vCPU leaves |
//! | concluded: restart | none of its vCPUs runs any more | loads: its first vCPU is ready, and does the work in place of its own |
//! | concluded: suspension | none of its vCPUs runs any more, and their records are whole | saves: what they did is in the image, they are stopped, and the first one writes the memory in place of its own work |
//! | saves | a piece of the work is done ([`crate::partition::image`]) | saves; concluded: end after the last one |
//! | loads | a piece of the work is done ([`crate::partition::load`]) | loads; runs after the last one |
//! | loads, saves | a piece fails, or its time limit | concluded: end |
//! | concluded: end | none of its vCPUs runs any more | over |
//! | over | nothing can | |
//!
//! What its vCPUs do meanwhile:
//!
//! | vCPU | what happens | next |
//! |---|---|---|
//! | stopped | RTAS start-cpu; for the first one, that the partition loads | ready |
//! | any other | RTAS start-cpu | as it was: status -1 |
//! | ready | a hardware thread takes it | running |
//! | running | its slice ends, it confers, is called back, or is woken before it sleeps | ready |
//! | running | H_CEDE | ceded |
//! | running | H_CONFER to itself | awaits a prod |
//! | running | RTAS stop-self | stopped |
//! | ceded | its decrementer expires, H_IPI, H_PROD | ready |
//! | awaits a prod | H_PROD | ready |
//! | running | the partition is concluded | running, until its doorbell brings it back; then stopped, whatever it left for |
//! | running | the partition is concluded: suspension | running, until its doorbell brings it back; then what it left for |
//! | any other | the partition is concluded: suspension | as it was, and no thread takes it and no timer wakes it |
//! | any other | the partition is concluded otherwise | stopped |
//!
//! A vCPU becomes ready, runs and falls asleep with a [`MayRun`] only, which nobody has of a partition that is
//! concluded or over: see [`crate::vcpu`]. A partition becomes over in one place, which makes the [`Ended`] without
//! which it is not taken from the schedule's count.
//!
//! That a vCPU can be started that is stopped, and no other (status -1, a hardware error), is PAPR's start-cpu, and
//! QEMU's (`hw/ppc/spapr_rtas.c`). PAPR has no status for a call that comes too late for its partition, since
//! power-off and system-reboot do not return, on any processor.

pub mod activity;
pub mod outcome;
pub mod progress;

use core::marker::PhantomData;

use crate::life::activity::Activity;
use crate::life::outcome::Outcome;
use crate::life::progress::Progress;

/// Where a partition is in its life.
#[derive(Debug)]
pub struct Life(State);

#[derive(Debug)]
enum State {
    Runs,
    Loads(Progress),
    Concluded(Pending),
    Over(Outcome),
}

/// What one of its vCPUs made of a partition, for when the others have left the processors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pending {
    /// It is over.
    End {
        /// How.
        outcome: Outcome,
        /// Which of its vCPUs is to be shown.
        vcpu: usize,
    },
    /// It starts anew.
    Restart,
    /// It is suspended.
    Suspension,
}

/// Permission for the vCPUs of a partition to become ready, to run and to sleep. While somebody has it, the partition
/// cannot be concluded.
#[derive(Clone, Copy, Debug)]
pub struct MayRun<'a>(PhantomData<&'a Life>);

/// A partition has just become over: there is one of these for each.
#[derive(Debug)]
pub struct Ended {
    vcpu: usize,
}

impl Ended {
    /// Which of its vCPUs is to be shown.
    #[must_use]
    pub const fn vcpu(&self) -> usize {
        self.vcpu
    }
}

/// What was concluded, once all vCPUs have left.
#[derive(Debug)]
pub enum CarriedOut {
    /// The partition loads again, and runs then.
    Restart,
    /// It is over.
    End(Ended),
    /// It is at rest, and becomes an image.
    Suspension,
}

impl Life {
    /// A partition that runs.
    #[must_use]
    pub const fn new() -> Self {
        Self(State::Runs)
    }

    /// Permission for its vCPUs to run, unless it is concluded or over.
    #[must_use]
    pub const fn may_run(&self) -> Option<MayRun<'_>> {
        match self.0 {
            State::Runs | State::Loads(_) => Some(MayRun(PhantomData)),
            State::Concluded(_) | State::Over(_) => None,
        }
    }

    /// Whether it runs, and so can be suspended.
    #[must_use]
    pub const fn may_suspend(&self) -> bool {
        matches!(self.0, State::Runs)
    }

    /// Whether it is to be suspended, and not at rest yet.
    #[must_use]
    pub const fn comes_to_rest(&self) -> bool {
        matches!(self.0, State::Concluded(Pending::Suspension))
    }

    /// How it ended, if it is over.
    #[must_use]
    pub const fn outcome(&self) -> Option<&Outcome> {
        match &self.0 {
            State::Over(outcome) => Some(outcome),
            State::Runs | State::Loads(_) | State::Concluded(_) => None,
        }
    }

    /// How far it is loaded, if it does that.
    #[must_use]
    pub const fn progress(&self) -> Option<Progress> {
        match self.0 {
            State::Loads(progress) => Some(progress),
            State::Runs | State::Concluded(_) | State::Over(_) => None,
        }
    }

    /// It is loaded so far, or wholly. Nothing happens to one that does not load.
    pub fn loaded(&mut self, progress: Option<Progress>) {
        if let State::Loads(_) = self.0 {
            self.0 = match progress {
                Some(progress) => State::Loads(progress),
                None => State::Runs,
            };
        }
    }

    /// Its vCPUs run no more, because of what one of them did or because it is to be suspended. An end takes the place
    /// of a restart, and both that of a suspension; otherwise what was first counts.
    ///
    /// # Panics
    /// If it is over: no vCPU is left then that could do anything.
    pub fn conclude(&mut self, pending: Pending) {
        match &self.0 {
            State::Runs
            | State::Loads(_)
            | State::Concluded(Pending::Restart | Pending::Suspension) => {
                self.0 = State::Concluded(pending)
            }
            State::Concluded(Pending::End { .. }) => {}
            State::Over(outcome) => panic!("a partition that is over ({outcome:?}) ends again"),
        }
    }

    /// What becomes of a partition that was concluded, once none of its vCPUs, which do this, runs any more.
    ///
    /// # Panics
    /// If one of them could still run: nobody makes it ready without a [`MayRun`].
    pub fn carry_out(&mut self, vcpus: impl Iterator<Item = Activity>) -> Option<CarriedOut> {
        let State::Concluded(pending) = &self.0 else { return None };
        let mut can_run = false;
        for activity in vcpus {
            match activity {
                Activity::Running { .. } => return None,
                Activity::Stopped => {}
                _ => can_run = true,
            }
        }
        let pending = pending.clone();
        let rests = pending == Pending::Suspension;
        assert!(rests || !can_run, "a vCPU of a partition that is concluded can run");
        Some(match pending {
            Pending::Restart => {
                self.0 = State::Loads(Progress::RESTART);
                CarriedOut::Restart
            }
            Pending::Suspension => {
                self.0 = State::Loads(Progress::SAVE);
                CarriedOut::Suspension
            }
            Pending::End { outcome, vcpu } => {
                self.0 = State::Over(outcome);
                CarriedOut::End(Ended { vcpu })
            }
        })
    }
}

impl Default for Life {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{CarriedOut, Life, Pending};
    use crate::fake::Fake;
    use crate::life::outcome::{Outcome, StopReason};
    use crate::life::progress::Progress;
    use crate::vcpu::Vcpu;
    use crate::vcpu::registers::Registers;
    use crate::vcpu_id::VcpuId;
    use arch::address::GuestRealAddress;

    const OFF: Pending = Pending::End { outcome: Outcome::PoweredOff, vcpu: 3 };
    const LIMIT: Pending =
        Pending::End { outcome: Outcome::Stopped(StopReason::TimeLimit), vcpu: 1 };

    fn carry_out(life: &mut Life) -> Option<CarriedOut> {
        life.carry_out(core::iter::empty())
    }

    #[test]
    fn the_first_end_counts_and_comes_before_a_restart() {
        let mut life = Life::new();
        assert!(life.may_run().is_some() && carry_out(&mut life).is_none());
        for pending in [Pending::Restart, OFF, LIMIT, Pending::Restart] {
            life.conclude(pending);
            assert!(life.may_run().is_none() && life.outcome().is_none());
        }
        assert!(matches!(carry_out(&mut life), Some(CarriedOut::End(ended)) if ended.vcpu() == 3));
        assert_eq!(life.outcome(), Some(&Outcome::PoweredOff));
        assert!(life.may_run().is_none() && carry_out(&mut life).is_none(), "it ends once");
    }

    #[test]
    fn a_restart_loads_and_may_be_ended_meanwhile() {
        for is_ended in [false, true] {
            let mut life = Life::new();
            life.loaded(Some(Progress::START));
            assert_eq!(life.progress(), None, "it does not load");
            life.conclude(Pending::Restart);
            assert!(matches!(carry_out(&mut life), Some(CarriedOut::Restart)));
            assert_eq!(life.progress(), Some(Progress::RESTART));
            assert!(life.may_run().is_some() && carry_out(&mut life).is_none());
            life.loaded(Some(Progress::START));
            assert_eq!(life.progress(), Some(Progress::START));
            if is_ended {
                life.conclude(LIMIT);
                assert!(life.may_run().is_none());
            }
            life.loaded(None);
            assert_eq!(life.progress(), None);
            assert_eq!(life.may_run().is_some(), !is_ended);
        }
    }

    #[test]
    fn nothing_becomes_of_it_while_a_vcpu_runs() {
        let mut life = Life::new();
        let registers = Registers::started(GuestRealAddress(0), 0, 0);
        let mut vcpu: Vcpu<Fake> = Vcpu::new(VcpuId(0), registers);
        assert!(vcpu.run(0, life.may_run().unwrap()).is_none(), "it is not ready");
        vcpu.become_ready(life.may_run().unwrap());
        let registers = vcpu.run(0, life.may_run().unwrap());
        assert!(registers.is_some() && vcpu.run(1, life.may_run().unwrap()).is_none());
        life.conclude(OFF);
        let mut vcpus = [vcpu];
        assert!(life.carry_out(vcpus.iter().map(Vcpu::activity)).is_none());
        vcpus[0].stop();
        assert!(matches!(
            life.carry_out(vcpus.iter().map(Vcpu::activity)),
            Some(CarriedOut::End(_))
        ));
    }

    #[test]
    #[should_panic(expected = "ends again")]
    fn what_is_over_does_not_end_again() {
        let mut life = Life::new();
        life.conclude(OFF);
        carry_out(&mut life);
        life.conclude(OFF);
    }

    #[test]
    #[should_panic(expected = "can run")]
    fn a_vcpu_that_can_still_run_when_all_have_left_is_found() {
        let mut life = Life::new();
        let registers = Registers::started(GuestRealAddress(0), 0, 0);
        let mut vcpu: Vcpu<Fake> = Vcpu::new(VcpuId(0), registers);
        vcpu.become_ready(life.may_run().unwrap());
        life.conclude(OFF);
        life.carry_out([vcpu.activity()].into_iter());
    }
}
