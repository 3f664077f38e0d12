//! A run on our machine with a person before it: console, input, trace, and what is kept at its end.

use std::collections::{BTreeSet, VecDeque};
use std::io::{IsTerminal as _, stdin};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use arch::interrupt::Vector;
use arch::registers::msr;
use arch::registers::spr::Spr;
use lab::ledger::names::Names;
use lab::on_simulator::{SLICE, exit_of};
use lab::suspended;
use lab::system::Exit;
use lab::user_file::{Files, destination};
use simulator::pipeline::Settings;
use simulator::state::thread::counters::Missing;
use simulator::state::thread::{Activity, Thread};
use simulator::{Input, Machine, NoObserver, Observer, Place, Report, RunState};

use super::awaited::Awaited;
use super::calls::{Calls, What};
use super::debugged::{debug, is_little_endian};
use super::explained::{self, Explained, check_folder};
use super::{STATISTICS_FILE, disks, programs};
use crate::arguments::{BootArguments, Traced};
use crate::failure::Failure;
use crate::gdb::Parting;
use crate::input_log;
use crate::output::{check_not_read, check_place, input, say};
use crate::saved::{self, Surroundings};
use crate::signals::INTERRUPTION;
use crate::spinner::Speed;
use crate::trace::Trace;
use crate::until::{Part, Until};
use crate::visible::one_line;

/// As much simulated time as the machine may sleep between two looks for what a person types.
const NAP: Duration = Duration::from_millis(20);
/// How long the first look waits for an input that ends, as that of `echo` into a pipe does at once: all of it is typed
/// at the same step then, whenever it is run.
const FIRST_LOOK: Duration = Duration::from_millis(100);
/// Of so many things that the performance monitor does not have, the user is told by name.
const MISSING_TOLD: usize = 16;
/// Steps between two looks for a text on the console.
const CONSOLE_SLICE: u64 = 1 << 16;
/// What Linux says last when it has panicked and does not reboot.
const PANIC: &str = "---[ end Kernel panic";
/// Of so many interrupts in a row, between which no instruction completes, none has a handler.
const IN_VAIN: u64 = 1000;
/// How long a machine shows nothing, in simulated time, until the user is told that no input will change that.
const QUIET: Duration = Duration::from_secs(10);
/// How long a wait for a person may keep an interruption waiting.
const LOOK: Duration = Duration::from_millis(50);

/// A machine that runs, and what is around it.
pub(super) struct Session {
    machine: Machine,
    surroundings: Surroundings,
    typist: Typist,
    /// How long the next look for what is typed waits for the end of the input.
    patience: Duration,
    /// How gdb takes numbers.
    is_little_endian: bool,
    /// The step at which the run pauses.
    limit: u64,
    /// Since there is no more input: how often it had been asked for in vain until then. `None` once the user knows
    /// that it is asked for again, or that the machine shows nothing more.
    in_vain: Option<u64>,
    /// The cycle at which the console last showed something, or the input ended.
    shown_at: u64,
    /// What of the performance monitor was said to be missing.
    missing: BTreeSet<Missing>,
    has_ended: bool,
    names: Names,
    /// The first step that the ledger has, while it is not reached.
    begins_at: Option<u64>,
    region: Option<Calls>,
    /// Where --trace-from begins the trace, until it does.
    trace_from: Option<Stop>,
    /// Where --until stops.
    until: Option<Stop>,
    /// The text of --until-console.
    awaited: Option<Awaited>,
    /// A panic of a bare kernel, until the user knows of it.
    panic: Option<Awaited>,
}

/// Where the run stops: behind a mark, or at the first instruction of functions.
struct Stop {
    at: Until,
    /// Where the functions begin.
    places: Vec<Place>,
}

