//! A kernel booted to its shell on our machine and on QEMU, with the same typed into both.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};

use super::Fetched;
use crate::workspace::Workspace;

const PROMPT: &[u8] = b"/ # ";
/// What a line of an answer begins with, which no line does that the console shows while it is typed.
const ANSWER: char = '=';
/// What a line begins with that tells of one machine alone.
const REMARK: char = '%';
/// How often each state of cpuidle was entered, by all threads together.
const IDLE_STATES: &str = "cd /sys/devices/system/cpu; for s in cpu0/cpuidle/state*; do echo \
     \"%$(cat $s/name) $(cat cpu*/${s#cpu0/}/usage | awk '{ n += $1 } END { print n }')\"; done; cd /";
/// A few commands, idleness between them, and power-off.
pub(super) const COMMANDS: [&str; 6] = [
    "echo \"=$((6*7))\"",
    "echo \"=$(sha256sum /bin/busybox)\"; sleep 3",
    "echo \"=$(seq 2000 | gzip | gunzip | md5sum)\"; sleep 2",
    "echo \"=$(seq 2000 | bzip2 | bunzip2 | md5sum)\"",
    IDLE_STATES,
    "poweroff -f",
];
/// The torture set, and the other way to an end.
pub(super) const TORTURE: [&str; 3] = ["torture", IDLE_STATES, "reboot -f"];
/// No boot takes so long.
const PATIENCE: Duration = Duration::from_secs(1800);

/// What to boot on, and what to type then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial<'a> {
    pub(super) topology: &'a str,
    /// In timing mode.
    pub(super) is_timed: bool,
    /// With the hashed page table.
    pub(super) is_hashed: bool,
    /// The machine's name.
    pub(super) machine: &'a str,
    pub(super) commands: &'a [&'static str],
}

/// What the shell said.
pub(super) struct Said {
    pub(super) answers: Vec<String>,
    remarks: Vec<String>,
    pub(super) console: String,
    /// What the command said beside the console, on standard error.
    pub(super) log: String,
    pub(super) took: Duration,
}

/// Boots each trial, and the first on QEMU too; fails unless all answer the same and come to their end. What they
/// took.
pub(super) fn boot(
    workspace: &Workspace,
    fetched: &Fetched,
    trials: &[Trial<'_>],
) -> Result<String> {
    let first = trials.first().context("nothing to boot")?;
    let judge = Trial { topology: "1x1x1", is_timed: false, ..*first };
    let theirs = talk(workspace, fetched, &judge, "qemu").context("on QEMU")?;
    ensure!(theirs.answers.len() >= 3, "QEMU's shell answers {:?}", theirs.answers);
    let mut figures = Vec::new();
    for trial in trials {
        let place =
            format!("{}{}", trial.topology, if trial.is_timed { ", timing mode" } else { "" });
        let ours = talk(workspace, fetched, trial, "simulator")
            .with_context(|| format!("on our machine, {place}"))?;
        compare(&ours.answers, &theirs.answers).with_context(|| format!("topology {place}"))?;
        println!("{place}: {:.1} s; {}", ours.took.as_secs_f64(), ours.remarks.join(", "));
        figures.push(format!("{place} in {:.1} s", ours.took.as_secs_f64()));
    }
    let (answers, seconds) = (theirs.answers.len(), theirs.took.as_secs_f64());
    Ok(format!(
        "{answers} answers as on QEMU ({seconds:.1} s), and the end: {}",
        figures.join("; ")
    ))
}

/// Fails with the first line that differs.
fn compare(ours: &[String], theirs: &[String]) -> Result<()> {
    for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        ensure!(ours == theirs, "answer {}: `{ours}`, on QEMU `{theirs}`", index + 1);
    }
    ensure!(ours.len() == theirs.len(), "{} answers, on QEMU {}", ours.len(), theirs.len());
    Ok(())
}

/// Boots on one of the machines.
fn talk(workspace: &Workspace, fetched: &Fetched, trial: &Trial<'_>, on: &str) -> Result<Said> {
    let line = if trial.is_hashed { "console=hvc0 disable_radix" } else { "console=hvc0" };
    let mut command = workspace.powervisor(&["boot", "--on", on, "--append", line]);
    command.arg("--kernel").arg(&fetched.image).arg("--initrd").arg(&fetched.initramfs);
    command.args(["--topology", trial.topology, "--machine", trial.machine]);
    if trial.is_timed {
        command.arg("--timing");
    }
    converse(command, trial.commands)
}

/// Runs a boot, types the commands, and listens to the end, which has to be a good one.
pub(super) fn converse(command: Command, commands: &[&str]) -> Result<Said> {
    let (status, said) = talk_to(command, commands)?;
    ensure!(status.success(), "the run ended with {status} and this console:\n{}", said.console);
    Ok(said)
}

/// The same, and how the run ended.
pub(super) fn talk_to(mut command: Command, commands: &[&str]) -> Result<(ExitStatus, Said)> {
    let started = Instant::now();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let log = child.stderr.take().context("no standard error")?;
    let log = thread::spawn(move || show(log));
    let console = listen(&mut child, commands);
    if console.is_err() {
        child.kill()?;
    }
    let status = child.wait()?;
    let log = log.join().map_err(|_| anyhow!("the reader of standard error panicked"))??;
    let log = String::from_utf8_lossy(&log).into_owned();
    let console = String::from_utf8_lossy(&console?).into_owned();
    let lines = || console.lines().map(|line| line.trim_end_matches('\r'));
    let of = |mark| lines().filter_map(|line| line.strip_prefix(mark)).map(str::to_owned).collect();
    let (answers, remarks) = (of(ANSWER), of(REMARK));
    Ok((status, Said { answers, remarks, console, log, took: started.elapsed() }))
}

/// Passes on what there is to read, as it comes, to standard error; all of it.
fn show(mut from: impl Read) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    let mut buffer = [0; 4096];
    while let length @ 1.. = from.read(&mut buffer)? {
        io::stderr().write_all(&buffer[..length])?;
        all.extend_from_slice(&buffer[..length]);
    }
    Ok(all)
}

/// Types a command at each prompt; the console up to its end.
fn listen(child: &mut Child, commands: &[&str]) -> Result<Vec<u8>> {
    let mut output = child.stdout.take().context("no console")?;
    let mut input = child.stdin.take().context("nothing to type on")?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = output.read(&mut buffer) {
            if sender.send(buffer[..length].to_vec()).is_err() {
                break;
            }
        }
    });
    let end = Instant::now() + PATIENCE;
    let mut commands = commands.iter();
    let mut console: Vec<u8> = Vec::new();
    let mut seen = 0;
    loop {
        match receiver.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(bytes) => console.extend(bytes),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(console),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                let text = String::from_utf8_lossy(&console);
                bail!("no end after {} s; the console:\n{text}", PATIENCE.as_secs());
            }
        }
        let place = console[seen..].windows(PROMPT.len()).position(|window| window == PROMPT);
        if let Some(place) = place {
            seen += place + PROMPT.len();
            if let Some(command) = commands.next() {
                input.write_all(format!("{command}\n").as_bytes())?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn an_answer_that_differs_and_one_that_is_missing_are_told() {
        let lines = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(compare(&lines("a b"), &lines("a b")).is_ok());
        let error = compare(&lines("a c"), &lines("a b")).unwrap_err().to_string();
        assert_eq!(error, "answer 2: `c`, on QEMU `b`");
        assert!(compare(&lines("a"), &lines("a b")).is_err());
    }
}
