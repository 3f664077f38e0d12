//! The figures that an experiment has: by what its counts are divided, and what is counted.

use serde::{Deserialize, Serialize};
use simulator::trace::Counts;

use crate::refills::Refills;
use crate::samples::Summary;

/// What counts are divided by.
#[derive(Deserialize, Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// By the hypercalls that the guest made in the region.
    Hypercall,
    /// By the instructions completed in the region.
    Instruction,
    /// By nothing: the hypervisor marks a region of its own for a partition. Counted, not timed.
    Partition,
    /// By how often the region began: in it a vCPU hands the hardware thread to another.
    Switch,
    /// By how often the region began: with something that interrupts a vCPU.
    Event,
    /// By nothing: the payload prints samples, of which the figures are. Timed, not counted.
    Sample,
}

impl Per {
    /// Whether a region belongs to all partitions together: one may begin it, and another end it.
    #[must_use]
    pub const fn is_of_all_partitions(self) -> bool {
        matches!(self, Self::Switch | Self::Event)
    }
}

/// A figure, an integer where it is one.
#[derive(Serialize, Clone, Copy, PartialEq, Debug)]
#[serde(untagged)]
pub enum Figure {
    /// Exact.
    Integer(u64),
    /// Rounded as `f64` does.
    Real(f64),
}

impl Figure {
    /// `count / per`; `per` must not be 0.
    #[must_use]
    pub fn ratio(count: u64, per: u64) -> Self {
        if count.is_multiple_of(per) {
            Self::Integer(count / per)
        } else {
            Self::Real(count as f64 / per as f64)
        }
    }

    /// As a number that can be computed with.
    #[must_use]
    pub fn number(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Real(value) => value,
        }
    }

    /// As tables show it.
    #[must_use]
    pub fn text(self) -> String {
        match self {
            Self::Integer(value) => value.to_string(),
            Self::Real(value) => format!("{value:.4}"),
        }
    }
}

/// What was measured in a region.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Measured {
    /// What happened.
    pub counts: Counts,
    /// How many cycles it took, where the machine ran with its timing model.
    pub cycles: Option<Interval>,
    /// Its cycles that went into bringing back what was lost to others.
    pub refills: Option<Refills>,
    /// Of the samples that the payload took, and the ends of that where it leans on guesses.
    pub samples: Option<(Summary, Option<[Summary; 2]>)>,
}

/// A number, and its ends where it leans on guesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval {
    /// With every value of the machine's description as it is.
    pub value: u64,
    /// The least and the most of that and of runs with every guess at an end.
    pub ends: Option<[u64; 2]>,
}

/// A figure that is made from what was measured.
#[derive(Debug)]
pub struct Metric {
    /// In JSON.
    pub name: &'static str,
    /// In tables.
    pub column: &'static str,
    /// The unit.
    pub unit: &'static str,
    /// Which way it is better: `lower`, or `higher`.
    pub better: &'static str,
    /// Whether it is of the whole region, not divided.
    pub is_whole: bool,
    /// The number, if it was measured.
    pub of: fn(&Measured) -> Option<Interval>,
}

fn exact(value: u64) -> Option<Interval> {
    Some(Interval { value, ends: None })
}

const fn count(
    name: &'static str,
    column: &'static str,
    unit: &'static str,
    of: fn(&Measured) -> Option<Interval>,
) -> Metric {
    Metric { name, column, unit, better: "lower", is_whole: false, of }
}

const PER_HYPERCALL: [Metric; 9] = [
    count("cycles_per_hypercall", "cycles", "cycles", |measured| measured.cycles),
    count("instructions_per_hypercall", "instructions", "instructions", |measured| {
        exact(instructions(&measured.counts))
    }),
    count("hypervisor_instructions_per_hypercall", "hypervisor", "instructions", |measured| {
        exact(measured.counts.hypervisor_instructions)
    }),
    count("guest_instructions_per_hypercall", "guest", "instructions", |measured| {
        exact(measured.counts.guest_instructions)
    }),
    count("spr_reads_per_hypercall", "SPR reads", "reads", |measured| {
        exact(measured.counts.spr_reads)
    }),
    count("spr_writes_per_hypercall", "SPR writes", "writes", |measured| {
        exact(measured.counts.spr_writes)
    }),
    count("exits_per_hypercall", "exits", "exits", |measured| {
        exact(measured.counts.exits_translated + measured.counts.exits_real)
    }),
    count("translated_exits_per_hypercall", "translated", "exits", |measured| {
        exact(measured.counts.exits_translated)
    }),
    count("real_exits_per_hypercall", "real", "exits", |measured| {
        exact(measured.counts.exits_real)
    }),
];

