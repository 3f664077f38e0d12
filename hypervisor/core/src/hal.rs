//! What the hypervisor needs from the machine: the traits that `hal` implements and tests fake.
//!
//! The operations are whole ones (open a window, map a page, ring a doorbell), not registers. Who needs a
//! window asks for [`Windows`], who needs a partition for [`Memory`], and who needs all of it for a [`Hal`];
//! how a guest is entered is [`crate::dispatch::Enter`]. Memory that is not the hypervisor's own is reached
//! through a [`Window`] only, by copying: no reference to a partition's memory ever exists, since its vCPUs may
//! change it at any time.

use alloc::vec::Vec;

use arch::address::{GuestRealAddress, RealAddress};
use arch::bundle::MapPolicy;
use arch::hash::VirtualPage;
use arch::processor::Processor;
use arch::radix::TableLocation;
use arch::record::Learned;

use crate::boot::firmware::Firmware;
use crate::boot::mitigations::Mitigations;
use crate::calendar::DateTime;
use crate::facilities::Facilities;
use crate::memory::Range;
use crate::sync::{Home, TableEntry};
use crate::vcpu_id::VcpuId;

/// Why the machine did not do what was asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HalError {
    /// The range is empty, wraps, or crosses the end of a frame.
    BadRange,
    /// The range is the hypervisor's own.
    Reserved,
    /// As many frames are mapped as can be.
    OutOfWindows,
    /// There is no memory for another translation table.
    OutOfTables,
    /// The page is mapped already, or its page size does not fit its neighbours.
    MapConflict,
}

impl core::fmt::Display for HalError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::BadRange => "the range is not within one frame",
            Self::Reserved => "the range is the hypervisor's own",
            Self::OutOfWindows => "as many frames are mapped as can be",
            Self::OutOfTables => "no memory is left for translation tables",
            Self::MapConflict => "the page is mapped already",
        })
    }
}

/// Why a hardware thread did not come out of firmware.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThreadError {
    /// There is room for no more.
    TooMany,
    /// There is no memory for its stack.
    NoMemory,
    /// Firmware refused, with this status.
    Refused(i64),
    /// It was started and did not arrive.
    Silent,
    /// Neither a doorbell nor the interrupt controller reaches it once it runs.
    Unreachable,
    /// Its core is to be split, and the thread that does it is not there.
    Whole,
}

impl core::fmt::Display for ThreadError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::TooMany => f.write_str("there is room for no more"),
            Self::NoMemory => f.write_str("there is no memory for its stack"),
            Self::Refused(status) => write!(f, "firmware refuses with status {status}"),
            Self::Silent => f.write_str("it was started and did not arrive"),
            Self::Unreachable => {
                f.write_str("neither a doorbell nor the interrupt controller reaches it")
            }
            Self::Whole => {
                f.write_str("the first thread of its core, which splits it, is not there")
            }
        }
    }
}

/// Why cores are not split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SplitError {
    /// This processor's cannot be, into so many.
    Impossible,
    /// The hypervisor was started on another thread than the first one of a core.
    BootThread,
    /// The core does not do it.
    Refused,
}

impl core::fmt::Display for SplitError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Impossible => "this processor's cannot be",
            Self::BootThread => "the boot thread is not the first one of its core",
            Self::Refused => "the boot thread's core does not do it",
        })
    }
}

/// A piece of real memory that can be reached for as long as this value lives.
pub trait Window {
    /// Copies `into.len()` bytes out, from `offset`. Panics beyond the window's end.
    fn read(&self, offset: usize, into: &mut [u8]);
    /// Copies `bytes` in, at `offset`. Panics beyond the window's end.
    fn write(&mut self, offset: usize, bytes: &[u8]);
    /// Copies so many bytes in, at `offset`, from the beginning of another one. Panics beyond the end of either.
    fn copy_from(&mut self, offset: usize, from: &Self, bytes: usize);
    /// Fills the whole window with zeros.
    fn zero(&mut self);
    /// Lets instructions be fetched that were written here.
    fn make_fetchable(&mut self);
}

/// One page of a partition, as the second stage maps it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page {
    /// Where the partition sees it.
    pub guest: GuestRealAddress,
    /// Where it is.
    pub real: RealAddress,
    /// Its size as a power of two: 16 or 21, or 30 for one that was merged.
    pub bytes_log2: u32,
}

/// What the hypervisor is at, for who counts its instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// It makes a partition.
    Start,
    /// It zeroes or copies memory for one that it makes.
    Fill,
    /// Anything else.
    Other,
}

