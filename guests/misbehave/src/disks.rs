//! A command to a disk, sent without end.

use crate::misbehavior::store;
use arch::papr::{Hypercall, tce};
use arch::scsi::operation;
use arch::vscsi::{ENTRY_BYTES, srp};

/// The adapter's unit address.
pub(crate) const UNIT: u64 = 0x3000_0000;

/// Pages of the window, from its beginning: the queue, the command, and its data.
const QUEUE: u64 = 0;
const COMMAND: u64 = 0x1000;
const DATA: u64 = 0x2000;
const DATA_BYTES: u64 = 0x1_0000;
const QUEUE_BYTES: u64 = 0x1000;

/// Shows the adapter memory from `base` on, and gives it a queue there.
pub(crate) fn prepare(base: u64) {
    for page in (0..DATA + DATA_BYTES).step_by(1 << tce::PAGE_LOG2) {
        let entry = (base + page) | tce::READ | tce::WRITE;
        rt::hypercall(Hypercall::PutTce as u64, [tce::WINDOW, page, entry, 0]);
    }
    rt::hypercall(Hypercall::RegCrq as u64, [UNIT, QUEUE, QUEUE_BYTES, 0]);
}

/// The arguments of H_SEND_CRQ for a command that reads 64 KiB, with a place for its answer.
pub(crate) fn read(base: u64, round: u64) -> [u64; 4] {
    let blocks = DATA_BYTES / 512;
    for (at, value) in [
        (0, u64::from(srp::COMMAND) << 56 | u64::from(srp::DIRECT) << 16),
        (srp::TAG, round),
        (16, 0),
        (24, 0),
        // Bytes 7 and 8 have the number of blocks.
        (srp::command::CDB, u64::from(operation::READ_10) << 56 | blocks >> 8),
        (srp::command::CDB + 8, blocks << 56),
        (srp::command::REST, DATA),
        (srp::command::REST + 8, DATA_BYTES),
    ] {
        store(base + COMMAND + at as u64, value.to_be());
    }
    store(base + QUEUE + round * ENTRY_BYTES as u64 % QUEUE_BYTES, 0);
    [UNIT, 0x8001 << 48 | 64, COMMAND, 0]
}
