//! `powervisor boot` as a person uses it: one partition's console, input kept and replayed, traces,
//! figures, and machines that are saved and resumed.
//!
//! Needs the images (`cargo xtask images`) and QEMU (Debian's qemu-system-ppc).

use std::fs;
use std::io::{Read as _, Write as _, pipe};
use std::process::{Child, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use arch::processor::Processor;
use lab::images::{HYPERVISOR, Images};

use crate::support::{Folder, errors, example};

fn boot(folder: &Folder, arguments: &str) -> Output {
    folder.command(&format!("boot {arguments}")).stdin(Stdio::null()).output().unwrap()
}

#[track_caller]
fn well(output: Output) -> (String, String) {
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let errors = errors(&output);
    (String::from_utf8(output.stdout).unwrap(), errors)
}

/// Boots with a pipe on standard input, into which the lines go with pauses between them, once the console
/// has shown the prompt: what comes before is real firmware's.
fn boot_and_type(folder: &Folder, arguments: &str, prompt: &str, lines: &[&[u8]]) -> Output {
    let mut command = folder.command(&format!("boot {arguments}"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut keyboard = child.stdin.take().unwrap();
    let (mut shown, mut byte) = (Vec::new(), [0]);
    let screen = child.stdout.as_mut().unwrap();
    while !shown.ends_with(prompt.as_bytes()) && screen.read(&mut byte).unwrap() == 1 {
        shown.push(byte[0]);
    }
    let lines: Vec<Vec<u8>> = lines.iter().map(|line| line.to_vec()).collect();
    let typist = thread::spawn(move || {
        for line in lines {
            thread::sleep(Duration::from_millis(100));
            keyboard.write_all(&line).unwrap();
            keyboard.flush().unwrap();
        }
    });
    let mut output = child.wait_with_output().unwrap();
    typist.join().unwrap();
    output.stdout.splice(..0, shown);
    output
}

const PROMPT: &str = "echo> ";
/// What the echo payload says to the lines that are typed below.
const LINES: [&[u8]; 3] = [b"one\n", b"\x17\xFFtwo\n", b"exit\n"];
const SAID: &str = "echo> said: one\necho> said: \\x17\\xfftwo\necho> ";

#[test]
fn one_partitions_console_is_its_own_on_both_machines() {
    let folder = Folder::new();
    for on in ["simulator", "qemu"] {
        let arguments = format!("{} --on {on}", example("console"));
        let (shown, errors) = well(boot_and_type(&folder, &arguments, PROMPT, &LINES));
        // Real firmware puts a carriage return before each line end.
        assert_eq!(shown.replace('\r', ""), SAID, "{on}");
        assert!(errors.contains("[busy] registers: 500 rounds, 0 wrong"), "{on}: {errors}");
        assert!(errors.contains("powervisor: all partitions have ended"), "{on}: {errors}");
        assert!(!errors.contains("[echo]"), "{on}: {errors}");
    }
}

#[test]
fn the_console_can_be_for_another_partition() {
    let folder = Folder::new();
    let arguments = format!("{} --console caller", example("shared"));
    let (shown, errors) = well(boot(&folder, &arguments));
    let (all, _) = well(boot(&folder, &example("shared")));
    let of = |name: &str| -> Vec<String> {
        all.lines().filter_map(|line| line.strip_prefix(name)).map(str::to_owned).collect()
    };
    assert!(!of("[caller] ").is_empty(), "{all}");
    assert_eq!(shown.lines().collect::<Vec<_>>(), of("[caller] "));
    for line in of("[hello] ") {
        assert!(errors.contains(&format!("[hello] {line}")), "{errors}");
    }
}

#[test]
fn input_that_was_logged_makes_the_same_run_again() {
    let folder = Folder::new();
    let file = example("console");
    let logged = boot_and_type(&folder, &format!("{file} --log-input typed"), PROMPT, &LINES);
    let (shown, first) = well(logged);
    assert_eq!(shown, SAID);
    // What was typed in a piece with the line before it is a piece of the log.
    let log = fs::read_to_string(folder.path().join("typed")).unwrap();
    assert!((2..=4).contains(&log.lines().count()), "{log}");

    let replay = format!("{file} --replay-input typed --log-input again");
    let (again, second) = well(boot(&folder, &replay));
    assert_eq!(again, shown);
    let instructions = |errors: &str| {
        let (_, rest) = errors.split_once("powered off after ").unwrap();
        rest.split_once(',').unwrap().0.to_owned()
    };
    assert_eq!(instructions(&first), instructions(&second));
    assert_eq!(fs::read_to_string(folder.path().join("again")).unwrap(), log);

    // Saved before the first line and between lines, the run goes on to the same end.
    for steps in [100_000, 3_000_000] {
        let first = format!("{file} --replay-input typed --steps {steps} --save half");
        let (begin, paused) = well(boot(&folder, &first));
        assert!(paused.contains(&format!("; saved to half at step {steps}\n")), "{paused}");
        let (end, over) = well(boot(&folder, "--resume half --replay-input typed"));
        assert_eq!(begin + &end, shown);
        assert_eq!(instructions(&over), instructions(&second));
    }

    // The log of another run.
    let other = format!("{file} --replay-input typed --seed 2 --machine m.toml");
    let machine = include_str!("../../../machines/power9.toml");
    let slower = machine.replace("512_000_000", "256_000_000");
    assert_ne!(slower, machine);
    folder.write("m.toml", slower);
    let output = boot(&folder, &other);
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    assert!(errors(&output).contains("this run is not the one whose input was logged"));
}

#[test]
fn a_machine_that_is_saved_and_resumed_shows_what_it_would_have_shown() {
    let folder = Folder::new();
    let (whole, _) = well(boot(&folder, &example("hello")));
    let first = format!("{} --steps 1000000 --save one", example("hello"));
    let (mut shown, _) = well(boot(&folder, &first));
    let (more, _) = well(boot(&folder, "--resume one --steps 1000000 --save two"));
    shown.push_str(&more);
    let (end, errors) = well(boot(&folder, "--resume two --save three"));
    shown.push_str(&end);
    assert_eq!(shown, whole);
    assert!(errors.contains("nothing is saved of a run that is over"), "{errors}");
    assert!(!folder.path().join("three").exists());
}

#[test]
fn a_run_stops_behind_a_mark_and_goes_on_from_there() {
    let folder = Folder::new();
    let file = example("null-hypercall");
    let (whole, _) = well(boot(&folder, &file));
    // The payload's region 1 begins and ends once.
    let (mut shown, errors) = well(boot(&folder, &format!("{file} --until 0x4001 --save begun")));
    assert!(errors.contains("powervisor: at mark 0x4001 after "), "{errors}");
    let (more, errors) =
        well(boot(&folder, "--resume begun --until 18433 --trace exits --save two"));
    assert_eq!(errors.matches("exit 0xc00").count(), 10_000);
    shown.push_str(&more);
    let (end, errors) = well(boot(&folder, "--resume two --until 0x4801"));
    assert!(errors.contains("; mark 0x4801 was not reached"), "{errors}");
    shown.push_str(&end);
    assert_eq!(shown, whole);
}

fn interrupt(child: &Child) {
    let kill = format!("kill -INT {}", child.id());
    let status = std::process::Command::new("sh").args(["-c", &kill]).status();
    assert!(status.unwrap().success());
}

#[test]
fn an_interrupt_saves_the_machine_and_it_goes_on() {
    let folder = Folder::new();
    let arguments = format!("boot {} --save half", example("console"));
    let mut command = folder.command_to_signal(&arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    thread::sleep(Duration::from_millis(500));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", errors(&output));
    assert!(errors(&output).contains("; saved to half at step "), "{}", errors(&output));
    assert_eq!(output.stdout, b"echo> ");
    let (rest, _) = well(boot_and_type(&folder, "--resume half", "", &[b"exit\n"]));
    assert_eq!(rest, "");
}

/// Who asked for a saved machine gets it, though nobody reads what it shows any more.
#[test]
fn a_machine_that_nobody_reads_is_saved_all_the_same() {
    let folder = Folder::new();
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let mut command = folder.command(&format!("boot {} --save half", example("hello")));
    let output = command.stdin(Stdio::null()).stdout(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(141));
    let said = errors(&output);
    assert!(said.starts_with("powervisor: not read any more after "), "{said}");
    assert!(said.contains("; saved to half at step "), "{said}");
    let (rest, _) = well(boot(&folder, "--resume half"));
    assert!(rest.ends_with("powervisor: all partitions have ended\n"), "{rest}");
}

#[test]
fn a_trace_has_a_line_for_each_exit_and_changes_nothing() {
    let folder = Folder::new();
    let file = example("shared");
    let (plain, _) = well(boot(&folder, &file));
    let arguments = format!("{file} --trace exits --trace-file trace --statistics json");
    let (traced, errors) = well(boot(&folder, &arguments));
    assert_eq!(plain, traced);
    let trace = fs::read_to_string(folder.path().join("trace")).unwrap();
    let statistics = errors.lines().last().unwrap();
    let (_, said) =
        well(boot(&folder, &format!("{file} --statistics json --statistics-file counts")));
    assert!(!said.contains("\n{"), "{said}");
    let counts = fs::read_to_string(folder.path().join("counts")).unwrap();
    assert_eq!(counts.trim_end(), statistics);
    let statistics: serde_json::Value = serde_json::from_str(statistics).unwrap();
    // The hypervisor's own counts are a second witness.
    for (index, partition) in statistics["partitions"].as_array().unwrap().iter().enumerate() {
        let start = format!("lpid {} {} exit ", index + 1, partition["name"].as_str().unwrap());
        let counts = partition["counts"].as_object().unwrap();
        for (door, word) in [("real_door", "real"), ("virtual_door", "virtual")] {
            for (kind, event) in [
                ("hypercall", "0xc00 system-call"),
                ("data_storage", "0xe00 hypervisor-data-storage"),
                ("instruction_storage", "0xe20 hypervisor-instruction-storage"),
            ] {
                let wanted = format!("{start}{event} {word} at ");
                let seen = trace.lines().filter(|line| line.contains(&wanted)).count();
                assert_eq!(counts[&format!("{door}_{kind}")], seen, "{wanted}");
            }
        }
        let timer = format!("{start}0x980 hypervisor-decrementer ");
        let seen = trace.lines().filter(|line| line.contains(&timer)).count();
        assert_eq!(counts["time_decrementer_exits"], seen);
    }
    let known = trace.lines().find(|line| line.contains("H_PUT_TERM_CHAR 0x58 r4 0x0 r5 "));
    assert!(known.is_some_and(|line| line.starts_with("0.000")), "{known:?}");
    assert!(trace.contains(" unknown 0x"), "the unknown hypercall");
    let stored = trace.lines().find(|line| line.contains("hypervisor-data-storage")).unwrap();
    assert!(stored.contains(" HDAR 0x") && stored.contains(" HDSISR 0x4"), "{stored}");
}

#[test]
fn a_trace_of_instructions_is_all_of_them() {
    let folder = Folder::new();
    let arguments =
        format!("{} --steps 50000 --trace instructions --trace-file -", example("hello"));
    let (_, errors) = well(boot(&folder, &arguments));
    let (_, rest) = errors.split_once("paused after ").unwrap();
    let instructions: usize = rest.split_once(' ').unwrap().0.parse().unwrap();
    let trace = fs::read_to_string(folder.path().join("-")).unwrap();
    assert_eq!(trace.lines().filter(|line| !line.contains(" exit ")).count(), instructions);
    let first = trace.lines().next().unwrap();
    assert!(
        first.contains(" hypervisor 0x0000000000000") || first.contains(" hypervisor 0x"),
        "{first}"
    );
}

#[test]
fn a_timed_boot_says_who_spent_its_cycles_and_a_trace_changes_none() {
    let folder = Folder::new();
    let timed = |more: &str| {
        let (_, errors) = well(boot(&folder, &format!("{} --timing{more}", example("hello"))));
        let (first, ledger) = errors.split_once('\n').unwrap();
        assert!(first.starts_with("powervisor: powered off "), "{first}");
        ledger.to_owned()
    };
    let ledger = timed("");
    let lines: Vec<&str> = ledger.lines().collect();
    let (cycles, parameters) =
        lines[0].split_once(" cycles, hardware threads: 1, parameters ").unwrap();
    assert_eq!(parameters.len(), 16, "a checksum: {parameters}");
    assert!(lines[1].trim_start().starts_with(&format!("{cycles} ")), "{ledger}");
    for owner in ["hypervisor", "partition hello", "firmware"] {
        assert!(lines.iter().any(|line| line.ends_with(&format!("%    {owner}"))), "{ledger}");
    }
    assert_eq!(timed(" --trace exits --trace-file exits"), ledger);
    assert_eq!(timed(" --trace instructions --trace-file all"), ledger);
}

#[test]
fn a_reader_of_the_trace_that_goes_away_ends_the_command_quietly() {
    let folder = Folder::new();
    let mut command = folder.command(&format!("boot {} --trace exits", example("hello")));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(141), "as `cat` ends by SIGPIPE");
}

#[test]
fn a_second_file_reaches_the_payload_on_both_machines() {
    let folder = Folder::new();
    let payload = format!("{}/../target/images/hello", env!("CARGO_MANIFEST_DIR"));
    let payload = std::env::var("POWERVISOR_IMAGES").map_or(payload, |folder| folder + "/hello");
    folder.write("second", b"abc");
    for on in ["simulator", "qemu"] {
        let arguments = format!("--payload {payload} --initrd second --memory 16MiB --on {on}");
        let (shown, _) = well(boot(&folder, &arguments));
        // ((a * 31) + b) * 31 + c
        assert!(shown.contains("an initrd of 3 bytes, checksum 00017862"), "{on}: {shown}");
    }
}

/// A partition that has the console for itself prints a record of its own, in which it used no time and was stopped.
#[test]
fn statistics_take_nothing_from_what_a_partition_prints() {
    let folder = Folder::new();
    let json = |arguments: &str| -> (String, serde_json::Value) {
        let (shown, errors) = well(boot(&folder, &format!("{arguments} --statistics json")));
        (shown, serde_json::from_str(errors.lines().last().unwrap()).unwrap())
    };
    let hello = fs::read_to_string(example("hello")).unwrap();
    let (honest, truth) = json(&example("hello"));
    let sentence = honest.lines().find(|line| line.contains("summary: ")).unwrap();
    let counts: serde_json::Map<_, _> = truth["partitions"][0]["counts"]
        .as_object()
        .unwrap()
        .keys()
        .map(|key| (key.clone(), 0.into()))
        .collect();
    let partition = serde_json::json!({"name": "hello", "outcome": "stopped", "counts": counts});
    let record = serde_json::json!({"threads": [], "partitions": [partition]});
    for lie in [format!("\u{17}powervisor: record 4 {record}\n"), format!("\n{sentence}\n")] {
        let arguments = serde_json::to_string(&lie).unwrap();
        let lying = hello.replace("arguments = \"\"", &format!("arguments = {arguments}"));
        assert_ne!(lying, hello);
        folder.write("lie.toml", lying);
        let (shown, value) = json("lie.toml");
        assert!(shown.contains(&lie), "it is shown as it was written: {shown}");
        let partition = &value["partitions"][0];
        assert_eq!(partition["outcome"], "powered off");
        assert_ne!(partition["counts"]["real_door_hypercall"], 0);
        assert_eq!(value["partitions"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn figures_are_a_table_with_a_column_for_each_partition() {
    let folder = Folder::new();
    let (_, errors) = well(boot(&folder, &format!("{} --statistics", example("shared"))));
    let table: Vec<&str> =
        errors.lines().skip_while(|line| !line.starts_with("partition ")).collect();
    assert_eq!(
        table[0].split_whitespace().collect::<Vec<_>>(),
        ["partition", "hello", "caller", "heavy"]
    );
    assert!(table.len() > 10 && table.iter().all(|line| line.len() == table[0].len()), "{errors}");
}

/// /dev/full, which takes nothing.
fn full() -> Stdio {
    fs::OpenOptions::new().write(true).open("/dev/full").unwrap().into()
}

#[test]
fn a_standard_error_that_takes_nothing_ends_no_run() {
    let folder = Folder::new();
    for (arguments, status) in [
        // What is lost is a complaint, if only by the status.
        (format!("boot {}", example("hello")), 2),
        (format!("boot {} --steps 1000", example("hello")), 2),
        (format!("boot {}", example("misbehave")), 1),
        (format!("boot {} --statistics", example("hello")), 2),
        (format!("boot {} --trace exits", example("hello")), 2),
        ("boot none.toml".to_owned(), 2),
        ("boot".to_owned(), 2),
    ] {
        let mut command = folder.command(&arguments);
        let output = command.stdin(Stdio::null()).stderr(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments}");
    }
}

#[test]
fn a_standard_output_that_takes_nothing_is_one_complaint() {
    let folder = Folder::new();
    for arguments in
        [format!("boot {}", example("hello")), "--help".to_owned(), "--version".to_owned()]
    {
        let mut command = folder.command(&arguments);
        let output = command.stdin(Stdio::null()).stdout(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        let expected = "powervisor: standard output: cannot be written: No space left on device (os error 28); free \
            some space and run again\n";
        assert_eq!(errors(&output), expected, "{arguments}");
    }
}

#[test]
fn statistics_of_a_run_that_is_not_over_are_json_too() {
    let folder = Folder::new();
    let (_, errors) =
        well(boot(&folder, &format!("{} --steps 1000 --statistics json", example("hello"))));
    let line = errors.lines().find(|line| line.starts_with('{')).unwrap();
    let value: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!((&value["schema"], &value["end"]), (&1.into(), &"paused".into()));
    assert_eq!((&value["steps"], &value["instructions"]), (&1000.into(), &1000.into()));
    let partition = serde_json::json!({"name": "hello", "outcome": "not over", "counts": {}});
    assert_eq!(value["partitions"], serde_json::json!([partition]));
}

#[test]
fn a_guest_that_asks_for_input_when_there_is_no_more_is_reported_once() {
    let folder = Folder::new();
    let arguments = format!("{} --steps 30000000", example("console"));
    let (_, errors) = well(boot(&folder, &arguments));
    let told = "powervisor: the input has ended and is asked for again";
    assert_eq!(errors.matches(told).count(), 1, "{errors}");
    let (_, errors) = well(boot(&folder, &example("hello")));
    assert!(!errors.contains(told), "it never asks: {errors}");
}

/// Bare, big-endian: sleeps until its decrementer is due, 4 ms at a time, and says nothing.
const SLEEPER: [u32; 9] = [
    0x3860_2000, // li r3,0x2000
    0x7C7E_4BA6, // mtspr LPCR,r3: the decrementer ends a sleep
    0x3880_0000, // li r4,0
    0x7C97_D3A6, // mtspr PSSCR,r4
    0x3CA0_0020, // again: lis r5,0x20
    0x7CB6_03A6, // mtspr DEC,r5
    0x4C00_02E4, // stop
    0x6000_0000, // nop
    0x4BFF_FFF0, // b again
];

fn flat(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// Else no key could come in time: hours of sleep are simulated in a second.
#[test]
fn a_machine_that_sleeps_is_not_ahead_of_whoever_may_still_type() {
    let folder = Folder::new();
    folder.write("sleeper", flat(&SLEEPER));
    // 200 sleeps, and one is five steps.
    let mut command = folder.command("boot --kernel sleeper --steps 1000");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = Instant::now();
    let mut child = command.spawn().unwrap();
    let keyboard = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    let elapsed = started.elapsed().as_secs_f64();
    drop(keyboard);
    let said = errors(&output);
    let (before, _) = said.split_once(" s simulated").unwrap();
    let simulated: f64 = before.rsplit(' ').next().unwrap().parse().unwrap();
    assert!(simulated > 0.8 && simulated < elapsed + 0.05, "{elapsed}: {said}");
    assert!(!said.contains("the input has ended"), "{said}");
}

#[test]
fn a_machine_that_sleeps_without_input_is_told_of_once() {
    let folder = Folder::new();
    folder.write("sleeper", flat(&SLEEPER));
    let told = "powervisor: the input has ended and the console has shown nothing for 10 simulated seconds; the run \
        goes on: end it with Ctrl-C, or run with --steps\n";
    // 2,442 sleeps are 10 s, and one is five steps.
    for (steps, times) in [(12_000, 0), (3_000_000, 1)] {
        let arguments = format!("--kernel sleeper --steps {steps}");
        let (_, errors) = well(boot(&folder, &arguments));
        assert_eq!(errors.matches(told).count(), times, "{errors}");
    }
}

#[test]
fn input_that_ends_at_once_is_typed_before_the_first_step() {
    let folder = Folder::new();
    let mut command = folder.command(&format!("boot {} --log-input typed", example("console")));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut keyboard = child.stdin.take().unwrap();
    keyboard.write_all(b"one\n").unwrap();
    keyboard.write_all(b"exit\n").unwrap();
    drop(keyboard);
    well(child.wait_with_output().unwrap());
    let log = fs::read_to_string(folder.path().join("typed")).unwrap();
    let piece = r#"{"at_step":0,"timebase":0,"text":"one\nexit\n"}"#;
    assert_eq!(log.lines().skip(1).collect::<Vec<_>>(), [piece]);
}

#[test]
fn a_bare_kernel_that_has_no_handlers_is_given_up() {
    let folder = Folder::new();
    folder.write("lost", flat(&[0x4800_0004, 0]));
    let output = boot(&folder, "--kernel lost");
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    let expected = "the machine stopped: thread 0x0 takes interrupts for ever, of which the handler at 0xe40 \
        (Hypervisor Emulation Assistance) completes no instruction: ";
    assert!(errors(&output).contains(expected), "{}", errors(&output));
    // One that only waits is not.
    folder.write("waits", flat(&[0x4800_0000]));
    well(boot(&folder, "--kernel waits --steps 3000000"));
}

/// It switches the machine off, as at any other end.
#[test]
fn a_hypervisor_that_gives_up_is_no_good_end() {
    let folder = Folder::new();
    let images = Images::find().unwrap();
    let no_bundle = "error: firmware's device tree: it has no initrd with a bundle";
    let both = images.folder().join(HYPERVISOR);
    let of_power9 = images.path_of(Processor::Power9);
    let of_power8 = images.path_of(Processor::Power8);
    for (kernel, machine, expected) in [
        (&of_power9, "power8", "panic: this hypervisor runs on POWER9 only; "),
        (&of_power8, "power9", "panic: this hypervisor runs on POWER8 only; "),
        (&of_power9, "power9", no_bundle),
        (&of_power8, "power8", no_bundle),
        (&both, "power9", no_bundle),
        (&both, "power8", no_bundle),
    ] {
        let arguments = format!("boot --kernel {} --machine {machine}", kernel.display());
        let output = folder.command(&arguments).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
        let expected = format!("\npowervisor: the hypervisor gave up: powervisor: {expected}");
        assert!(errors(&output).contains(&expected), "{}", errors(&output));
    }
}

/// A file that names no machine, on the other processor: on both machines the same, and a partition that was suspended
/// there goes on there.
#[test]
fn a_partition_runs_on_the_other_processor() {
    let folder = Folder::new();
    let smp = example("smp");
    let mut compare = folder.command(&format!("compare {smp} --machine power8 --topology 1x2x1"));
    let (said, _) = well(compare.output().unwrap());
    assert!(said.contains("our machine and QEMU agree"), "{said}");
    let suspend = format!("{smp} --machine power8 --suspend smp --at 300us --to smp.partition");
    well(boot(&folder, &suspend));
    let (said, _) = well(boot(&folder, &format!("{smp} --machine power8 --from smp.partition")));
    assert!(said.contains("smp: 4 vCPUs, sum 4000, 40 interrupts passed, 0 spurious"), "{said}");
    let refused = boot(&folder, &format!("{smp} --from smp.partition"));
    let said = errors(&refused);
    assert!(!refused.status.success(), "{said}");
    assert!(
        said.contains("its processor is POWER8, and that of the partition here POWER9"),
        "{said}"
    );
}
