//! Packing characters for H_PUT_TERM_CHAR and H_GET_TERM_CHAR: up to 16 in two doublewords, the first most significant.

/// Characters that fit one call.
pub const CHARACTERS_MAX: usize = 16;

/// The two doublewords for up to 16 characters; more are not looked at.
#[must_use]
pub fn pack(characters: &[u8]) -> [u64; 2] {
    core::array::from_fn(|word| {
        let byte = |index| characters.get(8 * word + index).copied().unwrap_or(0);
        u64::from_be_bytes(core::array::from_fn(byte))
    })
}

/// The 16 characters of two doublewords, as H_GET_TERM_CHAR gives them.
#[must_use]
pub fn unpack(words: [u64; 2]) -> [u8; CHARACTERS_MAX] {
    core::array::from_fn(|index| words[index / 8].to_be_bytes()[index % 8])
}

#[cfg(test)]
mod tests {
    use super::{pack, unpack};

    #[test]
    fn what_was_packed_is_unpacked() {
        assert_eq!(unpack(pack(b"0123456789abcdef")), *b"0123456789abcdef");
    }

    #[test]
    fn missing_characters_are_zero() {
        assert_eq!(pack(b""), [0, 0]);
        assert_eq!(pack(b"ABCDEFGHI"), [0x4142_4344_4546_4748, 0x4900_0000_0000_0000]);
    }
}
