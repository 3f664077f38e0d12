//! `powervisor run`: runs every variant of an experiment on our machine and prints its figures.

use std::path::Path;
use std::thread;

use simulator::RegionCounts;
use simulator::core::Settings;
use simulator::description::timing::Bound;
use simulator::ledger::{Cause, CauseSet, Charges};

use crate::arguments::{Format, RunArguments};
use crate::comparison::Transcript;
use crate::console::check_partitions;
use crate::experiment::{Experiment, Variant};
use crate::failure::Failure;
use crate::images::Images;
use crate::interruption;
use crate::ledger::names::{Names, Program};
use crate::ledger::spans::Spans;
use crate::ledger::{Ledger, explain, export};
use crate::machine_file::MachineFile;
use crate::metric::{Interval, Measured};
use crate::on_simulator;
use crate::output::{print, write_file};
use crate::progress::Progress;
use crate::report::Report;
use crate::system::{Exit, System};
use crate::timed::{self, RegionCycles, Timing};

/// Causes with less than this share of a region are not checked.
const LEAST_SHARE: f64 = 0.05;

/// Steps between two samples of a trace's counters.
const STEPS_OF_A_SAMPLE: u64 = 1000;

pub(super) fn run(arguments: &RunArguments) -> Result<(), Failure> {
    let mut experiment = Experiment::read(&arguments.experiment)?;
    if let Some(path) = &arguments.machine {
        experiment.machine = MachineFile::read(path)?;
    }
    let description = experiment.machine.describe()?;
    let mut report =
        Report::new(&experiment, description.name(), description.config_hash(), arguments.seed);
    let mut more = String::new();
    for variant in &experiment.variants {
        let trial = Trial::new(&experiment, variant, arguments)?;
        let wrong = |text: String| trial.wrong(&text);
        if arguments.functional {
            let measured = Measured { counts: trial.count()?, cycles: None };
            report.add(&experiment, variant, &measured).map_err(wrong)?;
            continue;
        }
        let outcome = trial.time()?;
        report.add(&experiment, variant, &outcome.measured).map_err(wrong)?;
        more.push_str(&trial.with_half_the_quantum(&outcome.measured)?);
        if arguments.explain {
            let per = experiment.per.of(&outcome.measured.counts);
            let text = explain::explain(&outcome.ledger, per, experiment.per.noun());
            more.push_str(&format!("\n{}, where the cycles went\n\n{text}", variant.name));
        }
        if arguments.check_causes {
            more.push_str(&trial.check_causes(&outcome.ledger)?);
        }
        if let Some(folder) = &arguments.out {
            trial.write_out(folder, &outcome.ledger)?;
        }
        report.add_ledger(&variant.name, outcome.ledger);
    }
    match arguments.format {
        Format::Text => print(format!("{}{more}", report.text()).as_bytes()),
        Format::Json => print(report.json().as_bytes()),
    }
}

/// A variant, ready to run.
struct Trial<'a> {
    experiment: &'a Experiment,
    variant: &'a Variant,
    system: System,
    names: Names,
    /// How it is timed, at the values and with nothing free.
    settings: Settings,
}

/// What a timed trial found.
struct Outcome {
    measured: Measured,
    ledger: Ledger,
}

impl<'a> Trial<'a> {
    fn new(
        experiment: &'a Experiment,
        variant: &'a Variant,
        arguments: &RunArguments,
    ) -> Result<Self, Failure> {
        let names = Names {
            host: Program::of_elf(&Images::find()?.hypervisor()?),
            partitions: [(1, (experiment.name.clone(), experiment.program.clone()))].into(),
        };
        let system = experiment.system(variant, arguments.seed)?;
        let settings = Settings { quantum: arguments.quantum, ..Settings::default() };
        Ok(Self { experiment, variant, system, names, settings })
    }

    fn wrong(&self, text: &str) -> Failure {
        Failure::Run(format!("{}, {}: {text}", self.experiment.name, self.variant.name))
    }

