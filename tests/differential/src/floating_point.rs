//! What floating-point cases need beside random registers: an FPSCR, and operands near each other.

use arch::instruction::{Mnemonic, Row, Word};
use fastrand::Rng;
use simulator::exec::floating_point::fpscr::{
    ENABLES, EXCEPTIONS, FEX, FI, FPRF, FR, FX, OE, RN, UE, XE, with_summaries,
};

use crate::state::State;

/// A status in which no enabled exception is pending: such a one interrupts before the case begins.
pub(crate) fn status(rng: &mut Rng) -> u64 {
    let mut some = |bits: u64| if rng.bool() { rng.u64(..) & bits } else { 0 };
    let sticky = some(EXCEPTIONS | FX);
    let enables = some(ENABLES);
    let fpscr = with_summaries(some(FR | FI | FPRF.mask()) | sticky | enables | rng.u64(..4));
    with_summaries(if fpscr & FEX != 0 { fpscr & !ENABLES } else { fpscr })
}

/// Makes operands meet: sums that cancel, products and quotients at the ends of the exponents.
pub(crate) fn steer(row: &Row, word: Word, start: &mut State, rng: &mut Rng) {
    let (a, b, c) = (word.fra(), word.frb(), word.frc());
    let value = |register: usize| f64::from_bits(start.vsr[register][0]);
    let near = |bits: u64, rng: &mut Rng| bits.wrapping_add_signed(rng.i64(-2..=2));
    match rng.u32(..6) {
        0 => start.vsr[b][0] = near((-value(a)).to_bits(), rng),
        1 => start.vsr[b][0] = near((-value(a) * value(c)).to_bits(), rng),
        2 => {
            const EXPONENT: u64 = 0x7FF << 52;
            let ends = [2046, 1, 0, 1150, 897, 874];
            let sum = ends[rng.usize(..ends.len())] + rng.i64(-3..=3);
            let exponent = |register: usize| (start.vsr[register][0] >> 52 & 0x7FF) as i64;
            let with = |register: usize, field: i64| {
                start.vsr[register][0] & !EXPONENT | (field.clamp(0, 2046) as u64) << 52
            };
            let (new_b, new_c) =
                (with(b, exponent(a) - sum + 1023), with(c, sum + 1023 - exponent(a)));
            (start.vsr[b][0], start.vsr[c][0]) = (new_b, new_c);
        }
        _ => {}
    }
    use Mnemonic as M;
    match row.mnemonic {
        // Whether an estimate is inexact or tiny is undefined: it must not interrupt.
        M::Fre | M::Fres | M::Frsqrte | M::Frsqrtes => start.fpscr &= !(OE | UE | XE),
        // QEMU rounds after the negation, which differs in the directed modes. There, unit tests of
        // the simulator compare with the multiply-add without negation.
        M::Fnmadd | M::Fnmadds | M::Fnmsub | M::Fnmsubs => {
            start.fpscr = RN.set(start.fpscr, RN.get(start.fpscr) & 1);
        }
        _ => {}
    }
}
