//! `--trace`: a line for each exit of a partition, or for each instruction too.
//!
//! A line is: simulated seconds, hardware thread, LPID, the partition's name, what happened, and what
//! the processor recorded about it as `NAME value`. Which vCPU ran is the hypervisor's knowledge, not
//! the processor's, and so it is not said. An observer: it changes nothing.
//!
//! [`lines`] writes, [`listing`] has the instructions as text.

mod lines;
mod listing;

use std::fmt::Write as _;
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
use simulator::state::shared::Shared;
use simulator::state::thread::Thread;

use lines::Lines;
use listing::Listing;

use crate::failure::Failure;

/// Writes a line for each exit, and for each completed instruction if `INSTRUCTIONS`.
pub struct Trace<const INSTRUCTIONS: bool> {
    lines: Lines,
    listing: Listing,
}

impl<const INSTRUCTIONS: bool> std::fmt::Debug for Trace<INSTRUCTIONS> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trace").finish_non_exhaustive()
    }
}

impl<const INSTRUCTIONS: bool> Trace<INSTRUCTIONS> {
    /// Writes to a file, or to standard error. `partitions` are named by LPID, the first has 1.
    pub fn new(path: Option<&Path>, clock: Clock, partitions: &[String]) -> Result<Self, Failure> {
        Ok(Self { lines: Lines::new(path, clock, partitions)?, listing: Listing::new() })
    }

    /// Writes out what is buffered. Fails if anything could not be written.
    pub fn flush(&mut self) -> Result<(), Failure> {
        self.lines.flush()
    }
}

impl<const INSTRUCTIONS: bool> Observer for Trace<INSTRUCTIONS> {
    const SEES_INSTRUCTIONS: bool = INSTRUCTIONS;

    fn completed(&mut self, thread: &Thread, op: &Op, mode: Mode) {
        let is_hypervisor = mode.is_hypervisor();
        let text = self.listing.text(thread.cia, op.word, is_hypervisor);
        self.lines.line(thread, !is_hypervisor, text);
    }

    fn interrupted(&mut self, thread: &Thread, _: &Shared, taken: Taken) {
        if taken.is_exit() {
            self.lines.line(thread, true, exit(thread, taken).as_bytes());
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
