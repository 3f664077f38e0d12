//! `powervisor boot --explain`: the ledger over a kernel that is not ours, by its symbols, as text, JSON and
//! files; and where a trace of it begins.
//!
//! Needs the images (`cargo xtask images`).

use std::process::Stdio;

use crate::support::{Folder, elf, errors, project};
use serde_json::Value;

/// Bare on the machine, where firmware has kernels, big-endian: calls a function three times that calls itself once,
/// passes a region, and switches off.
const KERNEL: [u32; 36] = [
    0x4800_0034, // b main
    0x7C08_02A6, // walk: mflr r0
    0xF821_FFE1, // stdu r1,-32(r1)
    0xF801_0030, // std r0,48(r1)
    0xE8A1_0000, // ld r5,0(r1)
    0x3863_FFFF, // addi r3,r3,-1
    0x2C23_0000, // cmpdi r3,0
    0x4182_0008, // beq out
    0x4BFF_FFE5, // bl walk
    0xE801_0030, // out: ld r0,48(r1)
    0x3821_0020, // addi r1,r1,32
    0x7C08_03A6, // mtlr r0
    0x4E80_0020, // blr
    0x7D3F_4B78, // main: mr r31,r9
    0x7D1D_4378, // mr r29,r8
    0x3B80_0003, // li r28,3
    0x3C20_2001, // lis r1,0x2001
    0x3860_0002, // again: li r3,2
    0x4BFF_FFBD, // bl walk
    0x3B9C_FFFF, // addi r28,r28,-1
    0x2C3C_0000, // cmpdi r28,0
    0x4082_FFF0, // bne again
    0x0800_4005, // tdi 0,r0,0x4005
    0x7C9E_4AA6, // mfspr r4,LPCR
    0x7C9E_4AA6, // mfspr r4,LPCR
    0x0800_4805, // tdi 0,r0,0x4805
    0x3800_0005, // li r0,5
    0x3860_0000, // li r3,0
    0x7FA2_EB78, // mr r2,r29
    0x7FE9_03A6, // mtctr r31
    0x4E80_0421, // bctrl
    0x3800_000A, // poll: li r0,10
    0x3860_0000, // li r3,0
    0x7FE9_03A6, // mtctr r31
    0x4E80_0421, // bctrl
    0x4BFF_FFF0, // b poll
];
const MAP: &str = "0000000020000000 T start\n0000000020000004 t walk\n0000000020000034 T main\n\
    0000000020000044 t again\n0000000020000090 D _end\n";

/// A folder with the kernel and its symbols.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("kernel", KERNEL.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>());
    folder.write("map", MAP);
    folder
}

/// Runs well; what it wrote to standard error.
#[track_caller]
fn boot(folder: &Folder, arguments: &str) -> String {
    let mut command = folder.command(&format!("boot {arguments}"));
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    errors(&output)
}

/// The line of JSON of a run.
#[track_caller]
fn json(errors: &str) -> Value {
    let line = errors.lines().find(|line| line.starts_with('{')).unwrap();
    serde_json::from_str(line).unwrap()
}

/// Cycles of a ledger, which its charges add up to.
#[track_caller]
fn cycles(report: &Value, name: &str) -> u64 {
    let ledger = &report["ledger"][name];
    let charges = ledger["charges"].as_array().unwrap();
    let sum: u64 = charges.iter().map(|charge| charge["cycles"].as_u64().unwrap()).sum();
    assert_eq!(ledger["elapsed_thread_cycles"], sum);
    sum
}

