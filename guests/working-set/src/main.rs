//! working-set: goes through a part of its memory over and over, and says how often it came round in a given time.
//!
//! | argument | is | if left out |
//! |---|---|---|
//! | `way=` | `chain`, in which each load waits for the one before, or `order`, which reads the memory in its order | `chain` |
//! | `set=` | KiB that it goes through, a power of two | 256 |
//! | `loads=` | loads that are measured: region 1 | 100,000 |
//! | `warm=` | loads before these | as many as the set has lines |
//! | `for_us=` | instead of `loads`: it goes on for so many microseconds of its time base, and marks no region | |

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
    use arch::marker::{Mark, Region};

    rt::main!(working_set);

    const LOADS: Region = Region::new(1).expect("a region number");
    /// Doublewords of a line of the caches.
    const LINE: usize = 16;
    /// Loads between two looks at the time.
    const STRETCH: u64 = 1000;

    /// Makes each line name the one behind it: a round through all of them, in no order or in theirs.
    fn link(words: &mut [u64], is_chain: bool) {
        let lines = words.len() / LINE;
        // 5i + 1 goes through all lines of a power of two, and no two steps one behind the other are equally long.
        for line in 0..lines {
            let next = if is_chain { 5 * line + 1 } else { line + 1 };
            words[line * LINE] = (next % lines * LINE) as u64;
        }
    }

    #[inline(never)]
    fn follow(words: &[u64], mut at: usize, loads: u64) -> usize {
        for _ in 0..loads {
            at = words[at] as usize;
        }
        at
    }

    /// Reads of lines that do not wait for one another.
    #[inline(never)]
    fn read(words: &[u64], mut at: usize, loads: u64, sum: &mut u64) -> usize {
        for _ in 0..loads {
            *sum = sum.wrapping_add(words[at]);
            at = (at + LINE) & (words.len() - 1);
        }
        at
    }

    fn working_set(partition: rt::Partition) {
        let way = partition.argument("way").unwrap_or("chain");
        assert!(way == "chain" || way == "order", "way={way}: chain or order was expected");
        let is_chain = way == "chain";
        let kib = partition.number("set", 256usize);
        assert!(kib.is_power_of_two(), "set={kib}: a power of two was expected");
        let words = partition.take_free_memory();
        let count = kib << 7;
        assert!(count <= words.len(), "set={kib}: the partition's memory has no room for it");
        let words = &mut words[..count];
        link(words, is_chain);
        let mut sum = 0;
        let mut go = |at, loads| match is_chain {
            true => follow(words, at, loads),
            false => read(words, at, loads, &mut sum),
        };
        let mut at = go(0, partition.number("warm", (count / LINE) as u64));
        let limit = partition.number("for_us", 0u64);
        let start = rt::timebase();
        let mut loads = 0;
        if limit == 0 {
            loads = partition.number("loads", 100_000);
            rt::mark!(Mark::Begin(LOADS));
            at = go(at, loads);
            rt::mark!(Mark::End(LOADS));
        }
        while rt::timebase() - start < limit * rt::TICKS_PER_MICROSECOND {
            at = go(at, STRETCH);
            loads += STRETCH;
        }
        rt::println!("working-set: {loads} loads");
        // So that every load is one.
        let end = if at < count { "done" } else { "lost" };
        rt::println!("working-set: {way} of {kib} KiB, {end}");
        core::hint::black_box(sum);
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("working-set: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
