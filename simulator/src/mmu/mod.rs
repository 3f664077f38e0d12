//! Translation: from an effective address to a place in memory, or to the interrupt that says why not.
//!
//! [`translate`] decides which stages apply, asks the modelled [`tlb`], walks the tables ([`radix`])
//! when that has no answer or one that would fault, and checks rights. `access` puts loads and stores
//! on top; `inhibited` says what cache-inhibited pages refuse. Hashed translation is not modelled yet: software that asks for it stops the machine.
//! Source: `docs/facts/translation.md#which-translation` and what follows there.

pub mod access;
pub mod inhibited;
pub mod path;
pub mod radix;
pub mod watch;

use arch::address::{EffectiveAddress, GuestRealAddress, RealAddress};
use arch::bits::bit;
use arch::interrupt::{Vector, machine_check, storage};
use arch::radix::rights;
use arch::registers::spr::Spr;
use arch::registers::{lpcr, msr};

use crate::state::memory::Offset;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::state::thread::lookaside::{Context, PAGE_LOG2};
use crate::state::thread::trap::{Interrupt, StopReason, StorageFault, Trap};
use crate::state::tlb::{Hit, Space, Stage, Translation};
use crate::state::walk_cache::WalkCache;
use inhibited::Inhibited;
use radix::{Page, Read, WalkFault, Walker};

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

/// The kind of memory attribute that refuses fetches: ATT=2, non-idempotent.
const NON_IDEMPOTENT: u64 = 2;

/// Everything that a translation depends on.
#[must_use]
pub fn context(thread: &Thread, shared: &Shared) -> Context {
    let core = &shared.cores[thread.core];
    Context {
        state: thread.msr() & (msr::HV | msr::PR | msr::IR | msr::DR),
        lpcr: thread.spr(Spr::Lpcr),
        lpid_pid: thread.spr(Spr::Lpidr) << 32 | thread.spr(Spr::Pidr),
        keys: [thread.spr(Spr::Amr), thread.spr(Spr::Iamr)],
        bases: [core.spr(Spr::Hrmor), core.spr(Spr::Ptcr)],
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
        Err(fault) => return Err(deliver(thread, address, access, fault)),
    };
    let Some(offset) = shared.memory.locate(real) else {
        return Err(no_memory(thread, address, access, real, false));
    };
    // Every access to a cache-inhibited page has to be looked at.
    if inhibited.is_none() {
        let page = offset & !((1 << PAGE_LOG2) - 1);
        match access {
            Access::Load => thread.lookaside.read.insert(address.0, page),
            Access::Store => thread.lookaside.write.insert(address.0, page),
            Access::Fetch => {}
        }
    }
    Ok(Place { offset, inhibited })
}

/// The real address behind `address`, without side effects: nothing is cached and nothing is raised.
#[must_use]
pub fn look(
    thread: &Thread,
    shared: &Shared,
    address: EffectiveAddress,
    access: Access,
) -> Option<RealAddress> {
    match resolve(thread, shared, address, access).ok()? {
        Found::Known(real, _) => Some(real),
        Found::Walked(_, translation, _) => Some(translation.apply(address)),
    }
}

/// Why an address could not be translated.
enum Fault {
    Segment,
    MultiHit,
    /// A table lies where no memory answers.
    NoTable(RealAddress),
    Process(u64),
    Partition(u64, GuestRealAddress),
    Stop(StopReason),
}

impl From<WalkFault> for Fault {
    fn from(fault: WalkFault) -> Self {
        match fault {
            WalkFault::Process(cause) => Self::Process(cause),
            WalkFault::Partition(cause, at) => Self::Partition(cause, at),
            WalkFault::NoMemory(error) => Self::NoTable(error.0),
        }
    }
}

/// Where a translation comes from.
enum Found {
    /// Real mode, or the TLB.
    Known(RealAddress, Option<Inhibited>),
    /// The tables, just now, and what was read on the way.
    Walked(Space, Translation, Vec<Read>),
}

/// The real address behind `address`; what a walk found goes into the TLB.
fn find(
    thread: &mut Thread,
    shared: &mut Shared,
    address: EffectiveAddress,
    access: Access,
) -> Result<(RealAddress, Option<Inhibited>), Fault> {
    match resolve(thread, shared, address, access)? {
        Found::Known(real, inhibited) => Ok((real, inhibited)),
        Found::Walked(space, translation, reads) => {
            let core = &mut shared.cores[thread.core];
            core.walk_cache.keep(reads.iter().filter_map(|read| Some((read.key?, read.words))));
            if core.tlb.insert(space, address.0, translation) {
                thread.lookaside.forget();
            }
            Ok((translation.apply(address), inhibited::of(&translation, address)))
        }
    }
}

