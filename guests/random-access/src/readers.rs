//! Other vCPUs, or hardware threads, which read pages of the table while others beside them change.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicU64};

use rt::random::Numbers;
use spin::Mutex;

use crate::kernel;

/// The table that they read, and whether they are through.
static TABLE: Mutex<&[AtomicU64]> = Mutex::new(&[]);
static IS_OVER: AtomicBool = AtomicBool::new(false);
/// Words that were read, and those of them that were wrong.
static READ: AtomicU64 = AtomicU64::new(0);
static WRONG: AtomicU64 = AtomicU64::new(0);
/// Readers that have ended.
static ENDED: AtomicU64 = AtomicU64::new(0);
/// The bit of a word's index that says whether its page has an odd number.
const ODD_PAGE: usize = 1 << (superpages::PAGE_LOG2 - 3);

/// Those that read.
pub(crate) struct Readers {
    count: u32,
    /// Faults before they began.
    faults: u64,
}

impl Readers {
    /// As many as the argument `readers` says, if it does: they read words that are their own indexes.
    pub(crate) fn start(partition: &rt::Partition, table: &'static [AtomicU64]) -> Option<Self> {
        let count = partition.number("readers", 0u32);
        if count == 0 {
            return None;
        }
        *TABLE.lock() = table;
        let faults = kernel::faults();
        start(partition, count);
        Some(Self { count, faults })
    }

    /// The word that may change instead of the one with this index: in a page that nobody else reads. A partition naps
    /// first, so that its hypervisor can make its block large.
    pub(crate) fn make_way(&self, index: usize) -> usize {
        #[cfg(not(feature = "bare"))]
        rt::sleep(20_000 * rt::TICKS_PER_MICROSECOND);
        index | ODD_PAGE
    }

    /// Where the kernel makes blocks large itself: a pause behind a change, in which the others enter small pages.
    #[cfg(feature = "bare")]
    pub(crate) fn read_on(&self) {
        rt::sleep(1_000 * rt::TICKS_PER_MICROSECOND);
    }

    /// Waits until they have ended, and says what they have read.
    pub(crate) fn end(self, flips: usize) {
        let faults = kernel::faults() - self.faults;
        IS_OVER.store(true, SeqCst);
        while ENDED.load(SeqCst) < self.count.into() {
            core::hint::spin_loop();
        }
        let [read, wrong] = [&READ, &WRONG].map(|count| count.load(SeqCst));
        let words = if read > 0 { "words" } else { "no words" };
        let Self { count, .. } = self;
        rt::println!(
            "random-access: {count} readers read {words}, {wrong} wrong, {faults} faults in {flips} flips"
        );
    }
}

#[cfg(not(feature = "bare"))]
fn start(partition: &rt::Partition, count: u32) {
    let vcpus = partition.vcpus();
    assert!(count < vcpus, "readers={count}: fewer than {vcpus} were expected");
    for number in 1..=count {
        let read = |number: u32| {
            rt::join_translation();
            read(number.into());
        };
        assert_eq!(rt::start_vcpu(number, read), 0, "start-cpu");
    }
}

#[cfg(feature = "bare")]
fn start(partition: &rt::Partition, count: u32) {
    rt::start_others(partition, u64::from(count) + 1, read);
}

/// What each does.
fn read(number: u64) {
    let table = *TABLE.lock();
    let mut random = Numbers::new(number);
    let (mut read, mut wrong) = (0, 0);
    while !IS_OVER.load(SeqCst) {
        let index = random.below(table.len() as u64) as usize & !ODD_PAGE;
        read += 1;
        wrong += u64::from(table[index].load(Relaxed) != index as u64);
    }
    READ.fetch_add(read, SeqCst);
    WRONG.fetch_add(wrong, SeqCst);
    ENDED.fetch_add(1, SeqCst);
}
