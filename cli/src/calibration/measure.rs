//! Runs the micro-benchmarks: with every value of the machine's description as it is, and with every guess
//! at its low and at its high end.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use simulator::core::Settings;
use simulator::description::timing::Bound;

use super::cases::{self, Case};
use super::rows::Published;
use crate::failure::Failure;
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
}

impl Figures {
    /// The figure of `case`, and its ends.
    #[must_use]
    pub fn of(&self, case: &str) -> Option<[f64; 3]> {
        self.ends(|cycles| cycles.get(case).copied())
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
    /// Follows the names of its cases.
    suffix: String,
}

/// Runs the image's cases on `machine`, alone and in every set-up of which `published` needs one of `wanted`; each
/// boot at the values and at both ends of the guesses, as many at once as the host has processors.
///
/// # Errors
/// [`Failure`] if a run does not end as it should, or leaves a case out.
pub fn measure(
    image: &[u8],
    machine: &MachineFile,
    published: &Published,
    wanted: &BTreeSet<String>,
) -> Result<Figures, Failure> {
    let cases = cases::of_image(image)?;
    let alone = system(image.to_vec(), machine.clone());
    let mut boots = vec![Boot { system: alone, role: 0, suffix: String::new() }];
    for setup in &published.setups {
        let machine = machine.clone().with_topology(setup.topology, "calibration/power9.toml");
        for &others in &setup.others {
            let suffix = format!(", {}", setup.name(others));
            if wanted.iter().any(|case| case.ends_with(&suffix)) {
                let image = cases::with_mode(image, setup, others)?;
                let system = system(image, machine.clone());
                boots.push(Boot { system, role: setup.role, suffix });
            }
        }
    }
    let bounds = [Bound::Value, Bound::Low, Bound::High];
    let jobs: Vec<(&Boot, Bound)> =
        boots.iter().flat_map(|boot| bounds.map(|bound| (boot, bound))).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((boot, bound)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push((*bound, boot.run(&cases, *bound)));
        }
        done
    };
    let processors = thread::available_parallelism().map_or(1, NonZero::get).min(jobs.len());
    let progress = Progress::waiting("calibrate");
    let done: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..processors).map(|_| scope.spawn(work)).collect();
        let joined = workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.flatten().collect()
    });
    drop(progress);
    let mut figures = Figures::default();
    for (bound, cycles) in done {
        let of_bound = match bound {
            Bound::Value => &mut figures.value,
            Bound::Low => &mut figures.low,
            Bound::High => &mut figures.high,
        };
        of_bound.extend(cycles?);
    }
    Ok(figures)
}

fn system(image: Vec<u8>, machine: MachineFile) -> System {
    System {
        name: cases::IMAGE.to_owned(),
        kernel: image,
        initrd: None,
        arguments: String::new(),
        machine,
        seed: 1,
    }
}

impl Boot {
    /// Cycles an operation, by case and set-up.
    fn run(&self, cases: &[Case], bound: Bound) -> Result<BTreeMap<String, f64>, Failure> {
        let mut regions = RegionCycles::default();
        let settings = Settings { bound, ..Settings::default() };
        let timing = Timing { settings, region: None };
        let (exit, _) = timed::run(&self.system, timing, &mut regions, |machine| {
            machine.take_console_output();
            Ok(())
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
