//! null-hypercall: the shortest way to the hypervisor and back, 10000 times between two marks; the
//! argument `calls=N` makes it N times.
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
//! | `confer` | H_CONFER to all others | gives up the processor |

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
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
                "confer" => known(Hypercall::Confer, ALL_OTHERS),
                other => panic!("call={other}: unknown, sprg0, priority, tce and confer are known"),
            }
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
        for _ in 0..WARM_UP {
            answers |= call() ^ answer;
        }
        rt::mark!(Mark::Begin(REGION));
        for _ in 0..calls {
            answers |= call() ^ answer;
        }
        rt::mark!(Mark::End(REGION));
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
