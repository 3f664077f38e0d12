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
//! On a machine that withholds nothing by HFSCR a vCPU has from its start what it could have by its first use, but for
//! `stop`: else it would see, without an exit, what another vCPU has left.
//!
//! A vCPU that uses a facility for the first time finds zeros and frozen counters: it sees nothing of another
//! vCPU. One that was stopped and starts again has used nothing.

use alloc::boxed::Box;
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

    /// Sets LPCR with which the vCPU that runs, of the partition `lpid`, goes on behind its hypercall.
    fn set_control(&self, lpcr: u64, lpid: u32);
}

/// HFSCR of a vCPU that has used nothing else.
pub const ALWAYS: u64 = Facility::Fp.bit() | Facility::Dscr.bit() | Facility::Tar.bit();

/// HFSCR bits that any partition's vCPUs get when they use the facility.
pub const ON_DEMAND: u64 = Facility::VecVsx.bit() | Facility::Ebb.bit();

/// Registers of the facilities that a vCPU has used, but for what every vCPU has.
#[derive(Clone, PartialEq, Eq, Debug)]
#[repr(C, align(16))]
pub struct Demanded {
    /// VSR0 to VSR63, as `stxv` stores them; doubleword 0 of the first 32 is a floating-point register, which
    /// is here and nowhere else then.
    pub vsr: [[u64; 2]; 64],
    /// VSCR, as a vector.
    pub vscr: [u64; 2],
    /// Bits of HFSCR.
    pub facilities: u64,
    /// Those of event-based branches.
    pub branches: Branches,
    /// Those of the performance monitor.
    pub monitor: Monitor,
}

/// The table of the special-purpose registers that a vCPU has from its first use of a facility on: calls the
/// macro `$use` with a group for each facility, its structure, its field in [`Demanded`] and its name, and in
/// it a row for each register: the field and the hal's name. They are read and written in this order.
#[macro_export]
macro_rules! each_demanded_register {
    ($use:ident) => {
        $use! {
            /// Registers of event-based branches.
            Branches branches Ebb {
                /// Branch event status and control.
                bescr: BESCR;
                /// Where the handler is.
                ebbhr: EBBHR;
                /// Where it returns to.
                ebbrr: EBBRR;
            }
            /// Registers of the performance monitor. MMCR0 is the last, since it lets the others count.
            Monitor monitor Pm {
                /// Which events the counters count.
                mmcr1: MMCR1;
                /// What freezes each counter.
                mmcr2: MMCR2;
                /// Sampling.
                mmcra: MMCRA;
                /// Counter 1.
                pmc1: PMC1;
                /// Counter 2.
                pmc2: PMC2;
                /// Counter 3.
                pmc3: PMC3;
                /// Counter 4.
                pmc4: PMC4;
                /// Counter 5.
                pmc5: PMC5;
                /// Counter 6.
                pmc6: PMC6;
                /// The address of the sampled instruction.
                siar: SIAR;
                /// The address of its data.
                sdar: SDAR;
                /// What is known of it.
                sier: SIER;
                /// What freezes all counters, and alerts.
                mmcr0: MMCR0;
            }
        }
    };
}

macro_rules! demanded {
    ($($(#[$about:meta])* $group:ident $place:ident $facility:ident {
        $($(#[$doc:meta])* $field:ident: $register:ident;)*
    })*) => {
        $(
            $(#[$about])*
            #[derive(Clone, PartialEq, Eq, Debug)]
            #[repr(C)]
            pub struct $group {
                $($(#[$doc])* pub $field: u64,)*
            }

            impl $group {
                /// All zero.
                pub const ZERO: Self = Self { $($field: 0,)* };
            }
        )*

        impl Demanded {
            /// Shows the values of all registers to `visit`, which may change them, by the names that a debugger knows
            /// them by ([`DEMANDED`]), in one order.
            pub fn visit(&mut self, visit: &mut dyn FnMut(&'static str, &mut [u64])) {
                visit("vs", self.vsr.as_flattened_mut());
                visit("vscr", &mut self.vscr);
                $($(visit(stringify!($field), core::slice::from_mut(&mut self.$place.$field));)*)*
            }
        }

        const ROWS: &[Register] = &[
            Register::new("facilities", offset_of!(Demanded, facilities)),
            Register::several("vs", 64, 16, offset_of!(Demanded, vsr)),
            Register::several("vscr", 1, 16, offset_of!(Demanded, vscr)),
            $($(Register::new(
                stringify!($field),
                offset_of!(Demanded, $place) + offset_of!($group, $field),
            ),)*)*
        ];
    };
}
each_demanded_register!(demanded);

/// Where a debugger finds the registers of facilities in [`Demanded`].
pub const DEMANDED: [Register; ROWS.len()] = {
    let mut all = [ROWS[0]; ROWS.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = ROWS[at];
        at += 1;
    }
    all
};

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
        branches: Branches::ZERO,
        monitor: Monitor { mmcr0: monitor::FC, ..Monitor::ZERO },
    };

    /// Of a vCPU that has these facilities, as bits of HFSCR, before it uses one; `None` if these are none.
    #[must_use]
    pub fn from_start(facilities: u64) -> Option<Box<Self>> {
        (facilities != 0).then(|| Box::new(Self { facilities, ..Self::UNUSED }))
    }

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
