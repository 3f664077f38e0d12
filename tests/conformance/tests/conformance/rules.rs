//! Every rule on our machine, and on QEMU where it can judge.

use std::sync::Mutex;
use std::thread;

use conformance::rule::{self, Judge, Processor, Rule};
use conformance::{Standing, assemble, qemu, simulator};

/// How many QEMUs run at a time.
const QEMUS: usize = 2;

/// Only rules whose areas and names contain this, as in `timers/decrementer`, for work on a few of them.
fn wanted() -> Vec<Rule> {
    let part = std::env::var("RULE").unwrap_or_default();
    let is_wanted = |rule: &Rule| format!("{}/{}", rule.area, rule.name).contains(&part);
    rule::all().into_iter().filter(is_wanted).collect()
}

/// How our machine stands to a rule, on each processor that follows it.
fn standings(rule: &Rule) -> Vec<Standing> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let standing = |processor: &Processor| {
        let image = assemble::assemble(rule, *processor, folder.path());
        Standing::of(rule, &simulator::run(rule, *processor, &image))
    };
    rule.file.processors.iter().map(standing).collect()
}

fn report(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

#[test]
fn our_machine_follows_every_rule() {
    let mut wrong = Vec::new();
    for standing in wanted().iter().flat_map(standings) {
        match standing {
            Standing::Follows => {}
            Standing::KnownFailure(text) => eprintln!("known failure: {text}"),
            Standing::Wrong(text) => wrong.push(text),
        }
    }
    report(wrong);
}

#[test]
fn a_known_failure_fails_the_run_when_it_passes() {
    let rule = |known_failure: Option<&str>, stops: Option<&str>| {
        let mut rule = rule::all().into_iter().find(|rule| rule.name == "srr-corruption").unwrap();
        rule.file.known_failure = known_failure.map(str::to_owned);
        rule.file.stops = stops.map(str::to_owned);
        standings(&rule).remove(0)
    };
    let reason = "nobody wrote it yet";
    assert_eq!(rule(None, None), Standing::Follows);
    assert!(matches!(rule(None, Some("no such report")), Standing::Wrong(_)));
    assert!(
        matches!(rule(Some(reason), None), Standing::Wrong(text) if text.contains("it passes"))
    );
    let known = rule(Some(reason), Some("no such report"));
    assert!(matches!(known, Standing::KnownFailure(text) if text.contains(reason)));
}

#[test]
fn a_run_of_a_rule_is_the_same_every_time() {
    for rule in wanted().iter().filter(|rule| rule.file.threads.is_some()) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for &processor in &rule.file.processors {
            let image = assemble::assemble(rule, processor, folder.path());
            let runs = [(); 2].map(|()| simulator::run(rule, processor, &image));
            assert_eq!(runs[0], runs[1], "{}", rule.name);
        }
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
                    for &processor in &rule.file.processors {
                        let image = assemble::assemble(&rule, processor, folder.path());
                        let verdict = qemu::run(&rule, processor, &image, folder.path());
                        if let Some(complaint) = verdict.complaint(&rule) {
                            let complaint = format!("{} under QEMU: {complaint}", rule.name);
                            complaints
                                .lock()
                                .expect("no judge panics with the list")
                                .push(complaint);
                        }
                    }
                }
            });
        }
    });
    report(complaints.into_inner().expect("every judge is done"));
}
