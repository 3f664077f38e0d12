//! The machine as `core` sees it: the implementation of `Hal`.

use core::arch::asm;
use core::ptr;

use arch::address::RealAddress;
use arch::bundle::MapPolicy;
use arch::excess::Excesses;
use arch::hash::{VirtualPage, segment};
use arch::marker::{Mark, Region};
use arch::processor::Processor;
use arch::radix::{Leaf, PATE0_HR, TableLocation, rights};
#[cfg(feature = "power8")]
use arch::record::Learned;
use arch::registers::hfscr::Facility;
use arch::registers::{monitor, msr};
use hypervisor_core::boot::firmware::Firmware;
use hypervisor_core::boot::mitigations::Mitigations;
use hypervisor_core::calendar::DateTime;
use hypervisor_core::dispatch::{Enter, Running};
use hypervisor_core::facilities::{Demanded, Facilities};
use hypervisor_core::hal::{
    HalError, Page, Platform, SplitError, Tables, ThreadError, Threads, Windows, Work,
};
use hypervisor_core::hash_table::REAL_MODE_LOG2;
use hypervisor_core::life::outcome::Departure;
use hypervisor_core::memory::Range;
use hypervisor_core::partition::Common;
use hypervisor_core::sync::{Home, TableEntry};
use hypervisor_core::vcpu::registers::Registers;
use hypervisor_core::vcpu_id::VcpuId;

#[cfg(feature = "power8")]
use super::prefetch;
use super::window::Pinned;
use super::{core_registers, eager, facilities, mitigations, opal, residents, segments, threads};
use crate::host_space::map;
use crate::host_space::memory::{self, HeapTables};
use crate::host_space::region::{self, MapRegion, Maps};
use crate::host_space::windows::Reserved;
use crate::host_state::per_cpu::{Doors, per_cpu};
use crate::host_state::{PROCESSOR, random};
use crate::invalidation::{self, Scope, invalidate};
use crate::radix::{TableMemory, Tree};
use crate::registers::{ptesync, read, spr, write};

unsafe extern "C" {
    fn hal_enter_guest(registers: *mut Registers);
    fn hal_enter_called_guest(registers: *mut Registers);
    fn hal_enter_hash_guest(registers: *mut Registers);
}

/// The bare machine. There is one value of it, made at boot: who holds it may use the machine.
#[derive(Debug)]
pub struct Machine(Reserved);

impl Machine {
    pub(super) const fn new(reserved: Reserved) -> Self {
        Self(reserved)
    }

    /// Refuses a page of what is not a partition's to have.
    fn refuse_own(&self, page: Page) -> Result<(), HalError> {
        let bytes = 1_u64.checked_shl(page.bytes_log2).ok_or(HalError::MapConflict)?;
        self.0.refuse(Range { start: page.real, bytes })
    }
}

/// A partition's second stage.
#[derive(Debug)]
pub struct SecondStage(Tree);

impl Windows for Machine {
    type Maps<'a> = Maps<'a>;
    type Pinned = Pinned;

    fn maps(&self) -> Maps<'_> {
        Maps::begin(&self.0)
    }

    fn map_as(
        &self,
        policy: MapPolicy,
        memory: &mut dyn Iterator<Item = Range>,
    ) -> Result<(), HalError> {
        if policy == MapPolicy::Direct {
            map::map_all(memory)?;
        }
        MapRegion::map_as(policy)
    }

    fn pin_window(
        &self,
        vcpu: VcpuId,
        address: RealAddress,
        bytes: u64,
    ) -> Result<Pinned, HalError> {
        map::pin_window(&self.0, vcpu, address, bytes).map(Pinned)
    }
}

impl Tables for Machine {
    const PROCESSOR: Processor = PROCESSOR;

    type Tables = SecondStage;

    fn new_tables(&self, lpid: u32) -> Result<SecondStage, HalError> {
        if lpid == 0 || lpid >= map::lpids() || !PROCESSOR.facts().has_radix() {
            return Err(HalError::OutOfTables);
        }
        region::add_partition()?;
        let tree = Tree::new(&mut HeapTables)?;
        // SAFETY: trees are never given back, and `map_page` lets nothing of the hypervisor's into this one.
        unsafe { map::set_partition(lpid, PATE0_HR | tree.root_doubleword(), 0) };
        invalidate(Scope::Partition(lpid));
        Ok(SecondStage(tree))
    }

