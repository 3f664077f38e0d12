//! H_CEDE, H_PROD and H_CONFER: giving the processor away, and taking it back.

use arch::papr::ALL_OTHERS;
use arch::papr::status::{H_PARAMETER, H_SUCCESS};

use super::Answer;
use crate::hal::{Hal, Memory};
use crate::hypercall::Guest;
use crate::life::activity::Activity;
use crate::life::outcome::Departure;

/// Waits for an interrupt or a prod, with MSR\[EE\] set. The dispatcher does all of it.
pub(super) const fn cede() -> Answer {
    Answer::Departs(H_SUCCESS, [0; 3], Departure::Ceded)
}

#[inline(never)]
pub(super) fn prod<H: Hal>(guest: &mut Guest<'_, H>, server: u64) -> Answer {
    let Some(vcpu) = guest.partition.vcpu_mut(server) else {
        return Answer::Status(H_PARAMETER);
    };
    if !matches!(vcpu.activity(), Activity::Ceded { .. } | Activity::AwaitsProd) {
        vcpu.is_prodded = vcpu.activity() != Activity::Stopped;
        return Answer::Status(H_SUCCESS);
    }
    if guest.start(server as usize) {
        return Answer::Status(H_SUCCESS);
    }
    Answer::Departs(H_SUCCESS, [0; 3], Departure::Changed)
}

/// Whether H_CONFER is to all other vCPUs of the partition.
pub(crate) const fn is_all_others(server: u64) -> bool {
    // A kernel of 32 bits says it in as many.
    server == ALL_OTHERS || server == ALL_OTHERS & 0xFFFF_FFFF
}

/// Gives the rest of the caller's slice to the vCPU `server`, or with -1 to that of all others in the
/// partition which has waited longest. One that has run since its dispatch count was read as `count`, or runs,
/// needs no help; one that shares no area with the hypervisor has no such count. Where nobody can use the
/// slice, the caller lets whoever is next run first. The caller pays for what it gives, which is never longer than
/// what it had left.
#[inline(never)]
pub(super) fn confer<H: Memory>(guest: &mut Guest<'_, H>, server: u64, count: u64) -> Answer {
    if is_all_others(server) {
        return Answer::Departs(H_SUCCESS, [0; 3], Departure::ConferredToAll);
    }
    let Some(target) = guest.partition.vcpu_mut(server) else {
        return Answer::Status(H_PARAMETER);
    };
    if server == guest.vcpu as u64 {
        return Answer::Departs(H_SUCCESS, [0; 3], Departure::AwaitsProd);
    }
    let current = target.vpa.yield_count();
    if current.is_some_and(|current| current != count as u32 || current.is_multiple_of(2)) {
        return Answer::Status(H_SUCCESS);
    }
    Answer::Departs(H_SUCCESS, [0; 3], Departure::Conferred(Some(target.id)))
}