impl Stop {
    /// The stop that `option` names, if it is there.
    fn named(
        option: &str,
        at: Option<&Until>,
        names: &Names,
        machine: &Machine,
    ) -> Result<Option<Self>, Failure> {
        let Some(at) = at else { return Ok(None) };
        let places = match at {
            Until::Function(name) => programs::places(names, machine, option, name)?,
            Until::Mark(_) => Vec::new(),
        };
        Ok(Some(Self { at: at.clone(), places }))
    }

    /// Whether it is where `end` says that the machine stopped.
    fn is_at(&self, end: &RunState, machine: &Machine) -> bool {
        match *end {
            RunState::AtMark { mark, .. } => self.at == Until::Mark(mark),
            RunState::AtPlace { thread } => {
                let at = &machine.state().threads[thread];
                self.places.iter().any(|place| place.is_at(at))
            }
            _ => false,
        }
    }
}

/// Who types on the console.
enum Typist {
    /// Whoever writes to standard input.
    Person(Receiver<Vec<u8>>),
    /// A log of a run before this one.
    Log(VecDeque<Input>),
}

/// How a run ended.
pub(super) enum Ending {
    /// The machine ended it.
    Over(Exit),
    /// The asked-for steps are done.
    Paused,
    /// gdb ended it.
    Killed,
    /// The asked-for mark was passed, or the function is next.
    At(Until),
    /// The console showed the asked-for text.
    Shown(String),
    /// The user interrupted.
    Interrupted,
    /// Nobody reads the console any more.
    Unread,
}

impl Session {
    pub(super) fn new(
        mut machine: Machine,
        surroundings: Surroundings,
        arguments: &BootArguments,
        kernel: Option<&[u8]>,
        files: &Files,
    ) -> Result<Self, Failure> {
        // A run may take long; what cannot be kept is said before it.
        let BootArguments { save, log_input, to, statistics_file, .. } = arguments;
        for path in [save, log_input, to, statistics_file].into_iter().flatten() {
            check_place(path)?;
        }
        arguments.out.as_deref().map_or(Ok(()), check_folder)?;
        let written = written(arguments);
        disks::check(&surroundings.kept_disks, &written, files)?;
        if arguments.timing {
            if machine.charges().is_some() {
                let text =
                    "the saved machine is in timing mode and goes on so by itself; leave it out";
                return Err(Failure::input("--timing", text));
            }
            let modelled = machine.state().description.timing();
            modelled.map_err(|error| Failure::input("--timing", error))?;
            machine.start_timing(Settings { callers: arguments.callers, ..Settings::default() });
        }
        require_timing(&machine, arguments)?;
        let knows_callers = machine.timing().is_some_and(|timing| timing.settings().callers);
        if arguments.callers && !knows_callers {
            let text = "the saved machine is in timing mode without them; leave it out, or save it with --timing, --out \
                and --callers";
            return Err(Failure::input("--callers", text));
        }
        let processor = machine.state().description.processor();
        let names = programs::names(arguments, &surroundings, processor, kernel, files)?;
        let stop = |option, at: &Option<Until>| Stop::named(option, at.as_ref(), &names, &machine);
        let until = stop("--until", &arguments.until)?;
        let trace_from = stop("--trace-from", &arguments.trace_from)?;
        let what = match &arguments.region {
            None => None,
            Some(Part::Marked(region)) => Some(What::Marked(*region)),
            Some(Part::Function(name)) => {
                Some(What::Function(programs::places(&names, &machine, "--region", name)?))
            }
        };
        let typist = match &arguments.replay_input {
            None => Typist::Person(input()?),
            Some(path) => {
                let log = input_log::read(path, files)?;
                // A machine that is resumed has got a part of it already.
                let got = machine.state().platform.console.log();
                let Some(rest) = log.strip_prefix(got) else {
                    let text = "does not begin with the input that the saved machine has got; \
                        replay the log of the run that saved it";
                    return Err(Failure::input(path.display(), text));
                };
                Typist::Log(rest.iter().cloned().collect())
            }
        };
        let patience = if stdin().is_terminal() { Duration::ZERO } else { FIRST_LOOK };
        check_written(&written, files)?;
        let now = machine.state().steps();
        let limit = arguments.steps.map_or(u64::MAX, |steps| now.saturating_add(steps));
        Ok(Self {
            is_little_endian: is_little_endian(&machine, kernel),
            machine,
            typist,
            patience,
            limit,
            in_vain: None,
            shown_at: 0,
            missing: BTreeSet::new(),
            has_ended: false,
            names,
            begins_at: arguments.warm_up.map(|steps| now.saturating_add(steps)),
            region: what.map(Calls::new),
            trace_from,
            until,
            awaited: arguments.until_console.as_deref().map(Awaited::new),
            panic: (!surroundings.has_hypervisor).then(|| Awaited::new(PANIC)),
            surroundings,
        })
    }

