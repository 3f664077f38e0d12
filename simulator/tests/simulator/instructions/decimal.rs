//! Decimal floating point where QEMU shows nothing or something else: enabled exceptions, scaled
//! results, what is in neither of two registers, and NaNs on the way to narrower formats.

use arch::instruction::Mnemonic;
use arch::interrupt::{Vector, program};
use arch::registers::hfscr::Facility;
use arch::registers::msr;
use arch::registers::spr::Spr;
use simulator::exec::floating_point::fpscr::{
    DRN, FEX, FI, FPRF, FR, FX, OE, OX, UE, UX, VE, VX, VXCVI, VXISI, VXSNAN, VXVC, XE, XX, ZE, ZX,
};
use simulator::state::thread::trap::{Cause, StopReason};

use super::parts::{GUEST, HYPERVISOR, Parts, interrupt, vector};

const FLOATING_POINT: u64 = HYPERVISOR | msr::FP;
const BEFORE: u64 = 0x1234_5678_9ABC_DEF0;

const ONE: u64 = 0x2238_0000_0000_0001;
const ZERO: u64 = 0x2238_0000_0000_0000;
const THREE: u64 = 0x2238_0000_0000_0003;
const INFINITY: u64 = 0x7800_0000_0000_0000;
const NAN: u64 = 0x7C00_0000_0000_0000;
const SIGNALLING: u64 = 0x7E00_0000_0000_0005;

const CLASS_NORMAL: u64 = FPRF.set(0, 0b00100);
const CLASS_NAN: u64 = FPRF.set(0, 0b10001);

/// DFP Long with a small coefficient.
fn long(coefficient: u64, exponent: i64) -> u64 {
    let biased = (exponent + 398) as u64;
    biased >> 8 << 61 | (biased & 0xFF) << 50 | coefficient
}

fn parts(fpscr: u64, registers: &[(usize, u64)]) -> Parts {
    let mut parts = Parts::new(FLOATING_POINT);
    parts.thread.fpscr = fpscr;
    parts.thread.set_fpr(1, BEFORE);
    for &(register, value) in registers {
        parts.thread.set_fpr(register, value);
    }
    parts
}

/// FPR 1 and FPSCR after an operation of the record form on FPRs 2 and 3.
fn after(mnemonic: Mnemonic, a: u64, b: u64, fpscr: u64) -> (u64, u64) {
    let mut parts = parts(fpscr, &[(2, a), (3, b)]);
    parts.run_variant(mnemonic, &[1, 2, 3], true).expect("no interrupt");
    let Parts { thread, .. } = &parts;
    assert_eq!(u64::from(thread.cr_field(1)), thread.fpscr >> 28 & 0xF, "CR1 of {mnemonic:?}");
    (thread.fpr(1), thread.fpscr)
}

#[test]
fn exceptions_that_are_not_enabled_deliver() {
    let summary = FX | VX | CLASS_NAN;
    assert_eq!(after(Mnemonic::Dsub, INFINITY, INFINITY, FR | FI), (NAN, summary | VXISI));
    let quieted = SIGNALLING & !(1 << 57);
    assert_eq!(after(Mnemonic::Dadd, ONE, SIGNALLING, 0), (quieted, summary | VXSNAN));
    let infinite = FPRF.set(0, 0b00101);
    assert_eq!(after(Mnemonic::Ddiv, ONE, ZERO, 0), (INFINITY, FX | ZX | infinite));
    // 3333333333333333E-16: declets of 333 are 0x1B3.
    let third = [0x1B3_u64; 5].iter().fold(0, |digits, declet| digits << 10 | declet);
    let third = third | 3 << 58 | long(0, -16);
    // XX was set before: FX stays clear.
    assert_eq!(after(Mnemonic::Ddiv, ONE, THREE, XX), (third, XX | FI | CLASS_NORMAL));
}

#[test]
fn enabled_invalid_operations_and_zero_divide_leave_the_target() {
    let kept = FPRF.set(0, 0b01001);
    let before = kept | FR | FI;
    let invalid = kept | VE | FX | FEX | VX;
    assert_eq!(after(Mnemonic::Dsub, INFINITY, INFINITY, before | VE), (BEFORE, invalid | VXISI));
    assert_eq!(after(Mnemonic::Dmul, ONE, SIGNALLING, before | VE), (BEFORE, invalid | VXSNAN));
    assert_eq!(after(Mnemonic::Ddiv, ONE, ZERO, before | ZE), (BEFORE, kept | ZE | FX | FEX | ZX));
    let mut parts = parts(before | VE, &[(3, 0xA)]);
    parts.run(Mnemonic::Denbcd, &[0, 1, 3]).expect("no interrupt");
    assert_eq!((parts.thread.fpr(1), parts.thread.fpscr), (BEFORE, invalid | VXCVI));
}

