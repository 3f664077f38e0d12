//! A device's accesses to its partition's memory, through the window.

use arch::address::{GuestRealAddress, RealAddress};
use arch::papr::tce::PAGE_LOG2;

use crate::devices::tce;
use crate::guest_memory::AccessError;
use crate::guest_memory::unlocked::Unlocked;
use crate::hal::{Maps as _, Window as _, Windows};

const PAGE_BYTES: u64 = 1 << PAGE_LOG2;

/// What a device reaches.
#[derive(Debug)]
pub struct Dma<'a, H> {
    /// The partition's memory.
    pub memory: Unlocked<'a, H>,
    /// What the device sees of it.
    pub window: &'a tce::Window,
}

impl<H: Windows> Dma<'_, H> {
    /// Bytes from an address of the window to the end of its page.
    #[must_use]
    pub const fn room(address: u64) -> u64 {
        PAGE_BYTES - (address & (PAGE_BYTES - 1))
    }

    /// Where in memory a piece of the window is that crosses no page.
    ///
    /// # Errors
    /// [`AccessError::Outside`] with the window's address where the entry does not give the right.
    pub fn place(
        &self,
        address: u64,
        bytes: u64,
        writes: bool,
    ) -> Result<RealAddress, AccessError> {
        self.memory.place(self.guest(address, writes)?, bytes)
    }

    /// Copies out of the partition's memory.
    ///
    /// # Errors
    /// As [`Dma::place`].
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), AccessError> {
        let maps = self.memory.hal.maps();
        for (from, to, address) in pieces(address, into.len()) {
            let bytes = (to - from) as u64;
            let real = self.place(address, bytes, false)?;
            let window = maps.open(real, bytes).map_err(AccessError::Hypervisor)?;
            window.read(0, &mut into[from..to]);
        }
        Ok(())
    }

    /// Copies into the partition's memory.
    ///
    /// # Errors
    /// As [`Dma::place`].
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), AccessError> {
        let maps = self.memory.hal.maps();
        for (from, to, address) in pieces(address, bytes.len()) {
            let length = (to - from) as u64;
            let real = self.place(address, length, true)?;
            let mut window = maps.open(real, length).map_err(AccessError::Hypervisor)?;
            window.write(0, &bytes[from..to]);
        }
        Ok(())
    }

    fn guest(&self, address: u64, writes: bool) -> Result<GuestRealAddress, AccessError> {
        let guest = self.window.translate(address, writes);
        guest.ok_or(AccessError::Outside(GuestRealAddress(address)))
    }
}

/// The pieces of `bytes` bytes at `address` of the window that lie in one page each: which bytes, and where.
fn pieces(address: u64, bytes: usize) -> impl Iterator<Item = (usize, usize, u64)> {
    let mut from = 0;
    core::iter::from_fn(move || {
        let address = address.wrapping_add(from as u64);
        let to = bytes.min(from + (PAGE_BYTES - (address & (PAGE_BYTES - 1))) as usize);
        let piece = (from, to, address);
        from = to;
        (piece.0 < piece.1).then_some(piece)
    })
}
