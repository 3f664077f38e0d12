//! Real memory: regions with holes between them, one backing store behind all.
//!
//! Inside the machine a place in memory is an [`Offset`] into the backing store; [`Memory::locate`]
//! turns a real address into one, or says that no memory answers there. Each 4 KiB frame has flags
//! that tell a store what else it must do: note the first write (for snapshots), throw away
//! instructions decoded from the frame, or break another thread's reservation. A frame whose flags
//! are exactly [`flags::WRITTEN`] needs none of that.

use arch::address::RealAddress;
use serde::{Deserialize, Serialize};

/// log2 of the size of a frame, the unit of flags and of snapshots.
pub const FRAME_LOG2: u32 = 12;
const FRAME_BYTES: usize = 1 << FRAME_LOG2;

/// What a store into a frame must look after.
pub mod flags {
    /// The frame has been written since power-on.
    pub const WRITTEN: u8 = 1;
    /// Instructions were decoded from the frame.
    pub const CODE: u8 = 2;
    /// A thread holds a reservation in the frame, or held one, and no store has looked since.
    pub const RESERVED: u8 = 4;
}

/// A place in the backing store, in bytes.
pub type Offset = usize;

/// One piece of the machine's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Region {
    /// Its first real address, a multiple of the frame size.
    pub base: u64,
    /// Its size, a multiple of the frame size.
    pub bytes: u64,
    /// The NUMA node it belongs to.
    pub node: u32,
}

/// The memory of the machine.
#[derive(Debug)]
pub struct Memory {
    regions: Vec<Region>,
    bytes: Vec<u8>,
    flags: Vec<u8>,
}

/// A real address at which no memory answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoMemory(pub RealAddress);

/// Whether this host can give a machine so much memory, as far as it says so before the memory is used.
#[must_use]
pub fn is_available(bytes: u64) -> bool {
    usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok())
}

impl Memory {
    /// Memory of zeros. `regions` ascend, do not overlap, and have whole frames.
    #[must_use]
    pub fn new(regions: Vec<Region>) -> Self {
        let total: u64 = regions.iter().map(|region| region.bytes).sum();
        let bytes = vec![0; usize::try_from(total).expect("the host is 64-bit")];
        let flags = vec![0; bytes.len() >> FRAME_LOG2];
        Self { regions, bytes, flags }
    }

    /// The regions, ascending.
    #[must_use]
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// Where `address` lies in the backing store, or `None` where there is no memory.
    #[must_use]
    pub fn locate(&self, address: RealAddress) -> Option<Offset> {
        let mut start = 0;
        for region in &self.regions {
            if let Some(inside) = address.0.checked_sub(region.base)
                && inside < region.bytes
            {
                return Some((start + inside) as usize);
            }
            start += region.bytes;
        }
        None
    }

    /// The real address of `offset`, or `None` beyond the backing store.
    #[must_use]
    pub fn address(&self, offset: Offset) -> Option<RealAddress> {
        let mut inside = offset as u64;
        for region in &self.regions {
            if inside < region.bytes {
                return Some(RealAddress(region.base + inside));
            }
            inside -= region.bytes;
        }
        None
    }

    /// The flags of the frame that holds `offset`.
    #[must_use]
    pub fn frame_flags(&self, offset: Offset) -> u8 {
        self.flags[offset >> FRAME_LOG2]
    }

    /// Sets flags of the frame that holds `offset`.
    pub fn set_frame_flags(&mut self, offset: Offset, set: u8) {
        self.flags[offset >> FRAME_LOG2] |= set;
    }

    /// Clears flags of the frame that holds `offset`.
    pub fn clear_frame_flags(&mut self, offset: Offset, clear: u8) {
        self.flags[offset >> FRAME_LOG2] &= !clear;
    }

    /// `N` bytes at `offset`, in memory order. The caller stays within a frame.
    #[inline]
    #[must_use]
    pub fn read<const N: usize>(&self, offset: Offset) -> [u8; N] {
        let mut value = [0; N];
        value.copy_from_slice(&self.bytes[offset..offset + N]);
        value
    }

    /// Writes `N` bytes at `offset`, in memory order. Flags are the caller's business.
    #[inline]
    pub fn write<const N: usize>(&mut self, offset: Offset, value: [u8; N]) {
        self.bytes[offset..offset + N].copy_from_slice(&value);
    }

    /// Whether a store to the frame of `offset` needs nothing but the store.
    #[inline]
    #[must_use]
    pub fn is_plain(&self, offset: Offset) -> bool {
        self.flags[offset >> FRAME_LOG2] == flags::WRITTEN
    }

    /// A big-endian doubleword, as translation tables and firmware structures are.
    ///
    /// # Errors
    /// [`NoMemory`] where no memory answers.
    pub fn read_be64(&self, address: RealAddress) -> Result<u64, NoMemory> {
        let offset = self.locate(address).ok_or(NoMemory(address))?;
        Ok(u64::from_be_bytes(self.read(offset)))
    }

