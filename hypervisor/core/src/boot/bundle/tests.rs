//! Bundles as they should be, cut, garbled, and with each kind of mistake.

use std::string::{String, ToString};
use std::vec::Vec;

use arch::bundle::{
    BOOTARGS, COMPATIBLE, CONSOLE, EAGER_WITHOUT, ENTRY, FILE_BYTES, HASH_CALLS, HashCallPolicy,
    INITRD, LEAST_SLICE, MAP, MEMORY_BYTES, MITIGATIONS, MapPolicy, MitigationPolicy,
    ONE_PARTITION_PER_CORE, PERFORMANCE_MONITOR, REGISTERS, RegisterPolicy, SEGMENTS, SLICE,
    SUBCORES, SUPERPAGES, THREADS_PER_CORE, TIME_LIMIT, TRANSLATION, Translation, VCPUS, VCPUS_MAX,
    WEIGHT, WEIGHT_MAX,
};
use arch::excess::{Excess, Excesses};
use dtoolkit::ToPropertyValue;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use proptest::prelude::{any, proptest};

use super::{Bundle, BundleError, PartitionError, manifest_bytes, parse};

const FILE: u64 = 0x4_0000;

fn add(node: &mut DeviceTreeNode, name: &str, value: impl ToPropertyValue) {
    node.add_property(DeviceTreeProperty::new(name, value).unwrap());
}

/// One partition; `change` may spoil it.
fn manifest(change: impl FnOnce(&mut DeviceTreeNode)) -> Vec<u8> {
    let mut node = DeviceTreeNode::new("one").unwrap();
    add(&mut node, MEMORY_BYTES, 0x100_0000u64);
    add(&mut node, VCPUS, 1u32);
    add(&mut node, ENTRY, 0x100u64);
    add(
        &mut node,
        SEGMENTS,
        list(&[[0x2_0000, 0x2_0000, 0x10, 0x1_0000], [0, 0x1_0000, 0x200, 0x200]]),
    );
    add(&mut node, BOOTARGS, "a b");
    change(&mut node);
    tree_of(node).to_dtb()
}

fn tree_of(node: DeviceTreeNode) -> DeviceTree {
    let mut tree = DeviceTree::new();
    add(&mut tree.root, "compatible", COMPATIBLE);
    add(&mut tree.root, FILE_BYTES, FILE);
    tree.root.add_child(node);
    tree
}

fn list(segments: &[[u64; 4]]) -> Vec<u8> {
    segments.iter().flatten().flat_map(|word| word.to_be_bytes()).collect()
}

fn set(node: &mut DeviceTreeNode, name: &str, value: impl ToPropertyValue) {
    node.remove_property(name);
    add(node, name, value);
}

