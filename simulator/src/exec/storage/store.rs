//! Stores of up to a doubleword.

use arch::address::EffectiveAddress;
use arch::instruction::{Mnemonic, Word};

use super::super::{Handler, Mode, Outcome, stored};
use super::{d, ds, x};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

/// The handler of a store.
pub(super) fn handler(mnemonic: Mnemonic, _: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Stb => |t, s, i| store(t, s, i, d, byte),
        Mnemonic::Stbu => |t, s, i| store_update(t, s, i, d, byte),
        Mnemonic::Stbx => |t, s, i| store(t, s, i, x, byte),
        Mnemonic::Stbux => |t, s, i| store_update(t, s, i, x, byte),
        Mnemonic::Sth => |t, s, i| store(t, s, i, d, halfword),
        Mnemonic::Sthu => |t, s, i| store_update(t, s, i, d, halfword),
        Mnemonic::Sthx => |t, s, i| store(t, s, i, x, halfword),
        Mnemonic::Sthux => |t, s, i| store_update(t, s, i, x, halfword),
        Mnemonic::Stw => |t, s, i| store(t, s, i, d, word),
        Mnemonic::Stwu => |t, s, i| store_update(t, s, i, d, word),
        Mnemonic::Stwx => |t, s, i| store(t, s, i, x, word),
        Mnemonic::Stwux => |t, s, i| store_update(t, s, i, x, word),
        Mnemonic::Std => |t, s, i| store(t, s, i, ds, doubleword),
        Mnemonic::Stdu => |t, s, i| store_update(t, s, i, ds, doubleword),
        Mnemonic::Stdx => |t, s, i| store(t, s, i, x, doubleword),
        Mnemonic::Stdux => |t, s, i| store_update(t, s, i, x, doubleword),
        Mnemonic::Sthbrx => |t, s, i| store(t, s, i, x, halfword_reversed),
        Mnemonic::Stwbrx => |t, s, i| store(t, s, i, x, word_reversed),
        Mnemonic::Stdbrx => |t, s, i| store(t, s, i, x, doubleword_reversed),
        _ => return None,
    })
}

#[inline(always)]
fn store(
    thread: &mut Thread,
    shared: &mut Shared,
    i: Word,
    address: impl Fn(&Thread, Word) -> EffectiveAddress,
    put: impl Fn(&mut Thread, &mut Shared, EffectiveAddress, u64) -> Result<(), Trap>,
) -> Outcome {
    put(thread, shared, address(thread, i), thread.gpr[i.rs()])?;
    stored(shared)
}

/// A store that leaves its address in RA.
#[inline(always)]
fn store_update(
    thread: &mut Thread,
    shared: &mut Shared,
    i: Word,
    address: impl Fn(&Thread, Word) -> EffectiveAddress,
    put: impl Fn(&mut Thread, &mut Shared, EffectiveAddress, u64) -> Result<(), Trap>,
) -> Outcome {
    let address = address(thread, i);
    put(thread, shared, address, thread.gpr[i.rs()])?;
    thread.gpr[i.ra()] = address.0;
    stored(shared)
}

/// How each kind of value is taken out of a register and written.
macro_rules! values {
    ($($name:ident = $store:ident $type:ident $($change:ident)?;)*) => {
        $(
            #[inline(always)]
            fn $name(
                thread: &mut Thread,
                shared: &mut Shared,
                address: EffectiveAddress,
                value: u64,
            ) -> Result<(), Trap> {
                thread.$store(shared, address, (value as $type)$(.$change())?)
            }
        )*
    };
}

values! {
    byte = store_u8 u8;
    halfword = store_u16 u16;
    halfword_reversed = store_u16 u16 swap_bytes;
    word = store_u32 u32;
    word_reversed = store_u32 u32 swap_bytes;
    doubleword = store_u64 u64;
    doubleword_reversed = store_u64 u64 swap_bytes;
}
