//! What QEMU's user mode does not show: targets behind enabled exceptions without an interrupt, FR, the
//! negated multiply-adds in the directed modes, loads with a length of zero. And what random operands seldom reach: a
//! carry that comes from a carry.

use arch::instruction::{Mnemonic as M, encode};
use arch::interrupt::{Vector, program};
use arch::processor::Processor;
use arch::registers::msr;

use crate::exec::floating_point::fpscr::{
    EXCEPTIONS, FEX, FI, FPRF, FR, FX, OE, OX, RN, UE, UX, VE, VX, VXISI, VXSNAN, VXVC, XE, XX, ZE,
    ZX,
};
use crate::exec::{Flow, Mode, select};
use crate::ledger::Clock;
use crate::state::cores::Core;
use crate::state::memory::Memory;
use crate::state::shared::{FirmwarePlace, Shared};
use crate::state::thread::Thread;
use crate::state::thread::trap::Cause;

const VSX: u64 = msr::SF | msr::HV | msr::VSX | msr::VEC;
/// What a target holds before.
const BEFORE: u128 = 0x0123_4567_89AB_CDEF_0011_2233_4455_6677;
const SUMMARIES: u64 = FX | FEX | VX;

fn machine(state: u64, fpscr: u64) -> (Thread, Shared) {
    let clock = Clock { core_hz: 2, timebase_hz: 1 };
    let place = FirmwarePlace { base: 0, entry: 0 };
    let memory = Memory::new(Vec::new());
    let shared = Shared::new(Processor::Power9, clock, memory, vec![Core::new(0)], place, 1, 1);
    let mut thread = Thread::new(shared.processor, 0, 0);
    thread.set_msr(state);
    thread.fpscr = fpscr;
    (thread, shared)
}

/// VSR 33 and FPSCR after `mnemonic` 33, 34, 35 (or VRs 1, 2, 3) on `operands`.
fn after(mnemonic: M, operands: &[u128], fpscr: u64) -> (u128, u64) {
    let (mut thread, mut shared) = machine(VSX, fpscr);
    thread.set_vsr(33, BEFORE);
    run(mnemonic, operands, &mut thread, &mut shared).expect("no interrupt");
    (thread.vsr(33), thread.fpscr)
}

fn run(
    mnemonic: M,
    operands: &[u128],
    thread: &mut Thread,
    shared: &mut Shared,
) -> Result<Flow, Cause> {
    let name = mnemonic.row().name;
    let first = if name.contains("qp") || name.starts_with('v') { 1 } else { 33 };
    let count = mnemonic.row().operands.len() as i64;
    let registers: Vec<i64> = (first..first + count).collect();
    // The last operands: XT is given first where there is one more.
    let skipped = usize::from(operands.len() < count as usize);
    for (index, &operand) in operands.iter().enumerate() {
        thread.set_vsr(33 + index + skipped, operand);
    }
    let word = encode(mnemonic, &registers, false, false).expect("operands fit");
    let (handler, word, _) = select(word, shared.processor, Mode::from_msr(thread.msr()));
    handler(thread, shared, word).map_err(|_| thread.take_cause().expect("a trap has a cause"))
}

fn doubles(high: f64, low: f64) -> u128 {
    u128::from(high.to_bits()) << 64 | u128::from(low.to_bits())
}

const INFINITY: f64 = f64::INFINITY;
const SIGNALLING: f64 = f64::from_bits(0x7FF0_0000_0000_0001);