#[test]
fn enabled_overflow_is_scaled_down_and_underflow_up() {
    let large = long(7, 369);
    // The wrapped ideal exponent, which one digit can have.
    assert_eq!(
        after(Mnemonic::Dmul, large, long(1, 300), OE),
        (long(7, 669 - 576), OE | FX | FEX | OX | CLASS_NORMAL)
    );
    assert_eq!(
        after(Mnemonic::Dmul, long(5, -398), long(1, -3), UE),
        (long(5, 576 - 401), UE | FX | FEX | UX | CLASS_NORMAL)
    );
    // Tiny and exact: an underflow only if it is enabled.
    let subnormal = FPRF.set(0, 0b10100);
    assert_eq!(after(Mnemonic::Dadd, long(5, -398), long(0, 0), 0), (long(5, -398), subnormal));
    assert_eq!(
        after(Mnemonic::Dadd, long(5, -398), long(0, 0), UE),
        (long(5, 576 - 398), UE | FX | FEX | UX | CLASS_NORMAL)
    );
    // Inexact as well: the rounding is that of the scaled result.
    let (value, status) = after(Mnemonic::Ddiv, long(1, 369), long(3, -300), OE | DRN.set(0, 1));
    assert_eq!(status & (OX | XX | FI | FR | FEX), OX | XX | FI | FEX);
    let (unscaled, _) = after(Mnemonic::Ddiv, long(1, 0), long(3, 0), DRN.set(0, 1));
    assert_eq!(value.wrapping_sub(unscaled), (669 - 576) << 50 & 0x03FC_0000_0000_0000);
}

#[test]
fn scaled_results_of_extended_operands() {
    // 7E+6111 x 1E+6000: 12111 - 9216 = 2895.
    let pair = |coefficient: u64, exponent: i64| {
        let biased = (exponent + 6176) as u64;
        (biased >> 12 << 61 | (biased & 0xFFF) << 46, coefficient)
    };
    let (a, b) = (pair(7, 6111), pair(1, 6000));
    let mut parts = parts(OE, &[(2, a.0), (3, a.1), (4, b.0), (5, b.1)]);
    parts.run(Mnemonic::Dmulq, &[6, 2, 4]).expect("no interrupt");
    assert_eq!((parts.thread.fpr(6), parts.thread.fpr(7)), pair(7, 2895));
    assert_eq!(parts.thread.fpscr, OE | FX | FEX | OX | CLASS_NORMAL);
}

/// By how much the result would be scaled is in no source.
#[test]
fn narrowing_with_an_enabled_overflow_stops_the_machine() {
    for (enable, exponent, is_refused) in
        [(OE, 300, true), (UE, -300, true), (UE, 300, false), (OE, -300, false), (OE, 50, false)]
    {
        let mut parts = parts(enable, &[(3, long(1, exponent))]);
        let outcome = parts.run(Mnemonic::Drsp, &[1, 3]);
        let stops = matches!(
            outcome,
            Err(Cause::Stop(StopReason::InstructionNotModelled(what))) if what.contains("drsp")
        );
        assert_eq!(stops, is_refused, "{enable:#x}, exponent {exponent}");
    }
}

#[test]
fn narrowing_to_long_gives_the_first_of_two_registers() {
    // 1 in DFP Extended.
    let registers = [(2, 0x2208_0000_0000_0000), (3, 1), (4, BEFORE), (5, BEFORE)];
    let mut one = parts(0, &registers);
    one.run(Mnemonic::Drdpq, &[4, 2]).expect("no interrupt");
    assert_eq!((one.thread.fpr(4), one.thread.fpr(5)), (ONE, 0));
    // A NaN keeps the low digits of its payload: 10^17 + 5.
    let mut nan = parts(0, &[(2, 0x7C00_0000_0000_0000), (3, 1 << 57 | 5)]);
    nan.run(Mnemonic::Drdpq, &[4, 2]).expect("no interrupt");
    assert_eq!((nan.thread.fpr(4), nan.thread.fpr(5)), (NAN | 5, 0));
}

/// DFP Short is for storage: a signalling NaN stays one.
#[test]
fn signalling_nans_pass_from_and_to_short() {
    let class = FPRF.set(0, 0b00001);
    let mut parts = parts(0, &[(3, SIGNALLING)]);
    parts.run(Mnemonic::Drsp, &[1, 3]).expect("no interrupt");
    assert_eq!((parts.thread.fpr(1), parts.thread.fpscr), (0x7E00_0005, class));
    parts.run(Mnemonic::Dctdp, &[4, 1]).expect("no interrupt");
    assert_eq!((parts.thread.fpr(4), parts.thread.fpscr), (SIGNALLING, class));
    // To Extended it is an invalid operation.
    parts.run(Mnemonic::Dctqpq, &[4, 3]).expect("no interrupt");
    assert_eq!((parts.thread.fpr(4), parts.thread.fpr(5)), (NAN, 5));
    assert_eq!(parts.thread.fpscr, FX | VX | VXSNAN | CLASS_NAN);
}

