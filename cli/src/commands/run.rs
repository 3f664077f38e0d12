//! `powervisor run`: runs every variant of an experiment on our machine and prints its figures.

use std::path::{Path, PathBuf};

use lab::checks::Checks;
use lab::experiment::{Experiment, Variant};
use lab::failure;
use lab::ledger::export;
use lab::machine_file::MachineFile;
use lab::metric::{Measured, Per};
use lab::report::Report;
use lab::trial::{Outcome, Trial};
use lab::user_file::Files;

use crate::arguments::{Format, RunArguments};
use crate::failure::Failure;
use crate::output::{check_not_read, check_place, print_text, write_file};
use crate::signals::INTERRUPTION;
use crate::spinner::Spinner;

/// Thread-cycles of a region up to which what `--explain` says is checked by itself.
const SHORT: u64 = 10_000_000;

pub(super) fn run(arguments: &RunArguments) -> Result<(), Failure> {
    let files = Files::new(INTERRUPTION);
    let mut experiment = Experiment::named(&arguments.experiment, &files)?;
    if let Some(path) = &arguments.machine {
        experiment.machine = MachineFile::named(path, &files)?;
    }
    experiment.machine = experiment.machine.with_settings(&arguments.set)?;
    if !arguments.variant.is_empty() {
        experiment.keep(&arguments.variant)?;
    }
    let is_counted = arguments.functional || experiment.per == Per::Partition;
    let asks_for_time = arguments.explain || arguments.check_causes || arguments.out.is_some();
    if is_counted && asks_for_time {
        let text = "what is `per = \"partition\"` is counted, not timed; leave out --explain, --check-causes \
            and --out";
        return Err(Failure::input(arguments.experiment.display(), text));
    }
    if is_counted && experiment.per == Per::Sample {
        let text = "samples are times, and there are none with --functional; leave it out";
        return Err(Failure::input(arguments.experiment.display(), text));
    }
    let description = experiment.machine.describe()?;
    let quantum = (!is_counted).then_some(arguments.quantum);
    let mut report = Report::new(&experiment, &description, arguments.seed, quantum);
    // A run may take long; what cannot be written is said before it.
    if let Some(folder) = &arguments.out {
        make_folder(folder)?;
        for variant in &experiment.variants {
            for ending in [FOLDED, GRAPH, TRACE] {
                let path = file(folder, &experiment.name, &variant.name, ending);
                check_place(&path)?;
                check_not_read("--out", &path, &files)?;
            }
        }
    }
    let mut interrupted = None;
    for (done, variant) in experiment.variants.iter().enumerate() {
        match measure(arguments, &experiment, variant, is_counted, &mut report) {
            Err(Failure::Lab(failure::Failure::Interrupted)) => {
                let (all, name) = (experiment.variants.len(), &variant.name);
                let text = format!("{done} of {all} variants, in {name}");
                interrupted = Some(failure::Failure::InterruptedAfter(text));
                break;
            }
            measured => measured?,
        }
    }
    report.add_steps(&experiment);
    report.add_losses(&experiment);
    // What is measured is not lost with what is not.
    if !report.is_empty() {
        print_text(&match arguments.format {
            Format::Text => {
                report.text() + &report.details(arguments.explain, arguments.check_causes)
            }
            Format::Json => report.json(),
        })?;
    }
    interrupted.map_or(Ok(()), |failure| Err(failure.into()))
}

/// Adds a variant to the report, and writes its files if they are asked for.
fn measure(
    arguments: &RunArguments,
    experiment: &Experiment,
    variant: &Variant,
    is_counted: bool,
    report: &mut Report,
) -> Result<(), Failure> {
    let RunArguments { seed, quantum, limit, .. } = *arguments;
    let trial = Trial::new(experiment, variant, seed, quantum, limit, &Spinner, INTERRUPTION)?;
    let wrong = |text: String| trial.wrong(&text);
    if is_counted {
        let measured = Measured { counts: trial.count()?, ..Measured::default() };
        return Ok(report.add(experiment, variant, &measured).map_err(wrong)?);
    }
    let outcome = trial.time(arguments.out.is_some(), !arguments.values_only)?;
    let mut checks = Checks {
        half_quantum: trial.with_half_the_quantum(&outcome.measured)?,
        causes_made_free: None,
    };
    let is_short = outcome.ledger.elapsed_thread_cycles <= SHORT;
    let is_explained = arguments.explain && arguments.format == Format::Text;
    if arguments.check_causes || (is_explained && is_short) {
        checks.causes_made_free = Some(trial.check_causes(&outcome.ledger)?);
    }
    // All of it or nothing: the report may be printed of what was measured before an interruption.
    report.add(experiment, variant, &outcome.measured).map_err(wrong)?;
    if let Some(folder) = &arguments.out {
        write_files(folder, experiment, variant, &outcome)?;
    }
    report.add_ledger(&variant.name, outcome.ledger, checks);
    Ok(())
}

fn make_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let text = format!("cannot be made: {error}; name a folder that can be written");
        Failure::input(folder.display(), text)
    })
}

const FOLDED: &str = "folded";
const GRAPH: &str = "svg";
const TRACE: &str = "trace.json";

fn file(folder: &Path, experiment: &str, variant: &str, ending: &str) -> PathBuf {
    folder.join(format!("{experiment}-{variant}.{ending}"))
}

/// Writes what other tools read.
fn write_files(
    folder: &Path,
    experiment: &Experiment,
    variant: &Variant,
    outcome: &Outcome,
) -> Result<(), Failure> {
    let (per, divisor) =
        (&experiment.per, variant.divisor_of(&experiment.per, &outcome.measured.counts));
    let (experiment, variant) = (&experiment.name, &variant.name);
    let file = |ending| file(folder, experiment, variant, ending);
    write_file(&file(FOLDED), export::folded(&outcome.ledger).as_bytes())?;
    let cycles = outcome.ledger.elapsed_thread_cycles as f64 / divisor as f64;
    let title = format!("{experiment}, {variant}: {cycles:.1} cycles per {}", per.noun());
    let graph = export::flame_graph(&outcome.ledger, &title)
        .map_err(|error| Failure::run(error.to_string()))?;
    write_file(&file(GRAPH), &graph)?;
    match &outcome.trace {
        Some(trace) => write_file(&file(TRACE), trace.as_bytes()),
        None => Ok(()),
    }
}
