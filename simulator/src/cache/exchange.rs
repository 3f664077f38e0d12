//! Lines that threads pass to each other by writing them.
//!
//! Such a line wanders. It is in one place at a time: whoever has it answers one request after the other, each for as
//! long as the line is on its way or the update takes, so no two of them overlap, however many threads want it.
//! Requests are answered in the order in which they came, and of those that came at once in rotation; but who reserved
//! and wrote a line more often than others that want it gives way to them for a while. Nobody
//! else sees a store before it has drained, nor gets a line between a load that reserves it and the store conditional,
//! for so long as a core keeps it.
//!
//! Which lines wander is found by who stored there last; of two whose numbers collide the later is remembered.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Wandering lines that are remembered, and lines whose last writer is; powers of two.
const KNOWN: usize = 1024;
const WRITTEN: usize = 4096;
/// Transfers that are remembered before those that ended long ago are forgotten, and how long ago, cycles.
const TRANSFERS: usize = 4096;
const LONG_AGO: u64 = 1 << 20;

/// A line that wanders.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Wanderer {
    line: u64,
    /// The thread that stored there last, and when that store has drained.
    writer: usize,
    drained: u64,
}

/// A thread that wants a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Request {
    line: u64,
    /// When the thread came, and when its request did: after its own stores to lines that wander.
    at: u64,
    since: u64,
}

/// What the description says of lines that wander, see `[timing.cache]` there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Rules {
    /// How long, cycles, a core keeps a line that it has reserved.
    pub kept: u64,
    /// Who comes so many cycles behind the last writer reserves the line before that does again.
    pub gives_way: u64,
    /// The longest lead for which who won a line gives way.
    pub longest_lead: u64,
    /// For how long, cycles, a thread that asked for a line counts as one that wants it.
    pub wanted: u64,
}

/// What is known of lines that wander.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Exchange {
    known: Box<[Wanderer]>,
    /// Lines, and the thread that stored there last.
    written: Box<[(u64, usize)]>,
    /// By line, when its last transfer is over.
    over: BTreeMap<u64, u64>,
    /// By thread, the line that it has reserved, and until when its core keeps it.
    kept: Box<[(u64, u64)]>,
    rules: Rules,
    /// By thread, what it waits for.
    requests: Box<[Option<Request>]>,
    /// By thread, when its last store to a line that wanders has drained.
    drained: Box<[u64]>,
    /// The thread that was served last.
    served: usize,
    /// By thread, the line that it asked for last, and when.
    asked: Box<[(u64, u64)]>,
    /// By thread, how many of its store conditionals succeeded there, where it took part from the beginning.
    won: Box<[u64]>,
}

impl Exchange {
    /// The lines of a machine of so many threads.
    #[must_use]
    pub fn new(threads: usize, rules: Rules) -> Self {
        let nothing = Wanderer { line: u64::MAX, writer: 0, drained: 0 };
        Self {
            known: vec![nothing; KNOWN].into(),
            written: vec![(u64::MAX, 0); WRITTEN].into(),
            over: BTreeMap::new(),
            kept: vec![(u64::MAX, 0); threads].into(),
            rules,
            requests: vec![None; threads].into(),
            drained: vec![0; threads].into(),
            served: 0,
            asked: vec![(u64::MAX, 0); threads].into(),
            won: vec![0; threads].into(),
        }
    }

    /// Whether `line` is known to wander.
    #[inline]
    #[must_use]
    pub fn wanders(&self, line: u64) -> bool {
        self.known[line as usize % KNOWN].line == line
    }

    /// Notes that `line` does.
    pub fn note(&mut self, line: u64) {
        if !self.wanders(line) {
            let (writer, drained) = (usize::MAX, 0);
            self.known[line as usize % KNOWN] = Wanderer { line, writer, drained };
        }
    }

    /// When `line` can be sent that is wanted at cycle `at`.
    #[must_use]
    pub fn begin(&self, line: u64, at: u64) -> u64 {
        self.over.get(&line).map_or(at, |over| at.max(*over))
    }

    /// `line` is on its way until cycle `until`.
    pub fn transfer(&mut self, line: u64, until: u64) {
        let over = self.over.entry(line).or_default();
        *over = until.max(*over);
        if self.over.len() > TRANSFERS {
            self.over.retain(|_, over| *over + LONG_AGO > until);
        }
    }

