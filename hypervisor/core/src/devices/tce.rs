//! A window through which a partition's device sees its memory: a translation control entry for each of its pages.
//!
//! The table is the hypervisor's, made with the partition and never larger: no hypercall asks for memory. What
//! an entry may name is checked as it is put there ([`Window::check`]); a partition's memory does not change
//! afterwards. The vCPUs change entries, and devices look at them, without a lock: an entry is one word.

use alloc::vec::Vec;

use arch::address::GuestRealAddress;
use arch::papr::tce::{PAGE_LOG2, READ, WRITE};

use crate::sync::Word;

const PAGE_MASK: u64 = (1 << PAGE_LOG2) - 1;

/// A partition's window.
#[derive(Debug)]
pub struct Window {
    entries: Vec<Word>,
    /// Of the partition.
    memory_bytes: u64,
}

/// There is no memory for the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoMemory;

impl core::fmt::Display for NoMemory {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("no memory is left for the tables of its device windows")
    }
}

impl Window {
    /// One of so many bytes, whole pages, of a partition with so much memory. No device sees anything of it yet.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub fn new(bytes: u64, memory_bytes: u64) -> Result<Self, NoMemory> {
        let pages = (bytes >> PAGE_LOG2) as usize;
        let mut entries = Vec::new();
        entries.try_reserve_exact(pages).map_err(|_| NoMemory)?;
        entries.resize_with(pages, Word::zero);
        Ok(Self { entries, memory_bytes })
    }

    /// Bytes of the table.
    #[must_use]
    pub const fn table_bytes(&self) -> u64 {
        (self.entries.len() * size_of::<Word>()) as u64
    }

    /// Forgets all entries.
    pub fn clear(&self) {
        self.entries.iter().for_each(|entry| entry.set(0));
    }

    /// Entries of the `count` pages from this address of the window on, if it is a page of the window and they are too.
    #[must_use]
    pub fn pages(&self, address: u64, count: u64) -> Option<&[Word]> {
        let first = (address >> PAGE_LOG2) as usize;
        let end = first.checked_add(usize::try_from(count).ok()?)?;
        self.entries.get(first..end).filter(|_| address & PAGE_MASK == 0)
    }

    /// The entry for this page of the window.
    #[must_use]
    pub fn entry(&self, address: u64) -> Option<u64> {
        let entry = self.entries.get((address >> PAGE_LOG2) as usize);
        entry.filter(|_| address & PAGE_MASK == 0).map(Word::get)
    }

    /// Whether there may be such an entry: it names a page of the partition's memory, or gives no right to anything.
    #[must_use]
    pub const fn check(&self, entry: u64) -> bool {
        let is_page = entry & PAGE_MASK & !(READ | WRITE) == 0;
        entry & (READ | WRITE) == 0 || is_page && entry & !PAGE_MASK < self.memory_bytes
    }

    /// What a device finds at this address of the window, if it may read there, and write there if it `writes`.
    #[must_use]
    pub fn translate(&self, address: u64, writes: bool) -> Option<GuestRealAddress> {
        let entry = self.entries.get((address >> PAGE_LOG2) as usize)?.get();
        let right = if writes { WRITE } else { READ };
        (entry & right != 0).then_some(GuestRealAddress(entry & !PAGE_MASK | address & PAGE_MASK))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{NoMemory, Window};
    use arch::address::GuestRealAddress;

    #[test]
    fn a_device_sees_what_was_put_there_and_nothing_else() {
        let window = Window::new(0x1_0000, 0x10_0000).unwrap();
        assert_eq!(window.table_bytes(), 128);
        for (page, entry) in window.pages(0x3000, 2).unwrap().iter().zip([0x8001, 0x9003]) {
            page.set(entry);
        }
        assert_eq!(window.translate(0x3123, false), Some(GuestRealAddress(0x8123)));
        assert_eq!(window.translate(0x3123, true), None);
        assert_eq!(window.translate(0x4FFF, true), Some(GuestRealAddress(0x9FFF)));
        for address in [0, 0x2FFF, 0x5000, 0x1_0000, u64::MAX] {
            assert_eq!(window.translate(address, false), None, "{address:#x}");
        }
        window.clear();
        assert_eq!((window.translate(0x3123, false), window.entry(0x3000)), (None, Some(0)));
    }

    #[test]
    fn pages_are_those_of_the_window() {
        let window = Window::new(0x1_0000, 0x10_0000).unwrap();
        assert_eq!(window.pages(0, 16).map(|pages| pages.len()), Some(16));
        assert_eq!(window.pages(0x1_0000, 0).map(|pages| pages.len()), Some(0));
        for (address, count) in
            [(0x1000, 16), (0x800, 1), (0x1_0000, 1), (0, u64::MAX), (!0xFFF, 2)]
        {
            assert!(window.pages(address, count).is_none(), "{address:#x} {count}");
        }
        assert_eq!(
            (window.entry(0xF000), window.entry(0x1_0000), window.entry(1)),
            (Some(0), None, None)
        );
    }

    #[test]
    fn an_entry_names_a_page_of_the_memory_or_gives_no_right() {
        let window = Window::new(0x1000, 0x10_0000).unwrap();
        for entry in [0, 0xF_F003, 1, 2, 0xFFFF_F000, 0x10] {
            assert!(window.check(entry), "{entry:#x}");
        }
        for entry in [0x10_0001, 0x13, 0x8002 | 1 << 11, u64::MAX, 1 << 63 | 1] {
            assert!(!window.check(entry), "{entry:#x}");
        }
    }

    #[test]
    fn a_table_that_finds_no_memory_is_refused() {
        assert_eq!(Window::new(u64::MAX, 0).unwrap_err(), NoMemory);
    }
}
