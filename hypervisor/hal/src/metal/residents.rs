//! What of a vCPU stays in the processor until another one enters: how it gets there and back.
//!
//! Nothing here is needed by the hypervisor itself: its own translation has PID 0 implied, its pages are
//! privileged and so not subject to AMR and IAMR, MSR\[EE\] is off, and it uses no floating point.

use arch::registers::{lpcr, psscr};
use hypervisor_core::each_supervisor_register;
use hypervisor_core::facilities::Demanded;
use hypervisor_core::partition::Common;
use hypervisor_core::vcpu::registers::{Lost, Registers, Supervisor};

use super::{core_registers, facilities, segments};
use crate::host_state::per_cpu::{THREADS_MAX, per_cpu, per_cpu_of};
use crate::host_state::{PROCESSOR, has};
use crate::invalidation::clear_segments;
use crate::registers::{read, spr, write};
use crate::single::Single;

/// What is known of the registers in a processor between two guests.
struct Saved {
    /// What they held when they were saved is there, as no guest has run since.
    is_there: bool,
    /// All that is read ahead was read, since a guest left.
    is_read_ahead: bool,
    /// The partition that LPIDR has to name, of a vCPU that was loaded.
    change: Option<u64>,
    values: Supervisor,
    decrementer: Decrementer,
    /// How far VTB is behind the machine's time base, since a vCPU entered that was loaded.
    behind: u64,
}

/// Where the decrementer of the vCPU is whose registers are in the processor. When it expires is in the
/// partition's time base.
#[derive(Clone, Copy)]
enum Decrementer {
    /// In DEC.
    InProcessor,
    /// There too, and it was read as the vCPU left, at a time of the machine's time base.
    Read { expires: u64, time: u64 },
    /// The vCPU was loaded: DEC and VTB are written as it enters.
    Loaded { expires: u64, virtual_time: u64 },
}

/// By hardware thread.
static SAVED: [Single<Saved>; THREADS_MAX] = [const {
    Single::new(Saved {
        is_there: false,
        is_read_ahead: false,
        change: None,
        values: Supervisor::ZERO,
        decrementer: Decrementer::InProcessor,
        behind: 0,
    })
}; THREADS_MAX];

/// # Safety
/// Once at a time: it is the only way to this thread's own.
unsafe fn saved() -> &'static mut Saved {
    // SAFETY: the caller's promise; `begin` came before.
    unsafe { &mut *(*per_cpu()).residents.cast() }
}

/// What the thread with this index has, which is about to begin.
pub(super) fn begin(index: usize) {
    // SAFETY: nobody else uses it yet.
    unsafe { (*per_cpu_of(index)).residents = SAVED[index].get().cast() };
}

/// Copies what stays in the processor into the record; the time base meanwhile, or when the vCPU left.
pub(super) fn save(into: &mut Registers, demanded: Option<&mut Demanded>, common: Common) -> u64 {
    // SAFETY: nothing that is called here asks for it; the record is there for the call.
    unsafe {
        let saved = saved();
        if matches!(saved.decrementer, Decrementer::Loaded { .. }) {
            change_context(saved, &into.supervisor, common.lpcr);
        }
        saved.is_there = true;
        read_supervisor(saved, &mut into.supervisor);
        let (expires, now) = match saved.decrementer {
            Decrementer::InProcessor => read_decrementer(common.timebase_offset),
            Decrementer::Read { expires, time } => (expires, time),
            Decrementer::Loaded { expires, virtual_time } => {
                let now = read::<{ spr::TB }>();
                saved.behind = now.wrapping_sub(virtual_time);
                (expires, now)
            }
        };
        into.supervisor.decrementer_expires = expires;
        core_registers::leave(&mut into.supervisor, now, saved.behind);
        if segments::is_hashed(common.lpcr) {
            segments::save(into, common.lpcr);
        }
        if let Some(demanded) = demanded {
            facilities::save(demanded);
        }
        now
    }
}

