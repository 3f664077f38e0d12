//! What an entry of the hashed page table permits: the segment's key and pp, the page class key, no-execute and
//! guarded.
//!
//! Source: `docs/facts/hashed-translation.md#protection`.

use arch::hash::{second, segment};
use arch::interrupt::storage;
use arch::registers::spr::Spr;
use arch::registers::{lpcr, msr};

use super::{stop, storage_fault};
use crate::mmu::Access;
use crate::mmu::fault::Fault;
use crate::mmu::located::Located;
use crate::mmu::rights::Permissions;
use crate::state::thread::Thread;
use crate::state::tlb::Hashed;

/// Checks `access` in the thread's state.
pub(in crate::mmu) fn check(
    thread: &Thread,
    hashed: &Hashed,
    located: &Located,
    access: Access,
) -> Result<(), Fault> {
    let second = hashed.second;
    let is_fetch = access == Access::Fetch;
    let mut cause = 0;
    if is_fetch && second & (second::N | second::G) != 0 {
        cause = storage::NO_EXECUTE;
    } else if !permissions(is_keyed(thread, located), second).allow(access) {
        cause = storage::PROTECTION;
    }
    if is_withheld(thread, second, access) {
        let is_partitions = thread.msr() & msr::HV == 0;
        if is_partitions && thread.spr(Spr::Lpcr) & lpcr::KBV != 0 {
            return Err(stop("a partition's violation of a page class key with LPCR[KBV]=1"));
        }
        cause |= storage::KEY;
    }
    if cause == 0 { Ok(()) } else { Err(storage_fault(located, cause)) }
}

/// The segment's storage key for the thread's state.
fn is_keyed(thread: &Thread, located: &Located) -> bool {
    let key = if thread.is_problem() { segment::KP } else { segment::KS };
    located.segment & key != 0
}

/// What pp permits with and without the storage key. A page that may be read may be fetched from.
fn permissions(is_keyed: bool, second: u64) -> Permissions {
    let read = Permissions::LOAD | Permissions::FETCH;
    let pp = (if second & second::PP0 == 0 { 0 } else { 4 }) | second::PP.get(second);
    match (pp, is_keyed) {
        (0 | 1, false) | (2, _) => read | Permissions::STORE,
        (1, true) | (3, _) | (6, false) => read,
        _ => Permissions::NONE,
    }
}

/// Whether AMR or IAMR withholds the page's class. They have no say with relocation off.
fn is_withheld(thread: &Thread, second: u64, access: Access) -> bool {
    let key = second::KEY_HIGH.get(second) << 3 | second::KEY_LOW.get(second);
    let (register, relocation, bit) = match access {
        Access::Load => (Spr::Amr, msr::DR, 1),
        Access::Store => (Spr::Amr, msr::DR, 2),
        Access::Fetch => (Spr::Iamr, msr::IR, 1),
    };
    thread.msr() & relocation != 0 && thread.spr(register) >> (2 * (31 - key)) & bit != 0
}

#[cfg(test)]
mod tests {
    use super::permissions;
    use crate::mmu::Access::{Fetch, Load, Store};
    use arch::hash::second::PP0;

    #[test]
    fn pp_and_the_key_permit_what_the_table_of_the_architecture_says() {
        // pp, and what is permitted without and with the key: 4 load, 2 store, 1 fetch.
        let table = [
            (0, 7, 0),
            (1, 7, 5),
            (2, 7, 7),
            (3, 5, 5),
            (4, 0, 0),
            (5, 0, 0),
            (6, 5, 0),
            (7, 0, 0),
        ];
        for (pp, free, keyed) in table {
            let second = if pp & 4 != 0 { PP0 } else { 0 } | pp & 3;
            for (is_keyed, expected) in [(false, free), (true, keyed)] {
                let allowed = permissions(is_keyed, second);
                let bits = [(Load, 4), (Store, 2), (Fetch, 1)];
                let sum: u64 = bits.iter().filter(|(a, _)| allowed.allow(*a)).map(|(_, b)| b).sum();
                assert_eq!(sum, expected, "pp {pp}, key {is_keyed}");
            }
        }
    }
}
