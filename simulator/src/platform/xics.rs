//! The interrupt controller as OPAL offers it: XICS presentation and sources by calls.
//!
//! Each thread is a server with a priority below which it wants interrupts (CPPR) and a request of its
//! own that others may make (MFRR). The most favoured interrupt below CPPR raises the thread's line,
//! which arrives as a hypervisor virtualization interrupt. Source: `docs/facts/opal-and-powernv.md#interrupt-calls`;
//! Power architecture platform requirements, Interrupt Controller.

use serde::{Deserialize, Serialize};

/// Priority that is never presented.
const MASKED: u8 = 0xFF;
/// The interrupt number of a request made through MFRR.
pub const INTER_PROCESSOR: u32 = 2;
/// The source that is up while a device of firmware's own, the console's line, wants its attention.
pub const FIRMWARE_EVENT: u32 = 16;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Server {
    /// PIR of its thread.
    pir: u32,
    cppr: u8,
    mfrr: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Source {
    number: u32,
    /// Index of the server it goes to.
    server: usize,
    priority: u8,
    is_up: bool,
    /// Presented, and no end of interrupt yet.
    is_in_service: bool,
}

/// Where a source goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Route {
    /// PIR of the server.
    pub pir: u32,
    /// Priority; 0xFF masks.
    pub priority: u8,
}

/// The interrupt controller.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Xics {
    servers: Vec<Server>,
    sources: Vec<Source>,
}

impl Xics {
    /// Every thread wants nothing, every source is masked.
    #[must_use]
    pub fn new(pirs: impl Iterator<Item = u32>) -> Self {
        let servers = pirs.map(|pir| Server { pir, cppr: 0, mfrr: MASKED }).collect();
        let event = Source {
            number: FIRMWARE_EVENT,
            server: 0,
            priority: MASKED,
            is_up: false,
            is_in_service: false,
        };
        Self { servers, sources: vec![event] }
    }

    /// How many servers there are: one for each thread.
    #[must_use]
    pub fn servers(&self) -> usize {
        self.servers.len()
    }

    /// Index of the server with this PIR.
    #[must_use]
    pub fn server(&self, pir: u64) -> Option<usize> {
        self.servers.iter().position(|server| u64::from(server.pir) == pir)
    }

    /// The most favoured interrupt that `server` wants: its number and priority.
    fn favoured(&self, server: usize) -> Option<(u32, u8)> {
        let Server { cppr, mfrr, .. } = self.servers[server];
        let goes_here =
            |source: &&Source| source.server == server && source.is_up && !source.is_in_service;
        let sources = self.sources.iter().filter(goes_here);
        let requests = sources.map(|source| (source.number, source.priority));
        requests
            .chain([(INTER_PROCESSOR, mfrr)])
            .filter(|(_, priority)| *priority < cppr)
            .min_by_key(|(_, priority)| *priority)
    }

    /// Whether the line of `server` is up.
    #[must_use]
    pub fn line(&self, server: usize) -> bool {
        self.favoured(server).is_some()
    }

    /// CPPR and the number of the most favoured interrupt (0: none). Unless `only_looks`, it is
    /// accepted: CPPR becomes its priority.
    pub fn accept(&mut self, server: usize, only_looks: bool) -> u32 {
        let cppr = self.servers[server].cppr;
        let favoured = self.favoured(server);
        if let (Some((number, priority)), false) = (favoured, only_looks) {
            self.servers[server].cppr = priority;
            let of_number = |source: &&mut Source| source.number == number;
            if let Some(source) = self.sources.iter_mut().find(of_number) {
                source.is_in_service = true;
            }
        }
        u32::from(cppr) << 24 | favoured.map_or(0, |(number, _)| number)
    }

    /// The interrupt in `xirr` is over and CPPR is what `xirr` says. True if another waits.
    pub fn end(&mut self, server: usize, xirr: u32) -> bool {
        let number = xirr & 0x00FF_FFFF;
        for source in self.sources.iter_mut().filter(|source| source.number == number) {
            source.is_in_service = false;
        }
        self.servers[server].cppr = (xirr >> 24) as u8;
        self.line(server)
    }

