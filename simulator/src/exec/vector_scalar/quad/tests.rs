//! The arithmetic of quads against an independent one: exact integers of any size, compared by
//! cross-multiplication, and the double core where quads are doubles.

use super::arithmetic::{add, divide, multiply, multiply_add, square_root};
use super::convert::{from_double, to_double};
use super::integral::to_integral;
use super::number::{INFINITY, SIGN};
use super::round::Rounding;
use crate::exec::floating_point::arithmetic as double;
use crate::exec::floating_point::fpscr::{EXCEPTIONS, FI, FPRF, FR, OX, RN, UX, XX};
use crate::exec::floating_point::fused;
use crate::exec::floating_point::round::Double;

/// Small deterministic generator (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let value = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        value ^ (value >> 31)
    }

    /// A double, often an extreme one.
    fn double(&mut self) -> u64 {
        const EDGES: [u64; 8] = [
            0,
            1,
            0x000F_FFFF_FFFF_FFFF,
            0x0010_0000_0000_0000,
            0x3FF0_0000_0000_0000,
            0x7FEF_FFFF_FFFF_FFFF,
            0x7FF0_0000_0000_0000,
            0x7FF4_0000_0000_0001,
        ];
        match self.next() % 4 {
            0 => EDGES[self.next() as usize % EDGES.len()] ^ self.next() << 63,
            1 => 0x3FF0_0000_0000_0000_u64.wrapping_add(self.next() % 64) ^ self.next() << 63,
            _ => self.next(),
        }
    }

    /// A quad that is a number, of any size.
    fn quad(&mut self) -> u128 {
        let bits = u128::from(self.next()) << 64 | u128::from(self.next());
        if bits & INFINITY == INFINITY { bits ^ 1 << 112 } else { bits }
    }
}

/// A result that goes through a quad rounded to odd and then to a double is the double's own: odd rounding
/// loses nothing that a second rounding needs. This compares every operation with the double core.
#[test]
fn by_way_of_odd_quads_doubles_are_the_doubles() {
    let mut random = Random(1);
    for _ in 0..200_000 {
        let [a, b, c] = std::array::from_fn(|_| random.double());
        let [x, y, z] = [a, b, c].map(|bits| from_double(bits).value);
        let mode = random.next() % 4;
        let fpscr = RN.set(0, mode);
        let rounding = Rounding::of(fpscr);
        // Signalling operands are quiet as quads: compare what is not a NaN's exception.
        let cases = [
            ("add", add(x, y, Rounding::Odd, fpscr), double::add::<Double>(a, b, fpscr)),
            (
                "multiply",
                multiply(x, y, Rounding::Odd, fpscr),
                double::multiply::<Double>(a, b, fpscr),
            ),
            ("divide", divide(x, y, Rounding::Odd, fpscr), double::divide::<Double>(a, b, fpscr)),
            ("root", square_root(x, Rounding::Odd, fpscr), double::square_root::<Double>(a, fpscr)),
            (
                "multiply-add",
                multiply_add(x, y, z, Rounding::Odd, fpscr),
                fused::multiply_add::<Double>(a, b, c, fpscr),
            ),
        ];
        for (name, quad, expected) in cases {
            // The sign of a zero sum follows the mode, which odd does not have.
            if expected.value & !(1 << 63) == 0 && expected.status & FI == 0 {
                continue;
            }
            let narrowed = to_double(quad.value, rounding, fpscr);
            assert_eq!(
                (narrowed.value >> 64) as u64,
                expected.value,
                "{name} of {a:#x} {b:#x} {c:#x} in mode {mode}"
            );
            let inexact = |status: u64| status & (FI | XX) != 0;
            assert_eq!(
                inexact(narrowed.status | quad.status),
                inexact(expected.status),
                "{name} of {a:#x} {b:#x} {c:#x} in mode {mode}"
            );
        }
    }
}

