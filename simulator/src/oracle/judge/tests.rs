use arch::interrupt::Vector;
use arch::papr::Hypercall;
use arch::processor::Processor;
use arch::registers::spr::Spr;
use arch::registers::{lpcr, monitor, msr};

use super::{Entry, INSTRUCTIONS_PER_TICK, Judge, LATE_TICKS, Left, SKEW_TICKS};
use crate::oracle::register::Register;

const GUEST: u64 = msr::SF | msr::ME;

/// A vCPU that left and enters with the same: 0x1000 everywhere but in its MSR.
struct Case(Judge, Left, Entry);

impl Case {
    fn new(vector: Vector, msr: u64) -> Self {
        let judge = Judge::new(Processor::Power9);
        let mut values = vec![0x1000; judge.rows.len()];
        judge.set_context(&mut values, 0x1000, msr);
        let is_visible = vec![true; values.len()];
        let left = Left {
            number: 1,
            values: values.clone(),
            vector,
            call: None,
            is_stop: false,
            is_doorbell: false,
            is_made_again: false,
            thread: 0,
        };
        Self(judge, left, Entry { values, is_visible, lpcr: 0, secrets: vec![0x7777] })
    }

    fn call(call: Hypercall) -> Self {
        let mut case = Self::new(Vector::SystemCall, GUEST);
        case.1.call = Some(call as u64);
        case
    }

    fn with(mut self, register: Register, value: u64) -> Self {
        let row = self.0.rows.iter().position(|row| row.register == register).unwrap();
        self.2.values[row] = value;
        self
    }

    /// As if `vector` had been delivered by a processor.
    fn delivered(self, vector: Vector) -> Self {
        let interrupted = self.1.values[self.0.msr];
        self.with(Register::Pc, vector.offset())
            .with(Register::Msr, GUEST)
            .with(Register::Spr(Spr::Srr0), 0x1000)
            .with(Register::Spr(Spr::Srr1), interrupted)
    }

    fn wrong(&self) -> Vec<Register> {
        let wrong = self.0.differences(&self.1, &self.2);
        wrong.into_iter().map(|row| self.0.rows[row].register).collect()
    }
}

#[test]
fn interrupts_are_given_only_where_a_processor_would() {
    let enabled = Case::new(Vector::HypervisorDecrementer, GUEST | msr::EE);
    assert_eq!(enabled.delivered(Vector::External).wrong(), []);
    let disabled = Case::new(Vector::HypervisorDecrementer, GUEST);
    assert_eq!(disabled.delivered(Vector::External).wrong(), [Register::Pc]);
    let refused = Case::new(Vector::HypervisorEmulationAssistance, GUEST);
    assert_eq!(refused.delivered(Vector::Program).wrong(), []);
    let fault = Case::new(Vector::HypervisorDataStorage, GUEST);
    assert_eq!(fault.delivered(Vector::Program).wrong(), [Register::Pc]);
}

/// What it wanted of doorbells was done for it: it goes on behind that, with an answer in one register at most.
#[test]
fn a_doorbell_is_done_for_it_or_refused() {
    let facility = || {
        let mut case = Case::new(Vector::HypervisorFacilityUnavailable, GUEST | msr::EE);
        case.1.is_doorbell = true;
        case
    };
    let behind = || facility().with(Register::Pc, 0x1004);
    assert_eq!(facility().delivered(Vector::Program).wrong(), []);
    assert_eq!(behind().wrong(), []);
    assert_eq!(behind().with(Register::Gpr(7), 1).wrong(), []);
    assert_eq!(behind().with(Register::Gpr(7), 2).wrong(), [Register::Gpr(7)]);
    assert_eq!(behind().with(Register::Spr(Spr::Lr), 0).wrong(), [Register::Spr(Spr::Lr)]);
    let two = behind().with(Register::Gpr(7), 1).with(Register::Gpr(8), 0);
    assert_eq!(two.wrong(), [Register::Gpr(7), Register::Gpr(8)]);
    let rung = facility().delivered(Vector::DirectedPrivilegedDoorbell);
    assert_eq!(rung.with(Register::Spr(Spr::Srr0), 0x1004).wrong(), []);
    let mut other = behind();
    other.1.is_doorbell = false;
    assert_eq!(other.wrong(), [Register::Pc]);
}

