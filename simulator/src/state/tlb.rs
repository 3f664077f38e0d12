//! The modelled TLB: translations that stay in use until software, or lack of room, removes them.
//!
//! An entry holds the whole of what a walk found: both stages' rights and attributes, or the hashed entry, so that a
//! hit checks them against the state of the moment. A page table that changed without `tlbie` is not
//! noticed, as on hardware. The geometry is that of functional mode: large and fully associative; a
//! full TLB is emptied, which the architecture allows at any time.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use arch::address::{EffectiveAddress, GuestRealAddress, RealAddress};
use serde::{Deserialize, Serialize};

use crate::state::memory::Offset;

/// log2 of the page sizes that a radix translation can have.
pub const RADIX_PAGES_LOG2: [u32; 4] = [12, 16, 21, 30];
/// log2 of the page sizes that a hashed translation can have.
const HASHED_PAGES_LOG2: [u32; 4] = [12, 16, 24, 34];

const CAPACITY: usize = 8192;

/// The first in the order of keys.
const FIRST_SPACE: Space = Space::Process { lpid: 0, pid: 0 };

/// Whose address it is, in the way of the scheme that translates it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Space {
    /// Radix: an effective address of a process.
    Process {
        /// Effective LPID.
        lpid: u32,
        /// Effective PID.
        pid: u32,
    },
    /// Radix: a guest real address, that of a guest with relocation off.
    GuestReal {
        /// Effective LPID.
        lpid: u32,
    },
    /// Hashed: an offset in a virtual segment.
    Virtual(Segment),
}

/// A virtual segment as the SLB named it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Segment {
    /// Whose virtual addresses these are.
    pub lpid: u32,
    /// VSID.
    pub vsid: u64,
    /// log2 of its bytes: 28 or 40.
    pub log2: u32,
    /// log2 of the base page size.
    pub base_log2: u32,
}

impl Segment {
    /// The low 64 bits of the virtual address of `offset`.
    #[must_use]
    pub fn virtual_address(self, offset: u64) -> u64 {
        self.vsid << self.log2 | offset
    }
}

impl Space {
    /// Effective LPID.
    #[must_use]
    pub fn lpid(self) -> u32 {
        match self {
            Self::Process { lpid, .. }
            | Self::GuestReal { lpid }
            | Self::Virtual(Segment { lpid, .. }) => lpid,
        }
    }

    /// Effective PID, if the process-scoped stage takes part.
    #[must_use]
    pub fn pid(self) -> Option<u32> {
        match self {
            Self::Process { pid, .. } => Some(pid),
            Self::GuestReal { .. } | Self::Virtual(_) => None,
        }
    }

    /// log2 of the page sizes that its translations can have.
    #[inline]
    #[must_use]
    pub fn page_sizes_log2(self) -> [u32; 4] {
        match self {
            Self::Process { .. } | Self::GuestReal { .. } => RADIX_PAGES_LOG2,
            Self::Virtual(_) => HASHED_PAGES_LOG2,
        }
    }

    /// Whether the hashed page table translates it.
    #[must_use]
    pub fn is_hashed(self) -> bool {
        matches!(self, Self::Virtual(_))
    }

