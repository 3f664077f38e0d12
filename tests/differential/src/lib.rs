//! The differential test of instruction semantics.
//!
//! Random valid words and random states are executed by the simulator's handlers
//! ([`simulator`](mod@simulator)) and by `qemu-ppc64le` and `qemu-ppc64` ([`qemu`]), an independent
//! reading of the architecture; all registers and the memory touched are compared. Known
//! disagreements are a list with reasons ([`disagreements`]).
//!
//! Only what problem state can do is covered, in 64-bit mode. A number and a seed decide everything.

pub mod case;
pub mod disagreements;
pub mod generate;
pub mod layout;
pub mod program;
pub mod qemu;
pub mod report;
pub mod simulator;
pub mod state;

mod access;
mod decimal;
mod findings;
mod floating_point;
mod values;
mod vector;
mod vector_scalar;

use std::sync::Mutex;

use arch::instruction::{Mnemonic, Operand, Privilege, Row, TABLE, Word};
use arch::processor::Processor;
use fastrand::Rng;

use case::Case;
use disagreements::{Difference, all};
use findings::{Findings, collect};
use generate::generate;
use qemu::{Answer, Qemu, QemuError};
use report::{Mismatch, Report, Side};
use simulator::{Simulator, Verdict};
use state::ByteOrder;

/// Which instructions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Scope {
    /// All that can be compared.
    All,
    /// Those without a floating-point operand.
    FixedPoint,
    /// Those with one, of binary floating point.
    FloatingPoint,
    /// Those of decimal floating point.
    DecimalFloatingPoint,
    /// Those with a vector or vector-scalar register.
    Vector,
    /// The one whose row has this name.
    Only(String),
}

impl Scope {
    fn includes(&self, row: &Row) -> bool {
        use Operand as O;
        let floats = [
            O::FRT,
            O::FRS,
            O::FRA,
            O::FRB,
            O::FRTp,
            O::FRSp,
            O::FRBp,
            O::FRAp,
            O::BF_fpscr,
            O::BT_fpscr,
        ];
        let has_float =
            row.mnemonic == Mnemonic::Mcrfs || row.operands.iter().any(|o| floats.contains(o));
        let has_vector = arch::instruction::vector_facility(Word(row.value)).is_some();
        match self {
            Self::All => true,
            Self::Vector => has_vector,
            Self::FixedPoint => !has_float && !has_vector,
            Self::FloatingPoint => has_float && !has_vector && !decimal::is_decimal(row.mnemonic),
            Self::DecimalFloatingPoint => decimal::is_decimal(row.mnemonic),
            Self::Only(name) => row.name == name,
        }
    }
}

/// What to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The processor on both sides.
    pub processor: Processor,
    /// Which instructions.
    pub scope: Scope,
    /// Cases for each instruction; [`USUAL_CASES`] and more can tell that a known disagreement is gone.
    pub cases: usize,
    /// Decides every case.
    pub seed: u64,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name is not in the table, or the instruction cannot be tested this way.
    #[error("no instruction {0} that can be compared with QEMU's user mode")]
    NoSuchInstruction(String),
    /// QEMU could not be asked.
    #[error(transparent)]
    Qemu(#[from] QemuError),
}

/// Cases for each instruction by default. Each entry of the list of disagreements occurs in so many.
pub const USUAL_CASES: usize = 300;

/// Instructions of problem state that cannot be compared: they leave the program, depend on time,
/// or are random by design.
const NOT_COMPARED: &[Mnemonic] = &[
    Mnemonic::Sc,
    Mnemonic::Scv,
    Mnemonic::Rfebb,
    Mnemonic::Wait,
    Mnemonic::Darn,
    Mnemonic::Mftb,
    Mnemonic::Clrbhrb,
    Mnemonic::Mfbhrbe,
];

/// How many of a batch's interrupts are compared with a signal at most; each costs a process.
const SIGNALS: usize = 10;
/// In a small batch, one for so many cases.
const CASES_OF_A_SIGNAL: usize = 15;
/// Cases in one guest program.
const BATCH: usize = 5000;

/// Whether a row's instruction can be compared: the processor's, in problem state, and no transaction,
/// which the machine does not have.
fn is_comparable(row: &Row, processor: Processor) -> bool {
    row.privilege == Privilege::Problem
        && row.processors.includes(processor)
        && !NOT_COMPARED.contains(&row.mnemonic)
        && !(Mnemonic::Tbegin..=Mnemonic::Tabortdci).contains(&row.mnemonic)
}

