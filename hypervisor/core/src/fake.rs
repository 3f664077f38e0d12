//! A machine for the tests and the fuzz targets: a few MiB of memory in a vector, and a record of what was
//! asked of it.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use arch::address::RealAddress;
use arch::bundle::MapPolicy;
use arch::excess::Excesses;
use arch::hash::{VirtualPage, segment};
use arch::radix::TableLocation;
use arch::registers::hfscr::Facility;
use arch::registers::{lpcr, monitor, mppr};
use spin::Mutex;

use crate::boot::firmware::Firmware;
use crate::boot::mitigations::Mitigations;
use crate::calendar::DateTime;
use crate::dispatch::{Enter, Running};
use crate::facilities::{Demanded, Facilities};
use crate::hal::{
    HalError, Maps, Page, Platform, SplitError, Tables, ThreadError, Threads, Window, Windows, Work,
};
use crate::hypercall::Guest;
use crate::life::outcome::Departure;
use crate::map_cache::{FRAME_LOG2, Frame};
use crate::memory::Range;
use crate::partition::{Common, Partition};
use crate::prefetch::{Levels, Missed, PrefetchEngine};
use crate::sync::{Home, TableEntry};
use crate::vcpu::registers::{Registers, Supervisor};
use crate::vcpu_id::VcpuId;

/// The machine. Memory begins as garbage, so that a page that was not zeroed is seen.
#[derive(Debug)]
pub struct Fake {
    /// The machine's memory.
    pub memory: Rc<RefCell<Vec<u8>>>,
    /// Windows that are open now.
    pub open_windows: Rc<Cell<usize>>,
    /// vCPUs that have a window at their place.
    pub pinned: Rc<RefCell<BTreeSet<VcpuId>>>,
    /// What was written to the console.
    pub output: RefCell<Vec<u8>>,
    /// What waits on the console.
    pub input: RefCell<Vec<u8>>,
    /// The time base. Only the tests and [`Threads::wait`] move it.
    pub timebase: Cell<u64>,
    /// How often a guest was entered.
    pub entries: Cell<u64>,
    /// The process table that was set last, with its LPID.
    pub process_table: Cell<Option<(u32, Option<TableLocation>)>>,
    /// Pages that can still be mapped, and windows pinned.
    pub tables_left: Cell<usize>,
    /// What [`Platform::random`] answers.
    pub random: Cell<Option<u64>>,
    /// What [`Platform::date_time`] answers.
    pub date_time: Cell<Option<DateTime>>,
    /// What stays in the processor until another vCPU enters, with the partition's number.
    pub processor: RefCell<Option<Processor>>,
    /// The registers of the facilities that are on by demand, and which are on.
    pub facilities: RefCell<Demanded>,
    /// Whether a vCPU that has used `stop` executes it without an exit.
    pub allows_stop: Cell<bool>,
    /// SPRG0 that was set last.
    pub sprg0: Cell<u64>,
    /// PIDR of the vCPU that has left.
    pub process: Cell<u64>,
    /// Its segment lookaside buffer.
    pub segments: RefCell<[[u64; 2]; segment::ENTRIES]>,
    /// LPCR that was set last behind a hypercall.
    pub control: Cell<u64>,
    /// Hardware threads whose doorbell was rung.
    pub rung: RefCell<Vec<usize>>,
    /// LPIDs whose translations were forgotten, and whether by all cores.
    pub forgotten: RefCell<Vec<(u32, bool)>>,
    /// How long it takes to forget the translations of a hashed page table.
    pub ticks_of_forgetting: Cell<u64>,
    /// Pages of hashed page tables that were forgotten, with the LPID.
    pub forgotten_pages: RefCell<Vec<(u32, VirtualPage)>>,
    /// What the prefetch engine was told, in that order.
    pub engine: RefCell<Vec<Command>>,
    /// It has not done what it was told last.
    pub is_engine_at_work: Cell<bool>,
    /// An alert of the performance monitor comes as soon as somebody has looked for one.
    pub alerts_later: Cell<bool>,
    /// Instructions that were completed.
    pub completed: Cell<u64>,
    /// Loads that missed the caches, where the performance monitor is the hypervisor's.
    pub missed: Cell<Option<Missed>>,
    /// Tables that can still be made for it.
    pub logs_left: Cell<u64>,
    /// Whether the doorbell was rung; asked anew each time.
    pub rings: RefCell<Rings>,
    /// What guests do when they are entered, with which LPCR and until when.
    pub script: RefCell<Script>,
    /// The hashed page tables that the processor was told of, with whose they are.
    pub tables_in_use: RefCell<Vec<(u32, &'static [TableEntry])>>,
    hash_tables: HashTables,
}

/// Hashed page tables of machines that are gone.
static SPARE: Mutex<Vec<&'static [TableEntry]>> = Mutex::new(Vec::new());

/// Hashed page tables that a machine has given out. They are there for good, as a real machine's are; but tests make
/// thousands of machines, so that the next one gets them.
#[derive(Debug, Default)]
struct HashTables(RefCell<Vec<&'static [TableEntry]>>);

impl HashTables {
    /// An empty one.
    fn give_out(&self, entries: usize) -> &'static [TableEntry] {
        let mut spare = SPARE.lock();
        let place = spare.iter().position(|table| table.len() == entries);
        let old = place.map(|place| spare.swap_remove(place));
        drop(spare);
        for entry in old.into_iter().flatten() {
            entry.set_second(0);
            entry.give(0);
        }
        let new = || (0..entries).map(|_| TableEntry::zero()).collect::<Vec<_>>().leak();
        let table = old.unwrap_or_else(|| new());
        self.0.borrow_mut().push(table);
        table
    }
}

impl Drop for HashTables {
    fn drop(&mut self) {
        SPARE.lock().append(self.0.get_mut());
    }
}

/// What stays in the processor until another vCPU enters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Processor {
    /// Whose.
    pub lpid: u32,
    /// Special-purpose registers.
    pub supervisor: Supervisor,
}