fn resolve(
    thread: &Thread,
    shared: &Shared,
    address: EffectiveAddress,
    access: Access,
) -> Result<Found, Fault> {
    let Some((space, input)) = locate(thread, address, access)? else {
        let is_offset = address.0 >> 63 == 0;
        let hrmor = if is_offset { shared.cores[thread.core].spr(Spr::Hrmor) } else { 0 };
        let real = RealAddress(address.0 & 0x0FFF_FFFF_FFFF_FFFF | hrmor);
        return Ok(Found::Known(real, None));
    };
    let core = &shared.cores[thread.core];
    match core.tlb.find(space, address.0) {
        Hit::One(known) if check(thread, known, access).is_ok() => {
            return Ok(Found::Known(known.apply(address), inhibited::of(known, address)));
        }
        Hit::Several => return Err(Fault::MultiHit),
        Hit::One(_) | Hit::None => {}
    }
    // Nothing cached, or something that would fault: only what the tables say now may fault.
    let permitted = |known| {
        let (translation, reads) = walk(shared, thread, known, space, input, access)?;
        check(thread, &translation, access).map_err(|refusal| match refusal {
            Refusal::Process(cause) => Fault::Process(cause),
            Refusal::Partition(cause) => {
                Fault::Partition(cause, translation.guest_real_of(address))
            }
        })?;
        Ok(Found::Walked(space, translation, reads))
    };
    permitted(Some(&core.walk_cache)).or_else(|_: Fault| permitted(None))
}

/// Whose address it is, and the address there; `None` for the hypervisor's real addresses.
fn locate(
    thread: &Thread,
    address: EffectiveAddress,
    access: Access,
) -> Result<Option<(Space, u64)>, Fault> {
    let is_relocated = match access {
        Access::Fetch => thread.msr() & msr::IR != 0,
        Access::Load | Access::Store => thread.msr() & msr::DR != 0,
    };
    let has_hv = thread.msr() & msr::HV != 0;
    if has_hv && !is_relocated {
        return Ok(None);
    }
    if thread.spr(Spr::Lpcr) & RADIX != RADIX {
        return Err(Fault::Stop(StopReason::TranslationNotModelled(
            "hashed translation (LPCR[HR]=0 or LPCR[UPRT]=0)",
        )));
    }
    if is_relocated {
        return quadrant(thread, address, has_hv).map(Some);
    }
    let lpid = thread.spr(Spr::Lpidr) as u32;
    Ok(Some((Space { lpid, pid: None }, address.0 & 0x3FFF_FFFF_FFFF_FFFF)))
}

/// LPCR as it is for radix translation.
const RADIX: u64 = lpcr::HR | lpcr::UPRT;

/// Effective LPID and PID of a relocated access, and the address without its quadrant.
fn quadrant(
    thread: &Thread,
    address: EffectiveAddress,
    has_hv: bool,
) -> Result<(Space, u64), Fault> {
    let lpidr = thread.spr(Spr::Lpidr) as u32;
    let pidr = thread.spr(Spr::Pidr) as u32;
    let (lpid, pid) = match (address.0 >> 62, has_hv) {
        (0, true) => (0, pidr),
        (1, true) => (lpidr, pidr),
        (2, true) => (lpidr, 0),
        (3, true) => (0, 0),
        (0, false) => (lpidr, pidr),
        (3, false) => (lpidr, 0),
        _ => return Err(Fault::Segment),
    };
    let input = address.0 & 0x3FFF_FFFF_FFFF_FFFF;
    if input >> arch::radix::SPACE_LOG2 != 0 {
        return Err(Fault::Segment);
    }
    Ok((Space { lpid, pid: Some(pid) }, input))
}

