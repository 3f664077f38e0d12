//! random-access: HPC Challenge's RandomAccess over a table that a small kernel maps when it is touched, through the
//! manager of superpages. For a partition with a hashed page table, or as a kernel of its own (`random-access-bare`),
//! which can also map it whole before the first access, and update it on several hardware threads.
//!
//! | argument | what it does |
//! |---|---|
//! | `superpages=W` | `ours`, as without it; `ours-off`: its code, that makes none; `faithful`, `off` and `without`: the way of FreeBSD's review D25237, its code with superpages off, and the code without them; `first`: the way of its first diff, which has entries of two sizes for an address while it promotes |
//! | `table=N` | MiB of the table, a power of two from 1 to 512, with the rival's code to 256; 16 without it |
//! | `updates=N` | how many words are updated in region 1, in 128 streams; 4096 without it |
//! | `warm=N` | how many are updated in front of that, in region 3; 0 without it |
//! | `timed=W` | `updates`, as without it; `all`: region 1 begins in front of the first store, as the clock of HPCC's program for one process does, and regions 2 and 3 are not there |
//! | `seed=N` | where the streams begin |
//! | `naps=N` | so many sleeps of 20 ms in front of the updates; 0 without it |
//! | `memory=N` | MiB that a kernel of its own uses; all in front of firmware without it |
//! | `flips=N` | then so many times: a page is made read-only, and stored into; 0 without it |
//! | `wired=N` | so many pages at the table's beginning are wired in front of the updates; 0 without it |
//! | `laundry=N` | so many times, in front of the flips: a page is said to be clean, loaded from, and stored into; 0 without it |
//! | `readers=N` | so many other vCPUs, or hardware threads, read pages with even numbers meanwhile, and only others flip, in a partition each behind a nap; 0 without it |
//!
//! Region 2 is the first store into each word, with the faults. The program makes the updates twice, which gives each
//! word its first value back, and counts the words that have another one.
//!
//! A kernel of its own has these besides:
//!
//! | argument | what it does |
//! |---|---|
//! | `page_table=N` | MiB of the page table, a power of two; without it a 128th of the kernel's memory |
//! | `page_table_kib=N` | the same in KiB, from 256; where its groups are full, entries make room for others |
//! | `beside=N` | so many other hardware threads read memory of the kernel's all through region 2; 0 without it |
//! | `pages=N` | maps the table beforehand, beyond the machine's first GiB, in pages of so many KiB: 4, 64 or 16384. Of the others only `table`, here to 4096, `updates`, `warm` and `seed` count then, and region 2 is not there |
//! | `threads=N` | with that, on how many hardware threads, which share the streams: a power of two; 1 without it |

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(all(target_os = "none", feature = "bare"))]
mod beside;
#[cfg(target_os = "none")]
mod kernel;
#[cfg(all(target_os = "none", feature = "bare"))]
mod mapped;
#[cfg(target_os = "none")]
mod readers;

#[cfg(target_os = "none")]
mod payload {
    use core::sync::atomic::AtomicU64;
    use core::sync::atomic::Ordering::Relaxed;

    use arch::marker::{Mark, Region};

    use crate::kernel;
    use crate::readers::Readers;

    rt::main!(random_access);

    pub(crate) const UPDATES: Region = Region::new(1).expect("a region number");
    const FIRST_TOUCH: Region = Region::new(2).expect("a region number");
    pub(crate) const WARM_UP: Region = Region::new(3).expect("a region number");
    /// Independent streams of random numbers, as many as HPCC's loop has.
    pub(crate) const STREAMS: usize = 128;
    /// HPCC's primitive polynomial over GF(2).
    const POLYNOMIAL: u64 = 7;
    const MOST_MIB: u64 = (kernel::BLOCKS as u64) << (superpages::BLOCK_LOG2 - 20);

    pub(crate) const fn next(number: u64) -> u64 {
        number << 1 ^ if number as i64 >= 0 { 0 } else { POLYNOMIAL }
    }

    /// The number so many steps behind 1, by squaring: a number is a polynomial over GF(2), and a step multiplies it
    /// by x.
    fn number_at(steps: u64) -> u64 {
        let multiply = |a: u64, b: u64| {
            let add = |(sum, shifted), bit| {
                (if b >> bit & 1 == 0 { sum } else { sum ^ shifted }, next(shifted))
            };
            (0..u64::BITS).fold((0, a), add).0
        };
        let square = |number: u64, bit: u32| {
            let squared = multiply(number, number);
            if steps >> bit & 1 == 0 { squared } else { next(squared) }
        };
        (0..u64::BITS).rev().fold(1, square)
    }

    /// Where HPCC's streams begin, which make four updates for each word; ours may end earlier.
    pub(crate) fn start(words: usize, seed: u64) -> [u64; STREAMS] {
        let each = 4 * words as u64 / STREAMS as u64;
        core::array::from_fn(|stream| number_at(seed.wrapping_add(each * stream as u64)))
    }

    #[inline(never)]
    fn update(table: &mut [u64], numbers: &mut [u64; STREAMS], rounds: u64) {
        let mask = table.len() - 1;
        for _ in 0..rounds {
            for number in numbers.iter_mut() {
                *number = next(*number);
                table[*number as usize & mask] ^= *number;
            }
        }
    }

