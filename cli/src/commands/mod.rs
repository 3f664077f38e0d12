//! The subcommands, one file each.

mod boot;
mod bundle;
mod calibrate;
mod compare;
mod completions;
mod diff;
mod manual;
mod new;
mod packaged;
mod run;
mod show;

use crate::arguments::Command;
use crate::failure::Failure;

/// Does what the user asked for.
pub fn execute(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Run(arguments) => run::run(arguments),
        Command::Boot(arguments) => boot::boot(arguments),
        Command::Bundle(arguments) => bundle::bundle(arguments),
        Command::Calibrate(arguments) => calibrate::calibrate(arguments),
        Command::Compare(arguments) => compare::compare(arguments),
        Command::Completions(arguments) => completions::completions(arguments),
        Command::Diff(arguments) => diff::diff(arguments),
        Command::Manual(arguments) => manual::manual(arguments),
        Command::Sweep(arguments) => packaged::hand_over("sweep", arguments),
        Command::Report(arguments) => packaged::hand_over("report", arguments),
        Command::New(arguments) => new::new(arguments),
        Command::Show(arguments) => show::show(arguments),
    }
}
