//! `/cpus/ibm,powerpc-cpu-features`: what the processor can do, one node for each feature.
//!
//! The names and properties are those of skiboot's `core/cpufeatures.c` for POWER8 DD2 and POWER9 DD2.3. What
//! is here is what the machine models. The processors have these besides, and an operating system that is told
//! of them would use them: `branch-history-rolling-buffer`; of POWER8 `transactional-memory`, `coprocessor-icswx`,
//! `wait` and `subcore`; of POWER9 `event-based-branch-v3`, `copy-paste`, `tm-suspend-hypervisor-assist`.

use arch::processor::{Processor, Processors};

use super::{FIRST_FEATURE_HANDLE, Node, per_processor};
use crate::description::Description;

/// `isa` of what POWER8 has too, and of what came with version 3.0B.
const BASE: u32 = 0;
pub(super) const V3: u32 = 3000;

/// Bits of `usable-privilege`.
const PROBLEM: u32 = 1;
const SYSTEM: u32 = 2;
const HYPERVISOR: u32 = 4;

/// Who may use a feature.
const ALL: u32 = HYPERVISOR | SYSTEM | PROBLEM;
const PRIVILEGED: u32 = HYPERVISOR | SYSTEM;

/// A feature.
struct Feature {
    name: &'static str,
    isa: u32,
    processors: Processors,
    privilege: u32,
    /// The hypervisor has something to do for it, and the operating system.
    needs_hypervisor: bool,
    needs_system: bool,
    /// The bit of HFSCR, FSCR and the ELF capabilities, counted from the lowest.
    hfscr: Option<u32>,
    fscr: Option<u32>,
    capability: Option<u32>,
    /// What it builds on.
    on: &'static [&'static str],
}

/// A feature without bits, for which both have something to do.
const fn plain(name: &'static str, isa: u32, privilege: u32) -> Feature {
    Feature {
        name,
        isa,
        processors: if isa == V3 { Processors::Power9 } else { Processors::Both },
        privilege,
        needs_hypervisor: privilege & HYPERVISOR != 0,
        needs_system: privilege & SYSTEM != 0,
        hfscr: None,
        fscr: None,
        capability: None,
        on: &[],
    }
}

/// A feature of POWER8 alone, for which both have something to do.
const fn power8(name: &'static str, privilege: u32) -> Feature {
    Feature { processors: Processors::Power8, ..plain(name, BASE, privilege) }
}

/// A feature for which nobody has anything to do.
const fn free(name: &'static str, isa: u32, privilege: u32) -> Feature {
    Feature { needs_hypervisor: false, needs_system: false, ..plain(name, isa, privilege) }
}

const FEATURES: &[Feature] = &[
    plain("big-endian", BASE, ALL),
    plain("little-endian", BASE, ALL),
    plain("hypervisor", BASE, HYPERVISOR),
    plain("interrupt-facilities", BASE, PRIVILEGED),
    Feature { capability: Some(14), ..plain("smt", BASE, ALL) },
    free("program-priority-register", BASE, ALL),
    plain("virtual-page-class-key-protection", BASE, ALL),
    plain("strong-access-ordering", BASE, ALL),
    plain("no-execute", BASE, PRIVILEGED),
    plain("cache-inhibited-large-page", BASE, PRIVILEGED),
    plain("debug-facilities", BASE, PRIVILEGED),
    Feature { on: &["debug-facilities"], ..plain("come-from-address-register", BASE, PRIVILEGED) },
    Feature { on: &["debug-facilities"], ..plain("branch-tracing", BASE, PRIVILEGED) },
    Feature { hfscr: Some(0), capability: Some(27), ..plain("floating-point", BASE, ALL) },
    Feature {
        hfscr: Some(1),
        capability: Some(28),
        on: &["floating-point"],
        ..plain("vector", BASE, ALL)
    },
    Feature { capability: Some(7), on: &["vector"], ..plain("vector-scalar", BASE, ALL) },
    Feature { capability: Some(57), on: &["vector"], ..free("vector-crypto", BASE, ALL) },
    free("quadword-load-store", BASE, ALL),
    free("decimal-integer", BASE, ALL),
    Feature {
        capability: Some(10),
        on: &["floating-point"],
        ..plain("decimal-floating-point", BASE, ALL)
    },
    Feature {
        hfscr: Some(2),
        fscr: Some(2),
        capability: Some(61),
        ..plain("data-stream-control-register", BASE, ALL)
    },
    Feature {
        hfscr: Some(8),
        fscr: Some(8),
        capability: Some(58),
        ..plain("target-address-register", BASE, ALL)
    },
    Feature {
        hfscr: Some(7),
        fscr: Some(7),
        capability: Some(60),
        ..plain("event-based-branch", BASE, ALL)
    },
    plain("control-register", BASE, PRIVILEGED),
    plain("processor-utilization-of-resources-register", BASE, PRIVILEGED),
    plain("mmu-radix", V3, PRIVILEGED),
    plain("mmu-hash-v3", V3, PRIVILEGED),
    free("wait-v3", V3, ALL),
    plain("idle-stop", V3, PRIVILEGED),
    plain("hypervisor-virtualization-interrupt", V3, HYPERVISOR),
    plain("machine-check-power9", V3, PRIVILEGED),
    plain("performance-monitor-power9", V3, PRIVILEGED),
    Feature {
        fscr: Some(12),
        capability: Some(52),
        ..plain("system-call-vectored", V3, SYSTEM | PROBLEM)
    },
    Feature {
        hfscr: Some(10),
        needs_system: false,
        ..plain("processor-control-facility-v3", V3, PRIVILEGED)
    },
    free("pc-relative-addressing", V3, ALL),
    free("timer-facilities", BASE, PRIVILEGED),
    Feature { on: &["timer-facilities"], ..free("timer-facilities-v3", V3, PRIVILEGED) },
    Feature { capability: Some(53), ..free("random-number-generator", V3, ALL) },
    free("fixed-point-v3", V3, ALL),
    Feature { on: &["fixed-point-v3", "decimal-integer"], ..free("decimal-integer-v3", V3, ALL) },
    Feature { on: &["floating-point"], ..free("floating-point-v3", V3, ALL) },
    Feature {
        on: &["floating-point-v3", "decimal-floating-point"],
        ..free("decimal-floating-point-v3", V3, ALL)
    },
    Feature { on: &["vector"], ..free("vector-v3", V3, ALL) },
    Feature { on: &["vector-v3", "vector-scalar"], ..free("vector-scalar-v3", V3, ALL) },
    Feature {
        capability: Some(54),
        on: &["vector-scalar-v3"],
        ..free("vector-binary128", V3, ALL)
    },
    Feature { on: &["vector-v3"], ..free("vector-binary16", V3, ALL) },
    free("atomic-memory-operations", V3, ALL),
    power8("processor-control-facility", PRIVILEGED),
    power8("mmu-hash", PRIVILEGED),
    power8("machine-check-power8", PRIVILEGED),
    power8("performance-monitor-power8", PRIVILEGED),
    power8("idle-nap", HYPERVISOR),
];

