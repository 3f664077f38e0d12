//! `powervisor show`: the machines and experiments that come with the command, to copy and change.

use std::path::Path;

use lab::experiment::{Experiment, built_in};
use lab::images::Images;
use lab::machine_file::MachineFile;
use lab::parameters::Parameters;
use lab::report::SCHEMA;
use lab::toml_file::suggest;
use lab::user_file::Files;
use serde_json::json;

use crate::arguments::{Format, ShowArguments};
use crate::failure::Failure;
use crate::output::print_text;
use crate::signals::INTERRUPTION;

pub(super) fn show(arguments: &ShowArguments) -> Result<(), Failure> {
    let Some(what) = &arguments.what else { return list(arguments.format) };
    let files = Files::new(INTERRUPTION);
    if is_machine(what, &files)? {
        let machine = MachineFile::named(what, &files)?.with_settings("--set", &arguments.set)?;
        return print_text(&match arguments.format {
            Format::Text => machine.describe().map(|_| machine.text().to_owned())?,
            Format::Json => Parameters::of(&machine)?.json(),
        });
    }
    if !arguments.set.is_empty() {
        let text = "an experiment has no values to set; set them in its machine";
        return Err(Failure::input("--set", text));
    }
    match arguments.format {
        Format::Text => print_text(built_in::file(what, &files)?.text()),
        Format::Json => print_text(&json_of(&Experiment::named(what, &files)?)),
    }
}

/// Whether a machine is meant, and not an experiment: by its name, or by what is in the file.
fn is_machine(what: &Path, files: &Files) -> Result<bool, Failure> {
    if what.to_str().is_some_and(|name| MachineFile::built_in(name).is_some()) && !what.exists() {
        return Ok(true);
    }
    let file = match built_in::file(what, files) {
        Err(_) if what.extension().is_none() && !what.exists() => {
            let name = what.to_string_lossy();
            let hint = suggest(&name, MachineFile::built_in_names().chain(built_in::names()));
            let text = format!("no machine and no experiment is called so; {hint}");
            return Err(Failure::input(name, text));
        }
        file => file?,
    };
    Ok(file.parse::<toml::Table>()?.contains_key("processor"))
}

fn list(format: Format) -> Result<(), Failure> {
    let machines: Vec<&str> = MachineFile::built_in_names().collect();
    let experiments: Vec<&str> = built_in::names().collect();
    print_text(&match format {
        Format::Json => {
            let images = Images::find()?.folder().display().to_string();
            let listed = json!({"schema": SCHEMA, "machines": machines, "experiments": experiments, "images": images});
            format!("{listed}\n")
        }
        Format::Text => {
            let lines =
                |names: &[&str]| names.iter().map(|name| format!("  {name}\n")).collect::<String>();
            format!("machines\n{}experiments\n{}", lines(&machines), lines(&experiments))
        }
    })
}

fn json_of(experiment: &Experiment) -> String {
    let variants: Vec<&str> =
        experiment.variants.iter().map(|variant| variant.name.as_str()).collect();
    let shown = json!({
        "schema": SCHEMA,
        "experiment": experiment.name,
        "question": experiment.question,
        "per": experiment.per,
        "variants": variants,
    });
    format!("{shown}\n")
}