/// Windows that one piece of work opens, an exit's for instance. What they show ceases to be reachable when the
/// work ends, if it is not before; so whoever opens several has one of these around them all.
pub trait Maps {
    /// A window, which this hardware thread has to close.
    type Window<'a>: Window
    where
        Self: 'a;

    /// Opens a window onto `bytes` of real memory, all in one [frame](crate::map_cache::Frame). Windows onto
    /// one frame are maps of one slot.
    ///
    /// # Errors
    /// [`HalError::BadRange`], [`HalError::Reserved`] and [`HalError::OutOfWindows`].
    fn open(&self, address: RealAddress, bytes: u64) -> Result<Self::Window<'_>, HalError>;
}

/// Windows onto real memory.
pub trait Windows {
    /// Windows that one piece of work opens.
    type Maps<'a>: Maps
    where
        Self: 'a;
    /// A window that stays open.
    type Pinned: Window + core::fmt::Debug;

    /// Begins work that opens windows; while other such work goes on, it is a part of that.
    fn maps(&self) -> Self::Maps<'_>;

    /// Opens windows as the policy says from here on, on all hardware threads. `memory` is all there is. None
    /// is open, and no guest has run.
    ///
    /// # Errors
    /// [`HalError::OutOfTables`].
    fn map_as(
        &self,
        policy: MapPolicy,
        memory: &mut dyn Iterator<Item = Range>,
    ) -> Result<(), HalError>;

    /// Maps `bytes` of real memory, all in one 64 KiB page, at the place that is `vcpu`'s own. Each vCPU has one, so
    /// that such windows never run out; the one before in it must have been closed.
    ///
    /// # Errors
    /// [`HalError::BadRange`], [`HalError::Reserved`], [`HalError::OutOfTables`], and [`HalError::MapConflict`]
    /// where the place is not free.
    fn pin_window(
        &self,
        vcpu: VcpuId,
        address: RealAddress,
        bytes: u64,
    ) -> Result<Self::Pinned, HalError>;
}

/// Second stages, and what the processor remembers of them.
pub trait Tables {
    /// The processor that reads them.
    const PROCESSOR: Processor;

    /// Whether the threads of a core run one partition at a time, as they share what names it.
    const SHARES_CORES: bool = Self::PROCESSOR.facts().shares_partition;

    /// The second stage of one partition.
    type Tables: core::fmt::Debug;

    /// An empty second stage for the partition `lpid`, known to the processor.
    ///
    /// # Errors
    /// [`HalError::OutOfTables`].
    fn new_tables(&self, lpid: u32) -> Result<Self::Tables, HalError>;

    /// Memory of `1 << bytes_log2` bytes for hashed page tables of the partition `lpid`, which has nothing else that
    /// translates: empty, and unknown to the processor.
    ///
    /// # Errors
    /// [`HalError::OutOfTables`].
    fn new_hash_table(&self, lpid: u32, bytes_log2: u32)
    -> Result<&'static [TableEntry], HalError>;

    /// From now on the partition `lpid`, in which nobody is, has this part of that as its hashed page table, as many
    /// bytes as a power of two and aligned to that; no translation by another one is left. The base page of its virtual
    /// real mode area has 4 KiB.
    fn set_hash_table(&self, lpid: u32, entries: &'static [TableEntry]);

    /// Lets all hardware threads find what was stored into a hashed page table, before what follows.
    fn publish_entries(&self);

    /// Makes all hardware threads that may have them forget these pages of a partition with a hashed page table, whose
    /// entries are not valid, and waits until they have: after this no R or C is set in them. Asks for `home` once all
    /// that was stored before is seen.
    fn forget_pages<const COUNT: usize>(
        &self,
        lpid: u32,
        home: &Home,
        pages: [Option<VirtualPage>; COUNT],
    );

    /// Makes all hardware threads forget all cached translations of a partition with a hashed page table, before they
    /// run it again: this one, if it answers a call of it, at once.
    fn forget_hashed(&self, lpid: u32);

    /// Adds a page with all rights and R=C=1 to a second stage.
    ///
    /// # Errors
    /// [`HalError::Reserved`], [`HalError::OutOfTables`] and [`HalError::MapConflict`].
    fn map_page(&self, tables: &mut Self::Tables, page: Page) -> Result<(), HalError>;

    /// Replaces the pages of a second stage within `page`, which fill it and lie where it will, by it. No hardware
    /// thread finds one of them any more before it.
    ///
    /// # Errors
    /// [`HalError::MapConflict`] if there are none, and [`HalError::Reserved`].
    fn merge_pages(&self, lpid: u32, tables: &mut Self::Tables, page: Page)
    -> Result<(), HalError>;

    /// Tells the processor where a partition's process table lies (guest real), or that it has none,
    /// and makes it forget what it cached of the old one.
    fn set_process_table(&self, lpid: u32, table: Option<TableLocation>);

    /// Completes what the guest that left has begun that others have to see, its invalidations, so that it
    /// can go on elsewhere.
    fn complete_invalidations(&self);

    /// Makes all hardware threads forget all cached translations of a partition, and waits until they have.
    fn forget_translations(&self, lpid: u32);

    /// All threads of this hardware thread's core, where they share what names a partition, run this one from now on.
    /// None of them is in a partition.
    fn take_core(&self, lpid: u32);

    /// Makes the core of this hardware thread forget what it cached of a partition that the partition can
    /// take back itself: translations by its process table.
    fn forget_in_core(&self, lpid: u32);
}

/// The hardware threads.
pub trait Threads {
    /// Number of the hardware thread that the hypervisor was started on, as firmware knows it.
    fn boot_thread(&self) -> u32;

