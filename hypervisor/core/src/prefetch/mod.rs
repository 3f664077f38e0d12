//! What the prefetch engine of a core does as vCPUs take turns there: it logs which lines the caches have of some
//! when others come, and fetches them when the first are back.
//!
//! What leaves and comes is a *vcore*: vCPUs of a partition that are neighbours by number, as many as threads of a
//! core run vCPUs, since these share the caches. Where one thread does, it is a vCPU. A vcore's stay begins when a
//! vCPU of it enters a core in which no thread runs one and that had another vcore before; whoever of the partition
//! joins it meanwhile is a part of the stay.
//!
//! An engine does one thing at a time, and nobody waits for it:
//!
//! - Who leaves is not logged before somebody else comes, since it may come straight back. A log that is under way
//!   then, of the one before, keeps the engine; who leaves keeps the table that it had.
//! - Who comes has its lines fetched at an entry, as soon as the engine is free, unless another core's engine has its
//!   table then. One of its vCPUs leaves to see whether the engine is free, when a log as long as the last ones is
//!   whole and once in a while from then on ([`LOOK_TICKS`]). It does so where it wants no fetch too, since the table
//!   is kept from other cores until somebody has seen that, at such an entry or at any exit. A fetch that is still
//!   under way when the next one comes is ended, and its table is of no use any more: else a vcore whose stays are
//!   short would have its first lines fetched over and over.
//! - Where vcores take turns that are shorter than a fetch ([`SHORT_TICKS`]), the engine is left alone: a log of a
//!   short stay, and a fetch behind a short absence, take more time than they save.
//! - A table is used by one engine at a time, also when its vcore has moved to another core meanwhile.
//! - With `adaptive` each vcore has what it gets more done with ([`learning`]): by instructions completed in the time
//!   that its vCPUs were there, of stays that were neither short nor behind a short absence, and in which it was
//!   fetched if it was to be; and by the misses that were avoided, where no vCPU of it has the performance monitor.
//!
//! Subcores share their core's engine: a log has the lines of all of them, and who wants a fetch while the engine is at
//! work for another one looks again as for its own log.

use alloc::vec::Vec;

use arch::address::RealAddress;
use arch::bundle::{PREFETCH, PrefetchPolicy};
use arch::processor::Processor;
use arch::record::Learned;
use arch::registers::mppr;
use dtoolkit::fdt::Fdt;
use dtoolkit::{Node, Property};

use crate::sync::Lock;
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::vcpu_id::VcpuId;

use learning::{Learning, Outcome, Way};
use vcores::VcoreId;

pub use learning::Missed;
pub use vcores::{Vcores, most_in_a_part};

mod learning;
pub mod patch;
mod vcores;

/// The prefetch engine of the core that the hardware thread belongs to (`docs/facts/power8.md#prefetch-engine`).
pub trait PrefetchEngine {
    /// A table that has room for a log of these caches, zero and for good.
    fn new_log(&self, levels: Levels) -> Option<RealAddress>;

    /// Begins to log what the caches have. The engine is at nothing else.
    fn begin_log(&self, table: RealAddress, levels: Levels);

    /// Ends a log, which leaves a table of no use.
    fn end_log(&self);

    /// Begins to fetch what a table names, for the partition `lpid`. The engine is at nothing else.
    fn begin_fetch(&self, table: RealAddress, lpid: u32);

    /// Ends a fetch.
    fn end_fetch(&self);

    /// Whether the engine logs or fetches.
    fn is_at_work(&self) -> bool;

    /// Instructions that the hardware thread has completed, from where it does not matter.
    fn completed(&self) -> u64;

    /// Loads of its vCPU that missed the caches, from where it does not matter, modulo 2^32; nothing where the
    /// performance monitor is the vCPU's.
    fn missed(&self) -> Option<Missed>;
}

/// Which caches a log is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Levels {
    /// The core's L2.
    L2,
    /// That, and the way of its L3 that was used last.
    L2AndL3,
}

impl Levels {
    /// Bytes of a table for a log, and its alignment.
    #[must_use]
    pub const fn table_bytes(self) -> u64 {
        match self {
            Self::L2 => mppr::L2_TABLE_BYTES,
            Self::L2AndL3 => mppr::L2_AND_L3_TABLE_BYTES,
        }
    }
}

