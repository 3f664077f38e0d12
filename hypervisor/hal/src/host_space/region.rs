//! The windows of a hardware thread that come and go: its map cache, and where the cache's slots are.
//!
//! Slots whose frames are to be unreachable once they are released lie in quadrant 0. Each thread has a tree of
//! its own for them, with one table, that only its own PID finds, and one page is flushed by one `tlbiel`. With
//! another PID in PIDR, a guest's for instance, the thread itself does not find the slots, and neither does any
//! other. It changes to its PID with the first window of an exit and back with the end of it. LPIDR is 0
//! meanwhile, since `tlbiel` takes the LPID from there; quadrant 3, where the hypervisor is, implies both.
//!
//! A lazy cache has its slots in quadrant 3, where no register has to change for a frame that is mapped
//! already. A page cannot be flushed alone there, so that a flush is one of all translations of the
//! hypervisor's own in the core, for many slots at a time: each has several places, one after another.
//!
//! The tables are made once. `docs/decisions/0011-a-map-cache-for-each-thread.md` says why it is so. Nobody
//! opens a window in the handler of a machine check or a system reset: those end the hypervisor.

use alloc::boxed::Box;
use alloc::vec::Vec;

use arch::bundle::MapPolicy;
use arch::radix::Leaf;
use hypervisor_core::hal::HalError;
use hypervisor_core::map_cache::xen_v2::XenV2;
use hypervisor_core::map_cache::{
    FRAME_LOG2, Frame, LAPS, MapCache, MapError, Mode, Place, SLOTS, SlotSet, Table,
};
use hypervisor_core::memory::Range;

use super::layout::{DIRECT_BASE, LAZY_BASE, REGIONS_BASE};
use super::memory::HeapTables;
use super::windows::{RIGHTS_DATA, Reserved, frame_of, leaf};
use super::{domain, map};
use crate::host_state::per_cpu::{THREADS_MAX, per_cpu, per_cpu_of};
use crate::invalidation::{invalidate_host_in_core, invalidate_page_in_core};
use crate::radix::{LastTable, PAGE_2M, Tree};
use crate::registers::{isync, ptesync, read, spr, write};

/// Real address 0 with relocation off. Bit 0 keeps HRMOR out of it.
const REAL_BASE: u64 = 0xC000_0000_0000_0000;
const REGION_BYTES: u64 = 1 << PAGE_2M;
const _: () = assert!(SLOTS as u64 == REGION_BYTES >> FRAME_LOG2, "slots fill their table");
const _: () = assert!(SLOTS == LastTable::ENTRIES, "slots fill their table");
const _: () = assert!(
    REGIONS_BASE % REGION_BYTES == 0
        && (REGIONS_BASE + THREADS_MAX as u64 * REGION_BYTES) >> 52 == 0,
    "regions lie in quadrant 0"
);
const _: () = assert!(map::PIDS > THREADS_MAX, "each thread has a PID besides 0");

/// What a hardware thread opens windows with. No other thread has anything in its cache lines.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct MapRegion {
    way: Way,
    entries: Entries,
    /// Pieces of work that open windows, one within the other.
    works: u32,
}

/// How.
#[derive(Debug)]
enum Way {
    Ours(MapCache),
    XenV2(XenV2),
    Domain(domain::OfThread),
    /// All memory is within reach with relocation off, and not with it on.
    RealMode,
    /// All memory is mapped, and nothing has to be done.
    Direct,
}

/// The entries of the slots' places, and the thread's way to them.
#[derive(Debug)]
struct Entries {
    /// Of the slots' first places: in quadrant 0 they have no other ones.
    first: LastTable,
    /// Of the places behind these, by lap.
    later: Vec<LastTable>,
    /// Where the first place is.
    base: u64,
    /// Whose slots they are in quadrant 0; if it is nobody's, they are in quadrant 3.
    pid: Option<u32>,
    /// LPIDR and PIDR as they were before the thread's own were set.
    others: Option<[u64; 2]>,
}

impl Entries {
    /// Those in quadrant 0 of the thread with this index.
    fn private(index: usize) -> Result<Self, HalError> {
        let base = REGIONS_BASE + index as u64 * REGION_BYTES;
        let pid = 1 + index as u32;
        let mut tree = Tree::new(&mut HeapTables)?;
        let first = tree.last_table(&mut HeapTables, base)?;
        map::set_process(pid, &tree);
        Ok(Self { first, later: Vec::new(), base, pid: Some(pid), others: None })
    }

