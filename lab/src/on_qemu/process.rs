//! A running QEMU: its console's pipes, its monitor, and its end.
//!
//! It gets pipes instead of the terminal, so that the terminal is never in its hands, and a process
//! group of its own, so that Ctrl-C reaches only us. Its exit status does not tell a power-off from
//! a reboot; the SHUTDOWN event of its monitor protocol (QMP) does.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use super::{KEEPER, PACKAGE, PATIENCE, PROGRAM};
use crate::failure::Failure;
use crate::interruption::Interruption;
use crate::system::Exit;

/// A running QEMU, ended when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Running,
    output: Receiver<Vec<u8>>,
    monitor: UnixStream,
    /// The file with its standard error.
    errors: PathBuf,
}

impl Process {
    /// Starts `command` with console and monitor connected to us; `folder` takes what that needs.
    pub(super) fn start(
        mut command: Command,
        folder: &Path,
        interruption: Interruption,
    ) -> Result<Self, Failure> {
        check()?;
        let errors = folder.join("errors");
        let socket = folder.join("monitor");
        let listener = UnixListener::bind(&socket).map_err(host_failure)?;
        listener.set_nonblocking(true).map_err(host_failure)?;
        command
            .args(["-mon", "chardev=monitor,mode=control", "-chardev"])
            .arg(format!("socket,id=monitor,path={}", socket.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&errors).map_err(host_failure)?)
            .process_group(0);
        let child = command.spawn().map_err(|error| cannot_start(KEEPER, "util-linux", &error))?;
        let mut child = Running(child);
        let output = read_on_thread(child.0.stdout.take());
        let mut monitor = accept(&listener, &mut child, &errors, interruption)?;
        // Events come only after this.
        monitor.write_all(b"{\"execute\":\"qmp_capabilities\"}\n").map_err(host_failure)?;
        Ok(Self { child, output, monitor, errors })
    }

    /// What the console shows; disconnected when QEMU has ended.
    pub(super) fn output(&self) -> &Receiver<Vec<u8>> {
        &self.output
    }

    /// Types on the console. That QEMU may have ended meanwhile is seen by its output.
    pub(super) fn type_in(&mut self, bytes: &[u8]) {
        if let Some(stdin) = &mut self.child.0.stdin {
            let _ = stdin.write_all(bytes).and_then(|()| stdin.flush());
        }
    }

    /// How the run ended, once the output has.
    pub(super) fn finish(mut self) -> Result<Exit, Failure> {
        let status = self.child.0.wait().map_err(host_failure)?;
        let mut events = String::new();
        self.monitor.read_to_string(&mut events).map_err(host_failure)?;
        Ok(match shutdown_reason(&events).as_deref() {
            Some("guest-shutdown") => Exit::PoweredOff,
            Some("guest-reset") => Exit::Rebooted,
            Some(reason) => Exit::Stopped(format!("QEMU ended for the reason {reason}")),
            None => Exit::Stopped(last_words(status, &self.errors)),
        })
    }
}

/// Fails unless QEMU is there and can be executed.
fn check() -> Result<(), Failure> {
    let tried = Command::new(PROGRAM).arg("--version").stdin(Stdio::null()).output();
    tried.map(drop).map_err(|error| cannot_start(PROGRAM, PACKAGE, &error))
}

fn cannot_start(program: &str, package: &str, error: &io::Error) -> Failure {
    let text = match error.kind() {
        ErrorKind::NotFound => {
            format!("not found; install Debian's package {package}, or let PATH lead to it")
        }
        _ => format!("cannot be started: {error}; it must be executable"),
    };
    Failure::input(program, text)
}

/// A child that does not outlive us.
#[derive(Debug)]
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Fails only for a child that has ended, which is what is wanted.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits for QEMU to call the monitor's socket, which it does before the machine runs.
fn accept(
    listener: &UnixListener,
    child: &mut Running,
    errors: &Path,
    interruption: Interruption,
) -> Result<UnixStream, Failure> {
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false).map_err(host_failure)?;
                return Ok(stream);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if let Some(status) = child.0.try_wait().map_err(host_failure)? {
                    let text = format_args!(
                        "{}; it must know the machine that -M names",
                        last_words(status, errors)
                    );
                    return Err(Failure::input(PROGRAM, text));
                }
                interruption.check()?;
                thread::sleep(PATIENCE);
            }
            Err(error) => return Err(host_failure(error)),
        }
    }
}

/// Sends what can be read to the receiver, which is disconnected at the end.
fn read_on_thread(stream: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    if let Some(mut stream) = stream {
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = stream.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
    }
    receiver
}

/// The reason in the first SHUTDOWN event of a monitor's output, which is one JSON object a line.
fn shutdown_reason(events: &str) -> Option<String> {
    events
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .find(|event| event["event"] == "SHUTDOWN")
        .and_then(|event| event["data"]["reason"].as_str().map(str::to_owned))
}

/// How QEMU ended by itself, on one line.
fn last_words(status: ExitStatus, errors: &Path) -> String {
    let said = fs::read_to_string(errors).unwrap_or_default();
    let said: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    format!(
        "QEMU ended with {status}: {}",
        if said.is_empty() { "it said nothing".to_owned() } else { said.join(" / ") }
    )
}

/// Our own pipes and temporary files do not work.
pub(super) fn host_failure(error: std::io::Error) -> Failure {
    Failure::input(
        "running QEMU",
        format_args!("{error}; temporary files and pipes must be available"),
    )
}

#[cfg(test)]
mod tests {
    use super::shutdown_reason;

    #[test]
    fn the_reason_is_found_among_other_events() {
        let events = "{\"QMP\": {}}\r\n{\"return\": {}}\r\n{\"event\": \"RESUME\"}\r\n\
            {\"event\": \"SHUTDOWN\", \"data\": {\"guest\": true, \"reason\": \"guest-reset\"}}\r\n";
        assert_eq!(shutdown_reason(events).as_deref(), Some("guest-reset"));
        assert_eq!(shutdown_reason("{\"return\": {}}\n{cut"), None);
    }
}
