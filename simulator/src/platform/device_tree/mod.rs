//! The flattened device tree that firmware hands to the payload.
//!
//! It holds what an operating system needs (`docs/facts/opal-and-powernv.md#what-linux-needs`), and nothing that
//! the machine does not have. Radix page sizes are advertised (`ibm,processor-radix-AP-encodings`), which QEMU and
//! skiboot do not do there: without it Linux uses 64 KiB pages throughout, and real POWER9 firmware
//! has it.
//!
//! | module | what it is |
//! |---|---|
//! | `cpus` | cores, caches |
//! | `features` | what the processor can do, by name |
//! | `power` | power-saving states |
//! | `power8`, `power9` | what each processor has of its own |

mod cpus;
mod features;
mod firmware_features;
mod power;
mod power8;
mod power9;

use arch::processor::Processor;
use dtoolkit::memreserve::MemoryReservation;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};

use super::layout;
use crate::description::Description;
use crate::state::xics::FIRMWARE_EVENT;

/// What goes into `/chosen`.
#[derive(Clone, Debug)]
pub struct Chosen<'a> {
    /// Kernel arguments.
    pub arguments: &'a str,
    /// First and last-plus-one real address of the initrd.
    pub initrd: Option<(u64, u64)>,
}

/// A node under construction.
struct Node(DeviceTreeNode);

impl Node {
    fn new(name: impl Into<String>) -> Self {
        Self(DeviceTreeNode::new_unchecked(name))
    }

    fn text(self, name: &str, value: &str) -> Self {
        self.bytes(name, [value.as_bytes(), &[0]].concat())
    }

    fn cells(self, name: &str, cells: &[u32]) -> Self {
        self.bytes(name, cells.iter().flat_map(|cell| cell.to_be_bytes()).collect())
    }

    fn doublewords(self, name: &str, values: &[u64]) -> Self {
        self.bytes(name, values.iter().flat_map(|value| value.to_be_bytes()).collect())
    }

    fn flag(self, name: &str) -> Self {
        self.bytes(name, Vec::new())
    }

    fn bytes(mut self, name: &str, value: Vec<u8>) -> Self {
        self.0.add_property(DeviceTreeProperty::new_unchecked(name, value));
        self
    }

    fn children(self, children: Vec<Self>) -> Self {
        children.into_iter().fold(self, Self::child)
    }

    fn child(mut self, child: Self) -> Self {
        self.0.add_child(child.0);
        self
    }
}

/// What the tree of each processor has of its own.
struct PerProcessor {
    /// `isa` of the processor's features.
    isa: u32,
    /// The interrupt presentation: a node, or one for each core.
    presentation: fn(&Description) -> Vec<Node>,
    /// The power-saving states.
    power: fn(&Description) -> Node,
    /// Bytes of a core's first data cache.
    l1_data_bytes: u32,
    /// Bytes and ways of the third-level cache.
    l3: (u32, u32),
    /// Options of the processor by byte of `ibm,pa-features`, and how many bytes that has.
    options: (&'static [(usize, u8)], usize),
}

fn per_processor(description: &Description) -> &'static PerProcessor {
    match description.processor() {
        Processor::Power8 => &power8::OWN,
        Processor::Power9 => &power9::OWN,
    }
}

/// The PIR of each thread, in the order of the machine's threads.
///
#[must_use]
pub fn pirs(description: &Description) -> Vec<u32> {
    let (chips, cores, threads) = description.topology();
    let layout = description.processor().facts().pir;
    (0..chips)
        .flat_map(|chip| (0..cores).map(move |core| (chip, core)))
        .flat_map(|(chip, core)| (0..threads).map(move |thread| layout.pir(chip, core, thread)))
        .collect()
}

/// The flattened tree. `boot_pir` is the thread that enters the payload.
#[must_use]
pub fn build(description: &Description, chosen: &Chosen<'_>, boot_pir: u32) -> Vec<u8> {
    let mut root = Node::new("")
        .text("compatible", "ibm,powernv")
        .text("model", &format!("PowerVisor machine, {}", description.processor()))
        .cells("#address-cells", &[2])
        .cells("#size-cells", &[2])
        .child(chosen_node(chosen))
        .child(cpus::node(description))
        .child(opal(description))
        .children((per_processor(description).presentation)(description))
        .child(interrupt_sources())
        .child(reserved());
    for region in description.memory() {
        root = root.child(
            Node::new(format!("memory@{:x}", region.base))
                .text("device_type", "memory")
                .cells("ibm,chip-id", &[region.node])
                .doublewords("reg", &[region.base, region.bytes]),
        );
    }
    let mut tree = DeviceTree::new();
    tree.root = root.0;
    tree.memory_reservations.push(MemoryReservation::new(layout::FIRMWARE, layout::FIRMWARE_BYTES));
    let mut flat = tree.to_dtb();
    // `boot_cpuid_phys` is the eighth word of the header; the library leaves it zero.
    flat[28..32].copy_from_slice(&boot_pir.to_be_bytes());
    flat
}

fn chosen_node(chosen: &Chosen<'_>) -> Node {
    let node = Node::new("chosen")
        .text("bootargs", chosen.arguments)
        .text("linux,stdout-path", "/ibm,opal/consoles/serial@0")
        .text("stdout-path", "/ibm,opal/consoles/serial@0");
    match chosen.initrd {
        Some((start, end)) => node
            .cells("linux,initrd-start", &[start as u32])
            .cells("linux,initrd-end", &[end as u32]),
        None => node,
    }
}

