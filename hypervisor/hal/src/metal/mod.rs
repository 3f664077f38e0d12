//! The half that exists on the machine only.
//!
//! The boot thread sets everything up and then fetches the others out of OPAL (`threads.rs`). What they
//! share is behind locks; what only one of them uses at a time is a `Single`.

mod boot;
mod caller;
mod core_registers;
mod debugger;
mod eager;
mod exits;
mod facilities;
mod idle;
mod machine;
mod mitigations;
mod opal;
mod panic;
#[cfg(feature = "power8")]
mod prefetch;
mod residents;
mod segments;
mod threads;
mod window;

use core::mem::offset_of;

use arch::instruction::Word;
#[cfg(feature = "power8")]
use arch::interrupt::wake;
use arch::papr::status::H_PRIVILEGE;
use hypervisor_core::dispatch::Running;
use hypervisor_core::facilities::Demanded;
use hypervisor_core::system::System;
use hypervisor_core::vcpu::registers::{Registers, SEGMENTS};

pub use machine::{Machine, SecondStage};
use mitigations::Condition;
pub use window::{Pinned, Window};

use crate::host_state::per_cpu::PerCpu;
use crate::registers::spr;

/// What `hal::entry!` hands over.
pub type Boot = hypervisor_core::run::Boot<'static>;

/// What a debugger finds vCPUs by; the linker script keeps the section.
// SAFETY: nothing else has the name, and the section is for such data.
#[unsafe(link_section = ".debugger")]
#[unsafe(export_name = "hal_vcpus")]
#[used]
static VCPUS: debugger::Vcpus = debugger::TABLE;

// The macros of the others' that are the processor's.
#[cfg(feature = "power8")]
core::arch::global_asm!(
    include_str!("power8.S"),
    SPECULATION_BARRIER = const Word::SPECULATION_BARRIER.0,
    SRR1 = const spr::SRR1,
    TOC = const offset_of!(PerCpu, toc),
    HOST_MSR = const offset_of!(PerCpu, host_msr),
    NAP_STACK = const offset_of!(PerCpu, nap_stack),
    R11 = const offset_of!(PerCpu, r11),
    SYSTEM_RESET = const wake::SYSTEM_RESET >> 18,
);
#[cfg(not(feature = "power8"))]
core::arch::global_asm!(
    include_str!("power9.S"),
    LPCR = const spr::LPCR,
    LPIDR = const spr::LPIDR,
    REAL_MSR = const offset_of!(PerCpu, real_msr),
    OWN_LPCR = const offset_of!(PerCpu, own_lpcr),
    GUEST_LPCR = const offset_of!(PerCpu, guest_lpcr),
    GUEST_LPID = const offset_of!(PerCpu, guest_lpid),
    STORE_BARRIER = const Word::STORE_BARRIER.0,
);

core::arch::global_asm!(
    include_str!("little_endian.S"),
    include_str!("boot.S"),
    HSPRG0 = const spr::HSPRG0,
    TOC = const offset_of!(PerCpu, toc),
    OPAL_BASE = const offset_of!(PerCpu, opal_base),
    OPAL_ENTRY = const offset_of!(PerCpu, opal_entry),
);

core::arch::global_asm!(
    include_str!("crash.S"),
    HSPRG1 = const spr::HSPRG1,
    TOC = const offset_of!(PerCpu, toc),
    R10 = const offset_of!(PerCpu, r10),
    R11 = const offset_of!(PerCpu, r11),
    R12 = const offset_of!(PerCpu, r12),
    CRASH = const offset_of!(PerCpu, crash_gpr),
    CRASH_LR = const offset_of!(PerCpu, crash_lr),
    CRASH_CTR = const offset_of!(PerCpu, crash_ctr),
    CRASH_CR = const offset_of!(PerCpu, crash_cr),
);

