//! What vector-scalar cases need beside random registers: operands of the instruction's formats, near each
//! other, and addresses with a length.

use arch::instruction::{Mnemonic, Operand, Row, Word};
use fastrand::Rng;
use simulator::exec::floating_point::fpscr::{OE, RN, UE, XE};

use crate::layout::WINDOW;
use crate::state::{State, WINDOW_BYTES};
use crate::values::{doublewords, fixed, floating, single, vector};

/// What the elements of an operand are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Elements {
    Doubles,
    /// Singles that doublewords hold in double format.
    SinglesAsDoubles,
    Singles,
    Quads,
    /// Anything.
    Bits,
}

/// The elements of the operands of an instruction, as its name has them.
fn elements(row: &Row) -> Elements {
    let name = row.name;
    let is_floating = name.starts_with("xs") || name.starts_with("xv");
    match name {
        _ if !is_floating || name.contains("cvsx") || name.contains("cvux") => Elements::Bits,
        _ if name.contains("cvsp") || name.starts_with("xv") && name.ends_with("sp") => {
            Elements::Singles
        }
        _ if name.contains("cvdp") => Elements::Doubles,
        _ if name.contains("qp") => Elements::Quads,
        _ if name.ends_with("sp") && name != "xsrsp" => Elements::SinglesAsDoubles,
        _ => Elements::Doubles,
    }
}

/// Makes operands such as the instruction is about. Gives back the word, which may get a base register.
pub(crate) fn steer(row: &Row, word: Word, start: &mut State, rng: &mut Rng) -> Word {
    if row.operands.contains(&Operand::RB) && has_length(row.mnemonic) {
        return steer_length(word, start, rng);
    }
    let elements = elements(row);
    if elements == Elements::Bits {
        return word;
    }
    let registers = registers(row, word);
    for &register in &registers {
        // Of what single format cannot hold, the result is undefined.
        if elements == Elements::SinglesAsDoubles || rng.u32(..8) != 0 {
            start.vsr[register] = operand(elements, rng);
        }
    }
    if let [t, a, b] = registers[..]
        && rng.u32(..3) == 0
    {
        meet(elements, [t, a, b], start, rng);
    }
    let name = row.name;
    if name.starts_with("xsre") || name.starts_with("xvre") || name.contains("rsqrte") {
        // Whether an estimate is inexact or tiny is undefined: it must not interrupt.
        start.fpscr &= !(OE | UE | XE);
    }
    if name.contains("max") || name.contains("min") {
        // QEMU takes a denormal maximum for an underflow if that is enabled.
        start.fpscr &= !UE;
    }
    if name.starts_with("xsrqp") {
        // Where the instruction asks for RN, QEMU confuses two of its modes. Unit tests have them all.
        start.fpscr = RN.set(start.fpscr, RN.get(start.fpscr) & 2);
    }
    if name.starts_with("xsnm") || name.starts_with("xvnm") {
        // As with the scalar multiply-adds: QEMU rounds after the negation.
        start.fpscr = RN.set(start.fpscr, RN.get(start.fpscr) & 1);
    }
    word
}

/// The VSRs that are operands: the target, then the others.
fn registers(row: &Row, word: Word) -> Vec<usize> {
    let number = |operand: &Operand| match operand {
        Operand::XT | Operand::XA | Operand::XB => Some(operand.extract(word) as usize),
        Operand::VRT | Operand::VRA | Operand::VRB => Some(32 + operand.extract(word) as usize),
        _ => None,
    };
    row.operands.iter().filter_map(number).collect()
}

fn operand(elements: Elements, rng: &mut Rng) -> [u64; 2] {
    match elements {
        Elements::Doubles => [floating(rng), floating(rng)],
        Elements::SinglesAsDoubles => {
            [f64::from(f32::from_bits(single(rng))).to_bits(), rng.u64(..)]
        }
        Elements::Singles => {
            doublewords((0..4).fold(0, |all, _| all << 32 | u128::from(single(rng))))
        }
        Elements::Quads => doublewords(quad(rng)),
        Elements::Bits => vector(rng),
    }
}

