//! An oracle of the hypervisor's maps: when a partition is entered, the hypervisor's own translations, in its
//! tables and in the TLBs of all cores, reach no page of a partition without an open map.
//!
//! What is open, it does not ask the hypervisor. On a thread that a partition runs on, no work of the
//! hypervisor is under way. So a PID that only such a thread uses, with LPIDR 0, must find nothing, and neither
//! may PID 0, which quadrant 3 implies; but the frame of a virtual processor area stays mapped for as long as a
//! partition has registered it. What a partition's pages are, its own second stage says. That a page is not
//! reachable is not yet that it is not speculable: the machine has no wrong path.
//!
//! It is an observer: it never changes the machine. It reads all tables at each entry it looks at, so it is for tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

use arch::address::{GuestRealAddress, RealAddress};
use arch::interrupt::Vector;
use arch::papr::status::H_SUCCESS;
use arch::papr::{Hypercall, area};
use arch::radix::{Entry, Root, TableLocation};
use arch::registers::msr;
use arch::registers::spr::Spr;

use crate::exec::Mode;
use crate::interrupt::Taken;
use crate::state::memory::Memory;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::tlb::Space;
use crate::trace::Observer;

/// Findings that are kept; the others are counted.
const FINDINGS_MAX: usize = 100;
/// PIDs whose translations are looked for.
const PIDS: u32 = 256;
/// What the hypervisor maps of a partition at a time, as a power of two.
const FRAME_LOG2: u32 = 16;

/// Where a translation is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// In the hypervisor's tables.
    Tables,
    /// In the TLB of this core.
    Tlb(usize),
}

/// A translation of the hypervisor that reaches a partition's page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Reachable {
    /// Whose the page is.
    pub lpid: u32,
    /// Where the translation is.
    pub place: Place,
    /// The PID that finds it.
    pub pid: u32,
    /// The effective address, without its quadrant.
    pub address: u64,
    /// Where it leads.
    pub real: RealAddress,
}

impl fmt::Display for Reachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lpid, place, pid, address, real } = self;
        write!(f, "LPID {lpid}: {real} is reachable at {address:#x} of PID {pid}, by ")?;
        match place {
            Place::Tables => f.write_str("the tables"),
            Place::Tlb(core) => write!(f, "the TLB of core {core}"),
        }
    }
}

/// Watches the hypervisor's maps.
#[derive(Clone, Debug, Default)]
pub struct Maps {
    /// One entry of so many is looked at, if it is not 0.
    sparse: u64,
    entries: u64,
    looked: u64,
    /// LPIDs that were entered.
    lpids: BTreeSet<u32>,
    /// Threads that a partition runs on.
    in_partition: BTreeSet<usize>,
    /// The thread that has a PID for itself.
    threads: BTreeMap<u32, usize>,
    /// By thread: which function it asks for, of which vCPU, and with which address.
    calls: BTreeMap<usize, (u64, (u32, u64), u64)>,
    /// By LPID and number of the vCPU.
    areas: BTreeMap<(u32, u64), GuestRealAddress>,
    findings: Vec<Reachable>,
    unkept: u64,
    most: usize,
}

impl Maps {
    /// Looks at one of `sparse` entries, or at all if that is 0.
    #[must_use]
    pub fn new(sparse: u64) -> Self {
        Self { sparse, ..Self::default() }
    }

    /// What is wrong, in the order of time; at most 100 are kept.
    #[must_use]
    pub fn findings(&self) -> &[Reachable] {
        &self.findings
    }

    /// How much is wrong: at each entry each translation.
    #[must_use]
    pub fn all_findings(&self) -> u64 {
        self.findings.len() as u64 + self.unkept
    }

    /// At how many entries it has looked.
    #[must_use]
    pub fn looked(&self) -> u64 {
        self.looked
    }

    /// Frames of partitions that were reachable at one entry without an open map, at most.
    #[must_use]
    pub fn most_at_once(&self) -> usize {
        self.most
    }

    /// Notes what a call of a partition says about its areas.
    fn called(&mut self, thread: &Thread) {
        if thread.gpr[3] == Hypercall::RegisterVpa as u64 {
            let [_, _, _, _, flags, server, address, ..] = thread.gpr;
            let key = (thread.lpid(), server);
            self.calls.insert(thread.index, (area::FUNCTION.get(flags), key, address));
        }
    }

    /// The call was answered.
    fn answered(&mut self, thread: &Thread) {
        let Some((function, key, address)) = self.calls.remove(&thread.index) else { return };
        match function {
            _ if thread.gpr[3] as i64 != H_SUCCESS => {}
            area::REGISTER_AREA => {
                self.areas.insert(key, GuestRealAddress(address));
            }
            area::DEREGISTER_AREA => drop(self.areas.remove(&key)),
            _ => {}
        }
    }

    /// Whether nobody may have opened a map under this PID.
    fn is_at_rest(&self, pid: u32) -> bool {
        pid == 0 || self.threads.get(&pid).is_some_and(|thread| self.in_partition.contains(thread))
    }

