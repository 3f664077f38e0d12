//! Whether docs/files.md has the keys of the files that the command reads: all of them, and no other.

use std::collections::BTreeSet;
use std::path::Path;

use super::text::Tree;

/// The document.
const FILE: &str = "docs/files.md";
/// Where a structure is that is read, its name, and the heading over its table in the document.
const TABLES: [(&str, &str, &str); 16] = [
    ("lab/src/partition_file.rs", "Contents", "## A partition file"),
    ("lab/src/partition_file.rs", "MachineTable", "### [machine]"),
    ("lab/src/partition_file.rs", "PolicyTable", "### [policy]"),
    ("lab/src/partition_file.rs", "PartitionTable", "### [[partition]]"),
    ("lab/src/kernel_file.rs", "Contents", "## A kernel file"),
    ("lab/src/kernel_file.rs", "KernelTable", "### [kernel]"),
    ("lab/src/experiment/mod.rs", "Contents", "## An experiment"),
    ("lab/src/experiment/mod.rs", "RegionTable", "### [region]"),
    ("lab/src/experiment/mod.rs", "VariantTable", "### [[variant]]"),
    ("lab/src/experiment/mod.rs", "PartnerTable", "### [[variant.partner]]"),
    ("lab/src/experiment/steps.rs", "StepsTable", "### [steps]"),
    ("lab/src/experiment/steps.rs", "StepTable", "### [[steps.step]]"),
    ("lab/src/steps.rs", "Published", "### [steps.step.published]"),
    ("lab/src/steps.rs", "NotOurs", "### [[steps.not_ours]]"),
    ("lab/src/experiment/mod.rs", "PublishedTable", "### [[published]]"),
    ("lab/src/experiment/mod.rs", "ReasonTable", "### [[reason]]"),
];

/// A complaint for each key that is in one place alone.
pub(super) fn check(tree: &Tree) -> Vec<String> {
    let document = tree.text(Path::new(FILE));
    let mut complaints = Vec::new();
    for (path, structure, heading) in TABLES {
        let read = fields(tree.text(Path::new(path)), structure);
        let told = keys(document, heading);
        if read.is_empty() || told.is_empty() {
            complaints
                .push(format!("{FILE}: no `{structure}` in {path}, or no table under `{heading}`"));
        }
        for key in read.difference(&told) {
            complaints.push(format!("{FILE}: `{heading}` lacks the key `{key}` of {path}"));
        }
        for key in told.difference(&read) {
            complaints.push(format!("{FILE}: `{heading}` has `{key}`, which {path} does not read"));
        }
    }
    complaints
}

/// The fields of a structure.
fn fields<'a>(text: &'a str, structure: &str) -> BTreeSet<&'a str> {
    let begin = format!("struct {structure} {{\n");
    let inside = text.split_once(&begin).map_or("", |(_, behind)| behind);
    let lines = inside.lines().map(str::trim).take_while(|line| *line != "}");
    let fields =
        lines.filter(|line| !line.starts_with(['/', '#'])).filter_map(|line| line.split_once(": "));
    fields.map(|(name, _)| name.trim_start_matches("pub ")).collect()
}

/// The keys in the first column of the first table under a heading.
fn keys<'a>(text: &'a str, heading: &str) -> BTreeSet<&'a str> {
    let lines = text.lines().skip_while(|line| *line != heading).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('#'));
    let rows = lines.filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split_once('`').map(|(key, _)| key)).collect()
}

#[cfg(test)]
mod tests {
    use super::{fields, keys};

    #[test]
    fn fields_and_keys_are_found() {
        let text = "struct A {\n    /// It: is.\n    #[serde(default)]\n    one: u8,\n    pub two: Option<Spanned<u32>>,\n}\n\
            struct B {\n    three: u8,\n}\n";
        assert_eq!(Vec::from_iter(fields(text, "A")), ["one", "two"]);
        assert!(fields(text, "C").is_empty());
        let text = "## A\n\nText `x`.\n\n| key | is |\n|---|---|\n| `one` | `b` |\n| `two` | c |\n\n### B\n\n| `three` | d |\n";
        assert_eq!(Vec::from_iter(keys(text, "## A")), ["one", "two"]);
        assert_eq!(Vec::from_iter(keys(text, "### B")), ["three"]);
        assert!(keys(text, "## C").is_empty());
    }
}