    fn new_hash_table(
        &self,
        lpid: u32,
        bytes_log2: u32,
    ) -> Result<&'static [TableEntry], HalError> {
        if lpid == 0 || lpid >= map::lpids() {
            return Err(HalError::OutOfTables);
        }
        region::add_partition()?;
        memory::hash_table(bytes_log2).ok_or(HalError::OutOfTables)
    }

    fn set_hash_table(&self, lpid: u32, entries: &'static [TableEntry]) {
        assert!(lpid != 0 && lpid < map::lpids(), "no partition has the number {lpid}");
        let table = memory::table_of(entries);
        // SAFETY: the table is never given back; core puts nothing of the hypervisor's into it.
        unsafe { map::set_partition(lpid, table.to_doubleword(REAL_MODE_LOG2), 0) };
        self.forget_hashed(lpid);
    }

    fn publish_entries(&self) {
        ptesync();
    }

    #[inline(always)]
    fn forget_pages<const COUNT: usize>(
        &self,
        lpid: u32,
        home: &Home,
        pages: [Option<VirtualPage>; COUNT],
    ) {
        let operands = pages.into_iter().flatten().map(|page| page.operand());
        let is_in_partition = core_registers::is_in_partition(lpid);
        ptesync();
        if is_in_partition && home.is(core_registers::home()) {
            invalidation::invalidate_pages_in_thread(operands);
        } else {
            invalidation::invalidate_pages(lpid, operands);
        }
    }

    fn forget_hashed(&self, lpid: u32) {
        invalidate(Scope::Hashed(lpid));
        core_registers::catch_up_at_once(lpid);
    }

    fn map_page(&self, tables: &mut SecondStage, page: Page) -> Result<(), HalError> {
        self.refuse_own(page)?;
        tables.0.map(&mut HeapTables, page.guest.0, page.bytes_log2, leaf(page))?;
        ptesync();
        Ok(())
    }

    fn merge_pages(&self, lpid: u32, tables: &mut SecondStage, page: Page) -> Result<(), HalError> {
        self.refuse_own(page)?;
        let address = page.guest.0;
        let table = tables.0.take_table(&mut HeapTables, address).ok_or(HalError::MapConflict)?;
        // Two translations of different size for one address would be a machine check.
        invalidate(Scope::Partition(lpid));
        let mapped = tables.0.map(&mut HeapTables, address, page.bytes_log2, leaf(page));
        ptesync();
        HeapTables.release(table);
        Ok(mapped?)
    }

    fn set_process_table(&self, lpid: u32, table: Option<TableLocation>) {
        map::set_process_table(lpid, table.map_or(0, TableLocation::to_doubleword));
    }

    fn complete_invalidations(&self) {
        invalidation::await_invalidations();
    }

    fn forget_translations(&self, lpid: u32) {
        invalidate(Scope::Partition(lpid));
    }

    fn take_core(&self, lpid: u32) {
        core_registers::take(lpid);
    }

    fn forget_in_core(&self, lpid: u32) {
        invalidation::invalidate_in_core(lpid);
    }
}

impl Threads for Machine {
    fn boot_thread(&self) -> u32 {
        threads::boot_thread()
    }

    fn fetch_thread(&self, server: u32, firmware: &Firmware<'_>) -> Result<(), ThreadError> {
        threads::fetch(server, firmware)
    }

    fn split_cores(&self, subcores: u32) -> Result<(), SplitError> {
        core_registers::split_cores(subcores)
    }

    fn has_one_runner_per_core(&self) -> bool {
        #[cfg(feature = "power8")]
        return prefetch::is_the_patch();
        #[cfg(not(feature = "power8"))]
        false
    }

    #[cfg(feature = "power8")]
    fn learned(&self) -> alloc::vec::Vec<Learned> {
        prefetch::learned()
    }

