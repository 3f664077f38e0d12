//! The bundle: one file that carries partitions to the hypervisor, passed as initrd.
//!
//! A bundle is a flattened device tree, the manifest, followed by the payloads' bytes. Every payload
//! segment begins at a multiple of [`ALIGNMENT`] from the start of the file, so that the hypervisor
//! copies it through windows of whole pages and never maps two partitions' bytes at once. The host
//! reads ELF files and writes segments; the hypervisor only copies and checks.
//!
//! ```text
//! / {
//!     compatible = "powervisor,bundle-v1";
//!     powervisor,file-bytes = <u64>;            length of the whole file: a cut file is noticed
//!     powervisor,slice-us = <u32>;              may be left out
//!     powervisor,console = "name";              may be left out
//!     powervisor,registers = "owned";           may be left out: the name of a [`RegisterPolicy`]
//!     powervisor,mitigations = "firmware";      may be left out: the name of a [`MitigationPolicy`]
//!     powervisor,one-per-core = <1>;  may be left out
//!     powervisor,map = "ours";                may be left out: the name of a [`MapPolicy`]
//!     powervisor,prefetch = "off";            may be left out: the name of a [`PrefetchPolicy`]
//!     powervisor,hash-calls = "fast";         may be left out: the name of a [`HashCallPolicy`]
//!     powervisor,eager-without = <u32>;         with "eager", may be left out: bits of [`Excesses`]
//!     hello {                                   one node per partition, the name is its name
//!         powervisor,memory-bytes = <u64>;      a multiple of 64 KiB
//!         powervisor,vcpus = <u32>;
//!         powervisor,entry = <u64>;             guest real address
//!         powervisor,segments = <address file-offset file-bytes memory-bytes>, ...;   u64 each
//!         bootargs = "...";
//!         powervisor,translation = "radix";     may be left out: the name of a [`Translation`]
//!         powervisor,weight = <u32>;            may be left out
//!         powervisor,time-limit-us = <u32>;     may be left out
//!         powervisor,performance-monitor = <u32>;   1, or left out
//!         powervisor,superpages = <u32>;            1, or left out
//!         powervisor,resizable-table = <u32>;       1, or left out
//!         powervisor,guest-stop = <u32>;        may be left out: the version of the feature that it has
//!         powervisor,dma-window-bytes = <u32>;  may be left out: a multiple of 4 KiB
//!         powervisor,suspend-at-ns = <u64>;     may be left out: it is suspended so long after its start
//!         powervisor,image = <file-offset bytes>;   u64 each; may be left out: it goes on from there
//!         powervisor,initrd = <start end>;      guest real addresses, u64 each; may be left out
//!         powervisor,disks = <file-offset bytes writable adapter>, ...;   u64 each; may be left out
//!     };
//! };
//! ```

use crate::excess::Excesses;

/// The root's `compatible`.
pub const COMPATIBLE: &str = "powervisor,bundle-v1";
/// Root property: length of the whole file in bytes.
pub const FILE_BYTES: &str = "powervisor,file-bytes";
/// Root property: how many microseconds a vCPU runs when others wait, [`LEAST_SLICE`] at least. May be left out.
pub const SLICE: &str = "powervisor,slice-us";
/// Microseconds of the shortest slice. The hypervisor's longest work in one piece, a line for the console,
/// takes 18, and in shorter slices no promise by the slice could be kept. Confidence: measured,
/// `docs/containment.md`.
pub const LEAST_SLICE: u32 = 20;
/// Root property: the partition that the console is for: it gets the input, and what it writes goes out
/// as it comes, see [`crate::console`]. Without it the first partition gets the input and all
/// partitions are shown line by line.
pub const CONSOLE: &str = "powervisor,console";
/// Root property: the name of a [`RegisterPolicy`]. May be left out.
pub const REGISTERS: &str = "powervisor,registers";
/// Root property: the name of a [`MitigationPolicy`]. May be left out.
pub const MITIGATIONS: &str = "powervisor,mitigations";
/// Root property: 1 if one partition at most may run on a core at a time. May be left out.
pub const ONE_PARTITION_PER_CORE: &str = "powervisor,one-per-core";
/// Root property: how many hardware threads of each core, or of each part of a split one, run partitions at most, 1 or
/// more. May be left out.
pub const THREADS_PER_CORE: &str = "powervisor,threads-per-core";
/// Root property: into how many subcores each core is split, 2 or 4. May be left out, and has to where one partition at
/// most may run on a core.
pub const SUBCORES: &str = "powervisor,subcores";
/// Root property: the name of a [`MapPolicy`]. May be left out.
pub const MAP: &str = "powervisor,map";
/// Root property: the name of a [`PrefetchPolicy`]. May be left out, and read only where there is an engine.
pub const PREFETCH: &str = "powervisor,prefetch";
/// Root property: the name of a [`HashCallPolicy`]. May be left out.
pub const HASH_CALLS: &str = "powervisor,hash-calls";
/// Root property: what [`RegisterPolicy::Eager`] leaves out, as [`Excesses::bits`]. May be left out, and has to
/// with another policy.
pub const EAGER_WITHOUT: &str = "powervisor,eager-without";
/// Partition property: memory in bytes.
pub const MEMORY_BYTES: &str = "powervisor,memory-bytes";
/// Partition property: number of vCPUs.
pub const VCPUS: &str = "powervisor,vcpus";
/// Partition property: guest real address of the first instruction.
pub const ENTRY: &str = "powervisor,entry";
/// Partition property: the segments, four `u64` each.
pub const SEGMENTS: &str = "powervisor,segments";
/// Partition property: the payload's arguments.
pub const BOOTARGS: &str = "bootargs";

