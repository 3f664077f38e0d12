//! OPAL by high-level emulation: what a call does, with skiboot's convention and manners.
//!
//! The payload really branches to the firmware's entry, in big-endian real mode, and really returns
//! through LR; only what skiboot would do in between happens at once. What skiboot does not survive
//! (MSR\[LE\], relocation or external interrupts on at the call) stops the machine, and what a call may
//! lose is poisoned. Source: `powernv-opal.md` section 2.

use arch::address::RealAddress;
use arch::opal::{EPAPR_MAGIC, TEST_ANSWER, cpu_status, event, reinit, status, token};
use arch::registers::spr::Spr;
use arch::registers::{hid0, msr};

use super::xics::{FIRMWARE_EVENT, Route};
use super::{Platform, Power, calendar, layout};
use crate::exec::FIRMWARE_ENTRY;
use crate::shared::Shared;
use crate::state::State;
use crate::thread::trap::StopReason;
use crate::thread::{Activity, Thread};

/// What a register holds that a call may lose.
const POISON: u64 = 0xDEAD_0A1D_DEAD_0A1D;
/// The MSR with which OPAL enters a payload: 64-bit, hypervisor state, big-endian.
const ENTRY_MSR: u64 = msr::SF | msr::HV;
const BLR: u32 = 0x4E80_0020;

