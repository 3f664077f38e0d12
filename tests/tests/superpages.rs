//! Superpages of a partition with a hashed page table: a table that its kernel maps page by page keeps its words
//! while blocks of it become large and small again, and nobody sees one address with two sizes. The machine looks for
//! that in each translation, and a machine check ends the payload.

use system_tests::containment::{self, on_threads};
use system_tests::system_of;

const TOPOLOGIES: [[u32; 3]; 2] = [[1, 1, 1], [1, 1, 4]];

fn partition(superpages: &str, memory: &str, arguments: &str) -> String {
    format!(
        "[[partition]]\nname = \"{superpages}\"\npayload = \"random-access\"\nmemory = \"{memory}\"\nvcpus = 1\n\
         arguments = \"superpages={superpages} {arguments}\"\ntranslation = \"hash\"\n"
    )
}

/// What the console says on our machine; the oracle has nothing to say.
fn console(text: &str, topology: [u32; 3]) -> String {
    let (transcript, findings) = containment::watched(&on_threads(system_of(text), topology));
    let console = transcript.lines().join("\n");
    assert_eq!(findings, [""; 0], "{topology:?}: {console}");
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

/// Beside each other, and moved between threads, each in its own way.
#[test]
fn a_table_keeps_its_words_in_pages_of_either_size() {
    let text = [
        partition("off", "64 MiB", "table=32 updates=65536 flips=5"),
        partition("faithful", "64 MiB", "table=32 updates=65536 seed=3 flips=5"),
        partition("ours", "64 MiB", "table=32 updates=65536 seed=9 flips=1000"),
    ];
    let text = format!("slice_us = 100\n{}", text.concat());
    for topology in TOPOLOGIES {
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

/// What a payload says of arguments and partitions that cannot be.
#[test]
fn what_cannot_be_is_refused_with_a_reason() {
    let wrong = [
        ("table=3", "table=3: a power of two from 1 to 256 was expected"),
        ("table=512", "table=512: a power of two from 1 to 256 was expected"),
        ("table=32", "table=32: 2 free blocks of 16 MiB were expected"),
        ("updates=5", "updates=5: a multiple of 128 was expected"),
    ];
    for (arguments, reason) in wrong {
        let console = console(&partition("ours", "48 MiB", arguments), [1, 1, 1]);
        assert!(console.contains(reason), "{arguments}: {console}");
    }
    let unknown = partition("ours", "48 MiB", "").replace("superpages=ours", "superpages=on");
    assert!(
        console(&unknown, [1, 1, 1]).contains("superpages=on: off, ours and faithful are known")
    );
    let radix = partition("ours", "48 MiB", "").replace("\"hash\"", "\"radix\"");
    assert!(console(&radix, [1, 1, 1]).contains("random-access needs translation = \"hash\""));
}
