//! The memory that a partition has been given so far: zeroed, and never taken back.
//!
//! It only grows, so that whoever finds a piece in it needs no lock to use the piece. A vCPU's calls that
//! concern pages of its partition, and nobody else, are answered by this alone.

use alloc::vec::Vec;

use arch::address::{GuestRealAddress, RealAddress};

use crate::map_cache::FRAME_LOG2;
use crate::memory::Range;
use crate::sync::GrowingWord;

/// Words of a set that are looked at in one piece: 16 GiB of memory.
const WORDS_OF_PIECE: u64 = 4096;

/// Pieces of 64 KiB of a partition's memory, by their number: one bit each.
#[derive(Debug)]
pub struct Given {
    /// Where the memory is; contiguous.
    pub range: Range,
    words: Vec<GrowingWord>,
}

/// Where the next piece is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// This one.
    Here(u64),
    /// None before this one.
    NothingBefore(u64),
    /// There is none.
    Nothing,
}

impl Given {
    /// Nothing of `range` yet.
    #[must_use]
    pub fn none_of(range: Range) -> Self {
        let words = (range.bytes >> FRAME_LOG2).div_ceil(64);
        Self { range, words: (0..words).map(|_| GrowingWord::empty()).collect() }
    }

    /// Where `address` is, if it and the `bytes` after it are the partition's memory.
    #[must_use]
    pub fn real(&self, address: GuestRealAddress, bytes: u64) -> Option<RealAddress> {
        let end = address.0.checked_add(bytes)?;
        (end <= self.range.bytes).then(|| self.range.start.wrapping_add(address.0))
    }

    /// The same, of what lies in one piece, if the partition has that already.
    #[must_use]
    pub fn owned(&self, address: GuestRealAddress, bytes: u64) -> Option<RealAddress> {
        let real = self.real(address, bytes)?;
        let is_one = address.offset(FRAME_LOG2) + bytes <= 1 << FRAME_LOG2;
        (is_one && self.contains(address.0 >> FRAME_LOG2)).then_some(real)
    }

    /// Whether the partition has the piece.
    pub(crate) fn contains(&self, unit: u64) -> bool {
        self.words[(unit / 64) as usize].bits() & (1 << (unit % 64)) != 0
    }

    /// The partition has these from now on, which are zero.
    pub(crate) fn insert(&self, units: core::ops::Range<u64>) {
        for unit in units {
            self.words[(unit / 64) as usize].add(1 << (unit % 64));
        }
    }

    /// The first one from `unit` on, or where to look for it next.
    pub(crate) fn first_from(&self, unit: u64) -> Found {
        for place in unit / 64..unit / 64 + WORDS_OF_PIECE {
            let Some(word) = self.words.get(place as usize) else { return Found::Nothing };
            let before = if place == unit / 64 { unit % 64 } else { 0 };
            let word = word.bits() & (u64::MAX << before);
            if word != 0 {
                return Found::Here(64 * place + u64::from(word.trailing_zeros()));
            }
        }
        Found::NothingBefore(64 * (unit / 64 + WORDS_OF_PIECE))
    }
}
