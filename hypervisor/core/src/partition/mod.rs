//! A partition: its memory, its policy registers, its vCPUs and its statistics.

pub mod features;
pub mod fetch;
pub mod guest_tree;
pub mod hash;
pub mod image;
pub mod line;
pub mod load;
pub mod payload;
pub mod radix;

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use arch::address::GuestRealAddress;
use arch::bundle::Translation;
use arch::processor::Processor;
use arch::radix::TableLocation;
use arch::registers::hfscr::Facility;
use arch::registers::lpcr;

use crate::boot::characteristics::Characteristics;
use crate::devices::Devices;
use crate::facilities;
use crate::guest_memory::GuestMemory;
use crate::hal::{HalError, Memory};
use crate::hash_table::Options;
use crate::interrupts::source::Sources;
use crate::life::Life;
use crate::memory::Range;
use crate::partition::image::Suspension;
use crate::partition::payload::Payload;
use crate::vcpu::Vcpu;
use crate::vcpu::registers::Registers;
use crate::vcpu_id::VcpuId;

/// LPCR bits that every partition runs with: the large decrementer, the hypervisor's own
/// decrementer, no external interrupts of the hypervisor while it runs itself, and the host's prefetch
/// depth. Source: `docs/facts/kvm-exit.md#lpcr-of-a-partition`.
const LPCR_ALWAYS: u64 = lpcr::DPFD.set(0, 4) | lpcr::LD | lpcr::HEIC | lpcr::HVICE | lpcr::HDICE;

/// LPCR of a partition that starts: what the processor has of it.
const fn lpcr_at_start(processor: Processor, translation: Translation) -> u64 {
    let lpcr = match translation {
        Translation::Radix => LPCR_ALWAYS | radix::LPCR | radix::LPCR_AT_START,
        Translation::Hash => LPCR_ALWAYS | hash::LPCR,
    };
    lpcr & processor.facts().lpcr
}

/// A partition.
#[derive(Debug)]
pub struct Partition<H: Memory> {
    /// From the bundle.
    pub name: String,
    /// Its number to the processor, 1 and up.
    pub lpid: u32,
    /// Its memory.
    pub memory: GuestMemory<H>,
    /// Its LPCR: the guest changes AIL, ILE and GTSE by hypercall.
    pub lpcr: u64,
    /// What is added to the machine's time base for its own. Always 0: one that comes from another machine moves the
    /// machine's ([`image::ahead`]).
    pub timebase_offset: u64,
    /// Its vCPUs; the place is the number that the guest knows it by.
    pub vcpus: Vec<Vcpu<H>>,
    /// Cores that a vCPU has left for another one: before one runs there again, the core has to forget what it
    /// cached of the partition.
    pub stale_cores: Vec<u32>,
    /// Seconds that are added to the machine's clock for its own.
    pub clock_offset: i64,
    /// Ticks of the time base that it may run in all.
    pub time_limit: Option<u64>,
    /// What it is loaded from.
    pub payload: Payload,
    /// Its part in the machine's console.
    pub terminal: Terminal,
    /// What it wrote since its last line end, where lines of several partitions share the console.
    pub unfinished_line: Vec<u8>,
    /// Facilities, by their bits in HFSCR, that its vCPUs get when they use them.
    pub on_demand: u64,
    /// Those of them that its vCPUs have always, since the machine cannot withhold them.
    pub from_start: u64,
    /// What it is told of the processor and speculation, where firmware tells of that.
    pub characteristics: Option<Characteristics>,
    /// It has written to its terminal, or the hypervisor has told of a facility that is withheld from it or of an
    /// illegal instruction: nothing more has to be said of one.
    pub is_heard: bool,
    /// Its devices, if it has any. Its vCPUs reach them with the partition unlocked.
    pub devices: Option<Arc<Devices>>,
    /// The interrupt sources of its devices.
    pub sources: Sources,
    /// What it did so far.
    pub statistics: Statistics,
    /// Where it is in its life.
    pub life: Life,
    /// Where its process table is, with radix translation, if it has one.
    pub process_table: Option<TableLocation>,
    /// Ticks that its vCPUs were charged on other machines, before it came here.
    pub ran_before: u64,
    /// How it is suspended, if it is to be.
    pub suspension: Option<Suspension>,
    /// How many of its vCPUs are in it, or in a call: they run with the partition unlocked.
    pub inside: usize,
    /// The time base when its end was decided: nothing that passes later is charged to it.
    pub end: Option<u64>,
}

