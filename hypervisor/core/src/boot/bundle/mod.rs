//! The bundle's manifest: which partitions to make, checked before anything is made.
//!
//! The format is in [`arch::bundle`]. The manifest comes from outside, so every number in it is
//! checked here against the file and against the others; [`crate::partition::load`] then only copies.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use arch::address::GuestRealAddress;
use arch::bundle::{
    ADAPTERS_MAX, ALIGNMENT, BLOCK_BYTES, BOOTARGS, COMPATIBLE, CONSOLE, DISK_DOUBLEWORDS, DISKS,
    DISKS_MAX, DMA_WINDOW, EAGER_WITHOUT, ENTRY, FILE_BYTES, GUEST_STOP, HASH_CALLS,
    HashCallPolicy, IMAGE, INITRD, LEAST_SLICE, MANIFEST_BYTES_MAX, MAP, MEMORY_BYTES, MITIGATIONS,
    MapPolicy, MitigationPolicy, ONE_PARTITION_PER_CORE, PERFORMANCE_MONITOR, REGISTERS,
    RESIZABLE_TABLE, RegisterPolicy, SEGMENT_DOUBLEWORDS, SEGMENTS, SLICE, SUBCORES, SUPERPAGES,
    SUSPEND_AT, THREADS_PER_CORE, TIME_LIMIT, TRANSLATION, Translation, VCPUS, VCPUS_MAX, WEIGHT,
    WEIGHT_MAX, is_name,
};
use arch::excess::Excesses;
use arch::papr::tce;
use arch::processor::Processor;
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::standard::NodeStandard;
use dtoolkit::{Node, Property};

/// Bytes of a device tree's header that tell its size.
pub const HEADER_BYTES: u64 = 8;

/// What a bundle says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bundle {
    /// Microseconds that a vCPU runs when others wait.
    pub slice: Option<u32>,
    /// The place of the partition that the console is for.
    pub console: Option<usize>,
    /// Where the registers of a vCPU go that gives up the processor.
    pub registers: RegisterPolicy,
    /// What is done against speculation.
    pub mitigations: MitigationPolicy,
    /// One partition at most runs on a core at a time.
    pub has_one_partition_per_core: bool,
    /// How many hardware threads of each core, or of each part of a split one, run partitions at most.
    pub threads_per_core: Option<u32>,
    /// Into how many parts each core is split, if it is.
    pub subcores: Option<u32>,
    /// How the memory of partitions is reached.
    pub map: MapPolicy,
    /// Where calls of a hashed page table are answered.
    pub hash_calls: HashCallPolicy,
    /// The partitions, at least one.
    pub partitions: Vec<Description>,
}

/// One partition, as the bundle describes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Description {
    /// The node's name.
    pub name: String,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Number of vCPUs.
    pub vcpus: u32,
    /// How its addresses are translated, if that is said.
    pub translation: Option<Translation>,
    /// Each vCPU's share of the processors, relative to others'.
    pub weight: Option<u32>,
    /// Microseconds that it may run in all.
    pub time_limit: Option<u32>,
    /// It has the processor's performance monitor.
    pub has_performance_monitor: bool,
    /// The hypervisor makes superpages of what it enters into its hashed page table.
    pub has_superpages: bool,
    /// It can change the size of its hashed page table.
    pub has_resizable_table: bool,
    /// The version of the feature `guest-stop` that it asks for.
    pub guest_stop: Option<u32>,
    /// Bytes of each window through which a device sees its memory, if it has one.
    pub dma_window: Option<u32>,
    /// Nanoseconds after the start at which it is suspended.
    pub suspend_at: Option<u64>,
    /// Where the image is with which it goes on, from the start of the bundle, and its bytes.
    pub image: Option<[u64; 2]>,
    /// Its disks.
    pub disks: Vec<DiskDescription>,
    /// First instruction.
    pub entry: GuestRealAddress,
    /// What is copied into the memory, by ascending address.
    pub segments: Vec<Segment>,
    /// The payload's arguments.
    pub bootargs: String,
    /// Where the payload's second file begins and ends.
    pub initrd: Option<[GuestRealAddress; 2]>,
}