    /// Those in quadrant 3.
    fn shared(index: usize) -> Result<Self, HalError> {
        let base = LAZY_BASE + (index * LAPS) as u64 * REGION_BYTES;
        let table = |lap| map::last_table(base + lap as u64 * REGION_BYTES);
        let later = (1..LAPS).map(table).collect::<Result<_, _>>()?;
        Ok(Self { first: table(0)?, later, base, pid: None, others: None })
    }

    fn write(&self, place: Place, leaf: Option<Leaf>) {
        let table = match place.lap() {
            0 => &self.first,
            lap => &self.later[lap - 1],
        };
        table.write(&mut HeapTables, place.slot().index(), leaf);
    }

    /// Makes a slot accessible, behind what was stored before.
    fn enter(&mut self, is_new: bool) {
        match self.pid {
            Some(pid) if self.others.is_none() => self.set_context(u64::from(pid)),
            _ if is_new => ptesync(),
            _ => {}
        }
    }

    /// Sets LPIDR, and PIDR to `pid`.
    fn set_context(&mut self, pid: u64) {
        let before = [read::<{ spr::LPIDR }>(), read::<{ spr::PIDR }>()];
        // Stores of a partition must not drain under another LPID, and a walk sees the entry that was written.
        ptesync();
        // SAFETY: quadrant 3, where the hypervisor is, implies LPID 0 and PID 0.
        unsafe {
            write::<{ spr::LPIDR }>(0);
            write::<{ spr::PIDR }>(pid);
        }
        isync();
        self.others = Some(before);
    }

    /// Sets both to what they were. What enters a guest synchronizes.
    fn leave(&mut self) {
        if let Some([lpidr, pidr]) = self.others.take() {
            // SAFETY: as above.
            unsafe {
                write::<{ spr::LPIDR }>(lpidr);
                write::<{ spr::PIDR }>(pidr);
            }
        }
    }
}

impl Table for Entries {
    fn set(&mut self, place: Place, frame: Frame) {
        self.write(place, Some(leaf(frame.start(), RIGHTS_DATA)));
    }

    fn clear(&mut self, place: Place) {
        self.write(place, None);
    }

    /// Only this core has ever used these translations.
    fn forget(&mut self, mut slots: SlotSet) {
        // What is behind the barrier waits for it.
        let (pid, base) = (self.pid, self.base);
        let mut next = slots.take_first();
        match self.others {
            None => self.set_context(u64::from(pid.unwrap_or(0))),
            Some(_) => ptesync(),
        }
        if let Some(pid) = pid {
            while let Some(slot) = next {
                let address = base + ((slot.index() as u64) << FRAME_LOG2);
                invalidate_page_in_core(address, pid);
                next = slots.take_first();
            }
            ptesync();
        } else {
            invalidate_host_in_core();
            ptesync();
            self.leave();
        }
    }
}

impl MapRegion {
    /// Makes that of the thread with this index, which is not running yet or is the one that calls.
    pub(crate) fn populate(index: usize) -> Result<(), HalError> {
        let entries = Entries::private(index)?;
        let way = Way::Ours(MapCache::new(Mode::UntilEntry, entries.base));
        let region = Box::new(Self { way, entries, works: 0 });
        // SAFETY: within the array; nobody else uses the field meanwhile.
        unsafe { (*per_cpu_of(index)).region = core::ptr::from_mut(Box::leak(region)).cast() };
        Ok(())
    }

    /// That of this thread.
    ///
    /// # Safety
    /// The reference ends before the next one is asked for.
    unsafe fn own<'a>() -> &'a mut Self {
        // SAFETY: made before the thread runs; the caller's promise.
        unsafe { &mut *(*per_cpu()).region.cast() }
    }

    /// Opens windows as the policy says from here on.
    pub(crate) fn map_as(policy: MapPolicy) -> Result<(), HalError> {
        if policy == MapPolicy::Domain {
            domain::add(Self::count())?;
        }
        for index in 0..THREADS_MAX {
            // SAFETY: the boot thread calls this while the others do nothing.
            let Some(region) = (unsafe { (*per_cpu_of(index)).region.cast::<Self>().as_mut() })
            else {
                break;
            };
            // What the boot thread has read until now is unreachable already.
            assert!(region.works == 0, "a policy changes between works");
            if policy == MapPolicy::OursLazy {
                region.entries = Entries::shared(index)?;
            }
            let base = region.entries.base;
            region.way = match (Mode::of(policy), policy) {
                (Some(mode), _) => Way::Ours(MapCache::new(mode, base)),
                (None, MapPolicy::XenV2) => Way::XenV2(XenV2::new(base)),
                (None, MapPolicy::Domain) => Way::Domain(domain::OfThread::of(0)),
                (None, MapPolicy::RealMode) => Way::RealMode,
                (None, _) => Way::Direct,
            };
        }
        Ok(())
    }

