//! Features that a partition has if its description asks for them: whether the machine can give them, and what the
//! partition's device tree says about each. `docs/guest-stop.md` is for those who write kernels.

use core::fmt;

use arch::features::guest_stop;
use arch::processor::Processor;
use arch::registers::psscr;

use crate::boot::firmware::{Firmware, IdleState};

/// The bits of PVR that say which revision a part is; the others differ between parts of one revision.
const REVISION: u32 = 0xFFF;

/// The feature `guest-stop`: PSSCR\[ESL, EC, PSLL\]=0 lets a vCPU execute `stop`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GuestStop<'a> {
    /// What firmware says of the one state that there is.
    pub state: IdleState<'a>,
}

/// Why a machine cannot give a partition what it asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FeatureError {
    /// Nobody knows this version.
    Version(u32),
    /// The processor loses wake-ups, or is none that has `stop`: its version register.
    Processor(u32),
    /// Firmware tells of no state that loses nothing.
    NoState,
}

impl fmt::Display for FeatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = guest_stop::NAME;
        match self {
            Self::Version(version) => {
                write!(f, "{name} = {version}: there is version {} only", guest_stop::VERSION)
            }
            Self::Processor(pvr) => write!(
                f,
                "{name} needs a POWER9 from DD2.3 on, since earlier ones lose wake-ups; this machine's PVR is {pvr:#010x}"
            ),
            Self::NoState => {
                write!(f, "{name} needs a stop that loses nothing, and firmware tells of none")
            }
        }
    }
}

impl<'a> GuestStop<'a> {
    /// That of a machine with this processor version register and firmware.
    ///
    /// # Errors
    /// [`FeatureError`].
    pub fn new(version: u32, pvr: u32, firmware: &Firmware<'a>) -> Result<Self, FeatureError> {
        if version != guest_stop::VERSION {
            return Err(FeatureError::Version(version));
        }
        let first =
            Processor::from_pvr(pvr).and_then(|processor| processor.facts().guest_stop_from);
        if first.is_none_or(|first| pvr & REVISION < first) {
            return Err(FeatureError::Processor(pvr));
        }
        let is_lite = |state: &IdleState<'_>| {
            state.psscr & (psscr::ESL | psscr::EC) == 0 && psscr::RL.get(state.psscr) == 0
        };
        let state = firmware.idle_states().find(is_lite).ok_or(FeatureError::NoState)?;
        Ok(Self { state })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use alloc::vec::Vec;

    use arch::address::RealAddress;
    use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};

    use super::{FeatureError, GuestStop};
    use crate::boot::firmware::Firmware;

    const LITE: u64 = 0x330;
    const LOSES: u64 = 0x30_0330;
    const POWER9_2_3: u32 = 0x004E_1203;

    /// A tree with states of these values of PSSCR.
    fn tree(values: &[u64]) -> Vec<u8> {
        let mut states = DeviceTreeNode::new("power-mgt").unwrap();
        let cells = |first: u32| (first..).take(values.len()).flat_map(u32::to_be_bytes);
        let names: Vec<u8> = (b'a'..).take(values.len()).flat_map(|letter| [letter, 0]).collect();
        let properties: [(&str, Vec<u8>); 4] = [
            ("ibm,cpu-idle-state-names", names),
            ("ibm,cpu-idle-state-latencies-ns", cells(1000).collect()),
            ("ibm,cpu-idle-state-residency-ns", cells(2000).collect()),
            (
                "ibm,cpu-idle-state-psscr",
                values.iter().flat_map(|value| value.to_be_bytes()).collect(),
            ),
        ];
        for (name, value) in properties {
            states.add_property(DeviceTreeProperty::new(name, value).unwrap());
        }
        let mut opal = DeviceTreeNode::new("ibm,opal").unwrap();
        opal.add_child(states);
        let mut tree = DeviceTree::new();
        tree.root.add_child(opal);
        tree.to_dtb()
    }

    fn given(version: u32, pvr: u32, values: &[u64]) -> Result<(u32, u32), FeatureError> {
        let data = tree(values);
        let firmware = Firmware::new(&data, RealAddress(0)).unwrap();
        let GuestStop { state } = GuestStop::new(version, pvr, &firmware)?;
        assert_eq!((state.name, state.psscr), ("b", LITE));
        Ok((state.latency_ns, state.residency_ns))
    }

    #[test]
    fn a_partition_gets_the_state_that_loses_nothing_where_no_wake_up_is_lost() {
        let states = [LOSES, LITE, LITE | 1];
        assert_eq!(given(1, POWER9_2_3, &states), Ok((1001, 2001)));
        assert_eq!(given(1, 0x004E_0203, &states), Ok((1001, 2001)));
        assert_eq!(given(2, POWER9_2_3, &states), Err(FeatureError::Version(2)));
        for pvr in [0x004E_1202, 0x004E_0100, 0x004D_0203] {
            assert_eq!(given(1, pvr, &states), Err(FeatureError::Processor(pvr)));
        }
        assert_eq!(given(1, POWER9_2_3, &[LOSES, LITE | 1]), Err(FeatureError::NoState));
        assert_eq!(given(1, POWER9_2_3, &[]), Err(FeatureError::NoState));
    }
}
