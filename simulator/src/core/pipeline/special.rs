//! What is not renamed: special-purpose registers and their scoreboard, barriers, invalidations.

use super::super::context::Context;
use super::super::ready::Ready;
use super::{Executed, Pipeline};
use crate::cache::LINE_LOG2;
use crate::core::class::Class;
use crate::ledger::Cause;

impl Pipeline {
    /// What an instruction waits for besides its renamed operands, which are `ready`.
    pub(super) fn special_constraints(
        &mut self,
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
            Class::SprRead => {
                wait(self.special_unit, Cause::SprRead);
                ready = self.written(context, executed, ready, Cause::SprScoreboard);
            }
            Class::MsrRead => ready = self.written(context, executed, ready, Cause::SprMsr),
            // Time is read when everything before has had its effect on it.
            Class::TimeBaseRead => {
                ready = self.written(context, executed, ready, Cause::SprScoreboard);
            }
            Class::SprWrite => wait(self.special_unit, Cause::SprWrite),
            Class::Hwsync | Class::Ptesync | Class::Eieio => {
                wait(self.drained, Cause::StoreDrain);
                if executed.operation.class == Class::Ptesync {
                    wait(self.broadcast, Cause::TlbInvalidate);
                }
            }
            Class::Tlbsync | Class::Tlbie => wait(self.broadcast, Cause::TlbInvalidate),
            class if class.is_access() => ready = ready.later(self.order),
            _ => {}
        }
        ready
    }

    /// When a read of a register can begin that is not renamed, for all that was written before.
    fn written(
        &mut self,
        context: &Context<'_>,
        executed: &Executed<'_>,
        ready: Ready,
        cause: Cause,
    ) -> Ready {
        let at = self.scoreboard.at() + context.parameters.special.scoreboard;
        if self.scoreboard == Ready::default() || at <= ready.at() || context.free.contains(cause) {
            return ready;
        }
        self.chain.step(self.scoreboard, at, cause, executed.account)
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
            Class::TimeBaseRead => self.hold = self.completed,
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
