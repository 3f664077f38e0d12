//! An experiment file: one question, a payload, and the variants that are compared. See
//! `experiments/null-hypercall.toml`.

pub mod built_in;
pub mod kernel;
mod like;
mod steps;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use arch::bundle::{VCPUS_MAX, WEIGHT_MAX};
use arch::interrupt::Vector;
use arch::marker::Region;
use arch::processor::Processor;
use serde::Deserialize;
use simulator::ledger::Cause;
use simulator::trace::Counts;
use toml::Spanned;

use crate::bundle::{Partition, Sharing, is_name};
use crate::failure::Failure;
use crate::images::Images;
use crate::ledger::names::{Names, Program};
use crate::loss::{self, LOSS};
use crate::machine_file::MachineFile;
use crate::metric::{Per, metrics};
use crate::number::Number;
use crate::partition_file::{
    FeaturesTable, PolicyTable, blank_disks, dma_window, positive, read_machine, read_payload,
    slice, superpages, translation, window_for,
};
use crate::payload::Payload;
use crate::reasons::Reason;
use crate::setting::{self, Given, Setting};
use crate::size::Size;
use crate::steps::Steps;
use crate::system::System;
use crate::toml_file::{TomlFile, suggest};
use crate::user_file::Files;

use kernel::{Kernel, KernelTable};
use steps::StepsTable;

/// What names experiments and variants, which name files too.
const NAME: &str = "use up to 31 letters, digits and `,._+-`, beginning with a letter";

/// The file's structure.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Contents {
    name: Spanned<String>,
    question: String,
    machine: Spanned<String>,
    /// Chips, cores of each, threads of each core, if not the machine's own.
    topology: Option<Spanned<[u32; 3]>>,
    /// Bytes of memory, if not the machine's own.
    machine_memory: Option<Spanned<Size>>,
    payload: Spanned<String>,
    memory: Spanned<Size>,
    /// Of every variant that names none of its own.
    region: Option<RegionTable>,
    per: Spanned<Per>,
    /// How many of what `per` says are in the region of every variant that does not say it, where `per` is a
    /// word of the experiment's own.
    divisor: Option<Spanned<Number>>,
    /// Of every variant, where its own says nothing.
    #[serde(default)]
    policy: PolicyTable,
    #[serde(default)]
    published: Vec<PublishedTable>,
    /// The variant that the others' loss is of.
    loss_against: Option<Spanned<String>>,
    #[serde(default)]
    variant: Vec<Spanned<VariantTable>>,
    /// Variants in steps, behind the others.
    steps: Option<StepsTable>,
    /// Why lines of a variant's ledger cannot go.
    #[serde(default)]
    reason: Vec<ReasonTable>,
}

