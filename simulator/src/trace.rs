//! Observers: they see what happens and never change it.
//!
//! The machine's run loop is compiled once for each observer; with [`NoObserver`] nothing of it is
//! left.

use std::collections::BTreeMap;

use arch::address::RealAddress;
use arch::instruction::Mnemonic;
use arch::interrupt::Vector;
use arch::marker::{Mark, Region};
use arch::registers::msr;

use crate::blocks::Op;
use crate::exec::Mode;
use crate::interrupt::Taken;
use crate::pipeline::Timing;
use crate::state::shared::Shared;
use crate::state::thread::Thread;

/// Sees what a machine does.
pub trait Observer {
    /// Whether [`Observer::completed`] wants to be called.
    const SEES_INSTRUCTIONS: bool;
    /// Whether [`Observer::stored`] wants to be called. The machine is slower then.
    const SEES_STORES: bool = false;

    /// `thread` completed `op`, at `thread.cia`, in `mode`.
    fn completed(&mut self, thread: &Thread, op: &Op, mode: Mode) {
        let _ = (thread, op, mode);
    }

    /// `thread` completed an instruction, which accessed what `thread.accesses` lists.
    fn stored(&mut self, thread: &Thread, shared: &Shared) {
        let _ = (thread, shared);
    }

    /// `thread` took an interrupt.
    fn interrupted(&mut self, thread: &Thread, shared: &Shared, taken: Taken) {
        let _ = (thread, shared, taken);
    }

    /// `thread` returned from an interrupt, out of `mode`; its MSR and next address are the new ones.
    fn returned(&mut self, thread: &Thread, shared: &Shared, mode: Mode) {
        let _ = (thread, shared, mode);
    }

    /// The same in timing mode, with the caches as they are then.
    fn returned_in_time(&mut self, thread: &Thread, timing: &Timing, mode: Mode) {
        let _ = (thread, timing, mode);
    }

    /// `thread` began `region` without a mark, by an interrupt.
    fn region_began(&mut self, thread: &Thread, region: Region) {
        let _ = (thread, region);
    }

    /// `thread` called firmware with `token`.
    fn firmware_called(&mut self, thread: &Thread, token: u64) {
        let _ = (thread, token);
    }

    /// The prefetch engine of `core` wrote `bytes` bytes of a table at `address`.
    fn engine_wrote(&mut self, core: usize, address: RealAddress, bytes: u64) {
        let _ = (core, address, bytes);
    }
}

/// Sees nothing and costs nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    const SEES_INSTRUCTIONS: bool = false;
}

/// Whoever lends an observer gets it back.
impl<O: Observer> Observer for &mut O {
    const SEES_INSTRUCTIONS: bool = O::SEES_INSTRUCTIONS;
    const SEES_STORES: bool = O::SEES_STORES;

    fn completed(&mut self, thread: &Thread, op: &Op, mode: Mode) {
        (**self).completed(thread, op, mode);
    }

    fn stored(&mut self, thread: &Thread, shared: &Shared) {
        (**self).stored(thread, shared);
    }

    fn interrupted(&mut self, thread: &Thread, shared: &Shared, taken: Taken) {
        (**self).interrupted(thread, shared, taken);
    }

    fn returned(&mut self, thread: &Thread, shared: &Shared, mode: Mode) {
        (**self).returned(thread, shared, mode);
    }

    fn returned_in_time(&mut self, thread: &Thread, timing: &Timing, mode: Mode) {
        (**self).returned_in_time(thread, timing, mode);
    }

    fn region_began(&mut self, thread: &Thread, region: Region) {
        (**self).region_began(thread, region);
    }

    fn firmware_called(&mut self, thread: &Thread, token: u64) {
        (**self).firmware_called(thread, token);
    }

    fn engine_wrote(&mut self, core: usize, address: RealAddress, bytes: u64) {
        (**self).engine_wrote(core, address, bytes);
    }
}

/// Both see everything.
impl<A: Observer, B: Observer> Observer for (A, B) {
    const SEES_INSTRUCTIONS: bool = A::SEES_INSTRUCTIONS || B::SEES_INSTRUCTIONS;
    const SEES_STORES: bool = A::SEES_STORES || B::SEES_STORES;

    fn completed(&mut self, thread: &Thread, op: &Op, mode: Mode) {
        self.0.completed(thread, op, mode);
        self.1.completed(thread, op, mode);
    }

    fn stored(&mut self, thread: &Thread, shared: &Shared) {
        self.0.stored(thread, shared);
        self.1.stored(thread, shared);
    }

    fn interrupted(&mut self, thread: &Thread, shared: &Shared, taken: Taken) {
        self.0.interrupted(thread, shared, taken);
        self.1.interrupted(thread, shared, taken);
    }

    fn returned(&mut self, thread: &Thread, shared: &Shared, mode: Mode) {
        self.0.returned(thread, shared, mode);
        self.1.returned(thread, shared, mode);
    }

    fn returned_in_time(&mut self, thread: &Thread, timing: &Timing, mode: Mode) {
        self.0.returned_in_time(thread, timing, mode);
        self.1.returned_in_time(thread, timing, mode);
    }

    fn region_began(&mut self, thread: &Thread, region: Region) {
        self.0.region_began(thread, region);
        self.1.region_began(thread, region);
    }

