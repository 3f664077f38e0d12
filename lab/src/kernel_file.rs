//! A kernel file: an image to boot bare, and on which machine. See `examples/linux-host.toml`.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use crate::failure::Failure;
use crate::machine_file::MachineFile;
use crate::partition_file::{MachineTable, is_kernel_file, machine, without_nul};
use crate::toml_file::TomlFile;
use crate::user_file::Files;

/// The file's structure.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Contents {
    machine: Option<MachineTable>,
    kernel: KernelTable,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct KernelTable {
    image: String,
    initrd: Option<String>,
    arguments: Option<Spanned<String>>,
}

/// What a kernel file asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelFile {
    /// The machine to run on.
    pub machine: MachineFile,
    /// The kernel.
    pub image: PathBuf,
    /// A second file for it.
    pub initrd: Option<PathBuf>,
    /// `/chosen/bootargs`.
    pub arguments: String,
}

impl KernelFile {
    /// Reads the file; `None` if it is none, whatever else it is.
    ///
    /// # Errors
    /// [`Failure`] if it cannot be read, or is a kernel file in which something is wrong.
    pub fn read(path: &Path, files: &Files) -> Result<Option<Self>, Failure> {
        let Ok(file) = TomlFile::from_bytes(path, files.read(path)?) else { return Ok(None) };
        if !file.parse().is_ok_and(|table| is_kernel_file(&table)) {
            return Ok(None);
        }
        let Contents { machine: table, kernel } = file.parse()?;
        let arguments = without_nul(&file, kernel.arguments.as_ref())?.to_owned();
        Ok(Some(Self {
            machine: machine(&file, table, files)?,
            image: file.resolve(&kernel.image),
            initrd: kernel.initrd.map(|path| file.resolve(&path)),
            arguments,
        }))
    }
}