/// The parent of interrupts whose sources OPAL calls route.
fn interrupt_sources() -> Node {
    Node::new("interrupt-controller@0")
        .text("compatible", "IBM,opal-xics")
        .flag("interrupt-controller")
        .cells("#interrupt-cells", &[2])
        .cells("#address-cells", &[0])
        .cells("phandle", &[SOURCES_HANDLE])
}

/// The parent of firmware's events; an event's number is its bit in what `OPAL_HANDLE_INTERRUPT` answers.
fn events() -> Node {
    Node::new("event")
        .text("compatible", "ibm,opal-event")
        .flag("interrupt-controller")
        .cells("#interrupt-cells", &[1])
        .cells("phandle", &[EVENTS_HANDLE])
}

const EVENTS_HANDLE: u32 = 2;
const SOURCES_HANDLE: u32 = 1;
/// Handles of caches and of the processor's features follow the others.
const FIRST_CACHE_HANDLE: u32 = 0x100;
const FIRST_FEATURE_HANDLE: u32 = 0x1000;
/// Second cell of an interrupt: 1 level-sensitive.
const LEVEL: u32 = 1;

fn opal(description: &Description) -> Node {
    let console = Node::new("serial@0")
        .text("device_type", "serial")
        .text("compatible", "ibm,opal-console-raw")
        .cells("reg", &[0])
        .cells("interrupt-parent", &[EVENTS_HANDLE])
        .cells("interrupts", &[arch::opal::event::CONSOLE_INPUT.trailing_zeros()])
        .cells("#write-buffer-size", &[arch::opal::CONSOLE_RING_BYTES as u32]);
    let own = per_processor(description);
    Node::new("ibm,opal")
        .bytes("compatible", b"ibm,opal-v2\0ibm,opal-v3\0".to_vec())
        .cells("#address-cells", &[0])
        .cells("#size-cells", &[0])
        .doublewords("opal-base-address", &[layout::FIRMWARE])
        .doublewords("opal-entry-address", &[layout::ENTRY])
        .doublewords("opal-runtime-size", &[layout::FIRMWARE_BYTES])
        .cells("ibm,heartbeat-ms", &[2000])
        .cells("interrupt-parent", &[SOURCES_HANDLE])
        .cells("interrupts", &[FIRMWARE_EVENT, LEVEL])
        .bytes("interrupt-names", b"events\0".to_vec())
        .child(events())
        .children(firmware_features::node(description).into_iter().collect())
        .child((own.power)(description))
        .child(
            Node::new("consoles")
                .cells("#address-cells", &[1])
                .cells("#size-cells", &[0])
                .child(console),
        )
}

fn reserved() -> Node {
    Node::new("reserved-memory")
        .cells("#address-cells", &[2])
        .cells("#size-cells", &[2])
        .flag("ranges")
        .child(
            Node::new(format!("ibm,firmware@{:x}", layout::FIRMWARE))
                .doublewords("reg", &[layout::FIRMWARE, layout::FIRMWARE_BYTES]),
        )
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Chosen, build, pirs};
    use crate::description::Description;
    use dtoolkit::fdt::Fdt;
    use dtoolkit::{Node as _, Property as _};

    pub(super) const POWER9: &str = include_str!("../../../../machines/power9.toml");
    pub(super) const POWER8: &str = include_str!("../../../../machines/power8.toml");

    pub(super) fn description() -> Description {
        Description::from_toml(POWER9).unwrap()
    }

    /// A machine with so many chips, cores of each and threads of each.
    pub(super) fn description_with(chips: u32, cores: u32, threads: u32) -> Description {
        let text = POWER9
            .replace("chips = 1", &format!("chips = {chips}"))
            .replace("cores_per_chip = 1", &format!("cores_per_chip = {cores}"))
            .replace("threads_per_core = 1", &format!("threads_per_core = {threads}"));
        Description::from_toml(&text).unwrap()
    }

    pub(super) fn tree(description: &Description) -> Vec<u8> {
        build(description, &Chosen { arguments: "", initrd: None }, 0)
    }

    /// The cells of a property.
    pub(super) fn cells(flat: &[u8], node: &str, name: &str) -> Vec<u32> {
        let tree = Fdt::new_unchecked(flat);
        let node = tree.find_node(node).unwrap_or_else(|| panic!("no node {node}"));
        let property = node.property(name).unwrap_or_else(|| panic!("no property {name}"));
        let (cells, _) = property.value().as_chunks();
        cells.iter().map(|cell| u32::from_be_bytes(*cell)).collect()
    }

    #[test]
    fn the_tree_is_read_back_by_a_library() {
        let chosen = Chosen { arguments: "quiet", initrd: Some((0x2800_0000, 0x2800_1000)) };
        let flat = build(&description(), &chosen, 4);
        // Unchecked: `ibm,processor-radix-AP-encodings` is one character longer than the device-tree
        // specification allows, and the library's check refuses it.
        let tree = Fdt::new_unchecked(&flat);
        assert_eq!(tree.boot_cpuid_phys(), 4);
        let arguments = tree.find_node("/chosen").unwrap().property("bootargs").unwrap();
        assert_eq!(arguments.value(), b"quiet\0");
        let memory = tree.find_node("/memory@0").unwrap().property("reg").unwrap();
        assert_eq!(memory.value(), [[0u8; 8], (2u64 << 30).to_be_bytes()].concat());
    }

    #[test]
    fn pirs_are_made_from_chip_core_and_thread() {
        assert_eq!(pirs(&description()), [0]);
        assert_eq!(pirs(&description_with(2, 2, 2)), [0, 1, 4, 5, 0x100, 0x101, 0x104, 0x105]);
    }
}
