//! `powervisor boot`: boots a partition or a bare image, console to standard output.

use std::path::Path;
use std::time::Instant;

use simulator::NoObserver;

use crate::arguments::{BootArguments, On};
use crate::bundle::{self, Partition};
use crate::console::{FirmwareFilter, check_partitions, payload_lines};
use crate::failure::Failure;
use crate::machine_file::MachineFile;
use crate::on_qemu;
use crate::on_simulator;
use crate::output::{input, print};
use crate::partition_file::PartitionFile;
use crate::payload::Payload;
use crate::progress::Speed;
use crate::size::Size;
use crate::system::{Exit, System, check_memory};
use crate::toml_file::read_file;

/// Memory of a partition whose user did not say.
const DEFAULT_MEMORY: Size = Size(256 << 20);

/// Enough of a console's end to hold what the hypervisor says last.
const TAIL_BYTES: usize = 0x1_0000;

pub(super) fn boot(arguments: &BootArguments) -> Result<(), Failure> {
    let system = system(arguments)?;
    let console = Console::default();
    let console = match arguments.on {
        On::Simulator => boot_on_simulator(&system, console)?,
        On::Qemu => boot_on_qemu(&system, console, arguments.firmware_log)?,
    };
    // What a bare kernel says is its own.
    if arguments.kernel.is_none() {
        check_partitions(&payload_lines(&console.tail)).map_err(Failure::Run)
    } else {
        Ok(())
    }
}

/// Standard output as a machine's console, with a memory of what was last shown.
#[derive(Default)]
struct Console {
    tail: Vec<u8>,
}

impl Console {
    fn show(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.tail.extend(bytes);
        if self.tail.len() > 2 * TAIL_BYTES {
            self.tail.drain(..self.tail.len() - TAIL_BYTES);
        }
        print(bytes)
    }
}

fn system(arguments: &BootArguments) -> Result<System, Failure> {
    let machine = arguments.machine.as_deref().map(MachineFile::read).transpose()?;
    if let Some(path) = &arguments.kernel {
        return kernel(arguments, path, machine.unwrap_or_default());
    }
    if let Some(path) = &arguments.payload {
        let partition = partition(arguments, path)?;
        return System::with_partitions(
            &[partition],
            None,
            machine.unwrap_or_default(),
            arguments.seed,
        );
    }
    let path = arguments.file.as_deref().unwrap_or(Path::new(""));
    let bytes = read_file(path)?;
    if bundle::looks_like_one(&bytes) {
        bundle::check(&bytes).map_err(|error| Failure::input(path.display(), error))?;
        return System::with_bundle(bytes, machine.unwrap_or_default(), arguments.seed);
    }
    let file = PartitionFile::read(path)?;
    System::with_partitions(
        &file.partitions,
        file.slice,
        machine.unwrap_or(file.machine),
        arguments.seed,
    )
}

/// An image bare on the machine.
fn kernel(arguments: &BootArguments, path: &Path, machine: MachineFile) -> Result<System, Failure> {
    let initrd = arguments.initrd.as_deref().map(read_file).transpose()?;
    if let (Some(path), Some(initrd)) = (&arguments.initrd, &initrd)
        && bundle::looks_like_one(initrd)
    {
        match bundle::check(initrd) {
            // A device tree of the kernel's own is none of our business.
            Ok(()) | Err(bundle::BundleError::NotABundle) => (),
            Err(error) => return Err(Failure::input(path.display(), error)),
        }
    }
    let machine = match arguments.memory {
        Some(memory) => machine.with_memory(memory, "--memory"),
        None => machine,
    };
    let arguments_text = arguments.append.clone().unwrap_or_default();
    Ok(System {
        name: path.display().to_string(),
        kernel: read_file(path)?,
        initrd,
        arguments: arguments_text,
        machine,
        seed: arguments.seed,
    })
}

/// The user's own program as a partition.
fn partition(arguments: &BootArguments, path: &Path) -> Result<Partition, Failure> {
    let wrong = |error| Failure::input(path.display(), error);
    let memory = arguments.memory.unwrap_or(DEFAULT_MEMORY);
    check_memory(memory.0).map_err(|text| Failure::input("--memory", text))?;
    let payload = Payload::from_file_bytes(&read_file(path)?).map_err(wrong)?;
    payload.check_fits(memory.0).map_err(wrong)?;
    Ok(Partition {
        name: "payload".to_owned(),
        memory_bytes: memory.0,
        vcpus: 1,
        weight: None,
        time_limit: None,
        arguments: arguments.append.clone().unwrap_or_default(),
        payload,
    })
}

fn boot_on_simulator(system: &System, mut console: Console) -> Result<Console, Failure> {
    let mut machine = on_simulator::start(system)?;
    let typed = input();
    let started = Instant::now();
    let ended = on_simulator::run(&mut machine, &mut NoObserver, |machine| {
        typed.try_iter().for_each(|bytes| machine.console_input(&bytes));
        console.show(&machine.take_console_output())
    });
    let mips = Speed::of(&machine, started).mips();
    let (instructions, seconds) = (machine.instructions(), machine.simulated_seconds());
    end(
        ended,
        &format!("after {instructions} instructions, {seconds:.6} s simulated, {mips:.1} MIPS"),
    )?;
    Ok(console)
}

fn boot_on_qemu(
    system: &System,
    mut console: Console,
    firmware_log: bool,
) -> Result<Console, Failure> {
    let mut filter = FirmwareFilter::default();
    let started = Instant::now();
    let options = on_qemu::Options { timeout: None, input: Some(input()) };
    let ended = on_qemu::run(system, &options, |bytes| {
        if firmware_log { console.show(bytes) } else { console.show(&filter.pass(bytes)) }
    });
    console.show(&filter.finish())?;
    end(ended, &format!("on QEMU after {:.3} s", started.elapsed().as_secs_f64()))?;
    Ok(console)
}

/// Says in one line how and after what a run ended, and makes the command's result of it.
fn end(ended: Result<Exit, Failure>, after: &str) -> Result<(), Failure> {
    match &ended {
        Ok(exit) => eprintln!("powervisor: {exit} {after}"),
        Err(Failure::Interrupted) => eprintln!("powervisor: interrupted {after}"),
        Err(_) => (),
    }
    ended?.require_power_off()
}