    /// Whether the process-scoped stage takes part.
    #[must_use]
    pub fn is_process(self) -> bool {
        self.pid().is_some()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Key {
    space: Space,
    page_log2: u32,
    page: u64,
}

/// By page first: most keys differ there, and spaces take longer to compare.
impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |key: &Self| (key.page_log2, key.page);
        key(self).cmp(&key(other)).then_with(|| self.space.cmp(&other.space))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What one stage of translation found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stage {
    /// The leaf's EAA field, see [`arch::radix::rights`].
    pub rights: u64,
    /// The leaf's ATT field.
    pub attributes: u64,
    /// The leaf's reference bit.
    pub referenced: bool,
    /// The leaf's change bit.
    pub changed: bool,
}

/// What an entry of the hashed page table said.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Hashed {
    /// Its second doubleword, see [`arch::hash::second`].
    pub second: u64,
    /// Where it lies.
    pub place: Offset,
    /// The offset in the segment of the base page that was looked up: what `tlbie` has to name where the base page
    /// is of 4 KiB.
    pub base_page: u64,
}

/// A translation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Translation {
    /// log2 of the page's bytes; the smaller of both stages' pages.
    pub page_log2: u32,
    /// Where the page lies.
    pub real: RealAddress,
    /// The page's guest real address, where the partition-scoped stage took part.
    pub guest_real: Option<GuestRealAddress>,
    /// Process-scoped stage.
    pub process: Option<Stage>,
    /// Partition-scoped stage.
    pub partition: Option<Stage>,
    /// The entry of the hashed page table, in place of both stages.
    pub hashed: Option<Hashed>,
}

impl Translation {
    /// The guest real address of the byte at `address`; without its page where no stage made one.
    #[must_use]
    pub fn guest_real_of(&self, address: EffectiveAddress) -> GuestRealAddress {
        let page = self.guest_real.map_or(0, |page| page.0);
        GuestRealAddress(page | address.offset(self.page_log2))
    }

    /// The real address behind `address`, which lies in this page.
    #[must_use]
    pub fn apply(&self, address: EffectiveAddress) -> RealAddress {
        RealAddress(self.real.0 | address.offset(self.page_log2))
    }
}

/// What the TLB has for an address.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Hit<'a> {
    /// Nothing.
    None,
    /// A translation.
    One(&'a Translation),
    /// Translations of different sizes: software left a stale one there.
    Several,
}

/// The translations of one core.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Tlb {
    entries: BTreeMap<Key, Translation>,
    /// Has the bit `1 << page_log2` for each size that an entry has had since all were removed: others need no look.
    sizes: u64,
    generation: u64,
}

impl Tlb {
    /// The translation of `address` in `space`, if there is one.
    #[must_use]
    pub fn find(&self, space: Space, address: u64) -> Hit<'_> {
        let mut matching = self.sizes_of(space).filter_map(|page_log2| {
            self.entries.get(&Key { space, page_log2, page: address >> page_log2 })
        });
        match (matching.next(), matching.next()) {
            (None, _) => Hit::None,
            (Some(one), None) => Hit::One(one),
            (Some(_), Some(_)) => Hit::Several,
        }
    }

    /// log2 of the page sizes that translations of `space` may have here.
    fn sizes_of(&self, space: Space) -> impl Iterator<Item = u32> {
        space.page_sizes_log2().into_iter().filter(|page_log2| self.sizes >> page_log2 & 1 != 0)
    }

    /// Keeps what a walk found for `address`, in place of what the TLB had for that page. True if
    /// shortcuts taken from the TLB are void now: a translation was lost, or there are several.
    pub fn insert(&mut self, space: Space, address: u64, translation: Translation) -> bool {
        let before = self.generation;
        if self.entries.len() >= CAPACITY {
            self.entries.clear();
            self.sizes = 0;
            self.generation += 1;
        }
        let page_log2 = translation.page_log2;
        self.sizes |= 1 << page_log2;
        let key = Key { space, page_log2, page: address >> page_log2 };
        let is_replaced = self.entries.insert(key, translation).is_some();
        if is_replaced || self.overlapping(key).is_some() {
            self.generation += 1;
        }
        self.generation != before
    }

    /// All of them: whose each is, the address of its page, and what was found for that.
    pub fn entries(&self) -> impl Iterator<Item = (Space, u64, &Translation)> {
        self.entries.iter().map(|(key, entry)| (key.space, key.page << key.page_log2, entry))
    }

    /// log2 of another size of a translation that has an address in common with the page of 2^`page_log2` bytes at
    /// `address`.
    #[must_use]
    pub fn other_size(&self, space: Space, address: u64, page_log2: u32) -> Option<u32> {
        self.overlapping(Key { space, page_log2, page: address >> page_log2 })
    }

    /// log2 of the size of a translation that is of another size than `key` and has an address in common with it.
    fn overlapping(&self, key: Key) -> Option<u32> {
        self.sizes_of(key.space).find(|&page_log2| {
            if page_log2 == key.page_log2 {
                return false;
            }
            let first = key.page << key.page_log2 >> page_log2;
            let pages = 1u64 << key.page_log2.saturating_sub(page_log2);
            let at = |page| Key { page_log2, page, ..key };
            let mut meets = self.entries.range(at(first)..=at(first + pages - 1));
            meets.any(|(other, _)| other.space == key.space)
        })
    }

    /// Removes every translation for which `is_invalid` says so.
    pub fn invalidate(&mut self, is_invalid: impl Fn(Space, u64, &Translation) -> bool) {
        self.entries.retain(|key, translation| {
            !is_invalid(key.space, key.page << key.page_log2, translation)
        });
        self.generation += 1;
    }

    /// The same, where none is invalid but of pages of 2^`page_log2` bytes that begin at these addresses.
    pub fn invalidate_within(
        &mut self,
        page_log2: u32,
        addresses: RangeInclusive<u64>,
        is_invalid: impl Fn(Space, u64, &Translation) -> bool,
    ) {
        let at = |page| Key { space: FIRST_SPACE, page_log2, page };
        let [first, last] =
            [addresses.start(), addresses.end()].map(|address| address >> page_log2);
        let within = self.entries.range(at(first)..at(last + 1));
        let invalid = within.filter(|(key, translation)| {
            is_invalid(key.space, key.page << key.page_log2, translation)
        });
        let invalid: Vec<Key> = invalid.map(|(key, _)| *key).collect();
        for key in &invalid {
            self.entries.remove(key);
        }
        self.generation += u64::from(!invalid.is_empty());
    }

    /// Changes whenever a translation was removed: what was taken from the TLB before is void.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }
}

