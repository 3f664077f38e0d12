//! Virtual time: ticks that a vCPU was charged, over its weight.

use super::WEIGHT_DEFAULT;

/// How far ticks move a virtual time that runs slower the greater a weight is. What is less than one of its
/// ticks is kept: short stays add up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Rate {
    pub(super) weight: u64,
    /// Of a tick of virtual time, how many parts of the weight have passed.
    parts: u64,
}

impl Rate {
    pub(super) const fn new(weight: u64) -> Self {
        Self { weight, parts: 0 }
    }

    /// Whether it goes as ticks do.
    #[inline]
    pub(super) const fn is_usual(self) -> bool {
        self.weight == WEIGHT_DEFAULT as u64
    }

    /// How far so many more ticks move it.
    #[inline]
    pub(super) fn pass(&mut self, ticks: u64) -> u64 {
        if self.is_usual() {
            return ticks;
        }
        let scaled = ticks.saturating_mul(u64::from(WEIGHT_DEFAULT)).saturating_add(self.parts);
        self.parts = scaled % self.weight;
        scaled / self.weight
    }

    /// The ticks that move it so far.
    pub(super) fn ticks(self, virtual_ticks: u64) -> u64 {
        virtual_ticks.saturating_mul(self.weight) / u64::from(WEIGHT_DEFAULT)
    }

    /// How long `ticks` are in this virtual time.
    #[inline]
    pub(super) fn length(self, ticks: u64) -> u64 {
        Self::new(self.weight.max(1)).pass(ticks)
    }
}
