//! A machine with several hardware threads, each a thread of loom's. Only doorbells and waiting are more than the
//! fake machine's.

use alloc::vec::Vec;
use core::cell::Cell;
use core::sync::atomic::{AtomicBool, Ordering};

use arch::address::RealAddress;
use arch::bundle::MapPolicy;
use arch::excess::Excesses;
use arch::hash::{GROUP_ENTRIES, VirtualPage, segment};
use arch::interrupt::Vector;
use arch::radix::TableLocation;
use arch::registers::hfscr::Facility;
use loom::sync::atomic::fence;
use loom::sync::{Condvar, Mutex};

use crate::boot::firmware::Firmware;
use crate::boot::mitigations::Mitigations;
use crate::calendar::DateTime;
use crate::dispatch::{Enter, Running};
use crate::exit::{Action, Door, Exit};
use crate::facilities::{Demanded, Facilities};
use crate::fake::{Fake, FakeMaps, FakeWindow};
use crate::hal::{
    HalError, Page, Platform, SplitError, Tables, ThreadError, Threads, Windows, Work,
};
use crate::life::activity::Activity;
use crate::life::outcome::Departure;
use crate::memory::Range;
use crate::partition::Common;
use crate::scheduling::schedule::FAR;
use crate::sync::{Home, TableEntry};
use crate::vcpu::Vcpu;
use crate::vcpu::registers::Registers;
use crate::vcpu_id::VcpuId;

loom::thread_local! {
    /// Which hardware thread this is.
    static INDEX: Cell<usize> = Cell::new(0);
}

/// Names the thread of loom's that calls.
pub(super) fn set_index(index: usize) {
    INDEX.with(|own| own.set(index));
}

/// What a vCPU does until it leaves.
pub(super) type Program = fn(&mut Running<'_, Machine>, until: u64) -> Departure;

/// A processor's doorbell: it stays rung until it is cleared. Who waits for ever is found as a deadlock.
#[derive(Debug)]
struct Doorbell {
    is_rung: Mutex<bool>,
    rings: Condvar,
}

/// The machine. Time passes only where somebody waits for it.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) fake: Fake,
    doorbells: Vec<Doorbell>,
    /// By hardware thread, the one register that stays in its processor until another vCPU enters: how often
    /// the vCPU whose it is was entered, as its record says too.
    processors: Vec<std::sync::Mutex<u64>>,
    program: Program,
    /// A hardware thread was the only one to forget a page.
    pub(super) forgot_here: AtomicBool,
}

/// The register that says the same and is in the record.
pub(super) const ENTRIES: usize = 20;

impl Machine {
    pub(super) fn new(threads: usize, bytes: usize, program: Program) -> Self {
        let doorbell = |_| Doorbell { is_rung: Mutex::new(false), rings: Condvar::new() };
        let doorbells = (0..threads).map(doorbell).collect();
        let processors = (0..threads).map(|_| std::sync::Mutex::default()).collect();
        let forgot_here = AtomicBool::new(false);
        Self { fake: Fake::new(bytes), doorbells, processors, program, forgot_here }
    }

    fn own_processor(&self) -> std::sync::MutexGuard<'_, u64> {
        self.processors[INDEX.with(Cell::get)].lock().expect("no thread has failed")
    }

    fn own_doorbell(&self) -> &Doorbell {
        &self.doorbells[INDEX.with(Cell::get)]
    }

    /// Until the doorbell is rung, which is the answer, or the time comes: at once, unless it is too far to come
    /// at all.
    fn stay(&self, until: u64) -> bool {
        let Doorbell { is_rung, rings } = self.own_doorbell();
        let mut is_rung = is_rung.lock().expect("no thread has failed");
        let now = &self.fake.timebase;
        while !*is_rung {
            if until.saturating_sub(now.get()) < FAR / 2 {
                now.set(now.get().max(until));
                return false;
            }
            is_rung = rings.wait(is_rung).expect("no thread has failed");
        }
        true
    }

    /// Runs the guest's own instructions until something interrupts them.
    pub(super) fn compute(running: &mut Running<'_, Self>, until: u64) -> Departure {
        let machine = running.system.hal;
        let vector = if machine.stay(until) {
            Vector::DirectedHypervisorDoorbell
        } else {
            Vector::HypervisorDecrementer
        };
        match running.exit(Door::Virtual, Exit::Other(vector)) {
            Action::Departs(departure) => departure,
            action => unreachable!("{action:?}"),
        }
    }
}