impl Description {
    /// How its addresses are translated on this processor.
    #[must_use]
    pub fn translation(&self, processor: Processor) -> Translation {
        self.translation.unwrap_or(processor.facts().usual_translation())
    }

    /// Its virtual SCSI adapters: up to the last one that has a disk.
    #[must_use]
    pub fn adapters(&self) -> usize {
        self.disks.iter().map(|disk| disk.adapter + 1).max().unwrap_or(0)
    }
}

/// A disk of a partition. Its blocks stay in the bundle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DiskDescription {
    /// Where its blocks are, from the start of the bundle.
    pub file_offset: u64,
    /// How long they are.
    pub bytes: u64,
    /// Whether it may be written to.
    pub is_writable: bool,
    /// The number of the adapter that it is behind.
    pub adapter: usize,
}

/// A piece of a payload. Memory beyond the file's bytes is zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Where it goes.
    pub address: GuestRealAddress,
    /// Where it is, from the start of the bundle.
    pub file_offset: u64,
    /// How much is copied.
    pub file_bytes: u64,
    /// How much it occupies, at least `file_bytes`.
    pub memory_bytes: u64,
}

impl Segment {
    /// One past its last byte in the partition's memory.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.address.0.saturating_add(self.memory_bytes)
    }
}

/// What is wrong with a bundle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BundleError {
    /// The file does not begin with a device tree.
    NotATree,
    /// The manifest is longer than the file or than [`MANIFEST_BYTES_MAX`].
    ManifestLength(u64),
    /// The manifest is damaged.
    DamagedManifest,
    /// The manifest is of another format.
    NotABundle,
    /// The file has another length than it should.
    FileLength {
        /// What the manifest says.
        expected: u64,
        /// What there is.
        actual: u64,
    },
    /// There is no partition in it.
    Empty,
    /// There is no such policy for registers.
    Registers,
    /// There is no such policy for mitigations.
    Mitigations,
    /// Whether one partition has a core is neither 1 nor left out.
    OnePartitionPerCore,
    /// No hardware thread of a core is to run partitions, or this is no number.
    ThreadsPerCore,
    /// A core is not split into so many parts, or is to run one partition at most.
    Subcores,
    /// There is no such policy for maps.
    Map,
    /// There is no such policy for calls of a hashed page table.
    HashCalls,
    /// What the policy for registers leaves out is not known, or the policy is not eager.
    EagerWithout,
    /// The slice is zero or not a number.
    Slice,
    /// The console is for a partition that is not there.
    Console,
    /// The partition with this number, from 0, has a name that none may have.
    Name(usize),
    /// A partition is described wrongly.
    Partition {
        /// Its name.
        name: String,
        /// What is wrong.
        error: PartitionError,
    },
}

/// What is wrong with one partition of a bundle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartitionError {
    /// A property is missing or has a wrong length.
    Property(&'static str),
    /// The memory is zero or not a multiple of 64 KiB.
    MemoryBytes(u64),
    /// A number of vCPUs that the hypervisor does not support.
    Vcpus(u32),
    /// A weight that is zero or greater than [`WEIGHT_MAX`].
    Weight(u32),
    /// The entry is not in the file's bytes of any segment, or not a multiple of four.
    Entry(u64),
    /// A segment has more bytes in the file than in memory.
    SegmentLength(usize),
    /// A segment does not begin at a multiple of 64 KiB in the file.
    SegmentAlignment(usize),
    /// A segment is not within the file.
    SegmentOutsideFile(usize),
    /// A segment is not within the partition's memory.
    SegmentOutsideMemory(usize),
    /// The second file is not inside the bytes of one segment.
    Initrd,
    /// A disk is not made of whole blocks in the file, or shares 64 KiB of it with something else that is written.
    Disk(usize),
    /// A disk is behind an adapter of which there are not so many.
    Adapter(usize),
    /// Two segments have memory in common; the numbers count by address.
    SegmentsOverlap(usize, usize),
}

