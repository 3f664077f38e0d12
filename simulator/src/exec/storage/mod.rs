//! Loads and stores of general-purpose registers: Power ISA 3.0B Book I section 3.3, the atomic ones
//! of Book II chapter 4, the cache-inhibited ones of Book III.
//!
//! Translation, byte order and operands that cross a page are the business of
//! [`mmu::access`](crate::mmu::access). Registers change only after the last byte was accessed, so an
//! instruction that meets an interrupt can be executed again.

mod atomic;
mod inhibited;
mod load;
mod multiple;
mod quadword;
mod reserve;
mod store;

use arch::address::EffectiveAddress;
use arch::instruction::{Mnemonic, Word};

use super::{Handler, Mode};
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

/// The handler of a load or store.
pub fn handler(mnemonic: Mnemonic, i: Word, mode: Mode) -> Option<Handler> {
    let families = [
        load::handler,
        store::handler,
        quadword::handler,
        reserve::handler,
        multiple::handler,
        atomic::handler,
        inhibited::handler,
    ];
    families.iter().find_map(|family| family(mnemonic, i, mode))
}

/// (RA|0) + D.
#[inline(always)]
fn d(thread: &Thread, i: Word) -> EffectiveAddress {
    thread.effective(thread.gpr_or_zero(i.ra()).wrapping_add_signed(i.d()))
}

/// (RA|0) + DS.
#[inline(always)]
fn ds(thread: &Thread, i: Word) -> EffectiveAddress {
    thread.effective(thread.gpr_or_zero(i.ra()).wrapping_add_signed(i.ds()))
}

/// (RA|0) + DQ.
#[inline(always)]
fn dq(thread: &Thread, i: Word) -> EffectiveAddress {
    thread.effective(thread.gpr_or_zero(i.ra()).wrapping_add_signed(i.dq()))
}

/// (RA|0) + (RB).
#[inline(always)]
fn x(thread: &Thread, i: Word) -> EffectiveAddress {
    thread.effective(thread.gpr_or_zero(i.ra()).wrapping_add(thread.gpr[i.rb()]))
}

/// (RA|0).
#[inline(always)]
fn base(thread: &Thread, i: Word) -> EffectiveAddress {
    thread.effective(thread.gpr_or_zero(i.ra()))
}

/// Refuses an address that is not a multiple of `1 << log2` with an alignment interrupt.
#[inline(always)]
fn aligned(thread: &mut Thread, address: EffectiveAddress, log2: u32) -> Result<(), Trap> {
    if address.is_aligned(log2) { Ok(()) } else { Err(thread.alignment_interrupt(address)) }
}

#[cfg(test)]
mod tests;
