//! The work of ebizzy, a benchmark of a web server's search: copy a chunk of memory into new memory, and search
//! the copy.
//!
//! ebizzy's own chunks have the size that its user gives, which the publication does not name: 4 KiB is our
//! guess, so that only ratios of figures mean anything.

use arch::marker::{Mark, Region};
use rt::random::Numbers;

const RECORD: Region = Region::new(1).expect("a region number");
/// ebizzy's usual number of chunks.
const CHUNKS: usize = 10;
/// Doublewords of a chunk: a guess.
const WORDS: usize = 512;
/// Copies that there is room for.
const COPIES: usize = 32;
/// Records before the first that counts.
const WARM_UP: u64 = 50;

/// Does so many records, each in the region.
pub(crate) fn work(memory: &mut [u64], records: u64) {
    let (chunks, memory) = memory.split_at_mut(CHUNKS * WORDS);
    for (place, word) in chunks.iter_mut().enumerate() {
        *word = 3 * (place % WORDS) as u64;
    }
    let mut free: [Option<&mut [u64]>; COPIES] = [const { None }; COPIES];
    let copies = memory.chunks_exact_mut(WORDS).take(COPIES);
    free.iter_mut().zip(copies).for_each(|(place, copy)| *place = Some(copy));
    let mut heap = Heap { free, next: 0 };
    let mut random = Numbers::new(2);
    for _ in 0..WARM_UP {
        record(chunks, &mut heap, &mut random);
    }
    let mut found = 0;
    for _ in 0..records {
        rt::mark!(Mark::Begin(RECORD));
        found += u64::from(record(chunks, &mut heap, &mut random));
        rt::mark!(Mark::End(RECORD));
    }
    rt::println!("idle: {records} records, {found} found");
}

/// Memory for copies. What was given back longest ago is given out next, as by an allocator under load.
struct Heap<'a> {
    free: [Option<&'a mut [u64]>; COPIES],
    next: usize,
}

impl<'a> Heap<'a> {
    fn allocate(&mut self) -> &'a mut [u64] {
        self.next = (self.next + 1) % COPIES;
        self.free[self.next].take().expect("a copy lives for one record")
    }

    fn give_back(&mut self, copy: &'a mut [u64]) {
        self.free[self.next] = Some(copy);
    }
}

/// Copies a chunk and searches a word in the copy: whether it is there, as it has to be.
fn record(chunks: &[u64], heap: &mut Heap<'_>, random: &mut Numbers) -> bool {
    let chunk = random.below(CHUNKS as u64) as usize * WORDS;
    let copy = heap.allocate();
    copy.copy_from_slice(&chunks[chunk..chunk + WORDS]);
    let key = 3 * (random.below(WORDS as u64));
    let is_found = copy.binary_search(&key).is_ok();
    heap.give_back(copy);
    is_found
}
