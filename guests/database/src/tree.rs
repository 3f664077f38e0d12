//! A table and its B-tree in pages of 8 KiB, as large as PostgreSQL's, with as many rows and entries in each as those
//! of pgbench have: 61 rows of `pgbench_accounts`, and 366 entries of its primary key at a fill factor of 90 %.
//!
//! The rows come first, in the order of their keys, then the leaves, then each level above them up to the root, as a
//! load and an index built after it leave them. Behind the pages is the log.

use core::ops::Range;

/// Doublewords of a page.
const WORDS: usize = 1024;
/// Rows of a page, and the doublewords of each: PostgreSQL's header of 24 bytes, and 97 bytes of columns.
const ROWS: usize = 61;
const ROW: usize = 16;
/// In a row: its key, its balance, and what fills it.
const KEY: usize = 3;
const BALANCE: usize = 4;
const FILLER: Range<usize> = 5..ROW;
/// Entries of a node, of a key and what it leads to.
const ENTRIES: usize = 366;
/// In a node: how many entries it has, its level, the node to its right, and where the entries begin.
const COUNT: usize = 0;
const LEVEL: usize = 1;
const RIGHT: usize = 2;
const HEAD: usize = 4;
/// A node to the right that is none: page 0 has rows.
const NONE: u64 = 0;
/// Doublewords of a record of the log: its number, the row's place, the balance before and after it, and the rest of
/// the row.
const RECORD: usize = 4 + FILLER.end - FILLER.start;
/// Bytes of the log, which begins again at its end.
pub(crate) const LOG_BYTES: u64 = 1 << 20;
const RECORDS: usize = LOG_BYTES as usize / 8 / RECORD;

type Page = [u64; WORDS];

/// Where a row is: its page, and the first of its doublewords there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    page: usize,
    word: usize,
}

impl Place {
    const fn of_row(row: usize) -> Self {
        Self { page: row / ROWS, word: WORDS - ROW * (row % ROWS + 1) }
    }

    const fn packed(self) -> u64 {
        (self.page as u64) << 16 | self.word as u64
    }

    const fn unpacked(number: u64) -> Self {
        Self { page: (number >> 16) as usize, word: number as usize & 0xFFFF }
    }
}

