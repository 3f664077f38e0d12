//! A trace of who ran when: a track per hardware thread, on it the partition or the exit that was served, and
//! below the functions; and counters of what it missed in caches, ERAT and TLB and of the causes that its
//! cycles were charged to, both from the region's begin.
//!
//! Every instruction comes by here, so names are numbers; [`super::trace_events`] writes them out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem;

use arch::instruction::Mnemonic;
use arch::marker::{Mark, Region};
use simulator::blocks::Op;
use simulator::cache::CacheMisses;
use simulator::cache::translation::TranslationMisses;
use simulator::exec::Mode;
use simulator::interrupt::Taken;
use simulator::ledger::{Cause, Owner};
use simulator::pipeline::Timing;
use simulator::state::shared::Shared;
use simulator::state::thread::Thread;
use simulator::{Machine, Observer};

use super::names::Names;
use super::trace_events::{Cycles, Event, TraceEvents, What};

/// Spans and samples after which a trace says no more: what a viewer still opens at once.
pub const MOST_SPANS: u64 = 200_000;

/// Traces the marked region `region`.
#[derive(Debug)]
pub struct Spans<'a> {
    names: &'a Names,
    region: u16,
    is_open: bool,
    /// Whether it was so at the last sample.
    was_open: bool,
    tracks: BTreeMap<usize, Track>,
    /// Owner and function, by number, of what was executed where.
    places: HashMap<(Owner, u64), [u32; 2]>,
    numbers: HashMap<String, u32>,
    trace: TraceEvents,
    /// Spans and samples in the trace.
    shown: u64,
}

/// What a thread is in.
#[derive(Debug, Default)]
struct Track {
    serving: Option<Owner>,
    owner: Option<Open>,
    function: Option<Open>,
    /// At the last sample, since the machine began to count.
    counted: Counts,
    /// While the region was open, as it was shown last.
    shown: Counts,
}

/// What the counters show of a hardware thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Counts {
    /// In L1, L2, L3, ERAT and TLB.
    misses: [u64; 5],
    /// In the order of [`Cause::ALL`].
    cycles: [u64; Cause::COUNT],
}

impl Default for Counts {
    fn default() -> Self {
        Self { misses: [0; 5], cycles: [0; Cause::COUNT] }
    }
}

impl Counts {
    fn of(timing: &Timing, thread: usize) -> Self {
        let (lines, TranslationMisses { erat, tlb, .. }) = timing.misses(thread);
        let CacheMisses { l1, l2, l3, .. } = lines;
        Self { misses: [l1, l2, l3, erat, tlb], cycles: timing.by_cause(thread) }
    }

    /// With what was counted from `before` to `now`. That may be less than nothing for a cause: what is yet to
    /// be charged may be charged to another in the end.
    fn and(mut self, before: &Self, now: &Self) -> Self {
        let add = |sum: &mut u64, before: u64, now: u64| {
            *sum = sum.wrapping_add(now.wrapping_sub(before));
        };
        for (at, sum) in self.misses.iter_mut().enumerate() {
            add(sum, before.misses[at], now.misses[at]);
        }
        for (at, sum) in self.cycles.iter_mut().enumerate() {
            add(sum, before.cycles[at], now.cycles[at]);
        }
        self
    }

    fn misses(&self) -> [What; 2] {
        let [l1, l2, l3, erat, tlb] = self.misses;
        [
            What::Caches(CacheMisses { l1, l2, l3, ..CacheMisses::default() }),
            What::Translations(TranslationMisses { erat, tlb, ..TranslationMisses::default() }),
        ]
    }

    /// The groups of causes in which it is not `before`, with the causes that are charged now, or were before.
    fn groups_changed_since(&self, before: &Self) -> Vec<Cycles> {
        let mut groups: Vec<Cycles> = Vec::new();
        let all = || Cause::ALL.iter().zip(self.cycles.iter().zip(before.cycles));
        let changed: BTreeSet<&str> = all()
            .filter(|(_, (now, before))| **now != *before)
            .map(|(cause, _)| cause.group())
            .collect();
        let shown = |cycles: u64| cycles.cast_signed().max(0).cast_unsigned();
        for (cause, (&cycles, before)) in all() {
            let (group, name) = cause.name().split_once('.').unwrap_or((cause.name(), ""));
            let cycles = shown(cycles);
            if cycles.max(shown(before)) == 0 || !changed.contains(group) {
                continue;
            }
            match groups.iter_mut().find(|known| known.group == group) {
                Some(known) => known.causes.push((name, cycles)),
                None => groups.push(Cycles { group, causes: vec![(name, cycles)] }),
            }
        }
        groups
    }
}

/// A span that has begun.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// The number of its name.
    name: u32,
    from: u64,
    /// Whether its begin is in the trace.
    is_shown: bool,
}

