//! The complete guest-visible state of a vCPU while it does not run: one versioned record, plain data,
//! and the layout that the assembly stores into.
//!
//! What happens to each register, by the way the guest is interrupted. "Switch" is any time that the vCPU
//! leaves the processor and comes back: preemption, H_CEDE, a wait. What moves then, and not before another
//! vCPU enters, is the table [`each_supervisor_register`]; LPIDR moves with another partition,
//! and LPCR if it differs.
//!
//! | register | hypercall | other exit | switch |
//! |---|---|---|---|
//! | r0, r3-r12, CTR | status, outputs or 0 | kept | as the call left them |
//! | r1, r2, r13-r31, LR, CR2-CR4 | kept | kept | kept |
//! | XER, CR0, CR1, CR5-CR7 | 0 | kept | as the call left them |
//! | next instruction, MSR | kept; H_CEDE sets EE | kept, or its own interrupt | kept, or its own interrupt |
//! | SRR0, SRR1 | the address behind the call, and MSR | kept, or its own interrupt's | kept, or its own interrupt's |
//! | SPRG0-3, DAR, DSISR, PIDR, AMR, IAMR, UAMOR, PSPB | kept | kept | kept |
//! | FSCR, TIDR, VRSAVE, CTRL, PPR, DPDES, WORT, MMCRS, SPMC1, SPMC2, PSSCR as far as a guest has it | kept | kept | kept |
//! | TB | as time does | as time does | as time does |
//! | DEC | as time does | as time does | as time does: kept as the guest time at which it expires |
//! | PURR, SPURR, VTB, IC | as time does | as time does | stand still while the vCPU waits |
//! | CFAR | undefined: it names a branch of the hypervisor | kept | kept, or 0 after a hypercall |
//! | segment lookaside buffer, with a hashed page table | kept | kept | kept |
//! | segment lookaside buffer, with radix translation | kept | kept | cleared: it has no use |
//! | reservation | kept | kept | lost |
//! | FPR0-31, FPSCR; VSR0-63, VSCR; DSCR; TAR; BESCR, EBBHR, EBBRR; the performance monitor | kept | kept | kept once they were used: see [`crate::facilities`] |
//! | TM, and privileged doorbells where it can | HFSCR withholds them |||
//!
//! Of the table, which `cargo xtask check` compares with these words: what takes a value away that stays in the
//! processor when its vCPU has left. The value is written back as another vCPU enters, if the processor has
//! another one, and always where time takes it away.
//!
//! | lost to | registers |
//! |---|---|
//! | another vCPU only | SPRG0, SPRG1, SPRG2, SPRG3, PIDR, AMR, IAMR, UAMOR, PSPB, FSCR, TIDR, VRSAVE, CTRL, PPR, DPDES, WORT, MMCRS, SPMC1, SPMC2 |
//! | an interrupt in the hypervisor's own code too, which is its end | SRR0, SRR1, DAR, DSISR |
//! | the hypervisor's own idleness too, before which it saves all | PSSCR |
//! | time | IC, PURR, SPURR |
//!
//! VTB is written as another vCPU enters and read never: it counts as TB does, so that its value follows from that one
//! (`docs/facts/special-registers.md#virtual-time-base`). The threads of a POWER8's core share VTB and DPDES: there VTB
//! is read as a vCPU leaves, and of DPDES a record has the bit of the vCPU's thread
//! (`docs/decisions/0017-the-threads-of-a-power8-core.md`).

use alloc::boxed::Box;
use core::mem::offset_of;

use arch::address::GuestRealAddress;
use arch::hash::segment;
use arch::registers::{msr, ppr, psscr};
use arch::vcpus::Register;

/// The version of the layout and of the meaning of [`Registers`].
pub const VERSION: u64 = 4;

