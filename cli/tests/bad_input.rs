//! Whatever is wrong with what the user gives: exit status 2 and one line that says where, what, and
//! what would be right.

mod support;

use std::path::Path;
use std::process::Command;

use lab::images::GUESTS;
use support::{Folder, elf, errors, project};

const PARTITION: &str =
    "[[partition]]\nname = 'p'\npayload = 'p.elf'\nmemory = '1 MiB'\nvcpus = 1\n";
const EXPERIMENT: &str = "name = 'e'\nquestion = '?'\nmachine = 'power9'\npayload = 'p.elf'\nmemory = '1 MiB'\n\
    region = { name = 'r', number = 1 }\nper = 'hypercall'\n[[variant]]\nname = 'v'\narguments = ''\nexpect = ''\n";

/// A folder in which PARTITION and EXPERIMENT could run, had it a real hypervisor.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("images/hypervisor", [1; 16]);
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
        assert_refused(folder.command(&arguments).env("POWERVISOR_IMAGES", "images"), expected);
    }
}

#[test]
fn partition_files() {
    let unreadable = format!(
        "bad.toml:3: the payload q.elf cannot be read; name a file or one of ours: {}",
        GUESTS.join(", ")
    );
    let cases = [
        ("[[partition]]", "[[partition]", "bad.toml:1: unclosed array table; expected `]`"),
        (
            "[[partition]]",
            "[[partitoin]]",
            "bad.toml:1: unknown key `partitoin`; did you mean `partition`?",
        ),
        (
            "payload",
            "image",
            "bad.toml:3: unknown key `image`; known: name, payload, initrd, memory, vcpus, arguments, weight, time_limit_us, performance_monitor, dma_window, features",
        ),
        ("vcpus = 1", "", "bad.toml:1: the key `vcpus` is missing; add a line `vcpus = ...`"),
        ("name = 'p'", "name = 7", "bad.toml:2: invalid type: integer `7`; expected a string"),
        ("vcpus = 1", "vcpus = -1", "bad.toml:5: -1 is out of range; give a number from 1 to 64"),
        ("vcpus = 1", "vcpus = 0", "bad.toml:5: a partition needs a vCPU; write `vcpus = 1`"),
        ("vcpus = 1", "vcpus = 65", "bad.toml:5: 65 is out of range; give a number from 1 to 64"),
        (
            "'1 MiB'",
            "'1 MB'",
            "bad.toml:4: invalid value: string \"1 MB\"; expected a size such as \"64 MiB\" or \"1 GiB\", or a number of bytes",
        ),
        ("'1 MiB'", "0", "bad.toml:4: a partition needs memory; give it some, as in \"64 MiB\""),
        (
            "'1 MiB'",
            "100000",
            "bad.toml:4: memory must be given in whole 64 KiB; use a multiple of \"64 KiB\"",
        ),
        (
            "'1 MiB'",
            "'64 KiB'",
            "bad.toml:4: p.elf: it needs memory up to 0x10020, the partition has 64 KiB; give it at least 128 KiB or link the payload lower",
        ),
        ("p.elf", "q.elf", &unreadable),
        (
            "name = 'p'",
            "name = 'a b'",
            "bad.toml:2: `a b` cannot name a partition; use up to 31 letters, digits and `,._+-`, beginning with a letter",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\n[policy]\nmitigations = 'of'\n",
            "bad.toml:7: no policy for mitigations is called `of`; did you mean `off`?",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\n[policy]\nmap = 'our'\n",
            "bad.toml:7: no policy for maps is called `our`; did you mean `ours`?",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\n[policy]\nmap = 'direct'\n",
            "bad.toml:7: only an experiment has `map = \"direct\"`: it keeps the memory of partitions mapped; leave it out",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\n[policy]\nregisters = 'owed'\n",
            "bad.toml:7: no policy for registers is called `owed`; did you mean `owned`?",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\n[policy]\nregisters = 'eager'\nwithout = ['amore']\n",
            "bad.toml:8: nothing to leave out is called `amore`; did you mean `amor`?",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\n[policy]\nregisters = 'owned'\nwithout = ['amor']\n",
            "bad.toml:8: only `registers = \"eager\"` leaves something out; remove `without`",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\n[[partition]]\nname = 'p'\npayload = 'p.elf'\nmemory = '1 MiB'\nvcpus = 1\n",
            "bad.toml:7: a second partition is called `p`; give each its own name",
        ),
        (
            "[[partition]]",
            "console = 'q'\n[[partition]]",
            "bad.toml:1: no partition is called `q`; did you mean `p`?",
        ),
        (
            "vcpus = 1",
            "vcpus = 1\ninitrd = 'none'",
            "bad.toml:6: the initrd none cannot be read: No such file or directory (os error 2); it must be a readable file",
        ),
        (
            "vcpus = 1",
            "vcpus = 1\ninitrd = 'empty'",
            "bad.toml:6: empty: the file is empty; an initrd has at least one byte",
        ),
        (
            "vcpus = 1",
            "vcpus = 1\ninitrd = 'large'",
            "bad.toml:4: large: it needs memory up to 0x120000, the partition has 1 MiB; give it at least 1152 KiB or link the payload lower",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\n[machine]\ndescription = 'power99'\n",
            "bad.toml:7: no machine is called `power99`; did you mean `power9`? A description of your own is named by its path, ending in .toml",
        ),
        (
            "vcpus = 1\n",
            "vcpus = 1\n[machine]\ndescription = 'm.toml'\n",
            "m.toml: cannot be read: No such file or directory (os error 2); it must be a readable file",
        ),
    ];
    assert_files_refused("boot", &cases, PARTITION);
}

