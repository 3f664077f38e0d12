//! H_RTAS: calls through an argument buffer of big-endian words in the guest's memory,
//! `{token, count of arguments, count of results, arguments..., results...}`.

use arch::address::GuestRealAddress;
use arch::papr::rtas::{
    self, BUFFER, CPU_STATUS_RUNNING, CPU_STATUS_STOPPED, HARDWARE, NOT_SUPPORTED, PARAMETER,
    SUCCESS,
};
use arch::papr::status::{H_PARAMETER, H_SUCCESS};

use super::interrupts::present;
use super::{Answer, refused};
use crate::calendar::DateTime;
use crate::guest_memory::AccessError;
use crate::hal::{Hal, Memory, Platform};
use crate::hypercall::Guest;
use crate::life::activity::Activity;
use crate::life::outcome::{Departure, Outcome};
use crate::partition::hash;
use crate::vcpu::registers::Registers;

const WORD: u64 = 4;
/// PAPR's limit of arguments, and of results.
const WORDS_MAX: usize = 16;

/// What a call came to.
enum Called {
    /// It is answered with these results; the first is the status.
    Results([u32; 8]),
    /// The same, and other vCPUs may have to run first.
    Changed([u32; 8]),
    /// It does not return.
    Departs(Departure),
}

const fn status(status: i32) -> Called {
    Called::Results([status as u32, 0, 0, 0, 0, 0, 0, 0])
}

#[inline(never)]
pub(super) fn call<H: Hal>(guest: &mut Guest<'_, H>, buffer: u64) -> Answer {
    let buffer = GuestRealAddress(buffer);
    // What is read and written lies in one frame, if not in two.
    let _maps = guest.hal.maps();
    let mut header = [0; 3];
    if let Err(error) = read_words(guest, buffer, &mut header) {
        return refused(error);
    }
    let [token, arguments, results] = header;
    let (count, results) = (arguments as usize, results as usize);
    if count > WORDS_MAX || results > WORDS_MAX {
        return Answer::Status(H_PARAMETER);
    }
    let mut arguments = [0; WORDS_MAX];
    if let Err(error) = read_words(guest, buffer.wrapping_add(3 * WORD), &mut arguments[..count]) {
        return refused(error);
    }
    // A result that nobody can read must not have had an effect.
    let place = buffer.wrapping_add((3 + count) as u64 * WORD);
    if guest.partition.memory.real(place, results as u64 * WORD).is_none() {
        return Answer::Status(H_PARAMETER);
    }
    let (words, has_changed) = match carry_out(guest, token, &arguments[..count], results) {
        Called::Departs(departure) => return Answer::Departs(H_SUCCESS, [0; 3], departure),
        Called::Results(words) => (words, false),
        Called::Changed(words) => (words, true),
    };
    let mut bytes = [0; 8 * WORD as usize];
    for (place, word) in bytes.chunks_exact_mut(WORD as usize).zip(words) {
        place.copy_from_slice(&word.to_be_bytes());
    }
    let bytes = &bytes[..results.min(words.len()) * WORD as usize];
    match guest.partition.memory.write(guest.hal, place, bytes) {
        Err(error) => refused(error),
        Ok(()) if has_changed => Answer::Departs(H_SUCCESS, [0; 3], Departure::Changed),
        Ok(()) => Answer::Status(H_SUCCESS),
    }
}

fn read_words<H: Memory + Platform>(
    guest: &mut Guest<'_, H>,
    address: GuestRealAddress,
    into: &mut [u32],
) -> Result<(), AccessError> {
    let mut bytes = [0; WORDS_MAX * WORD as usize];
    let bytes = &mut bytes[..into.len() * WORD as usize];
    guest.partition.memory.read(guest.hal, address, bytes)?;
    for (word, bytes) in into.iter_mut().zip(bytes.chunks_exact(WORD as usize)) {
        *word = u32::from_be_bytes(core::array::from_fn(|index| bytes[index]));
    }
    Ok(())
}

/// Carries a call out. A token that is not known, or a count that is not the call's, is a wrong argument.
fn carry_out<H: Hal>(
    guest: &mut Guest<'_, H>,
    token: u32,
    arguments: &[u32],
    results: usize,
) -> Called {
    match (token, arguments, results) {
        (rtas::POWER_OFF, [_, _], 1) => Called::Departs(Departure::Ended(Outcome::PoweredOff)),
        (rtas::SYSTEM_REBOOT, [], 1) => Called::Departs(Departure::Restarted),
        (rtas::START_CPU, [server, entry, argument], 1) => {
            start_cpu(guest, *server, *entry, *argument)
        }
        (rtas::STOP_SELF, [], _) => Called::Departs(Departure::Stopped),
        (rtas::QUERY_CPU_STOPPED_STATE, [server], 2) => {
            match guest.partition.vcpu_mut(u64::from(*server)) {
                None => status(PARAMETER),
                Some(vcpu) => {
                    let state = match vcpu.activity() {
                        Activity::Stopped => CPU_STATUS_STOPPED,
                        _ => CPU_STATUS_RUNNING,
                    };
                    Called::Results([SUCCESS as u32, state, 0, 0, 0, 0, 0, 0])
                }
            }
        }
        (rtas::GET_TIME_OF_DAY, [], 8) => time_of_day(guest),
        (rtas::SET_TIME_OF_DAY, [year, month, day, hour, minute, second, _], 1) => {
            let [year, month, day] = [*year, *month, *day];
            let [hour, minute, second] = [*hour, *minute, *second];
            set_time_of_day(guest, DateTime { year, month, day, hour, minute, second })
        }
        (rtas::DISPLAY_CHARACTER, [character], 1) => {
            guest.console.guest(guest.hal, guest.partition, &[*character as u8]);
            status(SUCCESS)
        }
        (rtas::SET_XIVE, &[number, server, priority], 1) => {
            set_source(guest, number, server, priority)
        }
        (rtas::GET_XIVE, [number], 3) => match guest.partition.sources.get(*number) {
            None => status(PARAMETER),
            Some(source) => {
                let (server, priority) = (source.server, u32::from(source.priority));
                Called::Results([SUCCESS as u32, server, priority, 0, 0, 0, 0, 0])
            }
        },
        (rtas::INT_OFF | rtas::INT_ON, [number], 1) => {
            match guest.partition.sources.get_mut(*number) {
                None => status(PARAMETER),
                Some(source) => {
                    source.switch(token == rtas::INT_ON);
                    presented(guest)
                }
            }
        }
        (rtas::GET_SYSTEM_PARAMETER, &[parameter, buffer, length], 1) => {
            system_parameter(guest, parameter, buffer, length)
        }
        _ if results > 0 => status(PARAMETER),
        _ => Called::Results([0; 8]),
    }
}

