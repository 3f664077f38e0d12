//! The interrupt presentation of one vCPU (XICS): its priority, the request of other vCPUs, and the most
//! favoured one of the partition's devices.
//!
//! Priorities are numbers of which the lower is the more favoured. An interrupt is pending exactly while a request, the
//! vCPUs' (MFRR) or a device's, is more favoured than the current processor priority, CPPR.

/// The number of the interrupt between processors, in the lower 24 bits of XIRR.
pub const IPI: u32 = 2;
/// The least favoured priority: no request.
pub const NONE: u8 = 0xFF;

/// What a device asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// How favoured; [`NONE`] is no request.
    pub priority: u8,
    /// The number of the device's source, for the lower 24 bits of XIRR.
    pub number: u32,
}

impl Default for Request {
    fn default() -> Self {
        Self::NOTHING
    }
}

impl Request {
    const NOTHING: Self = Self { priority: NONE, number: 0 };
}

/// What one vCPU is presented with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Presentation {
    /// Only a more favoured interrupt is taken.
    cppr: u8,
    /// Most favoured request of other processors.
    mfrr: u8,
    /// The most favoured request of a device.
    device: Request,
}

impl Default for Presentation {
    /// As after reset: no request, and none would be taken.
    fn default() -> Self {
        Self { cppr: 0, mfrr: NONE, device: Request::NOTHING }
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
        if self.device.priority < self.mfrr { self.device.priority } else { self.mfrr }
    }

    /// Sets the most favoured request of a device.
    pub const fn set_device(&mut self, request: Request) {
        self.device = request;
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
            true if self.device.priority < self.mfrr => self.device.number,
            true => IPI,
        };
        (self.cppr as u32) << 24 | source
    }

    /// XIRR; the processor's priority becomes that of the interrupt. A device's request is over with it; if it
    /// was one, the number of its source is the other answer.
    pub const fn accept(&mut self) -> (u32, Option<u32>) {
        let xirr = self.poll();
        let is_devices = self.is_pending() && self.device.priority < self.mfrr;
        if self.is_pending() {
            self.cppr = self.favoured();
        }
        let number = if is_devices { Some(self.device.number) } else { None };
        if is_devices {
            self.device = Request::NOTHING;
        }
        (xirr, number)
    }

    /// End of interrupt: the priority before it, from its XIRR, comes back.
    pub const fn end(&mut self, xirr: u32) {
        self.cppr = (xirr >> 24) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::{IPI, NONE, Presentation, Request};
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    #[test]
    fn a_request_is_presented_accepted_and_ended() {
        let mut presentation = Presentation::default();
        presentation.set_mfrr(4);
        assert!(!presentation.is_pending(), "after reset nothing is taken");
        presentation.set_cppr(5);
        assert_eq!(presentation.poll(), 5 << 24 | IPI);
        assert_eq!(presentation.accept(), (5 << 24 | IPI, None));
        assert!(!presentation.is_pending(), "it is in service");
        presentation.end(5 << 24 | IPI);
        assert!(presentation.is_pending(), "nobody took the request back");
        presentation.set_mfrr(NONE);
        assert_eq!(presentation.accept(), (5 << 24, None));
    }

    #[test]
    fn the_more_favoured_request_comes_first_and_a_devices_once() {
        const NUMBER: u32 = 0x1001;
        let mut presentation = Presentation::default();
        presentation.set_cppr(0xFF);
        presentation.set_mfrr(4);
        presentation.set_device(Request { priority: 5, number: NUMBER });
        assert_eq!(presentation.accept(), (0xFF << 24 | IPI, None));
        assert!(!presentation.is_pending(), "the device's is less favoured");
        presentation.set_mfrr(NONE);
        presentation.end(0xFF << 24 | IPI);
        assert_eq!(presentation.accept(), (0xFF << 24 | NUMBER, Some(NUMBER)));
        presentation.end(0xFF << 24 | NUMBER);
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
