//! Every core's caches and the memory: an access goes in, a time comes out.
//!
//! A core has an instruction and a data cache; data is stored through to the L2, and a store brings
//! nothing into the data cache. Cores in pairs share an L2, which has whatever their first level has,
//! and an L3 region, which gets what the L2 drops and gives it up when it goes back: a line is in one
//! of the two. What a pair does not have is `supply`'s business.
//!
//! State changes when an access is made, and the line says from which cycle it is good for use: who
//! comes earlier waits for it, so misses to one line are one miss.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::array::{Array, Side, Victim};
use super::calendar::Calendar;
use super::latency::{Latencies, Level};
use super::line::{Line, NOBODY};
use super::parameters::{CacheParameters, PrefetchParameters};
use super::prefetch::Streams;
use super::{Answer, Kind, LINE_LOG2, Request};
use crate::description::Description;
use crate::description::timing::Bound;
use crate::ledger::CauseSet;

/// The first level of one core.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Core {
    pub(super) pair: usize,
    /// The bits that say in [`Line::above`] that the data and the instruction cache may have a line.
    pub(super) data_bit: u8,
    pub(super) instruction_bit: u8,
    pub(super) data: Array<Line>,
    pub(super) instructions: Array<Line>,
    streams: Streams,
    fetches_ahead: bool,
}

/// Cores that share an L2 and an L3 region.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Pair {
    pub(super) chip: usize,
    cores: Range<usize>,
    pub(super) l2: Array<Line>,
    pub(super) l3: Array<Line>,
    l2_port: Calendar,
    l3_port: Calendar,
}

/// The caches and memories of a machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Hierarchy {
    threads_per_core: usize,
    pub(super) cores: Vec<Core>,
    pub(super) pairs: Vec<Pair>,
    /// The channels of each chip's memory.
    pub(super) memories: Vec<Vec<Calendar>>,
    /// First line, line behind the last one, and chip of each region of memory.
    pub(super) homes: Vec<(u64, u64, usize)>,
    pub(super) latencies: Latencies,
    prefetch: PrefetchParameters,
}

/// What a pair is to bring into its L2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Want {
    pub(super) line: u64,
    pub(super) kind: Kind,
    pub(super) at: u64,
    pub(super) side: Side,
    /// The core that wants it.
    core: u16,
    /// Which cache above will have it.
    above: u8,
    /// Longest wait for a channel of the memory after which it is not worth it.
    pub(super) patience: u64,
}

impl Want {
    /// Whether nobody else may have the line.
    pub(super) fn is_alone(&self) -> bool {
        matches!(self.kind, Kind::Store | Kind::Zero)
    }
}

/// How a line came into an L2.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    ready: u64,
    level: Level,
    is_refill: bool,
    /// The L2 had it already, or it was on its way there.
    is_in_l2: bool,
}

impl Hierarchy {
    /// The caches of the machine that `description` describes, all empty, where the causes in `free` cost
    /// nothing.
    #[must_use]
    pub fn new(description: &Description, bound: Bound, free: CauseSet) -> Self {
        let timing = description.timing();
        let cache = timing.cache.values(bound);
        let memory = timing.memory.values(bound);
        let prefetch = timing.prefetch.values(bound);
        let (chips, cores_per_chip, threads_per_core) = description.topology();
        let (chips, cores_per_chip) = (chips as usize, cores_per_chip as usize);
        let shared = cache.cores_per_l2 as usize;
        let mut pairs: Vec<Pair> = Vec::new();
        let mut cores = Vec::new();
        for chip in 0..chips {
            for core in 0..cores_per_chip {
                let place = core % shared;
                if place == 0 {
                    pairs.push(Pair::new(&cache, chip, cores.len()));
                }
                let pair = pairs.len() - 1;
                cores.push(Core::new(&cache, &prefetch, pair, place));
                pairs[pair].cores.end = cores.len();
            }
        }
        let clock = description.clock();
        let lines_per_second = memory.bandwidth as f64 * 1e6 / (1 << LINE_LOG2) as f64;
        let channel = clock.core_hz as f64 * memory.channels as f64 / lines_per_second;
        let channels = vec![Calendar::new(channel); memory.channels as usize];
        // Places in memory leave the holes between regions out.
        let homes = description.memory().into_iter().scan(0, |end, region| {
            let begin = *end;
            *end += region.bytes >> LINE_LOG2;
            Some((begin, *end, region.node as usize))
        });
        Self {
            threads_per_core: threads_per_core as usize,
            cores,
            pairs,
            memories: vec![channels; chips],
            homes: homes.collect(),
            latencies: Latencies::new(&cache, &memory, clock, free),
            prefetch,
        }
    }

