//! What a partition finds in r3: the device tree of a PAPR machine, and behind it the RTAS entry.
//!
//! Source: `docs/facts/papr.md#device-tree-of-a-partition`. Processor properties are copied from firmware's
//! tree, so that the guest sees the machine's own frequencies and cache geometry. What HFSCR never grants
//! (transactions, the performance monitor where the partition file does not ask for it) is not described.

use alloc::format;
use alloc::vec::Vec;

use arch::address::GuestRealAddress;
use arch::bundle::Translation;
use arch::features::{self, guest_stop};
use arch::papr::{HYPERCALL_WORD, Hypercall, rtas, tce};
use arch::processor::Processor;
use arch::registers::psscr;
use dtoolkit::fdt::FdtNode;
use dtoolkit::{Node, Property};

use crate::boot::flat_tree::{self, FlatTree};
use crate::devices::{source, unit};
use crate::partition::features::GuestStop;
use crate::partition::{hash, radix};

/// What the whole is: ours, and for programs that look for the name, a machine with PAPR's calls as QEMU's
/// `pseries` is one.
const COMPATIBLE: &[&str] = &["powervisor,partition", "qemu,pseries"];

/// `ibm,vmx`: 1 is vectors, 2 is VSX with them.
const VECTORS_AND_VSX: u32 = 2;

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
    "timebase-frequency",
];

/// The same, of a partition that is translated so.
const fn properties_of(translation: Translation) -> &'static [&'static str] {
    match translation {
        Translation::Radix => &["ibm,processor-radix-AP-encodings"],
        Translation::Hash => &["ibm,slb-size"],
    }
}

