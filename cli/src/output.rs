//! Standard output and input of the command. A reader that went away ends the command quietly, a full
//! disk is a complaint.

use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use crate::failure::Failure;

/// Writes to standard output, at once.
pub fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::ClosedPipe,
        _ => full("standard output", &error),
    })
}

/// Writes a file. What could be written of it before a failure stays.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|error| full(&path.display().to_string(), &error))
}

fn full(place: &str, error: &io::Error) -> Failure {
    let remedy = match error.kind() {
        ErrorKind::StorageFull => "free some space and run again",
        _ => "it must be writable",
    };
    Failure::input(place, format_args!("cannot be written: {error}; {remedy}"))
}

/// What arrives on standard input, as it arrives. Read on a thread of its own, which ends with the
/// input or with the command.
#[must_use]
pub fn input() -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = io::stdin().read(&mut buffer) {
            if sender.send(buffer[..length].to_vec()).is_err() {
                break;
            }
        }
    });
    receiver
}
