//! The processors that the project knows, each one value: what differs between them.
//!
//! A unit is handed a [`Processor`] and reads its [`Facts`]; it does not ask which processor it is. What is the
//! same on all of them stands with the register or table that it belongs to.

mod power8;
mod power9;

use core::fmt;

use crate::bundle::Translation;
use crate::hash::EntryForm;
use crate::interrupt::Vector;
use crate::registers::hfscr::Facility;

/// A processor generation. It is not ordered: ask for the feature, not for "at least".
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Processor {
    /// POWER8, Power ISA 2.07.
    Power8,
    /// POWER9, Power ISA 3.0B.
    Power9,
}

/// What differs between processors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// The name that machine descriptions and device trees use.
    pub name: &'static str,
    /// The first and the last upper halfword of the processor version register that name it.
    pub versions: [u32; 2],
    /// The registers that firmware hands to a payload, where they are not zero.
    pub at_power_on: AtPowerOn,
    /// MSR bits that it keeps.
    pub msr: u64,
    /// LPCR bits that it keeps: what it has not got cannot be switched on.
    pub lpcr: u64,
    /// XER bits that a move shows and changes.
    pub xer: u64,
    /// PCR bits that it keeps: each takes something away, transactions or the levels of the architecture behind one.
    pub pcr: u64,
    /// HID0 as far as a hypervisor touches it.
    pub hid0: Hid0,
    /// HFSCR bits that switch a facility; a facility whose bit is not here cannot be withheld.
    pub hfscr: u64,
    /// Bits of HDEC, and of a DEC that LPCR\[LD\] makes large.
    pub decrementer_bits: u32,
    /// How a thread's number is made.
    pub pir: PirLayout,
    /// How many threads of a core can run, ascending.
    pub smt_modes: &'static [u32],
    /// Whether WORT is a register; else its number reads as zero.
    pub has_wort: bool,
    /// How the interrupt controller's line of a thread arrives.
    pub external: External,
    /// Whether threads reach the interrupt controller by registers in memory; else firmware presents interrupts.
    pub presents_by_registers: bool,
    /// Whom `msgsnd` can name.
    pub doorbell: DoorbellReach,
    /// The threads of a core share what names the partition that runs and its table, so that they run one at a time.
    pub shares_partition: bool,
    /// The first revision, by the low bits of the processor version register, that loses no wake-up of a
    /// guest's `stop`; `None` if guests cannot have the instruction.
    pub guest_stop_from: Option<u32>,
    /// By kind of part, as bits of the processor version register, the first revision whose broadcast invalidations
    /// come behind the thread's earlier stores. Those of other kinds do not; where there is no kind, all do.
    pub ordered_invalidations_from: &'static [(u32, u32)],
    /// Entries of a thread's segment lookaside buffer.
    pub slb_entries: usize,
    /// The kinds of `slbia` (IH) that it has, ascending.
    pub slbia_kinds: &'static [u32],
    /// Where the fields lie in an entry of its hashed page table.
    pub hashed_entry: EntryForm,
    /// Pages of radix trees, ascending; none where there is no radix translation.
    pub radix_pages: &'static [RadixPage],
}

/// The causes of a machine check at a real address where nothing answers. They are no field of [`Facts`], which the
/// hypervisor's images hold and which needs none of them there. Source: `docs/facts/interrupts.md#machine-checks`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoMemory {
    /// DSISR of a load, and of a store that is checked as one.
    pub data: u64,
    /// DSISR where a table lies there.
    pub walk: u64,
    /// SRR1 of a store that the thread does not wait for; `None` where it is checked as a load is.
    pub store: Option<u64>,
    /// SRR1 of a fetch.
    pub fetch: u64,
    /// SRR1 of a fetch where a table lies there.
    pub fetch_walk: u64,
}

/// What firmware hands to a payload, of the registers that differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AtPowerOn {
    /// Processor version.
    pub pvr: u32,
    /// LPCR: no usable setting of a host.
    pub lpcr: u64,
    /// HID0.
    pub hid0: u64,
    /// RPR.
    pub rpr: u64,
}

/// Bits of HID0; 0 where the processor has none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hid0 {
    /// HILE: interrupts of the hypervisor arrive little-endian.
    pub little_endian: u64,
    /// Radix translation is allowed.
    pub radix: u64,
    /// How a core is split, where it can be.
    pub split: Option<Split>,
}

/// How HID0 splits a core into subcores. Source: `docs/facts/power8.md#split-cores`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Split {
    /// Threads of a whole core; a subcore has as many with consecutive numbers as the other subcores.
    pub threads: usize,
    /// DYNLPARDIS: the core stays split.
    pub stays: u64,
    /// Into what it is split.
    pub ways: &'static [Way],
}

