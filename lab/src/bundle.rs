//! Writes bundles, and checks those that a user brings. The format is in [`arch::bundle`].

use std::collections::BTreeMap;
use std::path::PathBuf;

pub use arch::bundle::is_name;
use arch::bundle::{
    ALIGNMENT, BOOTARGS, COMPATIBLE, CONSOLE, DISKS, DMA_WINDOW, EAGER_WITHOUT, ENTRY, FILE_BYTES,
    GUEST_STOP, HASH_CALLS, HashCallPolicy, IMAGE, INITRD, MANIFEST_BYTES_MAX, MAP, MEMORY_BYTES,
    MITIGATIONS, MapPolicy, MitigationPolicy, ONE_PARTITION_PER_CORE, PERFORMANCE_MONITOR,
    PREFETCH, PrefetchPolicy, REGISTERS, RESIZABLE_TABLE, RegisterPolicy, SEGMENT_DOUBLEWORDS,
    SEGMENTS, SLICE, SUBCORES, SUPERPAGES, SUSPEND_AT, THREADS_PER_CORE, TIME_LIMIT, TRANSLATION,
    Translation, VCPUS, WEIGHT,
};
use arch::excess::Excesses;
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use dtoolkit::{Node, Property, ToPropertyValue};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::payload::Payload;
use crate::size::Size;

/// A partition as the hypervisor is to make it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Partition {
    /// A device-tree node name, see [`is_name`].
    pub name: String,
    /// Where the user gave it its memory, for complaints.
    pub memory_place: String,
    /// Where the user gave it its arguments, the same.
    pub arguments_place: String,
    /// A multiple of [`ALIGNMENT`].
    pub memory_bytes: u64,
    /// Number of vCPUs.
    pub vcpus: u32,
    /// How its addresses are translated.
    pub translation: Option<Translation>,
    /// Each vCPU's share of the processors, relative to others', if not the usual one.
    pub weight: Option<u32>,
    /// Microseconds that it may run in all.
    pub time_limit: Option<u32>,
    /// It has the processor's performance monitor.
    pub has_performance_monitor: bool,
    /// The hypervisor makes superpages of what it enters into its hashed page table.
    pub has_superpages: bool,
    /// It can change the size of its hashed page table.
    pub has_resizable_table: bool,
    /// The version of the feature `guest-stop` that it has.
    pub guest_stop: Option<u32>,
    /// Bytes of each window through which a device sees its memory, if it has one.
    pub dma_window: Option<u32>,
    /// Nanoseconds after the start of the partitions at which it is suspended.
    pub suspend_at: Option<u64>,
    /// The image of the suspended partition with which it goes on.
    pub image: Option<Vec<u8>>,
    /// Its disks, at most [`arch::bundle::DISKS_MAX`]; one that has some has a window.
    pub disks: Vec<Disk>,
    /// The payload's arguments.
    pub arguments: String,
    /// What its memory holds at the start.
    pub payload: Payload,
}

/// A disk of a partition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disk {
    /// Whole blocks of [`arch::bundle::BLOCK_BYTES`], at least one.
    pub image: Vec<u8>,
    /// Whether the partition may write to it.
    pub is_writable: bool,
    /// The number of the adapter that it is behind, below [`arch::bundle::ADAPTERS_MAX`].
    pub adapter: u32,
    /// Where it goes when the machine is switched off, if anywhere.
    pub kept: Option<KeptFile>,
}

/// A file that a disk is written to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeptFile {
    /// The file.
    pub path: PathBuf,
    /// Where the disk came from, which may be the same file.
    pub image: Option<PathBuf>,
}

/// A disk that is written to a file when the machine is switched off.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeptDisk {
    /// The file.
    pub file: KeptFile,
    /// Where it is in the bundle.
    pub offset: u64,
    /// How long it is.
    pub bytes: u64,
}

/// The disks of a bundle of these partitions that are kept.
#[must_use]
pub fn kept_disks(partitions: &[Partition], sharing: &Sharing) -> Vec<KeptDisk> {
    let manifest_bytes = manifest(partitions, sharing, 0).len() as u64;
    let layout = Layout::new(partitions, manifest_bytes);
    let places = partitions.iter().zip(&layout.disks);
    let disks = places.flat_map(|(partition, offsets)| partition.disks.iter().zip(offsets));
    let kept = disks.filter_map(|(disk, offset)| {
        let file = disk.kept.clone()?;
        Some(KeptDisk { file, offset: *offset, bytes: disk.image.len() as u64 })
    });
    kept.collect()
}

