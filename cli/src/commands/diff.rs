//! `powervisor diff`: what became dearer or cheaper from one report to another.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::path::Path;

use lab::ledger::difference::Difference;
use lab::ledger::{Ledger, export};
use lab::report::SCHEMA;
use lab::setting::Given;
use lab::toml_file::suggest;
use lab::user_file::Files;
use serde::{Deserialize, Serialize};

use crate::arguments::{By, DiffArguments, Format};
use crate::failure::Failure;
use crate::output::{check_not_read, check_place, print_text, write_file};
use crate::signals::INTERRUPTION;

/// What is read of a report.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Contents {
    schema: u32,
    experiment: String,
    config_hash: String,
    ledger: BTreeMap<String, Ledger>,
    /// What cycles are divided by; not in reports of `boot`.
    per: Option<String>,
    /// The values of the timing model, by key; not in reports of `boot`.
    #[serde(default)]
    parameters: BTreeMap<String, f64>,
    #[serde(default)]
    variants: BTreeMap<String, OfVariant>,
}

/// What is read of a variant.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct OfVariant {
    divisor: NonZero<u64>,
    /// Values of its own instead of the report's.
    #[serde(default)]
    set: BTreeMap<String, Given>,
    /// How many events there were that a value is the price of, by its key.
    #[serde(default)]
    events: BTreeMap<String, u64>,
}

impl Contents {
    /// The number at `key` that a variant ran with.
    fn value(&self, variant: &str, key: &str) -> Option<f64> {
        match self.variants.get(variant).and_then(|of| of.set.get(key)) {
            Some(Given::Number(own)) => Some(*own),
            Some(Given::Word(_)) => None,
            None => self.parameters.get(key).copied(),
        }
    }

    /// Whether a variant met no event that the value at `key` is the price of, as far as such events are counted.
    fn met_none(&self, variant: &str, key: &str) -> bool {
        self.variants.get(variant).is_some_and(|of| of.events.get(key) == Some(&0))
    }
}

/// A report and a variant of it.
type Side<'a> = (&'a Contents, &'a str);

/// A value of the machine that was changed between two variants, and that neither had to pay.
#[derive(Serialize)]
struct Moot {
    key: String,
    before: f64,
    after: f64,
}

