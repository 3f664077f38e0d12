//! POWER8's prefetch engine: `logmpp` and MPPR (`docs/facts/power8.md#operands-of-the-prefetch-engine`).
//!
//! How software learns that the engine has done what it was told is not published. This reads MPPR, as our machine
//! shows it; where it shows nothing, the engine seems free at once.

use core::arch::asm;

use alloc::format;
use alloc::vec::Vec;

use arch::address::RealAddress;
use arch::bundle::PrefetchPolicy;
use arch::record::Learned;
use arch::registers::{monitor, mppr};
use hypervisor_core::boot::bundle::{self, HEADER_BYTES, manifest_bytes};
use hypervisor_core::boot::firmware::Firmware;
use hypervisor_core::prefetch::patch::{Patch, Registers};
use hypervisor_core::prefetch::{
    self, Levels, Missed, NoMemory, Place, PrefetchEngine, Tables, Vcores,
};
use hypervisor_core::vcpu_id::VcpuId;

use super::{core_registers, facilities, opal};
use crate::host_space::map::Kept;
use crate::host_space::memory;
use crate::host_space::windows::Reserved;
use crate::host_state::per_cpu::THREADS_MAX;
use crate::registers::{read, spr, write};
use crate::single::Single;

/// Who says what the engines of all cores do.
enum Use {
    Ours(Tables),
    /// In an experiment of the patch of 2014.
    Patch(Patch),
}

static USE: Single<Option<Use>> = Single::new(None);

/// The engine of this thread's core.
struct OwnEngine;

impl PrefetchEngine for OwnEngine {
    fn new_log(&self, levels: Levels) -> Option<RealAddress> {
        memory::log_table(levels.table_bytes())
    }

    fn begin_log(&self, table: RealAddress, levels: Levels) {
        let control = match levels {
            Levels::L2 => mppr::log::L2,
            Levels::L2AndL3 => mppr::log::L2_AND_L3,
        };
        // SAFETY: core names tables of `new_log` alone, with their levels, and each to one engine at a time.
        unsafe { log(table, control) };
    }

    fn end_log(&self) {
        // SAFETY: nothing is written any more.
        unsafe { log(RealAddress(0), mppr::log::ABORT) };
    }

    fn begin_fetch(&self, table: RealAddress, lpid: u32) {
        let all = mppr::FETCH.set(table.0 & mppr::TABLE, mppr::fetch::TO_THE_END);
        debug_assert!(core_registers::is_in_partition(lpid));
        // SAFETY: the engine reads memory and changes none.
        unsafe { write::<{ spr::MPPR }>(all) };
    }

    fn end_fetch(&self) {
        // SAFETY: the engine stops.
        unsafe { write::<{ spr::MPPR }>(mppr::FETCH.set(0, mppr::fetch::NOTHING)) };
    }

    fn is_at_work(&self) -> bool {
        read::<{ spr::MPPR }>() & (mppr::LOGS | mppr::FETCHES) != 0
    }

    fn completed(&self) -> u64 {
        read::<{ spr::IC }>()
    }

    fn missed(&self) -> Option<Missed> {
        if facilities::has_monitor() {
            return None;
        }
        if read::<{ spr::MMCR0 }>() != COUNTING {
            // SAFETY: the monitor is no vCPU's now, so that none sees it; no counter makes an alert.
            unsafe {
                write::<{ spr::MMCR0 }>(monitor::FC);
                write::<{ spr::MMCR1 }>(MISSES);
                write::<{ spr::MMCR2 }>(0);
                write::<{ spr::MMCRA }>(0);
                write::<{ spr::MMCR0 }>(COUNTING);
            }
        }
        Some(Missed { l2: read::<{ spr::PMC2 }>(), l3: read::<{ spr::PMC3 }>() })
    }
}

/// MMCR0 while the monitor counts for the hypervisor what its guests do.
const COUNTING: u64 = monitor::FCH;

/// MMCR1: PMC2 counts PM_DATA_FROM_L2MISS, PMC3 PM_DATA_FROM_L3MISS (`docs/facts/special-registers.md#events`).
const MISSES: u64 = monitor::EVENTS[2].set(monitor::EVENTS[1].set(0, 0xFE), 0xFE);

impl Registers for OwnEngine {
    fn new_pages(&self, bytes: u64) -> Option<RealAddress> {
        memory::log_table(bytes)
    }

    fn logmpp(&self, operand: u64) {
        // SAFETY: none. Only an experiment has the patch, which measures what its engine does to memory.
        unsafe { logmpp(operand) };
    }

    fn set_mppr(&self, value: u64) {
        // SAFETY: the engine reads memory and changes none.
        unsafe { write::<{ spr::MPPR }>(value) };
    }
}