/// How partitions share the machine.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Sharing {
    /// Microseconds that a vCPU runs when others wait, if not the usual time.
    pub slice: Option<u32>,
    /// The partition that the console is for.
    pub console: Option<String>,
    /// Where the registers of a vCPU go that gives up the processor.
    pub registers: RegisterPolicy,
    /// What is done against speculation.
    pub mitigations: MitigationPolicy,
    /// One partition at most runs on a core at a time.
    pub has_one_partition_per_core: bool,
    /// How many hardware threads of each core, or of each part of a split one, run partitions at most.
    pub threads_per_core: Option<u32>,
    /// Into how many parts each core is split, if it is: 2 or 4.
    pub subcores: Option<u32>,
    /// How the hypervisor reaches the memory of partitions.
    pub map: MapPolicy,
    /// What prefetch engines log and fetch.
    pub prefetch: PrefetchPolicy,
    /// Where calls of a hashed page table are answered.
    pub hash_calls: HashCallPolicy,
}

/// The bundle of these partitions.
/// Their names must be [`is_name`] and differ, and arguments must not hold a NUL. What several payloads
/// have in common is in it once. Fails if its manifest would be longer than the hypervisor reads.
pub fn write(partitions: &[Partition], sharing: &Sharing) -> Result<Vec<u8>, Failure> {
    // All numbers have a fixed width, so the manifest's length does not depend on its contents.
    let manifest_bytes = manifest(partitions, sharing, 0).len() as u64;
    if manifest_bytes > MANIFEST_BYTES_MAX {
        return Err(too_long(partitions, manifest_bytes));
    }
    let mut file = manifest(partitions, sharing, manifest_bytes);
    for (bytes, offset) in Layout::new(partitions, manifest_bytes).pieces {
        file.resize(offset as usize, 0);
        file.extend(bytes);
    }
    Ok(file)
}

/// The complaint about the longest arguments of a manifest that is too long.
fn too_long(partitions: &[Partition], manifest_bytes: u64) -> Failure {
    let longest = partitions.iter().max_by_key(|partition| partition.arguments.len());
    let (place, arguments_bytes) = longest.map_or(("", 0), |partition| {
        (partition.arguments_place.as_str(), partition.arguments.len())
    });
    let limit = Size(MANIFEST_BYTES_MAX);
    let text = format!(
        "`arguments` of {arguments_bytes} bytes make a manifest of {manifest_bytes}, which may have {limit}; give \
         the partitions shorter arguments, or fewer partitions"
    );
    Failure::input(place, text)
}

/// Where everything lies in the file, in its order.
struct Layout<'a> {
    /// Pieces with their offsets.
    pieces: Vec<(&'a [u8], u64)>,
    /// Where pieces begin that nobody writes to: equal ones are there once. In order, since to compare long pieces
    /// takes less than to hash them.
    shared: BTreeMap<&'a [u8], u64>,
    /// Where the disks of each partition begin.
    disks: Vec<Vec<u64>>,
    /// Where the image of each partition begins that goes on with one.
    images: Vec<Option<u64>>,
    end: u64,
}

impl<'a> Layout<'a> {
    fn new(partitions: &'a [Partition], manifest_bytes: u64) -> Self {
        let (pieces, shared) = (Vec::new(), BTreeMap::new());
        let (disks, images) = (Vec::new(), Vec::new());
        let mut layout = Self { pieces, shared, disks, images, end: manifest_bytes };
        for partition in partitions {
            for segment in &partition.payload.segments {
                layout.add_shared(&segment.bytes);
            }
            let disks = partition.disks.iter().map(|disk| match disk.is_writable {
                true => layout.add(&disk.image),
                false => layout.add_shared(&disk.image),
            });
            let disks = disks.collect();
            layout.disks.push(disks);
            let image = partition.image.as_deref().map(|image| layout.add_shared(image));
            layout.images.push(image);
        }
        layout
    }

    fn add(&mut self, bytes: &'a [u8]) -> u64 {
        let offset = self.end.next_multiple_of(ALIGNMENT);
        self.end = offset + bytes.len() as u64;
        self.pieces.push((bytes, offset));
        offset
    }

    fn add_shared(&mut self, bytes: &'a [u8]) -> u64 {
        if let Some(offset) = self.shared.get(bytes) {
            return *offset;
        }
        let offset = self.add(bytes);
        self.shared.insert(bytes, offset);
        offset
    }
}

