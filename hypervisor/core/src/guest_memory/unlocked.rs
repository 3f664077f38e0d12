//! A partition's memory for whoever does not ask whether the partition is locked.
//!
//! What the partition has already is reached by [`Given`] alone. The rest is given to it first: whoever lends this
//! knows how, with the partition locked or not.

use core::cell::Cell;
use core::fmt;

use arch::address::{GuestRealAddress, RealAddress};

use super::given::Given;
use super::{AccessError, pieces};
use crate::hal::{Maps, Window, Windows};

/// Gives the partition a piece that lies in one frame: where it is.
pub type Give<'a> = &'a dyn Fn(GuestRealAddress, u64) -> Result<RealAddress, AccessError>;

/// The memory.
pub struct Unlocked<'a, H> {
    /// The machine.
    pub hal: &'a H,
    /// What the partition has.
    pub given: &'a Given,
    /// How it gets more.
    pub give: Give<'a>,
    /// How often it got more, since somebody asked.
    pub gave: Cell<u64>,
}

impl<H> fmt::Debug for Unlocked<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unlocked").field("given", self.given).finish_non_exhaustive()
    }
}

impl<H: Windows> Unlocked<'_, H> {
    /// Where a piece of the memory is that lies in one frame, and that is the partition's from now on.
    ///
    /// # Errors
    /// That it is not possible.
    pub fn place(&self, address: GuestRealAddress, bytes: u64) -> Result<RealAddress, AccessError> {
        match self.given.owned(address, bytes) {
            Some(real) => Ok(real),
            None => {
                self.gave.update(|gave| gave + 1);
                (self.give)(address, bytes)
            }
        }
    }

    /// Copies out of the memory.
    ///
    /// # Errors
    /// That it is not possible.
    pub fn read(&self, address: GuestRealAddress, into: &mut [u8]) -> Result<(), AccessError> {
        let maps = self.hal.maps();
        for (offset, bytes) in pieces(address.0, into.len() as u64) {
            let real = self.place(address.wrapping_add(offset), bytes)?;
            let window = maps.open(real, bytes).map_err(AccessError::Hypervisor)?;
            window.read(0, &mut into[offset as usize..(offset + bytes) as usize]);
        }
        Ok(())
    }
}
