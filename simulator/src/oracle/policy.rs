//! What each register of a partition may hold when it goes on after an exit.
//!
//! This is read from the architecture and from PAPR, not from what the hypervisor says of itself: Power ISA
//! 3.0B Book III, Interrupt Processing; PAPR's calling convention as in `docs/facts/papr.md#calling-convention`. An
//! interrupt that the hypervisor gives to the partition is judged in [`super::judge`].

use std::ops::RangeInclusive;

use arch::papr::Hypercall;
use arch::processor::Processor;
use arch::registers::spr::Spr;

use super::register::{Register, is_partitions};

/// What a register may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// What it held.
    Kept,
    /// What it held, or zero: it may be lost, but shows nothing.
    Spent,
    /// The status of a hypercall.
    Status,
    /// This output of the hypercall, counted from 0, if the call has so many; else [`Rule::Spent`].
    Output(u8),
    /// It counts time: it may stand still meanwhile, never goes back, and is never faster than time.
    Counts,
    /// It counts instructions: as [`Rule::Counts`], with so many in a tick.
    Completes,
    /// It counts what the partition asks its performance monitor for, and keeps what it held while that is frozen: as
    /// [`Rule::Completes`], with 32 bits.
    Monitors,
    /// MMCR0: what it held, or that with an alert which has occurred meanwhile.
    Alerts,
    /// SIER: what it held, or nothing, if an alert has occurred meanwhile that sampled nothing.
    Sampled,
    /// The time base itself.
    Time,
    /// A time: the same one.
    Expires,
    /// It belongs to the machine: the partition sees which processor it runs on.
    Machine,
    /// What it held, with a hashed page table; with radix translation [`Rule::Spent`].
    Segment,
    /// Nobody says. It may not be another partition's.
    Undefined,
}

/// The rules of one register.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Which.
    pub register: Register,
    /// After a hypercall.
    pub hypercall: Rule,
    /// After any other exit.
    pub exit: Rule,
}

