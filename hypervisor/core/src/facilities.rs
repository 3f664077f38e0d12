//! What partitions have of what HFSCR governs: the one table of it.
//!
//! | facility | a vCPU has it | its registers |
//! |---|---|---|
//! | floating point, DSCR, TAR | always | move at each switch of vCPUs |
//! | vectors and VSX | from its first use on | move from then on |
//! | event-based branches | from its first use on | move from then on |
//! | performance monitor | from its first use on, if the partition was given it | move from then on |
//! | `stop` | from its first use on, if the partition was given it, and nobody waits for the hardware thread; else the hypervisor pauses it | PSSCR, which moves always |
//! | branch history, transactions, privileged doorbells | never | |
//!
//! A vCPU that uses a facility for the first time finds zeros and frozen counters: it sees nothing of another vCPU. One that was
//! stopped and starts again has used nothing.

use core::mem::offset_of;

use arch::registers::hfscr::Facility;
use arch::registers::monitor;
use arch::vcpus::Register;

/// A processor whose facilities are given and withheld.
pub trait Facilities {
    /// Lets the vCPU that runs use a facility, and clears the facility's registers.
    fn begin_facility(&self, facility: Facility);

    /// Lets the vCPU that runs, and has used `stop`, execute it without an exit, or not.
    fn allow_stop(&self, allows: bool);

    /// Sets SPRG0 of the vCPU that runs.
    fn set_sprg0(&self, value: u64);
}

/// HFSCR of a vCPU that has used nothing else.
pub const ALWAYS: u64 = Facility::Fp.bit() | Facility::Dscr.bit() | Facility::Tar.bit();

/// HFSCR bits that any partition's vCPUs get when they use the facility.
pub const ON_DEMAND: u64 = Facility::VecVsx.bit() | Facility::Ebb.bit();

/// Registers of the facilities that a vCPU has used, but for what every vCPU has.
#[derive(Clone, PartialEq, Eq, Debug)]
#[repr(C, align(16))]
pub struct Demanded {
    /// VSR0 to VSR63, as `stxv` stores them; doubleword 0 of the first 32 is a floating-point register, which is here and nowhere else then.
    pub vsr: [[u64; 2]; 64],
    /// VSCR, as a vector.
    pub vscr: [u64; 2],
    /// Bits of HFSCR.
    pub facilities: u64,
    /// BESCR, EBBHR and EBBRR.
    pub branches: [u64; 3],
    /// MMCR0, MMCR1, MMCR2, MMCRA, PMC1 to PMC6, SIAR, SDAR and SIER.
    pub monitor: [u64; 13],
}

/// Where a debugger finds them in [`Demanded`].
pub const DEMANDED: [Register; 3] = [
    Register::new("facilities", offset_of!(Demanded, facilities)),
    Register::several("vs", 64, 16, offset_of!(Demanded, vsr)),
    Register::several("vscr", 1, 16, offset_of!(Demanded, vscr)),
];

impl Default for Demanded {
    fn default() -> Self {
        Self::UNUSED
    }
}

impl Demanded {
    /// Of a vCPU that has used nothing: zeros, and counters that are frozen.
    pub const UNUSED: Self = Self {
        vsr: [[0; 2]; 64],
        vscr: [0; 2],
        facilities: 0,
        branches: [0; 3],
        monitor: [monitor::FC, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    };

    /// Whether the vCPU has used the facility.
    #[must_use]
    pub const fn has(&self, facility: Facility) -> bool {
        self.facilities & facility.bit() != 0
    }
}

/// The facility for a person.
#[must_use]
pub const fn name(facility: Facility) -> &'static str {
    match facility {
        Facility::Fp => "floating point",
        Facility::VecVsx => "vectors",
        Facility::Dscr => "the data stream control register",
        Facility::Pm => "the performance monitor",
        Facility::Bhrb => "the branch history buffer",
        Facility::Tm => "transactions",
        Facility::Ebb => "event-based branches",
        Facility::Tar => "the target address register",
        Facility::Stop => "stop",
        Facility::Msgp => "privileged doorbells",
        Facility::Scv => "scv",
    }
}
