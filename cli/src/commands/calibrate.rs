//! `powervisor calibrate`: the timing model's figures beside the published ones.

use lab::calibration::predictions::Predictions;
use lab::calibration::table::Comparison;
use lab::calibration::{measure, rows};
use lab::images::Images;
use lab::machine_file::MachineFile;
use lab::user_file::Files;

use crate::arguments::{CalibrateArguments, Format};
use crate::failure::Failure;
use crate::output::print_text;
use crate::signals::INTERRUPTION;
use crate::spinner::Spinner;

pub(super) fn calibrate(arguments: &CalibrateArguments) -> Result<(), Failure> {
    let machine = match &arguments.machine {
        Some(path) => MachineFile::named(path, &Files::new(INTERRUPTION))?,
        None => MachineFile::default(),
    };
    let machine = machine.with_settings("--set", &arguments.set)?;
    let description = machine.describe()?;
    machine.require_timing()?;
    let (name, image) = Images::find()?.calibration(description.processor())?;
    let published = rows::of(description.processor());
    let wanted = published.cases(arguments.curves);
    let ends = !arguments.values_only;
    let figures = measure::measure(
        name,
        &image,
        &machine,
        &published,
        &wanted,
        ends,
        &Spinner,
        INTERRUPTION,
    )?;
    let mut comparison =
        Comparison::new(&description, &published.rows, Predictions::of(&published), &figures)
            .map_err(Failure::run)?;
    if arguments.curves {
        comparison.add_curves(&published.curves, &figures).map_err(Failure::run)?;
    }
    let text = match arguments.format {
        Format::Text => comparison.text(),
        Format::Json => comparison.json(),
    };
    print_text(&text)?;
    let missed = comparison.missed();
    if arguments.check && !missed.is_empty() {
        return Err(Failure::run(format!("missed: {}", missed.join("; "))));
    }
    Ok(())
}
