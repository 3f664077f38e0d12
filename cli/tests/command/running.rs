//! The real command with the real images: what it prints, and how it leaves.
//!
//! Needs the images (`cargo xtask images`), QEMU (Debian's qemu-system-ppc) and `script` (bsdutils).

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Folder, errors, interrupt, project, short_experiment};

/// A flat image for OPAL firmware, big-endian: counts for ever.
const ENDLESS: [u8; 8] = [0x38, 0x63, 0x00, 0x01, 0x4B, 0xFF, 0xFF, 0xFC];

/// Waits until the child is `ready`, or long enough to say it never will be.
fn wait_until(what: &str, mut ready: impl FnMut() -> bool) {
    let started = Instant::now();
    while !ready() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn json_keeps_its_promise_and_each_variant_uses_its_door() {
    let folder = Folder::new();
    let experiment = short_experiment(&folder);
    let output =
        folder.command(&format!("run {experiment} --format json --seed 7")).output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["schema"], 1);
    assert_eq!(report["experiment"], "null-hypercall");
    assert_eq!(report["machine"], "power9");
    assert_eq!(report["seed"], 7);
    for key in ["version", "config_hash"] {
        assert!(report[key].as_str().is_some_and(|text| !text.is_empty()), "{key}");
    }
    let rows = report["rows"].as_array().unwrap();
    let value = |variant: &str, metric: &str| {
        let row = rows.iter().find(|row| row["variant"] == variant && row["metric"] == metric);
        let row = row.unwrap_or_else(|| panic!("no row {variant}, {metric}"));
        assert_eq!(row["thread"], serde_json::Value::Null);
        assert_eq!(row["region"], "measured-calls");
        let is_cycles = metric == "cycles_per_hypercall";
        assert_eq!(row["low"].is_number() && row["high"].is_number(), is_cycles, "{metric}");
        assert_eq!(row["published"].as_array().is_some_and(|list| !list.is_empty()), is_cycles);
        row["value"].as_f64().unwrap()
    };
    for (variant, by_this_door, by_the_other) in [
        ("immediate-translated", "translated_exits_per_hypercall", "real_exits_per_hypercall"),
        ("immediate-real", "real_exits_per_hypercall", "translated_exits_per_hypercall"),
    ] {
        assert!(value(variant, by_this_door) >= 1.0, "{variant}");
        assert!(value(variant, by_the_other) < 0.01, "{variant}");
        let parts = value(variant, "hypervisor_instructions_per_hypercall")
            + value(variant, "guest_instructions_per_hypercall");
        assert!((value(variant, "instructions_per_hypercall") - parts).abs() < 1e-6, "{variant}");
        assert!(value(variant, "hypervisor_instructions_per_hypercall") > 10.0, "{variant}");
        assert!(value(variant, "spr_reads_per_hypercall") >= 1.0, "{variant}");

        let ledger = &report["ledger"][variant];
        let charges = ledger["charges"].as_array().unwrap();
        let sum: u64 = charges.iter().map(|charge| charge["cycles"].as_u64().unwrap()).sum();
        assert_eq!(ledger["elapsed_thread_cycles"], sum, "{variant}: no cycle is left over");
        let whole = value(variant, "cycles_per_hypercall") * 10_000.0;
        assert!((whole - sum as f64).abs() < 1.0, "{variant}: {whole} cycles, {sum} charged");
    }
}

#[test]
fn without_timing_there_are_no_cycles() {
    let folder = Folder::new();
    let experiment = short_experiment(&folder);
    let line = format!("run {experiment} --functional --format json");
    let output = folder.command(&line).output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["ledger"], serde_json::json!({}));
    let rows = report["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["unit"] != "cycles"));
}

