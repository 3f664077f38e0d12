//! All hardware threads: fetching them out of firmware, their doorbells, and how they wait.
//!
//! A thread is known by its index: the boot thread is 0, the others follow in the order in which they
//! were fetched. A doorbell stays rung until its thread clears it, so a thread that clears, looks for
//! something to do and then waits misses nothing that was rung for after it looked.

use alloc::alloc::{Layout, alloc};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use arch::interrupt::Vector;
use arch::opal::status;
use hypervisor_core::boot::firmware::Firmware;
use hypervisor_core::hal::ThreadError;
use hypervisor_core::scheduling::doorbell::{Doorbell, wait_until};
use hypervisor_core::scheduling::secondaries::Secondaries;

#[cfg(feature = "power8")]
use super::core_registers;
use super::{caller, idle, opal, residents};
use crate::host_space::map;
use crate::host_space::memory::real_of;
use crate::host_space::region::MapRegion;
use crate::host_state::per_cpu::{THREADS_MAX, own_index, per_cpu, per_cpu_of};
use crate::host_state::{begin, set_up_thread};
use crate::registers::{isync, ptesync, read, spr, write};
use crate::single::Single;

const STACK_BYTES: usize = 0x1_0000;
/// Ticks that a thread may take from OPAL_START_CPU to here: a second of a 512 MHz time base.
const ARRIVAL_TICKS: u64 = 512_000_000;

struct Thread {
    server: AtomicU32,
    /// For a thread that polls, and on POWER8, whose interrupts do not say what they are for.
    doorbell: Doorbell,
}

static THREADS: [Thread; THREADS_MAX] =
    [const { Thread { server: AtomicU32::new(0), doorbell: Doorbell::silent() } }; THREADS_MAX];
static SECONDARIES: Secondaries = Secondaries::alone();
/// What they do. Written before [`Secondaries::begin`], read after [`Secondaries::has_work`].
static WORK: Single<Option<&'static (dyn Fn(usize) + Sync)>> = Single::new(None);

/// How far the boot thread's time base was moved, and what it was when the thread that is being fetched was started.
static ADVANCE: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// The `PerCpu` of the thread that is being fetched.
#[unsafe(no_mangle)]
static hal_next_thread: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" {
    fn hal_thread_entry();
    safe fn hal_on_stack(top: u64) -> !;
}

/// PIR of the boot thread, which calls this.
pub(super) fn boot_thread() -> u32 {
    let server = read::<{ spr::PIR }>() as u32;
    THREADS[0].server.store(server, Ordering::Relaxed);
    server
}

/// Fetches a thread out of firmware.
pub(super) fn fetch(server: u32, firmware: &Firmware<'_>) -> Result<(), ThreadError> {
    let index = SECONDARIES.expected().ok_or(ThreadError::Silent)?;
    if index == THREADS_MAX {
        return Err(ThreadError::TooMany);
    }
    if !caller::find(index, server, firmware) {
        return Err(ThreadError::Unreachable);
    }
    #[cfg(feature = "power8")]
    {
        let others = || THREADS[..index].iter().map(|thread| thread.server.load(Ordering::Relaxed));
        if !core_registers::can_be_split(server, others()) {
            return Err(ThreadError::Whole);
        }
        core_registers::place(index, server, others());
    }
    let layout = Layout::from_size_align(STACK_BYTES, 4096).map_err(|_| ThreadError::NoMemory)?;
    // SAFETY: the layout is not empty.
    let stack = unsafe { alloc(layout) };
    if stack.is_null() {
        return Err(ThreadError::NoMemory);
    }
    let (own, new) = (per_cpu(), per_cpu_of(index));
    // SAFETY: nobody else uses the new thread's yet.
    unsafe {
        (*new).index = index;
        (*new).toc = (*own).toc;
        (*new).opal_base = (*own).opal_base;
        (*new).opal_entry = (*own).opal_entry;
        // Below the place where callees store to their caller's header.
        (*new).stack = stack as u64 + STACK_BYTES as u64 - 0x100;
    }
    residents::begin(index);
    MapRegion::populate(index).map_err(|_| ThreadError::NoMemory)?;
    THREADS[index].server.store(server, Ordering::Relaxed);
    hal_next_thread.store(new as u64, Ordering::Relaxed);
    ADVANCE[1].store(read::<{ spr::TB }>(), Ordering::Relaxed);
    ptesync();
    let answer = opal::start_cpu(server, real_of(hal_thread_entry as *const () as u64));
    if answer != status::SUCCESS {
        return Err(ThreadError::Refused(answer));
    }
    let until = read::<{ spr::TB }>().wrapping_add(ARRIVAL_TICKS);
    while SECONDARIES.threads() == index {
        if read::<{ spr::TB }>() > until && SECONDARIES.give_up(index) {
            return Err(ThreadError::Silent);
        }
    }
    Ok(())
}