/// A way to split a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// So many subcores.
    pub subcores: usize,
    /// Asks for it.
    pub command: u64,
    /// Says that the core is split so.
    pub status: u64,
}

impl Split {
    /// The bits that say how the core is split.
    #[must_use]
    pub fn status(&self) -> u64 {
        self.ways.iter().fold(0, |bits, way| bits | way.status)
    }

    /// The bits that ask for a split.
    #[must_use]
    pub fn commands(&self) -> u64 {
        self.ways.iter().fold(0, |bits, way| bits | way.command)
    }

    /// How a core with this HID0 is split, if it is.
    #[must_use]
    pub fn way(&self, hid0: u64) -> Option<&'static Way> {
        self.ways.iter().find(|way| hid0 & way.status != 0)
    }

    /// How a core is split into so many subcores, if it can be.
    #[must_use]
    pub fn into_subcores(&self, subcores: usize) -> Option<&'static Way> {
        self.ways.iter().find(|way| way.subcores == subcores)
    }

    /// Which split HID0 asks for, if any.
    #[must_use]
    pub fn asked(&self, hid0: u64) -> Option<&'static Way> {
        self.ways.iter().find(|way| hid0 & way.command != 0)
    }
}

/// How the interrupt controller's line interrupts a thread, or ends its power saving.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct External {
    /// The interrupt.
    pub vector: Vector,
    /// The bit of LPCR\[PECE\] with which it ends a power-saving state.
    pub ends_power_saving: u64,
    /// The reason in SRR1 then, see [`crate::interrupt::wake`].
    pub wake: u64,
}

/// Whom RB of `msgsnd` and `msgclr` can name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DoorbellReach {
    /// A thread of the sender's core, by its number there (ISA 2.07).
    Core,
    /// Any thread, by its PIR (ISA 3.0).
    Machine,
}

/// The processor identification register: chip, core and thread, from the most significant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PirLayout {
    /// Bits below the chip's number.
    pub chip_shift: u32,
    /// Bits below the core's number on its chip: the thread's on its core.
    pub core_shift: u32,
}

impl PirLayout {
    /// PIR of a thread.
    #[must_use]
    pub const fn pir(self, chip: u32, core: u32, thread: u32) -> u32 {
        chip << self.chip_shift | core << self.core_shift | thread
    }

    /// The chip of the thread with this PIR.
    #[must_use]
    pub const fn chip(self, pir: u32) -> u32 {
        pir >> self.chip_shift
    }
}

/// A size of page that a radix tree maps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RadixPage {
    /// log2 of its bytes.
    pub bytes_log2: u32,
    /// The code that `tlbie` and the device tree have for it.
    pub code: u32,
}

impl Facts {
    /// Whether HFSCR switches this facility.
    #[must_use]
    pub const fn switches(&self, facility: Facility) -> bool {
        self.hfscr & facility.bit() != 0
    }

    /// Whether it has radix translation.
    #[must_use]
    pub const fn has_radix(&self) -> bool {
        !self.radix_pages.is_empty()
    }

    /// How a partition is translated of which that is not said: by radix trees where there are any.
    #[must_use]
    pub const fn usual_translation(&self) -> Translation {
        if self.has_radix() { Translation::Radix } else { Translation::Hash }
    }

    /// Whether a processor version register names this processor.
    #[inline]
    #[must_use]
    pub const fn is_version(&self, pvr: u32) -> bool {
        let [first, last] = self.versions;
        first <= pvr >> 16 && pvr >> 16 <= last
    }

    /// Whether a broadcast invalidation may take effect before the thread's earlier stores, on a part with this
    /// processor version register.
    #[must_use]
    pub fn overtakes_stores(&self, pvr: u32) -> bool {
        const KIND: u32 = 0xE000;
        const REVISION: u32 = 0xFFF;
        let mut parts = self.ordered_invalidations_from.iter();
        match parts.find(|(kind, _)| pvr & KIND == *kind) {
            Some((_, first)) => pvr & REVISION < *first,
            None => !self.ordered_invalidations_from.is_empty(),
        }
    }

    /// The most threads that a core can run.
    #[must_use]
    pub const fn threads_max(&self) -> u32 {
        self.smt_modes[self.smt_modes.len() - 1]
    }
}

impl Processor {
    /// Every processor.
    pub const ALL: [Self; 2] = [Self::Power8, Self::Power9];