/// Makes room for what the bundle asks for. One that is damaged is core's to report.
///
/// # Safety
/// The boot thread, before it fetches others.
pub(super) unsafe fn set_up(firmware: &Firmware<'_>, reserved: &Reserved) {
    let Some(asked) = asked_for(firmware, reserved) else { return };
    let Some(policy) = asked.policy else {
        stop("the bundle's policy for it is none of off, always-l2, always-l2-l3 and adaptive");
    };
    let vcpus = asked.vcpus.iter().sum();
    let vcores = Vcores::new(asked.threads, asked.vcpus.into_iter());
    let ours = Tables::new(&OwnEngine, policy, vcores, THREADS_MAX);
    let used = match ours {
        Ok(_) if policy == PrefetchPolicy::Faithful => Some(Use::Patch(Patch::new(vcpus))),
        Ok(tables) => tables.map(Use::Ours),
        Err(NoMemory) => {
            let advice = match policy {
                PrefetchPolicy::AlwaysL2AndL3 | PrefetchPolicy::Adaptive => {
                    ", or always-l2, whose tables are smaller"
                }
                _ => "",
            };
            stop(&format!(
                "the heap has no room for a table of each vcore of {vcpus} vCPUs; use fewer of them or more threads of each core{advice}"
            ));
        }
    };
    // SAFETY: the caller's promise.
    unsafe { *USE.get() = used };
}

/// What a bundle asks for.
struct Asked {
    /// Nothing where there is no such policy.
    policy: Option<PrefetchPolicy>,
    /// How many vCPUs each partition has.
    vcpus: Vec<usize>,
    /// How many threads of a core, or of a part of a split one, run vCPUs.
    threads: usize,
}

fn asked_for(firmware: &Firmware<'_>, reserved: &Reserved) -> Option<Asked> {
    let file = firmware.initrd()?;
    let mut kept = Kept::at(file.start);
    let header = kept.bytes(reserved, HEADER_BYTES).ok()?;
    // SAFETY: relocation is off, so that memory is there; nobody writes it, and it is not the hypervisor's own.
    let header = unsafe { header.cast::<[u8; HEADER_BYTES as usize]>().read() };
    let bytes = manifest_bytes(header, file.bytes).ok()?;
    let start = kept.bytes(reserved, bytes).ok()?;
    // SAFETY: as above.
    let manifest = unsafe { core::slice::from_raw_parts(start, bytes as usize) };
    let bundle = bundle::parse(manifest, file.bytes).ok()?;
    let vcpus = bundle.partitions.iter().map(|partition| partition.vcpus as usize).collect();
    let at_most = if bundle.has_one_partition_per_core { Some(1) } else { bundle.threads_per_core };
    let cores = firmware.threads().map(|thread| thread.core);
    let threads = prefetch::most_in_a_part(cores, bundle.subcores.unwrap_or(1), at_most);
    Some(Asked { policy: prefetch::policy(manifest), vcpus, threads })
}

fn stop(why: &str) -> ! {
    opal::console_write(format!("powervisor: error: prefetch engine: {why}\n").as_bytes());
    opal::power_off()
}

/// Whether engines are used in the way of the patch of 2014, which serves one thread of a core.
pub(super) fn is_the_patch() -> bool {
    matches!(used(), Some(Use::Patch(_)))
}

/// Who says what engines do, once that is known; nobody where they are off.
fn used() -> Option<&'static Use> {
    // SAFETY: nobody writes it once there are other threads.
    unsafe { (*USE.get()).as_ref() }
}

fn place() -> Place {
    let (thread, part) = (core_registers::number(), core_registers::home());
    Place { thread, part, core: core_registers::whole_core() }
}

/// The vCPU with this number, of this partition, enters `now`, to leave at the time `until`: when it comes out, then or
/// before that for a look; and the time now, since an engine that is told something takes a while.
pub(super) fn enters(vcpu: (VcpuId, u32), until: u64, now: u64) -> (u64, u64) {
    let tables = match used() {
        None => return (until, now),
        Some(Use::Ours(tables)) => tables,
        Some(Use::Patch(patch)) => {
            patch.enters(&OwnEngine, vcpu.0);
            return (until, read::<{ spr::TB }>());
        }
    };
    let look = tables.enters(&OwnEngine, place(), vcpu, now);
    let now = read::<{ spr::TB }>();
    (look.map_or(until, |ticks| until.min(now.saturating_add(ticks))), now)
}

/// The vCPU that entered has left.
pub(super) fn exits(vcpu: VcpuId) {
    match used() {
        None => {}
        Some(Use::Ours(tables)) => {
            tables.exits(&OwnEngine, place(), read::<{ spr::TB }>());
        }
        Some(Use::Patch(patch)) => patch.exits(&OwnEngine, vcpu),
    }
}

/// What each vCPU's vcore has learned, in their order.
pub(super) fn learned() -> Vec<Learned> {
    match used() {
        Some(Use::Ours(tables)) => tables.learned(),
        _ => Vec::new(),
    }
}

/// No vCPU enters this thread any more.
pub(super) fn ends() {
    if let Some(Use::Ours(tables)) = used() {
        tables.ends(&OwnEngine, place());
    }
}

/// `logmpp` with its operand in r3.
const LOGMPP: u32 = 31 << 26 | 3 << 21 | 1010 << 1;

/// Tells the engine what to log, and where.
///
/// # Safety
/// The table is as long as `control` says, and nobody else's.
unsafe fn log(table: RealAddress, control: u64) {
    // SAFETY: the caller's promise.
    unsafe { logmpp(mppr::LOG.set(table.0 & mppr::TABLE, control)) };
}

/// `logmpp` with this operand.
///
/// # Safety
/// What it says to write is nobody else's.
unsafe fn logmpp(operand: u64) {
    // SAFETY: the caller's promise; it changes no register.
    unsafe { asm!(".long {}", const LOGMPP, in("r3") operand, options(nostack)) };
}
