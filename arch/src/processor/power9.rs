//! POWER9, Power ISA 3.0B.

use super::{AtPowerOn, DoorbellReach, External, Facts, Hid0, NoMemory, PirLayout, RadixPage};
use crate::bits::bit;
use crate::hash::EntryForm;
use crate::interrupt::{Vector, wake};
use crate::registers::hfscr::Facility;
use crate::registers::{lpcr, msr, pcr, xer};

pub(super) const FACTS: Facts = Facts {
    name: "POWER9",
    versions: [0x4E, 0x4E],
    // DD2.3, the stepping without the errata of tlbie's store queue and of a guest's stop:
    // `docs/facts/special-registers.md#processor-version`; the others as in
    // `docs/facts/special-registers.md#values-at-power-on` and `#registers-of-the-implementation` there.
    at_power_on: AtPowerOn {
        pvr: 0x004E_1203,
        lpcr: 0x0040_0000_0000_A000,
        hid0: 0x0080_0000_0000_0000,
        rpr: 0x0000_0103_070F_1F3F,
    },
    // `docs/facts/special-registers.md#bits-that-are-kept`.
    msr: msr::KEPT,
    lpcr: 0x7070_4000_03F7_FE1B,
    xer: xer::MASK,
    // `docs/facts/special-registers.md#pcr`.
    pcr: pcr::TM | pcr::V2_07 | pcr::V2_06 | pcr::V2_05,
    // `docs/facts/interrupts.md#endianness`; `docs/facts/special-registers.md#values-at-power-on`.
    hid0: Hid0 { little_endian: bit(4), radix: bit(8), split: None },
    // `docs/facts/special-registers.md#facilities`.
    hfscr: super::power8::FACTS.hfscr | Facility::Msgp.bit(),
    // `docs/facts/interrupts.md#width-of-the-decrementers`.
    decrementer_bits: 56,
    // `docs/facts/opal-and-powernv.md#pir`.
    pir: PirLayout { chip_shift: 8, core_shift: 2 },
    // `docs/facts/power9-core.md#modes-of-a-core`.
    smt_modes: &[1, 2, 4],
    // `docs/facts/special-registers.md#wort`.
    has_wort: false,
    // `docs/facts/interrupts.md#external-interrupts`.
    external: External {
        vector: Vector::HypervisorVirtualization,
        ends_power_saving: lpcr::PECE_HVEE,
        wake: wake::VIRTUALIZATION,
    },
    // `docs/facts/opal-and-powernv.md#interrupt-presentation`.
    presents_by_registers: false,
    doorbell: DoorbellReach::Machine,
    shares_partition: false,
    // `docs/facts/idle.md#stop-in-a-guest`.
    guest_stop_from: Some(0x203),
    // Nimbus and Cumulus: `docs/facts/power9-translation.md#store-order`.
    ordered_invalidations_from: &[(0, 0x203), (0x2000, 0x103)],
    // `docs/facts/translation.md#slb`.
    slb_entries: 32,
    // `docs/facts/translation.md#slb-invalidation`.
    slbia_kinds: &[0, 1, 2, 3, 4, 6, 7],
    hashed_entry: EntryForm::V3,
    // `docs/facts/translation.md#page-sizes`.
    radix_pages: &[
        RadixPage { bytes_log2: 12, code: 0 },
        RadixPage { bytes_log2: 16, code: 5 },
        RadixPage { bytes_log2: 21, code: 1 },
        RadixPage { bytes_log2: 30, code: 2 },
    ],
};

/// `docs/facts/interrupts.md#machine-checks`.
pub(super) const NO_MEMORY: NoMemory = NoMemory {
    data: 0x40,
    walk: 0x20,
    store: Some(0x0814_0000),
    fetch: 0x080C_0000,
    fetch_walk: 0x0810_0000,
};
