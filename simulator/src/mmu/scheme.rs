//! Which scheme translates an address: the radix trees, or the hashed page table.
//!
//! LPCR\[HR\] and LPCR\[UPRT\] say it once, in [`locate`]; from there on the [`Space`] does. Segment tables
//! (HR=0 with UPRT=1) are not modelled: software that asks for them stops the machine.

use arch::address::{EffectiveAddress, RealAddress};
use arch::registers::spr::Spr;
use arch::registers::{lpcr, msr};

use super::fault::Fault;
use super::hash::Mark;
use super::inhibited::Inhibited;
use super::located::{Located, Where};
use super::read::Read;
use super::{Access, hash, radix};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::StopReason;
use crate::state::tlb::{Space, Translation};
use crate::state::walk_cache::WalkCache;

/// Whose address it is, and the address there.
#[inline]
pub(super) fn locate(
    thread: &Thread,
    shared: &Shared,
    address: EffectiveAddress,
    access: Access,
) -> Result<Where, Fault> {
    let is_relocated = match access {
        Access::Fetch => thread.msr() & msr::IR != 0,
        Access::Load | Access::Store => thread.msr() & msr::DR != 0,
    };
    if thread.msr() & msr::HV != 0 && !is_relocated {
        let is_offset = address.0 >> 63 == 0;
        let hrmor = if is_offset { shared.cores[thread.core].spr(Spr::Hrmor) } else { 0 };
        return Ok(Where::Real(RealAddress(address.0 & 0x0FFF_FFFF_FFFF_FFFF | hrmor)));
    }
    let lpcr = thread.spr(Spr::Lpcr);
    match (lpcr & lpcr::HR != 0, lpcr & lpcr::UPRT != 0) {
        (true, true) => radix::locate(thread, address, is_relocated).map(Where::Virtual),
        (false, false) => hash::locate(thread, shared, address, access, is_relocated),
        (false, true) => Err(stop("translation by segment tables (LPCR[HR]=0 with LPCR[UPRT]=1)")),
        (true, false) => Err(stop("radix translation without process tables (LPCR[UPRT]=0)")),
    }
}

fn stop(what: &'static str) -> Fault {
    Fault::Stop(StopReason::TranslationNotModelled(what))
}

/// Looks an address up in its tables, and says what was read on the way. What is `known` need not be read again.
pub(super) fn walk(
    shared: &Shared,
    thread: &Thread,
    known: Option<&WalkCache>,
    located: &Located,
) -> Result<(Translation, Vec<Read>), Fault> {
    match located.space {
        Space::Process { .. } | Space::GuestReal { .. } => {
            radix::walk(shared, thread, known, located)
        }
        Space::Virtual(segment) => hash::walk(shared, thread, known, segment, located),
    }
}

/// Whether what the TLB knows serves `access` without another look at the tables.
pub(super) fn serves(translation: &Translation, access: Access) -> bool {
    translation.hashed.as_ref().is_none_or(|hashed| hash::serves(hashed, access))
}

/// Sets what the walk for `access` has to set in the tables, and says where.
pub(super) fn mark(translation: &mut Translation, access: Access) -> [Option<Mark>; 2] {
    translation.hashed.as_mut().map_or([None; 2], |hashed| hash::mark(hashed, access))
}

/// Checks `access` to the byte at `address` in the thread's state. Returns who keeps its page out of the caches, if
/// anyone.
pub(super) fn check(
    thread: &Thread,
    translation: &Translation,
    located: &Located,
    address: EffectiveAddress,
    access: Access,
) -> Result<Option<Inhibited>, Fault> {
    if let Some(hashed) = &translation.hashed {
        hash::rights::check(thread, hashed, located, access)?;
        return Ok(hash::inhibited(hashed, located));
    }
    radix::rights::check(thread, translation, address, access)?;
    Ok(radix::rights::inhibited(translation, address))
}
