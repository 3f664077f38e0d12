//! working-set: goes through a part of its memory over and over, and says how often it came round in a given time.
//!
//! | argument | is | if left out |
//! |---|---|---|
//! | `way=` | `chain`, in which each load waits for the one before, or `order`, which reads the memory in its order | `chain` |
//! | `set=` | KiB that it goes through, a power of two | 256 |
//! | `loads=` | loads that are measured: region 1 | 100,000 |
//! | `warm=` | loads before these | as many as the set has lines |
//! | `periods=` | instead of `loads`: it serves requests until others have run so many times between; region 1 is a request | |
//! | `request=` | loads of a request | 500 |
//! | `skipped=` | periods before those that count | 0 |
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
    /// Ticks that no request takes, and that others are there for at least when they are.
    const GAP: u64 = 400 * rt::TICKS_PER_MICROSECOND;
    /// Ticks after which others must have been there.
    const ALONE: u64 = 100_000 * rt::TICKS_PER_MICROSECOND;

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

    /// Serves requests for so many periods, from one return of the others to another, behind so many that do not count:
    /// where it is then, and how many it served. Each is the region once.
    fn serve(
        mut at: usize,
        (skipped, periods): (u64, u64),
        mut request: impl FnMut(usize) -> usize,
    ) -> (usize, u64) {
        let (mut gaps, mut served) = (0, 0);
        let mut last = rt::timebase();
        let mut since = last;
        while gaps <= skipped + periods {
            let counts = gaps > skipped;
            if counts {
                rt::mark!(Mark::Begin(LOADS));
                served += 1;
            }
            at = request(at);
            let now = rt::timebase();
            if counts {
                rt::mark!(Mark::End(LOADS));
            }
            if now - last > GAP {
                gaps += 1;
                since = now;
            }
            assert!(
                now - since < ALONE,
                "periods={periods}: nobody else was there for 400 us in 100 ms; give it others, and longer slices"
            );
            last = now;
        }
        (at, served)
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
        let periods = partition.number("periods", 0u64);
        if periods > 0 {
            let request = partition.number("request", 500u64);
            assert!(request > 0, "request=0: a request has a load at least");
            let skipped = partition.number("skipped", 0u64);
            let served;
            (at, served) = serve(at, (skipped, periods), |at| go(at, request));
            loads = served * request;
            rt::println!("working-set: {served} requests in {periods} periods");
        } else if limit == 0 {
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
