//! What a partition does about its own end and its own restart: more than once, and from several vCPUs at a time.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use arch::papr::rtas;

/// vCPUs that start others; those from here on are started.
const STARTED_FROM: u32 = 3;

/// Calls after which they are at it.
const ENOUGH: u32 = 8;

/// Number of vCPUs.
static VCPUS: AtomicU32 = AtomicU32::new(0);
/// Calls of start-cpu so far.
static CALLS: AtomicU32 = AtomicU32::new(0);

/// Starts anew: RTAS system-reboot.
pub(crate) fn restart() {
    _ = rt::rtas_call::<1>(rtas::SYSTEM_REBOOT, &[]);
}

/// Starts anew as soon as it has touched all of its memory, which has to be zeroed for it then.
pub(crate) fn restart_storm(partition: rt::Partition) {
    for address in partition.free_memory().step_by(0x1_0000) {
        crate::misbehavior::store(address, 1);
    }
    restart();
}

/// Touches all of its memory, on two vCPUs from either end, and then goes on with that.
pub(crate) fn touch_storm(partition: rt::Partition) {
    assert_eq!(
        rt::start_vcpu(1, |_| loop {
            core::hint::spin_loop();
        }),
        0,
        "start-cpu"
    );
    loop {
        for address in partition.free_memory().step_by(0x1_0000) {
            crate::misbehavior::store(address, 1);
        }
    }
}

/// Switches itself off while two vCPUs start others without end, each of which switches it off again.
pub(crate) fn outlive(partition: rt::Partition) {
    beside_starts(&partition, |_| start_without_end(|_| rt::power_off()));
}

/// Starts anew while two vCPUs start others without end, each of which wants the same.
pub(crate) fn outlive_restart(partition: rt::Partition) {
    beside_starts(&partition, |_| start_without_end(|_| restart()));
    restart();
}

/// Lets vCPUs 1 and 2 begin with theirs.
fn beside_starts(partition: &rt::Partition, starter: fn(u32)) {
    VCPUS.store(partition.vcpus(), Relaxed);
    for number in 1..STARTED_FROM {
        assert_eq!(rt::start_vcpu(number, starter), 0, "start-cpu");
    }
    while CALLS.load(Relaxed) < ENOUGH {
        core::hint::spin_loop();
    }
}

fn start_without_end(main: fn(u32)) {
    loop {
        for number in STARTED_FROM..VCPUS.load(Relaxed) {
            // Most of them run already.
            _ = rt::start_vcpu(number, main);
            CALLS.fetch_add(1, Relaxed);
        }
    }
}
