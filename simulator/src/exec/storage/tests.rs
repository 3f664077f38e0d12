//! What the comparison with QEMU's user mode cannot see: reservations, interrupts, 32-bit mode,
//! hypervisor real mode.

use arch::instruction::Mnemonic;
use arch::interrupt::Vector;
use arch::registers::{cr, msr, xer};

use super::super::fixed_point::tests::{Bench, HYPERVISOR};
use crate::state::shared::GRANULE_LOG2;

/// Real addresses from here on have no memory.
const END: u64 = 0x4000;
const BIG_ENDIAN: u64 = HYPERVISOR & !msr::LE;

/// A bench with addresses in r4 and r5, zero in r6, a value to store in r8.
fn bench(state: u64) -> Bench {
    let mut bench = Bench::new(state);
    bench.thread.gpr[4..9].copy_from_slice(&[0x1000, 0x1008, 0, 0, 0xABCD]);
    bench
}

fn condition(bench: &Bench) -> u32 {
    bench.thread.cr_field(0)
}

#[test]
fn a_store_conditional_stores_once_for_a_reservation() {
    let mut bench = bench(HYPERVISOR);
    bench.thread.xer = xer::SO;
    bench.run(Mnemonic::Ldarx, &[3, 0, 4, 0]).expect("it loads");
    bench.run(Mnemonic::Stdcx, &[8, 0, 4]).expect("it completes");
    assert_eq!(condition(&bench), cr::EQ | cr::SO);
    assert_eq!(bench.shared.memory.read(0x1000), 0xABCD_u64.to_le_bytes());
    bench.run(Mnemonic::Stdcx, &[4, 0, 4]).expect("it completes");
    assert_eq!(condition(&bench), cr::SO);
    assert_eq!(bench.shared.memory.read(0x1000), 0xABCD_u64.to_le_bytes());
}

#[test]
fn a_store_conditional_of_another_size_does_not_store_and_ends_the_reservation() {
    let mut bench = bench(HYPERVISOR);
    bench.run(Mnemonic::Ldarx, &[3, 0, 4, 0]).expect("it loads");
    for store in [Mnemonic::Stwcx, Mnemonic::Stdcx] {
        bench.run(store, &[8, 0, 4]).expect("it completes");
        assert_eq!(condition(&bench), 0);
    }
    assert_eq!(bench.shared.memory.read(0x1000), [0; 8]);
}

#[test]
fn a_store_conditional_needs_the_reserved_granule() {
    for (distance, stored) in [(8, cr::EQ), (1 << GRANULE_LOG2, 0)] {
        let mut bench = bench(HYPERVISOR);
        bench.thread.gpr[5] = 0x1000 + distance;
        bench.run(Mnemonic::Ldarx, &[3, 0, 4, 0]).expect("it loads");
        bench.run(Mnemonic::Stdcx, &[8, 0, 5]).expect("it completes");
        assert_eq!(condition(&bench), stored, "{distance} bytes away");
    }
}

#[test]
fn a_reservation_is_lost_by_another_threads_store_and_kept_after_an_own_one() {
    for (is_own, stored) in [(true, cr::EQ), (false, 0)] {
        let mut bench = bench(HYPERVISOR);
        bench.other.gpr = bench.thread.gpr;
        bench.run(Mnemonic::Lwarx, &[3, 0, 4, 0]).expect("it loads");
        let swap = |bench: &mut Bench| std::mem::swap(&mut bench.thread, &mut bench.other);
        if !is_own {
            swap(&mut bench);
        }
        bench.run(Mnemonic::Stb, &[8, 0x7F, 4]).expect("it stores");
        if !is_own {
            swap(&mut bench);
        }
        bench.run(Mnemonic::Stwcx, &[8, 0, 4]).expect("it completes");
        assert_eq!(condition(&bench), stored);
    }
}

#[test]
fn atomic_and_quadword_operands_must_be_aligned() {
    let accesses: [(Mnemonic, &[i64]); 8] = [
        (Mnemonic::Lharx, &[2, 0, 4, 0]),
        (Mnemonic::Ldarx, &[2, 0, 4, 0]),
        (Mnemonic::Lqarx, &[2, 0, 4, 0]),
        (Mnemonic::Stwcx, &[8, 0, 4]),
        (Mnemonic::Stqcx, &[8, 0, 4]),
        (Mnemonic::Lq, &[2, 0, 4]),
        (Mnemonic::Stq, &[8, 0, 4]),
        (Mnemonic::Ldat, &[2, 4, 0]),
    ];
    for (mnemonic, operands) in accesses {
        let mut bench = bench(HYPERVISOR);
        bench.thread.gpr[4] = 0x1001;
        assert!(bench.run(mnemonic, operands).is_err(), "{mnemonic:?}");
        let interrupt = bench.interrupt();
        assert_eq!(interrupt.vector, Vector::Alignment, "{mnemonic:?}");
        assert_eq!(interrupt.storage.expect("DAR").address.0, 0x1001);
    }
}

#[test]
fn multiples_and_strings_need_big_endian_mode() {
    let accesses: [(Mnemonic, &[i64], u64); 6] = [
        (Mnemonic::Lmw, &[30, 16, 4], 0x1010),
        (Mnemonic::Stmw, &[30, 16, 4], 0x1010),
        (Mnemonic::Lswi, &[30, 4, 8], 0x1000),
        (Mnemonic::Stswi, &[30, 4, 8], 0x1000),
        (Mnemonic::Lswx, &[30, 6, 5], 0x1008),
        (Mnemonic::Stswx, &[30, 6, 5], 0x1008),
    ];
    for (mnemonic, operands, address) in accesses {
        let mut bench = bench(HYPERVISOR);
        assert!(bench.run(mnemonic, operands).is_err());
        let interrupt = bench.interrupt();
        assert_eq!(interrupt.vector, Vector::Alignment, "{mnemonic:?}");
        assert_eq!(interrupt.storage.expect("DAR").address.0, address);
    }
}