const PER_INSTRUCTION: [Metric; 3] = [
    count("cycles_per_instruction", "cycles", "cycles", |measured| measured.cycles),
    Metric {
        name: "instructions",
        column: "instructions",
        unit: "instructions",
        better: "lower",
        is_whole: true,
        of: |measured| exact(instructions(&measured.counts)),
    },
    Metric {
        name: "exits",
        column: "exits",
        unit: "exits",
        better: "lower",
        is_whole: true,
        of: |measured| exact(measured.counts.exits_translated + measured.counts.exits_real),
    },
];

const PER_PARTITION: [Metric; 1] =
    [count("hypervisor_instructions_per_partition", "hypervisor", "instructions", |measured| {
        exact(measured.counts.hypervisor_instructions)
    })];

/// The figures of a region that begins with every `$noun`.
macro_rules! repeated {
    ($noun:literal) => {
        [
            count(concat!("cycles_per_", $noun), "cycles", "cycles", |measured| measured.cycles),
            count(
                concat!("instructions_per_", $noun),
                "instructions",
                "instructions",
                |measured| exact(instructions(&measured.counts)),
            ),
            count(
                concat!("hypervisor_instructions_per_", $noun),
                "hypervisor",
                "instructions",
                |measured| exact(measured.counts.hypervisor_instructions),
            ),
            count(concat!("spr_reads_per_", $noun), "SPR reads", "reads", |measured| {
                exact(measured.counts.spr_reads)
            }),
            count(concat!("spr_writes_per_", $noun), "SPR writes", "writes", |measured| {
                exact(measured.counts.spr_writes)
            }),
            count(concat!("exits_per_", $noun), "exits", "exits", |measured| {
                exact(measured.counts.exits_translated + measured.counts.exits_real)
            }),
            count(concat!("cache_cycles_per_", $noun), "caches", "cycles", |measured| {
                exact(measured.refills?.caches)
            }),
            count(concat!("erat_cycles_per_", $noun), "ERAT", "cycles", |measured| {
                exact(measured.refills?.erat)
            }),
            count(concat!("tlb_cycles_per_", $noun), "TLB", "cycles", |measured| {
                exact(measured.refills?.tlb)
            }),
            count(concat!("predictor_cycles_per_", $noun), "predictor", "cycles", |measured| {
                exact(measured.refills?.predictor)
            }),
        ]
    };
}

/// A figure of the samples, in nanoseconds.
macro_rules! sample {
    ($name:literal, $figure:ident) => {
        Metric {
            name: $name,
            column: stringify!($figure),
            unit: "ns",
            better: "lower",
            is_whole: true,
            of: |measured| {
                let (value, ends) = measured.samples?;
                let ends = ends.map(|ends| ends.map(|end| end.$figure));
                Some(Interval { value: value.$figure, ends })
            },
        }
    };
}

const PER_SAMPLE: [Metric; 5] = [
    sample!("median_ns", median),
    sample!("minimum_ns", minimum),
    sample!("maximum_ns", maximum),
    sample!("mean_ns", mean),
    sample!("deviation_ns", deviation),
];
const PER_SWITCH: [Metric; 10] = repeated!("switch");
const PER_EVENT: [Metric; 10] = repeated!("event");

fn instructions(counts: &Counts) -> u64 {
    counts.guest_instructions + counts.hypervisor_instructions
}

/// The figures of an experiment whose counts are divided so.
#[must_use]
pub fn metrics(per: Per) -> &'static [Metric] {
    match per {
        Per::Hypercall => &PER_HYPERCALL,
        Per::Instruction => &PER_INSTRUCTION,
        Per::Partition => &PER_PARTITION,
        Per::Switch => &PER_SWITCH,
        Per::Event => &PER_EVENT,
        Per::Sample => &PER_SAMPLE,
    }
}

impl Per {
    /// Whether the region begins and ends many times, and only what lies between counts.
    #[must_use]
    pub const fn is_repeated(self) -> bool {
        matches!(self, Self::Switch | Self::Event)
    }

    /// What to divide by.
    #[must_use]
    pub fn of(self, counts: &Counts) -> u64 {
        match self {
            Self::Hypercall => counts.hypercalls,
            Self::Instruction => instructions(counts),
            Self::Partition | Self::Sample => 1,
            Self::Switch | Self::Event => counts.begun,
        }
    }

    /// One of what counts are divided by.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            Self::Hypercall => "hypercall",
            Self::Instruction => "instruction",
            Self::Partition => "partition",
            Self::Switch => "switch",
            Self::Event => "event",
            Self::Sample => "run",
        }
    }
}
