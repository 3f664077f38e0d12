//! smp: sends itself an interrupt that it does not accept at once, starts all other vCPUs, lets them count and read the
//! time together, passes an interrupt round, and lets them stop.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
    use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};

    use arch::interrupt::Vector;
    use arch::papr::{Hypercall, rtas};

    rt::main!(smp);

    /// What each vCPU adds.
    const ADDITIONS: u64 = 1000;
    /// How often the interrupt goes round.
    const ROUNDS: u32 = 10;
    const PRIORITY: u64 = 4;
    const NO_REQUEST: u64 = 0xFF;
    /// How often the first interrupt is taken: accepted is the last.
    const REFUSALS: u32 = 3;
    /// Ticks of the time base within which it has to come so often: 10 s, since a machine that does not have it as a
    /// level asks the hypervisor, and QEMU's may lie on a busy host.
    const PATIENCE: u64 = 512_000 * 10_000;
    const PARAMETER: i32 = rtas::PARAMETER;

    static VCPUS: AtomicU32 = AtomicU32::new(0);
    static READY: AtomicU32 = AtomicU32::new(0);
    /// The time base that a vCPU read last, for all to see.
    static TIME: AtomicU64 = AtomicU64::new(0);
    /// How often one was read that is earlier than another vCPU's before it.
    static EARLIER: AtomicU64 = AtomicU64::new(0);
    static SUM: AtomicU64 = AtomicU64::new(0);
    /// Interrupts taken so far by all; whose turn it is follows from it.
    static PASSED: AtomicU32 = AtomicU32::new(0);
    static SPURIOUS: AtomicU32 = AtomicU32::new(0);
    static REFUSED: AtomicU32 = AtomicU32::new(0);

    /// An interrupt between vCPUs: accepts it, takes the request back and counts.
    fn interrupted(_: &mut rt::Frame) {
        let (_, [xirr, ..]) = rt::hypercall_outputs(Hypercall::Xirr as u64, [0; 4]);
        if xirr & 0xFF_FFFF != 2 {
            SPURIOUS.fetch_add(1, SeqCst);
            return;
        }
        let me = PASSED.load(SeqCst) % VCPUS.load(SeqCst);
        rt::hypercall(Hypercall::Ipi as u64, [u64::from(me), NO_REQUEST, 0, 0]);
        PASSED.fetch_add(1, SeqCst);
        rt::hypercall(Hypercall::Eoi as u64, [xirr, 0, 0, 0]);
    }

    /// Takes the first interrupt, and returns without accepting it but for the last time.
    fn refuses(frame: &mut rt::Frame) {
        if REFUSED.fetch_add(1, SeqCst) + 1 == REFUSALS {
            interrupted(frame);
        }
    }

    /// A run on a busy host may take longer than a decrementer of 32 bits.
    fn expired(_: &mut rt::Frame) {
        rt::set_decrementer(rt::NEVER);
    }

    /// The request stands until it is accepted: so often it interrupts, in a loop that makes no call.
    fn refuse() {
        rt::on_interrupt(Vector::Decrementer, expired);
        rt::on_interrupt(Vector::External, refuses);
        rt::hypercall(Hypercall::Cppr as u64, [0xFF, 0, 0, 0]);
        send(0);
        let end = rt::timebase() + PATIENCE;
        rt::allow_interrupts(true);
        while PASSED.load(SeqCst) == 0 && rt::timebase() < end {}
        rt::allow_interrupts(false);
        let times = REFUSED.load(SeqCst);
        assert_eq!(times, REFUSALS, "an interrupt that nobody accepts came {times} times");
        PASSED.store(0, SeqCst);
    }

    fn smp(partition: rt::Partition) {
        let vcpus = partition.vcpus();
        VCPUS.store(vcpus, SeqCst);
        refuse();
        rt::on_interrupt(Vector::External, interrupted);
        assert_eq!(rt::rtas_call(rtas::START_CPU, &[vcpus, 0, 0]), [PARAMETER]);
        for number in 1..vcpus {
            assert!(rt::is_stopped(number));
            assert_eq!(rt::start_vcpu(number, work), 0, "start-cpu");
        }
        work(0);
        for number in 1..vcpus {
            while !rt::is_stopped(number) {
                confer();
            }
        }
        assert_eq!(EARLIER.load(SeqCst), 0, "time went back between vCPUs");
        let (sum, passed) = (SUM.load(SeqCst), PASSED.load(SeqCst));
        let spurious = SPURIOUS.load(SeqCst);
        rt::println!(
            "smp: {vcpus} vCPUs, sum {sum}, {passed} interrupts passed, {spurious} spurious"
        );
    }

    /// What every vCPU does.
    fn work(number: u32) {
        let vcpus = VCPUS.load(SeqCst);
        rt::hypercall(Hypercall::Cppr as u64, [0xFF, 0, 0, 0]);
        READY.fetch_add(1, SeqCst);
        while READY.load(SeqCst) < vcpus {
            confer();
        }
        for _ in 0..ADDITIONS {
            SUM.fetch_add(1, SeqCst);
            let handed = TIME.load(SeqCst);
            let now = rt::timebase();
            EARLIER.fetch_add(u64::from(now < handed), SeqCst);
            TIME.store(now, SeqCst);
        }
        // The interrupt goes round: who has had it sends it to the next.
        for round in 0..ROUNDS {
            let turn = round * vcpus + number;
            if turn == 0 {
                send(0);
            }
            while PASSED.load(SeqCst) <= turn {
                // Allows interrupts, and returns at once if one waits.
                rt::hypercall(Hypercall::Cede as u64, [0; 4]);
                rt::allow_interrupts(false);
            }
            if turn + 1 < ROUNDS * vcpus {
                send((number + 1) % vcpus);
            }
        }
    }

    fn send(to: u32) {
        let status = rt::hypercall(Hypercall::Ipi as u64, [u64::from(to), PRIORITY, 0, 0]);
        assert_eq!(status, 0, "H_IPI");
    }

    /// Lets another vCPU run.
    fn confer() {
        rt::hypercall(Hypercall::Confer as u64, [u64::MAX, 0, 0, 0]);
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("smp: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
