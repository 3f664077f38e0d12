//! What KVM moved at each entry and exit of a radix guest before its optimisation, moved here for a vCPU that
//! goes on: what that costs on the same machine. `docs/facts/kvm-exit.md#registers-of-an-exit` has the list.
//! What a patch ended can be left out, by its [`Excess`]. The order is KVM's, as in `exit_ladder.S` of the
//! micro-benchmarks.
//!
//! TEXASR, TFHAR and TFIAR are moved though no guest has transactions: they hold zero. Not moved: PCR and
//! TBU40, which KVM wrote for a partition with an older processor or another time base only; and XIVE's
//! context, which this hypervisor does not use. The registers of KVM's host hold what they held, or zero, as
//! nobody has other values.

use core::arch::asm;

use arch::excess::{Excess, Excesses};
use arch::registers::{msr, psscr};
use hypervisor_core::facilities::{Demanded, Monitor, NOTHING};
use hypervisor_core::partition::Common;
use hypervisor_core::vcpu::registers::{Registers, Supervisor};

use super::core_registers::LONGEST_STAY;
use super::facilities::{Moves, load_monitor};
use super::residents::set_virtual_time;
use crate::host_state::HOST_LPCR;
use crate::host_state::HOST_MSR;
use crate::host_state::per_cpu::{THREADS_MAX, own_index};
use crate::invalidation::await_invalidations;
use crate::invalidation::clear_segments;
use crate::registers::{isync, ptesync, read, spr, write};
use crate::single::Single;

unsafe extern "C" {
    fn hal_save_floating_on(into: *mut Demanded);
    fn hal_load_floating_on(from: *const Demanded);
    fn hal_save_vectors_on(into: *mut Demanded);
    fn hal_load_vectors_on(from: *const Demanded);
}

/// By hardware thread, the registers of facilities on demand, which the vCPU does not use, while they are out of the
/// processor.
static ASIDE: [Single<Demanded>; THREADS_MAX] =
    [const { Single::new(Demanded::UNUSED) }; THREADS_MAX];

/// Sets facilities in MSR.
///
/// # Safety
/// `facilities` are some of FP, VEC, VSX and TM.
unsafe fn enable(facilities: u64) {
    // SAFETY: the caller's promise. The hypervisor uses none of them.
    unsafe { asm!("mtmsrd {}, 0", in(reg) HOST_MSR | facilities, options(nostack)) };
}

const ALL_FACILITIES: u64 = msr::FP | msr::VEC | msr::VSX | msr::TM;

/// Writes a register that holds `held`, if it is to hold another value.
macro_rules! put_other {
    ($register:ident, $held:expr, $value:expr) => {{
        let value: u64 = $value;
        if $held != value {
            write::<{ spr::$register }>(value);
        }
    }};
}

/// The same, or writes it in any case.
macro_rules! put {
    ($without:ident, $register:ident, $held:expr, $value:expr) => {{
        if $without.has(Excess::Unchanged) {
            put_other!($register, $held, $value);
        } else {
            write::<{ spr::$register }>($value);
        }
    }};
}

/// The registers that change what an address means, with KVM's barriers.
///
/// # Safety
/// Only while no guest runs on this thread; `lpcr` is the hypervisor's or a partition's.
unsafe fn switch_context(lpid: u64, lpcr: u64, pid: u64, without: Excesses) {
    let between = || {
        if !without.has(Excess::Context) {
            isync();
        }
    };
    if without.has(Excess::Context) {
        // Stores of one partition must not drain under the LPID of another.
        ptesync();
    }
    isync();
    // SAFETY: quadrant 3, where the hypervisor is, implies LPID 0 and PID 0.
    unsafe {
        write::<{ spr::LPIDR }>(lpid);
        between();
        write::<{ spr::LPCR }>(lpcr);
        between();
        write::<{ spr::PIDR }>(pid);
        between();
    }
}

/// Reads the time base for something that `excess` is.
fn time(excess: Excess, without: Excesses) {
    if !without.has(excess) {
        read::<{ spr::TB }>();
    }
}

/// Reads what counts.
fn read_counters(into: &mut Supervisor) {
    into.purr = read::<{ spr::PURR }>();
    into.spurr = read::<{ spr::SPURR }>();
}

/// Writes the host's counters, which are the guest's.
///
/// # Safety
/// `from` has what [`read_counters`] read.
unsafe fn write_counters(from: &Supervisor) {
    // SAFETY: the caller's promise.
    unsafe {
        write::<{ spr::PURR }>(from.purr);
        write::<{ spr::SPURR }>(from.spurr);
    }
}

