//! `powervisor boot`: boots partitions or a bare image, console to standard output.

mod awaited;
mod bare;
mod calls;
mod debugged;
mod disks;
mod explained;
mod programs;
mod session;
mod system;

use std::time::Instant;

use crate::arguments::{BootArguments, Format, On};
use crate::failure::Failure;
use crate::output::{check_not_read, check_place, input, print_figures, say, write_whole};
use crate::saved::{self, Surroundings};
use crate::screen::Screen;
use crate::signals::INTERRUPTION;
use crate::visible::one_line;
use explained::Explained;
use lab::bundle;
use lab::console::FirmwareFilter;
use lab::statistics::{self, Run};
use lab::system::{Exit, System};
use lab::user_file::Files;
use lab::{on_qemu, on_simulator};
use session::{Ending, Session};

/// The option that names a file for the statistics.
const STATISTICS_FILE: &str = "--statistics-file";

pub(super) fn boot(arguments: &BootArguments) -> Result<(), Failure> {
    let files = Files::new(INTERRUPTION);
    let of_file = bare::from_file(arguments, &files)?;
    let (arguments, machine) = match &of_file {
        Some((arguments, machine)) => (arguments, Some(machine)),
        None => (arguments, None),
    };
    refuse_without_partition_file(arguments)?;
    if arguments.kernel.is_some() && arguments.statistics == Some(Format::Text) {
        let text =
            "a bare kernel has no partitions that a table could have; write `--statistics json`";
        return Err(Failure::input("--statistics", text));
    }
    match (&arguments.resume, arguments.on) {
        (Some(path), On::Simulator) => {
            let (machine, surroundings) = saved::resume(path, &files)?;
            on_our_machine(Session::new(machine, surroundings, arguments, None, &files)?, arguments)
        }
        (None, On::Simulator) => {
            let system = system::system(arguments, machine, &files)?;
            let machine = on_simulator::start(&system)?;
            let surroundings = surroundings(&system, arguments);
            let session =
                Session::new(machine, surroundings, arguments, Some(&system.kernel), &files)?;
            on_our_machine(session, arguments)
        }
        (_, On::Qemu) => {
            refuse_on_qemu(arguments)?;
            let system = system::system(arguments, machine, &files)?;
            if let Some(path) = &arguments.statistics_file {
                check_place(path)?;
                check_not_read(STATISTICS_FILE, path, &files)?;
            }
            disks::check(&system.kept_disks, &session::written(arguments), &files)?;
            on_qemu(&system, surroundings(&system, arguments), arguments)
        }
    }
}

/// Writes what was asked for about a run that ended so. Fails if a partition did not switch itself off; what a bare
/// kernel says is its own.
fn conclude(
    surroundings: &Surroundings,
    arguments: &BootArguments,
    end: String,
    machine: Option<[u64; 3]>,
    explained: Option<&Explained>,
) -> Result<(), Failure> {
    let is_over = end == Exit::PoweredOff.to_string();
    let said = surroundings.screen.said();
    let record = said.record.as_ref().and_then(|record| record.as_ref().ok());
    let names = &surroundings.consoles.partitions;
    let timed = explained.map(Explained::json).unwrap_or_default();
    let run = Run { end, machine, names, record, timed };
    if let (Some(folder), Some(explained)) = (&arguments.out, explained) {
        explained.write(folder)?;
        write_whole(&explained::json_file(folder), statistics::json(&run).as_bytes())?;
    }
    if let (Some(explained), true) = (explained, arguments.explain) {
        print_figures(&explained.text())?;
    }
    let counted = arguments.statistics.map(|format| match format {
        Format::Text => statistics::text(&run),
        Format::Json => statistics::json(&run),
    });
    match (counted, &arguments.statistics_file) {
        (None, _) => (),
        (Some(text), None) => print_figures(&text)?,
        (Some(text), Some(path)) => write_whole(path, text.as_bytes())?,
    }
    match is_over {
        true if surroundings.has_hypervisor => said.check_partitions().map_err(Failure::run),
        // It may be the hypervisor all the same.
        true => said.check_hypervisor().map_err(Failure::run),
        false => Ok(()),
    }
}

/// Fails unless the machine ended in good order. A bare kernel may ask for a reboot; the hypervisor never does.
fn require_good_end(exit: &Exit, surroundings: &Surroundings) -> Result<(), Failure> {
    match exit {
        Exit::Rebooted if !surroundings.has_hypervisor => Ok(()),
        _ => Ok(exit.require_power_off()?),
    }
}

fn surroundings(system: &System, arguments: &BootArguments) -> Surroundings {
    let has_hypervisor = arguments.kernel.is_none();
    let consoles = match &system.initrd {
        Some(file) if has_hypervisor => bundle::consoles(file),
        _ => bundle::Consoles::default(),
    };
    let screen = Screen::new(&consoles);
    let kept_disks = system.kept_disks.clone();
    let suspends = arguments.suspend.clone().zip(arguments.to.clone());
    Surroundings { consoles, has_hypervisor, screen, kept_disks, suspends }
}

