//! What a power-saving level costs: which registers are lost, and what they hold after the wake-up.
//!
//! A thread that stops with PSSCR\[ESL\]=1 loses its own state at any level. From a level on that the
//! description names, the core is without power: the registers of its threads and its own go back to
//! what they are after power-on, or are poisoned where nothing but a program gives them meaning, and
//! translations are gone. On the way out firmware's self-restore code sets those that
//! `OPAL_SLW_SET_REG` was told. When which level is reached is decided in `machine::power`, when a wait
//! ends in `interrupt::wake`. Source: `docs/facts/idle.md#stop`, skiboot's `libpore/p9_stop_api.C`.

use std::collections::BTreeMap;

use arch::processor::Processor;
use arch::registers::spr::{Scope, Spr, SprRow};
use arch::registers::{msr, vscr, xer};
use serde::{Deserialize, Serialize};

use crate::state::power_saving::{Asked, MSR_NUMBER, PowerSaving};
use crate::state::shared::Shared;
use crate::state::slb::SlbEntry;
use crate::state::thread::Thread;
use crate::state::walk_cache::WalkCache;

/// What a register holds that a `stop` may have lost.
pub const POISON: u64 = 0xDEAD_5709_DEAD_5709;

/// The thread's own registers that are no [`Thread`] fields and are lost with its state.
const LOST: [Spr; 5] = [Spr::Amr, Spr::Iamr, Spr::Uamor, Spr::Amor, Spr::Tar];

/// The level that the waiting `thread` asks for. One that may lose nothing enters none that loses state.
#[must_use]
pub fn requested(thread: &Thread, rules: &PowerSaving) -> u64 {
    let Asked { level, loses_state, .. } = thread.asked;
    if loses_state { level } else { level.min(rules.hypervisor_lost_from - 1) }
}

/// Loses what the thread has for itself.
pub fn lose_thread_state(thread: &mut Thread) {
    thread.gpr = [POISON; 32];
    thread.vsr = [[POISON; 2]; 64];
    thread.vscr = POISON as u32 & vscr::MASK;
    thread.cr = POISON as u32;
    thread.lr = POISON;
    thread.ctr = POISON;
    for spr in LOST {
        thread.set_spr(spr, POISON);
    }
}

/// What the registers of `scope` hold after a level that loses the hypervisor's state, as far as not what they held
/// before. What firmware was told to restore is with thread `holder`.
fn after<'a>(
    shared: &'a Shared,
    scope: Scope,
    restore: &'a SelfRestore,
    holder: usize,
) -> impl Iterator<Item = (Spr, u64)> + 'a {
    let (rules, processor) = (&shared.power_saving, shared.processor);
    let all = Spr::ALL.iter().filter(move |spr| spr.row().scope == scope);
    let lost = all.filter(|spr| !rules.kept.contains(spr)).map(move |&spr| {
        let is_reset = rules.reset.contains(&spr);
        (spr, if is_reset { spr.reset(processor) } else { POISON & spr.row().mask() })
    });
    let restored = restore.of(holder, processor).filter(move |(row, _)| row.scope == scope);
    lost.chain(restored.map(|(row, value)| (row.spr, value)))
}

/// Loses all else that the thread has, and sets what firmware was told to restore. PSSCR\[PLS\] is
/// for the caller.
pub fn lose_hypervisor_state(thread: &mut Thread, shared: &Shared, restore: &SelfRestore) {
    lose_thread_state(thread);
    thread.xer = POISON & xer::MASK;
    thread.fpscr = 0;
    thread.slb.fill(SlbEntry::default());
    thread.slb_version += 1;
    for scope in [Scope::Thread, Scope::Subcore] {
        if shared.is_of_thread(scope) {
            let registers = after(shared, scope, restore, thread.index);
            registers.for_each(|(spr, value)| thread.set_spr(spr, value));
        }
    }
    thread.set_msr(msr::SF | msr::HV);
}

/// Loses what the threads of a core share; `siblings` are all of them.
pub fn lose_core_state(siblings: &mut [Thread], shared: &mut Shared, restore: &SelfRestore) {
    let Some(first) = siblings.first() else { return };
    let (core, first) = (first.core, first.index);
    if !shared.is_of_thread(Scope::Subcore) {
        for (spr, value) in after(shared, Scope::Subcore, restore, first) {
            siblings.iter_mut().for_each(|thread| thread.set_spr(spr, value));
        }
    }
    let registers: Vec<_> = after(shared, Scope::Core, restore, first).collect();
    let core = &mut shared.cores[core];
    registers.into_iter().for_each(|(spr, value)| core.set_spr(spr, value));
    core.tlb.invalidate(|_, _, _| true);
    core.walk_cache = WalkCache::default();
}

/// Registers that firmware sets again on the way out of a level that loses the hypervisor's state.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SelfRestore {
    /// Values by thread and number; a core's registers are with its first thread.
    values: BTreeMap<(usize, u16), u64>,
}

impl SelfRestore {
    /// Remembers `value` for the register `number` of thread `index`.
    pub fn set(&mut self, index: usize, number: u16, value: u64) {
        self.values.insert((index, number), value);
    }

    /// The MSR with which thread `index` goes on, if firmware was told one.
    #[must_use]
    pub fn msr(&self, index: usize) -> Option<u64> {
        self.values.get(&(index, MSR_NUMBER)).copied()
    }

    /// The special-purpose registers of thread `index` and their values.
    fn of(
        &self,
        index: usize,
        processor: Processor,
    ) -> impl Iterator<Item = (&'static SprRow, u64)> {
        self.values.range((index, 0)..=(index, u16::MAX)).filter_map(
            move |(&(_, number), &value)| Some((SprRow::find(number, processor)?, value)),
        )
    }
}
