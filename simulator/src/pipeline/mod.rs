//! The core as time sees it: how long instructions take, and why.
//!
//! `exec` says what an instruction does and knows no time. In timing mode each instruction that was
//! executed is passed on to here, with what it accessed and where it went, and [`stages`] finds the
//! cycle at which it completes: one pass, in program order, in the way of zsim's out-of-order core. The
//! time is charged to owners, instructions and causes in [`Charges`]. Nothing in here changes what the machine computes, but through the
//! time that the time base and the decrementers show.
//!
//! | file | what it is |
//! |---|---|
//! | [`operation`], [`class`], [`registers`] | an instruction as the pipeline sees it, made once from its word |
//! | [`block`] | the operations of decoded blocks |
//! | [`stages`] | one thread: fetch, dispatch, issue, completion |
//! | [`chain`] | what the time is charged to |
//! | [`front_end`], [`predictor`] | fetch blocks, taken branches, prediction |
//! | [`dispatch`], [`queue`], [`sharing`] | slots and windows; the issue queues; what the threads of a core share |
//! | [`fabric`] | what all cores share |
//! | [`units`], [`ports`], [`forward`] | what an operation occupies; units by cycle; stores that have not drained |
//! | [`context`], [`ready`] | what a pipeline works with: caches, translations; a cycle with its reason |
//! | [`parameters`] | what it all costs |

pub mod block;
pub mod chain;
pub mod class;
pub mod context;
pub mod dispatch;
pub mod fabric;
pub mod forward;
pub mod front_end;
pub mod operation;
pub mod parameters;
pub mod ports;
pub mod predictor;
pub mod queue;
pub mod ready;
pub mod registers;
pub mod sharing;
pub mod stages;
pub mod units;

use arch::bits::Field;
use arch::registers::spr::Spr;
use arch::registers::{msr, psscr};
use serde::{Deserialize, Serialize};

use crate::cache::translation::{TranslationMisses, Translations};
use crate::cache::{CacheMisses, Hierarchy, LINE_LOG2, Wish};
use crate::description::Description;
use crate::interrupt::Taken;
use crate::ledger::{Account, Cause, CauseSet, Charges, Clock, Owner};
use crate::quantity::Bound;
use crate::state::memory::Offset;
use crate::state::shared::{FirmwarePlace, Shared};
use crate::state::thread::accesses::Accesses;
use crate::state::thread::{Activity, Thread};
use class::Class;
use context::Context;
use fabric::Fabric;
use operation::Operation;
use parameters::Parameters;
use sharing::Core;
use stages::{Executed, Pipeline};

/// How a machine is timed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// Which end of the guesses is taken.
    pub bound: Bound,
    /// Causes that cost nothing.
    pub free: CauseSet,
    /// How many cycles a thread may go ahead of the others, 1 to 100.
    pub quantum: u64,
}

/// Further ahead, cycles, a thread would not see what others do in time.
pub const LONGEST_QUANTUM: u64 = 100;

impl Default for Settings {
    fn default() -> Self {
        Self { bound: Bound::Value, free: CauseSet::default(), quantum: LONGEST_QUANTUM }
    }
}

/// What to do when a mark is passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Plan {
    /// Go on in timing mode.
    Start(Settings),
    /// Forget all charges.
    Clear,
    /// Go on in functional mode and keep the ledger.
    Stop,
}

/// A thread's turn to be simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Turn {
    /// Whose it is.
    pub thread: usize,
    /// The cycle at which it ends.
    pub until: u64,
    /// The cycle of the other thread that is furthest behind; what orders threads waits for it.
    pub others: u64,
    /// That thread.
    pub other: usize,
}

/// The timing model's state, in timing mode.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Timing {
    settings: Settings,
    parameters: Parameters,
    clock: Clock,
    /// The address of firmware's entry.
    firmware: u64,
    threads_per_core: usize,
    /// Each thread's cycle when timing began or was last cleared.
    started: Vec<u64>,
    owners: Vec<Owner>,
    pipelines: Vec<Pipeline>,
    cores: Vec<Core>,
    fabric: Fabric,
    memory: Hierarchy,
    translations: Translations,
    charges: Charges,
    /// By thread and lower bits, the effective lines at which it met others, and where they lie.
    met: Box<[(u64, u64)]>,
    /// Whose turn it is.
    pub turn: Option<Turn>,
}

