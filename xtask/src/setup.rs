//! Set-up: the programs of the host that building and testing need.
//!
//! QEMU and binutils are judges: without them nothing can be tested, so they are not optional.

use std::process::Command;

use anyhow::{Result, bail};

use crate::toolchain::Toolchain;
use crate::workspace::{is_in_path, output, run};

/// Something the host must have, and the Debian packages that bring it.
struct Requirement {
    what: &'static str,
    packages: &'static [&'static str],
    is_there: fn() -> bool,
}

const REQUIREMENTS: [Requirement; 7] = [
    Requirement {
        what: "qemu-system-ppc64, the second machine",
        packages: &["qemu-system-ppc"],
        is_there: || is_in_path("qemu-system-ppc64"),
    },
    Requirement {
        what: "qemu-ppc64le, the judge of instructions",
        packages: &["qemu-user"],
        is_there: || is_in_path("qemu-ppc64le"),
    },
    Requirement {
        what: "powerpc64le-linux-gnu-objdump, the judge of the disassembler",
        packages: &["binutils-powerpc64le-linux-gnu"],
        is_there: || is_in_path("powerpc64le-linux-gnu-objdump"),
    },
    Requirement {
        what: "powerpc64le-linux-gnu-gcc, which assembles the conformance rules",
        packages: &["gcc-powerpc64le-linux-gnu"],
        is_there: || is_in_path("powerpc64le-linux-gnu-gcc"),
    },
    Requirement {
        what: "gdb-multiarch, whose questions `boot --gdb` answers",
        packages: &["gdb-multiarch"],
        is_there: || is_in_path("gdb-multiarch"),
    },
    Requirement {
        what: "ld.lld, the linker of the images",
        packages: &["lld"],
        is_there: || is_in_path("ld.lld"),
    },
    Requirement {
        what: "a Rust compiler with the sources of core (or run `rustup component add rust-src`)",
        packages: &["rustc-web", "cargo-web", "rust-web-src"],
        is_there: || Toolchain::find().is_some(),
    },
];

/// What the wheel and its tests need besides.
const OF_THE_WHEEL: [Requirement; 2] = [
    Requirement {
        what: "python3 with venv, for the wheel",
        packages: &["python3", "python3-venv"],
        is_there: || output(Command::new("python3").args(["-c", "import ensurepip, venv"])).is_ok(),
    },
    Requirement {
        what: "chromium, which shows the pages of `powervisor report`",
        packages: &["chromium"],
        is_there: || is_in_path("chromium"),
    },
];

/// What compiling Linux needs besides.
const OF_A_KERNEL: [Requirement; 3] = [
    Requirement {
        what: "flex, for Linux's configuration and device trees",
        packages: &["flex"],
        is_there: || is_in_path("flex"),
    },
    Requirement {
        what: "bison, for the same",
        packages: &["bison"],
        is_there: || is_in_path("bison"),
    },
    Requirement {
        what: "bc, for Linux's constants of time",
        packages: &["bc"],
        is_there: || is_in_path("bc"),
    },
];

/// Checks everything; says nothing if all is there.
pub(crate) fn setup() -> Result<()> {
    bring(&REQUIREMENTS)
}

/// Checks what the wheel needs besides.
pub(crate) fn setup_for_wheel() -> Result<()> {
    bring(&OF_THE_WHEEL)
}

/// Checks what compiling Linux needs besides.
pub(crate) fn setup_for_kernel() -> Result<()> {
    bring(&OF_A_KERNEL)
}

fn bring(requirements: &'static [Requirement]) -> Result<()> {
    let missing = missing(requirements);
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> =
        missing.iter().flat_map(|requirement| requirement.packages).copied().collect();
    if is_root() && is_in_path("apt-get") {
        eprintln!("Installing {} ...", packages.join(" "));
        run(&mut apt_get(&["update"]))?;
        run(apt_get(&["install", "--yes", "--no-install-recommends"]).args(&packages))?;
    }
    let missing = self::missing(requirements);
    if missing.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> =
        missing.iter().map(|requirement| format!("\n  {}", requirement.what)).collect();
    bail!(
        "the host lacks{}\nInstall with: sudo apt-get install {}",
        lines.concat(),
        packages.join(" ")
    );
}

fn missing(requirements: &'static [Requirement]) -> Vec<&'static Requirement> {
    requirements.iter().filter(|requirement| !(requirement.is_there)()).collect()
}

fn is_root() -> bool {
    output(Command::new("id").arg("-u")).is_ok_and(|user| user.trim() == "0")
}

fn apt_get(arguments: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    command.arg("--quiet=2").args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    command
}
