//! Invalidation on POWER9: the congruence classes of its TLB, and what its errata ask for.

use core::arch::asm;
use core::sync::atomic::{AtomicBool, Ordering};

use super::Scope;
use crate::registers::{isync, ptesync, spr, write};

const IS_PID: u64 = 0x400;
const IS_LPID: u64 = 0x800;
const IS_ALL: u64 = 0xC00;

const RIC_TLB: u32 = 0;
const RIC_ALL: u32 = 2;
const PARTITION_SCOPED: u32 = 0;
const PROCESS_SCOPED: u32 = 1;

const TLBIE: u32 = 306;
const TLBIEL: u32 = 274;

/// `tlbie RB=r4, RS=r3` or `tlbiel`, with radix set.
const fn invalidation(opcode: u32, ric: u32, prs: u32) -> u32 {
    hashed_invalidation(opcode, ric, prs) | 1 << 16
}

/// The same with radix clear.
const fn hashed_invalidation(opcode: u32, ric: u32, prs: u32) -> u32 {
    31 << 26 | 3 << 21 | ric << 18 | prs << 17 | 4 << 11 | opcode << 1
}

const fn tlbie_word(ric: u32, prs: u32) -> u32 {
    invalidation(TLBIE, ric, prs)
}

/// Congruence classes of the TLB with radix translation
/// (`docs/facts/power9-translation.md#congruence-classes`).
const CLASSES: u64 = 128;
/// The next congruence class in the operand of `tlbiel`, field 40:51.
const NEXT_CLASS: u64 = 1 << 12;

/// Makes this core forget the process-scoped translations of a partition, and the tables on the way to them.
/// LPIDR names the partition then.
pub(crate) fn invalidate_in_core(lpid: u32) {
    const ALL: u32 = invalidation(TLBIEL, RIC_ALL, PROCESS_SCOPED);
    const TLB: u32 = invalidation(TLBIEL, RIC_TLB, PROCESS_SCOPED);
    const SLBIA: u32 = 31 << 26 | 7 << 21 | 498 << 1; // IH=7: the ERATs' translations
    // Stores of another partition must not drain under this one's LPID.
    ptesync();
    // SAFETY: no guest runs on this thread, and whoever enters one sets the register again; quadrant 3, where
    // the hypervisor is, implies LPID 0.
    unsafe { write::<{ spr::LPIDR }>(u64::from(lpid)) };
    isync();
    take_back::<ALL>(IS_LPID, 0);
    (1..CLASSES).for_each(|class| take_back::<TLB>(IS_LPID + class * NEXT_CLASS, 0));
    // SAFETY: barriers, and no translation changes.
    unsafe { asm!("ptesync", ".long {}", "isync", const SLBIA, options(nostack)) };
}

/// AP of a page of 64 KiB in RB, field 56:58 (`docs/facts/translation.md#page-sizes`).
const AP_64K: u64 = 5 << 5;

/// Makes this core forget the translation of one page of 64 KiB in quadrant 0, of a PID of the LPID that LPIDR names.
/// `ptesync` comes before the first of these and behind the last.
pub(crate) fn invalidate_page_in_core(address: u64, pid: u32) {
    const PAGE: u32 = invalidation(TLBIEL, RIC_TLB, PROCESS_SCOPED);
    take_back::<PAGE>(address | AP_64K, u64::from(pid) << 32);
}

/// Makes this core forget the translations of the hypervisor's own, but for what quadrant 0 shows to other
/// PIDs. LPIDR is 0 meanwhile. `ptesync` comes before this and behind it.
pub(crate) fn invalidate_host_in_core() {
    const TLB: u32 = invalidation(TLBIEL, RIC_TLB, PROCESS_SCOPED);
    (0..CLASSES).for_each(|class| take_back::<TLB>(IS_PID + class * NEXT_CLASS, 0));
}

/// `tlbie` or `tlbiel`.
fn take_back<const WORD: u32>(rb: u64, rs: u64) {
    // SAFETY: forgetting cached translations changes no translation.
    unsafe {
        asm!(".long {}", const WORD, in("r3") rs, in("r4") rb, options(nostack));
    }
}

/// Whether the processor may do an invalidation before this thread's earlier stores.
static OVERTAKES_STORES: AtomicBool = AtomicBool::new(true);

/// Says whether the processor may do an invalidation before this thread's earlier stores. Until then it may.
pub(crate) fn set_overtakes_stores(overtakes: bool) {
    OVERTAKES_STORES.store(overtakes, Ordering::Relaxed);
}

