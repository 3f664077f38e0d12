//! What a file from the user asks to run: its partitions, or the variants of its experiment.

use std::path::Path;

use crate::experiment::{Experiment, Variant};
use crate::failure::Failure;
use crate::partition_file::{PartitionFile, is_experiment};
use crate::system::System;
use crate::toml_file::TomlFile;
use crate::user_file::Files;

/// The systems to run, each with its name.
pub fn systems(path: &Path, seed: u64, files: &Files) -> Result<Vec<(String, System)>, Failure> {
    if !is_experiment(&TomlFile::read(path, files)?.parse()?) {
        let file = PartitionFile::read(path, files)?;
        let name = path.display().to_string();
        return Ok(vec![(
            name,
            System::with_partitions(&file.partitions, &file.sharing, file.machine, seed)?,
        )]);
    }
    let experiment = Experiment::read(path, files)?;
    let named = |variant: &Variant| {
        Ok((format!("{}, {}", path.display(), variant.name), experiment.system(variant, seed)?))
    };
    experiment.variants.iter().map(named).collect()
}
