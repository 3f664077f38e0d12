//! What decimal floating-point cases need: operands at the edges of the formats, and near each other.
//!
//! Datums are put together from declets, so that other ways to write the same digits, and bits that mean
//! nothing in special datums, come up as well.

use arch::instruction::{Mnemonic as M, Operand, Row, Word};
use fastrand::Rng;
use simulator::exec::floating_point::fpscr::{DRN, ENABLES, OE, UE, with_summaries};

use crate::state::State;

/// Whether a mnemonic is one of decimal floating point.
pub(crate) fn is_decimal(mnemonic: M) -> bool {
    (M::Dadd..=M::Dscriq).contains(&mnemonic)
}

/// What makes a format.
struct Shape {
    declets: u32,
    exponent_bits: u32,
    bias: i64,
}

const SHORT: Shape = Shape { declets: 2, exponent_bits: 6, bias: 101 };
const LONG: Shape = Shape { declets: 5, exponent_bits: 8, bias: 398 };
const EXTENDED: Shape = Shape { declets: 11, exponent_bits: 12, bias: 6176 };

/// Declets of 000, 999 in two ways, 500, 499, 050, 005, 001, 010, 100, and 888 in another way.
const DECLETS: [u32; 11] =
    [0x000, 0x0FF, 0x3FF, 0x280, 0x25F, 0x050, 0x005, 0x001, 0x010, 0x080, 0x36E];

impl Shape {
    fn greatest(&self) -> i64 {
        (3 << self.exponent_bits) - 1
    }

    fn sign_shift(&self) -> u32 {
        10 * self.declets + self.exponent_bits + 5
    }

    /// Declets, the lowest in the lowest bits: mostly of one kind above and another below.
    fn trailing(&self, rng: &mut Rng) -> u128 {
        let pick = |rng: &mut Rng| match rng.u32(..4) {
            0 => rng.u32(..1024),
            _ => DECLETS[rng.usize(..DECLETS.len())],
        };
        let (above, below) = (pick(rng), [0x000, 0x0FF, pick(rng)][rng.usize(..3)]);
        let boundary = rng.u32(..=self.declets);
        let is_random = rng.u32(..4) == 0;
        (0..self.declets).fold(0, |bits, place| {
            let declet = match place.cmp(&boundary) {
                _ if is_random => rng.u32(..1024),
                std::cmp::Ordering::Less => below,
                std::cmp::Ordering::Equal => pick(rng),
                std::cmp::Ordering::Greater => [above, above, 0][rng.usize(..3)],
            };
            bits | u128::from(declet) << (10 * place)
        })
    }

    /// A finite datum with a biased exponent near this one.
    fn finite(&self, biased: i64, rng: &mut Rng) -> u128 {
        let biased = biased.clamp(0, self.greatest()) as u128;
        let digit = [0, 0, 1, 9, rng.u128(..10)][rng.usize(..5)];
        let high = biased >> self.exponent_bits;
        let leading = if digit < 8 { high << 3 | digit } else { 0x18 | high << 1 | digit & 1 };
        let low = biased & ((1 << self.exponent_bits) - 1);
        let trailing = match rng.u32(..8) {
            0 => 0,
            // Only few digits, so that quotients come out even.
            1 => self.trailing(rng) & 0x3FF,
            _ => self.trailing(rng),
        };
        let combination = leading << self.exponent_bits | low;
        u128::from(rng.bool()) << self.sign_shift() | combination << (10 * self.declets) | trailing
    }

    /// Nines in all places but the first, with this biased exponent.
    fn nines(&self, biased: i64, rng: &mut Rng) -> u128 {
        let high = (biased >> self.exponent_bits) as u128;
        let low = biased as u128 & ((1 << self.exponent_bits) - 1);
        let combination = high << (self.exponent_bits + 3) | low;
        let trailing = (0..self.declets).fold(0, |bits, _| bits << 10 | 0x0FF);
        u128::from(rng.bool()) << self.sign_shift() | combination << (10 * self.declets) | trailing
    }

