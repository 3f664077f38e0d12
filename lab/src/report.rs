//! The figures of an experiment, as a table for people and as JSON for programs.
//!
//! The JSON's form is a promise to programs, `docs/json.md` has it; [`SCHEMA`] changes when it breaks.

use std::collections::BTreeMap;

use arch::processor::Processor;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;
use simulator::description::Description;
use simulator::description::timing::TimingFile;

use crate::checks::{Checks, causes_text};
use crate::experiment::{Experiment, Published, Variant};
use crate::ledger::{Ledger, explain};
use crate::loss;
use crate::metric::{Figure, Interval, MISSES, Measured, Per, metrics};
use crate::reasons::{self, Reason};
use crate::record::{Lessons, lessons};
use crate::setting::{self, Given};
use crate::steps::{self, Saved};

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
    /// Of the values of its timing model.
    parameters_lock: String,
    /// The values of its timing model, by their keys.
    parameters: BTreeMap<String, f64>,
    seed: u64,
    /// Where the machine ran with its timing model.
    quantum: Option<u64>,
    per: Per,
    rows: Vec<Row>,
    /// By variant.
    variants: BTreeMap<String, OfVariant>,
    /// By variant; empty where the machine ran without its timing model.
    ledger: BTreeMap<String, Ledger>,
    /// What each step saves, where the experiment has steps and the machine ran with its timing model.
    steps: Option<Saved>,
    #[serde(skip)]
    question: String,
    /// Of which processor others published figures, if that is not the machine's.
    #[serde(skip)]
    published_of: Option<Processor>,
    /// Why lines of a ledger cannot go.
    #[serde(skip)]
    reasons: Vec<Reason>,
}

/// What is one thing for all rows of a variant.
#[derive(Serialize, Clone, PartialEq, Debug)]
struct OfVariant {
    /// What the figures that are not of the whole region were divided by.
    divisor: u64,
    /// The values that the variant has instead of the report's, by their keys.
    set: BTreeMap<String, Given>,
    /// How many events the region met that a value is the price of, by the value's key.
    events: BTreeMap<&'static str, u64>,
    /// What the vCPUs of partitions, by name, have learned of the prefetch engine, where they do.
    #[serde(skip_serializing_if = "Lessons::is_empty")]
    learned: Lessons,
    #[serde(flatten)]
    checks: Checks,
}

/// One figure of one variant.
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct Row {
    variant: String,
    metric: String,
    value: Figure,
    /// The bounds, where the figure is an interval.
    low: Option<Figure>,
    high: Option<Figure>,
    unit: &'static str,
    /// Which way the figure is better: `lower` or `higher`.
    better: &'static str,
    thread: Option<u32>,
    region: String,
    published: Vec<Published>,
}

/// A figure of a variant.
fn figure_of(rows: &[Row], variant: &str, metric: &str) -> Option<f64> {
    let row = rows.iter().find(|row| row.variant == variant && row.metric == metric)?;
    Some(row.value.number())
}

/// Cycles of a variant: its first figure in cycles.
fn cycles_of(rows: &[Row], variant: &str) -> Option<f64> {
    let row = rows.iter().find(|row| row.variant == variant && row.unit == "cycles")?;
    Some(row.value.number())
}

impl Report {
    /// A report without rows, of the machine that `description` describes.
    #[must_use]
    pub fn new(
        experiment: &Experiment,
        description: &Description,
        seed: u64,
        quantum: Option<u64>,
    ) -> Self {
        Self {
            schema: SCHEMA,
            experiment: experiment.name.clone(),
            machine: description.name().to_owned(),
            version: env!("CARGO_PKG_VERSION"),
            config_hash: description.config_hash(),
            parameters_lock: description
                .timing()
                .map_or_else(|_| String::new(), TimingFile::checksum),
            parameters: quantum
                .map(|_| setting::timing(experiment.machine.text()))
                .unwrap_or_default(),
            seed,
            quantum,
            per: experiment.per.clone(),
            rows: Vec::new(),
            variants: BTreeMap::new(),
            ledger: BTreeMap::new(),
            steps: None,
            question: experiment.question.clone(),
            published_of: Some(experiment.published_of)
                .filter(|processor| *processor != description.processor()),
            reasons: experiment.reasons.clone(),
        }
    }

