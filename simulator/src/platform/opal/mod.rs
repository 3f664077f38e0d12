//! OPAL by high-level emulation: what a call does, with skiboot's convention and manners.
//!
//! The payload really branches to the firmware's entry, in big-endian real mode, and really returns
//! through LR; only what skiboot would do in between happens at once. What skiboot does not survive
//! (relocation of data or external interrupts on at the call) stops the machine, and what a call may
//! lose is poisoned. Source: `docs/facts/opal-and-powernv.md#convention`.
//! `threads` starts, stops and resets hardware threads.

mod threads;

use arch::address::RealAddress;
use arch::opal::{EPAPR_MAGIC, TEST_ANSWER, event, status, token};
use arch::registers::msr;
use arch::registers::spr::Spr;

use super::{Platform, Power, layout};
use crate::description::calendar;
use crate::exec::FIRMWARE_ENTRY;
use crate::machine::state::State;
use crate::state::shared::Shared;
use crate::state::thread::trap::StopReason;
use crate::state::thread::{Activity, Thread};
use crate::state::xics::{FIRMWARE_EVENT, Route};

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

/// Puts `thread` at the payload's entry as skiboot enters it (`docs/facts/opal-and-powernv.md#entry-state`).
pub fn enter_payload(thread: &mut Thread, entry: u64) {
    thread.activity = Activity::Running;
    thread.set_msr(ENTRY_MSR);
    thread.count_anew();
    thread.nia = entry;
    thread.gpr = [0; 32];
    thread.gpr[1] = layout::STACK;
    thread.gpr[3] = layout::DEVICE_TREE;
    thread.gpr[6] = EPAPR_MAGIC;
    thread.gpr[7] = 0x4000_0001;
    thread.gpr[8] = layout::FIRMWARE;
    thread.gpr[9] = layout::ENTRY;
}

/// Whether the call of thread `index` has to wait at the firmware's entry; it has spun once then.
pub fn hold(state: &mut State, index: usize) -> bool {
    let is_held = state.platform.quiesce.holds(index);
    if is_held {
        let thread = &mut state.threads[index];
        thread.completed += 1;
        thread.time.charge_functional(1);
        thread.nia = thread.cia;
    }
    is_held
}

