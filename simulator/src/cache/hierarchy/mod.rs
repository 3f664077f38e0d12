//! Every core's caches and the memory: an access goes in, a time comes out.
//!
//! A core has an instruction and a data cache; data is stored through to the L2, and a store brings
//! nothing into the data cache. Cores in pairs share an L2, which has whatever their first level has,
//! and an L3 region, which gets what the L2 drops and gives it up when it goes back: a line is in one
//! of the two.
//!
//! `first_level` is what a core does with its own caches, `pair` what it shares with another, `supply` where a
//! line comes from that they do not have, `ahead` what is fetched before anybody asks, `engine` what a prefetch engine
//! logs and fetches.
//!
//! State changes when an access is made, and the line says from which cycle it is good for use: who
//! comes earlier waits for it, so misses to one line are one miss.

mod ahead;
mod engine;
mod first_level;
mod pair;
mod supply;

use serde::{Deserialize, Serialize};

pub use self::engine::{Restored, Savings};
use self::pair::Pair;
use super::array::Array;
use super::exchange::{Exchange, Rules};
use super::latency::Latencies;
use super::line::{Bringer, Line};
use super::memory::Memory;
use super::parameters::{CacheParameters, PrefetchParameters};
use super::prefetch::Streams;
use super::{Answer, CacheMisses, Kind, LINE_LOG2, Request};
use crate::description::Description;
use crate::description::timing::MODELLED;
use crate::ledger::{CauseSet, Side};
use crate::quantity::Bound;

/// The first level of one core.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Core {
    pair: usize,
    /// The bits that say in [`Line::above`] that the data and the instruction cache may have a line.
    data_bit: u8,
    instruction_bit: u8,
    data: Array<Line>,
    instructions: Array<Line>,
    streams: Streams,
    /// Lines of instructions that are fetched ahead.
    instruction_lines: u64,
}

/// What a thread wants of a line that wanders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wish {
    /// To read it.
    Read,
    /// To reserve it.
    Reserve,
    /// To write it.
    Write,
}

/// The caches and memories of a machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Hierarchy {
    /// The core of each thread.
    core_of: Vec<usize>,
    /// The most threads that a core of this kind can run.
    threads_max: u64,
    cores: Vec<Core>,
    pairs: Vec<Pair>,
    /// Of each chip.
    memories: Vec<Memory>,
    /// First line, line behind the last one, and chip of each region of memory.
    homes: Vec<(u64, u64, usize)>,
    latencies: Latencies,
    prefetch: PrefetchParameters,
    exchange: Exchange,
    /// By thread.
    misses: Vec<CacheMisses>,
}

impl Hierarchy {
    /// The caches of the machine that `description` describes, all empty, where the causes in `free` cost
    /// nothing.
    #[must_use]
    pub fn new(description: &Description, bound: Bound, free: CauseSet) -> Self {
        let timing = description.timing().expect(MODELLED);
        let cache = timing.cache.values(bound);
        let memory = timing.memory.values(bound);
        let mut prefetch = timing.prefetch.values(bound);
        if timing.prefetch.instruction_lines_shared.is_none() {
            prefetch.instruction_lines_shared = prefetch.instruction_lines;
        }
        let (chips, cores_per_chip, _) = description.topology();
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
        // Places in memory leave the holes between regions out.
        let homes = description.memory().into_iter().scan(0, |end, region| {
            let begin = *end;
            *end += region.bytes >> LINE_LOG2;
            Some((begin, *end, region.node as usize))
        });
        Self {
            misses: vec![CacheMisses::default(); description.core_of_threads().len()],
            core_of: description.core_of_threads(),
            threads_max: description.processor().facts().threads_max().into(),
            cores,
            pairs,
            memories: vec![Memory::new(&memory, clock); chips],
            homes: homes.collect(),
            latencies: Latencies::new(&cache, &memory, clock, free),
            prefetch,
            exchange: Exchange::new(
                description.core_of_threads().len(),
                Rules {
                    kept: cache.reservation_kept,
                    gives_way: cache.writer_gives_way,
                    longest_lead: cache.writer_lead,
                    wanted: cache.line_wanted,
                },
            ),
        }
    }

