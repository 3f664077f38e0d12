//! Whether the tables of registers in words agree with the table that the hypervisor moves them by.
//!
//! The words are at the head of the file that has the table: which register an exit or a switch changes, and
//! what takes which away.

use std::collections::BTreeSet;
use std::path::Path;

use super::text::Tree;

/// The file with the table and the words.
const FILE: &str = "hypervisor/core/src/vcpu/registers.rs";
/// What the table begins with.
const TABLE: &str = "        $use! {\n";
/// The head of the words that are made of the table.
const LOST: &str = "//! | lost to | registers |\n//! |---|---|\n";
/// What the table says of what takes a register away, and how the words say it.
const TO: [(&str, &str); 4] = [
    ("ToOthers", "another vCPU only"),
    ("ToInterrupts", "an interrupt in the hypervisor's own code too, which is its end"),
    ("ToIdleness", "the hypervisor's own idleness too, before which it saves all"),
    ("ToTime", "time"),
];

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
    let mut words = LOST.to_owned();
    for (to, told) in TO {
        let names = rows.iter().filter(|(_, lost)| *lost == to);
        let names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
        words.push_str(&format!("//! | {told} | {} |\n", names.join(", ")));
    }
    if rows.iter().any(|(_, lost)| TO.iter().all(|(to, _)| to != lost)) {
        complaints
            .push("a register is lost to something that the check has no words for".to_owned());
    }
    if !text.contains(&words) {
        complaints.push(format!(
            "each_supervisor_register says what registers are lost to, and the words at the head say another thing; they \
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
    use super::{LOST, TABLE, TO, check_text};

    fn text(rows: &str, head: &str, [others, time]: [&str; 2]) -> String {
        let names = |to| match to {
            "ToOthers" => others,
            "ToTime" => time,
            _ => "",
        };
        let words = TO.map(|(to, told)| format!("//! | {told} | {} |\n", names(to))).concat();
        format!(
            "//! | register | hypercall |\n//! |---|---|\n//! | {head} | kept |\n//!\n{LOST}{words}{TABLE}{rows}        \
             }}\n"
        )
    }

    #[test]
    fn words_and_table_have_the_same_registers_lost_to_the_same() {
        let rows = "/// A.\nsprg0: SPRG0 SPRG0 ToOthers;\nsprg1: SPRG1 SPRG1 ToOthers;\n/// Priority: high.\n\
            ppr: PPR PPR ToTime;\n";
        let good = text(rows, "SPRG0-3, PPR as far as it goes", ["SPRG0, SPRG1", "PPR"]);
        assert_eq!(check_text(&good), [""; 0]);
        for (head, lost) in [
            ("SPRG0-3", ["SPRG0, SPRG1", "PPR"]),
            ("SPRG0-3, PPR", ["SPRG0", "PPR"]),
            ("SPRG0-3, PPR", ["SPRG0, SPRG1, PPR", ""]),
            ("SPRG0-3, PPR", ["SPRG0, SPRG1", "PPR, TAR"]),
        ] {
            assert_eq!(check_text(&text(rows, head, lost)).len(), 1, "{head} {lost:?}");
        }
        assert!(!check_text("").is_empty());
        let never = rows.replace("ToTime", "ToNobody");
        assert!(!check_text(&text(&never, "SPRG0-3, PPR", ["SPRG0, SPRG1", ""])).is_empty());
    }
}
