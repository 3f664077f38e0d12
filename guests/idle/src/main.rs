//! idle: vCPUs that wait in one state, and what it costs: themselves when they wake, and a sibling that works
//! meanwhile.
//!
//! | `test=` | what happens |
//! |---|---|
//! | `timer` | the first vCPU sleeps until its decrementer expires; the others are idle |
//! | `ipi` | the last vCPU sleeps until the first sends it an interrupt; the others are idle |
//! | `records` | the first vCPU works in region 1; the others are idle |
//!
//! `state=snooze`, `stop` or `cede` says how those wait that are idle; `samples=N`, at most 256, how often
//! somebody wakes; `records=N` how much work there is; `seed=N` chooses when, `ticks=N` after the vCPU before
//! woke or up to `chance=N` later. `psscr=N` is what the vCPUs write to PSSCR, if not what the device tree
//! says. A sample is in ticks of the time base, from the event to the first line behind the wait, the
//! interrupt's handler included; the host makes figures of all of them.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod records;

#[cfg(target_os = "none")]
mod payload {
    use core::fmt;
    use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};

    use arch::interrupt::Vector;
    use arch::marker::{Mark, Region};
    use arch::papr::Hypercall;
    use rt::idle::{self, State};
    use rt::random::Numbers;

    use crate::records;

    rt::main!(idle_vcpus);
    rt::interrupts_at_medium_priority!();

    /// So far that it does not expire during the run.
    const NEVER: u64 = 1 << 50;
    /// The usual ticks for which a vCPU sleeps at least, and what comes by chance: 20 to 40 us of a 512 MHz time base.
    const TICKS: u64 = 10_240;
    /// Waits before the first that counts.
    const WARM_UP: u64 = 10;
    const SAMPLES_MAX: usize = 256;
    const PRIORITY: u64 = 4;
    const NO_REQUEST: u64 = 0xFF;
    /// The source of an interrupt between vCPUs, in what H_XIRR gives.
    const BETWEEN_VCPUS: u64 = 2;
    const ALL: Region = Region::new(1).expect("a region number");

    /// How idle vCPUs wait, as the place in [`STATES`].
    static STATE: AtomicU32 = AtomicU32::new(0);
    const STATES: [State; 3] = [State::Snooze, State::Stop, State::Cede];
    /// PSSCR for `stop`, if the partition has it as a feature.
    static PSSCR: AtomicU64 = AtomicU64::new(0);
    /// vCPUs that have started.
    static READY: AtomicU32 = AtomicU32::new(0);
    /// What the one vCPU that is woken was woken for: need-resched.
    static IS_NEEDED: AtomicBool = AtomicBool::new(false);
    /// The vCPU that interrupts between vCPUs go to.
    static SLEEPER: AtomicU32 = AtomicU32::new(0);
    /// Interrupts between vCPUs that should not have come.
    static SPURIOUS: AtomicU32 = AtomicU32::new(0);
    /// When the last interrupt was sent, and how many samples there are.
    static SENT: AtomicU64 = AtomicU64::new(0);
    static COUNT: AtomicU64 = AtomicU64::new(0);
    static SAMPLES: [AtomicU64; SAMPLES_MAX] = [const { AtomicU64::new(0) }; SAMPLES_MAX];

    fn idle_vcpus(partition: rt::Partition) {
        let test = partition.argument("test").unwrap_or("timer");
        let name = partition.argument("state").unwrap_or("snooze");
        let state = State::from_name(name).unwrap_or_else(|| panic!("state={name}: not known"));
        let samples = partition.number("samples", 60);
        assert!(samples <= SAMPLES_MAX as u64, "samples={samples}: at most {SAMPLES_MAX}");
        let random = Numbers::new(partition.number("seed", 1));
        let [ticks, chance] = ["ticks", "chance"].map(|name| partition.number(name, TICKS));
        let times = Times { random, ticks, chance: chance.max(1) };
        let vcpus = partition.vcpus();
        let place = STATES.iter().position(|other| *other == state);
        STATE.store(place.expect("a state") as u32, SeqCst);
        let psscr = partition.stop_psscr();
        PSSCR.store(partition.number("psscr", psscr.unwrap_or(0)), SeqCst);
        SLEEPER.store(vcpus - 1, SeqCst);
        rt::enable_translation(partition.memory_bytes());
        rt::on_interrupt(Vector::Decrementer, expired);
        rt::on_interrupt(Vector::External, interrupted);
        set_up();
        for number in 1..vcpus {
            let is_woken = test == "ipi" && number == vcpus - 1;
            let main = if is_woken { sleep_for_samples } else { sleep };
            assert_eq!(rt::start_vcpu(number, main), 0, "start-cpu");
        }
        while READY.load(SeqCst) < vcpus {
            rt::hypercall(Hypercall::Confer as u64, [u64::MAX, 0, 0, 0]);
        }
        let feature = if psscr.is_some() { "has guest-stop" } else { "has no guest-stop" };
        rt::println!("idle: the partition {feature}");
        match test {
            "timer" => timer(state, samples, times),
            "ipi" => {
                assert!(vcpus > 1, "test=ipi needs two vCPUs");
                send_interrupts(samples, times);
            }
            "records" => {
                let memory = partition.take_free_memory();
                return records::work(memory, partition.number("records", 200));
            }
            other => panic!("test={other}: not known"),
        }
        let spurious = SPURIOUS.load(SeqCst);
        rt::println!("idle: {test}, {samples} samples, {spurious} spurious interrupts");
        rt::println!("samples: {}", Samples(samples as usize));
    }

    /// The samples, in ticks, as the host reads them.
    struct Samples(usize);

    impl fmt::Display for Samples {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            SAMPLES[..self.0].iter().try_for_each(|sample| write!(f, "{} ", sample.load(SeqCst)))
        }
    }

    /// What each vCPU does first.
    fn set_up() {
        rt::hypercall(Hypercall::Cppr as u64, [0xFF, 0, 0, 0]);
        rt::set_decrementer(NEVER);
        idle::set_psscr(PSSCR.load(SeqCst));
        READY.fetch_add(1, SeqCst);
    }

    fn expired(_: &mut rt::Frame) {
        rt::set_decrementer(NEVER);
        IS_NEEDED.store(true, SeqCst);
    }

    /// Accepts an interrupt between vCPUs, takes the request back and ends it, as Linux does.
    fn interrupted(_: &mut rt::Frame) {
        let (_, [xirr, ..]) = rt::hypercall_outputs(Hypercall::Xirr as u64, [0; 4]);
        let own = u64::from(SLEEPER.load(SeqCst));
        rt::hypercall(Hypercall::Ipi as u64, [own, NO_REQUEST, 0, 0]);
        if xirr & 0xFF_FFFF == BETWEEN_VCPUS {
            IS_NEEDED.store(true, SeqCst);
        } else {
            SPURIOUS.fetch_add(1, SeqCst);
        }
        rt::hypercall(Hypercall::Eoi as u64, [xirr, 0, 0, 0]);
    }

    /// Waits until the interrupt's handler has set the flag.
    #[inline(always)]
    fn wait(state: State) {
        state.wait(|| IS_NEEDED.load(SeqCst));
        IS_NEEDED.store(false, SeqCst);
    }

    fn state() -> State {
        STATES[STATE.load(SeqCst) as usize]
    }

    /// Another vCPU, for which nothing ever comes.
    fn sleep(_: u32) {
        rt::join_translation();
        set_up();
        state().wait(|| false);
    }

    /// The vCPU to which the first sends interrupts.
    fn sleep_for_samples(_: u32) {
        rt::join_translation();
        set_up();
        let state = state();
        loop {
            wait(state);
            let now = rt::timebase();
            add_sample(now - SENT.load(SeqCst));
        }
    }

    fn add_sample(ticks: u64) {
        let count = COUNT.fetch_add(1, SeqCst);
        if count >= WARM_UP {
            SAMPLES[(count - WARM_UP) as usize].store(ticks, SeqCst);
        }
    }

    /// When somebody is woken.
    struct Times {
        random: Numbers,
        ticks: u64,
        chance: u64,
    }

    /// Calls `wake` so many times between marks, each with a time by chance; and before, for caches to be as
    /// they will be.
    #[inline(always)]
    fn repeat(samples: u64, mut times: Times, mut wake: impl FnMut(u64)) {
        let mut repeat = |count| {
            for _ in 0..count {
                wake(times.ticks + times.random.below(times.chance));
            }
        };
        repeat(WARM_UP);
        rt::mark!(Mark::Begin(ALL));
        repeat(samples);
        rt::mark!(Mark::End(ALL));
    }

    fn timer(state: State, samples: u64, times: Times) {
        repeat(samples, times, |ticks| {
            let start = rt::timebase();
            rt::set_decrementer(ticks);
            wait(state);
            add_sample(rt::timebase() - start - ticks);
        });
    }

    fn send_interrupts(samples: u64, times: Times) {
        let sleeper = u64::from(SLEEPER.load(SeqCst));
        repeat(samples, times, |ticks| {
            let start = rt::timebase();
            while rt::timebase() - start < ticks {}
            let count = COUNT.load(SeqCst);
            SENT.store(rt::timebase(), SeqCst);
            let status = rt::hypercall(Hypercall::Ipi as u64, [sleeper, PRIORITY, 0, 0]);
            assert_eq!(status, 0, "H_IPI");
            while COUNT.load(SeqCst) == count {}
        });
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("idle: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
