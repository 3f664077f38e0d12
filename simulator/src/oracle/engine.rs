//! An oracle of the prefetch engines: which memory they write, and whose it is.
//!
//! An engine writes where its operand says, whoever has the memory. This one is told, from outside of the machine,
//! which ranges are tables and whose the others are; it does not ask the software that runs.
//!
//! It is an observer: it never changes the machine.

use std::fmt;
use std::ops::Range;

use arch::address::RealAddress;

use crate::trace::Observer;

/// What an engine wrote of memory that is no table, in one stretch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Overwritten {
    /// The engine's core.
    pub core: usize,
    /// Where it begins.
    pub address: RealAddress,
    /// How much it is.
    pub bytes: u64,
    /// Whose it is, if anybody said so.
    pub owner: Option<String>,
}

impl fmt::Display for Overwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { core, address, bytes, owner } = self;
        let owner = owner.as_deref().unwrap_or("nobody that is known");
        write!(
            f,
            "the prefetch engine of core {core} overwrote {bytes} bytes at {address} of {owner}"
        )
    }
}

/// Watches the prefetch engines.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    tables: Vec<Range<u64>>,
    owners: Vec<(Range<u64>, String)>,
    written: u64,
    findings: Vec<Overwritten>,
}

impl Tables {
    /// The real addresses of `range` are a table: an engine may write them.
    pub fn allow(&mut self, range: Range<u64>) {
        self.tables.push(range);
    }

    /// The real addresses of `range` are `owner`'s.
    pub fn owns(&mut self, range: Range<u64>, owner: &str) {
        self.owners.push((range, owner.to_owned()));
    }

    /// What was overwritten, in order of time.
    #[must_use]
    pub fn findings(&self) -> &[Overwritten] {
        &self.findings
    }

    /// Bytes that engines wrote into tables.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }
}

impl Observer for Tables {
    const SEES_INSTRUCTIONS: bool = false;

    fn engine_wrote(&mut self, core: usize, address: RealAddress, bytes: u64) {
        let holds = |range: &Range<u64>| range.start <= address.0 && address.0 + bytes <= range.end;
        if self.tables.iter().any(holds) {
            self.written += bytes;
            return;
        }
        let owner = self.owners.iter().find(|(range, _)| holds(range)).map(|(_, owner)| owner);
        if let Some(last) = self.findings.last_mut()
            && (last.core, last.address.0 + last.bytes) == (core, address.0)
            && last.owner.as_ref() == owner
        {
            last.bytes += bytes;
            return;
        }
        let owner = owner.cloned();
        self.findings.push(Overwritten { core, address, bytes, owner });
    }
}
