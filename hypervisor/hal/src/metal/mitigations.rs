//! What exits and entries do against speculation: the code of `guards.S`, which sites lead to.

use core::slice;

use hypervisor_core::boot::mitigations::{DataFlush, Mitigations, TargetFlush};

/// When the instruction at a [`Site`] is replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub(super) enum Condition {
    /// Something is done at the first instructions of each exit.
    AtExit,
    /// Something is done before the first function.
    AtCall,
    /// Something is done at each entry.
    AtEntry,
    NoStoreBarrier,
    NoTriggerAtExit,
    NoTriggerAtEntry,
    NoDisplacementAtExit,
    NoDisplacementAtEntry,
    NoLinkStack,
    NoTargets,
    TargetsAssisted,
}

impl Condition {
    fn holds(self, mitigations: Mitigations) -> bool {
        let Mitigations { data_at_exit, data_at_entry, targets, .. } = mitigations;
        let Mitigations { has_store_barrier, flushes_link_stack, .. } = mitigations;
        match self {
            Self::AtExit => data_at_exit == DataFlush::Trigger || has_store_barrier,
            Self::AtCall => data_at_exit == DataFlush::Displacement || flushes_link_stack,
            Self::AtEntry => {
                data_at_entry != DataFlush::Never
                    || has_store_barrier
                    || targets != TargetFlush::Never
            }
            Self::NoStoreBarrier => !has_store_barrier,
            Self::NoTriggerAtExit => data_at_exit != DataFlush::Trigger,
            Self::NoTriggerAtEntry => data_at_entry != DataFlush::Trigger,
            Self::NoDisplacementAtExit => data_at_exit != DataFlush::Displacement,
            Self::NoDisplacementAtEntry => data_at_entry != DataFlush::Displacement,
            Self::NoLinkStack => !flushes_link_stack,
            Self::NoTargets => targets == TargetFlush::Never,
            Self::TargetsAssisted => targets == TargetFlush::Assisted,
        }
    }
}

/// An instruction that becomes a branch to `target` where `condition` holds.
#[derive(Clone, Copy)]
#[repr(C)]
struct Site {
    address: u64,
    condition: Condition,
    target: u64,
}

const NOP: u32 = 0x6000_0000;
const BRANCH: u32 = 18 << 26;
/// The displacement of a branch: a multiple of four, of 26 bits with its sign.
const DISPLACEMENT: u32 = 0x03FF_FFFC;

unsafe extern "C" {
    static sites_start: Site;
    static sites_end: Site;
    /// Writes an instruction where all threads will find it.
    fn hal_replace(address: u64, word: u32);
}

/// Does this at exits and entries from here on.
pub(super) fn apply(mitigations: Mitigations) {
    let (start, end) = (&raw const sites_start, &raw const sites_end);
    // SAFETY: the linker's list of what `site` has written, constant, with a condition that Rust gave it.
    let sites = unsafe { slice::from_raw_parts(start, end.offset_from_unsigned(start)) };
    for site in sites.iter().filter(|site| site.condition.holds(mitigations)) {
        // SAFETY: an instruction of this image, which no thread executes before a guest runs; the branch leads to
        // code for that place. The other threads synchronise before they run guests.
        unsafe { hal_replace(site.address, branch(site)) };
    }
}

/// What becomes of the instruction at a site.
fn branch(site: &Site) -> u32 {
    match site.target.wrapping_sub(site.address) {
        4 => NOP,
        distance => BRANCH | distance as u32 & DISPLACEMENT,
    }
}
