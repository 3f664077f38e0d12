//! Superpages of a partition with a hashed page table: a table that its kernel maps page by page keeps its words
//! while blocks of it become large and small again, and nobody sees one address with two sizes. The machine looks for
//! that in each translation, and a machine check ends the payload.

use lab::system::System;
use system_tests::containment::{self, on_power8, on_threads};
use system_tests::{is_nightly, system_of};

const TOPOLOGIES: [[u32; 3]; 2] = [[1, 1, 1], [1, 1, 4]];

fn partition(superpages: &str, memory: &str, arguments: &str) -> String {
    format!(
        "[[partition]]\nname = \"{superpages}\"\npayload = \"random-access\"\nmemory = \"{memory}\"\nvcpus = 1\n\
         arguments = \"superpages={superpages} {arguments}\"\ntranslation = \"hash\"\n"
    )
}

/// What the console says on our machine; the oracle has nothing to say.
fn console(text: &str, topology: [u32; 3]) -> String {
    console_of(&on_threads(system_of(text), topology))
}

fn console_of(system: &System) -> String {
    let (transcript, findings) = containment::watched(system);
    let console = transcript.lines().join("\n");
    assert_eq!(findings, [""; 0], "{console}");
    console
}

/// Promotions, demotions and failed attempts that a partition tells.
fn counts(console: &str, name: &str) -> [u64; 3] {
    let begin = format!("[{name}] random-access: ");
    let line = console.lines().find(|line| line.starts_with(&begin) && line.contains("promotions"));
    let line = line.unwrap_or_else(|| panic!("{name} tells no counts: {console}"));
    ["promotions", "demotions", "failed"].map(|what| {
        let before = line.split(what).next().expect("a part in front of it");
        let number = before.split_whitespace().last().and_then(|number| number.parse().ok());
        number.unwrap_or_else(|| panic!("no number of {what}: {line}"))
    })
}

/// What the hypervisor did to give a partition superpages: promotions, demotions, failures, and microseconds.
fn given(console: &str, name: &str) -> [u64; 4] {
    let begin = format!("powervisor: summary: partition {name}: powered off;");
    let line = console.lines().find(|line| line.starts_with(&begin));
    let line = line.unwrap_or_else(|| panic!("no summary of {name}: {console}"));
    let (_, counts) = line.split_once("superpages: ").expect("what was done about superpages");
    let numbers = counts.split(", ").map(|count| {
        let number = count.split(' ').nth(1).and_then(|number| number.parse().ok());
        number.unwrap_or_else(|| panic!("no number: {line}"))
    });
    let numbers: Vec<u64> = numbers.collect();
    numbers.try_into().unwrap_or_else(|_| panic!("four numbers were expected: {line}"))
}

/// The end of the line with which a payload says how its words are.
fn no_word_is_wrong(console: &str, name: &str, said: &str) {
    let begin = format!("[{name}] {said}");
    let line = console.lines().find(|line| line.starts_with(&begin));
    let line = line.unwrap_or_else(|| panic!("{name}: {console}"));
    assert!(line.ends_with(", 0 wrong at the end"), "{line}");
}

/// Kernels that make none get superpages once their pages are old, keep their words while single pages change, and meet
/// the fault that they wait for in each store that they forbade; one that makes its own keeps them. In the end each has
/// what it has without. Processes that end at once get none.
#[test]
fn a_kernel_that_knows_nothing_of_superpages_gets_them() {
    let with = |text: String| format!("{text}superpages = true\n");
    let text = [
        "slice_us = 100\n".to_owned(),
        with(partition("off", "64 MiB", "table=32 updates=4096 flips=40 naps=8")),
        with(partition("ours", "64 MiB", "table=16 updates=4096 flips=5 naps=8")),
        with(partition("faithful", "128 MiB", "processes=1 calls=128 passes=1 spins=100 naps=12"))
            .replace("random-access", "churn")
            .replace("superpages=faithful", "superpages=without"),
    ];
    let text = text.concat();
    let power9 = on_threads(system_of(&text), [1, 1, 4]);
    let power8 = on_threads(on_power8(system_of(&text)), [1, 2, 2]);
    for system in [power9, power8] {
        let console = console_of(&system);
        no_word_is_wrong(&console, "off", "random-access: off, 32 MiB");
        no_word_is_wrong(&console, "ours", "random-access: ours, 16 MiB");
        assert!(
            console.contains("[faithful] churn: without, 1 processes, 8 copies, 0 wrong"),
            "{console}"
        );
        // Four blocks of the kernel's own map, two of the table, whose pages change then.
        let [promotions, demotions, _, time] = given(&console, "off");
        assert_eq!([promotions, demotions], [6, 2], "{console}");
        assert!((100..10_000).contains(&time), "{console}");
        // Its own are not the hypervisor's.
        let [promotions, demotions, ..] = given(&console, "ours");
        assert_eq!([promotions, demotions], [4, 0], "{console}");
        let [promotions, demotions, ..] = given(&console, "faithful");
        assert_eq!([promotions, demotions], [8, 0], "{console}");
    }
}