/// What a prefetch engine is told: with which table, and for which partition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    /// To log.
    Log(RealAddress, Levels),
    /// To fetch.
    Fetch(RealAddress, u32),
    /// To log no more.
    EndLog,
    /// To fetch no more.
    EndFetch,
}

/// What a guest does until it leaves, with this LPCR and until this time.
type Play = dyn FnMut(&Fake, &mut Guest<'_, Fake>, u64, u64) -> Departure;

/// An answer that can be shown.
pub struct Rings(Box<dyn FnMut() -> bool>);

impl core::fmt::Debug for Rings {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Rings")
    }
}

/// A [`Play`] that can be shown.
pub struct Script(Box<Play>);

impl core::fmt::Debug for Script {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Script")
    }
}

impl Fake {
    /// A machine with so many bytes of memory.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self {
            memory: Rc::new(RefCell::new(vec![0xA5; bytes])),
            open_windows: Rc::default(),
            pinned: Rc::default(),
            output: RefCell::default(),
            input: RefCell::default(),
            timebase: Cell::default(),
            entries: Cell::default(),
            process_table: Cell::default(),
            tables_left: Cell::new(usize::MAX),
            random: Cell::default(),
            date_time: Cell::default(),
            processor: RefCell::default(),
            facilities: RefCell::default(),
            allows_stop: Cell::default(),
            sprg0: Cell::default(),
            process: Cell::default(),
            segments: RefCell::new([[0; 2]; segment::ENTRIES]),
            control: Cell::default(),
            rung: RefCell::default(),
            forgotten: RefCell::default(),
            ticks_of_forgetting: Cell::default(),
            forgotten_pages: RefCell::default(),
            engine: RefCell::default(),
            is_engine_at_work: Cell::default(),
            alerts_later: Cell::new(false),
            completed: Cell::default(),
            missed: Cell::default(),
            logs_left: Cell::new(u64::MAX),
            tables_in_use: RefCell::default(),
            hash_tables: HashTables::default(),
            rings: RefCell::new(Rings(Box::new(|| false))),
            script: RefCell::new(Script(Box::new(|_, _, _, _| {
                unreachable!("no guest is entered")
            }))),
        }
    }

    /// Says when the doorbell was rung.
    pub fn ring_when(&self, rings: impl FnMut() -> bool + 'static) {
        self.rings.replace(Rings(Box::new(rings)));
    }

    /// Says what guests do when they are entered.
    pub fn play(
        &self,
        script: impl FnMut(&Self, &mut Guest<'_, Self>, u64, u64) -> Departure + 'static,
    ) {
        self.script.replace(Script(Box::new(script)));
    }

    /// A partition over `memory`, the range of the machine's memory.
    ///
    /// # Panics
    /// Never: there are tables.
    #[must_use]
    pub fn partition(&self, memory: Range) -> Partition<Self> {
        Partition::new(self, String::from("test"), 1, memory).unwrap()
    }

    /// What was written to the console.
    ///
    /// # Panics
    /// If that is not text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8(self.output.borrow().clone()).unwrap()
    }
}

