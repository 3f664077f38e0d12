//! Extracting and inserting the biased exponent: Power ISA 3.0B Book I 5.6.6.

use arch::instruction::{Mnemonic, Word};

use super::format::{EXTENDED, Format, LONG};
use super::number::{Class, Decimal, power};
use super::operand::{datum, put};
use crate::exec::{Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of an instruction on the exponent.
pub(super) fn handler(mnemonic: Mnemonic) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Dxex => |t, _, i| dxex(t, i, LONG),
        Mnemonic::Dxexq => |t, _, i| dxex(t, i, EXTENDED),
        Mnemonic::Diex => |t, _, i| diex(t, i, LONG),
        Mnemonic::Diexq => |t, _, i| diex(t, i, EXTENDED),
        _ => return None,
    })
}

/// What stands for a biased exponent in special datums.
const INFINITY: i64 = -1;
const QUIET_NAN: i64 = -2;
const SIGNALLING_NAN: i64 = -3;

/// The exponent is an integer in a single register.
fn dxex(thread: &mut Thread, i: Word, format: &Format) -> Outcome {
    let b = datum(thread, i.frb(), format);
    let biased = match b.class {
        Class::Finite => i64::from(b.exponent + format.bias),
        Class::Infinity => INFINITY,
        Class::QuietNan => QUIET_NAN,
        Class::SignallingNan => SIGNALLING_NAN,
    };
    put(thread, i, LONG, u128::from(biased as u64))
}

/// Sign and significand of FRB with the exponent in FRA; what is none gives a quiet NaN.
fn diex(thread: &mut Thread, i: Word, format: &Format) -> Outcome {
    let b = datum(thread, i.frb(), format);
    let biased = thread.fpr(i.fra()) as i64;
    put(thread, i, format, format.pack(with_biased(format, b, biased)))
}

fn with_biased(format: &Format, b: Decimal, biased: i64) -> Decimal {
    // A special datum has no leading digit.
    let special = |class| {
        let coefficient = b.coefficient % power(format.digits() - 1);
        Decimal { class, exponent: 0, coefficient, ..b }
    };
    match biased {
        INFINITY => special(Class::Infinity),
        SIGNALLING_NAN => special(Class::SignallingNan),
        _ if (0..=i64::from(format.greatest_biased())).contains(&biased) => {
            Decimal::finite(b.negative, biased as i32 - format.bias, b.coefficient)
        }
        _ => special(Class::QuietNan),
    }
}
