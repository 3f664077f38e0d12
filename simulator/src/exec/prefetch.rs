//! The micro-partition prefetch engine's commands: `logmpp`, and what writing MPPR does.
//!
//! A command only starts or ends something: the engine works beside the threads (`machine/engines.rs`). What no source
//! defines stops the machine and names it, unless the description says what happens then.

use arch::address::RealAddress;
use arch::instruction::{Mnemonic, Word};
use arch::registers::mppr;

use super::{Flow, Handler, Mode, Outcome};
use crate::state::prefetch_engine::{Encoding, Fetch, Log};
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::trap::{StopReason, Trap};

/// The handler of `logmpp`.
pub fn handler(mnemonic: Mnemonic, _: Word, _: Mode) -> Option<Handler> {
    (mnemonic == Mnemonic::Logmpp).then_some(logmpp as Handler)
}

fn logmpp(thread: &mut Thread, shared: &mut Shared, i: Word) -> Outcome {
    let operand = match shared.prefetch_engine.encoding {
        Encoding::Patch => thread.gpr[i.rb()],
        Encoding::Corrected => thread.gpr[i.rs()],
    };
    let control = mppr::LOG.get(operand);
    let (bytes, has_l3) = match control {
        mppr::log::NOTHING => return Ok(Flow::Next),
        mppr::log::ABORT => {
            shared.cores[thread.core].engine.abort_log();
            shared.note_engines();
            return Ok(Flow::Synchronize);
        }
        mppr::log::L2 => (mppr::L2_TABLE_BYTES, false),
        _ => (mppr::L2_AND_L3_TABLE_BYTES, true),
    };
    let table = table(thread, shared, operand, bytes)?;
    let engine = &shared.cores[thread.core].engine;
    let beside = match (&engine.log, &engine.fetch) {
        (Some(_), _) => Some("logmpp while the core's engine is still logging"),
        (None, Some(_)) => Some("logmpp while the core's engine is still fetching"),
        (None, None) => None,
    };
    if let Some(what) = beside.filter(|_| !shared.prefetch_engine.newest_wins) {
        return Err(refuse(thread, what, operand));
    }
    let now = thread.time_now().cycles();
    shared.cores[thread.core].engine.begin_log(Log::new(table, bytes, has_l3, now));
    shared.note_engines();
    Ok(Flow::Synchronize)
}

/// Does what writing `value` to MPPR asks for.
pub(super) fn fetch(thread: &mut Thread, shared: &mut Shared, value: u64) -> Result<(), Trap> {
    match mppr::FETCH.get(value) {
        mppr::fetch::NOTHING => shared.cores[thread.core].engine.abort_fetch(),
        mppr::fetch::TO_THE_END => {
            let Some(interval) = shared.prefetch_engine.interval(value) else {
                return Err(refuse(thread, "MPPR with a rate that is not published", value));
            };
            // The table does not say how long it is before it is read: only the smaller one's alignment holds for all.
            let table = table(thread, shared, value, mppr::L2_TABLE_BYTES)?;
            let engine = &shared.cores[thread.core].engine;
            if engine.log.is_some() && !shared.prefetch_engine.newest_wins {
                let what = "MPPR asks for a fetch while the core's engine is still logging";
                return Err(refuse(thread, what, value));
            }
            let lpid = thread.lpid();
            let fetch = Fetch::new(table, interval, thread.time_now().cycles());
            let fetch = Fetch { thread: thread.index, side: (lpid != 0).then_some(lpid), ..fetch };
            shared.cores[thread.core].engine.begin_fetch(fetch);
        }
        _ => return Err(refuse(thread, "MPPR with a table size that is not published", value)),
    }
    shared.note_engines();
    Ok(())
}

/// What a thread reads of MPPR, in which `written` was written last.
pub(super) fn shown(thread: &Thread, shared: &Shared, written: u64) -> u64 {
    if !shared.prefetch_engine.shows_status {
        return written;
    }
    let engine = &shared.cores[thread.core].engine;
    let flag = |is_set: bool, bit: u64| if is_set { bit } else { 0 };
    written & !(mppr::LOGS | mppr::FETCHES)
        | flag(engine.log.is_some(), mppr::LOGS)
        | flag(engine.fetch.is_some(), mppr::FETCHES)
}

/// The table that `operand` names, of `bytes` bytes.
fn table(
    thread: &mut Thread,
    shared: &Shared,
    operand: u64,
    bytes: u64,
) -> Result<RealAddress, Trap> {
    let named = operand & mppr::TABLE;
    let aligned = named & !(bytes - 1);
    if named != aligned && !shared.prefetch_engine.rounds_down {
        let what = "a table that is not aligned to its largest size";
        return Err(refuse(thread, what, operand));
    }
    Ok(RealAddress(aligned))
}

#[cold]
fn refuse(thread: &mut Thread, what: &'static str, operand: u64) -> Trap {
    thread.stop(StopReason::PrefetchEngineMisused { what, operand })
}
