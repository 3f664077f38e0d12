//! What is not renamed: special-purpose registers and their scoreboard, barriers, invalidations.

use super::super::context::Context;
use super::super::ready::Ready;
use super::{Executed, Operation, Pipeline};
use crate::cache::LINE_LOG2;
use crate::ledger::Cause;
use crate::pipeline::class::Class;

impl Pipeline {
    /// What holds the dispatch of an instruction that has to do with registers that are not renamed: since when, until
    /// when, and why.
    #[inline]
    pub(super) fn special_hold(
        &self,
        context: &Context<'_>,
        operation: &Operation,
    ) -> Option<(Ready, u64, Cause)> {
        let (unit, board) = match operation.class {
            Class::SprRead => (Some(Cause::SprRead), Some(Cause::SprScoreboard)),
            Class::MsrRead => (None, Some(Cause::SprMsr)),
            // Time is read when everything before has had its effect on it.
            Class::TimeBaseRead => (None, Some(Cause::SprScoreboard)),
            Class::SprWrite | Class::FlushData => (Some(Cause::SprWrite), None),
            _ => return None,
        };
        let is_dear = |cause: &Cause| !context.free.contains(*cause);
        let unit =
            unit.filter(is_dear).map(|cause| (self.special_unit, self.special_unit.at(), cause));
        let is_written = self.scoreboard != Ready::default();
        let board = board.filter(is_dear).filter(|_| is_written).map(|cause| {
            let at = self.scoreboard.at() + context.parameters.special.scoreboard;
            (self.scoreboard, at, cause)
        });
        [unit, board].into_iter().flatten().max_by_key(|(_, at, _)| *at)
    }

    /// What an instruction waits for besides its renamed operands, which are `ready`.
    pub(super) fn special_constraints(
        &self,
        context: &Context<'_>,
        executed: &Executed<'_>,
        mut ready: Ready,
    ) -> Ready {
        let free = context.free;
        let mut wait = |event: Ready, cause: Cause| {
            if !free.contains(cause) {
                ready = ready.later(event);
            }
        };
        match executed.operation.class {
            // What is behind them goes on, and waits where it accesses memory.
            Class::Lwsync => ready = ready.later(self.completed),
            Class::Hwsync | Class::Ptesync | Class::Eieio => {
                wait(self.drained, Cause::StoreDrain);
                if executed.operation.class == Class::Ptesync {
                    wait(self.broadcast, Cause::TlbInvalidate);
                }
                ready = ready.later(self.completed);
            }
            Class::Tlbsync | Class::Tlbie => wait(self.broadcast, Cause::TlbInvalidate),
            class if class.is_access() => ready = ready.later(self.order),
            _ => {}
        }
        ready
    }

    /// What an instruction leaves besides renamed registers.
    pub(super) fn special_effects(
        &mut self,
        context: &mut Context<'_>,
        executed: &Executed<'_>,
        finished: Ready,
    ) {
        let Executed { operation, account, .. } = *executed;
        let Context { parameters, free, .. } = *context;
        if executed.accesses.list().iter().any(|access| access.is_store) {
            self.store(context, executed, finished);
        } else if operation.class.is_store() {
            // A store conditional that did not store.
            self.dispatch.stores.push(self.completed);
        }
        self.is_context_altered |= operation.alters_context;
        match operation.class {
            Class::SprRead => self.special_unit = finished,
            Class::SprWrite => {
                self.special_unit = finished;
                self.scoreboard = finished;
            }
            Class::MsrEnable => self.scoreboard = finished,
            Class::ContextWrite | Class::MsrWrite => {
                self.scoreboard = finished;
                self.hold = self.completed;
            }
            Class::TimeBaseRead | Class::SpeculationBarrier => self.hold = self.completed,
            Class::FlushData => {
                self.special_unit = finished;
                self.scoreboard = finished;
                self.order = finished;
                context.memory.empty_data(context.thread.index, executed.owner.side());
            }
            Class::FlushTargets => context.core.tables.forget_targets(),
            Class::Isync => self.is_context_altered = false,
            Class::Hwsync | Class::Lwsync | Class::Ptesync => {
                self.order = finished;
            }
            Class::Tlbie => {
                let cost = |cycles| free.cost(Cause::TlbInvalidate, cycles);
                let service = cost(parameters.special.tlbie_service);
                let begin = context.fabric.broadcast(finished.at(), service);
                let at = begin + cost(parameters.special.tlbie_broadcast);
                self.broadcast = self.chain.step(finished, at, Cause::TlbInvalidate, account);
            }
            Class::FlushLine => {
                for access in executed.accesses.list() {
                    let line = (access.offset >> LINE_LOG2) as u64;
                    let at = context.memory.flush(line, finished.at());
                    let flushed = self.chain.step(finished, at, operation.cause, account);
                    self.drained = self.drained.later(flushed);
                }
            }
            Class::StoreConditional | Class::Atomic => self.order = finished,
            Class::LoadReserve if context.has_others => {
                for access in executed.accesses.list() {
                    let line = (access.offset >> LINE_LOG2) as u64;
                    context.memory.exchange().keep(context.thread.index, line, finished.at());
                }
            }
            _ => {}
        }
    }
}
