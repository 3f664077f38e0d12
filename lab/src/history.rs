//! A machine that can be run back: snapshots on the way, and the same run again from one of them.
//!
//! The machine repeats itself exactly, so the state at an earlier step is a snapshot before it and a run up to
//! it. What was typed is typed again at its step, and what the console showed is not shown twice.

use simulator::state::shared::Shared;
use simulator::state::thread::Thread;
use simulator::{Input, Machine, NoObserver, Observer, Place, RunState};

/// Steps between two snapshots, to begin with.
const SPACING: u64 = 1 << 20;
/// With more snapshots than so many every second one is dropped, and they are taken half as often.
const SNAPSHOTS_MAX: usize = 12;
/// Steps that are looked through one by one for the last one of a thread, at first.
const NEAR: u64 = 64;

/// Steps that run at once while memory is watched: so many are looked through one by one for the access.
const WATCHED: u64 = 1 << 12;

/// Bytes whose accesses somebody wants to know of, by effective address, of which the first four bits do not count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Watch {
    /// Of the first byte.
    pub address: u64,
    /// How many.
    pub bytes: u64,
    /// Whether loads count.
    pub loads: bool,
    /// Whether stores count.
    pub stores: bool,
}

impl Watch {
    fn meets(&self, address: u64, bytes: u64, is_store: bool) -> bool {
        /// What distinguishes views of the same memory.
        const VIEW: u64 = 0xF << 60;
        let (own, other) = (self.address & !VIEW, address & !VIEW);
        let is_wanted = if is_store { self.stores } else { self.loads };
        is_wanted && own < other.saturating_add(bytes) && other < own.saturating_add(self.bytes)
    }
}

/// Notes the first access to what is watched, and by which thread.
struct Watcher<'a> {
    watches: &'a [Watch],
    met: Option<(usize, Watch)>,
}

impl Observer for Watcher<'_> {
    const SEES_INSTRUCTIONS: bool = false;
    const SEES_STORES: bool = true;

    fn stored(&mut self, thread: &Thread, _: &Shared) {
        let accesses = || thread.accesses.list().iter();
        let is_met = |watch: &&Watch| {
            accesses().any(|one| watch.meets(one.address, one.bytes.into(), one.is_store))
        };
        if self.met.is_none() {
            self.met = self.watches.iter().find(is_met).map(|watch| (thread.index, *watch));
        }
    }
}

/// A machine and its past since somebody began to look.
#[derive(Debug)]
pub struct History<'a> {
    machine: &'a mut Machine,
    /// By their steps, the first one where the past begins.
    snapshots: Vec<(u64, Vec<u8>)>,
    spacing: u64,
    /// What was typed in all, and what is to be.
    log: Vec<Input>,
    /// The latest step that was reached; up to it everything has been shown.
    furthest: u64,
    places: Vec<Place>,
    watches: Vec<Watch>,
    met: Option<(usize, Watch)>,
}

/// The step at which a thread came to a place, the thread, and what it accessed there if that is watched.
type Met = (u64, usize, Option<(usize, Watch)>);

impl<'a> History<'a> {
    /// The past begins now. `log` is all that was typed, and may be more than the machine has got so far.
    pub fn new(machine: &'a mut Machine, log: Vec<Input>) -> Self {
        let now = machine.state().steps();
        let snapshots = vec![(now, machine.snapshot())];
        let (places, watches) = (Vec::new(), Vec::new());
        Self {
            machine,
            snapshots,
            spacing: SPACING,
            log,
            furthest: now,
            places,
            watches,
            met: None,
        }
    }