/// `ibm,architecture-vec-5`.
fn architecture_vector_5(translation: Translation) -> [u8; 27] {
    let mut vector = [0; 27];
    let bytes = match translation {
        Translation::Radix => radix::ARCHITECTURE_VECTOR_5,
        Translation::Hash => hash::ARCHITECTURE_VECTOR_5,
    };
    for (byte, bits) in bytes {
        vector[byte] = bits;
    }
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
/// The same, where devices see the memory through a window.
const HYPERTAS_OF_WINDOW: &[&str] = &["hcall-tce", "hcall-multi-tce"];

/// The same, where there are virtual SCSI adapters.
const HYPERTAS_OF_DISKS: &[&str] = &["hcall-vio"];

/// The same, with a hashed page table.
const HYPERTAS_OF_HASH: &[&str] = &["hcall-pft", "hcall-bulk", "hcall-block-remove"];

/// The same, with one whose size can change.
const HYPERTAS_OF_SIZE: &[&str] = &["hcall-hpt-resize"];

/// `ibm,pa-features`: a count, the kind of the list, and bytes of which bit 0 is the most significant.
const fn processor_features(translation: Translation) -> [u8; 2 + FEATURE_BYTES] {
    let mut features = [0; 2 + FEATURE_BYTES];
    features[0] = FEATURE_BYTES as u8;
    features[2] = 0x80 | 0x40 | 0x10 | 0x02; // MMU, floating point, run latch, no-execute
    features[2 + 1] = 0x20; // cache-inhibited large pages
    features[2 + 5] = 0x80; // little-endian
    match translation {
        Translation::Radix => {
            let (byte, bits) = radix::FEATURE;
            features[2 + byte] = bits;
        }
        Translation::Hash => {}
    }
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
    /// Bytes of each window through which a device sees its memory, if it has one.
    pub window_bytes: Option<u32>,
    /// Virtual SCSI adapters.
    pub adapters: usize,
    /// How its addresses are translated.
    pub translation: Translation,
    /// It can change the size of its hashed page table.
    pub has_resizable_table: bool,
    /// Its vCPUs may execute `stop`.
    pub guest_stop: Option<GuestStop<'a>>,
    /// What it has of firmware's node of a processor.
    pub processor: &'a ProcessorNode,
}

/// What partitions have of firmware's node of a processor.
#[derive(Debug)]
pub struct ProcessorNode {
    processor: Processor,
    properties: Vec<(&'static str, Vec<u8>)>,
}

impl ProcessorNode {
    /// The processor.
    #[must_use]
    pub const fn processor(&self) -> Processor {
        self.processor
    }

    /// Of `processor`, of which firmware has this node.
    #[must_use]
    pub fn new(processor: Processor, node: &FdtNode<'_>) -> Self {
        let find = |name: &&'static str| Some((*name, node.property(name)?.value().to_vec()));
        let of_translations = Translation::ALL.into_iter().flat_map(properties_of);
        let names = PROCESSOR_PROPERTIES.iter().chain(of_translations);
        Self { processor, properties: names.filter_map(find).collect() }
    }
}

/// Bytes of a tree with one vCPU and no arguments, roughly, and of each vCPU.
const USUAL_BYTES: usize = 0x1000;
const VCPU_BYTES: usize = 0x2C0;

/// Bytes of a tree for so many vCPUs with these arguments, roughly.
#[must_use]
pub const fn bytes(vcpus: u32, bootargs: &str) -> usize {
    USUAL_BYTES + vcpus as usize * VCPU_BYTES + bootargs.len()
}

/// The flattened tree of a partition, and the RTAS entry behind it, which the tree reserves: they go to the address
/// that `place` gives for their length.
pub fn build<E>(
    content: &Content<'_>,
    place: impl Fn(u64) -> Result<GuestRealAddress, E>,
) -> Result<(GuestRealAddress, Vec<u8>), E> {
    let (mut blob, entries) = tree(content, true);
    let rtas_offset = blob.len().next_multiple_of(16);
    let address = place((rtas_offset + size_of_val(&RTAS_ENTRY)) as u64)?;
    let entry = address.0 + rtas_offset as u64;
    // Kernels read one cell; where it is too small, RTAS is reached by H_RTAS only.
    match u32::try_from(entry) {
        Ok(entry) => {
            for place in entries {
                blob[place..place + 4].copy_from_slice(&entry.to_be_bytes());
            }
        }
        Err(_) => blob = tree(content, false).0,
    }
    // Kernels give what is behind the tree to others, unless the tree reserves it.
    flat_tree::reserve(&mut blob, entry, size_of_val(&RTAS_ENTRY) as u64);
    blob.resize(rtas_offset, 0);
    blob.extend(RTAS_ENTRY.iter().flat_map(|word| word.to_be_bytes()));
    Ok((address, blob))
}

/// The tree, and the places in it of the RTAS entry's address, if it is to have that.
fn tree(content: &Content<'_>, has_entry: bool) -> (Vec<u8>, [usize; 2]) {
    let memory_bytes = content.memory_bytes;
    let mut tree = FlatTree::with_capacity(bytes(content.vcpus, content.bootargs));
    tree.add("#address-cells", &2u32);
    tree.add("#size-cells", &2u32);
    tree.add("compatible", COMPATIBLE);
    tree.add("device_type", "chrp");
    tree.add("model", "PowerVisor partition");
    chosen(&mut tree, content);
    cpus(&mut tree, content);

    tree.begin("interrupt-controller");
    tree.add("#interrupt-cells", &2u32);
    tree.add("compatible", "IBM,ppc-xicp");
    tree.add("device_type", "PowerPC-External-Interrupt-Presentation");
    tree.add("ibm,interrupt-server-ranges", &[0, content.vcpus]);
    tree.add("interrupt-controller", &[0u8; 0][..]);
    tree.end();

    tree.begin("memory@0");
    tree.add("device_type", "memory");
    tree.add("reg", &[0u32, 0, (memory_bytes >> 32) as u32, memory_bytes as u32]);
    tree.end();

    if let Some(feature) = content.guest_stop {
        features(&mut tree, feature);
    }

    tree.begin("rtas");
    let of_window = if content.window_bytes.is_some() { HYPERTAS_OF_WINDOW } else { &[] };
    let of_disks = if content.adapters > 0 { HYPERTAS_OF_DISKS } else { &[] };
    let of_hash = match content.translation {
        Translation::Radix => &[],
        Translation::Hash => HYPERTAS_OF_HASH,
    };
    let of_size = if content.has_resizable_table { HYPERTAS_OF_SIZE } else { &[] };
    let functions = [HYPERTAS, of_window, of_disks, of_hash, of_size].concat();
    tree.add("ibm,hypertas-functions", &functions[..]);
    let mut entries = [0; 2];
    if has_entry {
        entries = ["linux,rtas-base", "linux,rtas-entry"].map(|name| tree.add(name, &0u32));
        tree.add("rtas-size", &(size_of_val(&RTAS_ENTRY) as u32));
    }
    for (name, token) in rtas::PROPERTIES {
        tree.add(name, &token);
    }
    tree.end();

    tree.begin("vdevice");
    tree.add("#address-cells", &1u32);
    tree.add("#size-cells", &0u32);
    tree.add("compatible", "IBM,vdevice");
    tree.add("device_type", "vdevice");
    if content.adapters > 0 {
        // The node hands interrupts on. Properties come before nodes.
        tree.add("#interrupt-cells", &2u32);
        tree.add("interrupt-controller", &[0u8; 0][..]);
    }
    for number in 0..content.adapters as u32 {
        adapter(&mut tree, number, content.window_bytes.unwrap_or(0));
    }
    tree.begin("vty@71000000");
    tree.add("compatible", "hvterm1");
    tree.add("device_type", "serial");
    tree.add("reg", &unit::TERMINAL);
    tree.end();
    tree.end();
    (tree.finish(), entries)
}

/// The virtual SCSI adapter with this number.
fn adapter(tree: &mut FlatTree, number: u32, window_bytes: u32) {
    let unit = unit::ADAPTERS + number;
    tree.begin(&format!("v-scsi@{unit:x}"));
    tree.add("compatible", "IBM,v-scsi");
    tree.add("device_type", "vscsi");
    tree.add("ibm,#dma-address-cells", &2u32);
    tree.add("ibm,#dma-size-cells", &2u32);
    tree.add("ibm,my-dma-window", &[tce::WINDOW as u32 + number, 0, 0, 0, window_bytes]);
    // An edge.
    tree.add("interrupts", &[source::ADAPTERS + number, 0]);
    tree.add("reg", &unit);
    tree.end();
}

/// What a guest may rely on: `docs/guest-stop.md`.
fn features(tree: &mut FlatTree, GuestStop { state }: GuestStop<'_>) {
    const OWN: u64 = psscr::TR.mask() | psscr::MTL.mask() | psscr::RL.mask();
    tree.begin(features::NODE);
    tree.begin(guest_stop::NAME);
    tree.add(features::VERSION, &guest_stop::VERSION);
    tree.add(guest_stop::NAMES, state.name);
    // A level that it may go on to would have to be allowed, too, as one reading of the architecture has it: none.
    let psscr = psscr::MTL.set(state.psscr & OWN, psscr::RL.get(state.psscr));
    tree.add(guest_stop::PSSCR, &psscr);
    tree.add(guest_stop::PSSCR_MASK, &OWN);
    tree.add(guest_stop::LATENCIES, &state.latency_ns);
    tree.add(guest_stop::RESIDENCIES, &state.residency_ns);
    tree.end();
    tree.end();
}

fn chosen(tree: &mut FlatTree, content: &Content<'_>) {
    tree.begin("chosen");
    tree.add("bootargs", content.bootargs);
    tree.add("ibm,architecture-vec-5", &architecture_vector_5(content.translation)[..]);
    tree.add("linux,stdout-path", "/vdevice/vty@71000000");
    tree.add("stdout-path", "/vdevice/vty@71000000");
    if let Some([start, end]) = content.initrd {
        tree.add("linux,initrd-start", &start.0);
        tree.add("linux,initrd-end", &end.0);
    }
    tree.end();
}

fn cpus(tree: &mut FlatTree, content: &Content<'_>) {
    let ProcessorNode { processor, properties } = content.processor;
    tree.begin("cpus");
    tree.add("#address-cells", &1u32);
    tree.add("#size-cells", &0u32);
    for number in 0..content.vcpus {
        tree.begin(&format!("PowerPC,{processor}@{number:x}"));
        tree.add("device_type", "cpu");
        tree.add("ibm,pa-features", &processor_features(content.translation)[..]);
        tree.add("ibm,ppc-interrupt-gserver#s", &[number, 0]);
        tree.add("ibm,ppc-interrupt-server#s", &number);
        tree.add("ibm,dfp", &1u32);
        tree.add("ibm,purr", &1u32);
        tree.add("ibm,spurr", &1u32);
        tree.add("ibm,vmx", &VECTORS_AND_VSX);
        tree.add("reg", &number);
        tree.add("status", "okay");
        let own = properties_of(content.translation);
        let is_own = |name: &str| PROCESSOR_PROPERTIES.contains(&name) || own.contains(&name);
        for (name, value) in properties.iter().filter(|property| is_own(property.0)) {
            tree.add(name, value.as_slice());
        }
        match content.translation {
            Translation::Radix => {}
            Translation::Hash => hash::describe(tree, content.memory_bytes),
        }
        tree.end();
    }
    tree.end();
}
