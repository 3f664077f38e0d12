//! What KVM moved at each entry and exit of a radix guest before its optimisation, moved here for a vCPU that goes on: what that
//! costs on the same machine. `docs/facts/kvm-exit.md#registers-of-an-exit` has the list.
//!
//! Not moved: TEXASR, TFHAR and TFIAR, since transactions are off and MSR\[TM\] with them; WORT, which a POWER9 has not; PCR and
//! TBU40, which KVM wrote for a partition with an older processor or another time base only; and XIVE's context,
//! which this hypervisor does not use. The registers of KVM's host hold what they held, or zero, as nobody has other values.

use arch::registers::psscr;
use hypervisor_core::facilities::{self as given, Demanded};
use hypervisor_core::partition::Common;
use hypervisor_core::vcpu::registers::Registers;

use super::facilities::{
    hal_load_vectors, hal_save_vectors, load_branches, load_monitor, read_monitor,
};
use super::registers::{await_invalidations, clear_segments, isync, read, spr, write};
use super::residents::{DECREMENTER_MAX, hal_load_floating, hal_save_floating};
use super::threads::own_index;
use crate::host_state::per_cpu::THREADS_MAX;
use crate::host_state::power9::HOST_LPCR;
use crate::single::Single;

/// By hardware thread, the registers of facilities on demand, which the vCPU does not use, while they are out of the
/// processor.
static ASIDE: [Single<Demanded>; THREADS_MAX] =
    [const { Single::new(Demanded::UNUSED) }; THREADS_MAX];

/// The registers that change what an address means, with KVM's barriers.
///
/// # Safety
/// Only while no guest runs on this thread; `lpcr` is the hypervisor's or a partition's.
unsafe fn switch_context(lpid: u64, lpcr: u64, pid: u64) {
    // SAFETY: quadrant 3, where the hypervisor is, implies LPID 0 and PID 0.
    unsafe {
        isync();
        write::<{ spr::LPIDR }>(lpid);
        isync();
        write::<{ spr::LPCR }>(lpcr);
        isync();
        write::<{ spr::PIDR }>(pid);
        isync();
    }
}

/// Reads a register and writes zero, its host's value, behind it.
macro_rules! exchange {
    ($register:ident) => {{
        let value = read::<{ spr::$register }>();
        write::<{ spr::$register }>(0);
        value
    }};
}

/// Copies all of it out of the processor; the time base meanwhile.
pub(super) fn save(into: &mut Registers, common: Common) -> u64 {
    let supervisor = &mut into.supervisor;
    // SAFETY: the hypervisor uses none of these registers, and `load` follows. What is put aside is this thread's own.
    unsafe {
        let aside = &mut *ASIDE[own_index()].get();
        aside.monitor = read_monitor();
        load_monitor(&Demanded::UNUSED.monitor);
        supervisor.srr0 = read::<{ spr::SRR0 }>();
        supervisor.srr1 = read::<{ spr::SRR1 }>();
        supervisor.dar = read::<{ spr::DAR }>();
        supervisor.dsisr = read::<{ spr::DSISR }>();
        supervisor.purr = read::<{ spr::PURR }>();
        supervisor.spurr = read::<{ spr::SPURR }>();
        write::<{ spr::PURR }>(supervisor.purr);
        write::<{ spr::SPURR }>(supervisor.spurr);
        supervisor.ic = read::<{ spr::IC }>();
        supervisor.pidr = read::<{ spr::PIDR }>();
        supervisor.psscr = read::<{ spr::PSSCR }>() & psscr::PRIVILEGED;
        supervisor.sprg0 = read::<{ spr::SPRG0 }>();
        supervisor.sprg1 = read::<{ spr::SPRG1 }>();
        supervisor.sprg2 = read::<{ spr::SPRG2 }>();
        supervisor.sprg3 = read::<{ spr::SPRG3 }>();
        supervisor.vtb = read::<{ spr::VTB }>();
        exchange!(DPDES);
        write::<{ spr::PSSCR }>(0);
        write::<{ spr::HFSCR }>(given::ALWAYS);
        exchange!(CIABR);
        exchange!(DAWR0);
        exchange!(DAWRX0);
        let left = read::<{ spr::DEC }>();
        let now = read::<{ spr::TB }>();
        supervisor.decrementer_expires =
            left.wrapping_add(now).wrapping_add(common.timebase_offset);
        clear_segments();
        switch_context(0, HOST_LPCR, 0);
        await_invalidations();
        write::<{ spr::HDEC }>(0x7FFF_FFFF);
        supervisor.tar = read::<{ spr::TAR }>();
        supervisor.ctrl = read::<{ spr::CTRL_READ }>();
        write::<{ spr::CTRL_WRITE }>(1);
        supervisor.ppr = read::<{ spr::PPR }>();
        supervisor.iamr = exchange!(IAMR);
        supervisor.pspb = exchange!(PSPB);
        supervisor.fscr = exchange!(FSCR);
        supervisor.tidr = exchange!(TIDR);
        supervisor.amr = exchange!(AMR);
        supervisor.uamor = exchange!(UAMOR);
        supervisor.dscr = exchange!(DSCR);
        aside.branches =
            [read::<{ spr::BESCR }>(), read::<{ spr::EBBHR }>(), read::<{ spr::EBBRR }>()];
        hal_save_floating(&raw mut into.floating);
        hal_save_vectors(aside);
        supervisor.vrsave = read::<{ spr::VRSAVE }>();
        write::<{ spr::DEC }>(read::<{ spr::TB }>());
        read::<{ spr::TB }>()
    }
}

