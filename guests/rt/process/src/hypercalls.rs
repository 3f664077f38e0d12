//! The hashed page table that the hypervisor keeps, for a manager of superpages.

use arch::hash::{first, second};
use arch::papr::status::H_SUCCESS;
use arch::papr::{Hypercall, hashed};
use rt::hash::Segment;
use rt::{hypercall_of_eight_outputs, hypercall_outputs};
use superpages::{Entry, Marks, PAGE_LOG2, Place, Size, Table};

/// The entries of a segment of pages of 4 KiB, by hypercalls.
#[derive(Clone, Copy, Debug)]
pub struct Hypercalls(pub Segment);

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

    fn remove(&mut self, entries: &[Entry], marks: &mut [Marks]) {
        for (entries, marks) in entries.chunks(hashed::PAIRS).zip(marks.chunks_mut(hashed::PAIRS)) {
            let mut words = [0; 2 * hashed::PAIRS];
            words[2 * entries.len() % words.len()] = hashed::KIND.set(0, hashed::END);
            for (pair, entry) in words.chunks_exact_mut(2).zip(entries) {
                let (slot, address) = self.name(*entry);
                let head = hashed::KIND.set(slot, hashed::REQUEST);
                pair.copy_from_slice(&[hashed::CONDITION.set(head, hashed::BY_AVPN), address]);
            }
            let call = Hypercall::BulkRemove as u64;
            let (status, words) = hypercall_of_eight_outputs(call, words);
            assert_eq!(status, H_SUCCESS, "H_BULK_REMOVE");
            for (pair, marks) in words.chunks_exact(2).zip(marks) {
                const { assert!(second::R == 0x100 && second::C == 0x80) };
                *marks = match hashed::RESULT.get(pair[0]) {
                    hashed::DONE => marks_of(hashed::MARKS.get(pair[0]) << 7),
                    _ => UNKNOWN,
                };
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
