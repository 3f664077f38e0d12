//! Runs a system on our machine.

use std::time::{Duration, Instant};

use arch::bundle::PrefetchPolicy;
use simulator::{Boot, Machine, NoObserver, Observer, RunState};

use crate::bundle;
use crate::comparison::Transcript;
use crate::failure::Failure;
use crate::interruption::Interruption;
use crate::system::{Exit, System};

/// Steps between two looks at the machine: a few hundredths of a second.
pub const SLICE: u64 = 1 << 20;

/// A machine with the system in its memory, at the first instruction.
pub fn start(system: &System) -> Result<Machine, Failure> {
    let boot = Boot {
        kernel: system.kernel.clone(),
        initrd: system.initrd.clone(),
        arguments: system.arguments.clone(),
    };
    let description = system.machine.describe()?;
    let asked = bundle::prefetch(system.initrd.as_deref().unwrap_or_default());
    if asked != PrefetchPolicy::Off && !description.has_prefetch_engine() {
        let processor = description.processor();
        let text = format!(
            "{processor} has no prefetch engine; leave `prefetch = \"{}\"` out, or take the machine power8",
            asked.name()
        );
        return Err(Failure::input(&system.name, text));
    }
    let subcores = bundle::subcores(system.initrd.as_deref().unwrap_or_default());
    if let Some(subcores) = subcores
        && description.processor().facts().hid0.split.is_none()
    {
        let processor = description.processor();
        let text = format!(
            "the cores of {processor} cannot be split; leave `subcores = {subcores}` out, or take the machine power8"
        );
        return Err(Failure::input(&system.name, text));
    }
    let mut machine = Machine::new(description, system.seed);
    machine.boot(&boot).map_err(|error| Failure::input(&system.name, error))?;
    Ok(machine)
}

/// Runs the machine to its end. `between` is called between slices and after the last, and
/// whatever it fails with ends the run.
pub fn run<O: Observer>(
    machine: &mut Machine,
    observer: &mut O,
    mut between: impl FnMut(&mut Machine) -> Result<(), Failure>,
) -> Result<Exit, Failure> {
    run_in_slices(machine, observer, SLICE, u64::MAX, |machine, _| between(machine))
}

/// The same with slices of so many steps; `between` sees the observer too, and must fail at step `limit`, beyond which
/// no slice goes.
pub fn run_in_slices<O: Observer>(
    machine: &mut Machine,
    observer: &mut O,
    steps: u64,
    limit: u64,
    mut between: impl FnMut(&mut Machine, &mut O) -> Result<(), Failure>,
) -> Result<Exit, Failure> {
    loop {
        let left = limit.saturating_sub(machine.state().steps());
        let exit = exit_of(machine.run(steps.min(left), observer));
        between(machine, observer)?;
        if let Some(exit) = exit {
            return Ok(exit);
        }
    }
}

/// How a run ended, if the machine did.
#[must_use]
pub fn exit_of(end: RunState) -> Option<Exit> {
    match end {
        RunState::Running
        | RunState::AtMark { .. }
        | RunState::AtPlace { .. }
        | RunState::Asleep { .. } => None,
        RunState::PoweredOff => Some(Exit::PoweredOff),
        RunState::Rebooted => Some(Exit::Rebooted),
        RunState::Stopped(report) => Some(Exit::Stopped(report.to_string())),
    }
}

/// Runs a system from start to end and keeps what it showed. Fails if that takes longer than `timeout`
/// of host time.
pub fn transcript(
    system: &System,
    timeout: Duration,
    interruption: Interruption,
) -> Result<Transcript, Failure> {
    let mut console = Vec::new();
    let started = Instant::now();
    let exit = run(&mut start(system)?, &mut NoObserver, |machine| {
        console.extend(machine.take_console_output());
        interruption.check()?;
        if started.elapsed() < timeout {
            return Ok(());
        }
        Err(Failure::Run(format!("our machine did not end within {} s", timeout.as_secs())))
    })?;
    Ok(Transcript { console, exit })
}
