//! Memory, which all threads share: frames of reservations, loose ones, and a file that is in memory, each with the
//! number of pages that show it; and what a thread has of its own.

use core::sync::atomic::{AtomicU64, Ordering};

use process::{Arena, Program};
use spin::{Mutex, MutexGuard};
use superpages::reservation::Reservations;
use superpages::{BLOCK_LOG2, PAGE_LOG2, PAGES};

/// Hardware threads at most, each with processes of its own.
pub(crate) const THREADS: usize = 8;
/// Blocks of an address space: two of the file, one of loose pages, one of the heap.
pub(crate) const BLOCKS: usize = 4;
/// Address spaces of a thread.
pub(crate) const SPACES: usize = 2;
/// Blocks of memory that may be reserved: the loose one, the file's, and the heaps.
const RESERVATIONS: usize = blocks(THREADS);
/// Doublewords of a page, and of a cache line.
const WORDS: usize = 1 << (PAGE_LOG2 - 3);
const LINE_WORDS: usize = 16;
/// Frames that go back together.
const BATCH: usize = 64;
/// Pages of the file: a block and a half.
pub(crate) const FILE_PAGES: usize = PAGES + PAGES / 2;
const FILE_BLOCKS: usize = FILE_PAGES.div_ceil(PAGES);
/// Where in its first page the program is, in bytes; each page begins with what returns at once.
pub(crate) const PROGRAM: u64 = 0x100;
/// Which doubleword of a page of the file is its number.
const NUMBER: usize = 1;
/// Holders of reservations behind the blocks of the address spaces.
const FILE: usize = THREADS * SPACES * BLOCKS;
const LOOSE: usize = FILE + FILE_BLOCKS;

/// Blocks of memory that so many threads need.
const fn blocks(threads: usize) -> usize {
    1 + FILE_BLOCKS + threads * SPACES
}

/// The memory. Who takes a frame or gives some back keeps others from it meanwhile.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    /// From the first block on.
    words: &'static [AtomicU64],
    /// The real address of that.
    start: u64,
}

struct Frames {
    reservations: Reservations<RESERVATIONS>,
    /// Frames of the loose reservation that are free, up to `free`.
    loose: [u16; PAGES],
    free: usize,
    /// How many pages show a frame.
    shown: [u8; RESERVATIONS * PAGES],
}

static FRAMES: Mutex<Frames> = Mutex::new(Frames {
    reservations: Reservations::none(),
    loose: [0; PAGES],
    free: PAGES,
    shown: [0; RESERVATIONS * PAGES],
});

/// What of the memory is left for what threads have of their own.
pub(crate) static ARENA: Mutex<Arena> = Mutex::new(Arena::empty());

impl Memory {
    /// Takes the partition's memory, and writes the file into it. Each thread but the first finds room for a `T` of its
    /// own in [`ARENA`].
    ///
    /// # Panics
    /// If it is too little.
    pub(crate) fn take<T>(partition: &rt::Partition, threads: usize) -> Self {
        let free = partition.free_memory();
        let arena = (threads - 1) * Arena::words_of::<T>();
        let mut frames = FRAMES.lock();
        frames.reservations.give(free.start, free.end.saturating_sub(8 * arena as u64));
        let (needed, available) = (blocks(threads), frames.reservations.available());
        assert!(
            available >= needed,
            "memory: {needed} free blocks of 16 MiB were expected, the partition's memory has {available}"
        );
        let start = frames.reservations.start();
        let (_, words) =
            partition.take_free_memory().split_at_mut((start - free.start) as usize / 8);
        let (words, arena) = words.split_at_mut(words.len() / LINE_WORDS * LINE_WORDS - arena);
        *ARENA.lock() = Arena::new(arena);
        let memory = Self { words: rt::share(words), start };
        for page in 0..PAGES {
            frames.loose[page] = page as u16;
            frames.reserve(LOOSE, page);
        }
        for page in 0..FILE_PAGES {
            let (real, _) = frames.reserve(FILE, page);
            let words = memory.page(real);
            words[0].store(Program::RETURN, Ordering::Relaxed);
            words[NUMBER].store(page as u64, Ordering::Relaxed);
            if page == 0 {
                Program::install(words, PROGRAM as usize / 8);
            } else {
                Program::publish(&words[..1]);
            }
        }
        memory
    }

