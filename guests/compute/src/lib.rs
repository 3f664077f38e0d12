//! What the compute payload computes: parts that a host does as well, so that it knows their checksums.
//!
//! Each part gets memory and a number of rounds, and its checksum depends on every round. The payload's
//! target has no floating point; the part that has takes its arithmetic from `rt::floating_point`.

#![cfg_attr(target_os = "none", no_std)]

mod chase;
mod factor;
mod hash;
mod matrix;
mod random;
mod sort;

/// A part of the payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Sorts random numbers: unpredictable branches, loads and stores.
    Sort,
    /// SHA-256: rotations and additions in long straight runs.
    Hash,
    /// Follows pointers through a ring: each load waits for the one before.
    Chase,
    /// Multiplies matrices of integers: loads, multiplications, short loops.
    Matrix,
    /// Factors matrices of doubles: floating-point loads and stores, multiply-adds, some divisions.
    Factor,
}

/// Doublewords of memory that every part is content with.
pub const MEMORY_WORDS: usize = 1 << 17;

impl Part {
    /// All, in the order in which the payload does them.
    pub const ALL: [Self; 5] = [Self::Sort, Self::Hash, Self::Chase, Self::Matrix, Self::Factor];

    /// The name in the payload's arguments and output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sort => "sort",
            Self::Hash => "hash",
            Self::Chase => "chase",
            Self::Matrix => "matrix",
            Self::Factor => "factor",
        }
    }

    /// Does the part so many times and answers its checksum.
    ///
    /// # Panics
    /// If `memory` is less than [`MEMORY_WORDS`] long.
    #[must_use]
    pub fn run(self, memory: &mut [u64], rounds: u32) -> u64 {
        let memory = &mut memory[..MEMORY_WORDS];
        match self {
            Self::Sort => sort::run(memory, rounds),
            Self::Hash => hash::run(memory, rounds),
            Self::Chase => chase::run(memory, rounds),
            Self::Matrix => matrix::run(memory, rounds),
            Self::Factor => factor::run(memory, rounds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MEMORY_WORDS, Part};

    fn run(part: Part, rounds: u32, before: u64) -> u64 {
        part.run(&mut vec![before; MEMORY_WORDS], rounds)
    }

    #[test]
    fn a_checksum_depends_on_the_rounds_and_not_on_what_was_in_memory() {
        for part in Part::ALL {
            let checksums = [1, 2, 3].map(|rounds| run(part, rounds, 0));
            assert_ne!(checksums[0], checksums[1], "{part:?}");
            assert_ne!(checksums[1], checksums[2], "{part:?}");
            assert_eq!(run(part, 2, u64::MAX), checksums[1], "{part:?}");
        }
    }
}
