//! Comparisons: Power ISA 3.0B Book I 5.6.2.

use std::cmp::Ordering;

use arch::instruction::{Mnemonic, Word};
use arch::registers::cr;
use ethnum::U256;

use super::format::{EXTENDED, Format, LONG};
use super::number::{Decimal, count_digits};
use super::operand::datum;
use super::round::wide_power;
use super::test::conclude;
use crate::exec::floating_point::deliver::{interrupt_if_enabled, raise_unordered};
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of a comparison.
pub(super) fn handler(mnemonic: Mnemonic) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Dcmpo => |t, _, i| compare(t, i, LONG, true),
        Mnemonic::Dcmpoq => |t, _, i| compare(t, i, EXTENDED, true),
        Mnemonic::Dcmpu => |t, _, i| compare(t, i, LONG, false),
        Mnemonic::Dcmpuq => |t, _, i| compare(t, i, EXTENDED, false),
        _ => return None,
    })
}

fn compare(thread: &mut Thread, i: Word, format: &Format, is_ordered: bool) -> Outcome {
    let (a, b) = (datum(thread, i.fra(), format), datum(thread, i.frb(), format));
    if a.is_nan() || b.is_nan() {
        conclude(thread, i, cr::SO);
        raise_unordered(thread, a.is_signalling() || b.is_signalling(), is_ordered);
        return interrupt_if_enabled(thread);
    }
    conclude(
        thread,
        i,
        match order(a, b) {
            Ordering::Less => cr::LT,
            Ordering::Greater => cr::GT,
            Ordering::Equal => cr::EQ,
        },
    );
    interrupt_if_enabled(thread)
}

/// The order of what are no NaNs.
pub(super) fn order(a: Decimal, b: Decimal) -> Ordering {
    let sign = |datum: Decimal| match (datum.is_zero(), datum.negative) {
        (true, _) => 0,
        (false, false) => 1,
        (false, true) => -1,
    };
    sign(a).cmp(&sign(b)).then_with(|| match sign(a) {
        0 => Ordering::Equal,
        1 => magnitudes(a, b),
        _ => magnitudes(b, a),
    })
}

/// The order of magnitudes other than zero.
fn magnitudes(a: Decimal, b: Decimal) -> Ordering {
    if a.is_infinite() || b.is_infinite() {
        return a.is_infinite().cmp(&b.is_infinite());
    }
    let leading = |datum: Decimal| datum.exponent + count_digits(datum.coefficient) as i32;
    leading(a).cmp(&leading(b)).then_with(|| {
        // With the leading digits in one place the exponents differ by less than 34.
        let least = a.exponent.min(b.exponent);
        let aligned = |datum: Decimal| {
            U256::from(datum.coefficient) * wide_power((datum.exponent - least) as u32)
        };
        aligned(a).cmp(&aligned(b))
    })
}
