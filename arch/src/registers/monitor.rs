//! Performance monitor: fields of MMCR0, MMCR1, MMCR2 and MMCRA, and what problem state may touch of them.
//!
//! Source: Power ISA 3.0B Book III, Performance Monitor Facility, as Linux's `reg.h`, Microwatt's
//! `pmu.vhdl` and QEMU's `power8-pmu-regs.c.inc` have it.

use crate::bits::{Field, bit};

/// MMCR0: freeze all counters.
pub const FC: u64 = bit(32);
/// MMCR0: freeze in a partition's privileged state.
pub const FCS: u64 = bit(33);
/// MMCR0: freeze in problem state.
pub const FCP: u64 = bit(34);
/// MMCR0: freeze while MSR\[PMM\]=1.
pub const FCM1: u64 = bit(35);
/// MMCR0: freeze while MSR\[PMM\]=0.
pub const FCM0: u64 = bit(36);
/// MMCR0: alerts are enabled; an alert clears it.
pub const PMAE: u64 = bit(37);
/// MMCR0: an enabled condition or event sets FC.
pub const FCECE: u64 = bit(38);
/// MMCR0: transitions of a time-base bit are events.
pub const TBEE: u64 = bit(41);
/// MMCR0: problem state may use the branch history buffer.
pub const BHRBA: u64 = bit(42);
/// MMCR0: alerts become event-based branches instead of interrupts.
pub const EBE: u64 = bit(43);
/// MMCR0: what problem state may use, and whether PMC5 and PMC6 belong to the performance monitor.
pub const PMCC: Field = Field::new(44, 45);
/// MMCR0: PMC1 being negative is an enabled condition.
pub const PMC1CE: u64 = bit(48);
/// MMCR0: one of the others being negative is an enabled condition.
pub const PMCJCE: u64 = bit(49);
/// MMCR0: the others wait for PMC1 to be negative, or for an enabled condition.
pub const TRIGGER: u64 = bit(50);
/// MMCR0: problem state is frozen by its kind: without FCP with MSR\[HV\]=1, with FCP with MSR\[HV\]=0.
pub const FCPC: u64 = bit(51);
/// MMCR0: PMC5 and PMC6 count whatever the run latch says.
pub const CC56RUN: u64 = bit(55);
/// MMCR0: an alert has occurred.
pub const PMAO: u64 = bit(56);
/// MMCR0: freeze PMC1 to PMC4.
pub const FC1_4: u64 = bit(58);
/// MMCR0: freeze PMC5 and PMC6.
pub const FC5_6: u64 = bit(59);
/// MMCR0: freeze PMC1 to PMC4 while the run latch is off.
pub const FC1_4WAIT: u64 = bit(62);
/// MMCR0: freeze in hypervisor state.
pub const FCH: u64 = bit(63);

/// Whether an alert, by MMCR0, waits to interrupt.
#[must_use]
pub const fn alerts(mmcr0: u64) -> bool {
    mmcr0 & (PMAO | EBE) == PMAO
}

/// What problem state sees and changes of MMCR0.
pub const PROBLEM_MMCR0: u64 = FC | PMAE | PMAO;

/// Bits of MMCR2 for one counter: IBM bit number, counted from the counter's first.
pub mod mmcr2 {
    /// Freeze in a partition's privileged state.
    pub const S: u32 = 0;
    /// Freeze in problem state.
    pub const P0: u32 = 1;
    /// Freeze while MSR\[PMM\]=1.
    pub const M1: u32 = 3;
    /// Freeze while MSR\[PMM\]=0.
    pub const M0: u32 = 4;
    /// Freeze while the run latch is off.
    pub const WAIT: u32 = 5;
    /// Freeze in hypervisor state.
    pub const H: u32 = 6;

    /// The mask of `field` of counter `number`, 1 to 6.
    #[must_use]
    pub const fn of(number: u32, field: u32) -> u64 {
        crate::bits::bit(9 * (number - 1) + field)
    }

    /// What problem state sees and changes: P0 of every counter.
    pub const PROBLEM: u64 = of(1, P0) | of(2, P0) | of(3, P0) | of(4, P0) | of(5, P0) | of(6, P0);
}

/// MMCR1: the event that PMC1 to PMC4 count.
pub const EVENTS: [Field; 4] =
    [Field::new(32, 39), Field::new(40, 47), Field::new(48, 55), Field::new(56, 63)];

/// MMCR0\[PMCC\]: PMC5 and PMC6 do not belong to the performance monitor.
pub const OUTSIDE: u64 = 3;

/// What a counter counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Quantity {
    /// Cycles of the processor.
    Cycles,
    /// Instructions that completed.
    Instructions,
}

/// An event of PMC1 to PMC4 that is about cycles or instructions.
///
/// Source: the events of POWER8 and POWER9 in Linux's `power8-events-list.h` and `power9-events-list.h` (PM_CYC,
/// PM_INST_CMPL, PM_RUN_CYC, PM_RUN_INST_CMPL), and those that ISA 2.07 has for all processors, as QEMU's
/// `power8-pmu.c` has them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// What it counts.
    pub what: Quantity,
    /// Only while the run latch is on.
    pub needs_run_latch: bool,
    /// MMCR0\[FC1-4WAIT\] does not freeze it.
    pub ignores_wait: bool,
}

impl Event {
    /// Event `number` of counter `counter`, 1 to 4; `None` if it is about anything else.
    #[must_use]
    pub const fn of(counter: u32, number: u32) -> Option<Self> {
        let (what, needs_run_latch) = match (counter, number) {
            (1..=4, 0x1E) | (1, 0xF0) => (Quantity::Cycles, false),
            (1..=4, 0x02) | (1, 0xFE) => (Quantity::Instructions, false),
            (2, 0xF4) => (Quantity::Cycles, true),
            (4, 0xFA) => (Quantity::Instructions, true),
            _ => return None,
        };
        Some(Self { what, needs_run_latch, ignores_wait: matches!((counter, number), (1, 0xF0)) })
    }
}

/// MMCRA: instructions are sampled.
pub const SAMPLE_ENABLE: u64 = bit(63);

/// A counter is negative.
pub const NEGATIVE: u64 = 0x8000_0000;

#[cfg(test)]
mod tests {
    use super::{PROBLEM_MMCR0, mmcr2};

    #[test]
    fn problem_state_reaches_what_linux_gives_it() {
        assert_eq!(PROBLEM_MMCR0, 0x8400_0080);
        assert_eq!(mmcr2::PROBLEM, 0x4020_1008_0402_0000);
    }
}
