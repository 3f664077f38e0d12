//! `powervisor manual`: pages for `man`, made of the arguments.

use std::fs;
use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;

use crate::arguments::{Arguments, ManualArguments};
use crate::failure::Failure;
use crate::output::{full, print, write_file};

pub(super) fn manual(arguments: &ManualArguments) -> Result<(), Failure> {
    let pages = pages();
    let Some(folder) = &arguments.out else {
        let all: Vec<u8> = pages.into_iter().flat_map(|(_, page)| page).collect();
        return print(&all);
    };
    let place = folder.display().to_string();
    fs::create_dir_all(folder).map_err(|error| full(&place, &error))?;
    pages.iter().try_for_each(|(name, page)| {
        write_file(&folder.join(Path::new(&format!("{name}.1"))), page)
    })
}

/// Name and text of each page: of the command, and of what it can do.
fn pages() -> Vec<(String, Vec<u8>)> {
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    let name = command.get_name().to_owned();
    let of = |command: &Command, name: String| {
        let mut page = Vec::new();
        // The name of a page has to live as long as the program, as names of commands do.
        let title: &'static str = Box::leak(name.clone().into_boxed_str());
        Man::new(command.clone().name(title)).render(&mut page).expect("a Vec takes it all");
        (name, page)
    };
    let whole = of(&command, name.clone());
    let parts =
        command.get_subcommands().map(|part| of(part, format!("{name}-{}", part.get_name())));
    [whole].into_iter().chain(parts).collect()
}