#[test]
fn a_string_may_wrap_to_r0_where_that_is_no_base() {
    let mut bench = bench(BIG_ENDIAN);
    bench.thread.gpr[4] = 0x1000;
    bench.thread.xer = 8;
    (bench.thread.gpr[31], bench.thread.gpr[0]) = (u64::MAX, u64::MAX);
    assert!(bench.run(Mnemonic::Lswx, &[31, 0, 4]).is_ok());
    assert!([31, 0].iter().all(|&loaded: &usize| bench.thread.gpr[loaded] <= u64::from(u32::MAX)));
    assert!(bench.run(Mnemonic::Lswx, &[3, 0, 4]).is_err(), "r4 is loaded and is the index");
}

#[test]
fn a_load_that_does_not_complete_changes_no_register() {
    let accesses: [(Mnemonic, &[i64]); 4] = [
        (Mnemonic::Ldu, &[3, 8, 4]),
        (Mnemonic::Lmw, &[24, 8, 4]),
        (Mnemonic::Lswi, &[24, 4, 32]),
        (Mnemonic::Stdu, &[3, 8, 4]),
    ];
    for (mnemonic, operands) in accesses {
        let mut bench = bench(BIG_ENDIAN);
        bench.thread.gpr[4] = END - 12;
        let before = bench.thread.gpr;
        assert!(bench.run(mnemonic, operands).is_err(), "{mnemonic:?}");
        assert_eq!(bench.thread.gpr, before, "{mnemonic:?}");
    }
}

#[test]
fn in_32_bit_mode_the_upper_word_of_an_address_does_not_count() {
    let mut bench = bench(HYPERVISOR & !msr::SF);
    bench.shared.memory.write(0x1000, [0x5A]);
    bench.thread.gpr[4] = 0xFFFF_FFFF_0000_0FFF;
    bench.run(Mnemonic::Lbzu, &[3, 1, 4]).expect("it loads");
    assert_eq!((bench.thread.gpr[3], bench.thread.gpr[4]), (0x5A, 0x1000));
}

#[test]
fn an_unknown_function_of_an_atomic_operation_is_a_data_storage_interrupt() {
    for (mnemonic, function, status) in
        [(Mnemonic::Lwat, 9, 0x4), (Mnemonic::Stdat, 8, 0x0200_0004)]
    {
        let mut bench = bench(HYPERVISOR);
        assert!(bench.run(mnemonic, &[3, 4, function]).is_err());
        let interrupt = bench.interrupt();
        assert_eq!(interrupt.vector, Vector::DataStorage);
        assert_eq!(interrupt.storage.expect("DSISR").status, Some(status));
    }
}

#[test]
fn bounded_increments_stop_at_their_bound() {
    let mut bench = bench(HYPERVISOR);
    bench.shared.memory.write(0x1000, [6, 0, 0, 0, 7, 0, 0, 0]);
    for delivered in [6, 0x8000_0000] {
        bench.run(Mnemonic::Lwat, &[3, 4, 24]).expect("it completes");
        assert_eq!(bench.thread.gpr[3], delivered);
    }
    assert_eq!(bench.shared.memory.read(0x1000), [7, 0, 0, 0, 7, 0, 0, 0]);
    bench.thread.gpr[4] = 0x101C;
    assert!(bench.run(Mnemonic::Lwat, &[3, 4, 24]).is_err());
    assert_eq!(bench.interrupt().vector, Vector::Alignment);
}

#[test]
fn cache_inhibited_accesses_work_in_hypervisor_real_mode_only() {
    let mut bench = bench(BIG_ENDIAN);
    bench.run(Mnemonic::Stwcix, &[8, 0, 4]).expect("it stores");
    assert_eq!(bench.shared.memory.read(0x1000), [0, 0, 0xAB, 0xCD]);
    bench.run(Mnemonic::Lhzcix, &[3, 0, 4]).expect("it loads");
    assert_eq!(bench.thread.gpr[3], 0);
    let refusals = [
        (HYPERVISOR, 0x1001, Vector::Alignment),
        (HYPERVISOR | msr::DR, 0x1000, Vector::DataStorage),
        (HYPERVISOR | msr::PR, 0x1000, Vector::Program),
    ];
    for (state, address, vector) in refusals {
        bench.thread.set_msr(state);
        bench.thread.gpr[4] = address;
        assert!(bench.run(Mnemonic::Ldcix, &[3, 0, 4]).is_err());
        assert_eq!(bench.interrupt().vector, vector);
    }
}

#[test]
fn a_cache_inhibited_access_with_relocation_on_says_so_in_dsisr() {
    for (mnemonic, status) in [(Mnemonic::Lwzcix, 0x2), (Mnemonic::Stwcix, 0x0200_0002)] {
        let mut bench = bench(HYPERVISOR | msr::DR);
        assert!(bench.run(mnemonic, &[8, 0, 4]).is_err());
        let fault = bench.interrupt().storage.expect("DAR and DSISR");
        assert_eq!((fault.address.0, fault.status), (0x1000, Some(status)));
    }
}
