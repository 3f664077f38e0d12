//! `powervisor diff`: what became dearer or cheaper from one report to another.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::path::{Path, PathBuf};

use lab::ledger::{Ledger, difference};
use lab::report::SCHEMA;
use lab::toml_file::suggest;
use lab::user_file::Files;
use serde::Deserialize;

use crate::arguments::DiffArguments;
use crate::failure::Failure;
use crate::output::print_text;
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
    #[serde(default)]
    variants: BTreeMap<String, OfVariant>,
}

/// What is read of a variant.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct OfVariant {
    divisor: NonZero<u64>,
}

pub(super) fn diff(arguments: &DiffArguments) -> Result<(), Failure> {
    let files = Files::new(INTERRUPTION);
    let before = read(&arguments.before, &files)?;
    let second = arguments.after.as_ref();
    let after = second.map(|path| read(path, &files)).transpose()?;
    if let [one, other] = &arguments.variants[..] {
        let places = [&arguments.before, second.unwrap_or(&arguments.before)];
        let sides = [(&before, one), (after.as_ref().unwrap_or(&before), other)];
        return variants(places, sides, arguments.by.into());
    }
    let (Some(after), Some(place)) = (after, second) else { return Ok(()) };
    if before.experiment != after.experiment {
        let text = format!(
            "a report of `{}`, the first is of `{}`; compare two reports of one experiment",
            after.experiment, before.experiment
        );
        return Err(Failure::input(place.display(), text));
    }
    let mut text = machines(&before, &after);
    let variants: BTreeSet<&String> = before.ledger.keys().chain(after.ledger.keys()).collect();
    for variant in variants {
        text.push_str(&format!("{}, {variant}, in thread-cycles\n", before.experiment));
        match (before.ledger.get(variant), after.ledger.get(variant)) {
            (Some(before), Some(after)) => {
                text.push_str(&difference::text((before, 1), (after, 1), arguments.by.into()));
            }
            (before, _) => {
                let which = if before.is_some() { "first" } else { "second" };
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
) -> Result<(), Failure> {
    let mut ledgers = Vec::new();
    for (place, (report, name)) in places.iter().zip(sides) {
        let ledger = report.ledger.get(name).ok_or_else(|| {
            let hint = suggest(name, report.ledger.keys().map(String::as_str));
            Failure::input(place.display(), format!("no variant is called `{name}`; {hint}"))
        })?;
        ledgers.push((ledger, report.variants.get(name).map(|variant| variant.divisor.get())));
    }
    let [(before, one), (after, other)] = sides;
    // A report of `boot` has no calls: both are as they are then.
    let (per, divisors) = match (&before.per, &after.per, ledgers[0].1, ledgers[1].1) {
        (Some(per), Some(same), Some(one), Some(other)) if per == same => {
            (format!("cycles per {per}"), [one, other])
        }
        (Some(per), Some(and), Some(one), Some(other)) => {
            (format!("cycles per {per} before and per {and} after"), [one, other])
        }
        _ => ("thread-cycles".to_owned(), [1, 1]),
    };
    let of = |report: &Contents, name: &str| format!("{}, {name}", report.experiment);
    let text = format!(
        "{}{} and {}, in {per}\n{}",
        machines(before, after),
        of(before, one),
        of(after, other),
        difference::text((ledgers[0].0, divisors[0]), (ledgers[1].0, divisors[1]), by)
    );
    print_text(&text)
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
