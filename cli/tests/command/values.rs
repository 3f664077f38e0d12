//! Machines and experiments that come with the command: by name from any folder, shown, and with other values.
//!
//! Needs the images (`cargo xtask images`) and, for a payload in C, Debian's gcc-powerpc64le-linux-gnu.

use std::process::{Command, Output};

use crate::support::{Folder, errors, project};
use serde_json::Value;

fn run(folder: &Folder, arguments: &str) -> Output {
    folder.command(arguments).output().unwrap()
}

#[track_caller]
fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", errors(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
fn assert_refused(folder: &Folder, arguments: &str, expected: &str) {
    let output = run(folder, arguments);
    assert_eq!(errors(&output), format!("powervisor: {expected}\n"));
    assert_eq!(output.status.code(), Some(2));
}

/// The cycles of a report's variant.
fn cycles(output: &Output, variant: &str) -> f64 {
    let report: Value = serde_json::from_str(&printed(output)).unwrap();
    let rows = report["rows"].as_array().unwrap();
    let row = rows
        .iter()
        .find(|row| row["variant"] == variant && row["metric"] == "cycles_per_hypercall")
        .unwrap();
    assert!(row["low"].is_null(), "--values-only has no ends");
    row["value"].as_f64().unwrap()
}

#[test]
fn an_experiment_runs_by_its_name_with_one_variant_and_a_value_of_ones_own() {
    let folder = Folder::new();
    let line = "run null-hypercall --variant immediate-translated --values-only --format json";
    let before = cycles(&run(&folder, line), "immediate-translated");
    let set = format!("{line} --set interrupt_and_return=179");
    let after = cycles(&run(&folder, &set), "immediate-translated");
    // An interrupt and its return cost 209 in the description.
    assert!((before - after - 30.0).abs() < 0.01, "{before} to {after}");
    // The same machine in a file gives the same.
    let shown = run(&folder, "show power9 --set interrupt_and_return=179");
    folder.write("mine.toml", printed(&shown));
    let of_file = run(&folder, &format!("{line} --machine mine.toml"));
    assert_eq!(cycles(&of_file, "immediate-translated").to_bits(), after.to_bits());
}

