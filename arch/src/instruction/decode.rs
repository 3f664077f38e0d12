//! From a word to its row.
//!
//! An index made at compile time leads from the primary opcode, and for the crowded primary
//! opcodes from the last eleven bits, to the few neighbouring rows that come into
//! question.

use super::table::{ROWS, TABLE};
use super::{Row, Word};

/// The rows `first..first + count` of the table.
#[derive(Clone, Copy)]
struct Candidates {
    first: u16,
    count: u16,
}

impl Candidates {
    const NONE: Self = Self { first: 0, count: 0 };

    /// These and `row`, which must be the next one in the table.
    const fn and(self, row: usize) -> Self {
        if self.count == 0 {
            return Self { first: row as u16, count: 1 };
        }
        let next = (self.first + self.count) as usize;
        assert!(row == next, "rows with the same opcode must be neighbours in the table");
        Self { first: self.first, count: self.count + 1 }
    }
}

/// Bits 21 to 31, in which every extended opcode lies that tells more than a few instructions apart.
const EXTENDED: u32 = 0x7FF;

/// Primary opcodes that are told apart by them.
const CROWDED: [u32; 8] = [4, 19, 31, 57, 59, 60, 61, 63];

const fn crowded_position(primary: u32) -> Option<usize> {
    match primary {
        4 => Some(0),
        19 => Some(1),
        31 => Some(2),
        57 => Some(3),
        59 => Some(4),
        60 => Some(5),
        61 => Some(6),
        63 => Some(7),
        _ => None,
    }
}

static BY_PRIMARY: [Candidates; 64] = index_by_primary();
static BY_EXTENDED: [[Candidates; 2048]; CROWDED.len()] = [
    index_by_extended(CROWDED[0]),
    index_by_extended(CROWDED[1]),
    index_by_extended(CROWDED[2]),
    index_by_extended(CROWDED[3]),
    index_by_extended(CROWDED[4]),
    index_by_extended(CROWDED[5]),
    index_by_extended(CROWDED[6]),
    index_by_extended(CROWDED[7]),
];

const fn index_by_primary() -> [Candidates; 64] {
    let mut index = [Candidates::NONE; 64];
    let mut row = 0;
    while row < ROWS.len() {
        let primary = Word(ROWS[row].value).primary();
        if crowded_position(primary).is_none() {
            index[primary as usize] = index[primary as usize].and(row);
        }
        row += 1;
    }
    index
}

const fn index_by_extended(primary: u32) -> [Candidates; 2048] {
    let mut index = [Candidates::NONE; 2048];
    let mut row = 0;
    while row < ROWS.len() {
        let (mask, value) = (ROWS[row].mask, ROWS[row].value);
        if Word(value).primary() == primary {
            // Every value of the extended opcode bits that this row leaves free.
            let free = !mask & EXTENDED;
            let mut subset = 0;
            loop {
                let key = (value & EXTENDED | subset) as usize;
                index[key] = index[key].and(row);
                if subset == free {
                    break;
                }
                subset = (subset.wrapping_sub(free)) & free;
            }
        }
        row += 1;
    }
    index
}

/// The instruction that `word` is; `None` if it is none that the table knows.
///
/// Reserved bits and invalid forms do not matter here, nor does the processor: see
/// [`Row::is_invalid_form`] and [`Row::processors`].
#[inline]
pub fn decode(word: Word) -> Option<&'static Row> {
    let candidates = match crowded_position(word.primary()) {
        Some(position) => BY_EXTENDED[position][word.field(21, 31) as usize],
        None => BY_PRIMARY[word.primary() as usize],
    };
    let first = candidates.first as usize;
    TABLE[first..first + candidates.count as usize].iter().find(|row| row.matches(word))
}
