//! Moves from and to FPSCR: Power ISA 3.0B Book I 4.6.10.
//!
//! FEX and VX are never written; they follow the other bits. Of these instructions only `mtfsb1` sets FX
//! because an exception bit went from 0 to 1; the others write it as any bit, or leave it.

use arch::instruction::{Mnemonic, Word};

use super::deliver::{conclude, interrupt_if_enabled, raise, record};
use super::fpscr::{DRN, ENABLES, EXCEPTIONS, FI, FPRF, FR, FX, NI, RN, WRITABLE, with_summaries};
use crate::exec::{Flow, Handler, Outcome};
use crate::state::thread::Thread;

/// The handler of a move from or to FPSCR.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Mffs => |t, _, i| {
            t.set_fpr(i.frt(), t.fpscr);
            record(t, i);
            Ok(Flow::Next)
        },
        Mnemonic::Mffsce => |t, _, i| exchange(t, i, u64::MAX, t.fpscr & !ENABLES),
        Mnemonic::Mffscdrn => |t, _, i| {
            let mode = DRN.get(t.fpr(i.frb()));
            exchange(t, i, CONTROL, DRN.set(t.fpscr, mode))
        },
        Mnemonic::Mffscdrni => {
            |t, _, i| exchange(t, i, CONTROL, DRN.set(t.fpscr, u64::from(i.drm())))
        }
        Mnemonic::Mffscrn => |t, _, i| {
            let mode = RN.get(t.fpr(i.frb()));
            exchange(t, i, CONTROL, RN.set(t.fpscr, mode))
        },
        Mnemonic::Mffscrni => |t, _, i| exchange(t, i, CONTROL, RN.set(t.fpscr, u64::from(i.rm()))),
        Mnemonic::Mffsl => |t, _, i| exchange(t, i, CONTROL | FR | FI | FPRF.mask(), t.fpscr),
        Mnemonic::Mcrfs => |t, _, i| mcrfs(t, i),
        Mnemonic::Mtfsfi => |t, _, i| mtfsfi(t, i),
        Mnemonic::Mtfsf => |t, _, i| mtfsf(t, i),
        Mnemonic::Mtfsb0 => |t, _, i| mtfsb0(t, i),
        Mnemonic::Mtfsb1 => |t, _, i| mtfsb1(t, i),
        _ => return None,
    })
}

/// The control bits.
const CONTROL: u64 = DRN.mask() | ENABLES | NI | RN.mask();

/// FRT gets the bits `shown` of FPSCR, FPSCR gets `new`. None of these has a record form.
fn exchange(thread: &mut Thread, i: Word, shown: u64, new: u64) -> Outcome {
    thread.set_fpr(i.frt(), thread.fpscr & shown);
    thread.fpscr = with_summaries(new);
    Ok(Flow::Next)
}

/// Copies a field to CR, and resets the exception bits that it copied.
fn mcrfs(thread: &mut Thread, i: Word) -> Outcome {
    let shift = 28 - 4 * i.bfa();
    thread.set_cr_field(i.bf(), (thread.fpscr >> shift) as u32 & 0xF);
    let copied = 0xF << shift & (FX | EXCEPTIONS);
    thread.fpscr = with_summaries(thread.fpscr & !copied);
    interrupt_if_enabled(thread)
}

fn mtfsfi(thread: &mut Thread, i: Word) -> Outcome {
    // W = 1 is the upper word.
    let field = i.bf() + if i.w() != 0 { 0 } else { 8 };
    let shift = 60 - 4 * field;
    write(thread, i, u64::from(i.u()) << shift, 0xF << shift)
}

fn mtfsf(thread: &mut Thread, i: Word) -> Outcome {
    let mask = if i.l_mtfsf() != 0 {
        u64::MAX
    } else {
        let fields = u64::from(i.flm()) << if i.w() != 0 { 8 } else { 0 };
        (0..16).filter(|field| fields >> field & 1 != 0).map(|field| 0xF << (4 * field)).sum()
    };
    write(thread, i, thread.fpr(i.frb()), mask)
}

fn write(thread: &mut Thread, i: Word, value: u64, mask: u64) -> Outcome {
    let mask = mask & WRITABLE;
    thread.fpscr = with_summaries(thread.fpscr & !mask | value & mask);
    conclude(thread, i)
}

fn mtfsb0(thread: &mut Thread, i: Word) -> Outcome {
    thread.fpscr = with_summaries(thread.fpscr & !named_bit(i));
    conclude(thread, i)
}

fn mtfsb1(thread: &mut Thread, i: Word) -> Outcome {
    let bit = named_bit(i);
    raise(thread, bit & EXCEPTIONS);
    thread.fpscr = with_summaries(thread.fpscr | bit);
    conclude(thread, i)
}

/// The bit of the lower word that BT names, if it can be written.
fn named_bit(i: Word) -> u64 {
    1 << (31 - i.bt()) & WRITABLE
}
