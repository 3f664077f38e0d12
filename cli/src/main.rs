//! The `powervisor` command.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Arg, CommandFactory as _, FromArgMatches as _};

use powervisor::arguments::Arguments;
use powervisor::commands;
use powervisor::failure::Failure;
use powervisor::output::{check_said, print, print_error, say};
use powervisor::signals;
use powervisor::visible::visible;

fn main() -> ExitCode {
    let arguments = match parse() {
        Ok(arguments) => arguments,
        Err(answer) => return answered(&answer),
    };
    let done = signals::watch().and_then(|()| commands::execute(&arguments.command));
    match done.and_then(|()| check_said()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => ended(&failure),
    }
}

/// The arguments. A number with a sign is the value of the option before it, and not another option.
fn parse() -> Result<Arguments, clap::Error> {
    let with_numbers = |argument: Arg| match argument.get_action().takes_values() {
        true => argument.allow_negative_numbers(true),
        false => argument,
    };
    let command = Arguments::command().mut_subcommands(|command| command.mut_args(with_numbers));
    Arguments::from_arg_matches(&command.try_get_matches()?)
}

/// Says why the command ends, if anybody needs to be told.
fn ended(failure: &Failure) -> ExitCode {
    failure.shown().into_iter().for_each(say);
    failure.exit_code()
}

/// What is wrong with the arguments, in one line: clap says it in several, and adds how the command is used.
fn refusal(text: &str) -> String {
    let about = text.split("\nUsage:").next().unwrap_or_default();
    let about = about.split("\nFor more information").next().unwrap_or_default();
    let lines: Vec<&str> = about.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let line = lines.join(" ").replace(" tip: ", "; ").replace(" [possible values: ", "; known: [");
    let line = line.strip_prefix("error: ").unwrap_or(&line);
    if line.contains("; ") {
        line.to_owned()
    } else {
        format!("{line}; --help lists what there is")
    }
}

/// Shows what the arguments asked for, help or version, or what is wrong with them.
fn answered(answer: &clap::Error) -> ExitCode {
    let text = answer.render();
    if answer.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        print_error(visible(&text.to_string()).as_bytes());
        return ExitCode::from(2);
    }
    if answer.use_stderr() {
        say(refusal(&text.to_string()));
        return ExitCode::from(2);
    }
    let is_terminal = std::io::stdout().is_terminal();
    let text = if is_terminal { text.ansi().to_string() } else { text.to_string() };
    match print(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => ended(&failure),
    }
}
