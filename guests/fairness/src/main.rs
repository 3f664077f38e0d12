//! fairness: is always ready to run, and measures what it gets: the longest time in which it did not run, and by
//! how much it fell behind its share, in the worst of all intervals.
//!
//! Arguments: `time=N` is how long it looks, in microseconds; `share=N` what it should get, in ten thousandths of the
//! time. How far it is behind grows by the share while others run, and shrinks by the rest of it while it does; the
//! greatest rise from any earlier moment is the worst interval, of whatever length.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
    use rt::TICKS_PER_MICROSECOND;

    rt::main!(fairness);

    /// The whole, of which `share` is a part.
    const WHOLE: i64 = 10_000;
    /// Ticks that a round of the loop cannot take by itself. In functional mode hardware threads take turns of 1000
    /// cycles, and the time base goes on by as much for the one that waits: 136 ticks. A change of the vCPU takes
    /// longer; an exit that changes nothing may be shorter, and counts as the victim's own then.
    const GAP: u64 = 160;

    fn fairness(partition: rt::Partition) {
        let duration = partition.number("time", 3000u64) * TICKS_PER_MICROSECOND;
        let share = partition.number("share", WHOLE);
        let start = rt::timebase();
        let (mut last, mut ran, mut gaps, mut longest) = (start, 0, 0u64, 0);
        // Ticks times WHOLE: how far it is behind now, the least so far, the greatest rise since.
        let (mut behind, mut least, mut worst) = (0i64, 0i64, 0i64);
        while last - start < duration {
            let now = rt::timebase();
            let passed = now - last;
            last = now;
            behind += share * passed as i64;
            if passed < GAP {
                ran += passed;
                behind -= WHOLE * passed as i64;
                least = least.min(behind);
            } else {
                gaps += 1;
                longest = longest.max(passed);
                worst = worst.max(behind - least);
            }
        }
        let elapsed = last - start;
        let nanoseconds = |ticks| ticks * 1000 / TICKS_PER_MICROSECOND;
        rt::println!(
            "fairness: {} us, ran {} of 10000, {gaps} gaps, longest {} ns, behind by {} ns",
            elapsed / TICKS_PER_MICROSECOND,
            ran * WHOLE as u64 / elapsed,
            nanoseconds(longest),
            nanoseconds((worst / WHOLE) as u64),
        );
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("fairness: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
