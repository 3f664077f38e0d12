//! Every rule on our machine, and on QEMU where it can judge.

use std::sync::Mutex;
use std::thread;

use conformance::rule::{self, Judge, Rule};
use conformance::{assemble, qemu, simulator};

/// How many QEMUs run at a time.
const QEMUS: usize = 2;

/// Only rules whose names contain this, for work on one of them.
fn wanted() -> Vec<Rule> {
    let part = std::env::var("RULE").unwrap_or_default();
    rule::all().into_iter().filter(|rule| rule.name.contains(&part)).collect()
}

fn report(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

#[test]
fn our_machine_follows_every_rule() {
    let judged = |rule: &Rule| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let image = assemble::assemble(rule, folder.path());
        let complaint = simulator::run(rule, &image).complaint(rule)?;
        Some(format!("{}: {complaint}", rule.name))
    };
    report(wanted().iter().filter_map(judged).collect());
}

#[test]
fn a_run_of_a_rule_is_the_same_every_time() {
    for rule in wanted().iter().filter(|rule| rule.file.threads.is_some()) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let image = assemble::assemble(rule, folder.path());
        assert_eq!(simulator::run(rule, &image), simulator::run(rule, &image), "{}", rule.name);
    }
}

#[test]
fn qemu_agrees_where_it_can_judge() {
    let rules = Mutex::new(wanted().into_iter().filter(|rule| rule.file.judge == Judge::Qemu));
    let complaints = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..QEMUS {
            scope.spawn(|| {
                loop {
                    let next = rules.lock().expect("no judge panics with the list").next();
                    let Some(rule) = next else { return };
                    let folder = tempfile::tempdir().expect("a temporary folder");
                    let image = assemble::assemble(&rule, folder.path());
                    let verdict = qemu::run(&rule, &image, folder.path());
                    if let Some(complaint) = verdict.complaint(&rule) {
                        let complaint = format!("{} under QEMU: {complaint}", rule.name);
                        complaints.lock().expect("no judge panics with the list").push(complaint);
                    }
                }
            });
        }
    });
    report(complaints.into_inner().expect("every judge is done"));
}
