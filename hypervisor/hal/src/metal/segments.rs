//! The segment lookaside buffer of a vCPU with a hashed page table: how it gets into its record and back.

use arch::registers::lpcr;
use hypervisor_core::vcpu::registers::{Registers, SEGMENTS, Segments};

use crate::host_state::per_cpu::{THREADS_MAX, own_index, per_cpu};
use crate::single::Single;

unsafe extern "C" {
    fn hal_read_segments(into: *mut Segments, real_msr: u64, lpcr: u64);
    fn hal_write_segments(from: *const Segments, real_msr: u64, lpcr: u64);
}

/// By hardware thread, on the way: in the image, which is reached with relocation off.
static STAGED: [Single<Segments>; THREADS_MAX] =
    [const { Single::new([[0; 2]; SEGMENTS]) }; THREADS_MAX];

/// LPCR with which software has all entries.
const fn hashed(lpcr: u64) -> u64 {
    lpcr & !(lpcr::HR | lpcr::UPRT)
}

/// Whether a partition with this LPCR has a hashed page table.
pub(super) const fn is_hashed(lpcr: u64) -> bool {
    lpcr & lpcr::HR == 0
}

/// Copies the segment lookaside buffer into the record.
#[cold]
#[inline(never)]
pub(super) fn save(into: &mut Registers, lpcr: u64) {
    **into.segments.get_or_insert_default() = read(lpcr);
}

/// The segment lookaside buffer has what a vCPU with this record left there, and nothing of another one's.
#[cold]
#[inline(never)]
pub(super) fn change(from: &Registers, lpcr: u64) {
    let none = [[0; 2]; SEGMENTS];
    write(from.segments.as_deref().unwrap_or(&none), lpcr);
}

/// All of it. A partition with this LPCR has it.
pub(super) fn read(lpcr: u64) -> Segments {
    let staged = STAGED[own_index()].get();
    // SAFETY: this thread's own; no guest runs on it, and the function sets LPCR and MSR back. LPIDR is 0 where the
    // hypervisor is translated.
    unsafe {
        hal_read_segments(staged, (*per_cpu()).real_msr, hashed(lpcr));
        *staged
    }
}

/// Replaces all of it, and forgets what was translated by it.
fn write(segments: &Segments, lpcr: u64) {
    let staged = STAGED[own_index()].get();
    // SAFETY: as for `read`.
    unsafe {
        *staged = *segments;
        hal_write_segments(staged, (*per_cpu()).real_msr, hashed(lpcr));
    }
}
