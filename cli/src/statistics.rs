//! What the partitions of a boot did, from the hypervisor's last lines: a table, or JSON for programs.
//!
//! The hypervisor counts, on whichever machine it runs; this only reads `summary: partition NAME:
//! OUTCOME; GROUP: NAME COUNT, ...; ...` and `time: partition NAME: NAME COUNT, ...`.

use std::collections::BTreeMap;

use comfy_table::{CellAlignment, Table, presets};
use serde_json::{Map, Value, json};

/// What one partition did.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Partition {
    name: String,
    outcome: String,
    /// By name, such as `virtual door: hypercall`, in the order in which they came.
    counts: Vec<(String, u64)>,
}

/// The statistics in the lines of a console; `None` if there are none, as of a run that did not end.
fn partitions(lines: &[String]) -> Option<Vec<Partition>> {
    let mut times = BTreeMap::new();
    let mut found = Vec::new();
    for line in lines {
        if let Some((name, text)) = about(line, "powervisor: time: partition ") {
            times.insert(name, group(text, "time: ")?);
        } else if let Some((name, text)) = about(line, "powervisor: summary: partition ") {
            let mut parts = text.split("; ");
            let outcome = parts.next()?.to_owned();
            let mut counts = times.remove(name).unwrap_or_default();
            for part in parts {
                let (title, text) = part.split_once(": ")?;
                counts.extend(group(text, &format!("{title}: "))?);
            }
            found.push(Partition { name: name.to_owned(), outcome, counts });
        }
    }
    (!found.is_empty()).then_some(found)
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
pub fn text(lines: &[String]) -> Option<String> {
    let partitions = partitions(lines)?;
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    let names = partitions.iter().map(|partition| partition.name.clone());
    table.set_header(std::iter::once("partition".to_owned()).chain(names));
    let outcomes = partitions.iter().map(|partition| partition.outcome.clone());
    table.add_row(std::iter::once("outcome".to_owned()).chain(outcomes));
    for (index, (name, _)) in partitions[0].counts.iter().enumerate() {
        let counts = partitions.iter().map(|partition| partition.counts[index].1.to_string());
        table.add_row(std::iter::once(name.clone()).chain(counts));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned());
    Some(lines.map(|line| line + "\n").collect())
}

/// One line of JSON: `{"schema": 1, "partitions": [{"name", "outcome", "counts": {...}}]}`.
#[must_use]
pub fn json(lines: &[String]) -> Option<String> {
    let partition = |partition: &Partition| {
        let key = |name: &str| name.replace(": ", "_").replace([' ', '-'], "_").to_lowercase();
        let counts: Map<String, Value> =
            partition.counts.iter().map(|(name, count)| (key(name), (*count).into())).collect();
        json!({"name": partition.name, "outcome": partition.outcome, "counts": counts})
    };
    let partitions: Vec<Value> = partitions(lines)?.iter().map(partition).collect();
    Some(json!({"schema": 1, "partitions": partitions}).to_string() + "\n")
}

#[cfg(test)]
mod tests {
    use super::{json, text};

    fn lines() -> Vec<String> {
        let text = "powervisor: time: partition a: ran 12 us, preempted 3\n\
            powervisor: time: partition b: ran 7 us, preempted 0\n\
            powervisor: summary: partition a: powered off; real door: data storage 4; pages: 2M 1\n\
            powervisor: summary: partition b: stopped; real door: data storage 5; pages: 2M 20\n\
            powervisor: all partitions have ended";
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn each_figure_has_a_row_and_each_partition_a_column() {
        let expected = "partition                          a        b\n\
            outcome                  powered off  stopped\n\
            time: ran us                      12        7\n\
            time: preempted                    3        0\n\
            real door: data storage            4        5\n\
            pages: 2M                          1       20\n";
        assert_eq!(text(&lines()).unwrap(), expected);
        assert_eq!(text(&[]), None);
    }

    #[test]
    fn programs_get_numbers() {
        let value: serde_json::Value = serde_json::from_str(&json(&lines()).unwrap()).unwrap();
        assert_eq!(value["schema"], 1);
        assert_eq!(value["partitions"][0]["outcome"], "powered off");
        assert_eq!(value["partitions"][1]["counts"]["real_door_data_storage"], 5);
        assert_eq!(value["partitions"][0]["counts"]["time_ran_us"], 12);
    }
}