    /// Runs without timing and counts in the experiment's region.
    fn count(&self) -> Result<simulator::Counts, Failure> {
        let mut counts = RegionCounts::new();
        let mut console = Vec::new();
        let progress = self.progress();
        let mut machine = on_simulator::start(&self.system)?;
        let exit = on_simulator::run(&mut machine, &mut counts, |machine| {
            progress.update(machine);
            console.extend(machine.take_console_output());
            Ok(())
        })?;
        drop(progress);
        self.check_end(console, exit)?;
        self.of_region(&counts)
    }

    /// Runs with timing, at the values and at both ends of the guesses.
    fn time(&self) -> Result<Outcome, Failure> {
        let at = |bound| move || self.time_once(Settings { bound, ..self.settings }, false);
        thread::scope(|scope| {
            let ends = [Bound::Low, Bound::High].map(|bound| scope.spawn(at(bound)));
            let (counts, cycles, charges) = self.time_once(self.settings, true)?;
            let (mut low, mut high) = (cycles, cycles);
            for end in ends {
                let joined = end.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                let (_, cycles, _) = joined?;
                (low, high) = (low.min(cycles), high.max(cycles));
            }
            let cycles = Some(Interval { value: cycles, ends: Some([low, high]) });
            let ledger = Ledger::new(&charges, &self.names);
            Ok(Outcome { measured: Measured { counts, cycles }, ledger })
        })
    }

    fn time_once(
        &self,
        settings: Settings,
        has_progress: bool,
    ) -> Result<(simulator::Counts, u64, Charges), Failure> {
        let region = self.variant.region.0;
        let mut observer = (RegionCounts::new(), RegionCycles::default());
        let mut console = Vec::new();
        let progress = has_progress.then(|| self.progress());
        let timing = Timing { settings, region: Some(region) };
        let (exit, charges) = timed::run(&self.system, timing, &mut observer, |machine| {
            if let Some(progress) = &progress {
                progress.update(machine);
            }
            console.extend(machine.take_console_output());
            Ok(())
        })?;
        drop(progress);
        self.check_end(console, exit)?;
        let counts = self.of_region(&observer.0)?;
        let thread = observer.1.thread_of(region.number());
        let thread = thread.ok_or_else(|| self.wrong("the payload never ended its region"))?;
        Ok((counts, charges.total(thread), charges))
    }

    /// On a machine of several hardware threads, which take turns of a quantum: what another quantum
    /// would change.
    fn with_half_the_quantum(&self, measured: &Measured) -> Result<String, Failure> {
        let (chips, cores, threads) = self.experiment.machine.describe()?.topology();
        let (Some(cycles), quantum) = (&measured.cycles, self.settings.quantum / 2) else {
            return Ok(String::new());
        };
        if chips * cores * threads == 1 || quantum == 0 {
            return Ok(String::new());
        }
        let (counts, half, _) = self.time_once(Settings { quantum, ..self.settings }, false)?;
        let per = self.experiment.per;
        let change = 100.0 * (half as f64 / cycles.value as f64 - 1.0);
        Ok(format!(
            "\n{}, with half the quantum: {:.4} cycles per {} ({change:+.2} %)\n",
            self.variant.name,
            half as f64 / per.of(&counts) as f64,
            per.noun()
        ))
    }

    fn progress(&self) -> Progress {
        Progress::new(&format!("{}, {}", self.experiment.name, self.variant.name))
    }

    fn check_end(&self, console: Vec<u8>, exit: Exit) -> Result<(), Failure> {
        let transcript = Transcript { console, exit };
        let wrong = |text: &str| {
            let console = transcript.lines().join("\n");
            self.wrong(&format!("{text}\nThe console:\n{console}"))
        };
        transcript.exit.require_power_off().map_err(|failure| wrong(&failure.to_string()))?;
        check_partitions(&transcript.lines()).map_err(|text| wrong(&text))?;
        if !transcript.lines().contains(&self.variant.expect) {
            return Err(wrong(&format!("the console lacks the line `{}`", self.variant.expect)));
        }
        Ok(())
    }

