//! What the threads of a core share, and hear of when one of them writes it.

use arch::instruction::Mnemonic;
use arch::opal::token;
use arch::processor::Processor;
use arch::registers::lpcr;
use arch::registers::spr::Spr;
use simulator::exec::spr::store;
use simulator::pipeline::Settings;
use simulator::state::thread::Activity;
use simulator::{Description, Machine, NoObserver};

use crate::support::{Program, changed, two_threads};

const ENTRY: u64 = 0x2000_0000;
const LPIDR: i64 = 319;

fn power8(description: &mut Description) {
    let text = include_str!("../../../machines/power8.toml");
    *description = changed(text, &[("threads_per_core = 1", "threads_per_core = 4")]);
}

/// A POWER9 whose threads share as those of a POWER8.
fn sharing_power9(description: &mut Description) {
    let text = include_str!("../../../machines/power9.toml");
    let switch = "[switches.threads_are_partitions]\nvalue =";
    let off = (format!("{switch} true"), format!("{switch} false"));
    let threads = ("threads_per_core = 1", "threads_per_core = 2");
    *description = changed(text, &[threads, (&off.0, &off.1)]);
}

/// Two threads of one core.
fn pair(main: Program, other: Program) -> Program {
    let start = |address| Program::default().opal(token::START_CPU, &[1, address]).0;
    let length = start(0).len() + main.0.len();
    let mut program = start(ENTRY + length as u64);
    program.extend(main.0);
    program.extend(other.0);
    Program(program)
}

/// Goes on after so many cycles, about.
fn later(cycles: i64) -> Program {
    Program::default()
        .op(Mnemonic::Addi, &[3, 0, cycles])
        .op(Mnemonic::Mtspr, &[9, 3])
        .op(Mnemonic::Bc, &[16, 0, 0, 0, 0])
}

/// The values of `spr` in all threads.
fn values(machine: &Machine, spr: Spr) -> Vec<u64> {
    machine.state().threads.iter().map(|thread| thread.spr(spr)).collect()
}

#[test]
fn a_sibling_reads_what_was_written_while_it_runs() {
    for is_timed in [false, true] {
        let main = later(5000).op(Mnemonic::Addi, &[4, 0, 5]).op(Mnemonic::Mtspr, &[LPIDR, 4]);
        // Counts in r6 how often it has read LPIDR.
        let other = Program::default()
            .op(Mnemonic::Addi, &[6, 0, 0])
            .op(Mnemonic::Mfspr, &[5, LPIDR])
            .op(Mnemonic::Addi, &[6, 6, 1])
            .op(Mnemonic::B, &[-8, 0, 0]);
        let program = pair(main.forever(), other);
        for (change, seen) in [(power8 as fn(&mut Description), 5), (two_threads, 0)] {
            let mut machine = Program(program.0.clone()).boot(change);
            if is_timed {
                machine.start_timing(Settings::default());
            }
            machine.run(60_000, &mut NoObserver);
            let threads = &machine.state().threads;
            assert_eq!(threads[0].spr(Spr::Lpidr), 5);
            assert_eq!(threads[1].gpr[5], seen, "timed: {is_timed}");
            assert!(threads[1].gpr[6] > 100);
            let restored = Machine::restore(&machine.snapshot()).unwrap();
            assert!(restored == machine);
        }
    }
}

#[test]
fn what_a_subcore_shares_every_thread_of_it_has() {
    let shared = [Spr::Sdr1, Spr::Rmor, Spr::Lpidr, Spr::Pcr, Spr::Vtb, Spr::Hdec];
    for spr in shared {
        let mut machine = Program::default().forever().boot(power8);
        let before = values(&machine, spr)[0];
        let (threads, parts) = machine.parts_mut();
        assert!(store(&mut threads[2], parts, spr, 0x77));
        // Who saves the machine before it has gone on saves it as it goes on.
        let saved = Machine::restore(&machine.snapshot()).unwrap();
        assert_eq!(values(&saved, spr), [0x77; 4], "{}", spr.name());
        assert_eq!(values(&machine, spr), [before, before, 0x77, before]);
        machine.run(1, &mut NoObserver);
        assert_eq!(values(&machine, spr), [0x77; 4], "{}", spr.name());
    }
    let mut machine = Program::default().forever().boot(power8);
    let (threads, parts) = machine.parts_mut();
    assert!(store(&mut threads[2], parts, Spr::Lpcr, 0x77));
    machine.run(1, &mut NoObserver);
    assert_ne!(values(&machine, Spr::Lpcr)[0], 0x77, "each thread has its own");
}

