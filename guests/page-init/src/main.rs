//! page-init: lets the hypervisor work on pages of its memory by H_PAGE_INIT, which has to map each.
//!
//! All vCPUs make the same number of calls, each on pages of its own. The first one marks the region, from when all
//! are ready to when all have done. Each other one that has done goes on calling until then, so that the last one is
//! no less disturbed.
//!
//! | argument | says | usual |
//! |---|---|---|
//! | `calls=N` | how many calls of each vCPU are measured | 2000 |
//! | `frames=N` | on how many frames of 64 KiB, one after another | 1 |
//! | `again=N` | how many calls on a frame, before the next one has its turn | 1 |
//! | `apart=N` | how many frames lie between two of these | 1 |
//! | `flags=zero`, `copy`, `none` | the call zeroes a page, copies one in the same frame, or does nothing | `zero` |
//! | `work=N` | divisions before each call, each of which waits for the one before, on average | 0 |
//! | `seed=N` | of the random numbers by which those differ: from half of `work` to one and a half | 1 |
//!
//! vCPUs do not call in step: each begins at a random time within `work`, and what is before its calls differs. It is
//! the same for all vCPUs and seeds in all of an even number of calls, so that what is left between two runs is the
//! hypervisor's.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
    use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};

    use arch::marker::{Mark, Region};
    use arch::papr::page::{COPY, ZERO};
    use arch::papr::status::H_SUCCESS;
    use arch::papr::{ALL_OTHERS, Hypercall};
    use rt::pace::{Pace, work};

    rt::main!(page_init);

    const REGION: Region = Region::new(1).expect("a region number");
    const FRAME_BYTES: u64 = 0x1_0000;
    const PAGE_BYTES: u64 = 0x1000;

    static FIRST: AtomicU64 = AtomicU64::new(0);
    static FRAMES: AtomicU64 = AtomicU64::new(1);
    static AGAIN: AtomicU64 = AtomicU64::new(1);
    static APART: AtomicU64 = AtomicU64::new(1);
    static FLAGS: AtomicU64 = AtomicU64::new(0);
    static WORK: AtomicU64 = AtomicU64::new(0);
    static SEED: AtomicU64 = AtomicU64::new(1);
    static CALLS: AtomicU64 = AtomicU64::new(0);
    static VCPUS: AtomicU32 = AtomicU32::new(1);
    /// vCPUs that are ready to be measured.
    static READY: AtomicU32 = AtomicU32::new(0);
    /// What is measured has begun.
    static GOES: AtomicU32 = AtomicU32::new(0);
    /// vCPUs that have made the calls that are measured.
    static DONE: AtomicU32 = AtomicU32::new(0);

    /// Rounds of a loop that waits, before whoever waits lets another vCPU run: a call each time would keep those
    /// busy that it waits for, by the hypervisor's locks.
    const PATIENCE: u32 = 10_000;

    /// What one vCPU calls with.
    struct Caller {
        first: u64,
        frames: u64,
        again: u64,
        step: u64,
        flags: u64,
        pace: Pace,
        frame: u64,
        calls_on_frame: u64,
    }

    impl Caller {
        fn new(number: u32) -> Self {
            let (frames, step) = (FRAMES.load(SeqCst), APART.load(SeqCst) * FRAME_BYTES);
            Self {
                first: FIRST.load(SeqCst) + u64::from(number) * frames * step,
                frames,
                again: AGAIN.load(SeqCst),
                step,
                flags: FLAGS.load(SeqCst),
                pace: Pace::new(0, 0, 0),
                frame: 0,
                calls_on_frame: 0,
            }
        }

        /// One call; what it was not answered with.
        fn call(&mut self) -> i64 {
            work(self.pace.rounds());
            let to = self.first + self.frame * self.step;
            self.calls_on_frame += 1;
            if self.calls_on_frame == self.again {
                self.calls_on_frame = 0;
                self.frame = if self.frame + 1 == self.frames { 0 } else { self.frame + 1 };
            }
            let arguments = [self.flags, to, to + PAGE_BYTES, 0];
            rt::hypercall(Hypercall::PageInit as u64, arguments) ^ H_SUCCESS
        }

        /// So many.
        fn calls(&mut self, count: u64) -> i64 {
            (0..count).fold(0, |answers, _| answers | self.call())
        }

        /// Calls before those that are measured: the partition gets the memory with them, and caches have what they can
        /// have. Each is on the next frame.
        fn warm_up(&mut self) -> i64 {
            let again = core::mem::replace(&mut self.again, 1);
            let answers = self.calls((self.frames * 3 / 2).max(20));
            self.again = again;
            answers
        }

        /// The calls that are measured, of a vCPU.
        fn measured(&mut self, number: u32) -> i64 {
            let (rounds, calls) = (WORK.load(SeqCst), CALLS.load(SeqCst));
            self.pace = Pace::new(rounds, calls, SEED.load(SeqCst) << 6 | u64::from(number));
            let late = self.pace.late();
            // Nor do they come to the next frame at the same call.
            self.calls_on_frame = u64::from(number) % self.again;
            work(late);
            let answers = self.calls(calls);
            work(rounds - late);
            DONE.fetch_add(1, SeqCst);
            answers
        }
    }

    fn page_init(partition: rt::Partition) {
        rt::enable_translation(partition.memory_bytes());
        let calls = partition.number("calls", 2000);
        let (frames, apart) = (partition.number("frames", 1), partition.number("apart", 1));
        let flags = match partition.argument("flags") {
            None | Some("zero") => ZERO,
            Some("copy") => COPY,
            Some("none") => 0,
            Some(other) => panic!("flags={other}: zero, copy and none are known"),
        };
        let (vcpus, free) = (partition.vcpus(), partition.free_memory());
        let bytes = u64::from(vcpus) * frames * apart * FRAME_BYTES;
        assert!(bytes <= free.end - free.start, "{bytes} bytes are more than there are");
        for (place, value) in [
            (&FIRST, free.start),
            (&FRAMES, frames),
            (&AGAIN, partition.number("again", 1)),
            (&APART, apart),
            (&FLAGS, flags),
            (&WORK, partition.number("work", 0)),
            (&SEED, partition.number("seed", 1)),
            (&CALLS, calls),
        ] {
            place.store(value, SeqCst);
        }
        VCPUS.store(vcpus, SeqCst);
        // The partition gets all of the memory, and nobody waits for the hypervisor to zero it.
        let mut answers = (1..vcpus).fold(0, |all, number| all | Caller::new(number).warm_up());
        let mut caller = Caller::new(0);
        answers |= caller.warm_up();
        for number in 1..vcpus {
            assert_eq!(rt::start_vcpu(number, others), 0, "start-cpu");
        }
        wait(|| READY.load(SeqCst) + 1 == vcpus);
        rt::mark!(Mark::Begin(REGION));
        GOES.store(1, SeqCst);
        answers |= caller.measured(0);
        wait(|| DONE.load(SeqCst) == vcpus);
        rt::mark!(Mark::End(REGION));
        for number in 1..vcpus {
            while !rt::is_stopped(number) {
                confer();
            }
        }
        let not = if answers == 0 { "" } else { "not always " };
        rt::println!("page-init: {calls} calls, {vcpus} vCPUs, answer {not}H_SUCCESS");
    }

    /// What every other vCPU does.
    fn others(number: u32) {
        rt::join_translation();
        let mut caller = Caller::new(number);
        let mut answers = caller.warm_up();
        READY.fetch_add(1, SeqCst);
        wait(|| GOES.load(SeqCst) != 0);
        answers |= caller.measured(number);
        while DONE.load(SeqCst) < VCPUS.load(SeqCst) {
            answers |= caller.call();
        }
        assert_eq!(answers, 0, "H_PAGE_INIT of vCPU {number}");
    }

    /// Waits until something is the case.
    fn wait(is_so: impl Fn() -> bool) {
        while !(0..PATIENCE).any(|_| is_so()) {
            confer();
        }
    }

    /// Lets another vCPU run.
    fn confer() {
        rt::hypercall(Hypercall::Confer as u64, [ALL_OTHERS, 0, 0, 0]);
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("page-init: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