/// There is no memory for a table of each vcore.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoMemory;

/// How long a vcore runs between two looks whether the engine is free, at least: 5 us of a 512 MHz time base. Nobody
/// has published how long a log takes; what the last ones took is measured.
const LOOK_TICKS: u64 = 2560;

/// What is too short for a log or a fetch: 50 us of a 512 MHz time base. It is a guess: on our machine a fetch of a
/// whole L2 takes more than half of that, and nobody has published how long it takes.
const SHORT_TICKS: u64 = 25_600;

/// The table of a vcore.
#[derive(Debug)]
struct Table {
    address: RealAddress,
    state: AtomicUsize,
    /// How many stays it has begun, on any core.
    begun: AtomicU64,
    /// When a vCPU of it left a core last.
    left: AtomicU64,
    learning: Lock<Learning>,
}

/// Of a vcore that was never there.
const NEVER: u64 = u64::MAX;

/// It names nothing of use.
const EMPTY: usize = 0;
/// An engine writes or reads it.
const BUSY: usize = 1;

/// It names the lines of these caches that its vcore had.
const fn whole(levels: Levels) -> usize {
    match levels {
        Levels::L2 => 2,
        Levels::L2AndL3 => 3,
    }
}

impl Table {
    /// Takes it for an engine, if it is in a state that `is_fit`.
    fn take(&self, is_fit: impl Fn(usize) -> bool) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        is_fit(state)
            && self
                .state
                .compare_exchange(state, BUSY, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    /// The engine has done with it, and leaves it so.
    fn give_back(&self, state: usize) {
        self.state.store(state, Ordering::Release);
    }
}

/// Where a vCPU runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The hardware thread, counted from 0 in its part, to less than [`THREADS`].
    pub thread: usize,
    /// The part of a split core, or the core, counted in any way from 0 to less than the hardware threads.
    pub part: usize,
    /// The core whose engine serves it, counted likewise.
    pub core: usize,
}

/// Threads of a POWER8's core.
pub const THREADS: usize = 1 << Processor::Power8.facts().pir.core_shift;

/// What an engine is at, with the table of a vcore.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    Log,
    Fetch,
}

/// The same, with the lines of which caches, and which part of the core told it to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Work {
    part: usize,
    what: What,
    of: VcoreId,
    levels: Levels,
    /// Since when.
    begun: u64,
    /// So many ticks behind that it was seen at work last.
    seen: u64,
}

/// What the engine of a core is at, and how long its logs take.
#[derive(Clone, Copy, Default, Debug)]
struct Engine {
    work: Option<Work>,
    /// Ticks of a log, by caches, as it was seen.
    takes: [u64; 2],
}

impl Engine {
    fn takes(&mut self, levels: Levels) -> &mut u64 {
        match levels {
            Levels::L2 => &mut self.takes[0],
            Levels::L2AndL3 => &mut self.takes[1],
        }
    }

    /// It is still at work `now`: in how many ticks it should be looked at again.
    fn goes_on(&mut self, now: u64) -> u64 {
        let Some(work) = &mut self.work else { return LOOK_TICKS };
        work.seen = now.saturating_sub(work.begun);
        let Work { what, levels, seen, .. } = *work;
        let takes = if what == What::Log { *self.takes(levels) } else { 0 };
        // An eighth early, or nobody would see that it takes less than it did.
        (takes - takes / 8).saturating_sub(seen).max(LOOK_TICKS)
    }

    /// It has done by `now` what it was told.
    fn is_done(&mut self, now: u64) -> Option<Work> {
        let work = self.work.take()?;
        if work.what == What::Log {
            let most = now.saturating_sub(work.begun);
            let takes = self.takes(work.levels);
            // Where nobody was there, it was seen late.
            *takes = most.min(work.seen.saturating_add(LOOK_TICKS).max(*takes));
        }
        Some(work)
    }
}

