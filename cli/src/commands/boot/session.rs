//! A run on our machine with a person before it: console, input, trace, and what is kept at its end.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use simulator::{Input, Machine, NoObserver, Observer, RunState};

use crate::arguments::{BootArguments, Traced};
use crate::failure::Failure;
use crate::input_log;
use crate::interruption;
use crate::ledger::names::{Names, Program};
use crate::ledger::{Ledger, explain};
use crate::on_simulator::{SLICE, exit_of};
use crate::output::{check_place, input, say};
use crate::progress::Speed;
use crate::saved::{self, Surroundings};
use crate::system::Exit;
use crate::trace::Trace;
use crate::until::Until;

/// Steps between two looks while the machine is ahead of a person: about one wake-up of an idle Linux.
const IDLE_SLICE: u64 = 1 << 14;
/// How long a wait for a person may keep an interruption waiting.
const LOOK: Duration = Duration::from_millis(50);

/// A machine that runs, and what is around it.
pub(super) struct Session {
    machine: Machine,
    surroundings: Surroundings,
    typist: Typist,
    /// The step at which the run pauses.
    limit: u64,
    /// Since there is no more input: how often it had been asked for in vain until then. `None` once the user knows
    /// that it is asked for again.
    in_vain: Option<u64>,
    has_ended: bool,
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
    /// The asked-for mark was passed.
    AtMark(Until),
    /// The user interrupted.
    Interrupted,
}

