//! Whatever makes a vCPU leave, it goes on with what it may go on with, and nobody sees what is
//! another's: the oracle watches all systems of the tests, and a storm of random exits.

use arch::bundle::RegisterPolicy;
use arch::excess::Excess;
use arch::interrupt::Vector;
use arch::processor::Processor;
use arch::registers::spr::Spr;
use lab::on_simulator;
use lab::system::System;
use simulator::oracle::Seen;
use simulator::oracle::register::Register;
use simulator::{Oracle, RunState};
use system_tests::containment::{self, on_threads};
use system_tests::{all_systems, changed_system, number_from, on_each, run_watched, storm};

/// Runs the system to its end; the oracle must have nothing to say.
fn watch(name: &str, system: &System) -> Seen {
    let mut oracle = Oracle::new(Processor::Power9);
    let state = run_watched(system, &mut oracle);
    assert!(matches!(state, RunState::PoweredOff), "{name}: {state:?}");
    let findings: Vec<String> = oracle.findings().iter().map(ToString::to_string).collect();
    assert_eq!(oracle.all_findings(), 0, "{name}:\n{}", findings.join("\n"));
    oracle.seen().clone()
}

#[test]
fn every_vcpu_goes_on_with_what_is_its_own() {
    on_each(all_systems(), |(name, system)| {
        assert!(watch(&name, &system).entries > 0, "{name}");
    });
}

/// Two partitions use vectors, beside one that does not; QEMU enforces no HFSCR, so that it has no say.
#[test]
fn vectors_stay_with_the_vcpu_that_uses_them() {
    for topology in [[1, 1, 1], [1, 1, 2]] {
        let changes = [("seed=1", "seed=1 vectors=1"), ("seed=2", "seed=2 vectors=1")];
        let system = on_threads(changed_system("examples/registers.toml", &changes), topology);
        let (transcript, findings) = containment::watched(&system);
        let console = transcript.lines().join("\n");
        assert_eq!(findings, [""; 0], "{topology:?}: {console}");
        for name in ["first", "second", "third"] {
            let line = format!("[{name}] registers: 200 rounds, 0 wrong");
            assert!(console.contains(&line), "{topology:?}: {console}");
            let line =
                console.lines().find(|line| line.contains(&format!("summary: partition {name}")));
            // Floating point, with vectors or without them, DSCR and TAR.
            let facility = "facility 3,";
            assert!(line.is_some_and(|line| line.contains(facility)), "{topology:?}: {console}");
        }
    }
}

/// The same registers, wherever they go when a vCPU gives up the processor, and whoever takes it then.
#[test]
fn every_policy_for_registers_keeps_them() {
    let without = Excess::ALL.map(|excess| format!("\"{}\"", excess.name())).join(", ");
    let lean = format!("registers = \"eager\", without = [{without}]");
    let policies = RegisterPolicy::ALL.map(|policy| format!("registers = \"{}\"", policy.name()));
    for policy in policies.into_iter().chain([lean]) {
        let policy = format!("policy = {{ {policy} }}\n\n[[partition]]");
        for topology in [[1, 1, 1], [1, 2, 4]] {
            for (file, shorter) in [
                ("examples/registers.toml", None),
                ("examples/storm.toml", Some(("rounds=300", "rounds=100"))),
            ] {
                let text = std::fs::read_to_string(system_tests::root().join(file)).unwrap();
                let text = text.replacen("[[partition]]", &policy, 1);
                let text = shorter.map_or(text.clone(), |(from, to)| text.replace(from, to));
                let system = on_threads(system_tests::system_of(&text), topology);
                let (transcript, findings) = containment::watched(&system);
                let console = String::from_utf8_lossy(&transcript.console).into_owned();
                assert_eq!(findings, [""; 0], "{file} {topology:?} {policy}: {console}");
                assert!(console.contains("all partitions have ended"), "{file}: {console}");
            }
        }
    }
}

/// Rounds of each vCPU, for more than 100,000 exits; the nightly run has more.
const ROUNDS: u64 = 12_500;

#[test]
fn nothing_is_lost_or_leaked_in_a_storm_of_random_exits() {
    let rounds = number_from("POWERVISOR_STORM_ROUNDS", ROUNDS);
    let system =
        changed_system("examples/storm.toml", &[("rounds=300", &format!("rounds={rounds}"))]);
    let seen = watch("storm", &system);
    assert!(seen.all_exits() > 8 * rounds, "{seen:?}");
    assert!(seen.switched >= rounds, "{seen:?}");
    assert!(seen.delivered[&Vector::External] > 0 && seen.delivered[&Vector::Program] > 0);
    for vector in [
        Vector::SystemCall,
        Vector::HypervisorDecrementer,
        Vector::HypervisorDataStorage,
        Vector::HypervisorInstructionStorage,
        Vector::HypervisorFacilityUnavailable,
        Vector::HypervisorEmulationAssistance,
    ] {
        assert!(seen.exits.get(&vector).is_some_and(|&count| count > 20), "{vector:?}: {seen:?}");
    }
}

/// Rounds of each vCPU in any state; the nightly run has so many that a million exits are seen on each topology.
const STATES_ROUNDS: u64 = 500;

fn storm_in_all_states(topology: [u32; 3]) {
    let rounds = number_from("POWERVISOR_STATES_ROUNDS", STATES_ROUNDS);
    let system = storm::in_all_states(rounds, topology, "");
    // It is a core's, and counts for whoever runs there.
    let mut oracle = Oracle::new(Processor::Power9).without(Register::Spr(Spr::Vtb));
    let mut machine = on_simulator::start(&system).unwrap_or_else(|failure| panic!("{failure}"));
    let end = machine.run(u64::MAX, &mut oracle);
    let console = String::from_utf8_lossy(&machine.take_console_output()).into_owned();
    assert!(matches!(end, RunState::PoweredOff), "{topology:?}: {end:?}\n{console}");
    let findings: Vec<String> = oracle.findings().iter().map(ToString::to_string).collect();
    assert_eq!(oracle.all_findings(), 0, "{topology:?}:\n{}\n{console}", findings.join("\n"));
    for (name, vcpus) in storm::PARTITIONS {
        let line = format!("[{name}] storm: {vcpus} vCPUs, {rounds} rounds each, 0 wrong");
        assert!(console.contains(&line), "{topology:?}:\n{console}");
    }
    let seen = oracle.seen();
    let (exits, switched, migrated) = (seen.all_exits(), seen.switched, seen.migrated);
    println!(
        "{topology:?}: {exits} exits, {switched} entries behind another vCPU, {migrated} from another thread, 0 wrong"
    );
    assert!(exits > 22 * rounds && switched > rounds, "{seen:?}");
    assert!(topology == [1, 1, 1] || migrated > rounds, "{seen:?}");
    assert!(seen.delivered[&Vector::External] > 0 && seen.delivered[&Vector::Program] > 0);
}

#[test]
fn nothing_is_lost_or_leaked_in_any_state() {
    storm_in_all_states([1, 1, 1]);
}

#[test]
fn nothing_is_lost_or_leaked_in_any_state_on_several_cores_of_several_threads() {
    storm_in_all_states([1, 2, 4]);
}