/// The registers of a vCPU. During an exit r14-r31, `pc` and `msr` are still in the processor.
#[derive(Clone, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Registers {
    /// [`VERSION`] of who wrote the record.
    pub version: u64,
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
    /// Come-from address register.
    pub cfar: u64,
    /// Registers that only a switch of vCPUs moves.
    pub supervisor: Supervisor,
    /// The segment lookaside buffer of a vCPU with a hashed page table that has run.
    pub segments: Option<Box<Segments>>,
}

/// Valid entries of a segment lookaside buffer, in their places: as `slbmfee` and `slbmfev` read them, zeros elsewhere.
pub type Segments = [[u64; 2]; SEGMENTS];
/// Entries of a segment lookaside buffer.
pub const SEGMENTS: usize = segment::ENTRIES;

/// What takes the value of a register of [`each_supervisor_register`] away while it stays in the processor and
/// its vCPU has left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lost {
    /// Another vCPU that enters.
    ToOthers,
    /// That, and an interrupt in the hypervisor's own code, which is its end.
    ToInterrupts,
    /// That, and the `stop` of a hardware thread that has nothing to do: it saves all registers before.
    ToIdleness,
    /// Time: it counts.
    ToTime,
}

impl Lost {
    /// Whether the register is written as another vCPU enters though the processor had the same value when the
    /// one before left.
    #[must_use]
    pub const fn is_always_written(self) -> bool {
        matches!(self, Self::ToTime)
    }
}

/// The table of the registers that stay in the processor until another vCPU enters: calls the macro `$use` with
/// a row for each. A row has the field of [`Supervisor`], the hal's names of the register to read and to write,
/// and what it is [`Lost`] to.
///
/// The reads are made in this order, one after the other, and the writes behind all reads: a read that comes
/// behind a write waits for it (`docs/facts/kvm-exit.md#exit-ladder`, RFC 23). Both are mixed with the dispatcher's
/// own steps, and PIDR is written last: see `docs/decisions/0009-registers-stay-in-the-processor.md`.
#[macro_export]
macro_rules! each_supervisor_register {
    ($use:ident) => {
        $use! {
            /// SRR0.
            srr0: SRR0 SRR0 ToInterrupts;
            /// SRR1.
            srr1: SRR1 SRR1 ToInterrupts;
            /// SPRG0.
            sprg0: SPRG0 SPRG0 ToOthers;
            /// SPRG1.
            sprg1: SPRG1 SPRG1 ToOthers;
            /// SPRG2.
            sprg2: SPRG2 SPRG2 ToOthers;
            /// SPRG3.
            sprg3: SPRG3 SPRG3 ToOthers;
            /// Data address register.
            dar: DAR DAR ToInterrupts;
            /// Data storage interrupt status.
            dsisr: DSISR DSISR ToInterrupts;
            /// Process identification.
            pidr: PIDR PIDR ToOthers;
            /// Authority mask.
            amr: AMR AMR ToOthers;
            /// Instruction authority mask.
            iamr: IAMR IAMR ToOthers;
            /// Which of AMR problem state may change.
            uamor: UAMOR UAMOR ToOthers;
            /// Priority boost of problem state.
            pspb: PSPB PSPB ToOthers;
            /// Facilities of problem state.
            fscr: FSCR FSCR ToOthers;
            /// Thread identification.
            tidr: TIDR TIDR ToOthers;
            /// Which vector registers are in use, by the guest's own account.
            vrsave: VRSAVE VRSAVE ToOthers;
            /// The run latch.
            ctrl: CTRL_READ CTRL_WRITE ToOthers;
            /// Program priority.
            ppr: PPR PPR ToOthers;
            /// Doorbells between the threads of a core, on a processor that cannot withhold them.
            dpdes: DPDES DPDES ToOthers;
            /// Workload optimization, on a processor that has it, as the three below.
            wort: WORT WORT ToOthers;
            /// Which events the supervisor's counters count.
            mmcrs: MMCRS MMCRS ToOthers;
            /// The supervisor's counter 1.
            spmc1: SPMC1 SPMC1 ToOthers;
            /// The supervisor's counter 2.
            spmc2: SPMC2 SPMC2 ToOthers;
            /// Processor stop status and control: the part that is the guest's, and EC, which withholds `stop`.
            psscr: PSSCR PSSCR ToIdleness;
            /// Completed instructions.
            ic: IC IC ToTime;
            /// Processor utilization of resources.
            purr: PURR PURR ToTime;
            /// The same, scaled by frequency.
            spurr: SPURR SPURR ToTime;
        }
    };
}

