//! What the partitions of a boot did: a table, or JSON for programs.
//!
//! The hypervisor counts, on whichever machine it runs, and tells in its [`Record`].

use arch::record::NAMES;
use comfy_table::{CellAlignment, Table, presets};
use serde_json::{Map, Value, json};

use crate::record::{Partition, Record};

/// What is known of a run, whether or not its partitions are over.
#[derive(Clone, PartialEq, Debug)]
pub struct Run<'a> {
    /// How it ended, such as `powered off` or `paused`.
    pub end: String,
    /// Steps, completed instructions and simulated nanoseconds, where the machine is ours.
    pub machine: Option<[u64; 3]>,
    /// The partitions' names, in the order of the bundle.
    pub names: &'a [String],
    /// What the hypervisor counted, of a run that came to its end.
    pub record: Option<&'a Record>,
    /// Where the cycles went, by the names of keys; empty without timing.
    pub timed: Map<String, Value>,
}

impl Run<'_> {
    /// Name, outcome and what was counted of each partition.
    fn partitions(&self) -> Vec<(&str, &str, Option<&Partition>)> {
        let Some(record) = self.record else {
            return self.names.iter().map(|name| (name.as_str(), "not over", None)).collect();
        };
        let partitions = record.partitions.iter();
        partitions.map(|it| (it.name.as_str(), it.outcome.as_str(), Some(it))).collect()
    }
}

/// A row per figure, a column per partition.
#[must_use]
pub fn text(run: &Run<'_>) -> String {
    let partitions = run.partitions();
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(["partition"].into_iter().chain(partitions.iter().map(|(name, ..)| *name)));
    let outcomes = partitions.iter().map(|(_, outcome, _)| *outcome);
    table.add_row(["outcome"].into_iter().chain(outcomes));
    if run.record.is_some() {
        for name in NAMES {
            let unit = if name.unit.is_empty() { String::new() } else { format!(" {}", name.unit) };
            let title = format!("{}: {}{unit}", name.group, name.name);
            let counted = partitions.iter().filter_map(|(_, _, counted)| *counted);
            let counts = counted.map(|partition| partition.counts[name.key].to_string());
            table.add_row([title].into_iter().chain(counts));
        }
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
    let partition = |(name, outcome, counted): &(&str, &str, Option<&Partition>)| {
        let counts = counted.iter().flat_map(|partition| partition.told());
        let counts: Map<_, _> =
            counts.map(|(name, count)| (name.key.to_owned(), count.into())).collect();
        let mut partition = json!({"name": name, "outcome": outcome, "counts": counts});
        if let Some(counted) = counted.filter(|counted| !counted.learned.is_empty()) {
            partition["learned"] = json!(counted.learned);
        }
        partition
    };
    let partitions: Vec<Value> = run.partitions().iter().map(partition).collect();
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
    use arch::record::NAMES;

    use super::{Run, json, text};
    use crate::record::{Partition, Record};

    fn with<T>(is_over: bool, read: impl Fn(&Run<'_>) -> T) -> T {
        let names = ["a".to_owned(), "b".to_owned()];
        let partition = |(name, outcome): (&String, &str)| Partition {
            image: None,
            learned: Vec::new(),
            name: name.clone(),
            outcome: outcome.to_owned(),
            counts: (12..).zip(NAMES).map(|(count, name)| (name.key.to_owned(), count)).collect(),
        };
        let partitions = names.iter().zip(["powered off", "stopped"]).map(partition).collect();
        let record = Record { threads: Vec::new(), partitions };
        let end = "powered off".to_owned();
        let timed = [("ledger".to_owned(), serde_json::json!({}))].into_iter().collect();
        let record = is_over.then_some(&record);
        read(&Run { end, machine: Some([3, 2, 1]), names: &names, record, timed })
    }

    #[test]
    fn each_figure_has_a_row_and_each_partition_a_column() {
        let table = with(true, text);
        let start = "partition                                     a        b\n\
            outcome                             powered off  stopped\n\
            time: ran us                                 12       12\n";
        assert!(table.starts_with(start), "{table}");
        assert!(
            table.ends_with("\nsuperpages: time us                          35       35\n"),
            "{table}"
        );
        let nothing = "partition         a         b\noutcome    not over  not over\n";
        assert_eq!(with(false, text), nothing);
    }

    #[test]
    fn programs_get_numbers() {
        let value: serde_json::Value = with(true, |run| serde_json::from_str(&json(run)).unwrap());
        assert_eq!((&value["schema"], &value["end"]), (&1.into(), &"powered off".into()));
        assert_eq!((&value["steps"], &value["simulated_ns"]), (&3.into(), &1.into()));
        assert!(value["ledger"].is_object());
        assert_eq!(value["partitions"][0]["outcome"], "powered off");
        assert_eq!(value["partitions"][1]["counts"]["pages_64k"], 31);
        assert_eq!(value["partitions"][0]["counts"]["time_ran_us"], 12);
        let early: serde_json::Value = with(false, |run| serde_json::from_str(&json(run)).unwrap());
        let unknown = serde_json::json!({"name": "b", "outcome": "not over", "counts": {}});
        assert_eq!(early["partitions"][1], unknown);
    }
}
