//! One cache as tags: which lines are in it, in true order of use.
//!
//! A set is full before a line leaves it; the one that leaves was used longest ago. A foreign owner's
//! displacements are remembered in [`Displaced`].

use serde::{Deserialize, Serialize};

use super::displaced::Displaced;
use super::latency::Level;

/// Which side uses a line: see [`Owner::side`](crate::ledger::Owner::side).
pub type Side = Option<u32>;

/// No core.
pub const NOBODY: u16 = u16::MAX;

/// What a cache knows of a line besides its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Line {
    /// Orders uses: the larger, the later. [`Array`] sets it.
    pub(super) stamp: u64,
    /// The cycle from which it can be used here.
    pub ready: u64,
    /// The side that used it last.
    pub side: Side,
    /// The core that wrote it last, if none but it has read it since; [`NOBODY`] otherwise.
    pub writer: u16,
    /// In an L2: which first-level caches above may have it, a bit each.
    pub above: u8,
    /// Where it came from.
    pub from: Level,
    /// Memory does not have it.
    pub is_dirty: bool,
    /// No other pair of cores has it.
    pub is_exclusive: bool,
    /// It was fetched ahead, and nothing has used it.
    pub is_prefetched: bool,
    /// It had been lost to a foreign owner before it came.
    pub is_refill: bool,
}

impl Line {
    /// A clean line that `side` fetches from `from` and can use at cycle `ready`.
    #[must_use]
    pub fn new(side: Side, from: Level, ready: u64) -> Self {
        Self {
            stamp: 0,
            ready,
            side,
            writer: NOBODY,
            above: 0,
            from,
            is_dirty: false,
            is_exclusive: false,
            is_prefetched: false,
            is_refill: false,
        }
    }
}

/// No line has this number: addresses have 60 bits.
const EMPTY: u64 = u64::MAX;

/// The tags of one cache.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Array {
    ways: usize,
    /// Sets less one; they are a power of two.
    set_mask: u64,
    /// Line numbers, set by set; apart from the rest, since a look-up reads nothing else.
    tags: Vec<u64>,
    lines: Vec<Line>,
    uses: u64,
    displaced: Displaced,
}

impl Array {
    /// An empty cache. `sets` is a power of two.
    #[must_use]
    pub fn new(sets: u64, ways: u64) -> Self {
        debug_assert!(sets.is_power_of_two());
        let ways = ways as usize;
        let entries = sets as usize * ways;
        Self {
            ways,
            set_mask: sets - 1,
            tags: vec![EMPTY; entries],
            lines: vec![Line::new(None, Level::L1, 0); entries],
            uses: 0,
            displaced: Displaced::new(sets, ways),
        }
    }

    #[inline]
    fn first(&self, line: u64) -> usize {
        (line & self.set_mask) as usize * self.ways
    }

    #[inline]
    fn index(&self, line: u64) -> Option<usize> {
        let first = self.first(line);
        let way = self.tags[first..first + self.ways].iter().position(|&tag| tag == line)?;
        Some(first + way)
    }

    /// `line`, if it is here. It does not count as a use.
    #[inline]
    #[must_use]
    pub fn find(&self, line: u64) -> Option<&Line> {
        self.index(line).map(|index| &self.lines[index])
    }

    /// `line`, if it is here, to change. It does not count as a use.
    #[inline]
    pub fn find_mut(&mut self, line: u64) -> Option<&mut Line> {
        self.index(line).map(|index| &mut self.lines[index])
    }

    /// Uses `line`, if it is here.
    #[inline]
    pub fn touch(&mut self, line: u64, side: Side) -> Option<&mut Line> {
        let index = self.index(line)?;
        self.uses += 1;
        let entry = &mut self.lines[index];
        entry.stamp = self.uses;
        entry.side = side;
        Some(entry)
    }

    /// Puts `line`, which is not here, in; `evictor` is the side that makes it do so. Returns the line
    /// that had to leave.
    pub fn install(&mut self, line: u64, entry: Line, evictor: Side) -> Option<(u64, Line)> {
        let first = self.first(line);
        let ways = first..first + self.ways;
        let oldest = |index: &usize| match self.tags[*index] {
            EMPTY => 0,
            _ => self.lines[*index].stamp,
        };
        let index = ways.min_by_key(oldest)?;
        let victim = (self.tags[index], self.lines[index]);
        self.uses += 1;
        self.tags[index] = line;
        self.lines[index] = Line { stamp: self.uses, ..entry };
        if victim.0 == EMPTY {
            return None;
        }
        self.note_loss(victim.0, victim.1.side, evictor);
        Some(victim)
    }