/// Reads a part of that ahead, of a vCPU that has left its guest. Once the last one of these was read, [`save`] reads
/// none of them.
#[inline(always)]
pub(super) fn read_ahead<const PART: usize>(into: &mut Registers) {
    // SAFETY: dropped at once.
    let saved = unsafe { saved() };
    read_part::<PART>(&mut into.supervisor, &mut saved.values);
    if const { PART + 2 == READ.len() } {
        saved.is_read_ahead = true;
    }
}

/// The vCPU that has left, or is about to enter, gets these SRR0 and SRR1, in its record and in the processor. They may
/// have been read ahead: what the processor is known to hold is them.
pub(super) fn set_save_registers(srr0: u64, srr1: u64) {
    // SAFETY: dropped at once.
    let values = unsafe { &mut saved().values };
    (values.srr0, values.srr1) = (srr0, srr1);
}

/// Begins to copy that from the record of a vCPU into the processor. [`load_more`] goes on with it, and [`enter`] ends
/// it.
pub(super) fn load(from: &Registers, demanded: Option<&Demanded>, common: Common) {
    // SAFETY: no guest runs on this thread. What the vCPU before has left in these registers is nothing to this one.
    // Nothing that is called here asks for `saved`.
    unsafe {
        let change = core_registers::come(from, common);
        let saved = saved();
        saved.is_read_ahead = false;
        if !core::mem::take(&mut saved.is_there) {
            saved.values.differ(&from.supervisor);
        }
        // It reads MSR, which would wait for a write.
        facilities::load(demanded);
        write_part::<0>(&from.supervisor, saved);
        let Supervisor { decrementer_expires: expires, vtb: virtual_time, .. } = from.supervisor;
        saved.decrementer = Decrementer::Loaded { expires, virtual_time };
        saved.change = change;
    }
}

/// Goes on with [`load`].
#[inline(always)]
pub(super) fn load_more<const PART: usize>(from: &Registers) {
    // SAFETY: as there.
    unsafe { write_part::<PART>(&from.supervisor, saved()) };
}

/// Writes what changes the context, for a partition with this LPCR. All before it has been loaded, and the next `isync`
/// waits for it.
///
/// # Safety
/// Between two vCPUs, of which `from` is the one that comes.
#[inline(always)]
unsafe fn change_context(saved: &mut Saved, from: &Supervisor, lpcr: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(lpid) = saved.change.take() {
            core_registers::change_partition(lpid);
        }
        if saved.values.pidr != from.pidr {
            write::<{ spr::PIDR }>(from.pidr);
        }
        if !segments::is_hashed(lpcr) {
            clear_segments();
        }
    }
}

/// Whether the decrementer of a partition has 32 bits, and is read without its sign.
const IS_SHORT: bool = PROCESSOR.facts().decrementer_bits == 32;

/// The ticks that the decrementer has left, as it is read.
const fn signed(left: u64) -> u64 {
    if IS_SHORT { left as i32 as u64 } else { left }
}

/// The ticks that are left, as the decrementer can have them.
fn fitting(left: u64) -> u64 {
    const SHORT: [i64; 2] = [i32::MIN as i64, i32::MAX as i64];
    let [least, most] = SHORT;
    if IS_SHORT { (left as i64).clamp(least, most) as u64 } else { left }
}

/// When the decrementer expires, in a time base that is so much later than the machine's; and that one's time.
fn read_decrementer(timebase_offset: u64) -> (u64, u64) {
    // In this order, so that what passes between the two is the guest's loss, and its decrementer never goes up.
    let now = read::<{ spr::TB }>();
    let left = signed(read::<{ spr::DEC }>());
    (left.wrapping_add(now).wrapping_add(timebase_offset), now)
}

/// A guest has left: when that was.
pub(super) fn left(timebase_offset: u64) -> u64 {
    let (expires, time) = read_decrementer(timebase_offset);
    // SAFETY: nothing that is called here asks for it.
    let saved = unsafe { saved() };
    // It may have been saved while the guest was in a hypercall, and have gone on.
    saved.is_there = false;
    saved.decrementer = Decrementer::Read { expires, time };
    time
}

