//! What the partitions of a boot did: a table, or JSON for programs.
//!
//! The hypervisor counts, on whichever machine it runs; this only reads what it says last, `time: partition NAME: NAME
//! COUNT, ...` and `summary: partition NAME: OUTCOME; GROUP: NAME COUNT, ...; ...` of each partition. A partition that
//! has the console for itself may write such lines too, but no longer once all partitions are over: the
//! hypervisor's are the last ones, as many as there are partitions, and all others are none.

use std::collections::BTreeMap;

use comfy_table::{CellAlignment, Table, presets};
use serde_json::{Map, Value, json};

use crate::console::DONE;

/// What is known of a run, whether or not its partitions are over.
#[derive(Clone, PartialEq, Debug)]
pub struct Run<'a> {
    /// How it ended, such as `powered off` or `paused`.
    pub end: String,
    /// Steps, completed instructions and simulated nanoseconds, where the machine is ours.
    pub machine: Option<[u64; 3]>,
    /// The partitions' names, in the order of the bundle.
    pub names: &'a [String],
    /// The lines of the console, as far as they are kept.
    pub lines: &'a [String],
    /// Where the cycles went, by the names of keys; empty without timing.
    pub timed: Map<String, Value>,
}

/// What one partition did.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Partition {
    name: String,
    outcome: String,
    /// By name, such as `virtual door: hypercall`, in the order in which they came.
    counts: Vec<(String, u64)>,
}

/// The statistics of each partition; of a run that did not come to its end there are none.
fn partitions(run: &Run<'_>) -> Vec<Partition> {
    let unknown = |name: &String| Partition {
        name: name.clone(),
        outcome: "not over".to_owned(),
        counts: Vec::new(),
    };
    last_words(run).unwrap_or_else(|| run.names.iter().map(unknown).collect())
}

/// What the hypervisor says last.
fn last_words(run: &Run<'_>) -> Option<Vec<Partition>> {
    let (last, before) = run.lines.split_last()?;
    let (before, summaries) =
        before.split_at_checked(before.len().checked_sub(run.names.len())?)?;
    if last != DONE {
        return None;
    }
    let mut times = BTreeMap::new();
    for line in before.iter().rev().map_while(|line| line.strip_prefix("powervisor: time: ")) {
        if let Some((name, text)) = about(line, "partition ") {
            // Walked from the end: who wrote such a line before the hypervisor is not heard.
            times.entry(name).or_insert(text);
        }
    }
    let partition = |(name, line): (&String, &String)| {
        let (named, text) = about(line, "powervisor: summary: partition ")?;
        if named != name {
            return None;
        }
        let mut parts = text.split("; ");
        let outcome = parts.next()?.to_owned();
        let mut counts = group(times.get(named)?, "time: ")?;
        for part in parts {
            let (title, text) = part.split_once(": ")?;
            counts.extend(group(text, &format!("{title}: "))?);
        }
        Some(Partition { name: named.to_owned(), outcome, counts })
    };
    run.names.iter().zip(summaries).map(partition).collect()
}

fn about<'a>(line: &'a str, start: &str) -> Option<(&'a str, &'a str)> {
    line.strip_prefix(start)?.split_once(": ")
}

/// `NAME COUNT, NAME COUNT`; a count may have a unit behind it, which belongs to the name.
fn group(text: &str, title: &str) -> Option<Vec<(String, u64)>> {
    text.split(", ")
        .map(|entry| {
            let mut words: Vec<&str> = entry.split(' ').collect();
            let place = words.iter().rposition(|word| word.bytes().all(|b| b.is_ascii_digit()))?;
            let count = words.remove(place).parse().ok()?;
            Some((format!("{title}{}", words.join(" ")), count))
        })
        .collect()
}

/// A row per figure, a column per partition.
#[must_use]
pub fn text(run: &Run<'_>) -> String {
    let partitions = partitions(run);
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    let names = partitions.iter().map(|partition| partition.name.clone());
    table.set_header(std::iter::once("partition".to_owned()).chain(names));
    let outcomes = partitions.iter().map(|partition| partition.outcome.clone());
    table.add_row(std::iter::once("outcome".to_owned()).chain(outcomes));
    let rows = partitions.first().map_or(0, |partition| partition.counts.len());
    for index in 0..rows {
        let name = partitions[0].counts[index].0.clone();
        let count = |partition: &Partition| match partition.counts.get(index) {
            Some((_, count)) => count.to_string(),
            None => String::new(),
        };
        table.add_row(std::iter::once(name).chain(partitions.iter().map(count)));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned());
    lines.map(|line| line + "\n").collect()
}