fn read_between(into: &mut Supervisor) {
    into.ic = read::<{ spr::IC }>();
    into.pidr = read::<{ spr::PIDR }>();
    into.psscr = read::<{ spr::PSSCR }>() & (psscr::PRIVILEGED | psscr::WITHHELD);
    into.sprg0 = read::<{ spr::SPRG0 }>();
    into.sprg1 = read::<{ spr::SPRG1 }>();
    into.sprg2 = read::<{ spr::SPRG2 }>();
    into.sprg3 = read::<{ spr::SPRG3 }>();
}

fn read_last(into: &mut Supervisor) {
    read::<{ spr::DPDES }>();
    into.vtb = read::<{ spr::VTB }>();
}

/// Writes the host's values of registers that concern the guest's run.
///
/// # Safety
/// [`load`] follows.
unsafe fn write_host(without: Excesses) {
    // SAFETY: the caller's promise.
    unsafe {
        if !without.has(Excess::Psscr) {
            write::<{ spr::PSSCR }>(0);
        }
        write::<{ spr::HFSCR }>(NOTHING);
        if !without.has(Excess::Seldom) {
            write::<{ spr::CIABR }>(0);
            write::<{ spr::DAWR0 }>(0);
            write::<{ spr::DAWRX0 }>(0);
        }
    }
}

/// Copies all of it out of the processor, but for what is left out; the time base meanwhile.
pub(super) fn save(into: &mut Registers, common: Common, without: Excesses) -> u64 {
    let moves = |excess| !without.has(excess);
    let supervisor = &mut into.supervisor;
    // SAFETY: the hypervisor uses none of these registers, and `load` follows. What is put aside is this thread's own.
    unsafe {
        let aside = &mut *ASIDE[own_index()].get();
        supervisor.srr0 = read::<{ spr::SRR0 }>();
        supervisor.srr1 = read::<{ spr::SRR1 }>();
        supervisor.dar = read::<{ spr::DAR }>();
        supervisor.dsisr = read::<{ spr::DSISR }>();
        read_counters(supervisor);
        if moves(Excess::Interleaved) {
            write_counters(supervisor);
            read_between(supervisor);
            write_host(without);
            read_last(supervisor);
        } else {
            read_between(supervisor);
            read_last(supervisor);
            write_counters(supervisor);
            write_host(without);
        }
        if moves(Excess::Seldom) {
            write::<{ spr::DPDES }>(0);
        }
        // The hypervisor's LPCR makes it narrower.
        let left = read::<{ spr::DEC }>();
        time(Excess::TimerReads, without);
        let now = read::<{ spr::TB }>();
        // It is written later.
        set_virtual_time(supervisor.vtb, now);
        supervisor.decrementer_expires =
            left.wrapping_add(now).wrapping_add(common.timebase_offset);
        clear_segments();
        switch_context(0, HOST_LPCR, 0, without);
        write::<{ spr::HDEC }>(0x7FFF_FFFF);
        enable(ALL_FACILITIES);
        aside.target.tar = read::<{ spr::TAR }>();
        if moves(Excess::Wort) {
            read::<{ spr::WORT }>();
        }
        supervisor.tidr = read::<{ spr::TIDR }>();
        supervisor.iamr = read::<{ spr::IAMR }>();
        supervisor.amr = read::<{ spr::AMR }>();
        supervisor.uamor = read::<{ spr::UAMOR }>();
        supervisor.fscr = read::<{ spr::FSCR }>();
        aside.streams.dscr = read::<{ spr::DSCR }>();
        supervisor.pspb = read::<{ spr::PSPB }>();
        supervisor.ppr = read::<{ spr::PPR }>();
        if moves(Excess::EbbTm) {
            aside.branches = Moves::read();
            read::<{ spr::TFHAR }>();
            read::<{ spr::TFIAR }>();
            read::<{ spr::TEXASR }>();
        }
        supervisor.ctrl = read::<{ spr::CTRL_READ }>();
        write::<{ spr::CTRL_WRITE }>(1);
        put!(without, PSPB, supervisor.pspb, 0);
        put!(without, UAMOR, supervisor.uamor, 0);
        put!(without, DSCR, aside.streams.dscr, 0);
        put!(without, IAMR, supervisor.iamr, 0);
        put_other!(AMR, supervisor.amr, 0);
        put_other!(FSCR, supervisor.fscr, 0);
        write::<{ spr::TIDR }>(0);
        if moves(Excess::Wort) {
            write::<{ spr::WORT }>(0);
        }
        write::<{ spr::SPRG3 }>(0);
        hal_save_floating_on(aside);
        hal_save_vectors_on(aside);
        if moves(Excess::Vrsave) {
            supervisor.vrsave = read::<{ spr::VRSAVE }>();
        }
        if moves(Excess::MonitorForced) {
            aside.monitor = Moves::read();
            isync();
        }
        if moves(Excess::Monitor) {
            load_monitor(&Demanded::UNUSED.monitor);
            isync();
        }
        write::<{ spr::DEC }>(now);
        time(Excess::AccountReads, without);
        if moves(Excess::Tlbsync) {
            await_invalidations();
        }
        now
    }
}

