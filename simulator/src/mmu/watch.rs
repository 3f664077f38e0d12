//! The data watchpoint, DAWR0 and DAWRX0: Power ISA 3.0B Book III, Data Address Watchpoint.
//!
//! Only accesses that go the slow way look at it; while it is armed for the thread's state, all do.

use arch::address::EffectiveAddress;
use arch::bits::Field;
use arch::interrupt::{Vector, storage};
use arch::registers::msr;
use arch::registers::spr::Spr;

use super::Access;
use crate::state::thread::Thread;
use crate::state::thread::trap::{Interrupt, StorageFault, Trap};

/// Doublewords watched, less one.
const MRD: Field = Field::new(48, 53);
const DATA_WRITE: u64 = 0x40;
const DATA_READ: u64 = 0x20;
/// Watch accesses with this MSR\[DR\] ...
const TRANSLATION: u64 = 0x10;
/// ... unless it does not matter.
const TRANSLATION_IGNORED: u64 = 0x08;
const HYPERVISOR: u64 = 0x04;
const PRIVILEGED: u64 = 0x02;
const PROBLEM: u64 = 0x01;

/// Whether some access in the thread's state would match.
#[must_use]
pub fn is_armed(thread: &Thread) -> bool {
    let control = thread.spr(Spr::Dawrx0);
    if control & (DATA_READ | DATA_WRITE) == 0 {
        return false;
    }
    let state = if thread.is_problem() {
        PROBLEM
    } else if thread.is_hypervisor() {
        HYPERVISOR
    } else {
        PRIVILEGED
    };
    let is_relocated = thread.msr() & msr::DR != 0;
    let relocation =
        control & TRANSLATION_IGNORED != 0 || (control & TRANSLATION != 0) == is_relocated;
    control & state != 0 && relocation
}

/// Refuses an access of `bytes` bytes that the watchpoint wants to know of.
///
/// # Errors
/// [`Trap`] with the data storage interrupt.
pub fn check(
    thread: &mut Thread,
    address: EffectiveAddress,
    bytes: u64,
    access: Access,
) -> Result<(), Trap> {
    let (wanted, store) = match access {
        Access::Load => (DATA_READ, 0),
        Access::Store => (DATA_WRITE, storage::STORE),
        Access::Fetch => return Ok(()),
    };
    let control = thread.spr(Spr::Dawrx0);
    if control & wanted == 0 || !is_armed(thread) {
        return Ok(());
    }
    let first = thread.spr(Spr::Dawr0) & !7;
    let length = 8 * (MRD.get(control) + 1);
    let is_hit =
        address.0 < first.saturating_add(length) && first < address.0.saturating_add(bytes);
    if !is_hit {
        return Ok(());
    }
    let status = Some(storage::WATCHPOINT | store);
    let storage = Some(StorageFault { address, status, asdr: None });
    Err(thread.interrupt(Interrupt { storage, ..Interrupt::new(Vector::DataStorage) }))
}

#[cfg(test)]
mod tests {
    use super::{DATA_READ, DATA_WRITE, HYPERVISOR, PROBLEM, TRANSLATION_IGNORED, is_armed};
    use crate::state::thread::Thread;
    use arch::processor::Processor;
    use arch::registers::msr;
    use arch::registers::spr::Spr;

    #[test]
    fn it_is_armed_for_accesses_of_a_kind_in_a_state() {
        let mut thread = Thread::new(Processor::Power9, 0, 0);
        thread.set_msr(msr::SF | msr::HV);
        let mut armed = |control| {
            thread.set_spr(Spr::Dawrx0, control | TRANSLATION_IGNORED);
            is_armed(&thread)
        };
        assert!(armed(HYPERVISOR | DATA_READ) && armed(HYPERVISOR | DATA_WRITE));
        assert!(!armed(HYPERVISOR) && !armed(PROBLEM | DATA_READ));
    }
}
