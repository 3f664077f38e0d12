//! `powervisor boot`: boots partitions or a bare image, console to standard output.

mod session;
mod system;

use std::time::Instant;

use simulator::core::Settings;

use crate::arguments::{BootArguments, Format, On};
use crate::bundle;
use crate::console::{FirmwareFilter, check_partitions, payload_lines};
use crate::failure::Failure;
use crate::on_qemu;
use crate::on_simulator;
use crate::output::{input, print_error};
use crate::saved::{self, Surroundings};
use crate::screen::Screen;
use crate::statistics;
use crate::system::{Exit, System};
use session::{Ending, Session};

pub(super) fn boot(arguments: &BootArguments) -> Result<(), Failure> {
    let screen = match (&arguments.resume, arguments.on) {
        (Some(path), On::Simulator) => {
            let (machine, surroundings) = saved::resume(path)?;
            on_our_machine(Session::new(machine, surroundings, arguments)?, arguments)?
        }
        (None, On::Simulator) => {
            let system = system::system(arguments)?;
            let mut machine = on_simulator::start(&system)?;
            if arguments.timing {
                machine.start_timing(Settings::default());
            }
            let surroundings = surroundings(&system, arguments);
            on_our_machine(Session::new(machine, surroundings, arguments)?, arguments)?
        }
        (_, On::Qemu) => {
            refuse_on_qemu(arguments)?;
            let system = system::system(arguments)?;
            let surroundings = surroundings(&system, arguments);
            let screen = on_qemu(&system, surroundings.screen, arguments)?;
            surroundings.has_hypervisor.then_some(screen)
        }
    };
    let Some(screen) = screen else { return Ok(()) };
    let lines = payload_lines(screen.tail());
    let statistics = match arguments.statistics {
        None => None,
        Some(Format::Text) => statistics::text(&lines),
        Some(Format::Json) => statistics::json(&lines),
    };
    print_error(statistics.unwrap_or_default().as_bytes());
    check_partitions(&lines).map_err(Failure::Run)
}

fn surroundings(system: &System, arguments: &BootArguments) -> Surroundings {
    let has_hypervisor = arguments.kernel.is_none();
    let consoles = match &system.initrd {
        Some(file) if has_hypervisor => bundle::consoles(file),
        _ => bundle::Consoles::default(),
    };
    let screen = Screen::new(&consoles);
    Surroundings { consoles, has_hypervisor, screen }
}

/// QEMU has no simulated time to stop at or to log by, and cannot be observed.
fn refuse_on_qemu(arguments: &BootArguments) -> Result<(), Failure> {
    let asked = [
        ("--resume", arguments.resume.is_some()),
        ("--save", arguments.save.is_some()),
        ("--steps", arguments.steps.is_some()),
        ("--until", arguments.until.is_some()),
        ("--trace", arguments.trace.is_some()),
        ("--timing", arguments.timing),
        ("--log-input", arguments.log_input.is_some()),
        ("--replay-input", arguments.replay_input.is_some()),
    ];
    match asked.iter().find(|(_, is_asked)| *is_asked) {
        None => Ok(()),
        Some((option, _)) => {
            Err(Failure::input(option, "works on our machine only; leave out `--on qemu`"))
        }
    }
}

/// Runs on our machine. What the hypervisor said last, if it runs there and is done; what a bare kernel
/// says is its own.
fn on_our_machine(
    mut session: Session,
    arguments: &BootArguments,
) -> Result<Option<Screen>, Failure> {
    let started = Instant::now();
    let before = session.instructions();
    let ending = session.run(arguments);
    session.keep_input(arguments)?;
    let ending = ending?;
    let after = session.summary(before, started);
    let after = format!("{after}{}{}", session.keep(&ending, arguments)?, session.ledger());
    match ending {
        Ending::Over(exit) => end(&exit, &after)?,
        Ending::Paused => {
            eprintln!("powervisor: paused {after}");
            return Ok(None);
        }
        Ending::AtMark(mark) => {
            eprintln!("powervisor: at mark {mark} {after}");
            return Ok(None);
        }
        Ending::Interrupted => {
            eprintln!("powervisor: interrupted {after}");
            return Err(Failure::Interrupted);
        }
    }
    let Surroundings { screen, has_hypervisor, .. } = session.into_surroundings();
    Ok(has_hypervisor.then_some(screen))
}

fn on_qemu(
    system: &System,
    mut screen: Screen,
    arguments: &BootArguments,
) -> Result<Screen, Failure> {
    let mut filter = FirmwareFilter::default();
    let started = Instant::now();
    let options = on_qemu::Options { timeout: None, input: Some(input()) };
    let ended = on_qemu::run(system, &options, |bytes| {
        if arguments.firmware_log { screen.show(bytes) } else { screen.show(&filter.pass(bytes)) }
    });
    screen.show(&filter.finish())?;
    let after = format!("on QEMU after {:.3} s", started.elapsed().as_secs_f64());
    match ended {
        Err(Failure::Interrupted) => {
            eprintln!("powervisor: interrupted {after}");
            Err(Failure::Interrupted)
        }
        ended => end(&ended?, &after).map(|()| screen),
    }
}

/// Says in one line how and after what a run ended, and makes the command's result of it.
fn end(exit: &Exit, after: &str) -> Result<(), Failure> {
    eprintln!("powervisor: {exit} {after}");
    exit.require_power_off()
}
