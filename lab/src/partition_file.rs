//! A partition file: which partitions to boot and on which machine. See `examples/hello.toml`.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use arch::bundle::{
    ADAPTERS_MAX, BLOCK_BYTES, DISKS_MAX, HashCallPolicy, LEAST_SLICE, MapPolicy, MitigationPolicy,
    PrefetchPolicy, RegisterPolicy, Translation, VCPUS_MAX, WEIGHT_MAX,
};
use arch::excess::{Excess, Excesses};
use arch::features::guest_stop;
use arch::papr::tce;
use serde::Deserialize;
use simulator::platform::layout;
use toml::Spanned;

use crate::bundle::{Disk, KeptFile, Partition, Sharing, is_name};
use crate::failure::Failure;
use crate::images::{GUESTS, Images};
use crate::ledger::names::Program;
use crate::machine_file::MachineFile;
use crate::number::Number;
use crate::payload::Payload;
use crate::size::Size;
use crate::system::check_memory;
use crate::toml_file::{TomlFile, suggest};
use crate::user_file::{self, Files, Unreadable};

/// The file's structure.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Contents {
    machine: Option<MachineTable>,
    slice_us: Option<Spanned<Number>>,
    console: Option<Spanned<String>>,
    #[serde(default)]
    policy: PolicyTable,
    #[serde(default)]
    partition: Vec<PartitionTable>,
}

/// `[machine]`, which kernel files have too.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct MachineTable {
    description: Option<Spanned<String>>,
    memory: Option<Spanned<Size>>,
}

/// What the hypervisor goes by.
#[derive(Deserialize, Clone, Default, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
pub struct PolicyTable {
    registers: Option<Spanned<String>>,
    /// What `registers = "eager"` leaves out.
    #[serde(default)]
    without: Vec<Spanned<String>>,
    mitigations: Option<Spanned<String>>,
    one_partition_per_core: Option<Spanned<bool>>,
    threads_per_core: Option<Spanned<Number>>,
    subcores: Option<Spanned<Number>>,
    map: Option<Spanned<String>>,
    prefetch: Option<Spanned<String>>,
    hash_calls: Option<Spanned<String>>,
}

impl PolicyTable {
    /// `registers`, and nothing left out.
    pub(crate) fn of(registers: Spanned<String>) -> Self {
        Self { registers: Some(registers), ..Self::default() }
    }

    /// Eager, and this left out.
    pub(crate) fn eager(without: Vec<Spanned<String>>) -> Self {
        let eager = RegisterPolicy::Eager { without: Excesses::NONE };
        let registers = Some(Spanned::new(0..0, eager.name().to_owned()));
        Self { registers, without, ..Self::default() }
    }

    /// Where the registers of a vCPU go that gives up the processor.
    pub fn registers(&self, file: &TomlFile) -> Result<RegisterPolicy, Failure> {
        let (from_name, known) =
            (RegisterPolicy::from_name, RegisterPolicy::ALL.map(RegisterPolicy::name));
        let policy = named(file, self.registers.as_ref(), "registers", from_name, known)?;
        self.without.iter().try_fold(policy, |policy, name| {
            let RegisterPolicy::Eager { without } = policy else {
                let text = "only `registers = \"eager\"` leaves something out; remove `without`";
                return Err(file.complain(name.span(), text));
            };
            let excess = Excess::from_name(name.get_ref()).ok_or_else(|| {
                let hint = suggest(name.get_ref(), Excess::ALL.map(Excess::name));
                let text = format!("nothing to leave out is called `{}`; {hint}", name.get_ref());
                file.complain(name.span(), text)
            })?;
            Ok(RegisterPolicy::Eager { without: without.with(excess) })
        })
    }

    /// What is done against speculation.
    pub fn mitigations(&self, file: &TomlFile) -> Result<MitigationPolicy, Failure> {
        let known = MitigationPolicy::ALL.map(MitigationPolicy::name);
        named(file, self.mitigations.as_ref(), "mitigations", MitigationPolicy::from_name, known)
    }