/// `ibm,get-system-parameter`: its bytes with their number in front of them, as many as there is room for. The only one
/// says which blocks H_BLOCK_REMOVE takes.
fn system_parameter<H: Hal>(
    guest: &mut Guest<'_, H>,
    parameter: u32,
    buffer: u32,
    length: u32,
) -> Called {
    const LENGTH_BYTES: usize = 2;
    if parameter != rtas::TLB_BLOCKS || guest.partition.memory.hash_table().is_none() {
        return status(NOT_SUPPORTED);
    }
    let mut bytes = alloc::vec![0; LENGTH_BYTES];
    bytes.extend(hash::removed_blocks());
    let value_bytes = (bytes.len() - LENGTH_BYTES) as u16;
    bytes[..LENGTH_BYTES].copy_from_slice(&value_bytes.to_be_bytes());
    if (length as usize) < LENGTH_BYTES {
        return status(BUFFER);
    }
    bytes.truncate(length as usize);
    let place = GuestRealAddress(u64::from(buffer));
    match guest.partition.memory.write(guest.hal, place, &bytes) {
        Ok(()) => status(SUCCESS),
        Err(_) => status(BUFFER),
    }
}

/// `ibm,set-xive`: which vCPU a source interrupts, and with which priority.
fn set_source<H: Hal>(guest: &mut Guest<'_, H>, number: u32, server: u32, priority: u32) -> Called {
    let vcpus = guest.partition.vcpus.len();
    match (guest.partition.sources.get_mut(number), u8::try_from(priority)) {
        (Some(source), Ok(priority)) if (server as usize) < vcpus => {
            (source.server, source.priority) = (server, priority);
            presented(guest)
        }
        _ => status(PARAMETER),
    }
}

/// Done, and the devices' interrupts are presented as they are now.
fn presented<H: Hal>(guest: &mut Guest<'_, H>) -> Called {
    // This vCPU may have been told otherwise about its own interrupt.
    present(guest);
    Called::Changed([0; 8])
}

fn start_cpu<H: Hal>(guest: &mut Guest<'_, H>, server: u32, entry: u32, argument: u32) -> Called {
    let guest_time = guest.hal.timebase().wrapping_add(guest.partition.timebase_offset);
    let facilities = guest.partition.at_start();
    let Some(vcpu) = guest.partition.vcpu_mut(u64::from(server)) else {
        return status(PARAMETER);
    };
    if vcpu.activity() != Activity::Stopped {
        return status(HARDWARE);
    }
    let entry = GuestRealAddress(u64::from(entry));
    let registers = Registers::started(entry, u64::from(argument), guest_time);
    let vcpu = &mut guest.partition.vcpus[server as usize];
    vcpu.start_with(registers, facilities);
    vcpu.is_prodded = false;
    vcpu.presentation.reset();
    present(guest);
    if guest.start(server as usize) { status(SUCCESS) } else { Called::Changed([0; 8]) }
}

/// Seconds of the machine's clock.
fn seconds<H: Platform>(hal: &H) -> Option<i64> {
    hal.date_time()?.to_seconds()
}

fn time_of_day<H: Memory + Platform>(guest: &mut Guest<'_, H>) -> Called {
    let offset = guest.partition.clock_offset;
    let now = seconds(guest.hal).and_then(|now| DateTime::from_seconds(now.checked_add(offset)?));
    match now {
        None => status(HARDWARE),
        Some(DateTime { year, month, day, hour, minute, second }) => {
            Called::Results([SUCCESS as u32, year, month, day, hour, minute, second, 0])
        }
    }
}

/// The partition's clock is the machine's with an offset: nobody else sees that it was set.
fn set_time_of_day<H: Memory + Platform>(guest: &mut Guest<'_, H>, wanted: DateTime) -> Called {
    match (wanted.to_seconds(), seconds(guest.hal)) {
        (None, _) => status(PARAMETER),
        (_, None) => status(HARDWARE),
        (Some(wanted), Some(now)) => {
            guest.partition.clock_offset = wanted - now;
            status(SUCCESS)
        }
    }
}
