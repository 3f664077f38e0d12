//! How things end: an access to a partition's memory, its loading, a vCPU's stay, and the partition itself.

use alloc::boxed::Box;
use core::fmt;

use arch::address::GuestRealAddress;
use arch::interrupt::Vector;

use crate::guest_memory::AccessError;
use crate::hal::HalError;
use crate::interrupts::doorbell::Doorbell;
use crate::memory::Range;
use crate::vcpu_id::VcpuId;

/// Why a partition could not be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoadError {
    /// There is no free memory of this size.
    NoMemory(u64),
    /// What an image tells of it takes more than the bytes that are there.
    ManifestLength(usize),
    /// The hypervisor's heap has no room for what an image tells of it, of so many bytes.
    NoHeap(usize),
    /// The device tree does not fit between the payload and the end of the memory.
    NoRoomForTree,
    /// A window or a table is missing.
    Hal(HalError),
    /// The copy was refused.
    Copy(AccessError),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMemory(bytes) => write!(f, "no {bytes:#x} bytes of free memory"),
            Self::ManifestLength(bytes) => {
                write!(f, "its image's manifest would have {bytes} bytes")
            }
            Self::NoHeap(bytes) => {
                write!(f, "the hypervisor's heap has no {bytes} bytes for its image's manifest")
            }
            Self::NoRoomForTree => f.write_str("no room for the device tree above the payload"),
            Self::Hal(error) => error.fmt(f),
            Self::Copy(error) => error.fmt(f),
        }
    }
}

/// How a partition ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It switched itself off.
    PoweredOff,
    /// It did something that ends it.
    Stopped(StopReason),
    /// It was suspended, and another machine can go on with it: where its image is.
    Suspended(Range),
}

/// Why the hypervisor stopped a partition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StopReason {
    /// An access to its memory, by itself or for it, was not possible.
    Access(AccessError),
    /// The second stage refused an access for another reason; the status says which.
    Storage {
        /// HDSISR, or HSRR1's cause bits for a fetch.
        status: u64,
        /// From ASDR.
        address: GuestRealAddress,
    },
    /// Its hashed page table has no place for a page that it uses with relocation off: both groups are full of its own
    /// entries.
    NoRealMode,
    /// It ran for as long as it may.
    TimeLimit,
    /// All of its vCPUs stopped themselves.
    AllStopped,
    /// All of its vCPUs sleep, and nothing will wake one soon.
    NothingToWake,
    /// It asked to be started anew, and that failed.
    Restart(LoadError),
    /// It was to be suspended, and its image could not be written.
    Suspension(LoadError),
    /// An interrupt that the hypervisor does not handle.
    Interrupt(Vector),
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Access(error) => error.fmt(f),
            Self::Storage { status, address } => {
                write!(
                    f,
                    "access to guest real address {address} refused with status {status:#010x}"
                )
            }
            Self::NoRealMode => f.write_str(
                "its hashed page table is full where a page belongs that it uses with relocation off",
            ),
            Self::TimeLimit => f.write_str("it used up its time limit"),
            Self::AllStopped => f.write_str("all of its vCPUs stopped themselves"),
            Self::NothingToWake => f.write_str("its vCPUs sleep and nothing will wake them"),
            Self::Restart(error) => write!(f, "it could not be started anew: {error}"),
            Self::Suspension(error) => write!(f, "it could not be suspended: {error}"),
            Self::Interrupt(vector) => {
                write!(f, "unhandled {} interrupt ({:#x})", vector.name(), vector.offset())
            }
        }
    }
}

/// Why a vCPU left the processor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Departure {
    /// Its time is over.
    Preempted,
    /// By what it did, what it runs with has changed, or who is ready: it goes on, or somebody else first.
    Changed,
    /// The same by what another hardware thread did.
    Called,
    /// It waits for an interrupt, with MSR\[EE\] set, or for H_PROD.
    Ceded,
    /// It waits in a `stop` for an interrupt, whether or not MSR\[EE\] lets it take that.
    Paused,
    /// It did this with its privileged doorbell, which the hypervisor does for it.
    Doorbell(Doorbell),
    /// It waits for H_PROD.
    AwaitsProd,
    /// It gives the rest of its slice, if there is one, to this one, or lets whoever is next run first.
    Conferred(Option<VcpuId>),
    /// It gives the rest of its slice to that of all others of its partition which has waited longest, or lets
    /// whoever is next run first.
    ConferredToAll,
    /// It stopped itself.
    Stopped,
    /// Its hypercall was not carried out, since its partition is to be suspended, or a block of pages is to change its
    /// size before: it makes it again, with these in r3 to r12, when it goes on.
    Retries(Box<[u64; 10]>),
    /// It made a call of its hashed page table, whose number and arguments are in r3 to r12, and goes on with the
    /// answer.
    CallsTable,
    /// Its partition wants to start anew.
    Restarted,
    /// Its partition is over.
    Ended(Outcome),
}
