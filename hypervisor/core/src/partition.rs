//! A partition: its memory, its second stage, its policy registers, its statistics and its end.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use arch::address::{GuestRealAddress, RealAddress};
use arch::interrupt::Vector;
use arch::registers::lpcr;

use crate::facilities;
use crate::hal::{Hal, HalError, Work};
use crate::life::Life;
use crate::load::{LoadError, PIECE_BYTES, Payload};
use crate::memory::Range;
use crate::presentation::Presentation;
use crate::registers::Registers;
use crate::second_stage::SecondStage;
use crate::threads::Schedule;
use crate::vcpu::Vcpu;

/// LPCR bits that every partition runs with: radix, the large decrementer, the hypervisor's own
/// decrementer, no external interrupts of the hypervisor while it runs itself, and the host's prefetch
/// depth. Source: `docs/facts/kvm-exit.md#lpcr-of-a-partition`.
const LPCR_ALWAYS: u64 = lpcr::DPFD.set(0, 4)
    | lpcr::UPRT
    | lpcr::HR
    | lpcr::LD
    | lpcr::HEIC
    | lpcr::HVICE
    | lpcr::HDICE;

/// LPCR of a partition that starts.
const LPCR_AT_START: u64 = LPCR_ALWAYS | lpcr::GTSE;

/// A partition.
#[derive(Debug)]
pub struct Partition<H: Hal> {
    /// From the bundle.
    pub name: String,
    /// Its number to the processor, 1 and up.
    pub lpid: u32,
    /// Its memory, contiguous.
    pub memory: Range,
    /// Which of it is mapped.
    pub second_stage: SecondStage<H>,
    /// Its LPCR: the guest changes AIL, ILE and GTSE by hypercall.
    pub lpcr: u64,
    /// What is added to the machine's time base for its own. Always 0: only a partition that came from
    /// another machine would need another value.
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
    /// Its memory is zeroed and loaded in pieces of so many bytes, at least 64 KiB and at most a window: nobody waits for
    /// longer than one takes.
    pub piece_bytes: u64,
    /// Its part in the machine's console.
    pub terminal: Terminal,
    /// What it wrote since its last line end, where lines of several partitions share the console.
    pub unfinished_line: Vec<u8>,
    /// Facilities, by their bits in HFSCR, that its vCPUs get when they use them.
    pub on_demand: u64,
    /// It has written to its terminal, or the hypervisor has told of a facility that is withheld from it: nothing
    /// more has to be said of one.
    pub is_heard: bool,
    /// What it did so far.
    pub statistics: Statistics,
    /// Where it is in its life.
    pub life: Life,
}

impl<H: Hal> Partition<H> {
    /// A partition over `memory`, nothing of it mapped, without vCPUs.
    ///
    /// # Errors
    /// [`HalError::OutOfTables`].
    pub fn new(hal: &H, name: String, lpid: u32, memory: Range) -> Result<Self, HalError> {
        Ok(Self {
            name,
            lpid,
            memory,
            second_stage: SecondStage::new(hal.new_tables(lpid)?, memory),
            lpcr: LPCR_AT_START,
            timebase_offset: 0,
            vcpus: Vec::new(),
            stale_cores: Vec::new(),
            clock_offset: 0,
            time_limit: None,
            payload: Payload::default(),
            piece_bytes: PIECE_BYTES,
            terminal: Terminal::Input,
            unfinished_line: Vec::new(),
            on_demand: facilities::ON_DEMAND,
            is_heard: false,
            statistics: Statistics::default(),
            life: Life::new(),
        })
    }

    /// Lets vCPU `index`, which does not run now, run, unless the partition is concluded or over.
    pub fn start(&mut self, index: usize, schedule: &mut Schedule) {
        if let Some(leave) = self.life.may_run() {
            schedule.start(&mut self.vcpus[index], leave);
        }
    }

    /// Pages that stay mapped, since vCPUs share them with the hypervisor.
    #[must_use]
    pub fn pinned_pages(&self) -> usize {
        self.vcpus.iter().filter(|vcpu| vcpu.areas.has_area()).count()
    }