fn region_of(file: &TomlFile, number: &Spanned<u16>) -> Result<Region, Failure> {
    Region::new(*number.get_ref()).ok_or_else(|| {
        let text = format!("no such region; the number must be at most {}", Region::MAX);
        file.complain(number.span(), text)
    })
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct RegionTable {
    name: String,
    number: Spanned<u16>,
    /// The interrupt out of a partition that begins it, where no mark does.
    begins: Option<Spanned<String>>,
}

impl RegionTable {
    fn check(&self, file: &TomlFile) -> Result<(Region, String), Failure> {
        Ok((region_of(file, &self.number)?, self.name.clone()))
    }

    fn begins(&self, file: &TomlFile) -> Result<Option<Vector>, Failure> {
        let Some(name) = &self.begins else { return Ok(None) };
        let key = |vector: &Vector| vector.name().to_lowercase().replace(' ', "-");
        let found = Vector::ALL.iter().find(|vector| key(vector) == *name.get_ref());
        found.copied().map(Some).ok_or_else(|| {
            let known: Vec<String> = Vector::ALL.iter().map(key).collect();
            let hint = suggest(name.get_ref(), known.iter().map(String::as_str));
            let text = format!("no interrupt is called `{}`; {hint}", name.get_ref());
            file.complain(name.span(), text)
        })
    }
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct VariantTable {
    name: Spanned<String>,
    #[expect(dead_code, reason = "the keys of the one above are here already")]
    like: Option<String>,
    /// It runs bare on the machine, and there are no partitions.
    kernel: Option<KernelTable>,
    arguments: String,
    /// `KEY=VALUE`: what is not as in the machine's description.
    #[serde(default)]
    set: Vec<Spanned<String>>,
    /// Of the partition that the experiment is named after.
    vcpus: Option<Spanned<Number>>,
    /// Of the partition that the experiment is named after.
    translation: Option<Spanned<String>>,
    /// Of the partition that the experiment is named after.
    superpages: Option<Spanned<bool>>,
    /// Microseconds that a vCPU runs when others wait, if not the usual time.
    slice_us: Option<Spanned<Number>>,
    /// Of the partition that the experiment is named after.
    dma_window: Option<Spanned<Size>>,
    /// Of the partition that the experiment is named after: a blank disk, which it may write to.
    disk: Option<Spanned<Size>>,
    /// Its virtual SCSI adapters, each with such a disk; one if it does not say so.
    adapters: Option<Spanned<Number>>,
    /// Of the partition that the experiment is named after.
    #[serde(default)]
    features: FeaturesTable,
    region: Option<RegionTable>,
    /// The number of the region at whose beginning timing begins; the run is fast until then.
    warm_up: Option<Spanned<u16>>,
    /// If not the experiment's.
    divisor: Option<Spanned<Number>>,
    /// If not the experiment's.
    loss_against: Option<Spanned<String>>,
    expect: String,
    #[serde(default)]
    policy: PolicyTable,
    /// Partitions that run beside it, with the same payload and as much memory.
    #[serde(default)]
    partner: Vec<PartnerTable>,
}

impl VariantTable {
    /// A key that a variant with a kernel cannot have, if it has one.
    fn key_of_partitions(&self) -> Option<&'static str> {
        let keys = [
            ("vcpus", self.vcpus.is_some()),
            ("translation", self.translation.is_some()),
            ("superpages", self.superpages.is_some()),
            ("slice_us", self.slice_us.is_some()),
            ("dma_window", self.dma_window.is_some()),
            ("disk", self.disk.is_some()),
            ("adapters", self.adapters.is_some()),
            ("features", self.features != FeaturesTable::default()),
            ("policy", self.policy != PolicyTable::default()),
            ("partner", !self.partner.is_empty()),
        ];
        keys.into_iter().find(|(_, is_given)| *is_given).map(|(key, _)| key)
    }
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct PartnerTable {
    name: Spanned<String>,
    arguments: Spanned<String>,
    vcpus: Option<Spanned<Number>>,
    weight: Option<Spanned<Number>>,
    expect: String,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct PublishedTable {
    metric: Spanned<String>,
    /// Which variant's figure it stands beside, if not every one's.
    variant: Option<Spanned<String>>,
    value: Spanned<f64>,
    what: String,
    source: String,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct ReasonTable {
    variant: Spanned<String>,
    functions: Spanned<Vec<String>>,
    cause: Option<Spanned<String>>,
    why: String,
}

impl ReasonTable {
    fn check(self, file: &TomlFile, variants: &[Variant]) -> Result<Reason, Failure> {
        let known = || variants.iter().map(|variant| variant.name.as_str());
        let name = self.variant.get_ref();
        if !known().any(|known| known == name) {
            let text = format!("no variant is called `{name}`; {}", suggest(name, known()));
            return Err(file.complain(self.variant.span(), text));
        }
        if self.functions.get_ref().iter().all(String::is_empty) {
            let text = "a reason for no function; name those whose lines it is for";
            return Err(file.complain(self.functions.span(), text));
        }
        if let Some(cause) = &self.cause {
            let causes = || Cause::ALL.iter().map(|cause| cause.name());
            let name = cause.get_ref();
            if !causes().any(|known| known == name) {
                let text = format!("no cause is called `{name}`; {}", suggest(name, causes()));
                return Err(file.complain(cause.span(), text));
            }
        }
        Ok(Reason {
            variant: self.variant.into_inner(),
            functions: self.functions.into_inner(),
            cause: self.cause.map(Spanned::into_inner),
            why: self.why,
        })
    }
}

impl PublishedTable {
    fn check(self, file: &TomlFile, per: &Per, variants: &[Variant]) -> Result<Published, Failure> {
        if let Some(variant) = &self.variant {
            let known = || variants.iter().map(|variant| variant.name.as_str());
            let name = variant.get_ref();
            if !known().any(|known| known == name) {
                let text = format!("no variant is called `{name}`; {}", suggest(name, known()));
                return Err(file.complain(variant.span(), text));
            }
        }
        let metric = self.metric.get_ref();
        let names: Vec<String> = metrics(per).map(|metric| metric.name(per)).collect();
        let mut losses: Vec<String> = names.iter().filter_map(|name| loss::name_of(name)).collect();
        losses.push(LOSS.to_owned());
        let known = names.iter().chain(&losses).map(String::as_str);
        if !known.clone().any(|name| name == metric) {
            let text = format!("no figure is called `{metric}`; {}", suggest(metric, known));
            return Err(file.complain(self.metric.span(), text));
        }
        let value = *self.value.get_ref();
        let is_loss = losses.contains(metric);
        if !(value.is_finite() && (value > 0.0 || is_loss && value < 0.0)) {
            let text = format!(
                "{value} cannot be compared with; give a number {}",
                if is_loss { "other than 0" } else { "above 0" }
            );
            return Err(file.complain(self.value.span(), text));
        }
        let Self { metric, what, source, variant, .. } = self;
        let variant = variant.map(Spanned::into_inner);
        Ok(Published { metric: metric.into_inner(), variant, value, what, source })
    }
}

/// A figure that somebody else published for the same question.
#[derive(serde::Serialize, Clone, PartialEq, Debug)]
pub struct Published {
    /// Of which of our metrics.
    #[serde(skip_serializing)]
    pub metric: String,
    /// Of which variant, if not of all.
    #[serde(skip_serializing)]
    pub variant: Option<String>,
    /// The figure, in the metric's unit.
    pub value: f64,
    /// Of what it is the figure.
    pub what: String,
    /// Who published it.
    pub source: String,
}

/// The partition that an experiment is about, as far as it is the same in all variants. Its partners have the
/// same payload and as much memory.
struct FirstPartition<'a> {
    memory_place: String,
    memory_bytes: u64,
    name: &'a str,
    payload: &'a Payload,
}

impl FirstPartition<'_> {
    /// The partitions of a variant, this one first, and the lines that they have to print.
    fn with_partners(
        &self,
        file: &TomlFile,
        table: &Spanned<VariantTable>,
    ) -> Result<(Vec<Partition>, Vec<String>), Failure> {
        let variant = table.get_ref();
        let name = variant.name.get_ref();
        let first = self.partition(file, self.name, name, &variant.arguments, table.span())?;
        let vcpus = positive(file, variant.vcpus.as_ref(), VCPUS_MAX)?.unwrap_or(1);
        let disks = blank_disks(file, variant.disk.as_ref(), variant.adapters.as_ref())?;
        let dma_window = window_for(dma_window(file, variant.dma_window.as_ref())?, &disks);
        let guest_stop = variant.features.guest_stop(file)?;
        let translation = translation(file, variant.translation.as_ref())?;
        let has_superpages = superpages(file, variant.superpages.as_ref(), translation)?;
        let first = Partition {
            vcpus,
            translation,
            has_superpages,
            guest_stop,
            dma_window,
            disks,
            ..first
        };
        let mut partitions = vec![first];
        let mut expect = vec![variant.expect.clone()];
        for PartnerTable { name, arguments, vcpus, weight, expect: line } in &variant.partner {
            let (span, name) = (name.span(), name.get_ref());
            if !is_name(name) {
                let text = format!("`{name}` cannot name a partition; {NAME}");
                return Err(file.complain(span, text));
            }
            if partitions.iter().any(|other| other.name == *name) {
                let text = format!("a second partition is called `{name}`; give each its own name");
                return Err(file.complain(span, text));
            }
            let partner =
                self.partition(file, name, name, arguments.get_ref(), arguments.span())?;
            let weight = positive(file, weight.as_ref(), WEIGHT_MAX)?;
            let vcpus = positive(file, vcpus.as_ref(), VCPUS_MAX)?.unwrap_or(1);
            partitions.push(Partition { vcpus, weight, ..partner });
            expect.push(line.clone());
        }
        if partitions.len() > 1 {
            // With several partitions the console says whose a line is.
            for (line, partition) in expect.iter_mut().zip(&partitions) {
                *line = format!("[{}] {line}", partition.name);
            }
        }
        Ok((partitions, expect))
    }

    /// A partition of one vCPU with these arguments, which are said to be `whose` if they are wrong.
    fn partition(
        &self,
        file: &TomlFile,
        name: &str,
        whose: &str,
        arguments: &str,
        span: Range<usize>,
    ) -> Result<Partition, Failure> {
        if arguments.contains('\0') {
            let text = format!("the arguments of `{whose}` hold a NUL character; remove it");
            return Err(file.complain(span, text));
        }
        Ok(Partition {
            memory_place: self.memory_place.clone(),
            arguments_place: file.place(span),
            name: name.to_owned(),
            memory_bytes: self.memory_bytes,
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
            arguments: arguments.to_owned(),
            payload: self.payload.clone(),
        })
    }
}

/// An experiment, read and checked.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Also the partition's name.
    pub name: String,
    /// One sentence.
    pub question: String,
    /// The machine to run on.
    pub machine: MachineFile,
    /// What counts are divided by.
    pub per: Per,
    /// What others published.
    pub published: Vec<Published>,
    /// Of which processor: that of the experiment's own machine.
    pub published_of: Processor,
    /// The payload's symbols and code, if its file has them.
    pub program: Program,
    /// At least one.
    pub variants: Vec<Variant>,
    /// The way from one of them to another, in steps.
    pub steps: Option<Steps>,
    /// Why lines of a variant's ledger cannot go.
    pub reasons: Vec<Reason>,
}

/// One way to run the payload.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Unique in the experiment.
    pub name: String,
    /// The marked part of the payload that is counted, and its name.
    pub region: (Region, String),
    /// The interrupt out of a partition that begins the region, where no mark does.
    pub begins: Option<Vector>,
    /// The region at whose beginning timing begins, if that is not the first instruction.
    pub warm_up: Option<Region>,
    /// How many of what counts are divided by are in the region, where nothing counts them.
    pub divisor: Option<u32>,
    /// The variant that its loss is of.
    pub loss_against: Option<String>,
    /// What of the machine is not as in its description.
    pub set: Vec<Setting>,
    /// What runs.
    pub work: Work,
    /// Lines that the console must show, or the run went wrong.
    pub expect: Vec<String>,
}

