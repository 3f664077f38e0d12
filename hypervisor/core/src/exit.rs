//! Every exit but the hypercall: what the hypervisor does about it.

use arch::address::GuestRealAddress;
use arch::interrupt::{Vector, machine_check, program, storage};
use arch::processor::Processor;
use arch::registers::hfscr::Facility;
use arch::registers::{lpcr, msr};

use crate::facilities::Facilities;
use crate::guest_memory::{AccessError, Kind, page_of};
use crate::hal::{HalError, Memory, Platform};
use crate::hash_table::{HashTable, REAL_MODE_LOG2};
use crate::interrupts::doorbell::Doorbell;
use crate::interrupts::handler::{Context, handler, save_status};
use crate::life::outcome::{Departure, Outcome, StopReason};
use crate::partition::{Partition, fetch};

/// Which way an exit came: it depends on the guest's own relocation and LPCR\[AIL\].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Door {
    /// Translation off.
    Real = 0,
    /// Translation on, at 0xC000_0000_0000_4000 plus the vector.
    Virtual = 1,
}

/// An exit, with what the processor says about its cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// The second stage did not translate a load, a store, or an access to a table.
    DataStorage {
        /// HDSISR.
        status: u64,
        /// Where: [`radix`](crate::partition::radix) and [`hash`](crate::partition::hash) read it from ASDR or HDAR.
        address: GuestRealAddress,
    },
    /// The second stage did not translate a fetch, or an access to a table on its way.
    InstructionStorage {
        /// HSRR1, whose cause bits are those of HDSISR.
        status: u64,
        /// Where, from ASDR, or where the guest stood.
        address: GuestRealAddress,
    },
    /// An instruction that is illegal for the guest; its image is in HEIR.
    EmulationAssistance {
        /// Where the guest stood.
        interrupted: Context,
        /// Its SRR0: where its last interrupt came from.
        before: u64,
    },
    /// HFSCR refused a facility.
    FacilityUnavailable {
        /// Where the guest stood.
        interrupted: Context,
        /// Which, by the cause that HFSCR names.
        facility: Option<Facility>,
    },
    /// Any other interrupt.
    Other(Vector),
}

/// How the guest goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// From where it was.
    Resume,
    /// In its handler, with these values in its SRR0 and SRR1.
    Interrupt {
        /// The handler.
        to: Context,
        /// SRR0.
        srr0: u64,
        /// SRR1.
        srr1: u64,
    },
    /// Behind the instruction with which it left, which is a `stop` here: not now.
    Pauses {
        /// Where that is.
        next: u64,
    },
    /// In its handler of machine checks, which tells of an access where it has no memory: [`machine_check`].
    MachineCheck,
    /// Not now.
    Departs(Departure),
}

/// Handles an exit of the partition's vCPU `vcpu`; in a partition that is concluded, none is.
pub fn handle<H: Memory + Platform + Facilities>(
    partition: &mut Partition<H>,
    vcpu: usize,
    hal: &H,
    door: Door,
    exit: Exit,
) -> Action {
    count(partition, door, exit);
    if partition.life.may_run().is_none() {
        return Action::Departs(Departure::Changed);
    }
    let result = match exit {
        Exit::DataStorage { status, address } | Exit::InstructionStorage { status, address }
            if is_nowhere(partition, status, address) =>
        {
            return Action::MachineCheck;
        }
        Exit::FacilityUnavailable { facility: Some(facility), .. }
            if is_granted(partition, vcpu, hal, facility) =>
        {
            // Whether the vCPU waits itself is decided where it enters: others may want its hardware thread.
            return match facility {
                Facility::Stop => Action::Departs(Departure::Changed),
                _ => Action::Resume,
            };
        }
        // A `stop` that the vCPU does not have, or one deeper than it has: the hypervisor pauses it instead, so
        // that a loop of them is no storm of exits.
        Exit::FacilityUnavailable { facility: Some(Facility::Stop), interrupted } => {
            return Action::Pauses { next: interrupted.behind() };
        }
        // Threads of a core run vCPUs of several partitions, so that the processor's doorbells are nobody's.
        Exit::FacilityUnavailable { facility: Some(Facility::Msgp), interrupted }
            if interrupted.msr & msr::PR == 0 =>
        {
            let mut looks = 0..LOOKS;
            return match looks.find_map(|_| doorbell_at(partition, hal, interrupted)) {
                Some(Doorbell::Write) => illegal(interrupted, partition.lpcr),
                Some(doorbell) => Action::Departs(Departure::Doorbell(doorbell)),
                // The partition has changed it, or where it is, since the processor fetched it: it fetches again.
                None => Action::Resume,
            };
        }
        Exit::DataStorage { status, address } | Exit::InstructionStorage { status, address } => {
            storage_exit(partition, vcpu, hal, status, address)
        }
        // An instruction that the processor does not know, or knows and does not allow here, is an
        // illegal instruction to the guest: it gets the program interrupt that it would have got
        // from a processor without a hypervisor, or without the facility.
        Exit::EmulationAssistance { interrupted, .. }
        | Exit::FacilityUnavailable { interrupted, .. } => {
            return illegal(interrupted, partition.lpcr);
        }
        Exit::Other(Vector::HypervisorDecrementer) => return Action::Departs(Departure::Preempted),
        // The guest takes interrupts and has one that it has not accepted: LPCR[MER].
        Exit::Other(Vector::External) => return Action::Departs(Departure::Changed),
        // Another hardware thread has changed what concerns this one.
        Exit::Other(Vector::DirectedHypervisorDoorbell) => {
            return Action::Departs(Departure::Called);
        }
        Exit::Other(vector) => Err(StopReason::Interrupt(vector)),
    };
    match result {
        Ok(()) => Action::Resume,
        Err(reason) => Action::Departs(Departure::Ended(Outcome::Stopped(reason))),
    }
}