    /// Lets gdb run the machine; how that ended, unless gdb went away before.
    fn debug(&mut self, port: u16, arguments: &BootArguments) -> Result<Option<Ending>, Failure> {
        let Self { machine, surroundings, typist, is_little_endian, .. } = self;
        let mut log = machine.state().platform.console.log().to_vec();
        let typed = match typist {
            Typist::Person(typed) => Some(&*typed),
            Typist::Log(rest) => {
                log.extend(rest.iter().cloned());
                None
            }
        };
        let processor = machine.state().description.processor();
        let files = programs::files(arguments, surroundings.has_hypervisor.then_some(processor));
        let is_little = *is_little_endian;
        let parting = debug(port, machine, surroundings, is_little, log.clone(), typed, files);
        if let Typist::Log(rest) = typist {
            let got = machine.state().platform.console.log().len();
            *rest = log.into_iter().skip(got).collect();
        }
        match parting {
            Ok(Parting::Over(exit)) => Ok(Some(Ending::Over(exit))),
            Ok(Parting::Killed) => Ok(Some(Ending::Killed)),
            Ok(Parting::Detached) => Ok(None),
            Err(Failure::Lab(lab::failure::Failure::Interrupted)) => Ok(Some(Ending::Interrupted)),
            Err(failure) => Err(failure),
        }
    }

    pub(super) fn instructions(&self) -> u64 {
        self.machine.instructions()
    }

    /// Steps, instructions, and simulated nanoseconds, since power-on.
    pub(super) fn numbers(&self) -> [u64; 3] {
        let nanoseconds = (self.machine.simulated_seconds() * 1e9).round() as u64;
        [self.machine.state().steps(), self.instructions(), nanoseconds]
    }

    /// After what the run ended.
    pub(super) fn summary(&self, before: u64, started: Instant) -> String {
        let mips = Speed::of(&self.machine, before, started).mips();
        let (instructions, seconds) = (self.instructions(), self.machine.simulated_seconds());
        format!("after {instructions} instructions, {seconds:.6} s simulated, {mips:.1} MIPS")
    }

    /// What a run in timing mode says of its cycles.
    pub(super) fn explained(&self, arguments: &BootArguments) -> Option<Explained> {
        let region = arguments.region.as_ref().zip(self.region.as_ref());
        let region = region.map(|(part, calls)| (part.to_string(), calls.found));
        let warm_up = arguments.warm_up.filter(|_| self.begins_at.is_none());
        Explained::new(&self.machine, &self.names, warm_up, region)
    }

    /// Runs to an end, observed as the arguments say.
    pub(super) fn run(&mut self, arguments: &BootArguments) -> Result<Ending, Failure> {
        if let Some(port) = arguments.gdb
            && let Some(ending) = self.debug(port, arguments)?
        {
            return Ok(ending);
        }
        let clock = self.machine.state().shared.clock;
        let (path, partitions) =
            (arguments.trace_file.as_deref(), &self.surroundings.consoles.partitions);
        match arguments.trace {
            None => self.run_observed(&mut NoObserver, |_| Ok(())),
            Some(Traced::Exits) => {
                self.run_traced(Trace::<false>::new(path, clock, partitions)?, Trace::flush)
            }
            Some(Traced::Instructions) => {
                self.run_traced(Trace::<true>::new(path, clock, partitions)?, Trace::flush)
            }
        }
    }

