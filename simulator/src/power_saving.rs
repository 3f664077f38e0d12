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

use crate::state::cores::Core;
use crate::state::power_saving::{Asked, MSR_NUMBER, PowerSaving};
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

impl PowerSaving {
    /// What `spr` of `processor` holds after a level that loses the hypervisor's state, if another
    /// value than before.
    fn after(&self, spr: Spr, processor: Processor) -> Option<u64> {
        if self.kept.contains(&spr) {
            None
        } else if self.reset.contains(&spr) {
            Some(spr.reset(processor))
        } else {
            Some(POISON & spr.row().mask())
        }
    }

    /// Loses all else that the thread has, and sets what firmware was told to restore. PSSCR\[PLS\] is
    /// for the caller.
    pub fn lose_hypervisor_state(
        &self,
        thread: &mut Thread,
        processor: Processor,
        restore: &SelfRestore,
    ) {
        lose_thread_state(thread);
        thread.xer = POISON & xer::MASK;
        thread.fpscr = 0;
        thread.slb.fill(SlbEntry::default());
        thread.slb_version += 1;
        let may_be_own = |scope: Scope| matches!(scope, Scope::Thread | Scope::Subcore);
        for &spr in Spr::ALL.iter().filter(|spr| may_be_own(spr.row().scope)) {
            if let Some(value) = self.after(spr, processor) {
                thread.set_spr(spr, value);
            }
        }
        thread.set_msr(msr::SF | msr::HV);
        for (row, value) in restore.of(thread.index, processor) {
            if row.scope == Scope::Thread {
                thread.set_spr(row.spr, value);
            }
        }
    }

    /// Loses what the threads of a core share; `first` is the index of its first thread.
    pub fn lose_core_state(
        &self,
        core: &mut Core,
        first: usize,
        processor: Processor,
        restore: &SelfRestore,
    ) {
        let is_cores = |scope: Scope| matches!(scope, Scope::Core | Scope::Subcore);
        for &spr in Spr::ALL.iter().filter(|spr| is_cores(spr.row().scope)) {
            if let Some(value) = self.after(spr, processor) {
                core.set_spr(spr, value);
            }
        }
        for (row, value) in restore.of(first, processor) {
            if is_cores(row.scope) {
                core.set_spr(row.spr, value);
            }
        }
        core.tlb.invalidate(|_, _, _| true);
        core.walk_cache = WalkCache::default();
    }
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
