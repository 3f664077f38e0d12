//! Makes hardware threads forget translations. The sequences are the processor's own, and those of a kind of
//! translation.

mod power9;
mod radix;

pub(crate) use power9::{
    await_invalidations, invalidate, invalidate_host_in_core, invalidate_in_core,
    invalidate_page_in_core, invalidate_pages, invalidate_pages_in_thread, set_overtakes_stores,
};

pub(crate) use radix::clear_segments;

/// What a broadcast invalidation covers.
#[derive(Clone, Copy)]
pub(crate) enum Scope {
    /// Everything of every partition and of the hypervisor.
    All,
    /// The hypervisor's own translations: LPID 0, PID 0. Translations only, no cached table entries.
    Host,
    /// Everything of one partition with radix translation, both stages.
    Partition(u32),
    /// Everything of one partition with a hashed page table.
    Hashed(u32),
}