    /// Makes an access.
    #[inline]
    pub fn access(&mut self, request: &Request) -> Answer {
        let core = request.thread / self.threads_per_core;
        match request.kind {
            Kind::Load | Kind::Fetch => self.read(request, core),
            Kind::Store | Kind::Zero => self.write(request, core),
            Kind::Walk => self.walk(request, core),
        }
    }

    /// Instructions are fetched ahead in `core`, or are not: that depends on its SMT mode.
    pub fn set_fetches_ahead(&mut self, core: usize, fetches_ahead: bool) {
        self.cores[core].fetches_ahead = fetches_ahead;
    }

    /// Whether `core` would get `line` from a core that wrote it: the order of the two matters.
    #[inline]
    #[must_use]
    pub fn is_contended(&self, core: usize, line: u64) -> bool {
        if self.cores.len() == 1 {
            return false;
        }
        let own = &self.cores[core];
        if own.data.find(line).is_some() {
            // A store of another core would have taken it away.
            return false;
        }
        let is_others = |pair: usize, entry: &Line| {
            if pair == own.pair {
                entry.writer != NOBODY && entry.writer != core as u16
            } else {
                entry.is_exclusive && entry.is_dirty
            }
        };
        self.pairs.iter().enumerate().any(|(pair, caches)| {
            let entry = caches.l2.find(line).or_else(|| caches.l3.find(line));
            entry.is_some_and(|entry| is_others(pair, entry))
        })
    }

    /// Writes `line` back and takes it out of every cache, as `dcbf` does, from cycle `at` on. Returns
    /// the cycle at which that is done.
    pub fn flush(&mut self, line: u64, at: u64) -> u64 {
        let mut is_dirty = false;
        for pair in 0..self.pairs.len() {
            if let Some(entry) = self.take(pair, line, None) {
                is_dirty |= entry.is_dirty;
            }
        }
        if is_dirty {
            self.write_back(line, at);
        }
        at + self.latencies.claim()
    }

    /// A core's data cache, or its instruction cache.
    #[inline]
    fn first_level(&mut self, core: usize, kind: Kind) -> &mut Array<Line> {
        let core = &mut self.cores[core];
        if kind == Kind::Fetch { &mut core.instructions } else { &mut core.data }
    }

    #[inline]
    fn read(&mut self, request: &Request, core: usize) -> Answer {
        let Request { line, kind, at, .. } = *request;
        let ready = at + self.latencies.of(kind, Level::L1);
        match self.first_level(core, kind).touch(line, request.owner.side()) {
            Some(entry) if entry.ready <= ready && !entry.is_prefetched => {
                Answer { ready, cause: Level::L1.cause(kind), is_refill: false }
            }
            Some(entry) => {
                let entry = *entry;
                self.read_early(request, core, ready, &entry)
            }
            None => self.read_missing(request, core),
        }
    }

