//! A variant that runs a kernel bare on the machine, and not the hypervisor: a rival, beside ours in one report.

use std::path::PathBuf;

use serde::Deserialize;

use crate::failure::Failure;
use crate::images::Images;
use crate::ledger::names::{Names, Program};
use crate::ledger::symbols;
use crate::machine_file::MachineFile;
use crate::program_file;
use crate::system::System;
use crate::toml_file::TomlFile;
use crate::user_file::Files;

/// The table of a variant's kernel. A file is a path with a `/`, or the name of a bare kernel of ours or of an image
/// that `cargo xtask linux --kvm` makes.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct KernelTable {
    image: String,
    initrd: Option<String>,
    /// A file with its symbols, if the image has none.
    symbols: Option<String>,
}

impl KernelTable {
    /// With this command line.
    pub(super) fn check(&self, file: &TomlFile, arguments: &str) -> Kernel {
        let place = |name: &String| match name.contains('/') {
            true => Place::Path(file.resolve(name)),
            false => Place::Image(name.clone()),
        };
        Kernel {
            image: place(&self.image),
            initrd: self.initrd.as_ref().map(place),
            symbols: self.symbols.as_ref().map(place),
            arguments: arguments.to_owned(),
        }
    }
}

/// A kernel, and what it starts with.
#[derive(Clone, Debug)]
pub struct Kernel {
    image: Place,
    initrd: Option<Place>,
    symbols: Option<Place>,
    arguments: String,
}

/// Where one of its files is.
#[derive(Clone, Debug)]
enum Place {
    Path(PathBuf),
    Image(String),
}

impl Place {
    fn path(&self) -> Result<PathBuf, Failure> {
        match self {
            Self::Path(path) => Ok(path.clone()),
            Self::Image(name) => {
                let path = Images::find()?.kernel(name);
                if path.is_file() {
                    return Ok(path);
                }
                let text = "there is no such image; make it with `cargo xtask images` if it is one of ours, or with \
                    `cargo xtask linux --kvm` in the repository (kvm-powernv-...: `--kvm-powernv`), or run other \
                    variants with --variant";
                Err(Failure::input(path.display(), text))
            }
        }
    }
}

impl Kernel {
    /// The machine with it.
    ///
    /// # Errors
    /// [`Failure`] if one of its files cannot be read.
    pub fn system(&self, machine: MachineFile, seed: u64) -> Result<System, Failure> {
        let files = Files::default();
        let path = self.image.path()?;
        let kernel = files.read(&path)?;
        program_file::check(&kernel).map_err(|text| Failure::input(path.display(), text))?;
        let initrd = self.initrd.as_ref().map(|place| files.read(&place.path()?));
        Ok(System {
            name: path.display().to_string(),
            kernel,
            initrd: initrd.transpose()?,
            kept_disks: Vec::new(),
            arguments: self.arguments.clone(),
            machine,
            seed,
        })
    }

    /// Its functions.
    ///
    /// # Errors
    /// [`Failure`] if one of its files cannot be read.
    pub fn names(&self) -> Result<Names, Failure> {
        let files = Files::default();
        let image = Program::of_elf(&files.read(&self.image.path()?)?);
        let host = match &self.symbols {
            None => image,
            Some(place) => image.with_symbols_of(symbols::read(&place.path()?, &files)?),
        };
        Ok(Names { host, is_bare: true, ..Names::default() })
    }
}
