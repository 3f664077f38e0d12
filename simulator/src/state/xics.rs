//! The interrupt controller: XICS presentation, by OPAL calls or by registers in memory, and its sources.
//!
//! Each thread is a server with a priority below which it wants interrupts (CPPR) and a request of its
//! own that others may make (MFRR). The most favoured interrupt below CPPR raises the thread's line. Source:
//! `docs/facts/opal-and-powernv.md#interrupt-calls`; Power architecture platform requirements, Interrupt Controller;
//! for the registers `docs/facts/power8.md#interrupt-presentation`.

use arch::address::RealAddress;
use arch::processor::{Facts, Processor};
use serde::{Deserialize, Serialize};

/// Priority that is never presented.
const MASKED: u8 = 0xFF;
/// The interrupt number of a request made through MFRR.
pub const INTER_PROCESSOR: u32 = 2;
/// The source that is up while a device of firmware's own, the console's line, wants its attention.
pub const FIRMWARE_EVENT: u32 = 16;

/// Where the registers of each server begin, by chip and PIR, as QEMU has them.
const REGISTERS: u64 = 0x0003_FFFF_8000_0000;
const CHIP_SHIFT: u32 = 20;
const SERVER_SHIFT: u32 = 12;
/// Bytes of a server's registers.
pub const REGISTER_BYTES: u64 = 1 << SERVER_SHIFT;

/// Where the registers lie of the server with this PIR.
#[must_use]
pub fn registers(facts: &Facts, pir: u32) -> RealAddress {
    let chip = u64::from(facts.pir.chip(pir));
    RealAddress(REGISTERS | chip << CHIP_SHIFT | u64::from(pir) << SERVER_SHIFT)
}

/// A register of a server, and what an access of so many bytes to it means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Register {
    /// XIRR, only looked at: four bytes, read.
    Poll,
    /// XIRR, accepted by a read and ended by a write: four bytes.
    Xirr,
    /// CPPR, XIRR's first byte.
    Cppr,
    /// MFRR: one byte.
    Mfrr,
}

impl Register {
    /// What lies `offset` bytes into a server's registers, for an access of `bytes`.
    fn at(offset: u64, bytes: usize, is_store: bool) -> Option<Self> {
        Some(match (offset, bytes, is_store) {
            (0x0, 4, false) => Self::Poll,
            (0x4, 4, _) => Self::Xirr,
            (0x0, 1, false) | (0x4, 1, _) => Self::Cppr,
            (0xC, 1, _) => Self::Mfrr,
            _ => return None,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Server {
    /// PIR of its thread.
    pir: u32,
    /// Where its registers are, if threads reach them.
    registers: Option<u64>,
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
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Xics {
    servers: Vec<Server>,
    sources: Vec<Source>,
}

impl Xics {
    /// Every thread wants nothing, every source is masked.
    #[must_use]
    pub fn new(processor: Processor, pirs: &[u32]) -> Self {
        let facts = processor.facts();
        let server = |&pir: &u32| Server {
            pir,
            registers: facts.presents_by_registers.then(|| registers(facts, pir).0),
            cppr: 0,
            mfrr: MASKED,
        };
        let servers = pirs.iter().map(server).collect();
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

    /// Whether threads reach the servers' registers.
    #[must_use]
    pub fn has_registers(&self) -> bool {
        self.servers.first().is_some_and(|server| server.registers.is_some())
    }

    /// The server whose register an access of `bytes` at `address` reaches, and which.
    #[must_use]
    pub fn register_at(
        &self,
        address: RealAddress,
        bytes: usize,
        is_store: bool,
    ) -> Option<(usize, Register)> {
        let page = address.align_down(SERVER_SHIFT).0;
        let server = self.servers.iter().position(|server| server.registers == Some(page))?;
        Some((server, Register::at(address.0 - page, bytes, is_store)?))
    }

    /// Reads a register of `server`.
    pub fn read(&mut self, server: usize, register: Register) -> u32 {
        match register {
            Register::Poll => self.accept(server, true),
            Register::Xirr => self.accept(server, false),
            Register::Cppr => self.servers[server].cppr.into(),
            Register::Mfrr => self.servers[server].mfrr.into(),
        }
    }

    /// Writes a register of `server`.
    pub fn write(&mut self, server: usize, register: Register, value: u32) {
        match register {
            Register::Poll => {}
            Register::Xirr => {
                self.end(server, value);
            }
            Register::Cppr => self.set_cppr(server, value as u8),
            Register::Mfrr => self.set_mfrr(server, value as u8),
        }
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
    use super::{FIRMWARE_EVENT, INTER_PROCESSOR, Register, Xics};
    use arch::address::RealAddress;
    use arch::processor::Processor;

    fn two() -> Xics {
        let mut xics = Xics::new(Processor::Power9, &[0, 4]);
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

    #[test]
    fn registers_in_memory_do_what_the_calls_do() {
        let mut xics = Xics::new(Processor::Power8, &[8, 9]);
        let second = RealAddress(0x0003_FFFF_8000_9000);
        let at = |xics: &Xics, offset, bytes, is_store| {
            xics.register_at(second.wrapping_add(offset), bytes, is_store)
        };
        assert_eq!(at(&xics, 4, 4, false), Some((1, Register::Xirr)));
        assert_eq!(at(&xics, 4, 1, true), Some((1, Register::Cppr)));
        assert_eq!(at(&xics, 0, 4, true), None, "what is only looked at is not written");
        assert_eq!(at(&xics, 12, 4, true), None);
        assert_eq!(xics.register_at(RealAddress(0x0003_FFFF_8000_A004), 4, false), None);
        xics.write(1, Register::Cppr, 0xFF);
        xics.write(1, Register::Mfrr, 5);
        assert_eq!((xics.read(1, Register::Poll), xics.line(1)), (0xFF00_0002, true));
        assert_eq!(xics.read(1, Register::Xirr), 0xFF00_0002);
        assert_eq!((xics.read(1, Register::Cppr), xics.line(1)), (5, false));
        xics.write(1, Register::Mfrr, 0xFF);
        xics.write(1, Register::Xirr, 0xFF00_0002);
        assert_eq!((xics.read(1, Register::Cppr), xics.line(1)), (0xFF, false));
        assert!(!Xics::new(Processor::Power9, &[0]).has_registers());
    }
}
