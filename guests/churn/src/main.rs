//! churn: many short processes, of which few live long enough that superpages pay, under a small kernel whose
//! processes run in problem state. For a partition with a hashed page table, or as a kernel of its own (`churn-bare`).
//!
//! A process forks, copies pages that it stores into, execs a file of 24 MiB that is in memory, calls functions all
//! over it, stores into its heap, maps and unmaps, works in registers, and exits; its parent waits.
//!
//! | argument | what it does |
//! |---|---|
//! | `superpages=W` | `ours`, as without it; `ours-off`: its code, that makes none; `ours-without`: the same code, without what makes large pages and asks for them; `faithful`, `off` and `without`: the way of FreeBSD's review D25237, its code with superpages off, and the code without them; `first`: the way of its first diff, which has entries of two sizes for an address while it promotes |
//! | `exec=W` | `blocks`, as without it: exec enters all of the file, in whole blocks where superpages are on; `apart`: the same, and the file is not congruent with its memory; `mapped`: it enters 96 pages, a whole block counting as one; `pages`: 96 pages, and no whole blocks |
//! | `threads=N` | hardware threads, or vCPUs, 1 to 8, each of which has processes of its own, one at a time; 1 without it |
//! | `processes=N` | how many of each thread; 4 without it |
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
//! Region 1 is all processes, from when all threads are ready to when all are through. With one thread and two vCPUs
//! the second one stops itself before, so that it has run where nobody says it has nothing cached.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod kernel;
#[cfg(target_os = "none")]
mod memory;
#[cfg(target_os = "none")]
mod threads;

#[cfg(target_os = "none")]
mod payload {
    use core::sync::atomic::{AtomicU64, Ordering};

    use arch::marker::{Mark, Region};
    use process::{Traffic, Work};
    use rt::random::Numbers;
    use spin::Mutex;
    use superpages::{Counts, Faithful, Manager, Ours, PAGE_LOG2, PAGES, Promotion};

    use crate::kernel::{Exec, HEAP, Kernel, LOOSE};
    use crate::memory::{ARENA, BLOCKS, FILE_PAGES, Memory, SPACES, THREADS};
    use crate::threads;

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

    /// The first thread's address spaces, which the others copy while they are empty.
    type Spaces<M> = Mutex<[M; SPACES]>;
    static OURS: Spaces<Ours<BLOCKS, BLOCKS>> = Mutex::new([const { Ours::new(false) }; SPACES]);
    static OURS_WITHOUT: Spaces<Ours<BLOCKS, BLOCKS, false>> =
        Mutex::new([const { Ours::new(false) }; SPACES]);
    static FAITHFUL: Spaces<Faithful<BLOCKS, true>> =
        Mutex::new([const { Faithful::new(Promotion::Never) }; SPACES]);
    static WITHOUT: Spaces<Faithful<BLOCKS, false>> =
        Mutex::new([const { Faithful::new(Promotion::Never) }; SPACES]);
    /// The greatest of them.
    type Greatest = [Faithful<BLOCKS, true>; SPACES];
    const _: () = assert!(size_of::<[Ours<BLOCKS, BLOCKS>; SPACES]>() <= size_of::<Greatest>());

    static JOB: Mutex<Option<Job>> = Mutex::new(None);
    /// What all threads have done.
    static DONE: Mutex<Done> = Mutex::new(Done::NONE);
    /// Threads that have come to a point, one after the other.
    static HAVE_SPACES: AtomicU64 = AtomicU64::new(0);
    static ARE_READY: AtomicU64 = AtomicU64::new(0);
    static MAY_BEGIN: AtomicU64 = AtomicU64::new(0);
    static ARE_THROUGH: AtomicU64 = AtomicU64::new(0);

    /// Waits until so many have come to a point.
    fn wait_for(point: &AtomicU64, threads: u64) {
        while point.load(Ordering::Acquire) < threads {
            core::hint::spin_loop();
        }
    }

    fn come_to(point: &AtomicU64) {
        point.fetch_add(1, Ordering::Release);
    }

