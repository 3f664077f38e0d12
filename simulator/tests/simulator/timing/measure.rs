//! How a program's cycles are taken: between marks, with caches and predictors warm.

use arch::instruction::Mnemonic as M;
use arch::marker::{Mark, Region};
use simulator::exec::Mode;
use simulator::pipeline::Settings;
use simulator::state::thread::Thread;
use simulator::{Machine, Observer, RunState, blocks::Op};

use crate::support::Program;

pub(crate) const REGION: Region = Region::new(1).unwrap();

/// Data that programs load and store: r9 has its address.
pub(crate) const DATA: u64 = 0x200_0000;

/// The cycles at which marks were passed.
#[derive(Default)]
pub(crate) struct Marks(pub(crate) Vec<u64>);

impl Observer for Marks {
    const SEES_INSTRUCTIONS: bool = true;

    fn completed(&mut self, thread: &Thread, op: &Op, _: Mode) {
        if Mark::from_word(op.word).is_some() {
            self.0.push(thread.time.cycles());
        }
    }
}

impl Program {
    /// A mark with nothing in flight on either side.
    pub(crate) fn mark(self) -> Self {
        self.op(M::Sync, &[0]).word(Mark::Begin(REGION).word())
    }

    /// `body` so many times, with the number of each.
    pub(crate) fn many(mut self, count: usize, body: impl Fn(Self, usize) -> Self) -> Self {
        for index in 0..count {
            self = body(self, index);
        }
        self
    }

    /// `body` in a loop of `rounds` rounds.
    pub(crate) fn rounds(self, rounds: u64, body: impl Fn(Self) -> Self) -> Self {
        let program = self.set(31, rounds).op(M::Mtspr, &[9, 31]);
        let start = program.0.len() as i64;
        let program = body(program);
        let back = start - program.0.len() as i64;
        program.op(M::Bc, &[16, 0, back, 0, 0])
    }

    /// Cycles between the program's two marks.
    pub(crate) fn cycles(self) -> u64 {
        self.cycles_with(Settings::default())
    }

    /// The same, timed as `settings` say.
    pub(crate) fn cycles_with(self, settings: Settings) -> u64 {
        let mut machine = self.forever().boot(|description| {
            description.set_watchdog_instructions(10_000_000);
        });
        machine.start_timing(settings);
        between_marks(&mut machine)
    }
}

/// Runs to the second mark and gives the cycles since the first.
pub(crate) fn between_marks(machine: &mut Machine) -> u64 {
    let mut marks = Marks::default();
    while marks.0.len() < 2 {
        assert!(matches!(machine.run(1000, &mut marks), RunState::Running));
    }
    marks.0[1] - marks.0[0]
}

/// Cycles of a round of a loop around `body`, once it is warm.
pub(crate) fn round(body: impl Fn(Program) -> Program) -> f64 {
    round_after(|program| program, body)
}

fn round_after(begin: impl Fn(Program) -> Program, body: impl Fn(Program) -> Program) -> f64 {
    const ROUNDS: u64 = 200;
    let run = |rounds| {
        let program = begin(Program::default()).set(9, DATA).op(M::Std, &[9, 0, 9]);
        program.mark().rounds(rounds, &body).mark().cycles() as f64
    };
    (run(2 * ROUNDS) - run(ROUNDS)) / ROUNDS as f64
}

/// Cycles of `body`, of which many follow each other.
pub(crate) fn each(body: impl Fn(Program, usize) -> Program) -> f64 {
    each_after(|program| program, body)
}

/// The same in the state that `begin` leaves.
pub(crate) fn each_after(
    begin: impl Fn(Program) -> Program,
    body: impl Fn(Program, usize) -> Program,
) -> f64 {
    const COUNT: usize = 60;
    let run = |count| round_after(&begin, |program| program.many(count, &body));
    (run(2 * COUNT) - run(COUNT)) / COUNT as f64
}