    /// Adds a variant's figures. Fails, saying why, if there is nothing to divide by.
    pub fn add(
        &mut self,
        experiment: &Experiment,
        variant: &Variant,
        measured: &Measured,
    ) -> Result<(), String> {
        let per = variant.divisor_of(&experiment.per, &measured.counts);
        let region = &variant.region.1;
        if per == 0 {
            return Err(format!("no {} in the region {region}", experiment.per.noun()));
        }
        for metric in metrics(&experiment.per) {
            let Some(Interval { value, ends }) = (metric.of)(measured) else { continue };
            let divisor = if metric.is_whole { 1 } else { per };
            let [low, high] = [0, 1].map(|end| ends.map(|ends| Figure::ratio(ends[end], divisor)));
            self.rows.push(Row {
                variant: variant.name.clone(),
                metric: metric.name(&experiment.per),
                value: Figure::ratio(value, divisor),
                low,
                high,
                unit: metric.unit,
                better: metric.better,
                thread: None,
                region: region.clone(),
                published: of_metric(
                    &experiment.published,
                    &metric.name(&experiment.per),
                    &variant.name,
                ),
            });
        }
        let of_variant = OfVariant {
            divisor: per,
            set: BTreeMap::new(),
            events: measured.met.as_ref().map(|met| met.events.clone()).unwrap_or_default(),
            learned: measured.learned.clone(),
            checks: Checks::default(),
        };
        self.variants.insert(variant.name.clone(), of_variant);
        Ok(())
    }

    /// Says that a variant, which has its figures, ran with these values instead of the report's, by their keys.
    pub fn add_set(&mut self, variant: &str, set: BTreeMap<String, Given>) {
        if let Some(of_variant) = self.variants.get_mut(variant) {
            of_variant.set = set;
        }
    }

    /// Whether it has no variant yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// One line of JSON.
    #[must_use]
    pub fn json(&self) -> String {
        let text = serde_json::to_string(self).expect("a report has only string keys");
        format!("{text}\n")
    }

    /// Adds where the cycles of a variant went that has its figures, and what was checked of them.
    pub fn add_ledger(&mut self, variant: &str, ledger: Ledger, checks: Checks) {
        self.ledger.insert(variant.to_owned(), ledger);
        if let Some(of_variant) = self.variants.get_mut(variant) {
            of_variant.checks = checks;
        }
    }

    /// Adds what the experiment's steps save, if it has some, once all variants have their figures and ledgers.
    pub fn add_steps(&mut self, experiment: &Experiment) {
        let measured = |variant: &str| {
            let (of, ledger) = (self.variants.get(variant)?, self.ledger.get(variant)?);
            let cycles = ledger.elapsed_thread_cycles as f64 / of.divisor as f64;
            Some(steps::Measured { cycles, divisor: of.divisor, ledger })
        };
        self.steps = experiment.steps.as_ref().and_then(|steps| steps.saved(measured));
    }

    /// Adds what each variant loses, if the experiment says against which, once both have their figures: before
    /// these. Without the timing model there is no loss.
    pub fn add_losses(&mut self, experiment: &Experiment) {
        let compared = experiment.variants.iter().filter_map(|variant| {
            let baseline = variant.loss_against.as_ref()?;
            Some((variant, self.losses(&variant.name, baseline)))
        });
        // All of them before the first is added, which is in cycles too.
        for (Variant { name, region, .. }, losses) in compared.collect::<Vec<_>>() {
            let place = self.rows.iter().position(|row| row.variant == *name);
            let rows = losses.into_iter().map(|(metric, unit, value)| Row {
                variant: name.clone(),
                published: of_metric(&experiment.published, &metric, name),
                metric,
                value,
                low: None,
                high: None,
                unit,
                better: "lower",
                thread: None,
                region: region.1.clone(),
            });
            let place = place.unwrap_or_default();
            self.rows.splice(place..place, rows);
        }
    }

    /// What a variant loses against a baseline: in cycles, and of each rate that both have.
    fn losses(&self, variant: &str, baseline: &str) -> Vec<(String, &'static str, Figure)> {
        let mut losses = Vec::new();
        if let [Some(cycles), Some(of_baseline)] =
            [variant, baseline].map(|name| cycles_of(&self.rows, name))
        {
            let of_cycles = loss::of(cycles, of_baseline).into_iter();
            losses.extend(of_cycles.map(|(metric, unit, value)| (metric.to_owned(), unit, value)));
        }
        for rate in self.rows.iter().filter(|row| row.variant == variant) {
            let Some(name) = loss::name_of(&rate.metric) else { continue };
            if let Some(of_baseline) = figure_of(&self.rows, baseline, &rate.metric) {
                losses.push((name, "percent", loss::of_rates(rate.value.number(), of_baseline)));
            }
        }
        losses
    }

