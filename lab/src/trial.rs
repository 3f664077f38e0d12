//! One variant of an experiment, run as often as its figures need: once to count, or with timing at the
//! values and at both ends of the guesses, and again for each [check](crate::checks).

use std::sync::{Mutex, PoisonError};
use std::thread;

use arch::marker::Mark;
use simulator::ledger::{Cause, CauseSet, Charges};
use simulator::pipeline::Settings;
use simulator::quantity::Bound;
use simulator::{Counts, Machine, NoObserver, Observer, RegionCounts, Report, RunState};

use crate::checks::{FreeCause, HalfQuantum};
use crate::console::Said;
use crate::demultiplex::Demultiplexer;
use crate::events::{Met, RegionEvents};
use crate::experiment::{Experiment, Variant, Work};
use crate::extent::Extent;
use crate::failure::Failure;
use crate::interruption::Interruption;
use crate::ledger::Ledger;
use crate::ledger::names::Names;
use crate::ledger::spans::Spans;
use crate::metric::{Figure, Interval, Measured, Per};
use crate::on_simulator::{self, SLICE};
use crate::progress::{Progress, Task};
use crate::rates::Rates;
use crate::record::Lessons;
use crate::refills::Refills;
use crate::samples::Summary;
use crate::system::{Exit, System};
use crate::timed::{self, RegionCycles, Timing};

/// Causes with less than this share of a region are not checked.
const LEAST_SHARE: f64 = 0.05;

/// Steps after which a run of partitions is given up, and one of a kernel with what it starts.
const LIMIT: u64 = 2_000_000_000;
/// See [`LIMIT`].
const KERNEL_LIMIT: u64 = 100_000_000_000;

/// Steps between two samples of a trace's counters.
const STEPS_OF_A_SAMPLE: u64 = 500;

/// A variant, ready to run.
#[derive(Debug)]
pub struct Trial<'a> {
    experiment: &'a Experiment,
    variant: &'a Variant,
    system: System,
    names: Names,
    /// How it is timed, at the values and with nothing free.
    settings: Settings,
    /// Steps after which a run is given up.
    limit: u64,
    progress: &'a dyn Progress,
    interruption: Interruption,
    /// The machine where the variant's timing begins, and its console up to there, once a run has come to it.
    warm: Mutex<Option<(Vec<u8>, Vec<u8>)>>,
    /// Whether the ledger says who called.
    pub knows_callers: bool,
}

/// What a timed trial found.
#[derive(Debug)]
pub struct Outcome {
    /// For the table.
    pub measured: Measured,
    /// Where the cycles went.
    pub ledger: Ledger,
    /// The trace as JSON, if it was asked for.
    pub trace: Option<String>,
}

/// What a run is looked at between.
#[derive(Clone, Copy)]
struct Slices {
    steps: u64,
    /// Whether the marks of the region end one, too.
    end_at_marks: bool,
}

/// What one timed run found.
struct Timed {
    counts: Counts,
    /// Of the thread that marked the region; of all that did, if it begins again and again.
    cycles: u64,
    charges: Charges,
    samples: Option<Summary>,
    rates: Rates,
    learned: Lessons,
    /// What a kernel of its own has become in memory.
    names: Option<Names>,
}

impl<'a> Trial<'a> {
    /// The variant on the experiment's machine, with hardware threads that take turns of `quantum` cycles. A run is
    /// over within `limit` steps; without it within 2,000,000,000, or 100,000,000,000 of a kernel.
    ///
    /// # Errors
    /// [`Failure`] if the images are not there or do not fit the machine.
    pub fn new(
        experiment: &'a Experiment,
        variant: &'a Variant,
        seed: u64,
        quantum: u64,
        limit: Option<u64>,
        progress: &'a dyn Progress,
        interruption: Interruption,
    ) -> Result<Self, Failure> {
        let names = experiment.names(variant)?;
        let system = experiment.system(variant, seed)?;
        let settings = Settings { quantum, ..Settings::default() };
        Ok(Self {
            experiment,
            variant,
            system,
            names,
            settings,
            limit: limit.unwrap_or(match variant.work {
                Work::Partitions { .. } => LIMIT,
                Work::Kernel(_) => KERNEL_LIMIT,
            }),
            progress,
            interruption,
            warm: Mutex::default(),
            knows_callers: false,
        })
    }

