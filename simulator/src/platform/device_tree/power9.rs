//! What the tree of a POWER9 has of its own.

use super::features::V3;
use super::{Node, PerProcessor, power};
use crate::description::Description;

pub(super) static OWN: PerProcessor = PerProcessor {
    isa: V3,
    presentation,
    power: power::stop_node,
    l1_data_bytes: 32 << 10,
    l3: (10 << 20, 20),
    // MMU, FPU, SLB, run latch, DABR, no-execute; little-endian; large decrementer; radix translation. No
    // vectors and no transactional memory. (Positions: Linux's table;
    // `docs/facts/opal-and-powernv.md#what-linux-needs`.)
    options: (&[(0, 0xF6), (5, 0x80), (24, 0x80), (40, 0x80)], 66),
};

/// Interrupt presentation by OPAL calls; see `docs/facts/opal-and-powernv.md#interrupt-presentation`. It has no
/// `device_type`: Linux takes one for the memory-mapped presentation of POWER8.
fn presentation(_: &Description) -> Vec<Node> {
    let node = Node::new("interrupt-controller")
        .text("compatible", "ibm,opal-intc")
        .flag("interrupt-controller")
        .cells("#interrupt-cells", &[2])
        .cells("#address-cells", &[0]);
    vec![node]
}
