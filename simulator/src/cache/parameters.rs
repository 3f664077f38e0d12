//! `[timing.cache]`, `[timing.prefetch]`, `[timing.memory]` and `[timing.translation]` of a description.

use crate::quantity::{DescriptionError, error, parameters};

/// log2 of the bytes of a line, at every level.
pub const LINE_LOG2: u32 = 7;

parameters! {
    /// Sizes and latencies of the caches. Latencies are load-to-use.
    pub struct CacheParameters / CacheFile in "timing.cache" {
        /// A core's instruction cache.
        l1i_bytes: "bytes",
        /// Its ways.
        l1i_ways: "ways",
        /// A core's data cache.
        l1d_bytes: "bytes",
        /// Its ways.
        l1d_ways: "ways",
        /// Cores that share an L2 and its L3 region.
        cores_per_l2: "cores",
        /// An L2.
        l2_bytes: "bytes",
        /// Its ways.
        l2_ways: "ways",
        /// What it passes to its cores.
        l2_bandwidth: "bytes/cycle",
        /// An L3 region.
        l3_bytes: "bytes",
        /// Its ways.
        l3_ways: "ways",
        /// What it passes to its L2.
        l3_bandwidth: "bytes/cycle",
        /// A load that hits the L1.
        l1_latency: "cycles",
        /// A load that hits the L2.
        l2_latency: "cycles",
        /// A load that hits the L3 region.
        l3_latency: "cycles",
        /// A load of a line that another pair of the chip has, and has not changed.
        remote_latency: "ns",
        /// A load of a line that another pair of the chip has changed.
        remote_modified_latency: "ns",
        /// From the end of a store until it has drained into an L2 that may change the line.
        store_latency: "cycles",
        /// Until other pairs have given up a line whose data is not needed of them.
        claim_latency: "ns",
        /// How long a core that has reserved a line gives it to nobody, if its store conditional does not come before.
        reservation_kept: "cycles",
        /// Who asks for a line so long after a thread has written it gets it before that thread reserves it again.
        writer_gives_way: "cycles",
        /// By how many updates at most a thread that had a line more often than others gives way so much longer.
        writer_lead: "operations",
        /// For how long a thread that asked for a line counts as one that wants it.
        line_wanted: "cycles",
    }
}

parameters! {
    /// What is fetched before anybody asks for it.
    pub struct PrefetchParameters / PrefetchFile in "timing.prefetch" {
        /// Streams of loads that a core follows.
        streams: "streams",
        /// The longest step of a stream.
        longest_stride: "lines",
        /// How far ahead a stream is fetched when it is new.
        first_depth: "lines",
        /// How far ahead it is fetched at most.
        last_depth: "lines",
        /// By how much that grows with every line that is used.
        ramp: "lines",
        /// How much of it comes into the L1; the rest waits in the L3.
        l1_depth: "lines",
        /// Lines behind a lone miss that are fetched into the L3.
        scattered_lines: "lines",
        /// Lines of instructions behind a miss that are fetched into the L1.
        instruction_lines: "lines",
        /// The same with several threads, but with as many as a core can run there are none.
        instruction_lines_shared: [Groups] "lines",
        /// log2 of the bytes at whose multiples fetching ahead stops.
        page_log2: "log2 bytes",
        /// Nothing is fetched ahead that would have to wait longer for a channel of the memory.
        patience: "cycles",
    }
}

parameters! {
    /// The memory of a chip.
    pub struct MemoryParameters / MemoryFile in "timing.memory" {
        /// A load from the chip's own memory.
        latency: "ns",
        /// What another chip's memory, or its caches, take longer.
        chip_latency: "ns",
        /// Channels of a chip.
        channels: "channels",
        /// What a chip's channels pass together.
        bandwidth: [DirectMemory] "MB/s",
        /// What they pass together of what is read, where what is written has a way of its own.
        read_bandwidth: [Buffers] "MB/s",
        /// The same of what is written.
        write_bandwidth: [Buffers] "MB/s",
        /// Lines that wait in front of a channel to be written, before what evicts the next one waits.
        write_queue: "lines",
        /// The caches of a chip's memory buffers together, the L4.
        l4_bytes: [Buffers] "bytes",
        /// Their ways.
        l4_ways: [Buffers] "ways",
        /// A load that hits the L4.
        l4_latency: [Buffers] "ns",
    }
}

