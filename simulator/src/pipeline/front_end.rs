//! The front end of a thread: when an instruction comes out of the instruction buffer.
//!
//! An aligned block of instructions is fetched in a cycle. A taken branch costs the time to
//! find its target; a mispredicted one the refill from its execution on. The instruction buffer bounds
//! how far fetch runs ahead of dispatch.

use serde::{Deserialize, Serialize};

use super::parameters::CoreParameters;
use super::ready::{Ready, Ring};
use crate::ledger::{Cause, CauseSet};

/// The front end of a thread.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FrontEnd {
    /// log2 of the bytes of a block.
    block_log2: u32,
    /// When the block that instructions come from was there.
    current: Ready,
    /// Effective address of that block, divided by its size.
    block: u64,
    /// When the next block can be fetched.
    next: Ready,
    /// When the blocks in the instruction buffer were dispatched.
    buffer: Ring,
}

/// No block: the next instruction begins one.
const NO_BLOCK: u64 = u64::MAX;

impl FrontEnd {
    /// A front end that begins at cycle `now`.
    #[must_use]
    pub fn new(parameters: &CoreParameters, now: u64) -> Self {
        Self {
            block_log2: parameters.fetch_block.ilog2(),
            current: Ready::new(now, Cause::DispatchWidth),
            block: NO_BLOCK,
            next: Ready::new(now, Cause::DispatchWidth),
            buffer: Ring::new(parameters.instruction_buffer / parameters.block_instructions()),
        }
    }

    /// When the block of the instruction at `address` was fetched, if it is the block at hand.
    #[inline]
    #[must_use]
    pub fn at_hand(&self, address: u64) -> Option<Ready> {
        (address >> self.block_log2 == self.block).then_some(self.current)
    }

    /// The cycle at which the block of `address` can be asked for, with `blocks` blocks of buffer. The
    /// block at hand was dispatched at `dispatched`.
    pub fn begin(&mut self, dispatched: u64, blocks: u64) -> Ready {
        if self.block != NO_BLOCK {
            self.buffer.push(Ready::new(dispatched, Cause::DispatchWidth));
        }
        self.next.later(self.buffer.room(blocks))
    }

    /// The block of `address` is `there`.
    pub fn arrive(&mut self, address: u64, there: Ready) {
        self.current = there;
        self.block = address >> self.block_log2;
        self.next = Ready::new(there.at() + 1, Cause::DispatchWidth);
    }

    /// The next block is another than the one behind, which is found in `latency` cycles. The block at hand was
    /// dispatched at `dispatched`.
    pub fn taken(&mut self, latency: u64, dispatched: u64, free: CauseSet) {
        let at = self.current.at() + free.cost(Cause::FetchTaken, latency);
        self.redirect(Ready::new(at, Cause::FetchTaken), dispatched);
    }

    /// The next instruction is fetched when `next` says, whatever was fetched before. The block at hand was dispatched
    /// at `dispatched`.
    pub fn redirect(&mut self, next: Ready, dispatched: u64) {
        if self.block != NO_BLOCK {
            self.buffer.push(Ready::new(dispatched, Cause::DispatchWidth));
        }
        self.next = next;
        self.block = NO_BLOCK;
    }
}
