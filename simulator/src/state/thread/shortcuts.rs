//! Host-side shortcuts of one thread: translations and decoded blocks that were found before.
//!
//! A shortcut is not architecture. It holds only answers that the modelled TLB of the core would give
//! again, and none of it is found any more once that TLB has lost an entry, so a run with it and a run without it
//! are the same run. Entries are tagged with a small number for the state that the answer depends on
//! (MSR, LPCR, LPIDR, PIDR, ...): coming back to a state finds its entries still there. A state gets a new number
//! when the TLB has lost an entry: writing over all entries each time took a twentieth of a start of Linux.

use crate::state::memory::Offset;

/// Bytes that one entry covers: the smallest page.
pub const PAGE_LOG2: u32 = 12;
const PAGE_MASK: u64 = (1 << PAGE_LOG2) - 1;
const ENTRIES: usize = 1024;
const BLOCKS: usize = 4096;
/// States that are known at a time.
const CONTEXTS: usize = 64;

/// Everything that a translation depends on, besides tables in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Context {
    /// MSR\[HV, PR, IR, DR\].
    pub state: u64,
    /// LPCR.
    pub lpcr: u64,
    /// Version of the SLB, where it translates.
    pub segments: u64,
    /// LPIDR and PIDR.
    pub lpid_pid: u64,
    /// AMR and IAMR.
    pub keys: [u64; 2],
    /// HRMOR and PTCR.
    pub bases: [u64; 2],
    /// SDR1 and RMOR.
    pub own_bases: [u64; 2],
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Effective page address with the context number in the low bits.
    tag: u64,
    offset: Offset,
}

/// No context has this number, and neither has a thread that entered none.
const EMPTY: Entry = Entry { tag: PAGE_MASK, offset: 0 };

/// The shortcuts for one kind of access.
#[derive(Clone, Debug)]
pub struct Pages {
    entries: Box<[Entry; ENTRIES]>,
    /// Number of the context that the thread is in, if it may be quick.
    context: u64,
    /// The same, if accesses go the slow way only to be recorded.
    recorded: u64,
}

impl Default for Pages {
    fn default() -> Self {
        Self { entries: Box::new([EMPTY; ENTRIES]), context: 0, recorded: 0 }
    }
}

impl Pages {
    /// The place in memory of `bytes` at `address`, if known and within one page.
    #[inline]
    #[must_use]
    pub fn find(&self, address: u64, bytes: u64) -> Option<Offset> {
        self.find_in(self.context, address, bytes)
    }

    /// The same on the slow way.
    #[inline]
    #[must_use]
    pub fn find_recorded(&self, address: u64, bytes: u64) -> Option<Offset> {
        self.find_in(self.recorded, address, bytes)
    }

    #[inline(always)]
    fn find_in(&self, context: u64, address: u64, bytes: u64) -> Option<Offset> {
        let entry = &self.entries[(address >> PAGE_LOG2) as usize % ENTRIES];
        // The page of the last byte: if it is not that of the first, it has another entry.
        let last = address.wrapping_add(bytes - 1);
        (entry.tag == (last & !PAGE_MASK | context))
            .then(|| entry.offset + (address & PAGE_MASK) as usize)
    }

    /// Remembers that the page of `address` lies at `page` in memory.
    pub fn insert(&mut self, address: u64, page: Offset) {
        let context = self.context | self.recorded;
        if context != 0 {
            self.entries[(address >> PAGE_LOG2) as usize % ENTRIES] =
                Entry { tag: address & !PAGE_MASK | context, offset: page };
        }
    }

    fn clear(&mut self) {
        self.entries.fill(EMPTY);
    }
}

/// A decoded block that was found before.
#[derive(Clone, Copy, Debug)]
struct BlockEntry {
    address: u64,
    /// Context number and mode; 0 is never used.
    tag: u32,
    block: u32,
}

/// All shortcuts of a thread.
#[derive(Clone, Debug)]
pub struct Shortcuts {
    /// Loads.
    pub read: Pages,
    /// Stores; the frames still have to be looked at for what a store must look after.
    pub write: Pages,
    /// Fetches of instructions that no block begins with yet.
    pub fetch: Pages,
    blocks: Box<[BlockEntry; BLOCKS]>,
    block_tag: u32,
    contexts: Vec<Context>,
    /// Numbers below those of the contexts: entries with them may be left.
    used: u64,
    /// Generation of the TLB and of the blocks that the shortcuts were taken from.
    generation: (u64, u64),
}

