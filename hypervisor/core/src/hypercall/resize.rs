//! H_RESIZE_HPT_PREPARE and H_RESIZE_HPT_COMMIT: another size for the partition's hashed page table.
//!
//! Source: `docs/facts/papr.md#another-size-for-the-table`.

use arch::papr::Hypercall;
use arch::papr::status::{
    H_BUSY, H_CLOSED, H_FUNCTION, H_LONG_BUSY_ORDER_1_MSEC, H_PARAMETER, H_PTEG_FULL, H_RESOURCE,
    H_SUCCESS,
};

use super::{Answer, retry};
use crate::hal::Memory;
use crate::hash_table::Wish;
use crate::partition::Partition;

/// H_RESIZE_HPT_PREPARE.
#[inline(never)]
pub(super) fn prepare<H: Memory>(partition: &Partition<H>, flags: u64, bytes_log2: u64) -> i64 {
    let Some(table) = partition.memory.hash_table() else { return H_FUNCTION };
    if flags != 0 {
        return if table.is_resizable() { H_PARAMETER } else { H_FUNCTION };
    }
    match table.prepare(bytes_log2) {
        Wish::Goes => H_LONG_BUSY_ORDER_1_MSEC,
        wish => status(wish),
    }
}

/// H_RESIZE_HPT_COMMIT with these arguments. While entries move the vCPU is outside with all others, and makes the call
/// again behind that.
#[inline(never)]
pub(super) fn commit<H: Memory>(partition: &Partition<H>, arguments: [u64; 7]) -> Answer {
    let [flags, bytes_log2, ..] = arguments;
    let Some(table) = partition.memory.hash_table() else { return Answer::Status(H_FUNCTION) };
    if flags != 0 {
        return Answer::Status(if table.is_resizable() { H_PARAMETER } else { H_FUNCTION });
    }
    match table.commit(bytes_log2) {
        Wish::Moves => retry(Hypercall::ResizeHptCommit, arguments),
        wish => Answer::Status(status(wish)),
    }
}

/// What a wish comes to that waits for nothing.
const fn status(wish: Wish) -> i64 {
    match wish {
        Wish::Impossible => H_FUNCTION,
        Wish::NoSize => H_PARAMETER,
        Wish::TooLarge => H_RESOURCE,
        Wish::Goes | Wish::Moves => H_BUSY,
        Wish::Done => H_SUCCESS,
        Wish::Unasked => H_CLOSED,
        Wish::Full => H_PTEG_FULL,
    }
}
