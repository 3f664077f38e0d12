//! `powervisor new`: a folder with an experiment or a payload of one's own, which runs where it is.

use std::path::Path;

use lab::bundle::is_name;
use lab::experiment::built_in;

use crate::arguments::{Language, NewArguments, Template};
use crate::failure::Failure;
use crate::output::{full, print_text, write_file};

/// What a file's text has instead of the name.
const NAME: &str = "@NAME@";
/// What it has instead of the file with the program.
const MAIN: &str = "@MAIN@";
/// The files of a payload, and of the experiment that measures it.
const PAYLOAD: [(&str, &str); 6] = [
    ("start.S", include_str!("payload/start.S.txt")),
    ("main.c", include_str!("payload/main.c")),
    ("powervisor.h", include_str!("payload/powervisor.h")),
    ("payload.ld", include_str!("payload/payload.ld")),
    ("Makefile", include_str!("payload/Makefile")),
    ("@NAME@.toml", include_str!("payload/experiment.toml")),
];
/// The same of one in Rust.
const RUST: [(&str, &str); 8] = [
    ("src/main.rs", include_str!("rust/main.rs.txt")),
    ("src/powervisor.rs", include_str!("rust/powervisor.rs.txt")),
    ("Cargo.toml", include_str!("rust/Cargo.toml.txt")),
    (".cargo/config.toml", include_str!("rust/config.toml")),
    (
        "powerpc64le-powervisor.json",
        include_str!("../../../../hypervisor/image/powerpc64le-powervisor.json"),
    ),
    ("payload.ld", include_str!("rust/payload.ld")),
    ("Makefile", include_str!("rust/Makefile")),
    ("@NAME@.toml", include_str!("payload/experiment.toml")),
];
/// The experiment that a new one begins as.
const EXPERIMENT: &str = "null-hypercall";
/// The variants of it that it keeps.
const VARIANTS: usize = 2;

pub(super) fn new(arguments: &NewArguments) -> Result<(), Failure> {
    let NewArguments { what, name, language } = arguments;
    if !is_name(name) {
        let text = "use up to 31 letters, digits and `,._+-`, beginning with a letter";
        return Err(Failure::input(name, format!("cannot name an experiment; {text}")));
    }
    if *what == Template::Experiment && language.is_some() {
        let text = "an experiment has none; leave it out, or write `new payload`";
        return Err(Failure::input("--language", text));
    }
    if *language == Some(Language::Rust) && name.contains([',', '.', '+']) {
        let text =
            "cannot name a Rust package; use letters, digits, `_` and `-`, beginning with a letter";
        return Err(Failure::input(name, text));
    }
    let folder = Path::new(name);
    // What is there already is somebody's.
    std::fs::create_dir(folder).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Failure::input(name, "is there already; choose another name")
        }
        _ => full(name, &error),
    })?;
    let written = match what {
        Template::Experiment => write_experiment(name),
        Template::Payload => write_payload(name, language.unwrap_or(Language::C)),
    };
    let next = written.inspect_err(|_| {
        // Half of it helps nobody, and would be in the way of the next try.
        let _ = std::fs::remove_dir_all(folder);
    })?;
    print_text(&next)
}

/// Writes an experiment's file into its folder; says what to do next.
fn write_experiment(name: &str) -> Result<String, Failure> {
    let path = format!("{name}/{name}.toml");
    write_file(Path::new(&path), experiment(name).as_bytes())?;
    Ok(format!("{path}: change it, and run it by\n  powervisor run {path}\n"))
}

/// Writes a payload's files into its folder; says what to do next.
fn write_payload(name: &str, language: Language) -> Result<String, Failure> {
    let folder = Path::new(name);
    let (files, main): (&[_], _) = match language {
        Language::C => (&PAYLOAD, "main.c"),
        Language::Rust => (&RUST, "src/main.rs"),
    };
    for (file, text) in files {
        let path = folder.join(file.replace(NAME, name));
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(|error| full(name, &error))?;
        write_file(&path, text.replace(NAME, name).replace(MAIN, main).as_bytes())?;
    }
    Ok(format!(
        "{name}/: change {main}; build and run it by\n  make -C {name}\n  powervisor run {name}/{name}.toml\n"
    ))
}

/// The experiment that comes with the command, with this name and its first variants.
fn experiment(name: &str) -> String {
    let text = built_in::text(EXPERIMENT).expect("it comes with the command");
    let starts: Vec<usize> = text.match_indices("[[variant]]").map(|(start, _)| start).collect();
    let kept = starts.get(VARIANTS).map_or(text, |&end| &text[..end]);
    // What stands before the next variant is about that one.
    let kept = kept.rsplit_once("\n\n").map_or(kept, |(kept, _)| kept);
    format!(
        "{}\n",
        kept.replacen(&format!("name = \"{EXPERIMENT}\""), &format!("name = \"{name}\""), 1)
    )
}
