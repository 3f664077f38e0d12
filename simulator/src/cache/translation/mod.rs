//! What a translation costs: ERATs, the TLB behind them, and table walks.
//!
//! These are tags for time only. What an address means is `mmu`'s business, and is right whatever is here;
//! who invalidates translations there tells it here ([`Translations::invalidate`]). An entry is of one page
//! and of one LPID and PID, so that a change of LPIDR or PIDR costs nothing here and finds its entries
//! again; that is a guess. The hypervisor's real addresses cost nothing: whether they take ERAT entries was
//! not found.
//!
//! A core has an instruction ERAT that its threads share, and two data ERATs, for even and for odd threads,
//! as POWER8 has; with one thread the two hold the same, as much as one. POWER8 has a second data ERAT behind them,
//! which all threads share here.

mod radix;
mod spaces;
mod tag;
mod tlb;
mod walker;

use serde::{Deserialize, Serialize};

use self::spaces::Spaces;
use self::tag::{page, tag};
use self::tlb::Tlb;
use self::walker::Walker;
use super::array::Array;
use super::parameters::TranslationParameters;
use super::{Answer, Hierarchy};
use crate::description::Description;
use crate::description::timing::MODELLED;
use crate::ledger::{Cause, CauseSet, Owner, Side};
use crate::mmu::path::Path;
use crate::quantity::Bound;
use crate::state::invalidation::Invalidation;
use crate::state::tlb::Space;

/// An address to translate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TranslationRequest {
    /// The hardware thread.
    pub thread: usize,
    /// Whose address it is ([`mmu::path::space`](crate::mmu::path::space)); `None` for the hypervisor's
    /// real addresses.
    pub space: Option<Space>,
    /// The address there: without its quadrant, or the offset in the segment.
    pub address: u64,
    /// Whether instructions are to be fetched from it.
    pub is_fetch: bool,
    /// The cycle at which it is known.
    pub at: u64,
    /// On whose account.
    pub owner: Owner,
}

impl TranslationRequest {
    /// The cause of what `is_walk` or a hit in the TLB costs.
    fn cause(&self, is_walk: bool) -> Cause {
        match (self.is_fetch, is_walk) {
            (false, false) => Cause::LoadErat,
            (false, true) => Cause::LoadWalk,
            (true, false) => Cause::FetchErat,
            (true, true) => Cause::FetchWalk,
        }
    }
}

/// What an ERAT or a TLB knows of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct Known {
    /// The cycle from which it can be used.
    ready: u64,
    guest_real: Option<arch::address::GuestRealAddress>,
    /// log2 of the page's bytes; an ERAT's entry may be for a piece of it.
    page_log2: u32,
    /// It came from the tables, not from the TLB.
    is_walked: bool,
    /// It had been lost to a foreign owner before it came.
    is_refill: bool,
}

/// What a hardware thread did not find translated, since timing began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TranslationMisses {
    /// Translations that the ERAT did not have.
    pub erat: u64,
    /// Those of them that the TLB did not have either.
    pub tlb: u64,
    /// Those of `tlb` that were instructions'.
    pub fetches_tlb: u64,
}

/// The ERATs and the TLB of one core.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Core {
    instructions: Array<Known>,
    data: Vec<Array<Known>>,
    /// Behind those, where there is one.
    second: Option<Array<Known>>,
    tlb: Tlb,
    walker: Walker,
}

/// The ERATs, TLBs and walkers of a machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Translations {
    /// Each thread's core, and its data ERAT there.
    places: Vec<(usize, usize)>,
    cores: Vec<Core>,
    spaces: Spaces,
    parameters: TranslationParameters,
    free: CauseSet,
    /// By thread.
    misses: Vec<TranslationMisses>,
}

impl Translations {
    /// Those of the machine that `description` describes, all empty, where the causes in `free` cost
    /// nothing.
    #[must_use]
    pub fn new(description: &Description, bound: Bound, free: CauseSet) -> Self {
        let parameters = description.timing().expect(MODELLED).translation.values(bound);
        let (chips, cores_per_chip, threads_per_core) = description.topology();
        let erat_of =
            |thread: usize| thread % threads_per_core as usize % parameters.derat_arrays as usize;
        let erat = |entries| Array::new(1, entries);
        let core = Core {
            instructions: erat(parameters.ierat_entries),
            data: vec![erat(parameters.derat_entries); parameters.derat_arrays as usize],
            second: (parameters.second_derat_entries > 0)
                .then(|| erat(parameters.second_derat_entries)),
            tlb: Tlb::new(&parameters),
            walker: Walker::new(&parameters),
        };
        let cores = (chips * cores_per_chip) as usize;
        let core_of = description.core_of_threads().into_iter().enumerate();
        let places: Vec<_> = core_of.map(|(thread, core)| (core, erat_of(thread))).collect();
        Self {
            spaces: Spaces::new(places.len()),
            misses: vec![TranslationMisses::default(); places.len()],
            places,
            cores: vec![core; cores],
            parameters,
            free,
        }
    }

