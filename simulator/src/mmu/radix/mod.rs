//! Radix translation: whose an address is, and what the trees of its LPID and PID say about it.
//!
//! Source: `docs/facts/translation.md#which-translation` and what follows there.

pub(super) mod rights;
mod tree;
mod walk;

use arch::address::{EffectiveAddress, GuestRealAddress, RealAddress};
use arch::interrupt::storage;
use arch::registers::msr;
use arch::registers::spr::Spr;

use super::fault::{Fault, Untranslated};
use super::located::Located;
use super::read::Read;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::tlb::{Space, Stage, Translation};
use crate::state::walk_cache::WalkCache;
use tree::Page;
use walk::{WalkFault, Walker};

/// Bits of an address below its quadrant.
const IN_QUADRANT: u64 = 0x3FFF_FFFF_FFFF_FFFF;

/// Whose `address` is: with relocation off, the partition's, which has no process-scoped stage then.
pub(super) fn locate(
    thread: &Thread,
    address: EffectiveAddress,
    is_relocated: bool,
) -> Result<Located, Fault> {
    let input = address.0 & IN_QUADRANT;
    if !is_relocated {
        let lpid = thread.lpid();
        return Ok(Located::radix(Space::GuestReal { lpid }, input));
    }
    let space = quadrant(thread, address)?;
    if input >> arch::radix::SPACE_LOG2 != 0 {
        return Err(Fault::Segment);
    }
    Ok(Located::radix(space, input))
}

/// Effective LPID and PID of a relocated access.
fn quadrant(thread: &Thread, address: EffectiveAddress) -> Result<Space, Fault> {
    let has_hv = thread.msr() & msr::HV != 0;
    let lpidr = thread.lpid();
    let pidr = thread.spr(Spr::Pidr) as u32;
    let (lpid, pid) = match (address.0 >> 62, has_hv) {
        (0, true) => (0, pidr),
        (1, true) => (lpidr, pidr),
        (2, true) => (lpidr, 0),
        (3, true) => (0, 0),
        (0, false) => (lpidr, pidr),
        (3, false) => (lpidr, 0),
        _ => return Err(Fault::Segment),
    };
    Ok(Space::Process { lpid, pid })
}

/// Walks the trees for an address, and says what was read on the way. The walk may begin at what is `known`.
pub(super) fn walk(
    shared: &Shared,
    thread: &Thread,
    known: Option<&WalkCache>,
    located: &Located,
) -> Result<(Translation, Vec<Read>), Fault> {
    let is_own = located.space.lpid() == 0 && thread.msr() & msr::HV != 0;
    walk_stages(shared, thread, known, located).map_err(|fault| match fault {
        WalkFault::Process(cause) => Fault::Storage(cause),
        // A hypervisor's own table that its own partition-scoped tree does not map.
        WalkFault::Partition(cause, _) if is_own => Fault::Storage(cause),
        WalkFault::Partition(cause, at) => {
            Fault::HypervisorStorage(cause, Untranslated::GuestReal(at))
        }
        WalkFault::NoMemory(error) => Fault::NoTable(error.0),
    })
}

fn walk_stages(
    shared: &Shared,
    thread: &Thread,
    known: Option<&WalkCache>,
    &Located { space, input, .. }: &Located,
) -> Result<(Translation, Vec<Read>), WalkFault> {
    let ptcr = shared.cores[thread.core].spr(Spr::Ptcr);
    let is_nested = space.lpid() != 0;
    let walker = Walker::new(&shared.memory, known, ptcr, space.lpid())?;
    // LPID 0 is the hypervisor's own; a guest has no business there.
    let is_permitted = is_nested || thread.msr() & msr::HV != 0;
    let Some(mut walker) = walker.filter(|_| is_permitted) else {
        let at = GuestRealAddress(input);
        return Err(WalkFault::Partition(storage::BAD_CONFIGURATION, at));
    };
    let process = match space {
        Space::Process { pid, .. } => Some(walker.process(pid, input)?),
        Space::GuestReal { .. } | Space::Virtual(_) => None,
    };
    let guest_real = process.map_or(input, |page| page.translate(input));
    let partition =
        if is_nested { Some(walker.partition(GuestRealAddress(guest_real))?) } else { None };
    let real = partition.map_or(guest_real, |page| page.translate(guest_real));
    let log2 = |page: Option<Page>| page.map_or(u32::MAX, |page| page.log2);
    let page_log2 = log2(process).min(log2(partition));
    let translation = Translation {
        page_log2,
        real: RealAddress(real).align_down(page_log2),
        guest_real: is_nested.then(|| GuestRealAddress(guest_real).align_down(page_log2)),
        process: process.map(stage),
        partition: partition.map(stage),
        hashed: None,
    };
    Ok((translation, walker.into_reads()))
}

/// What the TLB keeps of a leaf.
fn stage(page: Page) -> Stage {
    Stage {
        rights: page.leaf.rights,
        attributes: page.leaf.attributes,
        referenced: page.leaf.referenced,
        changed: page.leaf.changed,
    }
}