impl fmt::Display for BundleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotATree => f.write_str("it does not begin with a manifest"),
            Self::ManifestLength(bytes) => write!(f, "a manifest of {bytes} bytes cannot be"),
            Self::DamagedManifest => f.write_str("the manifest is damaged"),
            Self::NotABundle => write!(f, "the manifest is not compatible with {COMPATIBLE}"),
            Self::FileLength { expected, actual } => {
                write!(f, "it should have {expected} bytes and has {actual}")
            }
            Self::Empty => f.write_str("there is no partition in it"),
            Self::Registers => {
                f.write_str("the policy for registers is not one of owned, released and eager")
            }
            Self::Mitigations => {
                f.write_str("the policy for mitigations is not one of firmware and off")
            }
            Self::OnePartitionPerCore => {
                f.write_str("the policy for partitions and cores is not 1; or leave it out")
            }
            Self::ThreadsPerCore => {
                f.write_str("how many threads of a core run partitions is not 1 or more; or leave it out")
            }
            Self::Subcores => f.write_str(
                "a core is split into 2 or 4 subcores, and not where one partition at most may run on it",
            ),
            Self::Map => f.write_str(
                "the policy for maps is not one of ours, ours-strict, ours-lazy, domain, xen-v2, real-mode and direct",
            ),
            Self::HashCalls => f.write_str(
                "the policy for calls of a hashed page table is not one of fast, middle and full",
            ),
            Self::EagerWithout => f.write_str(
                "what the policy for registers leaves out is not known, or the policy is not eager",
            ),
            Self::Slice => write!(f, "the slice is not a number of microseconds, {LEAST_SLICE} at least"),
            Self::Console => f.write_str("the console is for a partition that is not there"),
            Self::Name(index) => write!(f, "partition {index} has a name that cannot be shown"),
            Self::Partition { name, error } => write!(f, "partition {name}: {error}"),
        }
    }
}

impl fmt::Display for PartitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Property(name) => write!(f, "property {name} is missing or has a wrong length"),
            Self::MemoryBytes(bytes) => {
                write!(f, "memory of {bytes:#x} bytes is not a positive multiple of {ALIGNMENT:#x}")
            }
            Self::Vcpus(count) => {
                write!(f, "{count} vCPUs asked for, 1 to {VCPUS_MAX} are supported")
            }
            Self::Weight(weight) => write!(f, "weight {weight} is not in 1 to {WEIGHT_MAX}"),
            Self::Entry(entry) => write!(f, "entry {entry:#x} is not in any segment's bytes"),
            Self::SegmentLength(index) => {
                write!(f, "segment {index} has more bytes in the file than in memory")
            }
            Self::SegmentAlignment(index) => {
                write!(
                    f,
                    "segment {index} does not begin at a multiple of {ALIGNMENT:#x} in the file"
                )
            }
            Self::SegmentOutsideFile(index) => {
                write!(f, "segment {index} lies outside of the file")
            }
            Self::SegmentOutsideMemory(index) => {
                write!(f, "segment {index} lies outside of the partition's memory")
            }
            Self::Initrd => f.write_str("the initrd is not inside the bytes of one segment"),
            Self::Disk(index) => {
                write!(f, "disk {index} is not whole blocks that the file has for it alone")
            }
            Self::Adapter(index) => {
                write!(f, "disk {index} is behind none of the adapters 0 to {}", ADAPTERS_MAX - 1)
            }
            Self::SegmentsOverlap(first, second) => {
                write!(f, "segments {first} and {second} (by address) overlap")
            }
        }
    }
}