    /// The failure of this variant's run that `text` tells of.
    #[must_use]
    pub fn wrong(&self, text: &str) -> Failure {
        Failure::Run(format!("{}, {}: {text}", self.experiment.name, self.variant.name))
    }

    /// Runs without timing and counts in the experiment's region.
    ///
    /// # Errors
    /// [`Failure`] if the run does not end as the experiment expects.
    pub fn count(&self) -> Result<Counts, Failure> {
        let mut counts = self.extent().counts();
        let mut console = Vec::new();
        let task = self.task();
        let mut machine = on_simulator::start(&self.system)?;
        self.begin_at_event(&mut machine);
        let mut between = |machine: &mut Machine, _: &mut RegionCounts| {
            task.reached(machine);
            console.extend(machine.take_console_output());
            self.check_limit(machine)?;
            self.interruption.check()
        };
        let exit = on_simulator::run_in_slices(
            &mut machine,
            &mut counts,
            SLICE,
            self.limit,
            &mut between,
        )?;
        drop(task);
        self.check_end(console, exit)?;
        self.of_region(&counts)
    }

    /// Runs with timing at the values, and at both ends of the guesses if they are wanted; the first with a
    /// trace if one is.
    ///
    /// # Errors
    /// [`Failure`] if a run does not end as the experiment expects.
    pub fn time(&self, is_trace_wanted: bool, are_ends_wanted: bool) -> Result<Outcome, Failure> {
        let at = |bound| move || self.time_once(Settings { bound, ..self.settings });
        thread::scope(|scope| {
            let bounds = [Bound::Low, Bound::High].into_iter().filter(|_| are_ends_wanted);
            let ends: Vec<_> = bounds.map(|bound| scope.spawn(at(bound))).collect();
            let (Timed { counts, cycles, charges, samples, rates, learned, names }, met, trace) =
                self.time_at_values(is_trace_wanted)?;
            let (mut low, mut high) = (cycles, cycles);
            let mut summaries = Vec::from_iter(samples);
            let mut all_rates = vec![rates];
            for end in ends {
                let joined = end.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                let Timed { cycles, samples, rates, counts: units, .. } = joined?;
                // Where a payload works for a given time, it does more in this run, or less.
                let divisor =
                    |counts| u128::from(self.variant.divisor_of(&self.experiment.per, counts));
                let of_as_much = u128::from(cycles) * divisor(&counts) / divisor(&units).max(1);
                let cycles = u64::try_from(of_as_much).unwrap_or(u64::MAX);
                (low, high) = (low.min(cycles), high.max(cycles));
                summaries.extend(samples);
                all_rates.push(rates);
            }
            let cycles =
                Some(Interval { value: cycles, ends: are_ends_wanted.then_some([low, high]) });
            let ledger = Ledger::new(&charges, names.as_ref().unwrap_or(&self.names));
            let refills = Some(Refills::of(&charges));
            let ends = Summary::ends(&summaries).filter(|_| are_ends_wanted);
            let samples = samples.map(|samples| (samples, ends));
            let rates = (rates, Rates::ends(&all_rates).filter(|_| are_ends_wanted));
            let measured =
                Measured { counts, cycles, refills, met: Some(met), samples, rates, learned };
            Ok(Outcome { measured, ledger, trace })
        })
    }

