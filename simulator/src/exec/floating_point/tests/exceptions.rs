//! What enabled and other exceptions leave in FPSCR, the target, CR1 and SRR1.

use arch::instruction::{Mnemonic, Word, encode};
use arch::interrupt::{Vector, program};
use arch::processor::Processor;
use arch::registers::msr;

use crate::exec::floating_point::fpscr::{
    FEX, FI, FPRF, FR, FX, OE, OX, UE, UX, VE, VX, VXCVI, VXIMZ, VXISI, VXSNAN, VXSQRT, VXVC, XX,
    ZE, ZX,
};
use crate::exec::{Mode, Outcome, select};
use crate::ledger::Clock;
use crate::state::cores::Core;
use crate::state::memory::Memory;
use crate::state::shared::{FirmwarePlace, Shared};
use crate::state::thread::Thread;
use crate::state::thread::trap::Cause;

const FLOATING_POINT: u64 = msr::SF | msr::HV | msr::FP;
const BEFORE: u64 = 0x1234_5678_9ABC_DEF0;
const INFINITY: f64 = f64::INFINITY;
const SIGNALLING: f64 = f64::from_bits(0x7FF0_0000_0000_0001);

fn machine(msr: u64, fpscr: u64) -> (Thread, Shared) {
    let clock = Clock { core_hz: 2, timebase_hz: 1 };
    let place = FirmwarePlace { base: 0, entry: 0 };
    let memory = Memory::new(Vec::new());
    let shared = Shared::new(Processor::Power9, clock, memory, vec![Core::new(0)], place, 1, 1);
    let mut thread = Thread::new(shared.processor, 0, 0);
    thread.set_msr(msr);
    thread.fpscr = fpscr;
    thread.set_fpr(1, BEFORE);
    (thread, shared)
}

fn execute(thread: &mut Thread, shared: &mut Shared, word: Word) -> Outcome {
    let (handler, word, _) = select(word, shared.processor, Mode::from_msr(thread.msr()));
    handler(thread, shared, word)
}

/// `mnemonic.` with FRT = 1 and the operands in FPRs 2, 3 and so on.
fn record_form(mnemonic: Mnemonic, operands: &[f64], thread: &mut Thread) -> Word {
    let mut registers = vec![1];
    for (number, operand) in (2..).zip(operands) {
        thread.set_fpr(number, operand.to_bits());
        registers.push(number as i64);
    }
    encode(mnemonic, &registers, true, false).expect("operands fit")
}

/// FRT and FPSCR after `mnemonic.` without interrupts.
fn after(mnemonic: Mnemonic, operands: &[f64], fpscr: u64) -> (u64, u64) {
    let (mut thread, mut shared) = machine(FLOATING_POINT, fpscr);
    let word = record_form(mnemonic, operands, &mut thread);
    execute(&mut thread, &mut shared, word).expect("no interrupt");
    assert_eq!(u64::from(thread.cr_field(1)), thread.fpscr >> 28 & 0xF, "CR1 of {mnemonic:?}");
    (thread.fpr(1), thread.fpscr)
}

const NAN: u64 = 0x7FF8_0000_0000_0000;
const CLASS_NAN: u64 = 0b10001;
const CLASS_NORMAL: u64 = 0b00100;

fn class(fprf: u64) -> u64 {
    FPRF.set(0, fprf)
}

#[test]
fn disabled_invalid_operations_deliver_a_quiet_nan() {
    let summary = FX | VX | class(CLASS_NAN);
    let inputs = FR | FI;
    assert_eq!(after(Mnemonic::Fsub, &[INFINITY, INFINITY], inputs), (NAN, summary | VXISI));
    assert_eq!(after(Mnemonic::Fmul, &[INFINITY, 0.0], inputs), (NAN, summary | VXIMZ));
    let quieted = SIGNALLING.to_bits() | 1 << 51;
    assert_eq!(after(Mnemonic::Fadd, &[1.0, SIGNALLING], 0), (quieted, summary | VXSNAN));
    // FRB before FRC, and infinity x zero is reported beside.
    assert_eq!(
        after(Mnemonic::Fmadd, &[INFINITY, 0.0, SIGNALLING], 0),
        (quieted, summary | VXSNAN | VXIMZ)
    );
}

#[test]
fn enabled_invalid_operations_and_zero_divide_leave_the_target() {
    let kept = class(0b01001);
    let before = kept | FR | FI;
    assert_eq!(
        after(Mnemonic::Fsub, &[INFINITY, INFINITY], before | VE),
        (BEFORE, kept | VE | FX | FEX | VX | VXISI)
    );
    assert_eq!(
        after(Mnemonic::Fdiv, &[1.0, 0.0], before | ZE),
        (BEFORE, kept | ZE | FX | FEX | ZX)
    );
    assert_eq!(
        after(Mnemonic::Fctid, &[1e300], before | VE),
        (BEFORE, kept | VE | FX | FEX | VX | VXCVI)
    );
}

#[test]
fn disabled_zero_divide_delivers_an_infinity() {
    let infinity = (-INFINITY).to_bits();
    assert_eq!(after(Mnemonic::Fdiv, &[-1.0, 0.0], FR), (infinity, FX | ZX | class(0b01001)));
}

