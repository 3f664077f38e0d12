//! Loads of up to a doubleword.

use arch::address::EffectiveAddress;
use arch::instruction::{Mnemonic, Word};

use super::super::{Flow, Handler, Mode, Outcome};
use super::{d, ds, x};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Trap;

/// The handler of a load.
pub(super) fn handler(mnemonic: Mnemonic, _: Word, _: Mode) -> Option<Handler> {
    Some(match mnemonic {
        Mnemonic::Lbz => |t, s, i| load::<Byte>(t, s, i, d),
        Mnemonic::Lbzu => |t, s, i| load_update::<Byte>(t, s, i, d),
        Mnemonic::Lbzx => |t, s, i| load::<Byte>(t, s, i, x),
        Mnemonic::Lbzux => |t, s, i| load_update::<Byte>(t, s, i, x),
        Mnemonic::Lhz => |t, s, i| load::<Halfword>(t, s, i, d),
        Mnemonic::Lhzu => |t, s, i| load_update::<Halfword>(t, s, i, d),
        Mnemonic::Lhzx => |t, s, i| load::<Halfword>(t, s, i, x),
        Mnemonic::Lhzux => |t, s, i| load_update::<Halfword>(t, s, i, x),
        Mnemonic::Lha => |t, s, i| load::<HalfwordAlgebraic>(t, s, i, d),
        Mnemonic::Lhau => |t, s, i| load_update::<HalfwordAlgebraic>(t, s, i, d),
        Mnemonic::Lhax => |t, s, i| load::<HalfwordAlgebraic>(t, s, i, x),
        Mnemonic::Lhaux => |t, s, i| load_update::<HalfwordAlgebraic>(t, s, i, x),
        Mnemonic::Lwz => |t, s, i| load::<WordLogical>(t, s, i, d),
        Mnemonic::Lwzu => |t, s, i| load_update::<WordLogical>(t, s, i, d),
        Mnemonic::Lwzx => |t, s, i| load::<WordLogical>(t, s, i, x),
        Mnemonic::Lwzux => |t, s, i| load_update::<WordLogical>(t, s, i, x),
        Mnemonic::Lwa => |t, s, i| load::<WordAlgebraic>(t, s, i, ds),
        Mnemonic::Lwax => |t, s, i| load::<WordAlgebraic>(t, s, i, x),
        Mnemonic::Lwaux => |t, s, i| load_update::<WordAlgebraic>(t, s, i, x),
        Mnemonic::Ld => |t, s, i| load::<Doubleword>(t, s, i, ds),
        Mnemonic::Ldu => |t, s, i| load_update::<Doubleword>(t, s, i, ds),
        Mnemonic::Ldx => |t, s, i| load::<Doubleword>(t, s, i, x),
        Mnemonic::Ldux => |t, s, i| load_update::<Doubleword>(t, s, i, x),
        Mnemonic::Lhbrx => |t, s, i| load::<HalfwordReversed>(t, s, i, x),
        Mnemonic::Lwbrx => |t, s, i| load::<WordReversed>(t, s, i, x),
        Mnemonic::Ldbrx => |t, s, i| load::<DoublewordReversed>(t, s, i, x),
        _ => return None,
    })
}

#[inline(always)]
fn load<V: Value>(
    thread: &mut Thread,
    shared: &mut Shared,
    i: Word,
    address: impl Fn(&Thread, Word) -> EffectiveAddress,
) -> Outcome {
    let address = address(thread, i);
    let Some(value) = V::quick(thread, shared, address) else {
        return load_slow::<V>(thread, shared, i, address);
    };
    thread.gpr[i.rt()] = value;
    Ok(Flow::Next)
}

/// A load that no shortcut knows. Apart, so that the quick one keeps nothing for after a call.
#[cold]
fn load_slow<V: Value>(
    thread: &mut Thread,
    shared: &mut Shared,
    i: Word,
    address: EffectiveAddress,
) -> Outcome {
    thread.gpr[i.rt()] = V::load(thread, shared, address)?;
    Ok(Flow::Next)
}

/// A load that leaves its address in RA.
#[inline(always)]
fn load_update<V: Value>(
    thread: &mut Thread,
    shared: &mut Shared,
    i: Word,
    address: impl Fn(&Thread, Word) -> EffectiveAddress,
) -> Outcome {
    let address = address(thread, i);
    thread.gpr[i.rt()] = V::load(thread, shared, address)?;
    thread.gpr[i.ra()] = address.0;
    Ok(Flow::Next)
}

/// A kind of value, brought to the width of a register.
trait Value {
    /// The value, if a shortcut knows where it is.
    fn quick(thread: &Thread, shared: &Shared, at: EffectiveAddress) -> Option<u64>;

    /// The value, or the trap.
    fn load(thread: &mut Thread, shared: &mut Shared, at: EffectiveAddress) -> Result<u64, Trap>;
}

macro_rules! values {
    ($($name:ident = $quick:ident $load:ident $(as $signed:ident)? $(then $change:ident)?;)*) => {
        $(
            struct $name;

            impl Value for $name {
                #[inline(always)]
                fn quick(t: &Thread, s: &Shared, at: EffectiveAddress) -> Option<u64> {
                    Some((t.$quick(s, at)? $(as $signed)? $(.$change())?) as u64)
                }

                #[inline(always)]
                fn load(t: &mut Thread, s: &mut Shared, at: EffectiveAddress) -> Result<u64, Trap> {
                    Ok((t.$load(s, at)? $(as $signed)? $(.$change())?) as u64)
                }
            }
        )*
    };
}

values! {
    Byte = quick_u8 load_u8;
    Halfword = quick_u16 load_u16;
    HalfwordAlgebraic = quick_u16 load_u16 as i16;
    HalfwordReversed = quick_u16 load_u16 then swap_bytes;
    WordLogical = quick_u32 load_u32;
    WordAlgebraic = quick_u32 load_u32 as i32;
    WordReversed = quick_u32 load_u32 then swap_bytes;
    Doubleword = quick_u64 load_u64;
    DoublewordReversed = quick_u64 load_u64 then swap_bytes;
}
