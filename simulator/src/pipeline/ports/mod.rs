//! The units of a core, cycle by cycle: how many of each kind are taken.
//!
//! Instructions come in program order and may issue far ahead of those that come later, so the tables
//! cover a stretch of cycles around now, and an operation takes the first cycle with free units.

mod power8;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::parameters::{ENGINE_CYCLES, Parameters};
use super::units::{Engine, Units};
use power8::Pipes;

/// Cycles of issue and fetch that are told apart: more than an operation waits for them.
const ISSUE_CYCLES: usize = 1024;

/// Kinds of units that a table has room for.
const KINDS: usize = 6;

/// Bits in which units are counted.
const COUNT_BITS: u32 = 4;
const COUNT: u64 = (1 << COUNT_BITS) - 1;
const COUNTS_BITS: u32 = COUNT_BITS * KINDS as u32;

/// What is taken of units of several kinds, by the last `CYCLES` cycles.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Table<const CYCLES: usize> {
    /// By cycle modulo the table's length: the cycle by that length, and below it what is taken of each kind.
    taken: Box<[u64]>,
    /// A stretch of cycles, by kind, in which nothing is free: from and to.
    full: [(u64, u64); KINDS],
    units: [u64; KINDS],
}

impl<const CYCLES: usize> Table<CYCLES> {
    fn new(units: [u64; KINDS]) -> Self {
        let units = units.map(|units| units.min(COUNT));
        Self { taken: vec![0; CYCLES].into(), full: [(0, 0); KINDS], units }
    }

    /// What is taken at `cycle`.
    #[inline]
    fn at(&mut self, cycle: u64) -> &mut u64 {
        let taken = &mut self.taken[cycle as usize % CYCLES];
        let lap = cycle >> CYCLES.ilog2();
        if *taken >> COUNTS_BITS != lap {
            *taken = lap << COUNTS_BITS;
        }
        taken
    }

    /// How many of a kind are free at `cycle`.
    fn free(&self, kind: usize, cycle: u64) -> u64 {
        let taken = self.taken[cycle as usize % CYCLES];
        let is_of_now = taken >> COUNTS_BITS == cycle >> CYCLES.ilog2();
        let count = if is_of_now { taken >> (COUNT_BITS * kind as u32) & COUNT } else { 0 };
        self.units[kind] - count
    }

    /// Takes `count` units of one of `kinds`, or all that it has, at `cycle`, if they are free.
    #[inline]
    fn try_take(&mut self, kinds: Range<usize>, count: u64, cycle: u64) -> bool {
        let entry = &mut self.taken[cycle as usize % CYCLES];
        let lap = cycle >> CYCLES.ilog2();
        let taken = if *entry >> COUNTS_BITS == lap { *entry } else { lap << COUNTS_BITS };
        for kind in kinds {
            let (shift, units) = (COUNT_BITS * kind as u32, self.units[kind]);
            let count = count.min(units);
            let after = (taken >> shift & COUNT) + count;
            if after <= units {
                *entry = taken + (count << shift);
                if after == units {
                    self.fill(kind, cycle);
                }
                return true;
            }
        }
        false
    }

    /// The same at the first cycle from `at` on at which they are. Gives that cycle.
    #[inline]
    fn take(&mut self, kinds: Range<usize>, count: u64, at: u64) -> u64 {
        if self.try_take(kinds.clone(), count, at) { at } else { self.find(kinds, count, at) }
    }

    fn find(&mut self, kinds: Range<usize>, count: u64, at: u64) -> u64 {
        let first = |kind: usize| {
            let (from, to) = self.full[kind];
            if (from..to).contains(&at) { to } else { at }
        };
        let mut cycle = kinds.clone().map(first).min().unwrap_or(at);
        while !self.try_take(kinds.clone(), count, cycle) {
            cycle += 1;
        }
        cycle
    }

    /// The same for `busy` cycles from then on.
    fn take_for(&mut self, kinds: Range<usize>, count: u64, busy: u64, at: u64) -> u64 {
        let mut begin = at;
        loop {
            let mut next = u64::MAX;
            for kind in kinds.clone() {
                let count = count.min(self.units[kind]);
                let is_taken = |cycle: &u64| self.free(kind, *cycle) < count;
                let Some(last) = (begin..begin + busy).rev().find(is_taken) else {
                    for cycle in begin..begin + busy {
                        *self.at(cycle) += count << (COUNT_BITS * kind as u32);
                    }
                    return begin;
                };
                next = next.min(last + 1);
            }
            begin = next;
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
}

/// What is taken of a core's units.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ports {
    issue: Table<ISSUE_CYCLES>,
    engines: Table<ENGINE_CYCLES>,
    /// POWER8's, where there are no slices.
    pipes: Option<Pipes>,
}

/// Kinds of units that issue and fetch take, those of the second superslice behind those of the first.
const SLICES: usize = 0;
const ADDRESSES: usize = 2;
const BRANCH: usize = 4;
const FETCH: usize = 5;

/// Kinds of units that are gone on to.
const FIXED: usize = 0;
const FLOATING: usize = 2;
const DECIMAL: usize = 4;
const CRYPTO: usize = 5;

/// Units in either half of a core.
fn halves(units: u64) -> [u64; 2] {
    [units.div_ceil(2), units / 2]
}

impl Ports {
    /// The units of a core.
    #[must_use]
    pub fn new(parameters: &Parameters) -> Self {
        let Parameters { core: parameters, groups, .. } = parameters;
        let has_pipes = groups.in_flight > 0;
        let [first, second] = halves(parameters.slices);
        let [first_address, second_address] = halves(parameters.address_generators);
        let [first_divider, second_divider] = halves(parameters.dividers);
        let branch = parameters.branch_units;
        let [floating, other] =
            if has_pipes { halves(groups.vector_pipes) } else { [first, second] };
        Self {
            issue: Table::new([first, second, first_address, second_address, branch, 1]),
            engines: Table::new([first_divider, second_divider, floating, other, 1, 1]),
            pipes: has_pipes.then(|| Pipes::new(groups)),
        }
    }