#[cfg(test)]
mod tests {
    use super::{CAPACITY, Hit, Space, Tlb, Translation};
    use arch::address::RealAddress;

    fn page(page_log2: u32) -> Translation {
        let real = RealAddress(0);
        Translation {
            page_log2,
            real,
            guest_real: None,
            process: None,
            partition: None,
            hashed: None,
        }
    }

    #[test]
    fn only_a_translation_that_meets_another_makes_shortcuts_void() {
        let space = Space::Process { lpid: 1, pid: 2 };
        let mut tlb = Tlb::default();
        assert!(!tlb.insert(space, 0x20_0000, page(12)));
        assert!(!tlb.insert(space, 0x20_1000, page(12)));
        assert!(tlb.insert(space, 0x20_0000, page(12)), "in place of another");
        let other = Space::Process { lpid: 2, pid: 2 };
        assert!(!tlb.insert(other, 0x20_0000, page(21)), "another space");
        assert!(tlb.insert(space, 0x20_0000, page(21)), "of another size");
        assert_eq!(tlb.find(space, 0x20_1000), Hit::Several);
        assert!(matches!(tlb.find(space, 0x20_2000), Hit::One(_)));
    }

    #[test]
    fn a_full_one_loses_what_it_had_and_says_so() {
        let space = Space::Process { lpid: 1, pid: 2 };
        let mut tlb = Tlb::default();
        assert!(!tlb.insert(space, 0, page(12)) && tlb.insert(space, 0, page(12)));
        for number in 1..CAPACITY as u64 {
            assert!(!tlb.insert(space, number << 12, page(12)));
        }
        let (generation, last) = (tlb.generation(), CAPACITY as u64);
        assert!(tlb.insert(space, last << 12, page(12)));
        assert!(tlb.generation() > generation);
        assert_eq!(tlb.find(space, 0), Hit::None);
        assert!(matches!(tlb.find(space, last << 12), Hit::One(_)));
    }
}
