//! Processes: address spaces with a file, a heap and loose pages; faults, fork, exec, map and unmap, exit.
//!
//! The pages that exec and a fault enter besides the one that is wanted, and the whole blocks among them, follow
//! FreeBSD's `load_section` (`sys/kern/imgact_elf.c`), `vm_map_pmap_enter` (`sys/vm/vm_map.c`) and `vm_fault_prefault`
//! (`sys/vm/vm_fault.c`).

use core::ops::Range;

use arch::hash::second;
use arch::interrupt::{Vector, storage};
use process::{Context, Counted, PageTable, Program, Traffic, Work};
use rt::hash::Segment;
use superpages::{Manager, Mapping, PAGE_LOG2, PAGES};

use crate::memory::{BLOCKS, FILE_PAGES, Memory, PROGRAM, SPACES, THREADS};

/// Pages that are loose: the stack, and what is mapped and unmapped.
pub(crate) const LOOSE: Range<usize> = 2 * PAGES..3 * PAGES;
/// Pages of the heap.
pub(crate) const HEAP: Range<usize> = 3 * PAGES..4 * PAGES;

/// Where an address space is.
const BASE: u64 = 1 << 40;
/// Its place in the segment lookaside buffer.
const SEGMENT_INDEX: u64 = 2;
/// Before the first virtual segment of a process. Each address space gets one of its own.
const FIRST_VSID: u64 = 0x10_0001;
/// What is between two of them, so that their pages do not meet in the same groups.
const VSID_STEP: u64 = 0x2_5CD5;

const READ_WRITE: u64 = second::M | second::N | 2;
const READ: u64 = second::M | second::N | 3;
const READ_EXECUTE: u64 = second::M | 3;

/// Pages of a file that a mapping enters at once, a whole block counting as one: `MAX_INIT_PT`.
const AT_ONCE: usize = 96;
/// Pages of a file on either side of the one that is missed: `PFBAK` and `PFFOR`.
const AROUND: usize = 4;

/// Where exec puts the file, and what it enters of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exec {
    /// All of it, at an address that is congruent with its memory; whole blocks at once where superpages are on:
    /// `MAP_PREFAULT`.
    Blocks,
    /// All of it, 64 KiB further on, as a linker may leave it, where no block can be large.
    Apart,
    /// As [`Exec::Blocks`], but no more than mmap enters of a file: `MAP_PREFAULT_PARTIAL`.
    Mapped,
    /// As much, and pages alone.
    Pages,
}

impl Exec {
    /// The page of an address space at which the file begins.
    const fn first_page(self) -> usize {
        match self {
            Self::Blocks | Self::Mapped | Self::Pages => 0,
            Self::Apart => 16,
        }
    }

    /// How many of the file's pages it enters.
    const fn pages(self) -> usize {
        match self {
            Self::Blocks | Self::Apart => FILE_PAGES,
            Self::Mapped | Self::Pages => AT_ONCE,
        }
    }
}

/// A thread's processes, at most one for each of its address spaces.
pub(crate) struct Kernel<'a, M: Manager> {
    spaces: &'a mut [M; SPACES],
    /// The number of the first one, which no other thread's space has.
    first_space: usize,
    segments: [Segment; SPACES],
    memory: Memory,
    context: Context,
    /// Whose segment the processor has.
    current: Option<usize>,
    next_vsid: u64,
    exec: Exec,
    pub(crate) traffic: Traffic,
    pub(crate) faults: u64,
    pub(crate) copies: u64,
}

impl<'a, M: Manager> Kernel<'a, M> {
    pub(crate) fn new(
        thread: usize,
        spaces: &'a mut [M; SPACES],
        memory: Memory,
        exec: Exec,
    ) -> Self {
        Self {
            spaces,
            first_space: thread * SPACES,
            segments: [Segment { vsid: 0, base_log2: PAGE_LOG2 }; SPACES],
            memory,
            context: Context::new(),
            current: None,
            next_vsid: FIRST_VSID + thread as u64 * VSID_STEP,
            exec,
            traffic: Traffic::default(),
            faults: 0,
            copies: 0,
        }
    }