    /// Whether one partition at most runs on a core at a time.
    pub fn has_one_partition_per_core(&self) -> bool {
        self.one_partition_per_core.as_ref().is_some_and(|is_so| *is_so.get_ref())
    }

    /// How many hardware threads of each core, or of each part of a split one, run partitions at most.
    pub fn threads_per_core(&self, file: &TomlFile) -> Result<Option<u32>, Failure> {
        let number = positive(file, self.threads_per_core.as_ref(), u32::MAX)?;
        let key = if self.has_one_partition_per_core() {
            "one_partition_per_core"
        } else if self.prefetch(file)? == PrefetchPolicy::Faithful {
            "prefetch = \"faithful\""
        } else {
            return Ok(number);
        };
        if let (Some(given), Some(2..)) = (&self.threads_per_core, number) {
            let text = format!(
                "with `{key}` one thread of a core runs partitions; write 1, or leave this out"
            );
            return Err(file.complain(given.span(), text));
        }
        Ok(number)
    }

    /// Into how many parts each core is split, if it is.
    pub fn subcores(&self, file: &TomlFile) -> Result<Option<u32>, Failure> {
        let Some(number) = self.subcores.as_ref().filter(|number| number.get_ref().0 != 1) else {
            return Ok(None);
        };
        if let Some(one) = self.one_partition_per_core.as_ref().filter(|is_so| *is_so.get_ref()) {
            let text = "a split core has a partition in each part; leave this or `subcores` out";
            return Err(file.complain(one.span(), text));
        }
        match number.get_ref().0 {
            2 => Ok(Some(2)),
            4 => Ok(Some(4)),
            other => {
                let text = format!(
                    "a core cannot be split into {other}; write 2 or 4, or 1 for a whole one"
                );
                Err(file.complain(number.span(), text))
            }
        }
    }

    /// How the hypervisor reaches the memory of partitions.
    pub fn map(&self, file: &TomlFile) -> Result<MapPolicy, Failure> {
        let known = MapPolicy::ALL.map(MapPolicy::name);
        named(file, self.map.as_ref(), "maps", MapPolicy::from_name, known)
    }

    /// What prefetch engines log and fetch.
    pub fn prefetch(&self, file: &TomlFile) -> Result<PrefetchPolicy, Failure> {
        let known = PrefetchPolicy::ALL.map(PrefetchPolicy::name);
        named(file, self.prefetch.as_ref(), "prefetching", PrefetchPolicy::from_name, known)
    }

    /// Where calls of a hashed page table are answered.
    pub fn hash_calls(&self, file: &TomlFile) -> Result<HashCallPolicy, Failure> {
        let (from_name, known) =
            (HashCallPolicy::from_name, HashCallPolicy::ALL.map(HashCallPolicy::name));
        named(file, self.hash_calls.as_ref(), "calls of a hashed page table", from_name, known)
    }

    /// Fails where a system that is no experiment asks for what only experiments may have.
    fn check_without_experiments(&self, file: &TomlFile) -> Result<(), Failure> {
        let for_map = self.map(file)?.is_for_experiments();
        let for_prefetch = self.prefetch(file)?.is_for_experiments();
        let for_hash_calls = self.hash_calls(file)?.is_for_experiments();
        for (key, given, is_for_experiments, why) in [
            ("map", &self.map, for_map, "it keeps the memory of partitions within reach"),
            ("prefetch", &self.prefetch, for_prefetch, "its engine may overwrite any memory"),
            ("hash_calls", &self.hash_calls, for_hash_calls, "it makes calls slower"),
        ] {
            if let Some(name) = given
                && is_for_experiments
            {
                let text = format!(
                    "only an experiment has `{key} = \"{}\"`: {why}; leave it out",
                    name.get_ref()
                );
                return Err(file.complain(name.span(), text));
            }
        }
        Ok(())
    }

