//! Files that are not there, or not what they should be, and places that cannot be written to.

use std::path::Path;
use std::process::Command;

use super::{EXPERIMENT, PARTITION, assert_refused, folder};
use crate::support::{errors, project};

#[test]
fn files_that_are_missing_or_not_text() {
    let folder = folder();
    folder.write("binary.toml", [0xFF, 0xFE]);
    for subcommand in ["run", "boot", "compare"] {
        assert_refused(
            &mut folder.command(&format!("{subcommand} none.toml")),
            "none.toml: cannot be read: No such file or directory (os error 2); it must be a readable file",
        );
        assert_refused(
            &mut folder.command(&format!("{subcommand} binary.toml")),
            "binary.toml: the file is not text; it must be TOML in UTF-8",
        );
    }
}

/// What has no end is not read, and what is too long not kept.
#[test]
fn files_that_are_none() {
    let neither = "is neither a file nor a pipe; name one of these";
    let folder = folder();
    folder.write("zero.toml", PARTITION.replace("p.elf", "/dev/zero"));
    folder.write("initrd.toml", format!("{PARTITION}initrd = '/dev/zero'\n"));
    let machine = format!("[machine]\ndescription = 'folder.toml'\n{PARTITION}");
    folder.write("machine.toml", machine);
    std::fs::create_dir(folder.path().join("folder.toml")).unwrap();
    let sparse = std::fs::File::create(folder.path().join("sparse")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    let long = "sparse: has more than 1 GiB, which is the limit; name a shorter file";
    let directory = "cannot be read: Is a directory (os error 21); it must be a readable file";
    for (arguments, expected) in [
        ("/dev/zero", format!("/dev/zero: {neither}")),
        ("zero.toml", format!("zero.toml:3: the payload /dev/zero {neither}")),
        ("initrd.toml", format!("initrd.toml:6: the initrd /dev/zero {neither}")),
        ("machine.toml", format!("folder.toml: {directory}")),
        ("--payload /dev/zero", format!("/dev/zero: {neither}")),
        ("--payload p.elf --initrd /dev/zero", format!("/dev/zero: {neither}")),
        ("--kernel /dev/zero", format!("/dev/zero: {neither}")),
        ("--kernel p.elf --machine /dev/zero", format!("/dev/zero: {neither}")),
        ("--resume /dev/zero", format!("/dev/zero: {neither}")),
        ("--kernel sparse", long.to_owned()),
        ("--payload p.elf --initrd sparse", long.to_owned()),
        (
            "--resume sparse",
            "sparse: has more than 64 GiB, which is the limit; name a shorter file".to_owned(),
        ),
    ] {
        let mut command = folder.command(&format!("boot {arguments}"));
        assert_refused(command.env("POWERVISOR_IMAGES", "images"), &expected);
    }
}

/// A pipe is a file to a shell; one that never ends is not kept, and one that nobody writes to can be interrupted.
#[test]
fn pipes() {
    let folder = folder();
    let script = |script: &str| {
        let mut command = Command::new("/usr/bin/timeout");
        command.args(["--signal=KILL", "120", "bash", "-c", script]);
        command.env("powervisor", env!("CARGO_BIN_EXE_powervisor"));
        command.env("POWERVISOR_IMAGES", "images").current_dir(folder.path());
        command
    };
    folder.write("bad.toml", PARTITION.replace("vcpus", "vcpu"));
    let output = script("exec $powervisor boot <(cat bad.toml)").output().unwrap();
    let said = errors(&output);
    assert!(said.contains(":5: unknown key `vcpu`; did you mean"), "{said}");
    let output = script("exec $powervisor boot --kernel <(cat /dev/zero)").output().unwrap();
    let said = errors(&output);
    assert!(
        said.ends_with(": has more than 256 MiB, which is the limit; name a shorter file\n"),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(2));
    let lonely = "mkfifo fifo; $powervisor boot fifo & sleep 0.5; kill -TERM $!; wait $!";
    let output = script(lonely).output().unwrap();
    assert_eq!((output.status.code(), errors(&output).as_str()), (Some(130), ""));
}

/// A terminal acts on nothing that comes from a name or a file.
#[test]
fn terminal_commands_in_names() {
    const EVIL: &str = "\x1b[2J\x1b]0;x\x07";
    const SHOWN: &str = "\\u{1b}[2J\\u{1b}]0;x\\u{7}";
    let folder = folder();
    let missing =
        "cannot be read: No such file or directory (os error 2); it must be a readable file";
    assert_refused(
        &mut folder.command(&format!("boot {EVIL}.toml")),
        &format!("{SHOWN}.toml: {missing}"),
    );
    folder.write("bad.toml", PARTITION.replace("name = 'p'", "name = \"\\u001b[2J\""));
    let output = folder.command("boot bad.toml").output().unwrap();
    assert!(
        errors(&output).starts_with("powervisor: bad.toml:2: `\\u{1b}[2J` cannot name"),
        "{output:?}"
    );
    // Nor does a line break end the line.
    folder.write("bad.toml", PARTITION.replace("name = 'p'", "name = \"p\\npowervisor: ok\""));
    let expected = "bad.toml:2: `p\\npowervisor: ok` cannot name a partition; use up to 31 letters, digits and \
        `,._+-`, beginning with a letter";
    assert_refused(&mut folder.command("boot bad.toml"), expected);
    assert_refused(
        &mut folder.command("boot two\nlines\u{85}.toml"),
        &format!("two\\nlines\\u{{85}}.toml: {missing}"),
    );
    // A bundle is a file like any other: somebody else may have written it.
    folder.command("bundle good.toml -o b").status().unwrap();
    let mut bundle = std::fs::read(folder.path().join("b")).unwrap();
    let name = bundle.windows(8).position(|bytes| bytes == b"\0\0\0\x01p\0\0\0").unwrap() + 4;
    for (byte, expected) in [
        (
            b'1',
            "b: `1` cannot name a partition; write the bundle with `powervisor bundle`, which says what can",
        ),
        (
            0x1B,
            "b: the bundle's manifest is damaged (Invalid node name at offset 124); write it again with `powervisor bundle`",
        ),
    ] {
        bundle[name] = byte;
        folder.write("b", &bundle);
        assert_refused(folder.command("boot b").env("POWERVISOR_IMAGES", "images"), expected);
    }
    let output = folder.command(&format!("boot --steps {EVIL}")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!errors(&output).contains('\x1b'), "{}", errors(&output));
}

/// What a run reads it does not write over, by whatever name.
#[test]
fn outputs_that_are_inputs() {
    let folder = folder();
    folder.write("machine.toml", std::fs::read(project("machines/power9.toml")).unwrap());
    folder.write("e.toml", EXPERIMENT.replace("'power9'", "'machine.toml'"));
    folder.write("map", "c000000000000100 T enter\n");
    folder.write("typed", "# powervisor console input 1\n");
    std::fs::hard_link(folder.path().join("p.elf"), folder.path().join("hard")).unwrap();
    std::os::unix::fs::symlink("good.toml", folder.path().join("soft")).unwrap();
    std::fs::create_dir(folder.path().join("out")).unwrap();
    for (output, input) in [("e-v.svg", "machine.toml"), ("boot.folded", "map")] {
        let output = folder.path().join("out").join(output);
        std::os::unix::fs::symlink(Path::new("..").join(input), output).unwrap();
    }
    let boot = "boot good.toml --machine machine.toml --symbols p=map --replay-input typed";
    let kernel = "boot --kernel p.elf --symbols map";
    for (arguments, option, output) in [
        ("bundle good.toml", "--output", "./good.toml"),
        ("bundle good.toml", "--output", "hard"),
        (boot, "--save", "soft"),
        (boot, "--save", "machine.toml"),
        (boot, "--log-input", "typed"),
        (boot, "--log-input", "map"),
        (&format!("{boot} --trace exits"), "--trace-file", "hard"),
        (&format!("{boot} --trace exits"), "--trace-file", "images/hypervisor"),
        (&format!("{boot} --statistics"), "--statistics-file", "good.toml"),
        ("boot good.toml --on qemu --statistics", "--statistics-file", "good.toml"),
        (kernel, "--save", "hard"),
    ] {
        let before = std::fs::read(folder.path().join(output)).unwrap();
        let arguments = format!("{arguments} {option} {output}");
        let mut command = folder.command(&arguments);
        let expected =
            format!("{option}: {output} is a file that this run reads; name another one");
        assert_refused(command.env("POWERVISOR_IMAGES", "images"), &expected);
        assert_eq!(std::fs::read(folder.path().join(output)).unwrap(), before, "{arguments}");
    }
    let redirected = std::fs::File::open(folder.path().join("typed")).unwrap();
    assert_refused(
        folder
            .command("boot good.toml --trace exits --trace-file typed")
            .env("POWERVISOR_IMAGES", "images")
            .stdin(redirected),
        "--trace-file: typed is a file that this run reads; name another one",
    );
    for (arguments, output) in [
        ("run e.toml --out out", "out/e-v.svg"),
        ("boot --kernel p.elf --symbols map --timing --out out", "out/boot.folded"),
    ] {
        let expected = format!("--out: {output} is a file that this run reads; name another one");
        let mut command = folder.command(arguments);
        assert_refused(command.env("POWERVISOR_IMAGES", "images"), &expected);
    }
}

#[test]
fn one_place_for_two_outputs() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("out")).unwrap();
    for (arguments, option, output, other) in [
        ("--save x --statistics --statistics-file ./x", "--statistics-file", "./x", "--save"),
        ("--trace exits --trace-file x --save out/../x", "--trace-file", "x", "--save"),
        ("--log-input x --save x", "--log-input", "x", "--save"),
        ("--timing --save out/boot.json --out out", "--out", "out/boot.json", "--save"),
    ] {
        let expected = format!("{option}: {output} is what {other} writes too; name another one");
        let mut command = folder.command(&format!("boot good.toml {arguments}"));
        assert_refused(command.env("POWERVISOR_IMAGES", "images"), &expected);
        assert!(!folder.path().join("x").exists(), "{arguments}");
    }
}

