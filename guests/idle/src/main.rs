//! idle: vCPUs that wait in one state, or as they have learned, and what it costs: themselves when they wake, and a
//! sibling that works meanwhile.
//!
//! | `test=` | what happens |
//! |---|---|
//! | `timer` | the first vCPU sleeps until its decrementer expires; the others are idle |
//! | `ipi` | the last vCPU sleeps until the first sends it an interrupt; the others are idle |
//! | `records` | the first vCPU works in region 1; the others are idle |
//! | `switch` | the first two vCPUs wake each other in turn; the others are idle |
//! | `both` | the second and the third wake each other in turn, while the first works in region 1 |
//! | `bimodal` | the last wakes the second after a short and after a long time in turn, while the first works in region 1 |
//! | `adversarial` | the same, but as soon as it sleeps, and after a long time if it does not |
//! | `overcommit` | the second sleeps until its decrementer expires, again and again, while the first works in region 1 |
//!
//! `state=snooze`, `stop`, `cede` or `adaptive` says how those wait that are idle; `samples=N`, at most 256, how often
//! somebody wakes; `records=N` how much work there is; `seed=N` chooses when, `ticks=N` after the vCPU before
//! woke or up to `chance=N` later; `short=N` and `long=N` are ticks of the last three tests;
//! `warm-up=N` waits come before the first that counts. `psscr=N` is what the vCPUs write
//! to PSSCR, if not what the device tree says.
//!
//! A sample is in ticks of the time base, from the event to the first line behind the wait, the interrupt's handler
//! included; of vCPUs that wake each other, from one's turn to its next. The host makes figures of all of them. Where
//! somebody works there are as many as happen meanwhile, of which the last 256 count.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod records;

#[cfg(target_os = "none")]
mod payload {
    use core::fmt;
    use core::sync::atomic::Ordering::{Relaxed, SeqCst};
    use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

    use arch::interrupt::Vector;
    use arch::marker::{Mark, Region};
    use arch::papr::Hypercall;
    use rt::governor::Governor;
    use rt::idle::{self, Adaptive, Idle, State, Waiter};
    use rt::random::Numbers;

    use crate::records;

    rt::main!(idle_vcpus);
    rt::interrupts_at_medium_priority!();

    /// The usual ticks for which a vCPU sleeps at least, and what comes by chance: 20 to 40 us of a 512 MHz time base.
    const TICKS: u64 = 10_240;
    /// The usual short and long wait: 1 and 100 us.
    const LENGTHS: [(&str, u64); 2] = [("short", 512), ("long", 51_200)];
    /// How many waits come usually before the first that counts.
    const WARM_UP: u64 = 10;
    /// Looks for the other vCPUs before the first lets them have its hardware thread: some hundred microseconds.
    const PATIENCE: u32 = 1 << 16;
    const SAMPLES_MAX: u64 = 256;
    const ALL: Region = Region::new(1).expect("a region number");
    /// Nanoseconds that it takes to leave H_CEDE, and for which that is worth it, by Linux's table for shared
    /// processors (`drivers/cpuidle/cpuidle-pseries.c`).
    const CEDE_NS: [u32; 2] = [10_000, 100_000];

    /// How idle vCPUs wait, or sleep if they learn, as the place in [`STATES`].
    static STATE: AtomicU32 = AtomicU32::new(0);
    const STATES: [State; 3] = [State::Snooze, State::Stop, State::Cede];
    static ARE_ADAPTIVE: AtomicBool = AtomicBool::new(false);
    /// Ticks that it takes to leave that state, and for which it is worth it.
    static STATE_TICKS: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
    /// PSSCR for `stop`, if the partition has it as a feature.
    static PSSCR: AtomicU64 = AtomicU64::new(0);
    /// The short and the long wait.
    static LENGTH: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
    /// Waits before the first that counts.
    static WARM_UPS: AtomicU64 = AtomicU64::new(0);
    /// vCPUs that have started.
    static READY: AtomicU32 = AtomicU32::new(0);
    static WAITERS: [Waiter; rt::VCPUS_MAX as usize] =
        [const { Waiter::new() }; rt::VCPUS_MAX as usize];
    /// Interrupts that should not have come.
    static SPURIOUS: AtomicU32 = AtomicU32::new(0);
    /// When somebody was woken last, and how many samples there are.
    static SENT: AtomicU64 = AtomicU64::new(0);
    static COUNT: AtomicU64 = AtomicU64::new(0);
    static SAMPLES: [AtomicU64; SAMPLES_MAX as usize] =
        [const { AtomicU64::new(0) }; SAMPLES_MAX as usize];
    /// Ticks for which the vCPU that has the samples has polled and slept, if it learns.
    static SPENT: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