/// The length of the manifest whose first [`HEADER_BYTES`] bytes are given, in a file of `file_bytes`.
///
/// # Errors
/// [`BundleError::NotATree`] and [`BundleError::ManifestLength`].
pub fn manifest_bytes(
    header: [u8; HEADER_BYTES as usize],
    file_bytes: u64,
) -> Result<u64, BundleError> {
    const MAGIC: [u8; 4] = [0xD0, 0x0D, 0xFE, 0xED];
    let [m0, m1, m2, m3, size @ ..] = header;
    if [m0, m1, m2, m3] != MAGIC {
        return Err(BundleError::NotATree);
    }
    let bytes = u64::from(u32::from_be_bytes(size));
    if !(HEADER_BYTES..=MANIFEST_BYTES_MAX.min(file_bytes)).contains(&bytes) {
        return Err(BundleError::ManifestLength(bytes));
    }
    Ok(bytes)
}

/// Reads the manifest of a bundle of `file_bytes` bytes.
///
/// # Errors
/// What is wrong, the first thing that is.
pub fn parse(manifest: &[u8], file_bytes: u64) -> Result<Bundle, BundleError> {
    let tree = Fdt::new(manifest).map_err(|_| BundleError::DamagedManifest)?;
    let root = tree.root();
    if !root.is_compatible(COMPATIBLE) {
        return Err(BundleError::NotABundle);
    }
    let expected = root
        .property(FILE_BYTES)
        .and_then(|property| property.value_as::<u64>().ok())
        .ok_or(BundleError::DamagedManifest)?;
    // An initrd may be passed rounded up; a bundle that lacks bytes is cut.
    if file_bytes < expected {
        return Err(BundleError::FileLength { expected, actual: file_bytes });
    }
    if let Some(index) = root.children().position(|node| !is_name(node.name())) {
        return Err(BundleError::Name(index));
    }
    let partitions = root
        .children()
        .map(|node| {
            partition(&node, expected)
                .map_err(|error| BundleError::Partition { name: node.name().to_string(), error })
        })
        .collect::<Result<Vec<_>, _>>()?;
    if partitions.is_empty() {
        return Err(BundleError::Empty);
    }
    for (index, partition) in partitions.iter().enumerate() {
        let disks = partition.disks.iter().enumerate().filter(|(_, disk)| disk.is_writable);
        let mut places = disks.map(|(disk, _)| disk);
        if let Some(disk) =
            places.find(|disk| !has_its_own(&partitions, manifest.len() as u64, (index, *disk)))
        {
            let (name, error) = (partition.name.clone(), PartitionError::Disk(disk));
            return Err(BundleError::Partition { name, error });
        }
    }
    let slice = match root.property(SLICE) {
        None => None,
        Some(property) => Some(
            property
                .value_as::<u32>()
                .ok()
                .filter(|slice| *slice >= LEAST_SLICE)
                .ok_or(BundleError::Slice)?,
        ),
    };
    let console = match root.property(CONSOLE) {
        None => None,
        Some(property) => {
            let named = property.value_as::<&str>().ok();
            let place = partitions.iter().position(|one| Some(one.name.as_str()) == named);
            Some(place.ok_or(BundleError::Console)?)
        }
    };
    let registers = match root.property(REGISTERS) {
        None => RegisterPolicy::default(),
        Some(property) => {
            let named = property.value_as::<&str>().ok();
            named.and_then(RegisterPolicy::from_name).ok_or(BundleError::Registers)?
        }
    };
    let registers = match (root.property(EAGER_WITHOUT), registers) {
        (None, policy) => policy,
        (Some(property), RegisterPolicy::Eager { .. }) => {
            let bits = property.value_as::<u32>().ok();
            let without = bits.and_then(Excesses::from_bits).ok_or(BundleError::EagerWithout)?;
            RegisterPolicy::Eager { without }
        }
        (Some(_), _) => return Err(BundleError::EagerWithout),
    };
    let mitigations = match root.property(MITIGATIONS) {
        None => MitigationPolicy::default(),
        Some(property) => {
            let named = property.value_as::<&str>().ok();
            named.and_then(MitigationPolicy::from_name).ok_or(BundleError::Mitigations)?
        }
    };
    let has_one_partition_per_core = match root.property(ONE_PARTITION_PER_CORE) {
        None => false,
        Some(property) if property.value_as::<u32>().ok() == Some(1) => true,
        Some(_) => return Err(BundleError::OnePartitionPerCore),
    };
    let threads_per_core = match root.property(THREADS_PER_CORE) {
        None => None,
        Some(property) => {
            let count = property.value_as::<u32>().ok().filter(|count| *count > 0);
            Some(count.ok_or(BundleError::ThreadsPerCore)?)
        }
    };
    let subcores = match root.property(SUBCORES) {
        None => None,
        Some(_) if has_one_partition_per_core => return Err(BundleError::Subcores),
        Some(property) => {
            let count = property.value_as::<u32>().ok().filter(|count| matches!(count, 2 | 4));
            Some(count.ok_or(BundleError::Subcores)?)
        }
    };
    let map = match root.property(MAP) {
        None => MapPolicy::default(),
        Some(property) => {
            let named = property.value_as::<&str>().ok();
            named.and_then(MapPolicy::from_name).ok_or(BundleError::Map)?
        }
    };
    let hash_calls = match root.property(HASH_CALLS) {
        None => HashCallPolicy::default(),
        Some(property) => {
            let named = property.value_as::<&str>().ok();
            named.and_then(HashCallPolicy::from_name).ok_or(BundleError::HashCalls)?
        }
    };
    Ok(Bundle {
        slice,
        console,
        registers,
        mitigations,
        has_one_partition_per_core,
        threads_per_core,
        subcores,
        map,
        hash_calls,
        partitions,
    })
}

