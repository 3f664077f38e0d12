//! What a core does with its own caches: reads, writes and table walks, and what its pair has to bring.

use super::pair::{Arrival, Want};
use super::{Core, Hierarchy};
use crate::cache::array::Array;
use crate::cache::latency::Level;
use crate::cache::line::{Bringer, Line};
use crate::cache::{Answer, Kind, Request};
use crate::ledger::Side;

impl Hierarchy {
    /// A core's data cache, or its instruction cache.
    #[inline]
    pub(super) fn first_level(&mut self, core: usize, kind: Kind) -> &mut Array<Line> {
        let core = &mut self.cores[core];
        if kind == Kind::Fetch { &mut core.instructions } else { &mut core.data }
    }

    #[inline]
    pub(super) fn read(&mut self, request: &Request, core: usize) -> Answer {
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
        let line = request.line;
        let want = self.want(request, core, line);
        let misses = &mut self.misses[request.thread];
        misses.l1 += 1;
        misses.fetches_l1 += u64::from(request.kind == Kind::Fetch);
        let arrival = self.demand(request.thread, core, &want);
        let entry = self.fill(core, &want, arrival);
        self.look_ahead(request, core, entry.from);
        Answer {
            ready: entry.ready,
            cause: entry.from.cause(want.kind),
            is_refill: entry.is_refill,
        }
    }

    /// That `core` wants `line` on account of `request`, which may be for another.
    pub(super) fn want(&self, request: &Request, core: usize, line: u64) -> Want {
        let Request { thread, kind, at, owner, .. } = *request;
        let bringer = Bringer {
            thread: thread as u16,
            lpid: owner.lpid(),
            is_partition: owner.side().is_some(),
        };
        let above = match kind {
            Kind::Load => self.cores[core].data_bit,
            Kind::Fetch => self.cores[core].instruction_bit,
            Kind::Store | Kind::Zero | Kind::Walk => 0,
        };
        let side = owner.side();
        Want { line, kind, at, side, bringer, core: core as u16, above, patience: u64::MAX }
    }

    /// Brings a line into the L2 of `core` for `thread`, whatever it takes.
    fn demand(&mut self, thread: usize, core: usize, want: &Want) -> Arrival {
        let Some(arrival) = self.bring(self.cores[core].pair, want) else {
            unreachable!("{want:?} was refused, and has no end of patience")
        };
        if !arrival.is_in_l2 {
            let misses = &mut self.misses[thread];
            let is_beyond = u64::from(arrival.level != Level::L3);
            misses.l2 += 1;
            misses.l3 += is_beyond;
            match want.kind {
                Kind::Load => {
                    misses.loads_l2 += 1;
                    misses.loads_l3 += is_beyond;
                }
                Kind::Store | Kind::Zero => misses.stores_l2 += 1,
                Kind::Fetch | Kind::Walk => {}
            }
        }
        arrival
    }

    /// Puts a line that has come into the L2 into an L1 of `core`.
    pub(super) fn fill(&mut self, core: usize, want: &Want, arrival: Arrival) -> Line {
        let Want { line, side, .. } = *want;
        let cache = self.first_level(core, want.kind);
        let is_lost = cache.take_loss(line, side);
        let is_refill = arrival.is_refill || arrival.is_in_l2 && is_lost;
        let bringer = Some(want.bringer);
        let entry = Line { is_refill, bringer, ..Line::new(arrival.level, arrival.ready) };
        cache.install(line, side, entry, side);
        entry
    }

    #[inline]
    pub(super) fn write(&mut self, request: &Request, core: usize) -> Answer {
        let Request { line, kind, at, .. } = *request;
        let side = request.owner.side();
        let Core { pair, data_bit, data, .. } = &mut self.cores[core];
        let (pair, own) = (*pair, *data_bit);
        let misses = &mut self.misses[request.thread];
        misses.stores += 1;
        misses.stores_l1 += u64::from(data.touch(line, side).is_none());
        let cause = Level::L2.cause(kind);
        let (ready, is_refill) = match self.pairs[pair].l2.touch(line, side) {
            Some(entry) if entry.is_exclusive => {
                entry.is_dirty = true;
                entry.writer = core as u16;
                let others = entry.above & !own;
                entry.above &= own;
                let own_ready = entry.ready;
                let cycles = self.latencies.of(Kind::Store, Level::L2);
                if others == 0 {
                    let ready = own_ready.max(at + cycles);
                    return Answer { ready, cause, is_refill: false };
                }
                let ready = own_ready.max(self.exchange.begin(line, at) + cycles);
                self.exchange.transfer(line, ready);
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
        let line = request.line;
        let want = self.want(request, core, line);
        let arrival = self.demand(request.thread, core, &want);
        self.own(core, line, request.owner.side(), arrival);
        if let Some(entry) = self.pairs[self.cores[core].pair].l2.find_mut(line) {
            entry.is_dirty = true;
            entry.writer = core as u16;
        }
        (arrival.ready, arrival.is_refill)
    }

    /// A line that has come into the L2 of `core` for it alone is nobody else's.
    pub(super) fn own(&mut self, core: usize, line: u64, side: Side, arrival: Arrival) {
        let (pair, own) = (self.cores[core].pair, self.cores[core].data_bit);
        if let Some(entry) = self.pairs[pair].l2.find_mut(line) {
            entry.is_exclusive = true;
            entry.ready = arrival.ready;
            let others = entry.above & !own;
            entry.above &= own;
            self.take_above(pair, line, others, Some(side));
        }
    }

    /// The walker reads tables through the L2, and not through the data cache: what POWER's event counters
    /// tell of the origin of table entries begins with the L2.
    pub(super) fn walk(&mut self, request: &Request, core: usize) -> Answer {
        let Request { line, kind, .. } = *request;
        let want = self.want(request, core, line);
        let Arrival { ready, level, is_refill, .. } = self.demand(request.thread, core, &want);
        Answer { ready, cause: level.cause(kind), is_refill }
    }
}
