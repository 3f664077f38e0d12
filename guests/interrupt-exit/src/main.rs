//! interrupt-exit: takes one interrupt after the other, each of which begins region 1 and ends it in its
//! handler or behind it.
//!
//! | `event=` | what begins the region |
//! |---|---|
//! | `timer` | its decrementer is set to a time that has passed |
//! | `external` | H_IPI to itself |
//! | `doorbell` | H_IPI of the first vCPU to the second, which sleeps in H_CEDE; the first then confers |
//! | `hypervisor-decrementer` | the end of a slice, which the machine sees; all vCPUs compute |
//!
//! `until=handler` (the default) ends the region in the handler's first line, `until=resumption` behind the interrupt.
//! `rounds=N` says how many, `warm=N` behind how many slices region 2 begins once. Each event has to be taken once.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod payload {
    use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

    use arch::interrupt::Vector;
    use arch::marker::{Mark, Region};
    use arch::papr::{ALL_OTHERS, Hypercall};

    rt::main!(interrupt_exit);

    const EVENT: Region = Region::new(1).expect("a region number");
    /// Begins once, when caches and predictors are warm.
    const WARM: Region = Region::new(2).expect("a region number");
    /// A decrementer that has expired.
    const NOW: u64 = u64::MAX;
    const PRIORITY: u64 = 4;
    const NO_REQUEST: u64 = 0xFF;
    /// The source of an interrupt between vCPUs, in what H_XIRR gives.
    const BETWEEN_VCPUS: u64 = 2;

    /// Interrupts taken.
    static TAKEN: AtomicU64 = AtomicU64::new(0);
    static SPURIOUS: AtomicU64 = AtomicU64::new(0);
    static ENDS_IN_HANDLER: AtomicBool = AtomicBool::new(true);
    /// Which vCPU the interrupts between vCPUs go to.
    static TARGET: AtomicU64 = AtomicU64::new(0);
    /// The second vCPU takes interrupts.
    static IS_READY: AtomicBool = AtomicBool::new(false);
    static IS_OVER: AtomicBool = AtomicBool::new(false);

    fn expired(_: &mut rt::Frame) {
        end_in_handler();
        rt::set_decrementer(rt::NEVER);
        TAKEN.fetch_add(1, SeqCst);
    }

    /// Accepts an interrupt between vCPUs, takes the request back and ends it.
    fn interrupted(_: &mut rt::Frame) {
        end_in_handler();
        let (_, [xirr, ..]) = rt::hypercall_outputs(Hypercall::Xirr as u64, [0; 4]);
        let counter = if xirr & 0xFF_FFFF == BETWEEN_VCPUS { &TAKEN } else { &SPURIOUS };
        rt::hypercall(Hypercall::Ipi as u64, [TARGET.load(SeqCst), NO_REQUEST, 0, 0]);
        rt::hypercall(Hypercall::Eoi as u64, [xirr, 0, 0, 0]);
        counter.fetch_add(1, SeqCst);
    }

    #[inline(always)]
    fn end_in_handler() {
        if ENDS_IN_HANDLER.load(SeqCst) {
            rt::mark!(Mark::End(EVENT));
        }
    }

    fn interrupt_exit(partition: rt::Partition) {
        let event = partition.argument("event").unwrap_or("timer");
        let rounds = partition.number("rounds", 200);
        let until = partition.argument("until").unwrap_or("handler");
        assert!(["handler", "resumption"].contains(&until), "until={until}: not known");
        rt::on_interrupt(Vector::Decrementer, expired);
        rt::on_interrupt(Vector::External, interrupted);
        rt::hypercall(Hypercall::Cppr as u64, [0xFF, 0, 0, 0]);
        let warm_up = rounds / 10;
        let run = |rounds, is_measured| match event {
            "timer" => repeat(rounds, is_measured, || rt::set_decrementer(NOW)),
            "external" => repeat(rounds, is_measured, || send(0)),
            "doorbell" => repeat(rounds, is_measured, || {
                send(1);
                // Should the hypervisor have let this one go on, which it does for who has had less of the processor.
                confer();
            }),
            other => panic!("event={other}: not known"),
        };
        if event == "hypervisor-decrementer" {
            let slice = partition.number("slice", 20) * 512;
            compute(partition.vcpus(), slice, rounds, partition.number("warm", 0));
            return;
        }
        if event == "doorbell" {
            TARGET.store(1, SeqCst);
            assert_eq!(rt::start_vcpu(1, sleep), 0, "start-cpu");
            while !IS_READY.load(SeqCst) {
                confer();
            }
        } else {
            rt::allow_interrupts(true);
        }
        ENDS_IN_HANDLER.store(until == "handler", SeqCst);
        run(warm_up, false);
        run(rounds, true);
        let (taken, spurious) = (TAKEN.load(SeqCst) - warm_up, SPURIOUS.load(SeqCst));
        rt::println!("interrupt-exit: {event}, {taken} of {rounds} taken, {spurious} spurious");
    }

    /// Lets something happen so many times, and waits each time until the interrupt was taken.
    #[inline(always)]
    fn repeat(rounds: u64, is_measured: bool, event: impl Fn()) {
        for _ in 0..rounds {
            let before = TAKEN.load(SeqCst);
            if is_measured {
                rt::mark!(Mark::Begin(EVENT));
            }
            event();
            while TAKEN.load(SeqCst) == before {
                if TARGET.load(SeqCst) != 0 {
                    // Of another vCPU, which has to come back to its sleep.
                    confer();
                }
            }
            rt::mark!(Mark::End(EVENT));
        }
    }

    /// The second vCPU, for `doorbell`.
    fn sleep(_: u32) {
        rt::hypercall(Hypercall::Cppr as u64, [0xFF, 0, 0, 0]);
        rt::set_decrementer(rt::NEVER);
        IS_READY.store(true, SeqCst);
        loop {
            rt::hypercall(Hypercall::Cede as u64, [0; 4]);
            rt::mark!(Mark::End(EVENT));
            rt::allow_interrupts(false);
        }
    }

    /// All vCPUs compute until so many slices have passed; each time that one goes on, the region is over. What is to
    /// be said is said before, since nobody ends a region while it prints.
    fn compute(vcpus: u32, slice: u64, slices: u64, warm: u64) {
        rt::println!("interrupt-exit: hypervisor-decrementer, computes for {slices} slices");
        for vcpu in 1..vcpus {
            assert_eq!(rt::start_vcpu(vcpu, spin), 0, "start-cpu");
        }
        let start = rt::timebase();
        let mut is_warm = warm == 0;
        while rt::timebase() - start < slice * slices {
            rt::mark!(Mark::End(EVENT));
            if !is_warm && rt::timebase() - start >= slice * warm {
                is_warm = true;
                rt::mark!(Mark::Begin(WARM));
            }
        }
        IS_OVER.store(true, SeqCst);
        for vcpu in 1..vcpus {
            while !rt::is_stopped(vcpu) {
                rt::mark!(Mark::End(EVENT));
            }
        }
        // The last slice may have ended in the call that says so.
        rt::mark!(Mark::End(EVENT));
    }

    fn spin(_: u32) {
        loop {
            rt::mark!(Mark::End(EVENT));
            if IS_OVER.load(SeqCst) {
                return;
            }
        }
    }

    fn send(to: u64) {
        let status = rt::hypercall(Hypercall::Ipi as u64, [to, PRIORITY, 0, 0]);
        assert_eq!(status, 0, "H_IPI");
    }

    /// Lets another vCPU run.
    fn confer() {
        rt::hypercall(Hypercall::Confer as u64, [ALL_OTHERS, 0, 0, 0]);
    }
}

#[cfg(not(target_os = "none"))]
fn main() -> std::process::ExitCode {
    eprintln!("interrupt-exit: a bare-metal payload; build it with `cargo xtask images`");
    std::process::ExitCode::from(2)
}
