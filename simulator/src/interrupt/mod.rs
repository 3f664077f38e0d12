//! Interrupts: which one is due, and what taking it does to the registers.
//!
//! Source: `docs/facts/interrupts.md`; Power ISA 3.0B Book III, Interrupts.

pub mod decrementers;
pub mod event;
pub mod wake;

use arch::interrupt::{
    AIL2_BASE, AIL3_BASE, MEDIATED, SCV_AIL3_BASE, SCV_BASE, SYSTEM_RESET_FROM_OUTSIDE,
    SaveRestore, Vector,
};
use arch::registers::hfscr::INTERRUPT_CAUSE;
use arch::registers::spr::Spr;
use arch::registers::{lpcr, monitor, msr};

use decrementers::timers;

use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::Interrupt;

/// Bits of SRR1 and HSRR1 that an interrupt sets by itself instead of copying the MSR: 33:36, 42:47.
pub const STATUS_BITS: u64 = 0x783F_0000;

/// An interrupt was taken: where from and where to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Taken {
    /// Which.
    pub vector: Vector,
    /// The MSR before.
    pub from_msr: u64,
    /// The MSR after.
    pub to_msr: u64,
}

impl Taken {
    /// Whether it took the thread from a partition into the hypervisor.
    #[must_use]
    pub fn is_exit(self) -> bool {
        self.from_msr & msr::HV == 0 && self.to_msr & msr::HV != 0
    }
}

/// Whether the vector always goes to the hypervisor, whatever the state.
fn goes_to_hypervisor(vector: Vector, lpes: bool) -> bool {
    matches!(vector, Vector::SystemReset | Vector::MachineCheck)
        || vector.save_restore_with(lpes) == SaveRestore::Hsrr
}

/// Takes `interrupt`: saves, sets the MSR, and goes to the vector.
pub fn take(thread: &mut Thread, shared: &Shared, interrupt: &Interrupt) -> Taken {
    let lpcr = thread.spr(Spr::Lpcr);
    let from_msr = thread.msr();
    let vector = interrupt.vector;
    let lpes = lpcr & lpcr::LPES != 0;
    let pair = vector.save_restore_with(lpes);
    let to_hypervisor = interrupt.to_hypervisor || goes_to_hypervisor(vector, lpes);
    let enters = to_hypervisor && from_msr & msr::HV == 0;

    let saved = if interrupt.is_after_instruction { thread.nia } else { thread.cia };
    let status = from_msr & !STATUS_BITS | interrupt.status;
    let (address_register, status_register) = match pair {
        SaveRestore::Srr => (Spr::Srr0, Spr::Srr1),
        SaveRestore::Hsrr => (Spr::Hsrr0, Spr::Hsrr1),
    };
    thread.set_spr(address_register, saved);
    thread.set_spr(status_register, status);
    record(thread, interrupt);

    let mut to_msr = msr::SF | from_msr & (msr::HV | msr::ME);
    if to_hypervisor {
        to_msr |= msr::HV;
    }
    if pair == SaveRestore::Hsrr {
        to_msr |= from_msr & msr::RI;
    }
    if vector == Vector::MachineCheck {
        to_msr &= !msr::ME;
    }
    to_msr |= endianness(thread, shared, to_msr);
    let base = match alternate_base(vector, lpcr, from_msr, enters) {
        Some(base) => {
            to_msr |= msr::IR | msr::DR;
            base
        }
        None => 0,
    };
    thread.set_msr(to_msr);
    thread.nia = base + vector.offset();
    thread.cia = thread.nia;
    thread.run_start = thread.nia;
    thread.interrupts += 1;
    thread.time.charge_functional(1);
    if enters {
        thread.remember_exit(vector.offset(), saved);
    }
    Taken { vector, from_msr, to_msr }
}

