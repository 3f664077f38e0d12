//! Stores that have not drained, as younger loads see them.
//!
//! By byte: which store wrote it last. Each doubleword of a load gets what it needs from one store, and the bytes that
//! no queued store wrote from the cache; where it needs bytes of two stores, it waits until they have drained (UM9;
//! PARM-M measured all three). A doubleword forgets one that falls into the same place.

use serde::{Deserialize, Serialize};

use super::ready::Ready;
use crate::state::memory::Offset;

/// Places for doublewords.
const ENTRIES: usize = 1024;
/// Stores that are remembered: more than a store queue has.
const STORES: usize = 256;
/// log2 of the bytes of a doubleword.
const DOUBLEWORD_LOG2: u32 = 3;
const DOUBLEWORD: usize = 1 << DOUBLEWORD_LOG2;

/// A doubleword: of each byte, the number of the youngest store that wrote it, or 0.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
struct Entry {
    doubleword: usize,
    writers: [u32; DOUBLEWORD],
}

#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
struct Store {
    number: u32,
    /// When its data can be forwarded.
    data: Ready,
    /// When it has drained.
    drained: Ready,
}

/// What a load finds in the store queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// Nothing of it.
    Nothing,
    /// All of it; the last of the data is there then.
    Forwarded(Ready),
    /// Some of it, which is there then, and the cache has the rest.
    Merged(Ready),
    /// Parts of two stores in one doubleword; the last of them has drained then.
    Scattered(Ready),
}

/// Stores that have not drained.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Forwarding {
    entries: Vec<Entry>,
    /// By number, modulo the length.
    stores: Vec<Store>,
    /// The number of the last one.
    last: u32,
}

impl Default for Forwarding {
    fn default() -> Self {
        let (entries, stores) = (vec![Entry::default(); ENTRIES], vec![Store::default(); STORES]);
        Self { entries, stores, last: 0 }
    }
}

/// The doublewords that `bytes` bytes at `offset` lie in, with the first and the end of its bytes in each.
fn pieces(offset: Offset, bytes: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    let end = offset + bytes;
    let first = offset >> DOUBLEWORD_LOG2;
    (first..=(end - 1) >> DOUBLEWORD_LOG2).map(move |doubleword| {
        let start = doubleword << DOUBLEWORD_LOG2;
        (doubleword, offset.max(start) - start, end.min(start + DOUBLEWORD) - start)
    })
}

impl Forwarding {
    /// A store of `bytes` bytes at `offset`.
    pub fn store(&mut self, offset: Offset, bytes: usize, data: Ready, drained: Ready) {
        self.last = self.last.checked_add(1).unwrap_or(1);
        let number = self.last;
        self.stores[number as usize % STORES] = Store { number, data, drained };
        for (doubleword, from, to) in pieces(offset, bytes) {
            let entry = &mut self.entries[doubleword % ENTRIES];
            if entry.doubleword != doubleword {
                *entry = Entry { doubleword, ..Entry::default() };
            }
            entry.writers[from..to].fill(number);
        }
    }

    /// What a load of `bytes` bytes at `offset`, made at cycle `now`, finds.
    #[inline]
    #[must_use]
    pub fn find(&self, offset: Offset, bytes: usize, now: u64) -> Found {
        let mut data = Ready::default();
        let mut drained = Ready::default();
        let (mut is_scattered, mut is_queued, mut is_cached) = (false, false, false);
        for (doubleword, from, to) in pieces(offset, bytes) {
            let entry = &self.entries[doubleword % ENTRIES];
            if entry.doubleword != doubleword {
                is_cached = true;
                continue;
            }
            let mut only = None;
            for number in &entry.writers[from..to] {
                let store = &self.stores[*number as usize % STORES];
                if *number == 0 || store.number != *number || store.drained.at() <= now {
                    is_cached = true;
                    continue;
                }
                is_queued = true;
                is_scattered |= only.is_some_and(|other| other != *number);
                only = Some(*number);
                data = data.later(store.data);
                drained = drained.later(store.drained);
            }
        }
        match (is_queued, is_scattered, is_cached) {
            (false, ..) => Found::Nothing,
            (_, true, _) => Found::Scattered(drained),
            (_, _, true) => Found::Merged(data),
            _ => Found::Forwarded(data),
        }
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
    fn a_load_within_one_store_is_forwarded_and_takes_the_rest_from_the_cache() {
        let mut stores = Forwarding::default();
        stores.store(0x104, 8, at(10), at(30));
        assert_eq!(stores.find(0x104, 8, 5), Found::Forwarded(at(10)));
        assert_eq!(stores.find(0x108, 2, 5), Found::Forwarded(at(10)));
        assert_eq!(stores.find(0x100, 8, 5), Found::Merged(at(10)));
        assert_eq!(stores.find(0x10C, 8, 5), Found::Nothing);
        assert_eq!(stores.find(0x104, 8, 30), Found::Nothing);
    }

    #[test]
    fn two_narrow_stores_are_not_forwarded_to_a_wide_load() {
        let mut stores = Forwarding::default();
        stores.store(0x100, 4, at(10), at(30));
        stores.store(0x104, 4, at(11), at(31));
        assert_eq!(stores.find(0x100, 8, 5), Found::Scattered(at(31)));
        assert_eq!(stores.find(0x104, 4, 5), Found::Forwarded(at(11)));
    }

    #[test]
    fn an_older_store_is_forwarded_where_the_youngest_wrote_elsewhere() {
        let mut stores = Forwarding::default();
        stores.store(0x101, 1, at(10), at(30));
        stores.store(0x100, 1, at(11), at(31));
        assert_eq!(stores.find(0x101, 1, 5), Found::Forwarded(at(10)));
        // The youngest of those that a load overlaps decides: an older one has no longer all of it.
        stores.store(0x200, 8, at(12), at(32));
        stores.store(0x204, 4, at(13), at(33));
        assert_eq!(stores.find(0x200, 8, 5), Found::Scattered(at(33)));
        assert_eq!(stores.find(0x200, 4, 5), Found::Forwarded(at(12)));
        assert_eq!(stores.find(0x204, 2, 5), Found::Forwarded(at(13)));
    }

    #[test]
    fn each_doubleword_has_a_store_of_its_own() {
        let mut stores = Forwarding::default();
        stores.store(0x100, 8, at(10), at(30));
        stores.store(0x108, 8, at(11), at(31));
        assert_eq!(stores.find(0x104, 8, 5), Found::Forwarded(at(11)));
    }
}
