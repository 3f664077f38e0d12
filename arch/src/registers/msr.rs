//! Machine state register. Source: Power ISA 3.0B Book III; `docs/facts/special-registers.md#msr`.

use crate::bits::{Field, bit};

/// 64-bit mode.
pub const SF: u64 = bit(0);
/// Hypervisor state (when PR=0).
pub const HV: u64 = bit(3);
/// Transaction state: 0 none, 1 suspended, 2 transactional.
pub const TS: Field = Field::new(29, 30);
/// Transactional memory available.
pub const TM: u64 = bit(31);
/// Vector available.
pub const VEC: u64 = bit(38);
/// VSX available.
pub const VSX: u64 = bit(40);
/// External interrupts enabled.
pub const EE: u64 = bit(48);
/// Problem state.
pub const PR: u64 = bit(49);
/// Floating point available.
pub const FP: u64 = bit(50);
/// Machine checks enabled.
pub const ME: u64 = bit(51);
/// Floating-point exception mode 0.
pub const FE0: u64 = bit(52);
/// Trace: 1 branch, 2 single step.
pub const TE: Field = Field::new(53, 54);
/// Floating-point exception mode 1.
pub const FE1: u64 = bit(55);
/// Instruction relocation.
pub const IR: u64 = bit(58);
/// Data relocation.
pub const DR: u64 = bit(59);
/// Performance monitor mark.
pub const PMM: u64 = bit(61);
/// Recoverable interrupt.
pub const RI: u64 = bit(62);
/// Little-endian.
pub const LE: u64 = bit(63);

/// The bits that POWER8 and POWER9 keep. The transaction state is not among them: no transaction ever begins.
pub const KEPT: u64 =
    SF | HV | TM | VEC | VSX | EE | PR | FP | ME | FE0 | TE.mask() | FE1 | IR | DR | PMM | RI | LE;