/// Called by `boot.S` in real mode at 0xC000..., on the stack that arriving threads share.
#[unsafe(no_mangle)]
extern "C" fn hal_thread_start() -> ! {
    // A core's first thread moves the time base before it splits the core.
    catch_up();
    #[cfg(feature = "power8")]
    core_registers::come_to_subcore();
    // SAFETY: the boot thread's tables map the image and the heap.
    unsafe {
        set_up_thread(map::ptcr());
        begin();
        hal_on_stack((*per_cpu()).stack)
    }
}

/// Moves the boot thread's time base on by `ticks`, a multiple of 2^24; threads that are fetched later follow.
pub(super) fn advance(ticks: u64) {
    ADVANCE[0].store(ticks, Ordering::Relaxed);
    move_on(ticks);
}

/// Moves this thread's time base as the boot thread's was, unless a thread that shares it has: then it is not behind.
fn catch_up() {
    let [ticks, then] = [0, 1].map(|index: usize| ADVANCE[index].load(Ordering::Relaxed));
    if ticks != 0 && read::<{ spr::TB }>() < then {
        move_on(ticks);
    }
}

fn move_on(ticks: u64) {
    let then = read::<{ spr::TB }>().wrapping_add(ticks);
    // SAFETY: no guest has run, and nobody waits for a time.
    unsafe {
        write::<{ spr::TBU40 }>(then);
        // The lower 24 bits go on meanwhile, and may have carried into those that are written now.
        if read::<{ spr::TB }>() < then {
            write::<{ spr::TBU40 }>(then + (1 << 24));
        }
    }
}

/// The life of a thread, on its own stack.
#[unsafe(no_mangle)]
extern "C" fn hal_thread_main() -> ! {
    let index = own_index();
    caller::allow();
    if !SECONDARIES.come(index) {
        sleep();
    }
    wait_until(clear_doorbell, || SECONDARIES.has_work(), || wait(u64::MAX));
    // The boot thread may have changed instructions (`mitigations.rs`).
    isync();
    // SAFETY: there is work, and the boot thread keeps it until this thread is done.
    let work = unsafe { *WORK.get() };
    work.expect("`run` has stored it")(index);
    SECONDARIES.finish();
    ring(0);
    sleep()
}

/// There is nothing to do any more.
fn sleep() -> ! {
    loop {
        clear_doorbell();
        wait(u64::MAX);
    }
}

/// Calls `work` on all threads, each with its index, and returns when all are done. Once only.
pub(super) fn run(work: &(dyn Fn(usize) + Sync)) {
    // SAFETY: no thread uses it after it has counted itself as done, which is waited for; so the reference
    // outlives its uses. No thread reads WORK before `begin`.
    unsafe {
        let lasting =
            core::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(work);
        *WORK.get() = Some(lasting);
    }
    SECONDARIES.begin();
    (1..SECONDARIES.threads()).for_each(ring);
    work(0);
    wait_until(clear_doorbell, || SECONDARIES.is_done(), || wait(u64::MAX));
}

/// Rings the doorbells of a thread, after all that was stored before.
pub(super) fn ring(index: usize) {
    let thread = &THREADS[index];
    thread.doorbell.ring();
    // The fence of the other doorbell is a `sync`, so what was stored before is there for whoever is called.
    caller::call(index, thread.server.load(Ordering::Relaxed));
}

/// Whether this thread's doorbell was rung, as far as that is seen.
pub(super) fn is_rung() -> bool {
    THREADS[own_index()].doorbell.is_rung()
}

/// What an interrupt means that made a guest leave.
#[inline(always)]
pub(super) fn meaning(vector: Vector) -> Vector {
    caller::meaning(vector, is_rung)
}

/// Forgets that this thread's doorbell was rung. What was stored before it was rung is seen after this.
pub(super) fn clear_doorbell() {
    caller::forget(is_rung);
    // Its fence, a `sync`, comes behind.
    THREADS[own_index()].doorbell.clear();
}

/// Waits until this thread's doorbell is rung, the time base is `until` or more, or for nothing.
pub(super) fn wait(until: u64) {
    residents::forget();
    idle::wait(until, || &THREADS[own_index()].doorbell);
}