#[test]
fn any_enabled_exception_of_an_element_leaves_the_whole_target() {
    let one = doubles(1.0, 1.0);
    let tiny = f64::from_bits(1);
    let cases = [
        (M::Xvadddp, doubles(1.0, INFINITY), doubles(1.0, -INFINITY), VE, VXISI),
        (M::Xvadddp, doubles(SIGNALLING, 1.0), one, VE, VXSNAN),
        (M::Xvdivdp, one, doubles(1.0, 0.0), ZE, ZX),
        (M::Xvmuldp, doubles(f64::MAX, 1.0), doubles(2.0, 1.0), OE, OX | XX),
        (M::Xvadddp, doubles(1.0, tiny), doubles(1.0, tiny), UE, UX),
        (M::Xvadddp, doubles(1.0, 1.0), doubles(1.0, tiny), XE, XX),
        (M::Xvcmpgtdp, doubles(1.0, f64::NAN), one, VE, VXVC),
        (M::Xvmaxdp, doubles(1.0, SIGNALLING), one, VE, VXSNAN),
    ];
    for (mnemonic, a, b, enable, expected) in cases {
        let kept = FR | FI | FPRF.mask();
        let (target, fpscr) = after(mnemonic, &[a, b], kept | enable);
        assert_eq!(target, BEFORE, "{mnemonic:?}");
        // XX of an overflow that is enabled says whether it was rounded before.
        let exceptions = fpscr & EXCEPTIONS;
        assert!(exceptions == expected || exceptions | XX == expected, "{mnemonic:?} {fpscr:#x}");
        assert_eq!(fpscr & (FX | FEX | kept), FX | FEX | kept, "{mnemonic:?}");
        let (target, fpscr) = after(mnemonic, &[a, b], kept);
        assert_ne!(target, BEFORE, "{mnemonic:?}");
        assert_eq!(
            fpscr & (FX | FEX | kept),
            if fpscr & EXCEPTIONS == 0 { kept } else { FX | kept }
        );
    }
}

#[test]
fn the_interrupt_comes_with_fe0_or_fe1() {
    for (bit, is_taken) in [(msr::FE0, true), (msr::FE1, true), (0, false)] {
        let (mut thread, mut shared) = machine(VSX | bit, ZE);
        let operands = [doubles(1.0, 1.0), doubles(0.0, 1.0)];
        let outcome = run(M::Xvdivdp, &operands, &mut thread, &mut shared);
        match outcome {
            Err(Cause::Interrupt(interrupt)) => {
                assert!(is_taken);
                assert_eq!(interrupt.vector, Vector::Program);
                assert_eq!(interrupt.status, program::FLOATING_POINT);
            }
            outcome => assert!(!is_taken, "{outcome:?}"),
        }
    }
}

#[test]
fn a_scalar_goes_by_the_scalar_rules() {
    // Overflow and inexactness deliver their results though they are enabled.
    let (target, fpscr) = after(M::Xsmuldp, &[doubles(f64::MAX, 9.0), doubles(4.0, 9.0)], OE | XE);
    assert_eq!(target as u64, 0);
    assert_eq!(
        f64::from_bits((target >> 64) as u64),
        f64::MAX * 2_f64.powi(-768) * 4.0 * 2_f64.powi(-768)
    );
    assert_eq!(fpscr & (EXCEPTIONS | FEX), OX | FEX);
    // An invalid operation does not, and FR and FI are cleared.
    let (target, fpscr) =
        after(M::Xsadddp, &[doubles(INFINITY, 9.0), doubles(-INFINITY, 9.0)], VE | FR | FI);
    assert_eq!((target, fpscr & !SUMMARIES), (BEFORE, VE | VXISI));
    // FR says whether the magnitude is above the truncated one.
    let mut ups = 0;
    for dividend in 1..20 {
        let operands = [doubles(dividend.into(), 0.0), doubles(23.0, 0.0)];
        let (target, fpscr) = after(M::Xsdivdp, &operands, 0);
        let (truncated, _) = after(M::Xsdivdp, &operands, RN.set(0, 1));
        assert_eq!(fpscr & FR != 0, target != truncated);
        assert_ne!(fpscr & FI, 0);
        ups += u32::from(target != truncated);
    }
    assert!((1..19).contains(&ups));
}

#[test]
fn a_negated_multiply_add_is_negated_after_rounding() {
    let pairs = [
        (M::Xsmaddadp, M::Xsnmaddadp),
        (M::Xsmsubmdp, M::Xsnmsubmdp),
        (M::Xvmaddadp, M::Xvnmaddadp),
        (M::Xvmsubmsp, M::Xvnmsubmsp),
        (M::Xsmaddqp, M::Xsnmaddqp),
        (M::Xsmsubqpo, M::Xsnmsubqpo),
    ];
    let operands = [
        0x3FFA_AAAA_3EAA_AAAB_3FF5_5555_3EAA_AAAB,
        0x3FF1_2345_3F91_A2B3_4000_FEDC_3F80_0001,
        0x3FFC_CCCC_3DCC_CCCD_3FB9_9999_3E4C_CCCD,
    ];
    for (plain, negated) in pairs {
        for mode in 0..4 {
            let (expected, plain_status) = after(plain, &operands, RN.set(0, mode));
            let (target, status) = after(negated, &operands, RN.set(0, mode));
            let name = plain.row().name;
            let signs: u128 = match name {
                _ if name.ends_with("sp") => 0x8000_0000_8000_0000_8000_0000_8000_0000,
                _ if name.starts_with("xv") => 0x8000_0000_0000_0000_8000_0000_0000_0000,
                _ => 1 << 127,
            };
            assert_eq!(target, expected ^ signs, "{negated:?} in mode {mode}");
            assert_eq!(status & (FR | FI | XX), plain_status & (FR | FI | XX));
        }
    }
}