#[test]
fn the_counters_of_a_trace_only_grow() {
    let folder = Folder::new();
    let experiment = r#"
        name = "chase"
        question = "What does it miss?"
        machine = "power9"
        payload = "compute"
        memory = "64 MiB"
        per = "instruction"
        [[variant]]
        name = "chase"
        region = { name = "chase", number = 3 }
        arguments = "part=chase"
        expect = "compute: chase, rounds 1, checksum 0c8fca1cda6861f7"
    "#;
    fs::write(folder.path().join("chase.toml"), experiment).unwrap();
    let output = folder.command("run chase.toml --out files").output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    let trace = fs::read(folder.path().join("files/chase-chase.trace.json")).unwrap();
    let trace: serde_json::Value = serde_json::from_slice(&trace).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    for (name, counts) in [
        ("cache misses, hardware thread 0", ["L1", "L2", "L3"].as_slice()),
        ("translation misses, hardware thread 0", &["ERAT", "TLB"]),
    ] {
        let samples: Vec<_> =
            events.iter().filter(|event| event["ph"] == "C" && event["name"] == name).collect();
        assert!(samples.len() > 1, "{name}");
        let first = samples[0];
        assert!(counts.iter().all(|count| first["args"][count] == 0), "{first}");
        for pair in samples.windows(2) {
            assert!(pair[0]["ts"].as_f64() < pair[1]["ts"].as_f64(), "{pair:?}");
            for count in counts {
                let [before, after] = [0, 1].map(|at| pair[at]["args"][count].as_u64());
                assert!(before <= after, "{count}: {pair:?}");
            }
        }
        let [first, last] = [0, samples.len() - 1].map(|at| &samples[at]["args"]);
        let grew = last[counts[0]].as_u64() > first[counts[0]].as_u64().map(|first| first + 10);
        assert_eq!(grew, counts[0] == "L1", "its memory is larger than the L1, and two pages");
        let [inner, outer] = [2, 1].map(|back| last[counts[counts.len() - back]].as_u64());
        assert!(inner >= outer, "{name}: what the inner level has, the outer one is not asked for");
    }
}

#[test]
fn a_ledger_is_explained_checked_exported_and_compared() {
    let folder = Folder::new();
    let experiment = short_experiment(&folder);
    let line = format!("run {experiment} --explain --check-causes --out files --callers");
    let output = folder.command(&line).output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "hypervisor: System Call of null-hypercall",
        "(HSPRG0)",
        "flush.return",
        "by cause",
        "ledger says",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    for file in
        ["immediate-translated.folded", "immediate-translated.svg", "immediate-real.trace.json"]
    {
        let path = folder.path().join("files").join(format!("null-hypercall-{file}"));
        assert!(fs::metadata(&path).unwrap().len() > 0, "{}", path.display());
    }
    let path = folder.path().join("files/null-hypercall-immediate-translated.folded");
    let stacks = fs::read_to_string(path).unwrap();
    let called = ["run_on_threads;", "run_thread;", "hypercall;"];
    let has_callers = |stack: &&str| called.iter().all(|function| stack.contains(function));
    assert!(stacks.lines().any(|stack| has_callers(&stack)), "{stacks}");

    let machine = fs::read_to_string(project("machines/power9.toml")).unwrap();
    let cheaper = machine.replace("and_return = { value = 209", "and_return = { value = 179");
    assert_ne!(machine, cheaper);
    fs::write(folder.path().join("cheaper.toml"), cheaper).unwrap();
    for (options, report) in [("", "before.json"), ("--machine cheaper.toml", "after.json")] {
        let line = format!("run {experiment} --format json {options}");
        let output = folder.command(line.trim()).output().unwrap();
        assert!(output.status.success(), "{}", errors(&output));
        fs::write(folder.path().join(report), output.stdout).unwrap();
    }
    let output = folder.command("diff before.json after.json --by cause").output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let first = text.lines().find(|line| line.trim_start().starts_with('-')).unwrap();
    assert!(first.ends_with("flush.return"), "{text}");
}

#[test]
fn calibration_shows_every_row_with_its_role() {
    let folder = Folder::new();
    let output = folder.command("calibrate --format json").output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["schema"], 1);
    let rows = report["rows"].as_array().unwrap();
    let files = fs::read_dir(project("calibration/power9")).unwrap();
    let texts = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    assert_eq!(rows.len(), texts.map(|text| text.matches("[[row]]").count()).sum::<usize>());
    for row in rows {
        assert!(row["model"].is_number() && row["published"].is_number(), "{row}");
        assert!(row["role"] == "fitted" || row["role"] == "predicted", "{row}");
    }
}

