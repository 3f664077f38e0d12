//! The figures that an experiment has: by what its counts are divided, and what is counted.

use serde::{Deserialize, Serialize};
use simulator::trace::Counts;

use crate::events::Met;
use crate::extent::Extent;
use crate::rates::{KINDS, Rates};
use crate::record::Lessons;
use crate::refills::Refills;
use crate::samples::Summary;

/// What counts are divided by.
#[derive(Deserialize, Serialize, Clone, PartialEq, Eq, Debug)]
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
    /// By how often the region began: it is a partition's time slice, with the switch before it.
    Slice,
    /// By how often the region began: the first partition does a job in it. Cycles are its own and those of the
    /// hypervisor that serves it; what else is counted is everybody's in that time.
    Job,
    /// By nothing: the payload prints samples, of which the figures are. Timed, not counted.
    Sample,
    /// By a number that the experiment gives, of what it calls so.
    #[serde(untagged)]
    Own(String),
}

impl Per {
    /// Every word that needs no number.
    pub const KNOWN: [&str; 8] =
        ["hypercall", "instruction", "partition", "switch", "event", "slice", "job", "sample"];

    /// Whether a region belongs to all partitions together: one may begin it, and another end it.
    #[must_use]
    pub const fn is_of_all_partitions(&self) -> bool {
        matches!(self, Self::Switch | Self::Event | Self::Slice | Self::Job)
    }
}

/// LPID of the partition whose jobs an experiment measures: the bundle's first.
const WORKER: u32 = 1;

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
    /// What the region met, where the machine ran with its timing model.
    pub met: Option<Met>,
    /// Of the samples that the payload took, and the ends of that where it leans on guesses.
    pub samples: Option<(Summary, Option<[Summary; 2]>)>,
    /// What the payload got done in a second of its own time, and the ends of that.
    pub rates: (Rates, Option<[Rates; 2]>),
    /// What the vCPUs of partitions, by name, have learned of the prefetch engine, where they do.
    pub learned: Lessons,
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
    /// What its name in JSON begins with.
    stem: &'static str,
    /// In tables; empty where a table does not show it.
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

impl Metric {
    /// Its name in JSON, where counts are divided so.
    #[must_use]
    pub fn name(&self, per: &Per) -> String {
        if self.is_whole {
            self.stem.to_owned()
        } else {
            format!("{}_per_{}", self.stem, per.noun())
        }
    }
}

/// The unit of what a region did not find.
pub const MISSES: &str = "misses";

fn exact(value: u64) -> Option<Interval> {
    Some(Interval { value, ends: None })
}

const fn count(
    stem: &'static str,
    column: &'static str,
    unit: &'static str,
    of: fn(&Measured) -> Option<Interval>,
) -> Metric {
    Metric { stem, column, unit, better: "lower", is_whole: false, of }
}

const fn whole(metric: Metric) -> Metric {
    Metric { is_whole: true, ..metric }
}

const CYCLES: Metric = count("cycles", "cycles", "cycles", |measured| measured.cycles);
const INSTRUCTIONS: Metric = count("instructions", "instructions", "instructions", |measured| {
    exact(instructions(&measured.counts))
});
const OF_HYPERVISOR: Metric =
    count("hypervisor_instructions", "hypervisor", "instructions", |measured| {
        exact(measured.counts.hypervisor_instructions)
    });
const OF_GUEST: Metric = count("guest_instructions", "guest", "instructions", |measured| {
    exact(measured.counts.guest_instructions)
});
const SPR_READS: Metric =
    count("spr_reads", "SPR reads", "reads", |measured| exact(measured.counts.spr_reads));
const SPR_WRITES: Metric =
    count("spr_writes", "SPR writes", "writes", |measured| exact(measured.counts.spr_writes));
const EXITS: Metric = count("exits", "exits", "exits", |measured| {
    exact(measured.counts.exits_translated + measured.counts.exits_real)
});

/// What a region did not find: no table shows it, `--explain` does.
macro_rules! misses {
    ($name:literal, $figure:ident) => {
        count($name, "", MISSES, |measured| exact(measured.met.as_ref()?.misses.$figure))
    };
}

const CACHE_CYCLES: Metric =
    count("cache_cycles", "caches", "cycles", |measured| exact(measured.refills?.caches));
const L1_MISSES: Metric = misses!("l1_misses", l1);
const L2_MISSES: Metric = misses!("l2_misses", l2);
const L3_MISSES: Metric = misses!("l3_misses", l3);
const ERAT_MISSES: Metric = misses!("erat_misses", erat);
const TLB_MISSES: Metric = misses!("tlb_misses", tlb);

/// Of a region that begins and ends once, and has many of what its counts are divided by.
const ONCE: [Metric; 14] = [
    CYCLES,
    INSTRUCTIONS,
    OF_HYPERVISOR,
    OF_GUEST,
    SPR_READS,
    SPR_WRITES,
    EXITS,
    count("translated_exits", "translated", "exits", |measured| {
        exact(measured.counts.exits_translated)
    }),
    count("real_exits", "real", "exits", |measured| exact(measured.counts.exits_real)),
    L1_MISSES,
    L2_MISSES,
    L3_MISSES,
    ERAT_MISSES,
    TLB_MISSES,
];

const PER_INSTRUCTION: [Metric; 8] = [
    CYCLES,
    whole(INSTRUCTIONS),
    whole(EXITS),
    L1_MISSES,
    L2_MISSES,
    L3_MISSES,
    ERAT_MISSES,
    TLB_MISSES,
];

const PER_PARTITION: [Metric; 1] = [OF_HYPERVISOR];

