//! Bit numbers and fields as the Power ISA writes them: bit 0 is the most significant of 64.

/// The mask of one bit of a doubleword, `number` in 0..=63, IBM numbering.
#[must_use]
pub const fn bit(number: u32) -> u64 {
    assert!(number < 64, "a doubleword has bits 0 to 63");
    1 << (63 - number)
}

/// A field of a doubleword: bits `first..=last`, IBM numbering.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    first: u32,
    last: u32,
}

impl Field {
    /// The field that the ISA writes as `first:last`.
    #[must_use]
    pub const fn new(first: u32, last: u32) -> Self {
        assert!(first <= last && last < 64, "a field lies in bits 0 to 63");
        Self { first, last }
    }

    /// How far the field's last bit lies from bit 63.
    #[must_use]
    pub const fn shift(self) -> u32 {
        63 - self.last
    }

    /// All bits of the field set, in place.
    #[must_use]
    pub const fn mask(self) -> u64 {
        (u64::MAX >> (63 - (self.last - self.first))) << self.shift()
    }

    /// The field's value in `word`, moved to the low end.
    #[must_use]
    pub const fn get(self, word: u64) -> u64 {
        (word & self.mask()) >> self.shift()
    }

    /// `word` with the field replaced by `value`; bits of `value` that do not fit are dropped.
    #[must_use]
    pub const fn set(self, word: u64, value: u64) -> u64 {
        (word & !self.mask()) | ((value << self.shift()) & self.mask())
    }
}

#[cfg(test)]
mod tests {
    use super::{Field, bit};

    #[test]
    fn bit_0_is_the_most_significant() {
        assert_eq!(bit(0), 1 << 63);
        assert_eq!(bit(63), 1);
    }

    #[test]
    fn a_field_is_read_back_and_leaves_its_neighbours() {
        let field = Field::new(44, 47);
        assert_eq!(field.mask(), 0xF_0000);
        for value in 0..16 {
            let word = field.set(u64::MAX, value);
            assert_eq!(field.get(word), value);
            assert_eq!(word | field.mask(), u64::MAX);
        }
        assert_eq!(Field::new(0, 63).mask(), u64::MAX);
    }
}