fn partition(node: &FdtNode<'_>, file_bytes: u64) -> Result<Description, PartitionError> {
    let doubleword = |name| {
        node.property(name)
            .and_then(|property| property.value_as::<u64>().ok())
            .ok_or(PartitionError::Property(name))
    };
    let memory_bytes = doubleword(MEMORY_BYTES)?;
    if memory_bytes == 0 || !memory_bytes.is_multiple_of(ALIGNMENT) {
        return Err(PartitionError::MemoryBytes(memory_bytes));
    }
    let vcpus = node
        .property(VCPUS)
        .and_then(|property| property.value_as::<u32>().ok())
        .ok_or(PartitionError::Property(VCPUS))?;
    if !(1..=VCPUS_MAX).contains(&vcpus) {
        return Err(PartitionError::Vcpus(vcpus));
    }
    let optional = |name| match node.property(name) {
        None => Ok(None),
        Some(property) => {
            property.value_as::<u32>().map(Some).map_err(|_| PartitionError::Property(name))
        }
    };
    let translation = match node.property(TRANSLATION) {
        None => None,
        Some(property) => {
            let named = property.value_as::<&str>().ok();
            let named = named.and_then(Translation::from_name);
            Some(named.ok_or(PartitionError::Property(TRANSLATION))?)
        }
    };
    let weight = optional(WEIGHT)?;
    if let Some(weight) = weight.filter(|weight| !(1..=WEIGHT_MAX).contains(weight)) {
        return Err(PartitionError::Weight(weight));
    }
    let time_limit = optional(TIME_LIMIT)?;
    let is_set = |name| match optional(name)? {
        None => Ok(false),
        Some(1) => Ok(true),
        Some(_) => Err(PartitionError::Property(name)),
    };
    let has_performance_monitor = is_set(PERFORMANCE_MONITOR)?;
    let has_superpages = is_set(SUPERPAGES)?;
    let has_resizable_table = is_set(RESIZABLE_TABLE)?;
    let guest_stop = optional(GUEST_STOP)?;
    let dma_window = optional(DMA_WINDOW)?;
    if dma_window.is_some_and(|bytes| !tce::is_window(u64::from(bytes))) {
        return Err(PartitionError::Property(DMA_WINDOW));
    }
    let bootargs = match node.property(BOOTARGS) {
        None => "",
        Some(property) => {
            property.value_as::<&str>().map_err(|_| PartitionError::Property(BOOTARGS))?
        }
    };
    let segments = segments(node, file_bytes, memory_bytes)?;
    let entry = doubleword(ENTRY)?;
    let in_segment = |segment: &Segment| {
        (segment.address.0..segment.address.0 + segment.file_bytes).contains(&entry)
    };
    if !entry.is_multiple_of(4) || !segments.iter().any(in_segment) {
        return Err(PartitionError::Entry(entry));
    }
    let initrd = initrd(node, &segments)?;
    let suspend_at = match node.property(SUSPEND_AT) {
        None => None,
        Some(_) => Some(doubleword(SUSPEND_AT)?),
    };
    let image = image(node, file_bytes)?;
    let disks = disks(node, file_bytes)?;
    if !disks.is_empty() && dma_window.is_none() {
        return Err(PartitionError::Property(DMA_WINDOW));
    }
    Ok(Description {
        name: node.name().to_string(),
        memory_bytes,
        vcpus,
        translation,
        weight,
        time_limit,
        has_performance_monitor,
        has_superpages,
        has_resizable_table,
        guest_stop,
        dma_window,
        suspend_at,
        image,
        disks,
        entry: GuestRealAddress(entry),
        segments,
        bootargs: bootargs.to_string(),
        initrd,
    })
}