    /// How many there are: of all hardware threads that run.
    fn count() -> usize {
        // SAFETY: the boot thread calls this while the others do nothing.
        (0..THREADS_MAX)
            .take_while(|index| unsafe { !(*per_cpu_of(*index)).region.is_null() })
            .count()
    }

    fn open(&mut self, frame: Frame) -> Result<u64, HalError> {
        let opened = match &mut self.way {
            Way::Ours(cache) => cache.map(&mut self.entries, frame),
            Way::XenV2(cache) => cache.map(&mut self.entries, frame),
            Way::Domain(own) => return own.open(frame),
            Way::RealMode => return Ok(REAL_BASE + frame.start().0),
            Way::Direct => return Ok(DIRECT_BASE + frame.start().0),
        };
        let opened = opened.map_err(|MapError::TooDeep| HalError::OutOfWindows)?;
        self.entries.enter(opened.is_new);
        Ok(opened.address)
    }

    fn close(&mut self, address: u64) {
        let released = match &mut self.way {
            Way::Ours(cache) => cache.release(&mut self.entries, address),
            Way::XenV2(cache) => cache.release(address),
            Way::Domain(own) => return own.close(address),
            Way::RealMode | Way::Direct => return,
        };
        released.expect("a window of this thread that was open");
    }

    fn end_work(&mut self) {
        self.works -= 1;
        if self.works == 0 && self.entries.others.is_some() {
            if let Way::Ours(cache) = &mut self.way {
                cache.end_exit(&mut self.entries);
            }
            self.entries.leave();
        }
    }
}

/// Makes what was released unreachable that the policy has not: this thread waits.
pub(crate) fn flush() {
    // SAFETY: no other reference to it is there.
    let region = unsafe { MapRegion::own() };
    if let Way::Ours(cache) = &mut region.way {
        cache.flush(&mut region.entries);
        region.entries.leave();
    }
}

/// The same: this thread runs another partition.
pub(crate) fn change_partition(lpid: u32) {
    flush();
    // SAFETY: no other reference to it is there.
    if let Way::Domain(own) = unsafe { &mut MapRegion::own().way } {
        own.leave();
        *own = domain::OfThread::of(lpid);
    }
}

/// A partition is made, behind the one with the number before.
pub(crate) fn add_partition() -> Result<(), HalError> {
    // SAFETY: no other reference to it is there.
    let is_pooled = matches!(unsafe { &MapRegion::own().way }, Way::Domain(_));
    if is_pooled { domain::add(MapRegion::count()) } else { Ok(()) }
}

/// A piece of work that opens windows.
#[derive(Debug)]
pub struct Maps<'a> {
    reserved: &'a Reserved,
    /// Not another thread's to use.
    region: *mut MapRegion,
}

impl<'a> Maps<'a> {
    /// Begins one.
    pub(crate) fn begin(reserved: &'a Reserved) -> Self {
        // SAFETY: its own; the reference ends here.
        unsafe {
            let region = (*per_cpu()).region.cast::<MapRegion>();
            (*region).works += 1;
            Self { reserved, region }
        }
    }

    /// Where a range is, until [`Maps::close`].
    pub(crate) fn open(&self, range: Range) -> Result<*mut u8, HalError> {
        self.reserved.refuse(range)?;
        let frame = frame_of(range)?;
        // SAFETY: this thread's, and no other reference to it is there.
        let start = unsafe { (*self.region).open(frame)? };
        Ok((start + (range.start.0 - frame.start().0)) as *mut u8)
    }

    /// Whether what [`Maps::open`] says is only there with relocation off.
    pub(crate) fn is_real(&self) -> bool {
        // SAFETY: as above.
        matches!(unsafe { &(*self.region).way }, Way::RealMode)
    }

    /// Ends what [`Maps::open`] has begun.
    pub(crate) fn close(&self, pointer: *mut u8) {
        // SAFETY: as above.
        unsafe { (*self.region).close(pointer as u64) };
    }
}

impl Drop for Maps<'_> {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { (*self.region).end_work() };
    }
}