/// One vCPU changes pages, and others read pages beside them in the same blocks, which become large and small
/// meanwhile: they read what is there, and no access of theirs finds no entry.
#[test]
fn a_block_changes_its_size_while_others_of_the_partition_run() {
    let runs: &[([u32; 3], bool, u32, u32)] = if is_nightly() {
        &[
            ([1, 1, 2], false, 1, 6),
            ([1, 2, 2], false, 3, 4),
            ([2, 1, 1], false, 1, 4),
            ([1, 1, 1], false, 1, 4),
            ([1, 1, 4], true, 3, 4),
            ([1, 2, 2], true, 3, 4),
            ([1, 4, 1], true, 3, 4),
            ([1, 1, 1], true, 2, 4),
        ]
    } else {
        &[([1, 1, 2], false, 1, 2), ([1, 2, 1], true, 1, 2)]
    };
    for (topology, is_power8, readers, flips) in runs {
        let arguments = format!("table=16 updates=128 naps=4 flips={flips} readers={readers}");
        let text = partition("off", "48 MiB", &arguments) + "superpages = true\n";
        let text = text.replace("vcpus = 1", &format!("vcpus = {}", readers + 1));
        let system = system_of(&text);
        let system = on_threads(if *is_power8 { on_power8(system) } else { system }, *topology);
        let console = console_of(&system);
        let read = format!(
            "random-access: {readers} readers read words, 0 wrong, {flips} faults in {flips} flips"
        );
        assert!(console.contains(&read), "{topology:?}: {console}");
        assert!(console.contains("128 words, 0 wrong at the end"), "{topology:?}: {console}");
        // Three blocks of the kernel's own map, and the table, again and again.
        let [promotions, demotions, ..] = given(&console, "off");
        assert!(promotions >= 4 && demotions >= 1, "{topology:?}: {console}");
    }
}

#[test]
fn superpages_need_a_hashed_page_table() {
    let text = "[[partition]]\nname = \"one\"\npayload = \"hello\"\nmemory = \"16 MiB\"\nvcpus = 1\n\
                superpages = true\n";
    let (transcript, _) = containment::watched(&system_of(text));
    let console = transcript.lines().join("\n");
    let reason = "superpages are made in a hashed page table; write translation = \"hash\"";
    assert!(console.contains(reason), "{console}");
}

/// Beside each other, and moved between threads, each in its own way.
#[test]
fn a_table_keeps_its_words_in_pages_of_either_size() {
    let text = [
        partition("off", "64 MiB", "table=32 updates=65536 flips=5"),
        partition("faithful", "64 MiB", "table=32 updates=65536 seed=3 flips=5"),
        partition("ours", "64 MiB", "table=32 updates=65536 seed=9 flips=1000"),
    ];
    let text = format!("slice_us = 100\n{}", text.concat());
    // A push has the one in which they move.
    for topology in TOPOLOGIES.into_iter().skip(usize::from(!is_nightly())) {
        let console = console(&text, topology);
        for name in ["off", "faithful", "ours"] {
            let line = format!("[{name}] random-access: {name}, 32 MiB, 65536 updates change ");
            let said = console.lines().find(|said| said.starts_with(&line));
            let said = said.unwrap_or_else(|| panic!("{topology:?} {name}: {console}"));
            assert!(said.ends_with(", 0 wrong at the end"), "{topology:?}: {said}");
            let changed = said[line.len()..].split_whitespace().next().expect("a number");
            assert!(changed.parse::<u64>().is_ok_and(|words| words > 50_000), "{said}");
        }
        assert_eq!(counts(&console, "off"), [0; 3]);
        // Two blocks; faithful demotes for each page that changes, and promotes with no fault of another page.
        let [promotions, demotions, _] = counts(&console, "faithful");
        assert!(promotions >= 2 && demotions >= 2, "{console}");
        let [promotions, demotions, failed] = counts(&console, "ours");
        assert!(promotions >= 2 && demotions >= 2 && failed > 0, "{console}");
        assert!(promotions <= 2 * 12, "1000 changes cost {promotions} promotions: {console}");
    }
}

