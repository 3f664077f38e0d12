//! Disks of partitions: a payload that checks every byte drives them, whatever else happens.

use std::fs;

use lab::interruption::Interruption;
use lab::on_simulator;
use lab::system::{Exit, System};
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

/// vCPUs that outnumber the hardware threads move blocks in short slices, so that they are taken from the
/// processor in the middle, and go on elsewhere.
#[test]
fn every_byte_is_right_when_vcpus_are_preempted_and_move() {
    let disk = "{ size = \"1 MiB\", writable = true }";
    let arguments = |seed| format!("rounds=40 seed={seed} interrupts=on bad=on");
    for topology in [[1, 1, 1], [1, 1, 4], [1, 2, 2]] {
        let partitions = [
            partition("first", 5, &arguments(1), disk),
            partition("second", 2, &arguments(2), disk),
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
