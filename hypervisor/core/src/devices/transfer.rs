//! Data on its way between a disk and the partition.
//!
//! It moves in pieces, so that nobody waits for long: the vCPU that sent the command does them before it goes
//! on, in its slices.

use crate::devices::disk::Disk;
use crate::devices::dma::Dma;
use crate::devices::srp::{Completion, Descriptor, Descriptors, Tag};
use crate::guest_memory::{AccessError, SMALL_LOG2};
use crate::hal::{Maps, Memory, Platform, Window};

/// Bytes that a piece moves at most. As much as a piece of loading a partition copies ([`crate::partition::load`]).
const PIECE_BYTES: u64 = 0x4000;
/// What a descriptor that is read counts of them: one of no bytes takes time too.
const DESCRIPTOR_COST: u64 = 0x100;
/// Bytes that are copied through the hypervisor's own memory at a time.
const CHUNK_BYTES: u64 = 0x1000;

/// What is on its way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// Where the answer goes, in the window.
    pub answer: u64,
    /// Whose it is.
    pub tag: Tag,
    /// The conversation that it belongs to.
    pub conversation: u64,
    /// Which disk.
    pub disk: usize,
    /// To the disk.
    pub writes: bool,
    /// The next byte on the disk.
    pub position: u64,
    /// Bytes to move.
    pub left: u64,
    /// What the answer will say.
    pub completion: Completion,
    /// Where in the partition's memory.
    pub descriptors: Descriptors,
    /// The one that is used.
    pub current: Descriptor,
}

impl Transfer {
    /// Moves a piece: whether it was the last one.
    ///
    /// # Errors
    /// A descriptor names what is not the partition's memory.
    pub fn piece<H: Memory + Platform>(
        &mut self,
        dma: &mut Dma<'_, H>,
        disk: &Disk,
    ) -> Result<bool, AccessError> {
        let _maps = dma.hal.maps();
        let mut budget = PIECE_BYTES;
        while self.left > 0 {
            if budget == 0 {
                return Ok(false);
            }
            if self.current.bytes == 0 {
                budget = budget.saturating_sub(DESCRIPTOR_COST);
                match self.descriptors.next(dma)? {
                    Some(next) => self.current = next,
                    None => break,
                }
                continue;
            }
            let bytes = self.left.min(self.current.bytes).min(budget).min(CHUNK_BYTES);
            let bytes = bytes.min(Dma::<H>::room(self.current.address));
            let at = disk.range.start.wrapping_add(self.position);
            let bytes = bytes.min((1 << SMALL_LOG2) - at.offset(SMALL_LOG2));
            let memory = dma.place(self.current.address, bytes, !self.writes)?;
            let maps = dma.hal.maps();
            let open = |real| maps.open(real, bytes).map_err(AccessError::Hypervisor);
            let (from, to) = if self.writes { (memory, at) } else { (at, memory) };
            copy(&open(from)?, &mut open(to)?, bytes);
            self.position += bytes;
            self.left -= bytes;
            self.current.address = self.current.address.wrapping_add(bytes);
            self.current.bytes -= bytes;
            budget -= bytes;
        }
        Ok(true)
    }
}

/// By way of the hypervisor's own memory, and not inlined, since that is on the stack.
#[inline(never)]
fn copy(from: &impl Window, to: &mut impl Window, bytes: u64) {
    let mut chunk = [0; CHUNK_BYTES as usize];
    let chunk = &mut chunk[..bytes as usize];
    from.read(0, chunk);
    to.write(0, chunk);
}
