//! The radix walk: what the tables in memory say about an address, without regard to rights.
//!
//! Source: `docs/facts/translation.md#tables`. Tables are read with big-endian loads of real memory;
//! where the partition-scoped stage takes part, every process-scoped table address is a guest real
//! address and is translated as a load.

use arch::address::{GuestRealAddress, RealAddress};
use arch::interrupt::storage;
use arch::radix::{self, PATE0_HR, Root, TableLocation};

use super::super::partition::{self, doubleword};
use super::super::read::Read;
use super::tree::{Descent, Page, Step};
use crate::state::memory::{Memory, NoMemory};
use crate::state::tlb::Space;
use crate::state::walk_cache::{WalkCache, WalkKey};

/// Why a walk found no page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WalkFault {
    /// The process-scoped tables refuse: cause bits of DSISR.
    Process(u64),
    /// The partition-scoped tables refuse this guest real address: cause bits of HDSISR.
    Partition(u64, GuestRealAddress),
    /// A table lies where no memory answers.
    NoMemory(NoMemory),
}

impl From<NoMemory> for WalkFault {
    fn from(error: NoMemory) -> Self {
        Self::NoMemory(error)
    }
}

/// A partition-table entry as far as radix translation needs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct PartitionEntry {
    /// Root of the partition-scoped tree.
    root: Root,
    /// Process table, in guest real (for LPID 0: real) memory.
    process_table: TableLocation,
}

/// Walks the trees of one LPID.
#[derive(Debug)]
pub(super) struct Walker<'a> {
    memory: &'a Memory,
    /// What the core remembers; `None` to read everything anew.
    known: Option<&'a WalkCache>,
    lpid: u32,
    entry: PartitionEntry,
    /// What was read on the way, in order.
    reads: Vec<Read>,
}

impl<'a> Walker<'a> {
    /// A walker of the trees that the partition-table entry of `lpid` names. `Ok(None)` where the entry
    /// is not for radix or lies outside of the table.
    ///
    /// # Errors
    /// [`NoMemory`] where the table is not in memory.
    pub(super) fn new(
        memory: &'a Memory,
        known: Option<&'a WalkCache>,
        ptcr: u64,
        lpid: u32,
    ) -> Result<Option<Self>, NoMemory> {
        let Some(found) = partition::entry(memory, known, ptcr, lpid)? else { return Ok(None) };
        let (words, reads) = (found.words, Vec::from_iter(found.read));
        let entry = PartitionEntry {
            root: Root::from_doubleword(words[0]),
            process_table: TableLocation::from_doubleword(words[1]),
        };
        let is_radix = words[0] & PATE0_HR != 0 && entry.root.entries_log2 >= 5;
        Ok(is_radix.then_some(Self { memory, known, lpid, entry, reads }))
    }

    /// What was read on the way, in order: the partition-table entry, and before each process-scoped entry
    /// those that say where it lies.
    pub(super) fn into_reads(self) -> Vec<Read> {
        self.reads
    }

    /// Reads the first doubleword of an entry.
    fn read(&mut self, address: RealAddress, is_process: bool) -> Result<u64, NoMemory> {
        let (place, word) = doubleword(self.memory, address)?;
        self.reads.push(Read { place, is_process, key: None, words: [word, 0] });
        Ok(word)
    }

    /// The entry that was read last is valid, and leads on: it may be remembered.
    fn learn(&mut self, key: WalkKey) {
        if let Some(read) = self.reads.last_mut() {
            read.key = Some(key);
        }
    }

    /// Whether process-scoped tables lie in guest real memory: for every LPID but 0.
    fn is_nested(&self) -> bool {
        self.lpid != 0
    }

