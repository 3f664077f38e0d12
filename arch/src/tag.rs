//! Tagged values: random doublewords that say whose they are.
//!
//! A payload fills its registers with them, so that a value which turns up in another partition names the
//! partition that it came from. A convention of the project's own, as marks are (see [`crate::marker`]).

use crate::bits::Field;

const MAGIC: Field = Field::new(0, 15);
const OWNER: Field = Field::new(16, 23);
const IS_TAGGED: u64 = 0x5EC7;

/// The value of `owner`, 1 to 254, with the lower 40 bits of `random`.
#[must_use]
pub const fn tagged(owner: u8, random: u64) -> u64 {
    MAGIC.set(OWNER.set(random, owner as u64), IS_TAGGED)
}

/// One of `owner`, with the lower 39 bits of `random`, whose sums with less than 2^39 are the owner's too.
#[must_use]
pub const fn tagged_first(owner: u8, random: u64) -> u64 {
    tagged(owner, random & ((1 << 39) - 1))
}

/// Whose value it is, if it is a tagged one.
#[must_use]
pub const fn owner(value: u64) -> Option<u8> {
    let owner = OWNER.get(value) as u8;
    // These are nobody's: a compiler keeps the upper bits, or a mask with them, as constants.
    let is_nobodys = owner == 0 || owner == 0xFF;
    if MAGIC.get(value) == IS_TAGGED && !is_nobodys { Some(owner) } else { None }
}

#[cfg(test)]
mod tests {
    use super::{owner, tagged, tagged_first};

    #[test]
    fn a_tagged_value_names_its_owner_and_no_other_value_does() {
        for number in [1, 2, 254] {
            for random in [0, u64::MAX, 0x0123_4567_89AB_CDEF] {
                assert_eq!(owner(tagged(number, random)), Some(number));
                let first = tagged_first(number, random);
                assert_eq!(owner(first), Some(number));
                assert_eq!(owner(first + (1 << 39) - 1), Some(number));
            }
        }
        for value in
            [0, u64::MAX, 0xC000_0000_0000_4500, tagged(1, 0) >> 1, tagged(0, 1), tagged(255, 1)]
        {
            assert_eq!(owner(value), None);
        }
    }
}
