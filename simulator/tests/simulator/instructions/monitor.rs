//! The performance monitor and event-based branches: what counts when, what an alert does, and what problem state may
//! touch. Source of the rules: Power ISA 3.0B Book III,
//! Performance Monitor Facility, as Microwatt's `pmu.vhdl` and QEMU have it.

use super::parts::{GUEST, HYPERVISOR, PROBLEM, Parts, vector};
use arch::instruction::Mnemonic;
use arch::interrupt::{Vector, program};
use arch::registers::monitor::{self, mmcr2};
use arch::registers::spr::Spr;
use arch::registers::{bescr, msr};
use simulator::exec::Flow;
use simulator::interrupt::{event, pending};
use simulator::state::thread::counters::Missing;
use simulator::state::thread::trap::Cause;

const CTRL: i64 = 152;
const MMCR2: i64 = 785;
const MMCRA: i64 = 786;
const PMC1: i64 = 787;
const MMCR0: i64 = 795;
const MMCR1: i64 = 798;
const BESCR: i64 = 806;
/// Every state is frozen, or both values of MSR[PMM].
const ALL_STATES: u64 = monitor::FCS | monitor::FCP | monitor::FCH;
const ALL_MARKS: u64 = monitor::FCM0 | monitor::FCM1;

impl Parts {
    fn put(&mut self, number: i64, value: u64) -> Result<Flow, Cause> {
        self.thread.gpr[4] = value;
        self.run(Mnemonic::Mtspr, &[number, 4])
    }

    fn get(&mut self, number: i64) -> u64 {
        self.run(Mnemonic::Mfspr, &[3, number]).expect("the register can be read");
        self.thread.gpr[3]
    }
}

/// What the counters count of 70 cycles and 7 instructions in `state`, once these registers are written.
fn counted_in(state: u64, writes: &[(i64, u64)]) -> [u64; 6] {
    let mut parts = Parts::new(HYPERVISOR);
    parts.put(CTRL, 1).unwrap();
    for &(number, value) in writes {
        let flow = parts.put(number, value);
        // The run latch changes what is next only where a counter looks at it.
        let is_expected = flow == Ok(Flow::Synchronize) || number == CTRL && flow == Ok(Flow::Next);
        assert!(is_expected, "SPR {number} = {value:#x}: {flow:?}");
    }
    parts.thread.set_msr(state);
    parts.pass(70, 7);
    parts.thread.set_msr(HYPERVISOR);
    let counted = std::array::from_fn(|index| parts.get(PMC1 + index as i64));
    parts.put(MMCR0, monitor::FC).unwrap();
    counted
}

/// The same in the hypervisor's state.
fn counted(writes: &[(i64, u64)]) -> [u64; 6] {
    counted_in(HYPERVISOR, writes)
}

impl Parts {
    /// So many cycles and instructions pass.
    fn pass(&mut self, cycles: u64, instructions: u64) {
        self.thread.time.charge_functional(cycles);
        self.thread.completed += instructions;
    }
}

const NOTHING: [u64; 6] = [0; 6];
/// PMC5 and PMC6.
const LAST: [u64; 6] = [0, 0, 0, 0, 7, 70];

#[test]
fn the_last_two_count_instructions_and_cycles_and_the_others_their_events() {
    assert_eq!(counted(&[(MMCR0, 0)]), LAST);
    assert_eq!(counted(&[(MMCR1, 0x021E_021E), (MMCR0, 0)]), [7, 70, 7, 70, 7, 70]);
    assert_eq!(counted(&[(MMCR0, 0), (MMCR1, 0x1E02_1E02)]), [70, 7, 70, 7, 7, 70]);
    assert_eq!(counted(&[(MMCR1, 0xF0F4_00FA), (MMCR0, monitor::FC5_6)]), [70, 70, 0, 7, 0, 0]);
    assert_eq!(counted(&[(MMCR1, 0xFE02_0202), (MMCR0, monitor::FC1_4)]), LAST);
    // The same number is something else for another counter.
    assert_eq!(counted(&[(MMCR1, 0x00F0_F4FE), (MMCR0, monitor::FC5_6)]), NOTHING);
}