    /// The L1 has the line, or will: it is on its way, or it was fetched ahead.
    #[cold]
    fn read_early(&mut self, request: &Request, core: usize, hit: u64, entry: &Line) -> Answer {
        let Request { line, kind, .. } = *request;
        if entry.is_prefetched {
            if let Some(entry) = self.first_level(core, kind).find_mut(line) {
                entry.is_prefetched = false;
            }
            self.look_ahead(request, core, Level::L1);
        }
        if entry.ready <= hit {
            return Answer { ready: hit, cause: Level::L1.cause(kind), is_refill: false };
        }
        Answer { ready: entry.ready, cause: entry.from.cause(kind), is_refill: entry.is_refill }
    }

    #[cold]
    fn read_missing(&mut self, request: &Request, core: usize) -> Answer {
        let Request { line, kind, at, .. } = *request;
        let side = request.owner.side();
        let want = self.want(core, line, kind, at, side);
        let Some(entry) = self.fill(core, &want) else {
            unreachable!("a want without end of patience is refused");
        };
        self.look_ahead(request, core, entry.from);
        Answer { ready: entry.ready, cause: entry.from.cause(kind), is_refill: entry.is_refill }
    }

    fn want(&self, core: usize, line: u64, kind: Kind, at: u64, side: Side) -> Want {
        let above = match kind {
            Kind::Load => self.cores[core].data_bit,
            Kind::Fetch => self.cores[core].instruction_bit,
            Kind::Store | Kind::Zero | Kind::Walk => 0,
        };
        Want { line, kind, at, side, core: core as u16, above, patience: u64::MAX }
    }

    /// Brings a line into an L1 of `core`.
    fn fill(&mut self, core: usize, want: &Want) -> Option<Line> {
        let Want { line, side, .. } = *want;
        let arrival = self.bring(self.cores[core].pair, want)?;
        let cache = self.first_level(core, want.kind);
        let is_lost = cache.take_loss(line, side);
        let is_refill = arrival.is_refill || arrival.is_in_l2 && is_lost;
        let entry = Line { is_refill, ..Line::new(arrival.level, arrival.ready) };
        cache.install(line, side, entry, side);
        Some(entry)
    }

    /// Fetches what is likely to be wanted after a read that came from `level`.
    fn look_ahead(&mut self, request: &Request, core: usize, level: Level) {
        let first = |last| (1, last);
        if request.kind == Kind::Fetch {
            if self.cores[core].fetches_ahead {
                self.fetch_ahead(request, core, 1, first(self.prefetch.instruction_lines), true);
            }
            return;
        }
        let line = request.address >> LINE_LOG2;
        if let Some(ahead) = self.cores[core].streams.follow(line, &self.prefetch) {
            self.fetch_ahead(request, core, ahead.stride, ahead.first_level, true);
            self.fetch_ahead(request, core, ahead.stride, ahead.third_level, false);
        } else if matches!(level, Level::Memory | Level::ChipMemory | Level::Bandwidth) {
            self.fetch_ahead(request, core, 1, first(self.prefetch.scattered_lines), false);
        }
    }

    /// Fetches the lines that lie `steps` of `stride` lines behind that of `request`, up to the end of
    /// the page: what follows it in effective addresses need not follow it in memory.
    fn fetch_ahead(
        &mut self,
        request: &Request,
        core: usize,
        stride: i64,
        steps: (u64, u64),
        into_l1: bool,
    ) {
        let page = |address: u64| address >> self.prefetch.page_log2;
        let offset = |step: u64| stride.wrapping_mul(step as i64);
        let is_in_page = |step: &u64| {
            let address = request.address.wrapping_add_signed(offset(*step) << LINE_LOG2);
            page(address) == page(request.address)
        };
        let last = (steps.0..=steps.1).take_while(is_in_page).last();
        let patience = self.prefetch.patience;
        for step in steps.0..=last.unwrap_or(0) {
            let line = request.line.wrapping_add_signed(offset(step));
            if self.home(line).is_none() {
                continue;
            }
            let want = self.want(core, line, request.kind, request.at, request.owner.side());
            let want = Want { patience, ..want };
            if !into_l1 {
                self.bring_into_l3(self.cores[core].pair, &want);
            } else if self.first_level(core, request.kind).find(line).is_none()
                && self.fill(core, &want).is_some()
                && let Some(entry) = self.first_level(core, request.kind).find_mut(line)
            {
                entry.is_prefetched = true;
            }
        }
    }

