//! What the payload was given: its device tree, as a partition or as a kernel of its own.

use core::str::FromStr;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arch::features::{self, guest_stop};
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::{Node, Property};

/// The partition, as its device tree describes it.
#[derive(Clone, Copy, Debug)]
pub struct Partition {
    tree: Fdt<'static>,
    /// Where the second file begins and ends. Looked up once: whoever walks its memory asks often.
    initrd: Option<[u64; 2]>,
}

/// A virtual SCSI adapter.
#[derive(Clone, Copy, Debug)]
pub struct ScsiAdapter {
    /// Its unit address.
    pub unit: u32,
    /// The number of its interrupt source.
    pub source: u32,
    /// The number of the window through which it sees the memory (LIOBN).
    pub window: u32,
}

/// A state of the feature `guest-stop`.
#[derive(Clone, Copy, Debug)]
pub struct StopState {
    /// What PSSCR has to be.
    pub psscr: u64,
    /// Nanoseconds that it takes to leave, as firmware estimates.
    pub latency_ns: u32,
    /// Nanoseconds of sleep from which on it is worth it, as firmware estimates.
    pub residency_ns: u32,
}

impl Partition {
    pub(crate) fn new(tree: Fdt<'static>) -> Self {
        Self { tree, initrd: initrd_ends(tree) }
    }

