//! The `powervisor` command.

use std::process::ExitCode;

use clap::Parser as _;

use powervisor::arguments::Arguments;
use powervisor::commands;
use powervisor::failure::Failure;
use powervisor::interruption;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match interruption::watch().and_then(|()| commands::execute(&arguments.command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // Whoever pressed Ctrl-C knows, and whoever closed the pipe does not care.
            if !matches!(failure, Failure::ClosedPipe | Failure::Interrupted) {
                eprintln!("powervisor: {failure}");
            }
            failure.exit_code()
        }
    }
}
