//! What the tree of a POWER8 has of its own. Source: skiboot's `core/cpufeatures.c`, QEMU's `pnv.c`;
//! `docs/facts/power8.md`.

use super::{Node, PerProcessor, pirs, power};
use crate::description::Description;
use crate::state::xics::{REGISTER_BYTES, registers};

/// `isa` of ISA 2.07B.
const V2_07: u32 = 2070;

pub(super) static OWN: PerProcessor = PerProcessor {
    isa: V2_07,
    presentation,
    power: power::nap_node,
    l1_data_bytes: 64 << 10,
    l3: (8 << 20, 8),
    // MMU, FPU, SLB, run latch, DABR, no-execute; little-endian.
    options: (&[(0, 0xF6), (5, 0x80)], 24),
};

/// A node for each core, with the registers of each of its threads.
fn presentation(description: &Description) -> Vec<Node> {
    let facts = description.processor().facts();
    let (_, _, threads) = description.topology();
    let node = |core: &[u32]| {
        let places = core.iter().flat_map(|pir| [registers(facts, *pir).0, REGISTER_BYTES]);
        Node::new(format!("interrupt-controller@{:x}", registers(facts, core[0]).0))
            .bytes("compatible", b"IBM,power8-icp\0IBM,ppc-xicp\0".to_vec())
            .text("device_type", "PowerPC-External-Interrupt-Presentation")
            .flag("interrupt-controller")
            .cells("#interrupt-cells", &[1])
            .cells("#address-cells", &[0])
            .cells("ibm,interrupt-server-ranges", &[core[0], core.len() as u32])
            .doublewords("reg", &places.collect::<Vec<_>>())
    };
    pirs(description).chunks(threads as usize).map(node).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{POWER8, cells, tree};
    use crate::description::Description;

    #[test]
    fn each_core_tells_where_its_threads_reach_the_interrupt_controller() {
        let text = POWER8
            .replace("cores_per_chip = 1", "cores_per_chip = 2")
            .replace("threads_per_core = 1", "threads_per_core = 2");
        let flat = tree(&Description::from_toml(&text).unwrap());
        let second = "/interrupt-controller@3ffff80008000";
        assert_eq!(cells(&flat, second, "ibm,interrupt-server-ranges"), [8, 2]);
        let (high, bytes) = (0x0003_FFFF, 0x1000);
        let places = [high, 0x8000_8000, 0, bytes, high, 0x8000_9000, 0, bytes];
        assert_eq!(cells(&flat, second, "reg"), places);
        assert_eq!(cells(&flat, "/cpus/PowerPC,POWER8@8", "ibm,slb-size"), [32]);
        let flags = cells(&flat, "/ibm,opal/power-mgt", "ibm,cpu-idle-state-flags");
        assert_eq!(flags, [0x0001_1000], "nap, which loses the thread's own registers");
        let features = "/cpus/ibm,powerpc-cpu-features";
        assert_eq!(cells(&flat, features, "isa"), [2070]);
        assert_eq!(cells(&flat, &format!("{features}/mmu-hash"), "hv-support"), [0]);
    }
}