/// What a variant runs.
#[derive(Clone, Debug)]
pub enum Work {
    /// The hypervisor with partitions.
    Partitions {
        /// The one with the experiment's name, and its partners.
        partitions: Vec<Partition>,
        /// How they share the machine.
        sharing: Sharing,
    },
    /// A kernel, bare.
    Kernel(Kernel),
}

impl Variant {
    /// Of what it sets, what the settings of whoever runs it leave, on this machine.
    ///
    /// # Errors
    /// What is wrong, if these name no value or several.
    pub fn keep_set(&mut self, machine: &MachineFile, others: &[Setting]) -> Result<(), String> {
        let others = setting::places(machine.text(), others)?;
        let is_left = |setting: &Setting| {
            let own = setting::places(machine.text(), std::slice::from_ref(setting));
            own.is_ok_and(|own| own.keys().all(|place| !others.contains_key(place)))
        };
        self.set.retain(is_left);
        Ok(())
    }

    /// What it sets, by the places in the machine's description.
    ///
    /// # Errors
    /// What is wrong, if that names no value or several.
    pub fn places(&self, machine: &MachineFile) -> Result<BTreeMap<String, Given>, String> {
        setting::places(machine.text(), &self.set)
    }

    /// What its counts are divided by.
    #[must_use]
    pub fn divisor_of(&self, per: &Per, counts: &Counts) -> u64 {
        self.divisor.map_or_else(|| per.of(counts), u64::from)
    }
}