/// An inexact result lies between those of the modes down and up, next to each other; FR says which of
/// them it is.
#[test]
fn the_modes_agree_with_each_other() {
    let mut random = Random(2);
    for _ in 0..50_000 {
        let (a, b, c) = (random.quad(), random.quad(), random.quad());
        let operations: [(&str, &dyn Fn(Rounding) -> super::Computed); 5] = [
            ("add", &|mode| add(a, b, mode, 0)),
            ("multiply", &|mode| multiply(a, b, mode, 0)),
            ("divide", &|mode| divide(a, b, mode, 0)),
            ("root", &|mode| square_root(a & !SIGN, mode, 0)),
            ("multiply-add", &|mode| multiply_add(a, b, c, mode, 0)),
        ];
        for (name, operation) in operations {
            let truncated = operation(Rounding::TowardZero);
            let negative = truncated.value & SIGN != 0;
            let away = operation(if negative { Rounding::Down } else { Rounding::Up });
            let (near, odd) = (operation(Rounding::NearestEven), operation(Rounding::Odd));
            if truncated.status & FI == 0 {
                assert_eq!((truncated, truncated), (away, near), "{name} {a:#x} {b:#x} {c:#x}");
                continue;
            }
            assert_eq!(away.value, truncated.value + 1, "{name} {a:#x} {b:#x} {c:#x}");
            assert!(away.status & FR != 0 && truncated.status & FR == 0);
            assert!(near.value == if near.status & FR != 0 { away.value } else { truncated.value });
            if odd.status & OX == 0 {
                assert_eq!(odd.value & 1, 1, "{name} {a:#x} {b:#x} {c:#x}");
            }
            let exceptions =
                [truncated, away, near, odd].map(|c| c.status & EXCEPTIONS & !(OX | UX));
            assert_eq!(exceptions, [XX; 4]);
        }
    }
}

/// A product of integers that fit, and what the quotient gives back.
#[test]
fn exact_results_are_exact() {
    let mut random = Random(3);
    let quad = |integer: u64| super::convert::from_integer(false, integer).value;
    for _ in 0..20_000 {
        let (a, b) = (random.next() | 1, random.next() >> 15 | 1);
        let product = multiply(quad(a), quad(b), Rounding::NearestEven, 0);
        assert_eq!(product.status & (EXCEPTIONS | FI), 0);
        let quotient = divide(product.value, quad(b), Rounding::NearestEven, 0);
        assert_eq!((quotient.value, quotient.status & EXCEPTIONS), (quad(a), 0));
        let square = multiply(quad(b), quad(b), Rounding::NearestEven, 0).value;
        assert_eq!(square_root(square, Rounding::NearestEven, 0).value, quad(b));
        let difference = multiply_add(quad(a), product.value ^ SIGN, quad(b), Rounding::Up, 0);
        assert_eq!(difference.value, 0);
    }
}

/// Integral values as the doubles have them.
#[test]
fn integral_values_are_those_of_doubles() {
    let mut random = Random(4);
    let modes: [(Rounding, fn(f64) -> f64); 5] = [
        (Rounding::NearestEven, f64::round_ties_even),
        (Rounding::NearestAway, f64::round),
        (Rounding::TowardZero, f64::trunc),
        (Rounding::Up, f64::ceil),
        (Rounding::Down, f64::floor),
    ];
    for _ in 0..50_000 {
        let integer = f64::from((random.next() % 4096) as u32) / 8.0 - 256.0;
        let number = integer * 2_f64.powi((random.next() % 40) as i32 - 20);
        let quad = from_double(number.to_bits()).value;
        for (mode, round) in modes {
            let computed = to_integral(quad, mode, 0, true);
            let expected = from_double(round(number).to_bits());
            assert_eq!(computed.value, expected.value, "{number} {mode:?}");
            assert_eq!(FPRF.get(computed.status), FPRF.get(expected.status));
            assert_eq!(computed.status & FI != 0, round(number) != number);
            assert_eq!(computed.status & FR != 0, round(number).abs() > number.abs());
        }
    }
}
