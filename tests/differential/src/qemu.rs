//! QEMU's side: runs the guest program and reads what it wrote.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use arch::processor::Processor;
use tempfile::TempDir;

use crate::case::Case;
use crate::program;
use crate::state::{ByteOrder, RECORD_BYTES, State};

/// Why QEMU could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum QemuError {
    /// The program is not installed.
    #[error("{0} is not installed; it comes with the package qemu-user")]
    Missing(&'static str),
    /// The host does not let us.
    #[error("{0}: {1}")]
    Host(&'static str, io::Error),
    /// It neither wrote all records nor died by a signal.
    #[error("{program} ended with {status} after {bytes} bytes of output: {message}")]
    Failed {
        /// Which QEMU.
        program: &'static str,
        /// Its exit status.
        status: String,
        /// How much it wrote.
        bytes: usize,
        /// What it said.
        message: String,
    },
}

/// What QEMU makes of a case.
#[derive(Debug)]
pub enum Answer {
    /// It completed.
    Completed(Box<State>),
    /// The program died by this signal.
    Signal(i32),
}

/// A place to run programs of one byte order.
#[derive(Debug)]
pub struct Qemu {
    processor: Processor,
    order: ByteOrder,
    program: &'static str,
    folder: TempDir,
}

impl Qemu {
    /// The QEMU for programs of this byte order on `processor`.
    ///
    /// # Errors
    /// [`QemuError::Host`] without a place for temporary files.
    pub fn new(processor: Processor, order: ByteOrder) -> Result<Self, QemuError> {
        let program = match order {
            ByteOrder::Little => "qemu-ppc64le",
            ByteOrder::Big => "qemu-ppc64",
        };
        let folder = TempDir::new().map_err(|error| QemuError::Host("temporary folder", error))?;
        Ok(Self { processor, order, program, folder })
    }

    /// Runs cases in one program, or in two halves if it dies, until the dying ones are found.
    ///
    /// # Errors
    /// [`QemuError`] if QEMU cannot be asked.
    pub fn run(&self, cases: &[Case]) -> Result<Vec<Answer>, QemuError> {
        if cases.is_empty() {
            return Ok(Vec::new());
        }
        match self.run_once(cases)? {
            Ok(records) => {
                let state = |record: &[u8]| Box::new(State::from_bytes(record, self.order));
                Ok(records.chunks(RECORD_BYTES).map(|r| Answer::Completed(state(r))).collect())
            }
            Err(signal) if cases.len() == 1 => Ok(vec![Answer::Signal(signal)]),
            Err(_) => {
                let (first, second) = cases.split_at(cases.len() / 2);
                let mut answers = self.run(first)?;
                answers.extend(self.run(second)?);
                Ok(answers)
            }
        }
    }

    /// The records that the program wrote, or the signal that it died by.
    fn run_once(&self, cases: &[Case]) -> Result<Result<Vec<u8>, i32>, QemuError> {
        let path = self.folder.path().join("cases");
        fs::write(&path, program::executable(cases, self.order))
            .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o700)))
            .map_err(|error| QemuError::Host("temporary file", error))?;
        // A core file of a program that dies lands in the folder that is removed.
        let output = Command::new(self.program)
            .args(["-cpu", &self.processor.name().to_ascii_lowercase()])
            .arg(&path)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .output()
            .map_err(|error| match error.kind() {
                ErrorKind::NotFound => QemuError::Missing(self.program),
                _ => QemuError::Host(self.program, error),
            })?;
        if output.status.success() && output.stdout.len() == cases.len() * RECORD_BYTES {
            return Ok(Ok(output.stdout));
        }
        match output.status.signal() {
            Some(signal) => Ok(Err(signal)),
            None => Err(QemuError::Failed {
                program: self.program,
                status: output.status.to_string(),
                bytes: output.stdout.len(),
                message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            }),
        }
    }
}
