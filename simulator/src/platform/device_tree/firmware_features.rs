//! `/ibm,opal/fw-features`: which mitigations of speculation software has to make, and with what.
//!
//! The machine's description has them; `docs/facts/opal-and-powernv.md#firmware-features` says where they come from.

use super::Node;
use crate::description::Description;

/// Nothing where the description has none, as of POWER8.
pub(super) fn node(description: &Description) -> Option<Node> {
    let features = description.firmware_features()?;
    let of = |names: &[String], state: &'static str| {
        names.iter().map(|name| Node::new(name.as_str()).flag(state)).collect::<Vec<_>>()
    };
    let all =
        of(&features.enabled, "enabled").into_iter().chain(of(&features.disabled, "disabled"));
    Some(all.fold(Node::new("fw-features"), Node::child))
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
