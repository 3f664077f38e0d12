//! H_REG_CRQ, H_FREE_CRQ, H_VIO_SIGNAL, H_SEND_CRQ and H_ENABLE_CRQ: the queues of a partition's virtual SCSI
//! adapters.

use core::cell::{Cell, RefCell};

use arch::papr::Hypercall;
use arch::papr::status::{H_BUSY, H_CLOSED, H_PARAMETER, H_RESOURCE, H_SUCCESS};
use arch::vscsi::QUEUE_LOG2;

use super::caller::Caller;
use super::interrupts::{answer, present_device};
use super::{Answer, Guest, refused, too_late};
use crate::devices::adapter::{Adapter, QueueError, Sent, Task};
use crate::devices::dma::Dma;
use crate::devices::tce::Window;
use crate::devices::transfer::{Pending, Transfer};
use crate::devices::{Device, Devices};
use crate::guest_memory::AccessError;
use crate::guest_memory::given::Given;
use crate::guest_memory::unlocked::Unlocked;
use crate::hal::Hal;
use crate::life::outcome::Departure;
use crate::sync::spin_loop;

/// Answers one of them, of this adapter, with the arguments behind its unit address.
pub(super) fn call<H: Hal>(
    caller: &Caller<'_, H>,
    devices: &Devices,
    adapter: &Adapter,
    call: Hypercall,
    [first, second]: [u64; 2],
) -> Answer {
    let window = devices.window_of(adapter);
    let status = match (call, first) {
        (Hypercall::RegCrq, address) => {
            let is_in_window = window.pages(address, second >> QUEUE_LOG2).is_some();
            match adapter.register(address, second, is_in_window) {
                Ok(()) => H_SUCCESS,
                Err(QueueError::NoPlace) => H_PARAMETER,
                Err(QueueError::Registered) => H_RESOURCE,
            }
        }
        (Hypercall::FreeCrq, _) => {
            if adapter.free() {
                H_SUCCESS
            } else {
                H_BUSY
            }
        }
        (Hypercall::VioSignal, 0 | 1) => {
            adapter.signal(first == 1);
            H_SUCCESS
        }
        (Hypercall::EnableCrq, _) => H_SUCCESS,
        (Hypercall::SendCrq, head) => return send(caller, window, adapter, [head, second]),
        _ => H_PARAMETER,
    };
    Answer::Status(status)
}

/// Sends a message, and moves pieces of what it asks for until the vCPU has to leave; at least one.
fn send<H: Hal>(
    caller: &Caller<'_, H>,
    window: &Window,
    adapter: &Adapter,
    message: [u64; 2],
) -> Answer {
    let mut transfer = Transfer::nothing(caller.vcpu);
    // All windows of it in one piece of work.
    let maps = caller.hal.maps();
    let sent = caller.dma(window, |dma| {
        let sent = adapter.send(dma, message, &mut transfer)?;
        if sent != Sent::Moves {
            return Ok(sent);
        }
        while !adapter.go_on(dma, &mut transfer)? && adapter.is_waited_for(&transfer) {
            if caller.has_to_leave() {
                return Ok(sent);
            }
        }
        if !adapter.is_waited_for(&transfer) {
            adapter.end(caller.vcpu);
            return Ok(Sent::Done { interrupts: false });
        }
        let interrupts = adapter.finish(dma, &mut transfer)?;
        Ok(Sent::Done { interrupts })
    });
    drop(maps);
    match sent {
        Ok(Sent::Done { interrupts: false }) => Answer::Status(H_SUCCESS),
        Ok(Sent::Done { interrupts: true }) => caller.locked(|guest| interrupted(guest, adapter)),
        Ok(Sent::Moves) => {
            let pending = Pending::of(transfer);
            caller.locked(|guest| guest.partition.vcpus[guest.vcpu].transfer = Some(pending));
            // What is left the dispatcher does piece by piece, before the vCPU goes on.
            Answer::Status(H_SUCCESS).leaving(Departure::Changed)
        }
        Ok(Sent::Manages(task)) => {
            caller.locked(|_| adapter.forget(&task));
            loop {
                let answer = caller.locked(|guest| {
                    if guest.partition.life.may_run().is_none() {
                        return Some(too_late());
                    }
                    forget_resting(guest, adapter);
                    (!adapter.is_forgetting())
                        .then(|| manages(guest, caller.given, window, adapter, &task))
                });
                // Who moves data has not locked the partition, or locks it for a moment, and stops behind a piece.
                match answer {
                    Some(answer) => return answer,
                    None => spin_loop(),
                }
            }
        }
        Ok(Sent::Closed) => Answer::Status(H_CLOSED),
        Ok(Sent::Wrong) => Answer::Status(H_PARAMETER),
        Err(error) => refused(error),
    }
}