/// Fails if `per` is a word of the experiment's own and somewhere has no number, or has one and is not.
fn check_per(file: &TomlFile, contents: &Contents) -> Result<(), Failure> {
    let divisors = contents.variant.iter().map(|variant| &variant.get_ref().divisor);
    let Per::Own(word) = contents.per.get_ref() else {
        let given = divisors.flatten().chain(&contents.divisor).next();
        return given.map_or(Ok(()), |divisor| {
            let noun = contents.per.get_ref().noun();
            let text = format!(
                "what is `per = \"{noun}\"` is counted; leave `divisor` out, or give `per` a word of your own"
            );
            Err(file.complain(divisor.span(), text))
        });
    };
    let is_given = contents.divisor.is_some()
        || contents.variant.iter().all(|one| one.get_ref().divisor.is_some());
    if !is_given {
        let hint = suggest(word, Per::KNOWN);
        let text =
            format!("nothing counts `{word}`, and no `divisor` says how many there are; {hint}");
        return Err(file.complain(contents.per.span(), text));
    }
    if !is_name(word) {
        let text = format!("`{word}` cannot be part of a figure's name; {NAME}");
        return Err(file.complain(contents.per.span(), text));
    }
    Ok(())
}

/// Settings of a variant, each for a value that the machine has.
fn settings(
    file: &TomlFile,
    machine: &MachineFile,
    given: &[Spanned<String>],
) -> Result<Vec<Setting>, Failure> {
    // With those before: some values fit with others alone.
    let mut settings = Vec::new();
    for text in given {
        let wrong = |error| file.complain(text.span(), error);
        settings.push(text.get_ref().parse::<Setting>().map_err(wrong)?);
        machine.set(&settings).map_err(wrong)?;
    }
    Ok(settings)
}