    fn run_on_threads(&self, work: &(dyn Fn(usize) + Sync)) {
        #[cfg(feature = "power8")]
        let work = &|thread| {
            work(thread);
            prefetch::ends();
        };
        threads::run(work);
    }

    fn ring(&self, thread: usize) {
        threads::ring(thread);
    }

    fn clear_doorbell(&self) {
        threads::clear_doorbell();
    }

    #[inline(always)]
    fn is_rung(&self) -> bool {
        threads::is_rung()
    }

    fn wait(&self, until: u64) {
        threads::wait(until);
    }
}

impl Platform for Machine {
    fn console_write(&self, bytes: &[u8]) {
        opal::console_write(bytes);
    }

    fn console_read(&self, into: &mut [u8]) -> usize {
        opal::console_read(into)
    }

    fn keep_heap(&self, bytes: u64) {
        memory::keep(bytes);
    }

    fn heap_room(&self) -> Option<u64> {
        memory::room()
    }

    fn timebase(&self) -> u64 {
        read::<{ spr::TB }>()
    }

    fn advance_timebase(&self, ticks: u64) {
        threads::advance(ticks);
    }

    fn random(&self) -> Option<u64> {
        random()
    }

    fn date_time(&self) -> Option<DateTime> {
        let (date, time) = opal::clock()?;
        DateTime::from_digits(date, time)
    }

    fn mark(&self, work: Work) {
        // SAFETY: traps that never trap.
        unsafe {
            match work {
                Work::Start => {
                    asm!(".long {}", const Mark::Begin(Region::PARTITION_START).word().0)
                }
                Work::Fill => asm!(".long {}", const Mark::Begin(Region::PARTITION_FILL).word().0),
                Work::Other => asm!(".long {}", const Mark::End(Region::PARTITION_START).word().0),
            }
        }
    }

    fn mitigate(&self, mitigations: Mitigations) {
        mitigations::apply(mitigations);
    }

    fn power_off(&self) -> ! {
        opal::power_off()
    }
}

impl Facilities for Machine {
    fn begin_facility(&self, facility: Facility, record: &mut Demanded) {
        facilities::begin(facility, record);
    }

    fn has_monitor_alert(&self) -> bool {
        monitor::alerts(read::<{ spr::MMCR0 }>())
    }

    fn allow_stop(&self, allows: bool) {
        facilities::allow_stop(allows);
    }

    fn process(&self) -> u64 {
        read::<{ spr::PIDR }>()
    }

    fn segments(&self, lpcr: u64) -> [[u64; 2]; segment::ENTRIES] {
        segments::read(lpcr)
    }

    fn set_sprg0(&self, value: u64) {
        // SAFETY: the hypervisor keeps nothing there.
        unsafe { write::<{ spr::SPRG0 }>(value) };
    }

    fn set_control(&self, lpcr: u64, lpid: u32) {
        // SAFETY: it is that with which the partition runs.
        unsafe { residents::set_guest_control(lpcr, lpid) };
    }
}

impl Enter for Machine {
    #[inline(always)]
    fn enter_guest(&self, running: &mut Running<'_, Self>, until: u64) -> Departure {
        let registers: *mut Registers = &raw mut *running.registers;
        let lpcr = running.lpcr;
        let cpu = per_cpu();
        // It takes time, which is none of the vCPU's.
        core_registers::catch_up(running.lpid());
        let now = read::<{ spr::TB }>();
        running.entered = now;
        // SAFETY: `running` and the record are borrowed for the whole call, and the exits' handlers, which
        // use these pointers, run within it. MSR[HV] of the record is cleared here, so hrfid enters the
        // partition and nothing else.
        unsafe {
            (*registers).msr =
                ((*registers).msr & const { PROCESSOR.facts().msr } & !msr::HV) | msr::ME;
            (*cpu).hypercalls = [0; 2];
            (*cpu).system = ptr::from_ref(running.system).cast();
            (*cpu).guest = ptr::from_mut(running).cast();
            if residents::set_guest_control(lpcr, running.lpid()) {
                #[cfg(not(feature = "power8"))]
                enter_hashed(registers, running, until, now);
                #[cfg(feature = "power8")]
                enter_between_looks(registers, running, until, now);
            } else {
                let offset = running.timebase_offset();
                if residents::enter(&*registers, lpcr, offset, until, now) {
                    hal_enter_called_guest(registers);
                } else {
                    hal_enter_guest(registers);
                }
            }
            (*cpu).guest = ptr::null_mut();
        }
        // The handlers had it; what was borrowed from it before them is borrowed again.
        running.left = residents::left(running.timebase_offset());
        // SAFETY: as above; the counters are not changed outside of a guest.
        running.hypercalls = unsafe { (*cpu).hypercalls };
        running.departure.take().expect("an exit that leaves says why")
    }

