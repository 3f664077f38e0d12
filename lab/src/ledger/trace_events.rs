//! A trace as JSON in the trace-event format, which Perfetto and Chrome's viewer read.
//!
//! Spans are pairs of a begin and an end (`B`, `E`), not one event with a duration (`X`): viewers round
//! times to nanoseconds, which are several cycles, and after that a begin and its neighbour's end are still in
//! order, while a start and a rounded duration may run into the next span, which Perfetto then drops.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use simulator::cache::CacheMisses;
use simulator::cache::translation::TranslationMisses;

/// What happened, in the order in which it did on each hardware thread; names are numbers.
#[derive(Debug)]
pub struct TraceEvents {
    /// What is traced.
    pub title: String,
    /// The names.
    pub names: Vec<String>,
    /// The events.
    pub events: Vec<Event>,
    /// What [`What::Cycles`] have, by their numbers.
    pub cycles: Vec<Cycles>,
    /// The last that was shown, and how many spans and samples came behind it, where that was too much.
    pub cut: Option<(u64, u64)>,
    /// How cycles become the format's microseconds.
    pub cycles_per_microsecond: f64,
}

/// One event of a hardware thread at a cycle.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// The hardware thread.
    pub thread: usize,
    /// The cycle.
    pub at: u64,
    /// What.
    pub what: What,
}

/// What happened.
#[derive(Clone, Copy, Debug)]
pub enum What {
    /// From here on this partition runs, or this exit is served: the number of its name.
    Owner(u32),
    /// From here on it is in this function: the number of its name.
    Function(u32),
    /// Here ends what began last, after so many cycles.
    End(u64),
    /// So much was missed in the caches until here.
    Caches(CacheMisses),
    /// So much was missed in ERAT and TLB until here.
    Translations(TranslationMisses),
    /// So many cycles were charged to causes of a group until here: the number of their [`Cycles`].
    Cycles(u32),
}

/// Cycles that were charged to the causes of a group.
#[derive(Debug)]
pub struct Cycles {
    /// The group, the part of the causes' names before the dot.
    pub group: &'static str,
    /// By the part behind it.
    pub causes: Vec<(&'static str, u64)>,
}

/// All events are of one process; 0 would be a viewer's own.
const PROCESS: u32 = 1;

impl TraceEvents {
    /// The trace with a track for each of these hardware threads.
    #[must_use]
    pub fn json(&self, threads: impl Iterator<Item = usize>) -> String {
        let trace = Trace {
            display_time_unit: "ns",
            other_data: json!({ "spans left out": self.cut.map_or(0, |(_, count)| count) }),
            trace_events: Sequence { of: self, titles: self.titles(threads) },
        };
        serde_json::to_string(&trace).expect("a trace has only string keys")
    }

    /// What names the tracks, and where the trace was cut.
    fn titles(&self, threads: impl Iterator<Item = usize>) -> Vec<Value> {
        let name = |name: &str, args: Value| json!({"name": name, "ph": "M", "pid": PROCESS, "tid": 0, "args": args});
        let mut titles = vec![name("process_name", json!({ "name": self.title }))];
        for thread in threads {
            let hardware_thread = format!("hardware thread {thread}");
            for (what, args) in [
                ("thread_name", json!({ "name": hardware_thread })),
                ("thread_sort_index", json!({ "sort_index": thread })),
            ] {
                let mut title = name(what, args);
                title["tid"] = thread.into();
                titles.push(title);
            }
        }
        if let Some((at, count)) = self.cut {
            let name = format!("the trace is cut here: {count} more spans and samples");
            let at = self.microseconds(at);
            titles.push(json!({
                "name": name, "ph": "i", "s": "g", "pid": PROCESS, "tid": 0, "ts": at,
            }));
        }
        titles
    }

    fn microseconds(&self, cycles: u64) -> f64 {
        cycles as f64 / self.cycles_per_microsecond
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Trace<'a> {
    display_time_unit: &'a str,
    other_data: Value,
    trace_events: Sequence<'a>,
}

/// The titles, then the events, one by one: there are very many.
struct Sequence<'a> {
    of: &'a TraceEvents,
    titles: Vec<Value>,
}

/// One event as the format has it.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'a str>,
    ph: &'a str,
    pid: u32,
    tid: usize,
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Arguments>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Arguments {
    End {
        cycles: u64,
    },
    #[serde(rename_all = "UPPERCASE")]
    Caches {
        l1: u64,
        l2: u64,
        l3: u64,
    },
    #[serde(rename_all = "UPPERCASE")]
    Translations {
        erat: u64,
        tlb: u64,
    },
    Cycles(BTreeMap<&'static str, u64>),
}

/// A title or an event.
#[derive(Serialize)]
#[serde(untagged)]
enum Entry<'a> {
    Title(&'a Value),
    Event(Line<'a>),
}

impl Serialize for Sequence<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let threads = self.of.events.iter().map(|event| event.thread + 1).max().unwrap_or(0);
        let counters = |kind: &str| -> Vec<String> {
            (0..threads).map(|thread| format!("{kind}, hardware thread {thread}")).collect()
        };
        let (caches, translations) = (counters("cache misses"), counters("translation misses"));
        let groups: BTreeSet<&str> = self.of.cycles.iter().map(|cycles| cycles.group).collect();
        let groups: BTreeMap<&str, Vec<String>> = groups
            .into_iter()
            .map(|group| (group, counters(&format!("cycles, {group}"))))
            .collect();
        let line = |event: &Event| {
            let Event { thread, at, what } = *event;
            let name = |number: u32| Some(self.of.names[number as usize].as_str());
            let (ph, name, cat, args) = match what {
                What::Owner(number) => ("B", name(number), Some("owner"), None),
                What::Function(number) => ("B", name(number), Some("function"), None),
                What::End(cycles) => ("E", None, None, Some(Arguments::End { cycles })),
                What::Caches(CacheMisses { l1, l2, l3, .. }) => (
                    "C",
                    Some(caches[thread].as_str()),
                    None,
                    Some(Arguments::Caches { l1, l2, l3 }),
                ),
                What::Translations(TranslationMisses { erat, tlb, .. }) => {
                    let args = Arguments::Translations { erat, tlb };
                    ("C", Some(translations[thread].as_str()), None, Some(args))
                }
                What::Cycles(number) => {
                    let Cycles { group, causes } = &self.of.cycles[number as usize];
                    let args = Arguments::Cycles(causes.iter().copied().collect());
                    ("C", Some(groups[group][thread].as_str()), None, Some(args))
                }
            };
            let ts = self.of.microseconds(at);
            Entry::Event(Line { name, cat, ph, pid: PROCESS, tid: thread, ts, args })
        };
        let titles = self.titles.iter().map(Entry::Title);
        serializer.collect_seq(titles.chain(self.of.events.iter().map(line)))
    }
}
