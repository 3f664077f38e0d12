//! Makes hardware threads forget translations. The sequences are the processor's own, and those of a kind of
//! translation.

#[cfg(feature = "power8")]
mod power8;
#[cfg(not(feature = "power8"))]
mod power9;
mod radix;

#[cfg(feature = "power8")]
use power8 as own;
#[cfg(not(feature = "power8"))]
use power9 as own;

pub(crate) use own::{
    await_invalidations, invalidate, invalidate_in_core, invalidate_pages,
    invalidate_pages_in_thread, set_overtakes_stores,
};
#[cfg(feature = "power8")]
pub(crate) use power8::{LPIDS, is_behind};
#[cfg(not(feature = "power8"))]
pub(crate) use power9::{invalidate_host_in_core, invalidate_page_in_core};

pub(crate) use radix::clear_segments;

/// What a broadcast invalidation covers.
#[derive(Clone, Copy)]
pub(crate) enum Scope {
    /// Everything of every partition and of the hypervisor.
    All,
    /// The hypervisor's own translations: LPID 0, PID 0. Translations only, no cached table entries.
    #[cfg(not(feature = "power8"))]
    Host,
    /// Everything of one partition with radix translation, both stages.
    Partition(u32),
    /// Everything of one partition with a hashed page table.
    Hashed(u32),
}