impl<'a> Spans<'a> {
    /// Of a machine whose core clock is `core_hz`; the trace is of what `title` says.
    #[must_use]
    pub fn new(names: &'a Names, region: u16, core_hz: u64, title: String) -> Self {
        Self {
            names,
            region,
            is_open: false,
            was_open: false,
            tracks: BTreeMap::new(),
            places: HashMap::new(),
            numbers: HashMap::new(),
            trace: TraceEvents {
                title,
                names: Vec::new(),
                events: Vec::new(),
                cycles: Vec::new(),
                cut: None,
                cycles_per_microsecond: core_hz as f64 / 1e6,
            },
            shown: 0,
        }
    }

    /// Who executed in `mode`: the MSR may be that of where a return went.
    fn owner(&self, thread: &Thread, mode: Mode) -> Owner {
        if !mode.is_hypervisor() {
            return Owner::Partition { lpid: thread.lpid() };
        }
        self.tracks.get(&thread.index).and_then(|track| track.serving).unwrap_or(Owner::Host)
    }

    /// The names of `owner` and of the function at `address`.
    fn place(&mut self, owner: Owner, address: u64) -> [u32; 2] {
        if let Some(place) = self.places.get(&(owner, address)) {
            return *place;
        }
        let names = [self.names.owner(owner), self.names.place(owner, address).function];
        let place = names.map(|name| self.number(name));
        self.places.insert((owner, address), place);
        place
    }

    fn number(&mut self, name: String) -> u32 {
        let names = &mut self.trace.names;
        *self.numbers.entry(name).or_insert_with_key(|name| {
            names.push(name.clone());
            u32::try_from(names.len() - 1).expect("fewer names than instructions")
        })
    }

    /// Whether one more span or sample fits; it is counted either way.
    fn is_room(&mut self, at: u64) -> bool {
        self.shown += 1;
        if self.shown > MOST_SPANS {
            self.trace.cut.get_or_insert((at, 0)).1 += 1;
        }
        self.shown <= MOST_SPANS
    }

    fn begin(&mut self, thread: usize, at: u64, name: u32, what: What) -> Open {
        let is_shown = self.is_room(at);
        if is_shown {
            self.trace.events.push(Event { thread, at, what });
        }
        Open { name, from: at, is_shown }
    }

    fn end(&mut self, thread: usize, at: u64, span: Open) {
        if span.is_shown {
            // Whoever ends a region may be behind another thread.
            let at = at.max(span.from);
            self.trace.events.push(Event { thread, at, what: What::End(at - span.from) });
        }
    }

    /// Ends what `thread` is in and begins `place`, where that is not the same.
    #[inline]
    fn change(&mut self, thread: usize, now: u64, place: Option<[u32; 2]>) {
        let track = self.tracks.entry(thread).or_default();
        let name = |span: Option<Open>| span.map(|span| span.name);
        let before = [name(track.owner), name(track.function)];
        if before != [place.map(|[owner, _]| owner), place.map(|[_, function]| function)] {
            self.replace(thread, now, place);
        }
    }

    fn replace(&mut self, thread: usize, now: u64, place: Option<[u32; 2]>) {
        let track = self.tracks.entry(thread).or_default();
        let function = track.function.take();
        let is_same_owner = track.owner.map(|owner| owner.name) == place.map(|[owner, _]| owner);
        let mut owner = track.owner;
        if let Some(function) = function {
            self.end(thread, now, function);
        }
        if !is_same_owner {
            if let Some(owner) = owner {
                self.end(thread, now, owner);
            }
            owner = place.map(|[owner, _]| self.begin(thread, now, owner, What::Owner(owner)));
        }
        let function =
            place.map(|[_, function]| self.begin(thread, now, function, What::Function(function)));
        let track = self.tracks.entry(thread).or_default();
        (track.owner, track.function) = (owner, function);
    }

    /// Shows what each thread has missed and was charged with in the region until now, where that is more than
    /// before. To be called at each begin and end of the region too: what lies before a begin, or behind an
    /// end, is no part of it, and the spans end there.
    pub fn sample(&mut self, machine: &Machine) {
        let Some(timing) = machine.timing() else { return };
        let was_open = mem::replace(&mut self.was_open, self.is_open);
        for thread in &machine.state().threads {
            let now = Counts::of(timing, thread.index);
            let track = self.tracks.entry(thread.index).or_default();
            let before = mem::replace(&mut track.counted, now);
            let last = track.shown;
            if was_open && !self.is_open {
                self.change(thread.index, thread.time.cycles(), None);
            }
            let track = self.tracks.entry(thread.index).or_default();
            if was_open {
                track.shown = last.and(&before, &now);
            } else if !self.is_open {
                continue;
            }
            let shown = track.shown;
            let at = thread.time.cycles();
            // Where a region begins, so that a counter begins at its zero.
            if !was_open || shown.misses != last.misses {
                for what in shown.misses() {
                    self.show(thread.index, at, what);
                }
            }
            for cycles in shown.groups_changed_since(&last) {
                let number =
                    u32::try_from(self.trace.cycles.len()).expect("the trace is cut before");
                if self.show(thread.index, at, What::Cycles(number)) {
                    self.trace.cycles.push(cycles);
                }
            }
        }
    }