    /// The machine, to look at.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        self.machine
    }

    /// The step that it is at.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.machine.state().steps()
    }

    /// Lets each run end before one of these places.
    pub fn stop_before(&mut self, places: Vec<Place>) {
        self.machine.stop_before(places.clone());
        self.places = places;
    }

    /// Lets each run end behind an instruction that does one of these accesses; see [`History::take_met`].
    pub fn watch(&mut self, watches: Vec<Watch>) {
        self.watches = watches;
    }

    /// What was accessed, and by which thread, where that ended the last run.
    pub fn take_met(&mut self) -> Option<(usize, Watch)> {
        self.met.take()
    }

    /// Types on the console; false where the machine has a future that knows nothing of it.
    pub fn type_in(&mut self, bytes: &[u8]) -> bool {
        if self.now() < self.furthest {
            return false;
        }
        self.machine.console_input(bytes);
        self.log = self.machine.state().platform.console.log().to_vec();
        true
    }

    /// Runs on for at most so many steps, and says what the console showed that nobody has seen. May end early.
    pub fn run(&mut self, steps: u64) -> (RunState, Vec<u8>) {
        if self.watches.is_empty() {
            return self.advance(steps, &mut NoObserver);
        }
        let (from, furthest) = (self.now(), self.furthest);
        let (end, output, met) = self.advance_watching(steps.min(WATCHED));
        if met.is_none() || steps == 1 {
            self.met = met;
            return (end, output);
        }
        // Again, and no further than the access: as if what is behind it had not been yet.
        self.go_to(from);
        self.furthest = furthest;
        self.snapshots.retain(|(at, _)| *at <= from.max(furthest));
        let mut shown = Vec::new();
        loop {
            let (end, output, met) = self.advance_watching(1);
            shown.extend(output);
            if met.is_some() {
                self.met = met;
                return (end, shown);
            }
        }
    }

    /// The same, with what was accessed of what is watched.
    fn advance_watching(&mut self, steps: u64) -> (RunState, Vec<u8>, Option<(usize, Watch)>) {
        let watches = std::mem::take(&mut self.watches);
        let mut watcher = Watcher { watches: &watches, met: None };
        let (end, output) = self.advance(steps, &mut watcher);
        let met = watcher.met;
        self.watches = watches;
        (end, output, met)
    }

    fn advance<O: Observer>(&mut self, steps: u64, observer: &mut O) -> (RunState, Vec<u8>) {
        self.type_again();
        let now = self.now();
        let next = self.log.get(self.typed()).map(|input| input.at_step);
        let latest = self.latest();
        // A run over one of these ends there, so that it is met.
        let stops = [next, Some(self.furthest), Some(latest + self.spacing)];
        let stops = stops.into_iter().flatten().filter(|stop| *stop > now);
        let until = stops.fold(now.saturating_add(steps), u64::min);
        let end = self.machine.run(until - now, observer);
        let output = self.machine.take_console_output();
        let reached = self.now();
        if reached >= latest + self.spacing {
            self.keep(reached);
        }
        let is_known = reached <= self.furthest;
        self.furthest = self.furthest.max(reached);
        (end, if is_known { Vec::new() } else { output })
    }

    /// Goes to an earlier step, or to a later one that was reached before; no further back than the past goes.
    pub fn go_to(&mut self, step: u64) {
        let step = step.min(self.furthest);
        let before = self.snapshots.iter().rposition(|(at, _)| *at <= step).unwrap_or(0);
        self.restore(before);
        self.machine.stop_before(Vec::new());
        while self.now() < step {
            self.advance(step - self.now(), &mut NoObserver);
        }
        self.machine.stop_before(self.places.clone());
    }

    /// Goes to where it was furthest.
    pub fn go_to_the_end(&mut self) {
        if self.now() < self.furthest {
            self.go_to(self.furthest);
        }
    }

    /// Goes to before the last step of a thread; false if it has none in the past, and the past's beginning is reached.
    pub fn step_back(&mut self, thread: usize) -> bool {
        let steps = |history: &Self| history.machine.state().threads[thread].steps();
        let (now, own) = (self.now(), steps(self));
        let mut near = NEAR;
        loop {
            let from = now.saturating_sub(near).max(self.begin());
            self.go_to(from);
            if steps(self) < own {
                break;
            }
            if from == self.begin() {
                return false;
            }
            near *= 16;
        }
        self.machine.stop_before(Vec::new());
        let mut last = self.now();
        while self.now() < now {
            // One that ends in an interrupt makes two at once.
            if steps(self) < own {
                last = self.now();
            }
            self.advance(1, &mut NoObserver);
        }
        self.go_to(last);
        true
    }

    /// Goes back to the last place before now, or to before the last access to what is watched, and says which
    /// thread is there; `None` if there is none, and the past's beginning is reached. [`History::take_met`]
    /// says whether it was an access.
    pub fn run_back(&mut self) -> Option<usize> {
        let mut end = self.now();
        for index in (0..self.snapshots.len()).rev() {
            let begin = self.snapshots[index].0;
            if begin >= end {
                continue;
            }
            self.restore(index);
            self.machine.stop_before(self.places.clone());
            let mut last = None;
            while self.now() < end {
                let (from, left) = (self.now(), end - self.now());
                let (state, met) = if self.watches.is_empty() {
                    (self.advance(left, &mut NoObserver).0, None)
                } else {
                    let (state, _, met) = self.advance_watching(left.min(WATCHED));
                    (state, met)
                };
                if met.is_some() {
                    last = self.last_access(from);
                }
                if let RunState::AtPlace { thread } = state
                    && self.now() < end
                {
                    last = Some((self.now(), thread, None));
                }
            }
            if let Some((step, thread, met)) = last {
                self.go_to(step);
                self.met = met;
                return Some(thread);
            }
            end = begin;
        }
        self.go_to(self.begin());
        None
    }

    /// The step before the last access between step `from` and now to what is watched, the thread, and what it was.
    fn last_access(&mut self, from: u64) -> Option<Met> {
        let now = self.now();
        self.go_to(from);
        self.machine.stop_before(Vec::new());
        let mut last = None;
        while self.now() < now {
            let before = self.now();
            if let (_, _, Some(met)) = self.advance_watching(1) {
                last = Some((before, met.0, Some(met)));
            }
        }
        self.machine.stop_before(self.places.clone());
        last
    }

    /// The step at which the past begins.
    fn begin(&self) -> u64 {
        self.snapshots[0].0
    }

    /// The step of the last snapshot.
    fn latest(&self) -> u64 {
        self.snapshots[self.snapshots.len() - 1].0
    }

    fn restore(&mut self, index: usize) {
        let (_, snapshot) = &self.snapshots[index];
        *self.machine = Machine::restore(snapshot).expect("this machine was saved by itself");
    }

    fn keep(&mut self, step: u64) {
        self.snapshots.push((step, self.machine.snapshot()));
        if self.snapshots.len() > SNAPSHOTS_MAX {
            let mut index = 0;
            self.snapshots.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.spacing *= 2;
        }
    }

    /// How many pieces of the log the machine has got.
    fn typed(&self) -> usize {
        self.machine.state().platform.console.log().len()
    }

    /// Types what the log has for this step.
    fn type_again(&mut self) {
        let now = self.now();
        while let Some(input) = self.log.get(self.typed()).filter(|input| input.at_step <= now) {
            self.machine.console_input(&input.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use simulator::{Boot, Description, Machine, Place, RunState};

    use simulator::Whose;

    use super::{History, SNAPSHOTS_MAX, SPACING, Watch};
    use crate::machine_file::MachineFile;

    /// Counts in r3 for ever, two instructions a round.
    fn machine() -> Machine {
        let description: Description = MachineFile::default().describe().unwrap();
        let mut machine = Machine::new(description, 1);
        let kernel = vec![0x38, 0x63, 0x00, 0x01, 0x4B, 0xFF, 0xFF, 0xFC];
        machine.boot(&Boot { kernel, ..Boot::default() }).unwrap();
        machine
    }

    fn run_to(history: &mut History<'_>, step: u64) {
        while history.now() < step {
            history.run(step - history.now());
        }
    }

    #[test]
    fn a_step_back_and_a_step_on_is_the_same_machine() {
        let mut machine = machine();
        let mut history = History::new(&mut machine, Vec::new());
        run_to(&mut history, 3 * SPACING + 17);
        let (now, here) = (history.now(), history.machine().snapshot());
        for back in 1..5 {
            assert!(history.step_back(0));
            assert_eq!(history.now(), now - back);
        }
        history.go_to_the_end();
        assert!(history.machine().snapshot() == here);
        history.go_to(1);
        assert!(history.step_back(0) && !history.step_back(0));
        assert_eq!(history.now(), 0);
        run_to(&mut history, now);
        assert!(history.machine().snapshot() == here);
        // A machine that nobody looked at.
        let mut other = self::machine();
        other.run(now, &mut simulator::NoObserver);
        assert!(other == *history.machine());
    }

    #[test]
    fn a_run_back_ends_at_the_last_place_or_where_the_past_begins() {
        let mut machine = machine();
        let entry = machine.state().threads[machine.state().description.boot_thread()].nia;
        machine.run(3, &mut simulator::NoObserver);
        let mut history = History::new(&mut machine, Vec::new());
        history.stop_before(vec![Place { whose: Whose::Host, address: entry, stack: None }]);
        assert!(matches!(history.run(100).0, RunState::AtPlace { .. }));
        assert_eq!(history.now(), 4);
        history.stop_before(Vec::new());
        run_to(&mut history, SPACING + 101);
        history.stop_before(vec![Place { whose: Whose::Host, address: entry, stack: None }]);
        // The places are at even steps, one of them at a snapshot.
        for step in [SPACING + 100, SPACING + 98] {
            assert!(history.run_back().is_some());
            assert_eq!(history.now(), step);
        }
        history.go_to(SPACING + 5);
        for step in [SPACING + 4, SPACING + 2, SPACING, SPACING - 2] {
            assert!(history.run_back().is_some());
            assert_eq!(history.now(), step);
        }
        history.go_to(5);
        assert!(history.run_back().is_some());
        assert_eq!((history.now(), history.run_back()), (4, None));
        assert_eq!(history.now(), 3);
    }

    #[test]
    fn a_run_ends_behind_an_access_that_is_watched_and_a_run_back_before_it() {
        const PLACE: u64 = 0x2001_0000;
        let description: Description = MachineFile::default().describe().unwrap();
        let mut machine = Machine::new(description, 1);
        // lis r3,0x2001; addi r4,r4,1; std r4,0(r3); ld r5,8(r3); b .-12
        let code = [0x3C60_2001_u32, 0x3884_0001, 0xF883_0000, 0xE8A3_0008, 0x4BFF_FFF4];
        let kernel = code.map(u32::to_be_bytes).concat();
        machine.boot(&Boot { kernel, ..Boot::default() }).unwrap();
        let mut history = History::new(&mut machine, Vec::new());
        let run = |history: &mut History<'_>| {
            (0..10).find_map(|_| {
                history.run(100_000);
                history.take_met()
            })
        };
        let watch = |address, loads, stores| Watch { address, bytes: 4, loads, stores };
        for (watch, steps) in [
            // The last bytes of what is stored, in another view; then what is loaded.
            (watch(0xC000_0000_0000_0000 | (PLACE + 4), false, true), [3, 7, 11]),
            (watch(PLACE + 8, true, false), [12, 16, 20]),
        ] {
            history.watch(vec![watch]);
            for step in steps {
                assert_eq!(run(&mut history), Some((0, watch)));
                assert_eq!(history.now(), step);
            }
        }
        for step in [19, 15, 11] {
            assert_eq!(history.run_back(), Some(0));
            assert_eq!((history.now(), history.take_met().is_some()), (step, true));
        }
        // Nobody loads the one, stores to the other, or comes behind both.
        let not = [
            watch(PLACE, true, false),
            watch(PLACE + 8, false, true),
            watch(PLACE + 16, true, true),
        ];
        history.watch(not.to_vec());
        assert_eq!(run(&mut history), None);
        assert!(history.run_back().is_none() && history.now() == 0);
    }

    #[test]
    fn snapshots_are_few_however_long_the_run_is() {
        let mut machine = machine();
        let mut history = History::new(&mut machine, Vec::new());
        run_to(&mut history, 40 * SPACING);
        assert!(history.snapshots.len() <= SNAPSHOTS_MAX, "{}", history.snapshots.len());
        assert_eq!(history.begin(), 0);
        assert!(history.latest() > 30 * SPACING);
    }
}
