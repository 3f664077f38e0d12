//! `/ibm,opal/power-mgt`: the power-saving states that an operating system may use.
//!
//! Source: `docs/facts/idle.md#stop-states`; skiboot's `hw/slw.c` and `opal-api.h`.

use arch::opal::idle;
use arch::registers::psscr;

use super::Node;
use crate::description::{Description, NapState, StopState};

/// The fields of PSSCR that a state sets: ESL, EC, TR, MTL and RL.
const STATE_FIELDS: u64 =
    psscr::ESL | psscr::EC | psscr::TR.mask() | psscr::MTL.mask() | psscr::RL.mask();

/// The states of a processor with `stop`.
pub(super) fn stop_node(description: &Description) -> Node {
    let states = description.stop_states();
    let collect = |value: &dyn Fn(&StopState) -> u32| {
        states.iter().map(|state| value(state)).collect::<Vec<_>>()
    };
    let names = states.iter().flat_map(|state| [state.name.as_bytes(), &[0]].concat()).collect();
    let values: Vec<_> = states.iter().map(|state| state.psscr).collect();
    // Level 0 is the top bit.
    let enabled = description.enabled_stop_levels().iter().map(|level| 0x8000_0000 >> level);
    Node::new("power-mgt")
        .cells("ibm,enabled-stop-levels", &[enabled.fold(0, |levels, level| levels | level)])
        .bytes("ibm,cpu-idle-state-names", names)
        .cells("ibm,cpu-idle-state-flags", &collect(&|state| flags(description, state)))
        .cells("ibm,cpu-idle-state-latencies-ns", &collect(&|s| s.exit_latency.value as u32))
        .cells("ibm,cpu-idle-state-residency-ns", &collect(&|s| s.residency.value as u32))
        .doublewords("ibm,cpu-idle-state-psscr", &values)
        .doublewords("ibm,cpu-idle-state-psscr-mask", &vec![STATE_FIELDS; states.len()])
}

/// The states of a processor with `nap`: nap alone, which keeps everything of the hypervisor's.
pub(super) fn nap_node(description: &Description) -> Node {
    let states = description.nap_states();
    let collect = |value: &dyn Fn(&NapState) -> u32| {
        states.iter().map(|state| value(state)).collect::<Vec<_>>()
    };
    let names = states.iter().flat_map(|state| [state.name.as_bytes(), &[0]].concat()).collect();
    Node::new("power-mgt")
        .bytes("ibm,cpu-idle-state-names", names)
        .cells("ibm,cpu-idle-state-flags", &collect(&|_| idle::NAP | idle::THREAD_LOST))
        .cells("ibm,cpu-idle-state-latencies-ns", &collect(&|s| s.exit_latency.value as u32))
        .cells("ibm,cpu-idle-state-residency-ns", &collect(&|s| s.residency.value as u32))
}

/// What the state loses.
fn flags(description: &Description, state: &StopState) -> u32 {
    let rules = description.power_saving();
    let level = psscr::RL.get(state.psscr);
    let mut flags = idle::STOP_FAST;
    if state.psscr & psscr::ESL != 0 {
        flags |= idle::THREAD_LOST;
    }
    if level >= rules.hypervisor_lost_from {
        flags = idle::STOP_DEEP | idle::THREAD_LOST | idle::HYPERVISOR_LOST | idle::ALL_LOST;
    }
    if level >= rules.time_base_stops_from {
        flags |= idle::DECREMENTER_STOPS | idle::TIME_BASE_STOPS;
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::super::tests::{POWER9, cells, description, tree};
    use crate::description::Description;

    #[test]
    fn states_are_those_of_enabled_levels_with_what_they_lose() {
        let description = description();
        let flat = tree(&description);
        let flags = cells(&flat, "/ibm,opal/power-mgt", "ibm,cpu-idle-state-flags");
        // As skiboot's table has them: stop0_lite, stop0, stop1, stop2, stop4, stop5.
        let (light, deep) = (0x0010_1000, 0x0020_7000);
        assert_eq!(flags, [0x0010_0000, light, light, light, deep, deep]);
        let levels = cells(&flat, "/ibm,opal/power-mgt", "ibm,enabled-stop-levels");
        assert_eq!(levels, [0xEC00_0000]);
        let masks = cells(&flat, "/ibm,opal/power-mgt", "ibm,cpu-idle-state-psscr-mask");
        assert_eq!(masks, [0, 0x0030_03FF].repeat(6));
        let text = POWER9.replace("enabled_levels = [0, 1, 2, 4, 5]", "enabled_levels = [0, 11]");
        let description = Description::from_toml(&text).unwrap();
        let flat = tree(&description);
        let flags = cells(&flat, "/ibm,opal/power-mgt", "ibm,cpu-idle-state-flags");
        assert_eq!(flags, [0x0010_0000, light, 0x0020_7003]);
        let values = cells(&flat, "/ibm,opal/power-mgt", "ibm,cpu-idle-state-psscr");
        assert_eq!(values, [0, 0x330, 0, 0x0030_0330, 0, 0x0030_03BB]);
        let levels = cells(&flat, "/ibm,opal/power-mgt", "ibm,enabled-stop-levels");
        assert_eq!(levels, [0x8010_0000]);
    }
}
