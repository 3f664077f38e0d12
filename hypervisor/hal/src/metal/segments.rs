//! The segment lookaside buffer of a vCPU with a hashed page table: how it gets into its record and back.

use arch::registers::lpcr;
use hypervisor_core::vcpu::registers::{SEGMENTS, Segments};

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

/// All of it. A partition with this LPCR has it.
pub(super) fn read(lpcr: u64) -> Segments {
    let staged = STAGED[own_index()].get();
    // SAFETY: this thread's own; no guest runs, LPIDR is 0, and the function sets LPCR and MSR back.
    unsafe {
        hal_read_segments(staged, (*per_cpu()).real_msr, hashed(lpcr));
        *staged
    }
}

/// Replaces all of it, and forgets what was translated by it.
pub(super) fn write(segments: &Segments, lpcr: u64) {
    let staged = STAGED[own_index()].get();
    // SAFETY: as for `read`.
    unsafe {
        *staged = *segments;
        hal_write_segments(staged, (*per_cpu()).real_msr, hashed(lpcr));
    }
}
