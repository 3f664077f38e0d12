//! The micro-partition prefetch engine of a core: what it was told to do, and how far it is.
//!
//! All threads of a core, and so all its subcores, share one engine. It logs which lines the core's caches have, into a
//! table in memory, and fetches the lines of a table. A table holds addresses and no data. Its format is not published;
//! ours is big-endian doublewords, each the real address of a line with flags in its low bits ([`entry`]), from the
//! line that was used longest ago to the one used last, so that a fetch in order restores the order of use.

use std::collections::VecDeque;

use arch::address::RealAddress;
use arch::bits::Field;
use serde::{Deserialize, Serialize};

/// Bytes that the engine reads or writes at a time: a line of the caches.
pub const BLOCK_BYTES: u64 = 128;
/// Bytes of a doubleword of the table.
pub const ENTRY_BYTES: u64 = 8;
/// Entries in a block.
pub const BLOCK_ENTRIES: u64 = BLOCK_BYTES / ENTRY_BYTES;

/// Flags of a table's entries. The line's address is the rest.
pub mod entry {
    /// It names a line. The first entry without it ends the table.
    pub const VALID: u64 = 1;
    /// It is the last one.
    pub const LAST: u64 = 2;
    /// The line was in the L3 alone, and comes back there.
    pub const L3: u64 = 4;
    /// The bits that say where the line lies.
    pub const ADDRESS: u64 = !0x7F;
}

/// Which register `logmpp` takes its operand from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Encoding {
    /// RB, as the patch of 2014 wrote it.
    #[serde(rename = "2014-patch")]
    Patch,
    /// RS, as what is said of the patch's end implies.
    #[default]
    #[serde(rename = "corrected")]
    Corrected,
}

/// What the description says of the engine, see `[prefetch_engine]` there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rules {
    /// Where `logmpp` has its operand.
    pub encoding: Encoding,
    /// Reading MPPR shows what is under way.
    pub shows_status: bool,
    /// A table that is not aligned begins where it would be; otherwise the machine stops.
    pub rounds_down: bool,
    /// A command ends what the engine is at; otherwise the machine stops where no source says what happens.
    pub newest_wins: bool,
    /// First and last bit of the rate in MPPR.
    pub rate: (u32, u32),
    /// By rate, the cycles from one line to the next, at least.
    pub intervals: Vec<u64>,
}

impl Rules {
    /// The cycles from one line to the next that a value of MPPR asks for, if it has a rate that there is.
    #[must_use]
    pub fn interval(&self, mppr: u64) -> Option<u64> {
        let (first, last) = self.rate;
        self.intervals.get(Field::new(first, last).get(mppr) as usize).copied()
    }
}

/// What engines did since power-on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Work {
    /// Logs that were begun.
    pub logs: u64,
    /// Of these, logs that were ended before they were whole.
    pub logs_aborted: u64,
    /// Lines that logs named.
    pub logged: u64,
    /// Blocks of tables that were written.
    pub blocks_written: u64,
    /// Fetches that were begun.
    pub fetches: u64,
    /// Of these, fetches that were ended before the table's end, by software or by another fetch.
    pub fetches_aborted: u64,
    /// Blocks of tables that were read.
    pub blocks_read: u64,
    /// Lines that were brought into a cache from beyond the core's own.
    pub fetched: u64,
    /// Lines that the core's caches had already.
    pub found: u64,
    /// Of these, lines of the L3 that it brought into the L2.
    pub from_l3: u64,
    /// Entries that name no line of memory.
    pub nowhere: u64,
}

impl Work {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.with(other, u64::wrapping_add)
    }

    /// What came since it was `before`.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        self.with(before, u64::wrapping_sub)
    }

    fn with(self, other: Self, join: fn(u64, u64) -> u64) -> Self {
        Self {
            logs: join(self.logs, other.logs),
            logs_aborted: join(self.logs_aborted, other.logs_aborted),
            logged: join(self.logged, other.logged),
            blocks_written: join(self.blocks_written, other.blocks_written),
            fetches: join(self.fetches, other.fetches),
            fetches_aborted: join(self.fetches_aborted, other.fetches_aborted),
            blocks_read: join(self.blocks_read, other.blocks_read),
            fetched: join(self.fetched, other.fetched),
            found: join(self.found, other.found),
            from_l3: join(self.from_l3, other.from_l3),
            nowhere: join(self.nowhere, other.nowhere),
        }
    }

    /// Bytes that went to memory or came from beyond the core's caches.
    #[must_use]
    pub fn bytes(self) -> u64 {
        (self.blocks_written + self.blocks_read + self.fetched) * BLOCK_BYTES
    }
}