/// What all vCPUs of a partition have in common in the processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Common {
    /// The partition's number to the processor.
    pub lpid: u32,
    /// LPCR, but for an external interrupt that waits.
    pub lpcr: u64,
    /// What is added to the machine's time base for the partition's own.
    pub timebase_offset: u64,
}

impl<H: Memory> Partition<H> {
    /// A partition over `memory`, with radix translation and nothing of it mapped, without vCPUs.
    ///
    /// # Errors
    /// [`HalError::OutOfTables`].
    pub fn new(hal: &H, name: String, lpid: u32, memory: Range) -> Result<Self, HalError> {
        Self::translated(hal, name, lpid, memory, Translation::Radix, Options::default())
    }

    /// The same, translated so; if that is by a hashed page table, by one that can so much.
    ///
    /// # Errors
    /// [`HalError::OutOfTables`].
    pub fn translated(
        hal: &H,
        name: String,
        lpid: u32,
        memory: Range,
        translation: Translation,
        table: Options,
    ) -> Result<Self, HalError> {
        Ok(Self {
            name,
            lpid,
            memory: GuestMemory::new(hal, lpid, memory, translation, table)?,
            lpcr: lpcr_at_start(H::PROCESSOR, translation),
            timebase_offset: 0,
            vcpus: Vec::new(),
            stale_cores: Vec::new(),
            clock_offset: 0,
            time_limit: None,
            payload: Payload::default(),
            terminal: Terminal::Input,
            unfinished_line: Vec::new(),
            on_demand: facilities::ON_DEMAND,
            from_start: 0,
            characteristics: None,
            is_heard: false,
            devices: None,
            sources: Sources::default(),
            statistics: Statistics::default(),
            life: Life::new(),
            process_table: None,
            ran_before: 0,
            suspension: None,
            inside: 0,
            end: None,
        })
    }

    /// How its addresses are translated.
    #[must_use]
    pub fn translation(&self) -> Translation {
        self.memory.kind().translation()
    }

    /// It has these devices from now on, and their interrupt sources.
    pub fn set_devices(&mut self, devices: Devices) {
        self.sources = devices.sources();
        self.devices = Some(Arc::new(devices));
    }

    /// What all of its vCPUs have in common in the processor.
    #[must_use]
    pub const fn common(&self) -> Common {
        let Self { lpid, lpcr, timebase_offset, .. } = *self;
        Common { lpid, lpcr, timebase_offset }
    }

    /// Pages that stay mapped, since vCPUs share them with the hypervisor.
    #[must_use]
    pub fn pinned_pages(&self) -> usize {
        self.vcpus.iter().filter(|vcpu| vcpu.vpa.has_area()).count()
    }

    /// Whether the vCPU is one of its own: their numbers follow each other.
    #[must_use]
    pub fn has_vcpu(&self, id: VcpuId) -> bool {
        let first = self.vcpus.first().map_or(id.0, |vcpu| vcpu.id.0);
        id.0.checked_sub(first).is_some_and(|place| (place as usize) < self.vcpus.len())
    }

    /// The vCPU that the guest knows by this number.
    pub fn vcpu_mut(&mut self, server: u64) -> Option<&mut Vcpu<H>> {
        self.vcpus.get_mut(usize::try_from(server).ok()?)
    }

    /// Forgets what the guest set, but for its memory and its clock: it starts anew. All of its vCPUs are stopped.
    pub fn reset(&mut self, hal: &H) {
        self.lpcr = lpcr_at_start(H::PROCESSOR, self.translation());
        match self.translation() {
            Translation::Radix => {
                self.process_table = None;
                hal.set_process_table(self.lpid, None);
            }
            // Loading empties the table, in pieces.
            Translation::Hash => {}
        }
        if let Some(devices) = &self.devices {
            devices.reset();
        }
        self.sources.reset();
        for vcpu in &mut self.vcpus {
            vcpu.is_prodded = false;
            vcpu.presentation.reset();
        }
        self.lend_first_vcpu();
    }

    /// Facilities, by their bits in HFSCR, that a vCPU has which starts. The performance monitor is one of them where
    /// the partition has it: a trace interrupt leaves its address in SIAR, though nobody has named that before.
    #[must_use]
    pub const fn at_start(&self) -> u64 {
        self.from_start | self.on_demand & Facility::Pm.bit()
    }