    /// What this says, and `others` where it says nothing.
    pub fn or(&self, others: &Self) -> Self {
        let of_registers = if self.registers.is_some() { self } else { others };
        Self {
            registers: of_registers.registers.clone(),
            without: of_registers.without.clone(),
            mitigations: either(&self.mitigations, &others.mitigations),
            one_partition_per_core: either(
                &self.one_partition_per_core,
                &others.one_partition_per_core,
            ),
            threads_per_core: either(&self.threads_per_core, &others.threads_per_core),
            subcores: either(&self.subcores, &others.subcores),
            map: either(&self.map, &others.map),
            prefetch: either(&self.prefetch, &others.prefetch),
            hash_calls: either(&self.hash_calls, &others.hash_calls),
        }
    }
}

/// The one, or the other where there is no one.
fn either<T: Clone>(one: &Option<T>, other: &Option<T>) -> Option<T> {
    one.as_ref().or(other.as_ref()).cloned()
}

/// The policy with this name, or the usual one; what it is for, and which there are.
fn named<T: Default>(
    file: &TomlFile,
    name: Option<&Spanned<String>>,
    what: &str,
    from_name: impl FnOnce(&str) -> Option<T>,
    known: impl IntoIterator<Item = &'static str>,
) -> Result<T, Failure> {
    let Some(name) = name else { return Ok(T::default()) };
    from_name(name.get_ref()).ok_or_else(|| {
        let hint = suggest(name.get_ref(), known);
        let text = format!("no policy for {what} is called `{}`; {hint}", name.get_ref());
        file.complain(name.span(), text)
    })
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct PartitionTable {
    name: Spanned<String>,
    payload: Spanned<String>,
    initrd: Option<Spanned<String>>,
    memory: Spanned<Size>,
    vcpus: Spanned<Number>,
    arguments: Option<Spanned<String>>,
    translation: Option<Spanned<String>>,
    weight: Option<Spanned<Number>>,
    time_limit_us: Option<Spanned<Number>>,
    #[serde(default)]
    performance_monitor: bool,
    superpages: Option<Spanned<bool>>,
    resizable_table: Option<Spanned<bool>>,
    dma_window: Option<Spanned<Size>>,
    #[serde(default)]
    disks: Vec<Spanned<DiskTable>>,
    #[serde(default)]
    features: FeaturesTable,
}

/// A disk of a partition.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct DiskTable {
    image: Option<Spanned<String>>,
    size: Option<Spanned<Size>>,
    #[serde(default)]
    writable: bool,
    write_back: Option<Spanned<String>>,
    adapter: Option<Spanned<Number>>,
}

/// Features of a partition, each by a version.
#[derive(Deserialize, Default, PartialEq, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FeaturesTable {
    guest_stop: Option<Spanned<Number>>,
}

impl FeaturesTable {
    /// The version of `guest-stop`, checked.
    pub fn guest_stop(&self, file: &TomlFile) -> Result<Option<u32>, Failure> {
        let known = guest_stop::VERSION;
        let Some(version) = &self.guest_stop else { return Ok(None) };
        if version.get_ref().0 != i128::from(known) {
            let text = format!("guest-stop has version {known} only; write `guest-stop = {known}`");
            return Err(file.complain(version.span(), text));
        }
        Ok(Some(known))
    }
}

/// What a partition file asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartitionFile {
    /// The machine to run on.
    pub machine: MachineFile,
    /// How the partitions share it.
    pub sharing: Sharing,
    /// The partitions to run, at least one.
    pub partitions: Vec<Partition>,
}

/// The names of a partition file's partitions, each with what its `payload` says.
///
/// # Errors
/// [`Failure`] if it is no partition file.
pub fn payloads(file: &TomlFile) -> Result<Vec<(String, String)>, Failure> {
    let contents: Contents = file.parse()?;
    let named = |table: PartitionTable| (table.name.into_inner(), table.payload.into_inner());
    Ok(contents.partition.into_iter().map(named).collect())
}