/// Copies all of it into the processor.
pub(super) fn load(from: &Registers, common: Common, until: u64) {
    let supervisor = &from.supervisor;
    // SAFETY: as for `save`; the values are the vCPU's.
    unsafe {
        let aside = &*ASIDE[own_index()].get();
        let host_monitor = read_monitor();
        load_monitor(&host_monitor);
        read::<{ spr::DEC }>();
        load_branches(&aside.branches);
        hal_load_floating(&raw const from.floating);
        hal_load_vectors(aside);
        write::<{ spr::VRSAVE }>(supervisor.vrsave);
        write::<{ spr::DSCR }>(supervisor.dscr);
        write::<{ spr::IAMR }>(supervisor.iamr);
        write::<{ spr::PSPB }>(supervisor.pspb);
        write::<{ spr::FSCR }>(supervisor.fscr);
        write::<{ spr::TAR }>(supervisor.tar);
        write::<{ spr::TIDR }>(supervisor.tidr);
        write::<{ spr::AMOR }>(u64::MAX);
        write::<{ spr::AMR }>(supervisor.amr);
        write::<{ spr::UAMOR }>(supervisor.uamor);
        read::<{ spr::CTRL_READ }>();
        write::<{ spr::CTRL_WRITE }>(supervisor.ctrl);
        write::<{ spr::PPR }>(supervisor.ppr);
        let host = read::<{ spr::PURR }>().wrapping_add(read::<{ spr::SPURR }>());
        read::<{ spr::TB }>();
        write::<{ spr::VTB }>(supervisor.vtb);
        write::<{ spr::PURR }>(supervisor.purr);
        write::<{ spr::SPURR }>(supervisor.spurr);
        core::hint::black_box(host);
        write::<{ spr::DPDES }>(0);
        write::<{ spr::DAWR0 }>(0);
        write::<{ spr::DAWRX0 }>(0);
        write::<{ spr::CIABR }>(0);
        write::<{ spr::IC }>(supervisor.ic);
        write::<{ spr::PSSCR }>(supervisor.psscr);
        write::<{ spr::HFSCR }>(given::ALWAYS);
        write::<{ spr::HSRR0 }>(from.pc);
        write::<{ spr::HSRR1 }>(from.msr);
        write::<{ spr::HDSISR }>(0x7FFF);
        write::<{ spr::SPRG0 }>(supervisor.sprg0);
        write::<{ spr::SPRG1 }>(supervisor.sprg1);
        write::<{ spr::SPRG2 }>(supervisor.sprg2);
        write::<{ spr::SPRG3 }>(supervisor.sprg3);
        switch_context(u64::from(common.lpid), common.lpcr, supervisor.pidr);
        let now = read::<{ spr::TB }>();
        write::<{ spr::HDEC }>(until.saturating_sub(now).clamp(1, DECREMENTER_MAX));
        let expires = supervisor.decrementer_expires;
        write::<{ spr::DEC }>(expires.wrapping_sub(now.wrapping_add(common.timebase_offset)));
        write::<{ spr::DAR }>(supervisor.dar);
        write::<{ spr::DSISR }>(supervisor.dsisr);
        write::<{ spr::SRR0 }>(supervisor.srr0);
        write::<{ spr::SRR1 }>(supervisor.srr1);
        load_monitor(&aside.monitor);
    }
}
