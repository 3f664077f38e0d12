//! `powervisor run`: runs every variant of an experiment on our machine and prints its figures.

use simulator::RegionCounts;
use simulator::trace::Counts;

use crate::arguments::{Format, RunArguments};
use crate::comparison::Transcript;
use crate::console::check_partitions;
use crate::experiment::{Experiment, Variant};
use crate::failure::Failure;
use crate::machine_file::MachineFile;
use crate::on_simulator;
use crate::output::print;
use crate::progress::Progress;
use crate::report::Report;

pub(super) fn run(arguments: &RunArguments) -> Result<(), Failure> {
    let mut experiment = Experiment::read(&arguments.experiment)?;
    if let Some(path) = &arguments.machine {
        experiment.machine = MachineFile::read(path)?;
    }
    let description = experiment.machine.describe()?;
    let mut report =
        Report::new(&experiment, description.name(), description.config_hash(), arguments.seed);
    for variant in &experiment.variants {
        let wrong =
            |text: String| Failure::Run(format!("{}, {}: {text}", experiment.name, variant.name));
        let counts = count(&experiment, variant, arguments.seed)?;
        report.add(&experiment, &variant.name, &counts).map_err(wrong)?;
    }
    let text = match arguments.format {
        Format::Text => report.text(),
        Format::Json => report.json(),
    };
    print(text.as_bytes())
}

/// Runs one variant and counts in the experiment's region.
fn count(experiment: &Experiment, variant: &Variant, seed: u64) -> Result<Counts, Failure> {
    let system = experiment.system(variant, seed)?;
    let mut counts = RegionCounts::new();
    let mut console = Vec::new();
    let progress = Progress::new(&format!("{}, {}", experiment.name, variant.name));
    let exit = on_simulator::run(&mut on_simulator::start(&system)?, &mut counts, |machine| {
        progress.update(machine);
        console.extend(machine.take_console_output());
        Ok(())
    })?;
    drop(progress);

    let transcript = Transcript { console, exit };
    let wrong = |text: &str| {
        let console = transcript.lines().join("\n");
        Failure::Run(format!(
            "{}, {}: {text}\nThe console:\n{console}",
            experiment.name, variant.name
        ))
    };
    transcript.exit.require_power_off().map_err(|failure| wrong(&failure.to_string()))?;
    check_partitions(&transcript.lines()).map_err(|text| wrong(&text))?;
    if !transcript.lines().contains(&variant.expect) {
        return Err(wrong(&format!("the console lacks the line `{}`", variant.expect)));
    }
    let number = experiment.region.0.number();
    let counts =
        counts.regions().find(|(region, _)| *region == number).map(|(_, counts)| counts.clone());
    counts.ok_or_else(|| wrong(&format!("the payload never marked region {number}")))
}