    fn look(&mut self, shared: &Shared, entered: &Thread) {
        let tables = Tables::of(shared, entered);
        let mut memory = BTreeMap::new();
        let mut pinned = BTreeSet::new();
        for &lpid in &self.lpids {
            let pages = tables.pages_of(lpid);
            let at = |address: GuestRealAddress| {
                let page = pages.iter().find(|(guest, real)| {
                    (*guest..guest + (real.end - real.start)).contains(&address.0)
                });
                page.map(|(guest, real)| real.start + (address.0 - guest))
            };
            let own = self.areas.iter().filter(|((of, _), _)| *of == lpid);
            pinned
                .extend(own.filter_map(|(_, address)| at(*address)).map(|real| real >> FRAME_LOG2));
            memory.insert(lpid, pages);
        }
        let mut found = BTreeSet::new();
        let mut reach = |place, pid, address, real: RealAddress, log2: u32| {
            let page = real.0..real.0 + (1 << log2);
            if log2 <= FRAME_LOG2 && pinned.contains(&(real.0 >> FRAME_LOG2)) {
                return;
            }
            for (&lpid, pages) in &memory {
                if pages.iter().any(|(_, own)| own.start < page.end && page.start < own.end) {
                    found.insert(Reachable { lpid, place, pid, address, real });
                }
            }
        };
        for pid in 0..PIDS {
            for (address, real, log2) in tables.own_pages(pid) {
                reach(Place::Tables, pid, address, real, log2);
            }
        }
        for (core, state) in shared.cores.iter().enumerate() {
            for (space, address, translation) in state.tlb.entries() {
                if let Space::Process { lpid: 0, pid } = space {
                    let place = Place::Tlb(core);
                    reach(place, pid, address, translation.real, translation.page_log2);
                }
            }
        }
        found.retain(|reachable| self.is_at_rest(reachable.pid));
        let frames: BTreeSet<_> = found.iter().map(|reachable| reachable.real).collect();
        self.most = self.most.max(frames.len());
        let room = FINDINGS_MAX - self.findings.len();
        self.unkept += found.len().saturating_sub(room) as u64;
        self.findings.extend(found.into_iter().take(room));
    }
}

/// The tables that a machine translates by.
struct Tables<'a> {
    memory: &'a Memory,
    /// The partition table.
    base: RealAddress,
}

impl<'a> Tables<'a> {
    fn of(shared: &'a Shared, thread: &Thread) -> Self {
        let ptcr = shared.cores[thread.core].spr(Spr::Ptcr);
        Self { memory: &shared.memory, base: TableLocation::from_doubleword(ptcr).base }
    }

    fn doubleword(&self, table: RealAddress, index: u64) -> u64 {
        self.memory.read_be64(table.wrapping_add(8 * index)).unwrap_or(0)
    }

    /// The pages of a partition: where it sees each, and where that is.
    fn pages_of(&self, lpid: u32) -> Vec<(u64, Range<u64>)> {
        let root = Root::from_doubleword(self.doubleword(self.base, 2 * u64::from(lpid)));
        let pages = self.leaves(root).into_iter();
        pages.map(|(guest, real, log2)| (guest, real.0..real.0 + (1 << log2))).collect()
    }

    /// What the hypervisor's own tree of a PID maps: address, where it leads, log2 of the bytes.
    fn own_pages(&self, pid: u32) -> Vec<(u64, RealAddress, u32)> {
        let processes = TableLocation::from_doubleword(self.doubleword(self.base, 1));
        if u64::from(pid) >= 1 << (processes.bytes_log2 - 4) {
            return Vec::new();
        }
        let root = self.doubleword(processes.base, 2 * u64::from(pid));
        self.leaves(Root::from_doubleword(root))
    }

    fn leaves(&self, root: Root) -> Vec<(u64, RealAddress, u32)> {
        let mut leaves = Vec::new();
        if root.entries_log2 != 0 {
            self.collect(root.base, root.entries_log2, 0, root.space_log2, &mut leaves);
        }
        leaves
    }

    /// What a table maps whose entries translate `1 << bits` bytes together, from `address` on.
    fn collect(
        &self,
        table: RealAddress,
        entries_log2: u32,
        address: u64,
        bits: u32,
        leaves: &mut Vec<(u64, RealAddress, u32)>,
    ) {
        let Some(bits) = bits.checked_sub(entries_log2) else { return };
        for index in 0..1 << entries_log2 {
            let address = address | index << bits;
            match Entry::from_doubleword(self.doubleword(table, index)) {
                Entry::Invalid => {}
                Entry::Leaf(leaf) => leaves.push((address, leaf.base, bits)),
                Entry::Directory { base, entries_log2 } => {
                    self.collect(base, entries_log2, address, bits, leaves);
                }
            }
        }
    }
}

impl Observer for Maps {
    const SEES_INSTRUCTIONS: bool = false;
    const SEES_STORES: bool = true;

    fn stored(&mut self, thread: &Thread, _: &Shared) {
        let (lpid, pid) = (thread.spr(Spr::Lpidr), thread.spr(Spr::Pidr) as u32);
        if thread.msr() & msr::HV != 0 && lpid == 0 && pid != 0 {
            self.threads.insert(pid, thread.index);
        }
    }

    fn interrupted(&mut self, thread: &Thread, _: &Shared, taken: Taken) {
        if taken.is_exit() {
            self.in_partition.remove(&thread.index);
            if taken.vector == Vector::SystemCall {
                self.called(thread);
            }
        }
    }

    fn returned(&mut self, thread: &Thread, shared: &Shared, mode: Mode) {
        if !mode.is_hypervisor() || thread.msr() & msr::HV != 0 {
            return;
        }
        self.in_partition.insert(thread.index);
        self.answered(thread);
        self.lpids.insert(thread.lpid());
        if self.sparse == 0 || self.entries.is_multiple_of(self.sparse) {
            self.looked += 1;
            self.look(shared, thread);
        }
        self.entries += 1;
    }
}