#[test]
fn states_and_marks_freeze() {
    let marked = |state| state | msr::PMM;
    for state in [HYPERVISOR, GUEST, PROBLEM, PROBLEM | msr::HV] {
        for (bit, freezes) in [
            (monitor::FCH, state == HYPERVISOR),
            (monitor::FCS, state == GUEST),
            (monitor::FCP, state & msr::PR != 0),
            (monitor::FCPC, state == PROBLEM | msr::HV),
            (monitor::FCP | monitor::FCPC, state == PROBLEM),
            (monitor::FCM0, true),
            (monitor::FCM1, false),
            (ALL_STATES, true),
            (ALL_MARKS, true),
            (monitor::FC, true),
        ] {
            let expected = if freezes { NOTHING } else { LAST };
            assert_eq!(counted_in(state, &[(MMCR0, bit)]), expected, "{state:#x}: {bit:#x}");
        }
        assert_eq!(counted_in(marked(state), &[(MMCR0, monitor::FCM0)]), LAST);
        assert_eq!(counted_in(marked(state), &[(MMCR0, monitor::FCM1)]), NOTHING);
    }
}

#[test]
fn mmcr2_freezes_counters_one_by_one() {
    let frozen = |number, field| mmcr2::of(number, field);
    for (state, field) in [
        (HYPERVISOR, mmcr2::H),
        (GUEST, mmcr2::S),
        (PROBLEM, mmcr2::P0),
        (HYPERVISOR, mmcr2::M0),
        (HYPERVISOR | msr::PMM, mmcr2::M1),
    ] {
        let of = |value| counted_in(state, &[(MMCR2, value), (MMCR0, 0)]);
        assert_eq!(of(frozen(5, field)), [0, 0, 0, 0, 0, 70]);
        assert_eq!(of(frozen(6, field)), [0, 0, 0, 0, 7, 0]);
        assert_eq!(of(frozen(1, field)), LAST);
    }
    assert_eq!(counted_in(GUEST, &[(MMCR2, frozen(5, mmcr2::H)), (MMCR0, 0)]), LAST);
}

#[test]
fn the_run_latch_lets_counters_count() {
    let waits = monitor::FC1_4WAIT;
    assert_eq!(counted(&[(CTRL, 0), (MMCR0, 0)]), NOTHING);
    assert_eq!(counted(&[(CTRL, 0), (MMCR0, 0), (CTRL, 1)]), LAST);
    assert_eq!(counted(&[(CTRL, 0), (MMCR0, monitor::CC56RUN)]), LAST);
    assert_eq!(counted(&[(CTRL, 0), (MMCR1, 0x02), (MMCR0, waits)]), NOTHING);
    assert_eq!(counted(&[(CTRL, 0), (MMCR1, 0x02), (MMCR0, 0)]), [0, 0, 0, 7, 0, 0]);
    // Some events are about the run latch, and one does not ask for it.
    assert_eq!(counted(&[(CTRL, 0), (MMCR1, 0x00F4_00FA), (MMCR0, 0)]), NOTHING);
    assert_eq!(counted(&[(CTRL, 0), (MMCR1, 0xF000_0000), (MMCR0, waits)]), [70, 0, 0, 0, 0, 0]);
    let freeze = mmcr2::of(1, mmcr2::WAIT);
    assert_eq!(counted(&[(CTRL, 0), (MMCR1, 0xF000_0000), (MMCR2, freeze), (MMCR0, 0)]), NOTHING);
    // PMCC=3 takes PMC5 and PMC6 out of the performance monitor: nothing else freezes them.
    let outside = monitor::FC | monitor::PMCC.mask();
    assert_eq!(counted(&[(MMCR0, outside)]), LAST);
    assert_eq!(counted(&[(CTRL, 0), (MMCR0, outside)]), NOTHING);
}

