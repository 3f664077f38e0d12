//! What the machine does where the sources are silent or disagree.

use serde::{Deserialize, Serialize};

use crate::quantity::Confidence;

/// A decision where the sources are silent or disagree.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// What the machine does.
    pub value: bool,
    /// How far it is to be trusted.
    pub confidence: Confidence,
    /// Who says so, or why it was chosen.
    pub source: String,
}

macro_rules! switches {
    ($($(#[$doc:meta])+ $name:ident;)+) => {
        #[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct SwitchFile { $(pub(crate) $name: Switch,)+ }

        /// What the machine does where the sources are silent or disagree, see `[switches]` in the
        /// description.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
        pub struct Switches { $($(#[$doc])+ pub $name: bool,)+ }

        impl SwitchFile {
            pub(crate) fn values(&self) -> Switches {
                Switches { $($name: self.$name.value,)+ }
            }
        }
    };
}

switches! {
    /// A guest's `stop` with a requested level above PSSCR\[PSLL\] goes to the hypervisor; otherwise
    /// the level is lowered to PSLL.
    stop_above_psll_interrupts;
    /// The hypervisor decrementer ends a guest's `stop` with EC=0.
    hypervisor_decrementer_ends_guest_stop;
    /// Each thread is a partition's whole processor: `msgsndp`, DPDES and TIR know one thread, and each has its own
    /// LPIDR, HDEC, PCR, VTB and time base. Otherwise they know the threads of the core, which share these registers.
    threads_are_partitions;
    /// After a `stop` that lost the hypervisor's state SRR1\[46:47\] says only that the thread's was lost.
    deep_stop_says_only_thread_lost;
    /// An exception ends a `wait` even where its interrupt is masked.
    masked_exceptions_end_wait;
    /// An event-based exception that occurs clears its enable bit in BESCR.
    event_based_exception_disables_itself;
}
