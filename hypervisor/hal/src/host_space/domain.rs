//! The pools of slots that Xen's policy has, one for each partition, in quadrant 3: to measure that policy.

use alloc::boxed::Box;
use alloc::vec::Vec;

use hypervisor_core::hal::HalError;
use hypervisor_core::map_cache::domain::{Domain, OfVcpu, Pool, SLOTS_OF_VCPU};
use hypervisor_core::map_cache::{FRAME_LOG2, Frame, MapError};
use hypervisor_core::sync::Lock;

use super::layout::DOMAINS_BASE;
use super::map;
use super::memory::HeapTables;
use super::windows::{RIGHTS_DATA, leaf};
use crate::host_state::per_cpu::THREADS_MAX;
use crate::invalidation::invalidate_host_in_core;
use crate::radix::{LastTable, PAGE_2M};
use crate::registers::{isync, ptesync, read, spr, write};

const POOL_BYTES: u64 = 0x400_0000;
const _: () = assert!((THREADS_MAX * SLOTS_OF_VCPU) as u64 * (1 << FRAME_LOG2) <= POOL_BYTES);

/// A partition's.
#[derive(Debug)]
pub(super) struct Space {
    domain: Domain,
    base: u64,
    tables: Vec<LastTable>,
}

/// By LPID: 0 is for what belongs to none.
static SPACES: Lock<Vec<&'static Space>> = Lock::new(Vec::new());

/// Makes one more, for so many vCPUs that run at a time.
pub(super) fn add(vcpus: usize) -> Result<(), HalError> {
    let mut spaces = SPACES.lock();
    let base = DOMAINS_BASE + spaces.len() as u64 * POOL_BYTES;
    let count = (vcpus * SLOTS_OF_VCPU).div_ceil(LastTable::ENTRIES) as u64;
    let table = |table: u64| map::last_table(base + (table << PAGE_2M));
    let tables = (0..count).map(table).collect::<Result<_, _>>()?;
    spaces.push(Box::leak(Box::new(Space { domain: Domain::new(vcpus), base, tables })));
    Ok(())
}

/// What a hardware thread has of the partition that it runs.
#[derive(Debug)]
pub(super) struct OfThread {
    space: &'static Space,
    own: OfVcpu,
}

impl OfThread {
    /// Of the partition with this number, nothing yet.
    pub(super) fn of(lpid: u32) -> Self {
        Self { space: SPACES.lock()[lpid as usize], own: OfVcpu::default() }
    }

    pub(super) fn open(&mut self, frame: Frame) -> Result<u64, HalError> {
        let Self { space, own } = self;
        let mapped = space.domain.map(own, &mut Entries(space), frame);
        let (slot, is_new) = mapped.map_err(|MapError::TooDeep| HalError::OutOfWindows)?;
        if is_new {
            ptesync();
        }
        Ok(space.base + ((slot as u64) << FRAME_LOG2))
    }

    pub(super) fn close(&mut self, address: u64) {
        let Self { space, own } = self;
        let slot = (address - space.base) >> FRAME_LOG2;
        space.domain.release(own, &mut Entries(space), slot as usize);
    }

    pub(super) fn leave(&mut self) {
        let Self { space, own } = self;
        space.domain.leave(own, &mut Entries(space));
    }
}

struct Entries(&'static Space);

impl Entries {
    fn write(&self, slot: usize, frame: Option<Frame>) {
        let leaf = frame.map(|frame| leaf(frame.start(), RIGHTS_DATA));
        let (table, entry) = (slot / LastTable::ENTRIES, slot % LastTable::ENTRIES);
        self.0.tables[table].write(&mut HeapTables, entry, leaf);
    }
}

impl Pool for Entries {
    fn set(&mut self, slot: usize, frame: Frame) {
        self.write(slot, Some(frame));
    }

    fn clear(&mut self, slot: usize) {
        self.write(slot, None);
    }

    fn frame(&self, slot: usize) -> Option<Frame> {
        let (table, entry) = (slot / LastTable::ENTRIES, slot % LastTable::ENTRIES);
        self.0.tables[table].read(&HeapTables, entry).map(|leaf| Frame::of(leaf.base))
    }

    fn forget_all(&mut self) {
        let lpid = read::<{ spr::LPIDR }>();
        ptesync();
        // SAFETY: quadrant 3, where the hypervisor is, implies LPID 0.
        unsafe { write::<{ spr::LPIDR }>(0) };
        isync();
        invalidate_host_in_core();
        ptesync();
        // SAFETY: as it was.
        unsafe { write::<{ spr::LPIDR }>(lpid) };
    }
}
