//! The operations of decoded blocks, made when a block first executes in timing mode.
//!
//! A block remembers the accounts of its instructions for the owner, the address and the caller that it was last
//! executed for.

use super::operation::Operation;
use super::parameters::Parameters;
use crate::blocks::{Block, Blocks};
use crate::ledger::callers::Caller;
use crate::ledger::{Account, CauseSet, Owner};

/// What the pipeline knows of a block.
#[derive(Clone, Debug)]
pub struct TimedBlock {
    /// One operation for each of the block's instructions.
    pub operations: Box<[Operation]>,
    /// The account of each, if it was ever charged for `owner` at `address`.
    pub accounts: Box<[Option<Account>]>,
    owner: Owner,
    address: u64,
    caller: Caller,
}

/// The operations of all blocks. Made again from them; no part of a machine's state.
#[derive(Clone, Debug, Default)]
pub struct TimedBlocks {
    blocks: Vec<Option<TimedBlock>>,
    generation: u64,
}

impl TimedBlocks {
    /// The operations of block `number`, about to be executed by `owner` at `address` in a function that
    /// `caller` called.
    #[inline]
    pub fn get(
        &mut self,
        blocks: &Blocks,
        number: u32,
        (owner, address, caller): (Owner, u64, Caller),
        parameters: &Parameters,
        free: CauseSet,
    ) -> &mut TimedBlock {
        if self.generation != blocks.generation() {
            self.generation = blocks.generation();
            self.blocks.clear();
        }
        let index = number as usize;
        if self.blocks.len() <= index {
            self.blocks.resize(index + 1, None);
        }
        let block = self.blocks[index].get_or_insert_with(|| {
            TimedBlock::new(blocks.get(number), owner, address, caller, parameters, free)
        });
        if (block.owner, block.address, block.caller) != (owner, address, caller) {
            (block.owner, block.address, block.caller) = (owner, address, caller);
            block.accounts.fill(None);
        }
        block
    }
}

impl TimedBlock {
    /// Who called the function that it lies in.
    #[must_use]
    pub fn caller(&self) -> Caller {
        self.caller
    }

    /// Who executes it.
    #[must_use]
    pub fn owner(&self) -> Owner {
        self.owner
    }

    fn new(
        block: &Block,
        owner: Owner,
        address: u64,
        caller: Caller,
        parameters: &Parameters,
        free: CauseSet,
    ) -> Self {
        let operation =
            |op: &crate::blocks::Op| Operation::new(op.mnemonic, op.word, parameters, free);
        Self {
            operations: block.ops.iter().map(operation).collect(),
            accounts: vec![None; block.ops.len()].into(),
            owner,
            address,
            caller,
        }
    }
}
