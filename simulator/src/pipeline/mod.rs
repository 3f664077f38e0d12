//! The core as time sees it: how long instructions take, and why.
//!
//! `exec` says what an instruction does and knows no time. In timing mode each instruction that was executed is
//! passed on to here, with what it accessed and where it went, and [`stages`] finds the cycle at which it
//! completes: one pass, in program order, in the way of zsim's out-of-order core. The time is charged to
//! owners, instructions and causes in [`Charges`]. Nothing in here changes what the machine computes, but
//! through the time that the time base and the decrementers show.
//!
//! | file | what it is |
//! |---|---|
//! | [`operation`], [`class`], [`effects`], [`registers`] | an instruction as the pipeline sees it, made once from its word |
//! | [`block`] | the operations of decoded blocks |
//! | [`stages`] | one thread: fetch, dispatch, issue, completion |
//! | `turns`, `waits` | whose turn it is; what passes for a thread that executes nothing |
//! | [`chain`], `calls` | what the time is charged to; who called |
//! | [`front_end`], [`predictor`] | fetch blocks, taken branches, prediction |
//! | [`dispatch`], [`queue`], [`sharing`] | slots and windows; the issue queues; what the threads of a core share |
//! | [`fabric`] | what all cores share |
//! | [`units`], [`ports`], [`forward`] | what an operation occupies; units by cycle; stores that have not drained |
//! | `engine` | what a prefetch engine does to the caches |
//! | [`context`], [`ready`] | what a pipeline works with: caches, translations; a cycle with its reason |
//! | [`parameters`], `settings` | what it all costs; how a machine is timed |

pub mod block;
mod calls;
pub mod chain;
pub mod class;
pub mod context;
pub mod dispatch;
pub mod effects;
mod engine;
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
mod settings;
pub mod sharing;
pub mod stages;
mod turns;
pub mod units;
mod waits;

use arch::processor::Processor;
use arch::registers::msr;
use arch::registers::ppr::PRIORITY;
use arch::registers::spr::Spr;
use serde::{Deserialize, Serialize};

use crate::cache::line::Bringer;
use crate::cache::translation::{TranslationMisses, Translations};
use crate::cache::{CacheMisses, Hierarchy};
use crate::description::Description;
use crate::description::timing::MODELLED;
use crate::ledger::callers::Caller;
use crate::ledger::{Account, Cause, Charges, Clock, Owner};
use crate::state::memory::Offset;
use crate::state::shared::{FirmwarePlace, Shared};
use crate::state::thread::Thread;
use crate::state::thread::occurrences::{Occurrence, Occurrences};
use calls::Calls;
use class::Class;
use context::Context;
use engine::Engine;
use fabric::Fabric;
use parameters::Parameters;
pub use settings::{LONGEST_QUANTUM, Plan, Settings};
use sharing::Core;
use stages::{Executed, Pipeline};
use turns::LINES_MET;
pub use turns::Turn;
use waits::note_awake;

/// The timing model's state, in timing mode.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Timing {
    settings: Settings,
    processor: Processor,
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
    /// The pace of the prefetch engines.
    engine: Engine,
    /// The open calls, where the ledger knows who called.
    calls: Option<Calls>,
    /// By thread and lower bits, the effective lines at which it met others, and where they lie.
    met: Box<[(u64, u64)]>,
    /// Whose turn it is.
    pub turn: Option<Turn>,
}

