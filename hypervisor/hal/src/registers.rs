//! Special-purpose registers and barriers, as functions.

use core::arch::asm;

/// Numbers of special-purpose registers: those of `arch`, by which privileged software reads and writes them.
pub(crate) mod spr {
    use arch::registers::spr::Spr;

    macro_rules! numbers {
        ($($name:ident $register:ident)*) => {
            $(#[allow(dead_code, reason = "each processor uses its own")]
            pub(crate) const $name: u16 = {
                let number = Spr::$register.number_to_read();
                assert!(number == Spr::$register.number_to_write());
                number
            };)*
        };
    }

    numbers! {
        DSCR Dscr
        DSISR Dsisr
        DAR Dar
        DEC Dec
        SRR0 Srr0
        SRR1 Srr1
        CFAR Cfar
        AMR Amr
        PIDR Pidr
        IAMR Iamr
        TFHAR Tfhar
        TFIAR Tfiar
        TEXASR Texasr
        TIDR Tidr
        FSCR Fscr
        UAMOR Uamor
        PSPB Pspb
        DPDES Dpdes
        DAWR0 Dawr0
        CIABR Ciabr
        DAWRX0 Dawrx0
        HFSCR Hfscr
        VRSAVE Vrsave
        SPRG0 Sprg0
        SPRG1 Sprg1
        SPRG2 Sprg2
        SPRG3 Sprg3
        HSPRG0 Hsprg0
        HSPRG1 Hsprg1
        HDSISR Hdsisr
        HDAR Hdar
        SPURR Spurr
        PURR Purr
        HDEC Hdec
        HSRR0 Hsrr0
        HSRR1 Hsrr1
        LPCR Lpcr
        PCR Pcr
        HID0 Hid0
        LPIDR Lpidr
        AMOR Amor
        PTCR Ptcr
        SIER Sier
        MMCR2 Mmcr2
        MMCRA Mmcra
        PMC1 Pmc1
        PMC2 Pmc2
        PMC3 Pmc3
        PMC4 Pmc4
        PMC5 Pmc5
        PMC6 Pmc6
        MMCR0 Mmcr0
        SIAR Siar
        SDAR Sdar
        MMCR1 Mmcr1
        EBBHR Ebbhr
        EBBRR Ebbrr
        BESCR Bescr
        TAR Tar
        ASDR Asdr
        IC Ic
        VTB Vtb
        PSSCR Psscr
        TRIG2 Trig2
        WORT Wort
        MMCRS Mmcrs
        SPMC1 Spmc1
        SPMC2 Spmc2
        SDR1 Sdr1
        MPPR Mppr
        ACOP Acop
        TACR Tacr
        TCSCR Tcscr
        CSIGR Csigr
        PPR Ppr
    }

    pub(crate) const CTRL_READ: u16 = Spr::Ctrl.number_to_read();
    pub(crate) const CTRL_WRITE: u16 = Spr::Ctrl.number_to_write();
    pub(crate) const TB: u16 = Spr::Tb.number_to_read();
    /// Bits 0:39 of the time base, to write.
    pub(crate) const TBU40: u16 = 286;
    pub(crate) const PVR: u16 = Spr::Pvr.number_to_read();
    pub(crate) const PIR: u16 = Spr::Pir.number_to_read();
}

/// Reads a register. Reading has no effect on memory.
pub(crate) fn read<const NUMBER: u16>() -> u64 {
    let value;
    // SAFETY: mfspr of a register that the processor has; it changes nothing.
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
