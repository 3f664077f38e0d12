//! The segment lookaside buffer: Power ISA 3.0B Book III, SLB Management;
//! `docs/facts/translation.md#segments`.
//!
//! Hashed translation looks into it at every access: no ERAT keeps what it took from an entry that `slbmte` replaced.
//! With radix translation nothing does. The global forms find nothing to remove: `slbieg` is for entries that
//! hardware made from a segment table, of which there are none, and leaves those that software made;
//! `slbiag` is for the buffers of accelerators, of which there are none either. Source for both: the
//! architecture's operation as instructionsets.com has it; QEMU takes them for the thread's own entries.

use arch::bits::Field;
use arch::hash::segment;
use arch::instruction::{Mnemonic, Word};
use arch::registers::lpcr;
use arch::registers::spr::Spr;

use super::{Flow, Handler, Mode, Outcome};
use crate::state::shared::Shared;
use crate::state::slb::{SlbEntry, VALID};
use crate::state::thread::Thread;
use crate::state::thread::trap::StopReason;

/// The handler of an SLB instruction.
pub fn handler(mnemonic: Mnemonic, _: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Slbmte => slbmte,
        Mnemonic::Slbmfee => |t, _, i| read(t, i, |entry| entry.esid),
        Mnemonic::Slbmfev => |t, _, i| read(t, i, |entry| entry.vsid),
        Mnemonic::Slbfee => slbfee,
        Mnemonic::Slbie => slbie,
        Mnemonic::Slbia => slbia,
        // Every invalidation of the own buffer is over when it completes, and the others remove nothing.
        Mnemonic::Slbieg | Mnemonic::Slbiag | Mnemonic::Slbsync => |_, _, _| Ok(Flow::Next),
        _ => return None,
    })
}

const CLASS: u64 = 0x80;
const INDEX: Field = Field::new(52, 63);
/// B of RB in `slbie`, and its class.
const SLBIE_B: Field = Field::new(37, 38);
const SLBIE_CLASS: u64 = 0x0800_0000;

fn slbmte(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    let (vsid, esid) = (thread.gpr[i.rs()], thread.gpr[i.rb()]);
    let index = INDEX.get(esid) as usize;
    let is_entry = segment::is_entry([esid & !INDEX.mask(), vsid]);
    if !is_entry || index >= writable_entries(thread) {
        return Err(
            thread.stop(StopReason::InvalidForm("slbmte (reserved bits, index or page size)"))
        );
    }
    let entry = SlbEntry { esid: esid & !INDEX.mask(), vsid };
    let old = std::mem::replace(&mut thread.slb[index], entry);
    let others = thread.slb.iter().enumerate().filter(|(other, _)| *other != index);
    if old.esid & VALID != 0 || others.into_iter().any(|(_, other)| other.meets(entry)) {
        thread.slb_version += 1;
    }
    Ok(Flow::Synchronize)
}

/// With LPCR\[UPRT\]=1 software has the first four entries only. Source: Linux's `book3s_hv_p9_entry.c`.
fn writable_entries(thread: &Thread) -> usize {
    if thread.spr(Spr::Lpcr) & lpcr::UPRT != 0 { 4 } else { thread.slb.len() }
}

/// An entry that is not valid reads as zero. What L=1 shows is each implementation's own; no source has
/// POWER9's.
fn read(thread: &mut Thread, i: Word, part: impl Fn(SlbEntry) -> u64) -> Outcome {
    if i.l_slb() != 0 {
        return Err(thread.stop(StopReason::InvalidForm("slbmfee or slbmfev (L=1)")));
    }
    // With software's first four entries the rest of the index is ignored.
    let index = INDEX.get(thread.gpr[i.rb()]) as usize;
    let index = if writable_entries(thread) < thread.slb.len() { index & 3 } else { index };
    match thread.slb.get(index) {
        Some(&entry) => {
            let is_valid = entry.esid & VALID != 0;
            thread.gpr[i.rt()] = if is_valid { part(entry) } else { 0 };
        }
        None => return Err(thread.stop(StopReason::InvalidForm("slbmfee or slbmfev (index)"))),
    }
    Ok(Flow::Next)
}

fn slbfee(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    let address = thread.gpr[i.rb()];
    let found = thread.slb.iter().find(|entry| entry.matches(address)).copied();
    thread.gpr[i.rt()] = found.map_or(0, |entry| entry.vsid);
    let equal = if found.is_some() { arch::registers::cr::EQ } else { 0 };
    thread.set_cr_field(0, equal | thread.summary_overflow());
    Ok(Flow::Next)
}

fn slbie(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    thread.slb_version += 1;
    let operand = thread.gpr[i.rb()];
    let is_class = operand & SLBIE_CLASS != 0;
    for entry in &mut thread.slb {
        let is_meant = entry.matches(operand)
            && entry.size() == SLBIE_B.get(operand)
            && (entry.vsid & CLASS != 0) == is_class;
        if is_meant {
            entry.esid &= !VALID;
        }
    }
    Ok(Flow::Synchronize)
}

/// IH says what goes: the modelled TLB has nothing of the ERATs' that would have to go with it.
fn slbia(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    let known = shared.processor.facts().slbia_kinds;
    let goes: fn(usize, &SlbEntry) -> bool = match i.ih() {
        kind if !known.contains(&kind) => {
            return Err(thread.stop(StopReason::InvalidForm("slbia (IH)")));
        }
        0 | 1 | 2 | 6 => |index, _| index != 0,
        3 => |_, entry| entry.vsid & CLASS != 0,
        4 => |_, _| true,
        _ => |_, _| false,
    };
    thread.slb_version += 1;
    for (index, entry) in thread.slb.iter_mut().enumerate() {
        if goes(index, entry) {
            entry.esid &= !VALID;
        }
    }
    Ok(Flow::Synchronize)
}
