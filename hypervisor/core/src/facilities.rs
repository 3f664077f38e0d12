//! What partitions have of what HFSCR governs, and PSSCR of `stop`: the one table of it.
//!
//! | facility | a vCPU has it | its registers |
//! |---|---|---|
//! | floating point, DSCR, TAR | from its first use on | move from then on |
//! | vectors and VSX | from its first use on, and floating point with it | move from then on |
//! | event-based branches | from its first use on | move from then on |
//! | performance monitor | from its start, if the partition was given it | move |
//! | `stop` | from its first use on, if the partition was given it, and nobody waits for the hardware thread; else the hypervisor pauses it | PSSCR, which moves always |
//! | privileged doorbells | never, where HFSCR withholds them: the hypervisor does what it does with them ([`crate::interrupts::doorbell`]) | |
//! | branch history, transactions | never, where HFSCR withholds them | |
//!
//! A vCPU that has used a facility is asked again: at every [`LOADS`]th time that its registers are loaded into a
//! processor, HFSCR withholds what it has, and its registers stay in the record until it uses it once more. So a
//! facility that is used no more costs nothing any more, and one that is used always costs an exit in [`LOADS`]
//! switches, whatever a guest does. What has an effect while nobody touches it is not withheld
//! ([`Demanded::is_at_work`]).
//!
//! On a machine that withholds nothing by HFSCR a vCPU has from its start what it could have by its first use, but for
//! `stop`: else it would see, without an exit, what another vCPU has left.
//!
//! A vCPU that uses a facility for the first time finds zeros and frozen counters: it sees nothing of another
//! vCPU. One that was stopped and starts again has used nothing.

use alloc::boxed::Box;
use core::mem::offset_of;

use arch::hash::segment;
use arch::registers::hfscr::Facility;
use arch::registers::monitor;
use arch::vcpus::Register;

/// A processor whose facilities are given and withheld.
pub trait Facilities {
    /// Lets the vCPU that runs use a facility, which was withheld from it, with the registers that its record has.
    fn begin_facility(&self, facility: Facility, record: &mut Demanded);

    /// Lets the vCPU that runs, and has used `stop`, execute it without an exit, or not.
    fn allow_stop(&self, allows: bool);

    /// Whether the performance monitor of the vCPU that has just left, and is given it, has an alert that waits to
    /// interrupt.
    fn has_monitor_alert(&self) -> bool;

    /// PIDR of the vCPU that has just left; no window is open.
    fn process(&self) -> u64;

    /// The segment lookaside buffer of the vCPU that has just left, of a partition with a hashed page table and this
    /// LPCR: as `slbmfee` and `slbmfev` read it, zeros for what is not valid.
    fn segments(&self, lpcr: u64) -> [[u64; 2]; segment::ENTRIES];

    /// Sets SPRG0 of the vCPU that runs.
    fn set_sprg0(&self, value: u64);

    /// Sets LPCR with which the vCPU that runs, of the partition `lpid`, goes on behind its hypercall.
    fn set_control(&self, lpcr: u64, lpid: u32);
}

/// HFSCR of a vCPU that has used nothing.
pub const NOTHING: u64 = 0;

/// HFSCR bits that any partition's vCPUs get when they use the facility.
pub const ON_DEMAND: u64 = Facility::Fp.bit()
    | Facility::Dscr.bit()
    | Facility::Tar.bit()
    | Facility::VecVsx.bit()
    | Facility::Ebb.bit();

/// Switches of vCPUs after which a vCPU has to ask for its facilities again: as many entries as KVM lets pass
/// (`docs/facts/kvm-exit.md#exit-ladder`, RFC 34 and 35).
pub const LOADS: u32 = 1 << u8::BITS;