    /// What is its own.
    #[inline]
    #[must_use]
    pub const fn facts(self) -> &'static Facts {
        match self {
            Self::Power8 => &power8::FACTS,
            Self::Power9 => &power9::FACTS,
        }
    }

    /// What it says in a machine check where no memory answers.
    #[inline]
    #[must_use]
    pub const fn no_memory(self) -> NoMemory {
        match self {
            Self::Power8 => power8::NO_MEMORY,
            Self::Power9 => power9::NO_MEMORY,
        }
    }

    /// The generation that a processor version register names, if it is one of ours.
    ///
    /// Source: `docs/facts/special-registers.md#processor-version`.
    #[must_use]
    pub const fn from_pvr(pvr: u32) -> Option<Self> {
        let mut index = 0;
        while index < Self::ALL.len() {
            if Self::ALL[index].facts().is_version(pvr) {
                return Some(Self::ALL[index]);
            }
            index += 1;
        }
        None
    }

    /// The generation with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|processor| processor.name() == name)
    }

    /// The name that machine descriptions and device trees use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.facts().name
    }
}

impl fmt::Display for Processor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which processors have something: a row of a table says it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Processors {
    /// POWER8 (ISA 2.07) and POWER9 (ISA 3.0).
    Both,
    /// POWER8 only: ISA 3.0 took it away.
    Power8,
    /// POWER9 only: new in ISA 3.0.
    Power9,
}

impl Processors {
    /// Whether `processor` is one of them.
    #[must_use]
    pub const fn includes(self, processor: Processor) -> bool {
        matches!(
            (self, processor),
            (Self::Both, _) | (Self::Power8, Processor::Power8) | (Self::Power9, Processor::Power9)
        )
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::Processor;
    use crate::registers::{lpcr, msr};
    use std::string::ToString;

    #[test]
    fn the_upper_halfword_of_the_version_names_the_processor() {
        let name = |pvr| Processor::from_pvr(pvr).map(|processor| processor.to_string());
        for pvr in [0x004B_0201, 0x004C_0100, 0x004D_0200] {
            assert_eq!(name(pvr).as_deref(), Some("POWER8"));
        }
        assert_eq!(name(0x004E_1203).as_deref(), Some("POWER9"));
        // POWER7+, POWER10, and POWER9's number in the wrong half.
        for pvr in [0x004A_0201, 0x0080_0200, 0x0000_004E] {
            assert_eq!(name(pvr), None);
        }
    }

    #[test]
    fn parts_before_a_revision_invalidate_before_they_store() {
        let facts = Processor::Power9.facts();
        for pvr in [0x004E_1202, 0x004E_0200, 0x004E_2102, 0x004E_4203, 0x004E_8FFF] {
            assert!(facts.overtakes_stores(pvr), "{pvr:#x}");
        }
        for pvr in [facts.at_power_on.pvr, 0x004E_0203, 0x004E_2103] {
            assert!(!facts.overtakes_stores(pvr), "{pvr:#x}");
        }
        assert!(!Processor::Power8.facts().overtakes_stores(0x004D_0200));
    }

    #[test]
    fn the_version_at_power_on_is_the_processors_own() {
        for processor in Processor::ALL {
            let facts = processor.facts();
            assert_eq!(Processor::from_pvr(facts.at_power_on.pvr), Some(processor));
            assert_eq!(Processor::from_name(facts.name), Some(processor));
            assert_eq!(facts.at_power_on.lpcr & !facts.lpcr, 0, "{processor}");
        }
        assert_eq!(Processor::from_name("POWER7"), None);
    }

    /// QEMU: what it keeps of all ones (`docs/facts/special-registers.md#bits-that-are-kept`).
    #[test]
    fn the_machine_state_is_kept_as_qemu_keeps_it_but_for_transactions() {
        for processor in Processor::ALL {
            assert_eq!(processor.facts().msr, 0x9000_0001_0280_FF37, "{processor}");
            assert_eq!(processor.facts().msr & msr::TS.mask(), 0);
        }
    }

    #[test]
    fn radix_translation_is_there_with_all_that_belongs_to_it_or_not_at_all() {
        for processor in Processor::ALL {
            let facts = processor.facts();
            let has_pages = !facts.radix_pages.is_empty();
            assert_eq!(facts.lpcr & lpcr::HR != 0, has_pages, "{processor}");
            assert_eq!(facts.lpcr & lpcr::UPRT != 0, has_pages, "{processor}");
            assert_eq!(facts.hid0.radix != 0, has_pages, "{processor}");
        }
    }

    /// QEMU: the last of 12 cores of the second chip (`docs/facts/opal-and-powernv.md#pir`).
    #[test]
    fn a_number_of_a_thread_tells_its_chip() {
        for (processor, pir) in [(Processor::Power8, 0xDF), (Processor::Power9, 0x12F)] {
            let facts = processor.facts();
            let last = facts.threads_max() - 1;
            assert_eq!(facts.pir.pir(1, 11, last), pir, "{processor}");
            assert_eq!(facts.pir.chip(pir), 1);
            assert_eq!(1 << facts.pir.core_shift, facts.threads_max());
        }
    }
}
