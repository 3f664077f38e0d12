//! The kernel's other hardware threads, or vCPUs.

#[cfg(feature = "bare")]
pub(crate) use bare::{prepare, run};
#[cfg(not(feature = "bare"))]
pub(crate) use partition::{prepare, run};

#[cfg(feature = "bare")]
mod bare {
    use rt::Partition;

    pub(crate) const fn prepare(_: &Partition, _: u64) {}

    /// Executes `function` on so many threads, with their numbers, this one among them.
    pub(crate) fn run(partition: &Partition, threads: u64, function: fn(u64)) {
        rt::on_threads(partition, threads, function);
    }
}

#[cfg(not(feature = "bare"))]
mod partition {
    use rt::Partition;
    use spin::Mutex;

    static FUNCTION: Mutex<Option<fn(u64)>> = Mutex::new(None);

    /// Before translation is on: lets a second vCPU that is not used stop itself.
    pub(crate) fn prepare(partition: &Partition, threads: u64) {
        let vcpus = u64::from(partition.vcpus());
        assert!(threads <= vcpus, "threads={threads}: the partition has {vcpus} vCPUs");
        if threads == 1 && vcpus > 1 {
            assert_eq!(rt::start_vcpu(1, |_| ()), 0, "start-cpu");
            while !rt::is_stopped(1) {}
        }
    }

    /// Executes `function` on so many vCPUs, with their numbers, this one among them, which returns when it has.
    pub(crate) fn run(_: &Partition, threads: u64, function: fn(u64)) {
        *FUNCTION.lock() = Some(function);
        for number in 1..threads as u32 {
            assert_eq!(rt::start_vcpu(number, other), 0, "start-cpu");
        }
        function(0);
    }

    fn other(number: u32) {
        rt::join_translation();
        let function = FUNCTION.lock().expect("it is there before others start");
        function(number.into());
    }
}
