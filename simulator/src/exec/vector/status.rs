//! VSCR: Power ISA 3.0B Book I 6.3.2 and 6.16.

use arch::instruction::{Mnemonic, Word};
use arch::registers::vscr;

use super::{b, put};
use crate::exec::{Flow, Handler};

/// The handler of a move to or from VSCR.
pub(super) fn handler(mnemonic: Mnemonic, _: Word) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Mfvscr => |t, _, i| put(t, i, t.vscr.into()),
        Mnemonic::Mtvscr => |t, _, i| {
            t.vscr = b(t, i) as u32 & vscr::MASK;
            Ok(Flow::Next)
        },
        _ => return None,
    })
}
