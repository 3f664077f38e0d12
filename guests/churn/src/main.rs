//! churn: many short processes, of which few live long enough that superpages pay, under a small kernel whose
//! processes run in problem state. For a partition with a hashed page table, or as a kernel of its own (`churn-bare`).
//!
//! A process forks, copies pages that it stores into, execs a file of 24 MiB that is in memory, calls functions all
//! over it, stores into its heap, maps and unmaps, works in registers, and exits; its parent waits.
//!
//! | argument | what it does |
//! |---|---|
//! | `superpages=W` | `ours`, as without it; `ours-off`: its code, that makes none; `faithful`, `off` and `without`: the way of FreeBSD's review D25237, its code with superpages off, and the code without them |
//! | `exec=W` | `blocks`, as without it: exec enters whole blocks of the file where superpages are on; `pages`: it does not; `apart`: the file is not congruent with its memory |
//! | `processes=N` | how many; 4 without it |
//! | `calls=N` | functions that each calls, each in a page of its own, again and again; 256 without it |
//! | `passes=N` | how often it calls them all; 4 without it |
//! | `life=W` | `exec`, as without it; `fork`: a process copies the pages that it stores into, and exits |
//! | `heap=N` | pages of its heap that it stores into, but for the last process, which stores into all 4096; 128 without it |
//! | `spins=N` | rounds of work in registers; 100000 without it |
//! | `seed=N` | which functions, and which pages of the heap |
//! | `naps=N` | so many sleeps of 20 ms in front of the processes; 0 without it |
//! | `memory=N` | MiB that a kernel of its own uses; all in front of firmware without it |
//! | `counts=yes` | also prints how many faults and entries there were, which depends on what the processor's lookaside buffer holds |
//!
//! Region 1 is all processes. With two vCPUs the second one stops itself before, so that it has run where nobody says
//! it has nothing cached.

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
    use superpages::{Counts, Faithful, Manager, Ours, PAGE_LOG2, PAGES};

    use crate::kernel::{Exec, HEAP, Kernel, LOOSE};
    use crate::memory::{BLOCKS, FILE_PAGES, Memory, SPACES};

    rt::main!(churn);
    process::interrupts_of_users!();

    const PROCESSES: Region = Region::new(1).expect("a region number");
    const PAGE: u64 = 1 << PAGE_LOG2;
    const PARENT: usize = 0;
    const CHILD: usize = 1;
    /// Pages of the parent's heap, and those that a child stores into before exec.
    const PARENT_HEAP: u64 = 64;
    const COPIED: u64 = 8;
    /// Pages that a process maps and unmaps, and those of its stack.
    const MAPPED: u64 = 32;
    const STACK: u64 = 4;

    type Spaces<M> = Mutex<[M; SPACES]>;
    static OURS: Spaces<Ours<BLOCKS, BLOCKS>> = Mutex::new([const { Ours::new(false) }; SPACES]);
    static FAITHFUL: Spaces<Faithful<BLOCKS, true>> =
        Mutex::new([const { Faithful::new(false) }; SPACES]);
    static WITHOUT: Spaces<Faithful<BLOCKS, false>> =
        Mutex::new([const { Faithful::new(false) }; SPACES]);
    static MEMORY: Mutex<Memory> = Mutex::new(Memory::none());

    struct Settings {
        processes: u64,
        calls: u64,
        passes: u64,
        heap: u64,
        spins: u64,
        seed: u64,
        counts: bool,
        execs: bool,
    }

    fn churn(partition: rt::Partition) {
        assert!(rt::hash::is_used(), "churn needs translation = \"hash\"");
        let settings = Settings {
            processes: partition.number("processes", 4),
            calls: partition.number("calls", 256),
            passes: partition.number("passes", 4),
            heap: partition.number("heap", 128),
            spins: partition.number("spins", 100_000),
            seed: partition.number("seed", 0),
            counts: partition.argument("counts") == Some("yes"),
            execs: match partition.argument("life").unwrap_or("exec") {
                "exec" => true,
                "fork" => false,
                other => panic!("life={other}: exec and fork are known"),
            },
        };
        let is_in_range = (1..=HEAP.len() as u64).contains(&settings.heap)
            && (1..=FILE_PAGES as u64).contains(&settings.calls)
            && settings.processes > 0
            && settings.passes > 0
            && settings.spins > 0;
        assert!(
            is_in_range,
            "heap from 1 to {}, calls from 1 to {FILE_PAGES}, and processes, passes and spins from 1 were expected",
            HEAP.len()
        );
        let exec = match partition.argument("exec").unwrap_or("blocks") {
            "blocks" => Exec::Blocks,
            "pages" => Exec::Pages,
            "apart" => Exec::Apart,
            other => panic!("exec={other}: blocks, pages and apart are known"),
        };
        #[cfg(not(feature = "bare"))]
        if partition.vcpus() > 1 {
            assert_eq!(rt::start_vcpu(1, |_| ()), 0, "start-cpu");
            while !rt::is_stopped(1) {}
        }
        rt::enable_translation(partition.memory_bytes());
        rt::take_naps(&partition);
        rt::set_decrementer(rt::NEVER);
        let mut memory = MEMORY.lock();
        memory.take(&partition);
        let name = partition.argument("superpages").unwrap_or("ours");
        match name {
            "ours" | "ours-off" => {
                let mut spaces = OURS.lock();
                spaces.iter_mut().for_each(|space| space.set_promotes(name == "ours"));
                run(name, &mut Kernel::new(&mut spaces, &mut memory, exec), &settings);
            }
            "faithful" | "off" => {
                let mut spaces = FAITHFUL.lock();
                spaces.iter_mut().for_each(|space| space.set_promotes(name == "faithful"));
                run(name, &mut Kernel::new(&mut spaces, &mut memory, exec), &settings);
            }
            "without" => {
                run(name, &mut Kernel::new(&mut WITHOUT.lock(), &mut memory, exec), &settings);
            }
            other => {
                panic!("superpages={other}: without, off, faithful, ours-off and ours are known")
            }
        }
    }

    fn run(name: &str, kernel: &mut Kernel<'_, impl Manager>, settings: &Settings) {
        let mut numbers = Numbers::new(settings.seed);
        let mut wrong = 0;
        let mut check = |is: u64, expected: u64| wrong += u64::from(is != expected);
        kernel.exec(PARENT);
        kernel.work(PARENT, Work::Store, LOOSE.start, [STACK, PAGE, 1]);
        kernel.work(PARENT, Work::Store, HEAP.start, [PARENT_HEAP, PAGE, 1]);

        rt::mark!(Mark::Begin(PROCESSES));
        for process in 1..=settings.processes {
            let family = kernel.work(PARENT, Work::Load, HEAP.start, [PARENT_HEAP, PAGE, 0]);
            check(family, PARENT_HEAP * process);
            let heap = HEAP.start..HEAP.start + PARENT_HEAP as usize;
            kernel.fork(PARENT, CHILD, [LOOSE.start..LOOSE.start + STACK as usize, heap]);
            kernel.work(CHILD, Work::Store, HEAP.start, [COPIED, PAGE, 7]);
            let family = kernel.work(CHILD, Work::Load, HEAP.start, [PARENT_HEAP, PAGE, 0]);
            check(family, (PARENT_HEAP - COPIED) * process + COPIED * 7);
            if settings.execs {
                kernel.exec(CHILD);
                child(kernel, settings, process == settings.processes, &mut numbers, &mut check);
            }
            kernel.exit(CHILD);
            kernel.work(PARENT, Work::Store, HEAP.start, [PARENT_HEAP, PAGE, process + 1]);
        }
        rt::mark!(Mark::End(PROCESSES));
        print(name, kernel, settings, wrong);
    }

    /// What a process does between exec and exit.
    fn child(
        kernel: &mut Kernel<'_, impl Manager>,
        settings: &Settings,
        is_long: bool,
        numbers: &mut Numbers,
        check: &mut impl FnMut(u64, u64),
    ) {
        let Settings { calls, passes, .. } = *settings;
        kernel.work(CHILD, Work::Store, LOOSE.start, [STACK, PAGE, 1]);
        let apart = FILE_PAGES as u64 / calls;
        let first = numbers.below(apart);
        let page = kernel.file().start + first as usize;
        for _ in 0..passes {
            kernel.work(CHILD, Work::Call, page, [calls, apart * PAGE, 0]);
            kernel.work(CHILD, Work::Spin, 0, [settings.spins.div_ceil(passes), 0x9E37_79B1, 1]);
        }
        let sum = kernel.work(CHILD, Work::Load, page, [calls, apart * PAGE, 0]);
        check(sum, calls * first + apart * (calls * (calls - 1) / 2));
        let heap = if is_long { HEAP.len() as u64 } else { settings.heap };
        let first = HEAP.start + numbers.below(HEAP.len() as u64 - heap + 1) as usize;
        let value = numbers.next();
        kernel.work(CHILD, Work::Store, first, [heap, PAGE, value]);
        let sum = kernel.work(CHILD, Work::Load, first, [heap, PAGE, 0]);
        check(sum, value.wrapping_mul(heap));
        let mapped = LOOSE.start + PAGES / 2;
        kernel.work(CHILD, Work::Store, mapped, [MAPPED, PAGE, 1]);
        kernel.unmap(CHILD, mapped..mapped + MAPPED as usize);
    }

    fn print(name: &str, kernel: &Kernel<'_, impl Manager>, settings: &Settings, wrong: u64) {
        let processes = settings.processes;
        let sum = |of: fn(&Counts) -> u64| kernel.counts().iter().map(of).sum::<u64>();
        rt::println!(
            "churn: {name}, {processes} processes, {} copies, {wrong} wrong",
            kernel.copies
        );
        rt::println!(
            "churn: {} promotions, {} whole blocks, {} demotions",
            sum(|counts| counts.promotions),
            sum(|counts| counts.whole),
            sum(|counts| counts.demotions)
        );
        rt::println!(
            "churn: {} failed attempts: {} missing, {} misplaced, {} unlike, {} other side, {} waiting; {} records read",
            sum(|counts| counts.failures.total()),
            sum(|counts| counts.failures.missing),
            sum(|counts| counts.failures.misplaced),
            sum(|counts| counts.failures.unlike),
            sum(|counts| counts.failures.other_side),
            sum(|counts| counts.failures.waiting),
            sum(|counts| counts.scanned)
        );
        if !settings.counts {
            return;
        }
        let traffic = kernel.traffic;
        rt::println!(
            "churn: {} faults, {} entries entered, {} taken out by {} removals",
            kernel.faults,
            traffic.entered,
            traffic.removed,
            traffic.removals
        );
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("churn: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
