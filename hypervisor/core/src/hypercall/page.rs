//! H_PAGE_INIT: zeroes or copies a page of the guest's memory.

use arch::address::{GuestRealAddress, RealAddress};
use arch::papr::page::{COPY, ICACHE_INVALIDATE, ICACHE_SYNCHRONIZE, ZERO};
use arch::papr::status::{H_PARAMETER, H_SUCCESS};

use super::{Answer, refused};
use crate::guest_memory::AccessError;
use crate::guest_memory::given::Given;
use crate::hal::{Maps, Memory, Platform, Window, Windows};
use crate::partition::Partition;

const PAGE_LOG2: u32 = 12;
const BYTES: u64 = 1 << PAGE_LOG2;
const KNOWN: u64 = ZERO | COPY | ICACHE_INVALIDATE | ICACHE_SYNCHRONIZE;

pub(super) fn initialize<H: Memory + Platform>(
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
    let mut filled = |address| partition.memory.filled(hal, address, BYTES);
    let from = if flags & COPY == 0 { Ok(None) } else { filled(from).map(Some) };
    let places = from.and_then(|from| Ok((filled(to)?, from)));
    match places.and_then(|(to, from)| initialized(hal, flags, to, from)) {
        Ok(()) => Answer::Status(H_SUCCESS),
        Err(error) => refused(error),
    }
}

/// The same of pages that the partition has already, for a vCPU that has not locked it: whether it is done. Else
/// nothing has happened.
pub(crate) fn initialize_owned<H: Windows>(
    given: &Given,
    hal: &H,
    flags: u64,
    to: u64,
    from: u64,
) -> bool {
    let (to, from) = (GuestRealAddress(to), GuestRealAddress(from));
    if flags & !KNOWN != 0 || !to.is_aligned(PAGE_LOG2) {
        return false;
    }
    let from = match flags & COPY {
        0 => None,
        _ if !from.is_aligned(PAGE_LOG2) => return false,
        _ => match given.owned(from, BYTES) {
            None => return false,
            from => from,
        },
    };
    given.owned(to, BYTES).is_some_and(|to| initialized(hal, flags, to, from).is_ok())
}

/// Zeroes a page, copies another one there, or neither, and lets instructions be fetched from it if the flags say so.
fn initialized<H: Windows>(
    hal: &H,
    flags: u64,
    to: RealAddress,
    from: Option<RealAddress>,
) -> Result<(), AccessError> {
    let maps = hal.maps();
    let open = |real| maps.open(real, BYTES).map_err(AccessError::Hypervisor);
    let mut to = open(to)?;
    match from {
        Some(from) => to.copy_from(0, &open(from)?, BYTES as usize),
        None if flags & ZERO != 0 => to.zero(),
        None => {}
    }
    if flags & (ICACHE_INVALIDATE | ICACHE_SYNCHRONIZE) != 0 {
        to.make_fetchable();
    }
    Ok(())
}
