//! The hashed page table that the hypervisor keeps, for a manager of superpages.

use arch::hash::{first, second};
use arch::papr::status::H_SUCCESS;
use arch::papr::{Hypercall, hashed};
use rt::hash::Segment;
use rt::{hypercall_of_eight_outputs, hypercall_outputs};
use superpages::{Entries, Entry, Marks, PAGE_LOG2, Place, Size, Table};

/// The entries of a segment of pages of 4 KiB, by hypercalls.
#[derive(Clone, Copy, Debug)]
pub struct Hypercalls(Segment);

const fn offset(page: usize) -> u64 {
    (page as u64) << PAGE_LOG2
}

/// R and C as they are in an entry's second doubleword.
const fn marks_of(doubleword: u64) -> Marks {
    Marks { referenced: doubleword & second::R != 0, changed: doubleword & second::C != 0 }
}

/// Of an entry that was not there any more.
const UNKNOWN: Marks = Marks { referenced: true, changed: true };

impl Hypercalls {
    /// Of a segment that any vCPU may load.
    #[must_use]
    pub const fn shared(segment: Segment) -> Self {
        Self(segment)
    }

    /// The same of one that the caller's vCPU loads alone: the hypervisor tells whom it has to tell.
    #[must_use]
    pub const fn own(segment: Segment) -> Self {
        Self(segment)
    }

    /// Slot, and the first doubleword of the entry but for its low bits.
    fn name(self, entry: Entry) -> (u64, u64) {
        let Entry { page, place: Place { is_secondary, slot }, .. } = entry;
        let group = self.0.group(offset(page), is_secondary);
        (group + u64::from(slot), self.0.first(offset(page)))
    }
}

impl Table for Hypercalls {
    fn enter(&mut self, page: usize, size: Size, doubleword: u64) -> Option<Place> {
        let size = if size == Size::Large { first::L } else { 0 };
        let (is_secondary, slot) = self.0.enter(offset(page), size, doubleword)?;
        Some(Place { is_secondary, slot: slot as u8 })
    }

    fn remove(&mut self, entries: Entries<'_>, mut removed: impl FnMut(Entry, Marks)) {
        let mut rest = entries.iter();
        loop {
            let mut words = [hashed::KIND.set(0, hashed::END); 2 * hashed::PAIRS];
            let mut some = [None; hashed::PAIRS];
            for ((pair, one), entry) in words.chunks_exact_mut(2).zip(&mut some).zip(&mut rest) {
                let (slot, address) = self.name(entry);
                let head = hashed::KIND.set(slot, hashed::REQUEST);
                pair.copy_from_slice(&[hashed::CONDITION.set(head, hashed::BY_AVPN), address]);
                *one = Some(entry);
            }
            if some[0].is_none() {
                return;
            }
            let call = Hypercall::BulkRemove as u64;
            let (status, words) = hypercall_of_eight_outputs(call, words);
            assert_eq!(status, H_SUCCESS, "H_BULK_REMOVE");
            for (pair, entry) in words.chunks_exact(2).zip(some.into_iter().flatten()) {
                const { assert!(second::R == 0x100 && second::C == 0x80) };
                let marks = match hashed::RESULT.get(pair[0]) {
                    hashed::DONE => marks_of(hashed::MARKS.get(pair[0]) << 7),
                    _ => UNKNOWN,
                };
                removed(entry, marks);
            }
        }
    }

    fn remove_alone(&mut self, entry: Entry) -> Marks {
        let (slot, address) = self.name(entry);
        let arguments = [hashed::AVPN, slot, address, 0];
        match hypercall_outputs(Hypercall::Remove as u64, arguments) {
            (H_SUCCESS, [_, doubleword, _]) => marks_of(doubleword),
            _ => UNKNOWN,
        }
    }

    fn clear_referenced(&mut self, entry: Entry) -> bool {
        let (slot, _) = self.name(entry);
        match hypercall_outputs(Hypercall::ClearRef as u64, [0, slot, 0, 0]) {
            (H_SUCCESS, [doubleword, ..]) => marks_of(doubleword).referenced,
            _ => UNKNOWN.referenced,
        }
    }

    fn clear_changed(&mut self, entry: Entry) -> bool {
        let (slot, _) = self.name(entry);
        match hypercall_outputs(Hypercall::ClearMod as u64, [0, slot, 0, 0]) {
            (H_SUCCESS, [doubleword, ..]) => marks_of(doubleword).changed,
            _ => UNKNOWN.changed,
        }
    }

    fn marks(&mut self, entry: Entry) -> Marks {
        let (slot, _) = self.name(entry);
        match hypercall_outputs(Hypercall::Read as u64, [0, slot, 0, 0]) {
            (H_SUCCESS, [first, second, _]) if first & first::V != 0 => marks_of(second),
            _ => UNKNOWN,
        }
    }
}
