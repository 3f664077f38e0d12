//! page-init: lets the hypervisor work on pages of its memory by H_PAGE_INIT, which has to map each.
//!
//! The first vCPU makes the calls between two marks. All others make the same calls, on pages of their own,
//! from before it begins until it has ended.
//!
//! | argument | says | usual |
//! |---|---|---|
//! | `calls=N` | how many calls are measured | 2000 |
//! | `frames=N` | on how many frames of 64 KiB, one after another | 1 |
//! | `apart=N` | how many frames lie between two of these | 1 |
//! | `flags=zero`, `copy`, `none` | what the call does: zeroes a page, copies one in the same frame, or nothing | `zero` |
//! | `work=N` | rounds of a short loop before each call | 0 |

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
    use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};

    use arch::marker::{Mark, Region};
    use arch::papr::page::{COPY, ZERO};
    use arch::papr::status::H_SUCCESS;
    use arch::papr::{ALL_OTHERS, Hypercall};

    rt::main!(page_init);

    const CALLS: u64 = 2000;
    const REGION: Region = Region::new(1).expect("a region number");
    const FRAME_BYTES: u64 = 0x1_0000;
    const PAGE_BYTES: u64 = 0x1000;

    static FIRST: AtomicU64 = AtomicU64::new(0);
    static FRAMES: AtomicU64 = AtomicU64::new(1);
    static APART: AtomicU64 = AtomicU64::new(1);
    static FLAGS: AtomicU64 = AtomicU64::new(0);
    static WORK: AtomicU64 = AtomicU64::new(0);
    /// The memory of all vCPUs may be used.
    static BEGUN: AtomicU32 = AtomicU32::new(0);
    /// vCPUs that are under way.
    static READY: AtomicU32 = AtomicU32::new(0);
    /// What was measured is over.
    static ENDED: AtomicU32 = AtomicU32::new(0);

    /// What one vCPU calls with.
    struct Caller {
        first: u64,
        frames: u64,
        step: u64,
        flags: u64,
        work: u64,
        next: u64,
    }

    impl Caller {
        fn new(number: u32) -> Self {
            let (frames, step) = (FRAMES.load(SeqCst), APART.load(SeqCst) * FRAME_BYTES);
            let first = FIRST.load(SeqCst) + u64::from(number) * frames * step;
            let (flags, work) = (FLAGS.load(SeqCst), WORK.load(SeqCst));
            Self { first, frames, step, flags, work, next: 0 }
        }

        /// One call; what it was not answered with.
        fn call(&mut self) -> i64 {
            (0..self.work).for_each(|round| _ = core::hint::black_box(round));
            let to = self.first + self.next * self.step;
            self.next = if self.next + 1 == self.frames { 0 } else { self.next + 1 };
            let arguments = [self.flags, to, to + PAGE_BYTES, 0];
            rt::hypercall(Hypercall::PageInit as u64, arguments) ^ H_SUCCESS
        }
    }

    fn page_init(partition: rt::Partition) {
        rt::enable_translation(partition.memory_bytes());
        let calls = partition.number("calls", CALLS);
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
        FIRST.store(free.start, SeqCst);
        FRAMES.store(frames, SeqCst);
        APART.store(apart, SeqCst);
        FLAGS.store(flags, SeqCst);
        WORK.store(partition.number("work", 0), SeqCst);
        for number in 1..vcpus {
            assert_eq!(rt::start_vcpu(number, others), 0, "start-cpu");
        }
        let mut caller = Caller::new(0);
        let mut answers = 0;
        // The partition gets the memory with these.
        for _ in 0..frames.max(calls / 10) {
            answers |= caller.call();
        }
        BEGUN.store(1, SeqCst);
        while READY.load(SeqCst) + 1 < vcpus {
            confer();
        }
        rt::mark!(Mark::Begin(REGION));
        for _ in 0..calls {
            answers |= caller.call();
        }
        rt::mark!(Mark::End(REGION));
        ENDED.store(1, SeqCst);
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
        while BEGUN.load(SeqCst) == 0 {
            confer();
        }
        let mut caller = Caller::new(number);
        let mut answers = 0;
        for _ in 0..FRAMES.load(SeqCst) + 20 {
            answers |= caller.call();
        }
        READY.fetch_add(1, SeqCst);
        while ENDED.load(SeqCst) == 0 {
            answers |= caller.call();
        }
        assert_eq!(answers, 0, "H_PAGE_INIT of vCPU {number}");
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
