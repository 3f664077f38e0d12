//! Giving an interrupt to a guest, as the processor would have.

use arch::interrupt::{AIL2_BASE, AIL3_BASE, Vector};
use arch::registers::{lpcr, msr};

/// SRR1 bits that an interrupt replaces by its cause: 33-36 and 42-47.
const CAUSE_BITS: u64 = 0x783F_0000;

/// Where a guest stands: its next instruction and its MSR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Context {
    /// Next instruction.
    pub pc: u64,
    /// Machine state register.
    pub msr: u64,
}

/// MSR\[TE\] of a guest that is interrupted behind each instruction.
const SINGLE_STEP: u64 = 2;
/// Cause of a trace interrupt behind an instruction.
pub const TRACED: u64 = 0x4000_0000;

impl Context {
    /// Whether a trace interrupt follows the instruction at which the guest stands.
    #[must_use]
    pub const fn is_single_step(self) -> bool {
        msr::TE.get(self.msr) & SINGLE_STEP != 0
    }

    /// The address behind the instruction at which the guest stands: with MSR\[SF\]=0 addresses have 32 bits.
    #[must_use]
    pub const fn behind(self) -> u64 {
        let next = self.pc.wrapping_add(4);
        if self.msr & msr::SF == 0 { next & 0xFFFF_FFFF } else { next }
    }
}

/// The context of the guest's handler, when `interrupted` takes `vector` under the guest's `lpcr`.
/// SRR0 becomes `interrupted.pc`, SRR1 what [`save_status`] says.
///
/// Source: Power ISA 3.0B Book III, Interrupt Processing: SF is set, LE comes from LPCR\[ILE\], ME and
/// HV stay, IR and DR stay with AIL 2 or 3 when both were set, everything else is cleared.
#[must_use]
pub const fn handler(interrupted: Context, vector: Vector, lpcr: u64) -> Context {
    let relocated = interrupted.msr & (msr::IR | msr::DR);
    let kept = interrupted.msr & msr::ME;
    let endian = if lpcr & lpcr::ILE != 0 { msr::LE } else { 0 };
    let (base, relocation) = match lpcr::AIL.get(lpcr) {
        2 if relocated == msr::IR | msr::DR => (AIL2_BASE, relocated),
        3 if relocated == msr::IR | msr::DR => (AIL3_BASE, relocated),
        _ => (0, 0),
    };
    Context { pc: base + vector.offset(), msr: msr::SF | kept | endian | relocation }
}

/// SRR1 of an interrupt out of a context with `msr`, with the bits `cause`.
#[must_use]
pub const fn save_status(msr: u64, cause: u64) -> u64 {
    (msr & !CAUSE_BITS) | cause
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Context, handler, save_status};
    use arch::interrupt::{Vector, program};
    use arch::registers::{lpcr, msr};

    const RELOCATED: Context =
        Context { pc: 0x1000, msr: msr::SF | msr::ME | msr::IR | msr::DR | msr::EE | msr::PR };

    #[test]
    fn without_ail_the_handler_runs_untranslated() {
        let to = handler(RELOCATED, Vector::Program, 0);
        assert_eq!(to, Context { pc: 0x700, msr: msr::SF | msr::ME });
    }

    #[test]
    fn ail_applies_only_when_instruction_and_data_are_translated() {
        let alternate = |ail| lpcr::AIL.set(lpcr::ILE, ail);
        let kept = msr::SF | msr::ME | msr::IR | msr::DR | msr::LE;
        let to = handler(RELOCATED, Vector::Program, alternate(3));
        assert_eq!(to, Context { pc: 0xC000_0000_0000_4700, msr: kept });
        let to = handler(RELOCATED, Vector::Program, alternate(2));
        assert_eq!(to, Context { pc: 0x1_8700, msr: kept });
        let half = Context { msr: RELOCATED.msr & !msr::DR, ..RELOCATED };
        for ail in [2, 3] {
            let to = handler(half, Vector::Program, alternate(ail));
            assert_eq!(to, Context { pc: 0x700, msr: msr::SF | msr::ME | msr::LE });
        }
    }

    #[test]
    fn the_cause_replaces_what_the_status_bits_were() {
        let status = save_status(RELOCATED.msr | 0x4000_0000, program::ILLEGAL);
        assert_eq!(status, RELOCATED.msr | program::ILLEGAL);
    }
}