/// The firmware's entry word and the return behind it.
const FIRMWARE_BYTES: u64 = 8;

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
        let parameters = description.timing().expect(MODELLED).core_at(bound);
        let (chips, _, threads_per_core) = description.topology();
        let threads_per_core = threads_per_core as usize;
        let cores = threads.len().div_ceil(threads_per_core);
        let core = Core::new(&parameters, threads_per_core);
        let now = |thread: &Thread| thread.time.cycles();
        let mut timing = Self {
            settings,
            processor: description.processor(),
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
            engine: Engine::new(description, bound),
            calls: settings.callers.then(Calls::default),
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

    /// Cycles of `thread` by cause, in the order of [`Cause::ALL`], with what is yet to be charged: the same as of
    /// [`Timing::charges`], and quicker.
    #[must_use]
    pub fn by_cause(&self, thread: usize) -> [u64; Cause::COUNT] {
        let mut pending = Charges::default();
        for pipeline in &self.pipelines {
            pipeline.charge_pending(&mut pending);
        }
        let mut sums = self.charges.by_cause(thread);
        for (sum, cycles) in sums.iter_mut().zip(pending.by_cause(thread)) {
            *sum += cycles;
        }
        sums
    }

    /// The account of `owner`'s instruction at `address`, in a function that `caller` called.
    pub fn account(&mut self, owner: Owner, address: u64, caller: Caller) -> Account {
        self.charges.account(owner, address, caller)
    }

    /// Who called the function that `owner` is in on `thread`, where the ledger knows that.
    #[inline]
    pub fn caller(&mut self, thread: &Thread, owner: Owner) -> Caller {
        let Some(calls) = &mut self.calls else { return Caller::default() };
        let caller = calls.caller(thread, owner);
        self.pipelines[thread.index].caller = caller;
        caller
    }

    /// What `thread` did not find in caches, ERAT and TLB since timing began.
    #[must_use]
    pub fn misses(&self, thread: usize) -> (CacheMisses, TranslationMisses) {
        (self.memory.misses(thread), self.translations.misses(thread))
    }

    /// How often each [`Occurrence`] was on `thread` since timing began.
    pub(crate) fn occurrences(&self, thread: usize) -> Occurrences {
        let (lines, translations) = self.misses(thread);
        let mut all = Occurrences::default();
        for (occurrence, times) in [
            (Occurrence::LoadMissL1, lines.l1 - lines.fetches_l1),
            (Occurrence::StoreMissL1, lines.stores_l1),
            (Occurrence::FetchMissL1, lines.fetches_l1),
            (Occurrence::LoadFromL3, lines.loads_l2 - lines.loads_l3),
            (Occurrence::LoadBeyondL2, lines.loads_l2),
            (Occurrence::LoadBeyondL3, lines.loads_l3),
            (Occurrence::StoreL2, lines.stores),
            (Occurrence::StoreMissL2, lines.stores_l2),
            (Occurrence::DataTlbMiss, translations.tlb - translations.fetches_tlb),
            (Occurrence::FetchTlbMiss, translations.fetches_tlb),
            (Occurrence::Misprediction, self.pipelines[thread].mispredictions),
        ] {
            all[occurrence as usize] = times;
        }
        all
    }

    /// What the L1 data cache of `thread`'s core has that partition `lpid` did not bring in: its lines, by their places
    /// in memory.
    pub fn residue(&self, thread: usize, lpid: u32) -> impl Iterator<Item = (u64, Bringer)> {
        self.memory.residue(thread, lpid)
    }

    /// Cycles of `thread` since timing began or was last cleared.
    #[must_use]
    pub fn elapsed(&self, thread: &Thread) -> u64 {
        thread.time.cycles() - self.started[thread.index]
    }

    /// Forgets all charges.
    pub fn clear(&mut self, threads: &[Thread]) {
        for pipeline in &mut self.pipelines {
            pipeline.charge_completed(&mut self.charges);
        }
        self.charges.clear();
        self.started = threads.iter().map(|thread| thread.time.cycles()).collect();
    }

    /// Whether what `thread` is charged with from its last completion on belongs to the region too. What passed before
    /// is charged now, which changes no time.
    pub fn set_region(&mut self, thread: usize, is_open: bool) {
        self.pipelines[thread].charge_completed(&mut self.charges);
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
            *owner = Owner::Partition { lpid: thread.lpid() };
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
        if let Some(calls) = &mut self.calls {
            calls.branched(&mut self.charges.callers, thread, executed);
        }
        cycle
    }
}