#[test]
fn an_interrupt_changes_what_it_saves_and_nothing_else() {
    let given =
        || Case::new(Vector::HypervisorDecrementer, GUEST | msr::EE).delivered(Vector::External);
    for register in [Register::Gpr(3), Register::Spr(Spr::Dar), Register::Spr(Spr::Srr0)] {
        assert_eq!(given().with(register, 0x2000).wrong(), [register]);
    }
    assert_eq!(given().with(Register::Msr, GUEST | msr::EE).wrong(), [Register::Msr]);
}

#[test]
fn a_machine_check_arrives_without_relocation_and_tells_of_data() {
    const RELOCATED: u64 = GUEST | msr::IR | msr::DR;
    let mut given = Case::new(Vector::HypervisorDataStorage, RELOCATED)
        .delivered(Vector::MachineCheck)
        .with(Register::Spr(Spr::Dar), 0x2000);
    given.2.lpcr = lpcr::AIL.set(0, 3);
    assert_eq!(given.wrong(), []);
    assert_eq!(given.with(Register::Msr, RELOCATED).wrong(), [Register::Msr]);
}

#[test]
fn a_call_sets_sprg0_to_its_argument_and_no_other_call_does() {
    let sprg0 = Register::Spr(Spr::Sprg0);
    let set = |call, value| Case::call(call).with(Register::Gpr(4), 0).with(sprg0, value);
    assert_eq!(set(Hypercall::SetSprg0, 0x1000).wrong(), []);
    assert_eq!(set(Hypercall::SetSprg0, 0x2000).wrong(), [sprg0]);
    assert_eq!(set(Hypercall::Cppr, 0x2000).wrong(), [sprg0]);
}

#[test]
fn what_was_never_seen_has_to_be_as_after_a_reset() {
    let mut case = Case::new(Vector::HypervisorFacilityUnavailable, GUEST);
    case.2.is_visible.fill(false);
    case.0.set_invisible(&mut case.2);
    let row = |register| case.0.rows.iter().position(|row| row.register == register).unwrap();
    assert_eq!(case.2.values[row(Register::Vscr)], 0);
    assert_eq!(case.2.values[row(Register::Spr(Spr::Mmcr0))], 0x8000_0000);
}

#[test]
fn what_a_hypercall_may_lose_is_zero_then() {
    let lost = || Case::call(Hypercall::Cppr).with(Register::Gpr(3), 0);
    assert_eq!(lost().with(Register::Gpr(12), 0).wrong(), []);
    assert_eq!(lost().with(Register::Gpr(12), 1).wrong(), [Register::Gpr(12)]);
    assert_eq!(lost().with(Register::Gpr(13), 0).wrong(), [Register::Gpr(13)]);
    assert_eq!(lost().with(Register::Gpr(3), 10_000).wrong(), [Register::Gpr(3)]);
}

#[test]
fn an_output_is_only_where_the_call_has_one_and_never_the_hypervisors() {
    let output = |call, value| Case::call(call).with(Register::Gpr(4), value).wrong();
    assert_eq!(output(Hypercall::Random, 0x1234_5678_9ABC_DEF0), []);
    assert_eq!(output(Hypercall::Cppr, 0x1234_5678_9ABC_DEF0), [Register::Gpr(4)]);
    assert_eq!(output(Hypercall::Random, 0xC000_0000_0005_13D8), [Register::Gpr(4)]);
    assert_eq!(output(Hypercall::Random, 0x7777), [Register::Gpr(4)]);
    // The request is in r5: the answer has another first byte.
    let answer = |value| Case::call(Hypercall::BlockRemove).with(Register::Gpr(4), value).wrong();
    assert_eq!(answer(0xC000_0000_0000_1000), []);
    assert_eq!(answer(0xC000_0000_0005_13D8), [Register::Gpr(4)]);
}

