//! Disassembled instructions, kept: a program executes few places, and these often.

use std::io::Write as _;

use arch::instruction::{Word, disassemble};

/// Places that are kept at a time, by the low bits of their addresses: 256 KiB of code.
const PLACES: usize = 1 << 16;

/// The text of what lies at a place.
#[derive(Clone, Default)]
struct Place {
    address: u64,
    word: u32,
    is_hypervisor: bool,
    /// Empty if nothing is kept here yet.
    text: Vec<u8>,
}

/// The texts that are kept.
pub(super) struct Listing(Vec<Place>);

impl Listing {
    pub(super) fn new() -> Self {
        Self(vec![Place::default(); PLACES])
    }

    /// `STATE ADDRESS WORD ASSEMBLY`.
    #[inline]
    pub(super) fn text(&mut self, address: u64, word: Word, is_hypervisor: bool) -> &[u8] {
        let place = &mut self.0[(address >> 2) as usize % PLACES];
        let kept = (place.address, place.word, place.is_hypervisor);
        if kept != (address, word.0, is_hypervisor) || place.text.is_empty() {
            (place.address, place.word, place.is_hypervisor) = (address, word.0, is_hypervisor);
            let state = if is_hypervisor { "hypervisor" } else { "guest" };
            place.text.clear();
            let assembly = disassemble(word, address);
            write!(place.text, "{state} {address:#018x} {:08x} {assembly}", word.0)
                .expect("memory takes everything");
        }
        &place.text
    }
}

#[cfg(test)]
mod tests {
    use arch::instruction::Word;

    use super::{Listing, PLACES};

    #[test]
    fn a_place_is_what_lies_there_now() {
        let mut listing = Listing::new();
        let (near, far) = (0x100, 0x100 + 4 * PLACES as u64);
        for _ in 0..2 {
            for (address, word, is_hypervisor, expected) in [
                (near, 0x6000_0000, true, "hypervisor 0x0000000000000100 60000000 ori     r0,r0,0"),
                (near, 0x6000_0000, false, "guest 0x0000000000000100 60000000 ori     r0,r0,0"),
                (far, 0x6000_0000, false, "guest 0x0000000000040100 60000000 ori     r0,r0,0"),
                (near, 0x4800_0008, false, "guest 0x0000000000000100 48000008 b       0x108"),
                (0, 0, false, "guest 0x0000000000000000 00000000 .long 0x0"),
            ] {
                let text = listing.text(address, Word(word), is_hypervisor);
                assert_eq!(String::from_utf8_lossy(text), expected);
            }
        }
    }
}
