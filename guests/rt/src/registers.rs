//! Filling all registers, and seeing what they hold after an exit.

use core::arch::{asm, global_asm};
use core::mem::offset_of;

/// What every register of a program holds.
#[derive(Clone, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Values {
    /// General-purpose registers.
    pub gpr: [u64; 32],
    /// Floating-point registers.
    pub fpr: [u64; 32],
    /// Condition register.
    pub cr: u64,
    /// Link register.
    pub lr: u64,
    /// Fixed-point exception register.
    pub xer: u64,
    /// Count register.
    pub ctr: u64,
    /// Floating-point status and control.
    pub fpscr: u64,
}

global_asm!(
    include_str!("registers.S"),
    SPRG0 = const 272,
    SPRG1 = const 273,
    SPRG2 = const 274,
    SPRG3 = const 275,
    GPR = const offset_of!(Values, gpr),
    FPR = const offset_of!(Values, fpr),
    CR = const offset_of!(Values, cr),
    LR = const offset_of!(Values, lr),
    XER = const offset_of!(Values, xer),
    CTR = const offset_of!(Values, ctr),
    FPSCR = const offset_of!(Values, fpscr),
);

unsafe extern "C" {
    fn rt_registers_spin(fill: *const Values, store: *mut Values, count: u64);
    fn rt_registers_call(fill: *const Values, store: *mut Values);
}

/// Fills all registers, CTR with `count`, and counts CTR down: what they hold then. Interrupts must be
/// off and floating point on
/// (`rt::floating_point::allow`).
#[must_use]
pub fn spin(fill: &Values, count: u64) -> Values {
    let mut store = fill.clone();
    // SAFETY: reads one record, writes the other; the registers of the ABI are restored.
    unsafe { rt_registers_spin(fill, &mut store, count) };
    store
}

/// Fills all registers and makes the hypercall that r3 asks for: what they hold then. As [`spin`]; the
/// call must not touch memory.
#[must_use]
pub fn call(fill: &Values) -> Values {
    let mut store = fill.clone();
    // SAFETY: as in `spin`.
    unsafe { rt_registers_call(fill, &mut store) };
    store
}

macro_rules! special {
    ($($(#[$doc:meta])* $number:literal $name:literal $mask:literal;)*) => {
        /// Names of the special-purpose registers that [`set_special`] fills, in its order.
        pub const SPECIAL: [&str; [$($number),*].len()] = [$($name),*];

        /// Fills special-purpose registers, each with the part of its value that it keeps: what they
        /// hold now.
        pub fn set_special(values: [u64; SPECIAL.len()]) -> [u64; SPECIAL.len()] {
            let mut values = values.into_iter();
            $(
                let value: u64 = values.next().unwrap_or(0) & $mask;
                // SAFETY: none of these registers changes what the payload does with translation off.
                unsafe { asm!("mtspr {}, {}", const $number, in(reg) value, options(nostack)) };
            )*
            special()
        }

        /// What the special-purpose registers hold.
        #[must_use]
        pub fn special() -> [u64; SPECIAL.len()] {
            [$({
                let value: u64;
                // SAFETY: reads a register.
                unsafe { asm!("mfspr {}, {}", out(reg) value, const $number, options(nomem, nostack)) };
                value
            }),*]
        }
    };
}

special! {
    153 "FSCR" 0x104;       // DSCR and TAR; first, since it allows others
    17 "DSCR" 0x1FF_FFFF;
    18 "DSISR" 0xFFFF_FFFF;
    19 "DAR" 0xFFFF_FFFF_FFFF_FFFF;
    26 "SRR0" 0xFFFF_FFFF_FFFF_FFFC;
    27 "SRR1" 0xFFFF;
    29 "AMR" 0xFFFF_FFFF_FFFF_FFFF;
    48 "PIDR" 0xF_FFFF;
    61 "IAMR" 0x5555_5555_5555_5555;
    144 "TIDR" 0xFFFF;
    157 "UAMOR" 0xFFFF_FFFF_FFFF_FFFF;
    256 "VRSAVE" 0xFFFF_FFFF;
    815 "TAR" 0xFFFF_FFFF_FFFF_FFFF;
}
