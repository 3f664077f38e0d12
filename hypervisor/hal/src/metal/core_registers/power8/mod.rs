//! What the threads of a POWER8's core share: LPIDR, SDR1, VTB, DPDES and the hypervisor decrementer
//! (`docs/facts/special-registers.md#scopes`). The threads of a core run one partition at a time, and these stay that
//! one's also while the hypervisor runs, which has no use for them with relocation off. Where cores are [`split`], a
//! core is a subcore here.

mod split;

pub(in super::super) use split::{can_be_split, come as come_to_subcore, split as split_cores};

use core::arch::asm;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use arch::processor::Split;
use hypervisor_core::partition::Common;
use hypervisor_core::sync::Lock;
use hypervisor_core::vcpu::registers::{Registers, Supervisor};

use super::super::segments;
use crate::host_space::{map, region};
use crate::host_state::PROCESSOR;
use crate::host_state::per_cpu::{THREADS_MAX, own_index};
use crate::invalidation::{self, LPIDS};
use crate::registers::{isync, ptesync, read, spr, write};

/// Threads of a whole core, which PIR counts at its end.
const THREADS_PER_CORE: usize = 1 << PROCESSOR.facts().pir.core_shift;
const SPLIT: Split = PROCESSOR.facts().hid0.split.expect("a POWER8's cores can be split");

/// The number that no partition has, and that LPIDR has while SDR1 changes (`docs/facts/power8.md#lpidr`).
const NO_PARTITION: u64 = LPIDS as u64 - 1;

/// By thread: the first one of its core.
static FIRST: [AtomicUsize; THREADS_MAX] = [const { AtomicUsize::new(0) }; THREADS_MAX];
/// The same of whole cores, where they are split.
static FIRST_OF_WHOLE: [AtomicUsize; THREADS_MAX] = [const { AtomicUsize::new(0) }; THREADS_MAX];

/// By the first thread of a core, who may change its registers.
static CORES: [Lock<()>; THREADS_MAX] = [const { Lock::new(()) }; THREADS_MAX];

/// By the first thread of a core and the thread's number in it: when the vCPU there has to come out, [`NEVER`] where
/// there is none.
static DUE: [[AtomicU64; THREADS_PER_CORE]; THREADS_MAX] =
    [const { [const { AtomicU64::new(NEVER) }; THREADS_PER_CORE] }; THREADS_MAX];
const NEVER: u64 = u64::MAX;

/// By partition.
static VIRTUAL_TIME: [Lock<VirtualTime>; LPIDS] =
    [const { Lock::new(VirtualTime { cores: 0, at: 0 }) }; LPIDS];

/// The thread with this index has this PIR; `others` is that of each one before it.
pub(in super::super) fn place(
    index: usize,
    server: u32,
    others: impl Iterator<Item = u32> + Clone,
) {
    for (first, threads) in [(&FIRST, split::threads()), (&FIRST_OF_WHOLE, THREADS_PER_CORE)] {
        let core = |server: u32| server as usize / threads;
        let found = others.clone().position(|other| core(other) == core(server));
        first[index].store(found.unwrap_or(index), Ordering::Relaxed);
    }
}

/// The first thread of this one's core, whose threads take back a partition's translations by `tlbiel`.
pub(in super::super) fn home() -> usize {
    FIRST[own_index()].load(Ordering::Relaxed)
}

/// The first thread of this one's core, split or not.
pub(in super::super) fn whole_core() -> usize {
    FIRST_OF_WHOLE[own_index()].load(Ordering::Relaxed)
}

/// This thread's number in its core.
pub(in super::super) fn number() -> usize {
    read::<{ spr::PIR }>() as usize & (split::threads() - 1)
}