/// Copies all of that into the processor.
pub(super) fn load(from: &Registers, common: Common, until: u64, without: Excesses) {
    let moves = |excess| !without.has(excess);
    let supervisor = &from.supervisor;
    // SAFETY: as for `save`; the values are the vCPU's.
    unsafe {
        let aside = &*ASIDE[own_index()].get();
        time(Excess::AccountReads, without);
        time(Excess::AccountReads, without);
        read::<{ spr::DEC }>();
        if moves(Excess::Monitor) {
            core::hint::black_box(Monitor::read());
            isync();
            load_monitor(&aside.monitor);
            isync();
        }
        if moves(Excess::Enables) {
            enable(msr::FP);
            enable(msr::FP | msr::VEC);
        }
        enable(ALL_FACILITIES);
        put!(without, DSCR, 0, aside.streams.dscr);
        put!(without, IAMR, 0, supervisor.iamr);
        put!(without, PSPB, 0, supervisor.pspb);
        put!(without, FSCR, 0, supervisor.fscr);
        write::<{ spr::TAR }>(aside.target.tar);
        if moves(Excess::EbbTm) {
            write::<{ spr::TFHAR }>(0);
            write::<{ spr::TFIAR }>(0);
            write::<{ spr::TEXASR }>(0);
            aside.branches.write();
        }
        if moves(Excess::Wort) {
            write::<{ spr::WORT }>(0);
        }
        write::<{ spr::TIDR }>(supervisor.tidr);
        put!(without, AMR, 0, supervisor.amr);
        put!(without, UAMOR, 0, supervisor.uamor);
        if moves(Excess::Amor) {
            write::<{ spr::AMOR }>(u64::MAX);
        }
        read::<{ spr::CTRL_READ }>();
        write::<{ spr::CTRL_WRITE }>(supervisor.ctrl);
        write::<{ spr::PPR }>(supervisor.ppr);
        hal_load_floating_on(aside);
        hal_load_vectors_on(aside);
        if moves(Excess::Vrsave) {
            write::<{ spr::VRSAVE }>(supervisor.vrsave);
        }
        time(Excess::TimerReads, without);
        read::<{ spr::HFSCR }>();
        read::<{ spr::CIABR }>();
        if moves(Excess::Seldom) {
            read::<{ spr::DAWR0 }>();
            read::<{ spr::DAWRX0 }>();
        }
        read::<{ spr::PSSCR }>();
        read::<{ spr::PIDR }>();
        let mut host = Supervisor::ZERO;
        if !moves(Excess::Interleaved) {
            read_counters(&mut host);
        }
        time(Excess::AccountReads, without);
        time(Excess::TimerReads, without);
        if moves(Excess::Seldom) {
            write::<{ spr::DPDES }>(0);
        }
        write::<{ spr::VTB }>(supervisor.vtb);
        if moves(Excess::Interleaved) {
            read_counters(&mut host);
        }
        core::hint::black_box(&host);
        write_counters(supervisor);
        if moves(Excess::Seldom) {
            write::<{ spr::DAWR0 }>(0);
            write::<{ spr::DAWRX0 }>(0);
            write::<{ spr::CIABR }>(0);
            write::<{ spr::IC }>(supervisor.ic);
        }
        if moves(Excess::Psscr) {
            write::<{ spr::PSSCR }>(supervisor.psscr);
        }
        write::<{ spr::HFSCR }>(NOTHING);
        write::<{ spr::HSRR0 }>(from.pc);
        write::<{ spr::HSRR1 }>(from.msr);
        if moves(Excess::Canary) {
            write::<{ spr::HDSISR }>(0x7FFF);
        }
        write::<{ spr::SPRG0 }>(supervisor.sprg0);
        write::<{ spr::SPRG1 }>(supervisor.sprg1);
        write::<{ spr::SPRG2 }>(supervisor.sprg2);
        write::<{ spr::SPRG3 }>(supervisor.sprg3);
        switch_context(u64::from(common.lpid), common.lpcr, supervisor.pidr, without);
        let now = read::<{ spr::TB }>();
        write::<{ spr::HDEC }>(until.saturating_sub(now).clamp(1, LONGEST_STAY));
        let expires = supervisor.decrementer_expires;
        write::<{ spr::DEC }>(expires.wrapping_sub(now.wrapping_add(common.timebase_offset)));
        write::<{ spr::DAR }>(supervisor.dar);
        write::<{ spr::DSISR }>(supervisor.dsisr);
        write::<{ spr::SRR0 }>(supervisor.srr0);
        write::<{ spr::SRR1 }>(supervisor.srr1);
    }
}
