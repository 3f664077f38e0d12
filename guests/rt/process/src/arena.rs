//! Memory for what each hardware thread has of its own.

use core::mem;

/// Doublewords of a cache line.
const LINE_WORDS: usize = 16;

/// Memory that is given away for good, from its beginning on.
#[derive(Debug)]
pub struct Arena(&'static mut [u64]);

impl Arena {
    /// No memory.
    #[must_use]
    pub const fn empty() -> Self {
        Self(&mut [])
    }

    /// This memory.
    #[must_use]
    pub const fn new(words: &'static mut [u64]) -> Self {
        Self(words)
    }

    /// Doublewords that a value takes: whole lines, so that it shares none with others.
    #[must_use]
    pub const fn words_of<T>() -> usize {
        size_of::<T>().div_ceil(8 * LINE_WORDS) * LINE_WORDS
    }

    /// A copy of a value.
    ///
    /// # Panics
    /// If there is no room.
    pub fn keep<T: Copy>(&mut self, value: &T) -> &'static mut T {
        const { assert!(align_of::<T>() <= align_of::<u64>()) };
        let (words, rest) = mem::take(&mut self.0).split_at_mut(Self::words_of::<T>());
        self.0 = rest;
        let place = words.as_mut_ptr().cast::<T>();
        // SAFETY: the words are as large and as aligned as a value, nobody else has them from now on, and a copy of a
        // value is one.
        unsafe {
            place.copy_from_nonoverlapping(value, 1);
            &mut *place
        }
    }
}