/// Who is on a core, or on a part of a split one.
#[derive(Debug, Default)]
struct Runner {
    /// Which vcore was the last to enter it.
    last: Option<VcoreId>,
    stay: Stay,
    /// Threads that run a vCPU of it now.
    inside: usize,
    visits: [Visit; THREADS],
    /// Its lines are to be fetched once the engine is free.
    is_wanted: bool,
    /// The engine logs who was here before, as far as anybody has seen here.
    is_logging: bool,
    /// The engine fetches the lines of who is here, likewise.
    is_fetching: bool,
    /// The thread that sees whether it is free.
    looker: Option<usize>,
}

/// What a vcore has done since it came to a core.
#[derive(Debug, Default)]
struct Stay {
    /// Which of the core's stays it is.
    number: u64,
    /// It had been away long enough for a fetch.
    was_away: bool,
    /// Which of the vcore's it is.
    order: u64,
    /// What it was to have.
    way: Way,
    /// Whether it has that.
    is_as_meant: bool,
    /// The longest of its visits, in ticks.
    longest: u64,
    /// Ticks of all visits.
    ticks: u64,
    /// Instructions that its vCPUs completed.
    done: u64,
    /// Their loads that missed the caches, if that is asked and all are counted.
    missed: Option<Missed>,
}

impl Stay {
    const fn is_long(&self) -> bool {
        self.longest >= SHORT_TICKS
    }
}

/// What a hardware thread ran of a stay.
#[derive(Clone, Copy, Debug, Default)]
struct Visit {
    /// The number of the stay.
    stay: u64,
    /// When a vCPU entered last, and what the thread had completed then.
    entered: (u64, u64),
    /// The loads that had missed the caches then, likewise.
    missed: Option<Missed>,
    /// When it left last.
    left: u64,
    /// Ticks that a vCPU was there, with exits from which one came back at once.
    ticks: u64,
}

/// Of which caches vcores have logs.
#[derive(Clone, Copy, Debug)]
enum Use {
    Always(Levels),
    /// As each has learned.
    Adaptive,
}

/// The tables of all vcores, and what the engines of all cores do with them.
#[derive(Debug)]
pub struct Tables {
    what: Use,
    vcores: Vcores,
    /// By number of the vcore.
    tables: Vec<Table>,
    /// By part of a core.
    runners: Vec<Lock<Runner>>,
    /// By core. Taken behind the lock of a part.
    engines: Vec<Lock<Engine>>,
}

impl Tables {
    fn of(&self, vcore: VcoreId) -> &Table {
        &self.tables[vcore.0]
    }

    /// Tables for these, which enter so many hardware threads; none if the engine is off, or used in the way of the
    /// [`patch`].
    ///
    /// # Errors
    /// [`NoMemory`].
    pub fn new(
        hal: &impl PrefetchEngine,
        policy: PrefetchPolicy,
        vcores: Vcores,
        threads: usize,
    ) -> Result<Option<Self>, NoMemory> {
        let (what, levels) = match policy {
            PrefetchPolicy::Off | PrefetchPolicy::Faithful => return Ok(None),
            PrefetchPolicy::AlwaysL2 => (Use::Always(Levels::L2), Levels::L2),
            PrefetchPolicy::AlwaysL2AndL3 => (Use::Always(Levels::L2AndL3), Levels::L2AndL3),
            PrefetchPolicy::Adaptive => (Use::Adaptive, Levels::L2AndL3),
        };
        let table = |number| {
            Some(Table {
                address: hal.new_log(levels)?,
                state: AtomicUsize::new(EMPTY),
                begun: AtomicU64::new(0),
                left: AtomicU64::new(NEVER),
                learning: Lock::new(Learning::new(number as u64)),
            })
        };
        let tables = (0..vcores.len()).map(table).collect::<Option<Vec<_>>>().ok_or(NoMemory)?;
        let runners = (0..threads).map(|_| Lock::new(Runner::default())).collect();
        let engines = (0..threads).map(|_| Lock::new(Engine::default())).collect();
        Ok(Some(Self { what, vcores, tables, runners, engines }))
    }

    /// What the next stay of a vcore has.
    fn way(&self, table: &Table) -> Way {
        match self.what {
            Use::Always(levels) => Some(levels),
            Use::Adaptive => table.learning.lock().way(),
        }
    }