/// Of a region that begins again and again.
const REPEATED: [Metric; 15] = [
    CYCLES,
    INSTRUCTIONS,
    OF_HYPERVISOR,
    SPR_READS,
    SPR_WRITES,
    EXITS,
    CACHE_CYCLES,
    count("erat_cycles", "ERAT", "cycles", |measured| exact(measured.refills?.erat)),
    count("tlb_cycles", "TLB", "cycles", |measured| exact(measured.refills?.tlb)),
    count("predictor_cycles", "predictor", "cycles", |measured| exact(measured.refills?.predictor)),
    L1_MISSES,
    L2_MISSES,
    L3_MISSES,
    ERAT_MISSES,
    TLB_MISSES,
];

/// Of a partition's time slice: the work is what its instructions do.
const PER_SLICE: [Metric; 3] = [Metric { better: "higher", ..OF_GUEST }, CYCLES, OF_HYPERVISOR];

/// Of a job.
const PER_JOB: [Metric; 2] = [CYCLES, EXITS];

/// Of either: what was not in the caches, and what POWER8's prefetch engine did.
const CACHES_AND_ENGINE: [Metric; 11] = [
    CACHE_CYCLES,
    count("lost_line_cycles", "lost to others", "cycles", |measured| exact(measured.refills?.lost)),
    L1_MISSES,
    Metric { column: "L2 misses", ..L2_MISSES },
    Metric { column: "L3 misses", ..L3_MISSES },
    count("engine_lines_logged", "logged", "lines", |measured| {
        exact(measured.met.as_ref()?.engine.logged)
    }),
    count("engine_lines_fetched", "fetched", "lines", |measured| {
        exact(measured.met.as_ref()?.engine.fetched)
    }),
    count("engine_lines_found", "found", "lines", |measured| {
        exact(measured.met.as_ref()?.engine.found)
    }),
    count("engine_lines_from_l3", "from L3", "lines", |measured| {
        exact(measured.met.as_ref()?.engine.from_l3)
    }),
    count("engine_bytes", "bytes moved", "bytes", |measured| {
        exact(measured.met.as_ref()?.engine.bytes())
    }),
    Metric {
        better: "higher",
        ..count("engine_bound_cycles", "saves at most", "cycles", |measured| {
            let met = measured.met.as_ref()?;
            let (engine, savings) = (met.engine, met.savings);
            exact(engine.fetched * savings.memory + engine.from_l3 * savings.l3)
        })
    },
];

/// A figure of the samples, in nanoseconds.
macro_rules! sample {
    ($name:literal, $figure:ident) => {
        Metric {
            stem: $name,
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

/// Of what the payload got done in a second of its own time.
macro_rules! rate {
    ($kind:literal, $name:literal, $column:literal, $unit:literal) => {
        Metric {
            stem: $name,
            column: $column,
            unit: $unit,
            better: "higher",
            is_whole: true,
            of: |measured| {
                let (value, ends) = measured.rates;
                let ends = ends.and_then(|[low, high]| Some([low.0[$kind]?, high.0[$kind]?]));
                Some(Interval { value: value.0[$kind]?, ends })
            },
        }
    };
}

/// In the order of [`KINDS`].
const RATES: [Metric; KINDS.len()] = [
    rate!(0, "jobs_per_second", "jobs/s", "jobs/s"),
    rate!(1, "copy_bytes_per_second", "copy bytes/s", "bytes/s"),
    rate!(2, "scale_bytes_per_second", "scale bytes/s", "bytes/s"),
    rate!(3, "add_bytes_per_second", "add bytes/s", "bytes/s"),
    rate!(4, "triad_bytes_per_second", "triad bytes/s", "bytes/s"),
];

fn instructions(counts: &Counts) -> u64 {
    counts.guest_instructions + counts.hypervisor_instructions
}

/// The figures of an experiment whose counts are divided so: those of its counts, and those of rates and samples, which
/// not each payload tells.
pub fn metrics(per: &Per) -> impl Iterator<Item = &'static Metric> + Clone {
    let counted: &[Metric] = match per {
        Per::Hypercall | Per::Own(_) => &ONCE,
        Per::Instruction => &PER_INSTRUCTION,
        Per::Partition => &PER_PARTITION,
        Per::Switch | Per::Event => &REPEATED,
        Per::Slice => &PER_SLICE,
        Per::Job => &PER_JOB,
        Per::Sample => &[],
    };
    let engine: &[Metric] = match per {
        Per::Slice | Per::Job => &CACHES_AND_ENGINE,
        _ => &[],
    };
    counted.iter().chain(engine).chain(&RATES).chain(&PER_SAMPLE)
}

impl Per {
    /// When the region is over. Whoever does a job may be moved to another hardware thread meanwhile.
    #[must_use]
    pub const fn extent(&self) -> Extent {
        match self {
            Self::Switch | Self::Event | Self::Slice => Extent::Repeated,
            Self::Job => Extent::Of(WORKER),
            _ => Extent::Once,
        }
    }

    /// What to divide by, where that was counted; 1 for a word of the experiment's own, which gives its number.
    #[must_use]
    pub fn of(&self, counts: &Counts) -> u64 {
        match self {
            Self::Hypercall => counts.hypercalls,
            Self::Instruction => instructions(counts),
            Self::Partition | Self::Sample | Self::Own(_) => 1,
            Self::Switch | Self::Event | Self::Slice | Self::Job => counts.begun,
        }
    }

    /// One of what counts are divided by.
    #[must_use]
    pub fn noun(&self) -> &str {
        match self {
            Self::Hypercall => "hypercall",
            Self::Instruction => "instruction",
            Self::Partition => "partition",
            Self::Switch => "switch",
            Self::Event => "event",
            Self::Slice => "slice",
            Self::Job => "job",
            Self::Sample => "run",
            Self::Own(word) => word,
        }
    }
}