#[test]
fn a_length_of_zero_accesses_nothing() {
    for mnemonic in [M::Lxvl, M::Lxvll, M::Stxvl, M::Stxvll] {
        // There is no memory at all.
        let (mut thread, mut shared) = machine(VSX, 0);
        thread.set_vsr(1, BEFORE);
        thread.gpr[4] = 0x00FF_FFFF_FFFF_FFFF;
        let word = encode(mnemonic, &[1, 3, 4], false, false).expect("operands fit");
        let (handler, word, _) = select(word, Processor::Power9, Mode::from_msr(VSX));
        assert!(handler(&mut thread, &mut shared, word).is_ok(), "{mnemonic:?}");
        let is_load = matches!(mnemonic, M::Lxvl | M::Lxvll);
        assert_eq!(thread.vsr(1), if is_load { 0 } else { BEFORE });
    }
}

/// Every row of VSX has a handler.
#[test]
fn nothing_is_left_out() {
    for row in arch::instruction::TABLE {
        if (M::Mfvsrd..=M::Xsrqpxp).contains(&row.mnemonic) {
            let handler = super::handler(
                row.mnemonic,
                arch::instruction::Word(row.value),
                Mode::from_msr(VSX),
            );
            assert!(handler.is_some(), "{}", row.name);
        }
    }
}

/// The last bit of VRC carries into the sum, and the sum's carry may come from it alone.
#[test]
fn a_quadwords_carry_may_come_from_the_carry_into_it() {
    const ALL: u128 = u128::MAX;
    for (mnemonic, operands, expected) in [
        (M::Vaddecuq, [ALL, 0, 1], 1),
        (M::Vaddecuq, [ALL, 0, 2], 0),
        (M::Vaddeuqm, [ALL, 0, 1], 0),
        (M::Vaddeuqm, [ALL, 0, 2], ALL),
        // A difference is a sum with the complement: of equal operands the carry is that into it.
        (M::Vsubecuq, [5, 5, 1], 1),
        (M::Vsubecuq, [5, 5, 2], 0),
        (M::Vsubeuqm, [5, 5, 1], 0),
        (M::Vsubeuqm, [5, 5, 2], ALL),
    ] {
        assert_eq!(after(mnemonic, &operands, 0).0, expected, "{mnemonic:?} {operands:?}");
    }
}

/// Of all ways to round to an integral value only that by RN says that it was inexact, and whether the magnitude grew.
#[test]
fn rounding_to_an_integral_value_by_mode_says_whether_it_went_away_from_zero() {
    const TO_NEAREST: u64 = 0;
    const UP: u64 = 2;
    const DOWN: u64 = 3;
    let cases = [
        (TO_NEAREST, 2.5, 2.0, FI),
        (TO_NEAREST, 3.5, 4.0, FI | FR),
        (TO_NEAREST, -3.5, -4.0, FI | FR),
        (UP, 2.25, 3.0, FI | FR),
        (UP, -2.75, -2.0, FI),
        (DOWN, 2.75, 2.0, FI),
        (DOWN, -2.25, -3.0, FI | FR),
        (UP, 3.0, 3.0, 0),
    ];
    for (mode, operand, expected, status) in cases {
        let fpscr = RN.set(0, mode);
        let (target, fpscr) = after(M::Xsrdpic, &[doubles(operand, 0.0)], fpscr);
        assert_eq!(target, doubles(expected, 0.0), "{operand} in mode {mode}");
        assert_eq!(fpscr & (FR | FI), status, "{operand} in mode {mode}");
        assert_eq!(
            fpscr & EXCEPTIONS,
            if status == 0 { 0 } else { XX },
            "{operand} in mode {mode}"
        );
    }
}
