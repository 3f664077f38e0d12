//! Translation: from an effective address to a place in memory, or to the interrupt that says why not.
//!
//! [`translate`] asks the modelled TLB ([`state::tlb`](crate::state::tlb)), and the tables when that has no answer
//! or one that would fault. `scheme` says whose tables: those of `radix` translation, or
//! the `hash`ed page table. What all schemes share is
//! here: `rights` and `fault`s; `access` puts loads and stores on top, `inhibited` says what cache-inhibited
//! pages refuse, [`path`] what a walk reads.
//! Source: `docs/facts/translation.md#which-translation` and what follows there.

pub mod access;
mod fault;
pub(crate) mod hash;
pub mod inhibited;
mod located;
mod partition;
pub mod path;
mod radix;
pub mod read;
mod rights;
mod scheme;
pub mod watch;

use arch::address::{EffectiveAddress, RealAddress};
use arch::registers::spr::Spr;
use arch::registers::{lpcr, msr};

use crate::state::memory::Offset;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::shortcuts::{Context, PAGE_LOG2};
use crate::state::thread::trap::Trap;
use crate::state::tlb::{Hit, Space, Translation};
use crate::state::xics::Register;
use fault::{Fault, deliver, no_memory};
use hash::Mark;
use inhibited::Inhibited;
use located::Where;
use read::Read;

/// What an access wants to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Read data.
    Load,
    /// Write data.
    Store,
    /// Fetch instructions.
    Fetch,
}

impl Access {
    fn what(self) -> &'static str {
        match self {
            Self::Load => "load from",
            Self::Store => "store to",
            Self::Fetch => "fetch from",
        }
    }
}

/// Everything that a translation depends on.
#[must_use]
pub fn context(thread: &Thread, shared: &Shared) -> Context {
    let core = &shared.cores[thread.core];
    let lpcr = thread.spr(Spr::Lpcr);
    Context {
        state: thread.msr() & (msr::HV | msr::PR | msr::IR | msr::DR),
        lpcr,
        lpid_pid: thread.spr(Spr::Lpidr) << 32 | thread.spr(Spr::Pidr),
        segments: if lpcr & lpcr::HR == 0 { thread.slb_version } else { 0 },
        keys: [thread.spr(Spr::Amr), thread.spr(Spr::Iamr)],
        bases: [core.spr(Spr::Hrmor), core.spr(Spr::Ptcr)],
        own_bases: [thread.spr(Spr::Sdr1), thread.spr(Spr::Rmor)],
    }
}

/// Where an access goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The place in memory.
    pub offset: Offset,
    /// Who keeps it out of the caches, if anyone.
    pub inhibited: Option<Inhibited>,
}

/// The place in memory that `access` to `address` reaches, for the byte at `address`.
///
/// # Errors
/// [`Trap`] with the storage interrupt, or with the reason why the machine stops.
pub fn translate(
    thread: &mut Thread,
    shared: &mut Shared,
    address: EffectiveAddress,
    access: Access,
) -> Result<Place, Trap> {
    let (real, inhibited) = match find(thread, shared, address, access) {
        Ok(found) => found,
        Err(fault) => return Err(deliver(thread, shared.processor, address, access, fault)),
    };
    let Some(offset) = shared.memory.locate(real) else {
        return Err(no_memory(thread, shared.processor, address, access, real, false));
    };
    // Every access to a cache-inhibited page has to be looked at.
    if inhibited.is_none() {
        let page = offset & !((1 << PAGE_LOG2) - 1);
        match access {
            Access::Load => thread.shortcuts.read.insert(address.0, page),
            Access::Store => thread.shortcuts.write.insert(address.0, page),
            Access::Fetch => thread.shortcuts.fetch.insert(address.0, page),
        }
    }
    Ok(Place { offset, inhibited })
}

/// The interrupt controller's register that `access` to `bytes` at `address` reaches, and its server; `None` for
/// all else, faults included.
pub(crate) fn register(
    thread: &mut Thread,
    shared: &mut Shared,
    address: EffectiveAddress,
    bytes: usize,
    access: Access,
) -> Option<(usize, Register)> {
    if !shared.xics.has_registers() {
        return None;
    }
    let (real, _) = find(thread, shared, address, access).ok()?;
    shared.xics.register_at(real, bytes, access == Access::Store)
}

/// The real address behind `address`, without side effects: nothing is cached and nothing is raised.
#[must_use]
pub fn look(
    thread: &Thread,
    shared: &Shared,
    address: EffectiveAddress,
    access: Access,
) -> Option<RealAddress> {
    resolve(thread, shared, address, access).ok().map(|found| found.real)
}

/// What translation found.
struct Found {
    real: RealAddress,
    inhibited: Option<Inhibited>,
    /// What the tables said just now; nothing for what was known before.
    walked: Option<Walked>,
}

/// What the tables said, and what was read on the way.
struct Walked {
    space: Space,
    /// What the TLB knows the address by.
    key: u64,
    translation: Translation,
    reads: Vec<Read>,
    /// Bytes of the tables that the walk sets.
    marks: [Option<Mark>; 2],
}

/// The real address behind `address`; what a walk found goes into the TLB.
fn find(
    thread: &mut Thread,
    shared: &mut Shared,
    address: EffectiveAddress,
    access: Access,
) -> Result<(RealAddress, Option<Inhibited>), Fault> {
    let Found { real, inhibited, walked } = resolve(thread, shared, address, access)?;
    if let Some(Walked { space, key, translation, reads, marks }) = walked {
        for (place, byte) in marks.into_iter().flatten() {
            shared.store(thread, place, [byte]);
        }
        let core = &mut shared.cores[thread.core];
        core.walk_cache.keep(reads.iter().filter_map(|read| Some((read.key?, read.words))));
        if core.tlb.insert(space, key, translation) {
            thread.shortcuts.forget();
        }
    }
    Ok((real, inhibited))
}

fn resolve(
    thread: &Thread,
    shared: &Shared,
    address: EffectiveAddress,
    access: Access,
) -> Result<Found, Fault> {
    let core = &shared.cores[thread.core];
    let located = match scheme::locate(thread, shared, address, access)? {
        Where::Real(real) => return Ok(Found { real, inhibited: None, walked: None }),
        Where::Virtual(located) => located,
    };
    let (space, key) = (located.space, located.key(address));
    match core.tlb.find(space, key) {
        Hit::One(known) => {
            if scheme::serves(known, access)
                && let Ok(inhibited) = scheme::check(thread, known, &located, address, access)
            {
                return Ok(Found { real: known.apply(address), inhibited, walked: None });
            }
        }
        Hit::Several => return Err(Fault::MultiHit),
        Hit::None => {}
    }
    // Nothing cached, or something that would fault: only what the tables say now may fault.
    let permitted = |known| {
        let (mut translation, reads) = scheme::walk(shared, thread, known, &located)?;
        let inhibited = scheme::check(thread, &translation, &located, address, access)?;
        let marks = scheme::mark(&mut translation, access);
        let walked = Some(Walked { space, key, translation, reads, marks });
        Ok(Found { real: translation.apply(address), inhibited, walked })
    };
    permitted(Some(&core.walk_cache)).or_else(|_: Fault| permitted(None))
}
