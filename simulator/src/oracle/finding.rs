//! What the oracle says: what is wrong, and what it has seen.

use std::collections::BTreeMap;
use std::fmt;

use arch::interrupt::Vector;

use super::register::Register;

/// What is wrong with a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// It is not what the vCPU may go on with, after it left for this reason.
    Changed {
        /// What it held when the vCPU left.
        was: u64,
        /// Why it left.
        exit: Vector,
    },
    /// It is not what a vCPU may start with.
    Started,
    /// It lets a vCPU execute `stop` whose partition has not asked for that, or at a level above 0.
    Stop,
    /// The hypervisor was entered at an address that is the partition's to give a meaning to.
    Door,
    /// It holds a value that another partition has tagged.
    Foreign {
        /// The owner's LPID.
        owner: u32,
    },
}

/// A register that holds what it must not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The thread's index.
    pub thread: usize,
    /// The partition's LPID.
    pub lpid: u32,
    /// Instructions that the thread had completed.
    pub completed: u64,
    /// Which register.
    pub register: Register,
    /// What it holds.
    pub value: u64,
    /// What is wrong with that.
    pub fault: Fault,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { thread, lpid, completed, register, value, fault } = self;
        write!(
            f,
            "thread {thread}, instruction {completed}, LPID {lpid}: {register} = {value:#x}"
        )?;
        match fault {
            Fault::Changed { was, exit } => write!(f, ", was {was:#x} at {}", exit.name()),
            Fault::Started => f.write_str(", in a vCPU that starts"),
            Fault::Stop => f.write_str(
                ", which lets the vCPU stop: its partition has not asked for it, or PSLL is not 0",
            ),
            Fault::Door => {
                f.write_str(", where a partition enters the hypervisor with relocation on")
            }
            Fault::Foreign { owner } => write!(f, ", which is LPID {owner}'s"),
        }
    }
}

/// What the oracle has seen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    /// Exits, by vector.
    pub exits: BTreeMap<Vector, u64>,
    /// Entries of vCPUs that had left.
    pub entries: u64,
    /// Entries of vCPUs that started.
    pub started: u64,
    /// Interrupts that the hypervisor gave to vCPUs, by vector.
    pub delivered: BTreeMap<Vector, u64>,
    /// Entries on another thread than the one that was left.
    pub migrated: u64,
    /// Entries on a thread behind another vCPU.
    pub switched: u64,
}

impl Seen {
    /// All exits.
    #[must_use]
    pub fn all_exits(&self) -> u64 {
        self.exits.values().sum()
    }
}
