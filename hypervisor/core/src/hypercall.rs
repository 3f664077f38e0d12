//! Hypercalls: from number and arguments to status and outputs.
//!
//! Source of the calls' meaning: `kvm-hv.md` 2.3. A call that the hypervisor does not offer is
//! answered H_FUNCTION, as PAPR says, also where the project knows its name.

mod mode;
mod process_table;
mod rtas;
mod terminal;

use arch::papr::Hypercall;
use arch::papr::status::H_FUNCTION;

use crate::dispatch::Leave;
use crate::hal::Hal;
use crate::partition::Outcome;
use crate::run::Guest;

/// What a hypercall is answered with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The status; r4 to r12 are cleared.
    Status(i64),
    /// The status and r4 to r6; the others are cleared.
    Outputs(i64, [u64; 3]),
    /// The same, but the vCPU leaves the processor before it returns.
    Leave(i64, [u64; 3], Leave),
}

impl Answer {
    /// The partition is over.
    #[must_use]
    pub const fn end(outcome: Outcome) -> Self {
        Self::Leave(0, [0; 3], Leave::Ended(outcome))
    }
}

/// Answers `call` with the arguments r4 to r10.
pub fn answer<H: Hal>(guest: &mut Guest<'_, H>, call: Hypercall, arguments: [u64; 7]) -> Answer {
    let Guest { hal, console, partition, .. } = guest;
    let lpcr = partition.lpcr;
    let [a1, a2, a3, a4, ..] = arguments;
    match call {
        Hypercall::PutTermChar => terminal::put(partition, *hal, console, a1, a2, [a3, a4]),
        Hypercall::GetTermChar => terminal::get(*hal, a1),
        Hypercall::SetMode => {
            let status = mode::set(partition, a1, a2, a3, a4);
            entered_anew(status, partition.lpcr != lpcr)
        }
        Hypercall::RegisterProcTbl => {
            let status = process_table::register(partition, *hal, a1, a2, a3, a4);
            entered_anew(status, partition.lpcr != lpcr)
        }
        Hypercall::Rtas => rtas::call(partition, *hal, a1),
        _ => Answer::Status(H_FUNCTION),
    }
}

/// Changes of LPCR take effect when a vCPU enters.
fn entered_anew(status: i64, has_changed: bool) -> Answer {
    if has_changed { Answer::Leave(status, [0; 3], Leave::Changed) } else { Answer::Status(status) }
}

#[cfg(test)]
#[path = "hypercall_tests.rs"]
mod tests;
