//! gdb looks at the machine, and runs it forwards and backwards: `boot --gdb PORT`.
//!
//! The `gdbstub` crate speaks the protocol, [`target`] answers its questions, [`monitor`] those that gdb has no
//! command for, [`lab::history`] goes back. Looking changes nothing: a run with gdb has the steps and cycles of
//! one without, and gdb can write neither registers nor memory.

mod line;
mod monitor;
mod registers;
mod target;
mod vcpus;

use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;
use std::{io, thread};

use gdbstub::stub::{DisconnectReason, GdbStub};
use lab::history::History;
use lab::system::Exit;
use lab::vcpus::Layout;

use crate::failure::Failure;
use crate::output::say;
use crate::signals::INTERRUPTION;
use line::Line;
use target::{Debugger, Events};

/// How long a wait for gdb may keep an interruption waiting.
const LOOK: Duration = Duration::from_millis(50);

/// What a session with gdb came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Parting {
    /// The machine ended.
    Over(Exit),
    /// gdb ended the run: `kill`, or `quit` with a yes.
    Killed,
    /// gdb went away, and the run goes on: `detach`.
    Detached,
}

/// What is around the machine while gdb looks at it.
pub trait Surroundings {
    /// Shows what the console shows.
    fn show(&mut self, bytes: &[u8]) -> Result<(), Failure>;
    /// What somebody has typed since the last call.
    fn typed(&mut self) -> Vec<Vec<u8>>;
    /// The name of the partition with this number to the processor.
    fn partition(&self, lpid: u32) -> Option<&str>;
    /// How many partitions there are.
    fn partitions(&self) -> usize;
    /// The programs whose files are known: whose each is, its path, and how far from where it is linked it lies.
    fn programs(&self) -> &[(String, String, u64)];
    /// Where the hypervisor has its vCPUs, if one runs whose image is at hand.
    fn layout(&self) -> Option<&Layout>;
}

/// Waits for gdb on this port of the host itself, and does what it asks for until it goes away or the machine ends. The
/// machine is then where it was furthest. `is_little_endian` says how gdb takes numbers.
pub fn serve<'a>(
    port: u16,
    history: History<'a>,
    is_little_endian: bool,
    surroundings: &'a mut (dyn Surroundings + 'a),
) -> Result<Parting, Failure> {
    let line = accept(port)?;
    let mut debugger = Debugger::new(history, is_little_endian, surroundings);
    let ended = GdbStub::new(line).run_blocking::<Events<'_>>(&mut debugger);
    let over = debugger.over.take();
    let parting = match ended {
        Ok(DisconnectReason::Kill) => Parting::Killed,
        Ok(DisconnectReason::TargetExited(_) | DisconnectReason::TargetTerminated(_)) => {
            over.map_or(Parting::Detached, Parting::Over)
        }
        Ok(DisconnectReason::Disconnect) => Parting::Detached,
        Err(error) if error.is_target_error() => {
            return Err(error.into_target_error().unwrap_or(Failure::INTERRUPTED));
        }
        Err(_) if INTERRUPTION.check().is_err() => return Err(Failure::INTERRUPTED),
        Err(error) => {
            say(format_args!("gdb went away ({error}); the run goes on"));
            Parting::Detached
        }
    };
    if parting == Parting::Detached {
        debugger.history.go_to_the_end();
    }
    debugger.history.stop_before(Vec::new());
    debugger.history.watch(Vec::new());
    Ok(parting)
}

fn accept(port: u16) -> Result<Line, Failure> {
    let wrong = |error: &io::Error| {
        let text = match error.kind() {
            io::ErrorKind::AddrInUse => {
                format!(
                    "somebody else has port {port}; name another one, or 0 for any that is free"
                )
            }
            _ => format!("port {port} cannot be used: {error}; name one above 1023"),
        };
        Failure::input("--gdb", text)
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| wrong(&error))?;
    listener.set_nonblocking(true).map_err(|error| wrong(&error))?;
    let port = listener.local_addr().map_err(|error| wrong(&error))?.port();
    say(format_args!(
        "waiting for gdb on port {port}: gdb-multiarch -ex 'target remote localhost:{port}'"
    ));
    loop {
        match listener.accept() {
            Ok((stream, _)) => return Line::new(stream).map_err(|error| wrong(&error)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                INTERRUPTION.check()?;
                thread::sleep(LOOK);
            }
            Err(error) => return Err(wrong(&error)),
        }
    }
}
