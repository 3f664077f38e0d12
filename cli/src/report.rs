//! The figures of an experiment, as a table for people and as JSON for programs.
//!
//! The JSON's form is a promise to programs; [`SCHEMA`] changes when it breaks.

use std::collections::BTreeMap;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;
use simulator::trace::Counts;

use crate::experiment::{Experiment, Per, Published};
use crate::ledger::Ledger;

/// The version of the JSON's form.
pub const SCHEMA: u32 = 1;

/// What an experiment found.
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct Report {
    schema: u32,
    experiment: String,
    machine: String,
    /// Of this command.
    version: &'static str,
    /// Of the machine's description.
    config_hash: String,
    seed: u64,
    rows: Vec<Row>,
    /// By variant; empty where the machine ran without its timing model.
    ledger: BTreeMap<String, Ledger>,
    #[serde(skip)]
    question: String,
}

/// One figure of one variant.
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct Row {
    variant: String,
    metric: &'static str,
    value: Figure,
    /// The bounds, where the figure is an interval.
    low: Option<Figure>,
    high: Option<Figure>,
    unit: &'static str,
    thread: Option<u32>,
    region: String,
    published: Vec<Published>,
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

    fn number(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Real(value) => value,
        }
    }

    fn text(self) -> String {
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
    /// How long it took, where the machine ran with its timing model.
    pub cycles: Option<Cycles>,
}

/// Cycles of a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cycles {
    /// With every value of the machine's description as it is.
    pub value: u64,
    /// The least of that and of runs with every guess at an end.
    pub low: u64,
    /// The most of them.
    pub high: u64,
}

/// A figure that is made from what was measured.
struct Metric {
    name: &'static str,
    column: &'static str,
    unit: &'static str,
    count: fn(&Counts) -> u64,
}

const CYCLES: &str = "cycles_per_hypercall";

/// Every metric of an experiment counted per hypercall.
const PER_HYPERCALL: [Metric; 8] = [
    Metric {
        name: "instructions_per_hypercall",
        column: "instructions",
        unit: "instructions",
        count: |counts| counts.guest_instructions + counts.hypervisor_instructions,
    },
    Metric {
        name: "hypervisor_instructions_per_hypercall",
        column: "hypervisor",
        unit: "instructions",
        count: |counts| counts.hypervisor_instructions,
    },
    Metric {
        name: "guest_instructions_per_hypercall",
        column: "guest",
        unit: "instructions",
        count: |counts| counts.guest_instructions,
    },
    Metric {
        name: "spr_reads_per_hypercall",
        column: "SPR reads",
        unit: "reads",
        count: |counts| counts.spr_reads,
    },
    Metric {
        name: "spr_writes_per_hypercall",
        column: "SPR writes",
        unit: "writes",
        count: |counts| counts.spr_writes,
    },
    Metric {
        name: "exits_per_hypercall",
        column: "exits",
        unit: "exits",
        count: |counts| counts.exits_translated + counts.exits_real,
    },
    Metric {
        name: "translated_exits_per_hypercall",
        column: "translated",
        unit: "exits",
        count: |counts| counts.exits_translated,
    },
    Metric {
        name: "real_exits_per_hypercall",
        column: "real",
        unit: "exits",
        count: |counts| counts.exits_real,
    },
];

impl Report {
    /// A report without rows; the machine's name and the hash come from its description.
    #[must_use]
    pub fn new(experiment: &Experiment, machine: &str, config_hash: String, seed: u64) -> Self {
        Self {
            schema: SCHEMA,
            experiment: experiment.name.clone(),
            machine: machine.to_owned(),
            version: env!("CARGO_PKG_VERSION"),
            config_hash,
            seed,
            rows: Vec::new(),
            ledger: BTreeMap::new(),
            question: experiment.question.clone(),
        }
    }

    /// Adds a variant's figures. Fails, saying why, if there is nothing to divide by.
    pub fn add(
        &mut self,
        experiment: &Experiment,
        variant: &str,
        measured: &Measured,
    ) -> Result<(), String> {
        let counts = &measured.counts;
        let per = match experiment.per {
            Per::Hypercall => counts.hypercalls,
        };
        if per == 0 {
            return Err(format!("no hypercall in the region {}", experiment.region.1));
        }
        let row = |metric, unit, value, ends: Option<[u64; 2]>| Row {
            variant: variant.to_owned(),
            metric,
            value: Figure::ratio(value, per),
            low: ends.map(|[low, _]| Figure::ratio(low, per)),
            high: ends.map(|[_, high]| Figure::ratio(high, per)),
            unit,
            thread: None,
            region: experiment.region.1.clone(),
            published: of_metric(&experiment.published, metric),
        };
        if let Some(Cycles { value, low, high }) = measured.cycles {
            self.rows.push(row(CYCLES, "cycles", value, Some([low, high])));
        }
        let counted = PER_HYPERCALL.iter();
        self.rows.extend(
            counted.map(|metric| row(metric.name, metric.unit, (metric.count)(counts), None)),
        );
        Ok(())
    }

    /// One line of JSON.
    #[must_use]
    pub fn json(&self) -> String {
        let text = serde_json::to_string(self).expect("a report has only string keys");
        format!("{text}\n")
    }

    /// Adds where a variant's cycles went.
    pub fn add_ledger(&mut self, variant: &str, ledger: Ledger) {
        self.ledger.insert(variant.to_owned(), ledger);
    }

    /// A table with a line per variant, no wider than its columns need, and what others published.
    #[must_use]
    pub fn text(&self) -> String {
        let mut table = Table::new();
        table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        let is_timed = self.rows.iter().any(|row| row.metric == CYCLES);
        let cycles = if is_timed { &["cycles", "with guesses"][..] } else { &[] };
        let counts = PER_HYPERCALL.iter().map(|metric| metric.column);
        table.set_header(["variant"].into_iter().chain(cycles.iter().copied()).chain(counts));
        for figures in self.rows.chunks(PER_HYPERCALL.len() + usize::from(is_timed)) {
            let mut cells = vec![figures[0].variant.clone()];
            for row in figures {
                cells.push(row.value.text());
                if let (Some(low), Some(high)) = (row.low, row.high) {
                    cells.push(format!("{} to {}", low.text(), high.text()));
                }
            }
            table.add_row(cells);
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let lines: Vec<String> = table.lines().map(|line| line.trim().to_owned()).collect();
        format!(
            "{}: {}\nmachine {}, seed {}; figures per hypercall in the region {}\n\n{}\n{}",
            self.experiment,
            self.question,
            self.machine,
            self.seed,
            self.rows.first().map_or("", |row| row.region.as_str()),
            lines.join("\n"),
            self.published()
        )
    }

    /// What others published, and how our figures stand to it, variant by variant.
    fn published(&self) -> String {
        let mut text = String::new();
        for row in self.rows.iter().filter(|row| !row.published.is_empty()) {
            text.push_str(&format!("\npublished, and {} as a part of it\n", row.variant));
            for published in &row.published {
                let Published { value, what, source, .. } = published;
                let percent = row.value.number() / value * 100.0;
                text.push_str(&format!(
                    "{value:>8} {:<8} {percent:>7.1} %  {what} ({source})\n",
                    row.unit
                ));
            }
        }
        text
    }
}

fn of_metric(published: &[Published], metric: &str) -> Vec<Published> {
    published.iter().filter(|published| published.metric == metric).cloned().collect()
}