    fn frames() -> MutexGuard<'static, Frames> {
        FRAMES.lock()
    }

    fn page(&self, real: u64) -> &'static [AtomicU64] {
        let begin = (real - self.start) as usize / 8;
        &self.words[begin..begin + WORDS]
    }

    /// The frame with a page of the file, and whether all of its reservation is in use.
    pub(crate) const fn of_file(&self, page: usize) -> (u64, bool) {
        // The loose reservation was taken first.
        let first = self.start + ((page / PAGES + 1) << BLOCK_LOG2) as u64;
        let is_full = page / PAGES < FILE_PAGES / PAGES;
        (first + ((page % PAGES) << PAGE_LOG2) as u64, is_full)
    }

    /// A frame of zeroes for a page of a space, at its place in a reservation: also whether all of that is in use.
    pub(crate) fn zeroed(&self, space: usize, page: usize) -> (u64, bool) {
        let (real, is_full) = Self::frames().zeroed(space, page);
        self.clear(real);
        (real, is_full)
    }

    /// A frame of zeroes from anywhere.
    pub(crate) fn loose_zeroed(&self) -> u64 {
        let real = Self::frames().loose();
        self.clear(real);
        real
    }

    /// A copy of a frame.
    pub(crate) fn copied(&self, from: u64) -> u64 {
        let real = Self::frames().loose();
        for (to, from) in self.page(real).iter().zip(self.page(from)) {
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        real
    }

    fn clear(&self, real: u64) {
        for word in self.page(real) {
            word.store(0, Ordering::Relaxed);
        }
    }

    /// One page more shows a frame that is not the file's.
    pub(crate) fn share(real: u64) {
        *Self::frames().shown(real) += 1;
    }

    /// Whether more than one page shows it.
    pub(crate) fn is_shared(real: u64) -> bool {
        *Self::frames().shown(real) > 1
    }

    /// Frames that pages will not show any more.
    pub(crate) const fn release(self) -> Release {
        Release { memory: self, frames: [0; BATCH], count: 0 }
    }
}

/// Frames on their way back, some at a time.
pub(crate) struct Release {
    memory: Memory,
    frames: [u64; BATCH],
    count: usize,
}

impl Release {
    /// One page less shows a frame. The last one gives it back; the file stays.
    pub(crate) fn add(&mut self, real: u64) {
        let block = ((real - self.memory.start) >> BLOCK_LOG2) as usize;
        if (1..1 + FILE_BLOCKS).contains(&block) {
            return;
        }
        self.frames[self.count] = real;
        self.count += 1;
        if self.count == BATCH {
            self.end();
        }
    }

    /// Gives those back that were added.
    pub(crate) fn end(&mut self) {
        if self.count > 0 {
            let mut frames = Memory::frames();
            self.frames[..self.count].iter().for_each(|real| frames.release(*real));
            self.count = 0;
        }
    }
}

impl Frames {
    /// The frame of a page of a reservation, and whether all of it is in use now.
    fn reserve(&mut self, holder: usize, page: usize) -> (u64, bool) {
        self.reservations.take(holder * PAGES + page).expect("there is a block for each holder")
    }

    fn zeroed(&mut self, space: usize, page: usize) -> (u64, bool) {
        let (real, is_full) = self.reserve(space * BLOCKS, page);
        *self.shown(real) = 1;
        (real, is_full)
    }

    fn number(&self, real: u64) -> usize {
        ((real - self.reservations.start()) >> PAGE_LOG2) as usize
    }

    fn shown(&mut self, real: u64) -> &mut u8 {
        let number = self.number(real);
        &mut self.shown[number]
    }

    fn loose(&mut self) -> u64 {
        self.free = self.free.checked_sub(1).expect("memory: no loose page is free");
        let real = self.reservations.start() + (u64::from(self.loose[self.free]) << PAGE_LOG2);
        *self.shown(real) = 1;
        real
    }

    fn release(&mut self, real: u64) {
        let shown = self.shown(real);
        *shown -= 1;
        if *shown > 0 {
            return;
        }
        let number = self.number(real);
        if number < PAGES {
            self.loose[self.free] = number as u16;
            self.free += 1;
        } else {
            self.reservations.put_back(real);
        }
    }
}
