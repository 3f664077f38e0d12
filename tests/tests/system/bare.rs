//! Payloads that are kernels of their own under OPAL, and write their hashed page table themselves: what they find in
//! their memory is right, and the same on QEMU, whose translation shares nothing with ours; and the machine looks at
//! each entry that they store, whether some address has pages of two sizes then.

use std::time::Duration;

use lab::comparison::Transcript;
use lab::interruption::Interruption;
use lab::size::Size;
use lab::system::{Exit, System};
use lab::{on_qemu, on_simulator};
use simulator::oracle::page_sizes::PageSizes;
use system_tests::containment::on_power8;
use system_tests::{is_nightly, systems};

/// Generous: a run takes about two seconds.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Short runs: a process that fills a block of its heap; a table in which single pages change; a table with a tree;
/// processes with more data than memory.
const CHURN: (&str, &str) = ("churn-bare", "processes=1 calls=128 passes=1 spins=100 memory=128");
const RANDOM_ACCESS: (&str, &str) =
    ("random-access-bare", "table=16 updates=4096 flips=20 memory=48");
/// The same with pages that are wired, and others that are said to be clean.
const WIRED: (&str, &str) =
    ("random-access-bare", "table=16 updates=4096 flips=20 laundry=50 wired=4096 memory=48");
/// The same where entries have to make room for others.
const CROWDED: (&str, &str) = (
    "random-access-bare",
    "table=64 updates=4096 flips=20 laundry=50 wired=16 memory=96 page_table_kib=256",
);
const DATABASE: (&str, &str) =
    ("database-bare", "table=16 queries=1024 updates=50 flush=1 memory=64");
/// Processes of the first on four threads, four at a time.
const CHURN_THREADS: (&str, &str) =
    ("churn-threads-bare", "threads=4 processes=1 calls=128 passes=1 spins=100 memory=256");
const PRESSURE: (&str, &str) = ("pressure-bare", "rounds=16 passes=1 disk=5 memory=160");

/// A kernel in one of its ways, with other arguments than its experiment has.
fn kernel((experiment, arguments): (&str, &str), way: &str) -> System {
    let file = format!("experiments/{experiment}.toml");
    let of_way = |(name, _): &(String, System)| name.ends_with(&format!(", {way}"));
    let (_, mut system) = systems(&file).into_iter().find(of_way).expect("a variant");
    system.arguments = format!("superpages={way} {arguments}");
    system
}

/// Runs a kernel on our machine: what the console says, the end, and what the machine says of pages of two sizes.
fn watched(system: &System) -> (Transcript, Vec<String>) {
    let mut machine = on_simulator::start(system).unwrap_or_else(|failure| panic!("{failure}"));
    let mut sizes = PageSizes::default();
    let mut console = Vec::new();
    let exit = on_simulator::run(&mut machine, &mut sizes, |machine| {
        console.extend(machine.take_console_output());
        Ok(())
    });
    let exit = exit.unwrap_or_else(|failure| panic!("{failure}"));
    let findings = sizes.findings().iter().map(ToString::to_string).collect();
    (Transcript { console, exit }, findings)
}

/// What the kernel says on our machine, where no address has two sizes.
fn said_on_ours(system: &System) -> Vec<String> {
    let (transcript, findings) = watched(system);
    assert_eq!(findings, [""; 0], "{}", system.arguments);
    said(system, &transcript)
}

fn said_on_qemu(system: &System) -> Vec<String> {
    let transcript = on_qemu::transcript(system, TIMEOUT, Interruption::NEVER);
    said(system, &transcript.unwrap_or_else(|failure| panic!("{failure}")))
}

/// The lines of the kernel, without firmware's.
fn said(system: &System, Transcript { console, exit }: &Transcript) -> Vec<String> {
    let console = String::from_utf8_lossy(console);
    assert_eq!(*exit, Exit::PoweredOff, "{}: {console}", system.arguments);
    let lines = console.lines().map(str::trim_end);
    let is_own = |line: &&str| {
        ["churn: ", "random-access: ", "database: ", "pressure: "]
            .iter()
            .any(|own| line.starts_with(own))
    };
    lines.filter(is_own).map(str::to_owned).collect()
}

/// The kernel says why it ends at once, and switches the machine off.
fn assert_complains(system: &System, reason: &str) {
    let (Transcript { console, exit }, _) = watched(system);
    assert_eq!(exit, Exit::PoweredOff, "{}", system.arguments);
    let console = String::from_utf8_lossy(&console);
    assert!(console.contains(reason), "{}: {console}", system.arguments);
}

