//! What a pipeline works with while an instruction passes through it.

use arch::address::EffectiveAddress;

use super::fabric::Fabric;
use super::parameters::Parameters;
use super::ready::{Ready, Reason};
use super::sharing::Core;
use crate::cache::translation::{TranslationRequest, Translations};
use crate::cache::{Answer, Hierarchy, Kind, LINE_LOG2, Request};
use crate::ledger::{CauseSet, Charges, Owner};
use crate::mmu::{Access, path};
use crate::state::memory::Offset;
use crate::state::shared::Shared;
use crate::state::thread::Thread;

/// What a thread's pipeline works with.
#[derive(Debug)]
pub struct Context<'a> {
    /// The hardware thread.
    pub thread: &'a Thread,
    /// What it shares with others, as the program sees it.
    pub shared: &'a Shared,
    /// Its place in its core.
    pub member: usize,
    /// What things cost.
    pub parameters: &'a Parameters,
    /// What costs nothing.
    pub free: CauseSet,
    /// What it shares with others, as the model sees it.
    pub core: &'a mut Core,
    /// What all cores share.
    pub fabric: &'a mut Fabric,
    /// The caches.
    pub memory: &'a mut Hierarchy,
    /// ERATs and TLBs.
    pub translations: &'a mut Translations,
    /// The account.
    pub charges: &'a mut Charges,
    /// Whether other threads of the machine run.
    pub has_others: bool,
}

impl Context<'_> {
    /// When a line is there for an access that begins at cycle `at`.
    #[inline]
    pub fn access(&mut self, kind: Kind, line: u64, address: u64, at: u64, owner: Owner) -> Ready {
        let request = Request { thread: self.thread.index, line, address, kind, at, owner };
        let is_data = matches!(kind, Kind::Load | Kind::Store | Kind::Zero);
        if self.has_others && is_data {
            ready(self.memory.access_beside(&request))
        } else {
            ready(self.memory.access(&request))
        }
    }

    /// Fetches a line for those behind it, to have it `alone` or not: when it is there, if it was not.
    pub fn touch(
        &mut self,
        line: u64,
        address: u64,
        at: u64,
        owner: Owner,
        alone: bool,
    ) -> Option<u64> {
        let thread = self.thread.index;
        self.memory.touch(&Request { thread, line, address, kind: Kind::Load, at, owner }, alone)
    }

    /// Whether another thread stored into the line of `offset` after the thread itself: what the thread's own queue
    /// has of it is in the cache by then.
    #[inline]
    pub fn is_overwritten(&self, offset: Offset) -> bool {
        self.has_others
            && self.memory.is_overwritten(self.thread.index, (offset >> LINE_LOG2) as u64)
    }

    /// When `address` is translated for an access that begins at cycle `at`.
    #[inline]
    pub fn translate(&mut self, address: u64, access: Access, at: u64, owner: Owner) -> Ready {
        let Self { thread, shared, .. } = *self;
        let effective = EffectiveAddress(address);
        let (space, address) = path::space(thread, shared, effective, access).unzip();
        let request = TranslationRequest {
            thread: thread.index,
            space,
            address: address.unwrap_or_default(),
            is_fetch: access == Access::Fetch,
            at,
            owner,
        };
        let mut walk = || path::walk_path(thread, shared, effective, access);
        ready(self.translations.translate(self.memory, &request, &mut walk))
    }
}

fn ready(answer: Answer) -> Ready {
    let Answer { ready, cause, is_refill } = answer;
    Ready::new(ready, Reason::new(cause, is_refill))
}
