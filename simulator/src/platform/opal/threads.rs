//! OPAL calls about hardware threads: start, give back, ask, reset, and what firmware sets after a deep
//! power-saving state. As skiboot's `core/cpu.c`, `core/direct-controls.c`, `core/hmi.c` and `hw/slw.c`.

use arch::opal::{cpu_status, reinit, status};
use arch::registers::spr::{Spr, SprRow};

use super::{POISON, answer, enter_payload};
use crate::description::Description;
use crate::platform::Platform;
use crate::state::shared::Shared;
use crate::state::thread::trap::StopReason;
use crate::state::thread::{Activity, Thread};

pub(super) fn find_server(threads: &[Thread], server: u64) -> Option<usize> {
    threads.iter().position(|thread| thread.spr(Spr::Pir) == server)
}

pub(super) fn start(threads: &mut [Thread], caller: usize, server: u64, address: u64) -> i64 {
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

pub(super) fn query_status(shared: &mut Shared, threads: &[Thread], server: u64, at: u64) -> i64 {
    let Some(index) = find_server(threads, server) else { return status::PARAMETER };
    let byte = match threads[index].activity {
        Activity::InFirmware => cpu_status::IN_OPAL,
        _ => cpu_status::STARTED,
    };
    answer(shared, at, &[byte])
}

pub(super) fn reinit(
    shared: &mut Shared,
    threads: &mut [Thread],
    caller: usize,
    flags: u64,
) -> i64 {
    let is_other_out =
        |thread: &Thread| thread.index != caller && thread.activity != Activity::InFirmware;
    if threads.iter().any(is_other_out) {
        return status::WRONG_STATE;
    }
    let known = reinit::HILE_BIG | reinit::HILE_LITTLE | reinit::MMU_HASH | reinit::MMU_RADIX;
    if flags & !known != 0 {
        return status::UNSUPPORTED;
    }
    let hid0 = shared.processor.facts().hid0;
    for core in &mut shared.cores {
        let mut value = core.spr(Spr::Hid0);
        if flags & reinit::HILE_BIG != 0 {
            value &= !hid0.little_endian;
        }
        if flags & reinit::HILE_LITTLE != 0 {
            value |= hid0.little_endian;
        }
        if flags & (reinit::MMU_HASH | reinit::MMU_RADIX) != 0 {
            value &= !hid0.radix;
            if flags & reinit::MMU_RADIX != 0 {
                value |= hid0.radix;
            }
        }
        core.set_spr(Spr::Hid0, value);
    }
    // Where there is no choice, asking for one fails, after the endianness is set.
    if flags & (reinit::MMU_HASH | reinit::MMU_RADIX) != 0 && hid0.radix == 0 {
        return status::UNSUPPORTED;
    }
    status::SUCCESS
}

/// A system reset for another thread; broadcasts are not to be had.
pub(super) fn signal_system_reset(
    shared: &mut Shared,
    threads: &[Thread],
    caller: usize,
    server: u64,
) -> Result<i64, StopReason> {
    let Ok(server) = u64::try_from(server as i32) else { return Ok(status::CONSTRAINED) };
    match find_server(threads, server) {
        None => Ok(status::PARAMETER),
        Some(index) if index == caller => Ok(status::PARAMETER),
        Some(index) if threads[index].activity == Activity::InFirmware => {
            Err(StopReason::FirmwareMisused(format!(
                "OPAL_SIGNAL_SYSTEM_RESET of thread {server:#x}, which waits inside firmware, is not modelled"
            )))
        }
        Some(index) => {
            let now = threads[caller].time_now().cycles();
            shared.signal(index, now, |signals| signals.system_reset = true);
            Ok(status::SUCCESS)
        }
    }
}

/// Looks what a hypervisor maintenance interrupt was for: nothing here ever fails.
pub(super) fn handle_maintenance(thread: &Thread) -> Result<i64, StopReason> {
    match thread.spr(Spr::Hmer) {
        0 => Ok(status::SUCCESS),
        value => Err(StopReason::FirmwareMisused(format!(
            "OPAL_HANDLE_HMI with HMER = {value:#x}: recovery from it is not modelled"
        ))),
    }
}

/// `(pir, number, value)`: a register that firmware sets when the thread comes out of a level that lost it.
pub(super) fn set_restored(
    shared: &Shared,
    platform: &mut Platform,
    description: &Description,
    threads: &[Thread],
    arguments: [u64; 3],
) -> i64 {
    let [server, number, value] = arguments;
    let Some(index) = find_server(threads, server) else { return status::PARAMETER };
    let rules = &shared.power_saving;
    let is_deep = |level: &u64| *level >= rules.hypervisor_lost_from;
    if !description.enabled_stop_levels().iter().any(is_deep) {
        return status::SUCCESS;
    }
    let known = rules.restorable.iter().find(|known| u64::from(**known) == number);
    let Some(&number) = known else { return status::INTERNAL_ERROR };
    // What the threads of a core share is kept with the first of them.
    let is_shared = |row: &SprRow| !shared.is_of_thread(row.scope);
    let is_shared = SprRow::find(number, shared.processor).is_some_and(is_shared);
    let holder = if is_shared { shared.threads_beside(index).start } else { index };
    platform.self_restore.set(holder, number, value);
    status::SUCCESS
}