/// In each way on one of the processors, and but for one way on QEMU; in the nightly run all on both.
#[test]
fn a_kernel_with_a_page_table_of_its_own_finds_the_same_on_both_machines() {
    const RIGHT: [&str; 5] = [
        ", 8 copies, 0 wrong",
        ", 4 processes, 32 copies, 0 wrong",
        ", 0 wrong at the end",
        " updates, 0 wrong",
        " rounds, 0 wrong",
    ];
    let ways = [
        (CHURN, "off", "0 promotions, 0 whole blocks, 0 demotions"),
        (CHURN, "faithful", "1 promotions, 2 whole blocks, 0 demotions"),
        (CHURN, "ours", "1 promotions, 2 whole blocks, 0 demotions"),
        (CHURN_THREADS, "ours", "4 promotions, 8 whole blocks, 0 demotions"),
        (RANDOM_ACCESS, "faithful", " made read-only, 1 promotions, 1 demotions"),
        (RANDOM_ACCESS, "ours", " made read-only, 6 promotions, 5 demotions"),
        (WIRED, "ours", ": 4096 pages wired, 0 missed, 50 laundered, 0 wrong"),
        (CROWDED, "off", ": entries made room for others"),
        (DATABASE, "faithful", " pages touched, 1 promotions, 0 demotions"),
        (DATABASE, "ours", " pages touched, 1 promotions, 0 demotions"),
        (PRESSURE, "ours", "4 promotions, 2 demotions"),
    ];
    let more = [
        (CHURN_THREADS, "faithful", "4 promotions, 8 whole blocks, 0 demotions"),
        (WIRED, "faithful", ": 4096 pages wired, 0 missed, 50 laundered, 0 wrong"),
        (CROWDED, "faithful", ": 16 pages wired, 0 missed, 50 laundered, 0 wrong"),
    ];
    let ways = ways.iter().chain(more.iter().take(if is_nightly() { more.len() } else { 0 }));
    for (index, (payload, way, counts)) in ways.copied().enumerate() {
        let power9 = kernel(payload, way);
        let mut power8 = on_power8(power9.clone());
        if payload == CHURN_THREADS {
            power8.machine = power8.machine.with_topology([1, 2, 2], "topology");
        }
        for (turn, system) in [power9, power8].into_iter().enumerate() {
            if index % 2 != turn && !is_nightly() {
                continue;
            }
            let ours = said_on_ours(&system);
            let all = ours.join("\n");
            let is_right = |line: &String| RIGHT.iter().any(|right| line.ends_with(right));
            assert!(ours.iter().any(is_right), "{way}: {all}");
            assert!(ours[1..].iter().any(|line| line.contains(counts)), "{way}: {all}");
            if way != "off" || is_nightly() {
                assert_eq!(said_on_qemu(&system), ours, "{way}");
            }
        }
    }
}

/// A table that is mapped beforehand, in pages of each size, and updated by several threads at a time.
#[test]
fn threads_update_a_table_that_is_mapped_beforehand_on_both_machines() {
    let file = "experiments/random-access-pages.toml";
    for (pages, is_power8) in [(4, false), (64, true), (16384, false), (16384, true)] {
        let (_, mut system) = systems(file).into_iter().next().expect("a variant");
        if is_power8 {
            system = on_power8(system);
            let machine = system.machine.with_topology([1, 1, 4], "topology");
            system.machine = machine.with_memory(Size(4 << 30), "memory");
        }
        system.arguments = format!("pages={pages} table=32 threads=4 updates=4096 page_table=32");
        let expected = format!(
            "random-access: 32 MiB in pages of {pages} KiB, 4096 updates by 4 threads, at most 1 % wrong"
        );
        assert_eq!(said_on_ours(&system)[0], expected);
        assert_eq!(said_on_qemu(&system)[0], expected);
    }
}

/// One thread makes blocks large and small while others, of its core and of another one, read pages in them: no core
/// keeps a translation of another size, though on POWER8 a thread that alone uses a block tells nobody else.
#[test]
fn a_block_changes_its_size_while_other_threads_read_it() {
    let runs: &[([u32; 3], bool, &str)] = &[
        ([1, 2, 1], true, "ours"),
        ([1, 1, 2], true, "ours"),
        ([1, 2, 2], false, "ours"),
        ([1, 1, 4], true, "ours"),
        ([2, 1, 2], true, "ours"),
        ([1, 2, 2], true, "faithful"),
    ];
    for (topology, is_power8, way) in &runs[..if is_nightly() { runs.len() } else { 2 }] {
        let readers = topology.iter().product::<u32>() - 1;
        let arguments = format!("table=16 updates=128 flips=2 readers={readers} memory=56");
        let mut system = kernel((RANDOM_ACCESS.0, &arguments), way);
        if *is_power8 {
            system = on_power8(system);
        }
        system.machine = system.machine.with_topology(*topology, "topology");
        let right = format!("random-access: {readers} readers read words, 0 wrong, ");
        for said in [said_on_ours(&system), said_on_qemu(&system)] {
            let all = said.join("\n");
            assert!(said.iter().any(|line| line.starts_with(&right)), "{topology:?}: {all}");
            assert!(all.contains(" 128 words, 0 wrong at the end"), "{topology:?}: {all}");
        }
    }
}

