//! Partitions that measure their share beside one that does what it likes: what the tests of the bound share.

use lab::on_simulator;
use lab::system::System;
use simulator::{Machine, NoObserver, RunState};

use crate::containment::on_threads;
use crate::system_of;

/// Microseconds of a slice in these systems, if they do not say.
pub const SLICE_US: u64 = 100;

/// Partitions of one vCPU each that run all the time, with their weight, and one that misbehaves.
#[derive(Clone, Debug)]
pub struct Contest {
    /// Chips, cores of each, threads of each core.
    pub topology: [u32; 3],
    /// Number of partitions that measure.
    pub victims: u64,
    /// The weight of each.
    pub weight: u64,
    /// Microseconds of a slice.
    pub slice_us: u64,
    /// How long they measure, in microseconds.
    pub time_us: u64,
    /// What the other partition gets as its arguments.
    pub arguments: String,
    /// What further partitions like it get as theirs.
    pub further: Vec<String>,
    /// It has a hashed page table, whose size it can change.
    pub is_hashed: bool,
    /// Its memory in MiB.
    pub memory_mib: u64,
    /// Its number of vCPUs.
    pub vcpus: u64,
    /// The weight of each.
    pub other_weight: u64,
    /// Microseconds that it may run in all.
    pub time_limit_us: Option<u64>,
    /// What the victims are told to expect instead of their share.
    pub claim: Option<u64>,
}

impl Contest {
    /// Against `mode`, with equal weights, one victim for one hardware thread, and one more than there are otherwise.
    #[must_use]
    pub fn against(mode: &str, topology: [u32; 3]) -> Self {
        let threads: u64 = topology.iter().product::<u32>().into();
        // Those need one that goes on, two that start others and others.
        let vcpus = if mode.starts_with("outlive") { 5 } else { 2 };
        Self {
            topology,
            victims: if threads == 1 { 1 } else { threads + 1 },
            weight: 100,
            slice_us: SLICE_US,
            time_us: 3000,
            arguments: format!("mode={mode} calls=1000000"),
            further: Vec::new(),
            is_hashed: false,
            memory_mib: 16,
            vcpus,
            other_weight: 100,
            time_limit_us: None,
            claim: None,
        }
    }

    /// What a victim gets at least of the time of a hardware thread, in ten thousandths: its part of all of them
    /// by weight, but not more than one.
    #[must_use]
    pub fn share(&self) -> u64 {
        let threads: u64 = self.topology.iter().product::<u32>().into();
        let others = (1 + self.further.len() as u64) * self.vcpus;
        let total = self.victims * self.weight + others * self.other_weight;
        (10_000 * threads * self.weight / total).min(10_000)
    }

    /// The system. Each victim is told its share.
    #[must_use]
    pub fn system(&self) -> System {
        let Self { victims, weight, slice_us, time_us, memory_mib, vcpus, .. } = self;
        let other_weight = self.other_weight;
        let share = self.claim.unwrap_or_else(|| self.share());
        let victim = |number| {
            format!(
                "[[partition]]\nname = \"victim{number}\"\npayload = \"fairness\"\nmemory = \"8 MiB\"\n\
                 vcpus = 1\nweight = {weight}\narguments = \"time={time_us} share={share}\"\n"
            )
        };
        let victims: String = (0..*victims).map(victim).collect();
        let limit =
            self.time_limit_us.map_or(String::new(), |limit| format!("time_limit_us = {limit}\n"));
        let other = |(number, arguments): (usize, &String)| {
            let name = if number == 0 { "misbehave" } else { &format!("further{number}") };
            // What it makes a hypercall without end with.
            let disks = if arguments.starts_with("mode=call ") {
                "disks = [{ size = \"64 KiB\" }]\n"
            } else {
                ""
            };
            let table = if self.is_hashed {
                "translation = \"hash\"\nresizable_table = true\n"
            } else {
                ""
            };
            format!(
                "[[partition]]\nname = \"{name}\"\npayload = \"misbehave\"\n{table}\
                 memory = \"{memory_mib} MiB\"\nvcpus = {vcpus}\nweight = {other_weight}\n\
                 arguments = \"{arguments}\"\n{limit}{disks}"
            )
        };
        let others: String =
            [&self.arguments].into_iter().chain(&self.further).enumerate().map(other).collect();
        on_threads(system_of(&format!("slice_us = {slice_us}\n{victims}{others}")), self.topology)
    }

    /// Runs the system until every victim has said what it measured.
    ///
    /// # Panics
    /// If it cannot be started or ends without that.
    #[must_use]
    pub fn measure(&self) -> Vec<Measured> {
        let mut machine =
            on_simulator::start(&self.system()).unwrap_or_else(|failure| panic!("{failure}"));
        let victims = self.victims as usize;
        let (console, _) = run_until(&mut machine, 1 << 20, |console| {
            console.matches("] fairness: ").count() == victims
        });
        let measured: Vec<_> = console.lines().filter_map(Measured::of_line).collect();
        assert_eq!(measured.len(), victims, "{self:?}\n{console}");
        measured
    }
}

/// What a victim measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Measured {
    /// The part of the time that it ran, in ten thousandths.
    pub ran: u64,
    /// The longest time that it did not run.
    pub longest_gap_ns: u64,
    /// By how much it fell behind its share in the worst of all intervals.
    pub behind_ns: u64,
}

impl Measured {
    /// From its line on the console.
    fn of_line(line: &str) -> Option<Self> {
        let (_, text) = line.split_once("] fairness: ")?;
        let number = |before: &str| text.split_once(before)?.1.split(' ').next()?.parse().ok();
        Some(Self {
            ran: number("ran ")?,
            longest_gap_ns: number("longest ")?,
            behind_ns: number("behind by ")?,
        })
    }

    /// Whether it was never more than `slices` slices behind its share.
    #[must_use]
    pub fn is_within(&self, slices: u64) -> bool {
        self.behind_ns <= slices * SLICE_US * 1000
    }
}

/// Runs the machine, so many instructions at a time, until its console is as wanted or it has switched itself off:
/// the console, and whether it is off.
///
/// # Panics
/// If it stops for another reason.
pub fn run_until(
    machine: &mut Machine,
    instructions: u64,
    is_enough: impl Fn(&str) -> bool,
) -> (String, bool) {
    let mut console = String::new();
    loop {
        let state = machine.run(instructions, &mut NoObserver);
        console += &String::from_utf8_lossy(&machine.take_console_output());
        match state {
            RunState::Running
            | RunState::AtMark { .. }
            | RunState::AtPlace { .. }
            | RunState::Asleep { .. }
                if is_enough(&console) =>
            {
                return (console, false);
            }
            RunState::Running
            | RunState::AtMark { .. }
            | RunState::AtPlace { .. }
            | RunState::Asleep { .. } => {}
            RunState::PoweredOff => return (console, true),
            RunState::Rebooted => panic!("rebooted\n{console}"),
            RunState::Stopped(report) => panic!("{report}\n{console}"),
        }
    }
}