/// This thread is about to wait, which changes registers: what they held is not there any more.
pub(super) fn forget() {
    // SAFETY: dropped at once.
    unsafe { saved() }.is_there = false;
}

/// VTB will be written with `virtual_time`; it is `now`.
pub(super) fn set_virtual_time(virtual_time: u64, now: u64) {
    // SAFETY: dropped at once.
    unsafe { saved() }.behind = now.wrapping_sub(virtual_time);
}

/// Sets LPCR, if it is another one. `hrfid` or `isync` makes it hold.
///
/// # Safety
/// Only for a value with which a partition with radix translation runs, or the hypervisor waits: its own translation is
/// the same with it.
pub(super) unsafe fn set_control(lpcr: u64) {
    // SAFETY: the caller's promise; `per_cpu` is this thread's.
    unsafe {
        if (*per_cpu()).lpcr != lpcr {
            (*per_cpu()).lpcr = lpcr;
            write::<{ spr::LPCR }>(lpcr);
        }
    }
}

/// Sets LPCR for a guest that runs with `lpcr`, if it is another one; whether the guest has a hashed page table, which
/// gets its LPCR as it enters. The hypervisor's is the same until then, but for its own translation.
///
/// # Safety
/// Only for a value with which a partition runs.
#[inline(always)]
pub(super) unsafe fn set_guest_control(lpcr: u64, lpid: u32) -> bool {
    // SAFETY: the caller's promise; `per_cpu` is this thread's.
    unsafe {
        (!PROCESSOR.facts().has_radix() || (*per_cpu()).lpcr != lpcr)
            && set_other_control(lpcr, lpid)
    }
}

/// # Safety
/// As [`set_guest_control`].
#[cold]
#[inline(never)]
unsafe fn set_other_control(lpcr: u64, lpid: u32) -> bool {
    let cpu = per_cpu();
    // SAFETY: the caller's promise; `per_cpu` is this thread's.
    unsafe {
        if !segments::is_hashed(lpcr) {
            set_control(lpcr);
            return false;
        }
        let own = lpcr | (lpcr::HR | lpcr::UPRT) & const { PROCESSOR.facts().lpcr };
        set_control(own);
        (*cpu).own_lpcr = own;
        (*cpu).guest_lpcr = lpcr;
        (*cpu).guest_lpid = u64::from(lpid);
    }
    true
}

/// Prepares for a guest that was loaded, and whose LPCR was set: it runs until the time `until`; it is `now`, and
/// `timebase_offset` later in its own time base. Whether SRR0 and SRR1 are known to say where and how it goes on.
///
/// # Safety
/// Only before that guest is entered.
#[inline(always)]
pub(super) unsafe fn enter(
    registers: &Registers,
    lpcr: u64,
    timebase_offset: u64,
    until: u64,
    now: u64,
) -> bool {
    // SAFETY: the caller's promise. The decrementers come after LPCR, which says how wide they are. Nothing
    // that is called here asks for `saved`.
    unsafe {
        let saved = saved();
        if let Decrementer::Loaded { expires, virtual_time } = saved.decrementer {
            write::<{ spr::DEC }>(fitting(expires.wrapping_sub(now.wrapping_add(timebase_offset))));
            // It is `now` no more, so VTB is never ahead of what is computed from the time base later.
            core_registers::set_virtual_time(virtual_time);
            saved.behind = now.wrapping_sub(virtual_time);
            core_registers::set_timer(until, now);
            change_context(saved, &registers.supervisor, lpcr);
            saved.decrementer = Decrementer::InProcessor;
            let Supervisor { srr0, srr1, .. } = registers.supervisor;
            (srr0, srr1) == (registers.pc, registers.msr)
        } else {
            core_registers::set_timer(until, now);
            saved.decrementer = Decrementer::InProcessor;
            saved.is_read_ahead = false;
            false
        }
    }
}