impl Windows for Machine {
    type Maps<'a> = FakeMaps<'a>;
    type Pinned = FakeWindow;

    fn maps(&self) -> FakeMaps<'_> {
        self.fake.maps()
    }

    fn map_as(
        &self,
        policy: MapPolicy,
        memory: &mut dyn Iterator<Item = Range>,
    ) -> Result<(), HalError> {
        self.fake.map_as(policy, memory)
    }

    fn pin_window(
        &self,
        vcpu: VcpuId,
        address: RealAddress,
        bytes: u64,
    ) -> Result<FakeWindow, HalError> {
        self.fake.pin_window(vcpu, address, bytes)
    }
}

impl Tables for Machine {
    const PROCESSOR: arch::processor::Processor = arch::processor::Processor::Power9;

    type Tables = Vec<Page>;

    fn new_tables(&self, lpid: u32) -> Result<Vec<Page>, HalError> {
        self.fake.new_tables(lpid)
    }

    /// A table of one group, whatever the size: loom tries no more entries than that in reasonable time.
    fn new_hash_table(&self, _: u32, _: u32) -> Result<&'static [TableEntry], HalError> {
        Ok((0..GROUP_ENTRIES).map(|_| TableEntry::zero()).collect::<Vec<_>>().leak())
    }

    fn set_hash_table(&self, lpid: u32, entries: &'static [TableEntry]) {
        self.fake.set_hash_table(lpid, entries);
    }

    fn publish_entries(&self) {}

    fn forget_pages<const COUNT: usize>(
        &self,
        lpid: u32,
        home: &Home,
        pages: [Option<VirtualPage>; COUNT],
    ) {
        fence(Ordering::SeqCst);
        if home.is(INDEX.with(Cell::get)) {
            self.forgot_here.store(true, Ordering::Relaxed);
        }
        self.fake.forget_pages(lpid, home, pages);
    }

    fn forget_hashed(&self, lpid: u32) {
        self.fake.forget_hashed(lpid);
    }

    fn map_page(&self, tables: &mut Vec<Page>, page: Page) -> Result<(), HalError> {
        self.fake.map_page(tables, page)
    }

    fn merge_pages(&self, lpid: u32, tables: &mut Vec<Page>, page: Page) -> Result<(), HalError> {
        self.fake.merge_pages(lpid, tables, page)
    }

    fn set_process_table(&self, lpid: u32, table: Option<TableLocation>) {
        self.fake.set_process_table(lpid, table);
    }

    fn complete_invalidations(&self) {}

    fn forget_translations(&self, lpid: u32) {
        self.fake.forget_translations(lpid);
    }

    fn take_core(&self, lpid: u32) {
        self.fake.take_core(lpid);
    }

    fn forget_in_core(&self, lpid: u32) {
        self.fake.forget_in_core(lpid);
    }
}

impl Threads for Machine {
    fn boot_thread(&self) -> u32 {
        0
    }

    fn fetch_thread(&self, _: u32, _: &Firmware<'_>) -> Result<(), ThreadError> {
        Err(ThreadError::TooMany)
    }

    fn split_cores(&self, _: u32) -> Result<(), SplitError> {
        Err(SplitError::Impossible)
    }

    fn has_one_runner_per_core(&self) -> bool {
        false
    }

    fn run_on_threads(&self, _: &(dyn Fn(usize) + Sync)) {
        unreachable!("the models have threads of their own");
    }