    /// Runs to an end, observed from where the trace begins.
    fn run_traced<O: Observer>(
        &mut self,
        mut observer: O,
        flush: impl Fn(&mut O) -> Result<(), Failure>,
    ) -> Result<Ending, Failure> {
        if self.trace_from.is_some() {
            let ending = self.run_observed(&mut NoObserver, |_| Ok(()))?;
            if self.trace_from.is_some() {
                return Ok(ending);
            }
        }
        self.run_observed(&mut observer, flush)
    }

    fn run_observed<O: Observer>(
        &mut self,
        observer: &mut O,
        flush: impl Fn(&mut O) -> Result<(), Failure>,
    ) -> Result<Ending, Failure> {
        self.set_stops();
        let slice = if self.awaited.is_some() { CONSOLE_SLICE } else { SLICE };
        // The cycle that somebody who may type has waited for.
        let mut waited_for = 0;
        loop {
            let now = self.machine.state().steps();
            if now >= self.limit {
                return Ok(Ending::Paused);
            }
            if self.begins_at.is_some_and(|begin| now >= begin) {
                self.begins_at = None;
                self.machine.clear_charges();
                self.set_stops();
            }
            let until = self.type_in(now)?.min(self.limit).min(self.begins_at.unwrap_or(u64::MAX));
            let (started, cycle) = (Instant::now(), self.machine.cycle());
            let instructions = self.machine.instructions();
            let nap = if self.may_be_typed() { self.cycles(NAP) } else { u64::MAX };
            self.machine.sleep_until(cycle.saturating_add(nap).max(waited_for));
            let end = self.machine.run(slice.min(until - now), observer);
            flush(observer)?;
            let output = self.machine.take_console_output();
            self.surroundings.screen.show(&output)?;
            self.tell_of_the_end_of_input(&output);
            self.tell_of_a_panic(&output);
            self.tell_of_what_is_missing();
            if let Some(at) = self.stopped(&end) {
                return Ok(Ending::At(at));
            }
            if let Some(awaited) = &mut self.awaited
                && awaited.comes(&output)
            {
                return Ok(Ending::Shown(awaited.text.clone()));
            }
            let is_at_stop = matches!(end, RunState::AtMark { .. } | RunState::AtPlace { .. });
            let reached = match end {
                RunState::Asleep { until } => until,
                _ => self.machine.cycle(),
            };
            if let Some(exit) = exit_of(end).or_else(|| self.lost(now, instructions)) {
                return Ok(Ending::Over(exit));
            }
            if INTERRUPTION.check().is_err() {
                return Ok(Ending::Interrupted);
            }
            if is_at_stop {
                continue;
            }
            let passed = self.duration(reached - cycle);
            if self.wait_for_typing(passed.saturating_sub(started.elapsed())) {
                waited_for = reached;
            }
        }
    }

    /// Why a bare kernel comes to nothing any more, if it has taken interrupts only since the machine had made so many
    /// steps and completed so many instructions: where nothing completes, nothing changes. A guest's host may end that
    /// of the guest.
    fn lost(&self, steps: u64, instructions: u64) -> Option<Exit> {
        let state = self.machine.state();
        let is_lost = !self.surroundings.has_hypervisor
            && state.steps() - steps >= IN_VAIN
            && self.machine.instructions() == instructions;
        if !is_lost {
            return None;
        }
        let runs =
            |thread: &&Thread| thread.activity == Activity::Running && thread.msr() & msr::HV != 0;
        let (thread, vector) = state.threads.iter().filter(runs).find_map(|thread| {
            let is_here = |vector: &&Vector| **vector as u64 == thread.nia & 0xFFF;
            Some((thread, Vector::ALL.iter().find(is_here)?))
        })?;
        let reason = format!(
            "thread {:#x} takes interrupts for ever, of which the handler at {:#x} ({}) completes no instruction: the \
             kernel has set up no handlers, or it is no kernel",
            thread.spr(Spr::Pir),
            thread.nia,
            vector.name()
        );
        Some(Exit::Stopped(Report::new(state, thread.index, reason).to_string()))
    }