fn walk(
    shared: &Shared,
    thread: &Thread,
    known: Option<&WalkCache>,
    space: Space,
    input: u64,
    access: Access,
) -> Result<(Translation, Vec<Read>), Fault> {
    let ptcr = shared.cores[thread.core].spr(Spr::Ptcr);
    let store = if access == Access::Store { storage::STORE } else { 0 };
    let bad_entry =
        || Fault::Partition(storage::BAD_CONFIGURATION | store, GuestRealAddress(input));
    let mut walker = match Walker::new(&shared.memory, known, ptcr, space.lpid) {
        // LPID 0 is the hypervisor's own; a guest has no business there.
        Ok(_) if space.lpid == 0 && thread.msr() & msr::HV == 0 => return Err(bad_entry()),
        Ok(Some(walker)) => walker,
        Ok(None) => return Err(bad_entry()),
        Err(error) => return Err(WalkFault::NoMemory(error).into()),
    };
    let is_nested = space.lpid != 0;
    let process = match space.pid {
        Some(pid) => Some(walker.process(pid, input)?),
        None => None,
    };
    let guest_real = process.map_or(input, |page| page.translate(input));
    let partition =
        if is_nested { Some(walker.partition(GuestRealAddress(guest_real))?) } else { None };
    let real = partition.map_or(guest_real, |page| page.translate(guest_real));
    let log2 = |page: Option<Page>| page.map_or(u32::MAX, |page| page.log2);
    let page_log2 = log2(process).min(log2(partition));
    let translation = Translation {
        page_log2,
        real: RealAddress(real).align_down(page_log2),
        guest_real: is_nested.then(|| GuestRealAddress(guest_real).align_down(page_log2)),
        process: process.map(stage),
        partition: partition.map(stage),
    };
    Ok((translation, walker.into_reads()))
}

/// What the TLB keeps of a leaf.
fn stage(page: Page) -> Stage {
    Stage {
        rights: page.leaf.rights,
        attributes: page.leaf.attributes,
        referenced: page.leaf.referenced,
        changed: page.leaf.changed,
    }
}

/// Which stage refuses an access, with the cause bits.
enum Refusal {
    Process(u64),
    Partition(u64),
}

/// Checks `access` against both stages, the process-scoped first.
fn check(thread: &Thread, translation: &Translation, access: Access) -> Result<(), Refusal> {
    if let Some(process) = &translation.process {
        let allowed = process_permissions(thread, process.rights);
        refuse(process, allowed, access).map_err(Refusal::Process)?;
    }
    if let Some(partition) = &translation.partition {
        refuse(partition, permissions(partition.rights), access).map_err(Refusal::Partition)?;
    }
    Ok(())
}

const LOAD: u8 = 4;
const STORE: u8 = 2;
const FETCH: u8 = 1;

/// What a leaf's EAA field permits: a page that may be written may be read.
fn permissions(eaa: u64) -> u8 {
    let mut permitted = 0;
    if eaa & (rights::READ | rights::WRITE) != 0 {
        permitted |= LOAD;
    }
    if eaa & rights::WRITE != 0 {
        permitted |= STORE;
    }
    if eaa & rights::EXECUTE != 0 {
        permitted |= FETCH;
    }
    permitted
}

/// What a process-scoped leaf permits in the thread's state: nothing in problem state if the page is
/// privileged; less what key 0 of AMR and IAMR takes in privileged state if it is not.
fn process_permissions(thread: &Thread, eaa: u64) -> u8 {
    match (thread.is_problem(), eaa & rights::PRIVILEGED != 0) {
        (true, true) => 0,
        (true, false) | (false, true) => permissions(eaa),
        (false, false) => {
            let (amr, iamr) = (thread.spr(Spr::Amr), thread.spr(Spr::Iamr));
            let taken = [(amr & bit(0), STORE), (amr & bit(1), LOAD), (iamr & bit(1), FETCH)];
            let kept = taken.iter().filter(|(key, _)| *key != 0).map(|(_, taken)| !taken);
            kept.fold(permissions(eaa), |permitted, kept| permitted & kept)
        }
    }
}

/// The cause bits for which a stage refuses `access`, or `Ok`.
fn refuse(stage: &Stage, permitted: u8, access: Access) -> Result<(), u64> {
    let (needed, cause, store) = match access {
        Access::Load => (LOAD, storage::PROTECTION, 0),
        Access::Store => (STORE, storage::PROTECTION, storage::STORE),
        Access::Fetch => (FETCH, storage::NO_EXECUTE, 0),
    };
    if access == Access::Fetch && stage.attributes == NON_IDEMPOTENT || permitted & needed == 0 {
        return Err(cause | store);
    }
    if !stage.referenced || access == Access::Store && !stage.changed {
        return Err(storage::REFERENCE_CHANGE | store);
    }
    Ok(())
}