/// Takes `scv` of this level: LR and CTR save `nia` and the MSR, and EE and RI stay as they are. LPCR\[AIL\]=2
/// keeps relocation on and leaves the address; 3 changes both. Source: QEMU.
pub fn take_vectored_call(thread: &mut Thread, shared: &Shared, level: u64) {
    let lpcr = thread.spr(Spr::Lpcr);
    let from_msr = thread.msr();
    let relocated = msr::IR | msr::DR;
    let (base, relocation) = match alternate_base(Vector::SystemCall, lpcr, from_msr, false) {
        None => (SCV_BASE, 0),
        Some(AIL3_BASE) => (SCV_AIL3_BASE, relocated),
        Some(_) => (SCV_BASE, relocated),
    };
    thread.lr = thread.nia;
    thread.ctr = from_msr & !STATUS_BITS;
    let kept = from_msr & (msr::HV | msr::ME | msr::EE | msr::RI);
    let to_msr = msr::SF | kept | relocation;
    thread.set_msr(to_msr | endianness(thread, shared, to_msr));
    thread.nia = base + 0x20 * level;
}

/// MSR\[LE\] of an interrupt that arrives with `to_msr`.
fn endianness(thread: &Thread, shared: &Shared, to_msr: u64) -> u64 {
    let is_little = if to_msr & msr::HV != 0 {
        let hile = shared.processor.facts().hid0.little_endian;
        shared.cores[thread.core].spr(Spr::Hid0) & hile != 0
    } else {
        thread.spr(Spr::Lpcr) & lpcr::ILE != 0
    };
    if is_little { msr::LE } else { 0 }
}

/// Where the interrupt goes with relocation on, or `None` for real mode.
///
/// On POWER9 an interrupt that enters the hypervisor from a partition keeps relocation on only where
/// the partition uses radix translation.
fn alternate_base(vector: Vector, lpcr: u64, from_msr: u64, enters: bool) -> Option<u64> {
    let never = matches!(
        vector,
        Vector::SystemReset | Vector::MachineCheck | Vector::HypervisorMaintenance
    );
    let relocation = msr::IR | msr::DR;
    if never || from_msr & relocation != relocation || enters && lpcr & lpcr::HR == 0 {
        return None;
    }
    match lpcr::AIL.get(lpcr) {
        2 => Some(AIL2_BASE),
        3 => Some(AIL3_BASE),
        _ => None,
    }
}

/// Writes the registers that describe the interrupt.
fn record(thread: &mut Thread, interrupt: &Interrupt) {
    if let Some(image) = interrupt.image {
        thread.set_spr(Spr::Heir, u64::from(image.0));
    }
    if let Some(facility) = interrupt.facility {
        let register = match interrupt.vector.save_restore() {
            SaveRestore::Hsrr => Spr::Hfscr,
            SaveRestore::Srr => Spr::Fscr,
        };
        let value = INTERRUPT_CAUSE.set(thread.spr(register), facility as u64);
        thread.set_spr(register, value);
    }
    let Some(fault) = interrupt.storage else { return };
    if let Some(asdr) = fault.asdr {
        thread.set_spr(Spr::Asdr, asdr);
    }
    let is_hypervisor = interrupt.vector.save_restore() == SaveRestore::Hsrr;
    let is_data = !matches!(
        interrupt.vector,
        Vector::InstructionStorage
            | Vector::InstructionSegment
            | Vector::HypervisorInstructionStorage
    );
    if is_data {
        let (address, status) =
            if is_hypervisor { (Spr::Hdar, Spr::Hdsisr) } else { (Spr::Dar, Spr::Dsisr) };
        thread.set_spr(address, fault.address.0);
        if let Some(value) = fault.status {
            thread.set_spr(status, value);
        }
    }
}

/// The asynchronous interrupt that the thread must take now, if any, by the architecture's priority. External
/// interrupts of POWER9 are mediated ones, which only a partition takes: LPCR\[HEIC\] finds none to hold back.
#[must_use]
pub fn pending(thread: &mut Thread, shared: &Shared) -> Option<Vector> {
    let timers = timers(thread, shared);
    let signals = shared.signals(thread.index);
    let external = shared.processor.facts().external.vector;
    let is_mediated = thread.msr() & msr::HV == 0 && thread.spr(Spr::Lpcr) & lpcr::MER != 0;
    let is_due = |is_there: bool, vector| is_there && is_enabled(thread, vector);
    if signals.system_reset {
        Some(Vector::SystemReset)
    } else if is_due(needs_maintenance(thread, shared), Vector::HypervisorMaintenance) {
        // Where maintenance stands among these no source at hand says.
        Some(Vector::HypervisorMaintenance)
    } else if is_due(timers.has_hdec_exception, Vector::HypervisorDecrementer) {
        Some(Vector::HypervisorDecrementer)
    } else if signals.external && is_line_enabled(thread, external) {
        Some(external)
    } else if is_due(is_mediated, Vector::External) {
        Some(Vector::External)
    } else if is_due(timers.is_dec_negative, Vector::Decrementer) {
        Some(Vector::Decrementer)
    } else if is_due(signals.privileged_doorbell, Vector::DirectedPrivilegedDoorbell) {
        Some(Vector::DirectedPrivilegedDoorbell)
    } else if is_due(signals.hypervisor_doorbell, Vector::DirectedHypervisorDoorbell) {
        Some(Vector::DirectedHypervisorDoorbell)
    } else if is_due(has_monitor_alert(thread), Vector::PerformanceMonitor) {
        Some(Vector::PerformanceMonitor)
    } else {
        None
    }
}

