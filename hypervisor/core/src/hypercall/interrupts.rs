//! H_XIRR, H_CPPR, H_EOI, H_IPI and H_IPOLL: external interrupts of a vCPU.

use arch::papr::status::{H_PARAMETER, H_SUCCESS};

use super::Answer;
use crate::hal::{Hal, Memory};
use crate::hypercall::Guest;
use crate::interrupts::presentation::Presentation;
use crate::life::activity::Activity;
use crate::life::outcome::Departure;

pub(super) fn accept<H: Memory>(guest: &mut Guest<'_, H>) -> Answer {
    let xirr = own(guest).accept();
    answer(guest, false, Answer::Outputs(H_SUCCESS, [u64::from(xirr), 0, 0]))
}

pub(super) fn set_priority<H: Memory>(guest: &mut Guest<'_, H>, cppr: u64) -> Answer {
    own(guest).set_cppr(cppr as u8);
    answer(guest, false, Answer::Status(H_SUCCESS))
}

pub(super) fn end<H: Memory>(guest: &mut Guest<'_, H>, xirr: u64) -> Answer {
    own(guest).end(xirr as u32);
    answer(guest, false, Answer::Status(H_SUCCESS))
}

pub(super) fn request<H: Hal>(guest: &mut Guest<'_, H>, server: u64, mfrr: u64) -> Answer {
    let Some(target) = guest.partition.vcpu_mut(server) else {
        return Answer::Status(H_PARAMETER);
    };
    target.presentation.set_mfrr(mfrr as u8);
    if !target.presentation.is_pending() {
        return answer(guest, false, Answer::Status(H_SUCCESS));
    }
    let (sleeps, index) = (matches!(target.activity(), Activity::Ceded { .. }), server as usize);
    guest.call_back(index);
    let is_in_need = sleeps && !guest.start(index);
    answer(guest, is_in_need, Answer::Status(H_SUCCESS))
}

pub(super) fn poll<H: Memory>(guest: &mut Guest<'_, H>, server: u64) -> Answer {
    match guest.partition.vcpu_mut(server) {
        None => Answer::Status(H_PARAMETER),
        Some(vcpu) => {
            let (xirr, mfrr) = (vcpu.presentation.poll(), vcpu.presentation.mfrr());
            Answer::Outputs(H_SUCCESS, [u64::from(xirr), u64::from(mfrr), 0])
        }
    }
}

fn own<'a, H: Memory>(guest: &'a mut Guest<'_, H>) -> &'a mut Presentation {
    &mut guest.partition.vcpus[guest.vcpu].presentation
}

/// Gives `answer`; by way of the dispatcher if another vCPU is in need of a processor, or if this one was told
/// otherwise about the vCPU's own interrupt than it is now.
fn answer<H: Memory>(guest: &mut Guest<'_, H>, is_in_need: bool, answer: Answer) -> Answer {
    if is_in_need || own(guest).is_pending() != guest.is_mediated {
        return answer.leaving(Departure::Changed);
    }
    answer
}
