//! memory-load: loads its memory in one of several ways, job by job, and says how long its jobs took of its own time
//! (VTB), in which others' turns are not.
//!
//! | argument | is | if left out |
//! |---|---|---|
//! | `way=` | `chain`, in which each load waits for the one before; `order`, which reads the memory in its order, a load for each line; `stream`, the four kernels of STREAM; `tick`, which sleeps, and does a job of a chain when it wakes | `chain` |
//! | `set=` | KiB that a chain or `order` goes through, or of each of the three arrays of `stream`, a power of two | 256 |
//! | `job=` | loads of a job, or lines of each array that a kernel goes through | 500 |
//! | `warm=` | jobs before all others | 0 |
//! | `periods=` | it works until others have run so many times between; region 1 is a job. With `stream` each period has the next kernel, which goes on where it was | |
//! | `skipped=` | periods before those that count | 0 |
//! | `period=` | jobs of a period, where nobody else runs long enough to end one | |
//! | `samples=` | how many jobs of those that count it prints the times of, the first ones, 512 at most | 0 |
//! | `for_us=` | instead of `periods`: it goes on for so many microseconds of its time base, and marks no region | |
//! | `every_us=` | with `tick`: for how long it sleeps | 1000 |
//!
//! Of several vCPUs each has such a set of its own. The first one does all of this; the others do jobs, of the same
//! kernel where it is STREAM, until that one has done with it, and mark no region. With `tick` and `order` there is
//! one.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
    use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};

    use arch::marker::{Mark, Region};
    use arch::papr::Hypercall;
    use rt::stream::KERNELS;
    use spin::Mutex;

    rt::main!(memory_load);

    const JOB: Region = Region::new(1).expect("a region number");
    /// Doublewords of a line of the caches.
    const LINE: usize = 16;
    /// Doublewords of a page of the virtual real mode area.
    const PAGE: usize = 512;
    /// Ticks that no job takes, and that others are there for at least when they are.
    const GAP: u64 = 400 * rt::TICKS_PER_MICROSECOND;
    /// Ticks after which others must have been there.
    const ALONE: u64 = 100_000 * rt::TICKS_PER_MICROSECOND;
    const SAMPLES_MAX: usize = 512;
    /// STREAM's factor: 3.0.
    const FACTOR: u64 = 0x4008_0000_0000_0000;

    /// What it does, job by job.
    trait Load {
        fn job(&mut self);
        /// A period is over.
        fn goes_on(&mut self) {}
        /// Does next what the first vCPU does.
        fn joins(&mut self) {}
        /// A job that counts took so many ticks.
        fn note(&mut self, ticks: u64);
        /// Says what those that counted did in their time.
        fn tell(&self);
    }

    struct Chain<'a> {
        words: &'a [u64],
        at: usize,
        loads: u64,
        tally: Tally,
    }

    impl<'a> Chain<'a> {
        fn new(words: &'a mut [u64], loads: u64) -> Self {
            let lines = words.len() / LINE;
            // 5i + 1 goes through all lines of a power of two, and no two steps one behind the other are equally long.
            for line in 0..lines {
                words[line * LINE] = ((5 * line + 1) % lines * LINE) as u64;
            }
            Self { words, at: 0, loads, tally: Tally::default() }
        }
    }

    impl Load for Chain<'_> {
        fn job(&mut self) {
            self.at = follow(self.words, self.at, self.loads);
        }

        fn note(&mut self, ticks: u64) {
            self.tally.note(ticks);
        }

        fn tell(&self) {
            self.tally.tell();
        }
    }

    #[inline(never)]
    fn follow(words: &[u64], mut at: usize, loads: u64) -> usize {
        for _ in 0..loads {
            at = words[at] as usize;
        }
        at
    }

    /// What counted of jobs of one kind.
    #[derive(Default)]
    struct Tally {
        jobs: u64,
        ticks: u64,
    }

    impl Tally {
        fn note(&mut self, ticks: u64) {
            self.jobs += 1;
            self.ticks += ticks;
        }

        fn tell(&self) {
            rt::println!("rate: jobs {} {}", self.jobs, self.ticks);
        }
    }

    struct Order<'a> {
        words: &'a [u64],
        at: usize,
        loads: u64,
        sum: u64,
        tally: Tally,
    }

    impl<'a> Order<'a> {
        fn new(words: &'a mut [u64], loads: u64) -> Self {
            // The first touch of a page is an exit.
            for page in words.chunks_mut(PAGE) {
                page[0] = 0;
            }
            Self { words, at: 0, loads, sum: 0, tally: Tally::default() }
        }
    }

    impl Load for Order<'_> {
        fn job(&mut self) {
            self.at = read(self.words, self.at, self.loads, &mut self.sum);
            // So that every load is one.
            core::hint::black_box(self.sum);
        }

        fn note(&mut self, ticks: u64) {
            self.tally.note(ticks);
        }

        fn tell(&self) {
            self.tally.tell();
        }
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

    struct Stream<'a> {
        arrays: [&'a mut [u64]; 3],
        /// Doublewords of a job.
        job: usize,
        kernel: usize,
        /// Of each kernel: where it is in its arrays, the bytes of its jobs that counted, and their ticks.
        at: [usize; 4],
        bytes: [u64; 4],
        ticks: [u64; 4],
    }

    impl<'a> Stream<'a> {
        fn new(words: &'a mut [u64], lines: usize) -> Self {
            let (a, rest) = words.split_at_mut(words.len() / 3);
            let (b, c) = rest.split_at_mut(rest.len() / 2);
            assert!(
                lines > 0 && a.len().is_multiple_of(lines * LINE),
                "job={lines}: not a part of an array"
            );
            // The first touch of a page is an exit.
            for page in a.chunks_mut(PAGE).chain(b.chunks_mut(PAGE)).chain(c.chunks_mut(PAGE)) {
                page[0] = 0;
            }
            rt::stream::allow();
            let (at, bytes, ticks) = ([0; 4], [0; 4], [0; 4]);
            let mut stream = Self { arrays: [a, b, c], job: LINE, kernel: 0, at, bytes, ticks };
            stream.check();
            stream.job = lines * LINE;
            stream
        }

        /// The first line, by all kernels: 1 and 2 become 3 + 3 * (1 + 3).
        fn check(&mut self) {
            self.arrays[0][..LINE].fill(0x3FF0_0000_0000_0000);
            self.arrays[1][..LINE].fill(0x4000_0000_0000_0000);
            for kernel in 0..KERNELS.len() {
                self.kernel = kernel;
                self.job();
            }
            let is_right = self.arrays[0][..LINE].iter().all(|bits| *bits == 0x402E_0000_0000_0000);
            assert!(is_right, "the kernels make 15 of 1 and 2");
            (self.kernel, self.at) = (0, [0; 4]);
        }
    }

    impl Load for Stream<'_> {
        fn job(&mut self) {
            let at = self.at[self.kernel];
            let part = at..at + self.job;
            let [a, b, c] = self.arrays.each_mut().map(|array| &mut array[part.clone()]);
            let run = KERNELS[self.kernel].run;
            match self.kernel {
                0 => run(c, a, a, FACTOR),
                1 => run(b, c, c, FACTOR),
                2 => run(c, a, b, FACTOR),
                _ => run(a, b, c, FACTOR),
            }
            self.at[self.kernel] = part.end % self.arrays[0].len();
        }

        fn goes_on(&mut self) {
            self.kernel = (self.kernel + 1) % KERNELS.len();
            KERNEL.store(self.kernel, SeqCst);
        }

        fn joins(&mut self) {
            self.kernel = KERNEL.load(SeqCst);
        }

        fn note(&mut self, ticks: u64) {
            self.bytes[self.kernel] += (8 * self.job * KERNELS[self.kernel].arrays) as u64;
            self.ticks[self.kernel] += ticks;
        }

        fn tell(&self) {
            for (kernel, (bytes, ticks)) in KERNELS.iter().zip(self.bytes.iter().zip(self.ticks)) {
                rt::println!("rate: {} {bytes} {ticks}", kernel.name);
            }
        }
    }

    /// The times of the first jobs that count.
    struct Samples {
        ticks: [u64; SAMPLES_MAX],
        count: usize,
        wanted: usize,
    }

    impl Samples {
        fn note(&mut self, ticks: u64) {
            if self.count < self.wanted {
                self.ticks[self.count] = ticks;
                self.count += 1;
            }
        }

        fn tell(&self) {
            if self.count > 0 {
                rt::print(format_args!("samples:"));
                for ticks in &self.ticks[..self.count] {
                    rt::print(format_args!(" {ticks}"));
                }
                rt::print(format_args!("\n"));
            }
        }
    }

    /// When a period is over, and how many there are.
    struct Periods {
        skipped: u64,
        counted: u64,
        /// Jobs of one; with 0 it ends where others have run.
        jobs: u64,
    }

    impl Periods {
        /// Works through all of them. A job of those that count is the region once.
        fn measure(&self, load: &mut impl Load, samples: &mut Samples) {
            let (mut over, mut jobs) = (0, 0);
            let mut last = rt::timebase();
            let mut since = last;
            while over <= self.skipped + self.counted {
                let counts = over > self.skipped;
                if counts {
                    rt::mark!(Mark::Begin(JOB));
                }
                let start = rt::own_time();
                load.job();
                let ticks = rt::own_time() - start;
                let now = rt::timebase();
                if counts {
                    rt::mark!(Mark::End(JOB));
                    load.note(ticks);
                    samples.note(ticks);
                }
                jobs += 1;
                let is_over = if self.jobs == 0 { now - last > GAP } else { jobs == self.jobs };
                if is_over {
                    over += 1;
                    (since, jobs) = (now, 0);
                    load.goes_on();
                }
                assert!(
                    self.jobs > 0 || now - since < ALONE,
                    "nobody else was there for 400 us in 100 ms; give it others, longer slices, or period="
                );
                last = now;
            }
            load.tell();
            samples.tell();
        }
    }

    /// Works as long as the partition's arguments say.
    fn work(partition: &rt::Partition, load: &mut impl Load, between: impl Fn()) {
        for _ in 0..partition.number("warm", 0u64) {
            load.job();
        }
        let number = |name| partition.number(name, 0u64);
        let [counted, skipped, jobs] = ["periods", "skipped", "period"].map(number);
        if counted > 0 {
            let wanted = partition.number("samples", 0usize);
            assert!(wanted <= SAMPLES_MAX, "samples={wanted}: at most {SAMPLES_MAX}");
            let mut samples = Samples { ticks: [0; SAMPLES_MAX], count: 0, wanted };
            Periods { skipped, counted, jobs }.measure(load, &mut samples);
        }
        let (start, limit) = (rt::timebase(), number("for_us") * rt::TICKS_PER_MICROSECOND);
        while rt::timebase() - start < limit {
            between();
            load.job();
        }
    }

    /// By vCPU, the memory that it has.
    static MEMORY: [Mutex<Option<&'static mut [u64]>>; rt::VCPUS_MAX as usize] =
        [const { Mutex::new(None) }; rt::VCPUS_MAX as usize];
    /// What the others do: the loads or lines of a job, whether it is STREAM, and the kernel of the first one's period.
    static LENGTH: AtomicU64 = AtomicU64::new(0);
    static IS_STREAM: AtomicBool = AtomicBool::new(false);
    static KERNEL: AtomicUsize = AtomicUsize::new(0);
    /// The first one has done with its work.
    static IS_OVER: AtomicBool = AtomicBool::new(false);

    /// What each other vCPU runs.
    fn beside(number: u32) {
        let words = MEMORY[number as usize].lock().take().expect("it was given memory");
        let job = LENGTH.load(SeqCst);
        if IS_STREAM.load(SeqCst) {
            go_along(&mut Stream::new(words, job as usize));
        } else {
            go_along(&mut Chain::new(words, job));
        }
    }

    fn go_along(load: &mut impl Load) {
        while !IS_OVER.load(SeqCst) {
            load.joins();
            load.job();
        }
    }

    fn memory_load(partition: rt::Partition) {
        let way = partition.argument("way").unwrap_or("chain");
        let kib = partition.number("set", 256usize);
        assert!(kib.is_power_of_two(), "set={kib}: a power of two was expected");
        let job = partition.number("job", 500u64);
        assert!(job > 0, "job=0: a job has a load at least");
        let memory = partition.take_free_memory();
        let count = if way == "stream" { 3 * (kib << 7) } else { kib << 7 };
        let vcpus = partition.vcpus();
        assert!(
            count * vcpus as usize <= memory.len(),
            "set={kib}: the partition's memory has no room for it"
        );
        assert!(vcpus == 1 || way != "tick" && way != "order", "way={way}: one vCPU does it");
        let (words, others) = memory.split_at_mut(count);
        LENGTH.store(job, SeqCst);
        IS_STREAM.store(way == "stream", SeqCst);
        for (number, part) in (1..vcpus).zip(others.chunks_exact_mut(count)) {
            *MEMORY[number as usize].lock() = Some(part);
            assert_eq!(rt::start_vcpu(number, beside), 0, "start-cpu");
        }
        match way {
            "chain" => work(&partition, &mut Chain::new(words, job), || {}),
            "order" => work(&partition, &mut Order::new(words, job), || {}),
            "stream" => work(&partition, &mut Stream::new(words, job as usize), || {}),
            "tick" => {
                let ticks = partition.number("every_us", 1000u64) * rt::TICKS_PER_MICROSECOND;
                work(&partition, &mut Chain::new(words, job), || rt::sleep(ticks));
            }
            other => panic!("way={other}: chain, order, stream or tick was expected"),
        }
        IS_OVER.store(true, SeqCst);
        for number in 1..vcpus {
            while !rt::is_stopped(number) {
                rt::hypercall(Hypercall::Confer as u64, [u64::MAX, 0, 0, 0]);
            }
        }
        rt::println!("memory-load: {way} of {kib} KiB, done");
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("memory-load: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
