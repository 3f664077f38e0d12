//! Descriptions of machines.

use std::process::Command;

use super::{EXPERIMENT, assert_refused, folder};
use crate::support::errors;

#[test]
fn machine_descriptions() {
    let folder = folder();
    let power9 = include_str!("../../../../machines/power9.toml");
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
    let expected = "--machine: no machine is called `power7`; did you mean `power9`? A description of your own is named by \
                    its path, ending in .toml";
    let arguments = "boot --kernel p.elf --machine power7";
    assert_refused(folder.command(arguments).env("POWERVISOR_IMAGES", "images"), expected);
    let power8 = include_str!("../../../../machines/power8.toml");
    folder.write("m.toml", power8.replace("[timing.latency]", "slices = 4\n[timing.latency]"));
    let output = folder.command("boot --kernel p.elf --machine m.toml").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    assert!(errors(&output).contains("unknown key `slices`"), "{}", errors(&output));
}

/// A host that gives a process 6 GiB, where a machine has 8.
#[test]
fn a_machine_with_more_memory_than_the_host_gives() {
    let folder = folder();
    let power9 = include_str!("../../../../machines/power9.toml");
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
    let power9 = include_str!("../../../../machines/power9.toml");
    for (from, to, expected) in [
        (
            "scoreboard = { value = 40",
            "scoreboard = { value = -1",
            "timing.special.scoreboard = -1 is out of range; it must be 0 at least",
        ),
        (
            "scoreboard = { value = 40",
            "scoreboard = { value = nan",
            "timing.special.scoreboard = NaN is out of range; it must be a number",
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
            "scoreboard = { value = 40",
            "scoreboard = { value = 40.5e400",
            "floating-point number overflowed",
        ),
        (
            "threads_per_core = 1",
            "threads_per_core = 9",
            "threads_per_core = 9 is not what a core of POWER9 has; it must be one of 1, 2, 4",
        ),
        (
            "timebase_frequency = { value = 512_000_000",
            "timebase_frequency = { value = 0",
            "clock.timebase_frequency is 0; it must be positive and at most 1000000000000",
        ),
        (
            "streams = { value = 8",
            "streams = { value = 4294967296",
            "timing.prefetch.streams = 4294967296 is out of range; it must be 256 at most",
        ),
        (
            "window = { value = 256",
            "window = { value = 9223372036854775807",
            "timing.core.window = 9.223372036854776e18 is out of range; it must be 4096 at most",
        ),
        ("month = 1", "month = 13", "date.month = 13 is out of range; it must be 1 to 12"),
        ("day = 1", "day = 0", "date.day = 0 is out of range; it must be 1 to 31"),
        (
            "boot_thread = 0",
            "boot_thread = 7",
            "boot_thread = 7 is out of range; it must be below the number of threads, 1",
        ),
        (
            "channels = { value = 8",
            "channels = { value = 4294967296",
            "timing.memory.channels = 4294967296 is out of range; it must be 256 at most",
        ),
        (
            "tlb_entries = { value = 512",
            "tlb_entries = { value = 4294967296",
            "timing.translation.tlb_entries = 4294967296 is out of range; it must be 1048576 at most",
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
