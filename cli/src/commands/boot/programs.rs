//! The programs of a boot by name: whose symbols are known, and what a function's name means.

use std::path::{Path, PathBuf};

use arch::processor::Processor;
use lab::images::{GUESTS, Images};
use lab::ledger::names::{Names, Program};
use lab::ledger::symbols;
use lab::toml_file::{TomlFile, suggest};
use lab::user_file::Files;
use lab::{partition_file, payload};
use simulator::{Machine, Place, Whose};

use super::calls::entries;
use crate::arguments::BootArguments;
use crate::failure::Failure;
use crate::output::say;
use crate::saved::Surroundings;
use crate::signals::INTERRUPTION;
use crate::visible::one_line;

/// The names that are known: those of `kernel`, the file that was booted, if it is known, and of --symbols.
pub(super) fn names(
    arguments: &BootArguments,
    surroundings: &Surroundings,
    processor: Processor,
    kernel: Option<&[u8]>,
    files: &Files,
) -> Result<Names, Failure> {
    let is_bare = !surroundings.has_hypervisor;
    let host = match kernel {
        _ if !is_bare => Images::find()
            // There may be none of a hypervisor that was saved.
            .and_then(|images| images.hypervisor_of(processor))
            .map_or_else(|_| Program::default(), |image| Program::of_elf(&image)),
        Some(kernel) => Program::of_elf(kernel),
        None => Program::default(),
    };
    let hypervisor = (!is_bare).then_some(processor);
    let own =
        if asks_for_names(arguments) { self::files(arguments, hypervisor) } else { Vec::new() };
    let program = |name: &String| {
        // Of one that is not where it was linked the symbols are elsewhere too.
        let is_its = |(who, _, moved): &&(String, String, u64)| {
            *moved == 0 && who.strip_prefix("partition ") == Some(name)
        };
        let bytes = own.iter().find(is_its).and_then(|(_, path, _)| std::fs::read(path).ok());
        bytes.map_or_else(Program::default, |bytes| Program::of_elf(&bytes))
    };
    let partitions = (1..).zip(&surroundings.consoles.partitions);
    let partitions = partitions.map(|(lpid, name)| (lpid, (name.clone(), program(name))));
    let mut names = Names { host, is_bare, partitions: partitions.collect() };
    for text in &arguments.symbols {
        add(&mut names, text, files)?;
    }
    Ok(names)
}

/// Whether somebody will ask for the functions of programs.
fn asks_for_names(arguments: &BootArguments) -> bool {
    let asks = [
        arguments.timing,
        arguments.region.is_some(),
        arguments.until.is_some(),
        arguments.trace_from.is_some(),
    ];
    asks.contains(&true)
}

/// The files of the programs that a boot starts: whose each is, its path, and how far from where it is linked it lies.
/// `hypervisor` is the processor of one with a hypervisor. Those of a bundle, or of a saved machine, are not known.
pub(super) fn files(
    arguments: &BootArguments,
    hypervisor: Option<Processor>,
) -> Vec<(String, String, u64)> {
    let images = Images::find().ok();
    let mut files: Vec<(String, PathBuf)> = Vec::new();
    if let Some((images, processor)) = images.as_ref().zip(hypervisor) {
        files.push(("hypervisor".to_owned(), images.path_of(processor)));
    }
    let own = [("kernel", &arguments.kernel), ("partition payload", &arguments.payload)];
    let own = own.into_iter().filter_map(|(who, path)| Some((who.to_owned(), path.clone()?)));
    files.extend(own);
    // A pipe has been read already, and a bundle is no TOML.
    if let Some(path) = arguments.file.as_ref().filter(|path| path.is_file())
        && let Ok(file) = TomlFile::read(path, &Files::new(INTERRUPTION))
        && let Ok(payloads) = partition_file::payloads(&file)
    {
        files.extend(payloads.into_iter().map(|(partition, payload)| {
            let path = match images.as_ref().filter(|_| GUESTS.contains(&payload.as_str())) {
                Some(images) => images.folder().join(payload),
                None => file.resolve(&payload),
            };
            (format!("partition {partition}"), path)
        }));
    }
    let files = files.into_iter().filter(|(_, path)| path.is_file());
    let known = files.filter_map(|(who, path)| {
        let bytes = std::fs::read(&path).ok().filter(|bytes| bytes.starts_with(b"\x7fELF"))?;
        let moved = if who.starts_with("partition") { payload::moved_by(&bytes) } else { 0 };
        let path = path.canonicalize().unwrap_or(path);
        Some((who, path.display().to_string(), moved))
    });
    known.collect()
}

