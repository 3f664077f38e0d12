//! Comparisons, and the tests for software divide and square root: Power ISA 3.0B Book I 7.6.

use std::cmp::Ordering;

use arch::instruction::{Mnemonic, Word};
use arch::registers::cr;

use super::deliver::{elements, operand, scalar_quiet};
use super::float::Float;
use crate::exec::floating_point::compare::{compare, set_test, test_divide, test_square_root};
use crate::exec::floating_point::deliver::{interrupt_if_enabled, unordered};
use crate::exec::floating_point::fpscr::FPCC;
use crate::exec::floating_point::number::{is_nan, is_signalling};
use crate::exec::floating_point::round::Double;
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of a comparison or test.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Xscmpodp => |t, _, i| compare(t, i, a(t, i), b(t, i), true),
        Mnemonic::Xscmpudp => |t, _, i| compare(t, i, a(t, i), b(t, i), false),
        Mnemonic::Xscmpexpdp => |t, _, i| compare_exponents(t, i),
        Mnemonic::Xscmpeqdp => |t, _, i| scalar_mask(t, i, EQUAL),
        Mnemonic::Xscmpgtdp => |t, _, i| scalar_mask(t, i, GREATER),
        Mnemonic::Xscmpgedp => |t, _, i| scalar_mask(t, i, AT_LEAST),
        Mnemonic::Xvcmpeqdp => |t, _, i| vector_mask::<u64>(t, i, EQUAL),
        Mnemonic::Xvcmpgtdp => |t, _, i| vector_mask::<u64>(t, i, GREATER),
        Mnemonic::Xvcmpgedp => |t, _, i| vector_mask::<u64>(t, i, AT_LEAST),
        Mnemonic::Xvcmpeqsp => |t, _, i| vector_mask::<u32>(t, i, EQUAL),
        Mnemonic::Xvcmpgtsp => |t, _, i| vector_mask::<u32>(t, i, GREATER),
        Mnemonic::Xvcmpgesp => |t, _, i| vector_mask::<u32>(t, i, AT_LEAST),
        Mnemonic::Xstdivdp => |t, _, i| set_test(t, i, test_divide::<Double>(a(t, i), b(t, i))),
        Mnemonic::Xstsqrtdp => |t, _, i| set_test(t, i, test_square_root::<Double>(b(t, i))),
        Mnemonic::Xvtdivdp => |t, _, i| vector_test_divide::<u64>(t, i),
        Mnemonic::Xvtdivsp => |t, _, i| vector_test_divide::<u32>(t, i),
        Mnemonic::Xvtsqrtdp => |t, _, i| vector_test_square_root::<u64>(t, i),
        Mnemonic::Xvtsqrtsp => |t, _, i| vector_test_square_root::<u32>(t, i),
        _ => return None,
    })
}

/// Doubleword 0 of XA.
fn a(thread: &Thread, i: Word) -> u64 {
    thread.vsr[i.xa()][0]
}

/// Doubleword 0 of XB.
fn b(thread: &Thread, i: Word) -> u64 {
    thread.vsr[i.xb()][0]
}

/// What a comparison asks for.
#[derive(Clone, Copy)]
struct Relation {
    /// Equal numbers count.
    equal: bool,
    /// A greater first number counts; then a NaN that does not signal is invalid too.
    greater: bool,
}

const EQUAL: Relation = Relation { equal: true, greater: false };
const GREATER: Relation = Relation { equal: false, greater: true };
const AT_LEAST: Relation = Relation { equal: true, greater: true };

impl Relation {
    /// Whether it holds between two doubles, and the exceptions.
    fn holds(self, a: u64, b: u64, fpscr: u64) -> (bool, u64) {
        match f64::from_bits(a).partial_cmp(&f64::from_bits(b)) {
            Some(Ordering::Equal) => (self.equal, 0),
            Some(Ordering::Greater) => (self.greater, 0),
            Some(Ordering::Less) => (false, 0),
            None => {
                let signals = is_signalling(a) || is_signalling(b);
                (false, unordered(fpscr, signals, self.greater))
            }
        }
    }
}

/// All ones in doubleword 0 if the relation holds.
fn scalar_mask(thread: &mut Thread, i: Word, relation: Relation) -> Outcome {
    let (holds, exceptions) = relation.holds(a(thread, i), b(thread, i), thread.fpscr);
    scalar_quiet(thread, i, if holds { u64::MAX } else { 0 }, exceptions)
}

/// All ones in the elements for which the relation holds; CR6 says whether it is all or none of them.
fn vector_mask<L: Float>(thread: &mut Thread, i: Word, relation: Relation) -> Outcome {
    let mask = elements(thread, |t, n| {
        let (a, b) = (operand::<L>(t, i.xa(), n), operand::<L>(t, i.xb(), n));
        let (holds, exceptions) = relation.holds(a, b, t.fpscr);
        (L::from_low(if holds { u128::MAX } else { 0 }), exceptions)
    });
    if let Some(mask) = mask {
        thread.set_vsr(i.xt(), mask);
        if i.rc21() {
            let summary = match mask {
                u128::MAX => cr::LT,
                0 => cr::EQ,
                _ => 0,
            };
            thread.set_cr_field(6, summary);
        }
    }
    interrupt_if_enabled(thread)
}

fn compare_exponents(thread: &mut Thread, i: Word) -> Outcome {
    let (a, b) = (a(thread, i), b(thread, i));
    let exponent = |bits: u64| bits >> 52 & 0x7FF;
    let is_unordered = is_nan(a) || is_nan(b);
    set_order(thread, i, (!is_unordered).then(|| exponent(a).cmp(&exponent(b))))
}

/// Puts the order of two exponents into CR field BF and FPCC; `None` if one number is a NaN.
pub(super) fn set_order(thread: &mut Thread, i: Word, order: Option<Ordering>) -> Outcome {
    set_condition(thread, i, order_condition(order));
    interrupt_if_enabled(thread)
}

/// The condition that an order is; `None` is unordered.
pub(super) fn order_condition(order: Option<Ordering>) -> u32 {
    match order {
        Some(Ordering::Less) => cr::LT,
        Some(Ordering::Greater) => cr::GT,
        Some(Ordering::Equal) => cr::EQ,
        None => cr::SO,
    }
}

/// Sets CR field BF and FPCC.
pub(super) fn set_condition(thread: &mut Thread, i: Word, condition: u32) {
    thread.set_cr_field(i.bf(), condition);
    thread.fpscr = FPCC.set(thread.fpscr, u64::from(condition));
}

/// What is so of one element is so of all.
fn vector_test_divide<L: Float>(thread: &mut Thread, i: Word) -> Outcome {
    let test = |n| {
        let (a, b) = (operand::<L>(thread, i.xa(), n), operand::<L>(thread, i.xb(), n));
        test_divide::<L::Format>(a, b)
    };
    let test = (0..L::COUNT).map(test).fold(0, |all, one| all | one);
    set_test(thread, i, test)
}

fn vector_test_square_root<L: Float>(thread: &mut Thread, i: Word) -> Outcome {
    let test = |n| test_square_root::<L::Format>(operand::<L>(thread, i.xb(), n));
    let test = (0..L::COUNT).map(test).fold(0, |all, one| all | one);
    set_test(thread, i, test)
}