    #[inline]
    fn write(&mut self, request: &Request, core: usize) -> Answer {
        let Request { line, kind, at, .. } = *request;
        let side = request.owner.side();
        let Core { pair, data_bit, data, .. } = &mut self.cores[core];
        let (pair, own) = (*pair, *data_bit);
        data.touch(line, side);
        let cause = Level::L2.cause(kind);
        let (ready, is_refill) = match self.pairs[pair].l2.touch(line, side) {
            Some(entry) if entry.is_exclusive => {
                entry.is_dirty = true;
                entry.writer = core as u16;
                let others = entry.above & !own;
                entry.above &= own;
                let ready = entry.ready.max(at + self.latencies.of(Kind::Store, Level::L2));
                if others == 0 {
                    return Answer { ready, cause, is_refill: false };
                }
                self.take_above(pair, line, others, Some(side));
                (ready, false)
            }
            _ => self.write_unowned(request, core),
        };
        Answer { ready, cause, is_refill }
    }

    /// The L2 does not have the line, or is not alone with it.
    #[cold]
    fn write_unowned(&mut self, request: &Request, core: usize) -> (u64, bool) {
        let Request { line, kind, at, .. } = *request;
        let side = request.owner.side();
        let (pair, own) = (self.cores[core].pair, self.cores[core].data_bit);
        let want = self.want(core, line, kind, at, side);
        let Some(arrival) = self.bring(pair, &want) else {
            unreachable!("a want without end of patience is refused");
        };
        if let Some(entry) = self.pairs[pair].l2.find_mut(line) {
            entry.is_dirty = true;
            entry.is_exclusive = true;
            entry.writer = core as u16;
            entry.ready = arrival.ready;
            let others = entry.above & !own;
            entry.above &= own;
            self.take_above(pair, line, others, Some(side));
        }
        (arrival.ready, arrival.is_refill)
    }

    /// The walker reads tables through the L2, and not through the data cache: what POWER's event counters
    /// tell of the origin of table entries begins with the L2.
    fn walk(&mut self, request: &Request, core: usize) -> Answer {
        let Request { line, kind, at, .. } = *request;
        let want = self.want(core, line, kind, at, request.owner.side());
        let Some(arrival) = self.bring(self.cores[core].pair, &want) else {
            unreachable!("a want without end of patience is refused");
        };
        let Arrival { ready, level, is_refill, .. } = arrival;
        Answer { ready, cause: level.cause(kind), is_refill }
    }

