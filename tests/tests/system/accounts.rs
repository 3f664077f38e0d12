//! What the hypervisor says about time, beside what the machine's ledger knows: in timing mode both have accounts of
//! the same cycles, and know nothing of each other.

use std::collections::BTreeMap;

use arch::record::START;
use lab::on_simulator;
use simulator::Machine;
use simulator::ledger::Owner;
use simulator::pipeline::Settings;
use system_tests::fairness::{Contest, SLICE_US, run_until};
use system_tests::{is_nightly, record};

/// Instructions between two looks at the console: what may pass between the ends of the accounts.
const LOOK: u64 = 2000;
/// Parts in a thousand of all time by which two accounts of the same may differ: the hypervisor stamps an exit when it
/// is in, and an entry before it is out.
const TOLERANCE: u64 = 5;

/// Microseconds by what they were, as the hypervisor's last lines have them.
#[derive(Default, Debug)]
struct Said {
    elapsed: u64,
    idle: u64,
    own: u64,
    /// What the ends of partitions took.
    ends: u64,
    /// By name: all, and of it in the hypervisor.
    partitions: BTreeMap<String, [u64; 2]>,
}

impl Said {
    fn of_console(console: &str) -> Self {
        let record = record(console.as_bytes());
        let mut said = Self::default();
        for thread in record.threads {
            said.elapsed += thread.elapsed_us;
            said.idle += thread.idle_us;
            said.own += thread.own_us;
            said.ends += thread.ends_us;
        }
        for partition in record.partitions {
            let of = |key: &str| partition.counts[key];
            let times = [of("time_ran_us"), of("time_in_the_hypervisor_us")];
            said.partitions.insert(partition.name, times);
        }
        said
    }
}

/// Microseconds that the ledger charged to each owner; hypercalls and other exits apart.
fn charged(machine: &Machine) -> BTreeMap<Owner, u64> {
    let clock = machine.state().shared.clock;
    let mut cycles: BTreeMap<Owner, u64> = BTreeMap::new();
    for line in machine.charges().expect("it is timed").lines() {
        *cycles.entry(line.owner).or_default() += line.cycles;
    }
    let microseconds = |cycles| cycles * 1_000_000 / clock.core_hz;
    cycles.into_iter().map(|(owner, cycles)| (owner, microseconds(cycles))).collect()
}

fn check(contest: &Contest) {
    let system = contest.system();
    let mut machine = on_simulator::start(&system).unwrap_or_else(|failure| panic!("{failure}"));
    machine.start_timing(Settings::default());
    let partitions = 1 + contest.victims as usize;
    let (start, _) = run_until(&mut machine, LOOK, |console| {
        console.matches(", starts\n").count() == partitions
    });
    machine.clear_charges();
    // Who sleeps has not come so far yet, and is charged for it later.
    let times = || machine.state().threads.iter().map(|thread| thread.time.cycles());
    let latest = times().max().expect("a thread");
    let asleep: u64 = times().map(|time| latest - time).sum();
    let asleep = asleep * 1_000_000 / machine.state().shared.clock.core_hz;
    let is_told = |console: &str| console.contains(START);
    let (console, is_off) = run_until(&mut machine, LOOK, is_told);
    assert!(!is_off);
    let mut ledger = charged(&machine);
    *ledger.entry(Owner::Idle).or_default() -= asleep;
    let (rest, _) = run_until(&mut machine, 1 << 20, |_| false);
    let console = start + &console + &rest;
    let said = Said::of_console(&console);
    let context = format!("{contest:?}\n{said:?}\n{ledger:?}\n{console}");

    let all: u64 = ledger.values().sum();
    let is_near = |one: u64, other: u64| one.abs_diff(other) * 1000 <= TOLERANCE * all;
    // The accounts are closed, and then the hypervisor writes what it counted, which takes less than a slice.
    let written = all.saturating_sub(said.elapsed);
    let most = SLICE_US * u64::from(contest.topology.iter().product::<u32>());
    assert!(is_near(said.elapsed, all) || written < most, "{all} us have passed; {context}");
    // Nothing is left over but what is rounded off, and what is the hypervisor's own is little.
    let ran: u64 = said.partitions.values().map(|[ran, _]| ran).sum();
    let sum = ran + said.idle + said.own + said.ends;
    assert!(sum.abs_diff(said.elapsed) <= 2 * (partitions as u64 + 6), "{sum}; {context}");
    assert!(is_near(said.own, 0), "{context}");
    let of = |wanted: &dyn Fn(&Owner) -> bool| -> u64 {
        ledger.iter().filter(|(owner, _)| wanted(owner)).map(|(_, charged)| charged).sum()
    };
    let idle = of(&|owner| *owner == Owner::Idle);
    // On its way into and out of its sleep, a thread serves nobody.
    let host = of(&|owner| *owner == Owner::Host);
    let counted = said.idle + written;
    assert!(counted >= idle || is_near(counted, idle), "idle {idle}; {context}");
    assert!(said.idle <= idle + host || is_near(said.idle, idle + host), "idle {idle}; {context}");
    for (number, [ran, hypervisor]) in said.partitions.values().enumerate() {
        let name = said.partitions.keys().nth(number).expect("it has one");
        let lpid = match name.strip_prefix("victim") {
            Some(place) => 1 + place.parse::<u32>().expect("a number"),
            None => partitions as u32,
        };
        let inside = ran - hypervisor;
        // Hypercalls that are answered at once are a guest's time; the ledger knows them as the hypervisor's.
        let guest = of(&|owner| *owner == Owner::Partition { lpid });
        let served = of(&|owner| matches!(owner, Owner::Serving { lpid: of, .. } if *of == lpid));
        assert!(inside <= guest + served || is_near(inside, guest + served), "{name}: {context}");
        assert!(inside >= guest || is_near(inside, guest), "{name}: {guest}; {context}");
    }
}

#[test]
fn every_tick_is_charged_to_a_partition_or_is_idle() {
    let contests = [
        ("nap", [1, 1, 1]),
        ("confer", [1, 1, 1]),
        ("restart", [1, 1, 1]),
        ("loop", [1, 1, 1]),
        ("nap", [1, 2, 2]),
        ("wake", [1, 1, 4]),
    ];
    let step = if is_nightly() { 1 } else { 2 };
    for (mode, topology) in contests.into_iter().step_by(step) {
        let contest = Contest::against(mode, topology);
        check(&Contest { time_us: 2000, time_limit_us: Some(2000), ..contest });
    }
}