/// The device tree in front of the payloads, if it is itself `manifest_bytes` long.
fn manifest(partitions: &[Partition], sharing: &Sharing, manifest_bytes: u64) -> Vec<u8> {
    let layout = Layout::new(partitions, manifest_bytes);
    let mut nodes = Vec::new();
    for (index, partition) in partitions.iter().enumerate() {
        let offsets = &layout.disks[index];
        let mut segments =
            Vec::with_capacity(partition.payload.segments.len() * SEGMENT_DOUBLEWORDS * 8);
        for segment in &partition.payload.segments {
            let (offset, bytes) =
                (layout.shared[segment.bytes.as_slice()], segment.bytes.len() as u64);
            for value in [segment.address, offset, bytes, segment.memory_bytes] {
                segments.extend(value.to_be_bytes());
            }
        }
        let mut node = DeviceTreeNode::new_unchecked(&partition.name);
        node.add_property(property(MEMORY_BYTES, partition.memory_bytes));
        node.add_property(property(VCPUS, partition.vcpus));
        node.add_property(property(ENTRY, partition.payload.entry));
        node.add_property(property(SEGMENTS, segments));
        if let Some(translation) = partition.translation {
            node.add_property(property(TRANSLATION, translation.name()));
        }
        let monitor = partition.has_performance_monitor.then_some(1);
        let superpages = partition.has_superpages.then_some(1);
        for (name, value) in [
            (WEIGHT, partition.weight),
            (TIME_LIMIT, partition.time_limit),
            (PERFORMANCE_MONITOR, monitor),
            (SUPERPAGES, superpages),
            (RESIZABLE_TABLE, partition.has_resizable_table.then_some(1)),
            (GUEST_STOP, partition.guest_stop),
            (DMA_WINDOW, partition.dma_window),
        ] {
            if let Some(value) = value {
                node.add_property(property(name, value));
            }
        }
        if let Some(nanoseconds) = partition.suspend_at {
            node.add_property(property(SUSPEND_AT, nanoseconds));
        }
        if let (Some(image), Some(offset)) = (&partition.image, layout.images[index]) {
            let place = [offset.to_be_bytes(), (image.len() as u64).to_be_bytes()].concat();
            node.add_property(property(IMAGE, place));
        }
        if let Some([start, end]) = partition.payload.initrd {
            let ends = [start.to_be_bytes(), end.to_be_bytes()].concat();
            node.add_property(property(INITRD, ends));
        }
        if !partition.disks.is_empty() {
            let words = partition.disks.iter().zip(offsets).flat_map(|(disk, offset)| {
                let bytes = disk.image.len() as u64;
                [*offset, bytes, u64::from(disk.is_writable), u64::from(disk.adapter)]
            });
            let words: Vec<u8> = words.flat_map(u64::to_be_bytes).collect();
            node.add_property(property(DISKS, words));
        }
        node.add_property(property(BOOTARGS, partition.arguments.as_str()));
        nodes.push(node);
    }
    let mut tree = DeviceTree::new();
    tree.root.add_property(property("compatible", COMPATIBLE));
    tree.root.add_property(property(FILE_BYTES, layout.end));
    if let Some(slice) = sharing.slice {
        tree.root.add_property(property(SLICE, slice));
    }
    if let Some(name) = &sharing.console {
        tree.root.add_property(property(CONSOLE, name.as_str()));
    }
    if sharing.registers != RegisterPolicy::default() {
        tree.root.add_property(property(REGISTERS, sharing.registers.name()));
    }
    if let RegisterPolicy::Eager { without } = sharing.registers
        && without != Excesses::NONE
    {
        tree.root.add_property(property(EAGER_WITHOUT, without.bits()));
    }
    if sharing.mitigations != MitigationPolicy::default() {
        tree.root.add_property(property(MITIGATIONS, sharing.mitigations.name()));
    }
    if sharing.has_one_partition_per_core {
        tree.root.add_property(property(ONE_PARTITION_PER_CORE, 1_u32));
    }
    if let Some(threads) = sharing.threads_per_core {
        tree.root.add_property(property(THREADS_PER_CORE, threads));
    }
    if let Some(subcores) = sharing.subcores {
        tree.root.add_property(property(SUBCORES, subcores));
    }
    if sharing.map != MapPolicy::default() {
        tree.root.add_property(property(MAP, sharing.map.name()));
    }
    if sharing.prefetch != PrefetchPolicy::default() {
        tree.root.add_property(property(PREFETCH, sharing.prefetch.name()));
    }
    if sharing.hash_calls != HashCallPolicy::default() {
        tree.root.add_property(property(HASH_CALLS, sharing.hash_calls.name()));
    }
    for node in nodes {
        tree.root.add_child(node);
    }
    tree.to_dtb()
}