    /// A space's manager and table, and what else the kernel has.
    fn parts(&mut self, space: usize) -> (&mut M, Counted<'_>, Memory) {
        let table = PageTable::own(self.segments[space]);
        let table = Counted { table, traffic: &mut self.traffic };
        (&mut self.spaces[space], table, self.memory)
    }

    /// Gives a space another virtual segment.
    fn renew(&mut self, space: usize) {
        self.segments[space].vsid = self.next_vsid;
        let next = |vsid| (vsid + THREADS as u64 * VSID_STEP) % (1 << 24);
        self.next_vsid = next(self.next_vsid);
        if self.next_vsid == rt::hash::VSID {
            self.next_vsid = next(self.next_vsid);
        }
        if self.current == Some(space) {
            self.current = None;
        }
    }

    fn switch(&mut self, space: usize) {
        if self.current != Some(space) {
            process::switch(self.segments[space], BASE, SEGMENT_INDEX);
            self.current = Some(space);
        }
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
        self.switch(space);
        // What is called begins at a page; data are behind what the file's pages begin with.
        let inside = if work == Work::Call { 0 } else { 8 };
        let address = BASE + ((page as u64) << PAGE_LOG2) + inside;
        let file = BASE + ((self.exec.first_page() as u64) << PAGE_LOG2);
        Program(file + PROGRAM).begin(&mut self.context, work, [address, count, stride, number]);
        loop {
            let vector = self.context.run();
            match vector {
                Vector::SystemCall => return Program::sum(&self.context),
                Vector::DataStorage => {
                    let (address, cause) = rt::data_fault();
                    self.fault(space, address, cause & storage::STORE != 0);
                }
                Vector::InstructionStorage => {
                    let (pc, cause) = (self.context.pc, self.context.msr);
                    assert!(cause & storage::NO_TRANSLATION != 0, "fetch from {pc:#x}: {cause:#x}");
                    self.fault(space, pc, false);
                }
                Vector::Decrementer => rt::set_decrementer(i32::MAX as u64),
                _ => panic!("{} of process {space} at {:#x}", vector.name(), self.context.pc),
            }
        }
    }

    fn fault(&mut self, space: usize, address: u64, is_store: bool) {
        self.faults += 1;
        let page = (address.wrapping_sub(BASE) >> PAGE_LOG2) as usize;
        let pc = self.context.pc;
        let file = self.file();
        let number = self.first_space + space;
        let (manager, mut table, memory) = self.parts(space);
        let served = match manager.mapping(page) {
            Some(mapping) if is_store && !mapping.is_writable() => {
                assert!(page >= LOOSE.start, "store into the file at {address:#x} by {pc:#x}");
                return self.copy_on_write(space, page, mapping.real());
            }
            Some(_) => manager.fault(&mut table, page).map(|has_entry| assert!(has_entry)),
            None if file.contains(&page) => return self.enter_of_file(space, page),
            None if LOOSE.contains(&page) => {
                let mapping = Mapping::new(memory.loose_zeroed(), READ_WRITE);
                manager.enter(&mut table, page, mapping, false)
            }
            None if HEAP.contains(&page) => {
                let (real, is_full) = memory.zeroed(number, page);
                manager.enter(&mut table, page, Mapping::new(real, READ_WRITE), is_full)
            }
            None => panic!("no page at {address:#x}, accessed at {pc:#x}"),
        };
        served.unwrap_or_else(|refusal| panic!("page {page} of process {space}: {refusal:?}"));
    }

    /// The pages that show the file.
    pub(crate) const fn file(&self) -> Range<usize> {
        let first = self.exec.first_page();
        first..first + FILE_PAGES
    }