/// Turns a fault into the interrupt that the architecture has for it.
fn deliver(thread: &mut Thread, address: EffectiveAddress, access: Access, fault: Fault) -> Trap {
    let is_fetch = access == Access::Fetch;
    let store = if access == Access::Store { storage::STORE } else { 0 };
    let (vector, cause, guest_real) = match fault {
        Fault::Stop(reason) => return thread.stop(reason),
        Fault::MultiHit => return multi_hit(thread, address, is_fetch),
        Fault::NoTable(at) => return no_memory(thread, address, access, at, true),
        Fault::Segment if is_fetch => (Vector::InstructionSegment, 0, None),
        Fault::Segment => (Vector::DataSegment, 0, None),
        Fault::Process(cause) if is_fetch => (Vector::InstructionStorage, cause, None),
        Fault::Process(cause) => (Vector::DataStorage, cause | store, None),
        // A hypervisor's own table that its own partition-scoped tree does not map.
        Fault::Partition(cause, _) if is_own_space(thread, address) => {
            let vector = if is_fetch { Vector::InstructionStorage } else { Vector::DataStorage };
            (vector, cause | store, None)
        }
        Fault::Partition(cause, at) if is_fetch => {
            (Vector::HypervisorInstructionStorage, cause, Some(at))
        }
        Fault::Partition(cause, at) => (Vector::HypervisorDataStorage, cause | store, Some(at)),
    };
    let is_segment = matches!(vector, Vector::DataSegment | Vector::InstructionSegment);
    let guest_real = guest_real.map(|at| at.align_down(PAGE_LOG2));
    let mut interrupt = Interrupt::new(vector);
    if is_fetch {
        interrupt.status = cause;
        if guest_real.is_some() {
            interrupt.storage = Some(StorageFault { address, status: None, guest_real });
        }
    } else {
        let status = (!is_segment).then_some(cause);
        interrupt.storage = Some(StorageFault { address, status, guest_real });
    }
    thread.interrupt(interrupt)
}

/// The machine check of several translations for one address (`docs/facts/translation.md#multi-hit`).
fn multi_hit(thread: &mut Thread, address: EffectiveAddress, is_fetch: bool) -> Trap {
    let mut interrupt = Interrupt::new(Vector::MachineCheck);
    if is_fetch {
        interrupt.status = machine_check::FETCH_TLB_MULTIHIT;
    } else {
        interrupt.status = machine_check::DATA;
        let status = Some(machine_check::TLB_MULTIHIT);
        interrupt.storage = Some(StorageFault { address, status, guest_real: None });
    }
    thread.machine_check(interrupt)
}

/// The machine check of an access to `real`, where no memory answers, or of the table walk for one
/// (`docs/facts/interrupts.md#machine-checks`). With MSR\[ME\]=0 the machine stops and says where.
fn no_memory(
    thread: &mut Thread,
    address: EffectiveAddress,
    access: Access,
    real: RealAddress,
    is_walk: bool,
) -> Trap {
    if thread.msr() & msr::ME == 0 {
        let what = if is_walk { "table walk to" } else { access.what() };
        return thread.stop(StopReason::NoMemory { what, address: real });
    }
    let mut interrupt = Interrupt::new(Vector::MachineCheck);
    match (access, is_walk) {
        (Access::Fetch, false) => interrupt.status = machine_check::FETCH_REAL_ADDRESS,
        (Access::Fetch, true) => interrupt.status = machine_check::FETCH_WALK_REAL_ADDRESS,
        // In life the thread hears of it some instructions later; no register says where the store went.
        (Access::Store, false) => interrupt.status = machine_check::STORE_REAL_ADDRESS,
        (Access::Load, false) | (Access::Load | Access::Store, true) => {
            interrupt.status = machine_check::DATA;
            let status = if is_walk {
                machine_check::WALK_REAL_ADDRESS
            } else {
                machine_check::LOAD_REAL_ADDRESS
            };
            interrupt.storage =
                Some(StorageFault { address, status: Some(status), guest_real: None });
        }
    }
    thread.machine_check(interrupt)
}

/// Whether `address` belongs to LPID 0 in the thread's state: quadrants 0 and 3 of the hypervisor,
/// every quadrant while LPIDR is 0.
fn is_own_space(thread: &Thread, address: EffectiveAddress) -> bool {
    thread.msr() & msr::HV != 0 && (matches!(address.0 >> 62, 0 | 3) || thread.spr(Spr::Lpidr) == 0)
}
