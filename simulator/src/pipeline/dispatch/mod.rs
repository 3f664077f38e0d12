//! Dispatch: operations enter the window in order, so many in a cycle, if there is room.
//!
//! Slots are counted in parts of a cycle, so that a share of the core's width that is no whole number of
//! operations is kept exactly.
//!
//! Here operations are dispatched one by one, as on POWER9. `power8` dispatches groups of them.

mod power8;

use serde::{Deserialize, Serialize};

use super::operation::Operation;
use super::parameters::{CoreParameters, Parameters};
use super::ready::{Ready, Ring};
use crate::ledger::{Cause, CauseSet};
use power8::Groups;

/// Parts of a cycle: a multiple of every width.
pub const PARTS: u64 = 5040;

/// What a thread may dispatch: its share of the core.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Share {
    /// Parts of a cycle that an operation takes.
    pub slot: u64,
    /// Why not fewer.
    pub cause: Cause,
    /// Parts of a cycle that an operation takes of what the thread shares with others.
    pub width: u64,
    /// The thread's part of what is divided statically is one in so many.
    pub divisor: u64,
    /// Its part of the window.
    pub window: u64,
    /// Its part of the load queue.
    pub loads: u64,
    /// Its part of the store queue.
    pub stores: u64,
    /// Its part of the instruction buffer, in blocks.
    pub blocks: u64,
    /// Its part of the link stack, in entries.
    pub link_stack: u64,
    /// Whether a table of targets helps it.
    pub has_targets: bool,
    /// Operations that fit into a group other than branches, and branches; 0 where there are no groups.
    pub group: [u64; 2],
}

impl Share {
    /// One part in `divisor` of what is divided statically, and all dispatch slots.
    #[must_use]
    pub fn whole(parameters: &Parameters, divisor: u64) -> Self {
        if parameters.has_groups() {
            return power8::share(parameters, divisor);
        }
        let parameters = &parameters.core;
        let part = |entries: u64| (entries / divisor).max(1);
        let width =
            if divisor < 4 { parameters.dispatch_width } else { parameters.dispatch_width_pair };
        Self {
            slot: PARTS / width,
            cause: Cause::DispatchWidth,
            width: PARTS / width,
            divisor,
            window: part(parameters.window),
            loads: part(parameters.load_queue),
            stores: part(parameters.store_queue),
            blocks: part(parameters.instruction_buffer / parameters.block_instructions()),
            link_stack: parameters.link_stack / divisor,
            // The branch target cache helps a thread that has the core for itself.
            has_targets: divisor == 1,
            group: [0; 2],
        }
    }
}

/// When an operation was dispatched.
#[derive(Clone, Copy, Debug)]
pub struct Dispatched {
    /// When the thread alone had a slot for it, in [parts](PARTS) of a cycle.
    pub slot: u64,
    /// When everything else of the thread's own allowed it, and the issue queue had room.
    pub held: Ready,
    /// When its siblings left a slot for it, in parts of a cycle.
    pub shared: u64,
    /// The cycle of its last part.
    pub at: u64,
}

/// A thread's way into the window.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Dispatch {
    /// The next free slot, in parts of a cycle.
    slot: u64,
    /// The cycle of the last dispatch, and how many branches were in it.
    last: u64,
    branches: u64,
    /// The group at hand, where there are groups.
    groups: Option<Groups>,
    /// When the operations in the window complete, or the groups.
    window: Ring,
    /// When the loads in the queue complete.
    pub(super) loads: Ring,
    /// When the stores in the queue have drained.
    pub(super) stores: Ring,
}

impl Dispatch {
    /// Nothing in flight at cycle `now`.
    #[must_use]
    pub fn new(parameters: &Parameters, now: u64) -> Self {
        let groups = parameters.has_groups().then(|| Groups::new(now));
        let parameters = &parameters.core;
        Self {
            groups,
            slot: now * PARTS,
            last: now,
            branches: 0,
            window: Ring::new(parameters.window),
            loads: Ring::new(parameters.load_queue),
            stores: Ring::new(parameters.store_queue),
        }
    }

    /// Nothing is in flight at cycle `now`.
    pub fn drain(&mut self, now: u64) {
        self.last = self.last.max(now);
        if let Some(groups) = &mut self.groups {
            groups.end();
        }
    }

    /// The cycle of the last dispatch.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.last
    }

    /// `ready`, or later if there is no room in the thread's own part of what is divided.
    #[inline]
    #[must_use]
    pub fn held(&self, operation: &Operation, ready: Ready, share: &Share) -> Ready {
        let held = match &self.groups {
            Some(groups) if groups.takes(operation, ready, share) => ready,
            // The group at hand is one of those in flight.
            Some(groups) if groups.is_filled() => ready.later(self.window.room(share.window - 1)),
            _ => ready.later(self.window.room(share.window)),
        };
        if operation.class.is_load() {
            held.later(self.loads.room(share.loads))
        } else if operation.class.is_store() {
            held.later(self.stores.room(share.stores))
        } else {
            held
        }
    }

    /// The cycle at which the thread has a slot of its own for an operation that is [`held`](Self::held) until then.
    #[inline]
    #[must_use]
    pub fn own_slot(&self, operation: &Operation, held: Ready, share: &Share) -> u64 {
        match &self.groups {
            Some(groups) if groups.takes(operation, held, share) => groups.at(),
            _ => self.slot / PARTS,
        }
    }

    /// Dispatches an operation that is [`held`](Self::held) until then, in a slot of those that threads share from
    /// `slots` on.
    #[inline]
    pub fn dispatch(
        &mut self,
        operation: &Operation,
        held: Ready,
        slots: &mut u64,
        share: &Share,
        parameters: &CoreParameters,
        free: CauseSet,
    ) -> Dispatched {
        if self.groups.is_some() {
            return self.dispatch_grouped(operation, held, slots, share, parameters, free);
        }
        let shared = *slots;
        let mut slot = self.slot;
        if operation.branch.is_some() && self.branches >= parameters.dispatch_branches {
            slot = slot.max((self.last + 1) * PARTS);
        }
        let start = slot.max(held.at() * PARTS).max(shared);
        let operations = free.cost(Cause::DispatchMicrocode, operation.operations - 1) + 1;
        let width = free.cost(share.cause, share.slot);
        let mut last = start + (operations - 1) * width;
        if operation.is_microcode {
            last += free.cost(Cause::DispatchMicrocode, parameters.microcode) * PARTS;
        }
        self.slot = last + width;
        *slots = start + operations * share.width;
        let at = last / PARTS;
        if at > self.last {
            self.last = at;
            self.branches = 0;
        }
        self.branches += u64::from(operation.branch.is_some());
        Dispatched { slot, held, shared, at }
    }

    /// An operation that was dispatched completes when `completed` says.
    #[inline]
    pub fn complete(&mut self, operation: &Operation, completed: Ready) {
        match &mut self.groups {
            Some(groups) => groups.complete(completed),
            None => (0..operation.operations).for_each(|_| self.window.push(completed)),
        }
        if operation.class.is_load() {
            self.loads.push(completed);
        }
    }
}