fn functions(report: &Value, name: &str) -> Vec<String> {
    let charges = report["ledger"][name]["charges"].as_array().unwrap();
    let mut names: Vec<String> =
        charges.iter().map(|charge| charge["function"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names.dedup();
    names
}

const KERNEL_AND_MAP: &str = "--kernel kernel --symbols map --timing --statistics json";

#[test]
fn a_bare_kernels_cycles_have_its_functions() {
    let folder = folder();
    let said = boot(&folder, &format!("{KERNEL_AND_MAP} --explain --out out"));
    assert!(said.contains("\nwhere the cycles went\n"), "{said}");
    assert!(said.contains("%    kernel\n") && said.contains("%      walk\n"), "{said}");
    assert!(said.contains("+0x18 bc 12,eq,0x20000024"), "instructions come from memory: {said}");
    let report = json(&said);
    let names = functions(&report, "boot");
    for name in ["again", "main", "walk"] {
        assert!(names.contains(&name.to_owned()), "{names:?}");
    }
    assert!(cycles(&report, "boot") > 100);
    let file = std::fs::read_to_string(folder.path().join("out/boot.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&file).unwrap(), report);
    let folded = std::fs::read_to_string(folder.path().join("out/boot.folded")).unwrap();
    assert!(folded.contains("kernel;walk;+0x"), "{folded}");
    assert!(folder.path().join("out/boot.svg").is_file());
    let output = folder.command("diff out/boot.json out/boot.json").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("in all, +0.00 %"), "{said}");
}

#[test]
fn stacks_have_who_called_if_asked_for() {
    let folder = folder();
    let report = json(&boot(&folder, &format!("{KERNEL_AND_MAP} --region walk --out plain")));
    let said = boot(&folder, &format!("{KERNEL_AND_MAP} --out out --callers --region walk"));
    assert_eq!(json(&said)["ledger"]["boot"], report["ledger"]["boot"], "to know changes nothing");
    let stacks = |file: &str| {
        let folded = std::fs::read_to_string(folder.path().join(file)).unwrap();
        let line = |line: &str| {
            let (stack, cycles) = line.rsplit_once(' ').unwrap();
            let stack = stack.split_once(";+").map_or(stack, |(functions, _)| functions);
            (stack.to_owned(), cycles.parse::<u64>().unwrap())
        };
        let (mut stacks, cycles): (Vec<String>, Vec<u64>) = folded.lines().map(line).unzip();
        stacks.dedup();
        (stacks, cycles.into_iter().sum::<u64>())
    };
    let (of_boot, sum) = stacks("out/boot.folded");
    let expected = [
        "firmware;again;OPAL",
        "kernel;again",
        "kernel;again;walk",
        "kernel;again;walk;walk",
        "kernel;main",
        "kernel;start",
    ];
    assert_eq!(of_boot, expected);
    assert_eq!(sum, cycles(&report, "boot"));
    let (of_region, sum) = stacks("out/walk.folded");
    assert_eq!(of_region, expected[2..4]);
    assert_eq!(sum, cycles(&json(&said), "walk"));
    let graph = std::fs::read_to_string(folder.path().join("out/walk.svg")).unwrap();
    assert!(graph.contains("<title>again ("), "{graph}");
    // Who called is not known of a machine that was timed without.
    boot(&folder, "--kernel kernel --timing --steps 30 --save saved");
    let output = folder.command("boot --resume saved --out out --callers").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    assert!(errors(&output).contains("--callers: the saved machine"), "{}", errors(&output));
}

#[test]
fn a_region_is_a_functions_calls_from_entry_to_return() {
    let folder = folder();
    let said = boot(&folder, &format!("{KERNEL_AND_MAP} --explain --region walk --out out"));
    assert!(said.contains("\nregion walk: entered 3 times, left 3 times, "), "{said}");
    assert!(said.contains("\n3 entries of a thread that was in it (recursion"), "{said}");
    let report = json(&said);
    assert_eq!(functions(&report, "walk"), ["walk"], "it calls nothing but itself");
    let region = &report["region"];
    assert_eq!(
        (&region["entered"], &region["inner"], &region["moved"]),
        (&3.into(), &3.into(), &0.into())
    );
    assert_eq!(region["cycles_sum"], cycles(&report, "walk"), "what passed is what was charged");
    assert!(cycles(&report, "walk") < cycles(&report, "boot"));
    // To look changes nothing.
    let plain = json(&boot(&folder, KERNEL_AND_MAP));
    assert_eq!(cycles(&plain, "boot"), cycles(&report, "boot"));
    assert_eq!(plain["simulated_ns"], report["simulated_ns"]);
    assert!(folder.path().join("out/walk.svg").is_file());
    // A label inside of a block of instructions is found too. This one is where LR points to.
    folder.write("inside", MAP.replace("t again", "t again\n000000002000004c t behind"));
    let inside = "--kernel kernel --symbols inside --timing --region behind --explain";
    let said = boot(&folder, inside);
    assert!(said.contains("\nregion behind: entered 3 times, left 2 times, "), "{said}");
    assert!(said.contains("\n1 were not left at the end"), "{said}");
    assert!(!said.contains("never left"), "{said}");
    // And one that never returns is no call.
    let said = boot(&folder, "--kernel kernel --symbols map --timing --region main");
    assert!(said.contains("powervisor: the region main was entered and never left, as"), "{said}");
    // Nor is one that is not called, and of two with one name both are meant.
    folder.write("other", MAP.replace("T main", "t walk").replace("D _end", "t never"));
    let other = "--kernel kernel --symbols other --timing --region";
    let said = boot(&folder, &format!("{other} never"));
    assert!(said.contains("powervisor: the region never was never entered: "), "{said}");
    assert!(!said.contains("functions are called"), "{said}");
    let said = boot(&folder, &format!("{other} walk"));
    let both = "powervisor: --region: 2 functions are called `walk`, and each of them is meant: at 0x20000004, \
        0x20000034\n";
    assert!(said.contains(both) && !said.contains("never entered"), "{said}");
}

#[test]
fn a_region_may_lie_between_marks() {
    let folder = folder();
    let said = boot(&folder, &format!("{KERNEL_AND_MAP} --region 0x4005"));
    assert!(said.contains("\nregion 0x4005: entered 1 times, left 1 times, "), "{said}");
    assert!(said.contains("; --explain says where they went\n"), "{said}");
    let report = json(&said);
    assert_eq!((&report["region"]["entered"], &report["region"]["left"]), (&1.into(), &1.into()));
    let causes = report["ledger"]["0x4005"]["charges"].as_array().unwrap();
    assert!(causes.iter().any(|charge| charge["cause"] == "spr.read"), "{causes:?}");
    assert_eq!(report["region"]["cycles_sum"], cycles(&report, "0x4005"));
}

/// A functional run to the second call, and its figures from there on.
#[test]
fn a_functional_save_is_resumed_in_timing_mode() {
    let folder = folder();
    let said = boot(&folder, "--kernel kernel --symbols map --until walk --save first");
    assert!(said.contains("powervisor: at walk after "), "{said}");
    let said = boot(
        &folder,
        "--resume first --symbols map --timing --warm-up 20 --region walk --explain --statistics json",
    );
    assert!(said.contains("the ledger leaves out 20 steps of warm-up"), "{said}");
    assert!(said.contains("%      walk\n"), "{said}");
    let report = json(&said);
    assert_eq!(report["warm_up_steps"], 20);
    // The first call begins within the warm-up.
    assert_eq!(report["region"]["left"], 2);
    assert_eq!(report["region"]["cycles_sum"], cycles(&report, "walk"));
    // A saved machine that has a ledger goes on with it.
    boot(&folder, "--kernel kernel --timing --steps 10 --save timed");
    let said = boot(&folder, "--resume timed --symbols map --explain");
    assert!(said.contains("%      walk\n"), "{said}");
}

#[test]
fn a_run_ends_where_a_function_begins_or_the_console_shows_a_text() {
    let folder = Folder::new();
    let hello = project("examples/hello.toml");
    let said = boot(&folder, &format!("{hello} --until-console hello"));
    assert!(said.contains("powervisor: at console text \"hello\" after "), "{said}");
    let said = boot(&folder, &format!("{hello} --until-console nobody-says-this"));
    assert!(said.contains("; the console did not show \"nobody-says-this\""), "{said}");
}

#[test]
fn a_partitions_program_has_symbols_too() {
    let folder = Folder::new();
    let partition = project("examples/null-hypercall.toml");
    let elf = project("target/images/null-hypercall");
    let region = "--region null-hypercall:<rt::partition::Partition>::argument";
    let said = boot(
        &folder,
        &format!("{partition} --timing --symbols null-hypercall={elf} {region} --statistics json"),
    );
    let report = json(&said);
    let owners = report["ledger"]["boot"]["charges"].as_array().unwrap();
    let has = |owner: &str, function: &str| {
        owners.iter().any(|charge| {
            charge["owner"] == owner && charge["function"].as_str().unwrap().contains(function)
        })
    };
    assert!(has("partition null-hypercall", "Partition>::argument"), "{said}");
    assert!(has("hypervisor: System Call of null-hypercall", "vector of System Call"), "{said}");
    assert_ne!(report["region"]["left"], 0);
}

#[test]
fn what_cannot_be_explained_is_said_in_one_line() {
    let folder = folder();
    folder.write("stub", "ffffffffffffffff B The real System.map is elsewhere\n");
    folder.write("empty.elf", elf(&[0x2000_0000]));
    boot(&folder, "--kernel kernel --timing --steps 10 --save timed");
    let hello = project("examples/hello.toml");
    let shared = project("examples/shared.toml");
    for (arguments, expected) in [
        ("--kernel kernel --explain", "--explain: cycles pass in timing mode only; add --timing"),
        ("--kernel kernel --region walk", "--region: cycles pass in timing mode only"),
        (
            "--kernel kernel --timing --region walk",
            "--region: no symbols are known to find `walk` by",
        ),
        (
            "--kernel kernel --symbols map --until wall",
            "--until: there is no function `wall`; did you mean `walk`?",
        ),
        ("--kernel kernel --symbols stub", "stub: line 1 is not `ADDRESS TYPE NAME`; give"),
        ("--kernel kernel --symbols nothing", "nothing: cannot be read"),
        (
            "--kernel kernel --symbols linux=map",
            "--symbols: a bare kernel has no partition `linux`; leave it out: `--symbols map`",
        ),
        (
            "--kernel kernel --symbols empty.elf",
            "empty.elf: an ELF file without a symbol table; give",
        ),
        ("--kernel kernel --timing --out map", "map: cannot be made"),
        ("--kernel kernel --statistics", "--statistics: a bare kernel has no partitions"),
        ("--resume timed --timing", "--timing: the saved machine is in timing mode"),
        (
            &format!("{hello} --symbols other=map"),
            "--symbols: there is no partition `other`; name one of hello",
        ),
        (&format!("{shared} --symbols map"), "--symbols: says no partition; write PARTITION=FILE"),
        (&format!("{hello} --on qemu --explain"), "--explain: works on our machine only"),
    ] {
        let output =
            folder.command(&format!("boot {arguments}")).stdin(Stdio::null()).output().unwrap();
        let said = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
        assert!(said.contains(expected) && said.lines().count() == 1, "{arguments}: {said}");
    }
}

#[test]
fn a_payload_brings_its_symbols() {
    let folder = Folder::new();
    let payload = project("target/images/hello");
    let line = format!("--payload {payload} --timing --region payload:rt_main");
    let said = boot(&folder, &line);
    assert!(said.contains("region payload:rt_main: entered 1 times"), "{said}");
}

#[test]
fn a_trace_begins_where_it_is_asked_for() {
    let folder = folder();
    let traced = |options: &str| {
        let line = "--kernel kernel --symbols map --trace instructions --trace-file trace";
        let said = boot(&folder, format!("{line} {options}").trim());
        (std::fs::read_to_string(folder.path().join("trace")).unwrap(), said)
    };
    let (whole, _) = traced("");
    for (from, first) in [("0x4005", "7c9e4aa6"), ("walk", "7c0802a6")] {
        let (part, said) = traced(&format!("--trace-from {from}"));
        assert!(!said.contains("not reached"), "{said}");
        assert!(part.lines().next().unwrap().contains(first), "{part}");
        assert!(whole.len() > part.len() && whole.ends_with(&part), "{part}");
    }
    let (part, said) = traced("--trace-from walk --until 0x4005");
    assert!(said.contains("at mark 0x4005 "), "{said}");
    assert!(!part.is_empty() && whole.contains(&part), "{part}");
    let (part, said) = traced("--trace-from 0x4100");
    assert_eq!(part, "");
    assert!(said.contains("; mark 0x4100 was not reached, and the trace is empty"), "{said}");
    let (part, said) = traced("--trace-from 0x4100 --until walk");
    assert_eq!(part, "");
    assert!(said.contains("at walk "), "{said}");
    let mut command = folder.command("boot --kernel kernel --trace-from 0x4005");
    assert_eq!(command.output().unwrap().status.code(), Some(2), "there is no trace");
}

/// Bare on the machine, big-endian: begins region 6, passes region 5, prints `ok`, and switches off.
const RIVAL: [u32; 31] = [
    0x7D3F_4B78, // mr r31,r9
    0x7D1D_4378, // mr r29,r8
    0x0800_4006, // tdi 0,r0,0x4006
    0x7C9E_4AA6, // mfspr r4,LPCR
    0x0800_4005, // tdi 0,r0,0x4005
    0x7C9E_4AA6, // mfspr r4,LPCR
    0x7C9E_4AA6, // mfspr r4,LPCR
    0x0800_4805, // tdi 0,r0,0x4805
    0x3800_0001, // li r0,1: OPAL_CONSOLE_WRITE
    0x3860_0000, // li r3,0
    0x3C80_2000, // lis r4,0x2000
    0x6084_0070, // ori r4,r4,0x70
    0x3CA0_2000, // lis r5,0x2000
    0x60A5_0078, // ori r5,r5,0x78
    0x7FA2_EB78, // mr r2,r29
    0x7FE9_03A6, // mtctr r31
    0x4E80_0421, // bctrl
    0x3800_0005, // li r0,5
    0x3860_0000, // li r3,0
    0x7FA2_EB78, // mr r2,r29
    0x7FE9_03A6, // mtctr r31
    0x4E80_0421, // bctrl
    0x3800_000A, // poll: li r0,10
    0x3860_0000, // li r3,0
    0x7FA2_EB78, // mr r2,r29
    0x7FE9_03A6, // mtctr r31
    0x4E80_0421, // bctrl
    0x4BFF_FFEC, // b poll
    0x0000_0000, // three bytes
    0x0000_0003,
    0x6F6B_0A00, // "ok\n"
];

/// Three partitions on two cores, in slices of less than four jobs: the vCPU goes to the other core during one.
/// The others mark jobs of their own.
#[test]
fn a_job_is_counted_wherever_its_vcpu_runs() {
    let folder = Folder::new();
    let partner = |name: &str| {
        let expect = "memory-load: chain of 16 KiB, done";
        format!(
            "{{ name = '{name}', arguments = 'set=16 period=40 periods=8 for_us=2000', expect = '{expect}' }}"
        )
    };
    let experiment = format!(
        "name = 'e'\nquestion = '?'\nmachine = 'power8'\npayload = 'memory-load'\nmemory = '16 MiB'\n\
        region = {{ name = 'jobs', number = 1 }}\nper = 'job'\n[[variant]]\nname = 'alone'\n\
        arguments = 'set=16 job=20000 warm=1 period=10 periods=1 samples=10'\n\
        expect = 'memory-load: chain of 16 KiB, done'\n[[variant]]\nname = 'moving'\nlike = 'alone'\nslice_us = 100\n\
        set = ['topology.cores_per_chip=2']\npartner = [{}, {}]\n",
        partner("one"),
        partner("other")
    );
    folder.write("e.toml", experiment);
    let output = folder.command("run e.toml --values-only --format json").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["variants"]["moving"]["divisor"], 10);
    let [alone, moving] = ["alone", "moving"].map(|variant| cycles(&report, variant));
    // Lines that are on another core are fetched from there, and the hypervisor works for it: less than a half.
    assert!(alone < moving && 2 * moving < 3 * alone, "{alone} {moving}");
}

/// What a partition does before the region of `warm_up` is not timed, and the same in both.
#[test]
fn a_partition_is_timed_from_a_region_on() {
    let folder = Folder::new();
    let experiment = "name = 'e'\nquestion = '?'\nmachine = 'power9'\npayload = 'random-access'\nmemory = '64 MiB'\n\
        region = { name = 'r', number = 1 }\nper = 'update'\ndivisor = 128\n[[variant]]\nname = 'late'\n\
        arguments = 'table=1 warm=128 updates=128'\ntranslation = 'hash'\nwarm_up = 3\n\
        expect = 'random-access: 256 pages touched, 0 made read-only, 0 promotions, 0 demotions, 0 failed attempts'\n";
    let cycles_with = |text: &str| {
        folder.write("e.toml", text);
        let output = folder.command("run e.toml --values-only --format json").output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        cycles(&report, "late")
    };
    let late = cycles_with(experiment);
    let from_the_start = cycles_with(&experiment.replace("warm_up = 3\n", ""));
    // The caches of the first stores are cold then, so that updates cost more.
    assert!(from_the_start > 10 && late > from_the_start, "{late} {from_the_start}");
}

#[test]
fn an_experiment_runs_a_kernel_beside_a_partition() {
    let folder = Folder::new();
    folder.write("kernel", RIVAL.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>());
    folder.write("map", "0000000020000000 T start\n");
    let experiment = "name = 'e'\nquestion = '?'\nmachine = 'power9'\npayload = 'null-hypercall'\nmemory = '64 MiB'\n\
        region = { name = 'r', number = 5 }\nper = 'read'\ndivisor = 2\n[[variant]]\nname = 'bare'\n\
        kernel = { image = './kernel', symbols = './map' }\nwarm_up = 6\narguments = ''\nexpect = 'ok'\n";
    folder.write("e.toml", experiment);
    let output = folder.command("run e.toml --format json").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(cycles(&report, "bare") > 10);
    assert_eq!(functions(&report, "bare"), ["start"]);
    let charges = report["ledger"]["bare"]["charges"].as_array().unwrap();
    assert!(charges.iter().all(|charge| charge["owner"] == "kernel"), "{charges:?}");
    for (from, to, code, expected) in [
        ("warm_up = 6", "warm_up = 7", 1, "nobody ever began region 7"),
        (
            "'read'\ndivisor = 2",
            "'job'",
            2,
            "e.toml:7: a job is a partition's, and a kernel has none; divide by something else",
        ),
        ("'ok'", "'well'", 1, "the console lacks the line `well`\nThe console:\nok"),
        ("./kernel", "./kernal", 2, "cannot be read"),
        ("'./kernel'", "'kernel'", 2, "or with `cargo xtask linux --kvm` in the repository"),
        (
            "warm_up = 6",
            "warm_up = 2048",
            2,
            "e.toml:12: no such region; the number must be at most",
        ),
        (
            "expect =",
            "vcpus = 2\nexpect =",
            2,
            "`bare` has a kernel, and `vcpus` is of partitions; leave one of them out",
        ),
    ] {
        folder.write("e.toml", experiment.replace(from, to));
        let output = folder.command("run e.toml").output().unwrap();
        let said = errors(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(expected), "{said}");
    }
}
