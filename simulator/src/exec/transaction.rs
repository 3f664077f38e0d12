//! Transactional memory on a machine where no transaction begins: `tbegin.` fails each time, for good,
//! and the others find no transaction. Power ISA 3.0B Book II chapter 5.
//!
//! MSR\[TM\]=0 and HFSCR\[TM\]=0 refuse all of them.

use arch::bits::bit;
use arch::instruction::{Mnemonic, Word};
use arch::interrupt::program;
use arch::registers::hfscr::Facility;
use arch::registers::msr;
use arch::registers::spr::Spr;

use super::{Flow, Handler, Mode, Outcome, facility};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::{StopReason, Trap};

/// The handler of a transactional instruction.
pub fn handler(mnemonic: Mnemonic, _: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Tbegin => tbegin,
        Mnemonic::Tend
        | Mnemonic::Tsr
        | Mnemonic::Tabort
        | Mnemonic::Tabortwc
        | Mnemonic::Tabortdc
        | Mnemonic::Tabortwci
        | Mnemonic::Tabortdci => without_transaction,
        Mnemonic::Tcheck => tcheck,
        Mnemonic::Treclaim => treclaim,
        Mnemonic::Trechkpt => trechkpt,
        _ => return None,
    })
}

/// Whether it is a transactional instruction.
pub fn is_one(mnemonic: Mnemonic) -> bool {
    handler(mnemonic, Word(0), Mode::from_msr(0)).is_some()
}

/// CR0 where a failed transaction goes on.
const FAILED: u32 = 0b1010;

/// TEXASR of the failure: the nesting level, which is none, is exceeded; it will be so again; the
/// summary; TFIAR is exact. QEMU's choice, whose transactions fail the same way.
const FAILURE: u64 = bit(7) | bit(9) | FAILURE_SUMMARY | bit(37);
/// TEXASR[FS]: without it there is no failed transaction to go back to, and `trechkpt.` is a TM Bad Thing.
const FAILURE_SUMMARY: u64 = bit(36);
/// Where TEXASR keeps HV and PR of the failure.
const FAILURE_STATE_SHIFT: u32 = 28;

fn require(thread: &mut Thread) -> Result<(), Trap> {
    facility::require_of_hypervisor(thread, Facility::Tm)?;
    if thread.msr() & msr::TM == 0 {
        return Err(facility::unavailable(thread, Facility::Tm));
    }
    Ok(())
}

fn tbegin(thread: &mut Thread, _: &mut Shared, _: Word) -> Outcome {
    require(thread)?;
    let has_hv = u64::from(thread.msr() & msr::HV != 0);
    let state = has_hv << 1 | u64::from(thread.is_problem());
    thread.set_spr(Spr::Texasr, FAILURE | state << FAILURE_STATE_SHIFT);
    thread.set_spr(Spr::Tfiar, thread.cia | state);
    thread.set_spr(Spr::Tfhar, thread.cia.wrapping_add(4));
    thread.set_cr_field(0, FAILED);
    Ok(Flow::Next)
}

/// CR0 gets the transaction state, which is none.
fn without_transaction(thread: &mut Thread, _: &mut Shared, _: Word) -> Outcome {
    require(thread)?;
    thread.set_cr_field(0, 0);
    Ok(Flow::Next)
}

fn tcheck(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    require(thread)?;
    thread.set_cr_field(i.bf(), 0);
    Ok(Flow::Next)
}

/// There is nothing to reclaim.
fn treclaim(thread: &mut Thread, _: &mut Shared, _: Word) -> Outcome {
    require(thread)?;
    Err(thread.program_interrupt(program::TM_BAD_THING))
}

fn trechkpt(thread: &mut Thread, _: &mut Shared, _: Word) -> Outcome {
    require(thread)?;
    if thread.spr(Spr::Texasr) & FAILURE_SUMMARY == 0 {
        return Err(thread.program_interrupt(program::TM_BAD_THING));
    }
    Err(thread.stop(StopReason::InstructionNotModelled("trechkpt. into a suspended transaction")))
}