/// Does an invalidation again, on a processor that may have done it before this thread's earlier stores.
fn repeat<const WORD: u32>(rb: u64, rs: u64) {
    if OVERTAKES_STORES.load(Ordering::Relaxed) {
        ptesync();
        take_back::<WORD>(rb, rs);
    }
}

/// Makes all threads forget cached translations, and waits until they have.
///
/// After the invalidation proper come the two that the errata ask for: one for LPID 0 or PID 0,
/// so that a thread that changes LPIDR or PIDR meanwhile keeps nothing, and a repetition behind a
/// `ptesync`, so that it is not done before earlier stores. `docs/facts/power9-translation.md#errata`.
pub(crate) fn invalidate(scope: Scope) {
    const PROCESS_ALL: u32 = tlbie_word(RIC_ALL, PROCESS_SCOPED);
    const PARTITION_ALL: u32 = tlbie_word(RIC_ALL, PARTITION_SCOPED);
    const PROCESS_TLB: u32 = tlbie_word(RIC_TLB, PROCESS_SCOPED);
    const PARTITION_TLB: u32 = tlbie_word(RIC_TLB, PARTITION_SCOPED);

    ptesync();
    match scope {
        Scope::All => {
            take_back::<PARTITION_ALL>(IS_ALL, 0);
            take_back::<PROCESS_ALL>(IS_ALL, 0);
            repeat::<PROCESS_ALL>(IS_ALL, 0);
        }
        Scope::Host => {
            take_back::<PROCESS_TLB>(IS_PID, 0);
            repeat::<PROCESS_TLB>(IS_PID, 0);
        }
        Scope::Partition(lpid) => {
            let lpid = u64::from(lpid);
            take_back::<PARTITION_ALL>(IS_LPID, lpid);
            take_back::<PROCESS_ALL>(IS_LPID, lpid);
            ptesync();
            take_back::<PARTITION_TLB>(IS_LPID, 0);
            repeat::<PROCESS_ALL>(IS_LPID, lpid);
        }
        Scope::Hashed(lpid) => {
            const HASHED_ALL: u32 = hashed_invalidation(TLBIE, RIC_ALL, PARTITION_SCOPED);
            let lpid = u64::from(lpid);
            take_back::<HASHED_ALL>(IS_LPID, lpid);
            ptesync();
            take_back::<PARTITION_TLB>(IS_LPID, 0);
            repeat::<HASHED_ALL>(IS_LPID, lpid);
        }
    }
    await_invalidations();
}

/// Makes this thread forget pages of the partition with a hashed page table that LPIDR names, and waits until it has.
/// `operands` name the pages as RB does. `ptesync` comes before this. None of the errata is of `tlbiel`.
#[inline(always)]
pub(crate) fn invalidate_pages_in_thread(operands: impl Iterator<Item = u64>) {
    const PAGE: u32 = hashed_invalidation(TLBIEL, RIC_TLB, PARTITION_SCOPED);
    for operand in operands {
        take_back::<PAGE>(operand, 0);
    }
    ptesync();
}

/// Makes all threads forget pages of a partition with a hashed page table, and waits until they have. `operands` name
/// the pages as RB does. `ptesync` comes before this. Behind them come what the errata ask for, as in [`invalidate`];
/// the one for LPIDR is a radix one of LPID 0, as in Linux's `hash_native.c`.
#[inline(always)]
pub(crate) fn invalidate_pages(lpid: u32, operands: impl Iterator<Item = u64>) {
    const PAGE: u32 = hashed_invalidation(TLBIE, RIC_TLB, PARTITION_SCOPED);
    const PARTITION_TLB: u32 = tlbie_word(RIC_TLB, PARTITION_SCOPED);
    let lpid = u64::from(lpid);
    let mut last = None;
    for operand in operands {
        take_back::<PAGE>(operand, lpid);
        last = Some(operand);
    }
    let Some(last) = last else { return };
    ptesync();
    take_back::<PARTITION_TLB>(IS_LPID, 0);
    repeat::<PAGE>(last, lpid);
    await_invalidations();
}

/// Waits until all invalidations that this thread has begun, a guest's too, are done on all threads.
pub(crate) fn await_invalidations() {
    // SAFETY: barriers.
    unsafe { asm!("eieio", "tlbsync", "ptesync", options(nostack)) };
}