parameters! {
    /// ERATs, TLB and table walks of a core.
    pub struct TranslationParameters / TranslationFile in "timing.translation" {
        /// The instruction ERAT.
        ierat_entries: "entries",
        /// A data ERAT.
        derat_entries: "entries",
        /// Data ERATs; each has its own threads.
        derat_arrays: "arrays",
        /// The second data ERAT of a core, behind those.
        second_derat_entries: [SecondErat] "entries",
        /// A miss of a data ERAT that hits the second.
        second_derat_miss: [SecondErat] "cycles",
        /// log2 of the bytes of a page of a hashed page table that an ERAT's entry is for at most; a larger page takes
        /// several.
        erat_page_log2_hashed: "log2 bytes",
        /// The TLB, for translations by radix trees.
        tlb_entries: [Radix] "entries",
        /// The TLB, for translations by a hashed page table: as many, or twice as many.
        tlb_entries_hashed: "entries",
        /// The same once threads of the core have translated by radix trees too.
        tlb_entries_mixed: [Radix] "entries",
        /// Its ways.
        tlb_ways: "ways",
        /// The walk cache of one level of directories.
        walk_cache_entries: [Radix] "entries",
        /// Its ways.
        walk_cache_ways: [Radix] "ways",
        /// A miss of the ERATs that hits the TLB.
        erat_miss: "cycles",
        /// What a walk takes beyond that and its reads.
        walk_overhead: [Radix] "cycles",
        /// What the search of a hashed page table takes beyond that and its reads.
        search_overhead: "cycles",
        /// Walks that go on at a time.
        walkers: "walks",
    }
}

/// Checks that there is one of each at least.
fn none_is_zero(counts: &[(&str, u64)]) -> Result<(), DescriptionError> {
    match counts.iter().find(|(_, count)| *count == 0) {
        Some((key, _)) => Err(error(format!("{key} is 0; it must be 1 or more"))),
        None => Ok(()),
    }
}

/// Checks that a cache has a power of two of sets.
fn has_sets(name: &str, bytes: u64, ways: u64) -> Result<(), DescriptionError> {
    let way = ways << LINE_LOG2;
    if way == 0 || !bytes.is_multiple_of(way) || !(bytes / way).is_power_of_two() {
        return Err(error(format!(
            "{name}_bytes = {bytes}: with {ways} ways of 128-byte lines the sets are no power of two"
        )));
    }
    Ok(())
}

impl TranslationParameters {
    /// Checks that there is one of each, and that sets are a power of two; of what radix trees need too, if there are
    /// any.
    ///
    /// # Errors
    /// [`DescriptionError`] that names the key.
    pub fn check(&self, has_radix: bool) -> Result<(), DescriptionError> {
        let hashed = [("tlb", self.tlb_entries_hashed, self.tlb_ways)];
        let radix = [
            ("tlb", self.tlb_entries, self.tlb_ways),
            ("walk_cache", self.walk_cache_entries, self.walk_cache_ways),
        ];
        let arrays = if has_radix { &radix[..] } else { &hashed };
        for &(name, entries, ways) in arrays {
            if ways == 0 || entries % ways != 0 || !(entries / ways).is_power_of_two() {
                return Err(error(format!(
                    "timing.translation.{name}_entries = {entries}: with {ways} ways the sets are no power of two"
                )));
            }
        }
        let Self {
            tlb_entries, tlb_entries_hashed, tlb_entries_mixed, erat_page_log2_hashed, ..
        } = *self;
        let either = [tlb_entries, 2 * tlb_entries];
        for (key, entries) in
            [("tlb_entries_hashed", tlb_entries_hashed), ("tlb_entries_mixed", tlb_entries_mixed)]
        {
            let is_wrong = !either.contains(&entries) || entries > tlb_entries_hashed;
            if has_radix && is_wrong {
                return Err(error(format!(
                    "timing.translation.{key} = {entries}: it must be tlb_entries ({tlb_entries}) or twice that, and no more than \
                     tlb_entries_hashed"
                )));
            }
        }
        if !(12..=34).contains(&erat_page_log2_hashed) {
            return Err(error(
                "timing.translation.erat_page_log2_hashed is out of range; it must be 12 to 34",
            ));
        }
        none_is_zero(&[
            ("timing.translation.ierat_entries", self.ierat_entries),
            ("timing.translation.derat_entries", self.derat_entries),
            ("timing.translation.derat_arrays", self.derat_arrays),
            ("timing.translation.tlb_entries_hashed", self.tlb_entries_hashed),
            ("timing.translation.walkers", self.walkers),
        ])?;
        let radix = [
            ("timing.translation.tlb_entries", self.tlb_entries),
            ("timing.translation.walk_cache_entries", self.walk_cache_entries),
        ];
        if has_radix { none_is_zero(&radix) } else { Ok(()) }
    }
}

