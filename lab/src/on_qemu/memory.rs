//! The memory of QEMU's machine as a file, so that what the machine leaves in it can be read.

use std::os::unix::fs::FileExt as _;

use tempfile::NamedTempFile;

use super::host_failure;
use crate::failure::Failure;

/// A file that is the memory of one machine. It has no byte before that, and only those that are written take room.
#[derive(Debug)]
pub struct Memory(NamedTempFile);

impl Memory {
    /// For a machine that is not started yet.
    pub fn new() -> Result<Self, Failure> {
        NamedTempFile::new().map(Self).map_err(host_failure)
    }

    /// Fills `bytes` from `address` on, when the machine has ended.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Failure> {
        self.0.as_file().read_exact_at(bytes, address).map_err(host_failure)
    }

    /// What QEMU is told, of a machine with so many bytes.
    pub(super) fn arguments(&self, bytes: u64) -> [String; 4] {
        // QEMU takes two commas for one.
        let path = self.0.path().display().to_string().replace(',', ",,");
        let object =
            format!("memory-backend-file,id=memory,size={bytes}B,share=on,mem-path={path}");
        ["-object".into(), object, "-machine".into(), "memory-backend=memory".into()]
    }
}
