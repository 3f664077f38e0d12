//! The device tree that a partition finds in r3: a PAPR machine with one processor.
//!
//! Source: `kvm-hv.md` 2.5. Processor properties are copied from firmware's tree, so that the guest
//! sees the machine's own frequencies and cache geometry. Facilities that HFSCR withholds from
//! partitions (floating point, vectors) are not described.

use alloc::string::String;
use alloc::vec::Vec;

use arch::papr::rtas;
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

/// The flattened tree of a partition.
#[must_use]
pub fn build(memory_bytes: u64, bootargs: &str, processor: &FdtNode<'_>) -> Vec<u8> {
    let mut tree = DeviceTree::new();
    tree.root = node("")
        .with("#address-cells", 2u32)
        .with("#size-cells", 2u32)
        .with("compatible", "powervisor,partition")
        .with("device_type", "chrp")
        .with("model", "PowerVisor partition")
        .child(
            node("chosen")
                .with("bootargs", bootargs)
                .with("ibm,architecture-vec-5", architecture_vector_5())
                .with("linux,stdout-path", "/vdevice/vty@71000000"),
        )
        .child(cpus(processor))
        .child(
            node("memory@0")
                .with("device_type", "memory")
                .with("reg", [0u32, 0, (memory_bytes >> 32) as u32, memory_bytes as u32]),
        )
        .child(
            node("rtas")
                .with("ibm,hypertas-functions", &["hcall-term", "hcall-set-mode"][..])
                .with("power-off", rtas::POWER_OFF),
        )
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
    tree.to_dtb()
}

fn cpus(processor: &FdtNode<'_>) -> Building {
    let mut cpu = node("PowerPC,POWER9@0")
        .with("device_type", "cpu")
        .with("ibm,ppc-interrupt-server#s", 0u32)
        .with("reg", 0u32)
        .with("status", "okay");
    for name in PROCESSOR_PROPERTIES {
        if let Some(property) = processor.property(name) {
            cpu = cpu.with(name, property.value());
        }
    }
    node("cpus").with("#address-cells", 1u32).with("#size-cells", 0u32).child(cpu)
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
