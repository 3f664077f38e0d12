//! The timing model against published figures and its own promises, with small programs.
//!
//! Figures are of POWER9; which of them the model takes as a parameter and which follow from others is
//! said at each.

mod support;

use arch::instruction::Mnemonic as M;
use arch::marker::{Mark, Region};
use simulator::core::Settings;
use simulator::exec::Mode;
use simulator::thread::Thread;
use simulator::{Machine, Observer, RunState, blocks::Op};
use support::Program;

const REGION: Region = Region::new(1).unwrap();

/// The cycles at which marks were passed.
#[derive(Default)]
struct Marks(Vec<u64>);

impl Observer for Marks {
    const SEES_INSTRUCTIONS: bool = true;

    fn completed(&mut self, thread: &Thread, op: &Op, _: Mode) {
        if Mark::from_word(op.word).is_some() {
            self.0.push(thread.time.cycles());
        }
    }
}

impl Program {
    fn mark(self) -> Self {
        // Nothing is in flight on either side.
        self.op(M::Sync, &[0]).word(Mark::Begin(REGION).word())
    }

    fn many(mut self, count: usize, body: impl Fn(Self, usize) -> Self) -> Self {
        for index in 0..count {
            self = body(self, index);
        }
        self
    }

    /// `body` in a loop of `count` rounds, measured from its second round on.
    fn measured(self, count: u64, body: impl Fn(Self) -> Self) -> Self {
        let mut program = self.set(31, count).op(M::Mtspr, &[9, 31]);
        for is_last in [false, true] {
            let rounds = if is_last { count } else { 2 };
            program = program.set(31, rounds).op(M::Mtspr, &[9, 31]);
            if is_last {
                program = program.mark();
            }
            let start = program.0.len();
            program = body(program);
            let back = start as i64 - program.0.len() as i64;
            program = program.op(M::Bc, &[16, 0, back, 0, 0]);
        }
        program.mark()
    }

    /// Cycles between the program's two marks.
    fn cycles(self) -> u64 {
        self.timed().0
    }

    fn timed(self) -> (u64, Machine) {
        let mut machine = self.forever().boot(|_| {});
        machine.start_timing(Settings::default());
        let mut marks = Marks::default();
        while marks.0.len() < 2 {
            assert!(matches!(machine.run(1000, &mut marks), RunState::Running));
        }
        let [begin, end] = marks.0[..] else { panic!("two marks") };
        (end - begin, machine)
    }
}

/// Cycles of `count` times `body` in a straight line, one after the other, each.
fn each(count: usize, body: impl Fn(Program, usize) -> Program) -> f64 {
    let run = |times: usize| {
        let begin = Program::default().set(9, 0x200_0000).op(M::Std, &[9, 0, 9]).mark();
        begin.many(times, &body).mark().cycles() as f64
    };
    (run(2 * count) - run(count)) / count as f64
}

/// Cycles of a round of a loop.
fn round(body: impl Fn(Program) -> Program) -> f64 {
    let run = |count| Program::default().set(9, 0x200_0000).measured(count, &body).cycles() as f64;
    (run(2000) - run(1000)) / 1000.0
}

#[test]
fn show() {
    let chain = each(200, |p, _| p.op(M::Add, &[3, 3, 4]));
    let wide = each(400, |p, i| p.op(M::Add, &[3 + i as i64 % 5, 20, 21]));
    let nops = each(600, |p, _| p.op(M::Ori, &[0, 0, 0]));
    let loads = each(200, |p, _| p.op(M::Ld, &[9, 0, 9]));
    let mftb = each(50, |p, _| p.op(M::Mfspr, &[3, 268]));
    println!("chain {chain} wide {wide} nops {nops} loads {loads} mftb {mftb}");
    let grouped = each(10, |p, _| {
        p.many(4, |p, _| p.op(M::Mfspr, &[3, 272])).many(4, |p, _| p.op(M::Mtspr, &[272, 4]))
    });
    let mixed =
        each(10, |p, _| p.many(4, |p, _| p.op(M::Mfspr, &[3, 272]).op(M::Mtspr, &[272, 4])));
    println!("grouped {grouped} mixed {mixed}");
    let tiny = round(|p| p);
    let forward = each(200, |p, _| p.op(M::B, &[8, 0, 0]).op(M::Ori, &[0, 0, 0]));
    println!("tiny {tiny} forward {forward}");
    let larx =
        round(|p| p.op(M::Ldarx, &[3, 0, 9, 0]).op(M::Addi, &[3, 3, 1]).op(M::Stdcx, &[3, 0, 9]));
    let ld = round(|p| p.op(M::Ld, &[3, 0, 9]).op(M::Addi, &[3, 3, 1]).op(M::Std, &[3, 0, 9]));
    println!("larx {larx} ld {ld}");
}
