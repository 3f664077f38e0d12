//! What taking an interrupt does to the registers, against `docs/facts/interrupts.md`.

use arch::interrupt::{AIL2_BASE, AIL3_BASE, SaveRestore, Vector};
use arch::registers::spr::Spr;
use arch::registers::{lpcr, msr};
use simulator::interrupt::decrementers::{
    hypervisor_decrementer, next_timer, set_hypervisor_decrementer,
};
use simulator::interrupt::{pending, take, take_pending, take_vectored_call};
use simulator::state::shared::Shared;
use simulator::state::thread::Thread;
use simulator::state::thread::trap::Interrupt;
use simulator::{Description, Machine};

const GUEST: u64 = msr::SF | msr::EE | msr::ME | msr::IR | msr::DR | msr::RI | msr::LE | msr::FP;

fn parts() -> (Thread, Shared) {
    let text = include_str!("../../../machines/power9.toml");
    let (mut threads, shared) = Machine::new(Description::from_toml(text).unwrap(), 1).into_parts();
    let mut thread = threads.remove(0);
    thread.set_spr(Spr::Lpcr, lpcr::HR | lpcr::UPRT);
    thread.run_start = 0x1000;
    thread.cia = 0x1000;
    thread.nia = 0x1004;
    (thread, shared)
}

fn take_vector(thread: &mut Thread, shared: &Shared, vector: Vector) {
    take(thread, shared, &Interrupt::new(vector));
}

#[test]
fn every_vector_saves_into_its_own_pair_and_leaves_the_other() {
    for &vector in Vector::ALL {
        let (mut thread, shared) = parts();
        thread.set_msr(GUEST);
        for spr in [Spr::Srr0, Spr::Srr1, Spr::Hsrr0, Spr::Hsrr1] {
            thread.set_spr(spr, 0x5A5A);
        }
        take_vector(&mut thread, &shared, vector);
        // LPES=0: an external interrupt goes to the hypervisor.
        let (used, other) = match vector.save_restore_with(false) {
            SaveRestore::Srr => ([Spr::Srr0, Spr::Srr1], [Spr::Hsrr0, Spr::Hsrr1]),
            SaveRestore::Hsrr => ([Spr::Hsrr0, Spr::Hsrr1], [Spr::Srr0, Spr::Srr1]),
        };
        assert_eq!(used.map(|spr| thread.spr(spr)), [0x1000, GUEST], "{vector:?}");
        assert_eq!(other.map(|spr| thread.spr(spr)), [0x5A5A; 2], "{vector:?}");
        assert_eq!(thread.nia, vector.offset(), "{vector:?}: AIL=0 is real mode");
    }
}

#[test]
fn hypervisor_interrupts_keep_ri_and_the_others_clear_it() {
    for &vector in Vector::ALL {
        let (mut thread, shared) = parts();
        thread.set_msr(GUEST);
        take_vector(&mut thread, &shared, vector);
        let keeps = vector.save_restore_with(false) == SaveRestore::Hsrr;
        assert_eq!(thread.msr() & msr::RI != 0, keeps, "{vector:?}");
        let cleared = msr::EE | msr::PR | msr::FP | msr::IR | msr::DR;
        assert_eq!(thread.msr() & cleared, 0, "{vector:?}");
        assert_eq!(thread.msr() & msr::ME != 0, vector != Vector::MachineCheck, "{vector:?}");
        assert_ne!(thread.msr() & msr::SF, 0, "{vector:?}");
    }
}

#[test]
fn a_system_call_saves_the_next_instruction_and_level_1_enters_the_hypervisor() {
    for (to_hypervisor, hv) in [(false, 0), (true, msr::HV)] {
        let (mut thread, shared) = parts();
        thread.set_msr(GUEST);
        let call = Interrupt {
            to_hypervisor,
            is_after_instruction: true,
            ..Interrupt::new(Vector::SystemCall)
        };
        take(&mut thread, &shared, &call);
        assert_eq!(thread.spr(Spr::Srr0), 0x1004);
        assert_eq!(thread.msr() & msr::HV, hv);
    }
}

