//! One cache as tags: what is in it, in true order of use.
//!
//! A set is full before an entry leaves it; the one that leaves was used longest ago. A foreign owner's
//! displacements are remembered in [`Displaced`]. ERATs and TLBs are such arrays too.

use serde::{Deserialize, Serialize};

use super::displaced::Displaced;
use crate::ledger::Side;

/// No entry has this tag: addresses have fewer bits.
const EMPTY: u64 = u64::MAX;

/// The tags of one cache, each with a `T`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Array<T> {
    ways: usize,
    /// Sets less one; they are a power of two.
    set_mask: u64,
    /// Set by set; apart from the rest, since a look-up reads nothing else.
    tags: Vec<u64>,
    /// Orders uses: the larger, the later; 0 where nothing is. All that is read to find a victim.
    stamps: Vec<u64>,
    slots: Vec<Slot<T>>,
    uses: u64,
    displaced: Displaced,
    /// Where a tag was found last, by its low bits: spares the search.
    hints: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct Slot<T> {
    /// The side that used it last.
    side: Side,
    entry: T,
}

/// What had to leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Victim<T> {
    /// Its tag.
    pub tag: u64,
    /// The side that used it last.
    pub side: Side,
    /// The rest of it.
    pub entry: T,
}

/// Hints of one array.
const HINTS: usize = 256;

