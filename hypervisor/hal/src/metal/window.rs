//! Real memory through a window: copying, and no reference to it.

use core::arch::asm;
use core::ptr;

use arch::address::RealAddress;
use hypervisor_core::hal::{self, HalError};
use hypervisor_core::memory::Range;

use crate::host_space::map::Pin;
use crate::host_space::memory::{BLOCK, zero_blocks};
use crate::host_space::region::Maps;

/// A piece of real memory that can be reached while this lives.
#[derive(Debug)]
pub struct Window<'a> {
    maps: &'a Maps<'a>,
    piece: Piece,
}

impl Drop for Window<'_> {
    fn drop(&mut self) {
        self.maps.close(self.piece.pointer);
    }
}

impl hal::Maps for Maps<'_> {
    type Window<'a>
        = Window<'a>
    where
        Self: 'a;

    fn open(&self, address: RealAddress, bytes: u64) -> Result<Window<'_>, HalError> {
        let pointer = Self::open(self, Range { start: address, bytes })?;
        Ok(Window { maps: self, piece: Piece { pointer, bytes: bytes as usize } })
    }
}

/// One that stays open.
#[derive(Debug)]
pub struct Pinned(pub(super) Pin);

/// Mapped memory.
#[derive(Clone, Copy, Debug)]
struct Piece {
    pointer: *mut u8,
    bytes: usize,
}

impl Piece {
    #[inline(always)]
    fn at(self, offset: usize, bytes: usize) -> *mut u8 {
        let end = offset.checked_add(bytes);
        assert!(end.is_some_and(|end| end <= self.bytes), "an access beyond its window");
        // SAFETY: within the mapping.
        unsafe { self.pointer.add(offset) }
    }

    /// Inlined, so that few bytes are moved by few instructions.
    #[inline(always)]
    fn read(self, offset: usize, into: &mut [u8]) {
        let from = self.at(offset, into.len());
        // SAFETY: `at` has checked; `Reserved` keeps the hypervisor's own memory out of windows, so the
        // two do not overlap. No reference to the mapped bytes is made.
        unsafe { ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
    }

    /// Inlined as [`Piece::read`].
    #[inline(always)]
    fn write(self, offset: usize, bytes: &[u8]) {
        let to = self.at(offset, bytes.len());
        // SAFETY: as for `read`.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
    }

    /// By eight doublewords at a time, which `memcpy` of `compiler_builtins` does one by one. Not inlined, so that a
    /// ledger tells what copies cost.
    #[inline(never)]
    fn copy_from(self, offset: usize, from: Self, bytes: usize) {
        type Words = [u64; 8];
        let (from, to) = (from.at(0, bytes), self.at(offset, bytes));
        let whole = bytes - bytes % size_of::<Words>();
        for offset in (0..whole).step_by(size_of::<Words>()) {
            // SAFETY: `at` has checked both. No reference to the mapped bytes is made.
            unsafe {
                let words = from.add(offset).cast::<Words>().read_unaligned();
                to.add(offset).cast::<Words>().write_unaligned(words);
            }
        }
        // SAFETY: as above.
        unsafe { ptr::copy(from.add(whole), to.add(whole), bytes - whole) };
    }

    fn make_fetchable(self) {
        let first = self.pointer as usize & !(BLOCK - 1);
        let end = self.pointer as usize + self.bytes;
        // SAFETY: blocks of the mapping; neither instruction changes memory.
        unsafe {
            for block in (first..end).step_by(BLOCK) {
                asm!("dcbst 0, {}", in(reg) block, options(nostack));
            }
            asm!("sync", options(nostack));
            for block in (first..end).step_by(BLOCK) {
                asm!("icbi 0, {}", in(reg) block, options(nostack));
            }
            asm!("sync", "isync", options(nostack));
        }
    }

    fn zero(self) {
        let Self { pointer, bytes } = self;
        if pointer.align_offset(BLOCK) != 0 || !bytes.is_multiple_of(BLOCK) {
            // SAFETY: within the mapping.
            unsafe { ptr::write_bytes(pointer, 0, bytes) };
            return;
        }
        // SAFETY: whole blocks within the mapping, which is cacheable.
        unsafe { zero_blocks(pointer, bytes) };
    }
}

impl Pinned {
    const fn piece(&self) -> Piece {
        Piece { pointer: self.0.pointer, bytes: self.0.bytes }
    }
}

impl Window<'_> {
    const fn piece(&self) -> Piece {
        self.piece
    }
}

macro_rules! window {
    ($type:ty) => {
        impl hal::Window for $type {
            #[inline(always)]
            fn read(&self, offset: usize, into: &mut [u8]) {
                self.piece().read(offset, into);
            }

            #[inline(always)]
            fn write(&mut self, offset: usize, bytes: &[u8]) {
                self.piece().write(offset, bytes);
            }

            fn copy_from(&mut self, offset: usize, from: &Self, bytes: usize) {
                self.piece().copy_from(offset, from.piece(), bytes);
            }

            fn zero(&mut self) {
                self.piece().zero();
            }

            fn make_fetchable(&mut self) {
                self.piece().make_fetchable();
            }
        }
    };
}

window!(Window<'_>);
window!(Pinned);
