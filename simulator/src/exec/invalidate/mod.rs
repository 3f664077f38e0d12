//! `tlbie`, `tlbiel` and `tlbsync`: which translations software takes back.
//!
//! With R=0 `hashed` says what the operands name. Source: `docs/facts/translation.md#operands`. Forms that it calls
//! invalid or undefined stop the machine.

mod hashed;

use arch::instruction::{Mnemonic, Word};
use arch::registers::spr::Spr;
use arch::registers::{lpcr, msr};

use super::{Flow, Handler, Mode, Outcome, hypervisor_privileged};
use crate::state::invalidation::{Extent, Invalidation};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::{StopReason, Trap};

/// The handler of an invalidation.
pub fn handler(mnemonic: Mnemonic, i: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Tlbie => tlbie,
        Mnemonic::Tlbiel => tlbiel,
        Mnemonic::Tlbsync => tlbsync,
        Mnemonic::Sync if i.l_sync() == PTESYNC => ptesync,
        _ => return None,
    })
}

/// `sync` with this L is `ptesync`.
const PTESYNC: u32 = 2;

/// Fields of the RB operand.
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
    guard(thread, i)?;
    let invalidation = decode(thread, i, false)?;
    remove(thread, shared, thread.core, invalidation);
    if shared.cores.len() > 1 {
        thread.outstanding.issue(invalidation);
    }
    Ok(Flow::Synchronize)
}

/// A guest's `tlbiel` needs no GTSE.
///
/// One congruence class is a subset that software sweeps; removing everything at its first class, and
/// nothing at the others, removes the same in the end.
fn tlbiel(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    let operand = thread.gpr[i.rb()];
    let is_later_class = rb::IS.get(operand) != 0 && rb::SET.get(operand) != 0;
    let invalidation = decode(thread, i, true)?;
    if !is_later_class {
        remove(thread, shared, thread.core, invalidation);
    }
    Ok(Flow::Synchronize)
}

fn tlbsync(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    guard(thread, i)?;
    thread.outstanding.order();
    Ok(Flow::Next)
}

fn ptesync(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    if thread.is_problem() {
        return Err(hypervisor_privileged(thread, i));
    }
    for invalidation in thread.outstanding.complete() {
        let own = thread.core;
        for core in (0..shared.cores.len()).filter(|core| *core != own) {
            remove(thread, shared, core, invalidation);
        }
    }
    Ok(Flow::Next)
}

/// Removes translations from core `core`.
fn remove(thread: &mut Thread, shared: &mut Shared, core: usize, invalidation: Invalidation) {
    invalidation.apply(&mut shared.cores[core]);
    thread.accesses.record_invalidation(core, invalidation);
}

/// `tlbie` and `tlbsync` are the hypervisor's unless LPCR\[GTSE\] gives them to the guest.
fn guard(thread: &mut Thread, i: Word) -> Result<(), Trap> {
    if thread.msr() & msr::HV == 0 && thread.spr(Spr::Lpcr) & lpcr::GTSE == 0 {
        return Err(hypervisor_privileged(thread, i));
    }
    Ok(())
}

/// What the operands name.
fn decode(thread: &mut Thread, i: Word, is_local: bool) -> Result<Invalidation, Trap> {
    let has_hv = thread.msr() & msr::HV != 0;
    let is_radix_partition = thread.spr(Spr::Lpcr) & lpcr::HR != 0;
    let (operand, rs) = (thread.gpr[i.rb()], thread.gpr[i.rs()]);
    let (ric, is_process, scope) = (i.ric(), i.prs(), rb::IS.get(operand));
    let own = thread.lpid();
    let lpid = if has_hv && !is_local { rs as u32 } else { own };
    let pid = (rs >> 32) as u32;
    if !has_hv && scope == 3 && i.r() != is_radix_partition {
        return undefined(thread, "tlbie (IS=3 by a guest, R not the partition's)");
    }
    let lpid = (scope != 3 || !has_hv).then_some(lpid);
    let is_radix = if has_hv { i.r() } else { is_radix_partition };
    let everything = Invalidation {
        lpid,
        is_hashed: !is_radix,
        is_process,
        extent: Extent::Everything,
        translations: ric != 1,
        directories: ric != 0,
        tables: ric == 2,
    };
    if !is_radix {
        return hashed::decode(thread, i, everything);
    }
    let extent = match scope {
        0 if ric != 0 => return undefined(thread, "tlbie (RIC=1 or 2 with IS=0)"),
        1 if !is_process => return undefined(thread, "tlbie (IS=1 with PRS=0)"),
        0 => {
            if is_process && operand >> 62 != 0 {
                return undefined(thread, "tlbie (an effective address outside of quadrant 0)");
            }
            let Some(page_log2) = actual_page_log2(rb::AP.get(operand)) else {
                return undefined(thread, "tlbie (AP)");
            };
            let pid = is_process.then_some(pid);
            Extent::Page { pid, address: operand >> 12 << 12, page_log2 }
        }
        1 => Extent::Pid(pid),
        _ => Extent::Everything,
    };
    Ok(Invalidation { extent, ..everything })
}

fn undefined<T>(thread: &mut Thread, what: &'static str) -> Result<T, Trap> {
    Err(thread.stop(StopReason::InvalidForm(what)))
}

/// AP encodings of radix pages (`docs/facts/translation.md#page-sizes`).
fn actual_page_log2(ap: u64) -> Option<u32> {
    match ap {
        0 => Some(12),
        5 => Some(16),
        1 => Some(21),
        2 => Some(30),
        _ => None,
    }
}
