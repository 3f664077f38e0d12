//! `mfspr`, `mtspr` and `mftb`: what reading and writing each special-purpose register does.
//!
//! Presence, privilege and width come from the table in `arch`. What a register does beyond keeping its value is its
//! family's, in a file each. A value that would switch something on that is not modelled stops the machine.

mod access;
mod compatibility;
mod debug;
mod doorbell;
mod events;
mod family;
mod implementation;
mod indirect;
mod kept;
mod keys;
mod maintenance;
mod monitor;
mod power_saving;
mod prefetch;
mod priority;
mod split;
mod time_facility;
mod timers;
mod transaction;
mod translation;

use arch::instruction::{Mnemonic, Word};
use arch::registers::spr::Spr;

use super::{Flow, Handler, Mode, Outcome};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use access::{find, require_facility};
use family::Family;
pub use kept::{counted, store, stored};

/// The handler of a move from or to a special-purpose register.
pub fn handler(mnemonic: Mnemonic, i: Word, _: Mode) -> Option<Handler> {
    Some(match (mnemonic, i.spr()) {
        (Mnemonic::Mfspr, XER) => |t, s, i| put(t, i, t.xer & s.processor.facts().xer),
        (Mnemonic::Mfspr, LR) => |t, _, i| put(t, i, t.lr),
        (Mnemonic::Mfspr, CTR) => |t, _, i| put(t, i, t.ctr),
        (Mnemonic::Mfspr | Mnemonic::Mftb, _) => mfspr,
        (Mnemonic::Mtspr, XER) => |t, s, i| {
            t.xer = t.gpr[i.rs()] & s.processor.facts().xer;
            Ok(Flow::Next)
        },
        (Mnemonic::Mtspr, LR) => |t, _, i| {
            t.lr = t.gpr[i.rs()];
            Ok(Flow::Next)
        },
        (Mnemonic::Mtspr, CTR) => |t, _, i| {
            t.ctr = t.gpr[i.rs()];
            Ok(Flow::Next)
        },
        (Mnemonic::Mtspr, _) => mtspr,
        _ => return None,
    })
}

const XER: u16 = Spr::Xer.number_to_read();
const LR: u16 = Spr::Lr.number_to_read();
const CTR: u16 = Spr::Ctr.number_to_read();

fn put(thread: &mut Thread, i: Word, value: u64) -> Outcome {
    thread.gpr[i.rt()] = value;
    Ok(Flow::Next)
}

fn mfspr(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    let Some(row) = find(thread, shared, i, false)? else { return Ok(Flow::Next) };
    require_facility(thread, shared, row, i, false)?;
    match (family(row.spr).read)(thread, shared, row)? {
        Some(value) => put(thread, i, value),
        None => Ok(Flow::Next),
    }
}

fn mtspr(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    let Some(row) = find(thread, shared, i, true)? else { return Ok(Flow::Next) };
    require_facility(thread, shared, row, i, true)?;
    let value = thread.gpr[i.rs()] & row.mask();
    let family = family(row.spr);
    (family.write)(thread, shared, row, value)?;
    Ok(if (family.synchronizes)(thread, row.spr) { Flow::Synchronize } else { Flow::Next })
}

/// The family that a register belongs to. A new register has to be in one.
const fn family(spr: Spr) -> &'static Family {
    match spr {
        Spr::Tb | Spr::Dec | Spr::Hdec | Spr::Purr | Spr::Spurr | Spr::Vtb | Spr::Ic => {
            &timers::FAMILY
        }
        Spr::Lpcr | Spr::Lpidr | Spr::Pidr | Spr::Hrmor | Spr::Ptcr => &translation::FAMILY,
        Spr::Sdr1 | Spr::Rmor => &translation::FAMILY,
        Spr::Amr | Spr::Iamr | Spr::Uamor => &keys::FAMILY,
        Spr::Hfscr | Spr::Fscr | Spr::Pcr => &compatibility::FAMILY,
        Spr::Ciabr | Spr::Dawr0 | Spr::Dawrx0 => &debug::FAMILY,
        Spr::Dpdes | Spr::Tir => &doorbell::FAMILY,
        Spr::Bescr => &events::FAMILY,
        Spr::Texasr => &transaction::FAMILY,
        Spr::Mmcr0 | Spr::Mmcr1 | Spr::Mmcr2 | Spr::Mmcra => &monitor::FAMILY,
        Spr::Ctrl => &monitor::RUN_LATCH,
        Spr::Pmc1 | Spr::Pmc2 | Spr::Pmc3 | Spr::Pmc4 | Spr::Pmc5 | Spr::Pmc6 => &monitor::FAMILY,
        Spr::Psscr | Spr::Pmcr => &power_saving::FAMILY,
        Spr::Ppr => &priority::FAMILY,
        Spr::Mppr => &prefetch::FAMILY,
        Spr::Hmer | Spr::Hmeer => &maintenance::FAMILY,
        Spr::Sprc | Spr::Sprd => &indirect::FAMILY,
        Spr::Tfmr => &time_facility::FAMILY,
        Spr::Trig1 | Spr::Trig2 | Spr::Trace | Spr::Imc => &implementation::FAMILY,
        Spr::L2qosr | Spr::Mmcrc | Spr::Ldbar | Spr::Wort => &implementation::FAMILY,
        Spr::Mmcrh | Spr::Mmcrs | Spr::Spmc1 | Spr::Spmc2 => &implementation::FAMILY,
        Spr::Xer | Spr::Lr | Spr::Ctr | Spr::Cfar | Spr::Tar => &kept::FAMILY,
        Spr::Srr0 | Spr::Srr1 | Spr::Hsrr0 | Spr::Hsrr1 | Spr::Heir => &kept::FAMILY,
        Spr::Dar | Spr::Dsisr | Spr::Hdar | Spr::Hdsisr | Spr::Asdr => &kept::FAMILY,
        Spr::Sprg0 | Spr::Sprg1 | Spr::Sprg2 | Spr::Sprg3 => &kept::FAMILY,
        Spr::Hsprg0 | Spr::Hsprg1 => &kept::FAMILY,
        Spr::Dscr | Spr::Vrsave | Spr::Tidr | Spr::Pspb | Spr::Amor => &kept::FAMILY,
        Spr::Tfhar | Spr::Tfiar | Spr::Ebbhr | Spr::Ebbrr => &kept::FAMILY,
        Spr::Sier | Spr::Siar | Spr::Sdar => &kept::FAMILY,
        Spr::Hid0 => &split::FAMILY,
        Spr::Pvr | Spr::Pir | Spr::Cir => &kept::FAMILY,
        Spr::Acop | Spr::Tacr | Spr::Tcscr | Spr::Csigr => &kept::FAMILY,
        Spr::Rpr | Spr::Tscr | Spr::Ttr | Spr::Pmsr | Spr::Rwmr => &kept::FAMILY,
    }
}