    /// Whether somebody may still type, who has a clock of his own.
    fn may_be_typed(&self) -> bool {
        matches!(self.typist, Typist::Person(_)) && !self.has_ended
    }

    /// So much simulated time in cycles.
    fn cycles(&self, time: Duration) -> u64 {
        (time.as_secs_f64() * self.machine.state().shared.clock.core_hz as f64) as u64
    }

    /// So many cycles as simulated time.
    fn duration(&self, cycles: u64) -> Duration {
        Duration::from_secs_f64(cycles as f64 / self.machine.state().shared.clock.core_hz as f64)
    }

    /// Lets the machine stop where somebody wants to look.
    fn set_stops(&mut self) {
        let region = self.region.as_ref().filter(|_| self.begins_at.is_none());
        let mut marks = region.map(Calls::marks).unwrap_or_default();
        let mut places = region.map(Calls::places).unwrap_or_default();
        for stop in [&self.trace_from, &self.until].into_iter().flatten() {
            marks.extend(match &stop.at {
                Until::Mark(mark) => Some(*mark),
                Until::Function(_) => None,
            });
            places.extend(&stop.places);
        }
        self.machine.stop_at(marks);
        self.machine.stop_before(places);
    }

    /// Lets the region know of where the machine stopped; what that is, if this run ends there: --until, or
    /// where the trace begins, which is over then.
    fn stopped(&mut self, end: &RunState) -> Option<Until> {
        let is_at = |stop: &&mut Stop| stop.is_at(end, &self.machine);
        let until = self.until.as_mut().filter(is_at).map(|stop| stop.at.clone());
        let begin = self.trace_from.take_if(|stop| stop.is_at(end, &self.machine));
        let region = self.region.as_mut().filter(|_| self.begins_at.is_none());
        match *end {
            RunState::AtMark { thread, mark } => {
                if let Some(region) = region {
                    region.pass(&mut self.machine, thread, mark);
                }
            }
            RunState::AtPlace { thread } => {
                if let Some(region) = region {
                    region.come(&mut self.machine, thread);
                }
                self.set_stops();
            }
            _ => {}
        }
        until.or(begin.map(|stop| stop.at))
    }

    /// Says once that a bare kernel panicked: Linux then spins, and no run of it ends by itself.
    fn tell_of_a_panic(&mut self, output: &[u8]) {
        if self.panic.as_mut().is_some_and(|panic| panic.comes(output)) {
            self.panic = None;
            say(
                "the kernel has panicked and may spin for ever; the run goes on: end it with Ctrl-C, or run with \
                 `--until-console 'Kernel panic'`, --steps, or `--append panic=-1` for a reboot",
            );
        }
    }

    /// Says once of each what a performance monitor was asked for and does not have, up to a number.
    fn tell_of_what_is_missing(&mut self) {
        for missing in self.machine.state().shared.missing() {
            if self.missing.len() > MISSING_TOLD || !self.missing.insert(missing) {
                continue;
            }
            if self.missing.len() > MISSING_TOLD {
                say("more of the performance monitor is missing, and is not listed");
            } else {
                say(missing);
            }
        }
    }

