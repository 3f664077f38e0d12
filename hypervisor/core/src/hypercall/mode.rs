//! H_SET_MODE: where and in which endianness the guest takes its interrupts.

use arch::papr::mode::{ENDIANNESS, INTERRUPT_LOCATION};
use arch::papr::status::{H_P2, H_P3, H_P4, H_SUCCESS, H_UNSUPPORTED_FLAG_START};
use arch::registers::lpcr;

use crate::hal::Memory;
use crate::partition::Partition;

#[inline(never)]
pub(super) fn set<H: Memory>(
    partition: &mut Partition<H>,
    flags: u64,
    resource: u64,
    value_1: u64,
    value_2: u64,
) -> i64 {
    let lpcr = match (resource, flags) {
        // With radix translation the hypervisor's own interrupts go where the partition's do, and it has two doors.
        (INTERRUPT_LOCATION, 0 | 3) => lpcr::AIL.set(partition.lpcr, flags),
        (ENDIANNESS, 0) => partition.lpcr & !lpcr::ILE,
        (ENDIANNESS, 1) => partition.lpcr | lpcr::ILE,
        (INTERRUPT_LOCATION | ENDIANNESS, _) => return H_UNSUPPORTED_FLAG_START,
        _ => return H_P2,
    };
    if value_1 != 0 {
        return H_P3;
    }
    if value_2 != 0 {
        return H_P4;
    }
    partition.lpcr = lpcr;
    H_SUCCESS
}