impl Session {
    pub(super) fn new(
        machine: Machine,
        surroundings: Surroundings,
        arguments: &BootArguments,
    ) -> Result<Self, Failure> {
        // A run may take long; what cannot be kept is said before it.
        for path in [&arguments.save, &arguments.log_input].into_iter().flatten() {
            check_place(path)?;
        }
        let typist = match &arguments.replay_input {
            None => Typist::Person(input()),
            Some(path) => {
                let log = input_log::read(path)?;
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
        let now = machine.state().steps();
        let limit = arguments.steps.map_or(u64::MAX, |steps| now.saturating_add(steps));
        Ok(Self { machine, surroundings, typist, limit, in_vain: None, has_ended: false })
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

    /// More lines about a run in timing mode: how many cycles have passed, who spent them and why.
    pub(super) fn ledger(&self) -> String {
        let Some(charges) = self.machine.charges() else { return String::new() };
        let partitions = (1..).zip(&self.surroundings.consoles.partitions);
        let partitions = partitions.map(|(lpid, name)| (lpid, (name.clone(), Program::default())));
        let names = Names { partitions: partitions.collect(), ..Names::default() };
        let threads = &self.machine.state().threads;
        let latest = threads.iter().map(|thread| thread.time_now().cycles()).max().unwrap_or(0);
        let ledger = explain::by_owner(&Ledger::new(&charges, &names));
        let parameters = self.machine.state().description.timing().checksum();
        format!(
            "\n{latest} cycles, hardware threads: {}, parameters {parameters}\n{}",
            threads.len(),
            ledger.trim_end()
        )
    }

    /// Runs to an end, observed as the arguments say.
    pub(super) fn run(&mut self, arguments: &BootArguments) -> Result<Ending, Failure> {
        let clock = self.machine.state().shared.clock;
        let (path, partitions) =
            (arguments.trace_file.as_deref(), &self.surroundings.consoles.partitions);
        let until = arguments.until;
        match arguments.trace {
            None => self.run_observed(&mut NoObserver, |_| Ok(()), until),
            Some(Traced::Exits) => {
                let mut trace = Trace::<false>::new(path, clock, partitions)?;
                self.run_observed(&mut trace, Trace::flush, until)
            }
            Some(Traced::Instructions) => {
                let mut trace = Trace::<true>::new(path, clock, partitions)?;
                self.run_observed(&mut trace, Trace::flush, until)
            }
        }
    }

    fn run_observed<O: Observer>(
        &mut self,
        observer: &mut O,
        flush: impl Fn(&mut O) -> Result<(), Failure>,
        mark: Option<Until>,
    ) -> Result<Ending, Failure> {
        self.machine.stop_at(mark.map(|Until(mark)| mark));
        let mut slice = SLICE;
        loop {
            let now = self.machine.state().steps();
            if now >= self.limit {
                return Ok(Ending::Paused);
            }
            let until = self.type_in(now)?.min(self.limit);
            let (started, simulated) = (Instant::now(), self.machine.simulated_seconds());
            let end = self.machine.run(slice.min(until - now), observer);
            flush(observer)?;
            self.surroundings.screen.show(&self.machine.take_console_output())?;
            self.tell_of_the_end_of_input();
            if let (RunState::AtMark, Some(mark)) = (&end, mark) {
                return Ok(Ending::AtMark(mark));
            }
            if let Some(exit) = exit_of(end) {
                return Ok(Ending::Over(exit));
            }
            let passed = Duration::from_secs_f64(self.machine.simulated_seconds() - simulated);
            let ahead = passed.saturating_sub(started.elapsed());
            slice = if self.wait_for_typing(ahead) { IDLE_SLICE } else { SLICE };
            if interruption::check().is_err() {
                return Ok(Ending::Interrupted);
            }
        }
    }

    /// Waits for so long, or until something is typed; false if there is nothing to wait for. A machine that only
    /// sleeps would otherwise pass hours between two keys.
    fn wait_for_typing(&mut self, ahead: Duration) -> bool {
        let Typist::Person(typed) = &self.typist else { return false };
        if ahead.is_zero() {
            return false;
        }
        let started = Instant::now();
        while interruption::check().is_ok()
            && let Some(left) = ahead.checked_sub(started.elapsed())
        {
            match typed.recv_timeout(left.min(LOOK)) {
                Ok(bytes) => {
                    self.machine.console_input(&bytes);
                    break;
                }
                Err(RecvTimeoutError::Timeout) => (),
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
        true
    }

    /// Types what is due at step `now`, and says when something is due next.
    fn type_in(&mut self, now: u64) -> Result<u64, Failure> {
        let log = match &mut self.typist {
            Typist::Person(typed) => {
                loop {
                    match typed.try_recv() {
                        Ok(bytes) => self.machine.console_input(&bytes),
                        Err(TryRecvError::Empty) => return Ok(u64::MAX),
                        Err(TryRecvError::Disconnected) => break,
                    }
                }
                self.input_has_ended();
                return Ok(u64::MAX);
            }
            Typist::Log(log) => log,
        };
        while let Some(input) = log.front().filter(|input| input.at_step <= now) {
            let timebase = self.machine.timebase();
            if (input.at_step, input.timebase) != (now, timebase) {
                let Input { at_step, timebase: logged, .. } = input;
                return Err(Failure::Run(format!(
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
        }
    }

    /// Says once that somebody asks for input that will not come: such a run may not end by itself.
    fn tell_of_the_end_of_input(&mut self) {
        let now = self.machine.state().platform.console.reads_in_vain();
        if self.in_vain.is_some_and(|before| before < now) {
            self.in_vain = None;
            say(
                "the input has ended and is asked for again; the run goes on: end it with Ctrl-C, or run with --steps",
            );
        }
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
        if let (Ending::Over(_), Some(mark)) = (ending, arguments.until) {
            said = format!("{said}; mark {mark} was not reached");
        }
        let Some(path) = &arguments.save else { return Ok(said) };
        if let Ending::Over(_) = ending {
            return Ok(said + "; nothing is saved of a run that is over");
        }
        saved::save(path, &self.machine, &self.surroundings)?;
        let step = self.machine.state().steps();
        Ok(format!("{said}; saved to {} at step {step}", path.display()))
    }

    pub(super) fn into_surroundings(self) -> Surroundings {
        self.surroundings
    }
}
