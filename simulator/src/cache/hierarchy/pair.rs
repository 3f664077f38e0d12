//! A pair of cores: its L2 and its L3 region, and how a line comes into them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Hierarchy;
use crate::cache::array::{Array, Victim};
use crate::cache::bandwidth::Bandwidth;
use crate::cache::latency::Level;
use crate::cache::line::{Bringer, Line, NOBODY};
use crate::cache::parameters::CacheParameters;
use crate::cache::{Kind, LINE_LOG2};
use crate::ledger::Side;

/// Cores that share an L2 and an L3 region.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Pair {
    pub(super) chip: usize,
    pub(super) cores: Range<usize>,
    pub(super) l2: Array<Line>,
    pub(super) l3: Array<Line>,
    l2_port: Bandwidth,
    l3_port: Bandwidth,
}

impl Pair {
    pub(super) fn new(cache: &CacheParameters, chip: usize, first_core: usize) -> Self {
        let array = |bytes, ways| Array::new(CacheParameters::sets(bytes, ways), ways);
        let port = |bandwidth: u64| Bandwidth::new((1 << LINE_LOG2) as f64 / bandwidth as f64);
        Self {
            chip,
            cores: first_core..first_core,
            l2: array(cache.l2_bytes, cache.l2_ways),
            l3: array(cache.l3_bytes, cache.l3_ways),
            l2_port: port(cache.l2_bandwidth),
            l3_port: port(cache.l3_bandwidth),
        }
    }
}

/// What a pair is to bring into its L2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Want {
    pub(super) line: u64,
    pub(super) kind: Kind,
    pub(super) at: u64,
    pub(super) side: Side,
    pub(super) bringer: Bringer,
    /// The core that wants it.
    pub(super) core: u16,
    /// Which cache above will have it.
    pub(super) above: u8,
    /// Longest wait for a channel of the memory after which it is not worth it.
    pub(super) patience: u64,
}

impl Want {
    /// Whether nobody else may have the line.
    pub(super) fn is_alone(&self) -> bool {
        matches!(self.kind, Kind::Store | Kind::Zero)
    }

    /// Writes into an L2's entry who has it now.
    fn note_use(&self, entry: &mut Line) {
        entry.above |= self.above;
        if entry.writer != self.core {
            entry.writer = NOBODY;
        }
    }
}

/// How a line came into an L2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) ready: u64,
    pub(super) level: Level,
    pub(super) is_refill: bool,
    /// The L2 had it already, or it was on its way there.
    pub(super) is_in_l2: bool,
}

impl Line {
    /// What a line in a cache of `level` is to an access that could have it at cycle `soonest`: it may still
    /// be on its way.
    fn arrive(&self, soonest: u64, level: Level, is_refill: bool) -> Arrival {
        let is_in_l2 = level == Level::L2;
        if self.ready > soonest {
            let is_refill = is_refill || self.is_refill;
            return Arrival { ready: self.ready, level: self.from, is_refill, is_in_l2 };
        }
        Arrival { ready: soonest, level, is_refill, is_in_l2 }
    }
}

impl Hierarchy {
    /// Brings a line into the L2 of `pair`, from wherever it is. `None` if patience ends; then nothing has
    /// changed.
    pub(super) fn bring(&mut self, pair: usize, want: &Want) -> Option<Arrival> {
        let Want { line, kind, side, .. } = *want;
        let latencies = &self.latencies;
        let caches = &mut self.pairs[pair];
        let pass = |port: &mut Bandwidth, level, at| {
            let begin = port.reserve(at, u64::MAX).unwrap_or(at);
            at + latencies.wait(kind, level, begin - at) + latencies.of(kind, level)
        };
        if let Some(entry) = caches.l2.touch(line, side) {
            let found = *entry;
            want.note_use(entry);
            // The other core of the pair wrote it: it goes over to this one.
            let goes_over = found.writer != NOBODY && found.writer != want.core;
            let at = if goes_over { self.exchange.begin(line, want.at) } else { want.at };
            let soonest = pass(&mut caches.l2_port, Level::L2, at);
            if goes_over {
                self.exchange.transfer(line, soonest);
            }
            return Some(self.claim(pair, want, &found, found.arrive(soonest, Level::L2, false)));
        }
        if let Some(found) = caches.l3.remove(line) {
            let soonest = pass(&mut caches.l3_port, Level::L3, want.at);
            let is_lost = caches.l2.take_loss(line, side);
            let arrival = found.arrive(soonest, Level::L3, is_lost);
            let arrival = self.claim(pair, want, &found, arrival);
            let Arrival { ready, level: from, is_refill, .. } = arrival;
            let mut entry = Line { ready, from, is_refill, ..found };
            want.note_use(&mut entry);
            let room = self.install_l2(pair, line, entry, want);
            return Some(self.with_room(pair, line, arrival, room));
        }
        let mut entry = self.supply(pair, want)?;
        want.note_use(&mut entry);
        let room = self.install_l2(pair, line, entry, want);
        let Line { ready, from: level, is_refill, .. } = entry;
        let arrival = Arrival { ready, level, is_refill, is_in_l2: false };
        Some(self.with_room(pair, line, arrival, room))
    }

