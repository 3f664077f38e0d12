//! Places: addresses before which a run stops, so that somebody can look.
//!
//! A place is where a thread goes on: it is looked for before each block, and a block ends before one.

use crate::state::thread::Thread;

/// The bits of an address that are the same with relocation on and off.
const COMMON: u64 = !(0xF << 60);

/// Whose code a place is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whose {
    /// Of what runs in hypervisor state, a bare kernel too, but not its programs (MSR\[PR\]=1).
    Host,
    /// Of this partition's kernel, not its programs.
    Partition(u32),
    /// Whoever comes there, programs too.
    Anyone,
}

impl Whose {
    /// Of what `thread` runs, if that is no program.
    #[must_use]
    pub fn of(thread: &Thread) -> Option<Self> {
        match thread.is_problem() {
            true => None,
            false if thread.is_hypervisor() => Some(Self::Host),
            false => Some(Self::Partition(thread.lpid())),
        }
    }
}

/// Where a run stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Whose code it is in.
    pub whose: Whose,
    /// The effective address; its first four bits do not matter, but to a program.
    pub address: u64,
    /// Only where r1 is this.
    pub stack: Option<u64>,
}

impl Place {
    /// How many bytes `thread` is before the address, if it is where that lies.
    fn distance(&self, thread: &Thread) -> Option<u64> {
        // A program always runs with relocation on.
        let bits = if thread.is_problem() { u64::MAX } else { COMMON };
        let distance = (self.address & bits).checked_sub(thread.nia & bits)?;
        let is_theirs = self.whose == Whose::Anyone || Whose::of(thread) == Some(self.whose);
        is_theirs.then_some(distance)
    }

    /// Whether `thread` goes on there.
    #[must_use]
    pub fn is_at(&self, thread: &Thread) -> bool {
        self.distance(thread) == Some(0) && self.stack.is_none_or(|stack| stack == thread.gpr[1])
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Places {
    list: Vec<Place>,
    /// The thread that is at one, until somebody is told.
    reached: Option<usize>,
    /// Who was told of last, after so many steps: it goes on from there.
    told: Option<(usize, u64)>,
}

impl Places {
    pub(super) fn set(&mut self, list: Vec<Place>) {
        self.list = list;
    }

    pub(super) fn take_reached(&mut self) -> Option<usize> {
        self.reached.take()
    }

    /// Whether `thread` is at a place; the run ends then.
    #[inline]
    pub(super) fn reach(&mut self, thread: &Thread) -> bool {
        !self.list.is_empty() && self.find(thread)
    }

    fn find(&mut self, thread: &Thread) -> bool {
        let here = (thread.index, thread.steps());
        if self.told == Some(here) || !self.list.iter().any(|place| place.is_at(thread)) {
            return false;
        }
        (self.reached, self.told) = (Some(thread.index), Some(here));
        true
    }

    /// Of `instructions` that follow each other from where `thread` is, those that come before the next place.
    #[inline]
    pub(super) fn room(&self, thread: &Thread, instructions: u64) -> u64 {
        let distances = self.list.iter().filter_map(|place| place.distance(thread));
        distances
            .filter(|distance| *distance > 0)
            .fold(instructions, |room, distance| room.min(distance.div_ceil(4)))
    }
}
