//! What the instruction that executes did to memory and to translations, for the timing model.
//!
//! Nothing is recorded in functional mode: then accesses go the quick way, past here.

use arch::address::EffectiveAddress;

use crate::state::invalidation::Invalidation;
use crate::state::memory::Offset;

/// Bytes that an instruction loaded or stored, in one piece of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Effective address of the first byte.
    pub address: u64,
    /// Its place in memory.
    pub offset: Offset,
    /// How many bytes, at least 1.
    pub bytes: u32,
    /// Whether it stored them.
    pub is_store: bool,
}

/// What the instruction that executes has accessed.
#[derive(Clone, Debug, Default)]
pub struct Accesses {
    /// Whether anybody wants to know.
    pub is_on: bool,
    list: Vec<Access>,
    /// Translations removed, with the core that lost them.
    invalidations: Vec<(usize, Invalidation)>,
}

impl Accesses {
    /// What was accessed, in order; what lies behind each other is one.
    #[must_use]
    pub fn list(&self) -> &[Access] {
        &self.list
    }

    /// Nothing was accessed yet.
    #[inline]
    pub fn clear(&mut self) {
        // Mostly there is nothing.
        if !self.list.is_empty() {
            self.list.clear();
        }
        if !self.invalidations.is_empty() {
            self.invalidations.clear();
        }
    }

    /// Translations that were removed, with the core that lost them.
    #[must_use]
    pub fn invalidations(&self) -> &[(usize, Invalidation)] {
        &self.invalidations
    }

    /// Records that core `core` lost translations.
    pub fn record_invalidation(&mut self, core: usize, invalidation: Invalidation) {
        if self.is_on {
            self.invalidations.push((core, invalidation));
        }
    }

    /// Records an access.
    #[inline]
    pub fn record(
        &mut self,
        address: EffectiveAddress,
        offset: Offset,
        bytes: usize,
        is_store: bool,
    ) {
        if !self.is_on {
            return;
        }
        let address = address.0;
        if let Some(last) = self.list.last_mut()
            && last.is_store == is_store
            && last.offset + last.bytes as usize == offset
            && last.address.wrapping_add(u64::from(last.bytes)) == address
        {
            last.bytes += bytes as u32;
            return;
        }
        self.list.push(Access { address, offset, bytes: bytes as u32, is_store });
    }
}