    /// The run of which progress and trace are shown.
    fn time_at_values(
        &self,
        is_trace_wanted: bool,
    ) -> Result<(Timed, Met, Option<String>), Failure> {
        let task = self.task();
        let settings = Settings { callers: self.knows_callers, ..self.settings };
        let region = self.variant.region.0;
        let mut events = RegionEvents::new(region, self.extent());
        if !is_trace_wanted {
            let sample = |machine: &Machine, events: &mut RegionEvents| {
                task.reached(machine);
                events.sample(machine);
            };
            let slices = Slices { steps: SLICE, end_at_marks: true };
            let timed = self.time_observed(settings, &mut events, slices, sample)?;
            return Ok((timed, events.met(), None));
        }
        let clock = self.experiment.machine.describe()?.clock();
        let title = format!("{}, {}", self.experiment.name, self.variant.name);
        let spans = Spans::new(&self.names, region.number(), clock.core_hz, title);
        let mut observer = (spans, events);
        let sample = |machine: &Machine, (spans, events): &mut (Spans<'_>, RegionEvents)| {
            task.reached(machine);
            spans.sample(machine);
            events.sample(machine);
        };
        let slices = Slices { steps: STEPS_OF_A_SAMPLE, end_at_marks: true };
        let timed = self.time_observed(settings, &mut observer, slices, sample)?;
        let (spans, events) = observer;
        Ok((timed, events.met(), Some(spans.json())))
    }

    fn time_once(&self, settings: Settings) -> Result<Timed, Failure> {
        let slices = Slices { steps: SLICE, end_at_marks: false };
        self.time_observed(settings, &mut NoObserver, slices, |_, _| ())
    }

    /// Runs with timing; `observer` sees everything, and `between` is called between slices.
    fn time_observed<O: Observer>(
        &self,
        settings: Settings,
        observer: &mut O,
        slices: Slices,
        mut between: impl FnMut(&Machine, &mut O),
    ) -> Result<Timed, Failure> {
        let region = self.variant.region.0;
        let mut observer = ((self.extent().counts(), RegionCycles::default()), observer);
        let mut console = Vec::new();
        let timing = Timing { settings, region: Some(region), extent: self.extent() };
        let mut machine = self.warmed(&mut console)?;
        timed::begin(&mut machine, &self.system.machine, timing)?;
        self.begin_at_event(&mut machine);
        if slices.end_at_marks {
            machine.stop_at(vec![Mark::Begin(region), Mark::End(region)]);
        }
        let exit = on_simulator::run_in_slices(
            &mut machine,
            &mut observer,
            slices.steps,
            self.limit,
            |machine, observer| {
                console.extend(machine.take_console_output());
                between(machine, observer.1);
                self.check_limit(machine)?;
                self.interruption.check()
            },
        )?;
        let (lines, learned) = self.check_end(console, exit)?;
        let lines = self.of_first(lines);
        let clock = self.experiment.machine.describe()?.clock();
        let samples = (self.experiment.per == Per::Sample || Summary::is_in(&lines))
            .then(|| {
                Summary::of_console(&lines, clock.timebase_hz).map_err(|text| self.wrong(&text))
            })
            .transpose()?;
        let rates =
            Rates::of_console(&lines, clock.timebase_hz).map_err(|text| self.wrong(&text))?;
        let (counts, cycles) = observer.0;
        let counts = self.of_region(&counts)?;
        let charges = machine.charges().expect("the machine ran with timing");
        let (charges, cycles) = if let Extent::Of(lpid) = self.extent() {
            let charges = charges.of_region().of_partition(lpid);
            let cycles = charges.in_all();
            (charges, cycles)
        } else {
            let thread = cycles.thread_of(region.number()).ok_or_else(|| {
                self.wrong(
                    "the payload never ended its region on the hardware thread that began it; a vCPU that goes to another \
                     one meanwhile is counted with `per = \"job\"` alone",
                )
            })?;
            if self.extent() == Extent::Once {
                let cycles = charges.total(thread);
                (charges, cycles)
            } else {
                // Each thread may have begun it.
                let charges = charges.of_region();
                let cycles = charges.in_all();
                (charges, cycles)
            }
        };
        let names = self.names.is_bare.then(|| {
            let mut names = self.names.clone();
            names.note_memory(&machine);
            names
        });
        Ok(Timed { counts, cycles, charges, samples, rates, learned, names })
    }