#[test]
fn a_subcore_shares_nothing_with_another() {
    let split = Processor::Power8.facts().hid0.split.unwrap();
    for way in split.ways {
        let mut machine = Program::default().forever().boot(|description| {
            let text = include_str!("../../../machines/power8.toml");
            *description = changed(text, &[("threads_per_core = 1", "threads_per_core = 8")]);
        });
        let (threads, parts) = machine.parts_mut();
        parts.cores[0].set_spr(Spr::Hid0, way.status);
        assert!(store(&mut threads[5], parts, Spr::Lpidr, 0x77));
        machine.run(1, &mut NoObserver);
        let expected = if way.subcores == 2 { 4..8 } else { 4..6 };
        let found = values(&machine, Spr::Lpidr).into_iter();
        let found: Vec<_> = found.enumerate().filter(|&(_, value)| value == 0x77).collect();
        assert!(found.iter().map(|(thread, _)| *thread).eq(expected), "{found:?}");
    }
}

#[test]
fn each_thread_of_a_power9_has_its_own() {
    for spr in [Spr::Lpidr, Spr::Pcr, Spr::Vtb, Spr::Hdec] {
        let mut machine = Program::default().forever().boot(two_threads);
        let before = values(&machine, spr)[0];
        let (threads, parts) = machine.parts_mut();
        assert!(store(&mut threads[1], parts, spr, 0x77));
        machine.run(1, &mut NoObserver);
        assert_eq!(values(&machine, spr), [before, 0x77], "{}", spr.name());
    }
}

/// KVM writes a partition's time base on one thread of a POWER9, while another one is the host's.
#[test]
fn a_time_base_is_a_core_s_on_power8_and_a_thread_s_on_power9() {
    const FAR: u64 = 0x1000_0000;
    let main = later(5000).op(Mnemonic::Addis, &[4, 0, 0x1000]).op(Mnemonic::Mtspr, &[286, 4]);
    let other = Program::default().op(Mnemonic::Mfspr, &[5, 268]).op(Mnemonic::B, &[-4, 0, 0]);
    let program = pair(main.op(Mnemonic::Mfspr, &[5, 268]).forever(), other);
    for (change, is_shared) in [(power8 as fn(&mut Description), true), (two_threads, false)] {
        let mut machine = Program(program.0.clone()).boot(change);
        machine.run(60_000, &mut NoObserver);
        let [written, seen] = [0, 1].map(|thread| machine.state().threads[thread].gpr[5]);
        assert!((FAR..2 * FAR).contains(&written), "{written:#x}");
        assert_eq!(seen >= FAR, is_shared, "{seen:#x}");
        assert!(seen > 0);
    }
}

#[test]
fn a_write_of_the_hypervisors_decrementer_moves_when_a_sibling_wakes() {
    let main = later(5000)
        .op(Mnemonic::Addi, &[4, 0, 1000])
        .op(Mnemonic::Mtspr, &[310, 4])
        .op(Mnemonic::Mfspr, &[10, 268]);
    let other = Program::default()
        .set(3, lpcr::HDICE)
        .op(Mnemonic::Mtspr, &[318, 3])
        .set(3, 0x7FFF_FFFF)
        .op(Mnemonic::Mtspr, &[22, 3])
        .op(Mnemonic::Wait, &[0])
        .op(Mnemonic::Mfspr, &[11, 268]);
    let program = pair(main.forever(), other.forever());
    let mut machine = Program(program.0.clone()).boot(sharing_power9);
    machine.run(60_000, &mut NoObserver);
    let threads = &machine.state().threads;
    let [written, woken] = [threads[0].gpr[10], threads[1].gpr[11]];
    assert!((1000..1300).contains(&woken.wrapping_sub(written)), "{written} {woken}");
    let mut machine = program.boot(two_threads);
    machine.run(60_000, &mut NoObserver);
    assert_eq!(machine.state().threads[1].activity, Activity::Waiting, "its own is far");
}