    /// Moves bytes for the partition; marked as such while it is made, before it has vCPUs.
    pub fn fills<R>(&self, hal: &H, fill: impl FnOnce() -> R) -> R {
        if !self.vcpus.is_empty() {
            return fill();
        }
        hal.mark(Work::Fill);
        let result = fill();
        hal.mark(Work::Start);
        result
    }

    /// The vCPU that the guest knows by this number.
    pub fn vcpu_mut(&mut self, server: u64) -> Option<&mut Vcpu<H>> {
        self.vcpus.get_mut(usize::try_from(server).ok()?)
    }

    /// Forgets what the guest set, but for its memory and its clock: it starts anew. All of its vCPUs are stopped.
    pub fn reset(&mut self, hal: &H) {
        self.lpcr = LPCR_AT_START;
        hal.set_process_table(self.lpid, None);
        for vcpu in &mut self.vcpus {
            vcpu.is_prodded = false;
            vcpu.presentation = Presentation::default();
        }
        // The first one loads the partition; what it did before is nothing to it any more.
        self.vcpus[0].registers = Some(Registers::started(GuestRealAddress(0), 0, 0).into());
    }

    /// Where `address` is, if it and the `bytes` after it are the partition's memory.
    #[must_use]
    pub fn real(&self, address: GuestRealAddress, bytes: u64) -> Option<RealAddress> {
        let end = address.0.checked_add(bytes)?;
        (end <= self.memory.bytes).then(|| self.memory.start.wrapping_add(address.0))
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

/// How a partition ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It switched itself off.
    PoweredOff,
    /// It did something that ends it.
    Stopped(StopReason),
}

/// Why the hypervisor stopped a partition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StopReason {
    /// An access to guest real memory that the partition does not have.
    OutsideMemory(GuestRealAddress),
    /// The second stage refused an access for another reason; the status says which.
    Storage {
        /// HDSISR, or HSRR1's cause bits for a fetch.
        status: u64,
        /// From ASDR.
        address: GuestRealAddress,
    },
    /// It ran for as long as it may.
    TimeLimit,
    /// All of its vCPUs stopped themselves.
    AllStopped,
    /// All of its vCPUs sleep, and nothing will wake one soon.
    NothingToWake,
    /// It asked to be started anew, and that failed.
    Restart(LoadError),
    /// An interrupt that the hypervisor does not handle.
    Interrupt(Vector),
    /// The hypervisor could not do its part.
    Hypervisor(HalError),
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutsideMemory(address) => {
                write!(f, "access to guest real address {address}, which is not its memory")
            }
            Self::Storage { status, address } => {
                write!(
                    f,
                    "access to guest real address {address} refused with status {status:#010x}"
                )
            }
            Self::TimeLimit => f.write_str("it used up its time limit"),
            Self::AllStopped => f.write_str("all of its vCPUs stopped themselves"),
            Self::NothingToWake => f.write_str("its vCPUs sleep and nothing will wake them"),
            Self::Restart(error) => write!(f, "it could not be started anew: {error}"),
            Self::Interrupt(vector) => {
                write!(f, "unhandled {} interrupt ({:#x})", vector.name(), vector.offset())
            }
            Self::Hypervisor(error) => write!(f, "the hypervisor failed: {error}"),
        }
    }
}

/// Which way an exit came: it depends on the guest's own relocation and LPCR\[AIL\].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Door {
    /// Translation off.
    Real = 0,
    /// Translation on, at 0xC000_0000_0000_4000 plus the vector.
    Virtual = 1,
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
    /// By [`Door`].
    pub exits: [Exits; 2],
    /// Second-stage pages of 64 KiB.
    pub pages_64k: u64,
    /// Second-stage pages of 2 MiB.
    pub pages_2m: u64,
    /// Second-stage pages of 1 GiB.
    pub pages_1g: u64,
    /// Ticks of the time base that its vCPUs were charged in all ([`crate::meter`]), once all is over.
    pub ran: u64,
    /// How many of them passed in its vCPUs, or in hypercalls that were answered at once.
    pub inside: u64,
    /// How often it was started anew.
    pub restarts: u64,
    /// How often a vCPU's slice ended while it ran.
    pub preempted: u64,
}