#[test]
fn experiment_files() {
    let cases = [
        ("question", "qestion", "bad.toml:2: unknown key `qestion`; did you mean `question`?"),
        (
            "number = 1",
            "number = 2048",
            "bad.toml:6: no such region; the number must be at most 2047",
        ),
        (
            "per = 'hypercall'",
            "per = 'hypercal'",
            "bad.toml:7: unknown value `hypercal`; did you mean `hypercall`?",
        ),
        (
            "[[variant]]\nname = 'v'\narguments = ''\nexpect = ''\n",
            "",
            "bad.toml:1: no variant; add a [[variant]] table",
        ),
        (
            "expect = ''\n",
            "expect = ''\n[[variant]]\nname = 'v'\narguments = ''\nexpect = ''\n",
            "bad.toml:12: a second variant is called `v`; give each its own name",
        ),
        (
            "[[variant]]",
            "[steps]\nfrom = 'eager'\narguments = ''\nexpect = ''\nsource = ''\npairs = [['a', 'b']]\n\
             [[steps.step]]\nname = 'a'\nwhat = ''\nwithout = 'amor'\n[[variant]]",
            "bad.toml:13: no step that can be alone is called `b`; did you mean `a`?",
        ),
        (
            "[[variant]]",
            "[steps]\nfrom = 'eager'\narguments = ''\nexpect = ''\nsource = ''\n\
             [[steps.step]]\nname = 'a'\nwhat = ''\n[[variant]]",
            "bad.toml:14: the step `a` changes nothing; give it `without` or `registers`",
        ),
        (
            "[[variant]]",
            "[steps]\nfrom = 'eager'\narguments = ''\nexpect = ''\nsource = ''\n\
             [[steps.step]]\nname = 'a'\nwhat = ''\nwithout = 'amor'\nregisters = 'owned'\n[[variant]]",
            "bad.toml:14: the step `a` has both `without` and `registers`; leave out one",
        ),
        (
            "[[variant]]",
            "[steps]\nfrom = 'wort'\narguments = ''\nexpect = ''\nsource = ''\n\
             [[steps.step]]\nname = 'a'\nwhat = ''\nwithout = 'amor'\n[[variant]]",
            "bad.toml:9: the steps cannot begin with `wort`; they begin with `eager`",
        ),
        (
            "[[variant]]",
            "[steps]\nfrom = 'eager'\narguments = ''\nexpect = ''\nsource = ''\n\
             [[steps.step]]\nname = 'a'\nwhat = ''\nwithout = 'amor'\n\
             [[steps.step]]\nname = 'b'\nwhat = ''\nwithout = 'amor'\n[[variant]]",
            "bad.toml:20: `amor` is left out already; leave out something else",
        ),
        (
            "[[variant]]",
            "[steps]\nfrom = 'eager'\narguments = ''\nexpect = ''\nsource = ''\nstep = []\n[[variant]]",
            "bad.toml:9: there is no step; add a [[steps.step]] table",
        ),
        (
            "name = 'v'",
            "name = '../v'",
            "bad.toml:9: `../v` cannot name a variant; use up to 31 letters, digits and `,._+-`, beginning with a letter",
        ),
        (
            "[[variant]]",
            "[[published]]\nmetric = 'cycles'\nvalue = 1\nwhat = ''\nsource = ''\n[[variant]]",
            "bad.toml:9: no figure is called `cycles`; known: cycles_per_hypercall, instructions_per_hypercall, \
             hypervisor_instructions_per_hypercall, guest_instructions_per_hypercall, spr_reads_per_hypercall, \
             spr_writes_per_hypercall, exits_per_hypercall, translated_exits_per_hypercall, real_exits_per_hypercall, loss_percent",
        ),
        (
            "[[variant]]",
            "[[published]]\nmetric = 'exits_per_hypercal'\nvalue = 1\nwhat = ''\nsource = ''\n[[variant]]",
            "bad.toml:9: no figure is called `exits_per_hypercal`; did you mean `exits_per_hypercall`?",
        ),
        (
            "[[variant]]",
            "[[published]]\nmetric = 'exits_per_hypercall'\nvalue = 0\nwhat = ''\nsource = ''\n[[variant]]",
            "bad.toml:10: 0 cannot be compared with; give a number above 0",
        ),
        (
            "expect = ''\n",
            "expect = ''\n[[variant.partner]]\nname = 'w'\narguments = ''\nexpect = ''\n",
            "bad.toml:13: a partner would begin the region too; give it to an experiment with `per = \"switch\"` or `per = \"event\"`",
        ),
        (
            "'power9'",
            "'power'",
            "bad.toml:3: no machine is called `power`; did you mean `power9`? A description of your own is named by its path, ending in .toml",
        ),
    ];
    assert_files_refused("run", &cases, EXPERIMENT);
}

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

