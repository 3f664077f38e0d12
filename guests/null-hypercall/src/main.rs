//! null-hypercall: the shortest way to the hypervisor and back, 10000 times between two marks; the
//! argument `calls=N` makes it N times.
//!
//! The argument `translation=on` (the default) makes the exits arrive at the hypervisor's virtual
//! door, `translation=off` at its real door.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
    use arch::marker::{Mark, Region};
    use arch::papr::status::H_FUNCTION;

    rt::main!(null_hypercall);

    const WARM_UP: u32 = 2_000;
    const CALLS: u32 = 10_000;
    /// A multiple of four that PAPR does not assign.
    const UNASSIGNED: u64 = 0xFFF8;
    const REGION: Region = Region::new(1).expect("a region number");

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
        let mut answers = 0;
        for _ in 0..WARM_UP {
            answers |= call() ^ H_FUNCTION;
        }
        rt::mark!(Mark::Begin(REGION));
        for _ in 0..calls {
            answers |= call() ^ H_FUNCTION;
        }
        rt::mark!(Mark::End(REGION));
        let answer = if answers == 0 { "H_FUNCTION" } else { "not always H_FUNCTION" };
        rt::println!("null-hypercall: {calls} calls, translation {translation}, answer {answer}");
    }

    #[inline(always)]
    fn call() -> i64 {
        rt::hypercall(UNASSIGNED, [0; 4])
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("null-hypercall: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
