//! Disks of partitions: a payload that checks every byte drives them, whatever else happens.

use std::fs;

use lab::interruption::Interruption;
use lab::on_simulator;
use lab::system::{Exit, System};
use simulator::{NoObserver, RunState};
use system_tests::containment::on_threads;
use system_tests::system_of;

/// What the system showed until it was switched off.
#[track_caller]
fn run(name: &str, system: &System) -> String {
    let timeout = std::time::Duration::from_secs(300);
    let shown = on_simulator::transcript(system, timeout, Interruption::NEVER)
        .unwrap_or_else(|failure| panic!("{name}: {failure}"));
    let console = String::from_utf8_lossy(&shown.console).into_owned();
    assert_eq!(shown.exit, Exit::PoweredOff, "{name}\n{console}");
    console
}

fn partition(name: &str, vcpus: u32, arguments: &str, disks: &str) -> String {
    format!(
        "[[partition]]\nname = \"{name}\"\npayload = \"disk\"\nmemory = \"16 MiB\"\nvcpus = {vcpus}\n\
         arguments = \"{arguments}\"\ndisks = [{disks}]\n"
    )
}

/// Two partitions with these disks, whose vCPUs outnumber the hardware threads: they move blocks in short slices, so
/// that they are taken from the processor in the middle, and go on elsewhere. They send each adapter what is wrong.
fn check_preempted(disks: [&str; 2]) {
    let arguments = |seed| format!("rounds=40 seed={seed} interrupts=on bad=on");
    for topology in [[1, 1, 1], [1, 1, 4], [1, 2, 2]] {
        let partitions = [
            partition("first", 5, &arguments(1), disks[0]),
            partition("second", 2, &arguments(2), disks[1]),
        ];
        let text = format!("slice_us = 20\n{}", partitions.concat());
        let console = run(&format!("{topology:?}"), &on_threads(system_of(&text), topology));
        for (name, vcpus) in [("first", 5), ("second", 2)] {
            let line = |end: &str| {
                let begin = format!("[{name}] disk: {vcpus} vCPUs, ");
                console.lines().any(|line| line.starts_with(&begin) && line.ends_with(end))
            };
            assert!(line(" KiB written, 0 words wrong"), "{topology:?}\n{console}");
        }
        assert_eq!(console.matches("disk: it interrupted").count(), 2, "{topology:?}\n{console}");
    }
}

#[test]
fn every_byte_is_right_when_vcpus_are_preempted_and_move() {
    check_preempted(["{ size = \"1 MiB\", writable = true }"; 2]);
}

/// Fewer adapters than vCPUs, and more.
#[test]
fn every_byte_is_right_behind_each_of_several_adapters() {
    let disk = |adapter| format!("{{ size = \"512 KiB\", writable = true, adapter = {adapter} }}");
    let [two, three] =
        [2, 3].map(|adapters| (0..adapters).map(disk).collect::<Vec<_>>().join(", "));
    check_preempted([&two, &three]);
}

/// A partition is ended by its time limit while its vCPUs read from two adapters, and the other one goes on.
#[test]
fn a_partition_ends_with_commands_of_two_adapters_under_way() {
    let disks = "{ size = \"1 MiB\" }, { size = \"1 MiB\", adapter = 1 }";
    let ends = partition("ends", 4, "measure=65536 depth=4 rounds=100000", disks)
        + "time_limit_us = 3000\n";
    let goes_on =
        partition("goes-on", 2, "rounds=60", &disks.replace("1 MiB\"", "1 MiB\", writable = true"));
    let text = format!("slice_us = 20\n{ends}{goes_on}");
    let console = run("ends", &on_threads(system_of(&text), [1, 2, 2]));
    assert!(console.contains("partition ends: stopped: it used up its time limit"), "{console}");
    assert!(!console.contains("[ends] disk:"), "{console}");
    let is_right = |line: &str| {
        line.starts_with("[goes-on] disk: 2 vCPUs") && line.ends_with(" 0 words wrong")
    };
    assert!(console.lines().any(is_right), "{console}");
}