/// One line of JSON: `{"schema": 1, "end", "steps", "instructions", "simulated_ns", "partitions": [{"name", "outcome",
/// "counts": {...}}]}`, and what is known of a run with timing.
#[must_use]
pub fn json(run: &Run<'_>) -> String {
    let partition = |partition: &Partition| {
        let key = |name: &str| name.replace(": ", "_").replace([' ', '-'], "_").to_lowercase();
        let counts: Map<String, Value> =
            partition.counts.iter().map(|(name, count)| (key(name), (*count).into())).collect();
        json!({"name": partition.name, "outcome": partition.outcome, "counts": counts})
    };
    let partitions: Vec<Value> = partitions(run).iter().map(partition).collect();
    let number = |index: usize| run.machine.map(|numbers| numbers[index]);
    let mut whole = json!({
        "schema": 1,
        "end": run.end,
        "steps": number(0),
        "instructions": number(1),
        "simulated_ns": number(2),
        "partitions": partitions,
    });
    if let Value::Object(whole) = &mut whole {
        whole.extend(run.timed.clone());
    }
    whole.to_string() + "\n"
}

#[cfg(test)]
mod tests {
    use super::{Run, json, text};

    const LAST: &str = "powervisor: time: hardware thread 0x4: idle 2 us\n\
        powervisor: time: partition a: ran 12 us, preempted 3\n\
        powervisor: time: partition b: ran 7 us, preempted 0\n\
        powervisor: summary: partition a: powered off; real door: data storage 4; pages: 2M 1\n\
        powervisor: summary: partition b: stopped; real door: data storage 5; pages: 2M 20\n\
        powervisor: all partitions have ended";

    fn with<T>(console: &str, read: impl Fn(&Run<'_>) -> T) -> T {
        let lines: Vec<String> = console.lines().map(str::to_owned).collect();
        let names = ["a".to_owned(), "b".to_owned()];
        let end = "powered off".to_owned();
        let timed = [("ledger".to_owned(), serde_json::json!({}))].into_iter().collect();
        read(&Run { end, machine: Some([3, 2, 1]), names: &names, lines: &lines, timed })
    }

    fn value(console: &str) -> serde_json::Value {
        with(console, |run| serde_json::from_str(&json(run)).unwrap())
    }

    #[test]
    fn each_figure_has_a_row_and_each_partition_a_column() {
        let expected = "partition                          a        b\n\
            outcome                  powered off  stopped\n\
            time: ran us                      12        7\n\
            time: preempted                    3        0\n\
            real door: data storage            4        5\n\
            pages: 2M                          1       20\n";
        assert_eq!(with(LAST, text), expected);
        let nothing = "partition         a         b\noutcome    not over  not over\n";
        assert_eq!(with("", text), nothing);
    }

    #[test]
    fn programs_get_numbers() {
        let value = value(LAST);
        assert_eq!((&value["schema"], &value["end"]), (&1.into(), &"powered off".into()));
        assert_eq!((&value["steps"], &value["simulated_ns"]), (&3.into(), &1.into()));
        assert!(value["ledger"].is_object());
        assert_eq!(value["partitions"][0]["outcome"], "powered off");
        assert_eq!(value["partitions"][1]["counts"]["real_door_data_storage"], 5);
        assert_eq!(value["partitions"][0]["counts"]["time_ran_us"], 12);
    }

    /// Whatever a partition that has the console for itself writes: what follows it counts.
    #[test]
    fn what_a_partition_writes_before_the_end_is_not_believed() {
        let good = value(LAST);
        let lie = LAST.replace("12", "99").replace("powered off", "stopped");
        assert_eq!(value(&format!("{lie}\n{LAST}")), good);
        let times = &lie[..lie.find("powervisor: summary").unwrap()];
        assert_eq!(value(&format!("{times}{LAST}")), good, "right before the hypervisor's");
        // Without the hypervisor's own words nothing is known.
        for cut in ["", "powervisor: panic: at x", "\n"] {
            let forged = value(&format!("{lie}\n{cut}x"));
            assert_eq!(forged["partitions"][0]["outcome"], "not over", "{cut}");
        }
        let one = LAST.replace("powervisor: time: partition b", "x");
        assert_eq!(value(&one)["partitions"][0]["outcome"], "not over");
    }
}
