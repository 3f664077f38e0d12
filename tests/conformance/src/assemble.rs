//! From a rule's program to the flat image that firmware enters.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::rule::{Processor, Rule, root};

const COMPILER: &str = "powerpc64le-linux-gnu-gcc";
const LINKER: &str = "powerpc64le-linux-gnu-ld";
/// Where firmware puts a kernel.
const LINKED_AT: &str = "0x20000000";

/// The image of `rule`'s program for `processor`, whose name is a symbol then; `folder` takes what lies between.
///
/// # Panics
/// With the assembler's or linker's complaints.
#[must_use]
pub fn assemble(rule: &Rule, processor: Processor, folder: &Path) -> Vec<u8> {
    let object = folder.join("program.o");
    let image = folder.join("program.bin");
    let mut compiler = Command::new(COMPILER);
    compiler
        .args(["-c", "-mbig-endian", "-mcpu=power9"])
        .arg(format!("-Wa,--defsym,{processor:?}=1"))
        .arg("-I")
        .arg(root().join("include"))
        .arg("-o")
        .args([&object, &rule.program]);
    run(&mut compiler, &rule.name);
    let mut linker = Command::new(LINKER);
    linker
        .args(["-m", "elf64ppc", "--oformat", "binary", "-e", "_start"])
        .args(["-Ttext", LINKED_AT, "-o"])
        .args([&image, &object]);
    run(&mut linker, &rule.name);
    fs::read(&image).expect("the linker wrote the image")
}

fn run(command: &mut Command, rule: &str) {
    let output = command.output().unwrap_or_else(|fault| {
        panic!(
            "{}: {fault}; `cargo xtask setup` says which packages are needed",
            command.get_program().display()
        )
    });
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{rule}: {complaints}");
}