#[track_caller]
fn refused(change: impl FnOnce(&mut DeviceTreeNode)) -> PartitionError {
    match parse(&manifest(change), FILE) {
        Err(BundleError::Partition { name, error }) if name == "one" => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_good_manifest_is_read_and_its_segments_are_sorted() {
    let [one] = parse(&manifest(|_| {}), FILE).unwrap().partitions.try_into().unwrap();
    assert_eq!((one.name.as_str(), one.bootargs.as_str()), ("one", "a b"));
    assert_eq!((one.memory_bytes, one.entry.0), (0x100_0000, 0x100));
    let addresses: Vec<u64> = one.segments.iter().map(|segment| segment.address.0).collect();
    assert_eq!(addresses, [0, 0x2_0000]);
}

#[test]
fn the_second_file_is_inside_the_bytes_of_one_segment() {
    let with = |start: u64, end: u64| manifest(|node| add(node, INITRD, list_of(&[start, end])));
    let initrd = |start, end| parse(&with(start, end), FILE).unwrap().partitions[0].initrd;
    assert_eq!(parse(&manifest(|_| {}), FILE).unwrap().partitions[0].initrd, None);
    for (start, end) in [(0x2_0000, 0x2_0010), (0, 0x200), (0x1F0, 0x200), (0x2_0010, 0x2_0010)] {
        assert_eq!(initrd(start, end).map(|ends| ends.map(|end| end.0)), Some([start, end]));
    }
    // Beyond the file's bytes, before and between segments, backwards, and at the end of what there is.
    let wrong =
        [(0x2_0000, 0x2_0011), (0x1FF, 0x2_0000), (0x1_0000, 0x1_0001), (8, 4), (0, u64::MAX)];
    for (start, end) in wrong {
        let error = refused(|node| add(node, INITRD, list_of(&[start, end])));
        assert_eq!(error, PartitionError::Initrd, "{start:#x} {end:#x}");
    }
    for words in [&[0][..], &[0, 0, 0], &[]] {
        let error = refused(|node| add(node, INITRD, list_of(words)));
        assert_eq!(error, PartitionError::Property(INITRD));
    }
}

fn list_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// What becomes of a bundle whose root `change` changes.
fn with_root(change: impl Fn(&mut DeviceTreeNode)) -> Result<Bundle, BundleError> {
    let tree = manifest(|_| {});
    let mut tree = DeviceTree::from_fdt(&dtoolkit::fdt::Fdt::new(&tree).unwrap());
    change(&mut tree.root);
    parse(&tree.to_dtb(), FILE)
}

#[test]
fn a_slice_is_no_shorter_than_the_hypervisors_longest_work() {
    let slice = |us: u32| with_root(|root| add(root, SLICE, us)).map(|bundle| bundle.slice);
    assert_eq!(slice(LEAST_SLICE), Ok(Some(LEAST_SLICE)));
    assert_eq!(slice(LEAST_SLICE - 1), Err(BundleError::Slice));
    assert_eq!(slice(0), Err(BundleError::Slice));
}

#[test]
fn the_console_is_for_a_partition_that_is_there() {
    let with =
        |change: &dyn Fn(&mut DeviceTreeNode)| with_root(change).map(|bundle| bundle.console);
    assert_eq!(with(&|_| {}), Ok(None));
    assert_eq!(with(&|root| add(root, CONSOLE, "one")), Ok(Some(0)));
    assert_eq!(with(&|root| add(root, CONSOLE, "two")), Err(BundleError::Console));
    assert_eq!(with(&|root| add(root, CONSOLE, 1u32)), Err(BundleError::Console));
}

#[test]
fn the_policy_for_registers_is_one_that_there_is() {
    let with =
        |change: &dyn Fn(&mut DeviceTreeNode)| with_root(change).map(|bundle| bundle.registers);
    let named = |name: &str| with(&|root| add(root, REGISTERS, name));
    assert_eq!(with(&|_| {}), Ok(RegisterPolicy::Owned));
    for policy in RegisterPolicy::ALL {
        assert_eq!(named(policy.name()), Ok(policy));
    }
    assert_eq!(named("owed"), Err(BundleError::Registers));
    let without = |name: &str, bits: u32| {
        with(&|root| {
            add(root, REGISTERS, name);
            add(root, EAGER_WITHOUT, bits);
        })
    };
    let some = Excesses::NONE.with(Excess::Amor).with(Excess::Tlbsync);
    assert_eq!(without("eager", some.bits()), Ok(RegisterPolicy::Eager { without: some }));
    assert_eq!(without("eager", u32::MAX), Err(BundleError::EagerWithout));
    assert_eq!(without("owned", some.bits()), Err(BundleError::EagerWithout));
}

#[test]
fn the_policy_for_mitigations_is_one_that_there_is() {
    let with =
        |change: &dyn Fn(&mut DeviceTreeNode)| with_root(change).map(|bundle| bundle.mitigations);
    let named = |name: &str| with(&|root| add(root, MITIGATIONS, name));
    assert_eq!(with(&|_| {}), Ok(MitigationPolicy::Firmware));
    for policy in MitigationPolicy::ALL {
        assert_eq!(named(policy.name()), Ok(policy));
    }
    assert_eq!(named("on"), Err(BundleError::Mitigations));
}

#[test]
fn one_partition_has_a_core_if_the_bundle_says_one() {
    let with = |change: &dyn Fn(&mut DeviceTreeNode)| {
        with_root(change).map(|bundle| bundle.has_one_partition_per_core)
    };
    assert_eq!(with(&|_| {}), Ok(false));
    assert_eq!(with(&|root| add(root, ONE_PARTITION_PER_CORE, 1u32)), Ok(true));
    let wrong = with(&|root| add(root, ONE_PARTITION_PER_CORE, 0u32));
    assert_eq!(wrong, Err(BundleError::OnePartitionPerCore));
}

#[test]
fn at_least_one_thread_of_a_core_runs_partitions() {
    let with = |change: &dyn Fn(&mut DeviceTreeNode)| {
        with_root(change).map(|bundle| bundle.threads_per_core)
    };
    let of = |number: u32| with(&|root| add(root, THREADS_PER_CORE, number));
    assert_eq!(with(&|_| {}), Ok(None));
    assert_eq!([1, 8].map(of), [Ok(Some(1)), Ok(Some(8))]);
    assert_eq!(of(0), Err(BundleError::ThreadsPerCore));
}

#[test]
fn a_core_is_split_into_two_or_four_and_not_where_it_has_one_partition() {
    let with =
        |change: &dyn Fn(&mut DeviceTreeNode)| with_root(change).map(|bundle| bundle.subcores);
    let of = |number: u32| with(&|root| add(root, SUBCORES, number));
    assert_eq!(with(&|_| {}), Ok(None));
    assert_eq!([2, 4].map(of), [Ok(Some(2)), Ok(Some(4))]);
    for number in [0, 1, 3, 8, u32::MAX] {
        assert_eq!(of(number), Err(BundleError::Subcores));
    }
    let one_partition = with(&|root| {
        add(root, SUBCORES, 2u32);
        add(root, ONE_PARTITION_PER_CORE, 1u32);
    });
    assert_eq!(one_partition, Err(BundleError::Subcores));
}

#[test]
fn a_partition_is_translated_in_a_way_that_there_is() {
    let with = |name: &str| parse(&manifest(|node| add(node, TRANSLATION, name)), FILE);
    let translation = |bundle: Bundle| bundle.partitions[0].translation;
    assert_eq!(parse(&manifest(|_| {}), FILE).map(translation), Ok(None));
    for kind in Translation::ALL {
        assert_eq!(with(kind.name()).map(translation), Ok(Some(kind)));
    }
    let wrong = PartitionError::Property(TRANSLATION);
    assert_eq!(refused(|node| add(node, TRANSLATION, "hashed")), wrong);
    assert_eq!(refused(|node| add(node, TRANSLATION, 1u32)), wrong);
}

#[test]
fn the_policy_for_maps_is_one_that_there_is() {
    let with = |name: &str| {
        let mut tree = DeviceTree::from_fdt(&dtoolkit::fdt::Fdt::new(&manifest(|_| {})).unwrap());
        add(&mut tree.root, MAP, name);
        parse(&tree.to_dtb(), FILE).map(|bundle| bundle.map)
    };
    let plain = parse(&manifest(|_| {}), FILE).map(|bundle| bundle.map);
    assert_eq!(plain, Ok(MapPolicy::Ours));
    for policy in MapPolicy::ALL {
        assert_eq!(with(policy.name()), Ok(policy));
    }
    assert_eq!(with("theirs"), Err(BundleError::Map));
}

#[test]
fn the_policy_for_calls_of_a_hashed_page_table_is_one_that_there_is() {
    let with = |name: &str| {
        let mut tree = DeviceTree::from_fdt(&dtoolkit::fdt::Fdt::new(&manifest(|_| {})).unwrap());
        add(&mut tree.root, HASH_CALLS, name);
        parse(&tree.to_dtb(), FILE).map(|bundle| bundle.hash_calls)
    };
    let plain = parse(&manifest(|_| {}), FILE).map(|bundle| bundle.hash_calls);
    assert_eq!(plain, Ok(HashCallPolicy::Fast));
    for policy in HashCallPolicy::ALL {
        assert_eq!(with(policy.name()), Ok(policy));
    }
    assert_eq!(with("slow"), Err(BundleError::HashCalls));
}

#[test]
fn a_name_that_a_terminal_would_act_on_is_refused_unshown() {
    // What no device tree has as a name its reader refuses before.
    let (unreadable, unfit) = (BundleError::DamagedManifest, BundleError::Name(0));
    let long = "x".repeat(32);
    let names = [
        ("\x1b[2J", &unreadable),
        ("two words", &unreadable),
        ("a: powered off", &unreadable),
        (long.as_str(), &unreadable),
        ("7up", &unfit),
        ("a@b", &unfit),
    ];
    for (name, expected) in names {
        let tree = tree_of(DeviceTreeNode::new_unchecked(name));
        let error = parse(&tree.to_dtb(), FILE).unwrap_err();
        assert_eq!(&error, expected, "{name:?}");
        assert!(!error.to_string().contains(name));
    }
}

#[test]
fn each_mistake_is_named() {
    assert_eq!(refused(|n| set(n, MEMORY_BYTES, 0u64)), PartitionError::MemoryBytes(0));
    assert_eq!(
        refused(|n| set(n, MEMORY_BYTES, 0x1_8000u64)),
        PartitionError::MemoryBytes(0x1_8000)
    );
    for count in [0, VCPUS_MAX + 1] {
        assert_eq!(refused(|n| set(n, VCPUS, count)), PartitionError::Vcpus(count));
    }
    for weight in [0, WEIGHT_MAX + 1] {
        assert_eq!(refused(|n| set(n, WEIGHT, weight)), PartitionError::Weight(weight));
    }
    assert_eq!(refused(|n| set(n, TIME_LIMIT, "x")), PartitionError::Property(TIME_LIMIT));
    for name in [PERFORMANCE_MONITOR, SUPERPAGES] {
        let error = refused(|n| set(n, name, 2u32));
        assert_eq!(error, PartitionError::Property(name));
    }
    assert_eq!(refused(|n| set(n, ENTRY, 0x200u64)), PartitionError::Entry(0x200));
    assert_eq!(refused(|n| set(n, ENTRY, 0x102u64)), PartitionError::Entry(0x102));
    for name in [MEMORY_BYTES, VCPUS, ENTRY, SEGMENTS] {
        assert_eq!(refused(|n| drop(n.remove_property(name))), PartitionError::Property(name));
        assert_eq!(refused(|n| set(n, name, [1u8; 3])), PartitionError::Property(name));
    }
    assert_eq!(refused(|n| set(n, BOOTARGS, [0xFFu8; 3])), PartitionError::Property(BOOTARGS));
}

#[test]
fn segments_are_checked_against_file_memory_and_each_other() {
    let with = |segments: &[[u64; 4]]| refused(|n| set(n, SEGMENTS, list(segments)));
    let code = [0, 0x1_0000, 0x200, 0x200];
    assert_eq!(with(&[[0, 0x1_0000, 0x200, 0x1FF]]), PartitionError::SegmentLength(0));
    assert_eq!(with(&[code, [0x1000, 0x1_0010, 1, 1]]), PartitionError::SegmentAlignment(1));
    assert_eq!(with(&[[0, 0x4_0000, 1, 1]]), PartitionError::SegmentOutsideFile(0));
    assert_eq!(
        with(&[[0, u64::MAX << 16, u64::MAX, u64::MAX]]),
        PartitionError::SegmentOutsideFile(0)
    );
    assert_eq!(with(&[[0, 0, 0x10, 0x100_0001]]), PartitionError::SegmentOutsideMemory(0));
    assert_eq!(with(&[[u64::MAX, 0, 1, 1]]), PartitionError::SegmentOutsideMemory(0));
    assert_eq!(with(&[code, [0x1FF, 0, 1, 1]]), PartitionError::SegmentsOverlap(0, 1));
    assert_eq!(with(&[code, code]), PartitionError::SegmentsOverlap(0, 1));
    assert_eq!(with(&[]), PartitionError::Property(SEGMENTS));
}

#[test]
fn a_payload_larger_than_memory_is_refused() {
    let error = refused(|n| set(n, MEMORY_BYTES, 0x2_0000u64));
    assert_eq!(error, PartitionError::SegmentOutsideMemory(0));
}

#[test]
fn a_cut_file_is_noticed_wherever_it_is_cut() {
    let manifest = manifest(|_| {});
    let header = manifest[..8].try_into().unwrap();
    for cut in (0..FILE).step_by(0x1000).chain([1, 7, manifest.len() as u64 - 1]) {
        let noticed = match manifest_bytes(header, cut) {
            Err(error) => error,
            Ok(_) => parse(&manifest, cut).unwrap_err(),
        };
        let manifest_bytes = manifest.len() as u64;
        let expected = if cut < manifest_bytes {
            BundleError::ManifestLength(manifest_bytes)
        } else {
            BundleError::FileLength { expected: FILE, actual: cut }
        };
        assert_eq!(noticed, expected, "cut at {cut:#x}");
    }
    assert!(parse(&manifest, FILE + 0xFFFF).is_ok(), "an initrd may be rounded up");
}

#[test]
fn other_files_are_not_bundles() {
    assert_eq!(manifest_bytes(*b"\x7FELF\x02\x01\x01\0", FILE), Err(BundleError::NotATree));
    assert_eq!(manifest_bytes([0; 8], FILE), Err(BundleError::NotATree));
    let mut tree = DeviceTree::new();
    assert_eq!(parse(&tree.to_dtb(), FILE), Err(BundleError::NotABundle));
    add(&mut tree.root, "compatible", COMPATIBLE);
    assert_eq!(parse(&tree.to_dtb(), FILE), Err(BundleError::DamagedManifest));
    add(&mut tree.root, FILE_BYTES, FILE);
    assert_eq!(parse(&tree.to_dtb(), FILE), Err(BundleError::Empty));
}

#[test]
fn messages_name_partition_and_property() {
    let error = parse(&manifest(|n| set(n, WEIGHT, 0u32)), FILE).unwrap_err();
    assert_eq!(error.to_string(), "partition one: weight 0 is not in 1 to 10000");
    let _: String = BundleError::DamagedManifest.to_string();
}

proptest! {
    /// No damage makes the parser panic, and a damaged manifest that is accepted still keeps its rules.
    #[test]
    fn garbled_manifests_do_not_panic(at in any::<proptest::sample::Index>(), value: u8, cut in any::<proptest::sample::Index>()) {
        let mut bytes = manifest(|_| {});
        let index = at.index(bytes.len());
        bytes[index] = value;
        if let Ok(bundle) = parse(&bytes, FILE) {
            for partition in bundle.partitions {
                for segment in partition.segments {
                    assert!(segment.end() <= partition.memory_bytes);
                    assert!(segment.file_offset + segment.file_bytes <= FILE);
                }
            }
        }
        bytes.truncate(cut.index(bytes.len()));
        assert!(parse(&bytes, FILE).is_err());
        assert!(parse(&[value; 64], FILE).is_err());
    }
}