enum Set {
    One(Register),
    Gprs(RangeInclusive<u8>),
    CrFields(&'static [u8]),
    Fprs,
    OtherVsrs,
    Slb,
    Sprs(&'static [Spr]),
}

/// Registers, what a hypercall may do to them, and what any other exit may.
type Group = (Set, Rule, Rule);

const GROUPS: &[Group] = &[
    (Set::One(Register::Pc), Rule::Kept, Rule::Kept),
    (Set::One(Register::Msr), Rule::Kept, Rule::Kept),
    // Volatile; of these PAPR gives r3 the status and r4 and up the outputs.
    (Set::Gprs(0..=0), Rule::Spent, Rule::Kept),
    (Set::Gprs(3..=3), Rule::Status, Rule::Kept),
    (Set::Gprs(4..=4), Rule::Output(0), Rule::Kept),
    (Set::Gprs(5..=5), Rule::Output(1), Rule::Kept),
    (Set::Gprs(6..=6), Rule::Output(2), Rule::Kept),
    (Set::Gprs(7..=7), Rule::Output(3), Rule::Kept),
    (Set::Gprs(8..=8), Rule::Output(4), Rule::Kept),
    (Set::Gprs(9..=9), Rule::Output(5), Rule::Kept),
    (Set::Gprs(10..=10), Rule::Output(6), Rule::Kept),
    (Set::Gprs(11..=11), Rule::Output(7), Rule::Kept),
    (Set::Gprs(12..=12), Rule::Spent, Rule::Kept),
    (Set::CrFields(&[0, 1, 5, 6, 7]), Rule::Spent, Rule::Kept),
    (Set::Sprs(&[Spr::Lr, Spr::Ctr, Spr::Xer]), Rule::Spent, Rule::Kept),
    // Nonvolatile.
    (Set::Gprs(1..=2), Rule::Kept, Rule::Kept),
    (Set::Gprs(13..=31), Rule::Kept, Rule::Kept),
    (Set::CrFields(&[2, 3, 4]), Rule::Kept, Rule::Kept),
    (Set::Fprs, Rule::Kept, Rule::Kept),
    (Set::OtherVsrs, Rule::Kept, Rule::Kept),
    (Set::One(Register::Fpscr), Rule::Kept, Rule::Kept),
    (Set::One(Register::Vscr), Rule::Kept, Rule::Kept),
    // A hypercall is an interrupt that saves in SRR0 and SRR1: what it saved.
    (Set::Sprs(&[Spr::Srr0, Spr::Srr1]), Rule::Kept, Rule::Kept),
    (Set::Sprs(&[Spr::Dar, Spr::Dsisr]), Rule::Kept, Rule::Kept),
    (Set::Sprs(&[Spr::Sprg0, Spr::Sprg1, Spr::Sprg2, Spr::Sprg3]), Rule::Kept, Rule::Kept),
    (Set::Sprs(&[Spr::Pidr, Spr::Amr, Spr::Iamr, Spr::Uamor, Spr::Pspb]), Rule::Kept, Rule::Kept),
    (Set::Sprs(&[Spr::Dscr, Spr::Fscr, Spr::Tar, Spr::Tidr, Spr::Vrsave]), Rule::Kept, Rule::Kept),
    (Set::Sprs(&[Spr::Ctrl, Spr::Ppr, Spr::Psscr, Spr::Dpdes]), Rule::Kept, Rule::Kept),
    (Set::Sprs(&[Spr::Tfhar, Spr::Tfiar, Spr::Texasr]), Rule::Kept, Rule::Kept),
    (Set::Sprs(&[Spr::Bescr, Spr::Ebbhr, Spr::Ebbrr]), Rule::Kept, Rule::Kept),
    (Set::Sprs(&[Spr::Mmcr0]), Rule::Alerts, Rule::Alerts),
    (Set::Sprs(&[Spr::Mmcr1, Spr::Mmcr2, Spr::Mmcra]), Rule::Kept, Rule::Kept),
    (Set::Sprs(&[Spr::Sier]), Rule::Sampled, Rule::Sampled),
    (Set::Sprs(&[Spr::Siar, Spr::Sdar]), Rule::Kept, Rule::Kept),
    (Set::Sprs(&[Spr::Pmc1, Spr::Pmc2, Spr::Pmc3]), Rule::Monitors, Rule::Monitors),
    (Set::Sprs(&[Spr::Pmc4, Spr::Pmc5, Spr::Pmc6]), Rule::Monitors, Rule::Monitors),
    (Set::Sprs(&[Spr::Mmcrs, Spr::Spmc1, Spr::Spmc2]), Rule::Kept, Rule::Kept),
    // Another vCPU that enters takes them away.
    (Set::Sprs(&[Spr::Acop, Spr::Tacr, Spr::Tcscr, Spr::Csigr]), Rule::Spent, Rule::Spent),
    // POWER9 has no such register behind the number; it reads as zero (`docs/facts/special-registers.md#wort`).
    (Set::Sprs(&[Spr::Wort]), Rule::Kept, Rule::Kept),
    // They are written alone, and keep nothing.
    (Set::Sprs(&[Spr::Trig1, Spr::Trig2, Spr::Trace]), Rule::Kept, Rule::Kept),
    // Any interrupt may lose a reservation. With radix translation nothing looks into the SLB; a
    // partition can still read it. With a hashed page table it is the kernel's as any other register.
    (Set::One(Register::Reservation), Rule::Spent, Rule::Spent),
    (Set::Slb, Rule::Segment, Rule::Segment),
    (Set::Sprs(&[Spr::Tb]), Rule::Time, Rule::Time),
    (Set::Sprs(&[Spr::Dec]), Rule::Expires, Rule::Expires),
    (Set::Sprs(&[Spr::Purr, Spr::Spurr, Spr::Vtb]), Rule::Counts, Rule::Counts),
    (Set::Sprs(&[Spr::Ic]), Rule::Completes, Rule::Completes),
    (Set::Sprs(&[Spr::Pvr, Spr::Cir, Spr::Pir, Spr::Tir]), Rule::Machine, Rule::Machine),
    // A hypercall may lose it: the last branch before the partition goes on is the hypervisor's.
    (Set::Sprs(&[Spr::Cfar]), Rule::Undefined, Rule::Kept),
];

/// A row for each register that a partition can see.
#[must_use]
pub fn rows(processor: Processor) -> Vec<Row> {
    let group = |&(ref set, hypercall, exit): &Group| {
        registers(set, processor).into_iter().map(move |register| Row { register, hypercall, exit })
    };
    GROUPS.iter().flat_map(group).collect()
}

fn registers(set: &Set, processor: Processor) -> Vec<Register> {
    match set {
        Set::One(register) => vec![*register],
        Set::Gprs(numbers) => numbers.clone().map(Register::Gpr).collect(),
        Set::CrFields(numbers) => numbers.iter().copied().map(Register::CrField).collect(),
        Set::Fprs => (0..32).map(Register::Fpr).collect(),
        Set::OtherVsrs => {
            let low = (0..32).map(|number| Register::Vsr(number, 1));
            let high = (32..64).flat_map(|number| [0, 1].map(|half| Register::Vsr(number, half)));
            low.chain(high).collect()
        }
        Set::Slb => {
            let entries = 0..processor.facts().slb_entries as u8;
            entries.flat_map(|entry| [0, 1].map(|half| Register::Slb(entry, half))).collect()
        }
        Set::Sprs(sprs) => {
            let visible = sprs.iter().filter(|spr| is_partitions(**spr, processor));
            visible.copied().map(Register::Spr).collect()
        }
    }
}

/// How many outputs, from r4 on, a hypercall has by PAPR.
#[must_use]
pub fn outputs(number: u64) -> u8 {
    match Hypercall::from_number(number) {
        Some(Hypercall::Read | Hypercall::BulkRemove | Hypercall::BlockRemove) => 8,
        Some(Hypercall::GetTermChar) => 3,
        Some(Hypercall::Ipoll | Hypercall::GetCpuCharacteristics | Hypercall::Remove) => 2,
        Some(
            Hypercall::Xirr
            | Hypercall::Random
            | Hypercall::GetTce
            | Hypercall::Enter
            | Hypercall::ClearRef
            | Hypercall::ClearMod,
        ) => 1,
        _ => 0,
    }
}

/// Statuses that PAPR has.
pub const STATUSES: RangeInclusive<i64> = -511..=9905;

#[cfg(test)]
mod tests {
    use arch::processor::Processor;
    use arch::registers::spr::Spr;

    use super::{GROUPS, Register, Set, rows};
    use crate::oracle::register::is_partitions;

    #[test]
    fn every_register_that_a_partition_can_see_has_one_row() {
        for processor in Processor::ALL {
            has_one_row_each(processor);
        }
    }

    #[test]
    fn every_row_is_for_a_register_that_a_partition_of_some_processor_can_see() {
        for (set, ..) in GROUPS {
            let Set::Sprs(sprs) = set else { continue };
            for &spr in *sprs {
                let sees = |processor| is_partitions(spr, processor);
                assert!(Processor::ALL.into_iter().any(sees), "{}", spr.name());
            }
        }
    }

    fn has_one_row_each(processor: Processor) {
        let rows = rows(processor);
        let count = |register| rows.iter().filter(|row| row.register == register).count();
        for &spr in Spr::ALL {
            let expected = usize::from(is_partitions(spr, processor));
            assert_eq!(count(Register::Spr(spr)), expected, "{} on {processor}", spr.name());
        }
        for row in &rows {
            assert_eq!(count(row.register), 1, "{}", row.register);
        }
        for number in 0..32 {
            assert_eq!(count(Register::Gpr(number)), 1);
            assert_eq!(count(Register::Fpr(number)), 1);
        }
        assert!((0..8).all(|number| count(Register::CrField(number)) == 1));
    }
}
