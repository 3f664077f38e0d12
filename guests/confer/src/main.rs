//! confer: every vCPU registers an area, a dispatch trace log and an SLB shadow; then one confers the rest of
//! its slices to another, and the time base shows who ran and for how long.
//!
//! The argument `slice=N` says how long a slice is, in microseconds; `rounds=N` how often to try until it was
//! seen, 0 to leave it at the areas. It shows what it is for on one hardware thread alone: where each vCPU has
//! its own, nobody waits.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
    use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};

    use arch::papr::area::{FUNCTION, REGISTER_AREA, REGISTER_LOG, REGISTER_SHADOW};
    use arch::papr::{Hypercall, status};

    rt::main!(confer);

    /// Waits for a slice without one dispatch before it takes it that there are none. One with a dispatch does not
    /// count: a host that has much else to do hides the gap.
    const UNDISPATCHED_MAX: u32 = 8;
    /// Words of what a vCPU shares: a page, with the area, the shadow and the log in it.
    const WORDS: usize = 1024;
    const AREA: usize = 0;
    const SHADOW: usize = 256;
    const LOG: usize = 512;
    /// Each has its bytes at its second word, the area in two bytes.
    const LENGTHS: [(usize, u32); 3] = [(AREA, 640 << 16), (SHADOW, 128), (LOG, 4 * 48)];
    const DISPATCH_COUNT: usize = 0x100 / 4;

    #[repr(C, align(4096))]
    struct Shared([AtomicU32; WORDS]);

    const VCPUS: usize = rt::VCPUS_MAX as usize;
    static SHARED: [Shared; VCPUS] =
        [const { Shared([const { AtomicU32::new(0) }; WORDS]) }; VCPUS];
    /// vCPUs that have registered.
    static REGISTERED: AtomicU32 = AtomicU32::new(0);
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    /// The vCPU that ran first since this was 0, which the first is not.
    static FIRST: AtomicU32 = AtomicU32::new(0);
    /// When it was first and last seen to run in one go.
    static STRETCH: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

    fn confer(partition: rt::Partition) {
        let vcpus = partition.vcpus();
        for number in 1..vcpus {
            assert_eq!(rt::start_vcpu(number, spin), 0, "start-cpu");
        }
        register(0);
        while REGISTERED.load(SeqCst) < vcpus {
            core::hint::spin_loop();
        }
        rt::println!("confer: {vcpus} areas, logs and shadows");
        assert_eq!(call(vcpus, 0), status::H_PARAMETER);
        let slice = partition.number("slice", 1000) * rt::TICKS_PER_MICROSECOND;
        // Each of the others has had its own twice by then.
        let patience = slice * u64::from(2 * vcpus + 2);
        let seen = |times| if times > 0 { "seen" } else { "not seen" };
        let dispatches = || SHARED[0].0[DISPATCH_COUNT].load(SeqCst);
        let [mut first, mut rest, mut undispatched] = [0, 0, 0];
        for _ in 0..partition.number("rounds", 50) {
            if rest > 0 || undispatched == UNDISPATCHED_MAX {
                break;
            }
            let before = dispatches();
            if !uses_most_of_a_slice(slice, patience) {
                undispatched += u32::from(dispatches() == before);
                continue;
            }
            if let Some(ran) = round(vcpus - 1) {
                first += 1;
                // A quarter was left; all of one would be a slice of its own.
                rest += u32::from(ran < slice / 2);
            }
        }
        rt::println!("confer: target ran next: {}, for the rest: {}", seen(first), seen(rest));
        IS_OVER.store(true, SeqCst);
        assert_eq!(rt::hypercall(Hypercall::Confer as u64, [u64::MAX, 0, 0, 0]), 0);
    }

    /// Waits for a slice to begin, with the gap that the others leave, and for three quarters of it to pass. Gives
    /// up after `patience`, where there are no slices.
    fn uses_most_of_a_slice(slice: u64, patience: u64) -> bool {
        let start = rt::timebase();
        let (mut last, mut begun) = (start, None);
        while begun.is_none_or(|begun| last - begun < slice / 4 * 3) {
            let now = rt::timebase();
            if now - last > slice / 4 {
                begun = Some(now);
            }
            if now - start > patience {
                return false;
            }
            last = now;
        }
        true
    }

    /// Confers to `target`: how long that ran then, if it ran first.
    fn round(target: u32) -> Option<u64> {
        let count = u32::from_be(SHARED[target as usize].0[DISPATCH_COUNT].load(SeqCst));
        // That it waits is another count.
        assert_eq!(call(target, count.wrapping_add(2)), status::H_SUCCESS);
        FIRST.store(0, SeqCst);
        assert_eq!(call(target, count), status::H_SUCCESS);
        let stretch = STRETCH[1].load(SeqCst).wrapping_sub(STRETCH[0].load(SeqCst));
        (count % 2 == 1 && FIRST.load(SeqCst) == target).then_some(stretch)
    }

    fn call(target: u32, count: u32) -> i64 {
        rt::hypercall(Hypercall::Confer as u64, [u64::from(target), u64::from(count), 0, 0])
    }

    fn register(number: u32) {
        let words = &SHARED[number as usize].0;
        for (place, length) in LENGTHS {
            words[place + 1].store(length.to_be(), SeqCst);
        }
        for (function, place) in
            [(REGISTER_AREA, AREA), (REGISTER_SHADOW, SHADOW), (REGISTER_LOG, LOG)]
        {
            let address = (&raw const words[place]) as u64;
            let arguments = [FUNCTION.set(0, function), u64::from(number), address, 0];
            let status = rt::hypercall(Hypercall::RegisterVpa as u64, arguments);
            assert_eq!(status, 0, "H_REGISTER_VPA, function {function}");
        }
        assert_eq!(words[DISPATCH_COUNT].load(SeqCst).to_be() % 2, 0, "it runs");
        REGISTERED.fetch_add(1, SeqCst);
    }

    /// What the other vCPUs do: the one that runs first after another notes for how long, up to its next dispatch.
    fn spin(number: u32) {
        register(number);
        let dispatches = || SHARED[number as usize].0[DISPATCH_COUNT].load(SeqCst);
        let mut begun = None;
        while !IS_OVER.load(SeqCst) {
            let now = rt::timebase();
            if FIRST.compare_exchange(0, number, SeqCst, SeqCst).is_ok() {
                STRETCH[0].store(now, SeqCst);
                STRETCH[1].store(now, SeqCst);
                begun = Some(dispatches());
            } else if FIRST.load(SeqCst) == number && begun == Some(dispatches()) {
                STRETCH[1].store(now, SeqCst);
            }
        }
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("confer: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
