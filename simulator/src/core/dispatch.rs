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
        Self {
            slot: PARTS / parameters.dispatch_width,
            cause: Cause::DispatchWidth,
            divisor,
            window: part(parameters.window),
            loads: part(parameters.load_queue),
            stores: part(parameters.store_queue),
            blocks: part(parameters.instruction_buffer / parameters.block_instructions()),
        }
    }
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

    /// Dispatches an operation that can be from `ready` on, and says when its last part was.
    #[inline]
    pub fn dispatch(
        &mut self,
        operation: &Operation,
        ready: Ready,
        share: &Share,
        parameters: &CoreParameters,
        free: CauseSet,
    ) -> Ready {
        let mut at = ready;
        let mut room = |ring: &Ring, entries: u64, cause: Cause| {
            if !free.contains(cause) {
                at = at.later(Ready::new(ring.room(entries), cause));
            }
        };
        room(&self.window, share.window, Cause::WindowFull);
        if operation.class.is_load() {
            room(&self.loads, share.loads, Cause::QueueLoad);
        } else if operation.class.is_store() {
            room(&self.stores, share.stores, Cause::QueueStore);
        }
        if operation.branch.is_some() && self.branches >= parameters.dispatch_branches {
            at = at.later(Ready::new(self.last + 1, Cause::DispatchWidth));
        }
        let mut start = at.at() * PARTS;
        if self.slot > start {
            start = self.slot;
            at = at.later(Ready::new(start / PARTS, share.cause));
        }
        let operations = free.cost(Cause::DispatchMicrocode, operation.operations - 1) + 1;
        let mut last = start + (operations - 1) * share.slot;
        if operation.is_microcode {
            last += free.cost(Cause::DispatchMicrocode, parameters.microcode) * PARTS;
        }
        self.slot = last + share.slot;
        if last / PARTS > at.at() {
            at = Ready::new(last / PARTS, Cause::DispatchMicrocode);
        }
        if at.at() > self.last {
            self.last = at.at();
            self.branches = 0;
        }
        self.branches += u64::from(operation.branch.is_some());
        at
    }

    /// An operation that was dispatched completes at `cycle`.
    #[inline]
    pub fn complete(&mut self, operation: &Operation, cycle: u64) {
        for _ in 0..operation.operations {
            self.window.push(cycle);
        }
        if operation.class.is_load() {
            self.loads.push(cycle);
        }
    }
}