    /// Shows a sample if it fits, and says whether it does.
    fn show(&mut self, thread: usize, at: u64, what: What) -> bool {
        let is_room = self.is_room(at);
        if is_room {
            self.trace.events.push(Event { thread, at, what });
        }
        is_room
    }

    /// The trace as JSON.
    #[must_use]
    pub fn json(&self) -> String {
        self.trace.json(self.tracks.keys().copied())
    }
}

impl Observer for Spans<'_> {
    const SEES_INSTRUCTIONS: bool = true;

    fn completed(&mut self, thread: &Thread, op: &Op, mode: Mode) {
        // What completes now began when the one before had completed.
        let now = thread.time_now().cycles();
        if op.mnemonic == Some(Mnemonic::Tdi) {
            match Mark::from_word(op.word) {
                // The ledger has the end's mark, and not the begin's.
                Some(Mark::Begin(region)) if region.number() == self.region => {
                    self.is_open = true;
                    return;
                }
                Some(Mark::End(region)) if region.number() == self.region => self.is_open = false,
                _ => {}
            }
        }
        if !self.is_open {
            return;
        }
        let owner = self.owner(thread, mode);
        let place = self.place(owner, thread.cia);
        self.change(thread.index, now, Some(place));
    }

    fn region_began(&mut self, _: &Thread, region: Region) {
        self.is_open |= region.number() == self.region;
    }

    fn interrupted(&mut self, thread: &Thread, _: &Shared, taken: Taken) {
        if taken.is_exit() {
            let lpid = thread.lpid();
            let vector = taken.vector.offset();
            self.tracks.entry(thread.index).or_default().serving =
                Some(Owner::Serving { lpid, vector });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{MOST_SPANS, Names, Spans};

    /// The trace's begins and ends of thread 0, as `name` and `.`, with their times in cycles.
    fn lines(spans: &Spans<'_>) -> Vec<(String, u64)> {
        let trace: Value = serde_json::from_str(&spans.json()).unwrap();
        let events = trace["traceEvents"].as_array().unwrap().iter();
        let spans = events.filter(|event| event["ph"] == "B" || event["ph"] == "E");
        let line = |event: &Value| {
            let name = event["name"].as_str().unwrap_or(".").to_owned();
            (name, event["ts"].as_f64().unwrap() as u64)
        };
        spans.map(line).collect()
    }

    fn spans(names: &Names) -> Spans<'_> {
        Spans::new(names, 1, 1_000_000, "a title".to_owned())
    }

    fn change(spans: &mut Spans<'_>, now: u64, place: Option<[&str; 2]>) {
        let place = place.map(|names| names.map(|name| spans.number(name.to_owned())));
        spans.change(0, now, place);
    }

    #[test]
    fn spans_nest_and_end_in_order() {
        let names = Names::default();
        let mut spans = spans(&names);
        change(&mut spans, 10, Some(["partition a", "main"]));
        change(&mut spans, 20, Some(["partition a", "main"]));
        change(&mut spans, 30, Some(["hypervisor", "exit"]));
        change(&mut spans, 35, Some(["hypervisor", "handler"]));
        change(&mut spans, 40, None);
        let expected = [
            ("partition a", 10),
            ("main", 10),
            (".", 30),
            (".", 30),
            ("hypervisor", 30),
            ("exit", 30),
            (".", 35),
            ("handler", 35),
            (".", 40),
            (".", 40),
        ];
        assert_eq!(lines(&spans), expected.map(|(name, at)| (name.to_owned(), at)));
    }

    #[test]
    fn a_region_that_ends_behind_a_thread_ends_no_span_before_its_begin() {
        let names = Names::default();
        let mut spans = spans(&names);
        change(&mut spans, 10, Some(["partition a", "main"]));
        change(&mut spans, 5, None);
        assert!(lines(&spans).iter().all(|(_, at)| *at == 10));
    }

    #[test]
    fn a_trace_that_is_too_long_says_so_and_still_nests() {
        let names = Names::default();
        let mut spans = spans(&names);
        for now in 0..2 * MOST_SPANS {
            let function = if now % 2 == 0 { "one" } else { "other" };
            change(&mut spans, now, Some(["hypervisor", function]));
        }
        change(&mut spans, 2 * MOST_SPANS, None);
        let lines = lines(&spans);
        let begins = lines.iter().filter(|(name, _)| name != ".").count() as u64;
        assert_eq!((begins, lines.len() as u64 - begins), (MOST_SPANS, MOST_SPANS));
        assert_eq!(lines.last(), Some(&(".".to_owned(), 2 * MOST_SPANS)), "the owner's end");
        let cut = format!("the trace is cut here: {} more", MOST_SPANS + 1);
        assert!(spans.json().contains(&cut), "{cut}");
    }
}