    fn idle_vcpus(partition: rt::Partition) {
        let test = partition.argument("test").unwrap_or("timer");
        let samples = partition.number("samples", 60);
        assert!(samples <= SAMPLES_MAX, "samples={samples}: at most {SAMPLES_MAX}");
        let random = Numbers::new(partition.number("seed", 1));
        let [ticks, chance] = ["ticks", "chance"].map(|name| partition.number(name, TICKS));
        let times = Times { random, ticks, chance: chance.max(1) };
        for (place, (name, usual)) in LENGTH.iter().zip(LENGTHS) {
            place.store(partition.number(name, usual), SeqCst);
        }
        WARM_UPS.store(partition.number("warm-up", WARM_UP), SeqCst);
        let has_stop = choose_state(&partition);
        let vcpus = partition.vcpus();
        let last = vcpus - 1;
        let needed = match test {
            "timer" | "records" => 1,
            "ipi" | "switch" | "overcommit" => 2,
            "both" | "bimodal" | "adversarial" => 3,
            other => panic!("test={other}: not known"),
        };
        assert!(vcpus >= needed, "test={test} needs {needed} vCPUs");
        rt::enable_translation(partition.memory_bytes());
        rt::on_interrupt(Vector::Decrementer, |_| waiter_of(idle::own_number()).expired());
        rt::on_interrupt(Vector::External, interrupted);
        set_up(0);
        for number in 1..vcpus {
            let main = match test {
                "ipi" if number == last => sleep_for_samples,
                "switch" if number == 1 => |own| answer(own, 0),
                "both" if number == 1 => take_turns_for_ever,
                "both" if number == 2 => |own| answer(own, 1),
                "bimodal" | "adversarial" if number == 1 => sleep_for_samples,
                "overcommit" if number == 1 => sleep_by_timer,
                "bimodal" if number == last => wake_after_two_times,
                "adversarial" if number == last => wake_who_sleeps,
                _ => sleep,
            };
            assert_eq!(rt::start_vcpu(number, main), 0, "start-cpu");
        }
        // Each comes on a hardware thread of its own if there are as many, as long as this one keeps its own.
        let mut looks = 0_u32;
        while READY.load(SeqCst) < vcpus {
            looks += 1;
            if looks.is_multiple_of(PATIENCE) {
                rt::hypercall(Hypercall::Confer as u64, [u64::MAX, 0, 0, 0]);
            }
        }
        let feature = if has_stop { "has guest-stop" } else { "has no guest-stop" };
        rt::println!("idle: the partition {feature}");
        match test {
            "timer" => timer(samples, times),
            "ipi" => send_interrupts(last, samples, times),
            "switch" => take_turns(0, 1, samples),
            _ => {
                if test != "records" {
                    while COUNT.load(SeqCst) < warm_up() {}
                }
                let memory = partition.take_free_memory();
                records::work(memory, partition.number("records", 200));
                if test == "records" {
                    return;
                }
            }
        }
        let count = COUNT.load(SeqCst).saturating_sub(warm_up());
        let spurious = SPURIOUS.load(SeqCst);
        rt::println!("idle: {test}, {count} samples, {spurious} spurious interrupts");
        let [polled, slept] = SPENT.each_ref().map(|ticks| ticks.load(Relaxed));
        if polled + slept > 0 {
            rt::println!("idle: polled {polled} ticks, slept {slept}");
        }
        rt::println!("samples: {}", Samples(count.min(SAMPLES_MAX) as usize));
    }

