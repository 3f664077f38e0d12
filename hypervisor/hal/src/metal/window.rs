//! Real memory through a window: copying, and no reference to it.

use core::arch::asm;
use core::ptr;

use arch::address::RealAddress;
use hypervisor_core::hal::{self, HalError};
use hypervisor_core::memory::Range;

use crate::host_space::map::Pin;
use crate::host_space::memory::{BLOCK, zero_blocks};
use crate::host_space::region::Maps;
use crate::host_state::per_cpu::per_cpu;

/// A piece of real memory that can be reached while this lives.
#[derive(Debug)]
pub struct Window<'a> {
    maps: &'a Maps<'a>,
    piece: Piece,
    /// The piece is there with relocation off alone.
    is_real: bool,
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
        let piece = Piece { pointer, bytes: bytes as usize };
        Ok(Window { maps: self, piece, is_real: self.is_real() })
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
    const fn own(&self) -> Piece {
        Piece { pointer: self.0.pointer, bytes: self.0.bytes }
    }

    #[inline(always)]
    fn with<R>(&self, does: impl FnOnce(Piece) -> R) -> R {
        does(self.own())
    }
}

impl Window<'_> {
    const fn own(&self) -> Piece {
        self.piece
    }

    #[inline(always)]
    fn with<R>(&self, does: impl FnOnce(Piece) -> R) -> R {
        if self.is_real { with_relocation_off(|| does(self.piece)) } else { does(self.piece) }
    }
}

/// Does something that uses the image, the heap, and real memory by its real address.
#[cold]
#[inline(never)]
fn with_relocation_off<R>(does: impl FnOnce() -> R) -> R {
    // SAFETY: image, heap and stacks are at the same effective addresses with relocation off; nothing that the compiler
    // knows of memory is kept across either.
    unsafe {
        let msr = (*per_cpu()).real_msr;
        let before: u64;
        asm!("mfmsr {before}", "mtmsrd {msr}, 0", "isync", before = out(reg) before, msr = in(reg) msr);
        let result = does();
        asm!("mtmsrd {before}, 0", "isync", before = in(reg) before);
        result
    }
}

macro_rules! window {
    ($type:ty) => {
        impl hal::Window for $type {
            #[inline(always)]
            fn read(&self, offset: usize, into: &mut [u8]) {
                self.with(|piece| piece.read(offset, into));
            }

            #[inline(always)]
            fn write(&mut self, offset: usize, bytes: &[u8]) {
                self.with(|piece| piece.write(offset, bytes));
            }

            fn copy_from(&mut self, offset: usize, from: &Self, bytes: usize) {
                self.with(|to| to.copy_from(offset, from.own(), bytes));
            }

            fn zero(&mut self) {
                self.with(Piece::zero);
            }

            fn make_fetchable(&mut self) {
                self.with(Piece::make_fetchable);
            }
        }
    };
}

window!(Window<'_>);
window!(Pinned);
