//! The Rust compiler that can build core for bare metal.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::workspace::output;

/// The target that the active compiler builds for by itself.
pub(crate) fn host() -> Result<String> {
    let about = output(Command::new("rustc").arg("-vV"))?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc -vV names no host")
}

/// A compiler with the sources of core.
#[derive(Debug)]
pub(crate) struct Toolchain {
    bin: PathBuf,
}

impl Toolchain {
    /// The active toolchain, else Debian's, else none.
    pub(crate) fn find() -> Option<Self> {
        ["rustc", "/usr/bin/rustc"].iter().find_map(|rustc| {
            let sysroot = output(Command::new(rustc).args(["--print", "sysroot"])).ok()?;
            let sysroot = Path::new(sysroot.trim());
            let bin = sysroot.join("bin");
            let is_whole = sysroot.join("lib/rustlib/src/rust/library/core/Cargo.toml").is_file()
                && ["rustc", "cargo"].iter().all(|program| bin.join(program).is_file());
            is_whole.then_some(Self { bin })
        })
    }

    /// This toolchain's cargo, allowed to build core, and free of settings meant for the host.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(self.bin.join("cargo"));
        command.env("RUSTC", self.bin.join("rustc")).env("RUSTC_BOOTSTRAP", "1");
        for variable in [
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_BUILD_TARGET",
            "RUSTUP_TOOLCHAIN",
            "RUSTC_WRAPPER",
        ] {
            command.env_remove(variable);
        }
        command
    }

    /// Its compiler's version, as in 1.96.
    pub(crate) fn version(&self) -> Result<String> {
        let about = output(Command::new(self.bin.join("rustc")).arg("--version"))?;
        let version = about.split_whitespace().nth(1).context("rustc names no version")?;
        Ok(version.split('.').take(2).collect::<Vec<_>>().join("."))
    }

    /// What lets cargo take a target file; before it asked for this flag, it took them without.
    pub(crate) fn target_file_flag(&self) -> Option<&'static str> {
        let help =
            output(Command::new(self.bin.join("cargo")).args(["-Z", "help"])).unwrap_or_default();
        help.contains("json-target-spec").then_some("-Zjson-target-spec")
    }
}
