//! `powervisor compare`: the same on our machine and on QEMU.

use std::fmt::Display;
use std::time::Duration;

use lab::comparison::{Transcript, difference};
use lab::machine_file::MachineFile;
use lab::user_file::Files;
use lab::workload::systems;
use lab::{on_qemu, on_simulator};

use crate::arguments::CompareArguments;
use crate::failure::Failure;
use crate::output::{print_text, say};
use crate::signals::INTERRUPTION;
use crate::visible::one_line;

const SEED: u64 = 1;

pub(super) fn compare(arguments: &CompareArguments) -> Result<(), Failure> {
    let timeout = Duration::from_secs(arguments.timeout);
    let files = Files::new(INTERRUPTION);
    let machine = arguments.machine.as_deref();
    let machine = machine.map(|name| MachineFile::named(name, &files)).transpose()?;
    let mut disagreements = Vec::new();
    let mut compared = 0;
    for file in &arguments.files {
        let all = systems(file, SEED, &files);
        for (name, mut system) in not_interrupted(all, file.display(), compared, &disagreements)? {
            let name = one_line(&name);
            if let Some(machine) = &machine {
                system.machine = machine.clone();
            }
            if let Some(topology) = arguments.topology {
                system.machine = system.machine.with_topology(topology.0, "--topology");
            }
            let both = on_qemu::transcript(&system, timeout, INTERRUPTION).and_then(|qemu| {
                Ok((qemu, on_simulator::transcript(&system, timeout, INTERRUPTION)?))
            });
            let (qemu, ours) = not_interrupted(both, &name, compared, &disagreements)?;
            compared += 1;
            match difference(&ours, &qemu) {
                None => print_text(&agreement(&name, &ours))?,
                Some(difference) => disagreements
                    .push(format!("{name}: our machine and QEMU disagree: {difference}")),
            }
        }
    }
    if disagreements.is_empty() { Ok(()) } else { Err(Failure::run(disagreements.join("\n"))) }
}

/// What a step of the comparison of `name` gave; an interruption in it says how far all came and what they found.
fn not_interrupted<T>(
    result: Result<T, lab::failure::Failure>,
    name: impl Display,
    compared: usize,
    disagreements: &[String],
) -> Result<T, Failure> {
    result.map_err(|error| match error {
        lab::failure::Failure::Interrupted => {
            disagreements.iter().for_each(say);
            let text = format!("{compared} comparisons, in that of {name}");
            lab::failure::Failure::InterruptedAfter(text).into()
        }
        error => error.into(),
    })
}

fn agreement(name: &str, ours: &Transcript) -> String {
    format!(
        "{name}: our machine and QEMU agree: {} console lines, {}\n",
        ours.lines().len(),
        ours.exit
    )
}