    /// Fetches a hardware thread out of firmware, which says how it is reached. The boot thread has index 0 for
    /// [`Threads::ring`] and [`Threads::run_on_threads`], the first that was fetched 1, and so on.
    ///
    /// # Errors
    /// Why it does not come.
    fn fetch_thread(&self, server: u32, firmware: &Firmware<'_>) -> Result<(), ThreadError>;

    /// Splits the boot thread's core, and each other one as its first thread is fetched, into so many subcores, for
    /// good. No other thread was fetched yet.
    ///
    /// # Errors
    /// Why no core is.
    fn split_cores(&self, subcores: u32) -> Result<(), SplitError>;

    /// Whether one thread of a core, or of a part of one, runs partitions at most, as something serves one at a time.
    fn has_one_runner_per_core(&self) -> bool;

    /// What each vCPU has learned of something that serves a core, in their order; nothing where none learns.
    fn learned(&self) -> Vec<Learned> {
        Vec::new()
    }

    /// Calls `work` on all hardware threads, with the thread's index, and returns when all are done.
    fn run_on_threads(&self, work: &(dyn Fn(usize) + Sync));

    /// Rings the doorbell of hardware thread `thread`, after all that was stored before: if it waits, it
    /// does so no more, if it runs a guest, that leaves, and otherwise it will do neither.
    fn ring(&self, thread: usize);

    /// Forgets that this thread's doorbell was rung. What was stored before it was rung is seen after this.
    fn clear_doorbell(&self);

    /// Whether this thread's doorbell was rung since it was cleared, as far as that is seen. One that was not
    /// seen is still rung.
    fn is_rung(&self) -> bool;

    /// Waits until this thread's doorbell is rung, the time base is `until` or more, or for nothing.
    fn wait(&self, until: u64);
}

/// What there is one of: console, clocks, random numbers, the switch.
pub trait Platform {
    /// Writes to the machine's console.
    fn console_write(&self, bytes: &[u8]);

    /// Reads what waits on the machine's console: how many bytes, without waiting.
    fn console_read(&self, into: &mut [u8]) -> usize;

    /// From now on so many bytes of the heap are kept from tables and all else that may be refused, for what a guest
    /// may ask for and cannot be refused. Where the heap is the host's, there is nothing to keep.
    fn keep_heap(&self, _: u64) {}

    /// Bytes of the heap that are free beyond those; `None` if fewer than these are.
    fn heap_room(&self) -> Option<u64> {
        Some(u64::MAX)
    }

    /// The time base.
    fn timebase(&self) -> u64;

    /// Moves the time base on by `ticks`, a multiple of 2^24: the boot thread's, and that of threads that are fetched
    /// later. None was fetched yet.
    fn advance_timebase(&self, ticks: u64);

    /// A random number of the machine's own, if it has one now.
    fn random(&self) -> Option<u64>;

    /// The machine's clock, if it has one.
    fn date_time(&self) -> Option<DateTime>;

    /// Marks what the hypervisor does from here on, by an instruction without an effect.
    fn mark(&self, work: Work);

    /// Does this at exits and entries from here on. No guest has run yet.
    fn mitigate(&self, mitigations: Mitigations);

    /// Switches the machine off.
    fn power_off(&self) -> !;
}

/// What holds a partition: windows onto what its vCPUs share with the hypervisor, and its second stage.
pub trait Memory: Windows + Tables {}

impl<H: Windows + Tables> Memory for H {}

/// The machine under the hypervisor.
pub trait Hal: Memory + Threads + Platform + Facilities + Sized + core::fmt::Debug {}

impl<H: Memory + Threads + Platform + Facilities + Sized + core::fmt::Debug> Hal for H {}