fn initrd(
    node: &FdtNode<'_>,
    segments: &[Segment],
) -> Result<Option<[GuestRealAddress; 2]>, PartitionError> {
    let Some(property) = node.property(INITRD) else { return Ok(None) };
    let (&[start, end], []) = property.value().as_chunks::<8>() else {
        return Err(PartitionError::Property(INITRD));
    };
    let [start, end] = [start, end].map(u64::from_be_bytes);
    let is_inside = |segment: &Segment| {
        (segment.address.0..=segment.address.0 + segment.file_bytes).contains(&start)
            && end <= segment.address.0 + segment.file_bytes
    };
    if start > end || !segments.iter().any(is_inside) {
        return Err(PartitionError::Initrd);
    }
    Ok(Some([start, end].map(GuestRealAddress)))
}

/// Where the image is with which the partition goes on.
fn image(node: &FdtNode<'_>, file_bytes: u64) -> Result<Option<[u64; 2]>, PartitionError> {
    let Some(property) = node.property(IMAGE) else { return Ok(None) };
    let (&[offset, bytes], []) = property.value().as_chunks::<8>() else {
        return Err(PartitionError::Property(IMAGE));
    };
    let [offset, bytes] = [offset, bytes].map(u64::from_be_bytes);
    let is_inside = offset.checked_add(bytes).is_some_and(|end| end <= file_bytes);
    if !is_inside || !offset.is_multiple_of(ALIGNMENT) {
        return Err(PartitionError::Property(IMAGE));
    }
    Ok(Some([offset, bytes]))
}

/// The disks of a partition, each of whole blocks that are in the file.
fn disks(node: &FdtNode<'_>, file_bytes: u64) -> Result<Vec<DiskDescription>, PartitionError> {
    const BYTES: usize = 8 * DISK_DOUBLEWORDS;
    let Some(property) = node.property(DISKS) else { return Ok(Vec::new()) };
    let (entries, rest) = property.value().as_chunks::<BYTES>();
    if !rest.is_empty() || !(1..=DISKS_MAX).contains(&entries.len()) {
        return Err(PartitionError::Property(DISKS));
    }
    let disks = entries.iter().enumerate().map(|(index, entry)| {
        let (words, _) = entry.as_chunks::<8>();
        let [file_offset, bytes, writable, adapter] =
            [0, 1, 2, 3].map(|field| u64::from_be_bytes(words[field]));
        let adapter = usize::try_from(adapter).ok().filter(|adapter| *adapter < ADAPTERS_MAX);
        let adapter = adapter.ok_or(PartitionError::Adapter(index))?;
        let is_inside = file_offset.checked_add(bytes).is_some_and(|end| end <= file_bytes);
        let is_whole = bytes != 0 && bytes.is_multiple_of(BLOCK_BYTES);
        if !is_inside || !is_whole || !file_offset.is_multiple_of(ALIGNMENT) || writable > 1 {
            return Err(PartitionError::Disk(index));
        }
        Ok(DiskDescription { file_offset, bytes, is_writable: writable == 1, adapter })
    });
    disks.collect()
}

