//! Assistance for decimal arithmetic: digits in four bits (BCD) and three digits in ten (declets).

use arch::instruction::{Mnemonic, Word};

use super::super::{Handler, Mode};
use super::finish;
use super::logical::unary;

/// The handler of a decimal instruction.
pub(super) fn handler(mnemonic: Mnemonic, _: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Addg6s => |t, _, i| {
            let sixes = addg6s(t.gpr[i.ra()], t.gpr[i.rb()]);
            finish::<false>(t, i.rt(), sixes)
        },
        Mnemonic::Cdtbcd => |t, _, i| {
            unary::<false>(t, i, |a| {
                by_word(a, |word| bcd(word >> 10 & 0x3FF) << 12 | bcd(word & 0x3FF))
            })
        },
        Mnemonic::Cbcdtd => |t, _, i| {
            unary::<false>(t, i, |a| {
                by_word(a, |word| declet(word >> 12 & 0xFFF) << 10 | declet(word & 0xFFF))
            })
        },
        _ => return None,
    })
}

/// Six in each digit out of which the sum of the operands carries nothing: what to take from a sum
/// in which every digit had six added beforehand.
fn addg6s(a: u64, b: u64) -> u64 {
    let (a, b) = (u128::from(a), u128::from(b));
    let carries = ((a ^ b ^ (a + b)) >> 4) as u64 & 0x1111_1111_1111_1111;
    0x6666_6666_6666_6666 & !(carries * 0xF)
}

fn by_word(value: u64, convert: impl Fn(u32) -> u32) -> u64 {
    u64::from(convert((value >> 32) as u32)) << 32 | u64::from(convert(value as u32))
}

/// The three digits of a declet. Power ISA 3.0B Book I appendix B: with v clear the digits are all
/// small (0 to 7); otherwise w, x, s and t tell which are large (8 or 9, one bit each).
fn bcd(declet: u32) -> u32 {
    let [pq, r, st, u, v, wx, y] = [(8, 3), (7, 1), (5, 3), (4, 1), (3, 1), (1, 3), (0, 1)]
        .map(|(at, mask)| declet >> at & mask);
    let small = |high: u32, low: u32| high << 1 | low;
    let large = |low: u32| 8 | low;
    let (first, second, third) = match (v, wx, st) {
        (0, ..) => (small(pq, r), small(st, u), small(wx, y)),
        (_, 0b00, _) => (small(pq, r), small(st, u), large(y)),
        (_, 0b01, _) => (small(pq, r), large(u), small(st, y)),
        (_, 0b10, _) => (large(r), small(st, u), small(pq, y)),
        (_, _, 0b00) => (large(r), large(u), small(pq, y)),
        (_, _, 0b01) => (large(r), small(pq, u), large(y)),
        (_, _, 0b10) => (small(pq, r), large(u), large(y)),
        _ => (large(r), large(u), large(y)),
    };
    first << 8 | second << 4 | third
}

/// The declet of three digits: the inverse of [`bcd`]. What digits above 9 give is undefined; the
/// bits a large digit does not keep are ignored.
fn declet(digits: u32) -> u32 {
    let [first, second, third] = [digits >> 8, digits >> 4, digits].map(|digit| digit & 0xF);
    let [r, u, y] = [first & 1, second & 1, third & 1];
    let high = |digit: u32| digit >> 1 & 3;
    let (pq, st, v, wx) = match (first >> 3, second >> 3, third >> 3) {
        (0, 0, 0) => (high(first), high(second), 0, high(third)),
        (0, 0, _) => (high(first), high(second), 1, 0b00),
        (0, _, 0) => (high(first), high(third), 1, 0b01),
        (_, 0, 0) => (high(third), high(second), 1, 0b10),
        (_, _, 0) => (high(third), 0b00, 1, 0b11),
        (_, 0, _) => (high(second), 0b01, 1, 0b11),
        (0, ..) => (high(first), 0b10, 1, 0b11),
        _ => (0, 0b11, 1, 0b11),
    };
    pq << 8 | r << 7 | st << 5 | u << 4 | v << 3 | wx << 1 | y
}

#[cfg(test)]
mod tests {
    use super::{addg6s, bcd, declet};

    #[test]
    fn a_declet_holds_every_number_of_three_digits() {
        for number in 0..1000 {
            let digits = [number / 100, number / 10 % 10, number % 10];
            let digits = digits.iter().fold(0, |digits, digit| digits << 4 | digit);
            assert_eq!(bcd(declet(digits)), digits);
        }
    }

    #[test]
    fn decimal_addition_works_with_the_sixes() {
        let (a, b) = (0x1234_5678_9012_3456_u64, 0x0999_9999_9999_9999);
        let a = a + 0x6666_6666_6666_6666;
        assert_eq!(a.wrapping_add(b).wrapping_sub(addg6s(a, b)), 0x2234_5678_9012_3455);
    }
}
