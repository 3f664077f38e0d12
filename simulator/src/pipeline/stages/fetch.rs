//! Fetch: blocks of instructions, and where fetch goes on behind a branch.

use super::{Executed, Pipeline};
use crate::cache::{Kind, LINE_LOG2};
use crate::ledger::{Cause, Owner};
use crate::mmu::Access;
use crate::pipeline::context::Context;
use crate::pipeline::predictor::{self, Prediction};
use crate::pipeline::ready::Ready;
use crate::state::memory::Offset;

impl Pipeline {
    /// Whether the instruction at `address` is in the block at hand.
    #[inline]
    #[must_use]
    pub fn has_fetched(&self, address: u64) -> bool {
        self.front.at_hand(address).is_some()
    }

    /// Fetches the block of the instruction that the thread is about to execute, which lies at `offset`.
    pub fn fetch(&mut self, context: &mut Context<'_>, offset: Offset, owner: Owner) {
        let address = context.thread.cia;
        let mut there = self.front.begin(self.dispatch.last(), self.share.blocks);
        let line = (offset >> LINE_LOG2) as u64;
        if context.core.is_shared() {
            let at = context.core.ports.fetch(there.at());
            there = Ready::new(at, Cause::DispatchShare).later(there);
        }
        if line != self.line {
            self.line = line;
            let translated = context.translate(address, Access::Fetch, there.at(), owner);
            there = self.fetch_step(context, owner, there, translated);
            let answer = context.access(Kind::Fetch, line, address, there.at(), owner);
            there = self.fetch_step(context, owner, there, answer);
        }
        self.front.arrive(address, there);
    }

    /// The step of a fetch from `from` to `to`.
    fn fetch_step(
        &mut self,
        context: &mut Context<'_>,
        owner: Owner,
        from: Ready,
        to: Ready,
    ) -> Ready {
        if to.at() <= from.at() {
            return from;
        }
        let account = context.charges.account(owner, context.thread.cia, self.caller);
        self.chain.step(from, to.at(), to.reason(), account)
    }

    /// Where fetch goes on.
    pub(super) fn go_on(
        &mut self,
        context: &mut Context<'_>,
        executed: &Executed<'_>,
        issued: Ready,
    ) {
        let Executed { operation, address, taken_to, account, .. } = *executed;
        let Context { parameters, free, .. } = *context;
        let Some(kind) = operation.branch else {
            if taken_to.is_some() {
                self.flush();
            }
            return;
        };
        let entries = self.share.link_stack as usize;
        let tables = &mut context.core.tables;
        let history = &mut self.history;
        let predicted =
            tables.predict(history, kind, address, taken_to, operation.is_call, entries);
        self.mispredictions += u64::from(predicted == Prediction::Wrong);
        let core = &parameters.core;
        let dispatched = self.dispatch.last();
        // The branch target cache says what was last.
        let has_targets = self.share.has_targets;
        if predicted == Prediction::Wrong && !free.contains(Cause::FetchMispredict) {
            let at = issued.at() + core.mispredict;
            let refilled = self.chain.step(issued, at, Cause::FetchMispredict, account);
            self.front.redirect(refilled, dispatched);
        } else if taken_to.is_some() {
            let latency = match kind {
                predictor::Kind::Return { .. } => core.taken_return,
                predictor::Kind::Indirect { .. } => core.taken_branch_shared,
                _ if has_targets && predicted == Prediction::AsLast => core.taken_branch,
                _ => core.taken_branch_shared,
            };
            self.front.taken(latency, dispatched, free);
        } else if has_targets && predicted == Prediction::Right {
            self.front.taken(core.taken_branch_shared, dispatched, free);
        }
    }
}
