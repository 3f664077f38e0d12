//! Loads and stores in the pipeline: translation, forwarding, misses, and stores that drain in order.

use super::super::context::Context;
use super::super::forward::Found;
use super::super::ready::Ready;
use super::{Executed, Pipeline};
use crate::cache::{Kind, LINE_LOG2};
use crate::core::class::Class;
use crate::ledger::{Cause, Owner};
use crate::mmu::Access;
use crate::thread::accesses;

impl Pipeline {
    /// A load's way from its issue: the translation, the wait for a place among the misses, the data.
    pub(super) fn load(
        &mut self,
        context: &mut Context<'_>,
        owner: Owner,
        access: &accesses::Access,
        issued: u64,
    ) -> [Ready; 3] {
        let Context { parameters, free, .. } = *context;
        let latency = &parameters.latency;
        let crossing = if crosses(access, parameters.core.load_block) {
            free.cost(Cause::LoadL1, latency.crossing)
        } else {
            0
        };
        let translated = context.translate(access.address, Access::Load, issued, owner);
        let begin = translated.at();
        let found = self.forwarding.find(access.offset, access.bytes as usize, begin);
        let (ready, cause) = match found {
            Found::Forwarded(data_at) => {
                let cycles = free.cost(Cause::LoadForward, latency.forward);
                (begin.max(data_at) + cycles + crossing, Cause::LoadForward)
            }
            Found::Scattered(drained_at) if !free.contains(Cause::LoadForwardFailed) => {
                (begin.max(drained_at) + latency.forward_failed, Cause::LoadForwardFailed)
            }
            Found::Scattered(_) | Found::Nothing => {
                let mut slowest = [translated; 3];
                for (line, address) in lines(access) {
                    let answer = context.access(Kind::Load, line, address, begin, owner);
                    let is_hit = answer.reason().cause() == Cause::LoadL1;
                    let wait = if is_hit { 0 } else { context.core.miss(line, begin, answer.at()) };
                    let wait = free.cost(Cause::QueueMiss, wait);
                    let queued = Ready::new(begin + wait, Cause::QueueMiss);
                    let data = answer.after(wait + crossing);
                    if data.at() > slowest[2].at() {
                        slowest = [translated, queued, data];
                    }
                }
                return slowest;
            }
        };
        [translated, translated, Ready::new(ready, cause)]
    }

    /// Queues the stores of an instruction; they drain in order.
    pub(super) fn store(
        &mut self,
        context: &mut Context<'_>,
        executed: &Executed<'_>,
        data_at: u64,
    ) {
        let mut drained = self.drained;
        for access in executed.accesses.list().iter().filter(|access| access.is_store) {
            let kind = match executed.operation.class {
                Class::StoreLine => Kind::Zero,
                _ => Kind::Store,
            };
            for (line, address) in lines(access) {
                let at = self.completed.max(self.drain_began + 1);
                self.drain_began = at;
                let answer = context.access(kind, line, address, at, executed.owner);
                drained = drained.max(answer.at());
            }
            let now = self.completed;
            let bytes = access.bytes as usize;
            self.forwarding.store(access.offset, bytes, now, data_at, drained);
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