#[test]
fn an_invalid_digit_gives_the_default_nan() {
    for (source, signed) in [(0xA, 0), (0xF0, 0), (0x123, 1), (0xAC, 1)] {
        let mut parts = parts(0, &[(3, source)]);
        parts.run(Mnemonic::Denbcd, &[signed, 1, 3]).expect("no interrupt");
        assert_eq!(parts.thread.fpr(1), NAN, "{source:#x}");
        assert_eq!(parts.thread.fpscr, FX | VX | VXCVI | CLASS_NAN);
    }
}

/// The significand of a special datum is its trailing digits, and the free bits of its combination
/// field become zero.
#[test]
fn special_datums_have_digits() {
    // The declets of 123 and 012 are 0x0A3 and 0x012.
    let infinity = INFINITY | 1 << 55 | 0x0A3;
    let mut parts = parts(0, &[(2, infinity), (3, -2_i64 as u64)]);
    for (mnemonic, operands, expected) in [
        (Mnemonic::Ddedpd, [0, 1, 2], 0x123),
        (Mnemonic::Ddedpd, [2, 1, 2], 0x123C),
        (Mnemonic::Ddedpd, [3, 1, 2], 0x123F),
        (Mnemonic::Dscli, [1, 2, 3], INFINITY | 0x0A3 << 10),
        (Mnemonic::Dscli, [1, 2, 15], INFINITY),
        (Mnemonic::Dscri, [1, 2, 1], INFINITY | 0x012),
        (Mnemonic::Dscri, [1, 2, 63], INFINITY),
        (Mnemonic::Diex, [1, 3, 2], NAN | 0x0A3),
    ] {
        parts.run(mnemonic, &operands).expect("no interrupt");
        assert_eq!(parts.thread.fpr(1), expected, "{mnemonic:?} {operands:?}");
    }
    assert_eq!(parts.thread.fpscr, 0);
}

/// Declets in another way of writing 888 and 999, which every result but a copy has in the first way.
#[test]
fn digits_are_written_in_one_way() {
    let mut parts = parts(0, &[(2, NAN | 0x36E << 10 | 0x3FF), (3, -3_i64 as u64)]);
    parts.run(Mnemonic::Diex, &[1, 3, 2]).expect("no interrupt");
    assert_eq!(parts.thread.fpr(1), SIGNALLING & !5 | 0x06E << 10 | 0x0FF);
}

#[test]
fn an_ordered_comparison_with_a_signalling_nan_is_vxvc_only_if_ve_is_clear() {
    for (enable, expected) in [(0, FX | VX | VXSNAN | VXVC), (VE, VE | FX | FEX | VX | VXSNAN)] {
        let mut parts = parts(enable | FI, &[(2, SIGNALLING), (3, ONE)]);
        parts.run(Mnemonic::Dcmpo, &[7, 2, 3]).expect("no interrupt");
        assert_eq!(parts.thread.cr_field(7), 1);
        assert_eq!(parts.thread.fpscr, expected | FI | FPRF.set(0, 1));
    }
}

#[test]
fn an_enabled_exception_interrupts_where_fe_allows() {
    for (mode, interrupts) in [(0, false), (msr::FE0, true), (msr::FE1, true)] {
        let mut parts = parts(XE, &[(2, ONE), (3, THREE)]);
        parts.thread.set_msr(FLOATING_POINT | mode);
        let outcome = parts.run(Mnemonic::Ddiv, &[1, 2, 3]);
        assert_eq!(outcome.is_err(), interrupts);
        if interrupts {
            assert_eq!(vector(outcome), (Vector::Program, program::FLOATING_POINT));
        }
        assert_ne!(parts.thread.fpr(1), BEFORE, "the rounded result is delivered either way");
    }
}

#[test]
fn without_the_facility_there_is_an_interrupt() {
    let mut parts = Parts::new(HYPERVISOR);
    assert_eq!(vector(parts.run(Mnemonic::Dadd, &[1, 2, 3])).0, Vector::FloatingPointUnavailable);
    let mut guest = Parts::new(GUEST);
    let without = guest.thread.spr(Spr::Hfscr) & !Facility::Fp.bit();
    guest.thread.set_spr(Spr::Hfscr, without);
    let refused = interrupt(guest.run(Mnemonic::Daddq, &[2, 4, 6]));
    assert_eq!(refused.vector, Vector::HypervisorFacilityUnavailable);
    assert_eq!(refused.facility, Some(Facility::Fp));
}
