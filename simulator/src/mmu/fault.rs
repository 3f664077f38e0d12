//! What keeps an access from its place in memory, and the interrupt that the architecture has for it.

use arch::address::{EffectiveAddress, GuestRealAddress, RealAddress};
use arch::interrupt::{Vector, machine_check, storage};
use arch::processor::Processor;
use arch::registers::msr;

use super::Access;
use crate::state::thread::Thread;
use crate::state::thread::shortcuts::PAGE_LOG2;
use crate::state::thread::trap::{Interrupt, StopReason, StorageFault, Trap};

/// Why an address could not be translated. The cause bits are those of DSISR, without the one for stores.
pub(super) enum Fault {
    /// The address is nobody's.
    Segment,
    /// Several segments in the SLB have it.
    SegmentMultiHit,
    /// Several translations were cached for it.
    MultiHit,
    /// A table lies where no memory answers.
    NoTable(RealAddress),
    /// The storage interrupt of the software that translates.
    Storage(u64),
    /// The hypervisor's storage interrupt, with what it does not translate.
    HypervisorStorage(u64, Untranslated),
    /// The machine stops.
    Stop(StopReason),
}

/// What the hypervisor's tables do not translate, as ASDR says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Untranslated {
    /// Radix: a guest real address.
    GuestReal(GuestRealAddress),
    /// Hashed: an address of this segment, the SLB's doubleword "VSID".
    Segment(u64),
}

impl Untranslated {
    fn asdr(self) -> u64 {
        match self {
            Self::GuestReal(address) => address.align_down(PAGE_LOG2).0,
            Self::Segment(vsid) => vsid,
        }
    }
}

/// Turns a fault into the interrupt that the architecture has for it.
pub(super) fn deliver(
    thread: &mut Thread,
    processor: Processor,
    address: EffectiveAddress,
    access: Access,
    fault: Fault,
) -> Trap {
    let is_fetch = access == Access::Fetch;
    let store = if access == Access::Store { storage::STORE } else { 0 };
    let (vector, cause, untranslated) = match fault {
        Fault::Stop(reason) => return thread.stop(reason),
        Fault::MultiHit => {
            let causes = (machine_check::FETCH_TLB_MULTIHIT, machine_check::TLB_MULTIHIT);
            return multi_hit(thread, address, is_fetch, "translations of different sizes", causes);
        }
        Fault::SegmentMultiHit => {
            let causes = (machine_check::FETCH_SLB_MULTIHIT, machine_check::SLB_MULTIHIT);
            return multi_hit(thread, address, is_fetch, "entries of the SLB", causes);
        }
        Fault::NoTable(at) => return no_memory(thread, processor, address, access, at, true),
        Fault::Segment if is_fetch => (Vector::InstructionSegment, 0, None),
        Fault::Segment => (Vector::DataSegment, 0, None),
        Fault::Storage(cause) if is_fetch => (Vector::InstructionStorage, cause, None),
        Fault::Storage(cause) => (Vector::DataStorage, cause | store, None),
        Fault::HypervisorStorage(cause, at) if is_fetch => {
            (Vector::HypervisorInstructionStorage, cause, Some(at))
        }
        Fault::HypervisorStorage(cause, at) => {
            (Vector::HypervisorDataStorage, cause | store, Some(at))
        }
    };
    let is_segment = matches!(vector, Vector::DataSegment | Vector::InstructionSegment);
    let asdr = untranslated.map(Untranslated::asdr);
    let mut interrupt = Interrupt::new(vector);
    if is_fetch {
        interrupt.status = cause;
        if asdr.is_some() {
            interrupt.storage = Some(StorageFault { address, status: None, asdr });
        }
    } else {
        let status = (!is_segment).then_some(cause);
        interrupt.storage = Some(StorageFault { address, status, asdr });
    }
    thread.interrupt(interrupt)
}

/// The machine check of several translations for one address (`docs/facts/translation.md#multi-hit`), with its causes
/// for fetches and for data. With MSR\[ME\]=0 the machine stops and says of what there are several.
fn multi_hit(
    thread: &mut Thread,
    address: EffectiveAddress,
    is_fetch: bool,
    what: &'static str,
    (fetch, data): (u64, u64),
) -> Trap {
    if thread.msr() & msr::ME == 0 {
        return thread.stop(StopReason::Checkstop { what, address });
    }
    let mut interrupt = Interrupt::new(Vector::MachineCheck);
    if is_fetch {
        interrupt.status = fetch;
    } else {
        interrupt.status = machine_check::DATA;
        let status = Some(data);
        interrupt.storage = Some(StorageFault { address, status, asdr: None });
    }
    thread.interrupt(interrupt)
}

/// The machine check of an access to `real`, where no memory answers, or of the table walk for one
/// (`docs/facts/interrupts.md#machine-checks`). With MSR\[ME\]=0 the machine stops and says where.
pub(super) fn no_memory(
    thread: &mut Thread,
    processor: Processor,
    address: EffectiveAddress,
    access: Access,
    real: RealAddress,
    is_walk: bool,
) -> Trap {
    if thread.msr() & msr::ME == 0 {
        let what = if is_walk { "table walk to" } else { access.what() };
        return thread.stop(StopReason::NoMemory { what, address: real });
    }
    let mut interrupt = Interrupt::new(Vector::MachineCheck);
    let causes = processor.no_memory();
    match (access, is_walk, causes.store) {
        (Access::Fetch, false, _) => interrupt.status = causes.fetch,
        (Access::Fetch, true, _) => interrupt.status = causes.fetch_walk,
        // In life the thread hears of it some instructions later; no register says where the store went.
        (Access::Store, false, Some(status)) => interrupt.status = status,
        (Access::Load | Access::Store, ..) => {
            interrupt.status = machine_check::DATA;
            let status = if is_walk { causes.walk } else { causes.data };
            interrupt.storage = Some(StorageFault { address, status: Some(status), asdr: None });
        }
    }
    thread.interrupt(interrupt)
}
