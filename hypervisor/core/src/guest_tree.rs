//! What a partition finds in r3: the device tree of a PAPR machine, and behind it the RTAS entry.
//!
//! Source: `kvm-hv.md` 2.5. Processor properties are copied from firmware's tree, so that the guest
//! sees the machine's own frequencies and cache geometry. Facilities that HFSCR withholds from
//! partitions (vectors) are not described.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use arch::address::GuestRealAddress;
use arch::papr::{HYPERCALL_WORD, Hypercall, rtas};
use dtoolkit::fdt::FdtNode;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use dtoolkit::{Node, Property, ToPropertyValue};

/// The number and `reg` of the partition's terminal.
pub const TERMINAL: u32 = 0x7100_0000;

/// What is copied from firmware's processor node where it is there.
const PROCESSOR_PROPERTIES: &[&str] = &[
    "64-bit",
    "clock-frequency",
    "cpu-version",
    "d-cache-block-size",
    "d-cache-line-size",
    "d-cache-size",
    "i-cache-block-size",
    "i-cache-line-size",
    "i-cache-size",
    "ibm,dec-bits",
    "ibm,processor-radix-AP-encodings",
    "timebase-frequency",
];

/// `ibm,architecture-vec-5`: byte 24 radix translation, byte 26 the guest issues `tlbie`.
const fn architecture_vector_5() -> [u8; 27] {
    let mut vector = [0; 27];
    vector[24] = 0x40;
    vector[26] = 0x40;
    vector
}

/// The RTAS entry: hands the argument buffer from r3 to H_RTAS and returns. RTAS is called in
/// big-endian.
const RTAS_ENTRY: [u32; 5] = [
    0x7C64_1B78, // mr r4, r3
    0x3860_0000, // li r3, 0
    0x6063_F000, // ori r3, r3, H_RTAS
    0x4400_0022, // sc 1
    0x4E80_0020, // blr
];
const _: () = assert!(Hypercall::Rtas as u64 == 0xF000 && RTAS_ENTRY[3] == HYPERCALL_WORD);

/// Calls that are announced because a guest looks for the announcement.
const HYPERTAS: &[&str] = &[
    "hcall-copy",
    "hcall-interrupt",
    "hcall-random",
    "hcall-set-mode",
    "hcall-splpar",
    "hcall-term",
];

/// `ibm,pa-features`: a count, the kind of the list, and bytes of which bit 0 is the most significant.
const fn processor_features() -> [u8; 2 + FEATURE_BYTES] {
    let mut features = [0; 2 + FEATURE_BYTES];
    features[0] = FEATURE_BYTES as u8;
    features[2] = 0x80 | 0x40 | 0x10 | 0x02; // MMU, floating point, run latch, no-execute
    features[2 + 1] = 0x20; // cache-inhibited large pages
    features[2 + 5] = 0x80; // little-endian
    features[2 + 40] = 0x80; // radix translation
    features
}
const FEATURE_BYTES: usize = 66;

/// What a partition's tree says.
#[derive(Clone, Copy, Debug)]
pub struct Content<'a> {
    /// Memory from address 0 on.
    pub memory_bytes: u64,
    /// Number of vCPUs.
    pub vcpus: u32,
    /// The payload's arguments.
    pub bootargs: &'a str,
    /// Where the payload's second file begins and ends.
    pub initrd: Option<[GuestRealAddress; 2]>,
    /// Firmware's node of a processor.
    pub processor: &'a FdtNode<'a>,
}

/// The flattened tree of a partition, and the RTAS entry behind it: they go to the address that `place`
/// gives for their length.
pub fn build<E>(
    content: &Content<'_>,
    place: impl Fn(u64) -> Result<GuestRealAddress, E>,
) -> Result<(GuestRealAddress, Vec<u8>), E> {
    // All numbers have a fixed width, so the tree is nowhere longer than at address 0.
    let rtas_offset = tree(content, 0).to_dtb().len().next_multiple_of(16);
    let bytes = rtas_offset + size_of_val(&RTAS_ENTRY);
    let address = place(bytes as u64)?;
    let mut blob = tree(content, address.0 + rtas_offset as u64).to_dtb();
    blob.resize(rtas_offset, 0);
    blob.extend(RTAS_ENTRY.iter().flat_map(|word| word.to_be_bytes()));
    Ok((address, blob))
}