#[test]
fn places_that_out_cannot_write_to() {
    let folder = folder();
    folder.write("good.experiment.toml", EXPERIMENT);
    folder.write("files/e-v.svg/in-the-way", []);
    for (out, expected) in [
        (
            "p.elf",
            "p.elf: cannot be made: File exists (os error 17); name a folder that can be written",
        ),
        ("files", "files/e-v.svg: not a file that can be replaced; name a file"),
    ] {
        let mut command = folder.command(&format!("run good.experiment.toml --out {out}"));
        assert_refused(command.env("POWERVISOR_IMAGES", "images"), expected);
    }
}

#[test]
fn a_file_that_is_open_for_writing_only_as_console_input() {
    let folder = folder();
    let path = folder.write("file", "typed\n");
    let mut command = folder.command(&format!("boot {}", project("examples/hello.toml")));
    assert_refused(
        command.stdin(std::fs::File::options().write(true).open(path).unwrap()),
        "standard input: is open for writing only; give it a file, a pipe or a terminal to read",
    );
}

#[test]
fn a_folder_as_console_input() {
    let folder = folder();
    for on in ["simulator", "qemu"] {
        let arguments = format!("boot {} --on {on}", project("examples/hello.toml"));
        let mut command = folder.command(&arguments);
        assert_refused(
            command.stdin(std::fs::File::open(folder.path()).unwrap()),
            "standard input: is a folder; give it a file, a pipe or a terminal",
        );
    }
}
