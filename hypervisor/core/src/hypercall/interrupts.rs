//! H_XIRR, H_CPPR, H_EOI, H_IPI and H_IPOLL: external interrupts of a vCPU.

use arch::papr::status::{H_PARAMETER, H_SUCCESS};

use super::Answer;
use crate::devices::adapter::{self, Adapter};
use crate::hal::{Hal, Memory};
use crate::hypercall::Guest;
use crate::interrupts::presentation::{NONE, Presentation};
use crate::life::activity::Activity;
use crate::life::outcome::Departure;
use crate::partition::Partition;

pub(super) fn accept<H: Memory>(guest: &mut Guest<'_, H>) -> Answer {
    let (xirr, number) = own(guest).accept();
    if let Some(source) = number.and_then(|number| guest.partition.sources.get_mut(number)) {
        source.accepted();
        // Another device may have asked for the same vCPU.
        let request = guest.partition.sources.request_for(guest.vcpu);
        own(guest).set_device(request);
    }
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

#[inline(never)]
pub(super) fn request<H: Hal>(guest: &mut Guest<'_, H>, server: u64, mfrr: u64) -> Answer {
    let Some(target) = guest.partition.vcpu_mut(server) else {
        return Answer::Status(H_PARAMETER);
    };
    target.presentation.set_mfrr(mfrr as u8);
    let is_in_need = interrupt(guest, server as usize);
    answer(guest, is_in_need, Answer::Status(H_SUCCESS))
}

/// Lets vCPU `index` see to its interrupts, if it has one: whether it is in need of a processor.
fn interrupt<H: Hal>(guest: &mut Guest<'_, H>, index: usize) -> bool {
    let vcpu = &guest.partition.vcpus[index];
    if !vcpu.presentation.is_pending() {
        return false;
    }
    let sleeps = matches!(vcpu.activity(), Activity::Ceded { .. });
    guest.call_back(index);
    sleeps && !guest.start(index)
}

/// Presents the interrupts of the partition's devices to the vCPUs that they are for, and to no other: whether one of
/// these is in need of a processor.
pub(super) fn present<H: Hal>(guest: &mut Guest<'_, H>) -> bool {
    let Partition { devices, sources, .. } = &mut *guest.partition;
    if sources.is_empty() {
        return false;
    }
    let adapter = devices.as_ref().and_then(|devices| devices.adapter.as_ref());
    if adapter.is_some_and(Adapter::takes_request)
        && let Some(source) = sources.get_mut(adapter::SOURCE)
    {
        source.request();
    }
    let mut is_in_need = false;
    for index in 0..guest.partition.vcpus.len() {
        let request = guest.partition.sources.request_for(index);
        guest.partition.vcpus[index].presentation.set_device(request);
        is_in_need |= request.priority != NONE && interrupt(guest, index);
    }
    is_in_need
}

#[inline(never)]
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
pub(super) fn answer<H: Memory>(
    guest: &mut Guest<'_, H>,
    is_in_need: bool,
    answer: Answer,
) -> Answer {
    if is_in_need || own(guest).is_pending() != guest.is_mediated {
        return answer.leaving(Departure::Changed);
    }
    answer
}