#[test]
fn ail_3_takes_an_exit_with_relocation_on_only_if_the_guest_had_both_and_is_radix() {
    let ail = |value| lpcr::AIL.set(lpcr::HR | lpcr::UPRT, value);
    let cases = [
        (ail(3), GUEST, AIL3_BASE, true),
        (ail(2), GUEST, AIL2_BASE, true),
        (ail(0), GUEST, 0, false),
        (ail(3), GUEST & !msr::DR, 0, false),
        (ail(3), GUEST & !msr::IR, 0, false),
        (ail(3) & !lpcr::HR, GUEST, 0, false),
    ];
    for (value, from, base, is_relocated) in cases {
        let (mut thread, shared) = parts();
        thread.set_spr(Spr::Lpcr, value);
        thread.set_msr(from);
        take_vector(&mut thread, &shared, Vector::HypervisorDataStorage);
        assert_eq!(thread.nia, base + 0xE00, "LPCR {value:#x} MSR {from:#x}");
        assert_eq!(thread.msr() & (msr::IR | msr::DR) != 0, is_relocated);
    }
}

#[test]
fn system_reset_machine_check_and_maintenance_are_always_real_mode() {
    let never = [Vector::SystemReset, Vector::MachineCheck, Vector::HypervisorMaintenance];
    for vector in never {
        let (mut thread, shared) = parts();
        thread.set_spr(Spr::Lpcr, lpcr::AIL.set(lpcr::HR | lpcr::UPRT, 3));
        thread.set_msr(GUEST);
        take_vector(&mut thread, &shared, vector);
        assert_eq!((thread.nia, thread.msr() & msr::IR), (vector.offset(), 0));
        assert_ne!(thread.msr() & msr::HV, 0);
    }
}

#[test]
fn ail_applies_within_a_hash_partition_when_hv_does_not_change() {
    let (mut thread, shared) = parts();
    thread.set_spr(Spr::Lpcr, lpcr::AIL.set(0, 3));
    thread.set_msr(GUEST);
    take_vector(&mut thread, &shared, Vector::Decrementer);
    assert_eq!(thread.nia, AIL3_BASE + 0x900);
}

#[test]
fn endianness_comes_from_hile_in_the_hypervisor_and_from_ile_in_a_guest() {
    for (hile, ile) in [(false, true), (true, false)] {
        let (mut thread, mut shared) = parts();
        let value = if hile { shared.processor.facts().hid0.little_endian } else { 0 };
        shared.cores[0].set_spr(Spr::Hid0, value);
        let value = lpcr::HR | lpcr::UPRT | if ile { lpcr::ILE } else { 0 };
        thread.set_spr(Spr::Lpcr, value);
        thread.set_msr(GUEST);
        take_vector(&mut thread, &shared, Vector::Program);
        assert_eq!(thread.is_little_endian(), ile);
        thread.set_msr(GUEST);
        take_vector(&mut thread, &shared, Vector::HypervisorDataStorage);
        assert_eq!(thread.is_little_endian(), hile);
    }
}

#[test]
fn the_decrementer_waits_for_ee_and_the_hypervisors_own_for_hdice() {
    let (mut thread, shared) = parts();
    thread.set_spr(Spr::Lpcr, lpcr::HR | lpcr::UPRT | lpcr::HDICE);
    thread.set_spr(Spr::Dec, u64::from(u32::MAX));
    thread.set_spr(Spr::Hdec, 1);
    thread.set_msr(GUEST & !msr::EE);
    assert_eq!(pending(&mut thread, &shared), None);
    thread.set_msr(GUEST);
    assert_eq!(pending(&mut thread, &shared), Some(Vector::Decrementer), "bit 0 of 32 is set");
    thread.set_spr(Spr::Hdec, u64::MAX);
    assert_eq!(pending(&mut thread, &shared), Some(Vector::HypervisorDecrementer));
    thread.set_msr(GUEST & !msr::EE);
    assert_eq!(
        pending(&mut thread, &shared),
        Some(Vector::HypervisorDecrementer),
        "HV=0 is enough"
    );
    thread.set_msr(GUEST & !msr::EE | msr::HV);
    assert_eq!(pending(&mut thread, &shared), None, "HV=1 needs EE");
}

