//! What `powervisor run` learned, for programs: the JSON is documented, carries every check, and no option
//! that looks changes a figure.
//!
//! Needs the images (`cargo xtask images`).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::{Folder, errors, project, short_experiment};
use lab::experiment::Experiment;
use lab::ledger::Ledger;
use lab::reasons::{self, Reason};
use lab::user_file::Files;
use serde_json::Value;

/// What a run with these arguments prints as JSON; `EXPERIMENT` is the one of null hypercalls.
fn report(folder: &Folder, arguments: &str) -> Value {
    let experiment = short_experiment(folder);
    let line = format!("run {} --format json", arguments.replace("EXPERIMENT", &experiment));
    let output = folder.command(&line).output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A machine like ours with two threads in its core, in the file `two.toml`.
fn two_threads(folder: &Folder) {
    let machine = fs::read_to_string(project("machines/power9.toml")).unwrap();
    let two = machine.replace("threads_per_core = 1", "threads_per_core = 2");
    assert_ne!(machine, two);
    folder.write("two.toml", two);
}

/// The keys of a value and of all within; those by variant are the variants' names, and those by value are the
/// keys of machine files.
fn keys<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(map) => {
            found.extend(map.keys().map(String::as_str));
            map.values().for_each(|value| keys(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

#[test]
fn the_json_carries_every_check_under_documented_keys() {
    let folder = Folder::new();
    two_threads(&folder);
    let report = report(&folder, "EXPERIMENT --machine two.toml --check-causes --explain");
    let documentation = fs::read_to_string(project("docs/json.md")).unwrap();
    let mut found = Vec::new();
    keys(&report, &mut found);
    let is_name = |key: &&str| {
        key.starts_with("timing.") || ["immediate-translated", "immediate-real"].contains(key)
    };
    for key in found.into_iter().filter(|key| !is_name(key)) {
        assert!(documentation.contains(&format!("`{key}`")), "docs/json.md lacks `{key}`");
    }

    assert_eq!((&report["schema"], &report["quantum"]), (&1.into(), &100.into()));
    for variant in ["immediate-translated", "immediate-real"] {
        let of_variant = &report["variants"][variant];
        assert_eq!(of_variant["divisor"], 10_000);
        let ledger = report["ledger"][variant]["charges"].as_array().unwrap();
        let causes = of_variant["causes_made_free"].as_array().unwrap();
        assert!(causes.len() > 1, "{variant}");
        for checked in causes {
            let charges = ledger.iter().filter(|charge| charge["cause"] == checked["cause"]);
            let sum: u64 = charges.map(|charge| charge["cycles"].as_u64().unwrap()).sum();
            assert_eq!(checked["ledger_cycles"], sum, "{checked}");
            assert!(checked["run_cycles"].is_i64(), "{checked}");
        }
        let flush = causes.iter().find(|checked| checked["cause"] == "flush.return").unwrap();
        assert!(
            flush["run_cycles"].as_i64().unwrap() >= 900_000,
            "some 100 cycles a call: {flush}"
        );
    }
}

#[test]
fn half_the_quantum_is_what_a_run_with_that_quantum_says() {
    let folder = Folder::new();
    two_threads(&folder);
    let whole = report(&folder, "EXPERIMENT --machine two.toml --values-only");
    let half = report(&folder, "EXPERIMENT --machine two.toml --values-only --quantum 50");
    let cycles = |report: &Value, variant: &str| {
        let rows = report["rows"].as_array().unwrap().iter();
        let mut rows = rows.filter(|row| row["variant"] == variant);
        let row = rows.find(|row| row["metric"] == "cycles_per_hypercall").unwrap();
        row["value"].as_f64().unwrap()
    };
    let line = format!("run {} --machine two.toml --values-only", short_experiment(&folder));
    let text = String::from_utf8(folder.command(&line).output().unwrap().stdout).unwrap();
    for variant in ["immediate-translated", "immediate-real"] {
        let checked = &whole["variants"][variant]["half_quantum"];
        assert_eq!(checked["quantum"], 50);
        let (before, after) = (cycles(&whole, variant), cycles(&half, variant));
        assert_eq!(checked["value"].as_f64(), Some(after), "{variant}");
        let change = 100.0 * (after / before - 1.0);
        let said = checked["change_percent"].as_f64().unwrap();
        assert!((said - change).abs() < 1e-6, "{variant}: {said}, not {change}");
        let expected = format!(
            "\n{variant}, with half the quantum: {after:.4} cycles per hypercall ({change:+.2} %)\n"
        );
        assert!(text.contains(&expected), "no {expected:?} in\n{text}");
    }
    let alone = report(&folder, "EXPERIMENT --values-only");
    assert_eq!(
        alone["variants"]["immediate-real"]["half_quantum"],
        Value::Null,
        "one thread has no turns"
    );
}

#[test]
fn looking_changes_no_figure() {
    let folder = Folder::new();
    two_threads(&folder);
    for machine in ["", " --machine two.toml --values-only"] {
        let plain = report(&folder, &format!("EXPERIMENT{machine}"));
        let watched = report(&folder, &format!("EXPERIMENT{machine} --explain --out files"));
        assert_eq!(plain, watched);
    }
}

#[test]
fn spans_of_a_trace_nest_and_add_up() {
    let folder = Folder::new();
    let ledger = report(&folder, "EXPERIMENT --out files")["ledger"]["immediate-real"].clone();
    let trace =
        fs::read(folder.path().join("files/null-hypercall-immediate-real.trace.json")).unwrap();
    let trace: Value = serde_json::from_slice(&trace).unwrap();
    assert_eq!(trace["otherData"]["spans left out"], 0);
    let mut open: Vec<(&str, f64)> = Vec::new();
    let (mut last, mut cycles) = (0.0, 0);
    for event in trace["traceEvents"].as_array().unwrap() {
        assert_eq!(event["pid"], 1, "{event}");
        let time = event["ts"].as_f64();
        match event["ph"].as_str().unwrap() {
            "B" => {
                let name = event["name"].as_str().filter(|name| !name.is_empty()).unwrap();
                assert_eq!(event["cat"], ["owner", "function"][open.len()], "{event}");
                open.push((name, time.unwrap()));
            }
            "E" => {
                let (_, began) = open.pop().expect("an end has its begin");
                let lasted = event["args"]["cycles"].as_u64().unwrap();
                // 3.8 GHz, in microseconds.
                let expected = (time.unwrap() - began) * 3800.0;
                assert!((lasted as f64 - expected).abs() < 0.01, "{event}");
                cycles += if open.is_empty() { lasted } else { 0 };
            }
            "C" => {}
            "M" => continue,
            other => panic!("{other}"),
        }
        assert!(time.unwrap() >= last, "{event} is before {last}");
        last = time.unwrap();
    }
    assert!(open.is_empty(), "{open:?}");
    assert_eq!(ledger["elapsed_thread_cycles"], cycles, "every cycle of the region is somebody's");

    // The counters end where the ledger does.
    let mut counted = BTreeMap::new();
    for event in trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "C")
    {
        let name = event["name"].as_str().unwrap();
        let Some(group) = name.strip_prefix("cycles, ") else { continue };
        let group = group.strip_suffix(", hardware thread 0").unwrap();
        for (cause, cycles) in event["args"].as_object().unwrap() {
            counted.insert(format!("{group}.{cause}"), cycles.as_u64().unwrap());
        }
    }
    let mut charged = BTreeMap::new();
    for charge in ledger["charges"].as_array().unwrap() {
        let cause = charge["cause"].as_str().unwrap().to_owned();
        *charged.entry(cause).or_insert(0) += charge["cycles"].as_u64().unwrap();
    }
    counted.retain(|_, cycles| *cycles != 0);
    assert_eq!(counted, charged);
}

/// As many of them as there are pairs of hypercalls.
#[test]
fn figures_may_be_of_a_word_of_ones_own() {
    let folder = Folder::new();
    let text = fs::read_to_string(short_experiment(&folder)).unwrap();
    let own = text.replace("per = \"hypercall\"", "per = \"pair\"\ndivisor = 5000");
    let own = own.replace("_per_hypercall", "_per_pair");
    folder.write("own.toml", own.replacen("\narguments", "\ndivisor = 2500\narguments", 1));
    let calls = report(&folder, "EXPERIMENT --functional");
    let pairs = report(&folder, "own.toml --functional");
    assert_eq!(
        (&pairs["per"], &pairs["rows"][0]["metric"]),
        (&"pair".into(), &"instructions_per_pair".into())
    );
    let figure = |report: &Value, variant: &str| {
        let rows = report["rows"].as_array().unwrap().iter();
        let row = rows.clone().find(|row| row["variant"] == variant).unwrap();
        row["value"].as_f64().unwrap() * report["variants"][variant]["divisor"].as_f64().unwrap()
    };
    for (variant, divisor) in [("immediate-translated", 2500), ("immediate-real", 5000)] {
        assert_eq!(pairs["variants"][variant]["divisor"], divisor);
        let (one, other) = (figure(&calls, variant), figure(&pairs, variant));
        assert!((one - other).abs() < 0.01, "{variant}: {one} and {other}");
    }
}

#[test]
fn two_variants_are_compared_call_by_call() {
    let report = |experiment: &str, per: &str| {
        let ledger = |cause: &str, cycles: u64| {
            let charge = serde_json::json!({
                "owner": "hypervisor", "function": "f", "offset": 0, "instruction": "", "cause": cause,
                "indirect": false, "cycles": cycles,
            });
            serde_json::json!({"elapsed_thread_cycles": cycles, "charges": [charge]})
        };
        serde_json::json!({
            "schema": 1, "experiment": experiment, "config_hash": "", "per": per,
            "variants": {
                "a": {"divisor": 10, "set": {"timing.special.isync": 7.5}},
                "b": {"divisor": 4, "set": {"timing.special.isync": 7.5, "prefetch_engine.overlap": "newest"}},
            },
            "ledger": {"a": ledger("load.l1", 1000), "b": ledger("load.l1", 401)},
        })
        .to_string()
    };
    let folder = Folder::new();
    folder.write("e.json", report("e", "call"));
    folder.write("f.json", report("f", "switch"));
    for (arguments, expected) in [
        (
            "e.json --variants a b",
            "e, a and e, b, in cycles per call\nprefetch_engine.overlap is as described before and newest \
             after\n        change         before          after\n         +0.25         \
             100.00         100.25  hypervisor  f  load.l1\n         +0.25         100.00         100.25  in all, +0.25 %\n",
        ),
        (
            "e.json f.json --by cause --variants b a --format json",
            "{\"schema\":1,\"by\":\"cause\",\"config_hash\":[\"\",\"\"],\"comparisons\":[{\"before\":{\"experiment\":\"e\",\
             \"variant\":\"b\"},\"after\":{\"experiment\":\"f\",\"variant\":\"a\"},\"unit\":\"cycles per call before and per \
             switch after\",\"set\":[{\"key\":\"prefetch_engine.overlap\",\"before\":\"newest\",\"after\":null}],\"all\":{\"before\":100.25,\"after\":100.0,\"change\":-0.25},\"lines\":[{\"cause\":\"load.l1\",\
             \"indirect\":false,\"before\":100.25,\"after\":100.0,\"change\":-0.25}],\"cannot_change\":[]}],\
             \"only_before\":[],\"only_after\":[]}\n",
        ),
        (
            "e.json f.json --by cause --variants b a",
            "e, b and f, a, in cycles per call before and per switch after\nprefetch_engine.overlap is newest before and as \
             described after\n        change         before          after\n         \
             -0.25         100.25         100.00  load.l1\n         -0.25         100.25         100.00  in all, -0.25 %\n",
        ),
    ] {
        let output = folder.command(&format!("diff {arguments}")).output().unwrap();
        assert!(output.status.success(), "{}", errors(&output));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    }
}

/// What is left of the complete exit is there for a reason: a line that is not says so here.
#[test]
fn every_large_line_of_the_complete_exit_has_a_reason() {
    const VARIANT: &str = "full-translated";
    let folder = Folder::new();
    let file = project("experiments/null-hypercall.toml");
    let line = format!("run {file} --variant {VARIANT} --values-only --format json");
    let output = folder.command(&line).output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let ledger: Ledger = serde_json::from_value(report["ledger"][VARIANT].clone()).unwrap();
    let reasons = Experiment::read(Path::new(&file), &Files::default()).unwrap().reasons;
    assert_eq!(reasons::without(&reasons, VARIANT, &ledger), [""; 0]);
    let text = reasons::text(&reasons, VARIANT, &ledger, 10_000);
    // Where several functions share a reason, one of them may be below the share from which a line needs one.
    let has_line = |reason: &&Reason| reason.cause.is_some() && reason.functions.len() == 1;
    for reason in reasons.iter().filter(has_line) {
        assert!(text.contains(&reason.why), "no line has this any more: {reason:?}\n{text}");
    }
}
