//! When a marked region is over, and on which hardware threads.

use arch::marker::{Mark, Region};
use simulator::pipeline::Plan;
use simulator::state::thread::Thread;
use simulator::{Machine, RegionCounts};

/// When a region is over, and on which hardware threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Extent {
    /// Behind its end the run goes on without timing.
    #[default]
    Once,
    /// It begins and ends many times: what lies between an end and the next beginning is no part of it, and the whole
    /// run is timed.
    Repeated,
    /// The same, of the partition with this number, which may go from one hardware thread to another: marks of others
    /// mean nothing.
    Of(u32),
}

impl Extent {
    /// Has the ledger of `machine` kept of the region.
    pub fn plan(self, machine: &mut Machine, region: Region) {
        let [begin, end] = match self {
            Self::Once => [Plan::Clear, Plan::Stop],
            Self::Repeated => [Plan::Open, Plan::Close],
            Self::Of(lpid) => [Plan::OpenOf(lpid), Plan::CloseOf(lpid)],
        };
        machine.plan(Mark::Begin(region), begin);
        machine.plan(Mark::End(region), end);
    }

    /// Whether marks that `thread` passes now begin and end the region.
    #[must_use]
    pub fn hears(self, thread: &Thread) -> bool {
        match self {
            Self::Once | Self::Repeated => true,
            Self::Of(lpid) => thread.lpid() == lpid,
        }
    }

    /// Counts nothing yet, and regions as they are.
    #[must_use]
    pub fn counts(self) -> RegionCounts {
        match self {
            Self::Once | Self::Repeated => RegionCounts::new(),
            Self::Of(lpid) => RegionCounts::of_partition(lpid),
        }
    }
}
