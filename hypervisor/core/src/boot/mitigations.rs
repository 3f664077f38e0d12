//! What firmware asks for against speculation, and what the hypervisor does about it.
//!
//! `docs/facts/speculation.md` has what each feature means, `docs/decisions/0010-mitigations.md` the rule.

use arch::bundle::MitigationPolicy;

use super::firmware::Firmware;

/// How the L1 data cache is emptied.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum DataFlush {
    /// It is not.
    #[default]
    Never,
    /// By a write of TRIG2.
    Trigger,
    /// By reading what displaces all else.
    Displacement,
}

/// How the count cache is emptied.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum TargetFlush {
    /// It is not.
    #[default]
    Never,
    /// By one `bcctr 2,0,0`.
    Assisted,
    /// By one of them for each place in it.
    Software,
}

/// What is done at the border between partitions and the hypervisor.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Mitigations {
    /// At each exit, before the hypervisor uses what a partition may have left.
    pub data_at_exit: DataFlush,
    /// At each entry, behind the hypervisor's last load.
    pub data_at_entry: DataFlush,
    /// At each exit and entry: no load takes data from a store of the other side.
    pub has_store_barrier: bool,
    /// At each exit: the hypervisor returns nowhere that a partition said.
    pub flushes_link_stack: bool,
    /// Where a hardware thread goes on with a vCPU.
    pub targets: TargetFlush,
}

impl Mitigations {
    /// What `policy` makes of what `firmware` asks for. Firmware that says nothing gets all that does not need
    /// to be asked for.
    #[must_use]
    pub fn new(policy: MitigationPolicy, firmware: &Firmware<'_>) -> Self {
        let is = |state, feature| firmware.has_feature(state, feature);
        if policy == MitigationPolicy::Off || is("disabled", "speculation-policy-favor-security") {
            return Self::default();
        }
        let by = if is("enabled", "inst-l1d-flush-trig2") {
            DataFlush::Trigger
        } else {
            DataFlush::Displacement
        };
        let when = |is_due| if is_due { by } else { DataFlush::Never };
        let at_entry = !is("disabled", "needs-l1d-flush-msr-hv-1-to-0");
        let is_affected = at_entry || !is("disabled", "needs-l1d-flush-msr-pr-0-to-1");
        let has_targets = is("enabled", "needs-count-cache-flush-on-context-switch");
        Self {
            data_at_exit: when(!is("enabled", "no-need-l1d-flush-msr-pr-1-to-0")),
            data_at_entry: when(at_entry),
            has_store_barrier: is_affected
                && !is("enabled", "no-need-store-drain-on-priv-state-switch"),
            flushes_link_stack: has_targets || is("enabled", "fw-count-cache-disabled"),
            targets: match has_targets {
                false => TargetFlush::Never,
                true if is("enabled", "fw-count-cache-flush-bcctr2,0,0") => TargetFlush::Assisted,
                true => TargetFlush::Software,
            },
        }
    }
}

#[cfg(all(test, not(loom)))]
pub(super) mod tests {
    use std::vec::Vec;

    use arch::address::RealAddress;
    use arch::bundle::MitigationPolicy;
    use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};

    use super::super::firmware::Firmware;
    use super::{DataFlush, Mitigations, TargetFlush};

    /// A tree with these features, or without the node.
    pub(in crate::boot) fn tree(features: Option<&[(&str, &str)]>) -> Vec<u8> {
        let mut opal = DeviceTreeNode::new_unchecked("ibm,opal");
        if let Some(features) = features {
            let mut node = DeviceTreeNode::new_unchecked("fw-features");
            for (state, name) in features {
                let mut feature = DeviceTreeNode::new_unchecked(*name);
                feature.add_property(DeviceTreeProperty::new_unchecked(*state, Vec::<u8>::new()));
                node.add_child(feature);
            }
            opal.add_child(node);
        }
        let mut tree = DeviceTree::new();
        tree.root.add_child(opal);
        tree.to_dtb()
    }

    fn made(policy: MitigationPolicy, features: Option<&[(&str, &str)]>) -> Mitigations {
        Mitigations::new(policy, &Firmware::new(&tree(features), RealAddress(0)).unwrap())
    }

    const ENABLED: &str = "enabled";
    const DISABLED: &str = "disabled";

    #[test]
    fn firmware_that_says_nothing_gets_what_needs_no_request() {
        let made = made(MitigationPolicy::Firmware, None);
        assert_eq!(
            made,
            Mitigations {
                data_at_exit: DataFlush::Displacement,
                data_at_entry: DataFlush::Displacement,
                has_store_barrier: true,
                flushes_link_stack: false,
                targets: TargetFlush::Never,
            }
        );
    }

    #[test]
    fn nothing_is_done_where_policy_or_firmware_says_so() {
        let asked: &[_] = &[(ENABLED, "inst-l1d-flush-trig2")];
        assert_eq!(made(MitigationPolicy::Off, Some(asked)), Mitigations::default());
        let favours: &[_] = &[(DISABLED, "speculation-policy-favor-security")];
        assert_eq!(made(MitigationPolicy::Firmware, Some(favours)), Mitigations::default());
    }

    #[test]
    fn each_feature_changes_what_it_is_about() {
        let of = |features: &[_]| made(MitigationPolicy::Firmware, Some(features));
        assert_eq!(of(&[(ENABLED, "inst-l1d-flush-trig2")]).data_at_entry, DataFlush::Trigger);
        assert_eq!(of(&[(DISABLED, "inst-l1d-flush-trig2")]).data_at_exit, DataFlush::Displacement);
        let entry = of(&[(DISABLED, "needs-l1d-flush-msr-hv-1-to-0")]);
        assert_eq!(entry.data_at_entry, DataFlush::Never);
        assert!(entry.has_store_barrier);
        let exit = of(&[(ENABLED, "no-need-l1d-flush-msr-pr-1-to-0")]);
        assert_eq!(exit.data_at_exit, DataFlush::Never);
        assert!(!of(&[(ENABLED, "no-need-store-drain-on-priv-state-switch")]).has_store_barrier);
        let unaffected = of(&[
            (DISABLED, "needs-l1d-flush-msr-hv-1-to-0"),
            (DISABLED, "needs-l1d-flush-msr-pr-0-to-1"),
        ]);
        assert!(!unaffected.has_store_barrier);
        let switch = (ENABLED, "needs-count-cache-flush-on-context-switch");
        assert_eq!(of(&[switch]).targets, TargetFlush::Software);
        assert!(of(&[switch]).flushes_link_stack);
        let assisted = of(&[switch, (ENABLED, "fw-count-cache-flush-bcctr2,0,0")]);
        assert_eq!(assisted.targets, TargetFlush::Assisted);
        let disabled = of(&[(ENABLED, "fw-count-cache-disabled")]);
        assert!(disabled.flushes_link_stack && disabled.targets == TargetFlush::Never);
    }
}
