//! What the leaves of both stages permit, and whether they keep a page out of the caches.
//!
//! Source: `docs/facts/translation.md#tables` and what follows there.

use arch::address::EffectiveAddress;
use arch::bits::bit;
use arch::interrupt::storage;
use arch::radix::rights;
use arch::registers::spr::Spr;

use crate::mmu::Access;
use crate::mmu::fault::{Fault, Untranslated};
use crate::mmu::inhibited::Inhibited;
use crate::mmu::rights::{Permissions, refusal};
use crate::state::thread::Thread;
use crate::state::tlb::{Stage, Translation};

/// The ATT value that refuses fetches: non-idempotent.
const NON_IDEMPOTENT: u64 = 2;
/// ATT values from here on are cache-inhibited: 2 non-idempotent, 3 tolerant.
const FIRST_INHIBITED: u64 = 2;

/// Checks `access` to the byte at `address` against both stages, the process-scoped first.
pub(in crate::mmu) fn check(
    thread: &Thread,
    translation: &Translation,
    address: EffectiveAddress,
    access: Access,
) -> Result<(), Fault> {
    if let Some(process) = &translation.process {
        let permissions = process_permissions(thread, process.rights);
        refuse(process, permissions, access).map_err(Fault::Storage)?;
    }
    if let Some(partition) = &translation.partition {
        refuse(partition, permissions(partition.rights), access).map_err(|cause| {
            let at = Untranslated::GuestReal(translation.guest_real_of(address));
            Fault::HypervisorStorage(cause, at)
        })?;
    }
    Ok(())
}

/// Who keeps the page of `translation` out of the caches, if anyone, for the byte at `address`.
pub(in crate::mmu) fn inhibited(
    translation: &Translation,
    address: EffectiveAddress,
) -> Option<Inhibited> {
    let is_inhibited =
        |stage: Option<Stage>| stage.is_some_and(|stage| stage.attributes >= FIRST_INHIBITED);
    if is_inhibited(translation.process) {
        Some(Inhibited::Process)
    } else if is_inhibited(translation.partition) {
        Some(Inhibited::Partition(Untranslated::GuestReal(translation.guest_real_of(address))))
    } else {
        None
    }
}

/// What a leaf's EAA field permits: a page that may be written may be read.
fn permissions(eaa: u64) -> Permissions {
    let mut permitted = Permissions::NONE;
    if eaa & (rights::READ | rights::WRITE) != 0 {
        permitted = permitted | Permissions::LOAD;
    }
    if eaa & rights::WRITE != 0 {
        permitted = permitted | Permissions::STORE;
    }
    if eaa & rights::EXECUTE != 0 {
        permitted = permitted | Permissions::FETCH;
    }
    permitted
}

/// What a process-scoped leaf permits in the thread's state: nothing in problem state if the page is
/// privileged; less what key 0 of AMR and IAMR takes in privileged state if it is not.
fn process_permissions(thread: &Thread, eaa: u64) -> Permissions {
    match (thread.is_problem(), eaa & rights::PRIVILEGED != 0) {
        (true, true) => Permissions::NONE,
        (true, false) | (false, true) => permissions(eaa),
        (false, false) => {
            let (amr, iamr) = (thread.spr(Spr::Amr), thread.spr(Spr::Iamr));
            let keys = [
                (amr & bit(0), Permissions::STORE),
                (amr & bit(1), Permissions::LOAD),
                (iamr & bit(1), Permissions::FETCH),
            ];
            let taken = keys.into_iter().filter(|(key, _)| *key != 0).map(|(_, taken)| taken);
            taken.fold(permissions(eaa), Permissions::without)
        }
    }
}

/// The cause bits for which a stage refuses `access`, or `Ok`.
fn refuse(stage: &Stage, permissions: Permissions, access: Access) -> Result<(), u64> {
    let is_guarded = access == Access::Fetch && stage.attributes == NON_IDEMPOTENT;
    if is_guarded || !permissions.allow(access) {
        return Err(refusal(access));
    }
    if !stage.referenced || access == Access::Store && !stage.changed {
        return Err(storage::REFERENCE_CHANGE);
    }
    Ok(())
}