#[test]
fn estimates_of_special_operands() {
    let infinity = INFINITY.to_bits();
    assert_eq!(after(Mnemonic::Fre, &[0.0], 0), (infinity, FX | ZX | class(0b00101)));
    assert_eq!(after(Mnemonic::Frsqrte, &[-0.0], 0).1, FX | ZX | class(0b01001));
    assert_eq!(after(Mnemonic::Fres, &[-INFINITY], 0), (1 << 63, class(0b10010)));
    assert_eq!(after(Mnemonic::Frsqrtes, &[-1.0], 0), (NAN, FX | VX | VXSQRT | class(CLASS_NAN)));
    assert_eq!(after(Mnemonic::Fre, &[4.0], 0), (0.25_f64.to_bits(), class(CLASS_NORMAL)));
}

#[test]
fn enabled_overflow_is_scaled_down() {
    assert_eq!(
        after(Mnemonic::Fadd, &[2_f64.powi(1023), 2_f64.powi(1023)], OE),
        (2_f64.powi(1024 - 1536).to_bits(), OE | FX | FEX | OX | class(CLASS_NORMAL))
    );
    assert_eq!(
        after(Mnemonic::Fadds, &[2_f64.powi(127), 2_f64.powi(127)], OE),
        (2_f64.powi(128 - 192).to_bits(), OE | FX | FEX | OX | class(CLASS_NORMAL))
    );
}

#[test]
fn enabled_underflow_is_scaled_up_even_if_exact() {
    let denormal = f64::from_bits(1);
    assert_eq!(
        after(Mnemonic::Fadd, &[denormal, 0.0], UE),
        (2_f64.powi(1536 - 1074).to_bits(), UE | FX | FEX | UX | class(CLASS_NORMAL))
    );
    // Without the enable the same sum is exact, and so no underflow.
    assert_eq!(after(Mnemonic::Fadd, &[denormal, 0.0], 0), (1, class(0b10100)));
}

/// Tininess counts before rounding: this result is rounded up to the least normal number.
#[test]
fn a_tiny_result_that_rounds_to_a_normal_number_is_an_underflow() {
    let almost_one = f64::from_bits(1_f64.to_bits() - 1);
    assert_eq!(
        after(Mnemonic::Fmul, &[f64::MIN_POSITIVE, almost_one], 0),
        (f64::MIN_POSITIVE.to_bits(), FX | UX | XX | FR | FI | class(CLASS_NORMAL))
    );
}

#[test]
fn fx_is_set_only_by_a_bit_that_was_clear() {
    let (_, fpscr) = after(Mnemonic::Fdiv, &[1.0, 3.0], XX);
    assert_eq!(fpscr & FX, 0);
    let (_, fpscr) = after(Mnemonic::Fdiv, &[1.0, 3.0], 0);
    assert_eq!(fpscr & FX, FX);
}

/// The directed modes look at the sign before the negation.
#[test]
fn fnmadd_rounds_and_then_negates() {
    for rn in 0..4 {
        let operands = [1.1, 1.3, -0.7];
        let (negated, _) = after(Mnemonic::Fnmadd, &operands, rn);
        let (plain, _) = after(Mnemonic::Fmadd, &operands, rn);
        assert_eq!(negated, plain ^ 1 << 63, "RN {rn}");
        let (nan, _) = after(Mnemonic::Fnmadd, &[1.0, 1.0, f64::from_bits(NAN | 5)], rn);
        assert_eq!(nan, NAN | 5);
    }
}

#[test]
fn fcmpo_of_a_signalling_nan_is_vxvc_only_if_ve_is_clear() {
    for (enable, expected) in [(0, FX | VX | VXSNAN | VXVC), (VE, VE | FX | FEX | VX | VXSNAN)] {
        let (mut thread, mut shared) = machine(FLOATING_POINT, enable | FI);
        thread.set_fpr(2, SIGNALLING.to_bits());
        let word = encode(Mnemonic::Fcmpo, &[7, 2, 3], false, false).expect("operands fit");
        execute(&mut thread, &mut shared, word).expect("no interrupt");
        assert_eq!(thread.cr_field(7), 1);
        assert_eq!(thread.fpscr, expected | FI | class(1));
    }
}

#[test]
fn an_enabled_exception_interrupts_where_fe_allows() {
    for (mode, expected) in [(0, false), (msr::FE0, true), (msr::FE1, true)] {
        let (mut thread, mut shared) = machine(FLOATING_POINT | mode, ZE);
        let word = record_form(Mnemonic::Fdiv, &[1.0, 0.0], &mut thread);
        let outcome = execute(&mut thread, &mut shared, word);
        assert_eq!(outcome.is_err(), expected);
        assert_eq!(thread.cr_field(1), 0b1100, "CR1 is written either way");
        if expected {
            let Some(Cause::Interrupt(interrupt)) = &thread.cause else { panic!("no interrupt") };
            assert_eq!(interrupt.vector, Vector::Program);
            assert_eq!(interrupt.status, program::FLOATING_POINT);
            assert!(!interrupt.is_after_instruction);
        }
    }
}

#[test]
fn without_msr_fp_every_instruction_is_refused() {
    for mnemonic in [Mnemonic::Fadd, Mnemonic::Fmr, Mnemonic::Mffs, Mnemonic::Lfd, Mnemonic::Stfs] {
        let (mut thread, mut shared) = machine(FLOATING_POINT & !msr::FP, 0);
        let row = arch::instruction::TABLE.iter().find(|row| row.mnemonic == mnemonic);
        let word = Word(row.expect("the table has all").value);
        execute(&mut thread, &mut shared, word).expect_err("interrupt");
        let Some(Cause::Interrupt(interrupt)) = &thread.cause else { panic!("no interrupt") };
        assert_eq!(interrupt.vector, Vector::FloatingPointUnavailable);
        assert_eq!(thread.fpr(1), BEFORE);
    }
}
