//! `powervisor diff`: what became dearer or cheaper from one report to another.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::path::{Path, PathBuf};

use lab::ledger::{Ledger, difference, export};
use lab::report::SCHEMA;
use lab::toml_file::suggest;
use lab::user_file::Files;
use serde::Deserialize;

use crate::arguments::DiffArguments;
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
    set: BTreeMap<String, f64>,
    /// How many events there were that a value is the price of, by its key.
    #[serde(default)]
    events: BTreeMap<String, u64>,
}

impl Contents {
    /// The value at `key` that a variant ran with.
    fn value(&self, variant: &str, key: &str) -> Option<f64> {
        let own = self.variants.get(variant).and_then(|of| of.set.get(key));
        own.or_else(|| self.parameters.get(key)).copied()
    }

    /// Whether a variant met no event that the value at `key` is the price of, as far as such events are counted.
    fn met_none(&self, variant: &str, key: &str) -> bool {
        self.variants.get(variant).is_some_and(|of| of.events.get(key) == Some(&0))
    }
}

/// A report and a variant of it.
type Side<'a> = (&'a Contents, &'a str);

/// A line for each value of the machine that was changed between two variants, and that neither had to pay.
fn cannot_change([(before, one), (after, other)]: [Side<'_>; 2]) -> String {
    let keys = before.parameters.keys().filter_map(|key| {
        let (from, to) = (before.value(one, key)?, after.value(other, key)?);
        let is_moot = from != to && before.met_none(one, key) && after.met_none(other, key);
        is_moot.then(|| {
            format!(
                "{key} is {from} before and {to} after; 0 events in the region: cannot change\n"
            )
        })
    });
    keys.collect()
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
        let sides = [(&before, one), (after.as_ref().unwrap_or(&before), other)];
        return variants(places, sides, arguments.by.into(), graph);
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
        let sides = [(&before, name), (&after, name)];
        draw(path, sides, [&before.ledger[name], &after.ledger[name]])?;
    }
    let mut text = machines(&before, &after);
    let variants: BTreeSet<&String> = before.ledger.keys().chain(after.ledger.keys()).collect();
    for variant in variants {
        text.push_str(&format!("{}, {variant}, in thread-cycles\n", before.experiment));
        match (before.ledger.get(variant), after.ledger.get(variant)) {
            (Some(one), Some(other)) => {
                text.push_str(&difference::text((one, 1), (other, 1), arguments.by.into()));
                text.push_str(&cannot_change([(&before, variant), (&after, variant)]));
            }
            (one, _) => {
                let which = if one.is_some() { "first" } else { "second" };
                text.push_str(&format!("only the {which} report has this variant\n"));
            }
        }
        text.push('\n');
    }
    print_text(&format!("{}\n", text.trim_end()))
}

/// Says that two reports are of two machines, if they are.
fn machines(before: &Contents, after: &Contents) -> String {
    let (one, other) = (&before.config_hash, &after.config_hash);
    if one == other {
        return String::new();
    }
    format!("the machines differ: descriptions {one} and {other}\n\n")
}

/// Compares a variant of a report with one of a report, which may be the same.
fn variants(
    places: [&PathBuf; 2],
    sides: [(&Contents, &String); 2],
    by: difference::By,
    graph: Option<&Path>,
) -> Result<(), Failure> {
    let mut ledgers = Vec::new();
    for (place, (report, name)) in places.iter().zip(sides) {
        ledgers.push(report.ledger.get(name).ok_or_else(|| {
            let hint = suggest(name, report.ledger.keys().map(String::as_str));
            Failure::input(place.display(), format!("no variant is called `{name}`; {hint}"))
        })?);
    }
    let ledgers = [ledgers[0], ledgers[1]];
    if let Some(path) = graph {
        draw(path, sides, ledgers)?;
    }
    let [(before, one), (after, other)] = sides;
    let (per, divisors) = divisors(sides);
    let of = |report: &Contents, name: &str| format!("{}, {name}", report.experiment);
    let text = format!(
        "{}{} and {}, in {per}\n{}{}",
        machines(before, after),
        of(before, one),
        of(after, other),
        difference::text((ledgers[0], divisors[0]), (ledgers[1], divisors[1]), by),
        cannot_change([(before, one), (after, other)])
    );
    print_text(&text)
}

/// What two variants' cycles are of, and what to divide those of each by.
fn divisors(sides: [(&Contents, &String); 2]) -> (String, [u64; 2]) {
    let [(before, one), (after, other)] = sides;
    let of = |report: &Contents, name| report.variants.get(name).map(|of| of.divisor.get());
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
fn draw(
    path: &Path,
    sides: [(&Contents, &String); 2],
    ledgers: [&Ledger; 2],
) -> Result<(), Failure> {
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
