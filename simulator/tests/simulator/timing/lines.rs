//! Lines that several threads want: nothing about them is free, and nobody is left out.

use arch::instruction::Mnemonic as M;
use simulator::pipeline::Settings;
use simulator::{Machine, NoObserver};

use super::threads::boot_on;
use crate::support::Program;

/// Chips, cores of each, threads of each.
type Topology = [u32; 3];

const SEVERAL: [Topology; 5] = [[1, 1, 2], [1, 1, 4], [1, 2, 1], [1, 2, 2], [2, 1, 1]];

/// Goes on at the start of a line, as fetch depends on where code lies.
fn aligned(program: Program) -> Program {
    let words = (128 - program.0.len() % 128) / 4;
    program.many(words, |p, _| p.op(M::Ori, &[0, 0, 0]))
}

/// Adds one to the doubleword at r9 for ever; r20 counts how often.
fn count(program: Program) -> Program {
    aligned(program)
        .op(M::Ldarx, &[3, 0, 9, 0])
        .op(M::Addi, &[3, 3, 1])
        .op(M::Stdcx, &[3, 0, 9])
        .op(M::Bc, &[4, 2, -12, 0, 0])
        .op(M::Addi, &[20, 20, 1])
        .op(M::B, &[-20, 0, 0])
}

/// Takes a test-and-set lock and releases it for ever; r20 counts how often.
fn lock(program: Program) -> Program {
    aligned(program)
        .op(M::Addi, &[4, 0, 1])
        .op(M::Addi, &[5, 0, 0])
        .op(M::Lwarx, &[3, 0, 9, 0])
        .op(M::Cmpi, &[0, 0, 3, 0])
        .op(M::Bc, &[4, 2, -8, 0, 0])
        .op(M::Stwcx, &[4, 0, 9])
        .op(M::Bc, &[4, 2, -16, 0, 0])
        .op(M::Isync, &[])
        .op(M::Addi, &[20, 20, 1])
        .op(M::Sync, &[1])
        .op(M::Stw, &[5, 0, 9])
        .op(M::B, &[-36, 0, 0])
}

/// Ten additions for ever; r20 counts the rounds.
fn add(program: Program) -> Program {
    aligned(program)
        .many(10, |p, index| p.op(M::Add, &[10 + index as i64 % 8, 4, 5]))
        .op(M::Addi, &[20, 20, 1])
        .op(M::B, &[-44, 0, 0])
}

/// Stores into the line at r9 for ever.
fn store(program: Program) -> Program {
    aligned(program).op(M::Std, &[20, 0, 9]).op(M::Addi, &[20, 20, 1]).op(M::B, &[-8, 0, 0])
}

/// Loads the line at r9 for ever, each time after what it loaded; r20 counts how often.
fn load(program: Program) -> Program {
    aligned(program)
        .op(M::Ld, &[3, 0, 9])
        .op(M::Subf, &[3, 3, 3])
        .op(M::Add, &[9, 9, 3])
        .op(M::Addi, &[20, 20, 1])
        .op(M::B, &[-16, 0, 0])
}

/// Waits for the word at r9 to be 0, and sets it to 1; r20 counts how often.
fn ping(program: Program) -> Program {
    aligned(program)
        .op(M::Addi, &[5, 0, 1])
        .op(M::Lwz, &[4, 0, 9])
        .op(M::Cmpi, &[0, 0, 4, 0])
        .op(M::Bc, &[4, 2, -8, 0, 0])
        .op(M::Stw, &[5, 0, 9])
        .op(M::Addi, &[20, 20, 1])
        .op(M::B, &[-20, 0, 0])
}

/// The other way round.
fn pong(program: Program) -> Program {
    aligned(program)
        .op(M::Addi, &[5, 0, 0])
        .op(M::Lwz, &[4, 0, 9])
        .op(M::Cmpi, &[0, 0, 4, 0])
        .op(M::Bc, &[12, 2, -8, 0, 0])
        .op(M::Stw, &[5, 0, 9])
        .op(M::Addi, &[20, 20, 1])
        .op(M::B, &[-20, 0, 0])
}

type Work = fn(Program) -> Program;

/// How often each thread gets round while the first one's clock goes on by `cycles`, once all have begun.
fn rounds(topology: Topology, work: [Work; 2], quantum: u64, cycles: u64) -> Vec<f64> {
    let mut machine = boot_on(topology, work[0], work[1]);
    machine.start_timing(Settings { quantum, ..Settings::default() });
    let counts = |machine: &Machine| -> Vec<u64> {
        machine.state().threads.iter().map(|thread| thread.gpr[20]).collect()
    };
    let now = |machine: &Machine| {
        machine.state().threads.iter().map(|thread| thread.time.cycles()).max().unwrap()
    };
    let run = |machine: &mut Machine, cycles: u64| {
        let end = now(machine) + cycles;
        while now(machine) < end {
            let before = now(machine);
            machine.run(2000, &mut NoObserver);
            assert!(now(machine) > before, "{topology:?}: time stands still");
        }
    };
    run(&mut machine, 100_000);
    let (before, began) = (counts(&machine), now(&machine));
    run(&mut machine, cycles);
    let scale = cycles as f64 / (now(&machine) - began) as f64;
    counts(&machine).iter().zip(before).map(|(now, before)| (now - before) as f64 * scale).collect()
}

const CYCLES: u64 = 200_000;

/// Cycles in which one round of any thread is done.
fn cost(topology: Topology, work: [Work; 2]) -> f64 {
    CYCLES as f64 / rounds(topology, work, 100, CYCLES).iter().sum::<f64>()
}

