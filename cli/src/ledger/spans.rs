//! A trace of who ran when: a track per hardware thread, on it the partition or the exit that was served,
//! and below the functions; and counters of what it missed in caches, ERAT and TLB. Written as trace events, which Perfetto and Chrome's viewer read.

use std::collections::{BTreeMap, HashMap};

use arch::instruction::Mnemonic;
use arch::marker::Mark;
use arch::registers::spr::Spr;
use serde_json::{Value, json};
use simulator::blocks::Op;
use simulator::cache::CacheMisses;
use simulator::cache::translation::TranslationMisses;
use simulator::exec::Mode;
use simulator::interrupt::Taken;
use simulator::ledger::Owner;
use simulator::shared::Shared;
use simulator::thread::Thread;
use simulator::{Machine, Observer};

use super::names::Names;

/// Spans after which a trace says no more: what a viewer still opens at once.
pub const MOST_SPANS: usize = 200_000;

/// Traces the marked region `region`.
#[derive(Debug)]
pub struct Spans<'a> {
    names: &'a Names,
    region: u16,
    is_open: bool,
    tracks: BTreeMap<usize, Track>,
    functions: HashMap<(Owner, u64), String>,
    events: Vec<Value>,
    cycles_per_microsecond: f64,
    left_out: u64,
}

/// What a thread is in.
#[derive(Debug, Default)]
struct Track {
    serving: Option<Owner>,
    owner: Option<(String, u64)>,
    function: Option<(String, u64)>,
    /// As it was shown last.
    misses: Option<(CacheMisses, TranslationMisses)>,
}

impl<'a> Spans<'a> {
    /// Of a machine whose core clock is `core_hz`.
    #[must_use]
    pub fn new(names: &'a Names, region: u16, core_hz: u64) -> Self {
        Self {
            names,
            region,
            is_open: false,
            tracks: BTreeMap::new(),
            functions: HashMap::new(),
            events: Vec::new(),
            cycles_per_microsecond: core_hz as f64 / 1e6,
            left_out: 0,
        }
    }

    /// Who executed in `mode`: the MSR may be that of where a return went.
    fn owner(&self, thread: &Thread, mode: Mode) -> Owner {
        let is_host = mode.is_hypervisor();
        let serving = self.tracks.get(&thread.index).and_then(|track| track.serving);
        match serving {
            _ if !is_host => Owner::Partition { lpid: thread.spr(Spr::Lpidr) as u32 },
            Some(serving) => serving,
            None => Owner::Host,
        }
    }

    fn function(&mut self, owner: Owner, address: u64) -> String {
        let names = self.names;
        let name = self.functions.entry((owner, address));
        name.or_insert_with(|| names.place(owner, address).function).clone()
    }

    fn span(&mut self, thread: usize, what: (String, u64), category: &str, until: u64) {
        if self.events.len() >= MOST_SPANS {
            self.left_out += 1;
            return;
        }
        let (name, from) = what;
        let time = |cycles: u64| cycles as f64 / self.cycles_per_microsecond;
        self.events.push(json!({
            "name": name, "cat": category, "ph": "X", "pid": 0, "tid": thread,
            "ts": time(from), "dur": time(until - from), "args": { "cycles": until - from },
        }));
    }

    /// Ends what `thread` is in, where it is not the same any more.
    fn change(&mut self, thread: usize, now: u64, owner: Option<String>, function: Option<String>) {
        let track = self.tracks.entry(thread).or_default();
        let name = |span: &Option<(String, u64)>| span.as_ref().map(|(name, _)| name.clone());
        let is_other_owner = name(&track.owner) != owner;
        if !is_other_owner && name(&track.function) == function {
            return;
        }
        let function = std::mem::replace(&mut track.function, function.map(|name| (name, now)));
        let ended = is_other_owner
            .then(|| std::mem::replace(&mut track.owner, owner.map(|name| (name, now))))
            .flatten();
        if let Some(function) = function {
            self.span(thread, function, "function", now);
        }
        if let Some(owner) = ended {
            self.span(thread, owner, "owner", now);
        }
    }