impl PartitionFile {
    /// Reads the file and the payloads that it names.
    pub fn read(path: &Path, files: &Files) -> Result<Self, Failure> {
        Self::from_toml(&TomlFile::read(path, files)?, files)
    }

    /// Reads a file that was read already, and the payloads that it names.
    pub fn from_toml(file: &TomlFile, files: &Files) -> Result<Self, Failure> {
        let table = file.parse()?;
        if is_experiment(&table) {
            let text = "an experiment, and no partition file; `powervisor run` takes it";
            return Err(file.complain(0..0, text));
        }
        if is_kernel_file(&table) {
            let text = "a kernel file, and no partition file; `powervisor boot` takes it";
            return Err(file.complain(0..0, text));
        }
        let contents: Contents = file.parse()?;
        if contents.partition.is_empty() {
            return Err(file.complain(0..0, "no partition; add a [[partition]] table"));
        }
        let mut names = BTreeSet::new();
        let mut partitions = Vec::new();
        for table in &contents.partition {
            let partition = read_partition(file, table, files)?;
            if !names.insert(partition.name.clone()) {
                let text = format!(
                    "a second partition is called `{}`; give each its own name",
                    partition.name
                );
                return Err(file.complain(table.name.span(), text));
            }
            partitions.push(partition);
        }
        check_disks(file, &contents.partition)?;
        let slice = slice(file, contents.slice_us.as_ref())?;
        let console = contents.console.as_ref();
        if let Some(name) = console
            && !names.contains(name.get_ref())
        {
            return Err(file.complain(name.span(), no_partition(name.get_ref(), &names)));
        }
        let console = console.map(|name| name.get_ref().clone());
        let registers = contents.policy.registers(file)?;
        let mitigations = contents.policy.mitigations(file)?;
        contents.policy.check_without_experiments(file)?;
        let map = contents.policy.map(file)?;
        let has_one_partition_per_core = contents.policy.has_one_partition_per_core();
        let prefetch = contents.policy.prefetch(file)?;
        let sharing = Sharing {
            slice,
            console,
            registers,
            mitigations,
            has_one_partition_per_core,
            threads_per_core: contents.policy.threads_per_core(file)?,
            subcores: contents.policy.subcores(file)?,
            map,
            prefetch,
            hash_calls: contents.policy.hash_calls(file)?,
        };
        Ok(Self { machine: machine(file, contents.machine, files)?, sharing, partitions })
    }
}

/// What to say about the name of a partition that is not there.
pub fn no_partition<'a>(name: &str, known: impl IntoIterator<Item = &'a String>) -> String {
    let hint = suggest(name, known.into_iter().map(String::as_str));
    format!("no partition is called `{name}`; {hint}")
}

/// A number that may be left out and is 1 to `limit` otherwise.
pub fn positive(
    file: &TomlFile,
    number: Option<&Spanned<Number>>,
    limit: u32,
) -> Result<Option<u32>, Failure> {
    within(file, number, 1..=limit)
}

/// Microseconds of a slice, which may be left out.
pub fn slice(file: &TomlFile, number: Option<&Spanned<Number>>) -> Result<Option<u32>, Failure> {
    within(file, number, LEAST_SLICE..=u32::MAX)
}

/// A number that may be left out and is in `range` otherwise.
fn within(
    file: &TomlFile,
    number: Option<&Spanned<Number>>,
    range: RangeInclusive<u32>,
) -> Result<Option<u32>, Failure> {
    let Some(number) = number else { return Ok(None) };
    let Number(value) = *number.get_ref();
    if let Some(value) = u32::try_from(value).ok().filter(|value| range.contains(value)) {
        return Ok(Some(value));
    }
    let (least, most) = range.into_inner();
    let text = format!("{value} is out of range; give a number from {least} to {most}");
    Err(file.complain(number.span(), text))
}

