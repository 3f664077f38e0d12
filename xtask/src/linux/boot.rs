//! The kernel booted to its shell on our machine and on QEMU, with the same typed into both.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::workspace::Workspace;

const PROMPT: &[u8] = b"/ # ";
/// What a line of an answer begins with, which no line does that the console shows while it is typed.
const ANSWER: char = '=';
/// What is typed at the prompt.
const COMMANDS: [&str; 4] = [
    "echo \"=$((6*7))\"",
    "echo \"=$(sha256sum /bin/busybox)\"",
    "echo \"=$(seq 2000 | gzip | gunzip | md5sum)\"",
    "poweroff -f",
];
/// No boot takes so long.
const PATIENCE: Duration = Duration::from_secs(300);

/// Boots on both; fails unless both answer the same and switch off. What they took.
pub(super) fn boot(workspace: &Workspace, image: &Path, initramfs: &Path) -> Result<String> {
    let started = Instant::now();
    let ours = answers(workspace, image, initramfs, "simulator").context("on our machine")?;
    let seconds = started.elapsed().as_secs_f64();
    let theirs = answers(workspace, image, initramfs, "qemu").context("on QEMU")?;
    ensure!(ours.len() == COMMANDS.len() - 1, "our machine's shell answers {ours:?}");
    ensure!(ours == theirs, "our machine's shell answers {ours:?}, QEMU's {theirs:?}");
    Ok(format!("{} commands and power-off as on QEMU, in {seconds:.1} s", ours.len()))
}

/// What the shell answers on one of the machines.
fn answers(workspace: &Workspace, image: &Path, initramfs: &Path, on: &str) -> Result<Vec<String>> {
    let mut command = workspace.powervisor(&["boot", "--on", on, "--append", "console=hvc0"]);
    command.arg("--kernel").arg(image).arg("--initrd").arg(initramfs);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let console = talk(&mut child);
    if console.is_err() {
        child.kill()?;
    }
    let status = child.wait()?;
    let console = String::from_utf8_lossy(&console?).into_owned();
    ensure!(status.success(), "the run ended with {status} and this console:\n{console}");
    let lines = console.lines().map(|line| line.trim_end_matches('\r'));
    Ok(lines.filter_map(|line| line.strip_prefix(ANSWER)).map(str::to_owned).collect())
}

/// Types the commands when the prompt is there; the console up to its end.
fn talk(child: &mut Child) -> Result<Vec<u8>> {
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
    let mut console = Vec::new();
    let mut has_typed = false;
    loop {
        match receiver.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(bytes) => console.extend(bytes),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(console),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                let text = String::from_utf8_lossy(&console);
                bail!("no end after {} s; the console:\n{text}", PATIENCE.as_secs());
            }
        }
        if !has_typed && console.windows(PROMPT.len()).any(|window| window == PROMPT) {
            input.write_all((COMMANDS.join("\n") + "\n").as_bytes())?;
            has_typed = true;
        }
    }
}
