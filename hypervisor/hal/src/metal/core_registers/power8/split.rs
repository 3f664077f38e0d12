//! Splits cores, by HID0 (`docs/facts/power8.md#split-cores`), before anything runs there: each by its first thread,
//! for good. What the threads of a core share is then a subcore's.

use core::sync::atomic::{AtomicUsize, Ordering};

use arch::processor::Way;
use hypervisor_core::hal::SplitError;

use super::{DECREMENTER_MAX, SPLIT, THREADS_PER_CORE};
use crate::registers::{isync, ptesync, read, spr, write};

/// Threads that share the registers of a core, or of a subcore: a power of two.
static THREADS: AtomicUsize = AtomicUsize::new(THREADS_PER_CORE);

/// Ticks that a core may take: a second of a 512 MHz time base. Nobody has published how long it takes.
const SPLIT_TICKS: u64 = 512_000_000;

pub(super) fn threads() -> usize {
    THREADS.load(Ordering::Relaxed)
}

/// Splits the boot thread's core, and each other one when its first thread comes.
pub(in super::super::super) fn split(subcores: u32) -> Result<(), SplitError> {
    let way = SPLIT.into_subcores(subcores as usize).ok_or(SplitError::Impossible)?;
    if !is_first(read::<{ spr::PIR }>() as u32) {
        return Err(SplitError::BootThread);
    }
    ask_for(way);
    let until = read::<{ spr::TB }>().wrapping_add(SPLIT_TICKS);
    while !is_done(way) {
        if read::<{ spr::TB }>() > until {
            return Err(SplitError::Refused);
        }
    }
    THREADS.store(THREADS_PER_CORE / way.subcores, Ordering::Relaxed);
    Ok(())
}

/// Whether the core of the thread `server` can be split, if it has to be: the thread is its first one, or that one is
/// among `others`, which have come.
pub(in super::super::super) fn can_be_split(
    server: u32,
    mut others: impl Iterator<Item = u32>,
) -> bool {
    let core = |server| server as usize / THREADS_PER_CORE;
    threads() == THREADS_PER_CORE
        || is_first(server)
        || others.any(|other| is_first(other) && core(other) == core(server))
}

/// This thread has come out of firmware, and no register is set up yet: the first one splits its core, if it has to be,
/// and the others wait until it is.
pub(in super::super::super) fn come() {
    let Some(way) = SPLIT.into_subcores(THREADS_PER_CORE / threads()) else { return };
    if is_first(read::<{ spr::PIR }>() as u32) {
        ask_for(way);
    }
    // Who fetched it waits for a second.
    while !is_done(way) {}
    // SAFETY: no partition has run; a new subcore has nothing of use in them. LPIDR is zero from the set-up on, and
    // SDR1 is set for the first partition.
    unsafe {
        write::<{ spr::PCR }>(0);
        write::<{ spr::HDEC }>(DECREMENTER_MAX);
    }
}

fn is_first(server: u32) -> bool {
    (server as usize).is_multiple_of(THREADS_PER_CORE)
}

fn ask_for(way: &Way) {
    let hid0 = read::<{ spr::HID0 }>() | SPLIT.stays | way.command;
    ptesync();
    // SAFETY: relocation is off on all threads of the core: this one is the hypervisor's, and firmware has the others.
    unsafe { write::<{ spr::HID0 }>(hid0) };
    isync();
}

fn is_done(way: &Way) -> bool {
    read::<{ spr::HID0 }>() & way.status != 0
}
