//! A run of one test: its console, what is typed, and its migration.

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// What a test prints when it wants to be migrated, and then waits for a key.
const ONCE: [&str; 2] = ["Now migrate the VM", "Skipped VM migration"];
/// What it prints when it wants that again and again from the next key on.
const BEGIN: &str = "Begin continuous migration";
const END: &str = "End continuous migration (quiet)";
/// How often it is migrated then, and how long it runs between.
const TIMES: u32 = 4;
const BETWEEN: Duration = Duration::from_millis(300);
/// How long a process may take to end that was asked to.
const PATIENCE: Duration = Duration::from_secs(10);

/// How a run is begun, and how it goes on in another process, if that can be had.
pub(super) struct Run {
    pub(super) start: Command,
    /// One is for every other time: what it reads, a run cannot save to.
    pub(super) resume: Option<[Command; 2]>,
    /// The test is one that migrates.
    pub(super) is_migrated: bool,
    pub(super) timeout: Duration,
}

/// A process and what it prints.
struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<Vec<u8>>,
}

impl Process {
    fn start(command: &mut Command, has_input: bool) -> Result<Self> {
        let program = command.get_program().to_string_lossy().into_owned();
        command.stdin(if has_input { Stdio::piped() } else { Stdio::null() });
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.with_context(|| format!("{program} cannot be started"))?;
        let (sender, output) = mpsc::channel();
        forward(child.stdout.take().context("no standard output")?, sender.clone());
        forward(child.stderr.take().context("no standard error")?, sender);
        let input = child.stdin.take();
        Ok(Self { child, input, output })
    }

    fn key(&mut self) {
        if let Some(input) = &mut self.input {
            // One that has ended takes no key, and its console says so.
            drop(input.write_all(b"\n").and_then(|()| input.flush()));
        }
    }

    /// Asks it to end, so that a QEMU that it has started ends with it, and ends it if it does not.
    fn end(&mut self) -> Result<()> {
        self.signal(Signal::SIGTERM)?;
        let until = Instant::now() + PATIENCE;
        while self.child.try_wait()?.is_none() {
            if Instant::now() > until {
                self.signal(Signal::SIGKILL)?;
                self.child.wait()?;
                return Ok(());
            }
            thread::sleep(BETWEEN);
        }
        Ok(())
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        let id = i32::try_from(self.child.id())?;
        Ok(kill(Pid::from_raw(id), signal)?)
    }
}

fn forward(mut from: impl Read + Send + 'static, to: Sender<Vec<u8>>) {
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            if to.send(buffer[..length].to_vec()).is_err() {
                break;
            }
        }
    });
}

/// What the run has printed, and how it ended, in words.
pub(super) fn talk(mut run: Run) -> Result<(String, String)> {
    let end = Instant::now() + run.timeout;
    let mut process = Process::start(&mut run.start, run.is_migrated)?;
    let mut console = String::new();
    let mut seen = 0;
    // Migrations that are left, and when the next one is.
    let mut left = 0;
    let mut next = end;
    loop {
        let wake = if left == 0 { end } else { next.min(end) };
        match process.output.recv_timeout(wake.saturating_duration_since(Instant::now())) {
            Ok(bytes) => console.push_str(&String::from_utf8_lossy(&bytes)),
            Err(RecvTimeoutError::Disconnected) => {
                let status = process.child.wait()?;
                let last = console.lines().rev().find(|line| !line.trim().is_empty());
                let last = last.unwrap_or("nothing").trim().to_owned();
                return Ok((console, format!("{status}; the last line: {last}")));
            }
            Err(RecvTimeoutError::Timeout) if Instant::now() >= end => {
                process.end()?;
                let seconds = run.timeout.as_secs();
                let last = console.lines().rev().find(|line| !line.trim().is_empty());
                let last = last.unwrap_or("nothing").trim().to_owned();
                return Ok((console, format!("no end within {seconds} s; the last line: {last}")));
            }
            Err(RecvTimeoutError::Timeout) => {
                left -= 1;
                move_on(&mut process, &mut run, &mut console)?;
                // Saving takes longer on a busy host, and who goes on has to be there before it is interrupted.
                next = Instant::now() + BETWEEN;
            }
        }
        if !run.is_migrated {
            continue;
        }
        // Whole lines that were not looked at yet.
        while let Some(length) = console[seen..].find('\n') {
            let line = console[seen..seen + length].to_owned();
            seen += length + 1;
            if ONCE.iter().any(|once| line.contains(once)) {
                move_on(&mut process, &mut run, &mut console)?;
                process.key();
            } else if line.contains(BEGIN) {
                process.key();
                left = if run.resume.is_some() { TIMES } else { 0 };
                next = Instant::now() + BETWEEN;
            } else if line.contains(END) {
                left = 0;
                process.key();
            }
        }
    }
}

/// Migrates: the run is interrupted, which saves the machine, and goes on in another process.
fn move_on(process: &mut Process, run: &mut Run, console: &mut String) -> Result<()> {
    let Some([resume, next]) = &mut run.resume else { return Ok(()) };
    process.signal(Signal::SIGINT)?;
    let status = process.child.wait()?;
    ensure!(status.signal().is_none(), "a run was interrupted before it could save: {status}");
    for bytes in process.output.iter() {
        console.push_str(&String::from_utf8_lossy(&bytes));
    }
    *process = Process::start(resume, true)?;
    std::mem::swap(resume, next);
    Ok(())
}
