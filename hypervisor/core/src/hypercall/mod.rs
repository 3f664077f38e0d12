//! Hypercalls: from number and arguments to status and outputs.
//!
//! Source of the calls' meaning: `docs/facts/papr.md#hypercalls`. The hal answers H_FUNCTION to a number without a
//! name, and every call with a name is here. By their class ([`arch::papr::Class`]) those of devices, of external
//! interrupts and of a hashed page table come with the partition unlocked ([`of_device`], [`of_interrupts`],
//! [`of_hash_table`]), all others with it locked ([`answer`]).

mod caller;
mod crq;
mod guest;
mod hash;
mod interrupts;
mod mode;
mod page;
mod process_table;
mod processor;
mod resize;
mod rtas;
mod tce;
mod terminal;
mod vpa;

pub(crate) use caller::Caller;
pub(crate) use crq::{go_on, went_on};
pub use guest::Guest;
pub use hash::{HashAnswer, WORDS};
pub(crate) use hash::{block_divides_first, divides_first, of_block, of_hash_table};
pub(crate) use interrupts::{of_interrupts, set_priority, with_others};
pub(crate) use page::initialize_owned;
pub(crate) use processor::is_all_others;

use alloc::boxed::Box;

use arch::papr::Hypercall;
use arch::papr::status::{H_FUNCTION, H_HARDWARE, H_PARAMETER, H_SUCCESS};

use crate::boot::characteristics::Characteristics;
use crate::devices::Device;
use crate::guest_memory::AccessError;
use crate::hal::{Hal, Memory, Threads};
use crate::life::outcome::{Departure, Outcome, StopReason};

/// What a hypercall is answered with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The status; r4 to r12 are cleared.
    Status(i64),
    /// The status and r4 to r6; the others are cleared.
    Outputs(i64, [u64; 3]),
    /// The same, but the vCPU leaves the processor before it returns.
    Departs(i64, [u64; 3], Departure),
}

impl Answer {
    /// The same, but the vCPU leaves the processor before it returns.
    fn leaving(self, departure: Departure) -> Self {
        match self {
            Self::Status(status) => Self::Departs(status, [0; 3], departure),
            Self::Outputs(status, outputs) => Self::Departs(status, outputs, departure),
            Self::Departs(..) => self,
        }
    }

    /// The partition is over.
    #[must_use]
    pub const fn end(outcome: Outcome) -> Self {
        Self::Departs(0, [0; 3], Departure::Ended(outcome))
    }
}

/// Answers `call` with the arguments r4 to r10.
///
/// Inlined into hal's one call of it: the compiler then sees which arguments no call uses, and the way of
/// an unknown call past it needs no registers to be saved (`experiments/null-hypercall.toml` counts that).
#[inline(always)]
pub fn answer<H: Hal>(guest: &mut Guest<'_, H>, call: Hypercall, arguments: [u64; 7]) -> Answer {
    let Guest { hal, console, partition, .. } = guest;
    if partition.life.may_run().is_none() {
        return match partition.life.comes_to_rest() {
            true => retry(call, arguments),
            false => too_late(),
        };
    }
    let lpcr = partition.lpcr;
    let [a1, a2, a3, a4, ..] = arguments;
    match call {
        Hypercall::PutTermChar => terminal::put(partition, *hal, console, a1, a2, [a3, a4]),
        Hypercall::GetTermChar => terminal::get(partition, *hal, a1),
        Hypercall::SetMode => {
            let status = mode::set(partition, a1, a2, a3, a4);
            entered_anew(guest, status, lpcr)
        }
        Hypercall::RegisterProcTbl => {
            let status = process_table::register(partition, *hal, a1, a2, a3, a4);
            entered_anew(guest, status, lpcr)
        }
        Hypercall::ResizeHptPrepare => Answer::Status(resize::prepare(partition, a1, a2)),
        Hypercall::ResizeHptCommit => resize::commit(partition, arguments),
        Hypercall::Rtas => rtas::call(guest, a1),
        Hypercall::Cede => processor::cede(),
        Hypercall::Prod => processor::prod(guest, a1),
        Hypercall::Confer => processor::confer(guest, a1, a2),
        Hypercall::RegisterVpa => vpa::register(guest, a1, a2, a3),
        Hypercall::PageInit => page::initialize(partition, *hal, a1, a2, a3),
        Hypercall::SetSprg0 => {
            hal.set_sprg0(a1);
            Answer::Status(H_SUCCESS)
        }
        Hypercall::GetCpuCharacteristics => match partition.characteristics {
            Some(Characteristics { character, behavior }) => {
                Answer::Outputs(H_SUCCESS, [character, behavior, 0])
            }
            None => Answer::Status(H_FUNCTION),
        },
        Hypercall::Xirr | Hypercall::Cppr | Hypercall::Eoi | Hypercall::Ipi | Hypercall::Ipoll => {
            unreachable!("`of_interrupts` answers it")
        }
        Hypercall::Random
        | Hypercall::GetTce
        | Hypercall::PutTce
        | Hypercall::StuffTce
        | Hypercall::PutTceIndirect
        | Hypercall::RegCrq
        | Hypercall::FreeCrq
        | Hypercall::VioSignal
        | Hypercall::SendCrq
        | Hypercall::EnableCrq => unreachable!("`of_device` answers it"),
        // A partition that has a hashed page table gets its answer from `of_hash_table`.
        Hypercall::Remove
        | Hypercall::Enter
        | Hypercall::Read
        | Hypercall::ClearMod
        | Hypercall::ClearRef
        | Hypercall::Protect
        | Hypercall::BulkRemove
        | Hypercall::ClearHpt
        | Hypercall::BlockRemove => Answer::Status(H_FUNCTION),
    }
}