/// Arguments, which may be left out.
pub(crate) fn without_nul<'a>(
    file: &TomlFile,
    arguments: Option<&'a Spanned<String>>,
) -> Result<&'a str, Failure> {
    let Some(arguments) = arguments else { return Ok("") };
    if arguments.get_ref().contains('\0') {
        let text = "the arguments hold a NUL character; remove it";
        return Err(file.complain(arguments.span(), text));
    }
    Ok(arguments.get_ref())
}

/// The machine that a table asks for.
pub(crate) fn machine(
    file: &TomlFile,
    table: Option<MachineTable>,
    files: &Files,
) -> Result<MachineFile, Failure> {
    let Some(table) = table else { return Ok(MachineFile::default()) };
    let machine = table
        .description
        .map_or(Ok(MachineFile::default()), |name| read_machine(file, &name, files))?;
    let Some(memory) = table.memory else { return Ok(machine) };
    let place = file.complain(memory.span(), "machine memory").to_string();
    Ok(machine.with_memory(*memory.get_ref(), place))
}

/// Whether the file is an experiment, and not a partition file, by the keys that it has.
#[must_use]
pub fn is_experiment(file: &toml::Table) -> bool {
    let has = |key: &str| file.contains_key(key);
    !has("partition") && (has("question") || has("variant") || has("steps"))
}

/// Whether the file is a kernel file, and not a partition file, by the table that it has.
pub(crate) fn is_kernel_file(file: &toml::Table) -> bool {
    file.contains_key("kernel")
}

/// The machine that a file of the user's names: one that comes with the command, or a path.
pub fn read_machine(
    file: &TomlFile,
    name: &Spanned<String>,
    files: &Files,
) -> Result<MachineFile, Failure> {
    Ok(match MachineFile::built_in(name.get_ref()) {
        Some(machine) => machine,
        None if name.get_ref().ends_with(".toml") => {
            MachineFile::read(&file.resolve(name.get_ref()), files)?
        }
        None => return Err(file.complain(name.span(), MachineFile::unknown(name.get_ref()))),
    })
}

fn read_partition(
    file: &TomlFile,
    table: &PartitionTable,
    files: &Files,
) -> Result<Partition, Failure> {
    let name = table.name.get_ref();
    if !is_name(name) {
        let text = format!(
            "`{name}` cannot name a partition; use up to 31 letters, digits and `,._+-`, beginning with a letter"
        );
        return Err(file.complain(table.name.span(), text));
    }
    if table.vcpus.get_ref().0 == 0 {
        let text = "a partition needs a vCPU; write `vcpus = 1`";
        return Err(file.complain(table.vcpus.span(), text));
    }
    let vcpus = positive(file, Some(&table.vcpus), VCPUS_MAX)?;
    let dma_window = dma_window(file, table.dma_window.as_ref())?;
    let disks = disks(file, &table.disks, files)?;
    let dma_window = window_for(dma_window, &disks);
    let arguments = without_nul(file, table.arguments.as_ref())?;
    let translation = translation(file, table.translation.as_ref())?;
    Ok(Partition {
        name: name.clone(),
        memory_place: file.place(table.memory.span()),
        arguments_place: file
            .place(table.arguments.as_ref().map_or(table.name.span(), Spanned::span)),
        memory_bytes: table.memory.get_ref().0,
        vcpus: vcpus.unwrap_or(1),
        translation,
        weight: positive(file, table.weight.as_ref(), WEIGHT_MAX)?,
        time_limit: positive(file, table.time_limit_us.as_ref(), u32::MAX)?,
        has_performance_monitor: table.performance_monitor,
        has_superpages: superpages(file, table.superpages.as_ref(), translation)?,
        has_resizable_table: resizable_table(file, table.resizable_table.as_ref(), translation)?,
        guest_stop: table.features.guest_stop(file)?,
        dma_window,
        suspend_at: None,
        image: None,
        disks,
        arguments: arguments.to_owned(),
        payload: read_payload(file, &table.payload, table.initrd.as_ref(), &table.memory, files)?.0,
    })
}

