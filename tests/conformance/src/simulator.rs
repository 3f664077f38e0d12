//! Runs a rule's program on our machine.

use simulator::oracle::page_sizes::PageSizes;
use simulator::{Boot, Description, Machine, Report, RunState};

use crate::Verdict;
use crate::rule::{Processor, Rule, RuleFile};

/// More instructions than any program needs; a program that hangs ends here.
pub const PATIENCE: u64 = 20_000_000;

/// What our machine with `processor` makes of `image`.
///
/// # Panics
/// If the rule asks for a machine that cannot be.
#[must_use]
pub fn run(rule: &Rule, processor: Processor, image: &[u8]) -> Verdict {
    let mut machine = machine(rule, processor, image);
    let mut sizes = PageSizes::default();
    let end = run_with(&mut machine, &rule.file, &mut sizes);
    let console = String::from_utf8_lossy(&machine.take_console_output()).into_owned();
    let report = match end {
        RunState::PoweredOff => None,
        RunState::Stopped(report) => Some(report.to_string()),
        RunState::Running
        | RunState::AtMark { .. }
        | RunState::AtPlace { .. }
        | RunState::Asleep { .. } => {
            Some(Report::new(machine.state(), 0, "the program hangs".to_owned()).to_string())
        }
        RunState::Rebooted => Some("the program rebooted the machine".to_owned()),
    };
    let two_sizes = Some(sizes.findings().iter().map(ToString::to_string).collect());
    Verdict { console, report, two_sizes }
}

/// Runs to the end, and lets the machine fail on the way where the rule wants it.
fn run_with(machine: &mut Machine, file: &RuleFile, sizes: &mut PageSizes) -> RunState {
    for failure in &file.maintenance {
        let steps = failure.step.saturating_sub(machine.state().steps());
        let end = machine.run(steps, sizes);
        if !matches!(end, RunState::Running) {
            return end;
        }
        machine.raise_maintenance(failure.thread, 1 << (63 - failure.bit));
    }
    machine.run(PATIENCE, sizes)
}

/// The rule's machine with `processor`, about to enter `image`.
///
/// # Panics
/// If the rule asks for a machine that cannot be.
#[must_use]
pub fn machine(rule: &Rule, processor: Processor, image: &[u8]) -> Machine {
    let mut machine = Machine::new(description(&rule.file, processor), 1);
    let boot = Boot { kernel: image.to_vec(), initrd: None, arguments: String::new() };
    machine.boot(&boot).expect("the image can be booted");
    machine
}

fn description(file: &RuleFile, processor: Processor) -> Description {
    let mut table: toml::Table = processor.description().parse().expect("the description is right");
    let topology = table["topology"].as_table_mut().expect("a table");
    topology["cores_per_chip"] = i64::from(file.cores.unwrap_or(1)).into();
    topology["threads_per_core"] = i64::from(file.threads.unwrap_or(1)).into();
    for (name, value) in &file.switches {
        let switch = table["switches"].as_table_mut().expect("a table");
        switch[name.as_str()]["value"] = (*value).into();
    }
    Description::from_toml(&table.to_string()).expect("the machine can be")
}
