//! `isel`: one of two registers, by a condition-register bit.

use arch::instruction::{Mnemonic, Word};

use super::super::{Handler, Mode};
use super::finish;

/// The handler of `isel`.
pub(super) fn handler(mnemonic: Mnemonic, _: Word, _: Mode) -> Option<Handler> {
    (mnemonic == Mnemonic::Isel).then_some(|t, _, i| {
        let chosen = if t.cr_bit(i.bc()) { t.gpr_or_zero(i.ra()) } else { t.gpr[i.rb()] };
        finish::<false>(t, i.rt(), chosen)
    })
}