impl Default for Shortcuts {
    fn default() -> Self {
        let empty = BlockEntry { address: 0, tag: 0, block: 0 };
        Self {
            read: Pages::default(),
            write: Pages::default(),
            fetch: Pages::default(),
            blocks: Box::new([empty; BLOCKS]),
            block_tag: 0,
            contexts: Vec::new(),
            used: 0,
            generation: (0, 0),
        }
    }
}

impl Shortcuts {
    /// Enters the state that `context` describes, with instructions decoded in `mode`. Shortcuts taken
    /// from an older TLB or older blocks are dropped.
    pub fn enter(&mut self, context: Context, mode: u16, generation: (u64, u64)) {
        if generation != self.generation {
            self.generation = generation;
            self.clear();
        }
        let number = self.number(context);
        for pages in [&mut self.read, &mut self.write, &mut self.fetch] {
            pages.context = number;
            pages.recorded = 0;
        }
        // A number has twelve bits.
        self.block_tag = (number as u32) << 16 | u32::from(mode);
    }

    /// Stays in the state that was entered, but without shortcuts for loads and stores.
    pub fn bypass_pages(&mut self) {
        for pages in [&mut self.read, &mut self.write] {
            pages.context = 0;
            pages.recorded = 0;
        }
    }

    /// Stays in the state that was entered, but loads and stores go the slow way, where they are
    /// recorded.
    pub fn record_pages(&mut self) {
        for pages in [&mut self.read, &mut self.write] {
            pages.recorded = std::mem::take(&mut pages.context);
        }
    }

    /// The small number of a context, at least 1, at most a page offset.
    fn number(&mut self, context: Context) -> u64 {
        let known = self.contexts.iter().position(|other| *other == context);
        let index = known.unwrap_or_else(|| {
            if self.contexts.len() == CONTEXTS {
                self.clear();
            }
            self.contexts.push(context);
            self.contexts.len() - 1
        });
        self.used + index as u64 + 1
    }

    /// Forgets all contexts; their numbers are not used again while there are entries with them.
    fn clear(&mut self) {
        self.used += self.contexts.len() as u64;
        self.contexts.clear();
        if self.used + CONTEXTS as u64 >= PAGE_MASK {
            self.used = 0;
            self.forget();
        }
    }

    /// Drops every shortcut and stays in the state that was entered.
    pub fn forget(&mut self) {
        self.read.clear();
        self.write.clear();
        self.fetch.clear();
        for entry in self.blocks.iter_mut() {
            entry.tag = 0;
        }
    }

    /// The decoded block at `address` in the state that was entered, if known.
    #[inline]
    #[must_use]
    pub fn find_block(&self, address: u64) -> Option<u32> {
        let entry = &self.blocks[(address >> 2) as usize % BLOCKS];
        (entry.address == address && entry.tag == self.block_tag).then_some(entry.block)
    }

    /// The decoded block that was at `address` last, in whatever state and with whatever TLB: another one may be there
    /// now.
    #[inline]
    #[must_use]
    pub fn last_block(&self, address: u64) -> Option<u32> {
        let entry = &self.blocks[(address >> 2) as usize % BLOCKS];
        (entry.address == address).then_some(entry.block)
    }

    /// Remembers the decoded block at `address`.
    pub fn insert_block(&mut self, address: u64, block: u32) {
        self.blocks[(address >> 2) as usize % BLOCKS] =
            BlockEntry { address, tag: self.block_tag, block };
    }
}

#[cfg(test)]
mod tests {
    use super::{Context, Shortcuts};

    #[test]
    fn nothing_is_found_that_was_remembered_before_the_tlb_lost_an_entry() {
        let mut shortcuts = Shortcuts::default();
        let contexts = [0, 1].map(|state| Context { state, ..Context::default() });
        for generation in 0..10_000 {
            // Its own place, so that later ones do not overwrite it, and one for each context.
            let address = 0x1000 * (generation % 1000);
            for context in contexts {
                shortcuts.enter(context, 0, (generation, 0));
                assert_eq!(shortcuts.read.find(address, 8), None, "{generation}");
                assert_eq!(shortcuts.fetch.find(address, 4), None, "{generation}");
                assert_eq!(shortcuts.find_block(address), None, "{generation}");
            }
            shortcuts.read.insert(address, 0x2000);
            shortcuts.fetch.insert(address, 0x2000);
            shortcuts.insert_block(address, 7);
            assert_eq!(shortcuts.read.find(address + 8, 8), Some(0x2008));
            assert_eq!(shortcuts.find_block(address), Some(7));
        }
    }
}
