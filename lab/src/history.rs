//! A machine that can be run back: snapshots on the way, and the same run again from one of them.
//!
//! The machine repeats itself exactly, so the state at an earlier step is a snapshot before it and a run up to it. What was
//! typed is typed again at its step, and what the console showed is not shown twice.

use simulator::{Input, Machine, NoObserver, Place, RunState};

/// Steps between two snapshots, to begin with.
const SPACING: u64 = 1 << 20;
/// With more snapshots than so many every second one is dropped, and they are taken half as often.
const SNAPSHOTS_MAX: usize = 12;
/// Steps that are looked through one by one for the last one of a thread, at first.
const NEAR: u64 = 64;

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
}

impl<'a> History<'a> {
    /// The past begins now. `log` is all that was typed, and may be more than the machine has got so far.
    pub fn new(machine: &'a mut Machine, log: Vec<Input>) -> Self {
        let now = machine.state().steps();
        let snapshots = vec![(now, machine.snapshot())];
        Self { machine, snapshots, spacing: SPACING, log, furthest: now, places: Vec::new() }
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
        self.type_again();
        let now = self.now();
        let next = self.log.get(self.typed()).map(|input| input.at_step);
        let latest = self.latest();
        // A run over one of these ends there, so that it is met.
        let stops = [next, Some(self.furthest), Some(latest + self.spacing)];
        let stops = stops.into_iter().flatten().filter(|stop| *stop > now);
        let until = stops.fold(now.saturating_add(steps), u64::min);
        let end = self.machine.run(until - now, &mut NoObserver);
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
            self.run(step - self.now());
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
            self.run(1);
        }
        self.go_to(last);
        true
    }

    /// Goes back to the last place before now, and says which thread is there; `None` if there is none, and the past's
    /// beginning is reached.
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
                if let (RunState::AtPlace { thread }, _) = self.run(end - self.now())
                    && self.now() < end
                {
                    last = Some((self.now(), thread));
                }
            }
            if let Some((step, thread)) = last {
                self.go_to(step);
                return Some(thread);
            }
            end = begin;
        }
        self.go_to(self.begin());
        None
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

    use super::{History, SNAPSHOTS_MAX, SPACING};
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
        history.stop_before(vec![Place { lpid: None, address: entry, stack: None }]);
        assert!(matches!(history.run(100).0, RunState::AtPlace { .. }));
        assert_eq!(history.now(), 4);
        history.stop_before(Vec::new());
        run_to(&mut history, SPACING + 101);
        history.stop_before(vec![Place { lpid: None, address: entry, stack: None }]);
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
    fn snapshots_are_few_however_long_the_run_is() {
        let mut machine = machine();
        let mut history = History::new(&mut machine, Vec::new());
        run_to(&mut history, 40 * SPACING);
        assert!(history.snapshots.len() <= SNAPSHOTS_MAX, "{}", history.snapshots.len());
        assert_eq!(history.begin(), 0);
        assert!(history.latest() > 30 * SPACING);
    }
}
