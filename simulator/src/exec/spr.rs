//! `mfspr`, `mtspr` and `mftb`: what reading and writing each special-purpose register does.
//!
//! Presence, privilege and width come from the table in `arch`; here is what a register does beyond
//! keeping its value. A value that would switch something on that is not modelled stops the machine.

use arch::bits::Field;
use arch::instruction::{Mnemonic, Word};
use arch::interrupt::program;
use arch::registers::hfscr::Facility;
use arch::registers::spr::{Access, Scope, Spr, SprRow};
use arch::registers::{bescr, lpcr, msr, psscr, xer};

use super::{Flow, Handler, Mode, Outcome, facility, hypervisor_privileged, message, monitor};
use crate::interrupt::decrementers::{
    decrementer, hypervisor_decrementer, set_hypervisor_decrementer,
};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::{StopReason, Trap};

/// The handler of a move from or to a special-purpose register.
pub fn handler(mnemonic: Mnemonic, i: Word, _: Mode) -> Option<Handler> {
    Some(match (mnemonic, i.spr()) {
        (Mnemonic::Mfspr, LR) => |t, _, i| put(t, i, t.lr),
        (Mnemonic::Mfspr, CTR) => |t, _, i| put(t, i, t.ctr),
        (Mnemonic::Mfspr | Mnemonic::Mftb, _) => mfspr,
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

const LR: u16 = 8;
const CTR: u16 = 9;
/// Numbers through which a part of a register is reached.
const TBU: u16 = 269;
const TBL_WRITE: u16 = 284;
const TBU_WRITE: u16 = 285;
const TBU40: u16 = 286;
const GUEST_PSSCR: u16 = 823;
const PPR32: u16 = 898;
const TEXASRU: u16 = 131;
const BESCRS: u16 = 800;
const BESCRSU: u16 = 801;
const BESCRR: u16 = 802;
const BESCRRU: u16 = 803;

fn put(thread: &mut Thread, i: Word, value: u64) -> Outcome {
    thread.gpr[i.rt()] = value;
    Ok(Flow::Next)
}

/// The row for the instruction's number, if the thread's state may use it in this direction; `None` where
/// the access does nothing.
fn find(
    thread: &mut Thread,
    shared: &Shared,
    i: Word,
    is_write: bool,
) -> Result<Option<&'static SprRow>, Trap> {
    let number = i.spr();
    let row = SprRow::find(number, shared.processor);
    let access = row.map_or(Access::None, |row| if is_write { row.write } else { row.read });
    match (row, access) {
        (Some(row), Access::Problem) => Ok(Some(row)),
        (Some(row), Access::Privileged) if !thread.is_problem() => Ok(Some(row)),
        (Some(row), Access::Hypervisor) if thread.is_hypervisor() => Ok(Some(row)),
        (Some(_), Access::Hypervisor) if !thread.is_problem() => {
            Err(hypervisor_privileged(thread, i))
        }
        _ => without_register(thread, i, is_write).map(|()| None),
    }
}

/// An access to a number that has no register, or none for this direction: Power ISA 3.0B Book III, Move
/// To and From System Register Instructions, as QEMU reads it; what LPCR\[EVIRT\] does is from the name
/// of the bit, Enhanced Virtualization, alone. In hypervisor state the no-operation stops the machine.
fn without_register(thread: &mut Thread, i: Word, is_write: bool) -> Result<(), Trap> {
    let number = i.spr();
    if RESERVED_NUMBERS.contains(&number) {
        return Ok(());
    }
    if thread.is_problem() && number & PRIVILEGED_NUMBER != 0 {
        return Err(thread.program_interrupt(program::PRIVILEGED));
    }
    let is_never_nothing = number == 0 || !is_write && matches!(number, 4..=6);
    let is_virtualized = !thread.is_hypervisor() && thread.spr(Spr::Lpcr) & lpcr::EVIRT != 0;
    if thread.is_problem() || is_never_nothing || is_virtualized {
        return Err(thread.emulation_assistance(i));
    }
    if thread.is_hypervisor() {
        return Err(thread.stop(StopReason::NoSuchSpr { number, is_write }));
    }
    Ok(())
}

/// Numbers that ISA 2.07 set aside for later registers, and that do nothing to any state until then. Source:
/// QEMU.
const RESERVED_NUMBERS: std::ops::RangeInclusive<u16> = 808..=811;
/// Numbers with this bit are for privileged software.
const PRIVILEGED_NUMBER: u16 = 0x10;

fn mfspr(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    let Some(row) = find(thread, shared, i, false)? else { return Ok(Flow::Next) };
    require_facility(thread, shared, row, i, false)?;
    if matches!(row.spr, Spr::Tb | Spr::Dec | Spr::Hdec | Spr::Purr | Spr::Spurr | Spr::Vtb) {
        shared.show_time(thread);
    }
    let timebase = || shared.timebase(thread);
    let value = match row.spr {
        Spr::Xer => thread.xer,
        Spr::Tb if row.number == TBU => timebase() >> 32,
        Spr::Dec if thread.has_large_decrementer() => {
            decrementer(thread, shared, timebase()) as u64
        }
        Spr::Dec => decrementer(thread, shared, timebase()) as u64 & 0xFFFF_FFFF,
        Spr::Hdec => hypervisor_decrementer(thread, shared, timebase()) as u64,
        Spr::Ppr if row.number == PPR32 => thread.spr(Spr::Ppr) >> 32,
        Spr::Psscr if row.number == GUEST_PSSCR => guest_psscr(thread),
        Spr::Dpdes => message::dpdes(thread, shared),
        Spr::Bescr if matches!(row.number, BESCRSU | BESCRRU) => thread.spr(Spr::Bescr) >> 32,
        Spr::Tir => message::tir(thread, shared),
        Spr::Texasr if row.number == TEXASRU => thread.spr(Spr::Texasr) >> 32,
        // Only writes do something.
        Spr::Trig1 | Spr::Trig2 => return Ok(Flow::Next),
        // What they show is not modelled either.
        Spr::Sprc | Spr::Sprd | Spr::Tfmr | Spr::Imc => {
            return Err(thread.stop(StopReason::RegisterNotModelled(row.name)));
        }
        Spr::Mmcr0 | Spr::Mmcr2 => thread.spr(row.spr) & monitor::visible(row),
        spr => counted(thread, shared, spr),
    };
    put(thread, i, value)
}

/// What a register holds now, those that count with the time or with the instructions included.
#[must_use]
pub fn counted(thread: &Thread, shared: &Shared, spr: Spr) -> u64 {
    let timebase = || shared.timebase(thread);
    match spr {
        Spr::Tb => timebase(),
        // These count as the time base does, from where they were set.
        Spr::Purr | Spr::Spurr | Spr::Vtb => timebase().wrapping_add(stored(thread, shared, spr)),
        Spr::Ic => thread.completed_now().wrapping_add(thread.spr(Spr::Ic)),
        spr => stored(thread, shared, spr),
    }
}

/// What a register keeps, without any effect of reading it.
#[must_use]
pub fn stored(thread: &Thread, shared: &Shared, spr: Spr) -> u64 {
    match spr.row().scope {
        scope if shared.is_of_thread(scope) => thread.spr(spr),
        Scope::Chip => spr.reset(shared.processor),
        _ => shared.cores[thread.core].spr(spr),
    }
}

/// Changes what a register keeps, without any effect of writing it: `false` if nothing keeps it.
pub fn store(thread: &mut Thread, shared: &mut Shared, spr: Spr, value: u64) -> bool {
    match spr.row().scope {
        scope if shared.is_of_thread(scope) => thread.set_spr(spr, value),
        Scope::Chip => return false,
        _ => shared.cores[thread.core].set_spr(spr, value),
    }
    true
}

/// What a guest sees of PSSCR (`docs/facts/special-registers.md#psscr`); SD hides the level that was reached.
fn guest_psscr(thread: &Thread) -> u64 {
    let value = thread.spr(Spr::Psscr);
    let hidden = if value & psscr::SD != 0 { psscr::PLS.mask() } else { 0 };
    value & psscr::PRIVILEGED & !hidden
}

/// Bits 0:39 of the time base, which TBU40 replaces.
const TIMEBASE_UPPER_40: Field = Field::new(0, 39);

fn mtspr(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    let Some(row) = find(thread, shared, i, true)? else { return Ok(Flow::Next) };
    require_facility(thread, shared, row, i, true)?;
    let value = thread.gpr[i.rs()] & row.mask();
    match row.spr {
        Spr::Xer => thread.xer = value & xer::MASK,
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
            let core = &mut shared.cores[thread.core];
            core.timebase_offset = core.timebase_offset.wrapping_add(new.wrapping_sub(timebase));
            // The timers of threads that wait on this core are due at another cycle now.
            shared.call_attention();
        }
        Spr::Hdec => set_hypervisor_decrementer(thread, shared, value),
        Spr::Dec => {
            let timebase = shared.timebase(thread);
            thread.set_spr(row.spr, value.wrapping_add(timebase));
        }
        Spr::Purr | Spr::Spurr => {
            let timebase = shared.timebase(thread);
            thread.set_spr(row.spr, value.wrapping_sub(timebase));
        }
        Spr::Vtb => {
            let timebase = shared.timebase(thread);
            store(thread, shared, Spr::Vtb, value.wrapping_sub(timebase));
        }
        Spr::Ic => thread.set_spr(Spr::Ic, value.wrapping_sub(thread.completed_now())),
        Spr::Dpdes => message::set_dpdes(thread, shared, value),
        Spr::Texasr if row.number == TEXASRU => {
            let lower = thread.spr(Spr::Texasr) & 0xFFFF_FFFF;
            thread.set_spr(Spr::Texasr, value << 32 | lower);
        }
        Spr::Sprc | Spr::Sprd | Spr::Tfmr | Spr::Imc | Spr::L2qosr => {
            return Err(thread.stop(StopReason::RegisterNotModelled(row.name)));
        }
        // They change no register and no storage: TRIG2 empties the L1 data cache.
        Spr::Trig1 | Spr::Trig2 => {}
        // The clock has one frequency, as PMSR says: what is asked for is kept and not granted.
        Spr::Pmcr => {
            let version = Spr::Pmcr.reset(shared.processor);
            store(thread, shared, Spr::Pmcr, value & PMCR_LOWER_STATE.mask() | version);
        }
        Spr::Bescr => {
            let old = thread.spr(Spr::Bescr);
            let new = match row.number {
                BESCRS => old | value,
                BESCRSU => old | value << 32,
                BESCRR => old & !value,
                BESCRRU => old & !(value << 32),
                _ => value,
            };
            // Load monitoring is not in POWER9: its bits are not kept.
            thread.set_spr(Spr::Bescr, new & bescr::KEPT);
        }
        spr if monitor::owns(spr) => monitor::write(thread, row, value)?,
        Spr::Lpcr => thread.set_spr(Spr::Lpcr, value & shared.processor.facts().lpcr),
        Spr::Psscr if row.number == GUEST_PSSCR => {
            let kept = thread.spr(Spr::Psscr) & !psscr::PRIVILEGED;
            thread.set_spr(Spr::Psscr, kept | value & psscr::PRIVILEGED);
        }
        // A problem-state program sets AMR only where UAMOR lets it, a guest only where AMOR does.
        Spr::Amr | Spr::Iamr | Spr::Uamor => {
            let writable = key_mask(thread, row);
            let old = thread.spr(row.spr);
            thread.set_spr(row.spr, old & !writable | value & writable);
        }
        Spr::Ppr => {
            let value = if row.number == PPR32 { value << 32 } else { value };
            if may_set_priority(thread, PPR_PRIORITY.get(value)) {
                thread.set_spr(Spr::Ppr, value & PPR_PRIORITY.mask());
            }
        }
        // What is written can only clear causes.
        Spr::Hmer => thread.set_spr(Spr::Hmer, thread.spr(Spr::Hmer) & value),
        // POWER9 has no such register: the number reads as zero (`docs/facts/special-registers.md#wort`).
        Spr::Wort => {}
        // Software sets the reserved bits too (Linux's PCR_MASK); they read as zero.
        Spr::Pcr => {
            let value = value & shared.processor.facts().pcr;
            refuse_unmodelled(thread, Spr::Pcr, value)?;
            thread.set_spr(Spr::Pcr, value);
        }
        spr => {
            refuse_unmodelled(thread, spr, value)?;
            let is_kept = store(thread, shared, spr, value);
            debug_assert!(is_kept, "no chip-scope register but the time base is written");
        }
    }
    if row.spr == Spr::Hmeer {
        // It is the whole core's: a thread that waits may have something to wake for.
        shared.call_attention();
    }
    Ok(if synchronizes(row.spr) { Flow::Synchronize } else { Flow::Next })
}

/// Whether translation, decoded instructions, tracing or pending interrupts depend on the register.
/// What else reads a register reads it when it needs it.
fn synchronizes(spr: Spr) -> bool {
    let is_translation = matches!(
        spr,
        Spr::Lpcr | Spr::Lpidr | Spr::Pidr | Spr::Amr | Spr::Iamr | Spr::Hrmor | Spr::Ptcr
    );
    let is_facility = matches!(spr, Spr::Hfscr | Spr::Fscr | Spr::Pcr);
    let is_trace = matches!(spr, Spr::Ciabr | Spr::Dawr0 | Spr::Dawrx0);
    let is_interrupt =
        matches!(spr, Spr::Dec | Spr::Hdec | Spr::Tb | Spr::Dpdes | Spr::Hmer | Spr::Hmeer);
    let is_event = spr == Spr::Bescr || monitor::owns(spr);
    is_translation || is_facility || is_trace || is_interrupt || is_event
}

/// The performance state that PMCR asks for. Of the others its version stays, and the rest reads as zero.
const PMCR_LOWER_STATE: Field = Field::new(8, 15);

/// Program priority, the only field of PPR.
const PPR_PRIORITY: Field = Field::new(11, 13);

/// Whether the thread's state may set the program priority; a value that it may not set is ignored.
/// Problem state gets medium high only while PSPB counts down, which it never does here.
fn may_set_priority(thread: &Thread, priority: u64) -> bool {
    match priority {
        2..=4 => true,
        1 | 5 | 6 => !thread.is_problem(),
        7 => thread.is_hypervisor(),
        _ => false,
    }
}

/// The bits of AMR, IAMR or UAMOR that the thread's state may change.
fn key_mask(thread: &Thread, row: &SprRow) -> u64 {
    if thread.is_hypervisor() {
        u64::MAX
    } else if thread.is_problem() {
        thread.spr(Spr::Uamor)
    } else if row.number == PROBLEM_AMR {
        thread.spr(Spr::Uamor) & thread.spr(Spr::Amor)
    } else {
        thread.spr(Spr::Amor)
    }
}

const PROBLEM_AMR: u16 = 13;

/// Refuses values that would switch on what is not modelled. All of these registers are the hypervisor's alone, so that
/// no partition stops the machine.
fn refuse_unmodelled(thread: &mut Thread, spr: Spr, value: u64) -> Result<(), Trap> {
    let what = match spr {
        Spr::Pcr if value != 0 => "an older compatibility level",
        Spr::Mmcrc if value != 0 => "the core's own performance monitor",
        Spr::Ldbar if value != 0 => "collecting of events in memory",
        _ => return Ok(()),
    };
    Err(thread.stop(StopReason::SprNotModelled { register: spr.name(), value, what }))
}

/// Refuses a register whose facility is switched off.
fn require_facility(
    thread: &mut Thread,
    shared: &Shared,
    row: &SprRow,
    i: Word,
    is_write: bool,
) -> Result<(), Trap> {
    let facts = shared.processor.facts();
    let Some(facility) =
        facility::facility_of(row.spr).filter(|facility| facts.switches(*facility))
    else {
        return Ok(());
    };
    facility::require(thread, facility)?;
    match facility {
        Facility::Tm if thread.msr() & msr::TM == 0 => {
            Err(facility::unavailable(thread, Facility::Tm))
        }
        Facility::Pm => monitor::require(thread, row, i, is_write),
        _ => Ok(()),
    }
}