/// The core is a partition's from now on: no thread of it is in another one.
pub(in super::super) fn take(lpid: u32) {
    let _guard = CORES[home()].lock();
    let before = read::<{ spr::LPIDR }>() as usize % LPIDS;
    let now = read::<{ spr::TB }>();
    VIRTUAL_TIME[before].lock().loses_core(now);
    let virtual_time = VIRTUAL_TIME[lpid as usize].lock().gets_core(now);
    // SAFETY: with relocation off nothing of it is the hypervisor's. The order is KVM's (`power8.md#lpidr`): what was
    // begun under the number before is done before the table changes.
    unsafe {
        write::<{ spr::LPIDR }>(NO_PARTITION);
        ptesync();
        map::set_own_table(lpid);
        write::<{ spr::VTB }>(virtual_time);
        write::<{ spr::DPDES }>(0);
        write::<{ spr::LPIDR }>(u64::from(lpid));
    }
    isync();
}

/// Whether LPIDR names this partition: whether it has the core.
pub(in super::super) fn is_in_partition(lpid: u32) -> bool {
    read::<{ spr::LPIDR }>() == u64::from(lpid)
}

/// Makes the core forget at once what it still has to forget of a partition, if that has it, and nobody is in it.
pub(in super::super) fn catch_up_at_once(lpid: u32) {
    if is_in_partition(lpid) {
        catch_up(lpid);
    }
}

/// Makes the core forget what it still has to forget of the partition whose it is, a vCPU of which is about to enter.
pub(in super::super) fn catch_up(lpid: u32) {
    const { assert!(THREADS_MAX <= u64::BITS as usize) };
    if invalidation::is_behind(lpid, own_index()) {
        use_table(lpid);
        invalidation::invalidate_in_core(lpid);
    }
}

/// The core uses the partition's hashed page table, which may be another one than before. Then each thread that is
/// about to enter comes here, and the first one changes it before any is in the partition.
#[cold]
fn use_table(lpid: u32) {
    let _guard = CORES[home()].lock();
    if !map::has_other_table(lpid) {
        return;
    }
    // SAFETY: as in `take`; the others find it changed.
    unsafe {
        write::<{ spr::LPIDR }>(NO_PARTITION);
        ptesync();
        map::set_own_table(lpid);
        write::<{ spr::LPIDR }>(u64::from(lpid));
    }
    isync();
}

/// Another vCPU comes to this thread, of the partition whose the core is.
///
/// # Safety
/// Between two vCPUs.
pub(in super::super) unsafe fn come(from: &Registers, common: Common) -> Option<u64> {
    region::change_partition(common.lpid);
    segments::change(from, common.lpcr);
    give_doorbell(from.supervisor.dpdes);
    None
}

/// Nobody asks for it: [`take`] did it for the core.
pub(in super::super) unsafe fn change_partition(lpid: u64) {
    unreachable!("the core's LPIDR names the partition {lpid} already");
}

/// A vCPU leaves this thread `now`, and takes along what is its own of the core's registers; it may yet go on here, so
/// they stay too. If it has not entered, what it has seen of virtual time is so far behind the time base, and may be
/// more than the core has.
pub(in super::super) fn leave(into: &mut Supervisor, now: u64, behind: u64) {
    into.vtb = read::<{ spr::VTB }>().max(now.wrapping_sub(behind));
    into.dpdes = own_doorbell();
}

/// The vCPU that enters has seen this virtual time, and sees no earlier one.
///
/// # Safety
/// Only before that one is entered, of the partition whose the core is.
pub(in super::super) unsafe fn set_virtual_time(seen: u64) {
    let _guard = CORES[home()].lock();
    if read::<{ spr::VTB }>() < seen {
        let lpid = read::<{ spr::LPIDR }>() as usize % LPIDS;
        VIRTUAL_TIME[lpid].lock().has_reached(seen, read::<{ spr::TB }>());
        // SAFETY: the caller's promise; the others of the partition see it go forward too.
        unsafe { write::<{ spr::VTB }>(seen) };
    }
}

/// A partition's virtual time, one for all of its cores: a vCPU that goes from one to another sees no more of it pass
/// than of time.
struct VirtualTime {
    /// How many cores it has.
    cores: usize,
    /// While it has any, how far this is behind the time base; else what it is.
    at: u64,
}