#[test]
fn what_was_counted_before_a_change_stays() {
    let mut parts = Parts::new(HYPERVISOR);
    parts.put(MMCR1, 0x0200_0000).unwrap();
    parts.put(MMCR0, monitor::FCH).unwrap();
    parts.thread.set_msr(GUEST);
    parts.pass(5, 3);
    parts.thread.set_msr(HYPERVISOR);
    parts.pass(1000, 1000);
    parts.thread.set_msr(PROBLEM);
    parts.pass(50, 30);
    parts.thread.set_msr(HYPERVISOR);
    assert_eq!((parts.get(PMC1), parts.get(PMC1 + 4), parts.get(PMC1 + 5)), (33, 33, 55));
    // Counters have 32 bits.
    parts.put(PMC1 + 5, 0xFFFF_FFFF).unwrap();
    parts.put(MMCR0, 0).unwrap();
    parts.pass(2, 1);
    assert_eq!((parts.get(PMC1 + 5), parts.get(PMC1)), (1, 34));
}

#[test]
fn what_the_monitor_does_not_have_is_noted_and_never_happens() {
    let missing = |writes: &[(i64, u64)]| {
        let mut parts = Parts::new(GUEST);
        for &(number, value) in writes {
            assert_eq!(parts.put(number, value), Ok(Flow::Synchronize));
        }
        parts.shared.missing().collect::<Vec<_>>()
    };
    let event = Missing::Event;
    assert_eq!(missing(&[(MMCR1, 0x0254_001E), (MMCR0, 0)]), [event(0x2_0054)]);
    assert_eq!(missing(&[(MMCR0, 0), (MMCR1, 0xFF00)]), [event(0x3_00FF)]);
    assert_eq!(missing(&[(MMCR1, 0xFF00), (MMCR0, monitor::FC)]), []);
    assert_eq!(missing(&[(MMCRA, 1)]), [Missing::Sampling]);
    assert_eq!(missing(&[(MMCRA, 2)]), []);
    let time_base = monitor::FC | monitor::TBEE;
    assert_eq!(missing(&[(MMCR0, time_base | monitor::FCECE)]), []);
    for matters in [monitor::PMAE, monitor::TRIGGER] {
        assert_eq!(missing(&[(MMCR0, time_base | matters)]), [Missing::TimeBase]);
    }
}

#[test]
fn a_counter_that_becomes_negative_makes_an_alert() {
    let mut parts = Parts::new(GUEST);
    parts.put(PMC1 + 4, 0x7FFF_FFFE).unwrap();
    let armed = monitor::PMAE | monitor::PMCJCE | monitor::FCECE;
    parts.put(MMCR0, armed).unwrap();
    parts.pass(9, 1);
    assert_eq!(parts.get(MMCR0), armed);
    parts.pass(9, 1);
    let occurred = armed & !monitor::PMAE | monitor::PMAO | monitor::FC;
    assert_eq!(parts.get(MMCR0), occurred);
    parts.pass(9, 1);
    assert_eq!((parts.get(PMC1 + 4), parts.get(PMC1 + 5)), (0x8000_0000, 18), "all are frozen");

    // The others wait for PMC1.
    let mut parts = Parts::new(GUEST);
    parts.put(PMC1, 0x7FFF_FFFF).unwrap();
    parts.put(MMCR1, 0x0202_0000).unwrap();
    parts.put(MMCR0, monitor::TRIGGER).unwrap();
    parts.pass(1, 1);
    assert_eq!((parts.get(PMC1 + 1), parts.get(MMCR0)), (0, 0));
    parts.pass(1, 1);
    assert_eq!((parts.get(PMC1), parts.get(PMC1 + 1)), (0x8000_0001, 1));
}