#[test]
fn updates_of_one_doubleword_follow_each_other() {
    let cost = |topology| cost(topology, [count; 2]);
    let alone = cost([1, 1, 1]);
    let (core, pair) = (cost([1, 1, 2]), cost([1, 2, 1]));
    let (chip, chips) = (cost([1, 4, 1]), cost([2, 1, 1]));
    let all = format!("{alone} alone, {core} a core, {pair} a pair, {chip} a chip, {chips} chips");
    println!("{all}");
    // As long as a thread alone needs, and the line's way in between.
    assert!(core >= alone - 5.0 && cost([1, 1, 4]) >= alone - 5.0, "{all}");
    assert!(pair >= core + 10.0, "{all}");
    // Of four cores two and two are a pair.
    assert!(chip >= core + (15.5 + 285.0) / 2.0, "{all}");
    assert!(chips >= core + 570.0, "{all}");
}

#[test]
fn readers_of_a_line_in_a_storm_fetch_it_one_after_the_other() {
    for topology in [[1, 8, 1], [2, 4, 1]] {
        let mut machine = boot_on(topology, store, load);
        machine.run(60_000, &mut NoObserver);
        machine.start_timing(Settings::default());
        machine.run(60_000, &mut NoObserver);
        let timing = machine.timing().unwrap();
        let threads = &machine.state().threads;
        let fetches: u64 = threads.iter().map(|thread| timing.misses(thread.index).0.l2).sum();
        let elapsed = threads.iter().map(|thread| timing.elapsed(thread)).max().unwrap();
        // A line of another pair takes 35 ns at least.
        println!("{topology:?}: {fetches} in {elapsed}");
        assert!(fetches > 20 && fetches * 133 < elapsed + 2000, "{fetches} in {elapsed}");
    }
}

#[test]
fn equal_threads_get_equal_shares() {
    for topology in SEVERAL {
        for (name, work) in [("add", add as Work), ("count", count), ("lock", lock)] {
            let rounds = rounds(topology, [work; 2], 100, 2 * CYCLES);
            let mean = rounds.iter().sum::<f64>() / rounds.len() as f64;
            println!("{topology:?} {name}: {} a round, {rounds:?}", 2.0 * CYCLES as f64 / mean);
            let is_equal = |rounds: &f64| (rounds / mean - 1.0).abs() < 0.01;
            assert!(mean > 100.0 && rounds.iter().all(is_equal), "{topology:?} {name}: {rounds:?}");
        }
    }
}

#[test]
fn the_quantum_shows_nowhere() {
    for topology in [[1, 1, 2], [1, 2, 1], [1, 2, 2], [2, 1, 1]] {
        for work in [[count as Work; 2], [lock as Work; 2], [store, load], [ping, pong]] {
            let sums = [100, 50]
                .map(|quantum| rounds(topology, work, quantum, CYCLES).iter().sum::<f64>());
            println!("{topology:?}: {sums:?}");
            assert!((sums[0] / sums[1] - 1.0).abs() < 0.02, "{topology:?}: {sums:?}");
        }
    }
}

/// Loads, stores, atomic updates and barriers at random, on three doublewords of two lines; r20 is 1 at the end.
fn at_random(mut program: Program, seed: u64) -> Program {
    let mut state = seed;
    let mut random = |below: u64| {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        (state >> 33) % below
    };
    program = program.set(20, 0).set(11, 40).op(M::Mtspr, &[9, 11]);
    let start = program.0.len() as i64;
    for _ in 0..4 + random(16) {
        let place = [0, 8, 128][random(3) as usize];
        program = match random(8) {
            0 => program.op(M::Ld, &[3, place, 9]),
            1 => program.op(M::Std, &[3, place, 9]),
            2 => program.op(M::Sync, &[random(2) as i64]),
            3 => program.op(M::Isync, &[]),
            4 => program.op(M::Mulld, &[3, 3, 3]),
            // A reservation that nobody needs.
            5 => program.op(M::Addi, &[6, 0, place]).op(M::Ldarx, &[3, 6, 9, 0]),
            _ => program
                .op(M::Addi, &[6, 0, place])
                .op(M::Ldarx, &[3, 6, 9, 0])
                .op(M::Addi, &[3, 3, 1])
                .op(M::Stdcx, &[3, 6, 9])
                .op(M::Bc, &[4, 2, -12, 0, 0]),
        };
    }
    let back = start - program.0.len() as i64;
    program.op(M::Bc, &[16, 0, back, 0, 0]).op(M::Addi, &[20, 0, 1])
}

#[test]
fn programs_at_random_come_to_an_end() {
    for topology in [[1, 1, 2], [1, 1, 4], [1, 2, 1], [1, 4, 1], [1, 2, 2], [2, 1, 1], [2, 2, 2]] {
        for seed in 0..6 {
            let work = |number: u64| move |p| at_random(p, 2 * seed + number).op(M::B, &[0, 0, 0]);
            let mut machine = boot_on(topology, work(0), work(1));
            machine.start_timing(Settings::default());
            let is_over = |machine: &Machine| {
                machine.state().threads.iter().all(|thread| thread.gpr[20] == 1)
            };
            let mut steps = 0;
            while !is_over(&machine) {
                machine.run(5000, &mut NoObserver);
                steps += 5000;
                assert!(steps < 2_000_000, "{topology:?}, {seed}: no end");
            }
        }
    }
}
