//! The prefetch engines at work, beside the threads.
//!
//! An engine takes a block of its table at a time. In timing mode it does so at its own pace, when a thread comes to
//! the cycle at which the block is due, and its accesses take their turn at the channels of the memory like anybody's.
//! In functional mode there are no caches and no time: a log names no line, and all of a table is written or passed at
//! once.

use arch::address::RealAddress;
use arch::registers::mppr;

use super::Machine;
use crate::cache::Restored;
use crate::machine::state::State;
use crate::pipeline::Timing;
use crate::state::prefetch_engine::{BLOCK_BYTES, BLOCK_ENTRIES, ENTRY_BYTES, Engine, entry};
use crate::state::shared::Shared;
use crate::state::thread::trap::StopReason;
use crate::trace::Observer;

/// An engine at work, with what it works on.
struct Working<'a> {
    core: usize,
    engine: &'a mut Engine,
    shared: &'a mut Shared,
    timing: Option<&'a mut Timing>,
}

impl Machine {
    /// Lets the engines do what is due at cycle `now`, and says whether anything was.
    ///
    /// # Errors
    /// If one of them comes to where there is no memory.
    #[inline]
    pub(super) fn run_engines<O: Observer>(
        &mut self,
        now: u64,
        observer: &mut O,
    ) -> Result<bool, StopReason> {
        if now < self.state.shared.engines_due() {
            return Ok(false);
        }
        let State { shared, timing, .. } = &mut self.state;
        let mut done = Ok(());
        for core in 0..shared.cores.len() {
            let mut engine = std::mem::take(&mut shared.cores[core].engine);
            let timing = timing.as_deref_mut();
            let mut working = Working { core, engine: &mut engine, shared, timing };
            done = done.and_then(|()| working.work(now, observer));
            shared.cores[core].engine = engine;
        }
        shared.note_engines();
        done.map(|()| true)
    }
}

impl Working<'_> {
    /// Does what is due at cycle `now`; without time that is everything.
    fn work<O: Observer>(&mut self, now: u64, observer: &mut O) -> Result<(), StopReason> {
        let is_timed = self.timing.is_some();
        let is_due = |due: u64| !is_timed || due <= now;
        while self.engine.log.as_ref().is_some_and(|log| is_due(log.due)) {
            self.write(observer)?;
        }
        while self.engine.fetch.as_ref().is_some_and(|fetch| is_due(fetch.due)) {
            self.read()?;
        }
        Ok(())
    }

    /// Looks through the caches, or writes the next block of the table.
    fn write<O: Observer>(&mut self, observer: &mut O) -> Result<(), StopReason> {
        let Self { core, engine, shared, timing } = self;
        let Some(log) = &mut engine.log else { return Ok(()) };
        let pace = timing.as_ref().map_or(0, |timing| timing.engine().log_interval * BLOCK_ENTRIES);
        log.due += pace;
        if log.entries.is_none() {
            let entries = timing.as_ref().map_or_else(Vec::new, |timing| {
                entries(timing.lines_to_log(*core, log.has_l3), shared)
            });
            engine.work.logged += entries.len() as u64;
            log.entries = Some(entries);
            return Ok(());
        }
        let (address, block) = log.block();
        let what = "log of a prefetch engine to";
        let offset = shared.memory.locate(address).ok_or(StopReason::NoMemory { what, address })?;
        shared.store_block(offset, block);
        if let Some(timing) = timing {
            timing.write_past(offset as u64 / BLOCK_BYTES, log.due);
        }
        observer.engine_wrote(*core, address, BLOCK_BYTES);
        engine.work.blocks_written += 1;
        log.written += BLOCK_BYTES;
        if log.written == log.bytes {
            engine.log = None;
        }
        Ok(())
    }

    /// Asks for the first block of the table, or fetches the lines of the block that has come and asks for the next.
    fn read(&mut self) -> Result<(), StopReason> {
        let Self { engine, shared, timing, core } = self;
        let Some(fetch) = &mut engine.fetch else { return Ok(()) };
        let address = fetch.table.wrapping_add(fetch.read);
        let locate = |shared: &Shared, address: RealAddress| {
            let what = "fetch of a prefetch engine from";
            shared.memory.locate(address).ok_or(StopReason::NoMemory { what, address })
        };
        let offset = locate(shared, address)?;
        if !fetch.has_block {
            fetch.has_block = true;
            if let Some(timing) = timing {
                fetch.due = timing.read_past(*core, offset as u64 / BLOCK_BYTES, fetch.due);
            }
            return Ok(());
        }
        let block: [u8; BLOCK_BYTES as usize] = shared.memory.read(offset);
        let words = block.chunks_exact(ENTRY_BYTES as usize);
        let words = words.map(|word| u64::from_be_bytes(word.try_into().unwrap_or_default()));
        let mut at = fetch.due;
        let mut is_at_end = false;
        for word in words {
            is_at_end |= word & entry::VALID == 0;
            if is_at_end {
                break;
            }
            is_at_end = word & entry::LAST != 0;
            let Some(line) = shared.memory.locate(RealAddress(word & entry::ADDRESS)) else {
                engine.work.nowhere += 1;
                continue;
            };
            if let Some(timing) = timing {
                let is_for_l3 = word & entry::L3 != 0;
                at = fetch.pace(at, timing.engine().lines_under_way);
                match timing.restore(*core, line as u64 / BLOCK_BYTES, is_for_l3, at, fetch) {
                    Restored::Beyond(ready) => {
                        fetch.under_way.push_back(ready);
                        engine.work.fetched += 1;
                    }
                    Restored::InL3 => {
                        engine.work.found += 1;
                        engine.work.from_l3 += 1;
                    }
                    Restored::There => engine.work.found += 1,
                }
                at += fetch.interval.max(1);
            }
        }
        engine.work.blocks_read += 1;
        fetch.read += BLOCK_BYTES;
        if is_at_end || fetch.read == mppr::L2_AND_L3_TABLE_BYTES {
            engine.fetch = None;
            return Ok(());
        }
        let offset = locate(shared, fetch.table.wrapping_add(fetch.read))?;
        if let Some(timing) = timing {
            fetch.due = timing.read_past(*core, offset as u64 / BLOCK_BYTES, fetch.due).max(at);
        }
        Ok(())
    }
}

/// The table's entries for `lines`, each with whether only the L3 had it.
fn entries(lines: Vec<(u64, bool)>, shared: &Shared) -> Vec<u64> {
    let address = |line: u64| shared.memory.address((line * BLOCK_BYTES) as usize);
    let named = lines.into_iter().filter_map(|(line, is_of_l3)| {
        let level = if is_of_l3 { entry::L3 } else { 0 };
        Some(address(line)?.0 | entry::VALID | level)
    });
    let mut entries: Vec<u64> = named.collect();
    if let Some(last) = entries.last_mut() {
        *last |= entry::LAST;
    }
    entries
}