    /// When `thread`, which comes at cycle `at`, finds what others stored in `line`, which nobody keeps.
    #[inline]
    #[must_use]
    pub fn admit(&self, thread: usize, line: u64, at: u64) -> u64 {
        let Wanderer { line: known, writer, drained } = self.known[line as usize % KNOWN];
        if known != line {
            return at;
        }
        let at = if writer == thread { at } else { at.max(drained) };
        at.max(self.kept_until(thread, line))
    }

    /// Whether another than `thread` stored last into `line`.
    #[inline]
    #[must_use]
    pub fn is_overwritten(&self, thread: usize, line: u64) -> bool {
        let Wanderer { line: known, writer, .. } = self.known[line as usize % KNOWN];
        known == line && writer != thread && writer != usize::MAX
    }

    /// Until when another than `thread` keeps `line`.
    fn kept_until(&self, thread: usize, line: u64) -> u64 {
        let others = self.kept.iter().enumerate().filter(|(other, _)| *other != thread);
        let until = others.filter(|(_, (kept, _))| *kept == line).map(|(_, (_, until))| *until);
        until.max().unwrap_or(0)
    }

    /// `thread` loads from `line`.
    #[inline]
    pub fn read(&mut self, thread: usize, line: u64) {
        let (written, writer) = self.written[line as usize % WRITTEN];
        if written == line && writer != thread {
            self.note(line);
        }
    }

    /// `thread` stores into `line`, which has drained at cycle `drained`.
    #[inline]
    pub fn write(&mut self, thread: usize, line: u64, drained: u64) {
        let last = &mut self.written[line as usize % WRITTEN];
        let is_others = last.0 == line && last.1 != thread;
        *last = (line, thread);
        if is_others {
            self.note(line);
        }
        let known = &mut self.known[line as usize % KNOWN];
        if known.line == line {
            *known = Wanderer { line, writer: thread, drained: drained.max(known.drained) };
            self.drained[thread] = drained;
            self.won[thread] += u64::from(self.kept[thread].0 == line);
            self.transfer(line, drained);
        }
    }

    /// `thread` has reserved `line` at cycle `at`, and its core keeps it.
    pub fn keep(&mut self, thread: usize, line: u64, at: u64) {
        self.note(line);
        self.transfer(line, at);
        self.kept[thread] = (line, at + self.rules.kept);
    }

    /// `thread` does not keep any line any more. Whether it did.
    pub fn give_up(&mut self, thread: usize) -> bool {
        std::mem::replace(&mut self.kept[thread], (u64::MAX, 0)).0 != u64::MAX
    }

    /// `thread`, which has come to cycle `at`, wants `line`, perhaps to reserve it: gives the cycle at which its turn
    /// comes at the earliest.
    pub fn request(&mut self, thread: usize, line: u64, reserves: bool, at: u64) -> u64 {
        let known = self.known[line as usize % KNOWN];
        let is_last = known.line == line && known.writer == thread;
        let lead = if reserves { self.lead(thread, line, at) } else { 0 };
        let way = lead + u64::from(reserves && is_last);
        let since = at.max(self.drained[thread]) + way * self.rules.gives_way;
        self.requests[thread] = Some(Request { line, at, since });
        self.turn(thread).unwrap_or(at)
    }

    /// How often `thread`, which comes at cycle `at`, won `line` more often than another that wants it too, as
    /// far as that counts. One that comes anew begins where the last of the others is.
    fn lead(&mut self, thread: usize, line: u64, at: u64) -> u64 {
        let Rules { longest_lead, wanted, .. } = self.rules;
        let takes_part = |(asked, when): (u64, u64)| asked == line && when + wanted > at;
        let all = self.asked.iter().zip(&self.won).enumerate();
        let others = all.filter(|(other, (asked, _))| *other != thread && takes_part(**asked));
        let least = others.map(|(_, (_, won))| *won).min();
        let is_new = !takes_part(self.asked[thread]);
        self.asked[thread] = (line, at);
        let own = &mut self.won[thread];
        let Some(least) = least else { return 0 };
        if is_new {
            *own = least;
        }
        own.saturating_sub(least).min(longest_lead)
    }