/// Serves the call that thread `index` makes; its registers hold the answer afterwards.
///
/// # Errors
/// [`StopReason::FirmwareMisused`] where skiboot would not survive the call.
pub fn call(state: &mut State, index: usize) -> Result<(), StopReason> {
    let State { threads, shared, platform, description, .. } = state;
    let thread = &threads[index];
    shared.show_time(thread);
    let now = thread.time_now().cycles();
    // With LE or IR the entry's word is another one, or no call: an illegal instruction, as under skiboot.
    if thread.msr() & (msr::DR | msr::EE) != 0 {
        return Err(StopReason::FirmwareMisused(format!(
            "MSR = {:#x}: LE, IR, DR and EE must be 0",
            thread.msr()
        )));
    }
    let number = thread.gpr[0];
    let arguments = [thread.gpr[3], thread.gpr[4], thread.gpr[5]];
    let answer = match number {
        _ if platform.quiesce.rejects(index) => status::BUSY,
        token::START_CPU => threads::start(threads, index, arguments[0], arguments[1]),
        token::QUERY_CPU_STATUS => {
            threads::query_status(shared, threads, arguments[0], arguments[1])
        }
        token::RTC_READ => {
            let seconds = shared.latest_shown() / description.clock().timebase_hz;
            rtc_read(shared, calendar::read(description.date(), seconds), arguments)
        }
        token::REINIT_CPUS => threads::reinit(shared, threads, index, arguments[0]),
        token::SIGNAL_SYSTEM_RESET => {
            threads::signal_system_reset(shared, threads, index, arguments[0])?
        }
        token::HANDLE_HMI => threads::handle_maintenance(&threads[index])?,
        token::HANDLE_HMI2 => match threads::handle_maintenance(&threads[index])? {
            status::SUCCESS => answer(shared, arguments[0], &0u64.to_be_bytes()),
            other => other,
        },
        token::SLW_SET_REG => {
            threads::set_restored(shared, platform, description, threads, arguments)
        }
        token::QUIESCE => quiesce(platform, threads, index, arguments)?,
        token::RESYNC_TIMEBASE => {
            // The chip's time of day, which nobody can set.
            let slept = shared.cores[threads[index].core].ticks_slept;
            let core = &mut threads[shared.threads_beside(index)];
            core.iter_mut().for_each(|thread| thread.timebase_offset = slept);
            status::SUCCESS
        }
        token::RETURN_CPU => {
            threads[index].activity = Activity::InFirmware;
            return Ok(());
        }
        _ if is_served(shared, number) => serve(shared, platform, index, number, arguments),
        _ => status::PARAMETER,
    };
    platform.drive_lines(shared, now);
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

/// `OPAL_QUIESCE`; skiboot would spin for ever after a kind that it does not know.
fn quiesce(
    platform: &mut Platform,
    threads: &[Thread],
    caller: usize,
    arguments: [u64; 3],
) -> Result<i64, StopReason> {
    let (kind, server) = (u64::from(arguments[0] as u32), arguments[1] as i32);
    let target = match u64::try_from(server) {
        Ok(server) => match threads::find_server(threads, server) {
            Some(target) => Some(target),
            None => return Ok(status::PARAMETER),
        },
        Err(_) if server == -1 => None,
        Err(_) => return Ok(status::PARAMETER),
    };
    platform.quiesce.request(caller, kind, target).ok_or_else(|| {
        StopReason::FirmwareMisused(format!("OPAL_QUIESCE does not know the kind {kind}"))
    })
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
            platform.quiesce.hold_others(caller);
            platform.power = Power::GoingOff;
            status::SUCCESS
        }
        token::CEC_REBOOT | token::CEC_REBOOT2 => {
            platform.quiesce.hold_others(caller);
            platform.console.drain();
            platform.power = Power::Rebooting;
            status::SUCCESS
        }
        token::INT_GET_XIRR => {
            let xirr = shared.xics.accept(caller, second != 0);
            answer(shared, first, &xirr.to_be_bytes())
        }
        token::INT_SET_CPPR => {
            shared.xics.set_cppr(caller, first as u8);
            status::SUCCESS
        }
        token::INT_EOI => i64::from(shared.xics.end(caller, first as u32)),
        token::INT_SET_MFRR => match shared.xics.server(first) {
            Some(server) => {
                shared.xics.set_mfrr(server, second as u8);
                status::SUCCESS
            }
            None => status::PARAMETER,
        },
        // A server is given as its PIR with two bits below it.
        token::SET_XIVE if shared.xics.set_route(first as u32, second >> 2, third as u8) => {
            status::SUCCESS
        }
        token::GET_XIVE => get_xive(shared, arguments),
        token::HANDLE_INTERRUPT if first == u64::from(FIRMWARE_EVENT) => {
            // What raised the interrupt is looked after, the event stays until the input is read: Linux ends
            // the interrupt now and reads in a thread of its own, which would never run beside a line that is up.
            platform.console.fetch();
            answer(shared, second, &events(platform).to_be_bytes())
        }
        // There is no nest that translates and no service processor to wait for: what these ask for is
        // so already.
        token::NMMU_SET_PTCR | token::SYNC_HOST_REBOOT => status::SUCCESS,
        token::CHECK_TOKEN => i64::from(is_served(shared, first)),
        _ => status::PARAMETER,
    }
}

/// The calls that are there; [`token::CHECK_TOKEN`] answers from this.
fn is_served(shared: &Shared, number: u64) -> bool {
    match number {
        // Where threads reach the interrupt controller by themselves, firmware leaves it to them.
        token::INT_GET_XIRR | token::INT_SET_CPPR | token::INT_EOI | token::INT_SET_MFRR => {
            !shared.xics.has_registers()
        }
        token::NMMU_SET_PTCR => Spr::Ptcr.row().presence.includes(shared.processor),
        _ => is_served_everywhere(number),
    }
}

fn is_served_everywhere(number: u64) -> bool {
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
            | token::HANDLE_HMI
            | token::HANDLE_HMI2
            | token::SLW_SET_REG
            | token::SIGNAL_SYSTEM_RESET
            | token::QUIESCE
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
    platform.console.fetch();
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

fn get_xive(shared: &mut Shared, arguments: [u64; 3]) -> i64 {
    let [number, server_at, priority_at] = arguments;
    let Some(Route { pir, priority }) = shared.xics.route(number as u32) else {
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
