//! Dispatch: operations enter the window in order, so many in a cycle, if there is room.
//!
//! Slots are counted in parts of a cycle, so that a share of the core's width that is no whole number of
//! operations is kept exactly.

use serde::{Deserialize, Serialize};

use super::operation::Operation;
use super::parameters::CoreParameters;
use super::ready::{Ready, Ring};
use crate::ledger::{Cause, CauseSet};

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
}

impl Share {
    /// One part in `divisor` of what is divided statically, and all dispatch slots.
    #[must_use]
    pub fn whole(parameters: &CoreParameters, divisor: u64) -> Self {
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
    /// When the operations in the window complete.
    window: Ring,
    /// When the loads in the queue complete.
    pub(super) loads: Ring,
    /// When the stores in the queue have drained.
    pub(super) stores: Ring,
}

impl Dispatch {
    /// Nothing in flight at cycle `now`.
    #[must_use]
    pub fn new(parameters: &CoreParameters, now: u64) -> Self {
        Self {
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
        let held = ready.later(self.window.room(share.window));
        if operation.class.is_load() {
            held.later(self.loads.room(share.loads))
        } else if operation.class.is_store() {
            held.later(self.stores.room(share.stores))
        } else {
            held
        }
    }

    /// The cycle at which the thread has a slot of its own.
    #[inline]
    #[must_use]
    pub fn own_slot(&self) -> u64 {
        self.slot / PARTS
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
        for _ in 0..operation.operations {
            self.window.push(completed);
        }
        if operation.class.is_load() {
            self.loads.push(completed);
        }
    }
}
