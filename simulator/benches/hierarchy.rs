//! Host time of an access to the modelled memory hierarchy: `cargo bench -p powervisor-simulator`.
//!
//! Rounds go over all kinds of access in turn, so that whatever else the host does hits all of them; the
//! medians count. Compare figures of one run.

use std::hint::black_box;
use std::time::Instant;

use simulator::Description;
use simulator::cache::{Hierarchy, Kind, LINE_LOG2, Request, TranslationRequest, Translations};
use simulator::ledger::{CauseSet, Owner};
use simulator::mmu::path::Path;
use simulator::quantity::Bound;
use simulator::state::tlb::Space;

const ROUNDS: usize = 15;
const ACCESSES: u64 = 200_000;

/// What is accessed: `lines` lines again and again, `step` apart.
struct Work {
    name: &'static str,
    kind: Kind,
    lines: u64,
    step: u64,
    cores: u32,
}

const fn work(name: &'static str, kind: Kind, lines: u64, step: u64) -> Work {
    Work { name, kind, lines, step, cores: 2 }
}

const WORKS: [Work; 10] = [
    work("load, L1, one line", Kind::Load, 1, 1),
    work("load, L1, 16 KB", Kind::Load, 128, 1),
    work("fetch, L1, 16 KB", Kind::Fetch, 128, 1),
    work("store, L2, 16 KB", Kind::Store, 128, 1),
    work("load, L2, 256 KB, scattered", Kind::Load, 2048, 77),
    work("load, L2, 256 KB, stream", Kind::Load, 2048, 1),
    work("load, L3, 4 MB, scattered", Kind::Load, 32_768, 77),
    work("load, memory, scattered", Kind::Load, 1 << 21, 77_777),
    Work { cores: 24, ..work("the same with 24 cores", Kind::Load, 1 << 21, 77_777) },
    work("load, memory, stream", Kind::Load, 1 << 21, 1),
];

fn description(cores: u32) -> Description {
    let text = include_str!("../../machines/power9.toml")
        .replace("cores_per_chip = 1", &format!("cores_per_chip = {cores}"));
    Description::from_toml(&text).expect("the description in the tree is right")
}

fn nanoseconds(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1e9 / ACCESSES as f64
}

/// Nanoseconds of an access.
fn access(hierarchy: &mut Hierarchy, work: &Work, at: &mut u64) -> f64 {
    let begin = Instant::now();
    let mut index = 0;
    for _ in 0..ACCESSES {
        index = (index + 1) % work.lines;
        let line = index * work.step % work.lines;
        let address = line << LINE_LOG2;
        let request =
            Request { thread: 0, line, address, kind: work.kind, at: *at, owner: Owner::Host };
        *at = black_box(hierarchy.access(&request)).ready;
    }
    nanoseconds(begin)
}

/// Nanoseconds of a translation over `pages` pages of 64 KB, all in the ERAT.
fn translate(hierarchy: &mut Hierarchy, translations: &mut Translations, pages: u64) -> f64 {
    let begin = Instant::now();
    for index in 0..ACCESSES {
        let request = TranslationRequest {
            thread: 0,
            space: Some(Space::Process { lpid: 0, pid: 0 }),
            address: (index % pages) << 16,
            is_fetch: false,
            at: index,
            owner: Owner::Host,
        };
        let path = || Some(Path { page_log2: 16, guest_real: None, reads: Vec::new() });
        black_box(translations.translate(hierarchy, &request, &mut { path }));
    }
    nanoseconds(begin)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let hierarchy = |cores| {
        let free = CauseSet::default();
        Hierarchy::new(&description(cores), Bound::Value, free)
    };
    let mut machines: Vec<_> = WORKS.iter().map(|work| (hierarchy(work.cores), 0)).collect();
    let mut translations = Translations::new(&description(2), Bound::Value, CauseSet::default());
    let mut times = vec![Vec::new(); WORKS.len() + 2];
    for _ in 0..ROUNDS {
        for ((work, (hierarchy, at)), times) in WORKS.iter().zip(&mut machines).zip(&mut times) {
            times.push(access(hierarchy, work, at));
        }
        for (pages, index) in [(1, WORKS.len()), (60, WORKS.len() + 1)] {
            times[index].push(translate(&mut machines[0].0, &mut translations, pages));
        }
    }
    let names = WORKS.iter().map(|work| work.name);
    println!("Nanoseconds of host time, medians of {ROUNDS} rounds:\n");
    for (name, times) in names.chain(["ERAT, one page", "ERAT, 60 pages"]).zip(times) {
        println!("{name:<36}{:>8.1}", median(times));
    }
}