fn property(name: &str, value: impl ToPropertyValue) -> DeviceTreeProperty {
    DeviceTreeProperty::new_unchecked(name, value)
}

/// Why a file is not a whole bundle.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum BundleError {
    #[error(
        "the bundle is cut: {actual} of {expected} bytes; write it again with `powervisor bundle`"
    )]
    Cut { actual: u64, expected: u64 },
    #[error("the bundle has {extra} bytes after its end; write it again with `powervisor bundle`")]
    Longer { extra: u64 },
    #[error("the bundle's manifest is damaged ({0}); write it again with `powervisor bundle`")]
    Damaged(String),
    #[error(
        "`{0}` cannot name a partition; write the bundle with `powervisor bundle`, which says what can"
    )]
    Name(String),
    #[error(
        "the bundle's manifest has {0} bytes, which may have {max}; write it again with `powervisor bundle`",
        max = Size(MANIFEST_BYTES_MAX)
    )]
    ManifestLength(u32),
    #[error("a device tree that is not a bundle; write one with `powervisor bundle`")]
    NotABundle,
}

/// What every flattened device tree, and so every bundle, begins with.
const FDT_MAGIC: [u8; 4] = 0xD00D_FEED_u32.to_be_bytes();

/// Whether a file begins as a bundle does.
#[must_use]
pub fn looks_like_one(file: &[u8]) -> bool {
    file.starts_with(&FDT_MAGIC)
}

/// Checks that a file that [`looks_like_one`] is a bundle and is all there.
pub fn check(file: &[u8]) -> Result<(), BundleError> {
    let actual = file.len() as u64;
    let manifest_bytes = file[FDT_MAGIC.len().min(file.len())..]
        .first_chunk()
        .map(|bytes| u32::from_be_bytes(*bytes))
        .ok_or_else(|| BundleError::Damaged("the header is cut".to_owned()))?;
    let manifest = file
        .get(..manifest_bytes as usize)
        .ok_or(BundleError::Cut { actual, expected: u64::from(manifest_bytes) })?;
    let tree = Fdt::new(manifest).map_err(|error| BundleError::Damaged(error.to_string()))?;
    let root = tree.root();
    let compatible =
        root.property("compatible").and_then(|property| property.value_as::<&str>().ok());
    if compatible != Some(COMPATIBLE) {
        return Err(BundleError::NotABundle);
    }
    if u64::from(manifest_bytes) > MANIFEST_BYTES_MAX {
        return Err(BundleError::ManifestLength(manifest_bytes));
    }
    if let Some(node) = root.children().find(|node| !is_name(node.name())) {
        return Err(BundleError::Name(node.name().to_owned()));
    }
    let expected = root
        .property(FILE_BYTES)
        .and_then(|property| property.value_as::<u64>().ok())
        .ok_or_else(|| BundleError::Damaged(format!("no {FILE_BYTES}")))?;
    match actual.checked_sub(expected) {
        Some(0) => Ok(()),
        Some(extra) => Err(BundleError::Longer { extra }),
        None => Err(BundleError::Cut { actual, expected }),
    }
}

/// The device tree that a bundle begins with.
fn manifest_of(file: &[u8]) -> Option<&[u8]> {
    let length = file.get(FDT_MAGIC.len()..)?.first_chunk()?;
    file.get(..u32::from_be_bytes(*length) as usize)
}

/// The bytes of memory of each partition of a bundle that was checked.
#[must_use]
pub fn memories(file: &[u8]) -> Vec<u64> {
    let Some(Ok(tree)) = manifest_of(file).map(Fdt::new) else { return Vec::new() };
    let bytes = |node: &FdtNode<'_>| node.property(MEMORY_BYTES)?.value_as::<u64>().ok();
    tree.root().children().map(|node| bytes(&node).unwrap_or(0)).collect()
}

/// What a bundle that was checked says about the console.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Consoles {
    /// The partitions; the first has LPID 1.
    pub partitions: Vec<String>,
    /// The one that the console is for.
    pub console: Option<String>,
}

