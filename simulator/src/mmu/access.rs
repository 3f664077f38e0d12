//! Loads and stores of a thread: translation, endianness, and operands that cross a page.

use arch::address::EffectiveAddress;

use super::{Access, register, resolve, translate, watch};
use crate::state::memory::Offset;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::shortcuts::PAGE_LOG2;
use crate::state::thread::trap::Trap;

impl Thread {
    /// The place of `bytes` bytes at `address` that lie in one page. In a cache-inhibited page they must be
    /// aligned.
    #[inline]
    fn place(
        &mut self,
        shared: &mut Shared,
        address: EffectiveAddress,
        bytes: u64,
        access: Access,
    ) -> Result<Offset, Trap> {
        let pages = match access {
            Access::Store => &self.shortcuts.write,
            _ => &self.shortcuts.read,
        };
        match pages.find(address.0, bytes).or_else(|| pages.find_recorded(address.0, bytes)) {
            Some(offset) => Ok(offset),
            None => self.place_slow(shared, address, bytes, access),
        }
    }

    #[cold]
    fn place_slow(
        &mut self,
        shared: &mut Shared,
        address: EffectiveAddress,
        bytes: u64,
        access: Access,
    ) -> Result<Offset, Trap> {
        let place = translate(self, shared, address, access)?;
        if place.inhibited.is_some() && !address.0.is_multiple_of(bytes) {
            return Err(self.alignment_interrupt(address));
        }
        Ok(place.offset)
    }

    /// The places of `N` bytes at `address`, of which not all lie in one page.
    fn scattered<const N: usize>(
        &mut self,
        shared: &mut Shared,
        address: EffectiveAddress,
        access: Access,
    ) -> Result<[Offset; N], Trap> {
        let mut offsets = [0; N];
        for (index, offset) in offsets.iter_mut().enumerate() {
            let at = self.effective(address.0.wrapping_add(index as u64));
            let place = translate(self, shared, at, access)?;
            if place.inhibited.is_some() {
                return Err(self.alignment_interrupt(address));
            }
            self.accesses.record(at, place.offset, 1, access == Access::Store);
            *offset = place.offset;
        }
        Ok(offsets)
    }

    #[cold]
    fn load_slow<const N: usize>(
        &mut self,
        shared: &mut Shared,
        address: EffectiveAddress,
    ) -> Result<[u8; N], Trap> {
        watch::check(self, address, N as u64, Access::Load)?;
        if crosses_page(address, N) {
            let offsets: [Offset; N] = self.scattered(shared, address, Access::Load)?;
            return Ok(offsets.map(|offset| {
                let [byte] = shared.memory.read(offset);
                byte
            }));
        }
        if let Some((server, register)) = register(self, shared, address, N, Access::Load) {
            let value = shared.xics.read(server, register).to_be_bytes();
            shared.drive_lines(self.time_now().cycles());
            let mut bytes = [0; N];
            bytes.copy_from_slice(&value[value.len() - N..]);
            return Ok(bytes);
        }
        let offset = self.place(shared, address, N as u64, Access::Load)?;
        self.accesses.record(address, offset, N, false);
        Ok(shared.memory.read(offset))
    }

    /// Stores `N` bytes at `address`, in storage order. Nothing is written if any byte cannot be.
    ///
    /// # Errors
    /// [`Trap`] if any of them cannot be written.
    #[inline]
    pub fn store_bytes<const N: usize>(
        &mut self,
        shared: &mut Shared,
        address: EffectiveAddress,
        value: [u8; N],
    ) -> Result<(), Trap> {
        if let Some(offset) = self.shortcuts.write.find(address.0, N as u64) {
            shared.store(self, offset, value);
            return Ok(());
        }
        self.store_slow(shared, address, value)
    }

    #[cold]
    fn store_slow<const N: usize>(
        &mut self,
        shared: &mut Shared,
        address: EffectiveAddress,
        value: [u8; N],
    ) -> Result<(), Trap> {
        watch::check(self, address, N as u64, Access::Store)?;
        if crosses_page(address, N) {
            let offsets: [Offset; N] = self.scattered(shared, address, Access::Store)?;
            for (offset, byte) in offsets.into_iter().zip(value) {
                shared.store(self, offset, [byte]);
            }
            return Ok(());
        }
        if let Some((server, register)) = register(self, shared, address, N, Access::Store) {
            let value = value.iter().fold(0, |word, &byte| word << 8 | u32::from(byte));
            shared.write_register(server, register, value, self.time_now().cycles());
            return Ok(());
        }
        let offset = self.place(shared, address, N as u64, Access::Store)?;
        self.accesses.record(address, offset, N, true);
        shared.store(self, offset, value);
        Ok(())
    }