#[test]
fn payloads() {
    let folder = folder();
    let good = elf(&[0x1_0000]);
    let with = |offset: usize, value: u8| {
        let mut file = good.clone();
        file[offset] = value;
        file
    };
    for (file, expected) in [
        (vec![], "the file is empty; it must be an ELF64 file for 64-bit Power or a flat image"),
        (with(4, 1), "a 32-bit ELF file; it must be ELF64 for 64-bit Power"),
        (with(18, 62), "an ELF file for x86-64; it must be for 64-bit Power"),
        (
            good[..good.len() - 1].to_vec(),
            "the ELF file is cut or damaged (segment 0 is not in the file); build or copy it again",
        ),
        (
            elf(&[0x1_0000, 0x1_0010]),
            "the segments at 0x10000 and 0x10010 overlap; each address may be loaded once",
        ),
        (
            elf(&[0x1000_0000]),
            "it needs memory up to 0x10000020, the partition has 256 MiB; give it at least 262208 KiB or link the payload lower",
        ),
    ] {
        folder.write("bad.elf", file);
        let mut command = folder.command("boot --payload bad.elf");
        assert_refused(command.env("POWERVISOR_IMAGES", "images"), &format!("bad.elf: {expected}"));
    }
    for (size, expected) in [
        ("0", "a partition needs memory; give it some, as in \"64 MiB\""),
        ("65537", "memory must be given in whole 64 KiB; use a multiple of \"64 KiB\""),
    ] {
        let mut command = folder.command(&format!("boot --payload p.elf --memory {size}"));
        assert_refused(&mut command, &format!("--memory: {expected}"));
    }
}

#[test]
fn machine_descriptions() {
    let folder = folder();
    let power9 = include_str!("../../machines/power9.toml");
    let line = 1 + power9.lines().position(|line| line == "[clock]").unwrap();
    folder.write("m.toml", power9.replace("[clock]", "[clcok]"));
    for arguments in ["boot good.toml --machine m.toml", "boot --kernel p.elf --machine m.toml"] {
        let expected = format!("m.toml:{line}: unknown key `clcok`; did you mean `clock`?");
        assert_refused(folder.command(arguments).env("POWERVISOR_IMAGES", "images"), &expected);
    }
}

