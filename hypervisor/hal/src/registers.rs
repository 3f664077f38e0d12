//! Special-purpose registers and barriers, as functions.

use core::arch::asm;

/// Numbers of special-purpose registers, as the Power ISA has them.
pub(crate) mod spr {
    pub(crate) const DSCR: u16 = 17;
    pub(crate) const DSISR: u16 = 18;
    pub(crate) const DAR: u16 = 19;
    pub(crate) const DEC: u16 = 22;
    pub(crate) const SRR0: u16 = 26;
    pub(crate) const SRR1: u16 = 27;
    pub(crate) const CFAR: u16 = 28;
    pub(crate) const AMR: u16 = 29;
    pub(crate) const PIDR: u16 = 48;
    pub(crate) const IAMR: u16 = 61;
    pub(crate) const TFHAR: u16 = 128;
    pub(crate) const TFIAR: u16 = 129;
    pub(crate) const TEXASR: u16 = 130;
    pub(crate) const CTRL_READ: u16 = 136;
    pub(crate) const TIDR: u16 = 144;
    pub(crate) const CTRL_WRITE: u16 = 152;
    pub(crate) const FSCR: u16 = 153;
    pub(crate) const UAMOR: u16 = 157;
    pub(crate) const PSPB: u16 = 159;
    pub(crate) const DPDES: u16 = 176;
    pub(crate) const DAWR0: u16 = 180;
    pub(crate) const CIABR: u16 = 187;
    pub(crate) const DAWRX0: u16 = 188;
    pub(crate) const HFSCR: u16 = 190;
    pub(crate) const VRSAVE: u16 = 256;
    pub(crate) const TB: u16 = 268;
    pub(crate) const SPRG0: u16 = 272;
    pub(crate) const SPRG1: u16 = 273;
    pub(crate) const SPRG2: u16 = 274;
    pub(crate) const SPRG3: u16 = 275;
    pub(crate) const PVR: u16 = 287;
    pub(crate) const HSPRG0: u16 = 304;
    pub(crate) const HSPRG1: u16 = 305;
    pub(crate) const HDSISR: u16 = 306;
    pub(crate) const HDAR: u16 = 307;
    pub(crate) const SPURR: u16 = 308;
    pub(crate) const PURR: u16 = 309;
    pub(crate) const HDEC: u16 = 310;
    pub(crate) const HSRR0: u16 = 314;
    pub(crate) const HSRR1: u16 = 315;
    pub(crate) const LPCR: u16 = 318;
    pub(crate) const LPIDR: u16 = 319;
    pub(crate) const AMOR: u16 = 349;
    pub(crate) const PTCR: u16 = 464;
    pub(crate) const SIER: u16 = 784;
    pub(crate) const MMCR2: u16 = 785;
    pub(crate) const MMCRA: u16 = 786;
    pub(crate) const PMC1: u16 = 787;
    pub(crate) const PMC2: u16 = 788;
    pub(crate) const PMC3: u16 = 789;
    pub(crate) const PMC4: u16 = 790;
    pub(crate) const PMC5: u16 = 791;
    pub(crate) const PMC6: u16 = 792;
    pub(crate) const MMCR0: u16 = 795;
    pub(crate) const SIAR: u16 = 796;
    pub(crate) const SDAR: u16 = 797;
    pub(crate) const MMCR1: u16 = 798;
    pub(crate) const EBBHR: u16 = 804;
    pub(crate) const EBBRR: u16 = 805;
    pub(crate) const BESCR: u16 = 806;
    pub(crate) const TAR: u16 = 815;
    pub(crate) const ASDR: u16 = 816;
    pub(crate) const IC: u16 = 848;
    pub(crate) const VTB: u16 = 849;
    pub(crate) const PSSCR: u16 = 855;
    pub(crate) const TRIG2: u16 = 882;
    pub(crate) const WORT: u16 = 895;
    pub(crate) const PPR: u16 = 896;
    pub(crate) const PIR: u16 = 1023;
}

/// Reads a register. Reading has no effect on memory.
pub(crate) fn read<const NUMBER: u16>() -> u64 {
    let value;
    // SAFETY: mfspr of a register that POWER9 has; it changes nothing.
    unsafe { asm!("mfspr {}, {}", out(reg) value, const NUMBER, options(nomem, nostack)) };
    value
}

/// Writes a register.
///
/// # Safety
/// The value must keep what the running code relies on: translation, stacks, handlers.
pub(crate) unsafe fn write<const NUMBER: u16>(value: u64) {
    // SAFETY: the caller's promise.
    unsafe { asm!("mtspr {}, {}", const NUMBER, in(reg) value, options(nostack)) };
}

/// Orders earlier stores to translation tables before what follows.
pub(crate) fn ptesync() {
    // SAFETY: a barrier.
    unsafe { asm!("ptesync", options(nostack)) };
}

/// Discards prefetched instructions and makes earlier SPR changes take effect.
pub(crate) fn isync() {
    // SAFETY: a barrier.
    unsafe { asm!("isync", options(nostack)) };
}
