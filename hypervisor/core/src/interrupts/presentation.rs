//! The interrupt presentation of one vCPU (XICS): its priority, and the request of other vCPUs.
//!
//! Priorities are numbers of which the lower is the more favoured. There are no interrupt sources but
//! the vCPUs themselves, so an interrupt is pending exactly while the most favoured request, MFRR, is
//! more favoured than the current processor priority, CPPR.

/// The number of the interrupt between processors, in the lower 24 bits of XIRR.
pub const IPI: u32 = 2;
/// The least favoured priority: no request.
pub const NONE: u8 = 0xFF;

/// What one vCPU is presented with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Presentation {
    /// Only a more favoured interrupt is taken.
    cppr: u8,
    /// Most favoured request of other processors.
    mfrr: u8,
}

impl Default for Presentation {
    /// As after reset: no request, and none would be taken.
    fn default() -> Self {
        Self { cppr: 0, mfrr: NONE }
    }
}

impl Presentation {
    /// Whether an interrupt has to be delivered.
    #[must_use]
    pub const fn is_pending(&self) -> bool {
        self.mfrr < self.cppr
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
        let source = if self.is_pending() { IPI } else { 0 };
        (self.cppr as u32) << 24 | source
    }

    /// XIRR; the processor's priority becomes that of the interrupt.
    pub const fn accept(&mut self) -> u32 {
        let xirr = self.poll();
        if self.is_pending() {
            self.cppr = self.mfrr;
        }
        xirr
    }

    /// End of interrupt: the priority before it, from its XIRR, comes back.
    pub const fn end(&mut self, xirr: u32) {
        self.cppr = (xirr >> 24) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::{IPI, NONE, Presentation};
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    #[test]
    fn a_request_is_presented_accepted_and_ended() {
        let mut presentation = Presentation::default();
        presentation.set_mfrr(4);
        assert!(!presentation.is_pending(), "after reset nothing is taken");
        presentation.set_cppr(5);
        assert_eq!(presentation.poll(), 5 << 24 | IPI);
        assert_eq!(presentation.accept(), 5 << 24 | IPI);
        assert!(!presentation.is_pending(), "it is in service");
        presentation.end(5 << 24 | IPI);
        assert!(presentation.is_pending(), "nobody took the request back");
        presentation.set_mfrr(NONE);
        assert_eq!(presentation.accept(), 5 << 24);
    }

    proptest! {
        /// Accepting gives an interrupt exactly if one is pending, and ending it restores the priority.
        #[test]
        fn accepting_and_ending_leave_the_priority_as_it_was(cppr: u8, mfrr: u8) {
            let mut presentation = Presentation::default();
            presentation.set_cppr(cppr);
            presentation.set_mfrr(mfrr);
            let before = presentation;
            let xirr = presentation.accept();
            prop_assert_eq!(xirr >> 24, u32::from(cppr));
            prop_assert_eq!(xirr & 0xFF_FFFF != 0, before.is_pending());
            prop_assert!(!presentation.is_pending());
            presentation.end(xirr);
            prop_assert_eq!(presentation, before);
        }
    }
}