/// When the decrementer in the processor expires, in the partition's time base.
pub(super) fn decrementer_expires(common: Common) -> u64 {
    // SAFETY: dropped at once.
    match unsafe { saved().decrementer } {
        Decrementer::InProcessor => read_decrementer(common.timebase_offset).0,
        Decrementer::Read { expires, .. } | Decrementer::Loaded { expires, .. } => expires,
    }
}

/// Where the parts end of which each is read at a time, as rows of the table. While the processor waits for a lock it
/// reads four; else as many as the dispatcher has instructions for in between. What counts is in the last part, which
/// is not read ahead.
const READ: [usize; 9] = [4, 8, 10, 11, 13, 14, 16, 24, usize::MAX];
/// The same of what is written.
const WRITTEN: [usize; 6] = [4, 5, 7, 15, 25, usize::MAX];

/// The part that a row is in.
const fn part(ends: &[usize], row: usize) -> usize {
    let mut part = 0;
    while ends[part] <= row {
        part += 1;
    }
    part
}

/// Of what is read.
const fn part_read(row: usize) -> usize {
    part(&READ, row)
}

/// Of what is written.
const fn part_written(row: usize) -> usize {
    part(&WRITTEN, row)
}

/// What [`change_context`] writes.
const fn is_context(register: u16) -> bool {
    register == spr::PIDR
}

/// Reads all that was not read ahead.
fn read_supervisor(saved: &mut Saved, into: &mut Supervisor) {
    let copy = &mut saved.values;
    if !core::mem::take(&mut saved.is_read_ahead) {
        read_part::<0>(into, copy);
        read_part::<1>(into, copy);
        read_part::<2>(into, copy);
        read_part::<3>(into, copy);
        read_part::<4>(into, copy);
        read_part::<5>(into, copy);
        read_part::<6>(into, copy);
        read_part::<7>(into, copy);
    }
    read_part::<8>(into, copy);
}

macro_rules! supervisor {
    ($($(#[$doc:meta])* $field:ident: $read:ident $write:ident $lost:ident;)*) => {
        /// The rows by number.
        #[allow(non_camel_case_types, reason = "named as the fields are")]
        enum Row {
            $($field,)*
        }

        /// Reads those of one part, twice over.
        #[inline(always)]
        fn read_part<const PART: usize>(into: &mut Supervisor, copy: &mut Supervisor) {
            $(
                if const { has(spr::$read) && part_read(Row::$field as usize) == PART } {
                    let value = read::<{ spr::$read }>();
                    (into.$field, copy.$field) = (value, value);
                }
            )*
            if const { part_read(Row::psscr as usize) == PART } {
                into.psscr &= psscr::PRIVILEGED | psscr::WITHHELD;
            }
        }

        /// Writes those of one part, but for what changes the context.
        ///
        /// # Safety
        /// Only between two vCPUs. What the one before has left is as `saved` says.
        #[inline(always)]
        unsafe fn write_part<const PART: usize>(from: &Supervisor, saved: &Saved) {
            let before = &saved.values;
            $(
                if const {
                    has(spr::$write)
                        && !is_context(spr::$write)
                        && part_written(Row::$field as usize) == PART
                } {
                    let is_same = !const { Lost::$lost.is_always_written() }
                        && before.$field == from.$field;
                    if !is_same {
                        // SAFETY: the caller's promise.
                        unsafe { write::<{ spr::$write }>(from.$field) };
                    }
                }
            )*
        }

        impl Differ for Supervisor {
            #[cold]
            #[inline(never)]
            fn differ(&mut self, from: &Self) {
                $(self.$field = !from.$field;)*
            }
        }
    };
}
each_supervisor_register!(supervisor);

/// Values that may be any.
trait Differ {
    /// Makes each another one than that of `from`, so that all of these are written.
    fn differ(&mut self, from: &Self);
}
