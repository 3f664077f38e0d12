//! Decoded blocks: straight runs of instructions, decoded once and executed from there.
//!
//! A block begins where execution came to and ends at an instruction that goes elsewhere or changes
//! the state, or at the end of its frame. It is keyed by where its first instruction lies in memory
//! and the [`Mode`] it was decoded for. A store into a frame with decoded instructions throws the
//! frame's blocks away.

use std::collections::BTreeSet;

use arch::instruction::{Mnemonic, Word};
use arch::processor::Processor;
use rustc_hash::FxHashMap;

use crate::exec::{Handler, Mode, select};
use crate::state::memory::{FRAME_LOG2, Memory, Offset, flags};

/// One decoded instruction.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// What it does.
    pub handler: Handler,
    /// The word; where it is executed, without the bits that the processor ignores.
    pub word: Word,
    /// Which instruction it is; `None` for a word that none has.
    pub mnemonic: Option<Mnemonic>,
}

/// A straight run of instructions.
#[derive(Clone, Debug)]
pub struct Block {
    /// The instructions, at least one.
    pub ops: Box<[Op]>,
    key: (Offset, Mode),
}

impl Block {
    /// Where instruction `index` lies in memory.
    #[inline]
    #[must_use]
    pub fn offset(&self, index: usize) -> Offset {
        self.key.0 + 4 * index
    }
}

/// Where a block lies that was thrown away.
const NOWHERE: Offset = Offset::MAX;

/// Longest block, in instructions.
const LONGEST: usize = 64;

/// All blocks of a machine.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    blocks: Vec<Block>,
    index: FxHashMap<(Offset, Mode), u32>,
    by_frame: FxHashMap<usize, Vec<u32>>,
    free: Vec<u32>,
    generation: u64,
}

impl Blocks {
    /// The block with this number.
    #[inline]
    #[must_use]
    pub fn get(&self, number: u32) -> &Block {
        &self.blocks[number as usize]
    }

    /// Whether this is the number of the block at `offset` for `mode`.
    #[inline]
    #[must_use]
    pub fn is_at(&self, number: u32, offset: Offset, mode: Mode) -> bool {
        self.blocks.get(number as usize).is_some_and(|block| block.key == (offset, mode))
    }

    /// The number of the block at `offset` for `mode`, decoded now if it was not before.
    pub fn find(
        &mut self,
        memory: &mut Memory,
        processor: Processor,
        offset: Offset,
        mode: Mode,
    ) -> u32 {
        if let Some(&number) = self.index.get(&(offset, mode)) {
            return number;
        }
        let ops = decode(memory, processor, offset, mode);
        memory.set_frame_flags(offset, flags::CODE);
        let block = Block { ops, key: (offset, mode) };
        let number = match self.free.pop() {
            Some(number) => {
                self.blocks[number as usize] = block;
                number
            }
            None => {
                self.blocks.push(block);
                u32::try_from(self.blocks.len() - 1).expect("fewer than 2^32 blocks")
            }
        };
        self.index.insert((offset, mode), number);
        self.by_frame.entry(offset >> FRAME_LOG2).or_default().push(number);
        number
    }

    /// Throws the blocks of these frames away.
    pub fn discard(&mut self, memory: &mut Memory, frames: &BTreeSet<usize>) {
        for frame in frames {
            for number in self.by_frame.remove(frame).unwrap_or_default() {
                let key = &mut self.blocks[number as usize].key;
                self.index.remove(key);
                key.0 = NOWHERE;
                self.free.push(number);
            }
            memory.clear_frame_flags(frame << FRAME_LOG2, flags::CODE);
        }
        self.generation += 1;
    }

    /// Throws all blocks away.
    pub fn clear(&mut self, memory: &mut Memory) {
        let frames = self.by_frame.keys().copied().collect();
        self.discard(memory, &frames);
    }

    /// Changes whenever a block was thrown away: numbers found before are void.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }
}

fn decode(memory: &Memory, processor: Processor, start: Offset, mode: Mode) -> Box<[Op]> {
    let frame_end = (start >> FRAME_LOG2 << FRAME_LOG2) + (1 << FRAME_LOG2);
    let mut ops = Vec::new();
    for offset in (start..frame_end).step_by(4).take(LONGEST) {
        let bytes = memory.read(offset);
        let word = Word(if mode.is_little_endian() {
            u32::from_le_bytes(bytes)
        } else {
            u32::from_be_bytes(bytes)
        });
        let (handler, word, row) = select(word, processor, mode);
        let mnemonic = row.map(|row| row.mnemonic);
        ops.push(Op { handler, word, mnemonic });
        if ends_block(mnemonic, word) {
            break;
        }
    }
    ops.into_boxed_slice()
}

/// Whether the run surely ends here. Others end it by what they return; after a branch that is not
/// taken it goes on.
fn ends_block(mnemonic: Option<Mnemonic>, word: Word) -> bool {
    const ALWAYS: u32 = 0b10100;
    let is_always = word.bo() & ALWAYS == ALWAYS;
    match mnemonic {
        Some(Mnemonic::Bc | Mnemonic::Bclr | Mnemonic::Bcctr | Mnemonic::Bctar) => is_always,
        _ => matches!(
            mnemonic,
            None | Some(
                Mnemonic::B
                    | Mnemonic::Sc
                    | Mnemonic::Scv
                    | Mnemonic::Rfid
                    | Mnemonic::Hrfid
                    | Mnemonic::Rfscv
            )
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use arch::processor::Processor;
    use arch::registers::msr;

    use super::Blocks;
    use crate::exec::Mode;
    use crate::state::memory::{FRAME_LOG2, Memory, Region};

    #[test]
    fn what_was_thrown_away_is_nowhere() {
        let region = Region { base: 0, bytes: 1 << FRAME_LOG2, node: 0 };
        let mut memory = Memory::new(vec![region]);
        let [mode, other] = [msr::SF, msr::SF | msr::LE].map(Mode::from_msr);
        let mut blocks = Blocks::default();
        let number = blocks.find(&mut memory, Processor::Power9, 4, mode);
        assert_eq!(blocks.find(&mut memory, Processor::Power9, 4, mode), number);
        assert!(blocks.is_at(number, 4, mode));
        assert!(!blocks.is_at(number, 8, mode) && !blocks.is_at(number, 4, other));
        assert!(!blocks.is_at(number + 1, 4, mode));
        blocks.discard(&mut memory, &BTreeSet::from([0]));
        assert!(!blocks.is_at(number, 4, mode));
    }
}
