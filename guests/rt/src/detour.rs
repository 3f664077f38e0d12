//! A short way with any MSR that a kernel can make, with all registers filled: into problem state, into a
//! big-endian program, with 32-bit addresses, with relocation half on, with facilities and interrupts on or
//! off, traced.
//!
//! The way ends with `sc`, whose handler has to be [`end`]; so it is the guest's own interrupt that brings it back.

use crate::Frame;
use crate::registers::Values;
use crate::translation::USERS_BASE;

use arch::registers::msr;

unsafe extern "C" {
    fn rt_registers_detour(fill: *const Values, store: *mut Values, to: u64, msr: u64);
    fn rt_registers_detour_with_vectors(fill: *const Values, store: *mut Values, to: u64, msr: u64);
    static rt_registers_detoured: u8;
    static rt_detours: [[u32; 2]; 4];
}

/// What happens on the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// The hypercall that r3 asks for.
    Call = 0,
    /// As many turns as CTR holds.
    Spin = 1,
}

/// What a kernel may ask for. HV, ME and the bits of transactions are not its to decide.
pub const CHOICE: u64 = msr::SF
    | msr::VEC
    | msr::VSX
    | msr::EE
    | msr::FP
    | msr::FE0
    | msr::TE.mask()
    | msr::FE1
    | msr::PMM
    | msr::RI
    | msr::LE;

/// Fills all registers and goes there with `msr`: what they hold then. r1 must be a stack. With vectors, which
/// must be allowed, doubleword 1 of VSR0 to VSR31 is filled with that of VSR32 to VSR63. With MSR\[PR\],
/// [`share_with_users`](crate::share_with_users) was called, and every interrupt that may come has a handler.
#[must_use]
pub fn take(fill: &Values, has_vectors: bool, way: Way, msr: u64) -> Values {
    let mut store = fill.clone();
    let index = way as usize + if msr & msr::LE == 0 { 2 } else { 0 };
    // SAFETY: the address of a constant.
    let to = unsafe { &raw const rt_detours[index] } as u64;
    let to = if msr & msr::PR == 0 { to } else { USERS_BASE + to };
    // SAFETY: as for `registers::call`. What lies there touches no memory, and its end is an interrupt, which
    // saves and restores what it uses below the r1 that it finds.
    unsafe {
        if has_vectors {
            rt_registers_detour_with_vectors(fill, &mut store, to, msr);
        } else {
            rt_registers_detour(fill, &mut store, to, msr);
        }
    }
    store
}

/// The handler of `sc`: the way is over, and `msr` what it was before.
pub fn end(frame: &mut Frame, msr: u64) {
    frame.pc = &raw const rt_registers_detoured as u64;
    frame.msr = msr;
}
