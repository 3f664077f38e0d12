//! H_REGISTER_PROC_TBL: the guest's process table, with radix translation; that it has none, with a hashed page table.

use arch::address::{GuestRealAddress, RealAddress};
use arch::bundle::Translation;
use arch::papr::process_table::{DEREGISTER, GTSE, RADIX, REGISTER};
use arch::papr::status::{H_P2, H_P3, H_P4, H_PARAMETER, H_SUCCESS};
use arch::radix::TableLocation;
use arch::registers::lpcr;

use crate::hal::Memory;
use crate::partition::Partition;

/// The largest table is 2^(12 + 24) bytes.
const SIZE_MAX: u64 = 24;

#[inline(never)]
pub(super) fn register<H: Memory>(
    partition: &mut Partition<H>,
    hal: &H,
    flags: u64,
    base: u64,
    page_size: u64,
    size: u64,
) -> i64 {
    match partition.translation() {
        Translation::Radix => {}
        // It has neither a process table nor segment tables, and does not issue `tlbie`.
        Translation::Hash => {
            return match (flags, [base, page_size, size]) {
                // Linux changes nothing, and says so.
                (0 | REGISTER | DEREGISTER, [0, 0, 0]) => H_SUCCESS,
                _ => H_PARAMETER,
            };
        }
    }
    let table = match flags & !GTSE {
        DEREGISTER => None,
        // Without RADIX it is a request for a hashed page table, which this partition does not have.
        FLAGS_RADIX => {
            // The processor takes base bits below the table's size for zero, so a table that is not
            // aligned to its size would be another table.
            if size > SIZE_MAX {
                return H_P4;
            }
            let bytes_log2 = 12 + size as u32;
            let address = GuestRealAddress(base);
            if !address.is_aligned(bytes_log2)
                || partition.memory.real(address, 1 << bytes_log2).is_none()
            {
                return H_P2;
            }
            if page_size != 0 {
                return H_P3;
            }
            // Partition and process tables share the form of the word; here the base is guest real.
            Some(TableLocation { base: RealAddress(base), bytes_log2 })
        }
        _ => return H_PARAMETER,
    };
    partition.lpcr &= !lpcr::GTSE;
    if flags & GTSE != 0 {
        partition.lpcr |= lpcr::GTSE;
    }
    partition.process_table = table;
    hal.set_process_table(partition.lpid, table);
    H_SUCCESS
}

const FLAGS_RADIX: u64 = REGISTER | RADIX;
