//! `stop` in partitions: with the feature a vCPU waits in it without an exit, without it the hypervisor waits
//! for it, and either goes on when something is there for it, at whatever moment that comes.
//!
//! No QEMU judges this: it refuses every `stop` of a guest.

use std::collections::BTreeMap;

use arch::processor::Processor;
use arch::registers::psscr;
use arch::registers::spr::Spr;
use lab::on_simulator;
use lab::system::System;
use simulator::oracle::Fault;
use simulator::{Machine, NoObserver, Oracle, RunState};
use system_tests::containment::on_threads;
use system_tests::{record, system_of, systems};

/// Waits of the payload: those that it counts, and those before.
const WAITS: u64 = 20 + 10;

/// What the console says of a system that runs to its end, and how often the hypervisor was asked for a facility, by
/// partition.
fn run(system: &System) -> (String, BTreeMap<String, u64>) {
    let mut machine = on_simulator::start(system).unwrap_or_else(|failure| panic!("{failure}"));
    let state = machine.run(u64::MAX, &mut NoObserver);
    let console = machine.take_console_output();
    let text = String::from_utf8_lossy(&console).into_owned();
    assert!(matches!(state, RunState::PoweredOff), "{state:?}\n{text}");
    let mut refused = BTreeMap::new();
    for partition in record(&console).partitions {
        assert!(partition.is_well(), "{}: {}\n{text}", partition.name, partition.outcome);
        let of_door = |door| partition.counts[&format!("{door}_door_facility")];
        refused.insert(partition.name.clone(), of_door("virtual") + of_door("real"));
    }
    (text, refused)
}

#[test]
fn a_stop_takes_an_exit_for_each_sleep_where_the_partition_has_it_not() {
    let (_, system) = systems("examples/idle.toml").remove(0);
    for topology in [[1, 1, 1], [1, 1, 4], [1, 2, 2]] {
        let (text, refused) = run(&on_threads(system.clone(), topology));
        assert!(text.contains("[stops] idle: the partition has guest-stop"), "{text}");
        assert!(text.contains("[stops] idle: ipi, 20 samples, 0 spurious interrupts"), "{text}");
        assert!(text.contains("[emulated] idle: the partition has no guest-stop"), "{text}");
        assert!(text.contains("[emulated] idle: timer, 20 samples, 0 spurious"), "{text}");
        // The first `stop` of the vCPU that executes it, which the facility begins with. The other partition
        // has vCPUs that wait for the only hardware thread; then the hypervisor does it, the first one too.
        if topology == [1, 1, 1] {
            assert!((2..=1 + WAITS + 1).contains(&refused["stops"]), "{refused:?}");
        } else {
            // The other partition may still wait for the first one's thread when it stops first, and moves away.
            assert!((1..=2).contains(&refused["stops"]), "{topology:?}: {refused:?}");
        }
        assert_eq!(refused["emulated"], WAITS, "{topology:?}");
    }
}

/// A vCPU that has the feature waits in the hypervisor while others want the hardware thread, which they get at once.
#[test]
fn a_partition_that_stops_leaves_its_hardware_thread_to_others() {
    let system = system_of(
        "slice_us = 100\n[[partition]]\nname = \"stops\"\npayload = \"idle\"\nmemory = \"16 MiB\"\nvcpus = 1\n\
         features = { guest-stop = 1 }\narguments = \"test=timer state=stop samples=20 ticks=51200 chance=25600\"\n\
         [[partition]]\nname = \"works\"\npayload = \"fairness\"\nmemory = \"16 MiB\"\nvcpus = 1\n\
         arguments = \"time=4000 share=5000\"\n",
    );
    let mut machine = on_simulator::start(&system).unwrap_or_else(|failure| panic!("{failure}"));
    let state = machine.run(u64::MAX, &mut NoObserver);
    assert!(matches!(state, RunState::PoweredOff), "{state:?}");
    let console = machine.take_console_output();
    let text = String::from_utf8_lossy(&console);
    let ran = |name: &str| {
        let partitions = record(&console).partitions;
        let partition = partitions.iter().find(|partition| partition.name == name);
        partition.expect("it is there").counts["time_ran_us"]
    };
    // It sleeps for 100 to 150 us each time, 30 times; before, half of the 4000 us was its own.
    assert!(ran("stops") < 400, "{text}");
}

/// A vCPU that has the hardware thread for itself comes out every 131 ms, so that no doorbell that fails to interrupt
/// its guest, as QEMU's does, leaves others waiting for good.
#[test]
fn a_vcpu_that_nothing_calls_comes_out_all_the_same() {
    const WAITS: u64 = 2 + 10;
    const LONGEST_STAY: u64 = (1 << 26) - 1;
    let ticks = 3 * LONGEST_STAY / 2;
    let system = system_of(&format!(
        "[[partition]]\nname = \"stops\"\npayload = \"idle\"\nmemory = \"16 MiB\"\nvcpus = 1\n\
         features = {{ guest-stop = 1 }}\n\
         arguments = \"test=timer state=stop samples=2 ticks={ticks} chance=1\"\n",
    ));
    let mut machine = on_simulator::start(&system).unwrap_or_else(|failure| panic!("{failure}"));
    let state = machine.run(u64::MAX, &mut NoObserver);
    assert!(matches!(state, RunState::PoweredOff), "{state:?}");
    let console = machine.take_console_output();
    let exits = record(&console).partitions[0].counts["time_decrementer_exits"];
    let text = String::from_utf8_lossy(&console);
    assert!(text.contains("idle: timer, 2 samples, 0 spurious interrupts"), "{text}");
    // A wait of one and a half such stays has one in it, or two, by when the stay began.
    assert!((WAITS..=2 * WAITS).contains(&exits), "{exits} exits\n{text}");
}