#[test]
fn the_hypervisors_decrementer_asks_once_for_each_time_its_sign_is_set() {
    let (mut thread, mut shared) = parts();
    thread.set_spr(Spr::Lpcr, lpcr::HR | lpcr::UPRT | lpcr::HDICE);
    thread.set_spr(Spr::Dec, 1 << 20);
    thread.set_msr(GUEST);
    let asks = |thread: &mut Thread, shared: &Shared| {
        pending(thread, shared) == Some(Vector::HypervisorDecrementer)
    };
    set_hypervisor_decrementer(&mut thread, &shared, 10);
    assert!(!asks(&mut thread, &shared));
    set_hypervisor_decrementer(&mut thread, &shared, u64::MAX);
    assert!(asks(&mut thread, &shared));
    set_hypervisor_decrementer(&mut thread, &shared, 10);
    assert!(asks(&mut thread, &shared), "a positive value ends nothing");
    for value in [10, u64::MAX] {
        set_hypervisor_decrementer(&mut thread, &shared, u64::MAX);
        set_hypervisor_decrementer(&mut thread, &shared, value);
        let taken = take_pending(&mut thread, &mut shared).unwrap();
        assert_eq!(taken.vector, Vector::HypervisorDecrementer);
        thread.set_msr(GUEST);
        assert!(!asks(&mut thread, &shared), "it is over when it is taken");
    }
    set_hypervisor_decrementer(&mut thread, &shared, u64::MAX - 5);
    assert!(!asks(&mut thread, &shared), "the sign bit was set already");
}

/// Another thread was shown a later time than this one's, which counts from that; a value near the sign bit does not
/// become negative by it.
#[test]
fn no_largest_value_of_a_decrementer_is_negative() {
    let power8 = include_str!("../../../machines/power8.toml");
    let power9 = include_str!("../../../machines/power9.toml");
    for (text, bits) in [(power8, 32), (power9, 56)] {
        let machine = Machine::new(Description::from_toml(text).unwrap(), 1);
        let (mut threads, mut shared) = machine.into_parts();
        let thread = &mut threads[0];
        thread.set_spr(Spr::Lpcr, lpcr::HDICE);
        for spr in [Spr::Dec, Spr::Hdec] {
            thread.set_spr(spr, 1 << 20);
        }
        thread.set_msr(GUEST);
        (thread.run_start, thread.cia) = (0x1000, 0x1000 + 4 * 100_000);
        shared.show_time(thread);
        thread.cia = thread.run_start;
        assert!(shared.ticks(thread) > shared.own_ticks(thread) + 1000);
        set_hypervisor_decrementer(thread, &shared, (1 << (bits - 1)) - 1);
        assert_eq!(pending(thread, &shared), None, "{bits} bits");
        set_hypervisor_decrementer(thread, &shared, 1000);
        let shown = hypervisor_decrementer(thread, &shared, shared.timebase(thread));
        assert_eq!(shown, 1000, "{bits} bits");
    }
}

#[test]
fn a_large_decrementer_is_negative_by_its_bit_55() {
    let (mut thread, shared) = parts();
    thread.set_msr(GUEST);
    thread.set_spr(Spr::Hdec, 1);
    thread.set_spr(Spr::Dec, 0x8000_0000);
    assert_eq!(pending(&mut thread, &shared), Some(Vector::Decrementer));
    thread.set_spr(Spr::Lpcr, lpcr::HR | lpcr::UPRT | lpcr::LD);
    assert_eq!(pending(&mut thread, &shared), None);
    thread.set_spr(Spr::Dec, 1 << 55);
    assert_eq!(pending(&mut thread, &shared), Some(Vector::Decrementer));
}