impl CacheParameters {
    /// Checks that every cache has a power of two of sets, and that latencies ascend.
    ///
    /// # Errors
    /// [`DescriptionError`] that names the cache.
    pub fn check(&self) -> Result<(), DescriptionError> {
        let caches = [
            ("l1i", self.l1i_bytes, self.l1i_ways),
            ("l1d", self.l1d_bytes, self.l1d_ways),
            ("l2", self.l2_bytes, self.l2_ways),
            ("l3", self.l3_bytes, self.l3_ways),
        ];
        for (name, bytes, ways) in caches {
            has_sets(&format!("timing.cache.{name}"), bytes, ways)?;
        }
        if !(1..=4).contains(&self.cores_per_l2) {
            return Err(error("timing.cache.cores_per_l2 is out of range; it must be 1 to 4"));
        }
        none_is_zero(&[
            ("timing.cache.l2_bandwidth", self.l2_bandwidth),
            ("timing.cache.l3_bandwidth", self.l3_bandwidth),
        ])?;
        if !(self.l1_latency <= self.l2_latency && self.l2_latency <= self.l3_latency) {
            return Err(error(
                "timing.cache.l2_latency: latencies must ascend from l1 over l2 to l3",
            ));
        }
        Ok(())
    }

    /// Sets of a cache.
    #[must_use]
    pub fn sets(bytes: u64, ways: u64) -> u64 {
        bytes / (ways << LINE_LOG2)
    }
}

impl MemoryParameters {
    /// Checks that there are channels, and that they pass something; and the L4, if there are buffers.
    ///
    /// # Errors
    /// [`DescriptionError`] that names the key.
    pub fn check(&self, has_buffers: bool) -> Result<(), DescriptionError> {
        none_is_zero(&[("timing.memory.channels", self.channels)])?;
        if !has_buffers {
            return none_is_zero(&[("timing.memory.bandwidth", self.bandwidth)]);
        }
        none_is_zero(&[
            ("timing.memory.read_bandwidth", self.read_bandwidth),
            ("timing.memory.write_bandwidth", self.write_bandwidth),
        ])?;
        if self.l4_latency > self.latency {
            return Err(error("timing.memory.l4_latency is above latency; it must not be"));
        }
        has_sets("timing.memory.l4", self.l4_bytes, self.l4_ways)
    }

    /// Whether there are buffers, with an L4, in front of memory.
    #[must_use]
    pub fn has_buffers(&self) -> bool {
        self.l4_bytes > 0
    }
}

impl PrefetchParameters {
    /// Checks that the depths ascend and that page boundaries lie further apart than lines.
    ///
    /// # Errors
    /// [`DescriptionError`] that names the key.
    pub fn check(&self) -> Result<(), DescriptionError> {
        if self.first_depth > self.last_depth {
            return Err(error("timing.prefetch.first_depth is above last_depth; it must not be"));
        }
        if !(LINE_LOG2 as u64..64).contains(&self.page_log2) {
            return Err(error("timing.prefetch.page_log2 is out of range; it must be 7 to 63"));
        }
        Ok(())
    }
}
