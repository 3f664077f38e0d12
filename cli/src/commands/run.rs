//! `powervisor run`: runs every variant of an experiment on our machine and prints its figures.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lab::checks::Checks;
use lab::experiment::{Experiment, Variant};
use lab::failure;
use lab::ledger::export;
use lab::metric::{Measured, Per};
use lab::report::Report;
use lab::setting::{self, Given, Setting};
use lab::trial::{Outcome, Trial};
use lab::user_file::Files;

use crate::arguments::{Format, RunArguments};
use crate::failure::Failure;
use crate::output::{check_not_read, check_place, print_text, write_file};
use crate::signals::INTERRUPTION;
use crate::spinner::Spinner;

/// Thread-cycles of a region up to which what `--explain` says is checked by itself.
const SHORT: u64 = 10_000_000;
/// Runs that `--set` with several values may make; a sweep makes more.
const MOST_RUNS: usize = 64;

pub(super) fn run(arguments: &RunArguments) -> Result<(), Failure> {
    let files = Files::new(INTERRUPTION);
    let mut experiment = Experiment::named(&arguments.experiment, &files)?;
    if let Some(path) = &arguments.machine {
        experiment.machine = experiment.machine.instead_of(path, &files)?;
    }
    // What is wrong with the description is not wrong with what it is set to.
    experiment.machine.describe()?;
    let (several, one): (Vec<_>, Vec<_>) =
        arguments.set.iter().cloned().partition(Setting::is_several);
    experiment.machine = experiment.machine.with_settings("--set", &one)?;
    for variant in &mut experiment.variants {
        let wrong = |text: String| Failure::input("--set", text);
        variant.keep_set(&experiment.machine, &arguments.set).map_err(wrong)?;
    }
    if !arguments.variant.is_empty() {
        experiment.keep(&arguments.variant)?;
    }
    let runs = runs(&experiment, &several)?;
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
        for Run { variant, .. } in &runs {
            for ending in [FOLDED, GRAPH, TRACE] {
                let path = file(folder, &experiment.name, &variant.name, ending);
                check_place(&path)?;
                check_not_read("--out", &path, &files)?;
            }
        }
    }
    let mut ended = Ok(());
    for (done, run) in runs.iter().enumerate() {
        ended = measure(arguments, run, is_counted, &mut report).map_err(|failure| match failure {
            Failure::Lab(failure::Failure::Interrupted) => {
                let (all, name) = (runs.len(), &run.variant.name);
                let text = format!("{done} of {all} variants, in {name}");
                failure::Failure::InterruptedAfter(text).into()
            }
            other => other,
        });
        if ended.is_err() {
            break;
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
    ended
}

/// A variant, or one of those that `--set` with several values makes of it.
struct Run {
    /// With the machine that it runs on.
    experiment: Experiment,
    variant: Variant,
    /// The values that this one has and others have not, by their keys.
    set: BTreeMap<String, Given>,
}

/// What to run, with each of the values that `several` has more than one of: the values of a variant side by side.
fn runs(experiment: &Experiment, several: &[Setting]) -> Result<Vec<Run>, Failure> {
    let wrong = |text: String| Failure::input("--set", text);
    let count = several.iter().map(|setting| setting.values()).product::<usize>();
    let (all, variants) =
        (count.saturating_mul(experiment.variants.len()), experiment.variants.len());
    if !several.is_empty() && all > MOST_RUNS {
        return Err(wrong(format!(
            "{count} combinations of values of {variants} variants are {all} runs, and {MOST_RUNS} are the most; give \
             fewer, choose with --variant, or use `powervisor sweep`"
        )));
    }
    let relates = experiment.steps.is_some()
        || experiment.variants.iter().any(|variant| variant.loss_against.is_some());
    if !several.is_empty() && relates {
        let text = "several values do not go with an experiment that compares its variants (`steps`, `loss_against`); \
            give one value, or use `powervisor sweep`";
        return Err(wrong(text.to_owned()));
    }
    let combinations = setting::combinations(several).into_iter().map(|combination| {
        let set = setting::places(experiment.machine.text(), &combination).map_err(wrong)?;
        let machine = experiment.machine.clone().with_settings("--set", &combination)?;
        let suffix: String = combination.iter().map(|one| format!(":{one}")).collect();
        Ok((Experiment { machine, ..experiment.clone() }, suffix, set))
    });
    let combinations = combinations.collect::<Result<Vec<_>, Failure>>()?;
    let of_variant = |variant: &Variant| {
        let own = variant.places(&experiment.machine).map_err(|text| {
            Failure::input(format!("`set` of the variant {}", variant.name), text)
        })?;
        let run = |(experiment, suffix, set): &(Experiment, String, BTreeMap<String, Given>)| Run {
            experiment: experiment.clone(),
            variant: Variant { name: format!("{}{suffix}", variant.name), ..variant.clone() },
            set: own.clone().into_iter().chain(set.clone()).collect(),
        };
        Ok(combinations.iter().map(run).collect::<Vec<_>>())
    };
    let runs: Result<Vec<_>, Failure> = experiment.variants.iter().map(of_variant).collect();
    Ok(runs?.into_iter().flatten().collect())
}

/// Adds a variant to the report, and writes its files if they are asked for.
fn measure(
    arguments: &RunArguments,
    run: &Run,
    is_counted: bool,
    report: &mut Report,
) -> Result<(), Failure> {
    let Run { experiment, variant, set } = run;
    let RunArguments { seed, quantum, limit, .. } = *arguments;
    let mut trial = Trial::new(experiment, variant, seed, quantum, limit, &Spinner, INTERRUPTION)?;
    trial.knows_callers = arguments.callers;
    let wrong = |text: String| trial.wrong(&text);
    if is_counted {
        let measured = Measured { counts: trial.count()?, ..Measured::default() };
        report.add(experiment, variant, &measured).map_err(wrong)?;
        report.add_set(&variant.name, set.clone());
        return Ok(());
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
    if let Some(folder) = &arguments.out {
        write_files(folder, experiment, variant, &outcome)?;
    }
    // All of it or nothing: the report is printed of what was measured before something went wrong.
    report.add(experiment, variant, &outcome.measured).map_err(wrong)?;
    report.add_set(&variant.name, set.clone());
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