/// What is asked for of one partition goes into the bundle, which is made of a partition file.
fn refuse_without_partition_file(arguments: &BootArguments) -> Result<(), Failure> {
    let asked = [("--suspend", arguments.suspend.is_some()), ("--from", arguments.from.is_some())];
    match asked.iter().find(|(_, is_asked)| *is_asked) {
        Some((option, _)) if arguments.file.is_none() => {
            let text = "it is for a partition of a partition file; name such a file, or keep a whole machine with \
                --save and go on with it with --resume";
            Err(Failure::input(option, text))
        }
        _ => Ok(()),
    }
}

/// QEMU has no simulated time to stop at or to log by, and cannot be observed.
fn refuse_on_qemu(arguments: &BootArguments) -> Result<(), Failure> {
    let asked = [
        ("--resume", arguments.resume.is_some()),
        ("--suspend", arguments.suspend.is_some()),
        ("--save", arguments.save.is_some()),
        ("--steps", arguments.steps.is_some()),
        ("--until", arguments.until.is_some()),
        ("--trace", arguments.trace.is_some()),
        ("--timing", arguments.timing),
        ("--warm-up", arguments.warm_up.is_some()),
        ("--explain", arguments.explain),
        ("--region", arguments.region.is_some()),
        ("--out", arguments.out.is_some()),
        ("--symbols", !arguments.symbols.is_empty()),
        ("--until-console", arguments.until_console.is_some()),
        ("--log-input", arguments.log_input.is_some()),
        ("--replay-input", arguments.replay_input.is_some()),
        ("--gdb", arguments.gdb.is_some()),
    ];
    match asked.iter().find(|(_, is_asked)| *is_asked) {
        None => Ok(()),
        Some((option, _)) => {
            Err(Failure::input(option, "works on our machine only; leave out `--on qemu`"))
        }
    }
}

/// Runs on our machine.
fn on_our_machine(mut session: Session, arguments: &BootArguments) -> Result<(), Failure> {
    let started = Instant::now();
    let before = session.instructions();
    let ending = session.run(arguments);
    session.keep_input(arguments)?;
    let ending = match ending {
        Err(Failure::ClosedPipe) if arguments.save.is_some() => Ending::Unread,
        ending => ending?,
    };
    let after = session.summary(before, started);
    let explained = session.explained(arguments);
    let ledger = explained.as_ref().map(|explained| explained.summary(arguments.explain));
    let ledger = ledger.unwrap_or_default();
    let after = format!("{after}{}{ledger}", session.keep(&ending, arguments)?);
    let end = match &ending {
        Ending::Over(exit) => exit.to_string(),
        Ending::Paused => "paused".to_owned(),
        Ending::Killed => "ended by gdb".to_owned(),
        Ending::At(until) => format!("at {}", one_line(&until.to_string())),
        Ending::Shown(text) => format!("at console text {text:?}"),
        Ending::Interrupted => "interrupted".to_owned(),
        Ending::Unread => "not read any more".to_owned(),
    };
    say(format_args!("{end} {after}"));
    if let Some(warning) = explained.as_ref().and_then(Explained::warning) {
        say(warning);
    }
    let numbers = session.numbers();
    let surroundings = session.into_surroundings();
    conclude(&surroundings, arguments, end, Some(numbers), explained.as_ref())?;
    match ending {
        Ending::Over(exit) => require_good_end(&exit, &surroundings),
        Ending::Paused | Ending::Killed | Ending::At(_) | Ending::Shown(_) => Ok(()),
        Ending::Interrupted => Err(Failure::INTERRUPTED),
        Ending::Unread => Err(Failure::ClosedPipe),
    }
}

fn on_qemu(
    system: &System,
    mut surroundings: Surroundings,
    arguments: &BootArguments,
) -> Result<(), Failure> {
    let mut filter = FirmwareFilter::default();
    let started = Instant::now();
    let memory = (!system.kept_disks.is_empty()).then(on_qemu::Memory::new).transpose()?;
    let options = on_qemu::Options {
        timeout: None,
        input: Some(input()?),
        memory: memory.as_ref(),
        interruption: INTERRUPTION,
    };
    let screen = &mut surroundings.screen;
    let ended = on_qemu::run(system, &options, |bytes| {
        if arguments.firmware_log { screen.show(bytes) } else { screen.show(&filter.pass(bytes)) }
    });
    screen.show(&filter.finish())?;
    let end = match &ended {
        Err(Failure::Lab(lab::failure::Failure::Interrupted)) => "interrupted".to_owned(),
        Err(_) => return ended.map(drop),
        Ok(exit) => exit.to_string(),
    };
    let took = started.elapsed().as_secs_f64();
    let is_switched_off = matches!(ended, Ok(Exit::PoweredOff));
    let kept = match &memory {
        None => String::new(),
        Some(memory) => disks::keep(&surroundings, is_switched_off, |address, bytes| {
            Ok(memory.read(address, bytes)?)
        })?,
    };
    say(format_args!("{end} on QEMU after {took:.3} s{kept}"));
    conclude(&surroundings, arguments, end, None, None)?;
    require_good_end(&ended?, &surroundings)
}
