//! What a table walk for an address would read, and whose address it is: for the timing model.
//!
//! The tables are read as they are now, without side effects and without what the core remembers of them;
//! which entries the modelled walker has to read again, its own walk caches say.

use arch::address::{EffectiveAddress, GuestRealAddress};

use super::Access;
use super::located::Located;
use super::read::Read;
use super::scheme::{locate, walk};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::tlb::{Hit, Space};

/// A walk from the partition table to the page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    /// log2 of the page's bytes; the smaller of both stages' pages.
    pub page_log2: u32,
    /// The page's guest real address, where the partition-scoped stage took part.
    pub guest_real: Option<GuestRealAddress>,
    /// The entries, in the order in which they are read: before each process-scoped one those
    /// partition-scoped ones that say where it lies, and those that say where the page lies at the end.
    pub reads: Vec<Read>,
}

/// Whose address `address` is in the thread's state, and the address there. `None` for the hypervisor's real
/// addresses, and where the address is nobody's.
#[must_use]
pub fn space(
    thread: &Thread,
    shared: &Shared,
    address: EffectiveAddress,
    access: Access,
) -> Option<(Space, u64)> {
    let Located { space, input, .. } = locate(thread, shared, address, access).ok()?.located()?;
    Some((space, input))
}

/// The walk for `address` in the thread's state; `None` where there is no page for it, or no tables are needed.
///
/// The tables may have no page where the core's TLB has one: of a large page in a segment of small ones, each small one
/// has an entry of its own, which is entered when it is missed. Then nothing is read.
#[must_use]
pub fn walk_path(
    thread: &Thread,
    shared: &Shared,
    address: EffectiveAddress,
    access: Access,
) -> Option<Path> {
    let located = locate(thread, shared, address, access).ok()?.located()?;
    let (translation, reads) = match walk(shared, thread, None, &located) {
        Ok(found) => found,
        Err(_) => match shared.cores[thread.core].tlb.find(located.space, located.key(address)) {
            Hit::One(known) => (*known, Vec::new()),
            Hit::Several | Hit::None => return None,
        },
    };
    Some(Path { page_log2: translation.page_log2, guest_real: translation.guest_real, reads })
}