/// A window: a copy that is written back when it is closed.
#[derive(Debug)]
pub struct FakeWindow {
    memory: Rc<RefCell<Vec<u8>>>,
    open_windows: Rc<Cell<usize>>,
    pinned: Rc<RefCell<BTreeSet<VcpuId>>>,
    /// Whose place it is in, if it is pinned.
    vcpu: Option<VcpuId>,
    start: usize,
    bytes: usize,
}

impl Window for FakeWindow {
    fn read(&self, offset: usize, into: &mut [u8]) {
        assert!(offset + into.len() <= self.bytes);
        let start = self.start + offset;
        into.copy_from_slice(&self.memory.borrow()[start..start + into.len()]);
    }

    fn write(&mut self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= self.bytes);
        let start = self.start + offset;
        self.memory.borrow_mut()[start..start + bytes.len()].copy_from_slice(bytes);
    }

    fn copy_from(&mut self, offset: usize, from: &Self, bytes: usize) {
        assert!(bytes <= from.bytes && offset + bytes <= self.bytes);
        self.memory.borrow_mut().copy_within(from.start..from.start + bytes, self.start + offset);
    }

    fn zero(&mut self) {
        self.memory.borrow_mut()[self.start..self.start + self.bytes].fill(0);
    }

    fn make_fetchable(&mut self) {}
}

impl Drop for FakeWindow {
    fn drop(&mut self) {
        self.open_windows.set(self.open_windows.get() - 1);
        if let Some(vcpu) = self.vcpu {
            self.pinned.borrow_mut().remove(&vcpu);
        }
    }
}

/// Windows that one piece of work opens: nothing is remembered of them.
#[derive(Debug)]
pub struct FakeMaps<'a>(&'a Fake);

impl Maps for FakeMaps<'_> {
    type Window<'a>
        = FakeWindow
    where
        Self: 'a;

    fn open(&self, address: RealAddress, bytes: u64) -> Result<FakeWindow, HalError> {
        let Self(fake) = self;
        let end = address.checked_add(bytes).ok_or(HalError::BadRange)?;
        let span = end.0 - Frame::of(address).start().0;
        let memory = fake.memory.borrow().len() as u64;
        if bytes == 0 || span > 1 << FRAME_LOG2 || end.0 > memory {
            return Err(HalError::BadRange);
        }
        fake.open_windows.set(fake.open_windows.get() + 1);
        Ok(FakeWindow {
            memory: fake.memory.clone(),
            open_windows: fake.open_windows.clone(),
            pinned: fake.pinned.clone(),
            vcpu: None,
            start: address.0 as usize,
            bytes: bytes as usize,
        })
    }
}

impl Windows for Fake {
    type Maps<'a> = FakeMaps<'a>;
    type Pinned = FakeWindow;

