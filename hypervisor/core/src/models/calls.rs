//! What the vCPUs of the models call: hypercalls, and RTAS by argument buffers that lie in their partitions' memory.

use alloc::vec::Vec;

use arch::address::GuestRealAddress;
use arch::interrupt::storage;
use arch::papr::{Hypercall, area, rtas};

use super::machine::Machine;
use crate::dispatch::{Private, Running};
use crate::exit::{Action, Door, Exit};
use crate::hypercall::Answer;
use crate::life::outcome::Departure;
use crate::partition::Partition;

/// Bytes of a partition's memory: one page.
pub(super) const MEMORY_BYTES: u64 = 0x1_0000;
/// Where a started vCPU begins.
pub(super) const ENTRY: GuestRealAddress = GuestRealAddress(0x100);
/// What a vCPU that start-cpu started has in its r3, and no other.
pub(super) const STARTED: u64 = 7;

/// An argument buffer.
#[derive(Clone, Copy)]
pub(super) enum Buffer {
    PowerOff = 0x1000,
    Restart = 0x1100,
    StopSelf = 0x1200,
    /// Of vCPU 2.
    Start = 0x1300,
}

const AREA: GuestRealAddress = GuestRealAddress(0x2000);
const LOG: GuestRealAddress = GuestRealAddress(0x3000);

/// Writes the buffers, and the lengths of an area and of a log.
pub(super) fn write_buffers(hal: &Machine, partition: &mut Partition<Machine>) {
    let started = [rtas::START_CPU, 3, 1, 2, ENTRY.0 as u32, STARTED as u32];
    let buffers: [(Buffer, &[u32]); 4] = [
        (Buffer::PowerOff, &[rtas::POWER_OFF, 2, 1, 0, 0]),
        (Buffer::Restart, &[rtas::SYSTEM_REBOOT, 0, 1]),
        (Buffer::StopSelf, &[rtas::STOP_SELF, 0, 1]),
        (Buffer::Start, &started),
    ];
    let mut write = |address, words: &[u32]| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        partition.memory.write(&hal, address, &bytes).expect("it is its memory");
    };
    for (buffer, words) in buffers {
        write(GuestRealAddress(buffer as u64), words);
    }
    write(AREA, &[0, 640 << 16]);
    write(LOG, &[0, 96]);
}

/// Makes a hypercall; how the vCPU leaves, if it does.
pub(super) fn call(
    running: &mut Running<'_, Machine>,
    call: Hypercall,
    arguments: [u64; 3],
) -> Option<Departure> {
    let [first, second, third] = arguments;
    let answer = match running.private_hypercall(call, first) {
        Private::GivesUp => running.give_up(),
        Private::OfPriority => running.set_priority(call, first),
        other => other,
    };
    match answer {
        Private::OfPage if running.initialize_page(first, second, third) => return None,
        Private::OfDevice => {
            return match running.device_hypercall(call, [first, second, third, 0]) {
                Answer::Departs(_, _, departure) => Some(departure),
                _ => None,
            };
        }
        Private::OfInterrupts => {
            return match running.interrupt_hypercall(call, [first, second]) {
                Answer::Departs(_, _, departure) => Some(departure),
                _ => None,
            };
        }
        Private::GivesUp | Private::OfPriority | Private::OfPage | Private::Shared => {}
        Private::Answered => return None,
        Private::Departs => return running.departure.take(),
        Private::Offered => unreachable!("the hardware thread keeps the registers"),
    }
    match running.hypercall(call, [first, second, third, 0, 0, 0, 0]) {
        Answer::Departs(_, _, departure) => Some(departure),
        _ => None,
    }
}

/// Calls RTAS.
pub(super) fn rtas(running: &mut Running<'_, Machine>, buffer: Buffer) -> Option<Departure> {
    call(running, Hypercall::Rtas, [buffer as u64, 0, 0])
}

/// Registers an area for a vCPU.
pub(super) fn register_area(running: &mut Running<'_, Machine>, server: u64) -> Option<Departure> {
    let flags = area::FUNCTION.set(0, area::REGISTER_AREA);
    call(running, Hypercall::RegisterVpa, [flags, server, AREA.0])
}

/// Registers a log for a vCPU that has an area.
pub(super) fn register_log(running: &mut Running<'_, Machine>, server: u64) -> Option<Departure> {
    let flags = area::FUNCTION.set(0, area::REGISTER_LOG);
    call(running, Hypercall::RegisterVpa, [flags, server, LOG.0])
}

/// Loads from a page that may have to be mapped first.
pub(super) fn touch(running: &mut Running<'_, Machine>, address: u64) -> Option<Departure> {
    storage_exit(running, storage::NO_TRANSLATION, address)
}

/// Has a table where the partition has no memory, which ends it.
pub(super) fn walk_outside(running: &mut Running<'_, Machine>, address: u64) -> Option<Departure> {
    storage_exit(running, storage::NO_TRANSLATION | storage::TABLE_WALK, address)
}

fn storage_exit(
    running: &mut Running<'_, Machine>,
    status: u64,
    address: u64,
) -> Option<Departure> {
    match running
        .exit(Door::Virtual, Exit::DataStorage { status, address: GuestRealAddress(address) })
    {
        Action::Departs(departure) => Some(departure),
        _ => None,
    }
}

/// How often a vCPU was here before: it counts in a register of its own.
pub(super) fn turn(running: &mut Running<'_, Machine>) -> u64 {
    let turn = running.registers.gpr[14];
    running.registers.gpr[14] += 1;
    turn
}

/// Whether start-cpu started this vCPU.
pub(super) fn is_started(running: &Running<'_, Machine>) -> bool {
    running.registers.gpr[3] == STARTED
}
