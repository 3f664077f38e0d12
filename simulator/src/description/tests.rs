//! What descriptions are refused, and how.

use super::{Description, POWER8, POWER9};
use crate::quantity::Bound;

fn with(from: &str, to: &str) -> String {
    assert!(POWER9.contains(from), "the description has {from:?}");
    Description::from_toml(&POWER9.replace(from, to)).unwrap_err().to_string()
}

#[test]
fn the_description_in_the_tree_is_right() {
    let description = Description::from_toml(POWER9).unwrap();
    assert_eq!(description.name(), "power9");
    assert_eq!(description.memory_bytes(), 2 << 30);
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let message = with("chips = 1", "chipz = 1");
    assert!(message.starts_with("line 8: ") && message.contains("chipz"), "{message}");
    assert!(with("unit = \"Hz\"", "unit = \"MHz\"").contains("its unit is \"Hz\""));
    assert!(with("bytes = 0x8000_0000", "bytes = 0x800_0000").contains("1 GiB"));
    assert!(with("bytes = 0x8000_0000", "bytes = 0x8000_0001").contains("multiples"));
    for threads in [0, 3, 9] {
        let message = with("threads_per_core = 1", &format!("threads_per_core = {threads}"));
        assert!(message.contains(&format!("threads_per_core = {threads} is not what a core")));
        assert!(message.contains("POWER9 has; it must be one of 1, 2, 4"), "{message}");
    }
    assert!(with("\"published\"", "\"hearsay\"").contains("hearsay"));
    assert!(with("boot_thread = 0", "boot_thread = 1").contains("below the number of threads, 1"));
    assert!(with("POWER9\"", "POWER7\"").contains("\"POWER7\" is not modelled; "));
    assert!(with("POWER9\"", "POWER8\"").contains("POWER8 has no stop"));
    assert!(
        with("month = 1", "month = 13")
            .contains("date.month = 13 is out of range; it must be 1 to 12")
    );
    assert!(with("psscr = 0x330", "psscr = 0x334").contains("level 4"));
    assert!(with("\"HDEC\"", "\"HDECK\"").contains("no register HDECK"));
    assert!(with("\"HDEC\"", "\"LPCR\"").contains("LPCR is kept and reset"));
    assert!(with("\"HDEC\"", "\"MSR\"").contains("no register MSR"));
    assert!(with("enabled_levels = [0", "enabled_levels = [16, 0").contains("0 to 15"));
    assert!(with("core_from = { value = 2", "core_from = { value = 5").contains("not below it"));
    assert!(with("core_from = { value = 2", "core_from = { value = 0").contains("not below it"));
    assert!(with("unit = \"level\"", "unit = \"levels\"").contains("not in \"level\""));
    assert!(with("psscr = 0x30_0332", "psscr = 0x20_0332").contains("set both"));
    assert!(with("node = 0", "node = 1").contains("there are 1 from 0"));
    assert!(with("l1d_ways = { value = 8", "l1d_ways = { value = 3").contains("l1d_bytes"));
    assert!(with("l3_latency = { value = 35.5", "l3_latency = { value = 5").contains("ascend"));
    let twice = "firmware.features: \"tm-suspend-mode\" is there twice";
    assert!(with("\"fw-l1d-thread-split\"", "\"tm-suspend-mode\"").contains(twice));
    assert!(with("\"fw-l1d-thread-split\"", "\"a/b\"").contains("cannot name a node"));
    assert!(with("[timing.memory]", "[timing.memories]").contains("memories"));
}

#[test]
fn a_value_of_the_timing_model_moves_with_a_line_in_the_lock() {
    let lock = include_str!("../../../machines/parameters.lock");
    for (machine, text) in [("power8 ", POWER8), ("power9 ", POWER9)] {
        let line = lock.lines().rfind(|line| line.starts_with(machine)).unwrap();
        let [_, checksum, source] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            panic!("parameters.lock: {line:?} does not say who moved what");
        };
        assert!(source.len() > 20, "parameters.lock: say what moved, and which source moved it");
        let now = Description::from_toml(text).unwrap().timing().unwrap().checksum();
        assert_eq!(
            checksum, now,
            "a value of [timing] moved; add a line to machines/parameters.lock"
        );
    }
    let now = Description::from_toml(POWER9).unwrap().timing().unwrap().checksum();
    let moved = POWER9.replacen("l1_latency = { value = 4", "l1_latency = { value = 5", 1);
    assert_ne!(now, Description::from_toml(&moved).unwrap().timing().unwrap().checksum());
    let retold = POWER9.replacen("about 4 measured", "4 measured, about", 1);
    assert_ne!(retold, POWER9);
    assert_eq!(now, Description::from_toml(&retold).unwrap().timing().unwrap().checksum());
}

#[test]
fn the_hash_differs_when_a_value_does() {
    let mut description = Description::from_toml(POWER9).unwrap();
    let before = description.config_hash();
    description.set_memory_bytes(4 << 30).unwrap();
    assert_ne!(before, description.config_hash());
    assert!(description.set_memory_bytes(0).is_err());
}

#[test]
fn a_power8_has_no_stop_and_a_power9_no_groups() {
    let description = Description::from_toml(POWER8).unwrap();
    assert_eq!((description.name(), description.processor().name()), ("power8", "POWER8"));
    let parameters = description.timing().unwrap().core_at(Bound::Value);
    assert_eq!((parameters.has_groups(), parameters.core.window), (true, 28 * 8));
    let with = |from: &str, to: &str| {
        assert!(POWER8.contains(from), "the description has {from:?}");
        Description::from_toml(&POWER8.replace(from, to)).unwrap_err().to_string()
    };
    assert!(with("POWER8\"", "POWER9\"").contains("POWER9 has no nap"));
    assert!(
        with("threads_per_core = 1", "threads_per_core = 9")
            .contains("it must be one of 1, 2, 4, 8")
    );
    assert!(with("level = 1", "level = 2").contains("level 1 (nap) alone"));
    for text in [POWER8, POWER9] {
        let untimed = &text[..text.find("[timing.core]").unwrap()];
        let message = Description::from_toml(untimed).unwrap_err().to_string();
        assert!(message.contains("missing field `timing`"), "{message}");
    }
    // What the one has and the other has not.
    assert!(with("[timing.latency]", "slices = 4\n[timing.latency]").contains("unknown field"));
    let line = |text: &'static str, key: &str| {
        text.lines().find(|line| line.starts_with(&format!("{key} = "))).unwrap()
    };
    let slices = format!("{}\n\n# Groups", line(POWER9, "slices"));
    let expected = "timing.core.slices is about what POWER8 does not have; leave it out";
    assert!(with("\n# Groups", &slices).contains(expected));
    let stack = line(POWER8, "l4_ways");
    assert!(with(stack, "").contains("timing.memory.l4_ways is missing; POWER8 needs it"));
    let groups = POWER8.find("[timing.groups]").unwrap()..POWER8.find("[timing.latency]").unwrap();
    let groups = format!("{}[timing.latency]", &POWER8[groups]);
    let text = POWER9.replace("[timing.latency]", &groups);
    let message = Description::from_toml(&text).unwrap_err().to_string();
    let expected = "timing.groups is about what POWER9 does not have; leave it out";
    assert!(message.contains(expected), "{message}");
    assert!(with("l4_bytes = { value = 67_108_864", "l4_bytes = { value = 100").contains("sets"));
    assert!(
        with("l4_latency = { value = 55", "l4_latency = { value = 91").contains("above latency")
    );
    assert!(with("in_flight = { value = 28", "in_flight = { value = 0").contains("8 to 256"));
}