    fn maps(&self) -> FakeMaps<'_> {
        FakeMaps(self)
    }

    fn map_as(&self, _: MapPolicy, _: &mut dyn Iterator<Item = Range>) -> Result<(), HalError> {
        Ok(())
    }

    fn pin_window(
        &self,
        vcpu: VcpuId,
        address: RealAddress,
        bytes: u64,
    ) -> Result<FakeWindow, HalError> {
        if self.pinned.borrow().contains(&vcpu) {
            return Err(HalError::MapConflict);
        }
        self.tables_left.set(self.tables_left.get().checked_sub(1).ok_or(HalError::OutOfTables)?);
        let mut window = self.maps().open(address, bytes)?;
        self.pinned.borrow_mut().insert(vcpu);
        window.vcpu = Some(vcpu);
        Ok(window)
    }
}

impl Tables for Fake {
    const PROCESSOR: arch::processor::Processor = arch::processor::Processor::Power9;

    type Tables = Vec<Page>;

    fn new_tables(&self, _: u32) -> Result<Vec<Page>, HalError> {
        Ok(Vec::new())
    }

    fn new_hash_table(&self, _: u32, bytes_log2: u32) -> Result<&'static [TableEntry], HalError> {
        Ok(self.hash_tables.give_out(1 << (bytes_log2 - 4)))
    }

    fn set_hash_table(&self, lpid: u32, entries: &'static [TableEntry]) {
        self.tables_in_use.borrow_mut().push((lpid, entries));
    }

    fn publish_entries(&self) {}

    fn forget_pages<const COUNT: usize>(
        &self,
        lpid: u32,
        _: &Home,
        pages: [Option<VirtualPage>; COUNT],
    ) {
        let pages = pages.into_iter().flatten();
        self.forgotten_pages.borrow_mut().extend(pages.map(|page| (lpid, page)));
    }

    fn forget_hashed(&self, lpid: u32) {
        self.advance_timebase(self.ticks_of_forgetting.get());
        self.forgotten.borrow_mut().push((lpid, true));
    }

    fn map_page(&self, tables: &mut Vec<Page>, page: Page) -> Result<(), HalError> {
        let left = self.tables_left.get().checked_sub(1).ok_or(HalError::OutOfTables)?;
        self.tables_left.set(left);
        let range = |page: &Page| Range::new(page.guest.0, 1 << page.bytes_log2);
        if tables.iter().any(|other| range(other).overlaps(range(&page))) {
            return Err(HalError::MapConflict);
        }
        tables.push(page);
        Ok(())
    }

    fn merge_pages(&self, lpid: u32, tables: &mut Vec<Page>, page: Page) -> Result<(), HalError> {
        let of_page = |other: &Page| other.guest.align_down(page.bytes_log2) == page.guest;
        let (pieces, others): (Vec<_>, _) = tables.drain(..).partition(of_page);
        let bytes: u64 = pieces.iter().map(|piece| 1 << piece.bytes_log2).sum();
        let lie_right = |piece: &Page| piece.real.0 - page.real.0 == piece.guest.0 - page.guest.0;
        assert!(bytes == 1 << page.bytes_log2 && pieces.iter().all(lie_right), "{pieces:?}");
        *tables = others;
        tables.push(page);
        self.forgotten.borrow_mut().push((lpid, true));
        Ok(())
    }

    fn set_process_table(&self, lpid: u32, table: Option<TableLocation>) {
        self.process_table.set(Some((lpid, table)));
    }

    fn complete_invalidations(&self) {}

    fn forget_translations(&self, lpid: u32) {
        self.forgotten.borrow_mut().push((lpid, true));
    }

    fn take_core(&self, _: u32) {}

    fn forget_in_core(&self, lpid: u32) {
        self.forgotten.borrow_mut().push((lpid, false));
    }
}

impl Threads for Fake {
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

    fn run_on_threads(&self, work: &(dyn Fn(usize) + Sync)) {
        work(0);
    }

    fn ring(&self, thread: usize) {
        self.rung.borrow_mut().push(thread);
    }

    fn clear_doorbell(&self) {}

    fn is_rung(&self) -> bool {
        (self.rings.borrow_mut().0)()
    }

    fn wait(&self, until: u64) {
        self.timebase.set(self.timebase.get().max(until));
    }
}

