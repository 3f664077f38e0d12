//! steal: a vCPU takes over another one from a hardware thread that has its registers yet.
//!
//! Three vCPUs share two hardware threads. The first one, the thief, waits until the second one, its victim, has left
//! the other hardware thread, as its slice was over and the third one waited; at that moment it confers its own slice
//! to it. So its hardware thread wants the victim while the one before is between two vCPUs, with the victim's
//! registers. Region 1 is the way from the thief's call to the victim's first line, on one hardware thread.
//!
//! | argument | is |
//! |---|---|
//! | `rounds=` | how often, behind a tenth as often without the region |
//! | `late=` | rounds of a loop that the thief waits first, so that the victim's registers are in its record |

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
    use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

    use arch::marker::{Mark, Region};
    use arch::papr::area::{FUNCTION, REGISTER_AREA};
    use arch::papr::{Hypercall, status};

    rt::main!(steal);

    const REGION: Region = Region::new(1).expect("a region number");
    const VICTIM: u32 = 1;
    const THIRD: u32 = 2;
    /// Words of the area that each vCPU shares with the hypervisor.
    const WORDS: usize = 256;
    const BYTES: u32 = 640;
    const DISPATCH_COUNT: usize = 0x100 / 4;

    #[repr(C, align(1024))]
    struct Area([AtomicU32; WORDS]);

    static AREAS: [Area; 3] = [const { Area([const { AtomicU32::new(0) }; WORDS]) }; 3];
    /// vCPUs that have an area.
    static REGISTERED: AtomicU32 = AtomicU32::new(0);
    /// The thief has begun the region.
    static IS_WANTED: AtomicBool = AtomicBool::new(false);
    /// How often the victim came when it was wanted.
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    static IS_OVER: AtomicBool = AtomicBool::new(false);

    fn steal(partition: rt::Partition) {
        assert_eq!(partition.vcpus(), 3, "vcpus: the thief, its victim, and one that waits");
        let (rounds, late) = (partition.number("rounds", 200u32), partition.number("late", 0u32));
        register(0);
        assert_eq!(rt::start_vcpu(VICTIM, be_taken), 0, "start-cpu");
        assert_eq!(rt::start_vcpu(THIRD, spin), 0, "start-cpu");
        while REGISTERED.load(SeqCst) < 3 {
            core::hint::spin_loop();
        }
        for _ in 0..rounds / 10 {
            take::<false>(late);
        }
        TAKEN.store(0, SeqCst);
        for _ in 0..rounds {
            take::<true>(late);
        }
        IS_OVER.store(true, SeqCst);
        rt::println!("steal: {} of {rounds} taken", TAKEN.load(SeqCst));
    }

    /// How often vCPU `number` was dispatched and left; odd while it does not run.
    fn count(number: u32) -> u32 {
        u32::from_be(AREAS[number as usize].0[DISPATCH_COUNT].load(SeqCst))
    }

    /// Waits until the victim leaves, and takes it.
    fn take<const MEASURED: bool>(late: u32) {
        while count(VICTIM) % 2 == 1 {}
        let count = loop {
            let count = count(VICTIM);
            if count % 2 == 1 {
                break count;
            }
        };
        for _ in 0..late {
            core::hint::spin_loop();
        }
        IS_WANTED.store(MEASURED, SeqCst);
        let arguments = [u64::from(VICTIM), u64::from(count), 0, 0];
        if MEASURED {
            rt::mark!(Mark::Begin(REGION));
        }
        assert_eq!(rt::hypercall(Hypercall::Confer as u64, arguments), status::H_SUCCESS);
        while IS_WANTED.load(SeqCst) {
            core::hint::spin_loop();
        }
    }

    /// The victim: it spins, and sees that it was taken when it goes on.
    fn be_taken(number: u32) {
        register(number);
        let mut before = count(number);
        while !IS_OVER.load(SeqCst) {
            let now = count(number);
            if now == before {
                continue;
            }
            before = now;
            if IS_WANTED.load(SeqCst) {
                rt::mark!(Mark::End(REGION));
                TAKEN.fetch_add(1, SeqCst);
                IS_WANTED.store(false, SeqCst);
            }
        }
    }

    fn spin(number: u32) {
        register(number);
        while !IS_OVER.load(SeqCst) {
            core::hint::spin_loop();
        }
    }

    fn register(number: u32) {
        let words = &AREAS[number as usize].0;
        words[1].store((BYTES << 16).to_be(), SeqCst);
        let arguments =
            [FUNCTION.set(0, REGISTER_AREA), u64::from(number), (&raw const words[0]) as u64, 0];
        assert_eq!(rt::hypercall(Hypercall::RegisterVpa as u64, arguments), status::H_SUCCESS);
        REGISTERED.fetch_add(1, SeqCst);
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("steal: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
