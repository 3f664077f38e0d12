//! The interrupt presentation of one vCPU (XICS): its priority, the request of other vCPUs, and that of the partition's
//! adapter.
//!
//! Priorities are numbers of which the lower is the more favoured. An interrupt is pending exactly while a request, the
//! vCPUs' (MFRR) or the adapter's, is more favoured than the current processor priority, CPPR.

/// The number of the interrupt between processors, in the lower 24 bits of XIRR.
pub const IPI: u32 = 2;
/// The number of the interrupt of the partition's adapter, there too.
pub const ADAPTER: u32 = 0x1000;
/// The least favoured priority: no request.
pub const NONE: u8 = 0xFF;

/// What one vCPU is presented with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Presentation {
    /// Only a more favoured interrupt is taken.
    cppr: u8,
    /// Most favoured request of other processors.
    mfrr: u8,
    /// Priority of the request of the partition's adapter.
    adapter: u8,
}

impl Default for Presentation {
    /// As after reset: no request, and none would be taken.
    fn default() -> Self {
        Self { cppr: 0, mfrr: NONE, adapter: NONE }
    }
}

impl Presentation {
    /// Whether an interrupt has to be delivered.
    #[must_use]
    pub const fn is_pending(&self) -> bool {
        self.favoured() < self.cppr
    }

    /// Priority of the most favoured request.
    const fn favoured(&self) -> u8 {
        if self.adapter < self.mfrr { self.adapter } else { self.mfrr }
    }

    /// Sets the priority of the adapter's request.
    pub const fn set_adapter(&mut self, priority: u8) {
        self.adapter = priority;
    }

    /// The request of other processors.
    #[must_use]
    pub const fn mfrr(&self) -> u8 {
        self.mfrr
    }

    /// Sets the request of other processors.
    pub const fn set_mfrr(&mut self, mfrr: u8) {
        self.mfrr = mfrr;
    }

    /// Sets the processor's priority.
    pub const fn set_cppr(&mut self, cppr: u8) {
        self.cppr = cppr;
    }

    /// XIRR without accepting: the priority, and the number of the pending interrupt or zero.
    #[must_use]
    pub const fn poll(&self) -> u32 {
        let source = match self.is_pending() {
            false => 0,
            true if self.adapter < self.mfrr => ADAPTER,
            true => IPI,
        };
        (self.cppr as u32) << 24 | source
    }

    /// XIRR; the processor's priority becomes that of the interrupt. The adapter's request is over with it, and
    /// whether it was that is the other answer.
    pub const fn accept(&mut self) -> (u32, bool) {
        let xirr = self.poll();
        if self.is_pending() {
            self.cppr = self.favoured();
        }
        let is_adapters = xirr & 0xFF_FFFF == ADAPTER;
        if is_adapters {
            self.adapter = NONE;
        }
        (xirr, is_adapters)
    }

    /// End of interrupt: the priority before it, from its XIRR, comes back.
    pub const fn end(&mut self, xirr: u32) {
        self.cppr = (xirr >> 24) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::{ADAPTER, IPI, NONE, Presentation};
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    #[test]
    fn a_request_is_presented_accepted_and_ended() {
        let mut presentation = Presentation::default();
        presentation.set_mfrr(4);
        assert!(!presentation.is_pending(), "after reset nothing is taken");
        presentation.set_cppr(5);
        assert_eq!(presentation.poll(), 5 << 24 | IPI);
        assert_eq!(presentation.accept(), (5 << 24 | IPI, false));
        assert!(!presentation.is_pending(), "it is in service");
        presentation.end(5 << 24 | IPI);
        assert!(presentation.is_pending(), "nobody took the request back");
        presentation.set_mfrr(NONE);
        assert_eq!(presentation.accept(), (5 << 24, false));
    }

    #[test]
    fn the_more_favoured_request_comes_first_and_the_adapters_once() {
        let mut presentation = Presentation::default();
        presentation.set_cppr(0xFF);
        presentation.set_mfrr(4);
        presentation.set_adapter(5);
        assert_eq!(presentation.accept(), (0xFF << 24 | IPI, false));
        assert!(!presentation.is_pending(), "the adapter's is less favoured");
        presentation.set_mfrr(NONE);
        presentation.end(0xFF << 24 | IPI);
        assert_eq!(presentation.accept(), (0xFF << 24 | ADAPTER, true));
        presentation.end(0xFF << 24 | ADAPTER);
        assert!(!presentation.is_pending());
    }

    proptest! {
        /// Accepting gives an interrupt exactly if one is pending, and ending it restores the priority.
        #[test]
        fn accepting_and_ending_leave_the_priority_as_it_was(cppr: u8, mfrr: u8) {
            let mut presentation = Presentation::default();
            presentation.set_cppr(cppr);
            presentation.set_mfrr(mfrr);
            let before = presentation;
            let (xirr, _) = presentation.accept();
            prop_assert_eq!(xirr >> 24, u32::from(cppr));
            prop_assert_eq!(xirr & 0xFF_FFFF != 0, before.is_pending());
            prop_assert!(!presentation.is_pending());
            presentation.end(xirr);
            prop_assert_eq!(presentation, before);
        }
    }
}