    /// The payload's arguments.
    #[must_use]
    pub fn bootargs(&self) -> &'static str {
        let chosen = self.tree.find_node("/chosen");
        let property = chosen.and_then(|node| node.property("bootargs"));
        property.and_then(|property| property.value_as().ok()).unwrap_or("")
    }

    /// The value of the argument `name=value`.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<&'static str> {
        self.bootargs()
            .split_ascii_whitespace()
            .find_map(|argument| argument.strip_prefix(name)?.strip_prefix('='))
    }

    /// The value of the argument `name=value` as a number, or the usual one where the argument is not there.
    ///
    /// # Panics
    /// If the value is no such number.
    #[must_use]
    pub fn number<T: FromStr>(&self, name: &str, usual: T) -> T {
        let Some(text) = self.argument(name) else { return usual };
        let number = text.parse().ok();
        number.unwrap_or_else(|| panic!("{name}={text}: a number was expected"))
    }

    /// Number of vCPUs.
    #[must_use]
    pub fn vcpus(&self) -> u32 {
        let cpus = self.tree.find_node("/cpus");
        cpus.map_or(0, |node| node.children().count() as u32)
    }

    /// One of its virtual SCSI adapters, in the tree's order, if it has so many.
    ///
    /// # Panics
    /// If its node does not say what PAPR wants.
    #[must_use]
    pub fn scsi_adapter(&self, index: usize) -> Option<ScsiAdapter> {
        let devices = self.tree.find_node("/vdevice")?;
        let is_adapter = |node: &FdtNode<'_>| {
            let property = node.property("compatible");
            property.is_some_and(|property| property.value() == b"IBM,v-scsi\0")
        };
        let node = devices.children().filter(is_adapter).nth(index)?;
        let first = |name| {
            let property = node.property(name);
            let cell = property.and_then(|property| property.value().first_chunk().copied());
            u32::from_be_bytes(cell.expect("PAPR: an adapter's node has `reg` and its kin"))
        };
        let [unit, source, window] = ["reg", "interrupts", "ibm,my-dma-window"].map(first);
        Some(ScsiAdapter { unit, source, window })
    }

    /// Whether a hashed page table translates for a partition, and not trees of its own: `ibm,architecture-vec-5`.
    #[cfg(not(feature = "bare"))]
    #[must_use]
    pub(crate) fn is_hashed(&self) -> bool {
        const RADIX: (usize, u8) = (24, 0x40);
        let vector = self.tree.find_node("/chosen");
        let vector = vector.and_then(|node| node.property("ibm,architecture-vec-5"));
        vector
            .is_none_or(|vector| vector.value().get(RADIX.0).is_none_or(|byte| byte & RADIX.1 == 0))
    }

    /// log2 of the bytes of its hashed page table: `ibm,pft-size`.
    #[cfg(not(feature = "bare"))]
    pub(crate) fn hash_table_log2(&self) -> u32 {
        let cpus = self.tree.find_node("/cpus");
        let cpu = cpus.and_then(|node| node.children().next());
        let property = cpu.and_then(|node| node.property("ibm,pft-size"));
        let cells = property.and_then(|size| size.value().as_chunks::<4>().0.get(1).copied());
        u32::from_be_bytes(cells.expect("a processor with a hashed page table tells its size"))
    }

    /// The `stop` that the partition has as a feature, if it has it.
    #[must_use]
    pub fn stop_state(&self) -> Option<StopState> {
        let features = self.tree.root().child(features::NODE)?;
        let feature = features.child(guest_stop::NAME)?;
        let version = feature.property(features::VERSION)?.value_as::<u32>().ok()?;
        assert_eq!(version, guest_stop::VERSION, "a version of guest-stop");
        let nanoseconds = |name| feature.property(name)?.value_as::<u32>().ok();
        Some(StopState {
            psscr: feature.property(guest_stop::PSSCR)?.value_as().ok()?,
            latency_ns: nanoseconds(guest_stop::LATENCIES)?,
            residency_ns: nanoseconds(guest_stop::RESIDENCIES)?,
        })
    }

    /// Ticks of the time base in a second.
    ///
    /// # Panics
    /// If the device tree does not have it, which PAPR wants.
    #[must_use]
    pub fn timebase_hz(&self) -> u64 {
        let cpu = self.tree.find_node("/cpus").and_then(|cpus| cpus.children().next());
        let property = cpu.as_ref().and_then(|cpu| cpu.property("timebase-frequency"));
        let frequency = property.and_then(|property| property.value_as::<u32>().ok());
        frequency.expect("PAPR: a cpu has `timebase-frequency`").into()
    }

    /// Bytes of memory, which begins at 0. Of a machine's, those in front of what firmware has, or as many MiB of them
    /// as the argument `memory` says.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let memory = self.tree.find_node("/memory@0");
        let mut ranges = memory.and_then(|node| node.reg().ok().flatten());
        let range = ranges.as_mut().and_then(Iterator::next);
        let bytes = range.and_then(|range| range.size().ok()).unwrap_or(0);
        if cfg!(feature = "bare") { self.unreserved(bytes) } else { bytes }
    }

    fn unreserved(&self, bytes: u64) -> u64 {
        let reserved = self.tree.memory_reservations().map(|reservation| reservation.address());
        let end = reserved.chain([self.tree_range().start]).fold(bytes, u64::min);
        end.min(self.number("memory", end >> 20) << 20)
    }

    /// Memory of a machine beyond its first GiB, where firmware is, that nobody has: so many bytes from a multiple of
    /// 16 MiB on. The kernel has no page there.
    #[cfg(feature = "bare")]
    #[must_use]
    pub fn memory_beyond(&self, bytes: u64) -> Option<u64> {
        const ALIGNMENT: u64 = 16 << 20;
        let memory = self.tree.find_node("/memory@0");
        let mut ranges = memory.and_then(|node| node.reg().ok().flatten());
        let end = ranges.as_mut().and_then(Iterator::next)?.size::<u64>().ok()?;
        let mut start = 1 << 30;
        let behind = |start| {
            let reservations = self.tree.memory_reservations();
            let ends = reservations.map(|it| (it.address(), it.address() + it.size()));
            ends.filter(|(first, next)| *first < start + bytes && start < *next)
                .map(|(_, next)| next)
                .max()
        };
        // In no order.
        while let Some(next) = behind(start) {
            start = next.next_multiple_of(ALIGNMENT);
        }
        (start + bytes <= end).then_some(start)
    }

    /// The number to firmware of one of the machine's hardware threads, in the tree's order, if it has so many.
    #[cfg(feature = "bare")]
    pub(crate) fn thread(&self, index: usize) -> Option<u32> {
        let mut index = index;
        for core in self.tree.find_node("/cpus")?.children() {
            let Some(threads) = core.property("ibm,ppc-interrupt-server#s") else { continue };
            let (numbers, _) = threads.value().as_chunks::<4>();
            match numbers.get(index) {
                Some(number) => return Some(u32::from_be_bytes(*number)),
                None => index -= numbers.len(),
            }
        }
        None
    }

    /// Where the device tree lies.
    pub(crate) fn tree_range(&self) -> core::ops::Range<u64> {
        let start = self.tree.data().as_ptr() as u64;
        start..start + self.tree.data().len() as u64
    }

    /// The second file that came with the payload.
    #[must_use]
    pub fn initrd(&self) -> Option<&'static [u8]> {
        let [start, end] = self.initrd?;
        // SAFETY: the device tree says that the partition's memory holds the file there, and
        // `free_memory`, the only way to memory that is written, begins behind it.
        Some(unsafe { core::slice::from_raw_parts(start as *const u8, (end - start) as usize) })
    }

    /// The payload's untouched memory: from a 64 KiB boundary above the payload, and the second file if
    /// there is one, to the device tree, or the page table of a kernel of its own.
    #[must_use]
    pub fn free_memory(&self) -> core::ops::Range<u64> {
        let files_end = self.initrd.map_or(0, |[_, end]| end);
        let start = ((&raw const rt_end) as u64).max(files_end).next_multiple_of(0x1_0000);
        start..self.free_end()
    }

    #[cfg(not(feature = "bare"))]
    fn free_end(&self) -> u64 {
        self.tree.data().as_ptr() as u64
    }

    #[cfg(feature = "bare")]
    fn free_end(&self) -> u64 {
        crate::table::base()
    }

    /// The untouched memory, in doublewords, to keep. [`Partition::probe`] finds none after this.
    ///
    /// # Panics
    /// The second time.
    #[must_use]
    pub fn take_free_memory(&self) -> &'static mut [u64] {
        assert!(!FREE_MEMORY_TAKEN.swap(true, Ordering::Relaxed), "memory is given away once");
        let free = self.free_memory();
        let words = (free.end.saturating_sub(free.start) / 8) as usize;
        // SAFETY: the memory is the partition's, aligned, and nothing else in the payload uses it:
        // this function and `probe` are the only ways to it, and neither gives it a second time.
        unsafe { core::slice::from_raw_parts_mut(free.start as *mut u64, words) }
    }

    /// The same, to share with other vCPUs and with devices.
    ///
    /// # Panics
    /// As [`Partition::take_free_memory`].
    #[must_use]
    pub fn share_free_memory(&self) -> &'static [AtomicU64] {
        share(self.take_free_memory())
    }

    /// Reads the word at `address` of the untouched memory, then writes and reads back a pattern:
    /// what was there before, or `None` if the pattern was not kept or the address is not free.
    #[must_use]
    pub fn probe(&self, address: u64) -> Option<u64> {
        let free = self.free_memory();
        if FREE_MEMORY_TAKEN.load(Ordering::Relaxed)
            || !address.is_multiple_of(8)
            || address < free.start
            || address >= free.end
        {
            return None;
        }
        let word = address as *mut u64;
        // SAFETY: an aligned doubleword of memory that nothing else in the payload uses.
        unsafe {
            let before = word.read_volatile();
            word.write_volatile(!address);
            (word.read_volatile() == !address).then_some(before)
        }
    }
}

fn initrd_ends(tree: Fdt<'static>) -> Option<[u64; 2]> {
    let chosen = tree.find_node("/chosen")?;
    let number = |name| chosen.property(name)?.value_as::<u64>().ok();
    let ends = [number("linux,initrd-start")?, number("linux,initrd-end")?];
    (ends[0] <= ends[1]).then_some(ends)
}

/// Whether the untouched memory has an owner.
static FREE_MEMORY_TAKEN: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    static rt_end: u8;
}

/// Memory to share with other vCPUs and with devices from now on.
#[must_use]
pub fn share(words: &'static mut [u64]) -> &'static [AtomicU64] {
    // SAFETY: nobody else has this memory, which is given away for good, and an atomic doubleword is laid out as one
    // that is not.
    unsafe { core::slice::from_raw_parts(words.as_mut_ptr().cast(), words.len()) }
}