    /// When its region is over.
    const fn extent(&self) -> Extent {
        self.experiment.per.extent()
    }

    /// On a machine of several hardware threads, which take turns of a quantum: what half of it would
    /// change.
    ///
    /// # Errors
    /// [`Failure`] if the run does not end as the experiment expects.
    pub fn with_half_the_quantum(
        &self,
        measured: &Measured,
    ) -> Result<Option<HalfQuantum>, Failure> {
        let (chips, cores, threads) = self.experiment.machine.describe()?.topology();
        let (Some(cycles), quantum) = (&measured.cycles, self.settings.quantum / 2) else {
            return Ok(None);
        };
        if chips * cores * threads == 1 || quantum == 0 {
            return Ok(None);
        }
        let half = self.time_once(Settings { quantum, ..self.settings })?;
        Ok(Some(HalfQuantum {
            quantum,
            value: Figure::ratio(
                half.cycles,
                self.variant.divisor_of(&self.experiment.per, &half.counts),
            ),
            change_percent: 100.0 * (half.cycles as f64 / cycles.value as f64 - 1.0),
        }))
    }

    /// Runs again with each cause that matters made free. Waiting in `stop` or in firmware is no such cause:
    /// that time passes for the others. Nor is the work, `dispatch.width`, for which everything else is made
    /// free.
    ///
    /// # Errors
    /// [`Failure`] if a run does not end as the experiment expects.
    pub fn check_causes(&self, ledger: &Ledger) -> Result<Vec<FreeCause>, Failure> {
        let whole = ledger.elapsed_thread_cycles;
        let causes = ledger.sum_by(|charge| charge.cause.clone()).into_iter();
        let worth: Vec<(Cause, u64)> = causes
            .filter(|(_, cycles)| *cycles as f64 >= LEAST_SHARE * whole as f64)
            .filter_map(|(name, cycles)| Some((Cause::from_name(&name)?, cycles)))
            .filter(|(cause, _)| !matches!(cause, Cause::WaitStop | Cause::WaitFirmware))
            .collect();
        let again = |cause: Cause| {
            let free = match cause {
                Cause::DispatchWidth => CauseSet::all_but(cause),
                _ => CauseSet::default().with(cause),
            };
            move || self.time_once(Settings { free, ..self.settings })
        };
        let results = thread::scope(|scope| {
            let runs: Vec<_> = worth.iter().map(|(cause, _)| scope.spawn(again(*cause))).collect();
            let joined = runs
                .into_iter()
                .map(|run| run.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            joined.collect::<Result<Vec<_>, Failure>>()
        })?;
        let checked = worth.into_iter().zip(results).map(|((cause, ledger_cycles), timed)| {
            let is_work = cause == Cause::DispatchWidth;
            let lines = timed.charges.lines().filter(|line| !is_work || line.cause == cause);
            let left = lines.map(|line| line.cycles).sum::<u64>() as i64;
            let run_cycles = if is_work { left } else { whole as i64 - left };
            FreeCause { cause: cause.name(), ledger_cycles, run_cycles }
        });
        Ok(checked.collect())
    }

    /// The machine at its first instruction, or where a kernel's timing begins.
    fn warmed(&self, console: &mut Vec<u8>) -> Result<Machine, Failure> {
        let mut machine = on_simulator::start(&self.system)?;
        let Some(region) = self.variant.warm_up else { return Ok(machine) };
        let mut warm = self.warm.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((snapshot, said)) = &*warm {
            console.extend(said);
            return Ok(Machine::restore(snapshot).expect("it was just saved"));
        }
        machine.stop_at(vec![Mark::Begin(region)]);
        loop {
            let left = self.limit.saturating_sub(machine.state().steps());
            let end = machine.run(SLICE.min(left), &mut NoObserver);
            console.extend(machine.take_console_output());
            self.check_limit(&machine)?;
            self.interruption.check()?;
            if matches!(end, RunState::AtMark { .. }) {
                break;
            }
            if let Some(exit) = on_simulator::exit_of(end) {
                self.check_end(console.clone(), exit)?;
                let text = format!("nobody ever began region {}", region.number());
                return Err(self.wrong(&text));
            }
        }
        machine.stop_at(Vec::new());
        *warm = Some((machine.snapshot(), console.clone()));
        Ok(machine)
    }

    fn begin_at_event(&self, machine: &mut Machine) {
        if let Some(vector) = self.variant.begins {
            machine.begin_at(vector, self.variant.region.0);
        }
    }

    /// Gives up a run that takes too long: a guest may loop in its own vectors, and would never end.
    fn check_limit(&self, machine: &Machine) -> Result<(), Failure> {
        if machine.state().steps() < self.limit {
            return Ok(());
        }
        let reason = format!("not over after {} steps; --limit lets it run longer", self.limit);
        Err(self.wrong(&Report::new(machine.state(), 0, reason).to_string()))
    }

    fn task(&self) -> Box<dyn Task> {
        self.progress.begin(&format!("{}, {}", self.experiment.name, self.variant.name))
    }

    /// The lines of the console, where the run ended as the experiment expects, and what vCPUs have learned.
    fn check_end(&self, console: Vec<u8>, exit: Exit) -> Result<(Vec<String>, Lessons), Failure> {
        let mut learned = Lessons::new();
        let (lines, partitions) = match &self.variant.work {
            Work::Partitions { .. } => {
                let said = Said::by(&console);
                let are_well = said.check_partitions();
                let record = said.record.and_then(Result::ok);
                let partitions = record.into_iter().flat_map(|record| record.partitions);
                let who_learns = partitions.filter(|partition| !partition.learned.is_empty());
                learned.extend(who_learns.map(|partition| (partition.name, partition.learned)));
                (said.lines, are_well)
            }
            Work::Kernel(_) => {
                let text = String::from_utf8_lossy(&console);
                (text.lines().map(|line| line.trim_end_matches('\r').to_owned()).collect(), Ok(()))
            }
        };
        let wrong = |text: &str| {
            let console = lines.join("\n");
            self.wrong(&format!("{text}\nThe console:\n{console}"))
        };
        exit.require_power_off().map_err(|failure| wrong(&failure.to_string()))?;
        partitions.map_err(|text| wrong(&text))?;
        match self.variant.expect.iter().find(|line| !lines.contains(line)) {
            Some(line) => Err(wrong(&format!("the console lacks the line `{line}`"))),
            None => Ok((lines, learned)),
        }
    }

    /// What the first partition wrote, where there are several; of a console of its own all of it.
    fn of_first(&self, lines: Vec<String>) -> Vec<String> {
        match &self.variant.work {
            Work::Partitions { partitions, .. } if partitions.len() > 1 => {
                let mut parted = Demultiplexer::new(&partitions[0].name);
                let own = parted.pass(format!("{}\n", lines.join("\n")).as_bytes()).own;
                String::from_utf8_lossy(&own).lines().map(str::to_owned).collect()
            }
            _ => lines,
        }
    }

    fn of_region(&self, counts: &RegionCounts) -> Result<Counts, Failure> {
        let number = self.variant.region.0.number();
        let found = counts.regions().find(|(region, _)| *region == number);
        let counts = found
            .map(|(_, counts)| counts.clone())
            .ok_or_else(|| self.wrong(&format!("the payload never marked region {number}")))?;
        let Counts { begun, ended, .. } = counts;
        if self.extent() != Extent::Once && begun != ended {
            let hint = match self.experiment.per {
                Per::Job => "; it is the first partition's alone, by its marks",
                _ => "",
            };
            let text = format!("region {number} began {begun} times and ended {ended} times{hint}");
            return Err(self.wrong(&text));
        }
        Ok(counts)
    }
}
