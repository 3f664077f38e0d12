//! null-hypercall: the shortest way to the hypervisor and back, 10000 times between two marks; the
//! argument `calls=N` makes it N times. The other vCPUs make the same calls all the time.
//!
//! The argument `translation=on` (the default) makes the exits arrive at the hypervisor's virtual
//! door, `translation=off` at its real door. The argument `call` says which call is made:
//!
//! | `call=` | makes | which |
//! |---|---|---|
//! | `unknown` (the default) | a number that PAPR does not assign | is answered at once |
//! | `sprg0` | H_SET_SPRG0 | changes what belongs to the calling vCPU alone |
//! | `priority` | H_CPPR | changes what other vCPUs of the partition read and change too |
//! | `tce` | H_PUT_TCE of the first page of the partition's window | changes what its devices see of its memory |
//! | `random` | H_RANDOM | asks the processor |
//! | `confer` | H_CONFER to all others | gives up the processor |

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
    use core::sync::atomic::Ordering::SeqCst;
    use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};

    use arch::marker::{Mark, Region};
    use arch::papr::status::{H_FUNCTION, H_SUCCESS};
    use arch::papr::{ALL_OTHERS, Hypercall, tce};

    rt::main!(null_hypercall);

    const WARM_UP: u32 = 2_000;
    const CALLS: u32 = 10_000;
    /// A multiple of four that PAPR does not assign.
    const UNASSIGNED: u64 = 0xFFF8;
    /// A priority that masks no interrupt, in H_CPPR.
    const LEAST_FAVOURED: u64 = 0xFF;
    /// A page of the partition's memory.
    const PAGE: u64 = 0x10_0000;
    const REGION: Region = Region::new(1).expect("a region number");
    /// Calls of every other vCPU before the first one begins.
    const WARM_UP_OF_OTHERS: u32 = 20;

    /// The call: number, arguments, and what it is answered with.
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    static ARGUMENTS: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];
    static ANSWER: AtomicI64 = AtomicI64::new(0);
    static IS_TRANSLATED: AtomicU32 = AtomicU32::new(0);
    /// All vCPUs run.
    static STARTED: AtomicU32 = AtomicU32::new(0);
    /// vCPUs that call beside the first one.
    static CALLING: AtomicU32 = AtomicU32::new(0);
    /// The first one has done.
    static ENDED: AtomicU32 = AtomicU32::new(0);

    /// A hypercall that is made again and again, and what it is answered with.
    struct Call {
        number: u64,
        arguments: [u64; 4],
        answer: i64,
        answer_name: &'static str,
    }

    impl Call {
        fn named(name: &str) -> Self {
            let known = |call: Hypercall, argument| Self {
                number: call as u64,
                arguments: [argument, 0, 0, 0],
                answer: H_SUCCESS,
                answer_name: "H_SUCCESS",
            };
            match name {
                "unknown" => Self {
                    number: UNASSIGNED,
                    arguments: [0; 4],
                    answer: H_FUNCTION,
                    answer_name: "H_FUNCTION",
                },
                "sprg0" => known(Hypercall::SetSprg0, 0),
                "priority" => known(Hypercall::Cppr, LEAST_FAVOURED),
                "tce" => Self {
                    arguments: [tce::WINDOW, 0, PAGE | tce::READ | tce::WRITE, 0],
                    ..known(Hypercall::PutTce, 0)
                },
                "random" => known(Hypercall::Random, 0),
                "confer" => known(Hypercall::Confer, ALL_OTHERS),
                other => panic!(
                    "call={other}: unknown, sprg0, priority, tce, random and confer are known"
                ),
            }
        }
    }

    /// What every other vCPU does: it calls until the first one has done.
    fn others(_: u32) {
        if IS_TRANSLATED.load(SeqCst) != 0 {
            rt::join_translation();
        }
        let (number, answer) = (NUMBER.load(SeqCst), ANSWER.load(SeqCst));
        let arguments = ARGUMENTS.each_ref().map(|argument| argument.load(SeqCst));
        let call = || assert_eq!(rt::hypercall(number, arguments), answer, "call {number:#x}");
        // Who starts the others needs locks that these calls may take.
        while STARTED.load(SeqCst) == 0 {
            core::hint::spin_loop();
        }
        (0..WARM_UP_OF_OTHERS).for_each(|_| call());
        CALLING.fetch_add(1, SeqCst);
        while ENDED.load(SeqCst) == 0 {
            call();
        }
    }

    fn null_hypercall(partition: rt::Partition) {
        let translation = match partition.argument("translation") {
            None | Some("on") => {
                rt::enable_translation(partition.memory_bytes());
                "on"
            }
            Some("off") => "off",
            Some(other) => panic!("translation={other}: on and off are known"),
        };
        let calls = partition.argument("calls").map_or(CALLS, |calls| {
            calls.parse().unwrap_or_else(|_| panic!("calls={calls}: not a number"))
        });
        let Call { number, arguments, answer, answer_name } =
            Call::named(partition.argument("call").unwrap_or("unknown"));
        let call = || rt::hypercall(number, arguments);
        let mut answers = 0;
        for _ in 0..WARM_UP.min(calls) {
            answers |= call() ^ answer;
        }
        NUMBER.store(number, SeqCst);
        ARGUMENTS.iter().zip(arguments).for_each(|(place, value)| place.store(value, SeqCst));
        ANSWER.store(answer, SeqCst);
        IS_TRANSLATED.store(u32::from(translation == "on"), SeqCst);
        let vcpus = partition.vcpus();
        for number in 1..vcpus {
            assert_eq!(rt::start_vcpu(number, others), 0, "start-cpu");
        }
        STARTED.store(1, SeqCst);
        while CALLING.load(SeqCst) + 1 < vcpus {
            core::hint::spin_loop();
        }
        rt::mark!(Mark::Begin(REGION));
        for _ in 0..calls {
            answers |= call() ^ answer;
        }
        rt::mark!(Mark::End(REGION));
        ENDED.store(1, SeqCst);
        for number in 1..vcpus {
            while !rt::is_stopped(number) {
                core::hint::spin_loop();
            }
        }
        let not = if answers == 0 { "" } else { "not always " };
        rt::println!(
            "null-hypercall: {calls} calls, translation {translation}, answer {not}{answer_name}"
        );
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("null-hypercall: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
