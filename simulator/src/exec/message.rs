//! Doorbells between threads: Power ISA 3.0B Book III, Processor Control.
//!
//! `msgsnd` rings any thread of the machine by its PIR (on POWER8 one of the own core by its TIR), for the
//! hypervisor; `msgsndp` rings a thread of the subcore by its TIR, for the operating system. A doorbell waits
//! until the interrupt is taken or the receiver clears it. Everything is in order already, so `msgsync` has
//! nothing to do.

use arch::bits::Field;
use arch::instruction::{Mnemonic, Word};
use arch::processor::DoorbellReach;
use arch::registers::hfscr::Facility;

use super::{Flow, Handler, Mode, Outcome, facility};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::StopReason;

/// The handler of a doorbell instruction.
pub fn handler(mnemonic: Mnemonic, _: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Msgsnd => msgsnd,
        Mnemonic::Msgclr => msgclr,
        Mnemonic::Msgsndp => msgsndp,
        Mnemonic::Msgclrp => msgclrp,
        Mnemonic::Msgsync => |_, _, _| Ok(Flow::Next),
        _ => return None,
    })
}

/// Message type of RB; every other than [`DOORBELL`] makes the instruction do nothing.
const TYPE: Field = Field::new(32, 36);
const DOORBELL: u64 = 5;
/// Broadcast field of RB: which threads, of those around the one with the PIR. Source: QEMU's later versions.
const BROADCAST: Field = Field::new(37, 38);
const ONE_THREAD: u64 = 0;
const SUBPROCESSOR: u64 = 1;
const CORE: u64 = 2;
/// PIR that `msgsnd` rings.
const PIR_TAG: Field = Field::new(44, 63);
/// TIR that `msgsndp` rings, and `msgsnd` of POWER8.
const TIR_TAG: Field = Field::new(57, 63);

fn is_doorbell(thread: &Thread, i: Word) -> bool {
    TYPE.get(thread.gpr[i.rb()]) == DOORBELL
}

fn msgsnd(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    let operand = thread.gpr[i.rb()];
    if !is_doorbell(thread, i) {
        return Ok(Flow::Next);
    }
    let reach = shared.processor.facts().doorbell;
    let named = match reach {
        DoorbellReach::Machine => shared.thread_with_pir(PIR_TAG.get(operand)),
        DoorbellReach::Core => {
            shared.threads_beside(thread.index).nth(TIR_TAG.get(operand) as usize)
        }
    };
    // Nobody answers to a number that the machine does not have.
    let Some(named) = named else {
        return Ok(Flow::Synchronize);
    };
    let receivers = match BROADCAST.get(operand) {
        ONE_THREAD => named..named + 1,
        // Where each thread is a partition's whole processor, it is a subprocessor of its own.
        _ if reach == DoorbellReach::Core && BROADCAST.get(operand) != ONE_THREAD => {
            return Err(thread.stop(StopReason::InvalidForm("msgsnd (reserved broadcast)")));
        }
        SUBPROCESSOR if shared.switches.threads_are_partitions => named..named + 1,
        SUBPROCESSOR | CORE => shared.threads_beside(named),
        _ => return Err(thread.stop(StopReason::InvalidForm("msgsnd (reserved broadcast)"))),
    };
    let now = thread.time_now().cycles();
    for receiver in receivers {
        shared.signal(receiver, now, |signals| signals.hypervisor_doorbell = true);
    }
    Ok(Flow::Synchronize)
}

fn msgclr(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    if is_doorbell(thread, i) {
        let now = thread.time_now().cycles();
        shared.signal(thread.index, now, |signals| signals.hypervisor_doorbell = false);
    }
    Ok(Flow::Synchronize)
}

fn msgsndp(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    facility::require(thread, Facility::Msgp)?;
    if is_doorbell(thread, i) {
        let tag = TIR_TAG.get(thread.gpr[i.rb()]);
        let now = thread.time_now().cycles();
        let receiver = shared.subcore_of(thread.index).nth(tag as usize);
        if let Some(receiver) = receiver {
            shared.signal(receiver, now, |signals| signals.privileged_doorbell = true);
        }
    }
    Ok(Flow::Synchronize)
}

fn msgclrp(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    facility::require(thread, Facility::Msgp)?;
    if is_doorbell(thread, i) {
        let now = thread.time_now().cycles();
        shared.signal(thread.index, now, |signals| signals.privileged_doorbell = false);
    }
    Ok(Flow::Synchronize)
}

/// TIR as the thread reads it.
pub(super) fn tir(thread: &Thread, shared: &Shared) -> u64 {
    (thread.index - shared.subcore_of(thread.index).start) as u64
}

/// DPDES: bit `63 - TIR` of each thread whose privileged doorbell waits.
pub(super) fn dpdes(thread: &Thread, shared: &Shared) -> u64 {
    let waiting = |index: &usize| shared.signals(*index).privileged_doorbell;
    let threads = shared.subcore_of(thread.index);
    let first = threads.start;
    threads.filter(waiting).fold(0, |value, index| value | 1 << (index - first))
}

/// Rings and clears privileged doorbells as `value` says.
pub(super) fn set_dpdes(thread: &Thread, shared: &mut Shared, value: u64) {
    let now = thread.time_now().cycles();
    let threads = shared.subcore_of(thread.index);
    let first = threads.start;
    for index in threads {
        let rings = value >> (index - first) & 1 != 0;
        shared.signal(index, now, |signals| signals.privileged_doorbell = rings);
    }
}