    /// Chooses how idle vCPUs wait, by the arguments. Whether the partition has `stop` as a feature.
    fn choose_state(partition: &rt::Partition) -> bool {
        let name = partition.argument("state").unwrap_or("snooze");
        let stop = partition.stop_state();
        let is_adaptive = name == "adaptive";
        let state = match stop {
            Some(_) if is_adaptive => Some(State::Stop),
            None if is_adaptive => Some(State::Cede),
            _ => State::from_name(name),
        };
        let state = state.unwrap_or_else(|| panic!("state={name}: not known"));
        let place = STATES.iter().position(|other| *other == state);
        STATE.store(place.expect("a state") as u32, SeqCst);
        ARE_ADAPTIVE.store(is_adaptive, SeqCst);
        let nanoseconds = stop.map_or(CEDE_NS, |stop| [stop.latency_ns, stop.residency_ns]);
        for (place, nanoseconds) in STATE_TICKS.iter().zip(nanoseconds) {
            let ticks = u64::from(nanoseconds) * partition.timebase_hz() / 1_000_000_000;
            place.store(ticks, SeqCst);
        }
        let psscr = stop.map_or(0, |stop| stop.psscr);
        PSSCR.store(partition.number("psscr", psscr), SeqCst);
        stop.is_some()
    }

    fn warm_up() -> u64 {
        WARM_UPS.load(SeqCst)
    }

    /// The samples, in ticks, as the host reads them.
    struct Samples(usize);