/// The words behind the firmware's entry: the call, and the return through LR.
#[must_use]
pub fn entry_words() -> Vec<u8> {
    [FIRMWARE_ENTRY.0, BLR].iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// Puts `thread` at the payload's entry as skiboot enters it (`powernv-opal.md` 1.1).
pub fn enter_payload(thread: &mut Thread, entry: u64) {
    thread.activity = Activity::Running;
    thread.set_msr(ENTRY_MSR);
    thread.nia = entry;
    thread.gpr = [0; 32];
    thread.gpr[1] = layout::STACK;
    thread.gpr[3] = layout::DEVICE_TREE;
    thread.gpr[6] = EPAPR_MAGIC;
    thread.gpr[7] = 0x4000_0001;
    thread.gpr[8] = layout::FIRMWARE;
    thread.gpr[9] = layout::ENTRY;
}

/// Serves the call that thread `index` makes; its registers hold the answer afterwards.
///
/// # Errors
/// [`StopReason::FirmwareMisused`] where skiboot would not survive the call.
pub fn call(state: &mut State, index: usize) -> Result<(), StopReason> {
    let State { threads, shared, platform, description, .. } = state;
    let thread = &threads[index];
    let now = thread.time_now().cycles();
    let unwanted = thread.msr() & (msr::LE | msr::IR | msr::DR | msr::EE);
    if unwanted != 0 {
        return Err(StopReason::FirmwareMisused(format!(
            "MSR = {:#x}: LE, IR, DR and EE must be 0",
            thread.msr()
        )));
    }
    let number = thread.gpr[0];
    let arguments = [thread.gpr[3], thread.gpr[4], thread.gpr[5]];
    let answer = match number {
        token::START_CPU => start_cpu(threads, index, arguments[0], arguments[1]),
        token::QUERY_CPU_STATUS => query_cpu_status(shared, threads, arguments[0], arguments[1]),
        token::RTC_READ => {
            let seconds = now / description.clock().core_hz;
            rtc_read(shared, calendar::read(description.date(), seconds), arguments)
        }
        token::REINIT_CPUS => reinit_cpus(shared, threads, index, arguments[0]),
        token::RETURN_CPU => {
            threads[index].activity = Activity::InFirmware;
            return Ok(());
        }
        _ => serve(shared, platform, index, number, arguments),
    };
    platform.drive_lines(shared, threads.len(), now);
    let thread = &mut threads[index];
    for lost in [0, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12] {
        thread.gpr[lost] = POISON;
    }
    thread.ctr = POISON;
    for lost in [Spr::Srr0, Spr::Srr1, Spr::Hsrr0, Spr::Hsrr1] {
        thread.set_spr(lost, POISON);
    }
    thread.gpr[3] = answer as u64;
    thread.nia = thread.cia.wrapping_add(4);
    Ok(())
}

/// Calls that concern no thread.
fn serve(
    shared: &mut Shared,
    platform: &mut Platform,
    caller: usize,
    number: u64,
    arguments: [u64; 3],
) -> i64 {
    let [first, second, third] = arguments;
    match number {
        token::TEST => TEST_ANSWER as i64,
        token::CONSOLE_WRITE => console_write(shared, platform, first, second, third),
        token::CONSOLE_READ => console_read(shared, platform, first, second, third),
        token::CONSOLE_WRITE_BUFFER_SPACE if first == 0 => {
            answer(shared, second, &(platform.console.room() as u64).to_be_bytes())
        }
        token::CONSOLE_FLUSH if first == 0 => {
            platform.console.drain();
            status::SUCCESS
        }
        token::POLL_EVENTS => poll_events(shared, platform, first),
        token::CEC_POWER_DOWN => {
            platform.power = Power::GoingOff;
            status::SUCCESS
        }
        token::CEC_REBOOT | token::CEC_REBOOT2 => {
            platform.console.drain();
            platform.power = Power::Rebooting;
            status::SUCCESS
        }
        token::INT_GET_XIRR => {
            let xirr = platform.xics.accept(caller, second != 0);
            answer(shared, first, &xirr.to_be_bytes())
        }
        token::INT_SET_CPPR => {
            platform.xics.set_cppr(caller, first as u8);
            status::SUCCESS
        }
        token::INT_EOI => i64::from(platform.xics.end(caller, first as u32)),
        token::INT_SET_MFRR => match platform.xics.server(first) {
            Some(server) => {
                platform.xics.set_mfrr(server, second as u8);
                status::SUCCESS
            }
            None => status::PARAMETER,
        },
        // A server is given as its PIR with two bits below it.
        token::SET_XIVE if platform.xics.set_route(first as u32, second >> 2, third as u8) => {
            status::SUCCESS
        }
        token::GET_XIVE => get_xive(shared, platform, arguments),
        token::HANDLE_INTERRUPT if first == u64::from(FIRMWARE_EVENT) => {
            answer(shared, second, &events(platform).to_be_bytes())
        }
        // There is no nest that translates, no service processor to wait for, and the time bases of
        // the cores never part: what these ask for is so already.
        token::NMMU_SET_PTCR | token::SYNC_HOST_REBOOT | token::RESYNC_TIMEBASE => status::SUCCESS,
        token::CHECK_TOKEN => i64::from(is_served(first)),
        _ => status::PARAMETER,
    }
}

/// The calls that are there; [`token::CHECK_TOKEN`] answers from this.
fn is_served(number: u64) -> bool {
    matches!(
        number,
        token::TEST
            | token::CONSOLE_WRITE
            | token::CONSOLE_READ
            | token::CONSOLE_WRITE_BUFFER_SPACE
            | token::CONSOLE_FLUSH
            | token::POLL_EVENTS
            | token::CEC_POWER_DOWN
            | token::CEC_REBOOT
            | token::CEC_REBOOT2
            | token::CHECK_TOKEN
            | token::START_CPU
            | token::QUERY_CPU_STATUS
            | token::RETURN_CPU
            | token::REINIT_CPUS
            | token::RTC_READ
            | token::HANDLE_INTERRUPT
            | token::SET_XIVE
            | token::GET_XIVE
            | token::INT_GET_XIRR
            | token::INT_SET_CPPR
            | token::INT_EOI
            | token::INT_SET_MFRR
            | token::NMMU_SET_PTCR
            | token::SYNC_HOST_REBOOT
            | token::RESYNC_TIMEBASE
    )
}

/// skiboot takes pointers with a top nibble of 0 or 0xC, to memory.
fn pointer(shared: &Shared, value: u64) -> Option<RealAddress> {
    let is_known_form = matches!(value >> 60, 0 | 0xC);
    let address = RealAddress(value & 0x0FFF_FFFF_FFFF_FFFF);
    (is_known_form && shared.memory.locate(address).is_some()).then_some(address)
}

/// Writes an answer behind a pointer.
fn answer(shared: &mut Shared, at: u64, bytes: &[u8]) -> i64 {
    let written = pointer(shared, at).map(|address| firmware_store(shared, address, bytes));
    if written == Some(true) { status::SUCCESS } else { status::PARAMETER }
}

/// A store by firmware, which looks after the same things as any store. False without memory there.
fn firmware_store(shared: &mut Shared, address: RealAddress, bytes: &[u8]) -> bool {
    let places: Option<Vec<_>> = (0..bytes.len() as u64)
        .map(|byte| shared.memory.locate(address.wrapping_add(byte)))
        .collect();
    let Some(places) = places else { return false };
    for (&offset, &byte) in places.iter().zip(bytes) {
        // No thread's index is so large: every thread's reservation breaks.
        shared.prepare_store(usize::MAX, offset, 1);
        shared.memory.write(offset, [byte]);
    }
    true
}

fn console_write(
    shared: &mut Shared,
    platform: &mut Platform,
    terminal: u64,
    length_at: u64,
    buffer: u64,
) -> i64 {
    let length = pointer(shared, length_at).and_then(|at| shared.memory.read_be64(at).ok());
    let (Some(length), Some(buffer), 0) = (length, pointer(shared, buffer), terminal) else {
        return status::PARAMETER;
    };
    let wanted = length.min(arch::opal::CONSOLE_RING_BYTES) as usize;
    let Ok(bytes) = shared.memory.copy_out(buffer, wanted) else {
        return status::PARAMETER;
    };
    if !bytes.is_empty() && platform.console.room() == 0 {
        return status::BUSY_EVENT;
    }
    let written = platform.console.write(&bytes) as u64;
    answer(shared, length_at, &written.to_be_bytes())
}

fn console_read(
    shared: &mut Shared,
    platform: &mut Platform,
    terminal: u64,
    length_at: u64,
    buffer: u64,
) -> i64 {
    let length = pointer(shared, length_at).and_then(|at| shared.memory.read_be64(at).ok());
    let (Some(length), Some(buffer), 0) = (length, pointer(shared, buffer), terminal) else {
        return status::PARAMETER;
    };
    let bytes = platform.console.read(usize::try_from(length).unwrap_or(usize::MAX));
    if !firmware_store(shared, buffer, &bytes) {
        return status::PARAMETER;
    }
    answer(shared, length_at, &(bytes.len() as u64).to_be_bytes())
}

fn poll_events(shared: &mut Shared, platform: &mut Platform, events_at: u64) -> i64 {
    platform.console.drain();
    if platform.power == Power::GoingOff {
        platform.power = Power::Off;
    }
    if events_at == 0 {
        return status::SUCCESS;
    }
    answer(shared, events_at, &events(platform).to_be_bytes())
}

fn events(platform: &Platform) -> u64 {
    if platform.console.has_input() { event::CONSOLE_INPUT } else { 0 }
}

fn get_xive(shared: &mut Shared, platform: &Platform, arguments: [u64; 3]) -> i64 {
    let [number, server_at, priority_at] = arguments;
    let Some(Route { pir, priority }) = platform.xics.route(number as u32) else {
        return status::PARAMETER;
    };
    match answer(shared, server_at, &((pir << 2) as u16).to_be_bytes()) {
        status::SUCCESS => answer(shared, priority_at, &[priority]),
        refused => refused,
    }
}

fn rtc_read(shared: &mut Shared, time: (u32, u64), arguments: [u64; 3]) -> i64 {
    match answer(shared, arguments[0], &time.0.to_be_bytes()) {
        status::SUCCESS => answer(shared, arguments[1], &time.1.to_be_bytes()),
        refused => refused,
    }
}

fn find_server(threads: &[Thread], server: u64) -> Option<usize> {
    threads.iter().position(|thread| thread.spr(Spr::Pir) == server)
}

fn start_cpu(threads: &mut [Thread], caller: usize, server: u64, address: u64) -> i64 {
    let Some(index) = find_server(threads, server) else { return status::PARAMETER };
    let now = threads[caller].time_now().cycles();
    let thread = &mut threads[index];
    if thread.activity != Activity::InFirmware {
        return status::WRONG_STATE;
    }
    enter_payload(thread, address);
    // A secondary gets its PIR in r3 and nothing else that it could rely on.
    thread.gpr = [POISON; 32];
    thread.gpr[3] = server;
    thread.time.charge_wait_until(now);
    status::SUCCESS
}

fn query_cpu_status(shared: &mut Shared, threads: &[Thread], server: u64, at: u64) -> i64 {
    let Some(index) = find_server(threads, server) else { return status::PARAMETER };
    let byte = match threads[index].activity {
        Activity::InFirmware => cpu_status::IN_OPAL,
        _ => cpu_status::STARTED,
    };
    answer(shared, at, &[byte])
}

fn reinit_cpus(shared: &mut Shared, threads: &mut [Thread], caller: usize, flags: u64) -> i64 {
    let is_other_out =
        |thread: &Thread| thread.index != caller && thread.activity != Activity::InFirmware;
    if threads.iter().any(is_other_out) {
        return status::WRONG_STATE;
    }
    let known = reinit::HILE_BIG | reinit::HILE_LITTLE | reinit::MMU_HASH | reinit::MMU_RADIX;
    if flags & !known != 0 {
        return status::UNSUPPORTED;
    }
    for core in &mut shared.cores {
        let mut value = core.spr(Spr::Hid0);
        if flags & reinit::HILE_BIG != 0 {
            value &= !hid0::POWER9_HILE;
        }
        if flags & reinit::HILE_LITTLE != 0 {
            value |= hid0::POWER9_HILE;
        }
        if flags & (reinit::MMU_HASH | reinit::MMU_RADIX) != 0 {
            value &= !hid0::POWER9_RADIX;
            if flags & reinit::MMU_RADIX != 0 {
                value |= hid0::POWER9_RADIX;
            }
        }
        core.set_spr(Spr::Hid0, value);
    }
    status::SUCCESS
}
