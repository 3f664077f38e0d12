//! The performance monitor's counters: which of them count in the thread's state, how far they are, and what follows
//! when one becomes negative.
//!
//! The registers are brought up to date where somebody looks, and where what counts changes. Source of the rules: Power
//! ISA 3.0B Book III, Performance Monitor Facility; [`arch::registers::monitor`] has those of the fields. Which counter
//! counts when is Microwatt's `pmu.vhdl`.

use std::fmt;

use arch::processor::Processor;
use arch::registers::monitor::{self, Event, Quantity, mmcr2};
use arch::registers::msr;
use arch::registers::spr::Spr;
use serde::{Deserialize, Serialize};

use super::Thread;
use super::occurrences::{self, Occurrence, Occurrences};

/// PMC1 to PMC6.
const COUNTERS: [Spr; 6] = [Spr::Pmc1, Spr::Pmc2, Spr::Pmc3, Spr::Pmc4, Spr::Pmc5, Spr::Pmc6];

/// What of the MSR freezes counters.
const FREEZING: u64 = msr::HV | msr::PR | msr::PMM;

/// What is remembered of the counters between two looks at them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Counters {
    /// Whose events they count.
    processor: Processor,
    /// What each counts in the thread's state.
    what: [Option<Counted>; 6],
    /// Cycles and instructions of the thread up to which the registers have counted.
    cycles: u64,
    instructions: u64,
    /// How often things had occurred then, and have by now, once the timing model has shown it.
    counted: Option<Occurrences>,
    now: Occurrences,
}

impl Counters {
    /// Of a thread of this processor, which count nothing.
    pub(crate) fn new(processor: Processor) -> Self {
        let (what, now) = ([None; 6], Occurrences::default());
        Self { processor, what, cycles: 0, instructions: 0, counted: None, now }
    }
}

/// What a counter counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Counted {
    Cycles,
    Instructions,
    /// What only the timing model knows.
    Occurrences(Occurrence),
}

impl From<Quantity> for Counted {
    fn from(quantity: Quantity) -> Self {
        match quantity {
            Quantity::Cycles => Self::Cycles,
            Quantity::Instructions => Self::Instructions,
        }
    }
}

/// What the registers ask for that the machine does not have: it never happens.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Missing {
    /// An event, whose code begins with its counter, 1 to 4: see [`code`](super::occurrences::code).
    Event(u32),
    /// The same of an event that only the timing model knows, without it.
    Untimed(u32),
    /// Instructions are to be sampled: MMCRA\[SAMPLE_ENABLE\].
    Sampling,
    /// Transitions of a time-base bit are to be events: MMCR0\[TBEE\].
    TimeBase,
    /// The supervisor's counters of a POWER8 are to count: SPMC1, SPMC2 and MMCRS.
    Supervisor,
    /// The core's own performance monitor is to count: MMCRC.
    CoreMonitor,
    /// Events are to be collected in memory: IMC.
    InMemory,
    /// The L2 is to serve some before others: L2QOSR.
    CacheService,
    /// SPRC was written with what is no address.
    Address,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(code) => {
                write!(
                    f,
                    "PMC{} was to count event {code:#07x}, which the machine does not have: it stays as it is",
                    code >> 16
                )
            }
            Self::Untimed(code) => {
                write!(
                    f,
                    "PMC{} was to count event {code:#07x}, which the machine has with --timing alone: it stays as it is",
                    code >> 16
                )
            }
            Self::Sampling => {
                f.write_str("MMCRA[SAMPLE_ENABLE]: the machine samples no instructions")
            }
            Self::TimeBase => {
                f.write_str("MMCR0[TBEE]: time-base bits are no events of the machine")
            }
            Self::CoreMonitor => {
                f.write_str("MMCRC: the machine has no performance monitor of a core: it keeps its value")
            }
            Self::InMemory => {
                f.write_str("IMC: the machine collects no events in memory: it keeps its value")
            }
            Self::CacheService => {
                f.write_str("L2QOSR: the machine's L2 serves all threads alike")
            }
            Self::Address => {
                f.write_str("SPRC: what was written is no address of a register: it keeps the one that it had")
            }
            Self::Supervisor => {
                f.write_str("MMCRS, SPMC1, SPMC2: the machine does not count for the supervisor: they stay as they are")
            }
        }
    }
}

/// The bits of MMCR0 of which one lets something follow when the counter with this index is negative.
const fn condition(index: usize) -> u64 {
    if index == 0 { monitor::PMC1CE | monitor::TRIGGER } else { monitor::PMCJCE }
}