    /// Of each variant its ledger if that is wanted, and what was checked of it.
    #[must_use]
    pub fn details(&self, is_ledger_wanted: bool, are_checks_wanted: bool) -> String {
        let mut text = String::new();
        for name in self
            .rows
            .chunk_by(|one, other| one.variant == other.variant)
            .map(|rows| &rows[0].variant)
        {
            let (Some(OfVariant { divisor, checks, .. }), Some(ledger)) =
                (self.variants.get(name), self.ledger.get(name))
            else {
                continue;
            };
            if let Some(half) = checks.half_quantum {
                text.push_str(&half.text(name, &self.per));
            }
            if is_ledger_wanted {
                let checked = checks.causes_made_free.as_deref().unwrap_or_default();
                let explained = explain::explain(ledger, *divisor, self.per.noun(), checked);
                text.push_str(&format!("\n{name}, where the cycles went\n\n{explained}"));
                text.push_str(&reasons::text(&self.reasons, name, ledger, *divisor));
                text.push_str(&self.misses(name));
            }
            if let (Some(causes), true) = (&checks.causes_made_free, are_checks_wanted) {
                text.push_str(&causes_text(name, causes));
            }
        }
        text
    }

    /// What the region of a variant did not find, a line for each.
    fn misses(&self, variant: &str) -> String {
        let is_of = |row: &&Row| row.variant == variant && row.unit == MISSES;
        let lines = self.rows.iter().filter(is_of).map(|row| {
            let stem = row.metric.split("_misses").next().unwrap_or_default().to_uppercase();
            let walks = if stem == "TLB" { ", each a walk of the tables" } else { "" };
            format!("{:>10}  {stem}{walks}\n", row.value.text())
        });
        format!("\nmisses per {}\n{}", self.per.noun(), lines.collect::<String>())
    }

    /// A table with a line per variant, no wider than its columns need, and what others published.
    #[must_use]
    pub fn text(&self) -> String {
        let mut table = Table::new();
        table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        let is_shown = |row: &&Row| row.unit != MISSES;
        let variants: Vec<&[Row]> =
            self.rows.chunk_by(|one, other| one.variant == other.variant).collect();
        // A variant may have figures that others have not: those of what it lost come first.
        let longest =
            variants.iter().rev().max_by_key(|figures| figures.iter().filter(is_shown).count());
        let of_all = longest.copied().unwrap_or_default().iter().filter(is_shown);
        let columns: Vec<(&str, bool)> =
            of_all.map(|row| (row.metric.as_str(), row.low.is_some())).collect();
        let mut header = vec!["variant"];
        for &(metric, is_range) in &columns {
            let known = metrics(&self.per).find(|known| known.name(&self.per) == metric);
            header.push(known.map_or(metric, |known| known.column));
            header.extend(is_range.then_some("with guesses"));
        }
        table.set_header(header);
        for figures in variants {
            let mut cells = vec![figures[0].variant.clone()];
            for &(metric, is_range) in &columns {
                let row = figures.iter().find(|row| row.metric == metric);
                cells.push(row.map_or_else(String::new, |row| row.value.text()));
                let range = row
                    .and_then(|row| Some(format!("{} to {}", row.low?.text(), row.high?.text())));
                cells.extend(is_range.then_some(range.unwrap_or_default()));
            }
            table.add_row(cells);
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let lines: Vec<String> = table.lines().map(|line| line.trim().to_owned()).collect();
        let steps = self.steps.as_ref().map(Saved::text).unwrap_or_default();
        format!(
            "{}: {}\nmachine {}, parameters {}, seed {}; figures per {} of the marked region\n\n{}\n{steps}{}{}",
            self.experiment,
            self.question,
            self.machine,
            self.parameters_lock,
            self.seed,
            self.per.noun(),
            lines.join("\n"),
            self.learned(),
            self.published()
        )
    }

    /// What vCPUs have learned, variant by variant.
    fn learned(&self) -> String {
        let of_variant = |(name, OfVariant { learned, .. }): (&String, &OfVariant)| {
            let lines = learned.iter().flat_map(|(partition, of)| lessons(partition, of));
            lines.map(|line| format!("\n{name}, {line}")).collect::<String>()
        };
        let text: String = self.variants.iter().map(of_variant).collect();
        if text.is_empty() { text } else { text + "\n" }
    }

    /// What others published, and how our figures stand to it, variant by variant.
    fn published(&self) -> String {
        let mut text = String::new();
        let of = self.published_of.map(|processor| format!(" of a {processor}"));
        let of = of.unwrap_or_default();
        for row in self.rows.iter().filter(|row| !row.published.is_empty()) {
            text.push_str(&format!("\npublished{of}, and {} as a part of it\n", row.variant));
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

fn of_metric(published: &[Published], metric: &str, variant: &str) -> Vec<Published> {
    let is_of = |published: &&Published| {
        let of_variant = published.variant.as_ref();
        published.metric == metric && of_variant.is_none_or(|of| of == variant)
    };
    published.iter().filter(is_of).cloned().collect()
}