fn tree(content: &Content<'_>, rtas_entry: u64) -> DeviceTree {
    let memory_bytes = content.memory_bytes;
    let mut rtas = node("rtas").with("ibm,hypertas-functions", HYPERTAS);
    // Kernels read one cell; where it is too small, RTAS is reached by H_RTAS only.
    if let Ok(entry) = u32::try_from(rtas_entry) {
        rtas = rtas
            .with("linux,rtas-base", entry)
            .with("linux,rtas-entry", entry)
            .with("rtas-size", size_of_val(&RTAS_ENTRY) as u32);
    }
    for (name, token) in rtas::PROPERTIES {
        rtas = rtas.with(name, token);
    }
    let mut tree = DeviceTree::new();
    tree.root = node("")
        .with("#address-cells", 2u32)
        .with("#size-cells", 2u32)
        .with("compatible", "powervisor,partition")
        .with("device_type", "chrp")
        .with("model", "PowerVisor partition")
        .child(chosen(content))
        .child(cpus(content))
        .child(
            node("interrupt-controller")
                .with("#interrupt-cells", 2u32)
                .with("compatible", "IBM,ppc-xicp")
                .with("device_type", "PowerPC-External-Interrupt-Presentation")
                .with("ibm,interrupt-server-ranges", [0, content.vcpus])
                .with("interrupt-controller", &[0u8; 0][..]),
        )
        .child(
            node("memory@0")
                .with("device_type", "memory")
                .with("reg", [0u32, 0, (memory_bytes >> 32) as u32, memory_bytes as u32]),
        )
        .child(rtas)
        .child(
            node("vdevice")
                .with("#address-cells", 1u32)
                .with("#size-cells", 0u32)
                .with("compatible", "IBM,vdevice")
                .with("device_type", "vdevice")
                .child(
                    node("vty@71000000")
                        .with("compatible", "hvterm1")
                        .with("device_type", "serial")
                        .with("reg", TERMINAL),
                ),
        )
        .0;
    tree
}

fn chosen(content: &Content<'_>) -> Building {
    let chosen = node("chosen")
        .with("bootargs", content.bootargs)
        .with("ibm,architecture-vec-5", architecture_vector_5())
        .with("linux,stdout-path", "/vdevice/vty@71000000")
        .with("stdout-path", "/vdevice/vty@71000000");
    match content.initrd {
        None => chosen,
        Some([start, end]) => {
            chosen.with("linux,initrd-start", start.0).with("linux,initrd-end", end.0)
        }
    }
}

fn cpus(content: &Content<'_>) -> Building {
    let mut cpus = node("cpus").with("#address-cells", 1u32).with("#size-cells", 0u32);
    for number in 0..content.vcpus {
        let mut cpu = node(&format!("PowerPC,POWER9@{number:x}"))
            .with("device_type", "cpu")
            .with("ibm,pa-features", &processor_features()[..])
            .with("ibm,ppc-interrupt-gserver#s", [number, 0])
            .with("ibm,ppc-interrupt-server#s", number)
            .with("ibm,purr", 1u32)
            .with("ibm,spurr", 1u32)
            .with("reg", number)
            .with("status", "okay");
        for name in PROCESSOR_PROPERTIES {
            if let Some(property) = content.processor.property(name) {
                cpu = cpu.with(name, property.value());
            }
        }
        cpus = cpus.child(cpu);
    }
    cpus
}

/// A node under construction. All names in this file are valid, so no check is needed.
struct Building(DeviceTreeNode);

fn node(name: &str) -> Building {
    Building(DeviceTreeNode::new_unchecked(String::from(name)))
}

impl Building {
    fn with(mut self, name: &str, value: impl ToPropertyValue) -> Self {
        self.0.add_property(DeviceTreeProperty::new_unchecked(name, value));
        self
    }

    fn child(mut self, child: Self) -> Self {
        self.0.add_child(child.0);
        self
    }
}