    /// Whether what the next stay of a vcore misses is to be counted.
    fn counts(&self, table: &Table) -> bool {
        matches!(self.what, Use::Adaptive) && table.learning.lock().is_trial()
    }

    /// Notes that the engine has done what it was told, if it has by `now`.
    fn look(&self, hal: &impl PrefetchEngine, engine: &mut Engine, now: u64) {
        if engine.work.is_some()
            && !hal.is_at_work()
            && let Some(work) = engine.is_done(now)
        {
            self.of(work.of).give_back(whole(work.levels));
        }
    }

    /// This vCPU, of the partition `lpid`, enters there `now`: after how many ticks it should leave, if it should.
    pub fn enters(
        &self,
        hal: &impl PrefetchEngine,
        place: Place,
        (vcpu, lpid): (VcpuId, u32),
        now: u64,
    ) -> Option<u64> {
        let runner = &mut *self.runners[place.part].lock();
        let vcore = self.vcores.of(vcpu);
        if runner.inside == 0 {
            if runner.last != Some(vcore) {
                self.comes(hal, place, runner, vcore, now);
            } else if self.of(vcore).begun.load(Ordering::Relaxed) != runner.stay.order {
                // From another core, and nobody else was here meanwhile.
                self.begin_stay(runner, vcore, false);
            }
        }
        runner.inside += 1;
        let (stay, visit) = (&mut runner.stay, &mut runner.visits[place.thread]);
        if visit.stay == stay.number {
            let out = now.saturating_sub(visit.left);
            // Whoever waits for something does no work meanwhile.
            let out = if out <= LOOK_TICKS { out } else { 0 };
            visit.ticks += out;
            stay.ticks += out;
        } else {
            *visit = Visit { stay: stay.number, ..Visit::default() };
        }
        visit.entered = (now, hal.completed());
        visit.missed = stay.missed.and_then(|_| hal.missed());
        if !runner.is_wanted && !runner.is_logging {
            return None;
        }
        let engine = &mut *self.engines[place.core].lock();
        self.look(hal, engine, now);
        let is_own_log = |work: Work| work.part == place.part && work.what == What::Log;
        runner.is_logging = engine.work.is_some_and(is_own_log);
        if engine.work.is_some() {
            if !runner.is_wanted && !runner.is_logging {
                return None;
            }
            let looker = *runner.looker.get_or_insert(place.thread);
            return (looker == place.thread).then(|| engine.goes_on(now));
        }
        if !core::mem::take(&mut runner.is_wanted) {
            return None;
        }
        let (last, levels) = runner.last.zip(runner.stay.way)?;
        let table = self.of(last);
        if table.take(|state| state == whole(levels)) {
            hal.begin_fetch(table.address, lpid);
            let (part, what) = (place.part, What::Fetch);
            engine.work = Some(Work { part, what, of: last, levels, begun: now, seen: 0 });
            runner.is_fetching = true;
            runner.stay.is_as_meant = true;
        }
        None
    }

    /// A vCPU of the vcore comes to a part of a core in which nobody is and where another one was before.
    fn comes(
        &self,
        hal: &impl PrefetchEngine,
        place: Place,
        runner: &mut Runner,
        vcore: VcoreId,
        now: u64,
    ) {
        let engine = &mut *self.engines[place.core].lock();
        self.look(hal, engine, now);
        self.leaves(hal, place.part, runner, engine, now);
        let table = self.of(vcore);
        let was_away = now.saturating_sub(table.left.load(Ordering::Relaxed)) >= SHORT_TICKS;
        self.begin_stay(runner, vcore, was_away);
        let is_logged = table.state.load(Ordering::Relaxed) != EMPTY;
        runner.is_wanted = was_away && runner.stay.way.is_some() && is_logged;
        runner.is_logging = engine.work.is_some();
        runner.is_fetching = false;
    }

    /// A stay of the vcore begins.
    fn begin_stay(&self, runner: &mut Runner, vcore: VcoreId, was_away: bool) {
        let table = self.of(vcore);
        let way = self.way(table);
        let order = table.begun.fetch_add(1, Ordering::Relaxed) + 1;
        runner.last = Some(vcore);
        let number = runner.stay.number + 1;
        let is_as_meant = way.is_none();
        let missed = (was_away && self.counts(table)).then(Missed::default);
        runner.stay = Stay { number, was_away, order, way, is_as_meant, missed, ..Stay::default() };
    }

