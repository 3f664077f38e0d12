//! The interrupt sources of a partition's devices, by number: which vCPU each interrupts, and with which priority.
//!
//! Each request counts once (an edge): it waits here until the vCPU accepts it, and requests that come
//! meanwhile are one.

use alloc::vec::Vec;

use crate::interrupts::presentation::{NONE, Request};

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

/// All of a partition's.
#[derive(Debug, Default)]
pub struct Sources(Vec<(u32, Source)>);

impl Sources {
    /// There is one more, of this number, which interrupts nobody yet.
    pub fn add(&mut self, number: u32) {
        self.0.push((number, Source::default()));
    }

    /// None interrupts anybody, as after reset.
    pub fn reset(&mut self) {
        self.0.iter_mut().for_each(|(_, source)| *source = Source::default());
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The one of this number.
    #[must_use]
    pub fn get(&self, number: u32) -> Option<&Source> {
        self.0.iter().find(|(other, _)| *other == number).map(|(_, source)| source)
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut Source> {
        self.0.iter_mut().find(|(other, _)| *other == number).map(|(_, source)| source)
    }

    /// The most favoured request for the vCPU that the guest knows by this number.
    #[must_use]
    pub fn request_for(&self, server: usize) -> Request {
        let its = self.0.iter().filter(|(_, source)| source.server as usize == server);
        let requests = its.map(|&(number, source)| Request { priority: source.requests(), number });
        requests.min_by_key(|request| request.priority).unwrap_or_default()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Source, Sources};
    use crate::interrupts::presentation::{NONE, Request};

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

    #[test]
    fn the_most_favoured_request_for_a_vcpu_comes_first() {
        let mut sources = Sources::default();
        for (number, priority) in [(0x1000, 5), (0x1001, 3), (0x1002, 1)] {
            sources.add(number);
            let source = sources.get_mut(number).unwrap();
            source.priority = priority;
            source.server = u32::from(number == 0x1002);
            source.request();
        }
        assert_eq!(sources.request_for(0), Request { priority: 3, number: 0x1001 });
        sources.get_mut(0x1001).unwrap().accepted();
        assert_eq!(sources.request_for(0), Request { priority: 5, number: 0x1000 });
        assert_eq!(sources.request_for(2).priority, NONE);
        assert!(sources.get(0x1003).is_none());
        sources.reset();
        assert_eq!(sources.request_for(0).priority, NONE);
    }
}