/// Processes that fork, copy, exec, call, map, unmap and exit find what they have stored, and what others have not,
/// beside each other in each way; the last one fills a block, which is promoted.
#[test]
fn processes_keep_their_memory_in_pages_of_either_size() {
    let ways = [
        ("off", "", [0, 0], 0),
        ("faithful", "", [1, 2], 1),
        ("faithful", "exec=apart", [1, 0], 0),
        ("faithful", "exec=mapped", [1, 2], 1),
        ("faithful", "exec=pages", [1, 0], 500),
        ("ours", "", [1, 2], 0),
    ];
    let partitions = ways.iter().enumerate().map(|(index, (way, exec, ..))| {
        let arguments = format!("{exec} processes=1 calls=128 passes=1 spins=100 counts=yes");
        let partition = partition(way, "128 MiB", &arguments).replace("random-access", "churn");
        partition.replace(&format!("name = \"{way}\""), &format!("name = \"p{index}\""))
    });
    let text = format!("slice_us = 100\n{}", partitions.collect::<String>());
    let console = console(&text, [1, 1, 4]);
    let mut entered = Vec::new();
    for (index, (way, exec, [promotions, whole], failures)) in ways.iter().enumerate() {
        let said = |what: &str| {
            let begin = format!("[p{index}] churn: ");
            let line = console.lines().find(|line| line.starts_with(&begin) && line.contains(what));
            line.unwrap_or_else(|| panic!("{way} {exec}: no {what}: {console}"))
        };
        let line = said("processes");
        assert!(line.contains(", 8 copies, 0 wrong"), "{way} {exec}: {line}");
        let line = said("promotions");
        let expected = format!("{promotions} promotions, {whole} whole blocks, 0 demotions");
        assert!(line.ends_with(&expected), "{way} {exec}: {line}");
        let line = said("failed attempts");
        let failed = line.split("churn: ").nth(1).and_then(|line| line.split(' ').next());
        let failed: u64 = failed.and_then(|failed| failed.parse().ok()).expect("a number");
        assert!(failed >= *failures && (*failures > 0 || failed == 0), "{way} {exec}: {line}");
        entered.push(number(said("faults"), "entries entered"));
    }
    // Exec enters all of the file, twice 6144 pages, in pages of either size; what is more is the promotion.
    let [off, faithful, apart, ..] = entered[..] else { panic!("{entered:?}") };
    assert!(off >= 2 * 6144 && faithful == off + 4096 && apart == faithful, "{entered:?}");
}

/// Pages that are wired have their entries whatever happens to their block, and pages that were said to be clean are so
/// until something is stored into them; under a kernel that makes superpages, and under one that gets them.
#[test]
fn wired_pages_are_not_missed_and_clean_ones_are_known() {
    let arguments = "table=16 updates=4096 flips=20 laundry=50";
    let text = [
        "slice_us = 100\n".to_owned(),
        partition("ours", "64 MiB", &format!("{arguments} wired=4096")),
        partition("faithful", "64 MiB", &format!("{arguments} wired=100")),
        partition("off", "64 MiB", &format!("{arguments} wired=100 naps=8")),
        "superpages = true\n".to_owned(),
    ];
    let power9 = system_of(&text.concat());
    let power8 = on_power8(power9.clone());
    for system in [power8, power9].iter().take(if is_nightly() { 2 } else { 1 }) {
        let console = console_of(system);
        for (name, wired) in [("ours", 4096), ("faithful", 100), ("off", 100)] {
            no_word_is_wrong(&console, name, &format!("random-access: {name}, 16 MiB"));
            let expected = format!(
                "[{name}] random-access: {wired} pages wired, 0 missed, 50 laundered, 0 wrong"
            );
            assert!(console.contains(&expected), "{console}");
        }
    }
}

/// The same of a kernel on several vCPUs, each of which has processes of its own, one at a time.
#[test]
fn processes_on_several_vcpus_keep_their_memory() {
    let ways: &[&str] = if is_nightly() { &["off", "faithful", "ours"] } else { &["ours"] };
    for way in ways {
        let arguments = "threads=4 processes=1 calls=128 passes=1 spins=100";
        let text = partition(way, "256 MiB", arguments).replace("random-access", "churn");
        let text = text.replace("vcpus = 1", "vcpus = 4");
        let power9 = on_threads(system_of(&text), [1, 2, 2]);
        let power8 = on_threads(on_power8(system_of(&text)), [1, 1, 4]);
        for system in [power9, power8] {
            let console = console_of(&system);
            let expected = format!("churn: {way}, 4 processes, 32 copies, 0 wrong");
            assert!(console.contains(&expected), "{console}");
            let [promotions, whole] = if *way == "off" { [0, 0] } else { [4, 8] };
            let expected = format!("{promotions} promotions, {whole} whole blocks, 0 demotions");
            assert!(console.contains(&expected), "{console}");
        }
    }
}

