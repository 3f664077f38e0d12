//! Whether the tables of registers in words agree with the table that the hypervisor moves them by.
//!
//! The words are at the head of the file that has the table: which register an exit or a switch changes, and which are written
//! when.

use std::collections::BTreeSet;
use std::path::Path;

use super::text::Tree;

/// The file with the table and the words.
const FILE: &str = "hypervisor/core/src/vcpu/registers.rs";
/// What the table begins with.
const TABLE: &str = "        $use! {\n";
/// The head of the words that are made of the table.
const WRITTEN: &str = "//! | written as another vCPU enters | registers |\n//! |---|---|\n";
/// What the table says of when a register is written, and how the words say it.
const WHEN: [(&str, &str); 2] =
    [("IfDifferent", "if the processor has another value"), ("Always", "always")];

/// A complaint for each disagreement.
pub(super) fn check(tree: &Tree) -> Vec<String> {
    let complaints = check_text(tree.text(Path::new(FILE)));
    complaints.into_iter().map(|complaint| format!("{FILE}: {complaint}")).collect()
}

fn check_text(text: &str) -> Vec<String> {
    let Some((_, table)) = text.split_once(TABLE) else {
        return vec!["the table of registers is not where the check looks for it".to_owned()];
    };
    let rows: Vec<(String, &str)> = table
        .lines()
        .map(str::trim)
        .take_while(|line| *line != "}")
        .filter(|line| !line.starts_with("///"))
        .filter_map(|line| {
            let (field, rest) = line.split_once(':')?;
            Some((field.to_uppercase(), rest.trim_end_matches(';').split(' ').next_back()?))
        })
        .collect();
    let mut complaints = Vec::new();
    let mut words = WRITTEN.to_owned();
    for (when, told) in WHEN {
        let names = rows.iter().filter(|(_, written)| *written == when);
        let names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
        words.push_str(&format!("//! | {told} | {} |\n", names.join(", ")));
    }
    if rows.iter().any(|(_, written)| WHEN.iter().all(|(when, _)| when != written)) {
        complaints
            .push("a register is written at a time that the check has no words for".to_owned());
    }
    if !text.contains(&words) {
        complaints.push(format!(
            "each_supervisor_register says when registers are written, and the words at the head say another thing; they \
             should be\n{words}"
        ));
    }
    let named = named(text);
    complaints.extend(rows.iter().filter(|(name, _)| !named.contains(name)).map(|(name, _)| {
        format!("{name} is in each_supervisor_register, and no row at the head says what an exit does to it")
    }));
    complaints
}

/// The registers that the first table at the head names, those of ranges too.
fn named(text: &str) -> BTreeSet<String> {
    let rows = text
        .lines()
        .skip_while(|line| !line.starts_with("//! | register |"))
        .take_while(|line| line.starts_with("//! |"));
    let first = rows.filter_map(|row| row.split('|').nth(1));
    let mut names = BTreeSet::new();
    for name in first.flat_map(|cell| cell.split([',', ';', ' '])) {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
        let ends = name[stem.len()..].split_once('-');
        match ends.and_then(|(first, last)| Some((first.parse().ok()?, last.parse::<u32>().ok()?)))
        {
            Some((first, last)) => {
                names.extend((first..=last).map(|number| format!("{stem}{number}")))
            }
            None => drop(names.insert(name.to_owned())),
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::{TABLE, WRITTEN, check_text};

    fn text(rows: &str, head: &str, written: [&str; 2]) -> String {
        let [if_different, always] = written;
        format!(
            "//! | register | hypercall |\n//! |---|---|\n//! | {head} | kept |\n//!\n{WRITTEN}//! | if the processor has \
             another value | {if_different} |\n//! | always | {always} |\n{TABLE}{rows}        }}\n"
        )
    }

    #[test]
    fn words_and_table_have_the_same_registers_at_the_same_times() {
        let rows = "/// A.\nsprg0: SPRG0 SPRG0 IfDifferent;\nsprg1: SPRG1 SPRG1 IfDifferent;\n/// Priority: high.\n\
            ppr: PPR PPR Always;\n";
        let good = text(rows, "SPRG0-3, PPR as far as it goes", ["SPRG0, SPRG1", "PPR"]);
        assert_eq!(check_text(&good), [""; 0]);
        for (head, written) in [
            ("SPRG0-3", ["SPRG0, SPRG1", "PPR"]),
            ("SPRG0-3, PPR", ["SPRG0", "PPR"]),
            ("SPRG0-3, PPR", ["SPRG0, SPRG1, PPR", ""]),
            ("SPRG0-3, PPR", ["SPRG0, SPRG1", "PPR, TAR"]),
        ] {
            assert_eq!(check_text(&text(rows, head, written)).len(), 1, "{head} {written:?}");
        }
        assert!(!check_text("").is_empty());
        let never = rows.replace("Always", "Never");
        assert!(!check_text(&text(&never, "SPRG0-3, PPR", ["SPRG0, SPRG1", ""])).is_empty());
    }
}