    fn ring(&self, thread: usize) {
        let Doorbell { is_rung, rings } = &self.doorbells[thread];
        *is_rung.lock().expect("no thread has failed") = true;
        rings.notify_one();
    }

    fn clear_doorbell(&self) {
        *self.own_doorbell().is_rung.lock().expect("no thread has failed") = false;
    }

    fn is_rung(&self) -> bool {
        *self.own_doorbell().is_rung.lock().expect("no thread has failed")
    }

    fn wait(&self, until: u64) {
        self.stay(until);
    }
}

impl Platform for Machine {
    fn console_write(&self, bytes: &[u8]) {
        self.fake.console_write(bytes);
    }

    fn console_read(&self, into: &mut [u8]) -> usize {
        self.fake.console_read(into)
    }

    fn timebase(&self) -> u64 {
        self.fake.timebase()
    }

    fn advance_timebase(&self, ticks: u64) {
        self.fake.advance_timebase(ticks);
    }

    fn random(&self) -> Option<u64> {
        None
    }

    fn date_time(&self) -> Option<DateTime> {
        None
    }

    fn mark(&self, _: Work) {}

    fn mitigate(&self, _: Mitigations) {}

    fn power_off(&self) -> ! {
        unreachable!("the models do not switch the machine off");
    }
}

impl Facilities for Machine {
    fn begin_facility(&self, _: Facility, _: &mut Demanded) {}

    fn allow_stop(&self, _: bool) {}

    fn has_monitor_alert(&self) -> bool {
        false
    }

    fn process(&self) -> u64 {
        unreachable!("no vCPU of the models uses doorbells");
    }

    fn segments(&self, _: u64) -> [[u64; 2]; segment::ENTRIES] {
        unreachable!("no vCPU of the models uses doorbells");
    }

    fn set_sprg0(&self, _: u64) {}

    fn set_control(&self, _: u64, _: u32) {}
}

impl Enter for Machine {
    fn enter_guest(&self, running: &mut Running<'_, Self>, until: u64) -> Departure {
        running.entered = self.timebase();
        let entries = &mut running.registers.gpr[ENTRIES];
        assert_eq!(*self.own_processor(), *entries, "the processor has what the vCPU left");
        *entries += 1;
        *self.own_processor() += 1;
        let departure = (self.program)(running, until);
        running.left = self.timebase();
        // Nobody else has made anything of it meanwhile.
        let (partition, vcpu) = running.place;
        let partition = running.system.partitions()[partition].lock();
        let Vcpu { id, .. } = partition.vcpus[vcpu];
        assert!(
            !running.system.schedule.lock().queue.is_ready(id),
            "it runs, and another thread may take it"
        );
        let activity = partition.vcpus[vcpu].activity();
        assert_eq!(activity, Activity::Running { thread: running.thread });
        assert_eq!(partition.life.outcome(), None, "it is over, and a vCPU runs");
        departure
    }

    fn save_registers(&self, into: &mut Registers, _: Option<&mut Demanded>, _: Common) -> u64 {
        into.supervisor.sprg0 = *self.own_processor();
        self.timebase()
    }

    fn load_registers(&self, from: &Registers, _: Option<&Demanded>, _: Common) {
        *self.own_processor() = from.supervisor.sprg0;
    }

    fn save_eagerly(&self, into: &mut Registers, common: Common, _: Excesses) -> u64 {
        self.save_registers(into, None, common)
    }

    fn load_eagerly(&self, from: &Registers, common: Common, _: u64, _: Excesses) {
        self.load_registers(from, None, common);
    }

    fn decrementer_expires(&self, registers: &Registers, _: Common) -> u64 {
        registers.supervisor.decrementer_expires
    }

    fn set_save_registers(&self, registers: &mut Registers, srr0: u64, srr1: u64) {
        (registers.supervisor.srr0, registers.supervisor.srr1) = (srr0, srr1);
    }
}
