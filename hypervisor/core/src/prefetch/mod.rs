//! What the prefetch engine of a core does as vCPUs take turns there: it logs which lines the caches have of one when
//! another one comes, and fetches them when the first is back.
//!
//! An engine does one thing at a time, and nobody waits for it:
//!
//! - Who leaves is not logged before somebody else comes, since it may come straight back. A log that is under way
//!   then, of the one before, keeps the engine; who leaves keeps the table that it had.
//! - Who comes has its lines fetched as soon as the engine is free, at an entry: it leaves once in a while to see that
//!   ([`LOOK_TICKS`]). A fetch that is still under way when the next one comes is ended, and its table is of no use any
//!   more: else a vCPU whose stays are short would have its first lines fetched over and over.
//! - Where vCPUs take turns that are shorter than a fetch ([`SHORT_TICKS`]), the engine is left alone: a log of a short
//!   stay, and a fetch behind a short absence, take more time than they save.
//! - A table is used by one engine at a time, also when its vCPU has moved to another core meanwhile.
//! - With `adaptive` each vCPU has what it gets more done with ([`learning`]): by instructions completed in the time
//!   that it was there, of stays that were neither short nor behind a short absence.
//!
//! One hardware thread of a core, or of each subcore, runs partitions where there is an engine. Subcores share their
//! core's: a log has the lines of all of them, and who wants a fetch while the engine is at work for another one looks
//! again as for its own log.

use alloc::vec::Vec;

use arch::address::RealAddress;
use arch::bundle::{PREFETCH, PrefetchPolicy};
use arch::record::Learned;
use arch::registers::mppr;
use dtoolkit::fdt::Fdt;
use dtoolkit::{Node, Property};

use crate::sync::Lock;
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::vcpu_id::VcpuId;

use learning::{Learning, Way};

mod learning;
pub mod patch;

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

/// There is no memory for a table of each vCPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoMemory;

/// How long a vCPU runs whose lines are to be fetched before it is seen whether the engine is free: 5 us of a 512 MHz
/// time base. Nobody has published how long a log takes.
const LOOK_TICKS: u64 = 2560;

/// What is too short for a log or a fetch: 50 us of a 512 MHz time base. It is a guess: on our machine a fetch of a
/// whole L2 takes more than half of that, and nobody has published how long it takes.
const SHORT_TICKS: u64 = 25_600;

/// The table of a vCPU.
#[derive(Debug)]
struct Table {
    address: RealAddress,
    state: AtomicUsize,
    /// When it left a core in which another vCPU came in its place.
    left: AtomicU64,
    learning: Lock<Learning>,
}

/// Of a vCPU that was never there.
const NEVER: u64 = u64::MAX;

/// It names nothing of use.
const EMPTY: usize = 0;
/// It names the lines that its vCPU had.
const WHOLE: usize = 1;
/// An engine writes or reads it.
const BUSY: usize = 2;

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
    /// The hardware thread, counted from 0.
    pub thread: usize,
    /// The core whose engine serves it, counted in any way from 0 to less than the hardware threads.
    pub core: usize,
}

/// What an engine is at, with the table of a vCPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    Log,
    Fetch,
}

/// The same, and which hardware thread told it to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Work {
    thread: usize,
    what: What,
    of: VcpuId,
}

/// Who is on a hardware thread.
#[derive(Debug, Default)]
struct Runner {
    /// Which vCPU was the last to enter it.
    last: Option<VcpuId>,
    stay: Stay,
    /// That one's lines are to be fetched once the engine is free.
    is_wanted: bool,
}

/// What a vCPU has done since it came to a core.
#[derive(Debug, Default)]
struct Stay {
    /// It had been away long enough for a fetch.
    was_away: bool,
    /// What it was to have.
    way: Way,
    /// When it entered last, and what the thread had completed then.
    entered: (u64, u64),
    /// When it left last.
    left: u64,
    /// Ticks that it was there, with exits from which it came back at once.
    ticks: u64,
    /// Instructions that it completed.
    done: u64,
}

impl Stay {
    const fn is_long(&self) -> bool {
        self.ticks >= SHORT_TICKS
    }
}

/// Of which caches vCPUs have logs.
#[derive(Clone, Copy, Debug)]
enum Use {
    Always(Levels),
    /// As each has learned.
    Adaptive,
}

/// The tables of all vCPUs, and what the engines of all cores do with them.
#[derive(Debug)]
pub struct Tables {
    what: Use,
    /// By number of the vCPU.
    tables: Vec<Table>,
    /// By hardware thread. No other one takes the lock.
    runners: Vec<Lock<Runner>>,
    /// By core, what its engine was told. Taken behind the lock of a hardware thread.
    engines: Vec<Lock<Option<Work>>>,
}

impl Tables {
    fn of(&self, vcpu: VcpuId) -> &Table {
        &self.tables[vcpu.0 as usize]
    }