#[test]
fn time_passes_for_counters_and_not_for_the_decrementer() {
    let (timebase, purr) = (Register::Spr(Spr::Tb), Register::Spr(Spr::Purr));
    let later = || Case::new(Vector::HypervisorDecrementer, GUEST).with(timebase, 0x2000);
    assert_eq!(later().with(purr, 0x2000 + SKEW_TICKS).wrong(), []);
    assert_eq!(later().with(purr, 0x2001 + SKEW_TICKS).wrong(), [purr]);
    assert_eq!(later().with(purr, 0xFFF).wrong(), [purr]);
    let expires = Register::Spr(Spr::Dec);
    assert_eq!(later().with(expires, 0x1000 - SKEW_TICKS).wrong(), []);
    assert_eq!(later().with(expires, 0x0FFF - SKEW_TICKS).wrong(), [expires]);
    assert_eq!(later().with(expires, 0x1000 + LATE_TICKS as u64).wrong(), []);
    assert_eq!(later().with(expires, 0x1001 + LATE_TICKS as u64).wrong(), [expires]);
    assert_eq!(later().with(timebase, 0xFFF - SKEW_TICKS).wrong(), [timebase]);
}

#[test]
fn counters_of_the_monitor_move_while_they_are_not_frozen_and_as_fast_as_time_lets_them() {
    let [mmcr0, pmc1, timebase] = [Spr::Mmcr0, Spr::Pmc1, Spr::Tb].map(Register::Spr);
    let left_with = |value| {
        let mut case = Case::new(Vector::HypervisorDecrementer, GUEST);
        let row = case.0.mmcr0;
        (case.1.values[row], case.2.values[row]) = (value, value);
        case.with(timebase, 0x1001)
    };
    let most = (1 + SKEW_TICKS) * INSTRUCTIONS_PER_TICK;
    assert_eq!(left_with(0).with(pmc1, 0x1000 + most).wrong(), []);
    assert_eq!(left_with(0).with(pmc1, 0x1001 + most).wrong(), [pmc1]);
    assert_eq!(left_with(0).with(pmc1, 0xFFF).wrong(), [pmc1]);
    assert_eq!(left_with(monitor::FC).with(pmc1, 0x1001).wrong(), [pmc1]);
    let alert = monitor::PMAO | monitor::FC;
    assert_eq!(left_with(monitor::PMAE).with(mmcr0, alert).wrong(), []);
    assert_eq!(left_with(0).with(mmcr0, alert).wrong(), [mmcr0]);
    assert_eq!(left_with(monitor::PMAE).with(mmcr0, alert | monitor::FCH).wrong(), [mmcr0]);
}

/// It is the same call then, with all that it called with.
#[test]
fn a_call_of_the_hashed_page_table_may_be_made_again() {
    let again = |call| Case::call(call).with(Register::Pc, 0xFFC);
    assert_eq!(again(Hypercall::BulkRemove).wrong(), []);
    assert_eq!(again(Hypercall::BulkRemove).with(Register::Gpr(0), 0).wrong(), []);
    for register in [Register::Gpr(3), Register::Gpr(11), Register::Gpr(20)] {
        assert!(!again(Hypercall::BulkRemove).with(register, 0x2000).wrong().is_empty());
    }
    let ninth = Register::Gpr(12);
    assert_eq!(again(Hypercall::BlockRemove).wrong(), []);
    assert_eq!(again(Hypercall::BulkRemove).with(ninth, 0).wrong(), []);
    assert!(!again(Hypercall::BlockRemove).with(ninth, 0).wrong().is_empty());
    assert_eq!(again(Hypercall::ResizeHptCommit).wrong(), []);
    let eighth = |value| again(Hypercall::ResizeHptCommit).with(Register::Gpr(11), value).wrong();
    assert_eq!(eighth(0), []);
    assert!(!eighth(0x2000).is_empty());
    assert!(!again(Hypercall::ResizeHptCommit).with(Register::Gpr(10), 0).wrong().is_empty());
    assert_eq!(again(Hypercall::Cppr).wrong(), [Register::Pc]);
}
