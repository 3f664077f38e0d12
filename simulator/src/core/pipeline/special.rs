//! What is not renamed: special-purpose registers and their scoreboard, barriers, invalidations.

use super::super::context::Context;
use super::super::operation::Operation;
use super::super::ready::Ready;
use super::{Executed, Pipeline};
use crate::cache::LINE_LOG2;
use crate::core::class::Class;
use crate::ledger::Cause;

impl Pipeline {
    /// What an instruction waits for besides its renamed operands, which are `ready`.
    pub(super) fn special_constraints(
        &self,
        context: &Context<'_>,
        operation: &Operation,
        mut ready: Ready,
    ) -> Ready {
        let free = context.free;
        let mut wait = |at: u64, cause: Cause| {
            if !free.contains(cause) {
                ready = ready.later(Ready::new(at, cause));
            }
        };
        match operation.class {
            Class::SprRead => {
                wait(self.special_unit, Cause::SprLatency);
                wait(self.scoreboard, Cause::SprScoreboard);
            }
            Class::MsrRead => wait(self.scoreboard, Cause::SprMsr),
            Class::SprWrite => wait(self.special_unit, Cause::SprLatency),
            Class::Hwsync | Class::Ptesync => {
                wait(self.drained, Cause::StoreDrain);
                if operation.class == Class::Ptesync {
                    wait(self.broadcast, Cause::TlbInvalidate);
                }
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
        finished: u64,
    ) {
        let Executed { operation, .. } = *executed;
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
                self.set_scoreboard(context, finished);
                self.forget_share();
            }
            Class::Nothing => self.forget_share(),
            Class::MsrEnable => self.set_scoreboard(context, finished),
            Class::ContextWrite | Class::MsrWrite => {
                self.set_scoreboard(context, finished);
                self.hold = Ready::new(self.completed, operation.cause);
            }
            Class::Isync => self.is_context_altered = false,
            Class::Hwsync | Class::Lwsync | Class::Ptesync => {
                self.order = Ready::new(finished, operation.cause);
            }
            Class::Tlbie => {
                let cycles = parameters.special.tlbie_broadcast;
                self.broadcast = finished + free.cost(Cause::TlbInvalidate, cycles);
            }
            Class::FlushLine => {
                for access in executed.accesses.list() {
                    let line = (access.offset >> LINE_LOG2) as u64;
                    self.drained = self.drained.max(context.memory.flush(line, finished));
                }
            }
            Class::StoreConditional | Class::Atomic => {
                self.order = Ready::new(finished, operation.cause);
            }
            _ => {}
        }
    }

    fn set_scoreboard(&mut self, context: &Context<'_>, finished: u64) {
        self.scoreboard = finished + context.parameters.special.scoreboard;
    }
}