    /// The vCPU that entered there leaves `now`, before anything else is done.
    pub fn exits(&self, hal: &impl PrefetchEngine, place: Place, now: u64) {
        let runner = &mut *self.runners[place.part].lock();
        let (stay, visit) = (&mut runner.stay, &mut runner.visits[place.thread]);
        let (time, completed) = visit.entered;
        let ticks = now.saturating_sub(time);
        visit.ticks += ticks;
        visit.left = now;
        stay.ticks += ticks;
        stay.longest = stay.longest.max(visit.ticks);
        stay.done += hal.completed().wrapping_sub(completed);
        stay.missed = stay.missed.and_then(|all| Some(all.with(visit.missed?, hal.missed()?)));
        if let Some(last) = runner.last {
            self.of(last).left.store(now, Ordering::Relaxed);
        }
        runner.inside -= 1;
        runner.looker.take_if(|looker| *looker == place.thread);
        if runner.is_logging || runner.is_fetching {
            // Nobody may come to this core for long, and other cores want the table.
            let engine = &mut *self.engines[place.core].lock();
            self.look(hal, engine, now);
            let is_at =
                |what| engine.work.is_some_and(|work| work.part == place.part && work.what == what);
            (runner.is_logging, runner.is_fetching) = (is_at(What::Log), is_at(What::Fetch));
        }
    }

    /// Another vcore comes in place of the last one of a part of a core.
    fn leaves(
        &self,
        hal: &impl PrefetchEngine,
        part: usize,
        runner: &Runner,
        engine: &mut Engine,
        now: u64,
    ) {
        let Some(last) = runner.last else { return };
        let (table, stay) = (self.of(last), &runner.stay);
        if engine.work.is_some_and(|work| work.part == part && work.what == What::Fetch) {
            self.end(hal, engine);
        }
        // It may have come to another core before somebody came here, which has lines of it that are newer.
        if !stay.is_long() || table.begun.load(Ordering::Relaxed) != stay.order {
            return;
        }
        if matches!(self.what, Use::Adaptive) && stay.was_away {
            let Stay { done, ticks, missed, .. } = *stay;
            table.learning.lock().note(Outcome { done, ticks, missed }, stay.is_as_meant);
        }
        if let Some(levels) = self.way(table)
            && engine.work.is_none()
            && table.take(|state| state != BUSY)
        {
            hal.begin_log(table.address, levels);
            let what = What::Log;
            engine.work = Some(Work { part, what, of: last, levels, begun: now, seen: 0 });
        }
    }

    /// Ends what the engine is at, which leaves nothing of use.
    fn end(&self, hal: &impl PrefetchEngine, engine: &mut Engine) {
        let Some(work) = engine.work.take() else { return };
        match work.what {
            What::Log => hal.end_log(),
            What::Fetch => hal.end_fetch(),
        }
        self.of(work.of).give_back(EMPTY);
    }

    /// What each vCPU's vcore has learned, in their order; nothing where they do not.
    #[must_use]
    pub fn learned(&self) -> Vec<Learned> {
        let learned = |vcore| self.of(vcore).learning.lock().learned();
        match self.what {
            Use::Always(_) => Vec::new(),
            Use::Adaptive => self.vcores.iter().map(learned).collect(),
        }
    }

    /// Nothing enters any thread of the machine any more.
    pub fn ends(&self, hal: &impl PrefetchEngine, place: Place) {
        let engine = &mut *self.engines[place.core].lock();
        self.look(hal, engine, 0);
        if engine.work.is_some_and(|work| work.part == place.part) {
            self.end(hal, engine);
        }
    }
}

/// What the bundle with this manifest asks for, if there is such a policy.
#[must_use]
pub fn policy(manifest: &[u8]) -> Option<PrefetchPolicy> {
    let tree = Fdt::new(manifest).ok()?;
    match tree.root().property(PREFETCH) {
        None => Some(PrefetchPolicy::default()),
        Some(property) => property.value_as::<&str>().ok().and_then(PrefetchPolicy::from_name),
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