/// A quad: zeros, denormals, the ends of the ranges of quad, double and the integers, infinities, quiet and
/// signalling NaNs, numbers near one, integers.
fn quad(rng: &mut Rng) -> u128 {
    const ONE: u128 = 0x3FFF << 112;
    const EDGES: [u128; 16] = [
        0,
        1,
        (1 << 112) - 1,
        1 << 112,
        (0x7FFF << 112) - 1,
        0x7FFF << 112,
        0x7FFF << 112 | 1,
        0x7FFF << 112 | 1 << 111,
        (1 << 127) - 1,
        ONE,
        0x43FE << 112 | ((1 << 112) - 1),
        0x43FF << 112,
        0x3C01 << 112,
        0x3BCD << 112,
        0x403E << 112,
        0x401E << 112,
    ];
    let sign = u128::from(rng.bool()) << 127;
    match rng.u32(..8) {
        0..3 => sign | *rng.choice(&EDGES).expect("there are quads"),
        3 => sign | ONE.wrapping_add_signed(i128::from(rng.i64(-4..=4)) << rng.u32(..112)),
        4 => {
            // An integer of any width, perhaps with a half.
            let exponent = rng.u128(..70);
            sign | (ONE + (exponent << 112)) | rng.u128(..1 << 112) & (!0 << (111 - exponent))
        }
        5 => sign | u128::from(fixed(rng)) << 64 & !(1 << 127),
        // Near the double format's ends.
        6 => sign | (rng.u128(0x3BC8..0x3C05) << 112) | rng.u128(..1 << 112),
        _ => rng.u128(..),
    }
}

/// Makes operands meet: sums that cancel, with and without a product.
fn meet(elements: Elements, [t, a, b]: [usize; 3], start: &mut State, rng: &mut Rng) {
    let near = rng.i64(-2..=2);
    let is_product = rng.bool();
    if elements == Elements::Quads {
        const SIGN: u128 = 1 << 127;
        let bits = |register: usize, start: &State| {
            let [high, low] = start.vsr[register];
            u128::from(high) << 64 | u128::from(low)
        };
        let (x, y) = (bits(a, start), bits(b, start));
        if is_product {
            // The exponent of the product, to which the addend is the next.
            const EXPONENT: u128 = 0x7FFF << 112;
            let exponent = |bits: u128| (bits >> 112 & 0x7FFF) as i64;
            let sum = (exponent(x) + exponent(y) - 0x3FFF + near).clamp(0, 0x7FFE);
            let addend = bits(t, start) & !(EXPONENT | SIGN) | (sum as u128) << 112;
            start.vsr[t] = doublewords(addend | !(x ^ y) & SIGN);
        } else {
            start.vsr[b] = doublewords((x ^ SIGN).wrapping_add_signed(near.into()));
        }
        return;
    }
    if elements == Elements::SinglesAsDoubles {
        let value = |register: usize| f64::from_bits(start.vsr[register][0]) as f32;
        let (x, y) = (value(a), value(b));
        let (register, value) = if is_product { (t, -x * y) } else { (b, -x) };
        let value = f32::from_bits(value.to_bits().wrapping_add_signed(near as i32));
        start.vsr[register][0] = f64::from(value).to_bits();
        return;
    }
    let singles = elements == Elements::Singles;
    for place in 0..2 {
        let (x, y) = (start.vsr[a][place], start.vsr[b][place]);
        let (register, value) = if is_product {
            (if rng.bool() { t } else { b }, negated_product(x, y, singles))
        } else {
            (b, if singles { x ^ 0x8000_0000_8000_0000 } else { x ^ 1 << 63 })
        };
        start.vsr[register][place] = value.wrapping_add_signed(near);
    }
}

fn negated_product(x: u64, y: u64, singles: bool) -> u64 {
    if !singles {
        return (-f64::from_bits(x) * f64::from_bits(y)).to_bits();
    }
    let single = |shift: u32| {
        let value = |bits: u64| f32::from_bits((bits >> shift) as u32);
        u64::from((-value(x) * value(y)).to_bits()) << shift
    };
    single(32) | single(0)
}

fn has_length(mnemonic: Mnemonic) -> bool {
    use Mnemonic as M;
    matches!(mnemonic, M::Lxvl | M::Lxvll | M::Stxvl | M::Stxvll)
}

/// An address in the window in RA, which must be a register other than RB, and a length in RB.
fn steer_length(word: Word, start: &mut State, rng: &mut Rng) -> Word {
    const RA: u32 = 0x001F_0000;
    let others: Vec<u32> = (1..32).filter(|&register| register as usize != word.rb()).collect();
    let ra = *rng.choice(&others).expect("there are registers");
    start.gpr[ra as usize] = WINDOW + rng.u64(..=WINDOW_BYTES as u64 - 16);
    let length = if rng.u32(..4) == 0 { rng.u64(..256) } else { rng.u64(..18) };
    start.gpr[word.rb()] = length << 56 | rng.u64(..1 << 56);
    Word(word.0 & !RA | ra << 16)
}
