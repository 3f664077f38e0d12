//! Invalidation on POWER8. A `tlbie` takes a page back from all cores, and there is none for more than a page: each
//! thread makes its core forget all of a partition before it runs it the next time.

use core::arch::asm;
use core::sync::atomic::{AtomicU64, Ordering};

use super::Scope;
use crate::registers::{ptesync, read, spr};

/// Partitions that there is room for, with the hypervisor itself: what LPIDR can name
/// (`docs/facts/power8.md#lpidr`).
pub(crate) const LPIDS: usize = 1 << 12;

const IS_LPID: u64 = 0x800;
const IS_ALL: u64 = 0xC00;

/// `tlbie RB=r4, RS=r3`.
const TLBIE: u32 = 31 << 26 | 3 << 21 | 4 << 11 | 306 << 1;
/// `tlbiel RB=r4`.
const TLBIEL: u32 = 31 << 26 | 4 << 11 | 274 << 1;

/// Congruence classes of the TLB (`docs/facts/power8.md#congruence-classes`).
const CLASSES: u64 = 512;
/// The next congruence class in the operand of `tlbiel`, field 40:51.
const NEXT_CLASS: u64 = 1 << 12;

/// `tlbie` or `tlbiel`.
fn take_back<const WORD: u32>(rb: u64, rs: u64) {
    // SAFETY: forgetting cached translations changes no translation.
    unsafe {
        asm!(".long {}", const WORD, in("r3") rs, in("r4") rb, options(nostack));
    }
}

fn sweep(scope: u64) {
    (0..CLASSES).for_each(|class| take_back::<TLBIEL>(scope + class * NEXT_CLASS, 0));
    ptesync();
}

/// By partition, a bit for each thread that has to forget its translations before it runs it again.
static STALE: [AtomicU64; LPIDS] = [const { AtomicU64::new(0) }; LPIDS];

/// Whether this core has something to forget of a partition, a vCPU of which is about to enter on this thread: not
/// asked for again. Who leaves it something to forget has the partition locked meanwhile, and so has had the vCPU
/// since.
#[inline(always)]
pub(crate) fn is_behind(lpid: u32, thread: usize) -> bool {
    let (stale, own) = (&STALE[lpid as usize], 1 << thread);
    let is_behind = stale.load(Ordering::Relaxed) & own != 0;
    if is_behind {
        stale.fetch_and(!own, Ordering::AcqRel);
    }
    is_behind
}

/// The parts whose invalidations are done before earlier stores are POWER9s.
pub(crate) const fn set_overtakes_stores(_: bool) {}

/// Makes this core forget all cached translations, or each core all of a partition before it runs it again. The
/// hypervisor has none of its own, and a thread that runs a partition asks only for its own.
pub(crate) fn invalidate(scope: Scope) {
    ptesync();
    match scope {
        Scope::All => sweep(IS_ALL),
        Scope::Partition(lpid) | Scope::Hashed(lpid) => {
            STALE[lpid as usize].store(u64::MAX, Ordering::Release);
        }
    }
}

/// Makes this core, which is this partition's, forget its translations.
pub(crate) fn invalidate_in_core(lpid: u32) {
    debug_assert!(read::<{ spr::LPIDR }>() == u64::from(lpid));
    ptesync();
    sweep(IS_LPID);
}

/// Makes this thread forget pages of the partition that LPIDR names, and waits until it has. `operands` name the
/// pages as RB does. `ptesync` comes before this.
#[inline(always)]
pub(crate) fn invalidate_pages_in_thread(operands: impl Iterator<Item = u64>) {
    for operand in operands {
        take_back::<TLBIEL>(operand, 0);
    }
    ptesync();
}

/// Makes all threads forget pages of a partition, and waits until they have. `operands` name the pages as RB does.
/// `ptesync` comes before this.
#[inline(always)]
pub(crate) fn invalidate_pages(lpid: u32, operands: impl Iterator<Item = u64>) {
    for operand in operands {
        take_back::<TLBIE>(operand, u64::from(lpid));
    }
    await_invalidations();
}

/// Waits until all invalidations that this thread has begun are done on all threads.
pub(crate) fn await_invalidations() {
    // SAFETY: barriers.
    unsafe { asm!("eieio", "tlbsync", "ptesync", options(nostack)) };
}
