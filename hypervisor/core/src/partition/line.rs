//! What the console holds back of a partition's line.

use arch::console::CONTINUED;

/// The longest line of a partition that is held back; a longer one is cut into several.
pub const LINE_BYTES_MAX: usize = 240;

/// Whether a partition can have written this of a line that is held back.
#[must_use]
pub fn is_unfinished(line: &[u8]) -> bool {
    let mut bytes = line.iter();
    let mut characters = 0;
    while let Some(byte) = bytes.next() {
        characters += 1;
        let is_doubled = *byte != CONTINUED || bytes.next() == Some(&CONTINUED);
        if *byte == b'\n' || !is_doubled {
            return false;
        }
    }
    characters <= LINE_BYTES_MAX
}

#[cfg(all(test, not(loom)))]
mod tests {
    use arch::console::CONTINUED;

    use super::{LINE_BYTES_MAX, is_unfinished};

    #[test]
    fn a_partition_holds_back_less_than_a_line() {
        let of = |byte: u8, count: usize| std::vec![byte; count];
        assert!(is_unfinished(b"") && is_unfinished(b"half a\r"));
        assert!(is_unfinished(&of(b'a', LINE_BYTES_MAX)));
        assert!(!is_unfinished(&of(b'a', LINE_BYTES_MAX + 1)));
        assert!(!is_unfinished(b"a\npowervisor: "));
        // One that continues is the hypervisor's to write; the partition's are two.
        assert!(is_unfinished(&of(CONTINUED, 2 * LINE_BYTES_MAX)));
        assert!(!is_unfinished(&of(CONTINUED, 2 * LINE_BYTES_MAX + 2)));
        for odd in [1, 3] {
            assert!(!is_unfinished(&of(CONTINUED, odd)));
        }
        assert!(!is_unfinished(&[CONTINUED, b'a']));
    }
}
