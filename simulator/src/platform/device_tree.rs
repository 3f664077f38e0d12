//! The flattened device tree that firmware hands to the payload.
//!
//! It holds what `powernv-opal.md` 3.2 found an operating system to need, and nothing that the machine
//! does not have. Radix page sizes are advertised (`ibm,processor-radix-AP-encodings`), which QEMU and
//! skiboot do not do there: without it Linux uses 64 KiB pages throughout, and real POWER9 firmware
//! has it.

use arch::registers::psscr;
use arch::registers::spr::Spr;
use dtoolkit::memreserve::MemoryReservation;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};

use super::layout;
use super::xics::FIRMWARE_EVENT;
use crate::description::{Description, StopState};

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

    fn child(mut self, child: Self) -> Self {
        self.0.add_child(child.0);
        self
    }
}

/// The PIR of each thread, in the order of the machine's threads.
///
/// POWER9: chip in bits from 8, core from 2, thread from 0 (`powernv-opal.md` 1.5).
#[must_use]
pub fn pirs(description: &Description) -> Vec<u32> {
    let (chips, cores, threads) = description.topology();
    (0..chips)
        .flat_map(|chip| (0..cores).map(move |core| chip << 8 | core << 2))
        .flat_map(|core| (0..threads).map(move |thread| core | thread))
        .collect()
}

/// The flattened tree. `boot_pir` is the thread that enters the payload.
#[must_use]
pub fn build(description: &Description, chosen: &Chosen<'_>, boot_pir: u32) -> Vec<u8> {
    let mut root = Node::new("")
        .text("compatible", "ibm,powernv")
        .text("model", "PowerVisor machine, POWER9")
        .cells("#address-cells", &[2])
        .cells("#size-cells", &[2])
        .child(chosen_node(chosen))
        .child(cpus(description))
        .child(opal(description))
        .child(interrupt_presentation())
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

fn cpus(description: &Description) -> Node {
    let clock = description.clock();
    let (_, _, threads) = description.topology();
    let pvr = Spr::Pvr.reset(description.processor()) as u32;
    let mut node = Node::new("cpus").cells("#address-cells", &[1]).cells("#size-cells", &[0]);
    for core in pirs(description).chunks(threads as usize) {
        let pir = core[0];
        node = node.child(
            Node::new(format!("PowerPC,POWER9@{pir:x}"))
                .text("device_type", "cpu")
                .text("status", "okay")
                .cells("reg", &[pir])
                .cells("ibm,pir", &[pir])
                .cells("ibm,chip-id", &[pir >> 8])
                .cells("ibm,ppc-interrupt-server#s", core)
                .cells("cpu-version", &[pvr])
                .flag("64-bit")
                .cells("timebase-frequency", &[clock.timebase_hz as u32])
                .doublewords("ibm,extended-clock-frequency", &[clock.core_hz])
                .cells("clock-frequency", &[u32::try_from(clock.core_hz).unwrap_or(u32::MAX)])
                .bytes("ibm,pa-features", options())
                .cells("ibm,dec-bits", &[56])
                .cells("ibm,slb-size", &[32])
                .cells("d-cache-block-size", &[128])
                .cells("i-cache-block-size", &[128])
                .cells("d-cache-line-size", &[128])
                .cells("i-cache-line-size", &[128])
                .cells("d-cache-size", &[0x8000])
                .cells("i-cache-size", &[0x8000])
                // log2 of the page size, and in the top three bits its AP encoding.
                .cells(
                    "ibm,processor-radix-AP-encodings",
                    &[0x0000_000C, 0xA000_0010, 0x2000_0015, 0x4000_001E],
                ),
        );
    }
    node
}

/// Options of the processor by byte of `ibm,pa-features`, as far as an operating system asks: MMU, FPU,
/// SLB, run latch, DABR, no-execute; little-endian; large decrementer; radix translation. No vectors and
/// no transactional memory. (Positions: Linux's table; `powernv-opal.md` 3.2.)
const OPTIONS: [(usize, u8); 4] = [(0, 0xF6), (5, 0x80), (24, 0x80), (40, 0x80)];
const OPTION_BYTES: usize = 66;

fn options() -> Vec<u8> {
    let mut value = vec![0; 2 + OPTION_BYTES];
    value[0] = OPTION_BYTES as u8;
    for (byte, bits) in OPTIONS {
        value[2 + byte] = bits;
    }
    value
}

/// Flags of a power-saving state: it is reached by `stop`; with [`STATE_LOST`] it loses registers.
const BY_STOP: u32 = 0x0010_0000;
const STATE_LOST: u32 = 0x0000_1000;
/// The fields of PSSCR that a state sets: ESL, EC, TR, MTL and RL.
const STATE_FIELDS: u64 =
    psscr::ESL | psscr::EC | psscr::TR.mask() | psscr::MTL.mask() | psscr::RL.mask();

fn power_management(states: &[StopState]) -> Node {
    let collect = |value: &dyn Fn(&StopState) -> u32| states.iter().map(value).collect::<Vec<_>>();
    let names = states.iter().flat_map(|state| [state.name.as_bytes(), &[0]].concat()).collect();
    let psscr: Vec<_> = states.iter().map(|state| state.psscr).collect();
    let flags =
        collect(&|state| BY_STOP | if state.psscr & psscr::ESL != 0 { STATE_LOST } else { 0 });
    Node::new("power-mgt")
        .bytes("ibm,cpu-idle-state-names", names)
        .cells("ibm,cpu-idle-state-flags", &flags)
        .cells("ibm,cpu-idle-state-latencies-ns", &collect(&|s| s.exit_latency.value as u32))
        .cells("ibm,cpu-idle-state-residency-ns", &collect(&|s| s.residency.value as u32))
        .doublewords("ibm,cpu-idle-state-psscr", &psscr)
        .doublewords("ibm,cpu-idle-state-psscr-mask", &vec![STATE_FIELDS; states.len()])
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
        .child(power_management(description.stop_states()))
        .child(
            Node::new("consoles")
                .cells("#address-cells", &[1])
                .cells("#size-cells", &[0])
                .child(console),
        )
}

/// Interrupt presentation by OPAL calls; see `powernv-opal.md` 3.4. It has no `device_type`: Linux
/// takes one for the memory-mapped presentation of POWER8.
fn interrupt_presentation() -> Node {
    Node::new("interrupt-controller")
        .text("compatible", "ibm,opal-intc")
        .flag("interrupt-controller")
        .cells("#interrupt-cells", &[2])
        .cells("#address-cells", &[0])
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
mod tests {
    use super::{Chosen, build, pirs};
    use crate::description::Description;
    use dtoolkit::fdt::Fdt;
    use dtoolkit::{Node as _, Property as _};

    fn description() -> Description {
        Description::from_toml(include_str!("../../../machines/power9.toml")).unwrap()
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
    fn stop_states_are_those_of_the_description() {
        let chosen = Chosen { arguments: "", initrd: None };
        let flat = build(&description(), &chosen, 0);
        let tree = Fdt::new_unchecked(&flat);
        let node = tree.find_node("/ibm,opal/power-mgt").unwrap();
        let flags = node.property("ibm,cpu-idle-state-flags").unwrap();
        let words: Vec<_> = flags.value().chunks(4).map(|word| word.to_vec()).collect();
        assert_eq!(words.len(), description().stop_states().len());
        assert_eq!(words[0], 0x0010_0000u32.to_be_bytes());
        assert_eq!(words[1], 0x0010_1000u32.to_be_bytes());
    }

    #[test]
    fn pirs_are_made_from_chip_core_and_thread() {
        assert_eq!(pirs(&description()), [0]);
    }
}