/// Ends forgotten commands of which no vCPU moves a piece just now.
fn forget_resting<H: Hal>(guest: &mut Guest<'_, H>, adapter: &Adapter) {
    for (index, vcpu) in guest.partition.vcpus.iter_mut().enumerate() {
        let is_meant = |pending: &mut Pending| pending.rests() && adapter.is_forgotten(index);
        if vcpu.transfer.take_if(is_meant).is_some() {
            adapter.end(index);
        }
    }
}

/// Answers a task-management request, which is carried out.
fn manages<H: Hal>(
    guest: &mut Guest<'_, H>,
    given: &Given,
    window: &Window,
    adapter: &Adapter,
    task: &Task,
) -> Answer {
    match locked_dma(guest, given, window, |dma| adapter.manages(dma, task)) {
        Ok(_) => interrupted(guest, adapter),
        Err(error) => refused(error),
    }
}

/// Moves a piece of what the vCPU has sent a command for: whether that was all.
///
/// # Errors
/// The hypervisor could not do its part.
pub(crate) fn go_on<H: Hal>(
    caller: &Caller<'_, H>,
    transfer: &mut Transfer,
) -> Result<bool, AccessError> {
    let devices = caller.devices;
    match devices.and_then(|devices| Some((devices, devices.adapters().get(transfer.adapter)?))) {
        Some((devices, adapter)) if adapter.is_waited_for(transfer) => {
            caller.dma(devices.window_of(adapter), |dma| adapter.go_on(dma, transfer))
        }
        _ => Ok(true),
    }
}

/// What comes of a piece that was moved, with the partition locked: the command is answered if that was `all`, unless
/// it was forgotten meanwhile.
///
/// # Errors
/// The hypervisor could not do its part.
pub(crate) fn went_on<H: Hal>(
    guest: &mut Guest<'_, H>,
    given: &Given,
    devices: &Devices,
    mut transfer: Transfer,
    all: bool,
) -> Result<(), AccessError> {
    let Some(adapter) = devices.adapters().get(transfer.adapter) else { return Ok(()) };
    let pending = &mut guest.partition.vcpus[guest.vcpu].transfer;
    match pending {
        None => adapter.end(guest.vcpu),
        Some(pending) if !all => pending.put_back(transfer),
        Some(_) => {
            *pending = None;
            if adapter.is_waited_for(&transfer) {
                let window = devices.window_of(adapter);
                locked_dma(guest, given, window, |dma| adapter.finish(dma, &mut transfer))?;
                present_device(guest, Device::Adapter(adapter));
            } else {
                adapter.end(guest.vcpu);
            }
        }
    }
    Ok(())
}

/// Lends what a device sees of the memory of a partition that is locked.
fn locked_dma<H: Hal, R>(
    guest: &mut Guest<'_, H>,
    given: &Given,
    window: &Window,
    act: impl FnOnce(&Dma<'_, H>) -> R,
) -> R {
    let hal = guest.hal;
    let whole = RefCell::new(&mut guest.partition.memory);
    let give = |address, bytes| whole.borrow_mut().filled(hal, address, bytes);
    let memory = Unlocked { hal, given, give: &give, gave: Cell::new(0) };
    act(&Dma { memory, window })
}

/// Presents the adapter's interrupt, if it has one, and answers.
#[inline]
fn interrupted<H: Hal>(guest: &mut Guest<'_, H>, adapter: &Adapter) -> Answer {
    let is_in_need = present_device(guest, Device::Adapter(adapter));
    answer(guest, is_in_need, Answer::Status(H_SUCCESS))
}
