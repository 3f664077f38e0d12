//! gdb looks at the machine: Debian's `gdb-multiarch` with a script, as a person would.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpListener;
use std::process::{Command, Stdio};

use crate::support::{Folder, elf, errors, example};

/// What `boot` with these arguments and `--gdb` showed and said, and what gdb said to the script.
fn debugged(folder: &Folder, arguments: &str, script: &[&str]) -> (String, String, String) {
    let mut command = folder.command(&format!("boot {arguments} --gdb 0"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    said.read_line(&mut first).unwrap();
    let port = first.trim_end().rsplit(':').next().unwrap().trim_end_matches('\'');
    let mut gdb = Command::new("gdb-multiarch");
    gdb.args(["-nx", "-batch", "-ex", "set pagination off", "-ex", "set confirm off"]);
    gdb.args(["-ex", "set endian little", "-ex", &format!("target remote localhost:{port}")]);
    gdb.args(script.iter().flat_map(|line| ["-ex", line]));
    let output = gdb.stdin(Stdio::null()).output().expect("install Debian's package gdb-multiarch");
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    let run = child.wait_with_output().unwrap();
    assert_eq!(run.status.code(), Some(0), "{first}{rest}{}", errors(&output));
    let shown = String::from_utf8(run.stdout).unwrap();
    // What `monitor` answers goes to standard error.
    let answers = output.stdout.into_iter().chain(output.stderr).collect();
    (shown, first + &rest, String::from_utf8(answers).unwrap())
}

/// The answers to `print` commands, `$1 = ...` and so on.
fn printed(said: &str) -> Vec<&str> {
    let answers = said.lines().filter(|line| line.starts_with('$'));
    answers.filter_map(|line| Some(line.split_once(" = ")?.1)).collect()
}

#[test]
fn a_person_stops_at_a_hypercall_looks_at_the_guest_and_goes_back_to_before_it() {
    let folder = Folder::new();
    let script = [
        "break *0xc00",
        "continue",
        "info threads",
        "print/x $pc",
        "print/x $lpidr",
        // Behind the `sc 1`.
        "print/x $srr0",
        // H_PUT_TERM_CHAR.
        "print $r3 == 0x58 || $r3 == 0x31c",
        "reverse-stepi",
        // The guest, before the call, as it sees its own memory; then in the hypervisor again.
        "print $pc + 4 == $srr0 || $pc",
        "print/x *(unsigned int *)$pc",
        "info threads",
        "stepi",
        "print/x $pc",
        "continue",
        "continue",
        "print/x $srr0",
        "reverse-continue",
        "reverse-continue",
        "print/x $srr0",
        "reverse-continue",
        "print/x $pc",
        "delete",
        "detach",
    ];
    let (shown, _, said) = debugged(&folder, &example("hello"), &script);
    let printed = printed(&said);
    assert_eq!((printed[0], printed[1], printed[3]), ("0xc00", "0x1", "1"), "{said}");
    assert_eq!(printed[5], "0x44000022", "sc 1: {said}");
    assert_eq!((printed[6], printed[8]), ("0xc00", printed[2]), "{said}");
    assert_eq!(printed[9], "0x20000100", "where the past begins: {said}");
    assert!(said.contains("PIR 0x0, hypervisor, for hello, vCPU 0)"), "{said}");
    assert!(said.contains("PIR 0x0, partition hello, vCPU 0)"), "{said}");
    assert!(said.contains("No more reverse-execution history"), "{said}");
    let output = folder.command(&format!("boot {}", example("hello"))).output().unwrap();
    assert_eq!(shown, String::from_utf8(output.stdout).unwrap(), "nothing is shown twice");
}

#[test]
fn looking_changes_no_cycle() {
    let folder = Folder::new();
    let arguments = format!("{} --timing --statistics", example("smp"));
    let output = folder.command(&format!("boot {arguments}")).output().unwrap();
    let script = [
        "break *0xc00",
        "continue",
        "continue",
        "stepi",
        "stepi",
        "x/16x $sp",
        "info registers",
        "reverse-stepi",
        "reverse-continue",
        "continue",
        "delete",
        "continue",
        "reverse-stepi",
        "continue",
        "continue",
    ];
    let (shown, said, gdb) = debugged(&folder, &arguments, &script);
    assert!(gdb.matches("Breakpoint 1, ").count() > 2, "{gdb}");
    assert_eq!(shown, String::from_utf8(output.stdout.clone()).unwrap());
    let plain = errors(&output);
    let cycles = |text: &str| {
        let line = text.lines().find(|line| line.contains(" cycles, hardware threads")).unwrap();
        line.to_owned()
    };
    assert_eq!(cycles(&said), cycles(&plain));
    // From the cycles on all is the same: ledger, and what the hypervisor counted.
    let ledger = |text: &str| text[text.find(" cycles, hardware threads").unwrap()..].to_owned();
    assert_eq!(ledger(&said), ledger(&plain), "{gdb}");
    assert!(gdb.contains("exited normally"), "{gdb}");
}

#[test]
fn gdb_writes_nothing_and_may_end_the_run() {
    let folder = Folder::new();
    let script = [
        "print/x $r3",
        "set var $r3 = 1",
        "print/x $r3",
        "set var *(int *)$pc = 0",
        "info registers hsrr0",
        "kill",
    ];
    let (shown, said, gdb) = debugged(&folder, &example("hello"), &script);
    assert_eq!(shown, "");
    assert!(said.contains("ended by gdb after 0 instructions"), "{said}");
    assert!(gdb.contains("hsrr0"), "{gdb}");
    let printed = printed(&gdb);
    assert!(printed.len() == 2 && printed[0] == printed[1], "{gdb}");
}

#[test]
fn a_port_that_somebody_has_is_one_complaint() {
    let folder = Folder::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let arguments = format!("boot {} --gdb {port}", example("hello"));
    let output = folder.command(&arguments).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let expected = format!(
        "powervisor: --gdb: somebody else has port {port}; name another one, or 0 for any that is free\n"
    );
    assert_eq!(errors(&output), expected);
    let arguments = format!("boot {} --gdb 0 --on qemu", example("hello"));
    let output = folder.command(&arguments).stdin(Stdio::null()).output().unwrap();
    assert!(errors(&output).contains("--gdb: works on our machine only"), "{}", errors(&output));
}

/// gdb's own judgement: it compares what it reads from memory before and after.
#[test]
fn a_person_watches_memory_forwards_and_backwards() {
    let folder = Folder::new();
    // lis r3,0x2001; li r4,0; addi r4,r4,1; std r4,0(r3); ld r5,8(r3); b .-12
    let code = [0x3C60_2001_u32, 0x3880_0000, 0x3884_0001, 0xF883_0000, 0xE8A3_0008, 0x4BFF_FFF4];
    folder.write("kernel", code.map(u32::to_be_bytes).concat());
    let script = [
        "set endian big",
        "watch *(long long *)0x20010000",
        "continue",
        "print $r4",
        "continue",
        "print $r4",
        "continue",
        "print $r4",
        "reverse-continue",
        "print *(long long *)0x20010000",
        "delete",
        "rwatch *(long long *)0x20010008",
        "continue",
        "print $r4",
        "delete",
        "awatch *(int *)0x20010004",
        "continue",
        "print *(int *)0x20010004",
        "kill",
    ];
    let (_, _, said) = debugged(&folder, "--kernel kernel", &script);
    for expected in [
        "Hardware watchpoint 1: *(long long *)0x20010000\n\nOld value = 0\nNew value = 1\n",
        "Old value = 1\nNew value = 2\n",
        "Old value = 2\nNew value = 3\n",
        "Old value = 3\nNew value = 2\n",
        "Hardware read watchpoint 2: *(long long *)0x20010008\n\nValue = 0\n",
        "Hardware access (read/write) watchpoint 3: *(int *)0x20010004\n\nOld value = 3\nNew value = 4\n",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert_eq!(printed(&said), ["1", "2", "3", "2", "3", "4"], "{said}");
}

/// What a line of `monitor memory` shows, as bytes, by the address at its begin.
fn bytes_at(said: &str, address: u64) -> Option<Vec<&str>> {
    let begin = format!("{address:#018x}: ");
    let line = said.lines().find_map(|line| line.strip_prefix(&begin))?;
    Some(line.split(' ').collect())
}

/// gdb's own reading in the state of the thread is the judge: a partition's memory at the guest real address of
/// the `sc 1` that it made, and the hypervisor's at its vector.
#[test]
fn memory_is_read_by_guest_real_and_real_address() {
    let folder = Folder::new();
    let script = [
        "monitor memory guest hello 0x100 4",
        "break *0xc00",
        "continue",
        "print/x $srr0",
        "print/x *(unsigned int *)0xc00",
        "eval \"monitor memory guest hello %lu 4\", $srr0 - 4",
        "eval \"monitor memory real %lu 4\", $srr0 - 4",
        "monitor memory real 0xc00 4",
        "monitor memory guest nobody 0",
        "monitor memory real 0x7fffffff 2",
        "monitor memory real 0xc00 5000",
        "monitor memory elsewhere 0",
        "kill",
    ];
    let (_, _, said) = debugged(&folder, &example("hello"), &script);
    let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap();
    let printed = printed(&said);
    assert!(said.contains("0x0000000000000100: no memory"), "before the hypervisor: {said}");
    let call = number(printed[0]) - 4;
    let begin = format!("{call:#018x}: ");
    let lines: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix(&begin)).collect();
    assert_eq!(lines[0], "22 00 00 44", "sc 1: {said}");
    assert_ne!(lines[1], lines[0], "the real address is another: {said}");
    let vector = number(printed[1]) as u32;
    let shown = bytes_at(&said, 0xC00).unwrap();
    assert_eq!(shown, vector.to_le_bytes().map(|byte| format!("{byte:02x}")), "{said}");
    for expected in [
        "no partition is called `nobody`; known: hello\n",
        "0x000000007fffffff: 00\n0x0000000080000000: no memory\n",
        "5000 bytes are not 1 to 4096\n",
        "there is no `monitor memory elsewhere 0`; there are\n",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

/// What `monitor symbols` says lets gdb name the functions of the hypervisor and of the partition's program.
#[test]
fn gdb_gets_to_know_the_symbols_of_what_runs() {
    let folder = Folder::new();
    let (_, _, said) = debugged(&folder, &example("hello"), &["monitor symbols", "kill"]);
    let lines: Vec<&str> =
        said.lines().filter(|line| line.starts_with("add-symbol-file ")).collect();
    assert!(lines.len() == 2 && said.contains("# partition hello\n"), "{said}");
    let mut script = lines;
    script.extend(["break *0xc00", "continue", "reverse-stepi", "info symbol $pc"]);
    script.extend(["info symbol 0xc000000000008100", "kill"]);
    let (_, _, said) = debugged(&folder, &example("hello"), &script);
    let named =
        |file: &str| said.lines().any(|line| line.contains(" in section ") && line.ends_with(file));
    assert!(named("/hello") && named("/hypervisor-power9"), "{said}");
}

/// The hypervisor's decrementer interrupts a partition whose slice is over: gdb reads its registers then, from
/// the processor. When the next partition is interrupted, the hypervisor's record of the first one has the
/// same.
#[test]
fn a_vcpu_on_no_thread_has_the_registers_with_which_it_was_interrupted() {
    /// Slices that are looked at.
    const STOPS: usize = 6;
    let folder = Folder::new();
    let interrupted =
        ["info threads", "print/x $hsrr0", "print/x $r1", "print/x $r31", "print/x $cr"];
    let mut script = vec!["monitor vcpus", "break *0x980", "break *0x4980"];
    for _ in 0..STOPS {
        script.push("continue");
        script.extend(interrupted);
        script.extend(["monitor vcpus", "monitor registers hello 0"]);
        script.extend(["monitor registers caller 0", "monitor registers heavy 0"]);
    }
    script.extend(["monitor registers hello 1", "kill"]);
    let (_, _, said) = debugged(&folder, &example("shared"), &script);
    assert!(said.contains("no partition has run yet"), "{said}");
    assert!(said.contains("there is no vCPU `1`; the partition has 0 to 0"), "{said}");
    let printed = printed(&said);
    let runs: Vec<&str> = said.lines().filter(|line| line.contains("hypervisor, for ")).collect();
    let name = |line: &str| {
        let (_, behind) = line.split_once("hypervisor, for ").unwrap();
        behind.split(',').next().unwrap().to_owned()
    };
    assert!(runs[0].contains(", vCPU 0)") && runs.len() == STOPS, "{said}");
    let last = (1..STOPS).find(|stop| name(runs[*stop]) != name(runs[0]));
    let last = last.unwrap_or_else(|| panic!("no other one runs: {said}")) - 1;
    let printed = &printed[4 * last..][..4];
    let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap();
    let first =
        format!("partition {}, vCPU 0: ready, on no thread, pc {}", name(runs[0]), printed[0]);
    assert!(said.contains(&first), "{first}: {said}");
    let registers: Vec<(&str, u64)> = said
        .split_whitespace()
        .zip(said.split_whitespace().skip(1))
        .filter(|(_, value)| value.starts_with("0x"))
        .filter_map(|(name, value)| {
            Some((name, u64::from_str_radix(value.strip_prefix("0x")?, 16).ok()?))
        })
        .collect();
    for (register, value) in ["pc", "r1", "r31", "cr"].iter().zip(printed) {
        assert!(registers.contains(&(register, number(value))), "{register} {value}: {said}");
    }
}

/// What `stxv` stores is the judge: a little-endian kernel fills a vector and stores it.
#[test]
fn vectors_have_the_order_that_memory_has() {
    let folder = Folder::new();
    // It starts big-endian, whatever the file says: to the third word, and from there on little-endian, as
    // guests/rt does.
    let start = [0x0800_0048_u32, 0x4800_0024, 0xA600_407D, 0x0100_4A69, 0xA603_5B7D];
    let start = [&start[..], &[0x0500_9F42, 0xA602_687D, 0x1000_6B39, 0xA603_7A7D, 0x2400_004C]];
    // lis r3,0x1234; lis r4,0x5678; mfmsr r5; oris r5,r5,VEC|VSX; mtmsrd r5; mtvsrdd vs34,r3,r4; stxv
    // vs34,0x7F0(0); b .
    let code = [0x3C60_1234_u32, 0x3C80_5678, 0x7CA0_00A6, 0x64A5_0280];
    let code = [&code[..], &[0x7CA0_0164, 0x7C43_2367, 0xF440_07FD, 0x4800_0000]];
    let mut kernel = elf(&[0x2001_0000]);
    kernel.truncate(kernel.len() - 32);
    kernel.extend([start, code].concat().concat().iter().flat_map(|word| word.to_le_bytes()));
    folder.write("kernel", kernel);
    let script = [
        "stepi 16",
        "print/x $vr2.uint128",
        "print/x $vs34.uint128",
        "print/x *(unsigned long *)0x7f0",
        "print/x *(unsigned long *)0x7f8",
        "print $vscr + $vrsave",
        "kill",
    ];
    let (_, _, said) = debugged(&folder, "--kernel kernel", &script);
    let whole = "0x123400000000000056780000";
    assert_eq!(printed(&said), [whole, whole, "0x56780000", "0x12340000", "0"], "{said}");
}

/// The payload goes into problem state by itself, and gdb has its symbols by one line.
#[test]
fn a_break_point_stops_a_program_of_a_partitions_kernel() {
    let folder = Folder::new();
    let pipe = format!("pipe monitor symbols | cat > {}/symbols.gdb", folder.path().display());
    let source = format!("source {}/symbols.gdb", folder.path().display());
    let storm = "[[partition]]\nname = \"storm\"\npayload = \"storm\"\nmemory = \"8128 KiB\"\nvcpus = 1\n\
        arguments = \"tag=1 rounds=50 translation=on states=all\"\n";
    folder.write("storm.toml", storm);
    // Where guests/rt lets programs see its memory.
    let places =
        [0, 8, 16, 24].map(|way| format!("break *(0x40000000 + (long)&rt_detours + {way})"));
    let mut script = vec![pipe.as_str(), source.as_str()];
    script.extend(places.iter().map(String::as_str));
    script.extend([
        "continue",
        "print ($msr & 0x4000) != 0",
        "info threads",
        "reverse-continue",
        "kill",
    ]);
    let (_, _, said) = debugged(&folder, "storm.toml", &script);
    assert_eq!(printed(&said), ["1"], "{said}");
    assert!(said.contains(", vCPU 0, a program)"), "{said}");
}
