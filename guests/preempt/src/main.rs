//! preempt: computes for so many steps that others must have run meanwhile, and checks the result.
//!
//! The argument `steps=N` says how many. A gap in the time base that is longer than any step is a
//! preemption.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
    rt::main!(preempt);

    /// Steps between two looks at the time.
    const BATCH: u64 = 16;
    /// Ticks that a batch cannot take by itself: 5 us.
    const GAP: u64 = 2560;
    const PRIME: u64 = 0xFFFF_FFFB;

    fn preempt(partition: rt::Partition) {
        let argument = partition.argument("steps").and_then(|steps| steps.parse().ok());
        let steps: u64 = argument.unwrap_or(100_000);
        let (mut value, mut gaps, mut last) = (1, 0u64, rt::timebase());
        for step in 0..steps {
            // A permutation of the numbers below a prime: a wrong step is never made good.
            value = (value * 7 + 1) % PRIME;
            if step % BATCH == 0 {
                let now = rt::timebase();
                gaps += u64::from(now - last > GAP);
                last = now;
            }
        }
        let preempted = if gaps > 0 { "preempted" } else { "never preempted" };
        rt::println!("preempt: {steps} steps, value {value:#x}, {preempted}");
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("preempt: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
