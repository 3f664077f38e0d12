//! POWER8, Power ISA 2.07.

use super::{AtPowerOn, DoorbellReach, External, Facts, Hid0, NoMemory, PirLayout, Split, Way};
use crate::bits::bit;
use crate::hash::EntryForm;
use crate::interrupt::{Vector, wake};
use crate::registers::hfscr::Facility;
use crate::registers::{lpcr, msr, pcr, xer};

pub(super) const FACTS: Facts = Facts {
    name: "POWER8",
    // `docs/facts/special-registers.md#processor-version`.
    versions: [0x4B, 0x4D],
    // `docs/facts/special-registers.md#values-at-power-on`.
    at_power_on: AtPowerOn { pvr: 0x004D_0200, lpcr: 0x0040_0000_0000_6000, hid0: 0, rpr: 0 },
    // `docs/facts/special-registers.md#bits-that-are-kept`.
    msr: msr::KEPT,
    lpcr: 0xF07F_8000_3F85_FA09,
    // CA32 and OV32 came with ISA 3.0.
    xer: xer::MASK & !(xer::CA32 | xer::OV32),
    pcr: pcr::TM | pcr::V2_06 | pcr::V2_05,
    // `docs/facts/interrupts.md#endianness`.
    hid0: Hid0 {
        little_endian: bit(19),
        radix: 0,
        split: Some(Split {
            threads: 8,
            stays: bit(15),
            ways: &[
                Way { subcores: 2, command: bit(11), status: bit(6) },
                Way { subcores: 4, command: bit(12), status: bit(2) },
            ],
        }),
    },
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
    // `docs/facts/special-registers.md#wort`.
    has_wort: true,
    // `docs/facts/interrupts.md#external-interrupts`.
    external: External {
        vector: Vector::External,
        ends_power_saving: lpcr::PECE_EXTERNAL,
        wake: wake::EXTERNAL,
    },
    // `docs/facts/power8.md#interrupt-presentation`.
    presents_by_registers: true,
    // `docs/facts/power8.md#doorbells`.
    doorbell: DoorbellReach::Core,
    // `docs/facts/power8.md#table-of-a-partition`.
    shares_partition: true,
    guest_stop_from: None,
    ordered_invalidations_from: &[],
    // `docs/facts/translation.md#slb`.
    slb_entries: 32,
    // `docs/facts/translation.md#slb-invalidation`.
    slbia_kinds: &[0, 1, 2, 6],
    hashed_entry: EntryForm::V2,
    radix_pages: &[],
};

/// `docs/facts/interrupts.md#machine-checks-of-power8`.
pub(super) const NO_MEMORY: NoMemory = NoMemory {
    data: 0x8000,
    walk: 0x4000,
    store: None,
    fetch: 0x0004_0000,
    fetch_walk: 0x0018_0000,
};