const fn filler(key: u64, index: usize) -> u64 {
    (key ^ index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

pub(crate) struct Database {
    pages: &'static mut [Page],
    log: &'static mut [u64],
    rows: usize,
    root: usize,
    first_leaf: usize,
    /// Records that were ever written.
    records: usize,
}

/// Pages of so many rows and their tree.
fn pages_of(rows: usize) -> usize {
    let mut nodes = rows.div_ceil(ENTRIES);
    let mut pages = rows.div_ceil(ROWS) + nodes;
    while nodes > 1 {
        nodes = nodes.div_ceil(ENTRIES);
        pages += nodes;
    }
    pages
}

impl Database {
    /// As many rows as there is room for, and their tree, in pages that are cleared first.
    pub(crate) fn load(memory: &'static mut [u64]) -> Self {
        let (memory, log) = memory.split_at_mut(memory.len() - LOG_BYTES as usize / 8);
        let (pages, _) = memory.as_chunks_mut::<WORDS>();
        let mut rows = pages.len() * ROWS;
        while pages_of(rows) > pages.len() {
            rows -= ROWS;
        }
        pages.as_flattened_mut().fill(0);
        let first_leaf = rows.div_ceil(ROWS);
        let mut database = Self { pages, log, rows, root: first_leaf, first_leaf, records: 0 };
        for row in 0..rows {
            let (key, Place { page, word }) = (database.key(row as u64), Place::of_row(row));
            let words = &mut database.pages[page][word..word + ROW];
            (words[KEY], words[BALANCE]) = (key, 0);
            for index in FILLER {
                words[index] = filler(key, index);
            }
        }
        let leaf = |_: &[Page], row: usize| [2 * row as u64 + 1, Place::of_row(row).packed()];
        let mut nodes = database.add_level(first_leaf, 0, rows, leaf);
        for level in 1.. {
            if nodes.len() == 1 {
                break;
            }
            let below = nodes.start;
            let child = |pages: &[Page], index: usize| {
                let child = below + index;
                [pages[child][HEAD], child as u64]
            };
            nodes = database.add_level(nodes.end, level, nodes.len(), child);
        }
        database.root = nodes.start;
        database
    }

    /// Writes the nodes of a level from a page on, with `count` entries in all, each of which follows from the pages
    /// in front of them and its number: where the nodes are.
    fn add_level(
        &mut self,
        start: usize,
        level: u64,
        count: usize,
        entry: impl Fn(&[Page], usize) -> [u64; 2],
    ) -> Range<usize> {
        let end = start + count.div_ceil(ENTRIES);
        for page in start..end {
            let first = (page - start) * ENTRIES;
            let count = (count - first).min(ENTRIES);
            for index in 0..count {
                let entry = entry(self.pages, first + index);
                self.pages[page][HEAD + 2 * index..][..2].copy_from_slice(&entry);
            }
            let node = &mut self.pages[page];
            (node[COUNT], node[LEVEL]) = (count as u64, level);
            node[RIGHT] = if page + 1 < end { page as u64 + 1 } else { NONE };
        }
        start..end
    }

    pub(crate) const fn rows(&self) -> u64 {
        self.rows as u64
    }

    /// Levels of the tree.
    pub(crate) fn levels(&self) -> u64 {
        self.pages[self.root][LEVEL] + 1
    }

    /// The key of a row. Keys between them have none.
    pub(crate) const fn key(&self, row: u64) -> u64 {
        2 * row + 1
    }

    /// Where the row with a key is, if there is one.
    #[inline(never)]
    pub(crate) fn find(&self, key: u64) -> Option<Place> {
        let mut page = self.root;
        loop {
            let node = &self.pages[page];
            let (mut low, mut high) = (0, node[COUNT] as usize);
            while low < high {
                let middle = low.midpoint(high);
                if node[HEAD + 2 * middle] <= key {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            let last = HEAD + 2 * low.checked_sub(1)?;
            if node[LEVEL] == 0 {
                return (node[last] == key).then(|| Place::unpacked(node[last + 1]));
            }
            page = node[last + 1] as usize;
        }
    }

    fn row(&mut self, Place { page, word }: Place) -> &mut [u64] {
        &mut self.pages[page][word..word + ROW]
    }

    /// Whether a row is what was loaded, but for its balance.
    pub(crate) fn is_right(&self, Place { page, word }: Place) -> bool {
        let row = &self.pages[page][word..word + ROW];
        FILLER.into_iter().all(|index| row[index] == filler(row[KEY], index))
            && Place::of_row(row[KEY] as usize / 2).packed() == Place { page, word }.packed()
    }

    /// Adds to a row's balance, once the log has it.
    #[inline(never)]
    pub(crate) fn update(&mut self, place: Place, amount: u64) {
        let number = self.records;
        self.records += 1;
        let Place { page, word } = place;
        let row = &mut self.pages[page][word..word + ROW];
        let (before, after) = (row[BALANCE], row[BALANCE].wrapping_add(amount));
        let record = &mut self.log[number % RECORDS * RECORD..][..RECORD];
        record[..4].copy_from_slice(&[number as u64, place.packed(), before, after]);
        record[4..].copy_from_slice(&row[FILLER]);
        row[BALANCE] = after;
    }

    /// Takes the updates that the log has back, and looks at all rows and leaves: how many of these and of the log's
    /// records are not what they have to be. Keys that no row has are not found.
    pub(crate) fn wrong(&mut self) -> u64 {
        let mut wrong = 0;
        for number in (0..self.records).rev().take(RECORDS) {
            let at = number % RECORDS * RECORD;
            let [said, place, before, after] = core::array::from_fn(|index| self.log[at + index]);
            let row = self.row(Place::unpacked(place));
            wrong += u64::from(said != number as u64 || row[BALANCE] != after);
            row[BALANCE] = before;
        }
        let is_complete = self.records <= RECORDS;
        let (mut page, mut row) = (self.first_leaf, 0);
        loop {
            let [count, level, right] = [COUNT, LEVEL, RIGHT].map(|word| self.pages[page][word]);
            wrong += u64::from(level != 0);
            for index in 0..count as usize {
                let at = HEAD + 2 * index;
                let [key, place] = [at, at + 1].map(|word| self.pages[page][word]);
                let place = Place::unpacked(place);
                let is_taken_back = self.row(place)[BALANCE] == 0 || !is_complete;
                let is_found = key == self.key(row) && self.is_right(place) && is_taken_back;
                wrong += u64::from(!is_found);
                row += 1;
            }
            if right == NONE {
                break;
            }
            page = right as usize;
        }
        let absent = (0..=self.rows()).step_by(self.rows / 16);
        wrong += absent.filter(|row| self.find(2 * row).is_some()).count() as u64;
        wrong + u64::from(row != self.rows())
    }
}