    /// Makes an access.
    #[inline]
    pub fn access(&mut self, request: &Request) -> Answer {
        let core = self.core_of[request.thread];
        match request.kind {
            Kind::Load | Kind::Fetch => self.read(request, core),
            Kind::Store | Kind::Zero => self.write(request, core),
            Kind::Walk => self.walk(request, core),
        }
    }

    /// What `thread` missed.
    #[must_use]
    pub fn misses(&self, thread: usize) -> CacheMisses {
        self.misses[thread]
    }

    /// The SMT mode of `core` changes: so many threads share what is divided.
    pub fn set_mode(&mut self, core: usize, threads: u64) {
        self.cores[core].instruction_lines = match threads {
            1 => self.prefetch.instruction_lines,
            _ if threads >= self.threads_max => 0,
            _ => self.prefetch.instruction_lines_shared,
        };
    }

    /// Makes an access of a thread beside others: it waits for what they stored, and they for what it stores.
    #[inline]
    pub fn access_beside(&mut self, request: &Request) -> Answer {
        let Request { thread, line, kind, .. } = *request;
        let at = self.exchange.admit(thread, line, request.at);
        let answer = self.access(&Request { at, ..*request });
        match kind {
            Kind::Load => self.exchange.read(thread, line),
            Kind::Store | Kind::Zero => self.exchange.write(thread, line, answer.ready),
            Kind::Fetch | Kind::Walk => {}
        }
        answer
    }

    /// Whether threads pass `line` to each other by writing it: the order of accesses to it matters.
    #[inline]
    #[must_use]
    pub fn wanders(&self, line: u64) -> bool {
        self.exchange.wanders(line)
    }

    /// Whether another thread than `thread` stored last into `line`, which wanders.
    #[inline]
    #[must_use]
    pub fn is_overwritten(&self, thread: usize, line: u64) -> bool {
        self.exchange.is_overwritten(thread, line)
    }

    /// When the turn of `thread` comes at a line that wanders, which it comes to at cycle `at` for what `wish`
    /// says. Who only reads and has a copy does not have to ask for it.
    #[must_use]
    pub fn request(&mut self, thread: usize, line: u64, wish: Wish, at: u64) -> u64 {
        let core = self.core_of[thread];
        if wish == Wish::Read && self.cores[core].data.find(line).is_some() {
            self.exchange.leave(thread, false);
            at
        } else {
            self.exchange.request(thread, line, wish == Wish::Reserve, at)
        }
    }

    /// The thread whose request for a line was answered last.
    #[must_use]
    pub fn served(&self) -> usize {
        self.exchange.served()
    }

    /// Who waits for which line, and who keeps one.
    pub fn exchange(&mut self) -> &mut Exchange {
        &mut self.exchange
    }

    /// Takes everything out of the data cache of `thread`'s core, because `side` asks for it. Stores went
    /// through to the L2, so there is nothing to write back.
    pub fn empty_data(&mut self, thread: usize, side: Side) {
        self.cores[self.core_of[thread]].data.displace_all(side);
    }

    /// What the data cache of `thread`'s core has that partition `lpid` did not bring in.
    pub fn residue(&self, thread: usize, lpid: u32) -> impl Iterator<Item = (u64, Bringer)> {
        let data = &self.cores[self.core_of[thread]].data;
        data.entries().filter_map(move |(line, entry)| {
            let bringer = entry.bringer?;
            let is_own = bringer.is_partition && bringer.lpid == Some(lpid);
            (!is_own).then_some((line, bringer))
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
        let room = if is_dirty { self.write_back(Kind::Store, line, at) } else { at };
        room + self.latencies.claim()
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
            instruction_lines: prefetch.instruction_lines,
        }
    }
}

#[cfg(test)]
mod tests;