#[test]
fn an_enabled_counter_that_is_negative_makes_an_alert() {
    let armed = monitor::FC | monitor::PMAE | monitor::FCECE;
    // Counter, enable, whether PMCC=3.
    for (counter, enable) in (0..6).map(|counter| match counter {
        0 => (0, monitor::PMC1CE),
        counter => (counter, monitor::PMCJCE),
    }) {
        let mut parts = Parts::new(GUEST);
        parts.thread.set_spr(Spr::Sier, 7);
        parts.put(MMCR0, armed | enable).unwrap();
        parts.put(PMC1 + counter, 0x7FFF_FFFF).unwrap();
        assert_eq!(parts.get(MMCR0), armed | enable);
        parts.put(PMC1 + counter, 0x8000_0000).unwrap();
        let occurred = armed & !monitor::PMAE | enable | monitor::PMAO;
        assert_eq!(parts.get(MMCR0), occurred, "PMC{}", counter + 1);
        assert_eq!(parts.thread.spr(Spr::Sier), 0, "nothing was sampled");
        // Not with the other enable bit.
        let other = enable ^ monitor::PMC1CE ^ monitor::PMCJCE;
        parts.put(MMCR0, armed | other).unwrap();
        assert_eq!(parts.get(MMCR0), armed | other);
        // The order of the writes does not matter; without PMAE there is no alert.
        parts.put(MMCR0, monitor::FC | enable).unwrap();
        assert_eq!(parts.get(MMCR0), monitor::FC | enable);
        parts.put(MMCR0, armed | enable).unwrap();
        assert_eq!(parts.get(MMCR0), occurred);
    }
    // FCECE freezes what was frozen otherwise; PMC5 and PMC6 do not count with PMCC=3.
    let mut parts = Parts::new(GUEST);
    parts.put(CTRL, 0).unwrap();
    parts.put(PMC1 + 5, 0x8000_0000).unwrap();
    let outside = monitor::FC | monitor::PMCC.mask() | monitor::PMAE | monitor::PMCJCE;
    parts.put(MMCR0, outside).unwrap();
    assert_eq!(parts.get(MMCR0), outside);
    let groups = monitor::FC1_4 | monitor::FC5_6 | monitor::FCECE | monitor::PMCJCE;
    parts.put(MMCR0, groups).unwrap();
    assert_eq!(parts.get(MMCR0), groups | monitor::FC);
    parts.put(MMCR0, groups | monitor::TRIGGER).unwrap();
    assert_eq!(parts.get(MMCR0), groups);
}

#[test]
fn an_alert_waits_for_ee_and_for_software_to_end_it() {
    let alert = |parts: &mut Parts| pending(&mut parts.thread, &parts.shared);
    for state in [GUEST, HYPERVISOR] {
        let mut parts = Parts::new(state);
        parts.put(22, 0x7FFF_FFFF).unwrap();
        parts.thread.set_spr(Spr::Hdec, 1 << 40);
        parts.put(MMCR0, monitor::FC | monitor::PMAO).unwrap();
        assert_eq!(alert(&mut parts), None);
        parts.thread.set_msr(state | msr::EE);
        assert_eq!(alert(&mut parts), Some(Vector::PerformanceMonitor));
        assert_eq!(alert(&mut parts), Some(Vector::PerformanceMonitor));
        parts.put(MMCR0, monitor::FC | monitor::PMAO | monitor::EBE).unwrap();
        assert_eq!(alert(&mut parts), None);
        parts.put(MMCR0, monitor::FC).unwrap();
        assert_eq!(alert(&mut parts), None);
    }
}

#[test]
fn problem_state_has_what_pmcc_leaves_it() {
    let assistance = (Vector::HypervisorEmulationAssistance, 0);
    let unavailable = (Vector::FacilityUnavailable, 0);
    // PMC1 to PMC4, MMCR0, MMCR2, MMCRA; PMC5 and PMC6.
    let group = [771, 772, 773, 774, 779, 769, 770].map(|number| (number, false));
    let last = [775, 776].map(|number| (number, true));
    for control in 0..4 {
        for (number, is_last) in group.into_iter().chain(last) {
            let mut parts = Parts::new(PROBLEM);
            parts.thread.set_spr(Spr::Ctrl, 0);
            parts.thread.set_spr(Spr::Mmcr0, monitor::PMCC.set(monitor::FC, control));
            let read = parts.run(Mnemonic::Mfspr, &[3, number]);
            // All ones but FC stays; MMCRA would sample.
            let value = if number == 770 { 0 } else { monitor::FC };
            let write = parts.put(number, value);
            let (reads, writes) = match control {
                0 => (None, Some(assistance)),
                1 => (Some(unavailable), Some(unavailable)),
                3 if is_last => (Some(unavailable), Some(unavailable)),
                _ => (None, None),
            };
            for (outcome, expected) in [(read, reads), (write, writes)] {
                match expected {
                    Some(expected) => assert_eq!(vector(outcome), expected, "{control} {number}"),
                    None => assert!(outcome.is_ok(), "{control} {number}: {outcome:?}"),
                }
            }
        }
        // SIER, SIAR, SDAR and MMCR1 are there to be read, whatever PMCC says.
        for number in [768, 780, 781, 782] {
            let mut parts = Parts::new(PROBLEM);
            parts.thread.set_spr(Spr::Mmcr0, monitor::PMCC.set(monitor::FC, control));
            assert!(parts.run(Mnemonic::Mfspr, &[3, number]).is_ok());
            assert_eq!(vector(parts.put(number, 0)), assistance);
        }
    }
}