    fn save_registers(
        &self,
        into: &mut Registers,
        demanded: Option<&mut Demanded>,
        common: Common,
    ) -> u64 {
        residents::save(into, demanded, common)
    }

    #[inline(always)]
    fn read_ahead<const PART: usize>(&self, into: &mut Registers) {
        residents::read_ahead::<PART>(into);
    }

    fn load_registers(&self, from: &Registers, demanded: Option<&Demanded>, common: Common) {
        residents::load(from, demanded, common);
    }

    #[inline(always)]
    fn load_more<const PART: usize>(&self, from: &Registers) {
        residents::load_more::<PART>(from);
    }

    fn save_eagerly(&self, into: &mut Registers, common: Common, without: Excesses) -> u64 {
        eager::save(into, common, without)
    }

    fn load_eagerly(&self, from: &Registers, common: Common, until: u64, without: Excesses) {
        eager::load(from, common, until, without);
    }

    fn decrementer_expires(&self, _: &Registers, common: Common) -> u64 {
        residents::decrementer_expires(common)
    }

    fn set_save_registers(&self, registers: &mut Registers, srr0: u64, srr1: u64) {
        residents::set_save_registers(srr0, srr1);
        (registers.supervisor.srr0, registers.supervisor.srr1) = (srr0, srr1);
        // SAFETY: the vCPU's, and the hypervisor returns to it by HSRR0 and HSRR1.
        unsafe {
            write::<{ spr::SRR0 }>(srr0);
            write::<{ spr::SRR1 }>(srr1);
        }
    }
}

/// Enters a guest with a hashed page table.
///
/// # Safety
/// As `hal_enter_guest`.
#[cold]
#[inline(never)]
unsafe fn enter_hashed(
    registers: *mut Registers,
    running: *const Running<'_, Machine>,
    until: u64,
    now: u64,
) {
    // SAFETY: the caller's promise. The real door leads to such a guest's exits only while it runs.
    unsafe {
        let (lpcr, offset) = ((*running).lpcr, (*running).timebase_offset());
        residents::enter(&*registers, lpcr, offset, until, now);
        Doors::of_hash((*running).system.policy.hash_calls).set();
        hal_enter_hash_guest(registers);
        Doors::RADIX.set();
    }
}

/// The same, as often as the guest leaves only for another thread's sake, whose time has come, or so that it is seen
/// whether the prefetch engine is free.
///
/// # Safety
/// As [`enter_hashed`]; exits find `running`.
#[cfg(feature = "power8")]
unsafe fn enter_between_looks(
    registers: *mut Registers,
    running: *mut Running<'_, Machine>,
    until: u64,
    mut now: u64,
) {
    // SAFETY: the caller's promise; no handler has `running` between two entries.
    unsafe {
        loop {
            let vcpu = ((*running).vcpu(), (*running).lpid());
            let look;
            (look, now) = prefetch::enters(vcpu, until, now);
            core_registers::begin_stay(until);
            enter_hashed(registers, running, look, now);
            core_registers::end_stay();
            prefetch::exits(vcpu.0);
            if (*running).departure.is_some() {
                return;
            }
            now = read::<{ spr::TB }>();
            (*registers).msr &= !msr::HV;
        }
    }
}

/// A partition's page, with all rights.
fn leaf(page: Page) -> Leaf {
    Leaf {
        base: page.real,
        rights: rights::READ | rights::WRITE | rights::EXECUTE,
        attributes: 0,
        referenced: true,
        changed: true,
    }
}
