//! What the arguments of `boot` ask to start.

use std::path::Path;

use lab::bundle::{self, Partition, Sharing};
use lab::machine_file::MachineFile;
use lab::partition_file::{PartitionFile, no_partition};
use lab::payload::Payload;
use lab::program_file;
use lab::size::Size;
use lab::system::{System, check_memory};
use lab::toml_file::TomlFile;
use lab::user_file::Files;

use crate::arguments::BootArguments;
use crate::failure::Failure;
use crate::suspended;

/// Memory of a partition whose user did not say.
const DEFAULT_MEMORY: Size = Size(256 << 20);

/// `own` is the machine of a kernel file.
pub(super) fn system(
    arguments: &BootArguments,
    own: Option<&MachineFile>,
    files: &Files,
) -> Result<System, Failure> {
    let mut system = on_its_machine(arguments, own, files)?;
    if let Some(topology) = arguments.topology {
        system.machine = system.machine.with_topology(topology.0, "--topology");
    }
    Ok(system)
}

/// On the machine that the file or its own description names.
fn on_its_machine(
    arguments: &BootArguments,
    own: Option<&MachineFile>,
    files: &Files,
) -> Result<System, Failure> {
    let machine =
        arguments.machine.as_deref().map(|path| MachineFile::named(path, files)).transpose()?;
    if let Some(path) = &arguments.kernel {
        let machine = machine.or_else(|| own.cloned()).unwrap_or_default();
        return kernel(arguments, path, machine, files);
    }
    if let Some(path) = &arguments.payload {
        let partition = partition(arguments, path, files)?;
        let sharing =
            Sharing { console: console(arguments, &[&partition.name])?, ..Sharing::default() };
        let machine = machine.unwrap_or_default();
        return Ok(System::with_partitions(&[partition], &sharing, machine, arguments.seed)?);
    }
    let path = arguments.file.as_deref().unwrap_or(Path::new(""));
    let bytes = files.read(path)?;
    if bundle::looks_like_one(&bytes) {
        if let Some(option) = suspends(arguments) {
            let text = "a bundle says itself what its partitions do; give `powervisor boot` the partition file";
            return Err(Failure::input(option, text));
        }
        bundle::check(&bytes).map_err(|error| Failure::input(path.display(), error))?;
        if arguments.console.is_some() && arguments.console != bundle::consoles(&bytes).console {
            let text = "a bundle says itself which partition the console is for; give `powervisor \
                boot` the partition file, or write the bundle again with `console` in it";
            return Err(Failure::input("--console", text));
        }
        let machine = machine.unwrap_or_default();
        let system = System::with_bundle(bytes, machine, arguments.seed)?;
        let place = |_| path.display().to_string();
        system.check_room(place)?;
        return Ok(system);
    }
    let PartitionFile { machine: own, sharing, mut partitions } =
        PartitionFile::from_toml(&TomlFile::from_bytes(path, bytes)?, files)?;
    let names: Vec<&String> = partitions.iter().map(|partition| &partition.name).collect();
    let console = console(arguments, &names)?.or(sharing.console);
    let sharing = Sharing { console, ..sharing };
    suspend(arguments, &mut partitions)?;
    go_on(arguments, &mut partitions, files)?;
    let machine = machine.unwrap_or(own);
    Ok(System::with_partitions(&partitions, &sharing, machine, arguments.seed)?)
}

/// The option that is there of those which change a partition of a file.
fn suspends(arguments: &BootArguments) -> Option<&'static str> {
    let suspend = arguments.suspend.as_ref().map(|_| "--suspend");
    suspend.or(arguments.from.as_ref().map(|_| "--from"))
}

/// Asks for the partition of --suspend to be suspended.
fn suspend(arguments: &BootArguments, partitions: &mut [Partition]) -> Result<(), Failure> {
    let (Some(name), Some(at)) = (&arguments.suspend, arguments.at) else { return Ok(()) };
    let partition = named("--suspend", name, partitions)?;
    if partition.dma_window.is_some() || !partition.disks.is_empty() {
        let text = format!(
            "partition {name} has devices, whose state no image holds; suspend another one"
        );
        return Err(Failure::input("--suspend", text));
    }
    partition.suspend_at = Some(at.0);
    Ok(())
}

/// Lets the partition of --from go on.
fn go_on(
    arguments: &BootArguments,
    partitions: &mut [Partition],
    files: &Files,
) -> Result<(), Failure> {
    let Some(path) = &arguments.from else { return Ok(()) };
    let (image, suspended) = suspended::read(path, files)?;
    let partition = named(&path.display().to_string(), &suspended.name, partitions)?;
    suspended.check_is(partition).map_err(|text| Failure::input(path.display(), text))?;
    partition.image = Some(image);
    Ok(())
}

/// The partition of this name, which `place` asks for.
fn named<'a>(
    place: &str,
    name: &str,
    partitions: &'a mut [Partition],
) -> Result<&'a mut Partition, Failure> {
    let names: Vec<String> = partitions.iter().map(|partition| partition.name.clone()).collect();
    let partition = partitions.iter_mut().find(|partition| partition.name == name);
    partition.ok_or_else(|| Failure::input(place, no_partition(name, &names)))
}

/// The partition that the console is for, if an argument names one.
fn console(arguments: &BootArguments, names: &[&String]) -> Result<Option<String>, Failure> {
    match &arguments.console {
        Some(name) if !names.contains(&name) => {
            Err(Failure::input("--console", no_partition(name, names.iter().copied())))
        }
        console => Ok(console.clone()),
    }
}

/// An image bare on the machine.
fn kernel(
    arguments: &BootArguments,
    path: &Path,
    machine: MachineFile,
    files: &Files,
) -> Result<System, Failure> {
    let initrd = arguments.initrd.as_deref().map(|path| files.read(path)).transpose()?;
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
    let kernel = files.read(path)?;
    program_file::check(&kernel).map_err(|text| Failure::input(path.display(), text))?;
    let arguments_text = arguments.append.clone().unwrap_or_default();
    Ok(System {
        name: path.display().to_string(),
        kernel,
        initrd,
        kept_disks: Vec::new(),
        arguments: arguments_text,
        machine,
        seed: arguments.seed,
    })
}

/// The user's own program as a partition.
fn partition(arguments: &BootArguments, path: &Path, files: &Files) -> Result<Partition, Failure> {
    let memory = arguments.memory.unwrap_or(DEFAULT_MEMORY);
    check_memory(memory.0).map_err(|text| Failure::input("--memory", text))?;
    let wrong = |error| Failure::input(path.display(), error);
    let mut payload = Payload::from_file_bytes(&files.read(path)?).map_err(wrong)?;
    payload.check_fits(memory.0).map_err(wrong)?;
    if let Some(path) = &arguments.initrd {
        let wrong = |error| Failure::input(path.display(), error);
        payload.add_initrd(files.read(path)?).map_err(wrong)?;
        payload.check_fits(memory.0).map_err(wrong)?;
    }
    Ok(Partition {
        name: "payload".to_owned(),
        memory_place: "--memory".to_owned(),
        arguments_place: "--append".to_owned(),
        memory_bytes: memory.0,
        vcpus: 1,
        translation: None,
        weight: None,
        time_limit: None,
        has_performance_monitor: false,
        has_superpages: false,
        has_resizable_table: false,
        guest_stop: None,
        dma_window: None,
        suspend_at: None,
        image: None,
        disks: Vec::new(),
        arguments: arguments.append.clone().unwrap_or_default(),
        payload,
    })
}
