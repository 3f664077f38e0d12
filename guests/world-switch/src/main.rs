//! world-switch: hands the hardware thread to a partner again and again, with values of its own in its
//! registers, and checks them each time that it gets the thread back.
//!
//! The partner is another partition with this payload, or the second vCPU of this one. One of the two begins
//! region 1 directly before it calls H_CONFER, the other ends it directly behind its own; so the region is the
//! way from one to the other, and no more. Both wait for the same time before they begin; if they miss each
//! other, the region begins more often than it ends.
//!
//! | argument | is |
//! |---|---|
//! | `side=` | `begin` or `end`: what this partition, or its first vCPU, does to the region |
//! | `state=` | `plain`: SPRG0 to SPRG3, DAR, DSISR and PIDR are its own; `full`: so is every other register |
//! | `uses=` | `nothing`, `floating-point`, `vectors` or `branches` (event-based): also in these registers; `turns`: uses one facility after the other, one behind each begin, and each that a hypervisor may withhold |
//! | `rounds=` | how often it hands over within the region, behind a tenth as often without |
//! | `cold=` | KiB that the beginning side reads before each time |
//! | `period=` | both begin when the time base is next a multiple of it |
//!
//! Behind each switch the ending side does some work, which is region 2, and does it again, which is region 3.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
    use core::hint::black_box;
    use core::sync::atomic::{
        AtomicU64,
        Ordering::{Relaxed, SeqCst},
    };

    use arch::marker::{Mark, Region};
    use arch::papr::{ALL_OTHERS, Hypercall, status};
    use rt::random::Numbers;
    use rt::registers::{
        BRANCHES, KERNEL, MARKED, SPECIAL, Values, branches, call, call_and_begin, call_and_end,
        kernel, set_branches, set_kernel, set_special, special, use_one,
    };

    rt::main!(world_switch);

    const NAME: &str = "world-switch";
    /// The work behind a switch, and the same work once more.
    const AFTER: Region = Region::new(2).expect("a region number");
    const AGAIN: Region = Region::new(3).expect("a region number");
    /// How many times more the ending side hands over: the two begin at the same time, not in the same round.
    const MORE: u64 = 8;
    /// Doublewords of a cache line.
    const LINE: usize = 16;

    /// One side's part.
    #[derive(Clone, Copy)]
    struct Part {
        begins: bool,
        is_full: bool,
        uses: Uses,
        rounds: u64,
        /// Doublewords.
        cold: usize,
        /// Ticks.
        period: u64,
        seed: u64,
    }

    #[derive(Clone, Copy, PartialEq)]
    enum Uses {
        Nothing,
        FloatingPoint,
        Vectors,
        Branches,
        Turns,
    }

    impl Part {
        fn new(partition: rt::Partition) -> Self {
            Self {
                begins: match partition.argument("side") {
                    Some("begin") => true,
                    Some("end") => false,
                    other => panic!("side={other:?}: begin and end are known"),
                },
                is_full: match partition.argument("state") {
                    Some("full") => true,
                    None | Some("plain") => false,
                    Some(other) => panic!("state={other}: plain and full are known"),
                },
                uses: match partition.argument("uses") {
                    None | Some("nothing") => Uses::Nothing,
                    Some("floating-point") => Uses::FloatingPoint,
                    Some("vectors") => Uses::Vectors,
                    Some("branches") => Uses::Branches,
                    Some("turns") => Uses::Turns,
                    Some(other) => panic!(
                        "uses={other}: nothing, floating-point, vectors, branches, turns are known"
                    ),
                },
                rounds: partition.number("rounds", 500),
                cold: partition.number("cold", 0usize) * 128,
                period: partition.number("period", 500_000u64).max(1),
                seed: partition.number("seed", 1),
            }
        }
    }

    /// What the second vCPU needs, which is started with a number alone.
    static PARTITION: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
    /// What the second vCPU found wrong, and one more, once it is done.
    static SECOND: AtomicU64 = AtomicU64::new(0);

    fn world_switch(partition: rt::Partition) {
        let part = Part::new(partition);
        let has_second = partition.vcpus() > 1;
        if has_second {
            let flags = u64::from(part.is_full) << 8 | part.uses as u64;
            PARTITION[0].store(flags, SeqCst);
            PARTITION[1].store(part.rounds << 40 | part.period, SeqCst);
            assert_eq!(rt::start_vcpu(1, second), 0, "start-cpu");
        }
        let memory = if part.cold > 0 { partition.take_free_memory() } else { &mut [] };
        assert!(part.cold <= memory.len(), "cold={}: too much", part.cold / 128);
        let mut wrong = play(part, &memory[..part.cold]);
        if has_second {
            while SECOND.load(SeqCst) == 0 {
                hand_over();
            }
            wrong += SECOND.load(SeqCst) - 1;
        }
        let Part { rounds, .. } = part;
        rt::println!("{NAME}: {rounds} switches, {wrong} wrong");
    }

    fn second(_: u32) {
        let [flags, times] = [0, 1].map(|index| PARTITION[index].load(SeqCst));
        let uses = [Uses::Nothing, Uses::FloatingPoint, Uses::Vectors, Uses::Branches, Uses::Turns];
        let part = Part {
            begins: false,
            is_full: flags >> 8 != 0,
            uses: uses[(flags & 0xFF) as usize],
            rounds: times >> 40,
            cold: 0,
            period: times & ((1 << 40) - 1),
            seed: 2,
        };
        SECOND.store(1 + play(part, &[]), SeqCst);
    }

    fn play(part: Part, cold: &[u64]) -> u64 {
        if part.is_full || matches!(part.uses, Uses::FloatingPoint | Uses::Turns) {
            rt::floating_point::allow();
        }
        if matches!(part.uses, Uses::Vectors | Uses::Turns) {
            rt::vectors::allow();
        }
        let start = rt::timebase().next_multiple_of(part.period);
        while rt::timebase() < start {
            hand_over();
        }
        let mut numbers = Numbers::new(part.seed);
        let warm_up = part.rounds / 10;
        if part.begins {
            rounds::<true, false>(part, warm_up, &mut numbers, cold)
                + rounds::<true, true>(part, part.rounds, &mut numbers, cold)
        } else {
            rounds::<false, false>(part, warm_up, &mut numbers, cold)
                + rounds::<false, true>(part, part.rounds + MORE, &mut numbers, cold)
        }
    }

    fn rounds<const BEGINS: bool, const MEASURED: bool>(
        part: Part,
        rounds: u64,
        numbers: &mut Numbers,
        cold: &[u64],
    ) -> u64 {
        let mut wrong = 0;
        for round in 0..rounds {
            let vectors = numbers.next();
            let expected_branches = match part.uses {
                Uses::Nothing | Uses::FloatingPoint | Uses::Turns => [0; BRANCHES.len()],
                Uses::Vectors => {
                    rt::vectors::fill(vectors);
                    [0; BRANCHES.len()]
                }
                Uses::Branches => set_branches(core::array::from_fn(|_| numbers.next())),
            };
            read(cold);
            wrong += u64::from(if part.is_full {
                is_full_wrong::<BEGINS, MEASURED>(numbers)
            } else {
                is_plain_wrong::<BEGINS, MEASURED>(numbers, part.uses, round)
            });
            if !BEGINS && MEASURED {
                rt::mark!(Mark::Begin(AFTER));
                work();
                rt::mark!(Mark::End(AFTER));
                rt::mark!(Mark::Begin(AGAIN));
                work();
                rt::mark!(Mark::End(AGAIN));
            }
            wrong += u64::from(match part.uses {
                Uses::Nothing | Uses::FloatingPoint | Uses::Turns => false,
                Uses::Vectors => rt::vectors::have_changed(vectors),
                Uses::Branches => branches() != expected_branches,
            });
        }
        wrong
    }

    /// Hands over with values in the registers that a kernel changes all the time: whether one has changed.
    #[inline(always)]
    fn is_plain_wrong<const BEGINS: bool, const MEASURED: bool>(
        numbers: &mut Numbers,
        uses: Uses,
        round: u64,
    ) -> bool {
        let expected: [u64; KERNEL.len()] = set_kernel(core::array::from_fn(|_| numbers.next()));
        let number = 1.0_f64.to_bits();
        let is_wrong =
            uses == Uses::FloatingPoint && rt::floating_point::quotient(number, number) != number;
        if BEGINS && MEASURED {
            rt::mark!(Mark::Begin(MARKED));
        }
        if uses == Uses::Turns {
            use_one(round);
        }
        hand_over();
        if !BEGINS {
            rt::mark!(Mark::End(MARKED));
        }
        is_wrong || kernel() != expected
    }

    /// Hands over with random values in all registers: whether one has changed.
    #[inline(always)]
    fn is_full_wrong<const BEGINS: bool, const MEASURED: bool>(numbers: &mut Numbers) -> bool {
        let expected_kernel = set_kernel(core::array::from_fn(|_| numbers.next()));
        let expected_special = set_special(core::array::from_fn(|_| numbers.next()));
        let mut before = Values::random(|| numbers.next());
        before.gpr[3] = Hypercall::Confer as u64;
        before.gpr[4] = ALL_OTHERS;
        let after = match (BEGINS, MEASURED) {
            (true, true) => call_and_begin(&before),
            (true, false) => call(&before),
            (false, _) => call_and_end(&before),
        };
        // The other SPRGs hold what the filling of the registers left there.
        let is_wrong = kernel()[0] != expected_kernel[0];
        let mut names = SPECIAL.iter().zip(expected_special).zip(special());
        let is_special_wrong = names.any(|((name, expected), found)| {
            // A hypercall is an interrupt that saves in these two.
            expected != found && !name.starts_with("SRR")
        });
        is_wrong
            | is_special_wrong
            | after.differ(&before.after_call(status::H_SUCCESS as u64), NAME)
    }

    #[inline(always)]
    fn hand_over() {
        rt::hypercall(Hypercall::Confer as u64, [ALL_OTHERS, 0, 0, 0]);
    }

    /// Reads a doubleword of each line.
    fn read(memory: &[u64]) {
        black_box(memory.iter().step_by(LINE).fold(0, |sum, word| sum ^ word));
    }

    /// Lines of data, and a number for each that decides a branch.
    static DATA: [AtomicU64; 32 * LINE] = [const { AtomicU64::new(0) }; 32 * LINE];

    /// Goes once through 32 lines, and takes a way for each by what it holds.
    #[inline(never)]
    fn work() {
        let mut sum = 0u64;
        for (index, word) in DATA.iter().step_by(LINE).enumerate() {
            let value = word.load(Relaxed);
            if (0x5EED_2B1Du32 >> index) & 1 != 0 {
                sum = black_box(sum + value);
            } else {
                word.store(black_box(value ^ sum), Relaxed);
            }
        }
        black_box(sum);
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("world-switch: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