#[test]
fn problem_state_sees_and_changes_a_part_of_mmcr0_and_mmcr2() {
    let mut parts = Parts::new(PROBLEM);
    let old = monitor::PMCC.set(monitor::FC | monitor::FC1_4, 2);
    parts.thread.set_spr(Spr::Mmcr0, old);
    parts.thread.set_spr(Spr::Mmcr2, u64::MAX);
    assert_eq!(parts.get(779), monitor::FC);
    assert_eq!(parts.get(769), mmcr2::PROBLEM);
    parts.put(769, 0).unwrap();
    assert_eq!(parts.thread.spr(Spr::Mmcr2), !mmcr2::PROBLEM);
    parts.put(779, 0xFFFF_FFFF).unwrap();
    assert_eq!(parts.thread.spr(Spr::Mmcr0), old | monitor::PMAE | monitor::PMAO);
    // The same numbers hide nothing from privileged state.
    for state in [GUEST, HYPERVISOR] {
        let mut parts = Parts::new(state);
        parts.thread.set_spr(Spr::Ctrl, 0);
        parts.put(779, old).unwrap();
        parts.put(769, !mmcr2::PROBLEM).unwrap();
        assert_eq!((parts.get(779), parts.get(MMCR0)), (old, old));
        assert_eq!((parts.get(769), parts.get(785)), (!mmcr2::PROBLEM, !mmcr2::PROBLEM));
    }
}

const HANDLER: u64 = 0x5_5554;

/// Problem state with a handler, about to execute 0x2000, with these in BESCR and MMCR0.
fn armed(events: u64, mmcr0: u64) -> Parts {
    let mut parts = Parts::new(PROBLEM);
    parts.thread.set_spr(Spr::Ebbhr, HANDLER);
    parts.thread.set_spr(Spr::Bescr, events);
    parts.thread.set_spr(Spr::Mmcr0, monitor::FC | mmcr0);
    parts.thread.nia = 0x2000;
    parts
}

/// Where the thread goes on, and what BESCR says then.
fn next(parts: &mut Parts) -> (u64, u64) {
    event::take(&mut parts.thread, &parts.shared);
    (parts.thread.nia, parts.thread.spr(Spr::Bescr))
}

#[test]
fn an_alert_that_problem_state_asked_for_branches() {
    let (alert, asked) = (monitor::EBE | monitor::PMAO, bescr::GE | bescr::PME);
    let mut parts = armed(asked, alert);
    assert_eq!(next(&mut parts), (HANDLER, bescr::PMEO));
    assert_eq!(parts.thread.spr(Spr::Ebbrr), 0x2000);
    assert_eq!(next(&mut parts).0, HANDLER, "once");
    // Without one of the conditions it does not.
    for (events, mmcr0) in [
        (bescr::GE, alert),
        (asked, monitor::EBE),
        (asked, monitor::PMAO),
        (bescr::GE | bescr::EE, alert),
    ] {
        assert_eq!(next(&mut armed(events, mmcr0)), (0x2000, events));
    }
    // Without GE the exception occurs and waits.
    assert_eq!(next(&mut armed(bescr::PME, alert)), (0x2000, bescr::PMEO));
    // Where the switch says so the exception stays enabled.
    let mut parts = armed(asked, alert);
    parts.shared.switches.event_based_exception_disables_itself = false;
    assert_eq!(next(&mut parts), (HANDLER, bescr::PMEO | bescr::PME));
}

