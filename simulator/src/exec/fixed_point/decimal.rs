//! Assistance for decimal arithmetic: digits in four bits (BCD) and three digits in ten (declets).

use arch::instruction::{Mnemonic, Word};

use super::super::declet::{bcd, declet};
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

#[cfg(test)]
mod tests {
    use super::addg6s;

    #[test]
    fn decimal_addition_works_with_the_sixes() {
        let (a, b) = (0x1234_5678_9012_3456_u64, 0x0999_9999_9999_9999);
        let a = a + 0x6666_6666_6666_6666;
        assert_eq!(a.wrapping_add(b).wrapping_sub(addg6s(a, b)), 0x2234_5678_9012_3455);
    }
}