    /// Where the bytes at `address`, aligned to their size, lie: for accesses that must be one.
    ///
    /// # Errors
    /// [`Trap`] if they cannot be accessed so.
    pub fn locate(
        &mut self,
        shared: &mut Shared,
        address: EffectiveAddress,
        access: Access,
    ) -> Result<Offset, Trap> {
        watch::check(self, address, 1, access)?;
        let offset = self.place(shared, address, 1, access)?;
        self.accesses.record(address, offset, 1, access == Access::Store);
        Ok(offset)
    }

    /// Notes that a touch names the byte at `address`, if `access` may reach it and it has a cache. Nothing is raised
    /// or remembered, and in functional mode nothing is noted.
    pub fn hint(&mut self, shared: &Shared, address: EffectiveAddress, access: Access) {
        if !self.accesses.is_on {
            return;
        }
        let found = resolve(self, shared, address, access).ok();
        let cached = found.filter(|found| found.inhibited.is_none());
        if let Some(offset) = cached.and_then(|found| shared.memory.locate(found.real)) {
            self.accesses.record(address, offset, 1, false);
        }
    }

    /// Refuses a cache-inhibited page to an access that needs a cache.
    ///
    /// # Errors
    /// [`Trap`] if the page is one, or cannot be accessed.
    pub fn require_cached(
        &mut self,
        shared: &mut Shared,
        address: EffectiveAddress,
        access: Access,
    ) -> Result<(), Trap> {
        let pages = match access {
            Access::Store => &self.shortcuts.write,
            _ => &self.shortcuts.read,
        };
        // What is at hand has a cache.
        let known = pages.find(address.0, 1).or_else(|| pages.find_recorded(address.0, 1));
        if known.is_some() {
            return Ok(());
        }
        match translate(self, shared, address, access)?.inhibited {
            Some(inhibited) => Err(inhibited.refuse(self, shared.processor, address, access)),
            None => Ok(()),
        }
    }

    /// Whether the page at `address`, which `access` may reach, is cache-inhibited.
    ///
    /// # Errors
    /// [`Trap`] if it cannot be accessed.
    pub fn is_inhibited(
        &mut self,
        shared: &mut Shared,
        address: EffectiveAddress,
        access: Access,
    ) -> Result<bool, Trap> {
        Ok(translate(self, shared, address, access)?.inhibited.is_some())
    }
}

fn crosses_page(address: EffectiveAddress, bytes: usize) -> bool {
    address.offset(PAGE_LOG2) + bytes as u64 > 1 << PAGE_LOG2
}

macro_rules! sized {
    ($($type:ident $quick:ident $load:ident $store:ident;)*) => {
        impl Thread {
            $(
                #[doc = concat!("A `", stringify!($type), "` in the thread's endianness, if a shortcut knows where it is.")]
                #[inline(always)]
                pub fn $quick(&self, shared: &Shared, address: EffectiveAddress) -> Option<$type> {
                    let offset = self.shortcuts.read.find(address.0, size_of::<$type>() as u64)?;
                    let bytes = shared.memory.read(offset);
                    Some(if self.is_little_endian() {
                        $type::from_le_bytes(bytes)
                    } else {
                        $type::from_be_bytes(bytes)
                    })
                }

                #[doc = concat!("Loads a `", stringify!($type), "` in the thread's endianness.")]
                ///
                /// # Errors
                /// [`Trap`] if it cannot be read.
                #[inline]
                pub fn $load(
                    &mut self,
                    shared: &mut Shared,
                    address: EffectiveAddress,
                ) -> Result<$type, Trap> {
                    if let Some(value) = self.$quick(shared, address) {
                        return Ok(value);
                    }
                    let bytes = self.load_slow(shared, address)?;
                    Ok(if self.is_little_endian() {
                        $type::from_le_bytes(bytes)
                    } else {
                        $type::from_be_bytes(bytes)
                    })
                }

                #[doc = concat!("Stores a `", stringify!($type), "` in the thread's endianness.")]
                ///
                /// # Errors
                /// [`Trap`] if it cannot be written.
                #[inline]
                pub fn $store(
                    &mut self,
                    shared: &mut Shared,
                    address: EffectiveAddress,
                    value: $type,
                ) -> Result<(), Trap> {
                    let bytes = if self.is_little_endian() {
                        value.to_le_bytes()
                    } else {
                        value.to_be_bytes()
                    };
                    self.store_bytes(shared, address, bytes)
                }
            )*
        }
    };
}

sized! {
    u8 quick_u8 load_u8 store_u8;
    u16 quick_u16 load_u16 store_u16;
    u32 quick_u32 load_u32 store_u32;
    u64 quick_u64 load_u64 store_u64;
    u128 quick_u128 load_u128 store_u128;
}
