//! Processes: address spaces with data and a program; faults, and a clock that finds pages which nobody needs.

use core::ops::Range;

use arch::hash::second;
use arch::interrupt::{Vector, storage};
use process::{Context, Counted, PageTable, Program, Traffic, Work};
use rt::hash::Segment;
use superpages::{Manager, Mapping, PAGE_LOG2, PAGES};

use crate::memory::{DATA, DATA_BLOCKS, Memory, SPACES};

/// Blocks of an address space: data, and one with the program in its first page.
pub(crate) const BLOCKS: usize = DATA_BLOCKS + 1;
const PROGRAM: usize = DATA;
/// Where an address space is, its place in the segment lookaside buffer, and the virtual segments.
const BASE: u64 = 1 << 40;
const SEGMENT_INDEX: u64 = 2;
const FIRST_VSID: u64 = 0x10_0001;
const VSID_STEP: u64 = 0x2_5CD5;

const READ_WRITE: u64 = second::M | second::N | 2;
const READ_EXECUTE: u64 = second::M | 3;

/// Pages that go at least when somebody needs one, and that are taken out together at most.
const BATCH: usize = 64;

/// All processes, one for each address space.
pub(crate) struct Kernel<'a, M: Manager> {
    spaces: &'a mut [M; SPACES],
    memory: &'a mut Memory,
    context: Context,
    /// Whose segment the processor has.
    current: Option<usize>,
    /// The page of all data that the clock looks at next.
    hand: usize,
    /// Whether a large block goes as a whole.
    whole: bool,
    pub(crate) traffic: Traffic,
    pub(crate) faults: u64,
    /// Pages that lost their frames.
    pub(crate) evicted: u64,
}

const fn segment(space: usize) -> Segment {
    Segment { vsid: FIRST_VSID + VSID_STEP * space as u64, base_log2: PAGE_LOG2 }
}

impl<'a, M: Manager> Kernel<'a, M> {
    /// Processes whose program is at this real address.
    pub(crate) fn new(
        spaces: &'a mut [M; SPACES],
        memory: &'a mut Memory,
        program: u64,
        whole: bool,
    ) -> Self {
        let mut kernel = Self {
            spaces,
            memory,
            context: Context::new(),
            current: None,
            hand: 0,
            whole,
            traffic: Traffic::default(),
            faults: 0,
            evicted: 0,
        };
        for space in 0..SPACES {
            let (manager, mut table, _) = kernel.parts(space);
            let mapping = Mapping::new(program, READ_EXECUTE);
            let entered = manager.enter(&mut table, PROGRAM, mapping, false);
            entered.unwrap_or_else(|refusal| panic!("the program of {space}: {refusal:?}"));
        }
        kernel
    }

    /// A space's manager and table, and what else the kernel has.
    fn parts(&mut self, space: usize) -> (&mut M, Counted<'_>, &mut Memory) {
        let table = Counted { table: PageTable::own(segment(space)), traffic: &mut self.traffic };
        (&mut self.spaces[space], table, self.memory)
    }

    /// Lets a process do a piece of work on so many addresses from a page on, `stride` bytes apart, and serves its
    /// faults: the sum of what it has loaded.
    pub(crate) fn work(
        &mut self,
        space: usize,
        work: Work,
        page: usize,
        [count, stride, number]: [u64; 3],
    ) -> u64 {
        if self.current != Some(space) {
            process::switch(segment(space), BASE, SEGMENT_INDEX);
            self.current = Some(space);
        }
        let address = BASE + ((page as u64) << PAGE_LOG2);
        let program = Program(BASE + ((PROGRAM as u64) << PAGE_LOG2));
        program.begin(&mut self.context, work, [address, count, stride, number]);
        loop {
            let vector = self.context.run();
            match vector {
                Vector::SystemCall => return Program::sum(&self.context),
                Vector::DataStorage => self.fault(space, rt::data_fault()),
                Vector::InstructionStorage => {
                    let (pc, cause) = (self.context.pc, self.context.msr);
                    assert!(cause & storage::NO_TRANSLATION != 0, "fetch from {pc:#x}: {cause:#x}");
                    self.fault(space, (pc, cause));
                }
                Vector::Decrementer => rt::set_decrementer(rt::NEVER),
                _ => panic!("{} of process {space} at {:#x}", vector.name(), self.context.pc),
            }
        }
    }

    fn fault(&mut self, space: usize, (address, cause): (u64, u64)) {
        self.faults += 1;
        let page = (address.wrapping_sub(BASE) >> PAGE_LOG2) as usize;
        let (manager, mut table, _) = self.parts(space);
        let served = match manager.fault(&mut table, page) {
            Ok(false) => {
                assert!(page < DATA, "no page at {address:#x}, accessed at {:#x}", self.context.pc);
                let (real, is_full) = self.frame(space, page);
                let (manager, mut table, _) = self.parts(space);
                manager.enter(&mut table, page, Mapping::new(real, READ_WRITE), is_full)
            }
            other => other.map(|_| ()),
        };
        served.unwrap_or_else(|refusal| {
            panic!("page {page} of process {space}, {cause:#x}: {refusal:?}")
        });
    }

    /// A frame with what a page has. If there is none, other pages lose theirs.
    fn frame(&mut self, space: usize, page: usize) -> (u64, bool) {
        loop {
            if let Some(found) = self.memory.bring(space, page) {
                return found;
            }
            self.reclaim();
        }
    }

    /// Takes frames from pages that were not accessed since the clock has looked at them last.
    fn reclaim(&mut self) {
        let end = self.evicted + BATCH as u64;
        while self.evicted < end {
            let (space, page) = (self.hand / DATA, self.hand % DATA);
            let (pages, next) = self.unneeded(space, page);
            self.hand = (space * DATA + next) % (SPACES * DATA);
            let (manager, mut table, memory) = self.parts(space);
            let mut evicted = 0;
            manager.remove(&mut table, pages, |page, mapping, marks| {
                memory.evict(space, page, mapping.real(), marks.changed);
                evicted += 1;
            });
            self.evicted += evicted;
        }
    }

    /// The pages from this one on, in its block, which were not accessed since the clock has looked at them last; and
    /// the first that it has not looked at now.
    fn unneeded(&mut self, space: usize, page: usize) -> (Range<usize>, usize) {
        let whole = self.whole;
        let (manager, mut table, _) = self.parts(space);
        let block_end = (page / PAGES + 1) * PAGES;
        // The first page that goes makes a block small.
        let most = match manager.is_large(page) {
            true if whole && page.is_multiple_of(PAGES) => block_end,
            true => page + 1,
            false => block_end.min(page + BATCH),
        };
        let mut is_needed =
            |page: usize| manager.mapping(page).is_none() || manager.age(&mut table, page);
        match (page..most).find(|page| is_needed(*page)) {
            Some(needed) => (page..needed, needed + 1),
            None => (page..most, most),
        }
    }

    /// What the managers of all spaces have done.
    pub(crate) fn counts(&self) -> [superpages::Counts; SPACES] {
        core::array::from_fn(|space| self.spaces[space].counts())
    }

    pub(crate) const fn memory(&self) -> &Memory {
        self.memory
    }
}