/// Answers a call of a device, with the partition unlocked.
pub(crate) fn of_device<H: Hal>(
    caller: &Caller<'_, H>,
    call: Hypercall,
    [a1, a2, a3, a4]: [u64; 4],
) -> Answer {
    if call == Hypercall::Random {
        return match caller.hal.random() {
            Some(number) => Answer::Outputs(H_SUCCESS, [number, 0, 0]),
            None => Answer::Status(H_HARDWARE),
        };
    }
    let Some(devices) = caller.devices else { return Answer::Status(H_PARAMETER) };
    match (call, devices.window(a1)) {
        (Hypercall::GetTce, Some(window)) => tce::get(window, a2),
        (Hypercall::PutTce, Some(window)) => Answer::Status(tce::put(window, a2, a3, 1)),
        (Hypercall::StuffTce, Some(window)) => Answer::Status(tce::put(window, a2, a3, a4)),
        (Hypercall::PutTceIndirect, Some(window)) => {
            caller.memory(|memory| tce::put_list(window, &memory, a2, a3, a4))
        }
        (
            Hypercall::GetTce | Hypercall::PutTce | Hypercall::StuffTce | Hypercall::PutTceIndirect,
            None,
        ) => Answer::Status(H_PARAMETER),
        // These name a unit, and devices of another kind may share some with adapters, H_VIO_SIGNAL for one: the unit
        // says who answers.
        _ => match devices.unit(a1) {
            Some(Device::Adapter(adapter)) => crq::call(caller, devices, adapter, call, [a2, a3]),
            None => Answer::Status(H_PARAMETER),
        },
    }
}

/// What a call comes to that a vCPU makes while its partition is concluded: nothing, and the vCPU leaves for good,
/// so that nobody sees the status.
#[cold]
const fn too_late() -> Answer {
    Answer::Departs(H_HARDWARE, [0; 3], Departure::Changed)
}

/// What a call comes to that a vCPU makes while its partition is to be suspended: nothing, and it is made again.
#[cold]
fn retry(call: Hypercall, [a1, a2, a3, a4, a5, a6, a7]: [u64; 7]) -> Answer {
    let arguments = Box::new([call as u64, a1, a2, a3, a4, a5, a6, a7, 0, 0]);
    Answer::Departs(0, [0; 3], Departure::Retries(arguments))
}

/// The answer to a buffer that could not be used: the guest's mistake, or the end of it.
fn refused(error: AccessError) -> Answer {
    match error {
        AccessError::Outside(_) => Answer::Status(H_PARAMETER),
        AccessError::Hypervisor(_) => Answer::end(Outcome::Stopped(StopReason::Access(error))),
    }
}

/// Changes of LPCR take effect when a vCPU enters; those that run on other hardware threads are called
/// back for it.
fn entered_anew<H: Memory + Threads>(guest: &Guest<'_, H>, status: i64, before: u64) -> Answer {
    if guest.partition.lpcr == before {
        return Answer::Status(status);
    }
    (0..guest.partition.vcpus.len()).for_each(|index| guest.call_back(index));
    Answer::Departs(status, [0; 3], Departure::Changed)
}

#[cfg(all(test, not(loom)))]
mod tests;