/// Whether a performance-monitor alert waits for its interrupt, and not for an event-based branch: until software
/// clears MMCR0\[PMAO\].
fn has_monitor_alert(thread: &Thread) -> bool {
    monitor::alerts(thread.spr(Spr::Mmcr0))
}

/// Whether a cause in HMER that HMEER enables waits: until software clears the one or the other.
fn needs_maintenance(thread: &Thread, shared: &Shared) -> bool {
    thread.spr(Spr::Hmer) & shared.cores[thread.core].spr(Spr::Hmeer) != 0
}

/// Whether the thread's state lets an asynchronous interrupt happen: MSR\[EE\], and for some a bit of
/// LPCR. What belongs to the hypervisor interrupts a partition whatever its EE.
#[inline(always)]
fn is_enabled(thread: &Thread, vector: Vector) -> bool {
    let has_ee = thread.msr() & msr::EE != 0;
    let for_hypervisor = has_ee || thread.msr() & msr::HV == 0;
    let lpcr = thread.spr(Spr::Lpcr);
    match vector {
        Vector::HypervisorDecrementer => for_hypervisor && lpcr & lpcr::HDICE != 0,
        Vector::HypervisorVirtualization => for_hypervisor && lpcr & lpcr::HVICE != 0,
        Vector::DirectedHypervisorDoorbell | Vector::HypervisorMaintenance => for_hypervisor,
        _ => has_ee,
    }
}

/// Whether it lets the interrupt controller's line happen. An external interrupt of the hypervisor's (LPCR\[LPES\]=0)
/// interrupts a partition whatever its EE.
fn is_line_enabled(thread: &Thread, vector: Vector) -> bool {
    let is_hypervisors = vector == Vector::External && thread.spr(Spr::Lpcr) & lpcr::LPES == 0;
    is_hypervisors && thread.msr() & msr::HV == 0 || is_enabled(thread, vector)
}

/// Whether the external interrupt that is due is a mediated one, and not the interrupt controller's.
fn is_mediated(thread: &Thread, shared: &Shared) -> bool {
    let line = shared.processor.facts().external.vector == Vector::External;
    let is_line = line && shared.signals(thread.index).external;
    thread.spr(Spr::Lpcr) & lpcr::LPES == 0 && !is_line
}

/// Takes what is [`pending`], if anything is. A system reset or a doorbell is over when its interrupt is
/// taken, and so is what the hypervisor decrementer brought; the decrementer, the interrupt controller, maintenance
/// and performance-monitor alerts go on until software does something about them.
pub fn take_pending(thread: &mut Thread, shared: &mut Shared) -> Option<Taken> {
    let vector = pending(thread, shared)?;
    let mut interrupt = Interrupt::new(vector);
    let now = thread.time.cycles();
    match vector {
        Vector::SystemReset => {
            shared.signal(thread.index, now, |signals| signals.system_reset = false);
            interrupt.status = SYSTEM_RESET_FROM_OUTSIDE;
        }
        Vector::DirectedPrivilegedDoorbell => {
            shared.signal(thread.index, now, |signals| signals.privileged_doorbell = false);
        }
        Vector::DirectedHypervisorDoorbell => {
            shared.signal(thread.index, now, |signals| signals.hypervisor_doorbell = false);
        }
        Vector::HypervisorDecrementer => decrementers::end_hypervisor_exception(thread, shared),
        Vector::External if is_mediated(thread, shared) => interrupt.status = MEDIATED,
        _ => {}
    }
    Some(take(thread, shared, &interrupt))
}