    /// Issues an operation at the first cycle from `at` on that has what it takes, and gives that cycle. `superslice`
    /// is the one that its thread has, `None` if it has both; with pipes it is a half of the core. Gives the cycles
    /// that its result takes longer where it went, too.
    #[inline]
    pub fn issue(
        &mut self,
        units: Units,
        engine: Option<(Engine, u64)>,
        superslice: Option<usize>,
        at: u64,
    ) -> (u64, u64) {
        let of = |first: usize| match superslice {
            None => first..first + 2,
            Some(superslice) => first + superslice..first + superslice + 1,
        };
        let Units { slices, addresses, branch, pipes } = units;
        let (mut cycle, mut more) = (at, 0);
        if let Some(all) = &mut self.pipes {
            (cycle, more) = all.issue(pipes, superslice, at);
        }
        if addresses > 0 {
            cycle = self.issue.take(of(ADDRESSES), addresses.into(), cycle);
        }
        if slices > 0 {
            cycle = self.issue.take(of(SLICES), slices.into(), cycle);
        }
        if branch {
            cycle = self.issue.take(BRANCH..BRANCH + 1, 1, cycle);
        }
        let Some((engine, busy)) = engine else { return (cycle, more) };
        let (kinds, count) = match engine {
            Engine::FixedDivide => (of(FIXED), 1),
            Engine::FloatingDivide => (of(FLOATING), 1),
            Engine::VectorDivide => (of(FLOATING), 2),
            Engine::Decimal => (DECIMAL..DECIMAL + 1, 1),
            Engine::Crypto => (CRYPTO..CRYPTO + 1, 1),
        };
        (self.engines.take_for(kinds, count, busy, cycle), more)
    }

    /// Fetches a block at the first cycle from `at` on at which nobody else does, and gives that cycle.
    #[inline]
    pub fn fetch(&mut self, at: u64) -> u64 {
        self.issue.take(FETCH..FETCH + 1, 1, at)
    }
}

#[cfg(test)]
mod tests {
    use super::{Engine, Parameters, Ports, Units};
    use crate::pipeline::parameters::CoreParameters;
    use crate::pipeline::units::power8::Pipes;

    const SLICE: Units = Units { slices: 1, addresses: 0, branch: false, pipes: Pipes::NONE };
    const SUPERSLICE: Units = Units { slices: 2, addresses: 0, branch: false, pipes: Pipes::NONE };
    const BRANCH: Units = Units { slices: 0, addresses: 0, branch: true, pipes: Pipes::NONE };

    fn ports() -> Ports {
        let core = CoreParameters {
            slices: 4,
            address_generators: 4,
            branch_units: 1,
            dividers: 2,
            ..CoreParameters::default()
        };
        Ports::new(&Parameters { core, ..Parameters::default() })
    }

    #[test]
    fn units_are_taken_once() {
        let mut ports = ports();
        let mut issue = |units, at| ports.issue(units, None, None, at).0;
        let slices: Vec<u64> = (0..9).map(|_| issue(SLICE, 10)).collect();
        assert_eq!(slices, [10, 10, 10, 10, 11, 11, 11, 11, 12]);
        assert_eq!([issue(BRANCH, 10), issue(BRANCH, 9)], [10, 9]);
        assert_eq!(issue(SLICE, 5), 5);
        // At cycle 12 one superslice has lost a slice.
        let wide: Vec<u64> = (0..4).map(|_| issue(SUPERSLICE, 10)).collect();
        assert_eq!(wide, [12, 13, 13, 14]);
        assert_eq!([ports.fetch(7), ports.fetch(7)], [7, 8]);
    }

    #[test]
    fn a_superslice_of_ones_own_has_half_of_the_units() {
        let mut ports = ports();
        let first: Vec<u64> = (0..3).map(|_| ports.issue(SLICE, None, Some(0), 10).0).collect();
        let second: Vec<u64> = (0..3).map(|_| ports.issue(SLICE, None, Some(1), 10).0).collect();
        assert_eq!([first, second], [[10, 10, 11], [10, 10, 11]]);
    }

    #[test]
    fn a_divider_is_busy_until_it_is_done() {
        let mut ports = ports();
        let mut divide = |engine, busy, at| ports.issue(SLICE, Some((engine, busy)), None, at).0;
        assert_eq!([1, 2, 3].map(|_| divide(Engine::FixedDivide, 8, 10)), [10, 10, 18]);
        let roots = [1, 2, 3, 4, 5].map(|_| divide(Engine::FloatingDivide, 10, 100));
        assert_eq!(roots, [100, 100, 100, 100, 110]);
        let vectors = [1, 2, 3].map(|_| divide(Engine::VectorDivide, 8, 200));
        assert_eq!(vectors, [200, 200, 208]);
        // What comes earlier is not held up by what begins later.
        assert_eq!(divide(Engine::Decimal, 12, 320), 320);
        assert_eq!([divide(Engine::Decimal, 12, 300), divide(Engine::Decimal, 1, 312)], [300, 312]);
    }
}