impl Experiment {
    /// Keeps the variants with these names alone; the steps lead through all of them, so there are none any more.
    ///
    /// # Errors
    /// [`Failure`] if there is no such variant.
    pub fn keep(&mut self, names: &[String]) -> Result<(), Failure> {
        let known = || self.variants.iter().map(|variant| variant.name.as_str());
        if let Some(unknown) = names.iter().find(|name| !known().any(|known| known == *name)) {
            let text = format!("no variant is called `{unknown}`; {}", suggest(unknown, known()));
            return Err(Failure::input("--variant", text));
        }
        self.variants.retain(|variant| names.contains(&variant.name));
        self.steps = None;
        Ok(())
    }

    /// What a variant runs, on the experiment's machine.
    pub fn system(&self, variant: &Variant, seed: u64) -> Result<System, Failure> {
        let who = format!("`set` of the variant {}", variant.name);
        let machine = self.machine.clone().with_settings(&who, &variant.set)?;
        match &variant.work {
            Work::Partitions { partitions, sharing } => {
                System::with_partitions(partitions, sharing, machine, seed)
            }
            Work::Kernel(kernel) => kernel.system(machine, seed),
        }
    }

    /// The functions of what a variant runs.
    ///
    /// # Errors
    /// [`Failure`] if the images are not there.
    pub fn names(&self, variant: &Variant) -> Result<Names, Failure> {
        match &variant.work {
            Work::Partitions { partitions, .. } => Ok(Names {
                host: Program::of_elf(
                    &Images::find()?.hypervisor_of(self.machine.describe()?.processor())?,
                ),
                is_bare: false,
                // The hypervisor numbers partitions in the order of the bundle, from 1.
                partitions: (1..)
                    .zip(partitions)
                    .map(|(lpid, partition)| (lpid, (partition.name.clone(), self.program.clone())))
                    .collect(),
            }),
            Work::Kernel(kernel) => kernel.names(),
        }
    }

    /// The experiment with this name that comes with the command, or the one in the user's own file.
    ///
    /// # Errors
    /// [`Failure`] if there is neither.
    pub fn named(name: &Path, files: &Files) -> Result<Self, Failure> {
        Self::of_file(&built_in::file(name, files)?, files)
    }

    /// Reads the file and the payload that it names.
    pub fn read(path: &Path, files: &Files) -> Result<Self, Failure> {
        Self::of_file(&TomlFile::read(path, files)?, files)
    }