    /// A datum of any kind, most of them finite with an exponent within `spread` of `exponent`.
    fn datum(&self, exponent: i64, spread: i64, rng: &mut Rng) -> u128 {
        match rng.u32(..16) {
            0 => {
                // Infinity or NaN, with whatever the other bits of the combination field are.
                let special = 0x1E | u128::from(rng.bool());
                let free = if rng.bool() { 0 } else { rng.u128(..1 << self.exponent_bits) };
                let signals = rng.u128(..2) << (self.exponent_bits - 1);
                let trailing = if rng.u32(..4) == 0 { 0 } else { self.trailing(rng) };
                let combination = special << self.exponent_bits | free | signals;
                let sign = u128::from(rng.bool()) << self.sign_shift();
                sign | combination << (10 * self.declets) | trailing
            }
            1 => self.finite(rng.i64(0..4), rng),
            2 => self.finite(self.greatest() - rng.i64(0..4), rng),
            3 => self.finite(rng.i64(0..=self.greatest()), rng),
            _ => self.finite(exponent + self.bias + rng.i64(-spread..=spread), rng),
        }
    }
}

/// Gives the operands of a decimal instruction values, and FPSCR a rounding mode.
pub(crate) fn steer(row: &Row, word: Word, start: &mut State, rng: &mut Rng) {
    if !is_decimal(row.mnemonic) {
        return;
    }
    start.fpscr = DRN.set(start.fpscr, rng.u64(..8));
    if rng.u32(..8) != 0 {
        // QEMU's decimal instructions do not interrupt: most cases are without an enabled exception.
        start.fpscr = with_summaries(start.fpscr & !ENABLES);
    }
    if matches!(row.mnemonic, M::Drsp | M::Drdpq) {
        // The scaled results are not modelled.
        start.fpscr = with_summaries(start.fpscr & !(OE | UE));
    }
    let has = |operand| row.operands.contains(&operand);
    let is_pair = has(Operand::FRBp) || has(Operand::FRAp);
    let shape = if is_pair { &EXTENDED } else { &LONG };
    let mut put = |register: usize, value: u128| {
        if is_pair {
            start.vsr[register][0] = (value >> 64) as u64;
            start.vsr[register + 1][0] = value as u64;
        } else {
            start.vsr[register][0] = value as u64;
        }
    };
    let digits = i64::from(3 * shape.declets + 1);
    let (a, b) = (word.fra(), word.frb());
    match row.mnemonic {
        M::Dadd
        | M::Daddq
        | M::Dsub
        | M::Dsubq
        | M::Dqua
        | M::Dquaq
        | M::Dcmpo
        | M::Dcmpoq
        | M::Dcmpu
        | M::Dcmpuq
        | M::Dtstex
        | M::Dtstexq => {
            let exponent = near_an_end(shape, rng);
            let first = shape.datum(exponent, 0, rng);
            let spread = *rng.choice(&[0, 3, digits, 2 * digits + 12]).expect("there are spreads");
            let sign = 1 << shape.sign_shift();
            // Now and then the same digits again: sums that vanish, comparisons of equals.
            let second = match rng.u32(..8) {
                0 => first ^ sign,
                1 => first,
                2 => first ^ sign ^ rng.u128(..8),
                _ => shape.datum(exponent, spread, rng),
            };
            put(a, first);
            put(b, second);
        }
        M::Dmul | M::Dmulq | M::Ddiv | M::Ddivq => {
            let first = rng.i64(-shape.bias..=shape.greatest() - shape.bias);
            let end = near_an_end(shape, rng) + rng.i64(-2 * digits..=2 * digits);
            let is_product = matches!(row.mnemonic, M::Dmul | M::Dmulq);
            let second = if is_product { end - first } else { first - end };
            put(a, shape.datum(first, 0, rng));
            put(b, shape.datum(second, 2, rng));
        }
        M::Drrnd | M::Drrndq if rng.u32(..16) == 0 => {
            // Nines that a carry takes out of the range of exponents.
            let kept = rng.i64(1..digits - 1);
            put(b, shape.nines(shape.greatest() - (digits - 1 - kept), rng));
            start.vsr[a][0] = kept as u64;
        }
        M::Drrnd | M::Drrndq | M::Dtstsf | M::Dtstsfq => {
            let exponent = near_an_end(shape, rng);
            put(b, shape.datum(exponent, 3, rng));
            start.vsr[a][0] = count(rng, digits);
        }
        M::Diex | M::Diexq => {
            let exponent = near_an_end(shape, rng);
            put(b, shape.datum(exponent, 3, rng));
            let biased = match rng.u32(..4) {
                0 => rng.i64(-5..5),
                1 => shape.greatest() + rng.i64(-3..3),
                2 => start.gpr[0] as i64,
                _ => rng.i64(0..=shape.greatest()),
            };
            start.vsr[a][0] = biased as u64;
        }
        M::Dctdp => {
            let short = SHORT.datum(0, 90, rng) as u64;
            start.vsr[b][0] =
                short | if rng.bool() { 0 } else { start.vsr[b][0] & 0xFFFF_FFFF << 32 };
        }
        M::Drsp => {
            let exponent = near_an_end(&SHORT, rng);
            put(b, shape.datum(exponent, 24, rng));
        }
        M::Drdpq => {
            let exponent = near_an_end(&LONG, rng);
            put(b, shape.datum(exponent, 40, rng));
        }
        M::Dcffix | M::Dcffixq => start.vsr[b][0] = start.gpr[b] >> rng.u32(..16),
        M::Denbcd | M::Denbcdq => put(b, bcd(row.mnemonic, word, rng)),
        // Integers, and what is near the greatest of them.
        M::Dctqpq => start.vsr[b][0] = LONG.datum(near_an_end(&LONG, rng), 3, rng) as u64,
        M::Dctfix | M::Dctfixq => put(b, shape.datum(0, digits + 4, rng)),
        M::Dquai | M::Dquaiq | M::Drintx | M::Drintxq | M::Drintn | M::Drintnq => {
            put(b, shape.datum(0, digits + 4, rng));
        }
        _ => {
            let exponent = near_an_end(shape, rng);
            let register = if has(Operand::FRA) || has(Operand::FRAp) { a } else { b };
            put(register, shape.datum(exponent, 3, rng));
        }
    }
}

/// An exponent at the ends of a format's range, or in the middle.
fn near_an_end(shape: &Shape, rng: &mut Rng) -> i64 {
    let ends = [-shape.bias, shape.greatest() - shape.bias, 0, 0];
    ends[rng.usize(..ends.len())]
}

/// A number of digits in the low six bits of a register.
fn count(rng: &mut Rng, digits: i64) -> u64 {
    let above = if rng.bool() { 0 } else { rng.u64(..) & !0x3F };
    above | if rng.u32(..8) == 0 { rng.u64(..64) } else { rng.u64(..=digits as u64) }
}

/// Digits of four bits, now and then a wrong one; with S=1 a sign, now and then none.
fn bcd(mnemonic: M, word: Word, rng: &mut Rng) -> u128 {
    let places = if mnemonic == M::Denbcd { 16 } else { 32 };
    let length = rng.u32(..=places);
    let mut value = (0..length).fold(0, |value, _| value << 4 | rng.u128(..10));
    if word.s_denbcd() != 0 && rng.u32(..8) != 0 {
        value = value & !0xF | rng.u128(10..16);
    }
    if rng.u32(..8) == 0 {
        value |= 0xF << (4 * rng.u32(..places)) & rng.u128(..);
    }
    value
}
