//! H_PAGE_INIT: zeroes or copies a page of the guest's memory.

use arch::address::GuestRealAddress;
use arch::papr::page::{COPY, ICACHE_INVALIDATE, ICACHE_SYNCHRONIZE, ZERO};
use arch::papr::status::{H_PARAMETER, H_SUCCESS};

use super::{Answer, refused};
use crate::guest_memory::AccessError;
use crate::hal::{Hal, Maps, Window};
use crate::partition::Partition;

const PAGE_LOG2: u32 = 12;
const KNOWN: u64 = ZERO | COPY | ICACHE_INVALIDATE | ICACHE_SYNCHRONIZE;

pub(super) fn initialize<H: Hal>(
    partition: &mut Partition<H>,
    hal: &H,
    flags: u64,
    to: u64,
    from: u64,
) -> Answer {
    let (to, from) = (GuestRealAddress(to), GuestRealAddress(from));
    let bad_source = flags & COPY != 0 && !from.is_aligned(PAGE_LOG2);
    if flags & !KNOWN != 0 || !to.is_aligned(PAGE_LOG2) || bad_source {
        return Answer::Status(H_PARAMETER);
    }
    match initialized(partition, hal, flags, to, from) {
        Ok(()) => Answer::Status(H_SUCCESS),
        Err(error) => refused(error),
    }
}

fn initialized<H: Hal>(
    partition: &mut Partition<H>,
    hal: &H,
    flags: u64,
    to: GuestRealAddress,
    from: GuestRealAddress,
) -> Result<(), AccessError> {
    let maps = hal.maps();
    let open = |real| maps.open(real, 1 << PAGE_LOG2).map_err(AccessError::Hypervisor);
    if flags & COPY != 0 {
        let mut page = [0; 1 << PAGE_LOG2];
        open(partition.memory.filled(hal, from, 1 << PAGE_LOG2)?)?.read(0, &mut page);
        open(partition.memory.filled(hal, to, 1 << PAGE_LOG2)?)?.write(0, &page);
    }
    let mut target = open(partition.memory.filled(hal, to, 1 << PAGE_LOG2)?)?;
    if flags & COPY == 0 && flags & ZERO != 0 {
        target.zero();
    }
    if flags & (ICACHE_INVALIDATE | ICACHE_SYNCHRONIZE) != 0 {
        target.make_fetchable();
    }
    Ok(())
}
