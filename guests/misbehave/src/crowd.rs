//! All vCPUs of the partition at a time, as many as it has.

use core::sync::atomic::{AtomicU32, Ordering};

use arch::interrupt::Vector;
use arch::papr::Hypercall;

static VCPUS: AtomicU32 = AtomicU32::new(1);

/// They run.
pub(crate) fn loop_all(partition: rt::Partition) {
    all(partition, |_| {
        loop {
            core::hint::spin_loop();
        }
    });
}

/// Each gives the rest of its slices to the next.
pub(crate) fn confer_all(partition: rt::Partition) {
    all(partition, |number| {
        let next = (number + 1) % VCPUS.load(Ordering::Relaxed);
        loop {
            call(Hypercall::Confer, next);
        }
    });
}

/// Each wakes all others, and sleeps.
pub(crate) fn prod_all(partition: rt::Partition) {
    all(partition, |number| {
        loop {
            let others = (0..VCPUS.load(Ordering::Relaxed)).filter(|other| *other != number);
            others.for_each(|other| call(Hypercall::Prod, other));
            call(Hypercall::Cede, 0);
        }
    });
}

/// Runs `work` on all vCPUs, whose decrementers are switched off by their interrupt.
fn all(partition: rt::Partition, work: fn(u32)) {
    rt::on_interrupt(Vector::Decrementer, |_| rt::set_decrementer(rt::NEVER));
    VCPUS.store(partition.vcpus(), Ordering::Relaxed);
    for number in 1..partition.vcpus() {
        assert_eq!(rt::start_vcpu(number, work), 0, "start-cpu");
    }
    work(0);
}

fn call(call: Hypercall, argument: u32) {
    rt::hypercall(call as u64, [argument.into(), 0, 0, 0]);
}