    /// Translates. `walk` is asked for the tables' entries if the TLB does not have the page; their reads are
    /// accesses to `hierarchy`. A hit in the ERAT is ready at once.
    #[inline]
    pub fn translate(
        &mut self,
        hierarchy: &mut Hierarchy,
        request: &TranslationRequest,
        walk: &mut dyn FnMut() -> Option<Path>,
    ) -> Answer {
        let Some(space) = request.space else {
            let cause = request.cause(false);
            return Answer { ready: request.at, cause, is_refill: false };
        };
        let number = self.spaces.current(request.thread, space);
        let side = request.owner.side();
        let erat = erat(&mut self.cores, &self.places, request);
        let sizes = space.page_sizes_log2();
        for size in 0..sizes.len() {
            if let Some(known) = erat.touch_hinted(tag(number, sizes, size, request.address), side)
            {
                return known.answer(request);
            }
        }
        self.translate_slow(hierarchy, request, number, walk)
    }

    /// What `thread` missed.
    #[must_use]
    pub fn misses(&self, thread: usize) -> TranslationMisses {
        self.misses[thread]
    }

    #[cold]
    fn translate_slow(
        &mut self,
        hierarchy: &mut Hierarchy,
        request: &TranslationRequest,
        space: u64,
        walk: &mut dyn FnMut() -> Option<Path>,
    ) -> Answer {
        let TranslationRequest { thread, address, at, owner, .. } = *request;
        // A space that has just got a number comes here at once: nobody knows anything of it.
        let space = if self.spaces.are_used_up() { self.renumber(request) } else { space };
        let (core, _) = self.places[thread];
        let side = owner.side();
        let of = self.spaces.name(space);
        let sizes = of.page_sizes_log2();
        let tags = [0, 1, 2, 3].map(|size| tag(space, sizes, size, address));
        let erat = erat(&mut self.cores, &self.places, request);
        if let Some(known) = find(erat, &tags, side) {
            return known.answer(request);
        }
        self.misses[thread].erat += 1;
        let erat_cost = self.free.cost(request.cause(false), self.parameters.erat_miss);
        let core = &mut self.cores[core];
        if !request.is_fetch
            && let Some(second) = &mut core.second
            && let Some((tag, known)) =
                tags.iter().find_map(|&tag| Some((tag, *second.touch(tag, side)?)))
        {
            let cost = self.free.cost(request.cause(false), self.parameters.second_derat_miss);
            return self.keep_first(request, tag, known.found_at(at + cost));
        }
        if let Some((tag, known)) = core.tlb.find(&tags, of, side) {
            let known = known.found_at(at + erat_cost);
            return self.keep(request, self.entry(space, of, tag, known, address), known);
        }
        self.misses[thread].tlb += 1;
        self.misses[thread].fetches_tlb += u64::from(request.is_fetch);
        let Some(path) = walk() else {
            // The tables have changed under the access, or it is about to be interrupted.
            return Answer { ready: at + erat_cost, cause: request.cause(false), is_refill: false };
        };
        let begin = at + self.parameters.erat_miss;
        let core = &mut self.cores[self.places[thread].0];
        let end = core.walker.walk(hierarchy, &mut self.spaces, request, &path, begin);
        let is_free = self.free.contains(request.cause(true));
        let size = sizes.iter().position(|&log2| log2 == path.page_log2).unwrap_or(0);
        let TranslationParameters { walk_overhead, search_overhead, .. } = self.parameters;
        let overhead = if of.is_hashed() { search_overhead } else { walk_overhead };
        let known = Known {
            ready: if is_free { at + erat_cost } else { end + overhead },
            guest_real: path.guest_real,
            page_log2: sizes[size],
            is_walked: !is_free,
            is_refill: false,
        };
        let is_refill = core.tlb.install(tags[size], of, side, known);
        let known = Known { is_refill, ..known };
        self.keep(request, self.entry(space, of, tags[size], known, address), known)
    }

