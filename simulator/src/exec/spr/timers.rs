//! Registers that count: the time base, the decrementers, and those that count with them or with instructions.

use arch::bits::Field;
use arch::registers::spr::{Spr, SprRow};

use super::family::Family;
use super::kept::{counted, store};
use crate::interrupt::decrementers::{
    dec_bits, decrementer, hypervisor_decrementer, set_hypervisor_decrementer, zero_at,
};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::{StopReason, Trap};

pub(super) static FAMILY: Family = Family {
    read,
    write,
    // Timers are looked at anew, and siblings hear of a VTB that they share.
    synchronizes: |_, spr| matches!(spr, Spr::Dec | Spr::Hdec | Spr::Tb | Spr::Vtb),
};

/// Numbers through which a part of the time base is reached.
const TBU: u16 = 269;
const TBL_WRITE: u16 = 284;
const TBU_WRITE: u16 = 285;
const TBU40: u16 = 286;

/// Bits 0:39 of the time base, which TBU40 replaces.
const TIMEBASE_UPPER_40: Field = Field::new(0, 39);

fn read(thread: &mut Thread, shared: &mut Shared, row: &SprRow) -> Result<Option<u64>, Trap> {
    if row.spr != Spr::Ic {
        shared.show_time(thread);
    }
    let ticks = || shared.ticks(thread);
    Ok(Some(match row.spr {
        Spr::Tb if row.number == TBU => shared.timebase(thread) >> 32,
        Spr::Dec => shown(decrementer(thread, shared, ticks()), dec_bits(thread, shared)),
        Spr::Hdec => {
            let bits = shared.processor.facts().decrementer_bits;
            shown(hypervisor_decrementer(thread, shared, ticks()), bits)
        }
        spr => counted(thread, shared, spr),
    }))
}

/// What a read shows of a decrementer: the sign of one of 32 bits is not extended.
fn shown(value: i64, bits: u32) -> u64 {
    if bits == 32 { value as u64 & 0xFFFF_FFFF } else { value as u64 }
}

fn write(thread: &mut Thread, shared: &mut Shared, row: &SprRow, value: u64) -> Result<(), Trap> {
    match row.spr {
        Spr::Tb if shared.split_of(thread.core).is_some() => {
            let what = "a time base of a subcore's own";
            let register = row.name;
            return Err(thread.stop(StopReason::SprNotModelled { register, value, what }));
        }
        Spr::Tb => {
            let timebase = shared.timebase(thread);
            let new = match row.number {
                TBL_WRITE => timebase & !0xFFFF_FFFF | value,
                TBU_WRITE => timebase & 0xFFFF_FFFF | value << 32,
                TBU40 => {
                    let upper = TIMEBASE_UPPER_40.get(value);
                    TIMEBASE_UPPER_40.set(timebase, upper)
                }
                number => unreachable!("the table has no writable time base number {number}"),
            };
            thread.timebase_offset = new.wrapping_sub(shared.ticks(thread));
            shared.tell_siblings(thread, Spr::Tb);
        }
        Spr::Hdec => {
            set_hypervisor_decrementer(thread, shared, value);
            shared.tell_siblings(thread, Spr::Hdec);
        }
        Spr::Dec => {
            let bits = dec_bits(thread, shared);
            thread.set_spr(Spr::Dec, zero_at(thread, shared, value, bits));
        }
        Spr::Ic => thread.set_spr(Spr::Ic, value.wrapping_sub(thread.completed_now())),
        spr => {
            store(thread, shared, spr, value.wrapping_sub(shared.ticks(thread)));
        }
    }
    Ok(())
}
