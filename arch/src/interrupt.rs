//! Interrupt vectors, and which pair of save/restore registers each uses.
//!
//! Source: `docs/facts/interrupts.md#vectors`; Power ISA 3.0B Book III, Interrupt Definitions.

/// Which registers an interrupt saves the address and the MSR in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SaveRestore {
    /// SRR0 and SRR1; returned from with `rfid`.
    Srr,
    /// HSRR0 and HSRR1; returned from with `hrfid`.
    Hsrr,
}

macro_rules! vectors {
    ($($(#[$doc:meta])* $name:ident = $offset:literal $pair:ident $text:literal;)*) => {
        /// An interrupt, by its vector. The order is that of the vectors, not of priority.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u16)]
        pub enum Vector {
            $($(#[$doc])* $name = $offset,)*
        }

        impl Vector {
            /// Every interrupt of POWER8 and POWER9 that the project knows, by ascending vector.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The architecture's name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }

            /// The pair that saves address and MSR. For [`Vector::External`] this is the pair when
            /// LPCR[LPES]=1; with LPES=0 it is HSRR.
            #[must_use]
            pub const fn save_restore(self) -> SaveRestore {
                match self { $(Self::$name => SaveRestore::$pair),* }
            }
        }
    };
}

vectors! {
    /// System reset, and the wake-up from a power-saving state that lost context.
    SystemReset = 0x100 Srr "System Reset";
    /// Machine check. Always real mode, always HV.
    MachineCheck = 0x200 Srr "Machine Check";
    /// A load or store that the process-scoped translation refuses.
    DataStorage = 0x300 Srr "Data Storage";
    /// A load or store outside of any segment or quadrant.
    DataSegment = 0x380 Srr "Data Segment";
    /// A fetch that the process-scoped translation refuses.
    InstructionStorage = 0x400 Srr "Instruction Storage";
    /// A fetch outside of any segment or quadrant.
    InstructionSegment = 0x480 Srr "Instruction Segment";
    /// External interrupt; the pair depends on LPCR[LPES].
    External = 0x500 Srr "External";
    /// An operand that is not aligned as its instruction needs.
    Alignment = 0x600 Srr "Alignment";
    /// Illegal and privileged instructions, traps, enabled floating-point exceptions.
    Program = 0x700 Srr "Program";
    /// MSR\[FP\]=0.
    FloatingPointUnavailable = 0x800 Srr "Floating-Point Unavailable";
    /// The decrementer's sign bit is set.
    Decrementer = 0x900 Srr "Decrementer";
    /// The hypervisor decrementer's sign bit is set.
    HypervisorDecrementer = 0x980 Hsrr "Hypervisor Decrementer";
    /// A privileged doorbell, from `msgsndp`.
    DirectedPrivilegedDoorbell = 0xA00 Srr "Directed Privileged Doorbell";
    /// `sc`; with LEV=1 to the hypervisor.
    SystemCall = 0xC00 Srr "System Call";
    /// Single step, branch trace and CIABR.
    Trace = 0xD00 Srr "Trace";
    /// A load or store that the partition-scoped translation refuses.
    HypervisorDataStorage = 0xE00 Hsrr "Hypervisor Data Storage";
    /// A fetch that the partition-scoped translation refuses.
    HypervisorInstructionStorage = 0xE20 Hsrr "Hypervisor Instruction Storage";
    /// An instruction that the processor leaves to the hypervisor; its image is in HEIR.
    HypervisorEmulationAssistance = 0xE40 Hsrr "Hypervisor Emulation Assistance";
    /// A malfunction that the hypervisor may recover from.
    HypervisorMaintenance = 0xE60 Hsrr "Hypervisor Maintenance";
    /// A hypervisor doorbell, from `msgsnd`.
    DirectedHypervisorDoorbell = 0xE80 Hsrr "Directed Hypervisor Doorbell";
    /// The interrupt controller wants the hypervisor (POWER9).
    HypervisorVirtualization = 0xEA0 Hsrr "Hypervisor Virtualization";
    /// A performance-monitor alert.
    PerformanceMonitor = 0xF00 Srr "Performance Monitor";
    /// MSR\[VEC\]=0.
    VectorUnavailable = 0xF20 Srr "Vector Unavailable";
    /// MSR\[VSX\]=0.
    VsxUnavailable = 0xF40 Srr "VSX Unavailable";
    /// A facility that FSCR or MMCR0 switched off.
    FacilityUnavailable = 0xF60 Srr "Facility Unavailable";
    /// A facility that HFSCR switched off.
    HypervisorFacilityUnavailable = 0xF80 Hsrr "Hypervisor Facility Unavailable";
    /// What POWER processors leave to software: denormals, TM corner cases.
    SoftPatch = 0x1500 Hsrr "Soft Patch";
}

impl Vector {
    /// The offset from the interrupt base.
    #[must_use]
    pub const fn offset(self) -> u64 {
        self as u64
    }

    /// The interrupt whose vector is `offset`.
    #[must_use]
    pub fn from_offset(offset: u64) -> Option<Self> {
        Self::ALL.iter().copied().find(|vector| vector.offset() == offset)
    }

    /// The pair that saves address and MSR, for the given LPCR\[LPES\].
    #[must_use]
    pub const fn save_restore_with(self, lpes: bool) -> SaveRestore {
        match self {
            Self::External if !lpes => SaveRestore::Hsrr,
            other => other.save_restore(),
        }
    }
}

/// Where interrupts go that arrive with relocation on: LPCR\[AIL\]=3.
pub const AIL3_BASE: u64 = 0xC000_0000_0000_4000;
/// Where interrupts go that arrive with relocation on: LPCR\[AIL\]=2.
pub const AIL2_BASE: u64 = 0x1_8000;

/// Where `scv` of level 0 goes in real mode and with LPCR\[AIL\]=2; each further level is 0x20 on.
pub const SCV_BASE: u64 = 0x1_7000;
/// The same with LPCR[AIL]=3.
pub const SCV_AIL3_BASE: u64 = 0xC000_0000_0000_3000;

/// Causes in DSISR and HDSISR; for fetches the same values in SRR1 and HSRR1.
///
/// Source: `docs/facts/interrupts.md#storage-status`.
pub mod storage {
    /// No translation found.
    pub const NO_TRANSLATION: u64 = 0x4000_0000;
    /// A fetch from a no-execute or guarded page (SRR1 and HSRR1 only).
    pub const NO_EXECUTE: u64 = 0x1000_0000;
    /// The page's rights do not allow the access.
    pub const PROTECTION: u64 = 0x0800_0000;
    /// The access's kind is not allowed to storage of this attribute.
    pub const BAD_ACCESS: u64 = 0x0400_0000;
    /// The access was a store.
    pub const STORE: u64 = 0x0200_0000;
    /// A data watchpoint matched.
    pub const WATCHPOINT: u64 = 0x0040_0000;
    /// The virtual page class key of a hashed page refuses the access.
    pub const KEY: u64 = 0x0020_0000;
    /// The tables have a form that the processor does not support.
    pub const BAD_CONFIGURATION: u64 = 0x0008_0000;
    /// Reference or change bit clear where it must be set.
    pub const REFERENCE_CHANGE: u64 = 0x0004_0000;
    /// The fault was met while reading a table on the way, not on the operand itself.
    pub const TABLE_WALK: u64 = 0x0002_0000;
}

/// Causes of a program interrupt in SRR1.
pub mod program {
    /// A transaction state that cannot be.
    pub const TM_BAD_THING: u64 = 0x0020_0000;
    /// An enabled floating-point exception.
    pub const FLOATING_POINT: u64 = 0x0010_0000;
    /// An illegal instruction (where it is not left to the hypervisor).
    pub const ILLEGAL: u64 = 0x0008_0000;
    /// A privileged instruction in problem state.
    pub const PRIVILEGED: u64 = 0x0004_0000;
    /// A trap instruction.
    pub const TRAP: u64 = 0x0002_0000;
    /// SRR0 does not name the instruction that caused this.
    pub const IMPRECISE: u64 = 0x0001_0000;
}

/// SRR1 of a system reset that ends a power-saving state: why (bits 42:45) and what was lost (46:47).
///
/// Source: Linux's `reg.h`, POWER8 and POWER9.
pub mod wake {
    /// Why, which is one of those up to [`MAINTENANCE`].
    pub const REASON: u64 = 0x003C_0000;
    /// A directed hypervisor doorbell.
    pub const HYPERVISOR_DOORBELL: u64 = 0x000C_0000;
    /// A system reset.
    pub const SYSTEM_RESET: u64 = 0x0010_0000;
    /// A directed privileged doorbell.
    pub const PRIVILEGED_DOORBELL: u64 = 0x0014_0000;
    /// The decrementer.
    pub const DECREMENTER: u64 = 0x0018_0000;
    /// An external interrupt.
    pub const EXTERNAL: u64 = 0x0020_0000;
    /// A hypervisor virtualization interrupt.
    pub const VIRTUALIZATION: u64 = 0x0024_0000;
    /// A hypervisor maintenance interrupt.
    pub const MAINTENANCE: u64 = 0x0028_0000;
    /// Nothing was lost.
    pub const NOTHING_LOST: u64 = 0x0001_0000;
    /// The thread's own state was lost, the hypervisor's was not.
    pub const THREAD_LOST: u64 = 0x0002_0000;
    /// Everything was lost.
    pub const ALL_LOST: u64 = 0x0003_0000;
}

/// SRR1 of a system reset that another thread or the service processor asked for, and that ended no
/// power-saving state. Source: QEMU's `pnv.c`, which names the POWER9 user manual.
pub const SYSTEM_RESET_FROM_OUTSIDE: u64 = 0x0008_0000;

/// HSRR1 of an external interrupt that LPCR\[MER\] asked for and the hypervisor takes.
pub const MEDIATED: u64 = 0x0020_0000;

/// A machine check's causes. Source: `docs/facts/interrupts.md#machine-checks`.
pub mod machine_check {
    /// SRR1: a load or store did it, DSISR says more and DAR is the address.
    pub const DATA: u64 = 0x0020_0000;
    /// SRR1, of a fetch: several entries of the SLB matched.
    pub const FETCH_SLB_MULTIHIT: u64 = 0x000C_0000;
    /// SRR1, of a fetch: several translations of different sizes matched in the TLB.
    pub const FETCH_TLB_MULTIHIT: u64 = 0x0014_0000;
    /// DSISR: several entries of the SLB matched.
    pub const SLB_MULTIHIT: u64 = 0x80;
    /// DSISR: several translations of different sizes matched in the TLB.
    pub const TLB_MULTIHIT: u64 = 0x400;
}

#[cfg(test)]
mod tests {
    use super::{SaveRestore, Vector};

    #[test]
    fn a_vector_is_found_by_its_offset() {
        for &vector in Vector::ALL {
            assert_eq!(Vector::from_offset(vector.offset()), Some(vector));
        }
        assert_eq!(Vector::SystemCall.offset(), 0xC00);
        assert_eq!(Vector::HypervisorEmulationAssistance.offset(), 0xE40);
        assert_eq!(Vector::from_offset(0xB00), None);
    }

    #[test]
    fn only_an_external_interrupt_changes_its_pair_with_lpes() {
        for &vector in Vector::ALL {
            let with_lpes = vector.save_restore_with(true);
            assert_eq!(with_lpes, vector.save_restore(), "{}", vector.name());
            let without = vector.save_restore_with(false);
            assert_eq!(without != with_lpes, vector == Vector::External, "{}", vector.name());
        }
        assert_eq!(Vector::External.save_restore_with(false), SaveRestore::Hsrr);
        assert_eq!(Vector::HypervisorDataStorage.save_restore(), SaveRestore::Hsrr);
        assert_eq!(Vector::DataStorage.save_restore(), SaveRestore::Srr);
    }
}
