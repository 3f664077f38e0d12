//! Why an instruction does not complete.
//!
//! An instruction that cannot complete returns a [`Trap`] and leaves the details in the thread as a
//! [`Cause`]: an interrupt to deliver, a call into firmware, or the end of the simulation with a
//! report that names what the machine met.

use arch::address::{EffectiveAddress, RealAddress};
use arch::instruction::Word;
use arch::interrupt::Vector;
use arch::registers::hfscr::Facility;

use super::Thread;

/// The instruction did not complete; the thread's [`Cause`] says why. It is a marker of one byte, so
/// that the result of executing an instruction fits a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trap;

/// Why an instruction did not complete.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cause {
    /// An interrupt.
    Interrupt(Interrupt),
    /// The firmware's entry word was executed at the firmware's entry.
    Firmware,
    /// The machine stops.
    Stop(StopReason),
}

/// An interrupt with everything that its delivery writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interrupt {
    /// Which.
    pub vector: Vector,
    /// Whether it goes to the hypervisor although its registers are SRR0 and SRR1: `sc` with LEV=1.
    pub to_hypervisor: bool,
    /// Whether the saved address is that of the next instruction.
    pub is_after_instruction: bool,
    /// Bits that SRR1 or HSRR1 gets beside the MSR.
    pub status: u64,
    /// Registers that describe a storage interrupt.
    pub storage: Option<StorageFault>,
    /// The instruction image for HEIR.
    pub image: Option<Word>,
    /// The facility that HFSCR or FSCR names as the cause.
    pub facility: Option<Facility>,
}

/// What a storage interrupt records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StorageFault {
    /// For DAR or HDAR.
    pub address: EffectiveAddress,
    /// For DSISR or HDSISR; `None` where the interrupt does not set it.
    pub status: Option<u64>,
    /// For ASDR, with the hypervisor's storage interrupts.
    pub asdr: Option<u64>,
}

impl Interrupt {
    /// An interrupt on the instruction that executes, with nothing but its vector.
    #[must_use]
    pub fn new(vector: Vector) -> Self {
        Self {
            vector,
            to_hypervisor: false,
            is_after_instruction: false,
            status: 0,
            storage: None,
            image: None,
            facility: None,
        }
    }
}

/// Why the simulation cannot go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StopReason {
    /// The architecture has the instruction; this machine does not model it.
    #[error("instruction {0} is not modelled")]
    InstructionNotModelled(&'static str),
    /// The architecture leaves the result undefined.
    #[error("invalid form of {0}: the architecture leaves the result undefined")]
    InvalidForm(&'static str),
    /// An SPR number without a register that the machine knows.
    #[error("{} SPR {number}, which this processor does not have", if *.is_write { "write of" } else { "read of" })]
    NoSuchSpr {
        /// The number in the instruction.
        number: u16,
        /// Whether it is `mtspr`.
        is_write: bool,
    },
    /// A register whose effect is not modelled was given a value that would have one.
    #[error("{register} = {value:#x}: {what} is not modelled")]
    SprNotModelled {
        /// The register's name.
        register: &'static str,
        /// The value written.
        value: u64,
        /// What the value would do.
        what: &'static str,
    },
    /// A real address at which no memory answers.
    #[error("{what} real address {address}: no memory and no device answers there")]
    NoMemory {
        /// The kind of access.
        what: &'static str,
        /// Where.
        address: RealAddress,
    },
    /// A register of the processor's insides, of which nothing is modelled.
    #[error("register {0} is not modelled")]
    RegisterNotModelled(&'static str),
    /// Software asked for a kind of translation that is not modelled.
    #[error("{0} is not modelled")]
    TranslationNotModelled(&'static str),
    /// A machine check of several matching entries that software does not want to hear of.
    #[error("checkstop: several {what} for the address {address}, a machine check with MSR[ME]=0")]
    Checkstop {
        /// What matched.
        what: &'static str,
        /// The effective address that was accessed.
        address: EffectiveAddress,
    },
    /// The prefetch engine was told to do what no source defines.
    #[error("prefetch engine: {what} ({operand:#x}); no source says what a processor does then")]
    PrefetchEngineMisused {
        /// What is wrong.
        what: &'static str,
        /// The operand that says so.
        operand: u64,
    },
    /// A core was told to split or to join in a way that no source defines.
    #[error("HID0 = {value:#x}: {what}; no source says what a processor does then")]
    SplitMisused {
        /// What is wrong.
        what: &'static str,
        /// HID0, as it was written.
        value: u64,
    },
    /// OPAL was called in a way that skiboot does not survive.
    #[error("OPAL call: {0}")]
    FirmwareMisused(String),
}

impl Thread {
    /// Why the last instruction did not complete, forgotten by asking.
    pub fn take_cause(&mut self) -> Option<Cause> {
        self.cause.take()
    }

    /// Leaves `interrupt` to be delivered.
    #[cold]
    pub fn interrupt(&mut self, interrupt: Interrupt) -> Trap {
        self.cause = Some(Cause::Interrupt(interrupt));
        Trap
    }

    /// Leaves a program interrupt with these bits (see [`arch::interrupt::program`]) in SRR1.
    #[cold]
    pub fn program_interrupt(&mut self, status: u64) -> Trap {
        self.interrupt(Interrupt { status, ..Interrupt::new(Vector::Program) })
    }

    /// Leaves an alignment interrupt for `address`.
    #[cold]
    pub fn alignment_interrupt(&mut self, address: EffectiveAddress) -> Trap {
        let storage = Some(StorageFault { address, status: None, asdr: None });
        self.interrupt(Interrupt { storage, ..Interrupt::new(Vector::Alignment) })
    }

    /// Leaves an instruction that the processor does not execute to the hypervisor.
    #[cold]
    pub fn emulation_assistance(&mut self, image: Word) -> Trap {
        let vector = Vector::HypervisorEmulationAssistance;
        self.interrupt(Interrupt { image: Some(image), ..Interrupt::new(vector) })
    }

    /// Leaves an instruction of a partition or of problem state to the hypervisor that would stop the machine: one of
    /// an invalid form, for which the architecture allows that, and one that no model and no facility has.
    #[cold]
    pub fn contain(&mut self, image: Word) {
        let is_contained = matches!(
            self.cause,
            Some(Cause::Stop(StopReason::InvalidForm(_) | StopReason::InstructionNotModelled(_)))
        );
        if is_contained && !self.is_hypervisor() {
            self.emulation_assistance(image);
        }
    }

    /// Stops the machine with a report.
    #[cold]
    pub fn stop(&mut self, reason: StopReason) -> Trap {
        self.cause = Some(Cause::Stop(reason));
        Trap
    }
}
