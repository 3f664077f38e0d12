//! The registers that a partition can see: their names, and what they hold for it.

use std::fmt;

use arch::hash::segment;
use arch::processor::Processor;
use arch::registers::hfscr::Facility;
use arch::registers::psscr;
use arch::registers::spr::{Access, Spr};

use crate::exec::facility::facility_of;
use crate::exec::spr::{counted, store};
use crate::interrupt::decrementers::decrementer;
use crate::state::shared::Shared;
use crate::state::slb::SlbEntry;
use crate::state::thread::Thread;

/// A register, or a part of one that has a fate of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Register {
    /// The address of the next instruction.
    Pc,
    /// Machine state register.
    Msr,
    /// General-purpose register.
    Gpr(u8),
    /// Field of the condition register.
    CrField(u8),
    /// Floating-point register: doubleword 0 of a vector-scalar register below 32.
    Fpr(u8),
    /// Doubleword of a vector-scalar register that is no floating-point register.
    Vsr(u8, u8),
    /// Floating-point status and control register.
    Fpscr,
    /// Vector status and control register.
    Vscr,
    /// Doubleword of an entry of the segment lookaside buffer: 0 ESID, 1 VSID.
    Slb(u8, u8),
    /// The granule that a load-and-reserve has reserved.
    Reservation,
    /// Any other special-purpose register. The time base is read as it counts, the decrementer as the
    /// time at which it expires.
    Spr(Spr),
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pc => f.write_str("next instruction"),
            Self::Msr => f.write_str("MSR"),
            Self::Gpr(number) => write!(f, "r{number}"),
            Self::CrField(number) => write!(f, "CR{number}"),
            Self::Fpr(number) => write!(f, "f{number}"),
            Self::Vsr(number, doubleword) => write!(f, "vs{number}.{doubleword}"),
            Self::Fpscr => f.write_str("FPSCR"),
            Self::Vscr => f.write_str("VSCR"),
            Self::Slb(entry, 0) => write!(f, "SLB {entry} ESID"),
            Self::Slb(entry, _) => write!(f, "SLB {entry} VSID"),
            Self::Reservation => f.write_str("reservation"),
            Self::Spr(spr) => f.write_str(spr.name()),
        }
    }
}

/// Whether some number gives a partition's kernel access to the register.
#[must_use]
pub fn is_partitions(spr: Spr, processor: Processor) -> bool {
    use arch::registers::spr::SPRS;
    let may = |access| matches!(access, Access::Problem | Access::Privileged);
    let mut rows = SPRS.iter().filter(|row| row.spr == spr && row.presence.includes(processor));
    rows.any(|row| may(row.read) || may(row.write))
}

impl Register {
    /// The facility without which a partition cannot see the register.
    fn facility(self) -> Option<Facility> {
        match self {
            Self::Fpr(_) | Self::Fpscr => Some(Facility::Fp),
            Self::Vsr(..) | Self::Vscr => Some(Facility::VecVsx),
            Self::Spr(spr) => facility_of(spr),
            _ => None,
        }
    }

    /// What it holds after power-on.
    pub(super) fn reset(self, processor: Processor) -> u64 {
        match self {
            Self::Spr(spr) => spr.reset(processor),
            _ => 0,
        }
    }

    /// Whether the partition on `thread` can see it: HFSCR.
    #[must_use]
    pub fn is_visible(self, thread: &Thread) -> bool {
        self.facility().is_none_or(|facility| thread.grants(facility))
    }

    /// What it holds for a partition.
    #[must_use]
    pub fn read(self, thread: &Thread, shared: &Shared) -> u64 {
        match self {
            Self::Pc => thread.nia,
            Self::Msr => thread.msr(),
            Self::Gpr(number) => thread.gpr[usize::from(number)],
            Self::CrField(number) => u64::from(thread.cr_field(usize::from(number))),
            Self::Fpr(number) => thread.vsr[usize::from(number)][0],
            Self::Vsr(number, doubleword) => {
                thread.vsr[usize::from(number)][usize::from(doubleword)]
            }
            Self::Fpscr => thread.fpscr,
            Self::Vscr => u64::from(thread.vscr),
            Self::Slb(entry, doubleword) => {
                // One that is not valid reads as zero, whatever it still holds.
                let SlbEntry { esid, vsid } = thread.slb[usize::from(entry)];
                let value = if doubleword == 0 { esid } else { vsid };
                if esid & segment::V == 0 { 0 } else { value }
            }
            Self::Reservation => thread.reservation.map_or(0, |held| held.granule as u64 + 1),
            Self::Spr(Spr::Xer) => thread.xer & shared.processor.facts().xer,
            Self::Spr(Spr::Lr) => thread.lr,
            Self::Spr(Spr::Ctr) => thread.ctr,
            Self::Spr(Spr::Psscr) => thread.spr(Spr::Psscr) & psscr::PRIVILEGED,
            Self::Spr(Spr::Dec) => {
                let dec = decrementer(thread, shared, shared.ticks(thread));
                shared.timebase(thread).wrapping_add_signed(dec)
            }
            Self::Spr(spr) => counted(thread, shared, spr),
        }
    }

    /// Changes it, for a test that breaks something: `false` if the machine has no such thing to change,
    /// as with the time.
    pub fn corrupt(self, thread: &mut Thread, shared: &mut Shared, value: u64) -> bool {
        match self {
            Self::Pc => thread.nia = value,
            Self::Msr => thread.set_msr(value),
            Self::Gpr(number) => thread.gpr[usize::from(number)] = value,
            Self::CrField(number) => thread.set_cr_field(usize::from(number), value as u32 & 0xF),
            Self::Fpr(number) => thread.vsr[usize::from(number)][0] = value,
            Self::Vsr(number, doubleword) => {
                thread.vsr[usize::from(number)][usize::from(doubleword)] = value;
            }
            Self::Fpscr => thread.fpscr = value,
            Self::Vscr => thread.vscr = value as u32,
            // One that is valid, so that it is seen.
            Self::Slb(entry, 0) => thread.slb[usize::from(entry)].esid = value | segment::V,
            Self::Slb(entry, _) => {
                let entry = &mut thread.slb[usize::from(entry)];
                (entry.esid, entry.vsid) = (entry.esid | segment::V, value);
            }
            Self::Reservation => {
                let granule = value as usize;
                thread.reservation = Some(crate::state::thread::Reservation { granule, bytes: 8 });
            }
            Self::Spr(Spr::Xer) => thread.xer = value,
            Self::Spr(Spr::Lr) => thread.lr = value,
            Self::Spr(Spr::Ctr) => thread.ctr = value,
            Self::Spr(spr) => return store(thread, shared, spr, value),
        }
        true
    }
}
