//! H_XIRR, H_CPPR, H_EOI, H_IPI and H_IPOLL: external interrupts of a vCPU.
//!
//! Two things need the partition's lock: accepting what a device asks for, and waking or calling back another vCPU.

use alloc::sync::Arc;

use arch::papr::Hypercall;
use arch::papr::status::{H_PARAMETER, H_SUCCESS};

use super::{Answer, Caller};
use crate::devices::Device;
use crate::hal::{Hal, Memory};
use crate::hypercall::Guest;
use crate::interrupts::presentation::{NONE, Presentation};
use crate::interrupts::source::Sources;
use crate::life::outcome::Departure;
use crate::partition::Partition;

/// Answers H_CPPR, whose argument is the priority, and H_EOI, whose argument is XIRR and has it in the upper byte:
/// whether an interrupt is pending then.
#[inline]
pub(crate) fn set_priority(own: &Presentation, call: Hypercall, argument: u64) -> bool {
    let cppr = if call == Hypercall::Eoi { argument >> 24 } else { argument };
    own.set_cppr(cppr as u8)
}

/// Answers H_XIRR, H_IPI and H_IPOLL by `vcpu`, whose partition has these presentations and is not locked.
/// `None` if it concerns others: [`with_others`] answers it.
pub(crate) fn of_interrupts(
    presentations: &[Arc<Presentation>],
    vcpu: usize,
    is_mediated: bool,
    call: Hypercall,
    [a1, a2]: [u64; 2],
) -> Option<Answer> {
    let own = &presentations[vcpu];
    if call == Hypercall::Xirr {
        let xirr = own.accept()?;
        let outputs = Answer::Outputs(H_SUCCESS, [u64::from(xirr), 0, 0]);
        return Some(told(own, is_mediated, false, outputs));
    }
    let server = usize::try_from(a1).ok().and_then(|server| presentations.get(server));
    let Some(target) = server else { return Some(Answer::Status(H_PARAMETER)) };
    if call == Hypercall::Ipoll {
        let (xirr, mfrr) = target.poll();
        return Some(Answer::Outputs(H_SUCCESS, [u64::from(xirr), u64::from(mfrr), 0]));
    }
    // A vCPU that interrupts itself is awake, and finds that on its way back.
    let concerns_another = target.set_mfrr(a2 as u8) && !Arc::ptr_eq(own, target);
    (!concerns_another).then(|| told(own, is_mediated, false, Answer::Status(H_SUCCESS)))
}

/// The rest of H_XIRR of a vCPU that a device interrupts, and of H_IPI by which another one, `a1`, has an interrupt.
#[inline(never)]
pub(crate) fn with_others<H: Hal>(caller: &Caller<'_, H>, call: Hypercall, a1: u64) -> Answer {
    caller.locked(|guest| {
        if call == Hypercall::Xirr {
            return accept(guest);
        }
        let is_in_need = interrupt(guest, a1 as usize);
        answer(guest, is_in_need, Answer::Status(H_SUCCESS))
    })
}

/// H_XIRR of a vCPU that a device interrupts.
fn accept<H: Memory>(guest: &mut Guest<'_, H>) -> Answer {
    let Partition { vcpus, sources, devices, .. } = &mut *guest.partition;
    let own = &vcpus[guest.vcpu].presentation;
    let (xirr, number) = own.accept_any();
    if let Some(source) = number.and_then(|number| sources.get_mut(number)) {
        source.accepted();
        let mut all = devices.iter().flat_map(|devices| devices.all());
        if let Some(device) = all.find(|device| number == Some(device.source())) {
            device.accepted();
        }
        // Another device may have asked for the same vCPU.
        own.set_device(sources.request_for(guest.vcpu));
    }
    let outputs = Answer::Outputs(H_SUCCESS, [u64::from(xirr), 0, 0]);
    answer(guest, false, outputs)
}

/// Lets vCPU `index` see to its interrupts, if it has one: whether it is in need of a processor.
fn interrupt<H: Hal>(guest: &mut Guest<'_, H>, index: usize) -> bool {
    let vcpu = &guest.partition.vcpus[index];
    if !vcpu.presentation.is_pending() {
        return false;
    }
    let sleeps = vcpu.activity().sleeps_until().is_some();
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
    for device in devices.iter().flat_map(|devices| devices.all()) {
        request(sources, device);
    }
    (0..guest.partition.vcpus.len())
        .fold(false, |is_in_need, index| is_in_need | present_to(guest, index))
}

/// Presents the interrupt of a device that has answered to the vCPU that it is for: whether that is in need of a
/// processor. Who makes another device answer presents that one's.
pub(super) fn present_device<H: Hal>(guest: &mut Guest<'_, H>, device: Device<'_>) -> bool {
    let server = request(&mut guest.partition.sources, device);
    server.is_some_and(|server| present_to(guest, server))
}

/// Notes that a device wants to interrupt, if it does: which vCPU.
fn request(sources: &mut Sources, device: Device<'_>) -> Option<usize> {
    let source = sources.get_mut(device.source()).filter(|_| device.is_requested())?;
    source.request();
    Some(source.server as usize)
}

/// Presents what devices want of this vCPU: whether it is in need of a processor.
fn present_to<H: Hal>(guest: &mut Guest<'_, H>, index: usize) -> bool {
    let request = guest.partition.sources.request_for(index);
    guest.partition.vcpus[index].presentation.set_device(request);
    request.priority != NONE && interrupt(guest, index)
}

/// Gives `answer`; by way of the dispatcher if another vCPU is in need of a processor, or if this one has an interrupt
/// that it was not told of.
///
/// One that it was told of and that is pending no more needs no departure: should LPCR\[MER\] still ask for it when
/// the vCPU sets MSR\[EE\], the vCPU leaves then and gets nothing.
pub(super) fn answer<H: Memory>(guest: &Guest<'_, H>, is_in_need: bool, answer: Answer) -> Answer {
    told(&guest.partition.vcpus[guest.vcpu].presentation, guest.is_mediated, is_in_need, answer)
}

/// The same of a vCPU with the presentation `own`.
fn told(own: &Presentation, is_mediated: bool, is_in_need: bool, answer: Answer) -> Answer {
    if is_in_need || own.is_pending() && !is_mediated {
        return answer.leaving(Departure::Changed);
    }
    answer
}
