//! The units of a core, cycle by cycle: how many of each kind are taken.
//!
//! Instructions come in program order and may issue far ahead of those that come later, so the table
//! covers a stretch of cycles around now, and an operation takes the first cycle with a free unit.

use serde::{Deserialize, Serialize};

use super::class::Port;
use super::parameters::CoreParameters;

/// Cycles that the table tells apart.
const CYCLES: usize = 1024;

/// Kinds of units.
const KINDS: usize = 3;

/// What is taken of a core's units.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ports {
    /// By cycle, modulo the table's length: the cycle, and below it what is taken of each kind.
    taken: Vec<[u64; KINDS]>,
    /// A stretch of cycles, by kind, in which nothing is free: from and to.
    full: [(u64, u64); KINDS],
    units: [u64; KINDS],
    /// The cycle at which each divider is free again.
    dividers: Vec<u64>,
}

/// Bits below the cycle number.
const COUNT_BITS: u32 = 8;

impl Ports {
    /// The units of a core.
    #[must_use]
    pub fn new(parameters: &CoreParameters) -> Self {
        let units = [parameters.slices, parameters.address_generators, parameters.branch_units];
        Self {
            taken: vec![[0; KINDS]; CYCLES],
            full: [(0, 0); KINDS],
            units: units.map(|units| units.clamp(1, (1 << COUNT_BITS) - 1)),
            dividers: vec![0; parameters.dividers.max(1) as usize],
        }
    }

    /// Takes a unit of the kind at the first cycle from `at` on that has one, and gives that cycle.
    #[inline]
    pub fn take(&mut self, port: Port, at: u64) -> u64 {
        let kind = match port {
            Port::None => return at,
            Port::Slice => 0,
            Port::Address => 1,
            Port::Branch => 2,
        };
        let (from, to) = self.full[kind];
        let mut cycle = if (from..to).contains(&at) { to } else { at };
        loop {
            let taken = &mut self.taken[cycle as usize % CYCLES][kind];
            let count = if *taken >> COUNT_BITS == cycle { *taken & 0xFF } else { 0 };
            if count < self.units[kind] {
                *taken = cycle << COUNT_BITS | (count + 1);
                if count + 1 == self.units[kind] {
                    self.fill(kind, cycle);
                }
                return cycle;
            }
            cycle += 1;
        }
    }

    /// Notes that nothing is free at `cycle`.
    fn fill(&mut self, kind: usize, cycle: u64) {
        let full = &mut self.full[kind];
        if full.1 == cycle {
            full.1 = cycle + 1;
        } else if cycle > full.1 {
            *full = (cycle, cycle + 1);
        }
    }

    /// Takes a divider for `busy` cycles at the first cycle from `at` on that has one.
    pub fn take_divider(&mut self, at: u64, busy: u64) -> u64 {
        let divider = self.dividers.iter_mut().min().expect("a core has a divider");
        let cycle = at.max(*divider);
        *divider = cycle + busy;
        cycle
    }
}

#[cfg(test)]
mod tests {
    use super::{CoreParameters, Port, Ports};

    #[test]
    fn units_are_taken_once() {
        let parameters = CoreParameters {
            slices: 4,
            address_generators: 4,
            branch_units: 1,
            dividers: 2,
            ..CoreParameters::default()
        };
        let mut ports = Ports::new(&parameters);
        let slices: Vec<u64> = (0..9).map(|_| ports.take(Port::Slice, 10)).collect();
        assert_eq!(slices, [10, 10, 10, 10, 11, 11, 11, 11, 12]);
        assert_eq!([ports.take(Port::Branch, 10), ports.take(Port::Branch, 9)], [10, 9]);
        assert_eq!(ports.take(Port::Slice, 5), 5);
        assert_eq!([1, 2, 3].map(|_| ports.take_divider(10, 8)), [10, 10, 18]);
    }
}
