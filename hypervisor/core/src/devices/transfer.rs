//! Data on its way between a disk and the partition.
//!
//! It moves in pieces, so that nobody waits for long: the vCPU that sent the command does them before it goes
//! on, in its slices. Nobody has locked the partition meanwhile.

use arch::address::RealAddress;
use arch::vscsi::UNIT_BYTES_MAX;

use crate::devices::dma::Dma;
use crate::devices::srp::{Completion, Descriptor, Descriptors, Tag, Unit};
use crate::guest_memory::{AccessError, SMALL_LOG2};
use crate::hal::{Maps, Window, Windows};

/// Bytes that a piece moves at most. As much as a piece of loading a partition copies ([`crate::partition::load`]).
const PIECE_BYTES: u64 = 0x4000;
/// What a descriptor that is read counts of them: one of no bytes takes time too.
const DESCRIPTOR_COST: u64 = 0x100;

/// What is on its way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// The vCPU that sent the command.
    pub vcpu: usize,
    /// The command's unit, and then its answer.
    pub unit: Unit,
    /// Where the answer goes, in the window.
    pub answer: u64,
    /// Whose it is.
    pub tag: Tag,
    /// The number of the adapter that it was sent to.
    pub adapter: usize,
    /// The conversation with that adapter that it belongs to.
    pub conversation: u64,
    /// The disk's number.
    pub target: usize,
    /// To the disk.
    pub writes: bool,
    /// Where on the disk the next byte is, of those that the command names.
    pub place: RealAddress,
    /// Bytes to move.
    pub left: u64,
    /// What the answer will say.
    pub completion: Completion,
    /// Where in the partition's memory.
    pub descriptors: Descriptors,
    /// The one that is used.
    pub current: Descriptor,
}

/// One of which pieces are left, in the record of its vCPU.
#[derive(PartialEq, Eq, Debug)]
pub struct Pending {
    /// It, unless the vCPU moves a piece of it just now.
    resting: Option<Transfer>,
}

impl Pending {
    /// One that the vCPU goes on with later.
    #[must_use]
    pub const fn of(transfer: Transfer) -> Self {
        Self { resting: Some(transfer) }
    }

    /// It, to move a piece of it.
    pub const fn take(&mut self) -> Option<Transfer> {
        self.resting.take()
    }

    /// A piece of it was moved, and there is more.
    pub fn put_back(&mut self, transfer: Transfer) {
        self.resting = Some(transfer);
    }

    /// Nobody moves a piece of it just now.
    #[must_use]
    pub const fn rests(&self) -> bool {
        self.resting.is_some()
    }
}

impl Transfer {
    /// Of nothing, by a vCPU.
    #[must_use]
    pub const fn nothing(vcpu: usize) -> Self {
        Self {
            vcpu,
            unit: [0; UNIT_BYTES_MAX],
            answer: 0,
            tag: [0; 8],
            adapter: 0,
            conversation: 0,
            target: 0,
            writes: false,
            place: RealAddress(0),
            left: 0,
            completion: Completion::NOTHING,
            descriptors: Descriptors::NONE,
            current: Descriptor { address: 0, bytes: 0 },
        }
    }

    /// Moves a piece: whether it was the last one.
    ///
    /// # Errors
    /// A descriptor names what is not the partition's memory.
    pub fn piece<H: Windows>(&mut self, dma: &Dma<'_, H>) -> Result<bool, AccessError> {
        let maps = dma.memory.hal.maps();
        let open = |real, bytes| maps.open(real, bytes).map_err(AccessError::Hypervisor);
        let mut budget = PIECE_BYTES;
        while self.left > 0 {
            if budget == 0 {
                return Ok(false);
            }
            if self.current.bytes == 0 {
                budget = budget.saturating_sub(DESCRIPTOR_COST);
                match self.descriptors.next(dma, &self.unit)? {
                    Some(next) => self.current = next,
                    None => break,
                }
                if dma.memory.gave.take() > 0 {
                    budget = 0;
                }
                continue;
            }
            let bytes = self.left.min(self.current.bytes).min(budget);
            let bytes = bytes.min(Dma::<H>::room(self.current.address));
            let bytes = bytes.min((1 << SMALL_LOG2) - self.place.offset(SMALL_LOG2));
            let memory = dma.place(self.current.address, bytes, !self.writes)?;
            // The partition gets memory in units that are zeroed first, each longer than a piece.
            if dma.memory.gave.take() > 0 {
                budget = bytes;
            }
            let (from, to) = if self.writes { (memory, self.place) } else { (self.place, memory) };
            open(to, bytes)?.copy_from(0, &open(from, bytes)?, bytes as usize);
            self.place = self.place.wrapping_add(bytes);
            self.left -= bytes;
            self.current.address = self.current.address.wrapping_add(bytes);
            self.current.bytes -= bytes;
            budget -= bytes;
        }
        Ok(true)
    }
}