    /// Copies `bytes` to `address` as firmware or an agent outside of any thread does.
    ///
    /// # Errors
    /// [`NoMemory`] with the first address that has no memory; what lies before it was written.
    pub fn copy_in(&mut self, address: RealAddress, bytes: &[u8]) -> Result<(), NoMemory> {
        let mut at = address;
        for chunk in frames(address, bytes.len()).map(|range| &bytes[range]) {
            let offset = self.locate(at).ok_or(NoMemory(at))?;
            self.bytes[offset..offset + chunk.len()].copy_from_slice(chunk);
            self.set_frame_flags(offset, flags::WRITTEN);
            at = at.wrapping_add(chunk.len() as u64);
        }
        Ok(())
    }

    /// Copies `length` bytes from `address`, without side effects.
    ///
    /// # Errors
    /// [`NoMemory`] with the first address that has no memory.
    pub fn copy_out(&self, address: RealAddress, length: usize) -> Result<Vec<u8>, NoMemory> {
        let mut copy = Vec::with_capacity(length);
        for range in frames(address, length) {
            let at = address.wrapping_add(range.start as u64);
            let offset = self.locate(at).ok_or(NoMemory(at))?;
            copy.extend_from_slice(&self.bytes[offset..offset + range.len()]);
        }
        Ok(copy)
    }

    /// The frames that were ever written, with their contents.
    pub fn written_frames(&self) -> impl Iterator<Item = (usize, u8, &[u8])> {
        self.flags.iter().enumerate().filter(|(_, flags)| **flags & flags::WRITTEN != 0).map(
            |(frame, &flags)| {
                let start = frame << FRAME_LOG2;
                (frame, flags, &self.bytes[start..start + FRAME_BYTES])
            },
        )
    }

    /// Puts a frame back as [`Memory::written_frames`] gave it. False if it does not fit.
    pub fn restore_frame(&mut self, frame: usize, flags: u8, contents: &[u8]) -> bool {
        let start = frame << FRAME_LOG2;
        if frame >= self.flags.len() || contents.len() != FRAME_BYTES {
            return false;
        }
        self.flags[frame] = flags;
        self.bytes[start..start + FRAME_BYTES].copy_from_slice(contents);
        true
    }
}

/// Two memories are equal when every byte is; which frames hold decoded code does not matter.
impl PartialEq for Memory {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |frame: usize| {
            let start = frame << FRAME_LOG2;
            let range = start..start + FRAME_BYTES;
            (self.flags[frame] | other.flags[frame]) & flags::WRITTEN == 0
                || self.bytes[range.clone()] == other.bytes[range]
        };
        self.regions == other.regions && (0..self.flags.len()).all(is_same)
    }
}

/// Splits `length` bytes from `address` into pieces that stay within a frame, as ranges from 0.
fn frames(address: RealAddress, length: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let first = FRAME_BYTES - address.offset(FRAME_LOG2) as usize;
    let mut at = 0;
    std::iter::from_fn(move || {
        let end = if at == 0 { first } else { at + FRAME_BYTES }.min(length);
        let range = at..end;
        at = end;
        (!range.is_empty()).then_some(range)
    })
}

#[cfg(test)]
mod tests {
    use super::{Memory, NoMemory, Region};
    use arch::address::RealAddress;

    fn two_regions() -> Memory {
        Memory::new(vec![
            Region { base: 0, bytes: 0x3000, node: 0 },
            Region { base: 0x10_0000, bytes: 0x2000, node: 1 },
        ])
    }

    #[test]
    fn a_hole_between_regions_has_no_memory() {
        let mut memory = two_regions();
        assert_eq!(memory.locate(RealAddress(0x2FFF)), Some(0x2FFF));
        assert_eq!(memory.locate(RealAddress(0x3000)), None);
        assert_eq!(memory.locate(RealAddress(0x10_0000)), Some(0x3000));
        assert_eq!(memory.locate(RealAddress(0x10_2000)), None);
        for address in [0, 0x2FFF, 0x10_0000, 0x10_1FFF].map(RealAddress) {
            assert_eq!(memory.address(memory.locate(address).unwrap()), Some(address));
        }
        assert_eq!(memory.address(0x5000), None);
        let end = memory.copy_in(RealAddress(0x2FFE), &[1, 2, 3]);
        assert_eq!(end, Err(NoMemory(RealAddress(0x3000))));
    }

    #[test]
    fn copies_cross_frames_and_are_read_back() {
        let mut memory = two_regions();
        let bytes: Vec<u8> = (0..0x1800).map(|i| i as u8).collect();
        memory.copy_in(RealAddress(0x10_0123), &bytes).unwrap();
        assert_eq!(memory.copy_out(RealAddress(0x10_0123), bytes.len()).unwrap(), bytes);
        assert_eq!(memory.written_frames().count(), 2);
    }

    #[test]
    fn restored_frames_make_an_equal_memory() {
        let mut memory = two_regions();
        memory.copy_in(RealAddress(0x1FF0), &[7; 0x20]).unwrap();
        let mut restored = two_regions();
        assert_ne!(memory, restored);
        for (frame, flags, bytes) in memory.written_frames() {
            assert!(restored.restore_frame(frame, flags, bytes));
        }
        assert_eq!(memory, restored);
        assert!(!restored.restore_frame(99, 1, &[0; 4096]));
    }
}
