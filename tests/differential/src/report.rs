//! What a run found, and how it is printed.

use std::fmt;

use arch::instruction::{Mnemonic, Operand, disassemble};

use crate::case::Case;
use crate::state::{ByteOrder, State, register_name};

/// What one side says of a case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Side {
    /// The final state.
    State(Box<State>),
    /// A signal instead.
    Signal(i32),
}

/// A case in which the simulator and QEMU differ, with everything to reproduce it.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// The case.
    pub case: Case,
    /// Byte order of the program.
    pub order: ByteOrder,
    /// Where the first word was.
    pub address: u64,
    /// The simulator's side.
    pub ours: Side,
    /// QEMU's side.
    pub theirs: Side,
}

/// What was done for one instruction.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Which.
    pub mnemonic: Mnemonic,
    /// Cases whose final states were compared.
    pub compared: usize,
    /// Cases with an interrupt that was compared with QEMU's signal.
    pub signals: usize,
    /// Cases with differences that the list explains.
    pub known: usize,
    /// Cases that could not be compared, with one reason.
    pub not_comparable: (usize, Option<String>),
    /// Whether the simulator does not model the instruction.
    pub is_not_modelled: bool,
    /// Cases that differ.
    pub mismatches: usize,
}

impl Tally {
    /// Whether the instruction is modelled and yet most of its cases could not be compared.
    #[must_use]
    pub fn is_untested(&self) -> bool {
        let compared = self.compared + self.signals;
        !self.is_not_modelled && (compared == 0 || compared < self.not_comparable.0)
    }
}

/// What a run found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// One for each instruction.
    pub tallies: Vec<Tally>,
    /// The first few mismatches of each instruction.
    pub mismatches: Vec<Mismatch>,
    /// The list of known disagreements: reason, and cases that it explained.
    pub known: Vec<(&'static str, usize)>,
    /// Entries of the list that explained nothing although there were cases enough.
    pub stale: Vec<&'static str>,
    /// Entries that explained nothing of the few cases that there were.
    pub unseen: Vec<&'static str>,
}

impl Report {
    /// Whether nothing is unexplained: no mismatch, no stale entry, no modelled instruction of which
    /// most could not be compared.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let is_good = |tally: &Tally| tally.mismatches == 0 && !tally.is_untested();
        self.tallies.iter().all(is_good) && self.stale.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for mismatch in &self.mismatches {
            writeln!(f, "{mismatch}")?;
        }
        let sum = |count: fn(&Tally) -> usize| self.tallies.iter().map(count).sum::<usize>();
        let (modelled, missing): (Vec<&Tally>, Vec<_>) =
            self.tallies.iter().partition(|tally| !tally.is_not_modelled);
        writeln!(
            f,
            "{} instructions, {} final states and {} interrupts compared, {} mismatches",
            modelled.len(),
            sum(|tally| tally.compared),
            sum(|tally| tally.signals),
            sum(|tally| tally.mismatches),
        )?;
        for tally in &modelled {
            let name = tally.mnemonic.row().name;
            if tally.mismatches != 0 {
                writeln!(f, "  {name}: {} mismatches", tally.mismatches)?;
            }
            if tally.is_untested() {
                let (cases, reason) = &tally.not_comparable;
                let reason = reason.as_deref().unwrap_or("no case was tried");
                writeln!(f, "  {name}: {cases} cases could not be compared: {reason}")?;
            }
        }
        writeln!(f, "known disagreements, with the cases that they explain:")?;
        for (reason, cases) in &self.known {
            writeln!(f, "  {cases}: {reason}")?;
        }
        for reason in &self.unseen {
            writeln!(f, "  did not occur in so few cases: {reason}")?;
        }
        for reason in &self.stale {
            writeln!(f, "  no longer occurs: {reason}")?;
        }
        let names: Vec<&str> = missing.iter().map(|tally| tally.mnemonic.row().name).collect();
        if !names.is_empty() {
            writeln!(f, "not modelled: {}", names.join(" "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = self.case.start.registers();
        writeln!(f, "MISMATCH, {:?}-endian:", self.order)?;
        for (index, word) in self.case.words.iter().enumerate() {
            let address = self.address + 4 * index as u64;
            writeln!(f, "  {address:#x}: {:08x}  {}", word.0, disassemble(*word, address))?;
        }
        write!(f, "  from")?;
        for (index, value) in start.iter().enumerate().take(39) {
            let separator = if index % 4 == 0 { "\n    " } else { "  " };
            write!(f, "{separator}{:>6} {value:016x}", register_name(index))?;
        }
        writeln!(f)?;
        for register in vector_operands(&self.case) {
            let [high, low] = self.case.start.vsr[register];
            writeln!(f, "    {:>6} {high:016x} {low:016x}", format!("vs{register}"))?;
        }
        let sides = [("simulator", &self.ours), ("QEMU", &self.theirs)];
        for (name, side) in sides {
            if let Side::Signal(signal) = side {
                writeln!(f, "  {name}: signal {signal}")?;
            }
        }
        let states = sides.map(|(name, side)| match side {
            Side::State(state) => Some((name, state)),
            Side::Signal(_) => None,
        });
        if let [Some((_, ours)), Some((_, theirs))] = states {
            let pairs = ours.registers().into_iter().zip(theirs.registers());
            for (index, (ours, theirs)) in pairs.enumerate().filter(|(_, (a, b))| a != b) {
                let (name, before) = (register_name(index), start[index]);
                writeln!(
                    f,
                    "  {name}: {before:016x} -> simulator {ours:016x}, QEMU {theirs:016x}"
                )?;
            }
            let bytes = ours.window.iter().zip(&theirs.window).enumerate();
            for (offset, (ours, theirs)) in bytes.filter(|(_, (a, b))| a != b) {
                let address = crate::layout::WINDOW + offset as u64;
                let before = self.case.start.window[offset];
                writeln!(
                    f,
                    "  byte {address:#x}: {before:02x} -> simulator {ours:02x}, QEMU {theirs:02x}"
                )?;
            }
        } else {
            for (name, state) in states.into_iter().flatten() {
                let after = state.registers();
                writeln!(f, "  {name}: completed")?;
                for (index, (before, after)) in start.iter().zip(after).enumerate() {
                    if *before != after {
                        writeln!(f, "    {}: {before:016x} -> {after:016x}", register_name(index))?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The VSRs that are operands of the instruction under test.
fn vector_operands(case: &Case) -> Vec<usize> {
    use Operand as O;
    let number = |operand: &Operand| {
        let field = operand.extract(case.word()) as usize;
        match operand {
            O::XT | O::XS | O::XA | O::XB | O::XC | O::XT_dq | O::XS_dq => Some(field),
            O::VRT | O::VRS | O::VRA | O::VRB | O::VRC => Some(32 + field),
            _ => None,
        }
    };
    case.mnemonic.row().operands.iter().filter_map(number).collect()
}