    /// What each thread does.
    #[derive(Clone, Copy)]
    struct Job {
        name: &'static str,
        exec: Exec,
        memory: Memory,
        threads: u64,
        processes: u64,
        calls: u64,
        passes: u64,
        heap: u64,
        spins: u64,
        seed: u64,
        counts: bool,
        execs: bool,
    }

    struct Done {
        wrong: u64,
        copies: u64,
        faults: u64,
        traffic: Traffic,
        counts: [Counts; THREADS * SPACES],
    }

    impl Done {
        const NONE: Self = Self {
            wrong: 0,
            copies: 0,
            faults: 0,
            traffic: Traffic { entered: 0, removed: 0, removals: 0, cleared: 0 },
            counts: [Counts::NONE; THREADS * SPACES],
        };
    }

    fn churn(partition: rt::Partition) {
        assert!(rt::hash::is_used(), "churn needs translation = \"hash\"");
        let threads = partition.number("threads", 1);
        assert!(
            (1..=THREADS as u64).contains(&threads),
            "threads={threads}: a number from 1 to {THREADS} was expected"
        );
        threads::prepare(&partition, threads);
        rt::enable_translation(partition.memory_bytes());
        rt::take_naps(&partition);
        let job = Job {
            name: partition.argument("superpages").unwrap_or("ours"),
            exec: match partition.argument("exec").unwrap_or("blocks") {
                "blocks" => Exec::Blocks,
                "apart" => Exec::Apart,
                "mapped" => Exec::Mapped,
                "pages" => Exec::Pages,
                other => panic!("exec={other}: blocks, apart, mapped and pages are known"),
            },
            memory: Memory::take::<Greatest>(&partition, threads as usize),
            threads,
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
        let is_in_range = (1..=HEAP.len() as u64).contains(&job.heap)
            && (1..=FILE_PAGES as u64).contains(&job.calls)
            && job.processes > 0
            && job.passes > 0
            && job.spins > 0;
        assert!(
            is_in_range,
            "heap from 1 to {}, calls from 1 to {FILE_PAGES}, and processes, passes and spins from 1 were expected",
            HEAP.len()
        );
        OURS.lock().iter_mut().for_each(|space| space.set_promotes(job.name == "ours"));
        FAITHFUL
            .lock()
            .iter_mut()
            .for_each(|space| space.set_promotion(Promotion::of_variant(job.name)));
        *JOB.lock() = Some(job);
        threads::run(&partition, threads, thread);
        wait_for(&ARE_THROUGH, threads);
        rt::mark!(Mark::End(PROCESSES));
        print(&job, &DONE.lock());
    }

    /// What the thread with this number does.
    fn thread(number: u64) {
        rt::set_decrementer(rt::NEVER);
        let job = JOB.lock().expect("there is a job before there are threads");
        match job.name {
            "ours" | "ours-off" => with_spaces(&OURS, number, &job),
            "ours-without" => with_spaces(&OURS_WITHOUT, number, &job),
            "faithful" | "first" | "off" => with_spaces(&FAITHFUL, number, &job),
            "without" => with_spaces(&WITHOUT, number, &job),
            other => {
                panic!(
                    "superpages={other}: without, off, faithful, first, ours-without, ours-off and ours are known"
                )
            }
        }
    }

    fn with_spaces<M: Manager + Copy>(first: &'static Spaces<M>, number: u64, job: &Job) {
        if number == 0 {
            wait_for(&HAVE_SPACES, job.threads - 1);
            return run(number, &mut first.lock(), job);
        }
        let spaces = ARENA.lock().keep(&*first.lock());
        come_to(&HAVE_SPACES);
        run(number, spaces, job);
    }

    fn run<M: Manager>(number: u64, spaces: &mut [M; SPACES], job: &Job) {
        let thread = number as usize;
        let kernel = &mut Kernel::new(thread, spaces, job.memory, job.exec);
        let mut numbers = Numbers::new(job.seed + (number << 32));
        let mut wrong = 0;
        let mut check = |is: u64, expected: u64| wrong += u64::from(is != expected);
        kernel.exec(PARENT);
        kernel.work(PARENT, Work::Store, LOOSE.start, [STACK, PAGE, 1]);
        kernel.work(PARENT, Work::Store, HEAP.start, [PARENT_HEAP, PAGE, 1]);

        if number == 0 {
            wait_for(&ARE_READY, job.threads - 1);
            rt::mark!(Mark::Begin(PROCESSES));
            come_to(&MAY_BEGIN);
        } else {
            come_to(&ARE_READY);
            wait_for(&MAY_BEGIN, 1);
        }
        for process in 1..=job.processes {
            let family = kernel.work(PARENT, Work::Load, HEAP.start, [PARENT_HEAP, PAGE, 0]);
            check(family, PARENT_HEAP * process);
            let heap = HEAP.start..HEAP.start + PARENT_HEAP as usize;
            kernel.fork(PARENT, CHILD, [LOOSE.start..LOOSE.start + STACK as usize, heap]);
            kernel.work(CHILD, Work::Store, HEAP.start, [COPIED, PAGE, 7]);
            let family = kernel.work(CHILD, Work::Load, HEAP.start, [PARENT_HEAP, PAGE, 0]);
            check(family, (PARENT_HEAP - COPIED) * process + COPIED * 7);
            if job.execs {
                kernel.exec(CHILD);
                child(kernel, job, process == job.processes, &mut numbers, &mut check);
            }
            kernel.exit(CHILD);
            kernel.work(PARENT, Work::Store, HEAP.start, [PARENT_HEAP, PAGE, process + 1]);
        }
        let mut done = DONE.lock();
        done.wrong += wrong;
        done.copies += kernel.copies;
        done.faults += kernel.faults;
        done.traffic.add(&kernel.traffic);
        done.counts[thread * SPACES..][..SPACES].copy_from_slice(&kernel.counts());
        come_to(&ARE_THROUGH);
    }

    /// What a process does between exec and exit.
    fn child(
        kernel: &mut Kernel<'_, impl Manager>,
        job: &Job,
        is_long: bool,
        numbers: &mut Numbers,
        check: &mut impl FnMut(u64, u64),
    ) {
        let Job { calls, passes, .. } = *job;
        kernel.work(CHILD, Work::Store, LOOSE.start, [STACK, PAGE, 1]);
        let apart = FILE_PAGES as u64 / calls;
        let first = numbers.below(apart);
        let page = kernel.file().start + first as usize;
        for _ in 0..passes {
            kernel.work(CHILD, Work::Call, page, [calls, apart * PAGE, 0]);
            kernel.work(CHILD, Work::Spin, 0, [job.spins.div_ceil(passes), 0x9E37_79B1, 1]);
        }
        let sum = kernel.work(CHILD, Work::Load, page, [calls, apart * PAGE, 0]);
        check(sum, calls * first + apart * (calls * (calls - 1) / 2));
        let heap = if is_long { HEAP.len() as u64 } else { job.heap };
        let first = HEAP.start + numbers.below(HEAP.len() as u64 - heap + 1) as usize;
        let value = numbers.next();
        kernel.work(CHILD, Work::Store, first, [heap, PAGE, value]);
        let sum = kernel.work(CHILD, Work::Load, first, [heap, PAGE, 0]);
        check(sum, value.wrapping_mul(heap));
        let mapped = LOOSE.start + PAGES / 2;
        kernel.work(CHILD, Work::Store, mapped, [MAPPED, PAGE, 1]);
        kernel.unmap(CHILD, mapped..mapped + MAPPED as usize);
    }

    fn print(job: &Job, done: &Done) {
        let (name, processes) = (job.name, job.threads * job.processes);
        let sum = |of: fn(&Counts) -> u64| done.counts.iter().map(of).sum::<u64>();
        rt::println!(
            "churn: {name}, {processes} processes, {} copies, {} wrong",
            done.copies,
            done.wrong
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
        if job.counts {
            rt::println!(
                "churn: {} faults, {} entries entered, {} taken out by {} removals",
                done.faults,
                done.traffic.entered,
                done.traffic.removed,
                done.traffic.removals
            );
        }
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("churn: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