macro_rules! supervisor {
    ($($(#[$doc:meta])* $field:ident: $read:ident $write:ident $lost:ident;)*) => {
        /// Special-purpose registers of the guest that stay in the processor until another vCPU enters: the table
        /// [`each_supervisor_register`], the decrementer and the virtual time base.
        #[derive(Clone, PartialEq, Eq, Default, Debug)]
        #[repr(C)]
        pub struct Supervisor {
            $($(#[$doc])* pub $field: u64,)*
            /// When the decrementer becomes negative, in the guest's time base.
            pub decrementer_expires: u64,
            /// Virtual time base.
            pub vtb: u64,
        }

        /// Where a debugger finds them in [`Registers`].
        const SUPERVISOR: &[Register] = &[
            $(Register::new(
                stringify!($field),
                offset_of!(Registers, supervisor) + offset_of!(Supervisor, $field),
            ),)*
            Register::new(
                "decrementer_expires",
                offset_of!(Registers, supervisor) + offset_of!(Supervisor, decrementer_expires),
            ),
            Register::new("vtb", offset_of!(Registers, supervisor) + offset_of!(Supervisor, vtb)),
        ];

        impl Supervisor {
            /// Shows each value to `visit`, which may change it, by its name.
            fn visit(&mut self, visit: &mut dyn FnMut(&'static str, &mut [u64])) {
                $(visit(stringify!($field), core::slice::from_mut(&mut self.$field));)*
                visit(
                    "decrementer_expires",
                    core::slice::from_mut(&mut self.decrementer_expires),
                );
                visit("vtb", core::slice::from_mut(&mut self.vtb));
            }

            /// All zero.
            pub const ZERO: Self = Self { $($field: 0,)* decrementer_expires: 0, vtb: 0 };
        }
    };
}
each_supervisor_register!(supervisor);

/// Where a debugger finds the others in [`Registers`].
const OTHERS: [Register; 8] = [
    Register::several("r", 32, 8, offset_of!(Registers, gpr)),
    Register::new("pc", offset_of!(Registers, pc)),
    Register::new("msr", offset_of!(Registers, msr)),
    Register::new("cr", offset_of!(Registers, cr)),
    Register::new("lr", offset_of!(Registers, lr)),
    Register::new("ctr", offset_of!(Registers, ctr)),
    Register::new("xer", offset_of!(Registers, xer)),
    Register::new("cfar", offset_of!(Registers, cfar)),
];

/// All that a debugger finds.
pub const ALL: [Register; OTHERS.len() + SUPERVISOR.len()] = {
    let mut all = [OTHERS[0]; OTHERS.len() + SUPERVISOR.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = if at < OTHERS.len() { OTHERS[at] } else { SUPERVISOR[at - OTHERS.len()] };
        at += 1;
    }
    all
};

impl Registers {
    /// A vCPU that is started at `entry` with `argument` in r3: big-endian, translation off. Its
    /// decrementer is as far from expiry as one of 32 bits can be.
    #[must_use]
    pub fn started(entry: GuestRealAddress, argument: u64, guest_time: u64) -> Self {
        let mut gpr = [0; 32];
        gpr[3] = argument;
        Self {
            version: VERSION,
            gpr,
            pc: entry.0,
            msr: msr::SF | msr::ME,
            cr: 0,
            lr: 0,
            ctr: 0,
            xer: 0,
            cfar: 0,
            supervisor: Supervisor {
                decrementer_expires: guest_time.wrapping_add(0x7FFF_FFFF),
                ctrl: 1,
                ppr: ppr::MEDIUM,
                psscr: psscr::WITHHELD,
                ..Supervisor::default()
            },
            segments: None,
        }
    }

    /// The first vCPU as PAPR starts it: r3 = device tree, r4 = the kernel's address, r5 = 0.
    /// Source: `docs/facts/papr.md#entry`.
    #[must_use]
    pub fn at_entry(
        entry: GuestRealAddress,
        device_tree: GuestRealAddress,
        guest_time: u64,
    ) -> Self {
        let mut registers = Self::started(entry, device_tree.0, guest_time);
        registers.gpr[4] = entry.0;
        registers
    }

    /// The hypercall that the vCPU has left with is made again, with these in r3 to r12.
    pub fn retry(&mut self, arguments: [u64; 10]) {
        self.gpr[3..13].copy_from_slice(&arguments);
        let call = self.pc.wrapping_sub(4);
        self.pc = if self.msr & msr::SF == 0 { call & 0xFFFF_FFFF } else { call };
    }

    /// Shows the values of the whole record but for its segments to `visit`, which may change them, by the names that a
    /// debugger knows them by ([`ALL`]), in one order.
    pub fn visit(&mut self, visit: &mut dyn FnMut(&'static str, &mut [u64])) {
        let Self { version: _, gpr, pc, msr, cr, lr, ctr, xer, cfar, supervisor, .. } = self;
        visit("r", gpr);
        for (name, value) in [
            ("pc", pc),
            ("msr", msr),
            ("cr", cr),
            ("lr", lr),
            ("ctr", ctr),
            ("xer", xer),
            ("cfar", cfar),
        ] {
            visit(name, core::slice::from_mut(value));
        }
        supervisor.visit(visit);
    }

    /// What a hypercall leaves in the volatile registers, when the vCPU does not return from it at once.
    pub fn answer(&mut self, outputs: [u64; 3]) {
        self.gpr[0] = 0;
        self.gpr[4..7].copy_from_slice(&outputs);
        self.gpr[7..12].fill(0);
        // Of nine zeros in a row the compiler makes a call of `memset`, which takes longer than the stores.
        self.gpr[12] = core::hint::black_box(0);
        self.ctr = 0;
        self.xer = 0;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::string::String;
    use std::vec::Vec;

    use arch::address::GuestRealAddress;
    use arch::processor::Processor;
    use arch::registers::hfscr::Facility;
    use arch::registers::spr::{Access, SPRS, Spr};

    use super::{Registers, SEGMENTS, VERSION};
    use crate::each_demanded_register;
    use crate::facilities::{Demanded, ON_DEMAND};

    macro_rules! fields {
        ($($(#[$doc:meta])* $field:ident: $read:ident $write:ident $lost:ident;)*) => {
            /// The rows of the one table of registers that move.
            const SUPERVISOR: &[&str] = &[$(stringify!($field)),*];
        };
    }
    each_supervisor_register!(fields);

    macro_rules! demanded_fields {
        ($($(#[$about:meta])* $group:ident $place:ident $facility:ident {
            $($(#[$doc:meta])* $field:ident: $register:ident;)*
        })*) => {
            /// Those of the other.
            const DEMANDED: &[&str] = &[$($(stringify!($field)),*),*];
        };
    }
    each_demanded_register!(demanded_fields);

    fn field(spr: Spr) -> String {
        spr.name().to_lowercase()
    }

    /// Why a register that a partition writes needs no row in either table, if it needs none.
    fn reason(spr: Spr) -> Option<&'static str> {
        match spr {
            Spr::Xer | Spr::Lr | Spr::Ctr | Spr::Cfar => {
                Some("a field of the record beside the tables, which exits and entries move")
            }
            Spr::Dec => Some("kept as the time at which it expires"),
            Spr::Acop | Spr::Tacr | Spr::Tcscr | Spr::Csigr => {
                Some("cleared as another vCPU enters: no partition has coprocessors")
            }
            Spr::Tfhar | Spr::Tfiar | Spr::Texasr => Some("HFSCR withholds transactions"),
            Spr::Trig1 | Spr::Trig2 | Spr::Trace => {
                Some("to write it does something, and it keeps nothing")
            }
            _ => None,
        }
    }

    /// Registers that a partition's kernel or its processes write by some number.
    fn written(processor: Processor) -> Vec<Spr> {
        let may = |access| matches!(access, Access::Problem | Access::Privileged);
        let is_written = |spr: &Spr| {
            let mut rows = SPRS.iter().filter(|row| row.presence.includes(processor));
            rows.any(|row| row.spr == *spr && may(row.write))
        };
        Spr::ALL.iter().copied().filter(is_written).collect()
    }

    /// Those of them that are in no table with these rows, and for which there is no reason.
    fn unmoved(processor: Processor, rows: &[&str]) -> Vec<Spr> {
        let is_unmoved =
            |spr: &Spr| !rows.contains(&field(*spr).as_str()) && reason(*spr).is_none();
        written(processor).into_iter().filter(is_unmoved).collect()
    }

    /// One that stayed in the processor would show another partition what this one wrote.
    #[test]
    fn every_register_that_a_partition_writes_moves_with_its_vcpu() {
        let rows = [SUPERVISOR, DEMANDED].concat();
        for processor in Processor::ALL {
            assert_eq!(unmoved(processor, &rows), [], "{processor}");
        }
        for left_out in ["sprg3", "tar", "mmcr0"] {
            let others: Vec<_> = rows.iter().copied().filter(|row| *row != left_out).collect();
            let missing = unmoved(Processor::Power9, &others);
            assert!(matches!(missing[..], [spr] if field(spr) == left_out), "{missing:?}");
        }
    }

    #[test]
    fn a_register_without_a_row_has_a_reason_that_holds() {
        let rows = [SUPERVISOR, DEMANDED].concat();
        for row in &rows {
            assert!(Spr::ALL.iter().any(|spr| field(*spr) == *row), "{row} is no register");
        }
        let written = Processor::ALL.map(written);
        for &spr in Spr::ALL.iter().filter(|spr| reason(**spr).is_some()) {
            assert!(!rows.contains(&field(spr).as_str()), "{spr:?} has a row, too");
            let is_written = written.iter().any(|written| written.contains(&spr));
            assert!(is_written, "no partition writes {spr:?}");
        }
        let record = record();
        for field in ["xer", "lr", "ctr", "cfar", "decrementer_expires"] {
            assert!(record.contains(&(field, 1)), "{field}");
        }
        assert_eq!(ON_DEMAND & Facility::Tm.bit(), 0);
    }

    /// What is in the record of a vCPU, by name and number of doublewords.
    fn record() -> Vec<(&'static str, usize)> {
        let mut record = Vec::new();
        let mut visit = |name: &'static str, values: &mut [u64]| record.push((name, values.len()));
        Registers::started(GuestRealAddress(0), 0, 0).visit(&mut visit);
        Demanded::default().visit(&mut visit);
        record.push(("segments", 2 * SEGMENTS));
        record
    }

    /// That as one number (FNV-1a).
    fn digest(rows: &[(&str, usize)]) -> u64 {
        let bytes = rows
            .iter()
            .flat_map(|(name, words)| name.bytes().chain([0]).chain((*words as u64).to_be_bytes()));
        bytes.fold(0xCBF2_9CE4_8422_2325, |digest, byte| {
            (digest ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)
        })
    }

    /// An image has the rows of this version. If this fails, give [`VERSION`] the next number, and write that and the
    /// new digest here: an image of the old rows has to be refused.
    #[test]
    fn the_version_changes_with_the_rows() {
        let mut rows = record();
        assert_eq!((VERSION, digest(&rows)), (4, 0xD67A_E11D_64F7_A035));
        let whole = digest(&rows);
        for row in 0..rows.len() {
            let mut others = rows.clone();
            others.remove(row);
            assert_ne!(digest(&others), whole, "{row}");
        }
        rows[0].1 += 1;
        assert_ne!(digest(&rows), whole);
    }
}