/// Adds the symbols of one `[PARTITION=]FILE`.
fn add(names: &mut Names, text: &str, files: &Files) -> Result<(), Failure> {
    if names.is_bare {
        if let Some((partition, file)) = text.split_once('=')
            && !Path::new(text).exists()
        {
            let text = format!(
                "a bare kernel has no partition `{partition}`; leave it out: `--symbols {file}`"
            );
            return Err(Failure::input("--symbols", text));
        }
        let host = std::mem::take(&mut names.host);
        names.host = host.with_symbols_of(symbols::read(Path::new(text), files)?);
        return Ok(());
    }
    let known =
        names.partitions.values().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let count = names.partitions.len();
    let (wanted, file) = match text.split_once('=') {
        Some((partition, file)) => (Some(partition), file),
        None if count == 1 => (None, text),
        None => {
            let text = format!("says no partition; write PARTITION=FILE, with one of {known}");
            return Err(Failure::input("--symbols", text));
        }
    };
    let is_meant = |name: &String| wanted.is_none_or(|wanted| wanted == name);
    let Some((_, program)) = names.partitions.values_mut().find(|(name, _)| is_meant(name)) else {
        let wanted = wanted.unwrap_or_default();
        let text = format!("there is no partition `{wanted}`; name one of {known}");
        return Err(Failure::input("--symbols", text));
    };
    *program = symbols::read(Path::new(file), files)?;
    Ok(())
}

/// Where the function begins that `wanted` names, an argument of `option`.
pub(super) fn places(
    names: &Names,
    machine: &Machine,
    option: &str,
    wanted: &str,
) -> Result<Vec<Place>, Failure> {
    let host = [(Whose::Host, "hypervisor", &names.host)].into_iter();
    let partitions = names.partitions.iter();
    let programs: Vec<(Whose, &str, &Program)> = host
        .chain(
            partitions
                .map(|(lpid, (name, program))| (Whose::Partition(*lpid), name.as_str(), program)),
        )
        .collect();
    let of_program = |(whose, _, program): &(Whose, &str, &Program), function: &str| {
        let addresses = program.addresses_of(function);
        if addresses.len() > 1 {
            let text: Vec<String> =
                addresses.iter().map(|address| format!("{address:#x}")).collect();
            say(format_args!(
                "{option}: {} functions are called `{}`, and each of them is meant: at {}",
                addresses.len(),
                one_line(function),
                text.join(", ")
            ));
        }
        let is_second = |address| {
            let word = program.word(address).map(|word| word.0);
            let in_memory = || machine.code_at(0, address | LINEAR).map(u32::from_le_bytes);
            word.or_else(in_memory).is_none_or(sets_up_contents)
        };
        entries(*whose, &addresses, is_second)
    };
    if let Some((program, function)) = wanted.split_once(':')
        && let Some(program) = programs.iter().find(|(_, name, _)| *name == program)
        && !function.starts_with(':')
    {
        let found = of_program(program, function);
        return if found.is_empty() {
            Err(unknown(option, function, &[*program]))
        } else {
            Ok(found)
        };
    }
    let found: Vec<_> = programs
        .iter()
        .filter(|(_, _, program)| !program.addresses_of(wanted).is_empty())
        .collect();
    match found[..] {
        [] => Err(unknown(option, wanted, &programs)),
        [program] => Ok(of_program(program, wanted)),
        [(_, one, _), (_, other, _), ..] => {
            let text = format!(
                "`{wanted}` is a function of {one} and of {other}; write {one}:{wanted} or {other}:{wanted}"
            );
            Err(Failure::input(option, text))
        }
    }
}

/// Where kernels have real memory, one byte after the other.
const LINEAR: u64 = 0xC << 60;

/// Whether the word is the first of two that set up r2, behind which callers may enter too.
fn sets_up_contents(word: u32) -> bool {
    // `addis r2,r12,X` and `lis r2,X`
    matches!(word >> 16, 0x3C4C | 0x3C40)
}

fn unknown(option: &str, function: &str, programs: &[(Whose, &str, &Program)]) -> Failure {
    let functions = || programs.iter().flat_map(|(_, _, program)| program.functions());
    if functions().next().is_none() {
        let text = format!("no symbols are known to find `{function}` by; give them by --symbols");
        return Failure::input(option, text);
    }
    let near = suggest(function, functions());
    let near =
        if near.starts_with("did") { near } else { "see the symbols for their names".to_owned() };
    Failure::input(option, format!("there is no function `{function}`; {near}"))
}
