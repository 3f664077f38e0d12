//! System calls, returns from interrupts, the MSR and translation invalidation: Power ISA 3.0B Book I
//! chapter 2 and Book III.

use arch::instruction::{Mnemonic, Word};
use arch::interrupt::{Vector, program};
use arch::registers::spr::Spr;
use arch::registers::{lpcr, msr};

use super::{Flow, Handler, Mode, Outcome};
use crate::shared::Shared;
use crate::thread::Thread;
use crate::thread::trap::{Cause, Interrupt, StopReason, Trap};

/// The handler of a system instruction.
pub fn handler(mnemonic: Mnemonic, _: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Sc => sc,
        Mnemonic::Rfid => rfid,
        Mnemonic::Hrfid => hrfid,
        Mnemonic::Mfmsr => mfmsr,
        Mnemonic::Mtmsr => mtmsr,
        Mnemonic::Mtmsrd => mtmsrd,
        Mnemonic::Tlbie => tlbie,
        Mnemonic::Tlbiel => tlbiel,
        Mnemonic::Tlbsync => tlbsync,
        Mnemonic::Slbia => slbia,
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

fn rfid(thread: &mut Thread, _: &mut Shared, _: Word) -> Outcome {
    let (address, mut value) = (thread.spr(Spr::Srr0), thread.spr(Spr::Srr1));
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
    thread.set_msr(with_problem_state(value));
    thread.nia = thread.effective(address & !3).0;
    Ok(Flow::Return)
}

fn mfmsr(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    thread.gpr[i.rt()] = thread.msr();
    Ok(Flow::Next)
}

/// What every form of `mtmsr` leaves alone: LE, and what only an interrupt or its return changes.
const MTMSR_KEEPS: u64 = msr::LE | msr::HV;

fn mtmsr(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    let high = 0xFFFF_FFFF_0000_0000;
    write_msr(thread, i, thread.gpr[i.rs()] & !high | thread.msr() & high)
}

fn mtmsrd(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    write_msr(thread, i, thread.gpr[i.rs()])
}

fn write_msr(thread: &mut Thread, i: Word, source: u64) -> Outcome {
    let old = thread.msr();
    if i.l_mtmsr() == 1 {
        let changes = msr::EE | msr::RI;
        thread.set_msr(old & !changes | source & changes);
        return Ok(Flow::Synchronize);
    }
    let mut keeps = MTMSR_KEEPS;
    if old & msr::HV == 0 {
        keeps |= msr::ME;
    }
    thread.set_msr(with_problem_state(source & !keeps | old & keeps));
    Ok(Flow::Synchronize)
}

/// Fields of the RB operand of `tlbie` and `tlbiel`.
mod rb {
    use arch::bits::Field;
    /// What is invalidated: 0 one page, 1 a PID, 2 an LPID, 3 everything.
    pub(super) const IS: Field = Field::new(52, 53);
    /// Actual page size of a single page.
    pub(super) const AP: Field = Field::new(56, 58);
    /// Congruence class of `tlbiel`.
    pub(super) const SET: Field = Field::new(40, 51);
}

fn tlbie(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    guard_invalidation(thread, i)?;
    for core in 0..shared.cores.len() {
        invalidate(thread, shared, i, core)?;
    }
    Ok(Flow::Synchronize)
}

fn tlbiel(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    // A guest's `tlbiel` needs no GTSE.
    invalidate(thread, shared, i, thread.core)?;
    Ok(Flow::Synchronize)
}

fn tlbsync(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    guard_invalidation(thread, i)?;
    Ok(Flow::Next)
}

/// `tlbie` and `tlbsync` are the hypervisor's unless LPCR\[GTSE\] gives them to the guest.
fn guard_invalidation(thread: &mut Thread, i: Word) -> Result<(), Trap> {
    if thread.msr() & msr::HV == 0 && thread.spr(Spr::Lpcr) & lpcr::GTSE == 0 {
        return Err(super::hypervisor_privileged(thread, i));
    }
    Ok(())
}

/// Removes the translations of one core that the operands name. Source: `mmu-and-superpages.md` 1.11.
fn invalidate(thread: &mut Thread, shared: &mut Shared, i: Word, core: usize) -> Result<(), Trap> {
    let has_hv = thread.msr() & msr::HV != 0;
    let operand = thread.gpr[i.rb()];
    let rs = thread.gpr[i.rs()];
    let is_radix = if has_hv { i.r() } else { thread.spr(Spr::Lpcr) & lpcr::HR != 0 };
    if !is_radix {
        // Hashed translations are never cached, as they are not modelled: there is nothing to remove.
        return Ok(());
    }
    let (ric, is_process) = (i.ric(), i.prs());
    let own_lpid = thread.spr(Spr::Lpidr) as u32;
    let is_local = i.0 >> 1 & 0x3FF == TLBIEL_XO;
    let lpid = if has_hv && !is_local { rs as u32 } else { own_lpid };
    let pid = if is_local { thread.spr(Spr::Pidr) as u32 } else { (rs >> 32) as u32 };
    let scope = rb::IS.get(operand);
    let invalid = ric == 3 || scope == 0 && ric != 0 || !is_process && scope == 1;
    if invalid {
        return Err(thread.stop(StopReason::InvalidForm("tlbie (RIC, PRS and IS)")));
    }
    // Table-walk caches are not modelled: RIC=1 alone has nothing to remove.
    if ric == 1 {
        return Ok(());
    }
    let tlb = &mut shared.cores[core].tlb;
    match scope {
        0 => {
            let Some(page_log2) = actual_page_log2(rb::AP.get(operand)) else {
                return Err(thread.stop(StopReason::InvalidForm("tlbie (AP)")));
            };
            let address = operand >> 12 << 12;
            let within = |page: u64, log2: u32| {
                let log2 = log2.max(page_log2);
                page >> log2 == address >> log2
            };
            tlb.invalidate(|space, page, translation| {
                space.lpid == lpid
                    && if is_process {
                        space.pid == Some(pid) && within(page & !(3 << 62), translation.page_log2)
                    } else {
                        translation
                            .guest_real
                            .is_some_and(|page| within(page.0, translation.page_log2))
                    }
            });
        }
        // One congruence class is a subset that software sweeps; removing the whole PID or LPID at
        // its first class, and nothing at the others, removes the same in the end.
        _ if is_local && rb::SET.get(operand) != 0 => {}
        1 => tlb.invalidate(|space, _, _| space.lpid == lpid && space.pid == Some(pid)),
        2 => tlb.invalidate(|space, _, translation| {
            space.lpid == lpid
                && is_in_scope(space.pid, translation.guest_real.is_some(), is_process)
        }),
        _ => tlb.invalidate(|space, _, translation| {
            (has_hv || space.lpid == own_lpid)
                && is_in_scope(space.pid, translation.guest_real.is_some(), is_process)
        }),
    }
    Ok(())
}

/// Whether a translation has a part of the scope that PRS names.
fn is_in_scope(pid: Option<u32>, has_partition_stage: bool, is_process: bool) -> bool {
    if is_process { pid.is_some() } else { has_partition_stage }
}

const TLBIEL_XO: u32 = 274;

/// AP encodings of radix pages (`mmu-and-superpages.md` 1.11).
fn actual_page_log2(ap: u64) -> Option<u32> {
    match ap {
        0 => Some(12),
        5 => Some(16),
        1 => Some(21),
        2 => Some(30),
        _ => None,
    }
}

/// With radix translation there are no segments: `slbia` only empties the ERATs, which hold nothing
/// that the modelled TLB does not.
fn slbia(thread: &mut Thread, _: &mut Shared, _: Word) -> Outcome {
    if thread.spr(Spr::Lpcr) & lpcr::HR == 0 {
        return Err(thread.stop(StopReason::InstructionNotModelled("slbia with LPCR[HR]=0")));
    }
    Ok(Flow::Synchronize)
}

/// The interrupt of a trap instruction whose condition holds.
pub fn trap(thread: &mut Thread) -> Trap {
    thread.program_interrupt(program::TRAP)
}