impl Thread {
    /// Brings the counters up to date, and does what follows from one that is negative.
    pub(crate) fn count(&mut self) {
        if !self.counts() {
            return;
        }
        let (cycles, instructions) = (self.time_now().cycles(), self.completed_now());
        let Counters { what, cycles: from, instructions: first, counted, now, .. } = self.counters;
        self.counters.cycles = cycles;
        self.counters.instructions = instructions;
        self.counters.counted = counted.map(|_| now);
        for (counter, what) in COUNTERS.into_iter().zip(what) {
            let more = match what {
                None => continue,
                Some(Counted::Cycles) => cycles.saturating_sub(from),
                Some(Counted::Instructions) => instructions.saturating_sub(first),
                Some(Counted::Occurrences(of)) => {
                    counted.map_or(0, |counted| now[of as usize] - counted[of as usize])
                }
            };
            let value = self.spr(counter).wrapping_add(more) & counter.row().mask();
            self.set_spr(counter, value);
        }
        self.alert();
    }

    /// From here on counts what the registers and the thread's state ask for; what passed before is left out if
    /// nobody has called [`count`](Self::count).
    pub(crate) fn count_anew(&mut self) {
        let what = std::array::from_fn(|index| self.counted_by(index as u32 + 1));
        let (cycles, instructions) = (self.time_now().cycles(), self.completed_now());
        let counted = self.counters.counted.map(|_| self.counters.now);
        self.counters = Counters { what, cycles, instructions, counted, ..self.counters };
        if !self.counts_occurrences() {
            self.counters.counted = None;
        }
    }

    /// Whether a counter counts what the timing model knows: that has to [`show`](Self::show) it before an instruction
    /// that may look.
    pub(crate) fn counts_occurrences(&self) -> bool {
        self.counters.what.iter().any(|what| matches!(what, Some(Counted::Occurrences(_))))
    }

    /// Whether something follows from such a counter as soon as it is negative.
    pub(crate) fn awaits_occurrence(&self) -> bool {
        let what = self.counters.what.iter().enumerate();
        let mut counting = what.filter(|(_, what)| matches!(what, Some(Counted::Occurrences(_))));
        counting.any(|(index, _)| self.spr(Spr::Mmcr0) & condition(index) != 0)
    }

    /// How often things have occurred since timing began.
    pub(crate) fn show(&mut self, now: Occurrences) {
        self.counters.now = now;
        self.counters.counted.get_or_insert(now);
    }

    /// The timing model forgets what has occurred.
    pub(crate) fn forget_occurrences(&mut self) {
        self.count();
        self.counters.counted = None;
    }

    /// Whether a change of the MSR from `old` to `new` may change what counts.
    #[inline]
    pub(super) fn may_change_counting(&self, old: u64, new: u64) -> bool {
        // Mostly all are frozen, for all states.
        (old ^ new) & FREEZING != 0 && !self.has_all_frozen()
    }

    /// Whether all counters are frozen, for all states.
    #[inline]
    pub(crate) fn has_all_frozen(&self) -> bool {
        self.spr(Spr::Mmcr0) & monitor::FC != 0 && !self.is_outside()
    }

    /// Whether a counter counts in the thread's state.
    pub(crate) fn counts(&self) -> bool {
        self.counters.what != [None; 6]
    }

    /// Whether PMC5 and PMC6 do not belong to the performance monitor.
    fn is_outside(&self) -> bool {
        monitor::PMCC.get(self.spr(Spr::Mmcr0)) == monitor::OUTSIDE
    }

    /// What counter `number`, 1 to 6, counts in the thread's state.
    fn counted_by(&self, number: u32) -> Option<Counted> {
        let (mmcr0, freezes) = (self.spr(Spr::Mmcr0), self.spr(Spr::Mmcr2));
        let runs = self.spr(Spr::Ctrl) & 1 != 0;
        let last = if number == 5 { Counted::Instructions } else { Counted::Cycles };
        if number > 4 && self.is_outside() {
            // Nothing freezes it but the run latch.
            return runs.then_some(last);
        }
        let is_set =
            |bits: u64, field: u32| mmcr0 & bits != 0 || freezes & mmcr2::of(number, field) != 0;
        let (is_off, what) = if number > 4 {
            (mmcr0 & monitor::FC5_6 != 0 || !runs && mmcr0 & monitor::CC56RUN == 0, last)
        } else {
            let (what, event) = self.event(number)?;
            let ignores_wait = event.is_some_and(|event| event.ignores_wait);
            let needs_run_latch = event.is_some_and(|event| event.needs_run_latch);
            let waits = mmcr0 & monitor::FC1_4WAIT != 0 && !ignores_wait;
            (mmcr0 & monitor::FC1_4 != 0 || !runs && (waits || needs_run_latch), what)
        };
        // While it is set the others wait for PMC1.
        let waits_for_first = number > 1 && mmcr0 & monitor::TRIGGER != 0;
        let by_state = if self.is_hypervisor() {
            is_set(monitor::FCH, mmcr2::H)
        } else if !self.is_problem() {
            is_set(monitor::FCS, mmcr2::S)
        } else {
            self.is_frozen_in_problem_state() || is_set(0, mmcr2::P0)
        };
        let by_mark = if self.msr() & msr::PMM != 0 {
            is_set(monitor::FCM1, mmcr2::M1)
        } else {
            is_set(monitor::FCM0, mmcr2::M0)
        };
        let is_frozen = is_off
            || mmcr0 & monitor::FC != 0
            || !runs && is_set(0, mmcr2::WAIT)
            || waits_for_first
            || by_state
            || by_mark;
        (!is_frozen).then_some(what)
    }