    /// Walks the partition-scoped tree for `address`.
    ///
    /// # Errors
    /// [`WalkFault::Partition`] without the bit for stores, or [`WalkFault::NoMemory`].
    pub(super) fn partition(&mut self, address: GuestRealAddress) -> Result<Page, WalkFault> {
        let fault = |cause| WalkFault::Partition(cause, address);
        let descent = Descent::new(self.entry.root);
        if !descent.is_supported() {
            return Err(fault(storage::BAD_CONFIGURATION));
        }
        if address.0 >> radix::SPACE_LOG2 != 0 {
            return Err(fault(storage::NO_TRANSLATION));
        }
        let partition = Space::GuestReal { lpid: self.lpid };
        self.descend(descent, partition, address.0, |_, at| Ok(RealAddress(at)), fault)
    }

    /// Walks the process-scoped tree of `pid` for `address`, quadrant bits already removed.
    ///
    /// # Errors
    /// [`WalkFault`] with the stage that refused.
    pub(super) fn process(&mut self, pid: u32, address: u64) -> Result<Page, WalkFault> {
        let key = WalkKey::ProcessEntry { lpid: self.lpid, pid };
        let known = self.known.and_then(|known| known.find(key));
        let word = match known {
            Some([word, _]) => word,
            None => self.process_entry(pid)?,
        };
        let descent = Descent::new(Root::from_doubleword(word));
        if !descent.is_supported() {
            return Err(WalkFault::Process(storage::BAD_CONFIGURATION));
        }
        if known.is_none() {
            self.learn(key);
        }
        let locate = |walker: &mut Self, at| {
            if walker.is_nested() { walker.table_address(at) } else { Ok(RealAddress(at)) }
        };
        let process = Space::Process { lpid: self.lpid, pid };
        self.descend(descent, process, address, locate, WalkFault::Process)
    }

    fn process_entry(&mut self, pid: u32) -> Result<u64, WalkFault> {
        let table = self.entry.process_table;
        let offset = u64::from(pid) * 16;
        if offset >= 1 << table.bytes_log2 {
            return Err(WalkFault::Process(storage::NO_TRANSLATION));
        }
        // The process table's own address goes through the partition-scoped tree even for LPID 0.
        let real = self.table_address(table.base.0 + offset)?;
        Ok(self.read(real, true)?)
    }

    /// Goes down a tree to the page.
    fn descend(
        &mut self,
        mut descent: Descent,
        space: Space,
        input: u64,
        locate: impl Fn(&mut Self, u64) -> Result<RealAddress, WalkFault>,
        fault: impl Fn(u64) -> WalkFault,
    ) -> Result<Page, WalkFault> {
        loop {
            let covers_log2 = descent.covers_log2();
            let prefix = input >> covers_log2;
            let key = WalkKey::Directory { space, covers_log2, prefix };
            let known = self.known.and_then(|known| known.find(key));
            let word = match known {
                Some([word, _]) => word,
                None => {
                    let real = locate(self, descent.entry_address(input))?;
                    self.read(real, space.is_process())?
                }
            };
            match descent.step(word) {
                Step::Fault(cause) => return Err(fault(cause)),
                Step::Directory if known.is_none() => self.learn(key),
                Step::Directory => {}
                Step::Page(page) => return Ok(page),
            }
        }
    }

    /// The real address of a process-scoped table entry at guest real `at`, translated as a load.
    fn table_address(&mut self, at: u64) -> Result<RealAddress, WalkFault> {
        let address = GuestRealAddress(at);
        let page = self.partition(address).map_err(|fault| match fault {
            WalkFault::Partition(cause, at) => {
                WalkFault::Partition(cause | storage::TABLE_WALK, at)
            }
            other => other,
        })?;
        let refuse = |cause| Err(WalkFault::Partition(cause | storage::TABLE_WALK, address));
        if page.leaf.rights & (radix::rights::READ | radix::rights::WRITE) == 0 {
            return refuse(storage::PROTECTION);
        }
        if !page.leaf.referenced {
            return refuse(storage::REFERENCE_CHANGE);
        }
        Ok(RealAddress(page.translate(at)))
    }
}
