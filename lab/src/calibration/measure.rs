//! Runs the micro-benchmarks: with every value of the machine's description as it is, and with every guess
//! at its low and at its high end. What several threads do runs at half the quantum too.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use simulator::pipeline::Settings;
use simulator::quantity::Bound;

use super::cases::{self, Case};
use super::rows::{Published, Row};
use crate::failure::Failure;
use crate::interruption::Interruption;
use crate::machine_file::MachineFile;
use crate::progress::Progress;
use crate::system::System;
use crate::timed::{self, RegionCycles, Timing};

/// Cycles an operation, by case.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Figures {
    /// With every value as it is.
    pub value: BTreeMap<String, f64>,
    /// With every guess at its low end.
    pub low: BTreeMap<String, f64>,
    /// With every guess at its high end.
    pub high: BTreeMap<String, f64>,
    /// With every value as it is, at half the quantum; only cases with several threads.
    pub half_quantum: BTreeMap<String, f64>,
}

impl Figures {
    /// The figure of `case`, and its ends.
    #[must_use]
    pub fn of(&self, case: &str) -> Option<[f64; 3]> {
        self.ends(|cycles| cycles.get(case).copied())
    }

    /// What `row`'s figure becomes at half the quantum, by what it is: 1 if the quantum does not show. `None` if no
    /// case of it has several threads.
    #[must_use]
    pub fn moved(&self, row: &Row) -> Option<f64> {
        if !row.cases().any(|case| self.half_quantum.contains_key(case)) {
            return None;
        }
        let half = row
            .figure(|case| self.half_quantum.get(case).or_else(|| self.value.get(case)).copied())?;
        Some(half / row.figure(|case| self.value.get(case).copied())?)
    }

    /// What `figure` makes of the cases, the least and the most of it.
    #[must_use]
    pub fn ends(&self, figure: impl Fn(&BTreeMap<String, f64>) -> Option<f64>) -> Option<[f64; 3]> {
        let value = figure(&self.value)?;
        let (low, high) = (figure(&self.low)?, figure(&self.high)?);
        Some([value, value.min(low).min(high), value.max(low).max(high)])
    }
}

/// One boot of the image: alone, or in a set-up.
#[derive(Debug)]
struct Boot {
    system: System,
    /// Of the cases that run.
    role: u8,
    /// Whether other threads do something.
    has_others: bool,
    /// Follows the names of its cases.
    suffix: String,
}

/// How a boot is timed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Variant {
    Bound(Bound),
    HalfQuantum,
}

impl Variant {
    fn settings(self) -> Settings {
        let settings = Settings::default();
        match self {
            Self::Bound(bound) => Settings { bound, ..settings },
            Self::HalfQuantum => Settings { quantum: settings.quantum / 2, ..settings },
        }
    }
}

/// Runs the image's cases on `machine`, alone and in every set-up of which `published` needs one of `wanted`;
/// each boot at the values and at both ends of the guesses, and where there are other threads at half the
/// quantum; as many at once as the host has processors. If the ends are not wanted, only at the values, which
/// are the ends then.
///
/// # Errors
/// [`Failure`] if a run does not end as it should, or leaves a case out.
#[expect(clippy::too_many_arguments, reason = "each is another thing")]
pub fn measure(
    name: &str,
    image: &[u8],
    machine: &MachineFile,
    published: &Published,
    wanted: &BTreeSet<String>,
    are_ends_wanted: bool,
    progress: &dyn Progress,
    interruption: Interruption,
) -> Result<Figures, Failure> {
    let cases = cases::of_image(name, image)?;
    let processor = machine.describe()?.processor().name().to_lowercase();
    let alone = system(name, image.to_vec(), machine.clone());
    let mut boots = vec![Boot { system: alone, role: 0, has_others: false, suffix: String::new() }];
    for setup in &published.setups {
        let place = format!("calibration/{processor}/setups.toml");
        let machine = machine.clone().with_topology(setup.topology, place);
        for &others in &setup.others {
            let suffix = format!(", {}", setup.name(others));
            if wanted.iter().any(|case| case.ends_with(&suffix)) {
                let image = cases::with_mode(name, image, setup, others)?;
                let system = system(name, image, machine.clone());
                boots.push(Boot { system, role: setup.role, has_others: others > 0, suffix });
            }
        }
    }
    let jobs: Vec<(&Boot, Variant)> = boots
        .iter()
        .flat_map(|boot| boot.variants().map(move |variant| (boot, variant)))
        .filter(|(_, variant)| are_ends_wanted || *variant == Variant::Bound(Bound::Value))
        .collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((boot, variant)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push((*variant, boot.run(&cases, variant.settings(), interruption)));
        }
        done
    };
    let processors = thread::available_parallelism().map_or(1, NonZero::get).min(jobs.len());
    let progress = progress.begin("calibrate");
    let done: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..processors).map(|_| scope.spawn(work)).collect();
        let joined = workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.flatten().collect()
    });
    drop(progress);
    if done.iter().any(|(_, cycles)| matches!(cycles, Err(Failure::Interrupted))) {
        let complete = done.iter().filter(|(_, cycles)| cycles.is_ok()).count();
        let text = format!("{complete} of {} runs, which is too few for figures", jobs.len());
        return Err(Failure::InterruptedAfter(text));
    }
    let mut figures = Figures::default();
    for (variant, cycles) in done {
        let of_variant = match variant {
            Variant::Bound(Bound::Value) => &mut figures.value,
            Variant::Bound(Bound::Low) => &mut figures.low,
            Variant::Bound(Bound::High) => &mut figures.high,
            Variant::HalfQuantum => &mut figures.half_quantum,
        };
        of_variant.extend(cycles?);
    }
    if !are_ends_wanted {
        (figures.low, figures.high) = (figures.value.clone(), figures.value.clone());
    }
    Ok(figures)
}

fn system(name: &str, image: Vec<u8>, machine: MachineFile) -> System {
    System {
        name: name.to_owned(),
        kernel: image,
        initrd: None,
        kept_disks: Vec::new(),
        arguments: String::new(),
        machine,
        seed: 1,
    }
}

impl Boot {
    /// The ways in which it is timed.
    fn variants(&self) -> impl Iterator<Item = Variant> + use<> {
        let bounds = [Bound::Value, Bound::Low, Bound::High].map(Variant::Bound);
        bounds.into_iter().chain(self.has_others.then_some(Variant::HalfQuantum))
    }

    /// Cycles an operation, by case and set-up.
    fn run(
        &self,
        cases: &[Case],
        settings: Settings,
        interruption: Interruption,
    ) -> Result<BTreeMap<String, f64>, Failure> {
        let mut regions = RegionCycles::default();
        let timing = Timing { settings, ..Timing::default() };
        let (exit, _) = timed::run(&self.system, timing, &mut regions, |machine| {
            machine.take_console_output();
            interruption.check()
        })?;
        exit.require_power_off()?;
        let of_role = cases.iter().filter(|case| case.role == self.role);
        let figure = |case: &Case| {
            let cycles = regions.of(case.region).ok_or_else(|| {
                Failure::Run(format!("the case {} was not run to its end", case.name))
            })?;
            let name = format!("{}{}", case.name, self.suffix);
            Ok((name, cycles as f64 / case.count() as f64))
        };
        of_role.map(figure).collect()
    }
}