    /// Whether MMCR0 freezes in the thread's problem state. FCPC turns FCP into a choice: the hypervisor's programs,
    /// or with FCP those of partitions.
    fn is_frozen_in_problem_state(&self) -> bool {
        let has = |bit: u64| self.spr(Spr::Mmcr0) & bit != 0;
        let is_hypervisors = self.msr() & msr::HV != 0;
        if has(monitor::FCPC) { has(monitor::FCP) != is_hypervisors } else { has(monitor::FCP) }
    }

    /// What counter `number`, 1 to 4, is to count, and the event if that is cycles or instructions.
    fn event(&self, number: u32) -> Option<(Counted, Option<Event>)> {
        let code = self.code(number);
        if let Some(event) = Event::of(number, code & 0xFF) {
            return Some((event.what.into(), Some(event)));
        }
        let occurrence = Occurrence::of(self.counters.processor, code)?;
        Some((Counted::Occurrences(occurrence), None))
    }

    /// The code of its event.
    fn code(&self, number: u32) -> u32 {
        occurrences::code(self.counters.processor, self.spr(Spr::Mmcr1), number)
    }

    /// What the registers ask for that never happens here, where time passes as in the model or not.
    pub(crate) fn missing_of_monitor(&self, is_timed: bool) -> Vec<Missing> {
        let mmcr0 = self.spr(Spr::Mmcr0);
        let events = (1..=4).filter_map(|counter| {
            let code = self.code(counter);
            let counts = code & 0xFF != 0 && mmcr0 & (monitor::FC | monitor::FC1_4) == 0;
            match self.event(counter) {
                _ if !counts => None,
                None => Some(Missing::Event(code)),
                Some((Counted::Occurrences(_), _)) if !is_timed => Some(Missing::Untimed(code)),
                Some(_) => None,
            }
        });
        let samples = self.spr(Spr::Mmcra) & monitor::SAMPLE_ENABLE != 0;
        let has_event = mmcr0 & (monitor::PMAE | monitor::TRIGGER) != 0
            || mmcr0 & (monitor::FCECE | monitor::FC) == monitor::FCECE;
        let wants_time = mmcr0 & monitor::TBEE != 0 && has_event;
        events
            .chain(samples.then_some(Missing::Sampling))
            .chain(wants_time.then_some(Missing::TimeBase))
            .collect()
    }

    /// What negative counters do. An alert samples nothing: SIER says that SIAR and SDAR are not valid.
    pub(crate) fn alert(&mut self) {
        let old = self.spr(Spr::Mmcr0);
        let mut mmcr0 = old;
        let monitored = if self.is_outside() { &COUNTERS[..4] } else { &COUNTERS[..] };
        let is_negative = |spr: &Spr| self.spr(*spr) & monitor::NEGATIVE != 0;
        let first = is_negative(&Spr::Pmc1);
        let others = monitored[1..].iter().any(is_negative);
        let condition =
            first && mmcr0 & monitor::PMC1CE != 0 || others && mmcr0 & monitor::PMCJCE != 0;
        if condition && mmcr0 & monitor::PMAE != 0 {
            mmcr0 = mmcr0 & !monitor::PMAE | monitor::PMAO;
            self.set_spr(Spr::Sier, 0);
        }
        if condition && mmcr0 & (monitor::FCECE | monitor::TRIGGER) == monitor::FCECE {
            mmcr0 |= monitor::FC;
        }
        if condition || first {
            mmcr0 &= !monitor::TRIGGER;
        }
        if mmcr0 != old {
            self.set_spr(Spr::Mmcr0, mmcr0);
            self.count_anew();
        }
    }

    /// After how many cycles, and how many instructions, a counter becomes negative for which something follows.
    pub(crate) fn next_alert(&self) -> (u64, u64) {
        let mut next = (u64::MAX, u64::MAX);
        let mmcr0 = self.spr(Spr::Mmcr0);
        for (index, what) in self.counters.what.into_iter().enumerate() {
            let Some(what) = what.filter(|_| mmcr0 & condition(index) != 0) else { continue };
            let Some(left) = monitor::NEGATIVE.checked_sub(self.spr(COUNTERS[index])) else {
                continue;
            };
            let distance = match what {
                Counted::Cycles => &mut next.0,
                Counted::Instructions => &mut next.1,
                // The machine looks behind each instruction.
                Counted::Occurrences(_) => continue,
            };
            *distance = left.max(1).min(*distance);
        }
        next
    }
}