    /// The first vCPU works for the partition; what it did before is nothing to it any more.
    pub fn lend_first_vcpu(&mut self) {
        let registers = Registers::started(GuestRealAddress(0), 0, 0);
        let facilities = self.at_start();
        self.vcpus[0].start_with(registers, facilities);
    }
}

/// A partition's part in the machine's console.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Terminal {
    /// Its lines are shown; it gets no input.
    Output,
    /// Its lines are shown, and it gets the input.
    Input,
    /// It gets the input, and what it writes goes out as it comes, a prompt for instance.
    Interactive,
}

/// Exits of a partition through one door.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Exits {
    /// Hypercalls.
    pub hypercalls: u64,
    /// Loads and stores that the second stage did not translate.
    pub data_storage: u64,
    /// Fetches that the second stage did not translate.
    pub instruction_storage: u64,
    /// Instructions left to the hypervisor.
    pub emulation_assistance: u64,
    /// Instructions of a facility that partitions do not have.
    pub facility: u64,
    /// The hypervisor's decrementer.
    pub decrementer: u64,
    /// All others.
    pub others: u64,
}

/// What a partition did.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Statistics {
    /// By [`Door`](crate::exit::Door).
    pub exits: [Exits; 2],
    /// Ticks of the time base that its vCPUs were charged in all ([`crate::scheduling::meter`]), once all is over.
    pub ran: u64,
    /// How many of them passed in its vCPUs, or in hypercalls that were answered at once.
    pub inside: u64,
    /// How often it was started anew.
    pub restarts: u64,
    /// How often the hypervisor made a vCPU leave that ran: mostly as its slice was over.
    pub preempted: u64,
}

#[cfg(all(test, not(loom)))]
mod tests {
    use arch::bundle::{HashCallPolicy, RegisterPolicy, Translation};
    use arch::processor::Processor;
    use arch::registers::lpcr;

    use super::{hash, lpcr_at_start, radix};
    use crate::boot::firmware::HardwareThread;

    /// What a processor has not cannot be set in it.
    #[test]
    fn a_partition_starts_with_what_its_processor_has_of_lpcr() {
        let power8 = lpcr_at_start(Processor::Power8, Translation::Hash);
        assert_eq!(power8, lpcr::VPM0 | lpcr::DPFD.set(0, 4) | lpcr::HDICE);
        let power9 = lpcr_at_start(Processor::Power9, Translation::Hash);
        assert_eq!(power9 & (lpcr::HR | lpcr::UPRT | lpcr::VPM0), 0);
        assert_eq!(power9 & (lpcr::LD | lpcr::HVICE), lpcr::LD | lpcr::HVICE);
    }

    #[test]
    fn a_processor_has_the_translations_that_it_has() {
        assert_eq!(radix::check(Processor::Power9), Ok(()));
        let refusal = radix::check(Processor::Power8).unwrap_err();
        let expected = "POWER8 has no radix translation: give the partition translation = \"hash\"";
        assert_eq!(std::format!("{refusal}"), expected);
        // Two threads of a core: only POWER9 has parts that cannot translate in both ways.
        let threads = [8, 9].map(|server| HardwareThread { server, core: 0 });
        let asked = |processor, pvr, calls| {
            hash::check(processor, pvr, &threads, RegisterPolicy::Owned, calls)
        };
        let check = |processor, pvr| asked(processor, pvr, HashCallPolicy::Fast);
        assert_eq!(check(Processor::Power8, 0x004D_0200), Ok(()));
        assert_eq!(check(Processor::Power9, 0x004E_1202), Ok(()));
        assert!(check(Processor::Power9, 0x004E_1201).is_err());
        // Where the hypervisor has no translation of its own, nothing is answered in it.
        assert_eq!(asked(Processor::Power9, 0x004E_1202, HashCallPolicy::Middle), Ok(()));
        assert_eq!(asked(Processor::Power8, 0x004D_0200, HashCallPolicy::Full), Ok(()));
        let refusal = asked(Processor::Power8, 0x004D_0200, HashCallPolicy::Middle).unwrap_err();
        let expected = "hash_calls = \"middle\" needs a hypervisor that runs with relocation on: on POWER8 it never does";
        assert_eq!(std::format!("{refusal}"), expected);
        let usual = |processor: Processor| processor.facts().usual_translation();
        assert_eq!(usual(Processor::Power8), Translation::Hash);
        assert_eq!(usual(Processor::Power9), Translation::Radix);
    }
}
