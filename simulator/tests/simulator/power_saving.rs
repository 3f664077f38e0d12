//! What ends a `stop`, for each source, whatever MSR[EE]; and what is lost at which level.

use arch::interrupt::{Vector, wake as reason};
use arch::registers::spr::Spr;
use arch::registers::{lpcr, msr, psscr, xer};
use simulator::exec::power::power9::asked;
use simulator::interrupt::wake::{self, wakes_at};
use simulator::power_saving::{
    POISON, SelfRestore, lose_core_state, lose_hypervisor_state, requested,
};
use simulator::state::shared::{Shared, Signals};
use simulator::state::thread::{Activity, Thread};
use simulator::{Description, Machine};

const FAR: u64 = 0x7FFF_FFFF;
const LOSSY: u64 = psscr::ESL | psscr::EC;
const HYPERVISOR: u64 = msr::SF | msr::HV;
const GUEST: u64 = msr::SF;

fn parts() -> (Thread, Shared) {
    let text = include_str!("../../../machines/power9.toml");
    let (mut threads, shared) = Machine::new(Description::from_toml(text).unwrap(), 1).into_parts();
    let mut thread = threads.remove(0);
    thread.activity = Activity::Stopped;
    thread.set_msr(HYPERVISOR);
    thread.set_spr(Spr::Lpcr, 0);
    thread.set_spr(Spr::Dec, FAR);
    thread.set_spr(Spr::Hdec, FAR);
    (thread, shared)
}

/// The thread stopped with this PSSCR.
fn ask(thread: &mut Thread, value: u64) {
    thread.set_spr(Spr::Psscr, value);
    thread.asked = asked(thread);
}

/// Something that may end a stop.
struct Source {
    name: &'static str,
    /// The bit of LPCR that lets it end one with EC=1; 0 if none does.
    enable: u64,
    reason: u64,
    happen: fn(&mut Thread, &mut Shared),
}

fn signal(shared: &mut Shared, change: impl FnOnce(&mut Signals)) {
    shared.signal(0, 500, change);
}

const SOURCES: [Source; 4] = [
    Source {
        name: "decrementer",
        enable: lpcr::PECE_DECREMENTER,
        reason: reason::DECREMENTER,
        happen: |thread, _| thread.set_spr(Spr::Dec, 60),
    },
    Source {
        name: "virtualization",
        enable: lpcr::PECE_HVEE,
        reason: reason::VIRTUALIZATION,
        happen: |_, shared| signal(shared, |signals| signals.external = true),
    },
    Source {
        name: "hypervisor doorbell",
        enable: lpcr::PECE_HYPERVISOR_DOORBELL,
        reason: reason::HYPERVISOR_DOORBELL,
        happen: |_, shared| signal(shared, |signals| signals.hypervisor_doorbell = true),
    },
    Source {
        name: "privileged doorbell",
        enable: lpcr::PECE_PRIVILEGED_DOORBELL,
        reason: reason::PRIVILEGED_DOORBELL,
        happen: |_, shared| signal(shared, |signals| signals.privileged_doorbell = true),
    },
];

const ENABLES: [u64; 5] = [
    lpcr::PECE_DECREMENTER,
    lpcr::PECE_HVEE,
    lpcr::PECE_HYPERVISOR_DOORBELL,
    lpcr::PECE_PRIVILEGED_DOORBELL,
    lpcr::PECE_EXTERNAL,
];

#[test]
fn with_ec_each_source_ends_a_stop_by_its_own_bit_of_lpcr_whatever_ee() {
    for ee in [0, msr::EE] {
        for Source { name, enable, reason, happen } in SOURCES {
            for enabled in ENABLES {
                let (mut thread, mut shared) = parts();
                thread.set_msr(HYPERVISOR | ee);
                ask(&mut thread, LOSSY);
                thread.set_spr(Spr::Lpcr, enabled);
                happen(&mut thread, &mut shared);
                let at = wakes_at(&thread, &shared);
                assert_eq!(at != u64::MAX && at < 1000, enabled == enable, "{name}: {enabled:#x}");
                if enabled == enable {
                    assert_eq!(wake::reason(&thread, &shared), reason, "{name}");
                    thread.wakes_at = at;
                    let none = SelfRestore::default();
                    let taken = wake::wake(&mut thread, &mut shared, reason, 0, &none).unwrap();
                    assert_eq!(taken.vector, Vector::SystemReset);
                    let expected = reason | reason::THREAD_LOST;
                    assert_eq!(thread.spr(Spr::Srr1) & 0x3F_0000, expected, "{name}");
                    // An interrupt taken is a cycle.
                    assert_eq!((thread.nia, thread.time.cycles()), (0x100, at + 1), "{name}");
                    assert_eq!(thread.activity, Activity::Running);
                }
            }
        }
    }
}

