//! timer: sets its decrementer to ever other times, sleeps in H_CEDE or waits for it in a loop, and says
//! whether it ever expired early or not at all, or interrupted with time left.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
    use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use arch::interrupt::Vector;
    use arch::papr::Hypercall;

    rt::main!(timer);

    /// As many of each kind.
    const TIMES: u64 = 20;
    /// Ticks of the shortest time.
    const SHORTEST: u64 = 500;

    static EXPIRED: AtomicU64 = AtomicU64::new(0);
    /// One has been asked for that has not come.
    static IS_DUE: AtomicBool = AtomicBool::new(false);
    /// Interrupts of a decrementer that had time left, and those that nobody asked for: on a host that has much else to
    /// do, QEMU can let so much time pass that [`rt::NEVER`] is over.
    static SPURIOUS: AtomicU64 = AtomicU64::new(0);

    fn expired(_: &mut rt::Frame) {
        let left = rt::decrementer();
        let is_due = left < 0 && IS_DUE.swap(false, Ordering::Relaxed);
        let count = if is_due { &EXPIRED } else { &SPURIOUS };
        count.fetch_add(1, Ordering::Relaxed);
        // QEMU interrupts on until it is written.
        rt::set_decrementer(if left < 0 { rt::NEVER } else { left as u64 });
    }

    fn timer(_: rt::Partition) {
        rt::on_interrupt(Vector::Decrementer, expired);
        let mut early = [0; 2];
        for (way, early) in early.iter_mut().enumerate() {
            for time in 0..TIMES {
                let (ticks, before) = (SHORTEST << (time % 7), EXPIRED.load(Ordering::Relaxed));
                IS_DUE.store(true, Ordering::Relaxed);
                let start = rt::timebase();
                rt::set_decrementer(ticks);
                // H_CEDE allows interrupts itself.
                rt::allow_interrupts(way == 1);
                while EXPIRED.load(Ordering::Relaxed) == before {
                    if way == 0 {
                        rt::hypercall(Hypercall::Cede as u64, [0; 4]);
                    }
                }
                *early += u32::from(rt::timebase() - start < ticks);
                rt::allow_interrupts(false);
            }
        }
        let count = EXPIRED.load(Ordering::Relaxed);
        rt::println!(
            "timer: {count} of {} expired, {} early in H_CEDE, {} early in a loop",
            2 * TIMES,
            early[0],
            early[1]
        );
        let spurious = SPURIOUS.load(Ordering::Relaxed);
        if spurious > 0 {
            rt::println!("timer: spurious interrupts: {spurious}");
        }
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("timer: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