    /// Brings a line into the L2 of `pair`, from wherever it is. `None` if patience ends.
    fn bring(&mut self, pair: usize, want: &Want) -> Option<Arrival> {
        let Want { line, kind, at, side, .. } = *want;
        let latencies = &self.latencies;
        let caches = &mut self.pairs[pair];
        let wait = |port: &mut Calendar, level| {
            let begin = port.reserve(at, u64::MAX).unwrap_or(at);
            at + latencies.wait(kind, level, begin - at) + latencies.of(kind, level)
        };
        // Whether it is there already, or on its way.
        let arrive = |entry: &Line, soonest, level, is_refill| {
            let is_in_l2 = level == Level::L2;
            if entry.ready > soonest {
                let is_refill = is_refill || entry.is_refill;
                Arrival { ready: entry.ready, level: entry.from, is_refill, is_in_l2 }
            } else {
                Arrival { ready: soonest, level, is_refill, is_in_l2 }
            }
        };
        if let Some(entry) = caches.l2.touch(line, side) {
            let mut arrival = arrive(entry, wait(&mut caches.l2_port, Level::L2), Level::L2, false);
            want.note_use(entry);
            if want.is_alone() && !entry.is_exclusive {
                arrival.ready = arrival.ready.max(at.max(entry.ready) + latencies.claim());
                self.take_from_others(pair, line, side);
            }
            return Some(arrival);
        }
        let is_lost = caches.l2.take_loss(line, side);
        if let Some(mut entry) = caches.l3.remove(line) {
            let soonest = wait(&mut caches.l3_port, Level::L3);
            let mut arrival = arrive(&entry, soonest, Level::L3, is_lost);
            if want.is_alone() && !entry.is_exclusive {
                arrival.ready = arrival.ready.max(at.max(entry.ready) + latencies.claim());
                self.take_from_others(pair, line, side);
            }
            entry.is_refill = arrival.is_refill;
            entry.from = arrival.level;
            entry.ready = arrival.ready;
            want.note_use(&mut entry);
            self.install_l2(pair, line, entry, want);
            return Some(arrival);
        }
        let is_refill = caches.l3.take_loss(line, side) || is_lost;
        let mut entry = Line { is_refill, ..self.supply(pair, want)? };
        want.note_use(&mut entry);
        self.install_l2(pair, line, entry, want);
        Some(Arrival { ready: entry.ready, level: entry.from, is_refill, is_in_l2: false })
    }

    /// Brings a line into the L3 region of `pair` that its caches do not have.
    fn bring_into_l3(&mut self, pair: usize, want: &Want) {
        let line = want.line;
        let caches = &self.pairs[pair];
        if caches.l2.find(line).is_some() || caches.l3.find(line).is_some() {
            return;
        }
        if let Some(entry) = self.supply(pair, want) {
            let caches = &mut self.pairs[pair];
            let is_lost = caches.l2.take_loss(line, want.side);
            let is_refill = caches.l3.take_loss(line, want.side) || is_lost;
            self.install_l3(pair, line, want.side, Line { is_refill, ..entry }, want);
        }
    }

    fn install_l2(&mut self, pair: usize, line: u64, entry: Line, want: &Want) {
        let side = want.side;
        let Some(victim) = self.pairs[pair].l2.install(line, side, entry, side) else {
            return;
        };
        let Victim { tag, side, entry } = victim;
        self.take_above(pair, tag, entry.above, None);
        self.install_l3(pair, tag, side, Line { above: 0, ..entry }, want);
    }

    fn install_l3(&mut self, pair: usize, line: u64, side: Side, entry: Line, want: &Want) {
        let victim = self.pairs[pair].l3.install(line, side, entry, want.side);
        if let Some(Victim { tag, entry: Line { is_dirty: true, .. }, .. }) = victim {
            self.write_back(tag, want.at);
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

impl Want {
    /// Writes into an L2's entry who has it now.
    fn note_use(&self, entry: &mut Line) {
        entry.above |= self.above;
        if entry.writer != self.core {
            entry.writer = NOBODY;
        }
    }
}

impl Core {
    fn new(
        cache: &CacheParameters,
        prefetch: &PrefetchParameters,
        pair: usize,
        place: usize,
    ) -> Self {
        let array = |bytes, ways| Array::new(CacheParameters::sets(bytes, ways), ways);
        Self {
            pair,
            data_bit: 1 << (2 * place),
            instruction_bit: 2 << (2 * place),
            data: array(cache.l1d_bytes, cache.l1d_ways),
            instructions: array(cache.l1i_bytes, cache.l1i_ways),
            streams: Streams::new(prefetch.streams),
            fetches_ahead: true,
        }
    }
}

impl Pair {
    fn new(cache: &CacheParameters, chip: usize, first_core: usize) -> Self {
        let array = |bytes, ways| Array::new(CacheParameters::sets(bytes, ways), ways);
        let port = |bandwidth: u64| Calendar::new((1 << LINE_LOG2) as f64 / bandwidth as f64);
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
