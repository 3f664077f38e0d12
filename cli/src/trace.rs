//! `--trace`: a line for each exit of a partition, or for each instruction too.
//!
//! A line is: simulated seconds, hardware thread, LPID, the partition's name, what happened, and what
//! the processor recorded about it as `NAME value`. Which vCPU ran is the hypervisor's knowledge, not
//! the processor's, and so it is not said. An observer: it changes nothing.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

use arch::instruction::{Word, disassemble};
use arch::interrupt::{SaveRestore, Vector};
use arch::papr::Hypercall;
use arch::registers::hfscr::{Facility, INTERRUPT_CAUSE};
use arch::registers::spr::Spr;
use arch::registers::{lpcr, msr};
use simulator::Observer;
use simulator::blocks::Op;
use simulator::exec::Mode;
use simulator::interrupt::Taken;
use simulator::ledger::Clock;
use simulator::shared::Shared;
use simulator::thread::Thread;

use crate::failure::Failure;
use crate::output::full;

/// Writes a line for each exit, and for each completed instruction if `INSTRUCTIONS`.
pub struct Trace<const INSTRUCTIONS: bool> {
    out: BufWriter<Box<dyn Write + Send>>,
    place: String,
    clock: Clock,
    partitions: Vec<String>,
    /// The first failure to write; nothing is written after it.
    failed: Option<io::Error>,
}

impl<const INSTRUCTIONS: bool> std::fmt::Debug for Trace<INSTRUCTIONS> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trace").field("place", &self.place).finish_non_exhaustive()
    }
}

impl<const INSTRUCTIONS: bool> Trace<INSTRUCTIONS> {
    /// Writes to a file, or to standard error. `partitions` are named by LPID, the first has 1.
    pub fn new(path: Option<&Path>, clock: Clock, partitions: &[String]) -> Result<Self, Failure> {
        let (place, out): (_, Box<dyn Write + Send>) = match path {
            None => ("standard error".to_owned(), Box::new(io::stderr())),
            Some(path) => {
                let place = path.display().to_string();
                let file = File::create(path).map_err(|error| full(&place, &error))?;
                (place, Box::new(file))
            }
        };
        let partitions = partitions.to_vec();
        Ok(Self { out: BufWriter::new(out), place, clock, partitions, failed: None })
    }

    /// Writes out what is buffered. Fails if anything could not be written.
    pub fn flush(&mut self) -> Result<(), Failure> {
        let flushed = match self.failed.take() {
            None => self.out.flush(),
            Some(error) => Err(error),
        };
        flushed.map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => full(&self.place, &error),
        })
    }

    fn line(&mut self, thread: &Thread, is_guest: bool, text: &str) {
        if self.failed.is_some() {
            return;
        }
        let seconds = thread.time_now().cycles() as f64 / self.clock.core_hz as f64;
        let lpid = thread.spr(Spr::Lpidr);
        let name = match (is_guest, lpid.checked_sub(1)) {
            (true, Some(index)) => self.partitions.get(index as usize).map_or("-", String::as_str),
            _ => "-",
        };
        let pir = thread.spr(Spr::Pir);
        let written = writeln!(self.out, "{seconds:.9} thread {pir:#x} lpid {lpid} {name} {text}");
        self.failed = written.err();
    }
}

impl<const INSTRUCTIONS: bool> Observer for Trace<INSTRUCTIONS> {
    const SEES_INSTRUCTIONS: bool = INSTRUCTIONS;

    fn completed(&mut self, thread: &Thread, op: &Op, mode: Mode) {
        let state = if mode.is_hypervisor() { "hypervisor" } else { "guest" };
        let (address, word) = (thread.cia, op.word);
        let text = format!("{state} {address:#018x} {:08x} {}", word.0, disassemble(word, address));
        self.line(thread, !mode.is_hypervisor(), &text);
    }

    fn interrupted(&mut self, thread: &Thread, _: &Shared, taken: Taken) {
        if taken.is_exit() {
            self.line(thread, true, &exit(thread, taken));
        }
    }
}

/// What happened, from the registers that the exit has just written.
fn exit(thread: &Thread, taken: Taken) -> String {
    let vector = taken.vector;
    let door = if taken.to_msr & msr::IR != 0 { "virtual" } else { "real" };
    let lpes = thread.spr(Spr::Lpcr) & lpcr::LPES != 0;
    let (address, status) = match vector.save_restore_with(lpes) {
        SaveRestore::Srr => (Spr::Srr0, Spr::Srr1),
        SaveRestore::Hsrr => (Spr::Hsrr0, Spr::Hsrr1),
    };
    let address = thread.spr(address);
    let mut text = format!(
        "exit {:#05x} {} {door} at {address:#018x}",
        vector.offset(),
        dashed(vector.name())
    );
    let mut add = |name: &str, value: u64| {
        write!(text, " {name} {value:#x}").expect("a string takes everything");
    };
    match vector {
        Vector::SystemCall => {
            let number = thread.gpr[3];
            let name = Hypercall::from_number(number).map_or("unknown", Hypercall::name);
            add(name, number);
            for register in 4..=7 {
                add(&format!("r{register}"), thread.gpr[register]);
            }
        }
        Vector::HypervisorDataStorage => {
            add("HDAR", thread.spr(Spr::Hdar));
            add("HDSISR", thread.spr(Spr::Hdsisr));
            add("ASDR", thread.spr(Spr::Asdr));
        }
        Vector::HypervisorInstructionStorage => {
            add("HSRR1", thread.spr(status));
            add("ASDR", thread.spr(Spr::Asdr));
        }
        Vector::HypervisorEmulationAssistance => {
            let image = thread.spr(Spr::Heir);
            add("HEIR", image);
            let instruction = disassemble(Word(image as u32), address);
            write!(text, " {instruction}").expect("a string takes everything");
        }
        Vector::HypervisorFacilityUnavailable => {
            let hfscr = thread.spr(Spr::Hfscr);
            add("HFSCR", hfscr);
            if let Some(facility) = Facility::from_cause(INTERRUPT_CAUSE.get(hfscr)) {
                write!(text, " {facility:?}").expect("a string takes everything");
            }
        }
        _ => add(if status_is_hypervisors(status) { "HSRR1" } else { "SRR1" }, thread.spr(status)),
    }
    text
}

fn status_is_hypervisors(status: Spr) -> bool {
    status == Spr::Hsrr1
}

/// A name as one word, so that the columns of a line can be counted.
fn dashed(name: &str) -> String {
    name.to_lowercase().replace(' ', "-")
}