/// Partition property: the name of a [`Translation`]. May be left out, for the one that is usual with the processor.
pub const TRANSLATION: &str = "powervisor,translation";
/// Partition property: each vCPU's share of the processors, relative to others'. May be left out.
pub const WEIGHT: &str = "powervisor,weight";
/// Partition property: where in its memory the payload's second file begins and ends, inside the bytes
/// of one segment. May be left out.
pub const INITRD: &str = "powervisor,initrd";
/// Partition property: how many microseconds it may run in all. May be left out.
pub const TIME_LIMIT: &str = "powervisor,time-limit-us";
/// 1: the partition has the processor's performance monitor.
pub const PERFORMANCE_MONITOR: &str = "powervisor,performance-monitor";
/// 1: the hypervisor makes superpages of what the partition enters into its hashed page table.
pub const SUPERPAGES: &str = "powervisor,superpages";
/// 1: the partition can change the size of its hashed page table.
pub const RESIZABLE_TABLE: &str = "powervisor,resizable-table";
/// Partition property: the version of the feature `guest-stop` that it has ([`crate::features`]). May be left
/// out: it has none.
pub const GUEST_STOP: &str = "powervisor,guest-stop";
/// Partition property: nanoseconds after the start of the hypervisor's partitions at which it is suspended. May be left
/// out: it is not.
pub const SUSPEND_AT: &str = "powervisor,suspend-at-ns";
/// Partition property: where in the file the image of the suspended partition lies with which it goes on, a multiple of
/// [`ALIGNMENT`], and its bytes ([`crate::image`]). May be left out: it starts.
pub const IMAGE: &str = "powervisor,image";
/// Partition property: bytes of each window through which a device sees its memory: one for each of its adapters, and
/// one if it has no disks. May be left out: it has none.
pub const DMA_WINDOW: &str = "powervisor,dma-window-bytes";

/// Partition property: its disks, four `u64` each: where the blocks begin in the file, a multiple of
/// [`ALIGNMENT`], bytes, a multiple of a block's, 1 if it may be written to, which changes the file in
/// memory, and the number of the adapter that it is behind, below [`ADAPTERS_MAX`]. May be left out: it has none. A
/// partition with disks has a window.
pub const DISKS: &str = "powervisor,disks";
/// Doublewords of a disk.
pub const DISK_DOUBLEWORDS: usize = 4;
/// Disks that a partition has at most.
pub const DISKS_MAX: usize = 64;
/// Virtual SCSI adapters that a partition has at most.
pub const ADAPTERS_MAX: usize = 16;
/// A disk has whole blocks of so many bytes.
pub const BLOCK_BYTES: u64 = 512;

/// An enumeration whose variants have names in the bundle: none is left out of the list of all.
macro_rules! named {
    ($(#[$doc:meta])* $type:ident { $($(#[$of_variant:meta])* $variant:ident = $name:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
        pub enum $type { $($(#[$of_variant])* $variant,)* }

        impl $type {
            /// All of them.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// As the bundle and the files of the `powervisor` command write it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// The one with this name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|named| named.name() == name)
            }
        }
    };
}

named! {
    /// How the addresses of a partition are translated: which kind of partition it is.
    Translation {
        /// By radix trees: the partition's own, and the hypervisor's behind it.
        #[default]
        Radix = "radix";
        /// By a hashed page table, which the hypervisor keeps for it.
        Hash = "hash";
    }
}

/// Where the registers of a vCPU go that gives up the processor.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum RegisterPolicy {
    /// What no other vCPU needs stays in the processor; the hardware thread owns it until it does something else.
    #[default]
    Owned,
    /// All of it goes into the vCPU's record in memory at once, so that another hardware thread can take the
    /// vCPU without waiting. What is still in the processor, when the vCPU comes back to it, is not loaded
    /// again.
    Released,
    /// As [`RegisterPolicy::Released`], and everything is loaded again too. A vCPU that nobody waits for moves
    /// what KVM moved before its optimisation, in that order and with those barriers: to measure it, and for
    /// nothing else.
    Eager {
        /// What of that it does not move.
        without: Excesses,
    },
}

impl RegisterPolicy {
    /// All of them.
    pub const ALL: [Self; 3] =
        [Self::Owned, Self::Released, Self::Eager { without: Excesses::NONE }];

    /// As the bundle and the files of the `powervisor` command write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Owned => "owned",
            Self::Released => "released",
            Self::Eager { .. } => "eager",
        }
    }

    /// The one with this name; eager without nothing.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.name() == name)
    }
}