/// Whether a partition that is translated so has superpages.
pub fn superpages(
    file: &TomlFile,
    wanted: Option<&Spanned<bool>>,
    translation: Option<Translation>,
) -> Result<bool, Failure> {
    let text = "superpages are made in a hashed page table; write `translation = \"hash\"`";
    with_hash(file, wanted, translation, text)
}

/// Whether a partition that is translated so can change the size of its hashed page table.
pub fn resizable_table(
    file: &TomlFile,
    wanted: Option<&Spanned<bool>>,
    translation: Option<Translation>,
) -> Result<bool, Failure> {
    let text = "it has no hashed page table to resize; write `translation = \"hash\"`";
    with_hash(file, wanted, translation, text)
}

/// What only a partition with a hashed page table can have; `text` says so to another one that asks for it.
fn with_hash(
    file: &TomlFile,
    wanted: Option<&Spanned<bool>>,
    translation: Option<Translation>,
    text: &str,
) -> Result<bool, Failure> {
    let Some(wanted) = wanted else { return Ok(false) };
    if *wanted.get_ref() && translation == Some(Translation::Radix) {
        return Err(file.complain(wanted.span(), text));
    }
    Ok(*wanted.get_ref())
}

/// How a partition is translated, which may be left out.
pub fn translation(
    file: &TomlFile,
    name: Option<&Spanned<String>>,
) -> Result<Option<Translation>, Failure> {
    let Some(name) = name else { return Ok(None) };
    Translation::from_name(name.get_ref()).map(Some).ok_or_else(|| {
        let hint = suggest(name.get_ref(), Translation::ALL.map(Translation::name));
        let text = format!("no translation is called `{}`; {hint}", name.get_ref());
        file.complain(name.span(), text)
    })
}

/// Bytes of the window of a partition that has disks and asks for none: enough for the transfers that Linux has
/// under way at a time.
const DMA_WINDOW_OF_DISKS: u32 = 64 << 20;

/// The window of a partition with these disks, if it says none.
pub fn window_for(window: Option<u32>, disks: &[Disk]) -> Option<u32> {
    window.or_else(|| (!disks.is_empty()).then_some(DMA_WINDOW_OF_DISKS))
}

/// A disk that begins blank, and that the partition may write to, behind each of so many adapters.
pub fn blank_disks(
    file: &TomlFile,
    size: Option<&Spanned<Size>>,
    adapters: Option<&Spanned<Number>>,
) -> Result<Vec<Disk>, Failure> {
    let count = positive(file, adapters, ADAPTERS_MAX as u32)?.unwrap_or(1);
    let Some(size) = size else {
        return adapters.map_or(Ok(Vec::new()), |adapters| {
            let text = "an adapter has a disk; say its size, as in `disk = \"1 MiB\"`";
            Err(file.complain(adapters.span(), text))
        });
    };
    let disk = blank_disk(file, size)?;
    Ok((0..count).map(|adapter| Disk { adapter, ..disk.clone() }).collect())
}

/// One that begins blank.
fn blank_disk(file: &TomlFile, size: &Spanned<Size>) -> Result<Disk, Failure> {
    let table = DiskTable {
        image: None,
        size: Some(size.clone()),
        writable: true,
        write_back: None,
        adapter: None,
    };
    disk(file, &Spanned::new(size.span(), table), &Files::default())
}

/// The images of a partition's disks.
fn disks(
    file: &TomlFile,
    tables: &[Spanned<DiskTable>],
    files: &Files,
) -> Result<Vec<Disk>, Failure> {
    if let Some(table) = tables.get(DISKS_MAX) {
        let text = format!("a partition has {DISKS_MAX} disks at most; remove the others");
        return Err(file.complain(table.span(), text));
    }
    check_adapters(file, tables)?;
    tables.iter().map(|table| disk(file, table, files)).collect()
}