    /// Enters a page of the file, and those around it that are not mapped.
    fn enter_of_file(&mut self, space: usize, page: usize) {
        let file = self.file();
        let (manager, mut table, memory) = self.parts(space);
        let around = page.saturating_sub(AROUND).max(file.start)..(page + AROUND + 1).min(file.end);
        for page in core::iter::once(page).chain(around) {
            if manager.mapping(page).is_none() {
                let (real, is_full) = memory.of_file(page - file.start);
                let mapping = Mapping::new(real, READ_EXECUTE);
                manager
                    .enter(&mut table, page, mapping, is_full)
                    .unwrap_or_else(|refusal| panic!("page {page} of the file: {refusal:?}"));
            }
        }
    }

    /// The first store into a page since a fork.
    fn copy_on_write(&mut self, space: usize, page: usize, real: u64) {
        let (manager, mut table, memory) = self.parts(space);
        let done = if Memory::is_shared(real) {
            let mapping = Mapping::new(memory.copied(real), READ_WRITE);
            let mut release = memory.release();
            manager.remove(&mut table, page..page + 1, |_, before, _| release.add(before.real()));
            release.end();
            let done = manager.enter(&mut table, page, mapping, false);
            self.copies += 1;
            done
        } else {
            manager.protect(&mut table, page..page + 1, READ_WRITE)
        };
        done.unwrap_or_else(|refusal| panic!("page {page} of process {space}: {refusal:?}"));
    }

    /// Lets an empty space show the file, and enters what exec enters of it.
    pub(crate) fn exec(&mut self, space: usize) {
        self.exit(space);
        self.renew(space);
        let (exec, file) = (self.exec, self.file());
        let (manager, mut table, memory) = self.parts(space);
        let (mut first, mut rest) = (file.start, exec.pages());
        while first < file.end && rest > 0 {
            let next = (first / PAGES + 1) * PAGES;
            let (real, is_full) = memory.of_file(first - file.start);
            let mapping = Mapping::new(real, READ_EXECUTE);
            let is_whole = exec != Exec::Pages && first.is_multiple_of(PAGES) && is_full;
            if is_whole && manager.enter_block(&mut table, first / PAGES, mapping) {
                (first, rest) = (next, rest - 1);
                continue;
            }
            let end = next.min(file.end).min(first + rest);
            for page in first..end {
                let (real, is_full) = memory.of_file(page - file.start);
                manager
                    .enter(&mut table, page, Mapping::new(real, READ_EXECUTE), is_full)
                    .unwrap_or_else(|refusal| panic!("page {page} at exec: {refusal:?}"));
            }
            (first, rest) = (end, rest - (end - first));
        }
    }

    /// Lets the empty space `child` show what `parent` has in these regions; the file it finds by faults. Whoever
    /// stores first gets a copy.
    pub(crate) fn fork(&mut self, parent: usize, child: usize, regions: [Range<usize>; 2]) {
        self.renew(child);
        for pages in regions {
            let (manager, mut table, _) = self.parts(parent);
            manager
                .protect(&mut table, pages.clone(), READ)
                .unwrap_or_else(|refusal| panic!("fork of process {parent}: {refusal:?}"));
            for page in pages {
                let Some(mapping) = self.spaces[parent].mapping(page) else { continue };
                let (manager, mut table, _) = self.parts(child);
                Memory::share(mapping.real());
                manager
                    .enter(&mut table, page, mapping, false)
                    .unwrap_or_else(|refusal| panic!("page {page} of a child: {refusal:?}"));
            }
        }
    }

    /// Takes pages of a process out, and gives their frames back.
    pub(crate) fn unmap(&mut self, space: usize, pages: Range<usize>) {
        let (manager, mut table, memory) = self.parts(space);
        let mut release = memory.release();
        manager.remove(&mut table, pages, |_, mapping, _| release.add(mapping.real()));
        release.end();
    }

    /// Takes all pages of a process out.
    pub(crate) fn exit(&mut self, space: usize) {
        self.unmap(space, 0..BLOCKS * PAGES);
    }

    /// What the managers of all spaces have done.
    pub(crate) fn counts(&self) -> [superpages::Counts; SPACES] {
        core::array::from_fn(|space| self.spaces[space].counts())
    }
}
