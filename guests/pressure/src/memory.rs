//! Frames, by reservations that break where memory is short, and a store for the pages that have none.

use core::sync::atomic::{AtomicU64, Ordering};

use process::Program;
use superpages::reservation::Reservations;
use superpages::{BLOCK_LOG2, PAGE_LOG2, PAGES};

/// Address spaces, and blocks of data of each.
pub(crate) const SPACES: usize = 2;
pub(crate) const DATA_BLOCKS: usize = 2;
/// Pages of data of a space.
pub(crate) const DATA: usize = DATA_BLOCKS * PAGES;
/// Blocks of memory at most: as many as all data need.
const MOST_FRAMES: usize = SPACES * DATA_BLOCKS;
/// Doublewords of a page.
const WORDS: usize = 1 << (PAGE_LOG2 - 3);

pub(crate) struct Memory {
    words: &'static [AtomicU64],
    reservations: Reservations<MOST_FRAMES>,
    /// Which pages the store has as they were when they went there last.
    is_stored: [[bool; DATA]; SPACES],
    /// Doublewords in front of the store.
    store: usize,
    /// Microseconds that the store takes to give a page back, besides the copy.
    disk: u64,
    pub(crate) read: u64,
    pub(crate) written: u64,
}

impl Memory {
    pub(crate) const fn none() -> Self {
        Self {
            words: &[],
            reservations: Reservations::none(),
            is_stored: [[false; DATA]; SPACES],
            store: 0,
            disk: 0,
            read: 0,
            written: 0,
        }
    }

    /// Takes the partition's memory: `frames` blocks, then the store, then a page with the program, whose real address
    /// it gives.
    pub(crate) fn take(&mut self, partition: &rt::Partition, frames: u64, disk: u64) -> u64 {
        let free = partition.free_memory();
        let start = free.start.next_multiple_of(1 << BLOCK_LOG2);
        let end = start + (frames << BLOCK_LOG2);
        self.reservations.give(start, end);
        let program = end + ((SPACES * DATA) << PAGE_LOG2) as u64;
        let needed = program + (1 << PAGE_LOG2);
        assert!(
            needed <= free.end,
            "memory: {} MiB were expected for frames={frames} and the store, the partition has {}",
            needed.next_multiple_of(1 << 20) >> 20,
            free.end >> 20
        );
        self.words = &partition.share_free_memory()[(start - free.start) as usize / 8..];
        self.store = (end - start) as usize / 8;
        self.disk = disk;
        Program::install(self.page(program), 0);
        program
    }

    fn page(&self, real: u64) -> &'static [AtomicU64] {
        let begin = (real - self.reservations.start()) as usize / 8;
        &self.words[begin..begin + WORDS]
    }

    /// Where the store has a page.
    fn stored(&self, space: usize, page: usize) -> &'static [AtomicU64] {
        let begin = self.store + (space * DATA + page) * WORDS;
        &self.words[begin..begin + WORDS]
    }

    /// A frame with what a page has, and whether all of its reservation is in use then; `None` if none is free.
    pub(crate) fn bring(&mut self, space: usize, page: usize) -> Option<(u64, bool)> {
        let (real, is_full) = loop {
            if let Some(found) = self.reservations.take(space * DATA + page) {
                break found;
            }
            if let Some(real) = self.reservations.take_loose() {
                break (real, false);
            }
            if !self.reservations.break_oldest() {
                return None;
            }
        };
        if self.is_stored[space][page] {
            copy(self.page(real), self.stored(space, page));
            self.read += 1;
            if self.disk > 0 {
                rt::sleep(self.disk * rt::TICKS_PER_MICROSECOND);
            }
        } else {
            self.page(real).iter().for_each(|word| word.store(0, Ordering::Relaxed));
        }
        Some((real, is_full))
    }

    /// Lets the store have a page, if that has changed since it had it, and takes its frame back.
    pub(crate) fn evict(&mut self, space: usize, page: usize, real: u64, has_changed: bool) {
        if has_changed || !self.is_stored[space][page] {
            copy(self.stored(space, page), self.page(real));
            self.is_stored[space][page] = true;
            self.written += 1;
        }
        assert!(self.reservations.put_back(real), "{real:#x} was in use");
    }

    /// How many reservations were broken.
    pub(crate) const fn broken(&self) -> u64 {
        self.reservations.broken()
    }
}

fn copy(to: &[AtomicU64], from: &[AtomicU64]) {
    for (to, from) in to.iter().zip(from) {
        to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}