    /// Tables for so many vCPUs, which enter so many hardware threads; none if the engine is off, or used in the way of
    /// the [`patch`].
    ///
    /// # Errors
    /// [`NoMemory`].
    pub fn new(
        hal: &impl PrefetchEngine,
        policy: PrefetchPolicy,
        vcpus: usize,
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
                left: AtomicU64::new(NEVER),
                learning: Lock::new(Learning::new(number as u64)),
            })
        };
        let tables = (0..vcpus).map(table).collect::<Option<Vec<_>>>().ok_or(NoMemory)?;
        let runners = (0..threads).map(|_| Lock::new(Runner::default())).collect();
        let engines = (0..threads).map(|_| Lock::new(None)).collect();
        Ok(Some(Self { what, tables, runners, engines }))
    }

    /// What the next stay of a vCPU has.
    fn way(&self, table: &Table) -> Way {
        match self.what {
            Use::Always(levels) => Some(levels),
            Use::Adaptive => table.learning.lock().way(),
        }
    }

    /// Notes that the engine has done what it was told, if it has.
    fn look(&self, hal: &impl PrefetchEngine, engine: &mut Option<Work>) {
        if let Some(work) = *engine
            && !hal.is_at_work()
        {
            self.of(work.of).give_back(WHOLE);
            *engine = None;
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
        let runner = &mut *self.runners[place.thread].lock();
        let engine = &mut *self.engines[place.core].lock();
        let table = self.of(vcpu);
        if runner.last != Some(vcpu) {
            self.look(hal, engine);
            self.leaves(hal, place.thread, runner, engine);
            let away = now.saturating_sub(table.left.load(Ordering::Relaxed));
            let was_away = away >= SHORT_TICKS;
            let way = self.way(table);
            runner.is_wanted =
                was_away && way.is_some() && table.state.load(Ordering::Relaxed) != EMPTY;
            runner.last = Some(vcpu);
            runner.stay = Stay { was_away, way, ..Stay::default() };
        } else {
            let out = now.saturating_sub(runner.stay.left);
            // Whoever waits for something does no work meanwhile.
            runner.stay.ticks += if out <= LOOK_TICKS { out } else { 0 };
            if runner.is_wanted {
                self.look(hal, engine);
            }
        }
        runner.stay.entered = (now, hal.completed());
        if !runner.is_wanted {
            return None;
        }
        if engine.is_some() {
            return Some(LOOK_TICKS);
        }
        runner.is_wanted = false;
        if table.take(|state| state == WHOLE) {
            hal.begin_fetch(table.address, lpid);
            *engine = Some(Work { thread: place.thread, what: What::Fetch, of: vcpu });
        }
        None
    }

    /// The vCPU that entered the hardware thread leaves it `now`, before anything else is done.
    pub fn exits(&self, hal: &impl PrefetchEngine, thread: usize, now: u64) {
        let stay = &mut self.runners[thread].lock().stay;
        let (time, completed) = stay.entered;
        stay.ticks += now.saturating_sub(time);
        stay.done += hal.completed().wrapping_sub(completed);
        stay.left = now;
    }

    /// Another vCPU comes in place of the last one of the hardware thread.
    fn leaves(
        &self,
        hal: &impl PrefetchEngine,
        thread: usize,
        runner: &Runner,
        engine: &mut Option<Work>,
    ) {
        let Some(last) = runner.last else { return };
        let (table, stay) = (self.of(last), &runner.stay);
        table.left.store(stay.left, Ordering::Relaxed);
        if engine.is_some_and(|work| work.thread == thread && work.what == What::Fetch) {
            self.end(hal, engine);
        }
        if !stay.is_long() {
            return;
        }
        if matches!(self.what, Use::Adaptive) && stay.was_away {
            let learning = &mut *table.learning.lock();
            // It may have gone to another core, and come from there, before somebody came here.
            if learning.way() == stay.way {
                learning.note(stay.done, stay.ticks);
            }
        }
        if let Some(levels) = self.way(table)
            && engine.is_none()
            && table.take(|state| state != BUSY)
        {
            hal.begin_log(table.address, levels);
            *engine = Some(Work { thread, what: What::Log, of: last });
        }
    }

    /// Ends what the engine is at, which leaves nothing of use.
    fn end(&self, hal: &impl PrefetchEngine, engine: &mut Option<Work>) {
        let Some(work) = engine.take() else { return };
        match work.what {
            What::Log => hal.end_log(),
            What::Fetch => hal.end_fetch(),
        }
        self.of(work.of).give_back(EMPTY);
    }

    /// What each vCPU has learned, in their order; nothing where they do not.
    #[must_use]
    pub fn learned(&self) -> Vec<Learned> {
        match self.what {
            Use::Always(_) => Vec::new(),
            Use::Adaptive => {
                self.tables.iter().map(|table| table.learning.lock().learned()).collect()
            }
        }
    }

    /// Nothing enters there any more.
    pub fn ends(&self, hal: &impl PrefetchEngine, place: Place) {
        let engine = &mut *self.engines[place.core].lock();
        self.look(hal, engine);
        if engine.is_some_and(|work| work.thread == place.thread) {
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

#[cfg(test)]
mod tests;