#[test]
fn what_power8_has_not() {
    let folder = folder();
    folder.write("good.experiment.toml", EXPERIMENT);
    let hypervisor = "machines/power8.toml: the hypervisor runs on POWER9, and not on POWER8 yet; an image of your \
                      own boots bare with --kernel";
    let timing = "POWER8's timing is not modelled yet; run without it";
    for (arguments, expected) in [
        ("boot good.toml --machine power8", hypervisor.to_owned()),
        ("boot --kernel p.elf --machine power8 --timing", format!("--timing: {timing}")),
        ("calibrate --machine power8", format!("machines/power8.toml: {timing}")),
        (
            "boot --kernel p.elf --machine power7",
            "--machine: no machine is called `power7`; did you mean `power9`? A description of your own is named by \
             its path, ending in .toml"
                .to_owned(),
        ),
    ] {
        assert_refused(folder.command(arguments).env("POWERVISOR_IMAGES", "images"), &expected);
    }
    let power8 = include_str!("../../machines/power8.toml");
    let timed = format!("{power8}\n[timing.core]\n");
    folder.write("m.toml", timed);
    let output = folder.command("boot --kernel p.elf --machine m.toml").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
}

/// What the hypervisor would find no room for is refused before the machine boots, where the memory was asked for.
#[test]
fn partitions_larger_than_the_machine() {
    let refused = |size: &str, machine: &str, left: &str| {
        format!(
            "{size} do not fit: the machine has {machine}, of which hypervisor, firmware{left} in one piece; \
            give the partition no more than that, or the machine more memory"
        )
    };
    let second = "[[partition]]\nname = 'q'\npayload = 'p.elf'\nmemory = '1 GiB'\nvcpus = 1\n";
    let third = second.replace("'q'", "'r'");
    for (text, expected) in [
        (
            PARTITION.replace("1 MiB", "1024 GiB"),
            format!("bad.toml:4: {}", refused("1024 GiB", "2 GiB", " leave 1250 MiB")),
        ),
        (
            format!("{PARTITION}{second}{third}"),
            format!(
                "bad.toml:14: {}",
                refused("1 GiB", "2 GiB", " and the partitions before it leave 574 MiB")
            ),
        ),
        (
            format!("[machine]\nmemory = '1 GiB'\n{second}"),
            format!("bad.toml:6: {}", refused("1 GiB", "1 GiB", " leave 576 MiB")),
        ),
    ] {
        let folder = folder();
        folder.write("bad.toml", text);
        for command in ["boot", "compare"] {
            let mut command = folder.command(&format!("{command} bad.toml"));
            assert_refused(command.env("POWERVISOR_IMAGES", "images"), &expected);
        }
    }
    let folder = folder();
    let mut command = folder.command("boot --payload p.elf --memory 3GiB");
    let expected = format!("--memory: {}", refused("3 GiB", "2 GiB", " leave 1250 MiB"));
    assert_refused(command.env("POWERVISOR_IMAGES", "images"), &expected);
}

