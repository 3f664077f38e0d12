//! Whatever is wrong with what the user gives: exit status 2 and one line that says where, what, and
//! what would be right.

mod boot;
mod experiments;
mod files;
mod machines;
mod partitions;
mod reports;
mod suspended;

use std::process::Command;

use crate::support::{Folder, elf, errors};

const PARTITION: &str =
    "[[partition]]\nname = 'p'\npayload = 'p.elf'\nmemory = '1 MiB'\nvcpus = 1\n";
const EXPERIMENT: &str = "name = 'e'\nquestion = '?'\nmachine = 'power9'\npayload = 'p.elf'\nmemory = '1 MiB'\n\
    region = { name = 'r', number = 1 }\nper = 'hypercall'\n[[variant]]\nname = 'v'\narguments = ''\nexpect = ''\n";

/// A folder in which PARTITION and EXPERIMENT could run, had it a real hypervisor.
fn folder() -> Folder {
    let folder = Folder::new();
    for name in ["hypervisor", "hypervisor-power8", "hypervisor-power9"] {
        folder.write(&format!("images/{name}"), [1; 16]);
    }
    folder.write("p.elf", elf(&[0x1_0000]));
    folder.write("good.toml", PARTITION);
    folder.write("empty", []);
    folder.write("large", vec![1; 1 << 20]);
    folder
}

#[track_caller]
fn assert_refused(command: &mut Command, expected: &str) {
    let output = command.output().unwrap();
    let errors = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert_eq!(errors, format!("powervisor: {expected}\n"));
    assert!(output.stdout.is_empty());
}

#[track_caller]
fn assert_files_refused(subcommand: &str, cases: &[(&str, &str, &str)], good: &str) {
    for (from, to, expected) in cases {
        let folder = folder();
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "the case `{from}` changes nothing");
        folder.write("bad.toml", text);
        let arguments = format!("{subcommand} bad.toml");
        let place = folder.path().canonicalize().unwrap();
        let expected = expected.replace("FOLDER", place.to_str().unwrap());
        assert_refused(folder.command(&arguments).env("POWERVISOR_IMAGES", "images"), &expected);
    }
}