#[test]
fn the_table_has_a_line_per_variant_and_no_colour() {
    let folder = Folder::new();
    let experiment = short_experiment(&folder);
    let output = folder.command(&format!("run {experiment}")).output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(text.lines().any(|line| line.starts_with("immediate-translated ")), "{text}");
    assert!(text.lines().any(|line| line.starts_with("immediate-real ")), "{text}");
    assert!(!text.contains('\x1b') && output.stderr.is_empty(), "{text}{}", errors(&output));
}

#[test]
fn an_experiment_whose_console_is_not_as_expected_fails() {
    let folder = Folder::new();
    let text = fs::read_to_string(project("experiments/null-hypercall.toml")).unwrap();
    folder.write("other.toml", text.replace("answer H_FUNCTION", "answer H_SUCCESS"));
    let output = folder.command("run other.toml").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(errors(&output).contains("the console lacks the line"), "{}", errors(&output));
    assert!(output.stdout.is_empty());
}

#[test]
fn a_variant_that_fails_takes_no_figure_of_others_with_it() {
    let folder = Folder::new();
    let text = fs::read_to_string(short_experiment(&folder)).unwrap();
    let (before, last) = text.rsplit_once("expect = \"").unwrap();
    folder.write("half.toml", format!("{before}expect = \"no {last}"));
    let output = folder.command("run half.toml --values-only --format json").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    assert!(errors(&output).contains("the console lacks the line"), "{}", errors(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let variants = report["variants"].as_object().unwrap().len();
    assert!(0 < variants && variants < text.matches("[[variant]]").count(), "{variants}");
}

#[test]
fn a_boot_ends_with_one_line_about_how_and_after_what() {
    let folder = Folder::new();
    let example = project("examples/hello.toml");
    for on in ["simulator", "qemu"] {
        let mut command = folder.command(&format!("boot {example} --on {on}"));
        let output = command.stdin(Stdio::null()).output().unwrap();
        let errors = errors(&output);
        assert!(output.status.success(), "{on}: {errors}");
        let console = String::from_utf8(output.stdout).unwrap();
        assert!(console.contains("hello from a partition"), "{on}: {console}");
        assert!(console.starts_with("powervisor: "), "{on}: {console}");
        assert!(
            errors.starts_with("powervisor: powered off ") && errors.lines().count() == 1,
            "{on}: {errors}"
        );
    }
}

#[test]
fn a_bundle_boots_as_its_partition_file_does() {
    let folder = Folder::new();
    let example = project("examples/hello.toml");
    assert!(
        folder.command(&format!("bundle {example} --output hello")).status().unwrap().success()
    );
    let consoles = [format!("boot {example}"), "boot hello".to_owned()].map(|arguments| {
        let output = folder.command(&arguments).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{}", errors(&output));
        output.stdout
    });
    assert_eq!(consoles[0], consoles[1]);
}

#[test]
fn a_partition_that_is_stopped_fails_the_boot() {
    let folder = Folder::new();
    // RTAS stop-self of the only vCPU: H_RTAS in r3, its buffer's address in r4; big-endian, as partitions are entered.
    let words: [u32; 7] = [0x3C60_0001, 0x3863_F000, 0x3880_0010, 0x4400_0022, 0x2003, 0, 0];
    folder.write("strays", words.map(u32::to_be_bytes).concat());
    for on in ["simulator", "qemu"] {
        let mut command = folder.command(&format!("boot --payload strays --on {on}"));
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{on}: {}", errors(&output));
        let last = errors(&output).lines().last().unwrap_or_default().to_owned();
        assert!(last.starts_with("powervisor: partition payload: stopped"), "{on}: {last}");
    }
}

/// Whether a process has this folder in its command line.
fn is_used(folder: &Path) -> bool {
    let folder = folder.to_str().unwrap();
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let uses = |line: Vec<u8>| String::from_utf8_lossy(&line).contains(folder);
    processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok()).any(uses)
}

#[test]
fn an_interrupt_ends_a_run_on_our_machine_with_a_summary() {
    let folder = Folder::new();
    folder.write("endless", ENDLESS);
    let mut command = folder.command_to_signal("boot --kernel endless");
    let child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    thread::sleep(Duration::from_millis(500));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", errors(&output));
    assert!(errors(&output).starts_with("powervisor: interrupted after "), "{}", errors(&output));
}

#[test]
fn an_interrupt_ends_qemu_too() {
    let folder = Folder::new();
    folder.write("endless", ENDLESS);
    let mut command = folder.command_to_signal("boot --kernel endless --on qemu");
    command
        .env("TMPDIR", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    wait_until("QEMU runs", || is_used(folder.path()));
    thread::sleep(Duration::from_millis(500));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", errors(&output));
    assert!(errors(&output).contains("interrupted"), "{}", errors(&output));
    assert!(!is_used(folder.path()), "QEMU is still there");
}

#[test]
fn whoever_kills_the_command_kills_qemu_too() {
    let folder = Folder::new();
    folder.write("endless", ENDLESS);
    let mut command = folder.command_to_signal("boot --kernel endless --on qemu");
    command.env("TMPDIR", folder.path()).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("QEMU runs", || is_used(folder.path()));
    thread::sleep(Duration::from_millis(500));
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("QEMU has ended", || !is_used(folder.path()));
}

#[test]
fn control_c_leaves_the_terminal_as_it_was() {
    let folder = Folder::new();
    folder.write("endless", ENDLESS);
    for on in ["simulator", "qemu"] {
        let line = format!(
            "trap : INT; stty -g; {} boot --kernel endless --on {on}; echo status $?; stty -g",
            env!("CARGO_BIN_EXE_powervisor")
        );
        let mut script = Command::new("script");
        script
            .args(["--quiet", "--return", "--command", &line, "/dev/null"])
            .current_dir(folder.path());
        script.env("SHELL", "/bin/sh").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child =
            script.spawn().expect("script must be installed: Debian's package bsdutils");
        thread::sleep(Duration::from_secs(2));
        let mut keyboard = child.stdin.take().unwrap();
        keyboard.write_all(b"\x03").unwrap();
        let mut shown = String::new();
        child.stdout.take().unwrap().read_to_string(&mut shown).unwrap();
        child.wait().unwrap();
        drop(keyboard);
        let settings: Vec<&str> =
            shown.lines().filter(|line| line.matches(':').count() > 10).map(str::trim).collect();
        assert!(settings.len() == 2 && settings[0] == settings[1], "{on}: {shown}");
        assert!(shown.contains("status 130"), "{on}: {shown}");
    }
}

/// The shell itself says what it completes.
#[test]
fn shells_complete_and_man_shows_what_the_arguments_say() {
    let folder = Folder::new();
    let output = |arguments: &str| {
        let output = folder.command(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
        output.stdout
    };
    folder.write("script", output("completions bash"));
    let ask = "source ./script; COMP_WORDS=(powervisor boot --g); COMP_CWORD=2; _powervisor powervisor --g boot; \
        echo \"${COMPREPLY[@]}\"";
    let answer =
        Command::new("bash").args(["-c", ask]).current_dir(folder.path()).output().unwrap();
    assert_eq!(String::from_utf8(answer.stdout).unwrap(), "--gdb\n");
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert!(!output(&format!("completions {shell}")).is_empty());
    }

    assert!(output("manual --out pages").is_empty());
    let pages = std::fs::read_dir(folder.path().join("pages")).unwrap().count();
    let whole = output("manual");
    for (page, has) in [("powervisor", "powervisor-boot(1)"), ("powervisor-boot", "--gdb <PORT>")] {
        let text = std::fs::read(folder.path().join(format!("pages/{page}.1"))).unwrap();
        let text = String::from_utf8(text).unwrap();
        let plain = text.replace("\\-", "-").replace("\\fI", "").replace("\\fR", "");
        assert!(plain.replace("\\fB", "").contains(has), "{page}: {text}");
    }
    let titles = whole.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b".TH "));
    assert_eq!(titles.count(), pages);
}
