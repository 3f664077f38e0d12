//! An oracle of hashed translation: at no instant does an address have pages of two actual sizes under one base
//! size, in the table and in the TLBs together, whether or not anybody touches the address.
//!
//! Hardware answers such a state with a machine check where it meets it, and with anything where it does not. Software
//! that takes an entry out, invalidates its page everywhere and only then writes the next is never named.
//! Entries of another *base* size are legal: Linux leaves them behind. Source:
//! `docs/facts/hashed-translation.md#entry-form`.
//!
//! It is an observer: it never changes the machine. It learns a partition's table when a thread of it first
//! accesses memory, or returns into it, reads the table once, and looks at each store into it from then on.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use arch::hash::{EntryForm, GROUP_ENTRIES, GROUP_LOG2, Table};
use arch::registers::spr::Spr;

use crate::exec::Mode;
use crate::mmu::hash::{Page, page_at, table_of};
use crate::state::memory::{Memory, Offset};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::tlb::{Segment, Space};
use crate::trace::Observer;

/// Findings that are kept: the first ones say what is wrong.
const FINDINGS_MAX: usize = 100;
/// log2 of the bytes of an entry.
const ENTRY_LOG2: u32 = GROUP_LOG2 - GROUP_ENTRIES.ilog2();

/// Two sizes of pages at one address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Coexistence {
    /// Instructions that the thread had completed that stored the entry.
    pub completed: u64,
    /// The thread's index.
    pub thread: usize,
    /// The entry that was stored.
    pub page: Page,
    /// log2 of the other page's bytes.
    pub other_log2: u32,
    /// The core whose TLB has the other page; without it the table has.
    pub core: Option<usize>,
}

impl fmt::Display for Coexistence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { completed, thread, page, other_log2, core } = self;
        let Segment { lpid, vsid, log2, base_log2 } = page.segment;
        let (start, size) = (page.offset, page.log2);
        write!(
            f,
            "thread {thread}, instruction {completed}, LPID {lpid}: VSID {vsid:#x} (segment of 2^{log2}, base pages of \
             2^{base_log2}): the entry for {start:#x} has a page of 2^{size} bytes, and "
        )?;
        match core {
            Some(core) => write!(f, "the TLB of core {core} one of 2^{other_log2}"),
            None => write!(f, "the table one of 2^{other_log2}"),
        }
    }
}

/// A hashed page table, and the pages of its valid entries.
#[derive(Clone, Debug)]
struct Known {
    table: Table,
    form: EntryForm,
    memory: Range<Offset>,
    entries: BTreeMap<Offset, Page>,
    /// How many entries are of the page: its segment without the LPID, size and start.
    pages: BTreeMap<(Segment, u32, u64), u32>,
}

/// What says which table translates for a thread, but for the partition table itself.
type Asked = [u64; 4];

/// Watches the hashed page tables of a machine.
#[derive(Clone, Debug, Default)]
pub struct PageSizes {
    /// By LPID.
    tables: BTreeMap<u32, Known>,
    /// By thread: what it was when its table was last asked for.
    asked: BTreeMap<usize, Asked>,
    findings: Vec<Coexistence>,
}

impl PageSizes {
    /// What is wrong, in the order of time; at most 100 are kept.
    #[must_use]
    pub fn findings(&self) -> &[Coexistence] {
        &self.findings
    }

    fn learn(&mut self, thread: &Thread, shared: &Shared) {
        let Some((lpid, table)) = table_of(thread, shared) else { return };
        if self.tables.get(&lpid).is_some_and(|known| known.table == table) {
            return;
        }
        let form = shared.processor.facts().hashed_entry;
        let Some(known) = Known::new(table, form, &shared.memory) else { return };
        let places = known.memory.clone().step_by(1 << ENTRY_LOG2);
        self.tables.insert(lpid, known);
        for place in places {
            self.look(thread, shared, lpid, place);
        }
    }

    fn find(&mut self, thread: &Thread, page: Page, other_log2: u32, core: Option<usize>) {
        if self.findings.len() == FINDINGS_MAX {
            return;
        }
        let completed = thread.completed_now();
        let thread = thread.index;
        self.findings.push(Coexistence { completed, thread, page, other_log2, core });
    }

