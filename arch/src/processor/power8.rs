//! POWER8, Power ISA 2.07.

use super::{AtPowerOn, Facts, Hid0, PirLayout};
use crate::bits::bit;
use crate::registers::hfscr::Facility;
use crate::registers::msr;

pub(super) const FACTS: Facts = Facts {
    name: "POWER8",
    // `docs/facts/special-registers.md#processor-version`.
    versions: [0x4B, 0x4D],
    // `docs/facts/special-registers.md#values-at-power-on`.
    at_power_on: AtPowerOn { pvr: 0x004D_0200, lpcr: 0x0040_0000_0000_6000, hid0: 0, rpr: 0 },
    // `docs/facts/special-registers.md#bits-that-are-kept`.
    msr: msr::KEPT,
    lpcr: 0xF07F_8000_3F85_FA09,
    pcr: 0x2000_0000_0000_0006,
    // `docs/facts/interrupts.md#endianness`.
    hid0: Hid0 { little_endian: bit(19), radix: 0 },
    // `docs/facts/special-registers.md#facilities`.
    hfscr: Facility::Fp.bit()
        | Facility::VecVsx.bit()
        | Facility::Dscr.bit()
        | Facility::Pm.bit()
        | Facility::Bhrb.bit()
        | Facility::Tm.bit()
        | Facility::Ebb.bit()
        | Facility::Tar.bit(),
    // `docs/facts/interrupts.md#width-of-the-decrementers`.
    decrementer_bits: 32,
    // `docs/facts/opal-and-powernv.md#pir`.
    pir: PirLayout { chip_shift: 7, core_shift: 3 },
    // `docs/facts/power9-core.md#modes-of-a-core`.
    smt_modes: &[1, 2, 4, 8],
    // `docs/facts/translation.md#slb`.
    slb_entries: 32,
    radix_pages: &[],
};