    fn of_region(&self, counts: &RegionCounts) -> Result<simulator::Counts, Failure> {
        let number = self.variant.region.0.number();
        let found = counts.regions().find(|(region, _)| *region == number);
        found
            .map(|(_, counts)| counts.clone())
            .ok_or_else(|| self.wrong(&format!("the payload never marked region {number}")))
    }

    /// Runs again with each cause that matters made free.
    fn check_causes(&self, ledger: &Ledger) -> Result<String, Failure> {
        let whole = ledger.elapsed_thread_cycles;
        let causes = ledger.sum_by(|charge| charge.cause.clone()).into_iter();
        let (work, worth): (Vec<_>, Vec<_>) = causes
            .filter(|(_, cycles)| *cycles as f64 >= LEAST_SHARE * whole as f64)
            .filter_map(|(name, cycles)| Some((Cause::from_name(&name)?, cycles)))
            .partition(|(cause, _)| *cause == Cause::DispatchWidth);
        let mut text = format!(
            "\n{}, causes made free one by one, in thread-cycles\n\n{:<24}{:>14}{:>14}{:>9}\n",
            self.variant.name, "cause", "ledger says", "run says", "ratio"
        );
        let again = |cause: Cause| {
            let free = CauseSet::default().with(cause);
            move || self.time_once(Settings { free, ..self.settings }, false)
        };
        let results = thread::scope(|scope| {
            let runs: Vec<_> = worth.iter().map(|(cause, _)| scope.spawn(again(*cause))).collect();
            let joined = runs
                .into_iter()
                .map(|run| run.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            joined.collect::<Result<Vec<_>, Failure>>()
        })?;
        for ((cause, said), (_, cycles, _)) in worth.iter().zip(results) {
            let saved = i128::from(whole) - i128::from(cycles);
            let ratio = saved as f64 / *said as f64;
            text.push_str(&format!("{:<24}{said:>14}{saved:>14}{ratio:>9.2}\n", cause.name()));
        }
        for (cause, said) in work {
            let what = "the work itself";
            text.push_str(&format!("{:<24}{said:>14}{what:>23}\n", cause.name()));
        }
        Ok(text)
    }

    /// Writes what other tools read; the trace takes a run of its own.
    fn write_out(&self, folder: &Path, ledger: &Ledger) -> Result<(), Failure> {
        std::fs::create_dir_all(folder).map_err(|error| {
            let text = format!("cannot be made: {error}; name a folder that can be written");
            Failure::input(folder.display(), text)
        })?;
        let (experiment, variant) = (&self.experiment.name, &self.variant.name);
        let file = |suffix: &str| folder.join(format!("{experiment}-{variant}.{suffix}"));
        write_file(&file("folded"), export::folded(ledger).as_bytes())?;
        let title = format!("{experiment}, {variant}: cycles");
        let graph =
            export::flame_graph(ledger, &title).map_err(|error| Failure::Run(error.to_string()))?;
        write_file(&file("svg"), &graph)?;
        let clock = self.experiment.machine.describe()?.clock();
        let region = self.variant.region.0.number();
        let timing = Timing { settings: self.settings, region: None };
        let mut spans = Spans::new(&self.names, region, clock.core_hz);
        let mut machine = timed::start(&self.system, timing)?;
        let exit = loop {
            let exit = on_simulator::advance(&mut machine, &mut spans, STEPS_OF_A_SAMPLE);
            spans.sample(&machine);
            match exit {
                Some(exit) => break exit,
                None => interruption::check()?,
            }
        };
        exit.require_power_off()?;
        write_file(&file("trace.json"), spans.json().as_bytes())
    }
}
