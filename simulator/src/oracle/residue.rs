//! An oracle about the L1 data cache, in timing mode: what is in it when a partition is entered.
//!
//! A partition may learn by speculation what lies in the L1 data cache, and nothing else. So it is to find
//! nothing there that its hardware thread brought in before, in another partition or in the hypervisor; or, where no
//! two partitions share a core, that any thread of its core brought in.

use arch::registers::msr;

use crate::cache::line::Bringer;
use crate::exec::Mode;
use crate::pipeline::Timing;
use crate::state::thread::Thread;
use crate::trace::Observer;

/// A line that a partition found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    /// The partition.
    pub lpid: u32,
    /// The address of the instruction that entered it.
    pub from: u64,
    /// Who brought the line.
    pub bringer: Bringer,
}

/// Looks at the L1 data cache at each entry of a partition.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Residue {
    /// Entries.
    pub entries: u64,
    /// What the first line of each entry that found one was.
    pub found: Vec<Found>,
    /// Whether lines count that other hardware threads of the core brought in.
    is_of_core: bool,
}

impl Residue {
    /// Looks for what any hardware thread of the core brought in.
    #[must_use]
    pub fn of_core() -> Self {
        Self { is_of_core: true, ..Self::default() }
    }
}

impl Observer for Residue {
    const SEES_INSTRUCTIONS: bool = false;

    fn returned_in_time(&mut self, thread: &Thread, timing: &Timing, mode: Mode) {
        if !mode.is_hypervisor() || thread.msr() & msr::HV != 0 {
            return;
        }
        self.entries += 1;
        let lpid = thread.lpid();
        let counts = |(_, bringer): &(u64, Bringer)| {
            self.is_of_core || usize::from(bringer.thread) == thread.index
        };
        let first = timing.residue(thread.index, lpid).find(counts);
        self.found.extend(first.map(|(_, bringer)| Found { lpid, from: thread.cia, bringer }));
    }
}
