//! Small numbers for spaces, to put into tags.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::state::tlb::Space;

/// The spaces that were used since all were forgotten last.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Spaces {
    names: Vec<Space>,
    numbers: BTreeMap<Space, u64>,
    /// What each thread asked for last.
    recent: Vec<u64>,
}

/// Tags have room for so many.
const MOST: usize = 1 << 21;
/// More than one translation gives numbers to: its own space, its partition's, and that of the tables.
const MOST_AT_ONCE: usize = 8;

impl Spaces {
    pub(super) fn new(threads: usize) -> Self {
        let mut spaces =
            Self { names: Vec::new(), numbers: BTreeMap::new(), recent: vec![0; threads] };
        spaces.number(Space::GuestReal { lpid: 0 });
        spaces
    }

    /// The number of `space`, which `thread` is in.
    #[inline]
    pub(super) fn current(&mut self, thread: usize, space: Space) -> u64 {
        let recent = self.recent[thread];
        if self.names[recent as usize] == space {
            return recent;
        }
        let number = self.number(space);
        self.recent[thread] = number;
        number
    }

    /// The number of `space`.
    pub(super) fn number(&mut self, space: Space) -> u64 {
        let next = self.names.len();
        *self.numbers.entry(space).or_insert_with(|| {
            self.names.push(space);
            next as u64
        })
    }

    /// Whether there may be too few numbers left for one more translation. Whoever has tags with numbers in them drops
    /// them all then, and makes a new list.
    pub(super) fn are_used_up(&self) -> bool {
        self.names.len() > MOST - MOST_AT_ONCE
    }

    /// The space with a number.
    pub(super) fn name(&self, number: u64) -> Space {
        self.names[number as usize]
    }
}