/// The guest goes on in its handler of instructions that are illegal.
const fn illegal(interrupted: Context, lpcr: u64) -> Action {
    Action::Interrupt {
        to: handler(interrupted, Vector::Program, lpcr),
        srr0: interrupted.pc,
        srr1: save_status(interrupted.msr, program::ILLEGAL),
    }
}

/// How often the hypervisor looks for an instruction, since another vCPU may write to and fro where it is, and the
/// processor would find it again each time that the hypervisor does not.
const LOOKS: u32 = 8;

/// What the instruction at which the guest stands does with doorbells, if it is such a one now.
fn doorbell_at<H: Memory + Platform + Facilities>(
    partition: &mut Partition<H>,
    hal: &H,
    interrupted: Context,
) -> Option<Doorbell> {
    Doorbell::of(fetch::instruction(partition, hal, interrupted)?)
}

/// Whether an access, and not a table on its way, is where the partition has no memory.
fn is_nowhere<H: Memory>(partition: &Partition<H>, status: u64, address: GuestRealAddress) -> bool {
    status & storage::TABLE_WALK == 0 && partition.memory.real(address, 1).is_none()
}

/// Gives the vCPU a facility that was withheld from it, if it may have it.
fn is_granted<H: Memory + Facilities>(
    partition: &mut Partition<H>,
    vcpu: usize,
    hal: &H,
    facility: Facility,
) -> bool {
    if partition.on_demand & facility.bit() == 0 {
        return false;
    }
    let demanded = partition.vcpus[vcpu].demanded.get_or_insert_default();
    let is_new = demanded.give(facility);
    if is_new {
        hal.begin_facility(facility, demanded);
    }
    is_new
}

/// A machine check as a guest on this processor gets it: the handler's context, SRR1, and DSISR of one that an access
/// to data did.
///
/// A processor has it of an address where nothing answers, and QEMU's pseries gives it for one where there is
/// no memory. Relocation is off in the handler whatever LPCR\[AIL\] says. A store has DAR too, since the second
/// stage refuses it before it leaves the processor.
#[must_use]
pub const fn machine_check(
    processor: Processor,
    interrupted: Context,
    is_fetch: bool,
    lpcr: u64,
) -> (Context, u64, u64) {
    let causes = processor.no_memory();
    let cause = if is_fetch { causes.fetch } else { machine_check::DATA };
    let to = handler(interrupted, Vector::MachineCheck, lpcr::AIL.set(lpcr, 0));
    (to, save_status(interrupted.msr, cause), causes.data)
}

fn storage_exit<H: Memory + Platform>(
    partition: &mut Partition<H>,
    vcpu: usize,
    hal: &H,
    status: u64,
    address: GuestRealAddress,
) -> Result<(), StopReason> {
    // A guest's table outside of its memory is reported as such whatever the other bits say.
    if partition.memory.real(address, 1).is_none() {
        return Err(StopReason::Access(AccessError::Outside(address)));
    }
    if status & storage::NO_TRANSLATION == 0 {
        return Err(StopReason::Storage { status: status & 0xFFFF_0000, address });
    }
    match partition.memory.kind() {
        Kind::Radix => {}
        Kind::Hash(table) => return real_mode_exit(partition, table, hal, address),
    }
    if !partition.memory.is_mapped(address) {
        if partition.memory.fill(hal, address).map_err(StopReason::Access)? {
            partition.vcpus.iter_mut().for_each(|vcpu| vcpu.stale_fault = None);
        }
        return Ok(());
    }
    // Another vCPU was faster. Twice on the same page it is no coincidence: once mapped, it stays so.
    let (page, _) = page_of(address, partition.memory.range.bytes);
    match partition.vcpus[vcpu].stale_fault.replace(page) {
        Some(before) if before == page => {
            Err(StopReason::Access(AccessError::Hypervisor(HalError::MapConflict)))
        }
        _ => Ok(()),
    }
}

/// An access with relocation off that a hashed page table has no entry for.
fn real_mode_exit<H: Memory>(
    partition: &Partition<H>,
    table: &HashTable,
    hal: &H,
    address: GuestRealAddress,
) -> Result<(), StopReason> {
    let page = address.align_down(REAL_MODE_LOG2);
    let outside = StopReason::Access(AccessError::Outside(address));
    let real = partition.memory.real(page, 1 << REAL_MODE_LOG2).ok_or(outside)?;
    if table.add_real_mode(hal, page, real) { Ok(()) } else { Err(StopReason::NoRealMode) }
}

fn count<H: Memory>(partition: &mut Partition<H>, door: Door, exit: Exit) {
    let exits = &mut partition.statistics.exits[door as usize];
    *match exit {
        Exit::DataStorage { .. } => &mut exits.data_storage,
        Exit::InstructionStorage { .. } => &mut exits.instruction_storage,
        Exit::EmulationAssistance { .. } => &mut exits.emulation_assistance,
        Exit::FacilityUnavailable { .. } => &mut exits.facility,
        Exit::Other(Vector::HypervisorDecrementer) => &mut exits.decrementer,
        Exit::Other(_) => &mut exits.others,
    } += 1;
}