pub(super) fn node(description: &Description) -> Node {
    let own = per_processor(description);
    let features = of(description.processor());
    let root = Node::new("ibm,powerpc-cpu-features")
        .cells("isa", &[own.isa])
        .text("device_type", "cpu-features")
        .text("compatible", "ibm,powerpc-cpu-features")
        .text("display-name", description.processor().name());
    features.iter().map(|feature| feature.node(&features)).fold(root, Node::child)
}

/// The features of `processor`.
fn of(processor: Processor) -> Vec<&'static Feature> {
    FEATURES.iter().filter(|feature| feature.processors.includes(processor)).collect()
}

fn handle(features: &[&Feature], name: &str) -> u32 {
    let place = features.iter().position(|feature| feature.name == name);
    FIRST_FEATURE_HANDLE + place.expect("a feature builds on one of the table") as u32
}

impl Feature {
    fn node(&self, features: &[&Self]) -> Node {
        let cell = |node: Node, name, value: Option<u32>| match value {
            Some(value) => node.cells(name, &[value]),
            None => node,
        };
        let node = Node::new(self.name)
            .cells("phandle", &[handle(features, self.name)])
            .cells("isa", &[self.isa])
            .cells("usable-privilege", &[self.privilege]);
        let node = cell(node, "hv-support", self.needs_hypervisor.then_some(0));
        let node = cell(node, "hfscr-bit-nr", self.hfscr);
        let node = cell(node, "os-support", self.needs_system.then_some(0));
        let node = cell(node, "fscr-bit-nr", self.fscr);
        let node = cell(node, "hwcap-bit-nr", self.capability);
        if self.on.is_empty() {
            return node;
        }
        let on: Vec<_> = self.on.iter().map(|name| handle(features, name)).collect();
        node.cells("dependencies", &on)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{cells, description, tree};
    use super::{FEATURES, of};
    use arch::processor::Processor;

    #[test]
    fn a_feature_has_what_firmware_says_of_it() {
        let flat = tree(&description());
        let of = |feature: &str, name: &str| {
            cells(&flat, &format!("/cpus/ibm,powerpc-cpu-features/{feature}"), name)
        };
        assert_eq!(of("floating-point", "hfscr-bit-nr"), [0]);
        assert_eq!(of("floating-point", "usable-privilege"), [7]);
        assert_eq!(of("system-call-vectored", "usable-privilege"), [3]);
        assert_eq!(of("hypervisor", "usable-privilege"), [4]);
        assert_eq!(of("vector-binary128", "hwcap-bit-nr"), [54]);
        assert_eq!(of("vector-crypto", "dependencies"), of("vector", "phandle"));
        assert_eq!(of("mmu-radix", "isa"), [3000]);
        assert_eq!(of("mmu-hash-v3", "isa"), [3000]);
        assert_eq!(of("floating-point-v3", "dependencies"), of("floating-point", "phandle"));
        assert_ne!(of("floating-point", "phandle"), of("floating-point-v3", "phandle"));
    }

    #[test]
    fn what_the_machine_does_not_model_is_not_advertised() {
        for missing in ["branch-h", "copro", "copy", "tm-", "transact", "subcore"] {
            assert!(FEATURES.iter().all(|feature| !feature.name.starts_with(missing)), "{missing}");
        }
    }

    #[test]
    fn a_processor_is_told_of_its_own_features() {
        let has = |processor, name| of(processor).iter().any(|feature| feature.name == name);
        for (name, expected) in
            [("mmu-hash", [true, false]), ("mmu-radix", [false, true]), ("smt", [true, true])]
        {
            let [power8, power9] = expected;
            assert_eq!(has(Processor::Power8, name), power8, "{name}");
            assert_eq!(has(Processor::Power9, name), power9, "{name}");
        }
    }
}
