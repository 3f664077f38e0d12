//! What a prefetch engine logs of a core's caches, and what it brings back.

use super::Hierarchy;
use super::pair::Want;
use crate::cache::Kind;
use crate::cache::latency::Level;
use crate::cache::line::Bringer;
use crate::ledger::Side;

/// Where a line was that an engine wanted in a core's caches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Restored {
    /// Where it is wanted.
    There,
    /// In the core's L3, and is in the L2 now.
    InL3,
    /// Beyond the core's caches; it is there at this cycle.
    Beyond(u64),
}

/// What a load takes longer than from the L2, in cycles, with nobody else at the memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Savings {
    /// From the core's L3.
    pub l3: u64,
    /// From the chip's memory.
    pub memory: u64,
}

impl Hierarchy {
    /// What a line saves that is in the L2.
    #[must_use]
    pub fn savings(&self) -> Savings {
        let of = |level| self.latencies.of(Kind::Load, level);
        let behind_l2 = |level| of(level).saturating_sub(of(Level::L2));
        Savings { l3: behind_l2(Level::L3), memory: behind_l2(Level::Memory) }
    }

    /// The lines of the L2 of `core`, from the one used longest ago to the one used last. With `has_l3` those come
    /// before them that were used last in each set of the L3 region, in the same order; for these the flag is set.
    #[must_use]
    pub fn lines_to_log(&self, core: usize, has_l3: bool) -> Vec<(u64, bool)> {
        let pair = &self.pairs[self.cores[core].pair];
        let third = if has_l3 { pair.l3.newest_of_sets() } else { Vec::new() };
        let third = third.into_iter().map(|line| (line, true));
        third.chain(pair.l2.tags_by_age().into_iter().map(|line| (line, false))).collect()
    }

    /// Writes `line` into memory past all caches from cycle `at` on: none has it any more.
    pub fn write_past(&mut self, line: u64, at: u64) {
        for pair in 0..self.pairs.len() {
            self.take(pair, line, None);
        }
        self.write_back(Kind::Store, line, at);
    }

    /// Reads `line` for `core` past all caches from cycle `at` on. The cycle at which it is there.
    pub fn read_past(&mut self, core: usize, line: u64, at: u64) -> u64 {
        let chip = self.pairs[self.cores[core].pair].chip;
        let want = engines_want(core, line, at, (0, None));
        self.read_memory(chip, &want).map_or(at, |line| line.ready)
    }

    /// Brings `line` into the L2 of `core`, or into its L3 region if it `is_for_l3`, from cycle `at` on for `thread`
    /// and `side`.
    pub fn restore(
        &mut self,
        core: usize,
        line: u64,
        is_for_l3: bool,
        at: u64,
        whose: (usize, Side),
    ) -> Restored {
        let want = engines_want(core, line, at, whose);
        let pair = self.cores[core].pair;
        let caches = &self.pairs[pair];
        if caches.l2.find(line).is_some() || is_for_l3 && caches.l3.find(line).is_some() {
            return Restored::There;
        }
        if is_for_l3 {
            self.bring_into_l3(pair, &want);
            let entry = self.pairs[pair].l3.find(line);
            return entry.map_or(Restored::There, |entry| Restored::Beyond(entry.ready));
        }
        match self.bring(pair, &want) {
            None => Restored::There,
            Some(arrival) if arrival.level == Level::L3 => Restored::InL3,
            Some(arrival) => Restored::Beyond(arrival.ready),
        }
    }
}

/// What the engine of `core` wants, for no cache above the L2.
fn engines_want(core: usize, line: u64, at: u64, (thread, side): (usize, Side)) -> Want {
    let bringer = Bringer { thread: thread as u16, lpid: side, is_partition: side.is_some() };
    let (kind, above, patience) = (Kind::Walk, 0, u64::MAX);
    Want { line, kind, at, side, bringer, core: core as u16, above, patience }
}