    /// Shows what each thread has missed until now, where that is more than before.
    pub fn sample(&mut self, machine: &Machine) {
        let Some(timing) = machine.timing().filter(|_| self.is_open) else { return };
        for thread in &machine.state().threads {
            let misses = timing.misses(thread.index);
            let track = self.tracks.entry(thread.index).or_default();
            if track.misses.replace(misses) == Some(misses) {
                continue;
            }
            let (caches, translations) = misses;
            let CacheMisses { l1, l2, l3 } = caches;
            let TranslationMisses { erat, tlb } = translations;
            let time = thread.time.cycles() as f64 / self.cycles_per_microsecond;
            for (kind, counts) in [
                ("cache misses", json!({"L1": l1, "L2": l2, "L3": l3})),
                ("translation misses", json!({"ERAT": erat, "TLB": tlb})),
            ] {
                if self.events.len() >= MOST_SPANS {
                    self.left_out += 1;
                    continue;
                }
                let name = format!("{kind}, hardware thread {}", thread.index);
                let event = json!({"name": name, "ph": "C", "pid": 0, "ts": time, "args": counts});
                self.events.push(event);
            }
        }
    }

    /// The trace as JSON.
    #[must_use]
    pub fn json(&self) -> String {
        let mut events: Vec<Value> = self
            .tracks
            .keys()
            .map(|thread| {
                let name = format!("hardware thread {thread}");
                json!({"name": "thread_name", "ph": "M", "pid": 0, "tid": thread, "args": {"name": name}})
            })
            .collect();
        events.extend(self.events.iter().cloned());
        let trace = json!({
            "displayTimeUnit": "ns",
            "otherData": { "spans left out": self.left_out },
            "traceEvents": events,
        });
        trace.to_string()
    }
}

impl Observer for Spans<'_> {
    const SEES_INSTRUCTIONS: bool = true;

    fn completed(&mut self, thread: &Thread, op: &Op, mode: Mode) {
        // What completes now began when the one before had completed.
        let now = thread.time_now().cycles();
        if op.mnemonic == Some(Mnemonic::Tdi) {
            match Mark::from_word(op.word) {
                Some(Mark::Begin(region)) if region.number() == self.region => self.is_open = true,
                Some(Mark::End(region)) if region.number() == self.region => {
                    self.is_open = false;
                    let threads: Vec<usize> = self.tracks.keys().copied().collect();
                    for thread in threads {
                        self.change(thread, now, None, None);
                    }
                }
                _ => {}
            }
        }
        if !self.is_open {
            return;
        }
        let owner = self.owner(thread, mode);
        let function = self.function(owner, thread.cia);
        let owner = self.names.owner(owner);
        self.change(thread.index, now, Some(owner), Some(function));
    }

    fn interrupted(&mut self, thread: &Thread, _: &Shared, taken: Taken) {
        if taken.is_exit() {
            let lpid = thread.spr(Spr::Lpidr) as u32;
            let vector = taken.vector.offset();
            self.tracks.entry(thread.index).or_default().serving =
                Some(Owner::Serving { lpid, vector });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Names, Spans};

    #[test]
    fn spans_nest_and_end_in_order() {
        let names = Names::default();
        let mut spans = Spans::new(&names, 1, 1_000_000);
        let some = |name: &str| Some(name.to_owned());
        spans.change(0, 10, some("partition a"), some("main"));
        spans.change(0, 20, some("partition a"), some("main"));
        spans.change(0, 30, some("hypervisor"), some("exit"));
        spans.change(0, 35, some("hypervisor"), some("handler"));
        spans.change(0, 40, None, None);
        let trace: serde_json::Value = serde_json::from_str(&spans.json()).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let spans: Vec<_> = events
            .iter()
            .filter(|event| event["ph"] == "X")
            .map(|event| {
                (event["name"].as_str().unwrap(), event["args"]["cycles"].as_u64().unwrap())
            })
            .collect();
        assert_eq!(
            spans,
            [("main", 20), ("partition a", 20), ("exit", 5), ("handler", 5), ("hypervisor", 10)]
        );
    }
}