    /// A line is in an L2 not before there is `room` for what had to leave the pair for it.
    fn with_room(&mut self, pair: usize, line: u64, arrival: Arrival, room: u64) -> Arrival {
        if room <= arrival.ready {
            return arrival;
        }
        if let Some(entry) = self.pairs[pair].l2.find_mut(line) {
            (entry.ready, entry.from) = (room, Level::Bandwidth);
        }
        Arrival { ready: room, level: Level::Bandwidth, ..arrival }
    }

    /// Makes sure that nobody else has a line that its pair has, if that is wanted.
    fn claim(&mut self, pair: usize, want: &Want, found: &Line, arrival: Arrival) -> Arrival {
        if !want.is_alone() || found.is_exclusive {
            return arrival;
        }
        self.take_from_others(pair, want.line, want.side);
        let begin = self.exchange.begin(want.line, want.at.max(found.ready));
        let alone = begin + self.latencies.claim();
        self.exchange.transfer(want.line, alone);
        Arrival { ready: arrival.ready.max(alone), ..arrival }
    }

    /// Brings a line into the L3 region of `pair` that its caches do not have.
    pub(super) fn bring_into_l3(&mut self, pair: usize, want: &Want) {
        let line = want.line;
        let caches = &self.pairs[pair];
        if caches.l2.find(line).is_some() || caches.l3.find(line).is_some() {
            return;
        }
        if let Some(entry) = self.supply(pair, want) {
            let room = self.install_l3(pair, line, want.side, entry, want);
            if room > entry.ready
                && let Some(entry) = self.pairs[pair].l3.find_mut(line)
            {
                (entry.ready, entry.from) = (room, Level::Bandwidth);
            }
        }
    }

    /// Puts a line into an L2: when there is room for what has to leave the pair.
    fn install_l2(&mut self, pair: usize, line: u64, entry: Line, want: &Want) -> u64 {
        let side = want.side;
        let Some(victim) = self.pairs[pair].l2.install(line, side, entry, side) else {
            return want.at;
        };
        let Victim { tag, side, entry } = victim;
        self.take_above(pair, tag, entry.above, None);
        self.install_l3(pair, tag, side, Line { above: 0, ..entry }, want)
    }

    /// The same of an L3.
    fn install_l3(&mut self, pair: usize, line: u64, side: Side, entry: Line, want: &Want) -> u64 {
        let victim = self.pairs[pair].l3.install(line, side, entry, want.side);
        match victim {
            Some(Victim { tag, entry: Line { is_dirty: true, .. }, .. }) => {
                self.write_back(want.kind, tag, want.at)
            }
            _ => want.at,
        }
    }

    /// Takes a line out of the first-level caches that `above` names; a foreign `evictor` is remembered.
    pub(super) fn take_above(&mut self, pair: usize, line: u64, above: u8, evictor: Option<Side>) {
        if above == 0 {
            return;
        }
        for core in &mut self.cores[self.pairs[pair].cores.clone()] {
            let caches =
                [(core.data_bit, &mut core.data), (core.instruction_bit, &mut core.instructions)];
            for (bit, cache) in caches {
                if above & bit == 0 {
                    continue;
                }
                match evictor {
                    Some(evictor) => cache.displace(line, evictor),
                    None => cache.remove(line),
                };
            }
        }
    }
}
