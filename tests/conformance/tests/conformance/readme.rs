//! The tables of README.md say what the rules are: written by this test, or refused.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use arch::interrupt::{SaveRestore, Vector};
use conformance::rule::{self, Judge, Rule, SCV};

/// Vectors that nothing in the machine raises, and why.
const NEVER: [(Vector, &str); 1] =
    [(Vector::SoftPatch, "denormal numbers and transactions need no help in this machine")];

const BEGIN: &str = " writes what is here -->\n";
const END: &str = "<!-- end -->";

/// A rule's name, with a star if QEMU judges, and a dagger if our machine is known to fail.
fn shown(rule: &Rule) -> String {
    let star = if rule.file.judge == Judge::Qemu { "\\*" } else { "" };
    let dagger = if rule.file.known_failure.is_some() { "\u{2020}" } else { "" };
    format!("`{}`{star}{dagger}", rule.name)
}

/// The rules that name the vector at `offset`, or why there are none.
fn rules_of(rules: &[Rule], offset: u64) -> String {
    let naming = rules.iter().filter(|rule| rule.file.vectors.contains(&offset));
    let names: Vec<_> = naming.map(shown).collect();
    let excuse = NEVER.iter().find(|(vector, _)| vector.offset() == offset);
    match (names.as_slice(), excuse) {
        ([], Some((_, reason))) => format!("never raised: {reason}"),
        ([], None) => panic!("no rule looks at {offset:#x}"),
        (_, Some(_)) => panic!("{offset:#x} has rules, and an excuse for having none"),
        (names, None) => names.join(", "),
    }
}

fn table(rules: &[Rule]) -> String {
    let mut table = "| vector | interrupt | saves in | rules |\n|---|---|---|---|\n".to_owned();
    for &vector in Vector::ALL {
        let offset = vector.offset();
        let pair = match (vector, vector.save_restore()) {
            (Vector::External, _) => "HSRR; SRR with LPES",
            (_, SaveRestore::Srr) => "SRR",
            (_, SaveRestore::Hsrr) => "HSRR",
        };
        let (name, names) = (vector.name(), rules_of(rules, offset));
        writeln!(table, "| {offset:#x} | {name} | {pair} | {names} |")
            .expect("text can be written");
    }
    let names = rules_of(rules, SCV);
    writeln!(table, "| {SCV:#x} | System Call Vectored | LR, CTR | {names} |")
        .expect("text can be written");
    table
}

/// The rules of each area.
fn areas(rules: &[Rule]) -> String {
    let areas: BTreeSet<&str> = rules.iter().map(|rule| rule.area.as_str()).collect();
    let row = |area: &str| {
        let names: Vec<_> = rules.iter().filter(|rule| rule.area == area).map(shown).collect();
        format!("| `{area}` | {} |\n", names.join(", "))
    };
    format!("| area | rules |\n|---|---|\n{}", areas.into_iter().map(row).collect::<String>())
}

#[test]
fn the_tables_of_areas_and_vectors_are_what_the_rules_say() {
    let path = rule::root().join("README.md");
    let text = fs::read_to_string(&path).expect("there is a README.md");
    let rules = rule::all();
    let mut wanted = String::new();
    let mut rest = text.as_str();
    for table in [areas(&rules), table(&rules)] {
        let (before, there) = rest.split_once(BEGIN).expect("README.md has each table's begin");
        let (_, after) = there.split_once(END).expect("README.md has each table's end");
        wanted += &format!("{before}{BEGIN}{table}{END}");
        rest = after;
    }
    wanted += rest;
    if std::env::var_os("WRITE_README").is_some() {
        fs::write(&path, wanted).expect("README.md can be written");
    } else {
        assert_eq!(text, wanted, "WRITE_README=1 writes it anew");
    }
}

#[test]
fn every_rule_that_readme_names_is_there() {
    let rules: BTreeSet<_> = rule::all().into_iter().map(|rule| rule.name).collect();
    let text = fs::read_to_string(rule::root().join("README.md")).expect("there is a README.md");
    let (_, tables) = text.rsplit_once(END).expect("README.md has the tables' end");
    let named: Vec<_> = tables.split('`').skip(1).step_by(2).collect();
    assert!(named.len() > 20, "the bits have their rules");
    for name in named {
        assert!(rules.contains(name), "README.md names {name}, which is no rule");
    }
}

/// A program that says it looks at a vector has the vector's number in it.
#[test]
fn a_rule_looks_at_the_vectors_that_it_names() {
    for rule in rule::all() {
        let program = fs::read_to_string(&rule.program).expect("a rule has a program");
        let words: BTreeSet<_> = program
            .split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
            .collect();
        for &vector in &rule.file.vectors {
            let is_there = match vector {
                SCV => words.contains("scv"),
                0x100 => words.contains("0x100") || words.contains("ON_RESET"),
                0x300 => words.contains("0x300") || words.contains("LOAD_REFUSED"),
                0x600 => words.contains("0x600") || words.contains("MISALIGNED"),
                _ => words.contains(format!("{vector:#x}").as_str()),
            };
            assert!(is_there, "{} names {vector:#x} and does not look for it", rule.name);
        }
    }
}