    /// When the turn comes of what `thread` waits for.
    #[must_use]
    pub fn turn(&self, thread: usize) -> Option<u64> {
        let Request { line, at, since } = self.requests[thread]?;
        if self.kept[thread].0 == line {
            return Some(at);
        }
        let own = (since, self.rotation(thread));
        let is_before = |(other, request): (usize, &Option<Request>)| {
            request.is_some_and(|request| {
                other != thread
                    && request.line == line
                    && (request.since, self.rotation(other)) < own
            })
        };
        let before = self.requests.iter().enumerate().filter(|request| is_before(*request));
        let before = before.count() as u64;
        Some(self.begin(line, since).max(self.kept_until(thread, line)) + before)
    }

    /// `thread` waits no more; it was served if it did.
    #[inline]
    pub fn leave(&mut self, thread: usize, is_served: bool) {
        if self.requests[thread].take().is_some() && is_served {
            self.served = thread;
        }
    }

    /// The thread that was served last.
    #[must_use]
    pub fn served(&self) -> usize {
        self.served
    }

    /// The place of `thread` among those that come at once: the one behind the one that was served last is first.
    fn rotation(&self, thread: usize) -> usize {
        let threads = self.requests.len();
        (thread + threads - self.served - 1) % threads
    }
}

#[cfg(test)]
mod tests {
    use super::{Exchange, KNOWN, LONG_AGO, Rules, TRANSFERS};

    fn exchange(threads: usize, gives_way: u64) -> Exchange {
        Exchange::new(threads, Rules { kept: 50, gives_way, ..Rules::default() })
    }

    #[test]
    fn transfers_of_a_line_follow_each_other() {
        let mut exchange = exchange(2, 0);
        assert_eq!(exchange.begin(7, 100), 100);
        exchange.transfer(7, 150);
        assert_eq!([exchange.begin(7, 100), exchange.begin(7, 200)], [150, 200]);
        assert_eq!(exchange.begin(8, 100), 100, "another line does not wait");
    }

    #[test]
    fn what_is_long_over_is_forgotten() {
        let mut exchange = exchange(2, 0);
        for line in 0..=TRANSFERS as u64 {
            exchange.transfer(line, line * LONG_AGO);
        }
        assert!(exchange.over.len() < 3);
    }

    #[test]
    fn lines_that_wander_are_known_until_their_place_is_taken() {
        let mut exchange = exchange(2, 0);
        exchange.write(0, 5, 10);
        exchange.read(0, 5);
        assert!(!exchange.wanders(5), "one thread alone uses it");
        exchange.read(1, 5);
        assert!(exchange.wanders(5) && !exchange.wanders(6));
        exchange.note(5 + KNOWN as u64);
        assert!(!exchange.wanders(5));
    }

    #[test]
    fn a_store_is_seen_when_it_has_drained_but_by_its_own_thread() {
        let mut exchange = exchange(2, 0);
        exchange.note(5);
        exchange.write(0, 5, 100);
        assert_eq!([exchange.admit(0, 5, 60), exchange.admit(1, 5, 60)], [60, 100]);
    }

    #[test]
    fn requests_are_served_in_the_order_in_which_they_came() {
        let mut exchange = exchange(4, 20);
        exchange.note(5);
        exchange.transfer(5, 100);
        assert_eq!(exchange.request(3, 5, false, 20), 100);
        assert_eq!(exchange.request(1, 5, false, 10), 100);
        assert_eq!(exchange.turn(3), Some(101));
        // Of two that came at once the one behind the one that was served last, which is thread 0.
        assert_eq!(exchange.request(2, 5, false, 10), 101);
        assert_eq!(exchange.turn(3), Some(102));
        exchange.leave(1, true);
        assert_eq!([exchange.turn(2), exchange.turn(1)], [Some(100), None]);
        // A thread whose own store is on its way comes behind it.
        exchange.write(1, 5, 100);
        assert_eq!(exchange.request(1, 5, false, 15), 102);
        // And to reserve it again it gives way to those who come a little later.
        assert_eq!(exchange.request(1, 5, true, 15), 122);
    }

    #[test]
    fn a_line_that_is_reserved_is_kept_for_so_long() {
        let mut exchange = exchange(2, 0);
        exchange.keep(0, 5, 100);
        assert_eq!(
            [exchange.request(0, 5, false, 110), exchange.request(1, 5, false, 110)],
            [110, 150]
        );
        assert!(exchange.give_up(0) && !exchange.give_up(0));
        exchange.leave(0, true);
        assert_eq!(exchange.turn(1), Some(110));
    }
}
