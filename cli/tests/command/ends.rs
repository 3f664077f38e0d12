//! How the command ends where nobody takes what it writes, and where it is interrupted.

use std::fs::File;
use std::io::{BufRead as _, BufReader, pipe};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use crate::support::{Folder, errors, interrupt, project, short_experiment};

fn full() -> File {
    File::options().write(true).open("/dev/full").unwrap()
}

fn names(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Sends SIGINT once the command has had some time to begin.
fn interrupted(mut command: Command) -> Output {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    thread::sleep(Duration::from_millis(700));
    interrupt(&child);
    child.wait_with_output().unwrap()
}

#[test]
fn a_full_device_is_a_complaint_where_there_is_a_place_for_one() {
    let folder = Folder::new();
    let hello = format!("boot {}", project("examples/hello.toml"));
    for arguments in
        [hello.as_str(), "show", "show power9", "completions bash", "manual", "--help", "--version"]
    {
        let output = folder.command(arguments).stdin(Stdio::null()).stdout(full()).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        assert_eq!(
            errors(&output),
            "powervisor: standard output: cannot be written: No space left on device (os error 28); free some space \
             and run again\n"
        );
    }
    // What is lost on standard error can be said nowhere.
    let output = folder.command(&hello).stdin(Stdio::null()).stderr(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stdout).unwrap().contains("hello"));
}

#[test]
fn a_reader_that_goes_away_ends_the_command_quietly_as_any_other() {
    let folder = Folder::new();
    let hello = format!("boot {}", project("examples/hello.toml"));
    let json = format!("run {} --format json", short_experiment(&folder));
    for arguments in [hello.as_str(), &json, "show power9", "--help"] {
        // It has gone before the command begins, which else may end first.
        let (_, gone) = pipe().unwrap();
        let mut command = folder.command(arguments);
        command.stdin(Stdio::null()).stdout(gone).stderr(Stdio::piped());
        let output = command.spawn().unwrap().wait_with_output().unwrap();
        assert_eq!((output.status.code(), errors(&output).as_str()), (Some(141), ""));
    }
    let (_, gone) = pipe().unwrap();
    let mut command = folder.command(&hello);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(gone);
    assert_eq!(command.status().unwrap().code(), Some(141));
}

/// The shell counts in pieces of 1024 bytes.
#[test]
fn a_limit_on_the_size_of_files_is_a_complaint_and_leaves_no_half_file() {
    let hello = project("examples/hello.toml");
    for (arguments, limited) in [
        (format!("boot {hello} --steps 300000 --save machine"), "machine"),
        (format!("boot {hello} --timing --steps 300000 --out ."), "./boot.folded"),
        (format!("bundle {hello} --output bundle"), "bundle"),
        (format!("boot {hello} --trace instructions --trace-file trace"), "trace"),
        ("new payload mine".to_owned(), "mine/powervisor.h"),
        ("new payload mine --language rust".to_owned(), "mine/src/powervisor.rs"),
        ("new experiment mine".to_owned(), "mine/mine.toml"),
    ] {
        let folder = Folder::new();
        let mut command = Command::new("bash");
        command.args(["-c", "ulimit -f 1; exec \"$@\"", "bash", env!("CARGO_BIN_EXE_powervisor")]);
        command.args(arguments.split(' ')).current_dir(folder.path()).stdin(Stdio::null());
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {}", errors(&output));
        let expected = format!(
            "powervisor: {limited}: cannot be written: File too large (os error 27); raise the limit on the size of \
             files (`ulimit -f`)"
        );
        assert_eq!(errors(&output).lines().last(), Some(expected.as_str()), "{arguments}");
        // A trace is written as the run goes, and ends where the disk does.
        let left = if limited == "trace" { vec!["trace".to_owned()] } else { Vec::new() };
        assert_eq!(names(&folder), left, "{arguments}");
    }
}

#[test]
fn an_interrupt_ends_experiments_and_calibration_with_how_far_they_came() {
    let folder = Folder::new();
    let experiment = project("experiments/compute.toml");
    let out = format!("run {experiment} --check-causes --out files");
    for (arguments, said) in [(out.as_str(), "of "), ("calibrate", "runs, which is too few")] {
        let output = interrupted(folder.command_to_signal(arguments));
        let said_in_all = errors(&output);
        assert_eq!(output.status.code(), Some(130), "{arguments}: {said_in_all}");
        assert!(output.stdout.is_empty(), "{arguments}");
        assert!(said_in_all.starts_with("powervisor: interrupted after 0 of "), "{said_in_all}");
        assert!(said_in_all.lines().count() == 1 && said_in_all.contains(said), "{said_in_all}");
    }
}

/// The second variant runs for long, so that the first one is over.
#[test]
fn an_interrupted_experiment_prints_the_variants_that_are_measured() {
    let folder = Folder::new();
    let text = std::fs::read_to_string(short_experiment(&folder)).unwrap();
    let first = text.find("[[variant]]").unwrap();
    let (second, rest) = text[first + 1..].split_once("[[variant]]").unwrap();
    let endless = rest.replacen("arguments = \"", "arguments = \"calls=4000000000 ", 1);
    folder.write("long.toml", format!("{}[{second}[[variant]]{endless}", &text[..first]));
    let mut command = folder.command_to_signal("run long.toml --values-only --format json --out .");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    while !names(&folder).iter().any(|name| name.ends_with(".trace.json")) {
        thread::sleep(Duration::from_millis(50));
    }
    thread::sleep(Duration::from_millis(200));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", errors(&output));
    assert!(errors(&output).contains("interrupted after 1 of 2 variants, in "));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["variants"].as_object().unwrap().len(), 1);
}

#[test]
fn an_interrupted_comparison_keeps_what_it_has_found() {
    let folder = Folder::new();
    let hello = project("examples/hello.toml");
    let mut command = folder.command_to_signal(&format!("compare {hello} {hello} {hello} {hello}"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut shown = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    shown.read_line(&mut first).unwrap();
    assert!(first.contains("agree"), "{first}");
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", errors(&output));
    assert!(errors(&output).contains("interrupted after "), "{}", errors(&output));
}