#[test]
fn a_mediated_external_request_reaches_the_guest_only() {
    let (mut thread, shared) = parts();
    thread.set_spr(Spr::Lpcr, lpcr::HR | lpcr::UPRT | lpcr::MER | lpcr::LPES);
    thread.set_spr(Spr::Dec, 1);
    thread.set_spr(Spr::Hdec, 1);
    thread.set_msr(GUEST);
    assert_eq!(pending(&mut thread, &shared), Some(Vector::External));
    thread.set_msr(GUEST | msr::HV);
    assert_eq!(pending(&mut thread, &shared), None);
}

#[test]
fn an_exit_is_what_goes_from_a_partition_to_the_hypervisor() {
    let is_exit = |from, vector| {
        let (mut thread, shared) = parts();
        thread.set_msr(from);
        take(&mut thread, &shared, &Interrupt::new(vector)).is_exit()
    };
    assert!(is_exit(GUEST, Vector::HypervisorDataStorage));
    assert!(!is_exit(GUEST, Vector::Decrementer), "it stays in the partition");
    assert!(!is_exit(GUEST | msr::HV, Vector::HypervisorDataStorage));
    assert!(!is_exit(GUEST | msr::HV, Vector::Decrementer));
}

#[test]
fn a_vectored_call_keeps_ee_ri_and_me_and_nothing_else() {
    let enabled = msr::EE | msr::RI | msr::ME;
    for kept in [0, enabled, enabled | msr::HV] {
        let (mut thread, shared) = parts();
        thread.set_msr(msr::SF | kept | msr::PR | msr::FP | msr::IR);
        take_vectored_call(&mut thread, &shared, 3);
        assert_eq!(thread.msr(), msr::SF | kept);
        assert_eq!((thread.lr, thread.nia), (0x1004, 0x1_7060));
        assert_eq!(thread.ctr, msr::SF | kept | msr::PR | msr::FP | msr::IR);
    }
    // With AIL=3 relocation stays on.
    let (mut thread, shared) = parts();
    thread.set_spr(Spr::Lpcr, lpcr::HR | lpcr::UPRT | lpcr::AIL.set(0, 3));
    thread.set_msr(GUEST);
    take_vectored_call(&mut thread, &shared, 0);
    let relocated = msr::SF | msr::EE | msr::RI | msr::ME | msr::IR | msr::DR;
    assert_eq!((thread.msr(), thread.nia), (relocated, 0xC000_0000_0000_3000));
}

#[test]
fn the_next_timer_is_where_a_decrementer_changes_its_sign() {
    let (mut thread, shared) = parts();
    let at = |thread: &mut Thread, dec: u64, hdec: u64| {
        thread.set_spr(Spr::Dec, dec);
        thread.set_spr(Spr::Hdec, hdec);
        shared.clock.ticks(next_timer(thread, &shared))
    };
    let far = 1 << 50;
    assert_eq!(at(&mut thread, 99, far), 100);
    assert_eq!(at(&mut thread, 0x7FFF_FFFF, 99), 100);
    // A negative one of 32 bits becomes positive when it passes its most negative value.
    assert_eq!(at(&mut thread, 0xFFFF_FFFF, far), 1 << 31);
    assert_eq!(at(&mut thread, 0x8000_0000, far), 1);
    assert_eq!(at(&mut thread, 0x8000_0009, far), 10);
}

#[test]
fn a_system_reset_comes_first_and_says_that_nobody_slept() {
    let (mut thread, mut shared) = parts();
    thread.set_msr(GUEST);
    thread.set_spr(Spr::Dec, u64::from(u32::MAX));
    shared.signal(0, 0, |signals| signals.system_reset = true);
    let taken = take_pending(&mut thread, &mut shared).unwrap();
    assert_eq!((taken.vector, thread.nia), (Vector::SystemReset, 0x100));
    assert_eq!(thread.spr(Spr::Srr1) & 0x3F_0000, 0x08_0000);
    assert!(!shared.signals(0).system_reset, "it is over when it is taken");
}