impl VirtualTime {
    /// It stands still once no core is left. Nobody is LPID 0, which is a core's at first.
    fn loses_core(&mut self, now: u64) {
        self.cores = self.cores.wrapping_sub(1);
        if self.cores == 0 {
            self.at = now.wrapping_sub(self.at);
        }
    }

    /// What it is.
    fn gets_core(&mut self, now: u64) -> u64 {
        if self.cores == 0 {
            self.at = now.wrapping_sub(self.at);
        }
        self.cores += 1;
        now.wrapping_sub(self.at)
    }

    /// A vCPU that was saved has seen so much, and sees no less.
    fn has_reached(&mut self, seen: u64, now: u64) {
        if now.wrapping_sub(self.at) < seen {
            self.at = now.wrapping_sub(seen);
        }
    }
}

/// The largest positive value of the hypervisor decrementer.
const DECREMENTER_MAX: u64 = (1 << (PROCESSOR.facts().decrementer_bits - 1)) - 1;

/// The largest value that it is given for a vCPU, 4.2 s: a call is an external interrupt here, which no guest keeps
/// out.
pub(in super::super) const LONGEST_STAY: u64 = DECREMENTER_MAX;

/// The vCPU that enters has to come out at the time `until`; it is `now`. The decrementer expires when the first one of
/// the core has to.
///
/// # Safety
/// Only before that one is entered.
pub(in super::super) unsafe fn set_timer(until: u64, now: u64) {
    let home = home();
    let _guard = CORES[home].lock();
    DUE[home][number()].store(until, Ordering::Relaxed);
    let due = DUE[home].iter().map(|due| due.load(Ordering::Relaxed)).min().unwrap_or(until);
    // SAFETY: all threads of the core that are in their guests come out then.
    unsafe { write::<{ spr::HDEC }>(due.saturating_sub(now).clamp(1, LONGEST_STAY)) };
}

/// By thread, when the vCPU there has to leave.
static UNTIL: [AtomicU64; THREADS_MAX] = [const { AtomicU64::new(0) }; THREADS_MAX];

/// A vCPU enters that has to leave at the time `until`.
pub(in super::super) fn begin_stay(until: u64) {
    UNTIL[own_index()].store(until, Ordering::Relaxed);
}

/// Whether the vCPU that the decrementer interrupted need not leave yet.
pub(in super::super) fn is_early() -> bool {
    read::<{ spr::TB }>() < UNTIL[own_index()].load(Ordering::Relaxed)
}

/// The vCPU has come out.
pub(in super::super) fn end_stay() {
    DUE[home()][number()].store(NEVER, Ordering::Relaxed);
}

/// The tag of this thread's own doorbell for `msgsndp` and `msgclrp`.
fn doorbell() -> u64 {
    const PRIVILEGED: u64 = 5 << 27;
    PRIVILEGED | number() as u64
}

/// Whether a privileged doorbell waits on this thread, in the last bit.
fn own_doorbell() -> u64 {
    read::<{ spr::DPDES }>() >> number() & 1
}

/// Rings this thread's privileged doorbell, if one waited for the vCPU that comes, and takes one back that a vCPU here
/// before has left.
fn give_doorbell(waits: u64) {
    if own_doorbell() != 0 {
        // SAFETY: the vCPU that it waited for has left, and has it in its record.
        unsafe { asm!(".long {}", const MSGCLRP, in("r3") doorbell(), options(nostack)) };
    }
    if waits != 0 {
        // SAFETY: the vCPU that comes gets it.
        unsafe { asm!(".long {}", const MSGSNDP, in("r3") doorbell(), options(nostack)) };
    }
}

/// `msgsndp r3`.
const MSGSNDP: u32 = 31 << 26 | 3 << 11 | 142 << 1;
/// `msgclrp r3`.
const MSGCLRP: u32 = 31 << 26 | 3 << 11 | 174 << 1;