    impl fmt::Display for Samples {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            SAMPLES[..self.0].iter().try_for_each(|sample| write!(f, "{} ", sample.load(SeqCst)))
        }
    }

    /// What each vCPU does first.
    fn set_up(number: u32) {
        idle::set_own_number(number);
        idle::allow_all_priorities();
        idle::set_psscr(PSSCR.load(SeqCst));
        READY.fetch_add(1, SeqCst);
    }

    fn waiter_of(number: u32) -> &'static Waiter {
        &WAITERS[number as usize]
    }

    fn interrupted(_: &mut rt::Frame) {
        let own = idle::own_number();
        if !waiter_of(own).interrupted(own) {
            SPURIOUS.fetch_add(1, SeqCst);
        }
    }

    /// How the vCPU waits.
    fn how() -> Idle {
        let state = STATES[STATE.load(SeqCst) as usize];
        if !ARE_ADAPTIVE.load(SeqCst) {
            return Idle::Fixed(state);
        }
        let [latency, residency] = STATE_TICKS.each_ref().map(|ticks| ticks.load(SeqCst));
        let governor = Governor::new(latency, residency);
        Idle::Adaptive(Adaptive { sleep: state, governor, polled: 0, slept: 0 })
    }

    /// Another vCPU, for which nothing ever comes.
    fn sleep(number: u32) {
        rt::join_translation();
        set_up(number);
        how().wait(waiter_of(number));
    }

    /// The vCPU that another wakes.
    fn sleep_for_samples(number: u32) {
        rt::join_translation();
        set_up(number);
        let (mut idle, waiter) = (how(), waiter_of(number));
        loop {
            idle.wait(waiter);
            add_sample(rt::timebase() - SENT.load(SeqCst), &idle);
        }
    }

    /// Sleeps for a short and a long time in turn.
    fn sleep_by_timer(number: u32) {
        rt::join_translation();
        set_up(number);
        let (mut idle, waiter) = (how(), waiter_of(number));
        loop {
            for length in &LENGTH {
                let (start, ticks) = (rt::timebase(), length.load(SeqCst));
                waiter.set_timer(ticks);
                idle.wait(waiter);
                add_sample(rt::timebase() - start - ticks, &idle);
            }
        }
    }

    fn add_sample(ticks: u64, idle: &Idle) {
        if let Idle::Adaptive(Adaptive { polled, slept, .. }) = idle {
            SPENT[0].store(*polled, Relaxed);
            SPENT[1].store(*slept, Relaxed);
        }
        let count = COUNT.load(SeqCst);
        if let Some(place) = count.checked_sub(warm_up()) {
            SAMPLES[(place % SAMPLES_MAX) as usize].store(ticks, SeqCst);
        }
        // Who wakes it waits for this.
        COUNT.store(count + 1, SeqCst);
    }

    /// When somebody is woken.
    struct Times {
        random: Numbers,
        ticks: u64,
        chance: u64,
    }

    /// Does `wake` so many times between marks, and before, for caches to be as they will be.
    #[inline(always)]
    fn repeat(samples: u64, mut wake: impl FnMut()) {
        (0..warm_up()).for_each(|_| wake());
        rt::mark!(Mark::Begin(ALL));
        (0..samples).for_each(|_| wake());
        rt::mark!(Mark::End(ALL));
    }

    impl Times {
        fn next(&mut self) -> u64 {
            self.ticks + self.random.below(self.chance)
        }
    }

    fn timer(samples: u64, mut times: Times) {
        let (mut idle, waiter) = (how(), waiter_of(0));
        repeat(samples, || {
            let ticks = times.next();
            let start = rt::timebase();
            waiter.set_timer(ticks);
            idle.wait(waiter);
            add_sample(rt::timebase() - start - ticks, &idle);
        });
    }

    fn send_interrupts(sleeper: u32, samples: u64, mut times: Times) {
        repeat(samples, || {
            let ticks = times.next();
            pass(ticks);
            let count = COUNT.load(SeqCst);
            SENT.store(rt::timebase(), SeqCst);
            idle::interrupt(sleeper);
            while COUNT.load(SeqCst) == count {}
        });
    }

    fn pass(ticks: u64) {
        let start = rt::timebase();
        while rt::timebase() - start < ticks {}
    }

    /// Wakes `partner` and waits until that wakes it, so many times.
    fn take_turns(own: u32, partner: u32, count: u64) {
        let (mut idle, waiter) = (how(), waiter_of(own));
        repeat(count, || take_turn(&mut idle, waiter, partner));
    }

    /// The same beside one that works, which has the region.
    fn take_turns_for_ever(own: u32) {
        rt::join_translation();
        set_up(own);
        let (mut idle, waiter) = (how(), waiter_of(own));
        loop {
            take_turn(&mut idle, waiter, own + 1);
        }
    }

    fn take_turn(idle: &mut Idle, waiter: &Waiter, partner: u32) {
        let start = rt::timebase();
        waiter_of(partner).wake(partner);
        idle.wait(waiter);
        add_sample(rt::timebase() - start, idle);
    }

    /// Wakes `partner` as often as that wakes it.
    fn answer(own: u32, partner: u32) {
        rt::join_translation();
        set_up(own);
        let mut idle = how();
        loop {
            idle.wait(waiter_of(own));
            waiter_of(partner).wake(partner);
        }
    }

    /// The vCPU that `wake_*` wake.
    const SLEEPER: u32 = 1;

    /// Wakes the sleeper, and waits until it is awake.
    fn wake_sleeper() {
        let count = COUNT.load(SeqCst);
        SENT.store(rt::timebase(), SeqCst);
        waiter_of(SLEEPER).wake(SLEEPER);
        while COUNT.load(SeqCst) == count {}
    }

    fn wake_after_two_times(number: u32) {
        rt::join_translation();
        set_up(number);
        loop {
            for length in &LENGTH {
                pass(length.load(SeqCst));
                wake_sleeper();
            }
        }
    }

    fn wake_who_sleeps(number: u32) {
        rt::join_translation();
        set_up(number);
        let [_, long] = LENGTH.each_ref().map(|length| length.load(SeqCst));
        loop {
            let start = rt::timebase();
            while !waiter_of(SLEEPER).sleeps() && rt::timebase() - start < long {}
            wake_sleeper();
        }
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("idle: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