/// Whether what a disk that may be written to has in the file is nothing else's: no other disk's, no segment's,
/// not the manifest's.
fn has_its_own(partitions: &[Description], manifest_bytes: u64, place: (usize, usize)) -> bool {
    let disk = partitions[place.0].disks[place.1];
    // In 64 KiB, which are reached as one.
    let units = |offset: u64, bytes: u64| offset / ALIGNMENT..(offset + bytes).div_ceil(ALIGNMENT);
    let own = units(disk.file_offset, disk.bytes);
    let is_clear = |other: core::ops::Range<u64>| own.end <= other.start || other.end <= own.start;
    let others = partitions.iter().enumerate().flat_map(|(index, partition)| {
        let segments = partition.segments.iter().map(|one| units(one.file_offset, one.file_bytes));
        let disks = partition.disks.iter().enumerate();
        let disks = disks.filter(move |(disk, _)| (index, *disk) != place);
        let image = partition.image.map(|[offset, bytes]| units(offset, bytes));
        segments.chain(image).chain(disks.map(|(_, one)| units(one.file_offset, one.bytes)))
    });
    is_clear(units(0, manifest_bytes)) && others.into_iter().all(is_clear)
}

fn segments(
    node: &FdtNode<'_>,
    file_bytes: u64,
    memory_bytes: u64,
) -> Result<Vec<Segment>, PartitionError> {
    const BYTES: usize = 8 * SEGMENT_DOUBLEWORDS;
    let property = node.property(SEGMENTS).ok_or(PartitionError::Property(SEGMENTS))?;
    let value = property.value();
    if value.is_empty() || !value.len().is_multiple_of(BYTES) {
        return Err(PartitionError::Property(SEGMENTS));
    }
    let mut segments = Vec::new();
    for (index, entry) in value.chunks_exact(BYTES).enumerate() {
        let number =
            |field: usize| u64::from_be_bytes(core::array::from_fn(|byte| entry[8 * field + byte]));
        let segment = Segment {
            address: GuestRealAddress(number(0)),
            file_offset: number(1),
            file_bytes: number(2),
            memory_bytes: number(3),
        };
        if segment.file_bytes > segment.memory_bytes {
            return Err(PartitionError::SegmentLength(index));
        }
        if !segment.file_offset.is_multiple_of(ALIGNMENT) {
            return Err(PartitionError::SegmentAlignment(index));
        }
        let within = |start: u64, bytes: u64, limit: u64| {
            start.checked_add(bytes).is_some_and(|end| end <= limit)
        };
        if !within(segment.file_offset, segment.file_bytes, file_bytes) {
            return Err(PartitionError::SegmentOutsideFile(index));
        }
        if !within(segment.address.0, segment.memory_bytes, memory_bytes) {
            return Err(PartitionError::SegmentOutsideMemory(index));
        }
        segments.push(segment);
    }
    segments.sort_by_key(|segment| segment.address);
    for (index, pair) in segments.windows(2).enumerate() {
        if pair[0].end() > pair[1].address.0 {
            return Err(PartitionError::SegmentsOverlap(index, index + 1));
        }
    }
    Ok(segments)
}

#[cfg(all(test, not(loom)))]
mod tests;