impl Platform for Fake {
    fn console_write(&self, bytes: &[u8]) {
        self.output.borrow_mut().extend_from_slice(bytes);
    }

    fn console_read(&self, into: &mut [u8]) -> usize {
        let mut input = self.input.borrow_mut();
        let bytes = into.len().min(input.len());
        for (to, from) in into.iter_mut().zip(input.drain(..bytes)) {
            *to = from;
        }
        bytes
    }

    fn timebase(&self) -> u64 {
        self.timebase.get()
    }

    fn advance_timebase(&self, ticks: u64) {
        self.timebase.set(self.timebase.get() + ticks);
    }

    fn random(&self) -> Option<u64> {
        self.random.get()
    }

    fn date_time(&self) -> Option<DateTime> {
        self.date_time.get()
    }

    fn mark(&self, _: Work) {}

    fn mitigate(&self, _: Mitigations) {}

    fn power_off(&self) -> ! {
        unreachable!("the tests do not switch the machine off");
    }
}

/// Copies what is a floating-point register's.
fn put_floating(into: &mut Demanded, from: &Demanded) {
    into.fpscr = from.fpscr;
    for (into, from) in into.vsr.iter_mut().zip(&from.vsr).take(32) {
        into[0] = from[0];
    }
}

impl Facilities for Fake {
    fn begin_facility(&self, facility: Facility, record: &mut Demanded) {
        let mut on = self.facilities.borrow_mut();
        let before = on.given;
        (on.facilities, on.given) = (record.facilities, record.given);
        match facility {
            Facility::Fp => put_floating(&mut on, record),
            Facility::VecVsx => {
                if before & Facility::Fp.bit() != 0 {
                    put_floating(record, &on);
                }
                put_floating(&mut on, record);
                (on.vsr, on.vscr) = (record.vsr, record.vscr);
            }
            Facility::Dscr => on.streams = record.streams.clone(),
            Facility::Tar => on.target = record.target.clone(),
            Facility::Ebb => on.branches = record.branches.clone(),
            Facility::Pm => on.monitor = record.monitor.clone(),
            // Its register is one that every vCPU has.
            Facility::Stop => {}
            _ => unreachable!("nobody gets {facility:?} on demand"),
        }
    }

    fn allow_stop(&self, allows: bool) {
        self.allows_stop.set(allows);
    }

    fn has_monitor_alert(&self) -> bool {
        let mmcr0 = &mut self.facilities.borrow_mut().monitor.mmcr0;
        let has_alert = monitor::alerts(*mmcr0);
        if self.alerts_later.take() {
            *mmcr0 |= monitor::PMAO;
        }
        has_alert
    }

    fn process(&self) -> u64 {
        self.process.get()
    }

    fn segments(&self, _: u64) -> [[u64; 2]; segment::ENTRIES] {
        *self.segments.borrow()
    }

    fn set_sprg0(&self, value: u64) {
        self.sprg0.set(value);
    }

    fn set_control(&self, lpcr: u64, _: u32) {
        self.control.set(lpcr);
    }
}

/// It refuses what no source defines: a log or a fetch beside a log, and a log beside a fetch.
impl PrefetchEngine for Fake {
    fn new_log(&self, levels: Levels) -> Option<RealAddress> {
        let left = self.logs_left.get().checked_sub(1)?;
        self.logs_left.set(left);
        Some(RealAddress(left.wrapping_mul(levels.table_bytes()) & mppr::TABLE))
    }

    fn begin_log(&self, table: RealAddress, levels: Levels) {
        assert!(!self.is_engine_at_work.replace(true), "it logs or fetches");
        self.engine.borrow_mut().push(Command::Log(table, levels));
    }

    fn end_log(&self) {
        self.is_engine_at_work.set(false);
        self.engine.borrow_mut().push(Command::EndLog);
    }

    fn begin_fetch(&self, table: RealAddress, lpid: u32) {
        assert!(!self.is_engine_at_work.replace(true), "it logs or fetches");
        self.engine.borrow_mut().push(Command::Fetch(table, lpid));
    }

    fn end_fetch(&self) {
        self.is_engine_at_work.set(false);
        self.engine.borrow_mut().push(Command::EndFetch);
    }