impl<T: Copy + Default> Array<T> {
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
            stamps: vec![0; entries],
            slots: vec![Slot::default(); entries],
            uses: 0,
            displaced: Displaced::new(sets, ways),
            hints: vec![0; HINTS],
        }
    }

    #[inline]
    fn first(&self, tag: u64) -> usize {
        (tag & self.set_mask) as usize * self.ways
    }

    #[inline]
    fn search(&self, tag: u64) -> Option<usize> {
        let first = self.first(tag);
        let way = self.tags[first..first + self.ways].iter().position(|&other| other == tag)?;
        Some(first + way)
    }

    #[inline]
    fn hinted(&self, tag: u64) -> Option<usize> {
        let index = self.hints[tag as usize % HINTS] as usize;
        (self.tags[index] == tag).then_some(index)
    }

    /// What is at `tag`, if anything. It does not count as a use.
    #[inline]
    #[must_use]
    pub fn find(&self, tag: u64) -> Option<&T> {
        let index = self.hinted(tag).or_else(|| self.search(tag))?;
        Some(&self.slots[index].entry)
    }

    /// What is at `tag`, if anything, to change. It does not count as a use.
    #[inline]
    pub fn find_mut(&mut self, tag: u64) -> Option<&mut T> {
        let index = self.hinted(tag).or_else(|| self.search(tag))?;
        Some(&mut self.slots[index].entry)
    }

    /// Uses what is at `tag`, if anything.
    #[inline]
    pub fn touch(&mut self, tag: u64, side: Side) -> Option<&mut T> {
        let index = match self.hinted(tag) {
            Some(index) => index,
            None => {
                let index = self.search(tag)?;
                self.hints[tag as usize % HINTS] = index as u32;
                index
            }
        };
        Some(self.mark(index, side))
    }

    /// Uses what is at `tag` if it was found at once; it may be there if this is `None`.
    #[inline]
    pub fn touch_hinted(&mut self, tag: u64, side: Side) -> Option<&mut T> {
        let index = self.hinted(tag)?;
        Some(self.mark(index, side))
    }

    #[inline]
    fn mark(&mut self, index: usize, side: Side) -> &mut T {
        self.uses += 1;
        self.stamps[index] = self.uses;
        let slot = &mut self.slots[index];
        slot.side = side;
        &mut slot.entry
    }

    /// Puts in what is not here, used by `side`; `evictor` is the side that makes it so. Returns what had
    /// to leave.
    pub fn install(&mut self, tag: u64, side: Side, entry: T, evictor: Side) -> Option<Victim<T>> {
        let first = self.first(tag);
        let index = (first..first + self.ways).min_by_key(|&index| self.stamps[index])?;
        self.uses += 1;
        self.stamps[index] = self.uses;
        let old = std::mem::replace(&mut self.tags[index], tag);
        let Slot { side, entry } = std::mem::replace(&mut self.slots[index], Slot { side, entry });
        if old == EMPTY {
            return None;
        }
        self.note_loss(old, side, evictor);
        Some(Victim { tag: old, side, entry })
    }

    /// Takes out what is at `tag`, if anything.
    pub fn remove(&mut self, tag: u64) -> Option<T> {
        self.clear(tag).map(|slot| slot.entry)
    }

    /// Takes out what is at `tag`, if anything, because `evictor` wants it elsewhere.
    pub fn displace(&mut self, tag: u64, evictor: Side) -> Option<T> {
        let Slot { side, entry } = self.clear(tag)?;
        self.note_loss(tag, side, evictor);
        Some(entry)
    }

    /// Takes out everything, because `evictor` wants nothing to be here.
    pub fn displace_all(&mut self, evictor: Side) {
        for index in 0..self.tags.len() {
            let tag = std::mem::replace(&mut self.tags[index], EMPTY);
            if tag != EMPTY {
                self.stamps[index] = 0;
                self.note_loss(tag, self.slots[index].side, evictor);
            }
        }
    }

    /// Everything, with its tag.
    pub fn entries(&self) -> impl Iterator<Item = (u64, &T)> {
        let slots = self.tags.iter().zip(&self.slots);
        slots.filter(|(tag, _)| **tag != EMPTY).map(|(tag, slot)| (*tag, &slot.entry))
    }

    fn clear(&mut self, tag: u64) -> Option<Slot<T>> {
        let index = self.search(tag)?;
        self.tags[index] = EMPTY;
        self.stamps[index] = 0;
        Some(self.slots[index])
    }

    /// Takes out everything for which `is_gone` says so.
    pub fn remove_if(&mut self, is_gone: impl Fn(u64, &T) -> bool) {
        for (index, tag) in self.tags.iter_mut().enumerate() {
            if *tag != EMPTY && is_gone(*tag, &self.slots[index].entry) {
                *tag = EMPTY;
                self.stamps[index] = 0;
            }
        }
    }

    /// Takes out everything, and what is known of who lost what.
    pub fn forget(&mut self) {
        self.remove_if(|_, _| true);
        self.displaced = Displaced::new(self.set_mask + 1, self.ways);
    }

    fn note_loss(&mut self, tag: u64, side: Side, evictor: Side) {
        if side != evictor {
            self.displaced.record(tag & self.set_mask, tag, side);
        }
    }

    /// Whether `side` lost what is at `tag` to a foreign side since it was here last; forgets it.
    pub fn take_loss(&mut self, tag: u64, side: Side) -> bool {
        self.displaced.take(tag & self.set_mask, tag, side)
    }

    /// The tag used last of each set, from the one used longest ago to the one used last.
    #[must_use]
    pub fn newest_of_sets(&self) -> Vec<u64> {
        let sets = self.stamps.chunks(self.ways).zip(self.tags.chunks(self.ways));
        let newest = sets.filter_map(|(stamps, tags)| {
            let used = stamps.iter().zip(tags).filter(|(_, tag)| **tag != EMPTY);
            used.max_by_key(|(stamp, _)| **stamp)
        });
        let mut newest: Vec<_> = newest.collect();
        newest.sort_unstable();
        newest.into_iter().map(|(_, tag)| *tag).collect()
    }

    /// Every tag, from the one used longest ago to the one used last.
    #[must_use]
    pub fn tags_by_age(&self) -> Vec<u64> {
        let mut tags: Vec<_> = self.stamps.iter().zip(&self.tags).collect();
        tags.retain(|(_, tag)| **tag != EMPTY);
        tags.sort_unstable();
        tags.into_iter().map(|(_, tag)| *tag).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Array;
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
                            array.install(line, None, line, None)
                        };
                        prop_assert_eq!(victim.map(|victim| victim.tag), naive.use_line(line));
                    }
                    Step::Look(line) => {
                        let found = naive.uses.contains(&line).then_some(&line);
                        prop_assert_eq!(array.find(line), found);
                    }
                    Step::Remove(line) => {
                        prop_assert_eq!(array.remove(line).is_some(), naive.remove(line));
                    }
                }
                prop_assert_eq!(array.tags_by_age(), naive.uses.clone());
            }
        }

        #[test]
        fn only_a_loss_to_a_foreigner_is_remembered(evictor in any::<bool>()) {
            let mut array = Array::<()>::new(1, 1);
            let (owner, evictor) = (Some(1), if evictor { Some(2) } else { Some(1) });
            array.install(8, owner, (), owner);
            array.install(9, evictor, (), evictor);
            prop_assert_eq!(array.take_loss(8, None), false, "nobody else lost it");
            array.install(8, owner, (), owner);
            array.install(9, evictor, (), evictor);
            prop_assert_eq!(array.take_loss(8, owner), owner != evictor);
            prop_assert_eq!(array.take_loss(8, owner), false, "it came back");
        }
    }
}