    fn firmware_called(&mut self, thread: &Thread, token: u64) {
        self.0.firmware_called(thread, token);
        self.1.firmware_called(thread, token);
    }

    fn engine_wrote(&mut self, core: usize, address: RealAddress, bytes: u64) {
        self.0.engine_wrote(core, address, bytes);
        self.1.engine_wrote(core, address, bytes);
    }
}

/// What happened inside one marked region.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// How often the region began.
    pub begun: u64,
    /// How often it ended, on the hardware thread where it had begun, or anywhere if it is a partition's.
    pub ended: u64,
    /// Instructions completed outside of hypervisor state.
    pub guest_instructions: u64,
    /// Instructions completed in hypervisor state.
    pub hypervisor_instructions: u64,
    /// Calls into firmware.
    pub firmware_calls: u64,
    /// `mfspr` and `mftb` completed in hypervisor state, LR, CTR and XER left out: they are renamed and
    /// cost what any instruction costs.
    pub spr_reads: u64,
    /// `mtspr` completed in hypervisor state, LR, CTR and XER left out.
    pub spr_writes: u64,
    /// Interrupts that took the thread from a partition into the hypervisor, by vector.
    pub exits: BTreeMap<Vector, u64>,
    /// Exits by `sc` with LEV=1.
    pub hypercalls: u64,
    /// Exits that arrived with relocation on.
    pub exits_translated: u64,
    /// Exits that arrived in real mode.
    pub exits_real: u64,
}

/// Counts instructions and exits inside marked regions, one thread's region being that thread's; or those of one
/// partition, on whatever threads it runs.
#[derive(Clone, Debug, Default)]
pub struct RegionCounts {
    /// The region that each thread is in, or under 0 the one that the partition is in.
    open: BTreeMap<usize, Region>,
    partition: Option<u32>,
    counts: BTreeMap<Region, Counts>,
}

impl RegionCounts {
    /// Nothing counted yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Nothing counted yet; marks are those of the partition `lpid`, and what counts is its own and that of the
    /// hypervisor that serves it, on all threads.
    #[must_use]
    pub fn of_partition(lpid: u32) -> Self {
        Self { partition: Some(lpid), ..Self::default() }
    }

    /// The regions that were entered, by number.
    pub fn regions(&self) -> impl Iterator<Item = (u16, &Counts)> {
        self.counts.iter().map(|(region, counts)| (region.number(), counts))
    }

    fn current(&mut self, thread: &Thread) -> Option<&mut Counts> {
        let region = self.open.get(&self.place(thread)?)?;
        self.counts.get_mut(region)
    }

    /// Under which number the region is that `thread` is in, if its marks mean anything.
    fn place(&self, thread: &Thread) -> Option<usize> {
        match self.partition {
            None => Some(thread.index),
            Some(lpid) => (thread.lpid() == lpid).then_some(0),
        }
    }

    fn begin(&mut self, thread: &Thread, region: Region) {
        if let Some(place) = self.place(thread) {
            self.counts.entry(region).or_default().begun += 1;
            self.open.insert(place, region);
        }
    }
}

impl Observer for RegionCounts {
    const SEES_INSTRUCTIONS: bool = true;

    fn completed(&mut self, thread: &Thread, op: &Op, mode: Mode) {
        if op.mnemonic == Some(Mnemonic::Tdi)
            && let Some(mark) = Mark::from_word(op.word)
        {
            match mark {
                Mark::Begin(region) => self.begin(thread, region),
                Mark::End(region) => {
                    if let Some(place) = self.place(thread)
                        && self.open.get(&place) == Some(&region)
                    {
                        self.counts.entry(region).or_default().ended += 1;
                        self.open.remove(&place);
                    }
                }
            }
            return;
        }
        let Some(counts) = self.current(thread) else { return };
        if !mode.is_hypervisor() {
            counts.guest_instructions += 1;
            return;
        }
        counts.hypervisor_instructions += 1;
        let is_renamed = matches!(op.word.spr(), 1 | 8 | 9);
        match op.mnemonic {
            Some(Mnemonic::Mfspr | Mnemonic::Mftb) if !is_renamed => counts.spr_reads += 1,
            Some(Mnemonic::Mtspr) if !is_renamed => counts.spr_writes += 1,
            _ => {}
        }
    }

    fn interrupted(&mut self, thread: &Thread, _: &Shared, taken: Taken) {
        let Some(counts) = self.current(thread) else { return };
        if !taken.is_exit() {
            return;
        }
        *counts.exits.entry(taken.vector).or_default() += 1;
        if taken.vector == Vector::SystemCall {
            counts.hypercalls += 1;
        }
        if taken.to_msr & msr::IR != 0 {
            counts.exits_translated += 1;
        } else {
            counts.exits_real += 1;
        }
    }

    /// A vCPU may be interrupted once more before it comes to the mark that ends the region.
    fn region_began(&mut self, thread: &Thread, region: Region) {
        let is_open = self.place(thread).is_some_and(|at| self.open.get(&at) == Some(&region));
        if !is_open {
            self.begin(thread, region);
        }
    }

    fn firmware_called(&mut self, thread: &Thread, _: u64) {
        if let Some(counts) = self.current(thread) {
            counts.firmware_calls += 1;
        }
    }
}