    fn of_file(file: &TomlFile, files: &Files) -> Result<Self, Failure> {
        if file.parse::<toml::Table>()?.contains_key("partition") {
            let text = "a partition file, and no experiment; `powervisor boot` takes it";
            return Err(file.complain(0..0, text));
        }
        let mut contents: Contents = file.parse_after(|root| like::fill(file, root))?;
        let steps = match contents.steps.take() {
            None => None,
            Some(table) => {
                let (steps, mut variants) = table.expand(file)?;
                contents.variant.append(&mut variants);
                Some(steps)
            }
        };
        let name = contents.name.get_ref();
        if !is_name(name) {
            let text = format!("`{name}` cannot name an experiment; {NAME}");
            return Err(file.complain(contents.name.span(), text));
        }
        check_per(file, &contents)?;
        let (payload, program) =
            read_payload(file, &contents.payload, None, &contents.memory, files)?;

        let machine = read_machine(file, &contents.machine, files)?;
        let mut names = BTreeSet::new();
        let mut variants = Vec::new();
        for table in &contents.variant {
            let variant = table.get_ref();
            let variant_name = variant.name.get_ref();
            if !is_name(variant_name) {
                let text = format!("`{variant_name}` cannot name a variant; {NAME}");
                return Err(file.complain(variant.name.span(), text));
            }
            if !names.insert(variant_name) {
                let text =
                    format!("a second variant is called `{variant_name}`; give each its own name");
                return Err(file.complain(table.span(), text));
            }
            let first = FirstPartition {
                memory_place: file.place(contents.memory.span()),
                memory_bytes: contents.memory.get_ref().0,
                name,
                payload: &payload,
            };
            if let Some(partner) = variant.partner.first()
                && !contents.per.get_ref().is_of_all_partitions()
            {
                let text = "a partner would begin the region too; give it to an experiment with \
                            `per = \"switch\"`, `per = \"event\"`, `per = \"slice\"` or `per = \"job\"`";
                return Err(file.complain(partner.name.span(), text));
            }
            let policy = variant.policy.or(&contents.policy);
            let (work, expect) = match &variant.kernel {
                None => {
                    let (partitions, expect) = first.with_partners(file, table)?;
                    let sharing = Sharing {
                        slice: slice(file, variant.slice_us.as_ref())?,
                        registers: policy.registers(file)?,
                        mitigations: policy.mitigations(file)?,
                        has_one_partition_per_core: policy.has_one_partition_per_core(),
                        threads_per_core: policy.threads_per_core(file)?,
                        subcores: policy.subcores(file)?,
                        map: policy.map(file)?,
                        prefetch: policy.prefetch(file)?,
                        hash_calls: policy.hash_calls(file)?,
                        ..Sharing::default()
                    };
                    (Work::Partitions { partitions, sharing }, expect)
                }
                Some(_) if *contents.per.get_ref() == Per::Job => {
                    let text =
                        "a job is a partition's, and a kernel has none; divide by something else";
                    return Err(file.complain(contents.per.span(), text));
                }
                Some(kernel) => {
                    if let Some(key) = variant.key_of_partitions() {
                        let text = format!(
                            "`{variant_name}` has a kernel, and `{key}` is of partitions; leave one of them out"
                        );
                        return Err(file.complain(table.span(), text));
                    }
                    let kernel = kernel.check(file, &variant.arguments);
                    (Work::Kernel(kernel), vec![variant.expect.clone()])
                }
            };
            let region = variant.region.as_ref().or(contents.region.as_ref()).ok_or_else(|| {
                let text = format!(
                    "the variant `{variant_name}` has no region; add one to it or to the file"
                );
                file.complain(table.span(), text)
            })?;
            let divisor = variant.divisor.as_ref().or(contents.divisor.as_ref());
            let loss_against = variant.loss_against.as_ref().or(contents.loss_against.as_ref());
            variants.push(Variant {
                name: variant_name.clone(),
                divisor: positive(file, divisor, u32::MAX)?,
                loss_against: loss_against.map(|baseline| baseline.get_ref().clone()),
                region: region.check(file)?,
                begins: region.begins(file)?,
                warm_up: variant
                    .warm_up
                    .as_ref()
                    .map(|number| region_of(file, number))
                    .transpose()?,
                set: settings(file, &machine, &variant.set)?,
                work,
                expect,
            });
        }
        if variants.is_empty() {
            return Err(file.complain(0..0, "no variant; add a [[variant]] table"));
        }
        let given = contents.variant.iter().map(|variant| &variant.get_ref().loss_against);
        for baseline in given.flatten().chain(&contents.loss_against) {
            let known = || variants.iter().map(|variant| variant.name.as_str());
            if !known().any(|name| name == baseline.get_ref()) {
                let hint = suggest(baseline.get_ref(), known());
                let text = format!("no variant is called `{}`; {hint}", baseline.get_ref());
                return Err(file.complain(baseline.span(), text));
            }
        }
        let machine = match contents.topology {
            None => machine,
            Some(topology) => {
                machine.with_topology(*topology.get_ref(), file.place(topology.span()))
            }
        };
        let machine = match contents.machine_memory {
            None => machine,
            Some(memory) => machine.with_memory(*memory.get_ref(), file.place(memory.span())),
        };
        let published_of = machine.describe()?.processor();
        let published = contents.published.into_iter();
        let per = contents.per.into_inner();
        let published =
            published.map(|table| table.check(file, &per, &variants)).collect::<Result<_, _>>()?;
        let reasons = contents.reason.into_iter().map(|table| table.check(file, &variants));
        let reasons = reasons.collect::<Result<_, _>>()?;
        Ok(Self {
            name: name.clone(),
            question: contents.question,
            machine,
            per,
            published,
            published_of,
            program,
            variants,
            steps,
            reasons,
        })
    }
}