/// Fails if a disk is behind an adapter that cannot be, or that is not the next one of those with disks.
fn check_adapters(file: &TomlFile, tables: &[Spanned<DiskTable>]) -> Result<(), Failure> {
    let number = |table: &DiskTable| table.adapter.as_ref().map_or(0, |number| number.get_ref().0);
    let all: BTreeSet<_> = tables.iter().map(|table| number(table.get_ref())).collect();
    for adapter in tables.iter().filter_map(|table| table.get_ref().adapter.as_ref()) {
        let number = adapter.get_ref().0;
        if !(0..ADAPTERS_MAX as i128).contains(&number) {
            let text = format!(
                "a partition has {ADAPTERS_MAX} adapters at most; write a number from 0 to {}",
                ADAPTERS_MAX - 1
            );
            return Err(file.complain(adapter.span(), text));
        }
        if let Some(empty) = (0..number).find(|other| !all.contains(other)) {
            let text = format!(
                "adapter {empty} has no disk; number adapters from 0, without a gap up to {number}"
            );
            return Err(file.complain(adapter.span(), text));
        }
    }
    Ok(())
}

/// Fails if two disks are to be written to one file, or blank ones are more than a bundle holds.
fn check_disks(file: &TomlFile, partitions: &[PartitionTable]) -> Result<(), Failure> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut blank = 0;
    for table in partitions.iter().flat_map(|partition| &partition.disks) {
        if let Some(size) = &table.get_ref().size {
            blank += u128::from(size.get_ref().0);
            if blank > u128::from(BLANK_MAX.0) {
                let text =
                    format!("blank disks have {BLANK_MAX} at most, all together; give them less");
                return Err(file.complain(size.span(), text));
            }
        }
        let Some(name) = &table.get_ref().write_back else { continue };
        let path = user_file::destination(&file.resolve(name.get_ref()));
        // Another name of a file that is there already is that file too.
        if paths.iter().any(|other| *other == path || user_file::is_same_file(other, &path)) {
            let text =
                format!("a second disk is written to {}; give each its own file", name.get_ref());
            return Err(file.complain(name.span(), text));
        }
        paths.push(path);
    }
    Ok(())
}

fn disk(file: &TomlFile, table: &Spanned<DiskTable>, files: &Files) -> Result<Disk, Failure> {
    let DiskTable { image, size, writable, write_back, adapter } = table.get_ref();
    let (span, whose, image) = match (image, size) {
        (Some(name), None) if name.get_ref().is_empty() => {
            let text = "it names no file; for a blank disk write `size = \"1 MiB\"` instead";
            return Err(file.complain(name.span(), text));
        }
        (Some(name), None) => {
            let path = file.resolve(name.get_ref());
            let shown = format!("the disk {}", path.display());
            let image = files.bytes_of(&path).map_err(|why| match why {
                Unreadable::Interrupted => Failure::Interrupted,
                why => file.complain(name.span(), format!("{shown} {why}")),
            })?;
            (name.span(), shown, image)
        }
        (None, Some(size)) if size.get_ref().0 > BLANK_MAX.0 => {
            let text =
                format!("blank disks have {BLANK_MAX} at most, all together; give them less");
            return Err(file.complain(size.span(), text));
        }
        (None, Some(size)) => {
            (size.span(), "a blank disk".to_owned(), vec![0; size.get_ref().0 as usize])
        }
        _ => {
            let text =
                "a disk has an image or a size; write `image = \"disk.img\"` or `size = \"1 MiB\"`";
            return Err(file.complain(table.span(), text));
        }
    };
    let bytes = image.len() as u64;
    if bytes == 0 || !bytes.is_multiple_of(BLOCK_BYTES) {
        let fill = match table.get_ref().image {
            Some(_) if bytes > 0 => {
                format!(" (`truncate --size %{BLOCK_BYTES} FILE` fills the last one)")
            }
            _ => String::new(),
        };
        let text = format!(
            "{whose} has {bytes} bytes; a disk has whole blocks of {BLOCK_BYTES}, one at least{fill}"
        );
        return Err(file.complain(span, text));
    }
    if let (Some(name), false) = (write_back, writable) {
        let text = "a disk that is read-only stays as it is; write `writable = true`, or leave `write_back` out";
        return Err(file.complain(name.span(), text));
    }
    if let Some(name) = write_back
        && name.get_ref().is_empty()
    {
        return Err(file.complain(name.span(), "it names no file; leave `write_back` out"));
    }
    let from = table.get_ref().image.as_ref().map(|name| file.resolve(name.get_ref()));
    let kept = write_back
        .as_ref()
        .map(|name| user_file::destination(&file.resolve(name.get_ref())))
        .map(|path| KeptFile { path, image: from });
    // `check_adapters` has looked at it.
    let adapter = adapter.as_ref().map_or(0, |number| number.get_ref().0 as u32);
    Ok(Disk { image, is_writable: *writable, adapter, kept })
}