/// While one thread makes a block large, others read other memory.
#[test]
fn others_may_run_beside_a_promotion() {
    for topology in [[1, 1, 4], [1, 2, 2]] {
        let arguments = "table=16 updates=128 timed=all beside=3 memory=56";
        let mut system = on_power8(kernel((RANDOM_ACCESS.0, arguments), "ours"));
        system.machine = system.machine.with_topology(topology, "topology");
        let said = said_on_ours(&system).join("\n");
        assert!(said.contains(" 0 made read-only, 1 promotions, 0 demotions, "), "{said}");
        assert!(said.contains(" 128 words, 0 wrong at the end"), "{said}");
    }
}

/// What is asked for may be nonsense, or more than the machine has, which the kernel says.
#[test]
fn a_kernel_says_what_is_wrong_with_pages_and_threads() {
    let file = "experiments/random-access-pages.toml";
    for (arguments, reason) in [
        ("pages=5", "pages=5: 4, 64 or 16384 KiB were expected"),
        ("pages=4 table=48", "table=48: a power of two from 16 to 4096 was expected"),
        ("pages=4 table=8192", "table=8192: a power of two from 16 to 4096 was expected"),
        ("pages=4 threads=3", "threads=3: a power of two to 32 was expected"),
        ("pages=4 threads=8", "threads=8: the machine has 4"),
        ("pages=4 updates=100", "updates=100: a multiple of 128 was expected"),
        ("pages=4 page_table=3", "page_table=3: a power of two was expected"),
        ("pages=4 page_table=1024", "bytes are too few for the program and its page table"),
        ("pages=4 table=1024 page_table=1", "page_table=MiB makes it larger"),
        ("pages=4 table=4096 page_table=64", "the machine has no such memory beyond its first GiB"),
        ("updates=128 beside=32 memory=48", "beside=32: a number from 0 to 31 was expected"),
        ("updates=128 beside=4 memory=48", "threads=5: the machine has 4"),
        ("updates=128 readers=32 memory=48", "33 hardware threads: at most 32 were expected"),
        ("updates=128 beside=1 readers=1 memory=48", "beside=1: not with readers"),
        ("updates=128 timed=none memory=48", "timed=none: updates and all are known"),
        ("updates=128 timed=all warm=128 memory=48", "warm=128: what is timed from the first"),
    ] {
        let (_, mut system) = systems(file).into_iter().next().expect("a variant");
        system.arguments = arguments.to_owned();
        if arguments.contains("table=4096") {
            system.machine = system.machine.with_memory(Size(4 << 30), "memory");
        }
        assert_complains(&system, reason);
    }
}

/// What firmware leaves of the machine's memory may be too little for what is asked, and threads too many, which the
/// kernel says.
#[test]
fn a_kernel_says_what_memory_and_threads_it_lacks() {
    for (arguments, reason) in [
        (
            "memory=64",
            "memory: 5 free blocks of 16 MiB were expected, the partition's memory has 2",
        ),
        (
            "memory=256 threads=8",
            "memory: 19 free blocks of 16 MiB were expected, the partition's memory has 13",
        ),
        ("page_table_kib=128", "page_table_kib=128: a power of two from 256 was expected"),
        ("page_table=1 page_table_kib=512", "was expected, without page_table"),
        ("page_table_kib=9223372036854775808", "a power of two from 256 was expected"),
        ("page_table=9223372036854775808", "page_table=9223372036854775808: a power of two was"),
        ("threads=9", "threads=9: a number from 1 to 8 was expected"),
        ("threads=0", "threads=0: a number from 1 to 8 was expected"),
        ("threads=2", "threads=2: the machine has 1"),
    ] {
        let system = kernel((CHURN.0, arguments), "ours");
        assert_complains(&system, reason);
    }
}

/// The first diff of FreeBSD's review had entries of two sizes for an address while it made a block large or small: the
/// machine names them.
#[test]
fn entries_of_two_sizes_are_named() {
    let mut power9 = kernel(RANDOM_ACCESS, "faithful");
    power9.arguments = power9.arguments.replace("=faithful", "=first");
    let power8 = on_power8(power9.clone());
    for system in [power9, power8].iter().take(if is_nightly() { 2 } else { 1 }) {
        let (_, findings) = watched(system);
        let first = findings.first().expect("there are findings");
        assert!(first.contains("a page of 2^24 bytes, and the table one of 2^12"), "{first}");
    }
}
