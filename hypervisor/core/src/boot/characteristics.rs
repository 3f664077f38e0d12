//! The processor's behaviour under speculation: the hypervisor tells a partition what firmware told it.

use arch::papr::characteristics as bit;

use super::firmware::Firmware;

/// What H_GET_CPU_CHARACTERISTICS answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Characteristics {
    /// What the processor can do.
    pub character: u64,
    /// What software has to do.
    pub behavior: u64,
}

/// Features that make a bit of the first where firmware enables them.
const CHARACTER: [(&str, u64); 9] = [
    ("inst-spec-barrier-ori31,31,0", bit::BARRIER_ORI31),
    ("fw-bcctrl-serialized", bit::BCCTR_SERIALIZED),
    ("inst-l1d-flush-ori30,30,0", bit::FLUSH_ORI30),
    ("inst-l1d-flush-trig2", bit::FLUSH_TRIG2),
    ("fw-l1d-thread-split", bit::L1D_THREAD_SPLIT),
    ("fw-branch-hints-honored", bit::BRANCH_HINTS),
    ("inst-thread-reconfig-control-trig0-1", bit::THREAD_RECONFIGURATION),
    ("fw-count-cache-disabled", bit::COUNT_CACHE_DISABLED),
    ("fw-count-cache-flush-bcctr2,0,0", bit::BCCTR_FLUSHES),
];
/// The same of the second. The link stack has no feature of its own (`docs/facts/speculation.md#link-stack-flush`).
const NEEDED: [(&str, u64); 5] = [
    ("needs-count-cache-flush-on-context-switch", bit::FLUSH_COUNT_CACHE),
    ("needs-count-cache-flush-on-context-switch", bit::FLUSH_LINK_STACK),
    ("fw-count-cache-disabled", bit::FLUSH_LINK_STACK),
    ("no-need-l1d-flush-msr-pr-1-to-0", bit::NO_FLUSH_FROM_PROBLEM_STATE),
    ("no-need-store-drain-on-priv-state-switch", bit::NO_STORE_BARRIER),
];
/// Features that make a bit of the second unless firmware disables them.
const NEEDED_UNLESS_DISABLED: [(&str, u64); 3] = [
    ("speculation-policy-favor-security", bit::FAVOR_SECURITY),
    ("needs-l1d-flush-msr-pr-0-to-1", bit::FLUSH_TO_PROBLEM_STATE),
    ("needs-spec-barrier-for-bound-checks", bit::BARRIER_BEHIND_BOUNDS),
];

impl Characteristics {
    /// What `firmware` tells; `None` if it tells nothing, and a guest has to take the worst for true.
    #[must_use]
    pub fn new(firmware: &Firmware<'_>) -> Option<Self> {
        let sum = |rows: &[(&str, u64)], is_so: &dyn Fn(&str) -> bool| {
            let bits = rows.iter().filter(|(feature, _)| is_so(feature)).map(|(_, bit)| bit);
            bits.fold(0, |sum, bit| sum | bit)
        };
        let is_enabled = |feature: &str| firmware.has_feature("enabled", feature);
        let is_not_disabled = |feature: &str| !firmware.has_feature("disabled", feature);
        firmware.tells_of_features().then(|| Self {
            character: sum(&CHARACTER, &is_enabled),
            behavior: sum(&NEEDED, &is_enabled) | sum(&NEEDED_UNLESS_DISABLED, &is_not_disabled),
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::mitigations::tests::tree;
    use super::*;
    use arch::address::RealAddress;

    fn told(features: Option<&[(&str, &str)]>) -> Option<Characteristics> {
        Characteristics::new(&Firmware::new(&tree(features), RealAddress(0)).unwrap())
    }

    #[test]
    fn firmware_that_says_nothing_leaves_the_guest_to_its_defaults() {
        assert_eq!(told(None), None);
    }

    #[test]
    fn each_feature_is_a_bit_and_what_is_needed_is_so_unless_disabled() {
        let all = bit::FAVOR_SECURITY | bit::FLUSH_TO_PROBLEM_STATE | bit::BARRIER_BEHIND_BOUNDS;
        let nothing = Characteristics { character: 0, behavior: all };
        assert_eq!(told(Some(&[])), Some(nothing));
        for (feature, bits) in CHARACTER {
            let told = told(Some(&[("enabled", feature)])).unwrap();
            assert_eq!(told.character, bits, "{feature}");
        }
        for (feature, bits) in NEEDED {
            let told = told(Some(&[("enabled", feature)])).unwrap();
            assert_eq!(told.behavior & (all | bits), all | bits, "{feature}");
        }
        for (feature, bits) in NEEDED_UNLESS_DISABLED {
            assert_eq!(
                told(Some(&[("disabled", feature)])).unwrap().behavior,
                all & !bits,
                "{feature}"
            );
            assert_eq!(told(Some(&[("enabled", feature)])), Some(nothing));
        }
    }
}