fn cannot_change([(before, one), (after, other)]: [Side<'_>; 2]) -> Vec<Moot> {
    let keys = before.parameters.keys().filter_map(|key| {
        let (from, to) = (before.value(one, key)?, after.value(other, key)?);
        let is_moot = from != to && before.met_none(one, key) && after.met_none(other, key);
        is_moot.then(|| Moot { key: key.clone(), before: from, after: to })
    });
    keys.collect()
}

/// A value of the machine that one variant set for itself, or both to something else.
#[derive(Serialize)]
struct Set {
    key: String,
    /// As the description has it, if nothing is here.
    before: Option<Given>,
    after: Option<Given>,
}

/// What the two variants set for themselves, where that is not the same.
fn set([(before, one), (after, other)]: [Side<'_>; 2]) -> Vec<Set> {
    let of = |report: &Contents, name: &str| {
        report.variants.get(name).map(|variant| variant.set.clone()).unwrap_or_default()
    };
    let (before, after) = (of(before, one), of(after, other));
    let keys: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let pairs = keys.into_iter().map(|key| Set {
        key: key.clone(),
        before: before.get(key).cloned(),
        after: after.get(key).cloned(),
    });
    pairs.filter(|set| set.before != set.after).collect()
}

/// Which variant of which experiment.
#[derive(Serialize)]
struct Which {
    experiment: String,
    variant: String,
}

/// Two variants, compared.
#[derive(Serialize)]
struct Comparison {
    before: Which,
    after: Which,
    /// What the figures are.
    unit: String,
    set: Vec<Set>,
    #[serde(flatten)]
    difference: Difference,
    cannot_change: Vec<Moot>,
}

impl Comparison {
    fn new(
        sides: [Side<'_>; 2],
        ledgers: [&Ledger; 2],
        divided: (String, [u64; 2]),
        by: By,
    ) -> Self {
        let (unit, divisors) = divided;
        let [before, after] = sides.map(|(report, variant)| Which {
            experiment: report.experiment.clone(),
            variant: variant.to_owned(),
        });
        let (one, other) = ((ledgers[0], divisors[0]), (ledgers[1], divisors[1]));
        let difference = Difference::new(one, other, by.into());
        let (set, cannot_change) = (set(sides), cannot_change(sides));
        Self { before, after, unit, set, difference, cannot_change }
    }

    fn text(&self) -> String {
        let Self { before, after, unit, .. } = self;
        let title = if before.variant == after.variant && before.experiment == after.experiment {
            format!("{}, {}, in {unit}\n", before.experiment, before.variant)
        } else {
            let of = |Which { experiment, variant }: &Which| format!("{experiment}, {variant}");
            format!("{} and {}, in {unit}\n", of(before), of(after))
        };
        let said = |given: &Option<Given>| match given {
            Some(given) => given.to_string(),
            None => "as described".to_owned(),
        };
        let set = self.set.iter().map(|Set { key, before, after }| {
            format!("{key} is {} before and {} after\n", said(before), said(after))
        });
        let moot = self.cannot_change.iter().map(|Moot { key, before, after }| {
            format!("{key} is {before} before and {after} after; 0 events in the region: cannot change\n")
        });
        title + &set.collect::<String>() + &self.difference.text() + &moot.collect::<String>()
    }
}

/// All that is printed.
#[derive(Serialize)]
struct Printed {
    schema: u32,
    by: By,
    /// Of the machines' descriptions.
    config_hash: [String; 2],
    comparisons: Vec<Comparison>,
    /// Variants of which the other report has none.
    only_before: Vec<String>,
    only_after: Vec<String>,
}

impl Printed {
    fn new(reports: [&Contents; 2], by: By) -> Self {
        let config_hash = reports.map(|report| report.config_hash.clone());
        Self {
            schema: SCHEMA,
            by,
            config_hash,
            comparisons: Vec::new(),
            only_before: Vec::new(),
            only_after: Vec::new(),
        }
    }

    fn print(&self, format: Format) -> Result<(), Failure> {
        if format == Format::Json {
            let line =
                serde_json::to_string(self).map_err(|error| Failure::run(error.to_string()))?;
            return print_text(&format!("{line}\n"));
        }
        let [one, other] = &self.config_hash;
        let mut text = String::new();
        if one != other {
            text += &format!("the machines differ: descriptions {one} and {other}\n\n");
        }
        for comparison in &self.comparisons {
            text += &comparison.text();
            text.push('\n');
        }
        for (names, which) in [(&self.only_before, "first"), (&self.only_after, "second")] {
            for name in names {
                text += &format!("{name}: only the {which} report has this variant\n");
            }
        }
        print_text(&format!("{}\n", text.trim_end()))
    }
}

pub(super) fn diff(arguments: &DiffArguments) -> Result<(), Failure> {
    let files = Files::new(INTERRUPTION);
    let before = read(&arguments.before, &files)?;
    let second = arguments.after.as_ref();
    let after = second.map(|path| read(path, &files)).transpose()?;
    let graph = arguments.flamegraph.as_deref();
    if let Some(path) = graph {
        check_place(path)?;
        check_not_read("--flamegraph", path, &files)?;
    }
    if let [one, other] = &arguments.variants[..] {
        let places = [&arguments.before, second.unwrap_or(&arguments.before)];
        let sides = [(&before, one.as_str()), (after.as_ref().unwrap_or(&before), other)];
        let ledgers = [ledger_of(places[0], sides[0])?, ledger_of(places[1], sides[1])?];
        if let Some(path) = graph {
            draw(path, sides, ledgers)?;
        }
        let mut printed = Printed::new(sides.map(|(report, _)| report), arguments.by);
        let comparison = Comparison::new(sides, ledgers, divisors(sides), arguments.by);
        printed.comparisons.push(comparison);
        return printed.print(arguments.format);
    }
    let (Some(after), Some(place)) = (after, second) else { return Ok(()) };
    if before.experiment != after.experiment {
        let text = format!(
            "a report of `{}`, the first is of `{}`; compare two reports of one experiment",
            after.experiment, before.experiment
        );
        return Err(Failure::input(place.display(), text));
    }
    if let Some(path) = graph {
        let common: Vec<&String> =
            before.ledger.keys().filter(|name| after.ledger.contains_key(*name)).collect();
        let [name] = common[..] else {
            let text = match common.len() {
                0 => "the reports have no variant in common; choose one of each with --variants"
                    .to_owned(),
                count => {
                    format!("{count} variants are in both reports; choose one with --variants")
                }
            };
            return Err(Failure::input("--flamegraph", text));
        };
        let sides = [(&before, name.as_str()), (&after, name.as_str())];
        draw(path, sides, [&before.ledger[name], &after.ledger[name]])?;
    }
    let mut printed = Printed::new([&before, &after], arguments.by);
    let variants: BTreeSet<&String> = before.ledger.keys().chain(after.ledger.keys()).collect();
    for name in variants {
        match (before.ledger.get(name), after.ledger.get(name)) {
            (Some(one), Some(other)) => {
                let sides = [(&before, name.as_str()), (&after, name.as_str())];
                let whole = ("thread-cycles".to_owned(), [1, 1]);
                let comparison = Comparison::new(sides, [one, other], whole, arguments.by);
                printed.comparisons.push(comparison);
            }
            (Some(_), None) => printed.only_before.push(name.clone()),
            (None, _) => printed.only_after.push(name.clone()),
        }
    }
    printed.print(arguments.format)
}

/// The ledger of a variant of the report at `place`.
fn ledger_of<'a>(place: &Path, (report, name): Side<'a>) -> Result<&'a Ledger, Failure> {
    report.ledger.get(name).ok_or_else(|| {
        let hint = suggest(name, report.ledger.keys().map(String::as_str));
        Failure::input(place.display(), format!("no variant is called `{name}`; {hint}"))
    })
}

/// What two variants' cycles are of, and what to divide those of each by.
fn divisors(sides: [Side<'_>; 2]) -> (String, [u64; 2]) {
    let [(before, one), (after, other)] = sides;
    let of = |report: &Contents, name: &str| report.variants.get(name).map(|of| of.divisor.get());
    // A report of `boot` has no calls: both are as they are then.
    match (&before.per, &after.per, of(before, one), of(after, other)) {
        (Some(per), Some(same), Some(one), Some(other)) if per == same => {
            (format!("cycles per {per}"), [one, other])
        }
        (Some(per), Some(and), Some(one), Some(other)) => {
            (format!("cycles per {per} before and per {and} after"), [one, other])
        }
        _ => ("thread-cycles".to_owned(), [1, 1]),
    }
}

/// Draws the second of two variants, with what changed since the first.
fn draw(path: &Path, sides: [Side<'_>; 2], ledgers: [&Ledger; 2]) -> Result<(), Failure> {
    let (per, divisors) = divisors(sides);
    let cycles = |at: usize| ledgers[at].elapsed_thread_cycles as f64 / divisors[at] as f64;
    let [(before, one), (after, other)] = sides;
    let title = format!(
        "{}, {one} to {}, {other}: {:.1} to {:.1} {per}",
        before.experiment,
        after.experiment,
        cycles(0),
        cycles(1)
    );
    let sides = [(ledgers[0], divisors[0]), (ledgers[1], divisors[1])];
    let graph = export::difference_graph(sides[0], sides[1], &title)
        .map_err(|error| Failure::run(error.to_string()))?;
    write_file(path, &graph)
}

fn read(path: &Path, files: &Files) -> Result<Contents, Failure> {
    let wrong = |text: String| Failure::input(path.display(), text);
    let bytes = files.read(path)?;
    let contents: Contents = serde_json::from_slice(&bytes).map_err(|error| {
        wrong(format!(
            "not a report ({error}); it must be what `powervisor run --format json` prints"
        ))
    })?;
    if contents.schema != SCHEMA {
        let text =
            format!("a report of form {}; this command reads form {SCHEMA}", contents.schema);
        return Err(wrong(text));
    }
    if contents.ledger.is_empty() {
        return Err(wrong(
            "the report has no ledger; it must be of an experiment that ran with timing".to_owned(),
        ));
    }
    for (variant, ledger) in &contents.ledger {
        let sum: u128 = ledger.charges.iter().map(|charge| u128::from(charge.cycles)).sum();
        if sum != u128::from(ledger.elapsed_thread_cycles) {
            return Err(wrong(format!(
                "the charges of `{variant}` add up to {sum}, not to its {} cycles; write the report again",
                ledger.elapsed_thread_cycles
            )));
        }
    }
    Ok(contents)
}
