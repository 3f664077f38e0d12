//! The `powervisor` command.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::Parser as _;

use powervisor::arguments::Arguments;
use powervisor::commands;
use powervisor::failure::Failure;
use powervisor::output::{print, print_error, say};
use powervisor::signals;
use powervisor::visible::visible;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(answer) => return answered(&answer),
    };
    match signals::watch().and_then(|()| commands::execute(&arguments.command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(text) = failure.shown() {
                say(text);
            }
            failure.exit_code()
        }
    }
}

/// Shows what the arguments asked for, help or version, or what is wrong with them.
fn answered(answer: &clap::Error) -> ExitCode {
    let text = answer.render();
    if answer.use_stderr() {
        print_error(visible(&text.to_string()).as_bytes());
        return ExitCode::from(2);
    }
    let is_terminal = std::io::stdout().is_terminal();
    let text = if is_terminal { text.ansi().to_string() } else { text.to_string() };
    match print(text.as_bytes()) {
        Ok(()) | Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            say(&failure);
            failure.exit_code()
        }
    }
}
