//! Where a line comes from that a pair of cores does not have: another pair, or memory. Who loses it.
//!
//! There is no directory: the tags of all pairs are looked through, as the fabric's snoopers do. A pair
//! that changed a line supplies it, from whichever chip; otherwise a pair of the same chip; otherwise the
//! memory. Transfers between chips take time but no bandwidth; those of one line follow each other.

use super::Hierarchy;
use super::pair::{Pair, Want};
use crate::cache::Kind;
use crate::cache::latency::Level;
use crate::cache::line::{Line, NOBODY};
use crate::cache::memory::Found;
use crate::ledger::Side;

/// Another pair that has a line.
#[derive(Clone, Copy)]
struct Holder {
    chip: usize,
    ready: u64,
    is_dirty: bool,
}

impl Hierarchy {
    /// The chip whose memory has `line`.
    pub(super) fn home(&self, line: u64) -> Option<usize> {
        let region = self.homes.iter().find(|(first, end, _)| (*first..*end).contains(&line))?;
        Some(region.2)
    }

    /// Gets a line for `pair`, which has it in neither cache. `None` if patience ends; then nothing has
    /// changed.
    pub(super) fn supply(&mut self, pair: usize, want: &Want) -> Option<Line> {
        let Want { line, kind, at, side, .. } = *want;
        let chip = self.pairs[pair].chip;
        let holders = |other: &usize| *other != pair;
        let mut supplier: Option<Holder> = None;
        let mut is_held = false;
        for other in (0..self.pairs.len()).filter(holders) {
            let caches = &self.pairs[other];
            let Some(entry) = caches.l2.find(line).or_else(|| caches.l3.find(line)) else {
                continue;
            };
            is_held = true;
            if entry.is_dirty || caches.chip == chip && supplier.is_none() {
                let Line { ready, is_dirty, .. } = *entry;
                supplier = Some(Holder { chip: caches.chip, ready, is_dirty });
            }
        }
        let mut entry = match supplier {
            _ if kind == Kind::Zero => Line::new(Level::L2, at + self.latencies.claim()),
            Some(holder) => {
                let level = match (holder.is_dirty, holder.chip == chip) {
                    (false, _) => Level::Remote,
                    (true, true) => Level::RemoteModified,
                    (true, false) => Level::ChipModified,
                };
                // A line on its way to the other pair goes on from there.
                let begin = self.exchange.begin(line, at.max(holder.ready));
                let ready = begin + self.latencies.of(kind, level);
                self.exchange.transfer(line, ready);
                Line::new(level, ready)
            }
            None => self.read_memory(chip, want)?,
        };
        if want.is_alone() {
            entry.is_exclusive = true;
            if is_held {
                self.take_from_others(pair, line, side);
            }
        } else {
            entry.is_exclusive = !is_held;
            if is_held {
                self.share(pair, line);
            }
        }
        let Pair { l2, l3, .. } = &mut self.pairs[pair];
        let is_lost = [l2.take_loss(line, side), l3.take_loss(line, side)];
        entry.is_refill = is_lost.contains(&true);
        Some(entry)
    }

    /// Reads a line from memory. `None` if patience ends; then nothing has changed.
    pub(super) fn read_memory(&mut self, chip: usize, want: &Want) -> Option<Line> {
        let Want { line, kind, at, patience, .. } = *want;
        // What lies outside of all regions is as far as the chip's own memory.
        let home = self.home(line).unwrap_or(chip);
        let Found { begin, is_in_l4 } = self.memories[home].read(line, at, patience)?;
        let level = match (home == chip, is_in_l4) {
            (true, true) => Level::L4,
            (true, false) => Level::Memory,
            (false, true) => Level::ChipL4,
            (false, false) => Level::ChipMemory,
        };
        let wait = self.latencies.wait(kind, Level::Bandwidth, begin - at);
        let way = self.latencies.of(kind, level);
        let decided = if wait > way { Level::Bandwidth } else { level };
        Some(Line::new(decided, at + wait + way))
    }

    /// Writes a line back to memory, for an access of a `kind`: when there is room for it on the way.
    pub(super) fn write_back(&mut self, kind: Kind, line: u64, at: u64) -> u64 {
        let home = self.home(line).unwrap_or(0);
        let room = self.memories[home].write(line, at);
        at + self.latencies.wait(kind, Level::Bandwidth, room - at)
    }

    /// Takes a line out of every pair but `pair`, for a store of `evictor`.
    pub(super) fn take_from_others(&mut self, pair: usize, line: u64, evictor: Side) {
        for other in (0..self.pairs.len()).filter(|other| *other != pair) {
            self.take(other, line, Some(evictor));
        }
    }

    /// Takes a line out of all caches of `pair`; a foreign `evictor` is remembered.
    pub(super) fn take(&mut self, pair: usize, line: u64, evictor: Option<Side>) -> Option<Line> {
        let Pair { l2, l3, .. } = &mut self.pairs[pair];
        let entry = match evictor {
            Some(evictor) => l2.displace(line, evictor).or_else(|| l3.displace(line, evictor)),
            None => l2.remove(line).or_else(|| l3.remove(line)),
        }?;
        self.take_above(pair, line, entry.above, None);
        Some(entry)
    }

    /// Pairs other than `pair` that have a line are not alone with it any more.
    fn share(&mut self, pair: usize, line: u64) {
        for other in (0..self.pairs.len()).filter(|other| *other != pair) {
            let caches = &mut self.pairs[other];
            if let Some(entry) = caches.l2.find_mut(line).or_else(|| caches.l3.find_mut(line)) {
                entry.is_exclusive = false;
                entry.writer = NOBODY;
            }
        }
    }
}