/// One vCPU makes a block large and small while another reads pages of it. FreeBSD's first diff does it entry by entry:
/// the reader meets translations of two sizes, and the machine check ends the partition. What landed takes all entries
/// out first.
#[test]
fn a_reader_meets_two_sizes_where_entries_are_replaced_one_by_one() {
    for way in ["first", "faithful"] {
        let text = partition(way, "48 MiB", "table=16 updates=128 flips=4 readers=1");
        let text = text.replace("vcpus = 1", "vcpus = 2");
        let power9 = on_threads(system_of(&text), [1, 2, 1]);
        let power8 = on_threads(on_power8(system_of(&text)), [1, 2, 1]);
        for system in [power9, power8].iter().take(if is_nightly() { 2 } else { 1 }) {
            let (transcript, _) = containment::watched(system);
            let console = transcript.lines().join("\n");
            let is_stopped = console
                .contains("partition first: stopped: unhandled Machine Check interrupt (0x200)");
            assert_eq!(is_stopped, way == "first", "{way}: {console}");
            let is_right = console.contains("128 words, 0 wrong at the end");
            assert_eq!(is_right, way == "faithful", "{way}: {console}");
        }
    }
}

/// What follows `payload: ` in the line of a partition that has `what` in it.
fn said<'a>(console: &'a str, name: &str, payload: &str, what: &str) -> &'a str {
    let begin = format!("[{name}] {payload}: ");
    let lines = console.lines().filter_map(|line| line.strip_prefix(begin.as_str()));
    let line = lines.into_iter().find(|line| line.contains(what));
    line.unwrap_or_else(|| panic!("{name}: no {what}: {console}"))
}

/// The number in front of a word.
fn number(line: &str, word: &str) -> u64 {
    let before = line.split(word).next().expect("a part in front of it");
    let number = before.split_whitespace().last().and_then(|number| number.parse().ok());
    number.unwrap_or_else(|| panic!("no number of {word}: {line}"))
}

/// A client finds its rows, and what it has changed, beside others in each way, and where the hypervisor makes the
/// superpages.
#[test]
fn a_table_and_its_tree_keep_their_rows_in_pages_of_either_size() {
    let ways =
        [("off", 0), ("without", 0), ("faithful", 1), ("first", 1), ("ours", 1), ("ours-off", 0)];
    let partitions = ways.map(|(way, _)| {
        partition(way, "64 MiB", "table=16 queries=2048 updates=50 flush=1 naps=2")
            .replace("random-access", "database")
    });
    let text = format!("slice_us = 100\n{}superpages = true\n", partitions.concat());
    let power9 = on_threads(system_of(&text), [1, 1, 4]);
    let power8 = on_threads(on_power8(system_of(&text)), [1, 2, 2]);
    for system in [power9, power8].into_iter().take(if is_nightly() { 2 } else { 1 }) {
        let console = console_of(&system);
        for (way, promotions) in ways {
            let line = said(&console, way, "database", "queries");
            let begin = format!("{way}, 16 MiB, 106994 rows, 2 levels, 2048 queries, ");
            assert!(line.starts_with(&begin) && line.ends_with(", 0 wrong"), "{line}");
            assert!((900..1150).contains(&number(line, "updates")), "{line}");
            let line = said(&console, way, "database", "promotions");
            assert_eq!(number(line, "promotions"), promotions, "{way}: {line}");
            assert!(number(line, "pages touched") > 4096, "{way}: {line}");
        }
    }
}

