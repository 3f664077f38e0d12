//! Frames: of reservations, loose ones, and a file that is in memory; each with the number of pages that show it.

use core::sync::atomic::{AtomicU64, Ordering};

use process::Program;
use superpages::reservation::Reservations;
use superpages::{BLOCK_LOG2, PAGE_LOG2, PAGES};

/// Blocks of an address space: two of the file, one of loose pages, one of the heap.
pub(crate) const BLOCKS: usize = 4;
/// Address spaces.
pub(crate) const SPACES: usize = 2;
/// Blocks of memory that may be reserved.
const RESERVATIONS: usize = 12;
/// Doublewords of a page.
const WORDS: usize = 1 << (PAGE_LOG2 - 3);
/// Pages of the file: a block and a half.
pub(crate) const FILE_PAGES: usize = PAGES + PAGES / 2;
/// Where in its first page the program is, in bytes; each page begins with what returns at once.
pub(crate) const PROGRAM: u64 = 0x100;
/// Which doubleword of a page of the file is its number.
const NUMBER: usize = 1;
/// Holders of reservations behind the blocks of the address spaces.
const FILE: usize = SPACES * BLOCKS;
const LOOSE: usize = FILE + FILE_PAGES.div_ceil(PAGES);

pub(crate) struct Memory {
    words: &'static [AtomicU64],
    reservations: Reservations<RESERVATIONS>,
    /// Frames of the loose reservation that are free, up to `free`.
    loose: [u16; PAGES],
    free: usize,
    /// How many pages show a frame.
    shown: [u8; RESERVATIONS * PAGES],
}

impl Memory {
    pub(crate) const fn none() -> Self {
        Self {
            words: &[],
            reservations: Reservations::none(),
            loose: [0; PAGES],
            free: PAGES,
            shown: [0; RESERVATIONS * PAGES],
        }
    }

    /// Takes the partition's memory, and writes the file into it.
    pub(crate) fn take(&mut self, partition: &rt::Partition) {
        let free = partition.free_memory();
        self.reservations.give(free.start, free.end);
        let (needed, available) = (LOOSE + 1 - FILE + SPACES, self.reservations.available());
        assert!(
            available >= needed,
            "memory: {needed} free blocks of 16 MiB were expected, the partition's memory has {available}"
        );
        let begin = (self.reservations.start() - free.start) as usize / 8;
        self.words = &partition.share_free_memory()[begin..];
        for page in 0..PAGES {
            self.loose[page] = page as u16;
            self.reserve(LOOSE, page);
        }
        for page in 0..FILE_PAGES {
            let (real, _) = self.reserve(FILE, page);
            let words = self.page(real);
            words[0].store(Program::RETURN, Ordering::Relaxed);
            words[NUMBER].store(page as u64, Ordering::Relaxed);
            if page == 0 {
                Program::install(words, PROGRAM as usize / 8);
            } else {
                Program::publish(&words[..1]);
            }
        }
    }

    /// The frame of a page of a reservation, and whether all of it is in use now.
    fn reserve(&mut self, holder: usize, page: usize) -> (u64, bool) {
        self.reservations.take(holder * PAGES + page).expect("there is a block for each holder")
    }

    fn page(&self, real: u64) -> &'static [AtomicU64] {
        let begin = (real - self.reservations.start()) as usize / 8;
        &self.words[begin..begin + WORDS]
    }

    fn shown(&mut self, real: u64) -> &mut u8 {
        &mut self.shown[((real - self.reservations.start()) >> PAGE_LOG2) as usize]
    }

    /// The frame with a page of the file, and whether all of its reservation is in use.
    pub(crate) fn of_file(&self, page: usize) -> (u64, bool) {
        let first = self.first_of_file(page / PAGES);
        let real = first + ((page % PAGES) << PAGE_LOG2) as u64;
        (real, self.reservations.is_full(real))
    }

    /// Where a block of the file begins. The loose reservation was taken first.
    const fn first_of_file(&self, block: usize) -> u64 {
        self.reservations.start() + ((block as u64 + 1) << BLOCK_LOG2)
    }

    /// A frame of zeroes for a page of a space, at its place in a reservation: also whether all of that is in use.
    pub(crate) fn zeroed(&mut self, space: usize, page: usize) -> (u64, bool) {
        let (real, is_full) = self.reserve(space * BLOCKS, page);
        self.clear(real);
        (real, is_full)
    }

    /// A frame of zeroes from anywhere.
    pub(crate) fn loose_zeroed(&mut self) -> u64 {
        let real = self.loose();
        self.clear(real);
        real
    }

    /// A copy of a frame.
    pub(crate) fn copied(&mut self, from: u64) -> u64 {
        let real = self.loose();
        for (to, from) in self.page(real).iter().zip(self.page(from)) {
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        real
    }

    fn loose(&mut self) -> u64 {
        self.free = self.free.checked_sub(1).expect("memory: no loose page is free");
        let real = self.reservations.start() + (u64::from(self.loose[self.free]) << PAGE_LOG2);
        *self.shown(real) = 1;
        real
    }

    fn clear(&mut self, real: u64) {
        for word in self.page(real) {
            word.store(0, Ordering::Relaxed);
        }
        *self.shown(real) = 1;
    }

    /// One page more shows a frame that is not the file's.
    pub(crate) fn share(&mut self, real: u64) {
        *self.shown(real) += 1;
    }

    /// Whether more than one page shows it.
    pub(crate) fn is_shared(&mut self, real: u64) -> bool {
        *self.shown(real) > 1
    }

    /// One page less shows a frame. The last one gives it back; the file stays.
    pub(crate) fn release(&mut self, real: u64) {
        let shown = self.shown(real);
        if *shown == 0 {
            return;
        }
        *shown -= 1;
        if *shown > 0 {
            return;
        }
        let number = (real - self.reservations.start()) >> PAGE_LOG2;
        if number < PAGES as u64 {
            self.loose[self.free] = number as u16;
            self.free += 1;
        } else {
            self.reservations.put_back(real);
        }
    }
}