/// Registers of the facilities that a vCPU has used.
#[derive(Clone, PartialEq, Eq, Debug)]
#[repr(C, align(16))]
pub struct Demanded {
    /// VSR0 to VSR63, as `stxv` stores them; doubleword 0 of the first 32 is a floating-point register. Of a vCPU
    /// that has no vectors the rest is zero.
    pub vsr: [[u64; 2]; 64],
    /// VSCR, as a vector.
    pub vscr: [u64; 2],
    /// What it has used, as bits of HFSCR, and as one more for `stop`.
    pub facilities: u64,
    /// What it is given of that. The registers of the others are here, and not in a processor.
    pub given: u64,
    /// Floating-point status and control.
    pub fpscr: u64,
    /// How often it was loaded since it had to ask.
    loads: u8,
    /// That of data streams.
    pub streams: Streams,
    /// The target address.
    pub target: Target,
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
            /// The register of data streams.
            Streams streams Dscr {
                /// Data stream control.
                dscr: DSCR;
            }
            /// The register of targets.
            Target target Tar {
                /// Target address.
                tar: TAR;
            }
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
                visit("fpscr", core::slice::from_mut(&mut self.fpscr));
                $($(visit(stringify!($field), core::slice::from_mut(&mut self.$place.$field));)*)*
            }
        }

        const ROWS: &[Register] = &[
            Register::new("facilities", offset_of!(Demanded, facilities)),
            Register::new("fpscr", offset_of!(Demanded, fpscr)),
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
        facilities: NOTHING,
        given: NOTHING,
        fpscr: 0,
        loads: 0,
        streams: Streams::ZERO,
        target: Target::ZERO,
        branches: Branches::ZERO,
        monitor: Monitor { mmcr0: monitor::FC, ..Monitor::ZERO },
    };

    /// Of a vCPU that has these facilities, as bits of HFSCR, before it uses one; `None` if these are none.
    #[must_use]
    pub fn from_start(facilities: u64) -> Option<Box<Self>> {
        let given = facilities;
        (facilities != NOTHING).then(|| Box::new(Self { facilities, given, ..Self::UNUSED }))
    }

    /// Whether the vCPU has used the facility.
    #[must_use]
    pub const fn has(&self, facility: Facility) -> bool {
        self.facilities & facility.bit() != 0
    }

    /// Whether HFSCR gives it to the vCPU.
    #[must_use]
    pub const fn is_given(&self, facility: Facility) -> bool {
        self.given & facility.bit() != 0
    }

    /// The vCPU uses a facility that it may have: whether it was withheld, and is given from now on. The processor
    /// has to get the registers of what `self` has more then.
    pub const fn give(&mut self, facility: Facility) -> bool {
        if self.is_given(facility) {
            return false;
        }
        // Floating-point registers are parts of vectors.
        let with = if matches!(facility, Facility::VecVsx) { Facility::Fp.bit() } else { NOTHING };
        self.facilities |= facility.bit() | with;
        self.given |= facility.bit() | with;
        true
    }

    /// The vCPU is about to be loaded, all of it being here: after so many times it has to ask again for what
    /// HFSCR can withhold, which is all but `always`.
    pub fn age(&mut self, always: u64) {
        self.loads = self.loads.wrapping_add(1);
        if self.loads != 0 {
            return;
        }
        let stays = |facility: &&Facility| self.is_at_work(**facility);
        let at_work = Facility::ALL.iter().filter(stays).map(|facility| facility.bit());
        let kept = at_work.fold(always, |kept, bit| kept | bit);
        self.given &= kept;
    }

    /// Whether a facility does something while no instruction names it, by the registers that are here: it prefetches,
    /// branches at an event, or counts. `stop` is given by who waits.
    #[must_use]
    pub const fn is_at_work(&self, facility: Facility) -> bool {
        match facility {
            Facility::Dscr => self.streams.dscr != 0,
            // The upper word enables.
            Facility::Ebb => self.branches.bescr >> 32 != 0,
            Facility::Pm => {
                self.monitor.mmcr0 & (monitor::FC | monitor::PMAE | monitor::PMAO) != monitor::FC
            }
            Facility::Stop => true,
            _ => false,
        }
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

#[cfg(all(test, not(loom)))]
mod tests {
    use arch::registers::hfscr::Facility;
    use arch::registers::monitor;

    use super::{Demanded, LOADS, NOTHING, ON_DEMAND};

    /// One that was just loaded for the last time before it has to ask again.
    fn old(facilities: u64, always: u64) -> Demanded {
        let mut record = *Demanded::from_start(facilities).unwrap();
        for _ in 1..LOADS {
            record.age(always);
            assert_eq!(record.given, facilities, "too early");
        }
        record
    }

    #[test]
    fn what_is_idle_is_withheld_after_so_many_loads_and_comes_back_when_it_is_used() {
        let all = ON_DEMAND | Facility::Pm.bit() | Facility::Stop.bit();
        let mut record = old(all, NOTHING);
        record.age(NOTHING);
        assert_eq!(record.given, Facility::Stop.bit());
        assert_eq!(record.facilities, all, "its registers are the vCPU's still");
        assert!(record.give(Facility::Tar) && !record.give(Facility::Tar));
        assert_eq!(record.given, Facility::Stop.bit() | Facility::Tar.bit());
        for _ in 1..LOADS {
            record.age(NOTHING);
        }
        assert!(record.is_given(Facility::Tar), "too early");
        record.age(NOTHING);
        assert!(!record.is_given(Facility::Tar));
    }

    #[test]
    fn vectors_come_with_floating_point_and_not_the_other_way_round() {
        let mut record = Demanded::UNUSED;
        assert!(record.give(Facility::Fp));
        assert!(!record.is_given(Facility::VecVsx));
        let mut record = Demanded::UNUSED;
        assert!(record.give(Facility::VecVsx) && !record.give(Facility::Fp));
    }

    /// Each of these would stop what a vCPU has asked for: prefetching, a branch at an event, counting, an alert.
    #[test]
    fn what_is_at_work_is_not_withheld() {
        type Work = (Facility, fn(&mut Demanded));
        let works: [Work; 6] = [
            (Facility::Dscr, |record| record.streams.dscr = 7),
            (Facility::Ebb, |record| record.branches.bescr = 1 << 63),
            (Facility::Ebb, |record| record.branches.bescr = 1 << 32),
            (Facility::Pm, |record| record.monitor.mmcr0 = 0),
            (Facility::Pm, |record| record.monitor.mmcr0 = monitor::FC | monitor::PMAO),
            (Facility::Pm, |record| record.monitor.mmcr0 = monitor::FC | monitor::PMAE),
        ];
        for (facility, begin) in works {
            let mut record = old(facility.bit() | Facility::Fp.bit(), NOTHING);
            begin(&mut record);
            record.age(NOTHING);
            assert_eq!(record.given, facility.bit(), "{facility:?}");
        }
    }

    #[test]
    fn a_machine_that_withholds_nothing_asks_for_nothing() {
        let mut record = old(ON_DEMAND, ON_DEMAND);
        record.age(ON_DEMAND);
        assert_eq!(record.given, ON_DEMAND);
    }
}
