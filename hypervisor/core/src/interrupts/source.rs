//! The interrupt source of a partition's adapter: which vCPU it interrupts, and with which priority.
//!
//! Each request counts once (an edge): it waits here until the vCPU accepts it, and requests that come
//! meanwhile are one.

use crate::interrupts::presentation::NONE;

/// What the guest has set of it by RTAS, and whether it waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Source {
    /// The vCPU that it interrupts, by the number that the guest knows it by.
    pub server: u32,
    /// With which priority; [`NONE`] interrupts nobody.
    pub priority: u8,
    /// `ibm,int-off` was called for it last, and not `ibm,int-on`.
    is_off: bool,
    is_pending: bool,
}

impl Default for Source {
    /// As after reset: it interrupts nobody.
    fn default() -> Self {
        Self { server: 0, priority: NONE, is_off: false, is_pending: false }
    }
}

impl Source {
    /// Something happened.
    pub const fn request(&mut self) {
        self.is_pending = true;
    }

    /// Its request was accepted.
    pub const fn accepted(&mut self) {
        self.is_pending = false;
    }

    /// Lets it interrupt, or not.
    pub const fn switch(&mut self, on: bool) {
        self.is_off = !on;
    }

    /// The priority of its request, or [`NONE`].
    #[must_use]
    pub const fn requests(&self) -> u8 {
        if self.is_pending && !self.is_off { self.priority } else { NONE }
    }
}

#[cfg(test)]
mod tests {
    use super::Source;
    use crate::interrupts::presentation::NONE;

    #[test]
    fn a_request_waits_until_it_is_let_through_and_accepted() {
        let mut source = Source::default();
        source.request();
        assert_eq!(source.requests(), NONE, "nobody has set a priority");
        source.priority = 5;
        assert_eq!(source.requests(), 5);
        source.switch(false);
        assert_eq!(source.requests(), NONE);
        source.switch(true);
        source.request();
        source.accepted();
        assert_eq!(source.requests(), NONE, "two that were not accepted are one");
    }
}