/// The hypervisor would refuse it, after it was started.
#[test]
fn arguments_longer_than_a_manifest() {
    let folder = folder();
    let long = "x".repeat(2 << 20);
    folder.write("bad.toml", format!("{PARTITION}arguments = '{long}'\n"));
    let expected = "bad.toml:6: `arguments` of 2097152 bytes make a manifest of 2097528, which may have 1 MiB; give \
        the partitions shorter arguments, or fewer partitions";
    for command in ["boot bad.toml", "compare bad.toml", "bundle bad.toml --output b"] {
        assert_refused(folder.command(command).env("POWERVISOR_IMAGES", "images"), expected);
    }
    // A bundle that something else has written.
    let mut tree = vec![0; 0x10_0004];
    folder.command("bundle good.toml --output b").status().unwrap();
    let bundle = std::fs::read(folder.path().join("b")).unwrap();
    let length = u32::from_be_bytes(*bundle[4..].first_chunk().unwrap()) as usize;
    tree[..length].copy_from_slice(&bundle[..length]);
    tree[4..8].copy_from_slice(&0x10_0004_u32.to_be_bytes());
    folder.write("b", tree);
    assert_refused(
        folder.command("boot b").env("POWERVISOR_IMAGES", "images"),
        "b: the bundle's manifest has 1048580 bytes, which may have 1 MiB; write it again with `powervisor bundle`",
    );
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

/// A host that gives a process 6 GiB, where a machine has 8.
#[test]
fn a_machine_with_more_memory_than_the_host_gives() {
    let folder = folder();
    let power9 = include_str!("../../machines/power9.toml");
    folder.write("m.toml", power9.replace("bytes = 0x8000_0000", "bytes = 0x2_0000_0000"));
    let line = 1 + power9.lines().position(|line| line.starts_with("bytes = ")).unwrap();
    let expected = "8 GiB of memory is more than this host gives; it gives 4 GiB";
    for (arguments, place) in [
        ("boot --kernel p.elf --machine m.toml", format!("m.toml:{line}")),
        ("boot --kernel p.elf --memory 8GiB", "--memory".to_owned()),
    ] {
        let mut command = Command::new("/bin/sh");
        let script = "ulimit -v 6291456; exec \"$@\"";
        command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_powervisor")]);
        command.args(arguments.split(' ')).current_dir(folder.path());
        assert_refused(&mut command, &format!("{place}: {expected}"));
    }
}

#[test]
fn a_number_of_a_machine_that_cannot_be() {
    let folder = folder();
    folder.write("good.experiment.toml", EXPERIMENT);
    let power9 = include_str!("../../machines/power9.toml");
    for (from, to, expected) in [
        (
            "scoreboard = { value = 40",
            "scoreboard = { value = -1",
            "timing.special.scoreboard: -1 is out of range; it must be 0 to 100000000",
        ),
        (
            "scoreboard = { value = 40",
            "scoreboard = { value = nan",
            "timing.special.scoreboard: NaN is out of range; it must be 0 to 100000000",
        ),
        (
            "scoreboard = { value = 40",
            "scoreboard = { value = 40, low = 41",
            "timing.special.scoreboard: low 41, value 40 and high 40 do not ascend; they must",
        ),
        (
            "scoreboard = { value = 40",
            "scoreboard = { value = 'x'",
            "invalid type: string \"x\"; expected a number",
        ),
        (
            "scoreboard = { value = 40",
            "scoreboard = { valeu = 40",
            "unknown key `valeu`; did you mean `value`?",
        ),
        (
            "threads_per_core = 1",
            "threads_per_core = 9",
            "threads_per_core = 9 is out of range; it must be 1 to 4",
        ),
        (
            "timebase_frequency = { value = 512_000_000",
            "timebase_frequency = { value = 0",
            "clock.timebase_frequency is 0; it must be positive and at most 1000000000000",
        ),
        (
            "streams = { value = 8",
            "streams = { value = 4294967296",
            "timing.prefetch.streams: 4294967296 is out of range; it must be 0 to 256",
        ),
        (
            "channels = { value = 8",
            "channels = { value = 4294967296",
            "timing.memory.channels: 4294967296 is out of range; it must be 0 to 256",
        ),
        (
            "tlb_entries = { value = 512",
            "tlb_entries = { value = 4294967296",
            "timing.translation.tlb_entries: 4294967296 is out of range; it must be 0 to 1048576",
        ),
    ] {
        let line = 1 + power9.lines().position(|line| line.starts_with(from)).unwrap();
        folder.write("m.toml", power9.replacen(&format!("\n{from}"), &format!("\n{to}"), 1));
        for arguments in ["run good.experiment.toml", "boot good.toml", "calibrate"] {
            let mut command = folder.command(&format!("{arguments} --machine m.toml"));
            let expected = format!("m.toml:{line}: {expected}");
            assert_refused(command.env("POWERVISOR_IMAGES", "images"), &expected);
        }
    }
    folder.write("m.toml", power9.replacen("\nscoreboard = {", "\nscoreboard = 40 #", 1));
    let line = 1 + power9.lines().position(|line| line.starts_with("scoreboard")).unwrap();
    assert_refused(
        folder
            .command("run good.experiment.toml --machine m.toml")
            .env("POWERVISOR_IMAGES", "images"),
        &format!(
            "m.toml:{line}: invalid type: integer `40`; expected a table {{ value, unit, confidence, source }}"
        ),
    );
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
fn kernels() {
    let folder = folder();
    folder.write("k", []);
    assert_refused(
        &mut folder.command("boot --kernel k"),
        "k: the kernel is empty or begins with a zero word; an ELF file or a flat image is needed",
    );
    let mut other = elf(&[0]);
    other[18] = 62;
    folder.write("k", other);
    let output = folder.command("boot --kernel k").output().unwrap();
    let errors = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.starts_with("powervisor: k: ") && errors.lines().count() == 1, "{errors}");
    assert!(errors.contains("PowerPC"), "{errors}");
}

#[test]
fn a_bundle_cut_in_half() {
    let folder = folder();
    assert!(folder.command("bundle good.toml --output whole").status().unwrap().success());
    let whole = std::fs::read(folder.path().join("whole")).unwrap();
    folder.write("half", &whole[..whole.len() / 2]);
    let expected = format!(
        "half: the bundle is cut: {} of {} bytes; write it again with `powervisor bundle`",
        whole.len() / 2,
        whole.len()
    );
    assert_refused(folder.command("boot half").env("POWERVISOR_IMAGES", "images"), &expected);
    assert_refused(&mut folder.command("boot --kernel p.elf --initrd half"), &expected);
}

#[test]
fn what_boot_is_asked_for() {
    let folder = folder();
    let log = "# powervisor console input 1\n{\"at_step\": 1, \"timebase\": 0, \"txt\": \"\"}\n";
    folder.write("log", log);
    folder.write("saved", "powervisor-sav\x00\x09");
    folder.write("cut", "powervisor-sav\x00\x01\x04");
    let on_qemu = "works on our machine only; leave out `--on qemu`";
    let mut cases: Vec<(String, String)> = [
        ("good.toml --console q", "--console: no partition is called `q`; did you mean `p`?"),
        (
            "--payload p.elf --console q",
            "--console: no partition is called `q`; known: payload",
        ),
        (
            "--payload p.elf --initrd empty",
            "empty: the file is empty; an initrd has at least one byte",
        ),
        (
            "--payload p.elf --memory 1MiB --initrd large",
            "large: it needs memory up to 0x120000, the partition has 1 MiB; give it at least 1152 KiB or link the payload lower",
        ),
        (
            "--payload p.elf --initrd none",
            "none: cannot be read: No such file or directory (os error 2); it must be a readable file",
        ),
        (
            "--resume none",
            "none: cannot be read: No such file or directory (os error 2); it must be a readable file",
        ),
        (
            "--resume good.toml",
            "good.toml: not a saved machine; write one with `powervisor boot --save`",
        ),
        (
            "--resume saved",
            "saved: a saved machine of format 9; this powervisor reads format 2: save it again with this one",
        ),
    ]
    .map(|(arguments, expected)| (arguments.to_owned(), expected.to_owned()))
    .into();
    for option in [
        "--save x",
        "--steps 1",
        "--until 0x4000",
        "--trace exits",
        "--timing",
        "--log-input x",
        "--replay-input log",
    ] {
        let name = option.split(' ').next().unwrap();
        cases.push((format!("good.toml --on qemu {option}"), format!("{name}: {on_qemu}")));
    }
    cases.push(("--resume cut --on qemu".to_owned(), format!("--resume: {on_qemu}")));
    for (arguments, expected) in cases {
        let mut command = folder.command(&format!("boot {arguments}"));
        assert_refused(command.env("POWERVISOR_IMAGES", "images"), &expected);
    }
    assert!(folder.command("bundle good.toml --output whole").status().unwrap().success());
    assert_refused(
        folder.command("boot whole --console p").env("POWERVISOR_IMAGES", "images"),
        "--console: a bundle says itself which partition the console is for; give `powervisor boot` the partition file, or write the bundle again with `console` in it",
    );
    // What goes wrong after the kernel was read needs one that firmware starts.
    folder.write("kernel", [0x38, 0x63, 0x00, 0x01, 0x4B, 0xFF, 0xFF, 0xFC]);
    for (arguments, expected) in [
        (
            "--replay-input log",
            "log:2: not a line of input: unknown field `txt`, expected one of `at_step`, `timebase`, `text`, `bytes` at line 1 column 35; a line is {\"at_step\": 0, \"timebase\": 0, \"text\": \"...\"}",
        ),
        ("--replay-input kernel", "kernel: the file is not text; write it with --log-input"),
        (
            "--trace exits --trace-file none/x",
            "none/x: cannot be written: No such file or directory (os error 2); it must be writable",
        ),
    ] {
        assert_refused(&mut folder.command(&format!("boot --kernel kernel {arguments}")), expected);
    }
    for (arguments, expected) in [
        (
            "--steps 9 --save none/x",
            "none/x: cannot be written: No such file or directory (os error 2); it must be writable",
        ),
        (
            "--steps 9 --log-input /dev/full",
            "/dev/full: not a file that can be replaced; name a file",
        ),
        (
            "--trace instructions --trace-file /dev/full",
            "/dev/full: cannot be written: No space left on device (os error 28); free some space and run again",
        ),
    ] {
        assert_refused(&mut folder.command(&format!("boot --kernel kernel {arguments}")), expected);
    }
}

#[test]
fn what_the_host_lacks() {
    let folder = folder();
    assert_refused(
        folder.command("boot good.toml").env("POWERVISOR_IMAGES", "nowhere"),
        "nowhere/hypervisor: no hypervisor image; build it with `make build`, and let POWERVISOR_IMAGES name its folder or unset it",
    );
    assert_refused(
        folder
            .command("boot good.toml --on qemu")
            .env("POWERVISOR_IMAGES", "images")
            .env("PATH", ""),
        "qemu-system-ppc64: not found; install Debian's package qemu-system-ppc, or let PATH lead to it",
    );
    assert_refused(
        &mut folder.command("bundle good.toml --output /dev/full"),
        "/dev/full: cannot be written: No space left on device (os error 28); free some space and run again",
    );
}

#[test]
fn reports_to_compare() {
    let report = |experiment: &str, charged: u64| {
        format!(
            "{{\"schema\":1,\"experiment\":\"{experiment}\",\"config_hash\":\"\",\"ledger\":{{\"v\":{{\
             \"elapsed_thread_cycles\":9,\"charges\":[{{\"owner\":\"idle\",\"function\":\"f\",\"offset\":0,\
             \"instruction\":\"\",\"cause\":\"wait.stop\",\"indirect\":false,\"cycles\":{charged}}}]}}}}}}"
        )
    };
    let functional = "{\"schema\":1,\"experiment\":\"e\",\"config_hash\":\"\",\"ledger\":{}}";
    let folder = Folder::new();
    folder.write("good.json", report("e", 9));
    for (name, text, expected) in [
        (
            "text.json",
            "cycles".to_owned(),
            "text.json: not a report (expected value at line 1 column 1); it must be what `powervisor run --format json` prints",
        ),
        (
            "newer.json",
            report("e", 9).replace("\"schema\":1", "\"schema\":2"),
            "newer.json: a report of form 2; this command reads form 1",
        ),
        (
            "functional.json",
            functional.to_owned(),
            "functional.json: the report has no ledger; it must be of an experiment that ran with timing",
        ),
        (
            "sum.json",
            report("e", 8),
            "sum.json: the charges of `v` add up to 8, not to its 9 cycles; write the report again",
        ),
        (
            "huge.json",
            report("e", u64::MAX)
                .replace("\"elapsed_thread_cycles\":9", "\"elapsed_thread_cycles\":8"),
            "huge.json: the charges of `v` add up to 18446744073709551615, not to its 8 cycles; write the report again",
        ),
        (
            "null.json",
            "null".to_owned(),
            "null.json: not a report (invalid type: null, expected an object at line 1 column 4); it must be what `powervisor run --format json` prints",
        ),
        (
            "other.json",
            report("other", 9),
            "other.json: a report of `other`, the first is of `e`; compare two reports of one experiment",
        ),
    ] {
        folder.write(name, text);
        assert_refused(&mut folder.command(&format!("diff good.json {name}")), expected);
    }
    assert_refused(
        &mut folder.command("diff good.json none.json"),
        "none.json: cannot be read: No such file or directory (os error 2); it must be a readable file",
    );
}

#[test]
fn topologies() {
    let folder = folder();
    let boot = |topology: &str| {
        let mut command = folder.command(&format!("boot good.toml --topology {topology}"));
        command.env("POWERVISOR_IMAGES", "images");
        command
    };
    assert_refused(
        &mut boot("1x2x9"),
        "--topology: threads_per_core = 9 is out of range; it must be 1 to 4",
    );
    let output = boot("4").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("`4` is not a topology; it must be chips x cores x threads"));
}