named! {
    /// What is done against speculation that reaches over the border between a partition and the hypervisor.
    MitigationPolicy {
        /// What firmware asks for.
        #[default]
        Firmware = "firmware";
        /// Nothing.
        Off = "off";
    }
}

named! {
    /// How the hypervisor reaches the memory of partitions.
    MapPolicy {
        /// By a cache of maps of each hardware thread. What was released is unreachable before a guest runs on the
        /// thread again.
        #[default]
        Ours = "ours";
        /// The same, and it is unreachable at once.
        OursStrict = "ours-strict";
        /// The same, and it is unreachable before its place in the cache is used again, and before the thread runs
        /// another partition.
        OursLazy = "ours-lazy";
        /// By Xen's cache of a domain, which all vCPUs of a partition share: to measure it, and for nothing else.
        Domain = "domain";
        /// By Xen's cache of a vCPU as it was posted: to measure it, and for nothing else.
        XenV2 = "xen-v2";
        /// With relocation off, where all memory is within reach: to measure it, and for nothing else.
        RealMode = "real-mode";
        /// By a map of all memory: to measure what the others cost, and for nothing else.
        Direct = "direct";
    }
}

impl MapPolicy {
    /// Whether released memory may stay within reach for good, so that only an experiment may ask for it.
    #[must_use]
    pub const fn is_for_experiments(self) -> bool {
        matches!(self, Self::Domain | Self::XenV2 | Self::RealMode | Self::Direct)
    }
}

named! {
    /// What the prefetch engine of a core logs when another vCPU comes to it, and fetches when the vCPU comes back.
    PrefetchPolicy {
        /// Nothing.
        #[default]
        Off = "off";
        /// What is in the core's L2.
        AlwaysL2 = "always-l2";
        /// What is in its L2, and in the way of its L3 that was used last.
        AlwaysL2AndL3 = "always-l2-l3";
        /// For each vCPU what it gets more done with: that, the L2 alone, or nothing.
        Adaptive = "adaptive";
        /// What the patch of 2014 logged and fetched, with its defects: to measure it, and for nothing else.
        Faithful = "faithful";
    }
}

impl PrefetchPolicy {
    /// Whether engines may write memory that is not theirs, so that only an experiment may ask for it.
    #[must_use]
    pub const fn is_for_experiments(self) -> bool {
        matches!(self, Self::Faithful)
    }
}

named! {
    /// Where a call of a partition's hashed page table is answered.
    HashCallPolicy {
        /// With relocation off, in the partition's context.
        #[default]
        Fast = "fast";
        /// In the hypervisor's own context, with relocation on, behind the switch of LPIDR and LPCR: to measure it, and
        /// for nothing else.
        Middle = "middle";
        /// By the dispatcher, once the vCPU has left the processor: to measure it, and for nothing else.
        Full = "full";
    }
}

impl HashCallPolicy {
    /// Whether it makes calls slower and does nothing else, so that only an experiment may ask for it.
    #[must_use]
    pub const fn is_for_experiments(self) -> bool {
        matches!(self, Self::Middle | Self::Full)
    }
}

/// The longest manifest in bytes.
pub const MANIFEST_BYTES_MAX: u64 = 0x10_0000;
/// The greatest number of vCPUs of a partition.
pub const VCPUS_MAX: u32 = 64;
/// The greatest weight of a vCPU.
pub const WEIGHT_MAX: u32 = 10_000;

/// Segments begin at multiples of this many bytes, and memory is given in such units.
pub const ALIGNMENT: u64 = 0x1_0000;

/// Doublewords of one segment in [`SEGMENTS`].
pub const SEGMENT_DOUBLEWORDS: usize = 4;

/// Whether a partition may have this name: it is the name of a device-tree node, and a console shows it, so there is
/// nothing in it that a terminal acts on or that a line of the hypervisor could end with.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b",._+-".contains(&byte);
    (1..=31).contains(&name.len())
        && name.as_bytes()[0].is_ascii_alphabetic()
        && name.bytes().all(allowed)
}
