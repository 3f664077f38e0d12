//! What a pipeline works with while an instruction passes through it.

use arch::address::EffectiveAddress;

use super::fabric::Fabric;
use super::parameters::Parameters;
use super::ready::{Ready, Reason};
use super::sharing::Core;
use crate::cache::translation::{TranslationRequest, Translations};
use crate::cache::{Answer, Hierarchy, Kind, Request};
use crate::ledger::{CauseSet, Charges, Owner};
use crate::mmu::{Access, path};
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
    /// An access met a line that another core had: others come first before the thread goes on.
    pub is_contended: bool,
}

impl Context<'_> {
    /// When a line is there for an access that begins at cycle `at`.
    #[inline]
    pub fn access(&mut self, kind: Kind, line: u64, address: u64, at: u64, owner: Owner) -> Ready {
        self.is_contended |= self.memory.is_contended(self.thread.core, line);
        let thread = self.thread.index;
        ready(self.memory.access(&Request { thread, line, address, kind, at, owner }))
    }

    /// When `address` is translated for an access that begins at cycle `at`.
    #[inline]
    pub fn translate(&mut self, address: u64, access: Access, at: u64, owner: Owner) -> Ready {
        let Self { thread, shared, .. } = *self;
        let effective = EffectiveAddress(address);
        let request = TranslationRequest {
            thread: thread.index,
            space: path::space(thread, effective, access),
            address,
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
