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
    /// No answer: the partition is over.
    End(Outcome),
}

/// Answers `call` with the arguments r4 to r10.
pub fn answer<H: Hal>(guest: &mut Guest<'_, H>, call: Hypercall, arguments: [u64; 7]) -> Answer {
    let Guest { hal, console, partition, .. } = guest;
    let [a1, a2, a3, a4, ..] = arguments;
    match call {
        Hypercall::PutTermChar => terminal::put(*hal, console, a1, a2, [a3, a4]),
        Hypercall::GetTermChar => terminal::get(*hal, a1),
        Hypercall::SetMode => Answer::Status(mode::set(partition, *hal, a1, a2, a3, a4)),
        Hypercall::RegisterProcTbl => {
            Answer::Status(process_table::register(partition, *hal, a1, a2, a3, a4))
        }
        Hypercall::Rtas => rtas::call(partition, *hal, a1),
        _ => Answer::Status(H_FUNCTION),
    }
}

#[cfg(test)]
#[path = "hypercall_tests.rs"]
mod tests;