/// The firmware's entry word and the return behind it.
const FIRMWARE_BYTES: u64 = 8;

/// Places at which a thread met others that are remembered; a power of two.
const LINES_MET: usize = 64;

/// Where the effective line is in [`Timing::met`].
fn met(thread: &Thread, line: u64) -> usize {
    thread.index * LINES_MET + line as usize % LINES_MET
}

/// Program priority in PPR.
const PRIORITY: Field = Field::new(11, 13);

impl Timing {
    /// A model of the machine that `description` describes, with everything empty.
    #[must_use]
    pub fn new(
        description: &Description,
        firmware: FirmwarePlace,
        threads: &[Thread],
        mut settings: Settings,
    ) -> Self {
        settings.quantum = settings.quantum.clamp(1, LONGEST_QUANTUM);
        let Settings { bound, free, .. } = settings;
        let parameters = description.timing().core_at(bound);
        let (chips, _, threads_per_core) = description.topology();
        let threads_per_core = threads_per_core as usize;
        let cores = threads.len().div_ceil(threads_per_core);
        let core = Core::new(&parameters, threads_per_core);
        let now = |thread: &Thread| thread.time.cycles();
        let mut timing = Self {
            settings,
            clock: description.clock(),
            firmware: firmware.entry,
            threads_per_core,
            started: threads.iter().map(now).collect(),
            owners: vec![Owner::Host; threads.len()],
            pipelines: threads
                .iter()
                .map(|thread| Pipeline::new(&parameters, thread.index, now(thread)))
                .collect(),
            cores: vec![core; cores],
            fabric: Fabric::new(chips.into()),
            memory: Hierarchy::new(description, bound, free),
            translations: Translations::new(description, bound, free),
            charges: Charges::default(),
            met: vec![(u64::MAX, 0); threads.len() * LINES_MET].into(),
            turn: None,
            parameters,
        };
        for (core, threads) in timing.cores.iter_mut().zip(threads.chunks(threads_per_core)) {
            note_awake(core, threads);
        }
        timing
    }

    /// How the machine is timed.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What things cost.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The account, with what is yet to be charged for instructions that have completed.
    #[must_use]
    pub fn charges(&self) -> Charges {
        let mut charges = self.charges.clone();
        for pipeline in &self.pipelines {
            pipeline.charge_pending(&mut charges);
        }
        charges
    }

    /// The account of `owner`'s instruction at `address`.
    pub fn account(&mut self, owner: Owner, address: u64) -> Account {
        self.charges.account(owner, address)
    }

    /// What `thread` did not find in caches, ERAT and TLB since timing began.
    #[must_use]
    pub fn misses(&self, thread: usize) -> (CacheMisses, TranslationMisses) {
        (self.memory.misses(thread), self.translations.misses(thread))
    }

    /// Cycles of `thread` since timing began or was last cleared.
    #[must_use]
    pub fn elapsed(&self, thread: &Thread) -> u64 {
        thread.time.cycles() - self.started[thread.index]
    }

    /// Forgets all charges.
    pub fn clear(&mut self, threads: &[Thread]) {
        for pipeline in &mut self.pipelines {
            pipeline.settle(&mut self.charges);
        }
        self.charges.clear();
        self.started = threads.iter().map(|thread| thread.time.cycles()).collect();
    }

    /// Whether what `thread` is charged with from its last completion on belongs to the region too. What passed before
    /// is charged now, which changes no time.
    pub fn set_region(&mut self, thread: usize, is_open: bool) {
        self.pipelines[thread].settle(&mut self.charges);
        self.charges.set_region(thread, is_open);
    }