#[test]
fn without_ec_each_source_ends_a_stop_in_place_whatever_ee_and_lpcr() {
    for state in [HYPERVISOR, HYPERVISOR | msr::EE, GUEST, GUEST | msr::EE] {
        for Source { name, reason, happen, .. } in SOURCES {
            let (mut thread, mut shared) = parts();
            thread.set_msr(state);
            thread.nia = 0x1234;
            happen(&mut thread, &mut shared);
            thread.wakes_at = wakes_at(&thread, &shared);
            assert!(thread.wakes_at < 1000, "{name}");
            let none = SelfRestore::default();
            assert_eq!(wake::wake(&mut thread, &mut shared, reason, 0, &none), None, "{name}");
            assert_eq!((thread.nia, thread.msr()), (0x1234, state), "{name}");
            assert_eq!(thread.gpr[5], 0, "nothing is lost");
        }
    }
}

#[test]
fn the_hypervisor_decrementer_ends_only_stops_without_ec_and_needs_hdice() {
    let ends = |state, enabled, value, switch| {
        let (mut thread, mut shared) = parts();
        shared.switches.hypervisor_decrementer_ends_guest_stop = switch;
        thread.set_msr(state);
        ask(&mut thread, value);
        thread.set_spr(Spr::Lpcr, enabled);
        thread.set_spr(Spr::Hdec, 60);
        wakes_at(&thread, &shared) < 1000
    };
    assert!(ends(HYPERVISOR, lpcr::HDICE, 0, false) && ends(GUEST, lpcr::HDICE, 0, true));
    assert!(!ends(GUEST, lpcr::HDICE, 0, false));
    assert!(!ends(HYPERVISOR, 0, 0, true));
    assert!(!ends(HYPERVISOR, lpcr::HDICE | lpcr::PECE_DECREMENTER, LOSSY, true));
}

#[test]
fn a_mediated_request_ends_a_partitions_stop_and_nobody_elses() {
    let (mut thread, shared) = parts();
    thread.set_spr(Spr::Lpcr, lpcr::MER);
    assert!(wakes_at(&thread, &shared) > 1000);
    thread.set_msr(GUEST);
    assert_eq!(wakes_at(&thread, &shared), 0);
    assert_eq!(wake::reason(&thread, &shared), reason::EXTERNAL);
    thread.set_spr(Spr::Lpcr, 0);
    assert!(wakes_at(&thread, &shared) > 1000);
}

#[test]
fn a_system_reset_ends_any_stop() {
    for value in [0, LOSSY] {
        let (mut thread, mut shared) = parts();
        ask(&mut thread, value);
        signal(&mut shared, |signals| signals.system_reset = true);
        assert_eq!(wakes_at(&thread, &shared), 500);
        assert_eq!(wake::reason(&thread, &shared), reason::SYSTEM_RESET);
    }
}

#[test]
fn what_comes_first_ends_the_stop_and_gives_the_reason() {
    let (mut thread, mut shared) = parts();
    ask(&mut thread, LOSSY);
    thread.set_spr(Spr::Lpcr, lpcr::PECE_DECREMENTER | lpcr::PECE_HYPERVISOR_DOORBELL);
    thread.set_spr(Spr::Dec, 20);
    signal(&mut shared, |signals| signals.hypervisor_doorbell = true);
    assert!(wakes_at(&thread, &shared) < 500);
    assert_eq!(wake::reason(&thread, &shared), reason::DECREMENTER);
    thread.set_spr(Spr::Dec, 100);
    assert_eq!(wakes_at(&thread, &shared), 500);
    assert_eq!(wake::reason(&thread, &shared), reason::HYPERVISOR_DOORBELL);
}

#[test]
fn a_level_that_loses_state_needs_esl_and_a_partitions_is_limited() {
    let (mut thread, shared) = parts();
    let mut level = |state, value| {
        thread.set_msr(state);
        ask(&mut thread, value);
        requested(&thread, &shared.power_saving)
    };
    let limit = |level| psscr::PSLL.set(0, level);
    assert_eq!([2, 3, 4, 11].map(|rl| level(HYPERVISOR, LOSSY | rl)), [2, 3, 4, 11]);
    assert_eq!([2, 3, 4, 11].map(|rl| level(HYPERVISOR, rl)), [2, 3, 3, 3]);
    assert_eq!([1, 2, 3].map(|rl| level(GUEST, limit(2) | rl)), [1, 2, 2]);
    assert_eq!(level(HYPERVISOR, limit(2) | 3), 3, "the limit is not the hypervisor's");
}

/// Wakes a thread that reached `level` with every register set.
fn woken(level: u64, restore: &SelfRestore) -> (Thread, Shared) {
    let (mut thread, mut shared) = parts();
    for spr in [Spr::Hsprg0, Spr::Hsprg1, Spr::Sprg0, Spr::Pir, Spr::Tir, Spr::Lpidr, Spr::Amr] {
        thread.set_spr(spr, 0x77);
    }
    thread.gpr[5] = 0x77;
    thread.fpscr = 0x77;
    thread.xer = 0x77;
    ask(&mut thread, LOSSY | level);
    shared.reserve(&mut thread, 0x1000, 8);
    thread.wakes_at = 100;
    wake::wake(&mut thread, &mut shared, reason::DECREMENTER, level, restore);
    (thread, shared)
}

