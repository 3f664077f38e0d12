//! A device's accesses to its partition's memory, through the window.

use arch::address::{GuestRealAddress, RealAddress};
use arch::papr::tce::PAGE_LOG2;

use crate::devices::tce::Window;
use crate::guest_memory::{AccessError, GuestMemory};
use crate::hal::{Memory, Platform};

const PAGE_BYTES: u64 = 1 << PAGE_LOG2;

/// What a device reaches.
#[derive(Debug)]
pub struct Dma<'a, H: Memory> {
    /// The machine.
    pub hal: &'a H,
    /// The partition's memory.
    pub memory: &'a mut GuestMemory<H>,
    /// What the device sees of it.
    pub window: &'a Window,
}

impl<H: Memory + Platform> Dma<'_, H> {
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
        &mut self,
        address: u64,
        bytes: u64,
        writes: bool,
    ) -> Result<RealAddress, AccessError> {
        let guest = self.window.translate(address, writes);
        let guest = guest.ok_or(AccessError::Outside(GuestRealAddress(address)))?;
        self.memory.filled(self.hal, guest, bytes)
    }

    /// Copies out of the partition's memory.
    ///
    /// # Errors
    /// As [`Dma::place`].
    pub fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), AccessError> {
        let mut done = 0;
        while done < into.len() {
            let (guest, bytes) = self.piece(address, done, into.len(), false)?;
            self.memory.read(self.hal, guest, &mut into[done..done + bytes])?;
            done += bytes;
        }
        Ok(())
    }

    /// Copies into the partition's memory.
    ///
    /// # Errors
    /// As [`Dma::place`].
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), AccessError> {
        let mut done = 0;
        while done < bytes.len() {
            let (guest, length) = self.piece(address, done, bytes.len(), true)?;
            self.memory.write(self.hal, guest, &bytes[done..done + length])?;
            done += length;
        }
        Ok(())
    }

    /// Behind the first `done` of `all` bytes: where the next ones are that lie in one page, and how many.
    fn piece(
        &self,
        address: u64,
        done: usize,
        all: usize,
        writes: bool,
    ) -> Result<(GuestRealAddress, usize), AccessError> {
        let address = address.wrapping_add(done as u64);
        let guest = self.window.translate(address, writes);
        let guest = guest.ok_or(AccessError::Outside(GuestRealAddress(address)))?;
        Ok((guest, (all - done).min(Self::room(address) as usize)))
    }
}