/// Runs the comparison, on as many host threads as the host has.
///
/// # Errors
/// [`Error`] if there is nothing to run or QEMU cannot be asked; mismatches are in the report.
pub fn run(options: &Options) -> Result<Report, Error> {
    let wanted = |row: &&Row| is_comparable(row, options.processor) && options.scope.includes(row);
    let rows: Vec<&'static Row> = TABLE.iter().filter(wanted).collect();
    if let (Scope::Only(name), []) = (&options.scope, rows.as_slice()) {
        return Err(Error::NoSuchInstruction(name.clone()));
    }
    let work = Mutex::new(rows.iter());
    let next = || work.lock().expect("no worker panics with the list in hand").next();
    let worker = || -> Result<Vec<Findings>, Error> {
        let mut bench = Bench::new(options.processor)?;
        std::iter::from_fn(next).map(|row| bench.compare(row, options)).collect()
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let findings = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Result<Vec<_>, _>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect::<Result<Vec<_>, _>>()
    })?;
    let mut findings: Vec<Findings> = findings.into_iter().flatten().collect();
    findings.sort_by_key(|found| found.tally.mnemonic);
    Ok(collect(findings, options.cases))
}

/// Both sides in both byte orders.
struct Bench {
    little: (Simulator, Qemu),
    big: (Simulator, Qemu),
}

impl Bench {
    fn new(processor: Processor) -> Result<Self, QemuError> {
        let pair = |order| {
            Ok::<_, QemuError>((Simulator::new(processor, order), Qemu::new(processor, order)?))
        };
        Ok(Self { little: pair(ByteOrder::Little)?, big: pair(ByteOrder::Big)? })
    }

    /// Compares one instruction, half of the cases in each byte order.
    fn compare(&mut self, row: &'static Row, options: &Options) -> Result<Findings, Error> {
        let mut findings = Findings::of(row.mnemonic);
        let mut rng = Rng::with_seed(options.seed ^ (row.mnemonic as u64) << 32);
        let big = options.cases / 2;
        for (order, count) in [(ByteOrder::Little, options.cases - big), (ByteOrder::Big, big)] {
            let mut left = count;
            while left > 0 && !findings.tally.is_not_modelled {
                let cases = (0..left.min(BATCH))
                    .map(|_| generate(row, options.processor, &mut rng))
                    .collect();
                left -= left.min(BATCH);
                self.batch(order, cases, &mut findings)?;
            }
        }
        Ok(findings)
    }

    /// Runs a batch on the simulator, and on QEMU what has a result there.
    fn batch(
        &mut self,
        order: ByteOrder,
        cases: Vec<Case>,
        findings: &mut Findings,
    ) -> Result<(), Error> {
        let (simulator, qemu) = match order {
            ByteOrder::Little => &mut self.little,
            ByteOrder::Big => &mut self.big,
        };
        let signals = SIGNALS.min(cases.len().div_ceil(CASES_OF_A_SIGNAL));
        let mut completed = Vec::new();
        let mut alone = Vec::new();
        for case in cases {
            match simulator.run(&case, first_address(&case)) {
                Verdict::Completed(_) if is_known_illegal(&case) => alone.push(case),
                Verdict::Completed(_) => completed.push(case),
                Verdict::Signal(_) => alone.push(case),
                Verdict::NotModelled => findings.tally.is_not_modelled = true,
                Verdict::NotComparable(reason) => {
                    findings.tally.not_comparable.0 += 1;
                    findings.tally.not_comparable.1.get_or_insert(reason);
                }
            }
        }
        // What does not complete ends the program, so it is asked alone.
        let batches = alone.chunks(1).take(signals).chain([completed.as_slice()]);
        for batch in batches {
            let answers = qemu.run(batch)?;
            for ((case, address), answer) in
                batch.iter().zip(program::addresses(batch)).zip(answers)
            {
                let ours = match simulator.run(case, address) {
                    Verdict::Completed(state) => Side::State(state),
                    Verdict::Signal(signal) => Side::Signal(signal),
                    verdict => unreachable!("{verdict:?}, but only at another address"),
                };
                let theirs = match answer {
                    Answer::Completed(state) => Side::State(state),
                    Answer::Signal(signal) => Side::Signal(signal),
                };
                let case = case.clone();
                findings.judge(Mismatch { case, order, address, ours, theirs });
            }
        }
        Ok(())
    }
}

/// Where a case's first word lies if there is no other case.
fn first_address(case: &Case) -> u64 {
    program::addresses(std::slice::from_ref(case))[0]
}

fn is_known_illegal(case: &Case) -> bool {
    let is_illegal = |difference| matches!(difference, Difference::Illegal);
    all().iter().any(|known| is_illegal(known.difference) && known.covers(case))
}