#[test]
fn a_shallow_level_loses_the_threads_own_registers_only() {
    for level in [0, 3] {
        let (thread, shared) = woken(level, &SelfRestore::default());
        assert_eq!((thread.gpr[5], thread.spr(Spr::Amr)), (POISON, POISON));
        for spr in [Spr::Hsprg0, Spr::Hsprg1, Spr::Sprg0, Spr::Pir, Spr::Tir, Spr::Lpidr] {
            assert_eq!(thread.spr(spr), 0x77, "{}", spr.name());
        }
        assert_eq!((thread.xer, thread.fpscr), (0x77, 0x77));
        assert_eq!(thread.spr(Spr::Psscr), psscr::PLS.set(LOSSY | level, level));
        assert_eq!((thread.reservation, shared.all_reservations()[thread.index]), (None, None));
    }
}

#[test]
fn a_deep_level_loses_all_but_what_is_kept_reset_or_restored() {
    let mut restore = SelfRestore::default();
    restore.set(0, 304, 0x1234);
    restore.set(0, 2000, HYPERVISOR | msr::ME);
    restore.set(1, 305, 0x5678);
    let (thread, shared) = woken(4, &restore);
    assert_eq!([Spr::Pir, Spr::Tir].map(|spr| thread.spr(spr)), [0x77; 2]);
    assert_eq!([Spr::Lpidr, Spr::Lpcr].map(|spr| thread.spr(spr)), [0, 0x0040_0000_0000_A000]);
    assert_eq!((thread.spr(Spr::Hsprg0), thread.spr(Spr::Hsprg1)), (0x1234, POISON));
    assert_eq!((thread.spr(Spr::Sprg0), thread.spr(Spr::Amr)), (POISON, POISON));
    assert_eq!(thread.gpr[5], POISON);
    assert!(thread.xer != 0x77 && thread.fpscr == 0);
    assert_eq!(thread.xer & !xer::MASK, 0, "there are no such bits");
    assert_eq!(thread.msr(), HYPERVISOR | msr::ME);
    assert_eq!(thread.spr(Spr::Psscr), psscr::PLS.set(0, 4));
    assert_eq!(thread.spr(Spr::Srr1) & 0x3F_0000, reason::DECREMENTER | reason::ALL_LOST);
    assert_eq!(thread.spr(Spr::Srr1) & !0x3F_0000, msr::SF | msr::HV, "the MSR is lost too");
    assert_eq!(shared.all_reservations()[thread.index], None);
}

#[test]
fn a_core_loses_its_own_registers_and_its_translations() {
    let (thread, mut shared) = parts();
    let mut siblings = [thread];
    let mut restore = SelfRestore::default();
    restore.set(0, 464, 0x4321);
    restore.set(0, 304, 0x1234);
    let registers = [Spr::Ptcr, Spr::Hid0, Spr::Hrmor];
    for spr in registers {
        shared.cores[0].set_spr(spr, 0x77);
    }
    siblings[0].set_spr(Spr::Vtb, 0x77);
    let generation = shared.cores[0].tlb.generation();
    lose_core_state(&mut siblings, &mut shared, &restore);
    let found = registers.map(|spr| shared.cores[0].spr(spr));
    assert_eq!(found, [0x4321, 0x0080_0000_0000_0000, 0]);
    assert_ne!(shared.cores[0].tlb.generation(), generation);
    assert_eq!(siblings[0].spr(Spr::Vtb), 0x77, "each thread has its own");
}

#[test]
fn what_siblings_share_is_lost_with_their_core_and_not_with_a_thread() {
    for is_shared in [false, true] {
        let (mut thread, mut shared) = parts();
        shared.switches.threads_are_partitions = !is_shared;
        let registers = [Spr::Lpidr, Spr::Vtb];
        for spr in registers {
            thread.set_spr(spr, 0x77);
        }
        let mut siblings = [thread.clone(), thread];
        let restore = SelfRestore::default();
        lose_hypervisor_state(&mut siblings[0], &shared, &restore);
        let own = registers.map(|spr| siblings[0].spr(spr));
        assert_eq!(own, if is_shared { [0x77; 2] } else { [0, POISON] });
        lose_core_state(&mut siblings, &mut shared, &restore);
        let others = registers.map(|spr| siblings[1].spr(spr));
        assert_eq!(others, if is_shared { [0, POISON] } else { [0x77; 2] });
    }
}

#[test]
fn srr1_can_be_told_to_say_less_than_was_lost() {
    let (mut thread, mut shared) = parts();
    shared.switches.deep_stop_says_only_thread_lost = true;
    ask(&mut thread, LOSSY | 4);
    thread.wakes_at = 100;
    wake::wake(&mut thread, &mut shared, reason::DECREMENTER, 4, &SelfRestore::default());
    assert_eq!(thread.spr(Spr::Srr1) & 0x3_0000, reason::THREAD_LOST);
}
