//! Cache-inhibited pages: what cannot access them, and with which interrupt.
//!
//! There is no device behind a page; what is modelled is what the attribute refuses. Operands that are not
//! aligned, and `dcbz`, take an alignment interrupt; the atomic and the quadword accesses a (hypervisor)
//! data storage interrupt with DSISR bit 37. Power ISA 3.0B Book III, Data Storage and Alignment
//! Interrupt; that POWER9 refuses every unaligned operand there is from Linux, whose tests rely on it.

use arch::address::EffectiveAddress;
use arch::interrupt::storage;
use arch::processor::Processor;

use super::Access;
use super::fault::{Fault, Untranslated, deliver};
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

/// Whose table keeps a page out of the caches; the process-scoped one if both stages do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inhibited {
    /// That of the software that translates: the process-scoped stage.
    Process,
    /// The hypervisor's, with what it translated.
    Partition(Untranslated),
}

impl Inhibited {
    /// The storage interrupt of an access that needs a cache.
    pub(crate) fn refuse(
        self,
        thread: &mut Thread,
        processor: Processor,
        address: EffectiveAddress,
        access: Access,
    ) -> Trap {
        let fault = match self {
            Self::Process => Fault::Storage(storage::BAD_ACCESS),
            Self::Partition(at) => Fault::HypervisorStorage(storage::BAD_ACCESS, at),
        };
        deliver(thread, processor, address, access, fault)
    }
}