    /// The tag in an ERAT of what has this one in the TLB: of the largest page that an ERAT's entry can be for.
    fn entry(&self, space: u64, of: Space, tag_there: u64, known: Known, address: u64) -> u64 {
        let most = self.parameters.erat_page_log2_hashed;
        if !of.is_hashed() || u64::from(known.page_log2) <= most {
            return tag_there;
        }
        let sizes = of.page_sizes_log2();
        let piece = sizes.iter().rposition(|&log2| u64::from(log2) <= most).unwrap_or(0);
        tag(space, sizes, piece, address)
    }

    /// Forgets every translation, after millions of pairs of LPID and PID, so that the numbers in tags begin anew.
    /// Returns that of the request's space.
    fn renumber(&mut self, request: &TranslationRequest) -> u64 {
        for core in &mut self.cores {
            core.erats().for_each(Array::forget);
            core.tlb.forget();
            core.walker.forget();
        }
        self.spaces = Spaces::new(self.places.len());
        let space = request.space.expect("real addresses are not translated");
        self.spaces.current(request.thread, space)
    }

    /// Puts a page into the ERATs that missed it.
    fn keep(&mut self, request: &TranslationRequest, tag: u64, known: Known) -> Answer {
        let side = request.owner.side();
        let second = &mut self.cores[self.places[request.thread].0].second;
        if let Some(second) = second.as_mut().filter(|_| !request.is_fetch) {
            second.install(tag, side, known, side);
        }
        self.keep_first(request, tag, known)
    }

    /// Puts a page into the first ERAT.
    fn keep_first(&mut self, request: &TranslationRequest, tag: u64, known: Known) -> Answer {
        let side = request.owner.side();
        let erat = erat(&mut self.cores, &self.places, request);
        let is_lost = erat.take_loss(tag, side);
        let is_refill = if known.is_walked { known.is_refill } else { is_lost };
        let known = Known { is_refill, ..known };
        erat.install(tag, side, known, side);
        known.answer(request)
    }

    /// `core` drops what `tlbie` or `tlbiel` removes from it: translations, and what walks remember.
    pub fn invalidate(&mut self, core: usize, invalidation: &Invalidation) {
        let Self { cores, spaces, .. } = self;
        let core = &mut cores[core];
        let is_gone = |tag: u64, known: &Known| {
            let space = spaces.name(tag::space(tag));
            let (_, address) = page(tag, space.page_sizes_log2());
            let first = address >> known.page_log2 << known.page_log2;
            invalidation.removes(space, first, known.page_log2, known.guest_real)
        };
        if invalidation.translations {
            for array in core.erats() {
                array.remove_if(is_gone);
            }
            core.tlb.remove_if(is_gone);
        }
        core.walker.invalidate(spaces, invalidation);
    }

    /// `core` drops its ERATs, as with `slbia`.
    pub fn flush_erats(&mut self, core: usize) {
        self.cores[core].erats().for_each(|erat| erat.remove_if(|_, _| true));
    }
}

/// The ERAT that a request asks.
#[inline]
fn erat<'a>(
    cores: &'a mut [Core],
    places: &[(usize, usize)],
    request: &TranslationRequest,
) -> &'a mut Array<Known> {
    let (core, index) = places[request.thread];
    let core = &mut cores[core];
    if request.is_fetch {
        return &mut core.instructions;
    }
    &mut core.data[index]
}

fn find(array: &mut Array<Known>, tags: &[u64], side: Side) -> Option<Known> {
    tags.iter().find_map(|&tag| array.touch(tag, side).copied())
}

impl Known {
    /// As found in an array that gives it at `soonest`: if its walk has ended by then, that costs nobody any more.
    fn found_at(self, soonest: u64) -> Self {
        let is_walked = self.is_walked && self.ready > soonest;
        Self { ready: self.ready.max(soonest), is_walked, ..self }
    }

    #[inline]
    fn answer(&self, request: &TranslationRequest) -> Answer {
        if self.ready <= request.at {
            let cause = request.cause(false);
            return Answer { ready: request.at, cause, is_refill: false };
        }
        let Self { ready, is_walked, is_refill, .. } = *self;
        Answer { ready, cause: request.cause(is_walked), is_refill }
    }
}

impl Core {
    fn erats(&mut self) -> impl Iterator<Item = &mut Array<Known>> {
        self.data.iter_mut().chain(&mut self.second).chain([&mut self.instructions])
    }
}
