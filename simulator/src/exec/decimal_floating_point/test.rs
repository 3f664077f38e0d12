//! Tests of class, group, exponent and significance: Power ISA 3.0B Book I 5.6.3. They raise no
//! exception, whatever the operands.

use std::cmp::Ordering;

use arch::instruction::{Mnemonic, Word};
use arch::registers::cr;

use super::format::{EXTENDED, Format, LONG};
use super::number::{Class, Decimal, count_digits, power};
use super::operand::datum;
use crate::exec::floating_point::deliver::interrupt_if_enabled;
use crate::exec::floating_point::fpscr::FPCC;
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of a test.
pub(super) fn handler(mnemonic: Mnemonic) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Dtstdc => |t, _, i| test_one(t, i, LONG, i.dcm(), class),
        Mnemonic::Dtstdcq => |t, _, i| test_one(t, i, EXTENDED, i.dcm(), class),
        Mnemonic::Dtstdg => |t, _, i| test_one(t, i, LONG, i.dgm(), group),
        Mnemonic::Dtstdgq => |t, _, i| test_one(t, i, EXTENDED, i.dgm(), group),
        Mnemonic::Dtstex => |t, _, i| test_exponent(t, i, LONG),
        Mnemonic::Dtstexq => |t, _, i| test_exponent(t, i, EXTENDED),
        Mnemonic::Dtstsf => |t, _, i| test_significance(t, i, LONG, t.fpr(i.fra()) as u32 & 0x3F),
        Mnemonic::Dtstsfq => {
            |t, _, i| test_significance(t, i, EXTENDED, t.fpr(i.fra()) as u32 & 0x3F)
        }
        Mnemonic::Dtstsfi => |t, _, i| test_significance(t, i, LONG, i.uim()),
        Mnemonic::Dtstsfiq => |t, _, i| test_significance(t, i, EXTENDED, i.uim()),
        _ => return None,
    })
}

/// Writes a condition to FPCC and CR field BF.
pub(super) fn conclude(thread: &mut Thread, i: Word, condition: u32) {
    thread.set_cr_field(i.bf(), condition);
    thread.fpscr = FPCC.set(thread.fpscr, u64::from(condition));
}

/// Tests FRA for a bit of `wanted`; the condition is its sign and whether it has one.
fn test_one(
    thread: &mut Thread,
    i: Word,
    format: &Format,
    wanted: u32,
    kind: fn(&Format, Decimal) -> u32,
) -> Outcome {
    let a = datum(thread, i.fra(), format);
    let sign = if a.negative { cr::LT } else { 0 };
    let matches = if wanted & kind(format, a) != 0 { cr::EQ } else { 0 };
    conclude(thread, i, sign | matches);
    interrupt_if_enabled(thread)
}

/// The bit of DCM for a datum.
fn class(format: &Format, datum: Decimal) -> u32 {
    match datum.class {
        Class::Finite if datum.coefficient == 0 => 0x20,
        Class::Finite if format.is_subnormal(datum) => 0x10,
        Class::Finite => 0x08,
        Class::Infinity => 0x04,
        Class::QuietNan => 0x02,
        Class::SignallingNan => 0x01,
    }
}

/// The bit of DGM for a datum.
fn group(format: &Format, datum: Decimal) -> u32 {
    let is_extreme =
        datum.exponent == format.least_exponent() || datum.exponent == format.greatest_exponent();
    match datum.class {
        Class::Finite if datum.coefficient == 0 => {
            if is_extreme {
                0x10
            } else {
                0x20
            }
        }
        Class::Finite if is_extreme || format.is_subnormal(datum) => 0x08,
        Class::Finite if datum.coefficient < power(format.digits() - 1) => 0x04,
        Class::Finite => 0x02,
        _ => 0x01,
    }
}

/// Compares the exponents; special datums are equal to those of their kind.
fn test_exponent(thread: &mut Thread, i: Word, format: &Format) -> Outcome {
    let (a, b) = (datum(thread, i.fra(), format), datum(thread, i.frb(), format));
    let condition = if a.is_finite() && b.is_finite() {
        match a.exponent.cmp(&b.exponent) {
            Ordering::Less => cr::LT,
            Ordering::Greater => cr::GT,
            Ordering::Equal => cr::EQ,
        }
    } else if a.is_infinite() && b.is_infinite() || a.is_nan() && b.is_nan() {
        cr::EQ
    } else {
        cr::SO
    };
    conclude(thread, i, condition);
    interrupt_if_enabled(thread)
}

/// Compares `reference`, where 0 is more than any, with the number of FRB's digits.
fn test_significance(thread: &mut Thread, i: Word, format: &Format, reference: u32) -> Outcome {
    let b = datum(thread, i.frb(), format);
    let condition = if !b.is_finite() {
        cr::SO
    } else {
        match reference.cmp(&count_digits(b.coefficient)) {
            _ if reference == 0 => cr::GT,
            Ordering::Less => cr::LT,
            Ordering::Greater => cr::GT,
            Ordering::Equal => cr::EQ,
        }
    };
    conclude(thread, i, condition);
    interrupt_if_enabled(thread)
}
