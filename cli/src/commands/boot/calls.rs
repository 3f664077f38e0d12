//! The region of a run: the calls of a function, or what lies between two marks, as the machine comes by.
//!
//! A call lasts from the function's entry until the thread is where LR pointed to at the entry, with r1 as it was. What
//! the thread does between is part of it: what the function calls, also itself, interrupts, and other tasks while
//! the caller sleeps.

use arch::marker::{Mark, Region};
use simulator::{Machine, Place, Whose};

/// What the region is.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// Between the marks of this region.
    Marked(Region),
    /// The function that begins at these places.
    Function(Vec<Place>),
}

/// Where a region was entered and is not left yet.
#[derive(Debug)]
struct Open {
    thread: usize,
    /// Where it returns to; `None` between marks.
    back: Option<Place>,
    /// The thread's steps and cycle when it began.
    steps: u64,
    cycle: u64,
}

/// What was found of a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Found {
    /// How often it was entered from outside of it.
    pub(super) calls: u64,
    /// How often it was left again by the thread that had entered it.
    pub(super) returned: u64,
    /// How often it was left by another thread: the task had moved. What the first thread did until then is in the
    /// region, what the other did is not.
    pub(super) moved: u64,
    /// Entries of a thread that was in it already: recursion, or another task while the caller slept.
    pub(super) inner: u64,
    /// Cycles of the shortest and the longest that was left again, and of all of them.
    pub(super) least: u64,
    pub(super) most: u64,
    pub(super) sum: u64,
}

/// A region that is watched.
#[derive(Debug)]
pub(super) struct Calls {
    what: What,
    open: Vec<Open>,
    pub(super) found: Found,
}

/// Bytes from a function's entry to where callers enter it that share its table of contents.
const LOCAL_ENTRY: u64 = 8;

impl Calls {
    pub(super) fn new(what: What) -> Self {
        Self { what, open: Vec::new(), found: Found::default() }
    }

    /// The marks that it has to see.
    pub(super) fn marks(&self) -> Vec<Mark> {
        match self.what {
            What::Marked(region) => vec![Mark::Begin(region), Mark::End(region)],
            What::Function(_) => Vec::new(),
        }
    }

    /// The places that it has to see now.
    pub(super) fn places(&self) -> Vec<Place> {
        let entries = match &self.what {
            What::Marked(_) => &[][..],
            What::Function(entries) => entries,
        };
        entries.iter().copied().chain(self.open.iter().filter_map(|open| open.back)).collect()
    }

    /// `thread` passed `mark`; whether the region has anything to do with it.
    pub(super) fn pass(&mut self, machine: &mut Machine, thread: usize, mark: Mark) -> bool {
        match (&self.what, mark) {
            (What::Marked(region), Mark::Begin(begun)) if *region == begun => {
                self.enter(machine, thread, None);
            }
            (What::Marked(region), Mark::End(ended)) if *region == ended => {
                if let Some(place) = self.open.iter().position(|open| open.thread == thread) {
                    self.leave(machine, thread, place);
                }
            }
            _ => return false,
        }
        true
    }

    /// `thread` is at one of [`Calls::places`].
    pub(super) fn come(&mut self, machine: &mut Machine, thread: usize) {
        let at = &machine.state().threads[thread];
        let (stack, link, steps) = (at.gpr[1], at.lr, at.steps());
        let whose = Whose::of(at);
        let is_here = |place: &Place| place.is_at(at);
        let returns = |open: &Open| open.back.as_ref().is_some_and(is_here);
        let is_entry = match &self.what {
            What::Marked(_) => false,
            What::Function(entries) => entries.iter().any(is_here),
        };
        let place = self.open.iter().position(returns);
        // Its table of contents set up, a function goes on at its second entry.
        let goes_on = |open: &Open| open.thread == thread && open.steps + LOCAL_ENTRY / 4 == steps;
        let goes_on = self.open.iter().any(goes_on);
        if let Some(place) = place {
            self.leave(machine, thread, place);
        }
        if is_entry && !goes_on {
            let back = whose.map(|whose| Place { whose, address: link, stack: Some(stack) });
            self.enter(machine, thread, back);
        }
    }

    fn enter(&mut self, machine: &mut Machine, thread: usize, back: Option<Place>) {
        if self.open.iter().any(|open| open.thread == thread) {
            self.found.inner += 1;
            return;
        }
        machine.open_region(thread);
        self.found.calls += 1;
        let at = &machine.state().threads[thread];
        let (steps, cycle) = (at.steps(), at.time.cycles());
        self.open.push(Open { thread, back, steps, cycle });
    }

    /// `thread` leaves what is open at `place`.
    fn leave(&mut self, machine: &mut Machine, thread: usize, place: usize) {
        let open = self.open.remove(place);
        machine.close_region(open.thread);
        if open.thread != thread {
            self.found.moved += 1;
            return;
        }
        let cycles = machine.state().threads[thread].time.cycles() - open.cycle;
        let Found { returned, least, most, sum, .. } = &mut self.found;
        *least = if *returned == 0 { cycles } else { cycles.min(*least) };
        *most = cycles.max(*most);
        *sum += cycles;
        *returned += 1;
    }
}

/// The places of a function's entries, from the addresses where it begins. `is_second` says whether callers may also
/// enter behind the first two instructions of the one at an address.
pub(super) fn entries(
    whose: Whose,
    addresses: &[u64],
    is_second: impl Fn(u64) -> bool,
) -> Vec<Place> {
    let mut entries = Vec::new();
    for &address in addresses {
        entries.push(Place { whose, address, stack: None });
        if is_second(address) {
            entries.push(Place { whose, address: address + LOCAL_ENTRY, stack: None });
        }
    }
    entries
}
