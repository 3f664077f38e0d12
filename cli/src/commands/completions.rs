//! `powervisor completions`: a script for a shell, made of the arguments.

use clap::CommandFactory as _;

use crate::arguments::{Arguments, CompletionsArguments};
use crate::failure::Failure;
use crate::output::print;

pub(super) fn completions(arguments: &CompletionsArguments) -> Result<(), Failure> {
    let mut script = Vec::new();
    let mut command = Arguments::command();
    let name = command.get_name().to_owned();
    clap_complete::generate(arguments.shell, &mut command, name, &mut script);
    print(&script)
}
