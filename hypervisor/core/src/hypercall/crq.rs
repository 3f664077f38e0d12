//! H_REG_CRQ, H_FREE_CRQ, H_VIO_SIGNAL, H_SEND_CRQ and H_ENABLE_CRQ: the queues of a partition's virtual SCSI adapter.

use arch::papr::Hypercall;
use arch::papr::status::{H_CLOSED, H_PARAMETER, H_RESOURCE, H_SUCCESS};
use arch::vscsi::QUEUE_LOG2;

use super::interrupts::{answer, present};
use super::{Answer, Guest, refused};
use crate::devices::adapter::{Adapter, QueueError, Sent, UNIT};
use crate::devices::dma::Dma;
use crate::guest_memory::AccessError;
use crate::hal::{Hal, Memory};
use crate::life::outcome::Departure;
use crate::partition::Partition;

/// Answers one of them, of the adapter with the unit address `unit`.
///
/// Not inlined: calls that are made often do not pay for the registers that this needs.
#[inline(never)]
pub(super) fn call<H: Hal>(
    guest: &mut Guest<'_, H>,
    call: Hypercall,
    [unit, first, second]: [u64; 3],
) -> Answer {
    let Some((adapter, mut dma)) =
        parts(guest.partition, guest.hal).filter(|_| unit == UNIT.into())
    else {
        return Answer::Status(H_PARAMETER);
    };
    let status = match (call, first) {
        (Hypercall::RegCrq, address) => {
            let is_in_window = dma.window.has_pages(address, second >> QUEUE_LOG2);
            match adapter.register(address, second, is_in_window) {
                Ok(()) => H_SUCCESS,
                Err(QueueError::NoPlace) => H_PARAMETER,
                Err(QueueError::Registered) => H_RESOURCE,
            }
        }
        (Hypercall::FreeCrq, _) => {
            adapter.free();
            H_SUCCESS
        }
        (Hypercall::VioSignal, 0 | 1) => {
            adapter.signal(first == 1);
            H_SUCCESS
        }
        (Hypercall::EnableCrq, _) => H_SUCCESS,
        (Hypercall::SendCrq, head) => match adapter.send(&mut dma, [head, second]) {
            Ok(sent) => return took(guest, sent),
            Err(error) => return refused(error),
        },
        _ => H_PARAMETER,
    };
    Answer::Status(status)
}

/// The adapter, and what it sees of the partition's memory.
fn parts<'a, H: Memory>(
    partition: &'a mut Partition<H>,
    hal: &'a H,
) -> Option<(&'a mut Adapter, Dma<'a, H>)> {
    let Partition { adapter, window, memory, .. } = partition;
    Some((adapter.as_mut()?, Dma { hal, memory, window: window.as_ref()? }))
}

/// What comes of a message that the adapter took.
fn took<H: Hal>(guest: &mut Guest<'_, H>, sent: Sent) -> Answer {
    match sent {
        Sent::Done => interrupted(guest, Answer::Status(H_SUCCESS)),
        Sent::Closed => Answer::Status(H_CLOSED),
        Sent::Wrong => Answer::Status(H_PARAMETER),
        Sent::Moves(transfer) => {
            guest.partition.vcpus[guest.vcpu].transfer = Some(transfer);
            match go_on(guest) {
                Err(error) => refused(error),
                // What is left the dispatcher does piece by piece, before the vCPU goes on.
                Ok(_) if guest.partition.vcpus[guest.vcpu].transfer.is_some() => {
                    Answer::Status(H_SUCCESS).leaving(Departure::Changed)
                }
                Ok(is_in_need) => answer(guest, is_in_need, Answer::Status(H_SUCCESS)),
            }
        }
        Sent::Manages(task) => {
            for vcpu in &mut guest.partition.vcpus {
                vcpu.transfer.take_if(|transfer| task.ends(transfer));
            }
            let parts = parts(guest.partition, guest.hal);
            match parts.map(|(adapter, mut dma)| adapter.manages(&mut dma, &task)) {
                Some(Err(error)) => refused(error),
                _ => interrupted(guest, Answer::Status(H_SUCCESS)),
            }
        }
    }
}

/// Presents the adapter's interrupt, if it has one, with an answer.
fn interrupted<H: Hal>(guest: &mut Guest<'_, H>, with: Answer) -> Answer {
    let is_in_need = present(guest);
    answer(guest, is_in_need, with)
}

/// Moves a piece of what the vCPU has sent a command for: whether another vCPU is in need of a processor now.
///
/// # Errors
/// The hypervisor could not do its part.
pub(crate) fn go_on<H: Hal>(guest: &mut Guest<'_, H>) -> Result<bool, AccessError> {
    let Some(mut transfer) = guest.partition.vcpus[guest.vcpu].transfer.take() else {
        return Ok(false);
    };
    let Some((adapter, mut dma)) = parts(guest.partition, guest.hal) else { return Ok(false) };
    if adapter.go_on(&mut dma, &mut transfer)? {
        return Ok(present(guest));
    }
    guest.partition.vcpus[guest.vcpu].transfer = Some(transfer);
    Ok(false)
}
