//! `/ibm,opal/fw-features`: which mitigations of speculation software has to make, and with what.
//!
//! Source: `docs/facts/opal-and-powernv.md#firmware-features`. Of those `tm-suspend-mode` is off here, as every
//! transaction fails.

use super::Node;

const ENABLED: &[&str] = &[
    "fw-branch-hints-honored",
    "fw-count-cache-disabled",
    "fw-l1d-thread-split",
    "inst-l1d-flush-trig2",
    "inst-spec-barrier-ori31,31,0",
    "needs-l1d-flush-msr-hv-1-to-0",
    "needs-l1d-flush-msr-pr-0-to-1",
    "needs-spec-barrier-for-bound-checks",
    "speculation-policy-favor-security",
];

const DISABLED: &[&str] = &[
    "fw-bcctrl-serialized",
    "fw-ltptr-serialized",
    "inst-l1d-flush-ori30,30,0",
    "inst-thread-reconfig-control-trig0-1",
    "tm-suspend-mode",
    "user-mode-branch-speculation",
];

pub(super) fn node() -> Node {
    let of =
        |names: &'static [&str], state| names.iter().map(move |name| Node::new(*name).flag(state));
    of(ENABLED, "enabled")
        .chain(of(DISABLED, "disabled"))
        .fold(Node::new("fw-features"), Node::child)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{description, tree};
    use dtoolkit::Node as _;
    use dtoolkit::fdt::Fdt;

    #[test]
    fn each_feature_is_in_one_state() {
        let flat = tree(&description());
        let tree = Fdt::new_unchecked(&flat);
        let of = |feature: &str| {
            let node = tree.find_node(&format!("/ibm,opal/fw-features/{feature}")).unwrap();
            ["enabled", "disabled"].map(|state| node.property(state).is_some())
        };
        assert_eq!(of("inst-l1d-flush-trig2"), [true, false]);
        assert_eq!(of("tm-suspend-mode"), [false, true]);
    }
}
