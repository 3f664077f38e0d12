//! Which scheme translates an address: the radix trees, or the hashed page table. Only here is that asked.
//!
//! LPCR\[HR\] and LPCR\[UPRT\] say it once, in [`locate`]; from there on the [`Space`] does. Hashed translation
//! is not modelled yet: software that asks for it stops the machine.

use arch::address::EffectiveAddress;
use arch::registers::spr::Spr;
use arch::registers::{lpcr, msr};

use super::fault::Fault;
use super::inhibited::Inhibited;
use super::radix::walk::Read;
use super::{Access, radix};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::StopReason;
use crate::state::tlb::{Space, Translation};
use crate::state::walk_cache::WalkCache;

/// An address that has to be translated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Located {
    /// Whose it is.
    pub(super) space: Space,
    /// What it is there.
    pub(super) input: u64,
}

/// LPCR as it is for radix translation.
const RADIX: u64 = lpcr::HR | lpcr::UPRT;

/// Whose address it is, and the address there; `None` for the hypervisor's real addresses.
pub(super) fn locate(
    thread: &Thread,
    address: EffectiveAddress,
    access: Access,
) -> Result<Option<Located>, Fault> {
    let is_relocated = match access {
        Access::Fetch => thread.msr() & msr::IR != 0,
        Access::Load | Access::Store => thread.msr() & msr::DR != 0,
    };
    if thread.msr() & msr::HV != 0 && !is_relocated {
        return Ok(None);
    }
    if thread.spr(Spr::Lpcr) & RADIX != RADIX {
        return Err(Fault::Stop(StopReason::TranslationNotModelled(
            "hashed translation (LPCR[HR]=0 or LPCR[UPRT]=0)",
        )));
    }
    radix::locate(thread, address, is_relocated).map(Some)
}

/// Looks an address up in its tables, and says what was read on the way. What is `known` need not be read again.
pub(super) fn walk(
    shared: &Shared,
    thread: &Thread,
    known: Option<&WalkCache>,
    located: Located,
) -> Result<(Translation, Vec<Read>), Fault> {
    match located.space {
        Space::Process { .. } | Space::GuestReal { .. } => {
            radix::walk(shared, thread, known, located)
        }
    }
}

/// Checks `access` to the byte at `address` in the thread's state. Returns who keeps its page out of the caches, if
/// anyone.
pub(super) fn check(
    thread: &Thread,
    translation: &Translation,
    address: EffectiveAddress,
    access: Access,
) -> Result<Option<Inhibited>, Fault> {
    radix::rights::check(thread, translation, address, access)?;
    Ok(radix::rights::inhibited(translation, address))
}