/// Two processes with more data than memory find all that they have stored, whatever went for a while, in each way. As
/// many pages come back in pages of either size, but where large blocks go as a whole.
#[test]
fn data_that_lost_their_memory_come_back() {
    let ways = [
        ("off", "pages", [0, 0]),
        ("faithful", "pages", [3, 2]),
        ("ours", "pages", [4, 2]),
        ("ours", "blocks", [4, 0]),
        // It does not note that a block that has become large was accessed.
        ("first", "pages", [3, 3]),
    ];
    let ways = &ways[..if is_nightly() { 5 } else { 4 }];
    let partitions = ways.iter().enumerate().map(|(index, (way, evict, _))| {
        let arguments = format!("evict={evict} rounds=16 passes=1 disk=5");
        let partition = partition(way, "160 MiB", &arguments).replace("random-access", "pressure");
        partition.replace(&format!("name = \"{way}\""), &format!("name = \"p{index}\""))
    });
    let text = format!("slice_us = 100\n{}", partitions.collect::<String>());
    let console = console(&text, [1, 1, 4]);
    let mut read = Vec::new();
    for (index, (way, evict, [promotions, demotions])) in ways.iter().enumerate() {
        let name = format!("p{index}");
        let line = said(&console, &name, "pressure", "rounds");
        assert_eq!(line, format!("{way}, 16 rounds, 0 wrong"), "{way} {evict}");
        let line = said(&console, &name, "pressure", "evicted");
        let [evicted, written] = ["pages evicted", "written"].map(|what| number(line, what));
        assert!(evicted >= 4096 && written >= 4096, "{way} {evict}: {line}");
        assert!(number(line, "reservations broken") > 0, "{way} {evict}: {line}");
        read.push(number(line, "read"));
        let line = said(&console, &name, "pressure", "promotions");
        let found = ["promotions", "demotions"].map(|what| number(line, what));
        assert_eq!(found, [*promotions, *demotions], "{way} {evict}: {line}");
    }
    assert!(read[0] > 100 && read[..3].iter().all(|read_by| *read_by == read[0]), "{read:?}");
}

/// What a payload says of arguments and partitions that cannot be.
#[test]
fn what_cannot_be_is_refused_with_a_reason() {
    let wrong = [
        ("table=3", "table=3: a power of two from 1 to 512 was expected"),
        ("table=1024", "table=1024: a power of two from 1 to 512 was expected"),
        ("warm=5", "warm=5: a multiple of 128 was expected"),
        ("table=32", "table=32: 2 free blocks of 16 MiB were expected"),
        ("updates=5", "updates=5: a multiple of 128 was expected"),
    ];
    for (arguments, reason) in wrong {
        let console = console(&partition("ours", "48 MiB", arguments), [1, 1, 1]);
        assert!(console.contains(reason), "{arguments}: {console}");
    }
    let wrong = [
        (
            "superpages=on",
            "superpages=on: without, off, faithful, first, ours-without, ours-off and ours are known",
        ),
        ("exec=whole", "exec=whole: blocks, apart, mapped and pages are known"),
        ("heap=5000", "heap from 1 to 4096, calls from 1 to 6144"),
        ("calls=0", "heap from 1 to 4096, calls from 1 to 6144"),
        ("processes=1", "memory: 5 free blocks of 16 MiB were expected"),
    ];
    for (argument, reason) in wrong {
        let memory = if argument == "processes=1" { "64 MiB" } else { "128 MiB" };
        let text = partition("ours", memory, "").replace("random-access", "churn");
        let text = text.replace("superpages=ours ", argument);
        let console = console(&text, [1, 1, 1]);
        assert!(console.contains(reason), "{argument}: {console}");
    }
    let known = "superpages=on: without, off, faithful, first, ours-off and ours are known";
    let wrong = [
        ("database", "64 MiB", "table=0", "table=0: a number from 1 to 112 was expected"),
        ("database", "64 MiB", "table=113", "table=113: a number from 1 to 112 was expected"),
        ("database", "48 MiB", "table=32", "table: 3 free blocks of 16 MiB were expected"),
        ("database", "64 MiB", "updates=101", "updates=101: a percentage was expected"),
        ("database", "64 MiB", "superpages=on", known),
        ("pressure", "160 MiB", "frames=5", "frames=5: a number from 1 to 4 was expected"),
        ("pressure", "160 MiB", "evict=all", "evict=all: pages and blocks are known"),
        ("pressure", "64 MiB", "frames=3", "were expected for frames=3 and the store"),
        ("pressure", "160 MiB", "superpages=on", known),
    ];
    for (payload, memory, argument, reason) in wrong {
        let text = partition("ours", memory, "").replace("random-access", payload);
        let console = self::console(&text.replace("superpages=ours ", argument), [1, 1, 1]);
        assert!(console.contains(reason), "{payload} {argument}: {console}");
        let text = text.replace("\"hash\"", "\"radix\"");
        let console = self::console(&text, [1, 1, 1]);
        assert!(console.contains(&format!("{payload} needs translation = \"hash\"")), "{console}");
    }
    let unknown = partition("ours", "48 MiB", "").replace("superpages=ours", "superpages=on");
    assert!(console(&unknown, [1, 1, 1]).contains(known));
    let radix = partition("ours", "48 MiB", "").replace("\"hash\"", "\"radix\"");
    assert!(console(&radix, [1, 1, 1]).contains("random-access needs translation = \"hash\""));
}
