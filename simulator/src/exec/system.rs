//! System calls, returns from interrupts and the MSR: Power ISA 3.0B Book I chapter 2 and Book III.

use arch::instruction::{Mnemonic, Word};
use arch::interrupt::{Vector, program};
use arch::registers::hfscr::Facility;
use arch::registers::spr::Spr;
use arch::registers::{bescr, msr};

use super::floating_point::deliver::interrupt_if_allowed;
use super::{Flow, Handler, Mode, Outcome, facility};
use crate::interrupt;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::{Cause, Interrupt, Trap};

/// The handler of a system instruction.
pub fn handler(mnemonic: Mnemonic, _: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Sc => sc,
        Mnemonic::Rfid => rfid,
        Mnemonic::Hrfid => hrfid,
        Mnemonic::Mfmsr => mfmsr,
        Mnemonic::Mtmsr => mtmsr,
        Mnemonic::Mtmsrd => mtmsrd,
        Mnemonic::Scv => scv,
        Mnemonic::Rfscv => rfscv,
        Mnemonic::Rfebb => rfebb,
        _ => return None,
    })
}

/// A word that no instruction has: left to the hypervisor.
pub fn illegal(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    Err(thread.emulation_assistance(i))
}

/// The firmware's entry word: a call where the firmware's entry is, an illegal word elsewhere.
pub fn firmware(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    let is_real = thread.msr() & (msr::HV | msr::IR) == msr::HV;
    if !is_real || thread.cia & 0x0FFF_FFFF_FFFF_FFFF != shared.firmware.entry {
        return illegal(thread, shared, i);
    }
    thread.cause = Some(Cause::Firmware);
    Err(Trap)
}

/// An instruction that the thread's state does not allow.
pub fn privileged(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    Err(super::hypervisor_privileged(thread, i))
}

fn sc(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    thread.nia = thread.cia.wrapping_add(4);
    let to_hypervisor = i.lev() == 1;
    Err(thread.interrupt(Interrupt {
        to_hypervisor,
        is_after_instruction: true,
        ..Interrupt::new(Vector::SystemCall)
    }))
}

/// `scv` saves in LR and CTR, keeps EE and RI, and never enters the hypervisor.
fn scv(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    if thread.spr(Spr::Fscr) & Facility::Scv.bit() == 0 {
        return Err(facility::unavailable(thread, Facility::Scv));
    }
    thread.nia = thread.effective(thread.cia.wrapping_add(4)).0;
    interrupt::take_vectored_call(thread, shared, u64::from(i.lev()));
    Ok(Flow::Return)
}

fn rfscv(thread: &mut Thread, _: &mut Shared, _: Word) -> Outcome {
    let (address, value) = (thread.lr, thread.ctr);
    return_from_srr(thread, address, value)
}

/// Return from an event-based branch. It would go back to a transaction state, too.
fn rfebb(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    facility::require(thread, Facility::Ebb)?;
    let events = thread.spr(Spr::Bescr);
    if bescr::TS.get(events) != 0 {
        return Err(thread.program_interrupt(program::TM_BAD_THING));
    }
    let enable = if i.s_rfebb() != 0 { bescr::GE } else { 0 };
    thread.set_spr(Spr::Bescr, events & !bescr::GE | enable);
    thread.nia = thread.effective(thread.spr(Spr::Ebbrr) & !3).0;
    Ok(Flow::Return)
}

fn rfid(thread: &mut Thread, _: &mut Shared, _: Word) -> Outcome {
    let (address, value) = (thread.spr(Spr::Srr0), thread.spr(Spr::Srr1));
    return_from_srr(thread, address, value)
}

fn return_from_srr(thread: &mut Thread, address: u64, mut value: u64) -> Outcome {
    // Without HV, HV cannot be gained and ME cannot be changed.
    if thread.msr() & msr::HV == 0 {
        value = value & !(msr::HV | msr::ME) | thread.msr() & msr::ME;
    }
    return_to(thread, address, value)
}

fn hrfid(thread: &mut Thread, _: &mut Shared, _: Word) -> Outcome {
    let (address, value) = (thread.spr(Spr::Hsrr0), thread.spr(Spr::Hsrr1));
    return_to(thread, address, value)
}

/// Problem state implies EE, IR and DR, in every write of the MSR.
fn with_problem_state(value: u64) -> u64 {
    if value & msr::PR != 0 { value | msr::EE | msr::IR | msr::DR } else { value }
}

fn return_to(thread: &mut Thread, address: u64, value: u64) -> Outcome {
    refuse_transaction(thread, value)?;
    thread.set_msr(with_problem_state(value));
    thread.nia = thread.effective(address & !3).0;
    interrupt_if_allowed(thread)?;
    Ok(Flow::Return)
}

/// No transaction ever begins, and a write of the MSR cannot enter one from outside: Power ISA 3.0B Book III
/// section 3.2.1, Transaction State Transitions.
fn refuse_transaction(thread: &mut Thread, value: u64) -> Result<(), Trap> {
    match msr::TS.get(value) {
        0 => Ok(()),
        _ => Err(thread.program_interrupt(program::TM_BAD_THING)),
    }
}

fn mfmsr(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    thread.gpr[i.rt()] = thread.msr();
    Ok(Flow::Next)
}

/// What every form of `mtmsr` leaves alone: LE, and what only an interrupt or its return changes.
const MTMSR_KEEPS: u64 = msr::LE | msr::HV;

fn mtmsr(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    let high = 0xFFFF_FFFF_0000_0000;
    write_msr(thread, shared, i, thread.gpr[i.rs()] & !high | thread.msr() & high)
}

fn mtmsrd(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    write_msr(thread, shared, i, thread.gpr[i.rs()])
}

fn write_msr(thread: &mut Thread, shared: &Shared, i: Word, source: u64) -> Outcome {
    let old = thread.msr();
    if i.l_mtmsr() == 1 {
        let changes = msr::EE | msr::RI;
        thread.set_msr(old & !changes | source & changes);
        // Neither bit changes how instructions are decoded or addresses translated.
        let is_opened = thread.msr() & !old & msr::EE != 0;
        let is_interrupted = is_opened && interrupt::pending(thread, shared).is_some();
        return Ok(if is_interrupted { Flow::Synchronize } else { Flow::Next });
    }
    refuse_transaction(thread, source)?;
    let mut keeps = MTMSR_KEEPS;
    if old & msr::HV == 0 {
        keeps |= msr::ME;
    }
    thread.set_msr(with_problem_state(source & !keeps | old & keeps));
    thread.nia = thread.effective(thread.cia.wrapping_add(4)).0;
    interrupt_if_allowed(thread)?;
    Ok(Flow::Synchronize)
}

/// The interrupt of a trap instruction whose condition holds.
pub fn trap(thread: &mut Thread) -> Trap {
    thread.program_interrupt(program::TRAP)
}
