//! `powervisor calibrate`: the timing model's figures beside the published ones.

use crate::arguments::{CalibrateArguments, Format};
use crate::calibration::table::Comparison;
use crate::calibration::{cases, measure, rows};
use crate::failure::Failure;
use crate::images::Images;
use crate::machine_file::MachineFile;
use crate::output::print_text;

pub(super) fn calibrate(arguments: &CalibrateArguments) -> Result<(), Failure> {
    let machine = match &arguments.machine {
        Some(path) => MachineFile::read(path)?,
        None => MachineFile::default(),
    };
    let description = machine.describe()?;
    let image = Images::find()?.guest(cases::IMAGE)?;
    let published = rows::power9();
    let wanted = published.cases(arguments.curves);
    let figures = measure::measure(&image, &machine, &published, &wanted)?;
    let (name, hash) = (description.name(), description.config_hash());
    let mut comparison =
        Comparison::new(name, hash, &published.rows, &figures).map_err(Failure::Run)?;
    if arguments.curves {
        comparison.add_curves(&published.curves, &figures).map_err(Failure::Run)?;
    }
    let text = match arguments.format {
        Format::Text => comparison.text(),
        Format::Json => comparison.json(),
    };
    print_text(&text)?;
    let missed = comparison.missed();
    if arguments.check && !missed.is_empty() {
        return Err(Failure::Run(format!("missed: {}", missed.join("; "))));
    }
    Ok(())
}
