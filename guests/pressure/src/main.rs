//! pressure: two processes whose data need more memory than there is, under a small kernel that lets pages go which
//! nobody has accessed for a while, and brings them back. For a partition with a hashed page table, or as a kernel of
//! its own (`pressure-bare`).
//!
//! Each process has a block of 16 MiB that it reads again and again, and one of which it needs a few pages at a time,
//! reads them and stores into one. What has no frame is in a store: other memory, which stands for a disk.
//!
//! | argument | what it does |
//! |---|---|
//! | `superpages=W` | `ours`, as without it; `ours-off`: its code, that makes none; `faithful`, `off` and `without`: the way of FreeBSD's review D25237, its code with superpages off, and the code without them; `first`: the way of its first diff, which has entries of two sizes for an address while it promotes |
//! | `frames=N` | blocks of 16 MiB that there are for the data, which have 4: from 1 to 4; 3 without it |
//! | `evict=W` | `pages`, as without it; `blocks`: a large block that nobody has accessed goes as a whole, which frees a block of memory |
//! | `rounds=N` | how often each process does its work; 64 without it |
//! | `passes=N` | how often it goes over its first block in each; 4 without it |
//! | `disk=N` | microseconds that the store takes for a page that comes back, besides the copy; 0 without it |
//! | `seed=N` | which pages |
//! | `naps=N` | so many sleeps of 20 ms in front of it all; 0 without it |
//! | `counts=yes` | also prints how many faults and entries there were, which depends on what the processor's lookaside buffer holds |
//!
//! Region 1 is all that the processes do: the first stores into all pages, and the rounds. Region 2 is the rounds
//! alone. In the end all pages are looked at.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod kernel;
#[cfg(target_os = "none")]
mod memory;

#[cfg(target_os = "none")]
mod payload {
    use arch::marker::{Mark, Region};
    use process::Work;
    use rt::random::Numbers;
    use spin::Mutex;
    use superpages::{Counts, Faithful, Manager, Ours, PAGE_LOG2, PAGES, Promotion};

    use crate::kernel::{BLOCKS, Kernel};
    use crate::memory::{DATA, Memory, SPACES};

    rt::main!(pressure);
    process::interrupts_of_users!();

    const ALL: Region = Region::new(1).expect("a region number");
    const ROUNDS: Region = Region::new(2).expect("a region number");
    const PAGE: u64 = 1 << PAGE_LOG2;
    /// What a process needs a few pages of, and what it reads again and again: stored into in this order.
    const SELDOM: usize = 0;
    const OFTEN: usize = PAGES;
    /// Doublewords of a page that are stored into, so many bytes apart.
    const WORDS: u64 = 8;
    const APART: u64 = 512;
    /// Pages that a pass reads, so many pages apart; and those of the other block that are read at a time.
    const READ: u64 = 256;
    const STEP: u64 = PAGES as u64 / READ;
    const SELDOM_READ: u64 = 8;
    /// A process that has all its data goes over them whenever another has stored into so many pages more.
    const MEANWHILE: usize = 32;

    type Spaces<M> = Mutex<[M; SPACES]>;
    static OURS: Spaces<Ours<BLOCKS, BLOCKS>> = Mutex::new([const { Ours::new(false) }; SPACES]);
    static FAITHFUL: Spaces<Faithful<BLOCKS, true>> =
        Mutex::new([const { Faithful::new(Promotion::Never) }; SPACES]);
    static WITHOUT: Spaces<Faithful<BLOCKS, false>> =
        Mutex::new([const { Faithful::new(Promotion::Never) }; SPACES]);
    static MEMORY: Mutex<Memory> = Mutex::new(Memory::none());
    /// How often each page was stored into.
    static STORES: Mutex<[[u16; DATA]; SPACES]> = Mutex::new([[0; DATA]; SPACES]);

    struct Settings {
        rounds: u64,
        passes: u64,
        whole: bool,
        seed: u64,
        counts: bool,
    }

    fn pressure(partition: rt::Partition) {
        assert!(rt::hash::is_used(), "pressure needs translation = \"hash\"");
        let frames = partition.number("frames", 3u64);
        assert!((1..=4).contains(&frames), "frames={frames}: a number from 1 to 4 was expected");
        let settings = Settings {
            rounds: partition.number("rounds", 64),
            passes: partition.number("passes", 4),
            whole: match partition.argument("evict").unwrap_or("pages") {
                "pages" => false,
                "blocks" => true,
                other => panic!("evict={other}: pages and blocks are known"),
            },
            seed: partition.number("seed", 0),
            counts: partition.argument("counts") == Some("yes"),
        };
        rt::enable_translation(partition.memory_bytes());
        rt::take_naps(&partition);
        rt::set_decrementer(rt::NEVER);
        let mut memory = MEMORY.lock();
        let program = memory.take(&partition, frames, partition.number("disk", 0));
        let name = partition.argument("superpages").unwrap_or("ours");
        let whole = settings.whole;
        match name {
            "ours" | "ours-off" => {
                let mut spaces = OURS.lock();
                spaces.iter_mut().for_each(|space| space.set_promotes(name == "ours"));
                run(name, &mut Kernel::new(&mut spaces, &mut memory, program, whole), &settings);
            }
            "faithful" | "first" | "off" => {
                let mut spaces = FAITHFUL.lock();
                spaces
                    .iter_mut()
                    .for_each(|space| space.set_promotion(Promotion::of_variant(name)));
                run(name, &mut Kernel::new(&mut spaces, &mut memory, program, whole), &settings);
            }
            "without" => {
                let mut spaces = WITHOUT.lock();
                run(name, &mut Kernel::new(&mut spaces, &mut memory, program, whole), &settings);
            }
            other => {
                panic!(
                    "superpages={other}: without, off, faithful, first, ours-off and ours are known"
                )
            }
        }
    }