    /// Looks at the entry at `place`, which may have changed.
    fn look(&mut self, thread: &Thread, shared: &Shared, lpid: u32, place: Offset) {
        let Some(known) = self.tables.get_mut(&lpid) else { return };
        let found = known.update(&shared.memory, lpid, place);
        let page = known.entries.get(&place).copied();
        for (page, other_log2) in found {
            self.find(thread, page, other_log2, None);
        }
        let Some(page) = page else { return };
        for (core, state) in shared.cores.iter().enumerate() {
            let space = Space::Virtual(page.segment);
            if let Some(other_log2) = state.tlb.other_size(space, page.offset, page.log2) {
                self.find(thread, page, other_log2, Some(core));
            }
        }
    }
}

impl Known {
    /// `None` if the table is not in memory.
    fn new(table: Table, form: EntryForm, memory: &Memory) -> Option<Self> {
        let bytes = 1usize.checked_shl(table.bytes_log2)?;
        let first = memory.locate(table.base)?;
        memory.locate(table.base.wrapping_add(bytes as u64 - 1))?;
        let (entries, pages) = (BTreeMap::new(), BTreeMap::new());
        Some(Self { table, form, memory: first..first + bytes, entries, pages })
    }

    /// Reads the entry at `place` again. If it is valid, and other sizes are at its addresses: it, with each size.
    fn update(&mut self, memory: &Memory, lpid: u32, place: Offset) -> Vec<(Page, u32)> {
        if let Some(page) = self.entries.remove(&place) {
            let key = (page.segment, page.log2, page.offset);
            match self.pages.get_mut(&key) {
                Some(count) if *count > 1 => *count -= 1,
                _ => drop(self.pages.remove(&key)),
            }
        }
        let Some(page) = page_at(memory, self.form, self.memory.start, place, lpid) else {
            return Vec::new();
        };
        self.entries.insert(place, page);
        *self.pages.entry((page.segment, page.log2, page.offset)).or_default() += 1;
        let sizes = Space::Virtual(page.segment).page_sizes_log2().into_iter();
        let others = sizes.filter(|&log2| log2 != page.log2 && self.has(page, log2));
        others.map(|log2| (page, log2)).collect()
    }

    /// Whether a page of 2^`log2` bytes has an address in common with `page`.
    fn has(&self, page: Page, log2: u32) -> bool {
        let first = page.offset >> log2 << log2;
        let last = page.offset + ((1 << page.log2) - 1);
        let key = |start| (page.segment, log2, start);
        self.pages.range(key(first)..=key(last)).next().is_some()
    }
}

impl Observer for PageSizes {
    const SEES_INSTRUCTIONS: bool = false;
    const SEES_STORES: bool = true;

    fn stored(&mut self, thread: &Thread, shared: &Shared) {
        let ptcr = shared.cores[thread.core].spr(Spr::Ptcr);
        let asked = [thread.msr(), thread.spr(Spr::Lpcr), thread.spr(Spr::Lpidr), ptcr];
        if self.asked.insert(thread.index, asked) != Some(asked) {
            self.learn(thread, shared);
        }
        let stores = thread.accesses.list().iter().filter(|access| access.is_store);
        for access in stores {
            let end = access.offset + access.bytes as usize;
            let places: Vec<_> = self
                .tables
                .iter()
                .filter(|(_, known)| access.offset < known.memory.end && known.memory.start < end)
                .flat_map(|(&lpid, known)| {
                    let first = access.offset.max(known.memory.start) >> ENTRY_LOG2 << ENTRY_LOG2;
                    let all = first..end.min(known.memory.end);
                    all.step_by(1 << ENTRY_LOG2).map(move |place| (lpid, place))
                })
                .collect();
            for (lpid, place) in places {
                self.look(thread, shared, lpid, place);
            }
        }
    }

    fn returned(&mut self, thread: &Thread, shared: &Shared, _: Mode) {
        self.learn(thread, shared);
    }
}