    /// How many words are updated, and how many in front of that.
    #[inline(always)]
    pub(crate) fn counts(partition: &rt::Partition) -> [u64; 2] {
        [("updates", 4096u64), ("warm", 0)].map(|(name, usual)| {
            let number = partition.number(name, usual);
            assert!(
                number.is_multiple_of(STREAMS as u64),
                "{name}={number}: a multiple of {STREAMS} was expected"
            );
            number
        })
    }

    fn random_access(partition: rt::Partition) {
        assert!(rt::hash::is_used(), "random-access needs translation = \"hash\"");
        #[cfg(feature = "bare")]
        if let Some(pages) = partition.argument("pages") {
            return crate::mapped::random_access(&partition, pages);
        }
        let name = partition.argument("superpages").unwrap_or("ours");
        let mib = partition.number("table", 16u64);
        assert!(
            mib.is_power_of_two() && mib <= MOST_MIB,
            "table={mib}: a power of two from 1 to {MOST_MIB} was expected"
        );
        let [updates, warm] = counts(&partition);
        let seed = partition.number("seed", 0u64);
        let is_all_timed = match partition.argument("timed") {
            None | Some("updates") => false,
            Some("all") if warm == 0 => true,
            Some("all") => {
                panic!("warm={warm}: what is timed from the first store on has no warm-up")
            }
            Some(other) => panic!("timed={other}: updates and all are known"),
        };
        rt::enable_translation(partition.memory_bytes());
        let table = kernel::map(&partition, name, mib << 20);
        #[cfg(feature = "bare")]
        let beside = crate::beside::start(&partition);
        #[cfg(not(feature = "bare"))]
        assert!(partition.number("beside", 0u64) == 0, "beside: only a kernel of its own has them");

        if is_all_timed {
            rt::mark!(Mark::Begin(UPDATES));
        } else {
            rt::mark!(Mark::Begin(FIRST_TOUCH));
        }
        for (index, word) in table.iter_mut().enumerate() {
            *word = index as u64;
        }
        if !is_all_timed {
            rt::mark!(Mark::End(FIRST_TOUCH));
        }
        #[cfg(feature = "bare")]
        crate::beside::end(beside);
        rt::take_naps(&partition);
        let [wired, laundry] = ["wired", "laundry"].map(|name| partition.number(name, 0usize));
        if wired > 0 {
            kernel::wire(wired);
        }
        let [rounds, warm_rounds] = [updates, warm].map(|number| number / STREAMS as u64);
        let mut numbers = start(table.len(), seed);
        if !is_all_timed {
            rt::mark!(Mark::Begin(WARM_UP));
            update(table, &mut numbers, warm_rounds);
            rt::mark!(Mark::End(WARM_UP));
            rt::mark!(Mark::Begin(UPDATES));
        }
        update(table, &mut numbers, rounds);
        rt::mark!(Mark::End(UPDATES));
        let words = table.iter().enumerate();
        let changed = words.filter(|(index, word)| **word != *index as u64).count();
        let mut numbers = start(table.len(), seed);
        update(table, &mut numbers, warm_rounds + rounds);

        let flips = partition.number("flips", 0usize);
        let table = rt::share(table);
        let not_known = launder(table, laundry);
        let readers = Readers::start(&partition, table);
        for flip in 0..flips {
            let index = flip * 0x1234_5677 % table.len();
            let index = readers.as_ref().map_or(index, |readers| readers.make_way(index));
            kernel::forbid_stores(table[index].as_ptr());
            #[cfg(feature = "bare")]
            readers.iter().for_each(Readers::read_on);
            let before = kernel::refused();
            table[index].store(index as u64, Relaxed);
            let refused = kernel::refused() - before;
            assert!(
                refused == 1,
                "flip {flip}: {refused} stores into a read-only page refused, not 1"
            );
        }
        if let Some(readers) = readers {
            readers.end(flips);
        }
        let words = table.iter().enumerate();
        let wrong = words.filter(|(index, word)| word.load(Relaxed) != *index as u64).count();
        rt::println!(
            "random-access: {name}, {mib} MiB, {updates} updates change {changed} words, {wrong} wrong at the end"
        );
        kernel::print_counts(flips);
        if wired + laundry > 0 {
            rt::println!(
                "random-access: {wired} pages wired, {} missed, {laundry} laundered, {not_known} wrong",
                kernel::missed()
            );
        }
    }

    /// Says of so many pages that they are clean: how many are not known to be so until something is stored into them,
    /// and changed then, and to show their frame.
    fn launder(table: &[AtomicU64], times: usize) -> usize {
        let is_known = |time: &usize| {
            let word = &table[time * 0x1234_5677 % table.len()];
            kernel::launder(word.as_ptr());
            let was_clean = !kernel::is_changed(word.as_ptr());
            let value = word.load(Relaxed);
            let is_clean = !kernel::is_changed(word.as_ptr());
            word.store(value, Relaxed);
            let is_changed = kernel::is_changed(word.as_ptr());
            was_clean && is_clean && is_changed && kernel::is_found_by_its_frame(word.as_ptr())
        };
        times - (0..times).filter(is_known).count()
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("random-access: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
