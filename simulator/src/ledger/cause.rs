//! Why a cycle passed: the constraint that decided it.
//!
//! What passes while instructions are dispatched at full width is work. What passes beyond it is charged to the last
//! thing that dispatch waited for, and where that waited itself, to whatever made it late: see
//! [`pipeline::chain`](crate::pipeline::chain).

use serde::{Deserialize, Serialize};

macro_rules! causes {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:literal,)+) => {
        /// Why a cycle passed. Names have the form `group.what`.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum Cause { $($(#[doc = $doc])+ $variant,)+ }

        impl Cause {
            /// All of them, in order.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// `group.what`, as reports and JSON write it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// One sentence for a reader.
            #[must_use]
            pub fn description(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc,)+).trim_ascii(),)+ }
            }
        }
    };
}

causes! {
    /// Dispatch at full width: the work itself.
    DispatchWidth "dispatch.width",
    /// Cracked and microcoded instructions: internal operations beyond the first, and the sequencer.
    DispatchMicrocode "dispatch.microcode",
    /// Sibling threads of the core had the dispatch slots.
    DispatchShare "dispatch.share",
    /// The thread's own low priority left it few dispatch slots.
    DispatchPriority "dispatch.priority",
    /// The issue queue, which the threads of a core share, was full.
    DispatchQueue "dispatch.queue",
    /// The fetch after a taken branch.
    FetchTaken "fetch.taken-branch",
    /// A mispredicted branch: refilling the pipeline from the right path.
    FetchMispredict "fetch.mispredict",
    /// Instructions came from L2.
    FetchL2 "fetch.l2",
    /// Instructions came from L3.
    FetchL3 "fetch.l3",
    /// Instructions came from another core pair's cache.
    FetchRemote "fetch.remote",
    /// Instructions came from memory.
    FetchMemory "fetch.memory",
    /// An instruction address missed the I-ERAT and hit the TLB.
    FetchErat "fetch.erat",
    /// An instruction address missed the TLB: the table walk.
    FetchWalk "fetch.walk",
    /// All load misses that can be outstanding were.
    QueueMiss "queue.miss",
    /// Every unit that executes this class was busy.
    IssuePort "issue.port",
    /// A fixed-point result.
    LatencyFixed "latency.fixed-point",
    /// A fixed-point product.
    LatencyMultiply "latency.multiply",
    /// A fixed-point quotient.
    LatencyDivide "latency.divide",
    /// A condition-register result, or a move to or from it.
    LatencyCondition "latency.condition",
    /// A move to or from LR, CTR, TAR, XER or FPSCR: renamed registers.
    LatencyMove "latency.move",
    /// A floating-point result.
    LatencyFloating "latency.floating-point",
    /// A decimal floating-point result.
    LatencyDecimal "latency.decimal",
    /// A vector result, or one of quad precision.
    LatencyVector "latency.vector",
    /// A branch's resolution.
    LatencyBranch "latency.branch",
    /// A load that hit the L1.
    LoadL1 "load.l1",
    /// A load that was forwarded from the store queue.
    LoadForward "load.forward",
    /// A load that overlapped a store in the queue and could not be forwarded from it.
    LoadForwardFailed "load.forward-failed",
    /// A load that came from L2.
    LoadL2 "load.l2",
    /// A load that came from L3.
    LoadL3 "load.l3",
    /// A load that came from L4, the cache of a memory buffer.
    LoadL4 "load.l4",
    /// A load that came from another core pair's cache on the chip.
    LoadRemote "load.remote",
    /// A load that came from another chip.
    LoadChip "load.chip",
    /// A load that came from memory.
    LoadMemory "load.memory",
    /// Waiting for a memory channel that others kept busy.
    LoadBandwidth "load.bandwidth",
    /// A data address missed the D-ERAT and hit the TLB.
    LoadErat "load.erat",
    /// A data address missed the TLB: the table walk.
    LoadWalk "load.walk",
    /// A store that had to wait for its line, where something waited for the store.
    StoreDrain "store.drain",
    /// `larx` and `stcx.`: the cost of an atomic update beyond its load and store.
    Reservation "reservation",
    /// Reading a special-purpose register that is not renamed.
    SprRead "spr.read",
    /// Writing one.
    SprWrite "spr.write",
    /// A special-purpose register was read while a write of one was under way.
    SprScoreboard "spr.scoreboard",
    /// Reading the time base: dispatched only when next to complete.
    SprTimeBase "spr.time-base",
    /// Writing the MSR, or reading it behind a write.
    SprMsr "spr.msr",
    /// Writing a register that changes the context (LPIDR, PIDR, LPCR, PTCR, ...): serialising.
    SprContext "spr.context",
    /// `isync` that had to wait for a context-altering operation.
    SyncIsync "sync.isync",
    /// `lwsync`.
    SyncLwsync "sync.lwsync",
    /// `hwsync`.
    SyncHwsync "sync.hwsync",
    /// `eieio`.
    SyncEieio "sync.eieio",
    /// `ptesync`.
    SyncPtesync "sync.ptesync",
    /// `tlbsync`.
    SyncTlbsync "sync.tlbsync",
    /// `tlbie` and its broadcast.
    TlbInvalidate "tlb.tlbie",
    /// `tlbiel`.
    TlbInvalidateLocal "tlb.tlbiel",
    /// SLB management.
    Segment "segment",
    /// Other cache management and messages: `icbi`, `dcbf`, `msgsnd`, ...
    Management "management",
    /// Taking an interrupt: the pipeline's flush and the fetch of the vector.
    FlushInterrupt "flush.interrupt",
    /// `rfid`, `hrfid`, `rfscv`: the flush and the fetch of where it returns to.
    FlushReturn "flush.return",
    /// Emptying the L1 data cache or the count cache, and the barrier against speculation, because software asked.
    FlushSpeculation "flush.speculation",
    /// Another flush of the pipeline (a change of XER\[SO\], ...).
    FlushOther "flush.other",
    /// Waiting in `stop`.
    WaitStop "wait.stop",
    /// Waking from `stop`.
    WaitWake "wait.wake",
    /// A change of the core's SMT mode.
    WaitMode "wait.smt-mode",
    /// Inside firmware, which is emulated and takes no modelled time but what it waits.
    WaitFirmware "wait.firmware",
}