/// The figures of others stand beside, and are not this machine's.
#[test]
fn published_figures_are_said_to_be_of_another_processor() {
    let folder = Folder::new();
    for (options, expected) in [
        ("", "published, and immediate-real as a part of it"),
        (" --machine power8", "published of a POWER9, and immediate-real as a part of it"),
    ] {
        let line = format!("run null-hypercall --variant immediate-real --values-only{options}");
        let text = printed(&run(&folder, &line)).to_owned();
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_loss_is_against_the_variant_that_a_variant_names() {
    let folder = Folder::new();
    let variant = |name: &str, map: &str, against: &str| {
        format!(
            "[[variant]]\nname = \"{name}\"\narguments = \"calls=20\"\npolicy = {{ map = \"{map}\" }}\n\
             loss_against = \"{against}\"\nexpect = \"page-init: 20 calls, 1 vCPUs, answer H_SUCCESS\"\n"
        )
    };
    // One before its baseline, and one behind it.
    let variants = [
        variant("before", "ours", "direct"),
        variant("direct", "direct", "direct"),
        variant("behind", "ours", "direct"),
        variant("itself", "ours", "itself"),
    ];
    let text = "name = \"losses\"\nquestion = \"?\"\nmachine = \"power9\"\npayload = \"page-init\"\n\
                memory = \"16 MiB\"\nregion = { name = \"calls\", number = 1 }\nper = \"hypercall\"\n";
    folder.write("losses.toml", format!("{text}{}", variants.concat()));
    let report = printed(&run(&folder, "run losses.toml --values-only --format json"));
    let report: Value = serde_json::from_str(&report).unwrap();
    let rows = report["rows"].as_array().unwrap();
    let loss = |variant: &str| {
        let is_meant = |row: &&Value| row["variant"] == variant && row["metric"] == "loss_percent";
        rows.iter().find(is_meant).unwrap()["value"].as_f64().unwrap()
    };
    assert!(loss("before") > 1.0 && loss("before") < 90.0, "{}", loss("before"));
    assert!((loss("before") - loss("behind")).abs() < 1e-9);
    assert_eq!([loss("direct"), loss("itself")], [0.0; 2]);
}

/// What the first partition says it got done, in lines that the console cuts, and not what others say; and that a
/// published gain is a loss below 0.
#[test]
fn rates_and_samples_are_the_first_partitions() {
    let folder = Folder::new();
    let text = "name = \"first\"\nquestion = \"?\"\nmachine = \"power9\"\npayload = \"memory-load\"\n\
                memory = \"16 MiB\"\nregion = { name = \"jobs\", number = 1 }\nper = \"job\"\n\
                loss_against = \"chain\"\n\
                [[variant]]\nname = \"chain\"\narguments = \"set=64 period=20 periods=3 samples=60\"\n\
                expect = \"memory-load: chain of 64 KiB, done\"\n\
                partner = [{ name = \"tick\", arguments = \"way=tick set=1 job=9 every_us=20 for_us=100\", \
                expect = \"memory-load: tick of 1 KiB, done\" }, \
                { name = \"stream\", arguments = \"way=stream set=8 job=4 for_us=100\", \
                expect = \"memory-load: stream of 8 KiB, done\" }]\n\
                [[variant]]\nname = \"slow\"\narguments = \"set=64 job=1000 period=20 periods=3\"\n\
                expect = \"memory-load: chain of 64 KiB, done\"\n\
                [[published]]\nmetric = \"jobs_loss_percent\"\nvariant = \"slow\"\nvalue = -5.0\n\
                what = \"\"\nsource = \"\"\n";
    folder.write("first.toml", text);
    let report = printed(&run(&folder, "run first.toml --values-only --format json"));
    let report: Value = serde_json::from_str(&report).unwrap();
    let rows = report["rows"].as_array().unwrap();
    let row = |variant: &str, metric: &str| {
        rows.iter().find(|row| row["variant"] == variant && row["metric"] == metric)
    };
    let figure = |variant, metric| row(variant, metric).unwrap()["value"].as_f64().unwrap();
    // 500 loads and 1,000.
    let half = figure("chain", "jobs_per_second") / figure("slow", "jobs_per_second");
    assert!((1.9..2.1).contains(&half), "{half}");
    let mean = 1e9 / figure("chain", "jobs_per_second");
    assert!((mean - figure("chain", "mean_ns")).abs() < 1.0, "{mean}");
    assert!(row("slow", "mean_ns").is_none() && row("chain", "copy_bytes_per_second").is_none());
    let loss = row("slow", "jobs_loss_percent").unwrap();
    assert!((loss["value"].as_f64().unwrap() - 100.0 * (1.0 - 1.0 / half)).abs() < 0.1, "{loss}");
    assert_eq!(loss["published"][0]["value"], -5.0);
    assert_eq!((&loss["better"], figure("chain", "jobs_loss_percent")), (&"lower".into(), 0.0));
}

/// A variant has a value of its own, unless whoever runs it gives one, and the report says so. A figure stands under
/// its heading where another variant has more of them.
#[test]
fn what_a_variant_sets_is_its_own() {
    let folder = Folder::new();
    let variant = |name: &str, more: &str| {
        format!(
            "[[variant]]\nname = \"{name}\"\narguments = \"calls=20\"\n{more}\
             expect = \"null-hypercall: 20 calls, translation on, answer H_FUNCTION\"\n"
        )
    };
    let dear = "set = [\"interrupt_and_return=409\"]\n";
    let variants = [
        variant("usual", ""),
        variant("dear", dear),
        variant("lost", &format!("{dear}loss_against = \"usual\"\n")),
    ];
    let text = "name = \"own\"\nquestion = \"?\"\nmachine = \"power9\"\npayload = \"null-hypercall\"\n\
                memory = \"16 MiB\"\nregion = { name = \"calls\", number = 1 }\nper = \"hypercall\"\n";
    folder.write("own.toml", format!("{text}{}", variants.concat()));
    let json = run(&folder, "run own.toml --values-only --format json");
    let more = cycles(&json, "dear") - cycles(&json, "usual");
    assert!((199.0..=201.0).contains(&more), "{more}");
    let report: Value = serde_json::from_str(&printed(&json)).unwrap();
    let set = |name: &str| report["variants"][name]["set"].clone();
    assert_eq!(set("usual"), serde_json::json!({}));
    assert_eq!(set("dear"), serde_json::json!({ "timing.special.interrupt_and_return": 409.0 }));
    // The figure stands where its heading ends.
    let table = printed(&run(&folder, "run own.toml --values-only"));
    let end = |line: &str, text: &str| line.find(text).map(|at| at + text.len());
    let line =
        |begin: &str| table.lines().find(|line| line.starts_with(begin)).expect("it is there");
    let heading = end(line("variant"), " cycles");
    for name in ["usual", "dear", "lost"] {
        let number = format!(" {:.4}", cycles(&json, name));
        assert_eq!(end(line(name), &number), heading, "{name}: {table}");
    }
    // A word is no value of the timing model, and makes no difference here.
    let word = text.replace("power9", "power8") + &variant("one", "");
    let word = word + &variant("other", "set = [\"prefetch_engine.overlap=newest\"]\n");
    folder.write("word.toml", word);
    folder.write("word.json", printed(&run(&folder, "run word.toml --values-only --format json")));
    let difference = printed(&run(&folder, "diff word.json --variants one other"));
    assert!(difference.contains("in all, +0.00 %"), "{difference}");
    let given = "run own.toml --values-only --format json --variant dear --variant usual \
                 --set interrupt_and_return=309";
    let json = run(&folder, given);
    assert_eq!(cycles(&json, "dear").to_bits(), cycles(&json, "usual").to_bits());
    let several = run(
        &folder,
        "run own.toml --values-only --format json --variant dear --set interrupt_and_return=179,209",
    );
    let [one, other] =
        [179, 209].map(|value| cycles(&several, &format!("dear:interrupt_and_return={value}")));
    assert!((29.0..=31.0).contains(&(other - one)), "{one}, {other}");
}

/// A job of 500 loads from the L1 takes about five cycles each, also where the thread is another partition's for
/// half of the time.
#[test]
fn a_jobs_cycles_are_the_first_partitions_own() {
    let folder = Folder::new();
    folder.write(
        "jobs.toml",
        "name = \"jobs\"\nquestion = \"?\"\nmachine = \"power8\"\npayload = \"memory-load\"\n\
         memory = \"16 MiB\"\nregion = { name = \"jobs\", number = 1 }\nper = \"job\"\n\
         [[variant]]\nname = \"beside\"\nslice_us = 450\narguments = \"set=4 periods=1\"\n\
         expect = \"memory-load: chain of 4 KiB, done\"\npartner = [{ name = \"other\", arguments = \
         \"set=4 for_us=3000\", expect = \"memory-load: chain of 4 KiB, done\" }]\n",
    );
    let report = printed(&run(&folder, "run jobs.toml --values-only --format json"));
    let report: Value = serde_json::from_str(&report).unwrap();
    let rows = report["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["metric"] == "cycles_per_job").unwrap();
    let cycles = row["value"].as_f64().unwrap();
    assert!((2000.0..4000.0).contains(&cycles), "{cycles}");
}

#[test]
fn what_comes_with_the_command_is_shown() {
    let folder = Folder::new();
    let all = printed(&run(&folder, "show"));
    assert!(all.contains("  power9\n") && all.contains("  null-hypercall\n"), "{all}");
    let text = printed(&run(&folder, "show power9"));
    assert_eq!(text, std::fs::read_to_string(project("machines/power9.toml")).unwrap());
    let text = printed(&run(&folder, "show null-hypercall"));
    let file = project("experiments/null-hypercall.toml");
    assert_eq!(text, std::fs::read_to_string(file).unwrap());
    let json: Value =
        serde_json::from_str(&printed(&run(&folder, "show power9 --format json"))).unwrap();
    let parameters = json["parameters"].as_array().unwrap();
    let guesses = parameters.iter().filter(|parameter| parameter["confidence"] == "guess");
    assert!(guesses.clone().count() > 30);
    for guess in guesses {
        let [low, value, high] = ["low", "value", "high"].map(|key| guess[key].as_f64().unwrap());
        assert!(low <= value && value <= high, "{guess}");
    }
}

#[test]
fn what_is_not_there_is_refused_with_the_nearest() {
    let folder = Folder::new();
    for (arguments, expected) in [
        (
            "run null-hypercal",
            "null-hypercal: no file and no experiment is called so; did you mean `null-hypercall`? Experiments of your own \
             are named by their path, ending in .toml",
        ),
        (
            "run null-hypercall --variant full-trnslated",
            "--variant: no variant is called `full-trnslated`; did you mean `full-translated`?",
        ),
        (
            "run null-hypercall --set pipeline.scoreboard=0",
            "--set: no value is called `pipeline.scoreboard`; did you mean `timing.special.scoreboard`?",
        ),
        (
            "calibrate --set scoreboard=-1",
            "--set: timing.special.scoreboard = -1 is out of range; it must be 0 at least",
        ),
        ("show power9 --set scoreboard=few", "--set: `scoreboard=few`: the value is a number"),
        ("show powr9", "powr9: no machine and no experiment is called so; did you mean `power9`?"),
        (
            "show null-hypercall --set scoreboard=0",
            "--set: an experiment has no values to set; set them in its machine",
        ),
        (
            "run",
            "the following required arguments were not provided: <EXPERIMENT>; --help lists what there is",
        ),
        (
            "run null-hypercall --fast",
            "unexpected argument '--fast' found; to pass '--fast' as a value, use '-- --fast'",
        ),
        (
            "run null-hypercall --seed -1",
            "invalid value '-1' for '--seed <SEED>': it must be a whole number from 0 to 18446744073709551615, in \
             decimal digits, such as 1000; --help lists what there is",
        ),
        (
            "boot x.toml --steps 1e6",
            "invalid value '1e6' for '--steps <N>': it must be a whole number from 0 to 18446744073709551615, in \
             decimal digits, such as 1000; --help lists what there is",
        ),
        (
            "boot x.toml --gdb 0x10",
            "invalid value '0x10' for '--gdb <PORT>': it must be a whole number from 0 to 65535, in decimal digits, \
             such as 1000; --help lists what there is",
        ),
        (
            "boot x.toml --topology -1x1x1",
            "invalid value '-1x1x1' for '--topology <CHIPSxCORESxTHREADS>': `-1x1x1` is not a topology; it must be \
             chips x cores x threads, three whole numbers such as 1x2x4",
        ),
        (
            "boot --payload x --memory 1PiB",
            "invalid value '1PiB' for '--memory <SIZE>': `1PiB` is not a size; it must be a whole number of KiB, MiB, \
             GiB or TiB such as \"64 MiB\", or a number of bytes",
        ),
        (
            "new payload 3x",
            "3x: cannot name an experiment; use up to 31 letters, digits and `,._+-`, beginning with a letter",
        ),
    ] {
        assert_refused(&folder, arguments, expected);
    }
}

#[test]
fn a_file_of_the_other_kind_is_refused_with_the_command_that_takes_it() {
    let folder = Folder::new();
    let experiment = project("experiments/exit-ladder.toml");
    let text = "an experiment, and no partition file; `powervisor run` takes it";
    assert_refused(&folder, &format!("boot {experiment}"), &format!("{experiment}:1: {text}"));
    let example = project("examples/hello.toml");
    let text = "a partition file, and no experiment; `powervisor boot` takes it";
    assert_refused(&folder, &format!("run {example}"), &format!("{example}:1: {text}"));
}

#[test]
fn a_run_that_takes_too_long_is_given_up_with_its_registers() {
    let folder = Folder::new();
    // The last one is before the machine has done what one slice has.
    let all = [("--values-only", 1_000_000), ("--functional", 1_000_000), ("--values-only", 4)];
    for (mode, limit) in all {
        let line = format!("run null-hypercall --variant full-real --limit {limit} {mode}");
        let output = run(&folder, &line);
        let errors = errors(&output);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(
            errors.contains(&format!("not over after {limit} steps; --limit lets it run longer")),
            "{errors}"
        );
        assert!(errors.contains("    r0  0x") && errors.contains(" LR 0x"), "{errors}");
    }
}

#[test]
fn a_new_experiment_and_a_new_payload_run_where_they_are() {
    let folder = Folder::new();
    printed(&run(&folder, "new experiment question"));
    let mode =
        std::fs::metadata(folder.path().join("question/question.toml")).unwrap().permissions();
    std::fs::write(folder.path().join("any"), "").unwrap();
    let of_any_file = std::fs::metadata(folder.path().join("any")).unwrap().permissions();
    assert_eq!(mode, of_any_file);
    let table = printed(&run(&folder, "run question/question.toml --values-only"));
    assert!(table.starts_with("question: ") && table.contains("\nimmediate-real "), "{table}");
    printed(&run(&folder, "new payload mine"));
    let made = Command::new("make").arg("-C").arg(folder.path().join("mine")).output().unwrap();
    assert!(made.status.success() && made.stderr.is_empty(), "{}", errors(&made));
    let table = printed(&run(&folder, "run mine/mine.toml --values-only"));
    assert!(table.contains("\nsprg0 "), "{table}");
    assert_refused(&folder, "new payload mine", "mine: is there already; choose another name");
    // The same program on QEMU says the same.
    let both = printed(&run(&folder, "compare mine/mine.toml"));
    assert!(both.contains("our machine and QEMU agree"), "{both}");
}

/// In a folder below somebody's own workspace, which it does not belong to, and without settings for the host.
#[test]
fn a_new_payload_in_rust_builds_and_runs_where_it_is() {
    let folder = Folder::new();
    folder.write("Cargo.toml", "[workspace]\n");
    printed(&run(&folder, "new payload mine --language rust"));
    let mut make = Command::new("make");
    make.arg("-C").arg(folder.path().join("mine")).env("RUSTFLAGS", "--wrong");
    let made = make.output().unwrap();
    assert!(made.status.success() && made.stderr.is_empty(), "{}", errors(&made));
    let table = printed(&run(&folder, "run mine/mine.toml --values-only"));
    assert!(table.contains("\nsprg0 "), "{table}");
    let both = printed(&run(&folder, "compare mine/mine.toml"));
    assert!(both.contains("our machine and QEMU agree"), "{both}");
    for name in ["a.b", "a+b", "a,b"] {
        let refused =
            "cannot name a Rust package; use letters, digits, `_` and `-`, beginning with a letter";
        let new = format!("new payload {name} --language rust");
        assert_refused(&folder, &new, &format!("{name}: {refused}"));
    }
    let refused = "--language: an experiment has none; leave it out, or write `new payload`";
    assert_refused(&folder, "new experiment other --language rust", refused);
}

#[test]
fn without_the_python_package_one_line_says_how_to_get_it() {
    let folder = Folder::new();
    for command in ["sweep", "report"] {
        let output = folder.command(&format!("{command} x.toml")).env("PATH", "").output().unwrap();
        let errors = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        let start = format!(
            "powervisor: {command}: the Python package powervisor does this, and is not there; "
        );
        assert!(errors.starts_with(&start) && errors.contains("cargo xtask wheel"), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    }
}

/// Each of the values gives what a run with it alone gives, side by side, and JSON says which.
#[test]
fn several_values_run_side_by_side() {
    let folder = Folder::new();
    let line = "run null-hypercall --variant immediate-translated --values-only";
    let set = "--set interrupt_and_return=179,209 --set isync=50";
    let json = run(&folder, &format!("{line} --format json {set}"));
    let report: Value = serde_json::from_str(&printed(&json)).unwrap();
    assert_eq!(report["variants"].as_object().unwrap().len(), 2);
    for value in [179, 209] {
        let name = format!("immediate-translated:interrupt_and_return={value}");
        let alone =
            format!("{line} --format json --set interrupt_and_return={value} --set isync=50");
        let alone = cycles(&run(&folder, &alone), "immediate-translated");
        assert_eq!(cycles(&json, &name).to_bits(), alone.to_bits());
        let set = &report["variants"][&name]["set"];
        assert_eq!(set.as_object().unwrap().len(), 1, "{set}");
        assert_eq!(set["timing.special.interrupt_and_return"], f64::from(value));
    }
    assert_eq!(report["parameters"]["timing.special.isync"], 50.0);
    let text = printed(&run(&folder, &format!("{line} {set}")));
    let lines = text.lines().filter(|line| line.starts_with("immediate-translated:"));
    assert_eq!(lines.count(), 2, "{text}");
    folder.write("report.json", printed(&json));
    let names =
        [179, 209].map(|value| format!("immediate-translated:interrupt_and_return={value}"));
    let difference = format!("diff report.json --by cause --variants {}", names.join(" "));
    let difference = printed(&run(&folder, &difference));
    assert!(difference.contains("        +30.00 "), "{difference}");
}

#[test]
fn too_many_runs_and_what_does_not_go_with_several_values_are_refused() {
    let folder = Folder::new();
    assert_refused(
        &folder,
        "run null-hypercall --set interrupt_and_return=1,2,3,4,5 --set isync=1,2,3 --variant full-translated \
         --variant full-real --variant immediate-real --variant immediate-translated --variant eager-translated",
        "--set: 15 combinations of values of 5 variants are 75 runs, and 64 are the most; give fewer, choose with \
         --variant, or use `powervisor sweep`",
    );
    assert_refused(
        &folder,
        "run map-single --set isync=1,2",
        "--set: several values do not go with an experiment that compares its variants (`steps`, `loss_against`); give \
         one value, or use `powervisor sweep`",
    );
    assert_refused(
        &folder,
        "show power9 --set isync=1,2",
        "--set: `isync=1,2` has several values, which are for `run`; give one",
    );
}

/// A value that the region had to pay nothing of is named, and one that it had is not.
#[test]
fn a_value_that_met_no_event_cannot_change_a_region() {
    let folder = Folder::new();
    let line = "run null-hypercall --variant full-translated --values-only --format json";
    let set = "--set tlbie_broadcast=0 --set quad=3 --set reservation=0";
    let [before, after] = [line, &format!("{line} {set}")].map(|line| run(&folder, line));
    folder.write("before.json", printed(&before));
    folder.write("after.json", printed(&after));
    let text = printed(&run(&folder, "diff before.json after.json --flamegraph difference.svg"));
    let moot: Vec<&str> = text.lines().filter(|line| line.contains("events")).collect();
    let expected = [
        "timing.latency.quad is 12 before and 3 after; 0 events in the region: cannot change",
        "timing.special.tlbie_broadcast is 450 before and 0 after; 0 events in the region: cannot change",
    ];
    assert_eq!(moot, expected);
    let graph = std::fs::read_to_string(folder.path().join("difference.svg")).unwrap();
    let [before, after] = [&before, &after].map(|output| cycles(output, "full-translated"));
    assert!(before > after, "{before} {after}");
    let title = format!(
        "null-hypercall, full-translated to null-hypercall, full-translated: {before:.1} to {after:.1} cycles per hypercall"
    );
    assert!(graph.contains(&title), "{title}");
    assert!(graph.contains("rgb(") && graph.contains("<title>flush.return"));
}

/// What is missed in a region is counted as the payload's size says: one more line of a walk is one more miss.
#[test]
fn misses_are_rows_and_what_explain_prints() {
    let folder = Folder::new();
    let line = "run null-hypercall --variant immediate-translated --values-only";
    let rows = |set: &str| {
        let output = run(&folder, &format!("{line} --format json{set}"));
        let report: Value = serde_json::from_str(&printed(&output)).unwrap();
        let rows = report["rows"].as_array().unwrap().clone();
        move |metric: &str| {
            let row = rows.iter().find(|row| row["metric"] == metric).unwrap();
            row["value"].as_f64().unwrap()
        }
    };
    let usual = rows("");
    assert!(usual("l1_misses_per_hypercall") < 0.01, "everything is in the L1");
    // Translations that do not stay: each call has to look for its pages again.
    let small = rows(" --set ierat_entries=1 --set derat_entries=1");
    assert!(small("erat_misses_per_hypercall") >= 1.0);
    assert!(small("tlb_misses_per_hypercall") < 0.01, "the TLB has them");
    let text = printed(&run(&folder, &format!("{line} --explain")));
    let expected =
        "misses per hypercall\n         0  L1\n         0  L2\n         0  L3\n         0  ERAT\n";
    assert!(text.contains(expected), "{text}");
}
