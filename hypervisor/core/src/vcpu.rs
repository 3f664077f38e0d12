//! A vCPU's state while it does not run: plain data, and the layout that the assembly stores into.

use arch::address::{EffectiveAddress, GuestRealAddress};
use arch::registers::msr;

/// The registers of a vCPU. During an exit r14-r31, `pc` and `msr` are still in the processor.
#[derive(Clone, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Vcpu {
    /// General-purpose registers.
    pub gpr: [u64; 32],
    /// Next instruction.
    pub pc: u64,
    /// Machine state register; HV is never set in it.
    pub msr: u64,
    /// Condition register, in the low word.
    pub cr: u64,
    /// Link register.
    pub lr: u64,
    /// Count register.
    pub ctr: u64,
    /// Fixed-point exception register.
    pub xer: u64,
    /// Registers that only a switch of vCPUs moves.
    pub supervisor: Supervisor,
}

/// Special-purpose registers of the guest's kernel.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[repr(C)]
pub struct Supervisor {
    /// SRR0.
    pub srr0: u64,
    /// SRR1.
    pub srr1: u64,
    /// SPRG0 to SPRG3.
    pub sprg: [u64; 4],
    /// Data address register.
    pub dar: u64,
    /// Data storage interrupt status.
    pub dsisr: u64,
    /// Process identification.
    pub pidr: u64,
    /// Decrementer.
    pub dec: u64,
    /// Authority mask.
    pub amr: u64,
    /// Instruction authority mask.
    pub iamr: u64,
}

impl Vcpu {
    /// A vCPU as PAPR starts it: r3 = device tree, r4 = the kernel's address, r5 = 0, big-endian,
    /// translation off. Source: `kvm-hv.md` 2.5.
    #[must_use]
    pub fn at_entry(entry: GuestRealAddress, device_tree: GuestRealAddress) -> Self {
        let mut gpr = [0; 32];
        gpr[3] = device_tree.0;
        gpr[4] = entry.0;
        Self {
            gpr,
            pc: EffectiveAddress(entry.0).0,
            msr: msr::SF | msr::ME,
            cr: 0,
            lr: 0,
            ctr: 0,
            xer: 0,
            supervisor: Supervisor { dec: 0x7FFF_FFFF, ..Supervisor::default() },
        }
    }
}