    /// What a page has been filled with, once it was stored into so often.
    const fn value(space: usize, page: usize, stores: u16) -> u64 {
        (stores as u64) << 32 | (space as u64) << 16 | page as u64
    }

    struct Processes<'a, 'b, M: Manager> {
        kernel: &'a mut Kernel<'b, M>,
        wrong: u64,
    }

    impl<M: Manager> Processes<'_, '_, M> {
        fn store(&mut self, space: usize, page: usize) {
            let stores = &mut STORES.lock()[space][page];
            *stores += 1;
            let value = value(space, page, *stores);
            self.kernel.work(space, Work::Store, page, [WORDS, APART, value]);
        }

        /// Reads the first doublewords of `count` pages.
        fn read(&mut self, space: usize, first: usize, count: u64, step: u64) {
            let sum = self.kernel.work(space, Work::Load, first, [count, step * PAGE, 0]);
            let stores = &STORES.lock()[space];
            let pages = (first..).step_by(step as usize).take(count as usize);
            let expected =
                pages.fold(0u64, |sum, page| sum.wrapping_add(value(space, page, stores[page])));
            self.wrong += u64::from(sum != expected);
        }

        /// Goes over what a process reads again and again.
        fn pass(&mut self, space: usize, numbers: &mut Numbers) {
            let first = OFTEN + numbers.below(STEP) as usize;
            self.read(space, first, READ, STEP);
        }

        /// Reads all that was stored into a page.
        fn look_at(&mut self, space: usize, page: usize) {
            let sum = self.kernel.work(space, Work::Load, page, [WORDS, APART, 0]);
            let expected = value(space, page, STORES.lock()[space][page]).wrapping_mul(WORDS);
            self.wrong += u64::from(sum != expected);
        }
    }

    fn run(name: &str, kernel: &mut Kernel<'_, impl Manager>, settings: &Settings) {
        let mut numbers = Numbers::new(settings.seed);
        let mut processes = Processes { kernel, wrong: 0 };
        rt::mark!(Mark::Begin(ALL));
        for block in [SELDOM, OFTEN] {
            for space in 0..SPACES {
                for page in block..block + PAGES {
                    processes.store(space, page);
                    // Those that have all their data do not stand still meanwhile.
                    if block == OFTEN && page.is_multiple_of(MEANWHILE) {
                        (0..space).for_each(|other| processes.pass(other, &mut numbers));
                    }
                }
            }
        }
        rt::mark!(Mark::Begin(ROUNDS));
        for _ in 0..settings.rounds {
            for space in 0..SPACES {
                for _ in 0..settings.passes {
                    processes.pass(space, &mut numbers);
                }
                let first = SELDOM + numbers.below(PAGES as u64 - SELDOM_READ) as usize;
                processes.read(space, first, SELDOM_READ, 1);
                processes.store(space, SELDOM + numbers.below(PAGES as u64) as usize);
            }
        }
        rt::mark!(Mark::End(ROUNDS));
        rt::mark!(Mark::End(ALL));
        print_counts(processes.kernel, settings.counts);
        for space in 0..SPACES {
            for page in 0..DATA {
                processes.look_at(space, page);
            }
        }
        let wrong = processes.wrong;
        rt::println!("pressure: {name}, {} rounds, {wrong} wrong", settings.rounds);
    }

    fn print_counts(kernel: &Kernel<'_, impl Manager>, has_entries: bool) {
        let sum = |of: fn(&Counts) -> u64| kernel.counts().iter().map(of).sum::<u64>();
        let (memory, traffic) = (kernel.memory(), kernel.traffic);
        rt::println!(
            "pressure: {} pages evicted, {} written, {} read, {} reservations broken",
            kernel.evicted,
            memory.written,
            memory.read,
            memory.broken()
        );
        rt::println!(
            "pressure: {} promotions, {} demotions",
            sum(|counts| counts.promotions),
            sum(|counts| counts.demotions)
        );
        rt::println!(
            "pressure: {} failed attempts: {} missing, {} misplaced, {} unlike, {} other side, {} waiting; {} records read",
            sum(|counts| counts.failures.total()),
            sum(|counts| counts.failures.missing),
            sum(|counts| counts.failures.misplaced),
            sum(|counts| counts.failures.unlike),
            sum(|counts| counts.failures.other_side),
            sum(|counts| counts.failures.waiting),
            sum(|counts| counts.scanned)
        );
        if !has_entries {
            return;
        }
        rt::println!(
            "pressure: {} faults, {} entries entered, {} taken out by {} removals, R cleared of {}",
            kernel.faults,
            traffic.entered,
            traffic.removed,
            traffic.removals,
            traffic.cleared
        );
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("pressure: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
