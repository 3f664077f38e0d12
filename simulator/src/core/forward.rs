//! Stores that have not drained, as younger loads see them.
//!
//! By doubleword: what the youngest store wrote of it, what older ones did, and when each is there. A
//! load that the youngest store covers gets its data from the queue; one that several stores cover has
//! to wait until they have drained. A doubleword forgets one that falls into the same place.

use serde::{Deserialize, Serialize};

use super::ready::Ready;
use crate::memory::Offset;

/// Places for doublewords.
const ENTRIES: usize = 1024;
/// log2 of the bytes of a doubleword.
const DOUBLEWORD_LOG2: u32 = 3;

#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
struct Entry {
    doubleword: usize,
    /// Bytes of the youngest store, and of older ones that it does not cover.
    youngest: u8,
    older: u8,
    /// When the data of the youngest store can be forwarded.
    data: Ready,
    /// When it has drained.
    drained: Ready,
}

/// What a load finds in the store queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// Nothing of it.
    Nothing,
    /// All of it, in one store whose data is there then.
    Forwarded(Ready),
    /// Parts; the last of them has drained then.
    Scattered(Ready),
}

/// Stores that have not drained.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Forwarding {
    entries: Vec<Entry>,
}

impl Default for Forwarding {
    fn default() -> Self {
        Self { entries: vec![Entry::default(); ENTRIES] }
    }
}

/// The doublewords that `bytes` bytes at `offset` lie in, with a bit for each byte in it.
fn pieces(offset: Offset, bytes: usize) -> impl Iterator<Item = (usize, u8)> {
    let end = offset + bytes;
    let first = offset >> DOUBLEWORD_LOG2;
    (first..=(end - 1) >> DOUBLEWORD_LOG2).map(move |doubleword| {
        let start = doubleword << DOUBLEWORD_LOG2;
        let from = offset.max(start) - start;
        let to = end.min(start + (1 << DOUBLEWORD_LOG2)) - start;
        (doubleword, (0xFF >> (8 - (to - from))) << from)
    })
}

impl Forwarding {
    /// A store of `bytes` bytes at `offset`, made at cycle `now`.
    pub fn store(&mut self, offset: Offset, bytes: usize, now: u64, data: Ready, drained: Ready) {
        for (doubleword, mask) in pieces(offset, bytes) {
            let entry = &mut self.entries[doubleword % ENTRIES];
            let is_queued = entry.doubleword == doubleword && entry.drained.at() > now;
            let before = if is_queued { entry.youngest | entry.older } else { 0 };
            let older = before & !mask;
            *entry = Entry { doubleword, youngest: mask, older, data, drained };
        }
    }

    /// What a load of `bytes` bytes at `offset`, made at cycle `now`, finds.
    #[inline]
    #[must_use]
    pub fn find(&self, offset: Offset, bytes: usize, now: u64) -> Found {
        let mut found = Found::Nothing;
        let mut covered = 0;
        let mut count = 0;
        for (doubleword, mask) in pieces(offset, bytes) {
            count += 1;
            let entry = &self.entries[doubleword % ENTRIES];
            let is_queued = entry.doubleword == doubleword && entry.drained.at() > now;
            if !is_queued || (entry.youngest | entry.older) & mask == 0 {
                continue;
            }
            let is_covered = mask & !entry.youngest == 0;
            covered += u64::from(is_covered);
            found = match found {
                Found::Scattered(drained) => Found::Scattered(drained.later(entry.drained)),
                Found::Nothing if is_covered => Found::Forwarded(entry.data),
                Found::Forwarded(data) if is_covered && data.at() == entry.data.at() => found,
                _ => Found::Scattered(entry.drained),
            };
        }
        match found {
            Found::Forwarded(_) if covered < count => Found::Scattered(self.drained(offset, bytes)),
            _ => found,
        }
    }

    /// When the stores to `bytes` bytes at `offset` have drained.
    fn drained(&self, offset: Offset, bytes: usize) -> Ready {
        let entries = pieces(offset, bytes).filter_map(|(doubleword, _)| {
            let entry = &self.entries[doubleword % ENTRIES];
            (entry.doubleword == doubleword).then_some(entry.drained)
        });
        entries.fold(Ready::default(), Ready::later)
    }
}

#[cfg(test)]
mod tests {
    use super::{Forwarding, Found, Ready};
    use crate::ledger::Cause;

    fn at(cycle: u64) -> Ready {
        Ready::new(cycle, Cause::StoreDrain)
    }

    #[test]
    fn a_load_within_one_store_is_forwarded() {
        let mut stores = Forwarding::default();
        stores.store(0x104, 8, 0, at(10), at(30));
        assert_eq!(stores.find(0x104, 8, 5), Found::Forwarded(at(10)));
        assert_eq!(stores.find(0x108, 2, 5), Found::Forwarded(at(10)));
        assert_eq!(stores.find(0x100, 8, 5), Found::Scattered(at(30)));
        assert_eq!(stores.find(0x10C, 8, 5), Found::Nothing);
        assert_eq!(stores.find(0x104, 8, 30), Found::Nothing);
    }

    #[test]
    fn two_narrow_stores_are_not_forwarded_to_a_wide_load() {
        let mut stores = Forwarding::default();
        stores.store(0x100, 4, 0, at(10), at(30));
        stores.store(0x104, 4, 0, at(11), at(31));
        assert_eq!(stores.find(0x100, 8, 5), Found::Scattered(at(31)));
        assert_eq!(stores.find(0x104, 4, 5), Found::Forwarded(at(11)));
    }
}
