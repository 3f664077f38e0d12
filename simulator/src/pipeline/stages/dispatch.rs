//! Dispatch: what an instruction waits for before it, and what that time is charged to.

use super::{Executed, Pipeline};
use crate::ledger::{Account, Cause, Charges};
use crate::pipeline::context::Context;
use crate::pipeline::dispatch::{Dispatched, PARTS};
use crate::pipeline::operation::Operation;
use crate::pipeline::ready::Ready;

impl Pipeline {
    /// When an instruction can be dispatched, as far as it is for the thread itself.
    fn held(&self, operation: &Operation, address: u64) -> Ready {
        let fetched = self.front.at_hand(address).unwrap_or_default();
        let mut ready = self.hold.later(fetched);
        if operation.waits_to_be_next {
            ready = ready.later(self.completed);
        }
        self.dispatch.held(operation, ready, &self.share)
    }

    /// The cycle before which the instruction that is about to execute cannot be dispatched, whatever other threads
    /// do; it has been fetched.
    pub fn place(&mut self, context: &Context<'_>, operation: &Operation) -> u64 {
        self.share(context);
        let held = self.held(operation, context.thread.cia);
        let special = self.special_hold(context, operation).map_or(0, |(_, at, _)| at);
        held.at().max(special).max(self.dispatch.own_slot(operation, held, &self.share))
    }

    /// Dispatches an instruction.
    pub(super) fn dispatch(
        &mut self,
        context: &mut Context<'_>,
        executed: &Executed<'_>,
    ) -> Dispatched {
        let Executed { operation, account, .. } = *executed;
        let Context { free, member, .. } = *context;
        self.share(context);
        let mut held = self.held(operation, executed.address);
        if !operation.is_plain
            && let Some((from, at, cause)) = self.special_hold(context, operation)
        {
            held = held.later(self.chain.step(from, at, cause, account));
        }
        if !operation.units.is_none() && !free.contains(Cause::DispatchQueue) {
            let at = held.at().max(self.dispatch.own_slot(operation, held, &self.share));
            let queue = context.core.queues.of(operation.units, self.part);
            held = held.later(queue.room(member, at));
        }
        let parameters = &context.parameters.core;
        let reason = context.core.reason(member);
        let is_shared = context.core.is_shared();
        let mut none = 0;
        let slots = if is_shared && !free.contains(reason) {
            context.core.slots(member)
        } else {
            &mut none
        };
        let dispatched =
            self.dispatch.dispatch(operation, held, slots, &self.share, parameters, free);
        if is_shared {
            context.core.served(member, dispatched.at, operation.operations, parameters);
        }
        if dispatched.at > self.chain.charged() {
            self.charge(context.charges, dispatched, reason, account);
        }
        dispatched
    }

    /// Charges the time up to the dispatch of an instruction: to work as far as slots alone decided, to what
    /// held it up beyond that, to its siblings by `reason`, and to its parts.
    fn charge(
        &mut self,
        charges: &mut Charges,
        dispatched: Dispatched,
        reason: Cause,
        account: Account,
    ) {
        let Dispatched { slot, held, shared, at } = dispatched;
        self.chain.charge(charges, (slot / PARTS).min(at), self.share.cause, account);
        self.chain.charge_chain(charges, held, account);
        self.chain.charge(charges, (shared / PARTS).min(at), reason, account);
        self.chain.charge(charges, at, Cause::DispatchMicrocode, account);
    }

    /// Brings the thread's share of the core up to date.
    fn share(&mut self, context: &Context<'_>) {
        if self.share_version != context.core.version() {
            self.share_version = context.core.version();
            let parameters = context.parameters;
            self.share = context.core.share(context.member, parameters, context.free);
            self.superslice = context.core.superslice(context.member);
            self.part = context.core.part(context.member);
        }
    }
}
