//! Moves between the condition register, general-purpose registers and XER.

use arch::instruction::{Mnemonic, Word};
use arch::registers::xer;

use super::super::{Flow, Handler, Mode, Outcome};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::StopReason;

/// The handler of a move of the condition register.
pub(super) fn handler(mnemonic: Mnemonic, i: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Mfcr => |t, _, i| {
            t.gpr[i.rt()] = u64::from(t.cr);
            Ok(Flow::Next)
        },
        Mnemonic::Mtcrf => mtcrf,
        // With none or several fields the result is undefined.
        Mnemonic::Mfocrf | Mnemonic::Mtocrf if !i.fxm().is_power_of_two() => |t, _, _| {
            Err(t.stop(StopReason::InvalidForm("mfocrf or mtocrf (FXM without exactly one bit)")))
        },
        Mnemonic::Mtocrf => mtcrf,
        // The other fields of RT are undefined; here they are zero, as in QEMU.
        Mnemonic::Mfocrf => |t, _, i| {
            t.gpr[i.rt()] = u64::from(t.cr & field_mask(i));
            Ok(Flow::Next)
        },
        Mnemonic::Mcrxrx => mcrxrx,
        _ => return None,
    })
}

/// The bits of the fields that FXM names.
fn field_mask(i: Word) -> u32 {
    (0..8)
        .filter(|field| i.fxm() >> field & 1 != 0)
        .fold(0, |mask, field| mask | 0xF << (4 * field))
}

fn mtcrf(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    let mask = field_mask(i);
    thread.cr = thread.cr & !mask | thread.gpr[i.rs()] as u32 & mask;
    Ok(Flow::Next)
}

/// OV, OV32, CA and CA32 into a field.
fn mcrxrx(thread: &mut Thread, _: &mut Shared, i: Word) -> Outcome {
    let bits = [xer::OV, xer::OV32, xer::CA, xer::CA32];
    let field = bits.iter().fold(0, |field, bit| field << 1 | u32::from(thread.xer & bit != 0));
    thread.set_cr_field(i.bf(), field);
    Ok(Flow::Next)
}