    /// Waits for so long, or until something is typed; false in that case. A machine that only sleeps would otherwise
    /// pass hours between two keys.
    fn wait_for_typing(&mut self, ahead: Duration) -> bool {
        if !self.may_be_typed() {
            return true;
        }
        let Typist::Person(typed) = &self.typist else { return true };
        let started = Instant::now();
        while INTERRUPTION.check().is_ok()
            && let Some(left) = ahead.checked_sub(started.elapsed())
        {
            match typed.recv_timeout(left.min(LOOK)) {
                Ok(bytes) => {
                    self.machine.console_input(&bytes);
                    return false;
                }
                Err(RecvTimeoutError::Timeout) => (),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        true
    }

    /// Types what is due at step `now`, and says when something is due next.
    fn type_in(&mut self, now: u64) -> Result<u64, Failure> {
        let log = match &mut self.typist {
            Typist::Person(typed) => {
                let deadline = Instant::now() + std::mem::take(&mut self.patience);
                let mut bytes = Vec::new();
                let end = loop {
                    let left = deadline.saturating_duration_since(Instant::now());
                    match typed.recv_timeout(left) {
                        Ok(more) => bytes.extend(more),
                        Err(end) => break end,
                    }
                };
                if !bytes.is_empty() {
                    self.machine.console_input(&bytes);
                }
                if end == RecvTimeoutError::Disconnected {
                    self.input_has_ended();
                }
                return Ok(u64::MAX);
            }
            Typist::Log(log) => log,
        };
        while let Some(input) = log.front().filter(|input| input.at_step <= now) {
            let timebase = self.machine.timebase();
            if (input.at_step, input.timebase) != (now, timebase) {
                let Input { at_step, timebase: logged, .. } = input;
                return Err(Failure::run(format!(
                    "this run is not the one whose input was logged: the input of step {at_step}, time \
                     base {logged}, meets step {now}, time base {timebase}"
                )));
            }
            self.machine.console_input(&input.bytes);
            log.pop_front();
        }
        let next = log.front().map(|input| input.at_step);
        if next.is_none() {
            self.input_has_ended();
        }
        Ok(next.unwrap_or(u64::MAX))
    }

    /// There is no more to type.
    fn input_has_ended(&mut self) {
        if !std::mem::replace(&mut self.has_ended, true) {
            self.in_vain = Some(self.machine.state().platform.console.reads_in_vain());
            self.shown_at = self.machine.cycle();
        }
    }

    /// Says once that somebody asks for input that will not come, or that the machine is quiet without it: such a run
    /// may not end by itself.
    fn tell_of_the_end_of_input(&mut self, output: &[u8]) {
        let now = self.machine.cycle();
        if !output.is_empty() {
            self.shown_at = now;
        }
        let Some(before) = self.in_vain else { return };
        let is_asked_for = before < self.machine.state().platform.console.reads_in_vain();
        let is_quiet = self.duration(now - self.shown_at) > QUIET;
        let what = match (is_asked_for, is_quiet) {
            (true, _) => "is asked for again".to_owned(),
            (false, true) => {
                format!("the console has shown nothing for {} simulated seconds", QUIET.as_secs())
            }
            (false, false) => return,
        };
        self.in_vain = None;
        say(format_args!(
            "the input has ended and {what}; the run goes on: end it with Ctrl-C, or run with --steps"
        ));
    }

    /// Writes what was typed, whatever came of it.
    pub(super) fn keep_input(&self, arguments: &BootArguments) -> Result<(), Failure> {
        let Some(path) = &arguments.log_input else { return Ok(()) };
        input_log::write(path, self.machine.state().platform.console.log())
    }

    /// Saves the machine of a run that ended so, if the arguments ask for it; says what was kept and what
    /// was not.
    pub(super) fn keep(
        &self,
        ending: &Ending,
        arguments: &BootArguments,
    ) -> Result<String, Failure> {
        let mut said = String::new();
        if let Typist::Log(log) = &self.typist
            && !log.is_empty()
        {
            said = format!("; {} pieces of the logged input were not reached", log.len());
        }
        if let (Ending::Over(_), Some(until)) = (ending, &arguments.until) {
            said = format!("{said}; {} was not reached", one_line(&until.to_string()));
        }
        if let Some(from) = &self.trace_from {
            said = format!(
                "{said}; {} was not reached, and the trace is empty",
                one_line(&from.at.to_string())
            );
        }
        if let (Ending::Over(_), Some(text)) = (ending, &arguments.until_console) {
            said = format!("{said}; the console did not show {text:?}");
        }
        if self.begins_at.is_some() {
            said = format!("{said}; the run ended within its warm-up, and the ledger is of that");
        }
        let is_switched_off = matches!(ending, Ending::Over(Exit::PoweredOff));
        said += &disks::keep(&self.surroundings, is_switched_off, |address, bytes| {
            let read = self.machine.look_at_real(address, bytes);
            assert_eq!(read, bytes.len(), "the bundle is in the machine's memory");
            Ok(())
        })?;
        said += &self.keep_partition(ending)?;
        let Some(path) = &arguments.save else { return Ok(said) };
        if let Ending::Over(_) = ending {
            return Ok(said + "; nothing is saved of a run that is over");
        }
        saved::save(path, &self.machine, &self.surroundings)?;
        let step = self.machine.state().steps();
        Ok(format!("{said}; saved to {} at step {step}", one_line(&path.display().to_string())))
    }

    /// Writes the partition that was suspended to its file; says what came of it. Fails if it was not suspended.
    fn keep_partition(&self, ending: &Ending) -> Result<String, Failure> {
        let Some((name, path)) = &self.surroundings.suspends else { return Ok(String::new()) };
        let shown = one_line(&path.display().to_string()).into_owned();
        if !matches!(ending, Ending::Over(Exit::PoweredOff)) {
            return Ok(format!("; {shown} is not written, as the machine was not switched off"));
        }
        let Some(Ok(record)) = &self.surroundings.screen.said().record else {
            return Ok(format!("; {shown} is not written, as the hypervisor gave up"));
        };
        let Some(image) = suspended::image(&self.machine, record, name) else {
            return Err(Failure::run(format!(
                "partition {name} ended before it was to be suspended, and {shown} is not written; let --at be earlier"
            )));
        };
        crate::suspended::write(path, &image)?;
        Ok(format!("; partition {name} written to {shown}"))
    }

    pub(super) fn into_surroundings(self) -> Surroundings {
        self.surroundings
    }
}

/// What is written beside disks, and which option asks for it.
pub(super) fn written(arguments: &BootArguments) -> Vec<(&'static str, PathBuf)> {
    let options = [
        ("--save", &arguments.save),
        ("--log-input", &arguments.log_input),
        ("--to", &arguments.to),
        ("--trace-file", &arguments.trace_file),
        (STATISTICS_FILE, &arguments.statistics_file),
    ];
    let named = options.into_iter().filter_map(|(option, path)| Some((option, path.clone()?)));
    let region = arguments.region.as_ref().map(Part::to_string);
    let of_folder =
        arguments.out.iter().flat_map(|folder| explained::files(folder, region.as_deref()));
    named.chain(of_folder.map(|path| ("--out", path))).collect()
}

/// Fails where something would be written over a file that the run has read, or where two options name one place.
fn check_written(written: &[(&str, PathBuf)], files: &Files) -> Result<(), Failure> {
    let mut before: Vec<(&str, PathBuf)> = Vec::new();
    for (option, path) in written {
        check_not_read(option, path, files)?;
        let place = destination(path);
        if let Some((other, _)) = before.iter().find(|(_, other)| *other == place) {
            let text = format!("{} is what {other} writes too; name another one", path.display());
            return Err(Failure::input(option, text));
        }
        before.push((option, place));
    }
    Ok(())
}

/// Fails where something of the ledger is asked for and there is none.
fn require_timing(machine: &Machine, arguments: &BootArguments) -> Result<(), Failure> {
    let asked = [
        ("--explain", arguments.explain),
        ("--region", arguments.region.is_some()),
        ("--out", arguments.out.is_some()),
        ("--warm-up", arguments.warm_up.is_some()),
    ];
    match asked.iter().find(|(_, is_asked)| *is_asked) {
        Some((option, _)) if machine.charges().is_none() => {
            Err(Failure::input(option, "cycles pass in timing mode only; add --timing"))
        }
        _ => Ok(()),
    }
}
