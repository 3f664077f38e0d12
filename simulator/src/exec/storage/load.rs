//! Loads of up to a doubleword.

use arch::address::EffectiveAddress;
use arch::instruction::{Mnemonic, Word};

use super::super::{Flow, Handler, Mode, Outcome};
use super::{d, ds, x};
use crate::shared::Shared;
use crate::thread::Thread;
use crate::thread::trap::Trap;

/// The handler of a load.
pub(super) fn handler(mnemonic: Mnemonic, _: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Lbz => |t, s, i| load(t, s, i, d, byte),
        Mnemonic::Lbzu => |t, s, i| load_update(t, s, i, d, byte),
        Mnemonic::Lbzx => |t, s, i| load(t, s, i, x, byte),
        Mnemonic::Lbzux => |t, s, i| load_update(t, s, i, x, byte),
        Mnemonic::Lhz => |t, s, i| load(t, s, i, d, halfword),
        Mnemonic::Lhzu => |t, s, i| load_update(t, s, i, d, halfword),
        Mnemonic::Lhzx => |t, s, i| load(t, s, i, x, halfword),
        Mnemonic::Lhzux => |t, s, i| load_update(t, s, i, x, halfword),
        Mnemonic::Lha => |t, s, i| load(t, s, i, d, halfword_algebraic),
        Mnemonic::Lhau => |t, s, i| load_update(t, s, i, d, halfword_algebraic),
        Mnemonic::Lhax => |t, s, i| load(t, s, i, x, halfword_algebraic),
        Mnemonic::Lhaux => |t, s, i| load_update(t, s, i, x, halfword_algebraic),
        Mnemonic::Lwz => |t, s, i| load(t, s, i, d, word),
        Mnemonic::Lwzu => |t, s, i| load_update(t, s, i, d, word),
        Mnemonic::Lwzx => |t, s, i| load(t, s, i, x, word),
        Mnemonic::Lwzux => |t, s, i| load_update(t, s, i, x, word),
        Mnemonic::Lwa => |t, s, i| load(t, s, i, ds, word_algebraic),
        Mnemonic::Lwax => |t, s, i| load(t, s, i, x, word_algebraic),
        Mnemonic::Lwaux => |t, s, i| load_update(t, s, i, x, word_algebraic),
        Mnemonic::Ld => |t, s, i| load(t, s, i, ds, doubleword),
        Mnemonic::Ldu => |t, s, i| load_update(t, s, i, ds, doubleword),
        Mnemonic::Ldx => |t, s, i| load(t, s, i, x, doubleword),
        Mnemonic::Ldux => |t, s, i| load_update(t, s, i, x, doubleword),
        Mnemonic::Lhbrx => |t, s, i| load(t, s, i, x, halfword_reversed),
        Mnemonic::Lwbrx => |t, s, i| load(t, s, i, x, word_reversed),
        Mnemonic::Ldbrx => |t, s, i| load(t, s, i, x, doubleword_reversed),
        _ => return None,
    })
}

#[inline(always)]
fn load(
    thread: &mut Thread,
    shared: &mut Shared,
    i: Word,
    address: impl Fn(&Thread, Word) -> EffectiveAddress,
    value: impl Fn(&mut Thread, &mut Shared, EffectiveAddress) -> Result<u64, Trap>,
) -> Outcome {
    let address = address(thread, i);
    thread.gpr[i.rt()] = value(thread, shared, address)?;
    Ok(Flow::Next)
}

/// A load that leaves its address in RA.
#[inline(always)]
fn load_update(
    thread: &mut Thread,
    shared: &mut Shared,
    i: Word,
    address: impl Fn(&Thread, Word) -> EffectiveAddress,
    value: impl Fn(&mut Thread, &mut Shared, EffectiveAddress) -> Result<u64, Trap>,
) -> Outcome {
    let address = address(thread, i);
    thread.gpr[i.rt()] = value(thread, shared, address)?;
    thread.gpr[i.ra()] = address.0;
    Ok(Flow::Next)
}

/// How each kind of value is read and brought to the width of a register.
macro_rules! values {
    ($($name:ident = $load:ident $(as $signed:ident)? $(then $change:ident)?;)*) => {
        $(
            #[inline(always)]
            fn $name(t: &mut Thread, s: &mut Shared, at: EffectiveAddress) -> Result<u64, Trap> {
                Ok((t.$load(s, at)? $(as $signed)? $(.$change())?) as u64)
            }
        )*
    };
}

values! {
    byte = load_u8;
    halfword = load_u16;
    halfword_algebraic = load_u16 as i16;
    halfword_reversed = load_u16 then swap_bytes;
    word = load_u32;
    word_algebraic = load_u32 as i32;
    word_reversed = load_u32 then swap_bytes;
    doubleword = load_u64;
    doubleword_reversed = load_u64 then swap_bytes;
}
