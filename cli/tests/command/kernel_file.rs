//! `powervisor boot` of a kernel file, which says what `--kernel` and its arguments say.

use std::collections::BTreeSet;

use crate::support::{Folder, errors, project};

/// A folder with a kernel that branches to itself.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("kernel", 0x4800_0000_u32.to_be_bytes());
    folder.write("initrd", "something");
    folder
}

/// The machine after its first step.
#[track_caller]
fn machine(folder: &Folder, arguments: &str) -> Vec<u8> {
    let mut command = folder.command(&format!("boot {arguments} --steps 1 --save saved"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments}: {}", errors(&output));
    std::fs::read(folder.path().join("saved")).unwrap()
}

#[test]
fn a_kernel_file_makes_the_machine_that_its_arguments_make() {
    const KERNEL: &str = "[kernel]\nimage = \"../kernel\"\n";
    const POWER8: &str = "[machine]\ndescription = \"power8\"\n";
    let folder = folder();
    let mut machines = BTreeSet::new();
    for (more, arguments) in [
        ("", ""),
        ("initrd = \"../initrd\"\n", "--initrd initrd"),
        ("arguments = \"quiet\"\n", "--append quiet"),
        ("[machine]\nmemory = \"1 GiB\"\n", "--memory 1GiB"),
        (POWER8, "--machine power8"),
    ] {
        folder.write("in/kernel.toml", format!("{KERNEL}{more}"));
        let by_file = machine(&folder, "in/kernel.toml");
        let by_arguments = machine(&folder, format!("--kernel kernel {arguments}").trim_end());
        assert!(by_file == by_arguments, "{more}");
        assert!(machines.insert(by_file), "{more}");
    }
    // What the command line says comes first.
    folder.write("in/kernel.toml", format!("{KERNEL}{POWER8}"));
    let by_file = machine(&folder, "in/kernel.toml --machine power9 --topology 1x1x2");
    assert!(by_file == machine(&folder, "--kernel kernel --topology 1x1x2"));
}

#[test]
fn what_does_not_fit_a_kernel_file_is_refused() {
    let folder = folder();
    for (name, text) in [
        ("kernel.toml", "[kernel]\nimage = \"kernel\"\n"),
        ("nothing.toml", "[kernel]\ninitrd = \"initrd\"\n"),
        ("both.toml", "[kernel]\nimage = \"kernel\"\n[[partition]]\n"),
        ("absent.toml", "[kernel]\nimage = \"absent\"\n"),
        ("nul.toml", "[kernel]\nimage = \"kernel\"\narguments = \"\\u0000\"\n"),
    ] {
        folder.write(name, text);
    }
    let other = "a kernel file, and no partition file; `powervisor boot` takes it";
    let without = "kernel.toml boots a bare kernel, without partitions; leave the option out";
    let of_file = "it is for a partition of a partition file; name such a file, or keep a whole machine with --save \
        and go on with it with --resume";
    let example = project("examples/linux-host.toml");
    for (arguments, expected) in [
        ("boot kernel.toml --console hello", format!("--console: {without}")),
        ("boot kernel.toml --suspend hello --at 1us --to it", format!("--suspend: {of_file}")),
        ("boot kernel.toml --from kernel", format!("--from: {of_file}")),
        ("boot kernel.toml --statistics", "--statistics: a bare kernel has no".to_owned()),
        ("boot nothing.toml", "nothing.toml:1: the key `image` is missing".to_owned()),
        ("boot both.toml", "both.toml:3: unknown key `partition`".to_owned()),
        ("boot absent.toml", "absent: cannot be read".to_owned()),
        ("boot nul.toml", "nul.toml:3: the arguments hold a NUL character".to_owned()),
        ("bundle kernel.toml -o bundle", format!("kernel.toml:1: {other}")),
        ("compare kernel.toml", format!("kernel.toml:1: {other}")),
        // Its kernel has to be fetched; that the example is such a file can be seen without.
        (&format!("bundle {example} -o bundle"), format!("{example}:1: {other}")),
    ] {
        let output = folder.command(arguments).output().unwrap();
        let said = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
        assert!(said.starts_with(&format!("powervisor: {expected}")), "{arguments}: {said}");
    }
}
