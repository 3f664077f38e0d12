//! `powervisor diff`: what became dearer or cheaper from one report to another.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lab::ledger::{Ledger, difference};
use lab::report::SCHEMA;
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
}

pub(super) fn diff(arguments: &DiffArguments) -> Result<(), Failure> {
    let files = Files::new(INTERRUPTION);
    let before = read(&arguments.before, &files)?;
    let after = read(&arguments.after, &files)?;
    if before.experiment != after.experiment {
        let text = format!(
            "a report of `{}`, the first is of `{}`; compare two reports of one experiment",
            after.experiment, before.experiment
        );
        return Err(Failure::input(arguments.after.display(), text));
    }
    let mut text = String::new();
    if before.config_hash != after.config_hash {
        text.push_str(&format!(
            "the machines differ: descriptions {} and {}\n\n",
            before.config_hash, after.config_hash
        ));
    }
    let variants: BTreeSet<&String> = before.ledger.keys().chain(after.ledger.keys()).collect();
    for variant in variants {
        text.push_str(&format!("{}, {variant}, in thread-cycles\n", before.experiment));
        match (before.ledger.get(variant), after.ledger.get(variant)) {
            (Some(before), Some(after)) => {
                text.push_str(&difference::text(before, after, arguments.by.into()));
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
