//! The table mapped whole before the first access, in pages of one size, on several hardware threads: what translation
//! alone makes of the updates.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use arch::hash::{first, second};
use arch::marker::Mark;
use rt::hash::Segment;
use spin::Mutex;

use crate::payload::{STREAMS, UPDATES, WARM_UP, counts, next, start};

/// Where the table is, its segment's number, and its place in the segment lookaside buffer.
const TABLE: u64 = 1 << 40;
const VSID: u64 = 0x65_4321;
const SEGMENT_INDEX: u64 = 2;
const MOST_MIB: u64 = 4096;
/// Privileged state reads and writes, nothing is executed, and the processor has nothing to note.
const ATTRIBUTES: u64 = second::M | second::N | second::R | second::C;
/// Threads may lose each other's updates. HPC Challenge takes one wrong word in a hundred of the table; here it is one
/// in as many updates.
const WRONG_IN: u64 = 100;

/// What all threads do.
#[derive(Clone, Copy)]
struct Plan {
    segment: Segment,
    table: &'static [AtomicU64],
    threads: u64,
    seed: u64,
    /// Updates of each stream in front of the measured ones, and of these.
    warm: u64,
    rounds: u64,
}

static PLAN: Mutex<Option<Plan>> = Mutex::new(None);
/// How often a thread came to where all wait for each other.
static ARRIVED: AtomicU64 = AtomicU64::new(0);
/// Words that were wrong at the end.
static WRONG: AtomicU64 = AtomicU64::new(0);

/// The size of a page, its L, and its code in the second doubleword.
fn page(kib: &str) -> (u32, u64, u64) {
    match kib {
        "4" => (12, 0, 0),
        "64" => (16, first::L, 1 << 12),
        "16384" => (24, first::L, 0),
        other => panic!("pages={other}: 4, 64 or 16384 KiB were expected"),
    }
}

/// Maps the table and updates it.
pub(crate) fn random_access(partition: &rt::Partition, kib: &str) {
    let (page_log2, large, code) = page(kib);
    let mib = partition.number("table", 64u64);
    assert!(
        mib.is_power_of_two() && (16..=MOST_MIB).contains(&mib),
        "table={mib}: a power of two from 16 to {MOST_MIB} was expected"
    );
    let threads = partition.number("threads", 1u64);
    assert!(
        threads.is_power_of_two() && threads <= rt::THREADS_MAX,
        "threads={threads}: a power of two to {} was expected",
        rt::THREADS_MAX
    );
    let [updates, warm] = counts(partition);
    let bytes = mib << 20;
    let real = partition.memory_beyond(bytes).unwrap_or_else(|| {
        panic!("table={mib}: the machine has no such memory beyond its first GiB")
    });
    rt::enable_translation(partition.memory_bytes());
    let segment = Segment { vsid: VSID, base_log2: page_log2 };
    for offset in (0..bytes).step_by(1 << page_log2) {
        let second = real + offset | code | ATTRIBUTES;
        let place = segment.enter(offset, large, second);
        assert!(
            place.is_some(),
            "the page table has no place for a page of the table; page_table=MiB makes it larger"
        );
    }
    *PLAN.lock() = Some(Plan {
        segment,
        table: rt::hash::shared_memory(TABLE, bytes),
        threads,
        seed: partition.number("seed", 0u64),
        warm: warm / STREAMS as u64,
        rounds: updates / STREAMS as u64,
    });
    rt::on_threads(partition, threads, update_part);
    let wrong = WRONG.load(Relaxed);
    let all = updates + warm;
    assert!(wrong * WRONG_IN <= all, "{wrong} words of {all} updates are wrong");
    rt::println!(
        "random-access: {mib} MiB in pages of {kib} KiB, {updates} updates by {threads} threads, at most 1 % wrong"
    );
    rt::println!("random-access: {wrong} words wrong behind {} updates", 2 * all);
}

/// Waits for all threads.
fn meet(plan: &Plan) {
    let mine = ARRIVED.fetch_add(1, AcqRel);
    let all = (mine / plan.threads + 1) * plan.threads;
    while ARRIVED.load(Acquire) < all {
        core::hint::spin_loop();
    }
}

/// What a thread does, by its number.
fn update_part(number: u64) {
    let plan = &PLAN.lock().expect("it is made first");
    plan.segment.load(TABLE, SEGMENT_INDEX);
    let each = STREAMS / plan.threads as usize;
    let mut streams = start(plan.table.len(), plan.seed);
    let mine = number as usize * each..(number as usize + 1) * each;
    let word = |number: u64| &plan.table[number as usize & (plan.table.len() - 1)];
    let all = plan.warm + plan.rounds;

    // What is in memory is unknown, so each word that will be updated begins with its own place.
    let place = |number: u64| number & (plan.table.len() as u64 - 1);
    through(&mut streams[mine.clone()], all, |number| word(number).store(place(number), Relaxed));
    let begin = || start(plan.table.len(), plan.seed);
    let update = |number: u64| {
        let word = word(number);
        word.store(word.load(Relaxed) ^ number, Relaxed);
    };
    streams = begin();
    meet(plan);
    if number == 0 {
        rt::mark!(Mark::Begin(WARM_UP));
    }
    meet(plan);
    through(&mut streams[mine.clone()], plan.warm, update);
    meet(plan);
    if number == 0 {
        rt::mark!(Mark::End(WARM_UP));
        rt::mark!(Mark::Begin(UPDATES));
    }
    through(&mut streams[mine.clone()], plan.rounds, update);
    meet(plan);
    if number == 0 {
        rt::mark!(Mark::End(UPDATES));
    }
    streams = begin();
    through(&mut streams[mine.clone()], all, update);
    meet(plan);
    streams = begin();
    through(&mut streams[mine], all, |number| {
        // A word that many updates found counts once.
        if word(number).swap(place(number), Relaxed) != place(number) {
            WRONG.fetch_add(1, Relaxed);
        }
    });
    meet(plan);
}

/// Goes so many steps through streams.
#[inline(always)]
fn through(streams: &mut [u64], steps: u64, visit: impl Fn(u64)) {
    for _ in 0..steps {
        for number in streams.iter_mut() {
            *number = next(*number);
            visit(*number);
        }
    }
}