/// What disks that begin blank have at most: they are in the bundle.
const BLANK_MAX: Size = Size(layout::INITRD_BYTES);

/// Bytes of a window for devices, checked.
pub fn dma_window(file: &TomlFile, window: Option<&Spanned<Size>>) -> Result<Option<u32>, Failure> {
    let Some(window) = window else { return Ok(None) };
    let page = Size(1 << tce::PAGE_LOG2);
    let most = Size(tce::WINDOW_BYTES_MAX);
    let Size(bytes) = *window.get_ref();
    if !tce::is_window(bytes) {
        let text =
            format!("a window has whole {page}, up to {most}; write `dma_window = \"64 KiB\"`");
        return Err(file.complain(window.span(), text));
    }
    Ok(u32::try_from(bytes).ok())
}

/// The payload that a file of the user's names, checked against the memory it gives: one of ours by
/// its name, or a path, and a second file.
pub fn read_payload(
    file: &TomlFile,
    name: &Spanned<String>,
    initrd: Option<&Spanned<String>>,
    memory: &Spanned<Size>,
    files: &Files,
) -> Result<(Payload, Program), Failure> {
    check_memory(memory.get_ref().0).map_err(|text| file.complain(memory.span(), text))?;
    let (shown, bytes) = if GUESTS.contains(&name.get_ref().as_str()) {
        (name.get_ref().clone(), Images::find()?.guest(name.get_ref())?)
    } else {
        if name.get_ref().is_empty() {
            let text = format!("no payload; name a file or one of ours: {}", GUESTS.join(", "));
            return Err(file.complain(name.span(), text));
        }
        let path = file.resolve(name.get_ref());
        let shown = path.display().to_string();
        let wrong = |why| {
            let text = match why {
                Unreadable::Interrupted => return Failure::Interrupted,
                Unreadable::Host(error) => format!(
                    "the payload {shown} cannot be read: {error}; name a file or one of ours: {}",
                    GUESTS.join(", ")
                ),
                why => format!("the payload {shown} {why}"),
            };
            file.complain(name.span(), text)
        };
        let bytes = files.bytes_of(&path).map_err(wrong)?;
        (shown, bytes)
    };
    let program = Program::of_elf(&bytes);
    let mut payload = Payload::from_file_bytes(&bytes)
        .map_err(|error| file.complain(name.span(), format_args!("{shown}: {error}")))?;
    let check_fits = |payload: &Payload, what: &str| {
        let wrong = |error| file.complain(memory.span(), format_args!("{what}: {error}"));
        payload.check_fits(memory.get_ref().0).map_err(wrong)
    };
    check_fits(&payload, &shown)?;
    if let Some(name) = initrd {
        let path = file.resolve(name.get_ref());
        let wrong = |text: String| file.complain(name.span(), text);
        let shown = path.display().to_string();
        let bytes = files.bytes_of(&path).map_err(|why| match why {
            Unreadable::Interrupted => Failure::Interrupted,
            why => wrong(format!("the initrd {shown} {why}")),
        })?;
        payload.add_initrd(bytes).map_err(|error| wrong(format!("{shown}: {error}")))?;
        check_fits(&payload, &shown)?;
    }
    Ok((payload, program))
}