core::arch::global_asm!(
    include_str!("sites.S"),
    include_str!("vectors.S"),
    include_str!("enter.S"),
    include_str!("guards.S"),
    include_str!("hash.S"),
    LPCR = const spr::LPCR,
    SEGMENTS = const SEGMENTS,
    // IH=6.
    SLBIA = const 31 << 26 | 6 << 21 | 498 << 1,
    SRR0 = const spr::SRR0,
    SRR1 = const spr::SRR1,
    HSPRG0 = const spr::HSPRG0,
    HSPRG1 = const spr::HSPRG1,
    HSRR0 = const spr::HSRR0,
    HSRR1 = const spr::HSRR1,
    STACK = const offset_of!(PerCpu, stack),
    TOC = const offset_of!(PerCpu, toc),
    HOST_MSR = const offset_of!(PerCpu, host_msr),
    HYPERCALL_ENTRY = const offset_of!(PerCpu, hypercall_entry),
    EXIT_ENTRY = const offset_of!(PerCpu, exit_entry),
    NOT_A_GUEST_KERNEL = const offset_of!(PerCpu, not_a_guest_kernel),
    VCPU = const offset_of!(PerCpu, vcpu),
    GUEST = const offset_of!(PerCpu, guest),
    SYSTEM = const offset_of!(PerCpu, system),
    GUEST_BYTES = const size_of::<Running<'static, Machine>>(),
    SYSTEM_BYTES = const size_of::<System<'static, Machine>>(),
    HYPERCALLS_REAL = const offset_of!(PerCpu, hypercalls),
    HYPERCALLS_VIRTUAL = const offset_of!(PerCpu, hypercalls) + 8,
    GUEST_R1 = const offset_of!(PerCpu, guest_r1),
    GUEST_R2 = const offset_of!(PerCpu, guest_r2),
    GUEST_LR = const offset_of!(PerCpu, guest_lr),
    GUEST_R13 = const offset_of!(PerCpu, guest_r13),
    R10 = const offset_of!(PerCpu, r10),
    R11 = const offset_of!(PerCpu, r11),
    R12 = const offset_of!(PerCpu, r12),
    CTR_SLOT = const offset_of!(PerCpu, ctr),
    CFAR_SLOT = const offset_of!(PerCpu, cfar),
    CODE = const offset_of!(PerCpu, code),
    GPR = const offset_of!(Registers, gpr),
    PC = const offset_of!(Registers, pc),
    MSR = const offset_of!(Registers, msr),
    CR = const offset_of!(Registers, cr),
    LR = const offset_of!(Registers, lr),
    CTR = const offset_of!(Registers, ctr),
    XER = const offset_of!(Registers, xer),
    CFAR = const spr::CFAR,
    RECORD_CFAR = const offset_of!(Registers, cfar),
    H_PRIVILEGE = const H_PRIVILEGE,
    TARGET_FLUSH = const Word::TARGET_FLUSH.0,
    TRIG2 = const spr::TRIG2,
    AT_EXIT = const Condition::AtExit as u64,
    AT_CALL = const Condition::AtCall as u64,
    AT_ENTRY = const Condition::AtEntry as u64,
    NO_STORE_BARRIER = const Condition::NoStoreBarrier as u64,
    NO_TRIGGER_AT_EXIT = const Condition::NoTriggerAtExit as u64,
    NO_TRIGGER_AT_ENTRY = const Condition::NoTriggerAtEntry as u64,
    NO_DISPLACEMENT_AT_EXIT = const Condition::NoDisplacementAtExit as u64,
    NO_DISPLACEMENT_AT_ENTRY = const Condition::NoDisplacementAtEntry as u64,
    NO_LINK_STACK = const Condition::NoLinkStack as u64,
    NO_TARGETS = const Condition::NoTargets as u64,
    TARGETS_ASSISTED = const Condition::TargetsAssisted as u64,
);

core::arch::global_asm!(
    include_str!("floating.S"),
    VSR = const offset_of!(Demanded, vsr),
    FPSCR = const offset_of!(Demanded, fpscr),
);

core::arch::global_asm!(
    include_str!("vector_scalar.S"),
    VSR = const offset_of!(Demanded, vsr),
    VSCR = const offset_of!(Demanded, vscr),
    FPSCR = const offset_of!(Demanded, fpscr),
);

core::arch::global_asm!(
    include_str!("opal.S"),
    SRR0 = const spr::SRR0,
    SRR1 = const spr::SRR1,
    HSPRG1 = const spr::HSPRG1,
    HSRR0 = const spr::HSRR0,
    HSRR1 = const spr::HSRR1,
    TOC = const offset_of!(PerCpu, toc),
    OPAL_BASE = const offset_of!(PerCpu, opal_base),
    OPAL_ENTRY = const offset_of!(PerCpu, opal_entry),
);