#[test]
fn an_exception_that_has_occurred_branches_in_problem_state_alone() {
    for occurred in [bescr::PMEO, bescr::EEO] {
        assert_eq!(next(&mut armed(bescr::GE | occurred, 0)), (HANDLER, occurred));
        assert_eq!(next(&mut armed(occurred, 0)), (0x2000, occurred));
        for state in [GUEST, HYPERVISOR] {
            let mut parts = armed(bescr::GE | occurred, 0);
            parts.thread.set_msr(state);
            assert_eq!(next(&mut parts), (0x2000, bescr::GE | occurred));
        }
        for (register, state) in
            [(Spr::Fscr, PROBLEM), (Spr::Hfscr, PROBLEM), (Spr::Fscr, PROBLEM | msr::HV)]
        {
            let mut parts = armed(bescr::GE | occurred, 0);
            parts.thread.set_msr(state);
            parts.thread.set_spr(register, 0);
            assert_eq!(next(&mut parts).0, 0x2000, "{register:?}");
        }
        // HFSCR is for partitions.
        let mut parts = armed(bescr::GE | occurred, 0);
        parts.thread.set_msr(PROBLEM | msr::HV);
        parts.thread.set_spr(Spr::Hfscr, 0);
        assert_eq!(next(&mut parts).0, HANDLER);
    }
    // In 32-bit mode the handler's address has 32 bits.
    let mut parts = armed(bescr::GE | bescr::PMEO, 0);
    parts.thread.set_spr(Spr::Ebbhr, 7 << 32 | HANDLER | 3);
    parts.thread.set_msr(PROBLEM & !msr::SF);
    assert_eq!(next(&mut parts).0, HANDLER);
}

#[test]
fn bescr_is_set_and_reset_by_bits_and_by_halves() {
    let mut parts = Parts::new(PROBLEM);
    parts.put(800, bescr::GE | bescr::PME).unwrap();
    assert_eq!(parts.get(BESCR), bescr::GE | bescr::PME);
    parts.put(801, bescr::EE >> 32).unwrap();
    assert_eq!(parts.get(BESCR), bescr::GE | bescr::PME | bescr::EE);
    assert_eq!(parts.get(800), parts.get(802));
    assert_eq!(parts.get(801), 0x8000_0003);
    assert_eq!(parts.get(803), 0x8000_0003);
    parts.put(803, 0x8000_0001).unwrap();
    assert_eq!(parts.get(BESCR), bescr::EE);
    parts.put(800, bescr::PMEO | bescr::EEO).unwrap();
    parts.put(802, bescr::EEO | bescr::EE).unwrap();
    assert_eq!(parts.get(BESCR), bescr::PMEO);
    // Reserved bits read as zero, and load monitoring, which POWER9 does not have: a program may set them.
    parts.put(801, bescr::LME >> 32).unwrap();
    assert_eq!(parts.get(BESCR), bescr::PMEO);
    parts.put(BESCR, u64::MAX).unwrap();
    assert_eq!(parts.get(BESCR), bescr::KEPT);
}

#[test]
fn rfebb_goes_back_and_enters_no_transaction() {
    let mut parts = Parts::new(PROBLEM);
    parts.thread.set_spr(Spr::Ebbrr, 0x3003);
    assert_eq!(parts.run(Mnemonic::Rfebb, &[1]), Ok(Flow::Return));
    assert_eq!((parts.thread.nia, parts.thread.spr(Spr::Bescr)), (0x3000, bescr::GE));
    assert_eq!(parts.run(Mnemonic::Rfebb, &[0]), Ok(Flow::Return));
    assert_eq!(parts.thread.spr(Spr::Bescr), 0);
    parts.thread.set_spr(Spr::Bescr, bescr::TS.set(0, 2));
    let bad_thing = (Vector::Program, program::TM_BAD_THING);
    assert_eq!(vector(parts.run(Mnemonic::Rfebb, &[1])), bad_thing);
}