/// A log that is under way.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Log {
    /// Where the table begins.
    pub table: RealAddress,
    /// Its bytes: all are written, those behind the last line with zeros.
    pub bytes: u64,
    /// Whether lines of the L3 are in it.
    pub has_l3: bool,
    /// Its entries, once the caches were looked through. Without the timing model nobody knows any.
    pub entries: Option<Vec<u64>>,
    /// Bytes that are written.
    pub written: u64,
    /// The cycle at which the next block is due.
    pub due: u64,
}

impl Log {
    /// One that begins at cycle `now`.
    #[must_use]
    pub fn new(table: RealAddress, bytes: u64, has_l3: bool, now: u64) -> Self {
        Self { table, bytes, has_l3, entries: None, written: 0, due: now }
    }

    /// The next block, and where it is to be written.
    #[must_use]
    pub fn block(&self) -> (RealAddress, [u8; BLOCK_BYTES as usize]) {
        let entries = self.entries.as_deref().unwrap_or_default();
        let first = (self.written / ENTRY_BYTES) as usize;
        let mut block = [0; BLOCK_BYTES as usize];
        let words = block.chunks_exact_mut(ENTRY_BYTES as usize);
        for (word, value) in words.zip(entries.iter().skip(first)) {
            word.copy_from_slice(&value.to_be_bytes());
        }
        (self.table.wrapping_add(self.written), block)
    }
}

/// A fetch that is under way.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Fetch {
    /// Where the table begins.
    pub table: RealAddress,
    /// Cycles from one line to the next, at least.
    pub interval: u64,
    /// Bytes of the table whose lines were asked for.
    pub read: u64,
    /// The block behind these has come, or is on its way.
    pub has_block: bool,
    /// The cycle at which the next block is due.
    pub due: u64,
    /// The thread that asked for it.
    pub thread: usize,
    /// The partition of that thread, whose lines they are taken for.
    pub side: Option<u32>,
    /// When the lines come that are on their way, in order.
    pub under_way: VecDeque<u64>,
}

impl Fetch {
    /// One that begins at cycle `now`, for nobody yet.
    #[must_use]
    pub fn new(table: RealAddress, interval: u64, now: u64) -> Self {
        let (thread, side, under_way) = (0, None, VecDeque::new());
        Self { table, interval, read: 0, has_block: false, due: now, thread, side, under_way }
    }

    /// The cycle from `at` on at which fewer than `most` lines are on their way.
    pub fn pace(&mut self, at: u64, most: u64) -> u64 {
        let mut at = at;
        while self.under_way.len() as u64 >= most.max(1) {
            at = at.max(self.under_way.pop_front().unwrap_or_default());
        }
        at
    }
}

/// The engine of a core.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Engine {
    /// What it logs.
    pub log: Option<Log>,
    /// What it fetches.
    pub fetch: Option<Fetch>,
    /// What it did.
    pub work: Work,
}

impl Engine {
    /// The cycle at which it has something to do.
    #[must_use]
    pub fn due(&self) -> u64 {
        let log = self.log.as_ref().map_or(u64::MAX, |log| log.due);
        self.fetch.as_ref().map_or(log, |fetch| fetch.due.min(log))
    }

    /// Logs from now on, and nothing else.
    pub fn begin_log(&mut self, log: Log) {
        self.abort_log();
        self.abort_fetch();
        self.work.logs += 1;
        self.log = Some(log);
    }

    /// Ends a log that is under way. What it has written stays written.
    pub fn abort_log(&mut self) {
        self.work.logs_aborted += u64::from(self.log.take().is_some());
    }

    /// Ends a fetch that is under way. Lines on their way still come.
    pub fn abort_fetch(&mut self) {
        self.work.fetches_aborted += u64::from(self.fetch.take().is_some());
    }

    /// Fetches this table from now on, and does nothing else.
    pub fn begin_fetch(&mut self, fetch: Fetch) {
        self.abort_log();
        self.abort_fetch();
        self.work.fetches += 1;
        self.fetch = Some(fetch);
    }
}