    /// Takes `line` out, if it is here.
    pub fn remove(&mut self, line: u64) -> Option<Line> {
        let index = self.index(line)?;
        self.tags[index] = EMPTY;
        Some(self.lines[index])
    }

    /// Remembers that `side` lost `line` to `evictor`, if they are foreign to each other.
    pub fn note_loss(&mut self, line: u64, side: Side, evictor: Side) {
        if side != evictor {
            self.displaced.record(line & self.set_mask, line, side);
        }
    }

    /// Whether `side` lost `line` to a foreign side since it was here last; forgets it.
    pub fn take_loss(&mut self, line: u64, side: Side) -> bool {
        self.displaced.take(line & self.set_mask, line, side)
    }

    /// Every line, from the one used longest ago to the one used last.
    #[must_use]
    pub fn lines_by_age(&self) -> Vec<u64> {
        let mut lines: Vec<_> = self.tags.iter().zip(&self.lines).collect();
        lines.retain(|(tag, _)| **tag != EMPTY);
        lines.sort_by_key(|(_, line)| line.stamp);
        lines.into_iter().map(|(tag, _)| *tag).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Array, Line};
    use crate::cache::latency::Level;
    use proptest::prelude::{any, prop_assert_eq, prop_oneof, proptest};
    use proptest::strategy::Strategy;

    const SETS: u64 = 4;
    const WAYS: usize = 3;

    /// Each set a list, the line used last at its end.
    #[derive(Default)]
    struct Naive {
        sets: [Vec<u64>; SETS as usize],
        uses: Vec<u64>,
    }

    impl Naive {
        fn remove(&mut self, line: u64) -> bool {
            self.uses.retain(|used| *used != line);
            let set = &mut self.sets[(line % SETS) as usize];
            let before = set.len();
            set.retain(|other| *other != line);
            set.len() != before
        }

        /// Returns the line that has to leave.
        fn use_line(&mut self, line: u64) -> Option<u64> {
            self.remove(line);
            let set = &mut self.sets[(line % SETS) as usize];
            let victim = (set.len() == WAYS).then(|| set.remove(0));
            set.push(line);
            self.uses.push(line);
            self.uses.retain(|used| Some(*used) != victim);
            victim
        }
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Use(u64),
        Look(u64),
        Remove(u64),
    }

    fn steps() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => (0u64..40).prop_map(Step::Use),
            1 => (0u64..40).prop_map(Step::Look),
            1 => (0u64..40).prop_map(Step::Remove),
        ]
    }

    proptest! {
        #[test]
        fn what_leaves_was_used_longest_ago(steps in proptest::collection::vec(steps(), 0..400)) {
            let (mut array, mut naive) = (Array::new(SETS, WAYS as u64), Naive::default());
            for step in steps {
                match step {
                    Step::Use(line) => {
                        let is_there = array.touch(line, None).is_some();
                        prop_assert_eq!(is_there, naive.uses.contains(&line));
                        let victim = if is_there {
                            None
                        } else {
                            array.install(line, Line::new(None, Level::L2, 0), None)
                        };
                        prop_assert_eq!(victim.map(|(line, _)| line), naive.use_line(line));
                    }
                    Step::Look(line) => {
                        prop_assert_eq!(array.find(line).is_some(), naive.uses.contains(&line));
                    }
                    Step::Remove(line) => {
                        prop_assert_eq!(array.remove(line).is_some(), naive.remove(line));
                    }
                }
                prop_assert_eq!(array.lines_by_age(), naive.uses.clone());
            }
        }

        #[test]
        fn only_a_loss_to_a_foreigner_is_remembered(evictor in any::<bool>()) {
            let mut array = Array::new(1, 1);
            let (owner, evictor) = (Some(1), if evictor { Some(2) } else { Some(1) });
            array.install(8, Line::new(owner, Level::L2, 0), owner);
            array.install(9, Line::new(evictor, Level::L2, 0), evictor);
            prop_assert_eq!(array.take_loss(8, None), false, "nobody else lost it");
            array.install(8, Line::new(owner, Level::L2, 0), owner);
            array.install(9, Line::new(evictor, Level::L2, 0), evictor);
            prop_assert_eq!(array.take_loss(8, owner), owner != evictor);
            prop_assert_eq!(array.take_loss(8, owner), false, "it came back");
        }
    }
}
