//! Loads and stores in the pipeline: translation, forwarding, misses, and stores that drain in order.

use super::super::context::Context;
use super::super::forward::Found;
use super::super::ready::Ready;
use super::{Executed, Pipeline};
use crate::cache::{Kind, LINE_LOG2};
use crate::ledger::Cause;
use crate::mmu::Access;
use crate::pipeline::class::Class;
use crate::state::thread::accesses;

impl Pipeline {
    /// When the data of a load is there: after the translation, and the wait for a place among the misses.
    pub(super) fn load(
        &mut self,
        context: &mut Context<'_>,
        executed: &Executed<'_>,
        access: &accesses::Access,
        issued: Ready,
    ) -> Ready {
        let Context { parameters, free, .. } = *context;
        let Executed { owner, account, .. } = *executed;
        let latency = &parameters.latency;
        let crossing = if crosses(access, parameters.core.load_block) {
            free.cost(Cause::LoadL1, latency.crossing)
        } else {
            0
        };
        let translated = context.translate(access.address, Access::Load, issued.at(), owner);
        let translated = self.chain.step(issued, translated.at(), translated.reason(), account);
        let begin = translated.at();
        let mut loaded = translated;
        let found = if context.is_overwritten(access.offset) {
            Found::Nothing
        } else {
            self.forwarding.find(access.offset, access.bytes as usize, begin)
        };
        match found {
            Found::Forwarded(data) | Found::Merged(data) => {
                let from = translated.later(data);
                let cycles = free.cost(Cause::LoadForward, latency.forward) + crossing;
                loaded = self.chain.step(from, from.at() + cycles, Cause::LoadForward, account);
                if found == Found::Forwarded(data) {
                    return loaded;
                }
            }
            Found::Scattered(drained) if !free.contains(Cause::LoadForwardFailed) => {
                let from = translated.later(drained);
                let at = from.at() + latency.forward_failed;
                return self.chain.step(from, at, Cause::LoadForwardFailed, account);
            }
            Found::Scattered(_) | Found::Nothing => {}
        }
        for (line, address) in lines(access) {
            let answer = context.access(Kind::Load, line, address, begin, owner);
            let is_hit = answer.reason().cause() == Cause::LoadL1;
            let is_awaited = context.has_others && context.memory.wanders(line);
            let wait =
                if is_hit { 0 } else { context.core.miss(line, begin, answer.at(), is_awaited) };
            let wait = free.cost(Cause::QueueMiss, wait);
            let at = answer.at() + wait + crossing;
            if at > loaded.at() {
                let queued = self.chain.step(translated, begin + wait, Cause::QueueMiss, account);
                loaded = self.chain.step(queued, at, answer.reason(), account);
            }
        }
        loaded
    }

    /// Fetches the line that a touch names, once its address is translated and there is a place among the misses: when
    /// that is. Nothing waits for the line.
    pub(super) fn touch(
        &mut self,
        context: &mut Context<'_>,
        executed: &Executed<'_>,
        issued: Ready,
    ) -> Ready {
        let Executed { owner, account, .. } = *executed;
        let alone = executed.operation.class == Class::TouchForStore;
        let wanted = if alone { Access::Store } else { Access::Load };
        let mut begun = issued;
        for access in executed.accesses.list() {
            let begin = context.translate(access.address, wanted, issued.at(), owner).at();
            let line = (access.offset >> LINE_LOG2) as u64;
            let wait = context.core.has_place().saturating_sub(begin);
            let at = begin + context.free.cost(Cause::QueueMiss, wait);
            if let Some(ready) = context.touch(line, access.address, at, owner, alone) {
                context.core.miss(line, at, ready, false);
                if wait > 0 {
                    begun = begun.later(self.chain.step(issued, at, Cause::QueueMiss, account));
                }
            }
        }
        begun
    }

    /// Queues the stores of an instruction, whose data is there when `data` says; they drain in order.
    pub(super) fn store(
        &mut self,
        context: &mut Context<'_>,
        executed: &Executed<'_>,
        data: Ready,
    ) {
        let Executed { owner, account, .. } = *executed;
        // What is done when it completes is in the cache, and not forwarded from the queue.
        let is_queued = matches!(executed.operation.class, Class::Store | Class::StoreLine);
        let cycles = if is_queued { context.parameters.latency.store_data } else { 0 };
        let cycles = context.free.cost(Cause::LoadForward, cycles);
        let queued = self.chain.step(data, data.at() + cycles, Cause::LoadForward, account);
        let mut drained = self.drained;
        let completed = self.completed;
        for access in executed.accesses.list().iter().filter(|access| access.is_store) {
            let kind = match executed.operation.class {
                Class::StoreLine => Kind::Zero,
                _ => Kind::Store,
            };
            for (line, address) in lines(access) {
                let at = completed.at().max(self.drain_began + 1);
                self.drain_began = at;
                let answer = context.access(kind, line, address, at, owner);
                if answer.at() > drained.at() {
                    let from = self.chain.step(completed, at, Cause::StoreDrain, account);
                    drained = self.chain.step(from, answer.at(), answer.reason(), account);
                }
            }
            let bytes = access.bytes as usize;
            self.forwarding.store(access.offset, bytes, queued, drained);
        }
        self.drained = drained;
        self.dispatch.stores.push(drained);
    }
}

/// Whether an access crosses the end of an aligned block of `bytes`, a power of two.
fn crosses(access: &accesses::Access, bytes: u64) -> bool {
    let last = access.address + u64::from(access.bytes) - 1;
    (access.address ^ last) & !(bytes - 1) != 0
}

/// The lines that an access lies in, and the effective address in each.
fn lines(access: &accesses::Access) -> impl Iterator<Item = (u64, u64)> {
    let first = (access.offset >> LINE_LOG2) as u64;
    let last = ((access.offset + access.bytes as usize - 1) >> LINE_LOG2) as u64;
    let address = access.address;
    (first..=last).map(move |line| (line, address + ((line - first) << LINE_LOG2)))
}