    fn is_at_work(&self) -> bool {
        self.is_engine_at_work.get()
    }

    fn completed(&self) -> u64 {
        self.completed.get()
    }

    fn missed(&self) -> Option<Missed> {
        self.missed.get()
    }
}

impl Enter for Fake {
    /// The script finds the registers where a vCPU's are that does not run.
    fn enter_guest(&self, running: &mut Running<'_, Self>, until: u64) -> Departure {
        let (index, vcpu) = running.place;
        let partition = &mut *running.system.partitions()[index].lock();
        let mut registers = running.registers.clone();
        let mut processor = self.processor.borrow_mut().take().expect("its registers were loaded");
        assert_eq!(processor.lpid, partition.lpid);
        registers.supervisor = processor.supervisor;
        partition.vcpus[vcpu].registers = Some(registers);
        let mut guest = Guest {
            hal: self,
            console: running.system.console,
            partition,
            vcpu,
            schedule: &running.system.schedule,
            is_mediated: running.lpcr & lpcr::MER != 0,
        };
        running.entered = self.timebase.get();
        let departure = (self.script.borrow_mut().0)(self, &mut guest, running.lpcr, until);
        running.left = self.timebase.get();
        // One by the door with relocation off.
        running.hypercalls = [0, 1];
        self.entries.set(self.entries.get() + 1);
        running.registers = partition.vcpus[vcpu].registers.take().expect("they stay there");
        // They are in the processor, and in the record only once they are saved.
        processor.supervisor = core::mem::take(&mut running.registers.supervisor);
        self.processor.replace(Some(processor));
        departure
    }

    fn save_registers(
        &self,
        into: &mut Registers,
        demanded: Option<&mut Demanded>,
        common: Common,
    ) -> u64 {
        let processor = self.processor.borrow();
        let processor = processor.as_ref().expect("somebody's registers were loaded");
        assert_eq!(processor.lpid, common.lpid);
        into.supervisor = processor.supervisor.clone();
        if let Some(demanded) = demanded {
            demanded.clone_from(&self.facilities.borrow());
        }
        self.timebase.get()
    }

    fn load_registers(&self, from: &Registers, demanded: Option<&Demanded>, common: Common) {
        let supervisor = from.supervisor.clone();
        self.processor.replace(Some(Processor { lpid: common.lpid, supervisor }));
        *self.facilities.borrow_mut() = demanded.cloned().unwrap_or_default();
    }

    fn save_eagerly(&self, into: &mut Registers, common: Common, _: Excesses) -> u64 {
        self.save_registers(into, None, common)
    }

    fn load_eagerly(&self, from: &Registers, common: Common, _: u64, _: Excesses) {
        self.load_registers(from, None, common);
    }

    fn decrementer_expires(&self, _: &Registers, _: Common) -> u64 {
        let processor = self.processor.borrow();
        processor.as_ref().expect("its registers were loaded").supervisor.decrementer_expires
    }

    fn set_save_registers(&self, _: &mut Registers, srr0: u64, srr1: u64) {
        let mut processor = self.processor.borrow_mut();
        let supervisor = &mut processor.as_mut().expect("its registers were loaded").supervisor;
        (supervisor.srr0, supervisor.srr1) = (srr0, srr1);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Fake;
    use crate::hal::Tables;

    #[test]
    fn the_next_machine_gets_an_empty_table() {
        // No other test has tables of this size.
        let table = |fake: &Fake| fake.new_hash_table(1, 9).unwrap();
        let first = Fake::new(0);
        let old = table(&first);
        assert_ne!(old.as_ptr(), table(&first).as_ptr());
        old[3].set_second(5);
        old[3].give(7);
        drop(first);
        let next = Fake::new(0);
        let both = [table(&next), table(&next)];
        assert!(both.iter().any(|table| table.as_ptr() == old.as_ptr()));
        let mut entries = both.into_iter().flatten();
        assert!(entries.all(|entry| (entry.first(), entry.second()) == (0, 0)));
    }
}