impl Cause {
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// The cause with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|cause| cause.name() == name)
    }

    /// The part of the name before the dot.
    #[must_use]
    pub fn group(self) -> &'static str {
        self.name().split('.').next().unwrap_or_default()
    }
}

/// A set of causes: those that a run makes free.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CauseSet(u64);

impl CauseSet {
    /// With `cause` too.
    #[must_use]
    pub fn with(self, cause: Cause) -> Self {
        Self(self.0 | 1 << cause as u8)
    }

    /// All causes but this one.
    #[must_use]
    pub fn all_but(cause: Cause) -> Self {
        Cause::ALL
            .iter()
            .filter(|other| **other != cause)
            .fold(Self::default(), |set, other| set.with(*other))
    }

    /// Whether `cause` is in it.
    #[inline]
    #[must_use]
    pub fn contains(self, cause: Cause) -> bool {
        self.0 >> cause as u8 & 1 != 0
    }

    /// `cycles`, or none if `cause` is in the set.
    #[inline]
    #[must_use]
    pub fn cost(self, cause: Cause, cycles: u64) -> u64 {
        if self.contains(cause) { 0 } else { cycles }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cause, CauseSet};

    #[test]
    fn names_are_unique_and_fit_a_set() {
        const { assert!(Cause::COUNT <= 64) };
        for &cause in Cause::ALL {
            assert_eq!(Cause::from_name(cause.name()), Some(cause));
            assert!(!cause.description().is_empty());
        }
    }

    #[test]
    fn a_free_cause_costs_nothing() {
        let set = CauseSet::default().with(Cause::SprMsr);
        assert_eq!(set.cost(Cause::SprMsr, 20), 0);
        assert_eq!(set.cost(Cause::SprRead, 20), 20);
    }
}