/// A word of the pattern that the payload expects of `pattern=1`: SplitMix64 by place.
fn word(place: u64) -> u64 {
    let mixed = ((place ^ 1 << 20) << 32).wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

/// Two partitions read one image, which is in the bundle once; one of them has a copy to write to.
#[test]
fn an_image_is_read_by_several_and_written_by_none_but_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("image");
    let mut bytes: Vec<u8> = (0..8192).flat_map(|place| word(place).to_le_bytes()).collect();
    let image = image.to_str().unwrap();
    let system = |bytes: &[u8]| {
        fs::write(image, bytes).unwrap();
        let only = format!("{{ image = \"{image}\" }}");
        let own = format!("{{ image = \"{image}\", writable = true }}");
        let partitions = [
            partition("one", 1, "rounds=30 pattern=1 bad=on", &only),
            partition("two", 2, "rounds=30 pattern=1", &only),
            partition("three", 1, "rounds=30 pattern=1", &own),
        ];
        system_of(&partitions.concat())
    };
    let whole = system(&bytes);
    let console = run("image", &whole);
    assert_eq!(console.matches(" words wrong").count(), 3, "{console}");
    assert_eq!(console.matches(" KiB written, 0 words wrong").count(), 3, "{console}");
    assert_eq!(console.matches(", 0 KiB written").count(), 2, "{console}");
    // The disk is in the bundle twice, and not three times.
    let bundle = whole.initrd.unwrap();
    assert_eq!(bundle.chunks(0x1_0000).filter(|piece| *piece == bytes).count(), 2);
    // And the check can fail; the third may write over it first.
    bytes[0x1234] ^= 1;
    let console = run("changed image", &system(&bytes));
    let is_wrong =
        |line: &&str| line.contains(", 0 KiB written, ") && !line.ends_with(", 0 words wrong");
    assert_eq!(console.lines().filter(is_wrong).count(), 2, "{console}");
}

/// Several vCPUs keep many commands under way, on fewer hardware threads than they are, and take one another's answers.
/// The payload checks each answer by its tag, and what it read and wrote.
#[test]
fn many_commands_are_under_way_and_each_is_answered_once() {
    let disk = "{ size = \"4 MiB\", writable = true }";
    for (vcpus, topology) in [(1, [1, 1, 1]), (3, [1, 1, 2]), (4, [1, 4, 1])] {
        for (arguments, bytes) in [
            ("measure=4096 depth=32 rounds=50", 4096),
            ("measure=4096 depth=5 rounds=50 write=on work=20", 4096),
            ("measure=65536 depth=3 rounds=10 write=on order=sequential", 65536),
        ] {
            let text = format!("slice_us = 20\n{}", partition("one", vcpus, arguments, disk));
            let console = run(arguments, &on_threads(system_of(&text), topology));
            let rounds = if bytes == 4096 { 50 } else { 10 };
            let requests = rounds * vcpus;
            let line = format!("disk: {requests} requests of {bytes} bytes, {vcpus} vCPUs");
            assert!(console.contains(&line), "{arguments}, {topology:?}\n{console}");
        }
    }
}

/// vCPUs that share a hardware thread end later than one that has its own, whose further commands hold up no answer of
/// theirs: many commands under way take no longer than one at a time.
#[test]
fn who_has_done_holds_up_nobody_who_has_not() {
    let took = |depth| {
        let disk = "{ size = \"4 MiB\" }";
        let arguments = format!("measure=4096 depth={depth} rounds=8 work=16000");
        let text = format!("slice_us = 300\n{}", partition("one", 3, &arguments, disk));
        let system = on_threads(system_of(&text), [1, 2, 1]);
        let mut machine =
            on_simulator::start(&system).unwrap_or_else(|failure| panic!("{failure}"));
        let state = machine.run(u64::MAX, &mut NoObserver);
        assert!(matches!(state, RunState::PoweredOff), "{arguments}");
        let console = machine.take_console_output();
        let console = String::from_utf8_lossy(&console);
        assert!(console.contains("disk: 24 requests of 4096 bytes, 3 vCPUs"), "{console}");
        machine.simulated_seconds()
    };
    let [one, many] = [1, 32].map(took);
    assert!(many < 1.1 * one, "{many} s with 32, {one} s with one");
}

#[test]
fn a_payload_refuses_what_its_arguments_cannot_mean() {
    for (arguments, says) in [
        ("measure=4096 depth=0", "depth=0: 1 to 32 are allowed"),
        ("measure=4096 depth=33", "depth=33: 1 to 32 are allowed"),
        ("measure=4096 depth=many", "depth=many: a number is wanted"),
        ("measure=4096 work=-1", "work=-1: a number is wanted"),
        ("measure=4000", "measure=4000: whole blocks of 512 bytes, up to 65536 bytes"),
        ("depth=2", "depth goes with measure"),
        ("work=2", "work goes with measure"),
        ("measure=65536 depth=32 rounds=1", "2097152 bytes of buffers do not fit"),
    ] {
        let text = partition("one", 1, arguments, "{ size = \"1 MiB\", writable = true }");
        let text = match says.contains("fit") {
            true => text.replace("16 MiB", "5 MiB"),
            false => text,
        };
        let console = run(arguments, &system_of(&text));
        assert!(console.contains(says), "{arguments}\n{console}");
        assert!(!console.contains(" requests of "), "{arguments}\n{console}");
    }
}