/// Who writes to the console of a bundle; nobody for any other file.
#[must_use]
pub fn consoles(file: &[u8]) -> Consoles {
    let Some(Ok(tree)) = manifest_of(file).map(Fdt::new) else { return Consoles::default() };
    let root = tree.root();
    let text = |name| root.property(name).and_then(|property| property.value_as::<&str>().ok());
    if text("compatible") != Some(COMPATIBLE) {
        return Consoles::default();
    }
    Consoles {
        partitions: root.children().map(|node| node.name().to_owned()).collect(),
        console: text(CONSOLE).map(str::to_owned),
    }
}

/// Into how many parts a bundle asks that cores be split, if it does.
#[must_use]
pub fn subcores(file: &[u8]) -> Option<u32> {
    let Some(Ok(tree)) = manifest_of(file).map(Fdt::new) else { return None };
    tree.root().property(SUBCORES).and_then(|property| property.value_as::<u32>().ok())
}

/// What a bundle asks of prefetch engines; nothing is what any other file asks, or one that asks for what there is not.
#[must_use]
pub fn prefetch(file: &[u8]) -> PrefetchPolicy {
    let Some(Ok(tree)) = manifest_of(file).map(Fdt::new) else { return PrefetchPolicy::Off };
    let asked = tree.root().property(PREFETCH);
    let named = asked.and_then(|property| property.value_as::<&str>().ok());
    named.and_then(PrefetchPolicy::from_name).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use dtoolkit::fdt::Fdt;
    use dtoolkit::{Node, Property};

    use super::{
        ALIGNMENT, BundleError, MANIFEST_BYTES_MAX, Partition, Sharing, check, consoles, is_name,
        looks_like_one, write,
    };
    use crate::payload::{Payload, Segment};
    use arch::bundle::{
        HashCallPolicy, MapPolicy, MitigationPolicy, PrefetchPolicy, RegisterPolicy, Translation,
    };

    fn partition(name: &str) -> Partition {
        let segment = |address, fill, length: usize| Segment {
            address,
            bytes: vec![fill; length],
            memory_bytes: length as u64 + 8,
        };
        Partition {
            name: name.to_owned(),
            memory_place: String::new(),
            arguments_place: format!("file:{name}"),
            memory_bytes: 64 << 20,
            vcpus: 1,
            translation: (name == "second").then_some(Translation::Hash),
            weight: Some(7),
            time_limit: None,
            has_performance_monitor: name == "second",
            has_superpages: name == "second",
            has_resizable_table: name == "second",
            guest_stop: (name == "first").then_some(1),
            dma_window: None,
            suspend_at: None,
            image: None,
            disks: Vec::new(),
            arguments: "translation=on".to_owned(),
            payload: Payload {
                entry: 0x100,
                segments: vec![segment(0, 1, 0x1_0001), segment(0x8_0000, 2, 3)],
                initrd: Some([0x8_0000, 0x8_0003]),
            },
        }
    }

    #[test]
    fn every_segment_is_where_the_manifest_says_and_at_an_aligned_offset() {
        let partitions = [partition("first"), partition("second")];
        let sharing = Sharing {
            slice: Some(250),
            console: Some("second".to_owned()),
            registers: RegisterPolicy::Released,
            mitigations: MitigationPolicy::Off,
            has_one_partition_per_core: true,
            threads_per_core: Some(2),
            subcores: None,
            map: MapPolicy::OursLazy,
            prefetch: PrefetchPolicy::AlwaysL2,
            hash_calls: HashCallPolicy::Full,
        };
        let file = write(&partitions, &sharing).unwrap();
        assert_eq!(consoles(&file).partitions, ["first", "second"]);
        assert_eq!(consoles(&file).console.as_deref(), Some("second"));
        let one = write(&partitions[..1], &Sharing::default()).unwrap();
        assert_eq!(file.len(), one.len(), "the payloads are the same");
        assert_eq!(consoles(&one).console, None);
        assert!(looks_like_one(&file));
        assert_eq!(check(&file), Ok(()));

        let length = u32::from_be_bytes(*file[4..].first_chunk().unwrap()) as usize;
        let tree = Fdt::new(&file[..length]).unwrap();
        let root = tree.root();
        let one = root.property("powervisor,one-per-core").unwrap();
        assert_eq!(one.value_as::<u32>().unwrap(), 1);
        let calls = root.property("powervisor,hash-calls").unwrap();
        assert_eq!(calls.value_as::<&str>().unwrap(), "full");
        assert_eq!(root.property("powervisor,slice-us").unwrap().value_as::<u32>().unwrap(), 250);
        for partition in &partitions {
            let node = root.child(&partition.name).unwrap();
            let number = |name| node.property(name).unwrap().value_as::<u64>().unwrap();
            assert_eq!(number("powervisor,memory-bytes"), partition.memory_bytes);
            assert_eq!(number("powervisor,entry"), 0x100);
            assert_eq!(node.property("powervisor,vcpus").unwrap().value_as::<u32>().unwrap(), 1);
            assert_eq!(node.property("powervisor,weight").unwrap().value_as::<u32>().unwrap(), 7);
            assert!(node.property("powervisor,time-limit-us").is_none());
            for name in [
                "powervisor,performance-monitor",
                "powervisor,superpages",
                "powervisor,resizable-table",
            ] {
                assert_eq!(node.property(name).is_some(), partition.name == "second");
            }
            let translation = node.property("powervisor,translation");
            let translation = translation.map(|name| name.value_as::<&str>().unwrap());
            assert_eq!(translation, (partition.name == "second").then_some("hash"));
            assert_eq!(
                node.property("bootargs").unwrap().value_as::<&str>().unwrap(),
                "translation=on"
            );
            let ends = [0x8_0000_u64.to_be_bytes(), 0x8_0003_u64.to_be_bytes()].concat();
            assert_eq!(node.property("powervisor,initrd").unwrap().value(), ends);
            let segments = node.property("powervisor,segments").unwrap();
            let (records, rest) = segments.value().as_chunks::<32>();
            assert_eq!((records.len(), rest.len()), (2, 0));
            for (record, segment) in records.iter().zip(&partition.payload.segments) {
                let value = |index: usize| {
                    u64::from_be_bytes(record[8 * index..8 * index + 8].try_into().unwrap())
                };
                assert_eq!(value(0), segment.address);
                assert_eq!(value(1) % ALIGNMENT, 0);
                let offset = value(1) as usize;
                assert_eq!(&file[offset..offset + value(2) as usize], segment.bytes);
                assert_eq!(value(3), segment.memory_bytes);
            }
        }
    }

    #[test]
    fn a_bundle_cut_or_grown_anywhere_is_noticed() {
        let file = write(&[partition("only")], &Sharing::default()).unwrap();
        for length in (4..file.len())
            .rev()
            .step_by(if cfg!(debug_assertions) { 97 } else { 7 })
            .chain([4, 7, 8])
        {
            let error = check(&file[..length]).unwrap_err();
            assert!(
                matches!(error, BundleError::Cut { .. } | BundleError::Damaged(_)),
                "{length}: {error}"
            );
        }
        let grown = [file.as_slice(), &[0; 3]].concat();
        assert_eq!(check(&grown), Err(BundleError::Longer { extra: 3 }));
    }

    #[test]
    fn a_manifest_is_as_long_as_the_hypervisor_reads_and_no_longer() {
        let with_arguments = |length| {
            let long = Partition { arguments: "x".repeat(length), ..partition("long") };
            write(&[partition("short"), long], &Sharing::default())
        };
        let length = |file: &[u8]| u32::from_be_bytes(*file[4..].first_chunk().unwrap());
        let rest = u64::from(length(&with_arguments(0).unwrap()));
        // A property takes whole words.
        let longest = (MANIFEST_BYTES_MAX - rest) as usize;
        let file = with_arguments(longest).unwrap();
        assert_eq!(u64::from(length(&file)), MANIFEST_BYTES_MAX);
        assert_eq!(check(&file), Ok(()));
        let error = with_arguments(longest + 4).unwrap_err().to_string();
        assert!(error.starts_with("file:long: `arguments` of 104"), "{error}");
        assert!(error.contains("which may have 1 MiB; give"), "{error}");
    }

    #[test]
    fn another_device_tree_is_not_a_bundle() {
        let tree = dtoolkit::model::DeviceTree::new().to_dtb();
        assert_eq!(check(&tree), Err(BundleError::NotABundle));
    }

    #[test]
    fn names_are_device_tree_node_names() {
        for name in ["hello", "null-hypercall", "a", "Linux_6.1"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "1st", "two words", "a/b", "a@1", "näme", &"x".repeat(32)] {
            assert!(!is_name(name), "{name}");
        }
    }
}