    /// Checks that every cycle of every thread was charged once.
    ///
    /// # Panics
    /// If one was not.
    pub fn check(&self, threads: &[Thread]) {
        for (thread, pipeline) in threads.iter().zip(&self.pipelines) {
            self.charges.check(thread.index, self.elapsed(thread) - pipeline.pending());
        }
    }

    #[inline]
    fn parts<'a>(
        &'a mut self,
        thread: &'a Thread,
        shared: &'a Shared,
    ) -> (&'a mut Pipeline, Context<'a>) {
        let has_others = self.has_others(thread.index);
        let threads = self.threads_per_core;
        let context = Context {
            thread,
            shared,
            member: thread.index % threads,
            parameters: &self.parameters,
            free: self.settings.free,
            core: &mut self.cores[thread.index / threads],
            fabric: &mut self.fabric,
            memory: &mut self.memory,
            translations: &mut self.translations,
            charges: &mut self.charges,
            has_others,
        };
        (&mut self.pipelines[thread.index], context)
    }

    /// `thread` is about to execute the instruction at `thread.cia`, which lies at `offset`, in the state
    /// in which it is fetched.
    #[inline]
    pub fn fetch(&mut self, thread: &Thread, shared: &Shared, offset: Offset, owner: Owner) {
        if !self.pipelines[thread.index].has_fetched(thread.cia) {
            let (pipeline, mut context) = self.parts(thread, shared);
            pipeline.fetch(&mut context, offset, owner);
        }
    }

    /// Who executes at `thread.nia`.
    #[must_use]
    pub fn owner(&mut self, thread: &Thread) -> Owner {
        let owner = &mut self.owners[thread.index];
        if thread.msr() & msr::HV == 0 {
            *owner = Owner::Partition { lpid: thread.spr(Spr::Lpidr) as u32 };
        } else if let Owner::Partition { .. } = owner {
            *owner = Owner::Host;
        } else if thread.nia.wrapping_sub(self.firmware) < FIRMWARE_BYTES {
            return Owner::Firmware;
        } else if thread.is_problem() {
            return Owner::Program;
        }
        *owner
    }

    /// An instruction of `thread` was executed: the cycle at which it completes.
    #[inline]
    pub fn complete(&mut self, thread: &Thread, shared: &Shared, executed: &Executed<'_>) -> u64 {
        let (pipeline, mut context) = self.parts(thread, shared);
        context.core.set_priority(context.member, PRIORITY.get(thread.spr(Spr::Ppr)));
        let cycle = pipeline.complete(&mut context, executed);
        if self.has_others(thread.index) {
            self.meet_others(thread, executed.accesses);
            if executed.operation.class == Class::StoreConditional {
                self.gives_up(thread.index);
            }
        }
        for (core, invalidation) in executed.accesses.invalidations() {
            self.translations.invalidate(*core, invalidation);
        }
        cycle
    }

    /// Whether `thread` goes on with `operation`, which it has fetched, or another thread comes first: in a core
    /// that several threads share the one whose operation can be dispatched first, and the one that is furthest
    /// behind before it executes what orders threads. To be asked before each instruction where several threads
    /// share the core, and elsewhere before those that order threads or access memory.
    #[inline]
    pub fn goes_on(&mut self, thread: &Thread, shared: &Shared, operation: &Operation) -> bool {
        let Some(turn) = self.turn else { return false };
        let index = thread.index;
        let mut now = thread.time.cycles();
        let line = self.line_met(thread, operation);
        if let Some(line) = line {
            let wish = match operation.class {
                Class::LoadReserve => Wish::Reserve,
                Class::Atomic => Wish::Write,
                class if class.is_load() => Wish::Read,
                _ => Wish::Write,
            };
            if wish == Wish::Reserve && self.gives_up(index) {
                return false;
            }
            now = self.memory.request(index, line, wish, now);
        }
        let is_ordered = operation.orders_threads || line.is_some();
        let (pipeline, context) = self.parts(thread, shared);
        let is_shared = context.core.is_shared();
        let own = if is_shared { pipeline.place(&context, operation) } else { now };
        let member = context.member;
        let next = &mut context.core.members[member];
        next.place = if is_ordered { own.max(now) } else { own };
        next.units = operation.units;
        let place = if is_shared {
            if context.core.next_member() != member {
                return false;
            }
            context.core.place(member)
        } else {
            now
        };
        let is_over = place >= turn.until
            || is_ordered
                && (place, self.rotation(index)) > (turn.others, self.rotation(turn.other));
        if is_over {
            self.turn = None;
        } else {
            self.memory.exchange().leave(index, true);
        }
        !is_over
    }

    /// The place of the core of thread `index` among those that are at the same cycle: they take turns. Which of its
    /// threads goes on is the core's own affair; were it looked at here, two cores could wait for each other.
    #[must_use]
    pub fn rotation(&self, index: usize) -> usize {
        let cores = self.cores.len();
        let core = |thread: usize| thread / self.threads_per_core;
        (core(index) + cores - core(self.memory.served()) - 1) % cores
    }

    /// Thread `index` keeps the line no more that it had reserved. Whether others come first now, who waited for it.
    fn gives_up(&mut self, index: usize) -> bool {
        let exchange = self.memory.exchange();
        if !exchange.give_up(index) {
            return false;
        }
        let mut has_waiting = false;
        for (number, core) in self.cores.iter_mut().enumerate() {
            for (member, waiting) in core.members.iter_mut().enumerate() {
                if let Some(turn) = exchange.turn(number * self.threads_per_core + member) {
                    waiting.place = waiting.place.min(turn);
                    has_waiting = true;
                }
            }
        }
        if has_waiting {
            self.turn = None;
        }
        has_waiting
    }

    /// The line that `operation` accesses, if `thread` met others there.
    #[inline]
    fn line_met(&self, thread: &Thread, operation: &Operation) -> Option<u64> {
        let address = operation.operand?.address(thread) >> LINE_LOG2;
        let (known, line) = self.met[met(thread, address)];
        (known == address).then_some(line)
    }

    /// Remembers where `thread` accessed a line that goes from core to core.
    fn meet_others(&mut self, thread: &Thread, accesses: &Accesses) {
        for access in accesses.list() {
            let line = (access.offset >> LINE_LOG2) as u64;
            if self.memory.wanders(line) {
                let address = access.address >> LINE_LOG2;
                self.met[met(thread, address)] = (address, line);
            }
        }
    }

    /// Whether several threads of the core of thread `index` run.
    #[inline]
    #[must_use]
    pub fn is_shared(&self, index: usize) -> bool {
        self.cores[index / self.threads_per_core].is_shared()
    }

    /// Of the threads that share a core with thread `index`, the one that goes on; the turn is its own.
    pub fn next_of_core(&mut self, index: usize) -> usize {
        let first = index / self.threads_per_core * self.threads_per_core;
        let next = first + self.cores[index / self.threads_per_core].next_member();
        if let Some(turn) = &mut self.turn {
            turn.thread = next;
        }
        next
    }

    /// How far `thread`, which runs, has come, as others see it.
    #[must_use]
    pub fn place(&self, thread: &Thread) -> u64 {
        let core = &self.cores[thread.index / self.threads_per_core];
        if core.is_shared() {
            core.place(thread.index % self.threads_per_core)
        } else {
            let place = core.members[thread.index % self.threads_per_core].place;
            thread.time.cycles().max(place)
        }
    }

    /// Whether other threads run, in its core or in another, beside thread `index`, whose turn it is.
    #[inline]
    #[must_use]
    pub fn has_others(&self, index: usize) -> bool {
        self.is_shared(index) || self.turn.is_some_and(|turn| turn.others != u64::MAX)
    }

    /// `thread` took an interrupt.
    pub fn interrupted(&mut self, thread: &mut Thread, taken: Taken) {
        if taken.is_exit() {
            let lpid = thread.spr(Spr::Lpidr) as u32;
            self.owners[thread.index] = Owner::Serving { lpid, vector: taken.vector.offset() };
        }
        let owner = self.owner(thread);
        let cost = self.parameters.special.interrupt;
        let cost = self.settings.free.cost(Cause::FlushInterrupt, cost).max(1);
        self.wait(thread, owner, Cause::FlushInterrupt, cost);
    }

    /// `thread` woke from where it was asleep: it waited until its time.
    pub fn woke(&mut self, thread: &mut Thread, from: Activity) {
        self.settle(thread, Cause::WaitStop);
        let psscr = thread.spr(Spr::Psscr);
        let wake = &self.parameters.wake;
        let nanoseconds = match psscr::PLS.get(psscr) {
            // `wait` is part of the pipeline.
            _ if from != Activity::Stopped => 0,
            _ if psscr & psscr::EC == 0 => wake.lite,
            0 => wake.level_0,
            1 => wake.level_1,
            2 | 3 => wake.level_2,
            _ => wake.deep,
        };
        let cycles =
            (u128::from(nanoseconds) * u128::from(self.clock.core_hz)).div_ceil(1_000_000_000);
        let cycles = self.settings.free.cost(Cause::WaitWake, cycles as u64);
        self.wait(thread, Owner::Idle, Cause::WaitWake, cycles);
        if let Owner::Serving { .. } = self.owners[thread.index] {
            self.owners[thread.index] = Owner::Host;
        }
    }

    /// Charges what passed for `thread` without its executing anything to nobody.
    fn settle(&mut self, thread: &mut Thread, cause: Cause) {
        if thread.time.cycles() > self.pipelines[thread.index].completed() {
            self.wait(thread, Owner::Idle, cause, 0);
        }
    }

    /// Lets `cycles` more pass for `thread`, and charges them with what has passed before to `owner`.
    fn wait(&mut self, thread: &mut Thread, owner: Owner, cause: Cause, cycles: u64) {
        let account = self.charges.account(owner, thread.nia);
        let pipeline = &mut self.pipelines[thread.index];
        let now = thread.time.cycles().max(pipeline.completed() + cycles);
        pipeline.wait(&mut self.charges, now, cause, account);
        thread.time.charge_completion(now);
    }

    /// Looks at what threads do: who is awake decides the SMT mode of a core, and who was released by
    /// firmware waited for it until its time.
    pub fn look(&mut self, threads: &mut [Thread]) {
        for thread in threads.iter_mut() {
            self.settle(thread, Cause::WaitFirmware);
        }
        for (index, members) in threads.chunks(self.threads_per_core).enumerate() {
            let core = &mut self.cores[index];
            let before = core.divisor();
            note_awake(core, members);
            let divisor = core.divisor();
            if divisor == before {
                continue;
            }
            self.memory.set_fetches_ahead(index, divisor < 4);
            let cost = self.settings.free.cost(Cause::WaitMode, self.parameters.core.mode_change);
            for thread in members.iter() {
                let owner = self.owners[thread.index];
                let account = self.charges.account(owner, thread.nia);
                self.pipelines[thread.index].change_mode(cost, account);
            }
        }
    }
}

/// Notes which of its threads run in a core, and which are awake.
fn note_awake(core: &mut Core, threads: &[Thread]) {
    let mut is_changed = false;
    for (member, thread) in core.members.iter_mut().zip(threads) {
        let before = (member.is_awake, member.is_running);
        member.is_awake = is_awake(thread);
        member.is_running = thread.activity == Activity::Running;
        if member.is_running && !before.1 {
            member.place = thread.time.cycles();
        }
        is_changed |= before != (member.is_awake, member.is_running);
    }
    if is_changed {
        core.look();
    }
}

/// Whether a thread takes part in its core's SMT mode: it runs, or waits in a `wait` or a `stop` that
/// gives nothing up.
fn is_awake(thread: &Thread) -> bool {
    match thread.activity {
        Activity::Running | Activity::Waiting => true,
        Activity::Stopped => thread.spr(Spr::Psscr) & psscr::ESL == 0,
        Activity::InFirmware => false,
    }
}