    /// Sets the priority below which `server` wants interrupts.
    pub fn set_cppr(&mut self, server: usize, cppr: u8) {
        self.servers[server].cppr = cppr;
    }

    /// Makes a request of `server`, or takes it back with 0xFF.
    pub fn set_mfrr(&mut self, server: usize, mfrr: u8) {
        self.servers[server].mfrr = mfrr;
    }

    /// Where the source goes, if there is one with this number.
    #[must_use]
    pub fn route(&self, number: u32) -> Option<Route> {
        let source = self.sources.iter().find(|source| source.number == number)?;
        Some(Route { pir: self.servers[source.server].pir, priority: source.priority })
    }

    /// Routes the source; false if there is no such source or server.
    pub fn set_route(&mut self, number: u32, pir: u64, priority: u8) -> bool {
        let server = self.server(pir);
        let source = self.sources.iter_mut().find(|source| source.number == number);
        let (Some(server), Some(source)) = (server, source) else { return false };
        source.server = server;
        source.priority = priority;
        true
    }

    /// A source's level.
    pub fn set_level(&mut self, number: u32, is_up: bool) {
        for source in self.sources.iter_mut().filter(|source| source.number == number) {
            source.is_up = is_up;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FIRMWARE_EVENT, INTER_PROCESSOR, Xics};

    fn two() -> Xics {
        let mut xics = Xics::new([0, 4].into_iter());
        xics.set_cppr(0, 0xFF);
        xics.set_cppr(1, 0xFF);
        xics
    }

    #[test]
    fn a_request_is_presented_below_cppr_and_again_until_it_is_taken_back() {
        let mut xics = two();
        xics.set_mfrr(1, 4);
        assert!(xics.line(1) && !xics.line(0));
        xics.set_cppr(1, 4);
        assert!(!xics.line(1), "its priority is not below CPPR");
        xics.set_cppr(1, 0xFF);
        assert_eq!(xics.accept(1, true), 0xFF00_0000 | INTER_PROCESSOR);
        assert_eq!(xics.accept(1, false), 0xFF00_0000 | INTER_PROCESSOR);
        assert_eq!(xics.accept(1, false), 0x0400_0000, "CPPR is its priority now");
        assert!(xics.end(1, 0xFF00_0002), "nobody took the request back");
        xics.set_mfrr(1, 0xFF);
        assert!(!xics.line(1));
    }

    #[test]
    fn a_source_waits_for_its_end_and_comes_again_while_it_is_up() {
        let mut xics = two();
        xics.set_level(FIRMWARE_EVENT, true);
        assert!(!xics.line(0), "masked");
        assert!(xics.set_route(FIRMWARE_EVENT, 4, 5));
        assert!(!xics.set_route(FIRMWARE_EVENT, 5, 5) && !xics.set_route(99, 4, 5));
        assert_eq!(xics.accept(1, false), 0xFF00_0000 | FIRMWARE_EVENT);
        xics.set_cppr(1, 0xFF);
        assert!(!xics.line(1), "in service");
        assert!(xics.end(1, 0xFF00_0000 | FIRMWARE_EVENT));
        xics.set_level(FIRMWARE_EVENT, false);
        assert!(!xics.line(1));
    }

    #[test]
    fn the_more_favoured_comes_first() {
        let mut xics = two();
        xics.set_route(FIRMWARE_EVENT, 0, 5);
        xics.set_level(FIRMWARE_EVENT, true);
        xics.set_mfrr(0, 4);
        assert_eq!(xics.accept(0, false) & 0xFF_FFFF, INTER_PROCESSOR);
        xics.set_mfrr(0, 0xFF);
        assert!(xics.end(0, 0xFF00_0002));
        assert_eq!(xics.accept(0, false) & 0xFF_FFFF, FIRMWARE_EVENT);
    }
}