/// What wakes the vCPU comes at every moment of its way into the `stop`, and out of the one before.
#[test]
fn no_wake_up_is_lost_whenever_it_comes() {
    for features in ["{ guest-stop = 1 }", "{}"] {
        for test in ["timer", "ipi"] {
            for seed in 1..=4 {
                let system = system_of(&format!(
                    "slice_us = 20\n[[partition]]\nname = \"idle\"\npayload = \"idle\"\nmemory = \"16 MiB\"\n\
                     vcpus = 2\nfeatures = {features}\n\
                     arguments = \"test={test} state=stop samples=240 ticks=1 chance=600 seed={seed}\"\n"
                ));
                let (text, _) = run(&on_threads(system, [1, 1, 2]));
                let line = format!("idle: {test}, 240 samples, 0 spurious interrupts");
                assert!(text.contains(&line), "{features} seed {seed}: {text}");
            }
        }
    }
}

/// What the hypervisor's own idleness leaves in PSSCR could let a guest's `stop` through, or to a deeper level: the
/// oracle sees it at the next entry, and nothing where `stop` only goes to the hypervisor.
#[test]
fn the_oracle_sees_a_stop_that_a_vcpu_does_not_have() {
    let system = system_of(
        "[[partition]]\nname = \"idle\"\npayload = \"idle\"\nmemory = \"16 MiB\"\nvcpus = 1\n\
         features = { guest-stop = 1 }\narguments = \"test=timer state=stop samples=20\"\n",
    );
    let in_guest = |machine: &Machine| !machine.state().threads[0].is_hypervisor();
    let is_given = |machine: &Machine| {
        let withheld = psscr::ESL | psscr::EC;
        machine.state().threads[0].spr(Spr::Psscr) & withheld == 0 && in_guest(machine)
    };
    let limit = psscr::PSLL.set(0, 1);
    for (waits, clear, set, is_fault) in [
        (false, 0, 0, false),
        (false, psscr::EC, 0, true),
        (false, psscr::EC, psscr::ESL, false),
        (true, 0, 0, false),
        (true, 0, psscr::EC, false),
        (true, 0, limit, true),
    ] {
        let mut machine =
            on_simulator::start(&system).unwrap_or_else(|failure| panic!("{failure}"));
        let mut oracle = Oracle::new(Processor::Power9);
        while !in_guest(&machine) || waits && !is_given(&machine) {
            assert!(matches!(machine.run(20, &mut oracle), RunState::Running));
        }
        // A hypercall, behind which it is entered again.
        while in_guest(&machine) {
            assert!(matches!(machine.run(20, &mut oracle), RunState::Running));
        }
        let thread = &mut machine.parts_mut().0[0];
        thread.set_spr(Spr::Psscr, thread.spr(Spr::Psscr) & !clear | set);
        machine.run(1_000_000, &mut oracle);
        let is_seen = oracle.findings().iter().any(|finding| finding.fault == Fault::Stop);
        let case = format!("given {waits}, without {clear:#x}, with {set:#x}");
        assert_eq!(is_seen, is_fault, "{case}: {:?}", oracle.findings());
    }
}

/// All levels, above the one that there is too, and all bits, of which a guest does not reach those that would
/// lose its state.
#[test]
fn whatever_a_guest_writes_to_psscr_its_stop_ends_and_loses_nothing() {
    let levels = (0..16).chain([0x3F0, 0x3FF, 0x30_0000, 0xF_0000, 0xF << 60, u64::MAX]);
    for written in levels {
        let text = format!(
            "[[partition]]\nname = \"idle\"\npayload = \"idle\"\nmemory = \"16 MiB\"\nvcpus = 1\n\
             features = {{ guest-stop = 1 }}\n\
             arguments = \"test=timer state=stop samples=20 ticks=600 psscr={written}\"\n"
        );
        let (text, refused) = run(&system_of(&text));
        assert!(text.contains("idle: timer, 20 samples, 0 spurious"), "{written:#x}: {text}");
        // The machine's switch `stop_above_psll_interrupts` sends levels above 0 to the hypervisor, which gives
        // the facility at the first `stop` and executes it again.
        let levels = psscr::MTL.mask() | psscr::RL.mask();
        let expected = if written & levels == 0 { 1 } else { 1 + WAITS };
        assert_eq!(refused["idle"], expected, "{written:#x}");
    }
}
