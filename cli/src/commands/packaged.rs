//! `powervisor sweep` and `powervisor report`: what the Python package does. This command hands over to it.

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, io};

use crate::arguments::PackagedArguments;
use crate::failure::Failure;

/// Tells the package which command to call: the one that called it.
const VARIABLE: &str = "POWERVISOR_COMMAND";
/// Ends well if the package is there.
const IS_THERE: &str =
    "import importlib.util, sys; sys.exit(importlib.util.find_spec('powervisor') is None)";

/// Becomes the package's own command of this name.
pub(super) fn hand_over(name: &str, arguments: &PackagedArguments) -> Result<(), Failure> {
    let here = env::current_exe().map_err(|error| unable(name, &error))?;
    let beside = here.with_file_name("python3");
    let python = if beside.is_file() { beside } else { PathBuf::from("python3") };
    let is_there = Command::new(&python)
        .args(["-c", IS_THERE])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !is_there {
        let text = "the Python package powervisor does this, and is not there; `cargo xtask wheel` builds a wheel with \
            it and this command, which `pip install` takes";
        return Err(Failure::input(name, text));
    }
    let mut command = Command::new(python);
    command.args(["-m", "powervisor", name]).args(&arguments.arguments).env(VARIABLE, here);
    Err(unable(name, &command.exec()))
}

fn unable(name: &str, error: &io::Error) -> Failure {
    Failure::input(name, format_args!("Python cannot be started: {error}; install the wheel again"))
}
