//! Streams of loads, and the lines to fetch ahead of them.
//!
//! A stream is a sequence of lines at one distance, by effective address. Two misses make a stride, a
//! third at the same distance confirms it, and from then on lines are fetched ahead, further with every
//! line that is used. How POWER9 finds a stream is not published beyond their number, their reach and
//! that any stride will do.

use serde::{Deserialize, Serialize};

use super::parameters::PrefetchParameters;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct Stream {
    /// The line that was used last.
    line: u64,
    /// Lines from one to the next; 0 while only one is known.
    stride: i64,
    is_confirmed: bool,
    /// How far ahead to fetch.
    depth: u64,
    /// How many steps ahead of `line` have been fetched, into the L1 and into the L3.
    fetched: [u64; 2],
    stamp: u64,
}

/// What to fetch ahead of a line: steps of `stride` lines from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ahead {
    /// Lines from one to the next.
    pub stride: i64,
    /// First and last step into the L1; nothing if the first is beyond the last.
    pub first_level: (u64, u64),
    /// First and last step into the L3.
    pub third_level: (u64, u64),
}

/// The streams of one core.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Streams {
    streams: Vec<Stream>,
    uses: u64,
}

impl Streams {
    /// `count` streams, none in use.
    #[must_use]
    pub fn new(count: u64) -> Self {
        Self { streams: vec![Stream::default(); count as usize], uses: 0 }
    }

    /// A load missed `line`, or used it first after it was fetched ahead. Returns what to fetch now if
    /// it belongs to a stream.
    pub fn follow(&mut self, line: u64, parameters: &PrefetchParameters) -> Option<Ahead> {
        self.uses += 1;
        let uses = self.uses;
        if let Some((stream, steps)) = self.confirmed(line, parameters.l1_depth) {
            stream.stamp = uses;
            return Some(stream.advance(line, steps, parameters));
        }
        let near = |stream: &&mut Stream| {
            let distance = line.wrapping_sub(stream.line) as i64;
            let longest = parameters.longest_stride;
            stream.stamp != 0 && distance != 0 && distance.unsigned_abs() <= longest
        };
        if let Some(stream) = self.streams.iter_mut().filter(|it| !it.is_confirmed).find(near) {
            let stride = line.wrapping_sub(stream.line) as i64;
            let is_confirmed = stream.stride == stride;
            *stream = Stream { line, stride, is_confirmed, stamp: uses, ..Stream::default() };
            if is_confirmed {
                stream.depth = parameters.first_depth;
                return Some(stream.advance(line, 0, parameters));
            }
            return None;
        }
        if let Some(oldest) = self.streams.iter_mut().min_by_key(|stream| stream.stamp) {
            *oldest = Stream { line, stamp: uses, ..Stream::default() };
        }
        None
    }

    /// The confirmed stream that `line` goes on with, and how many steps it is on. A line or two may be
    /// passed over: the cache had them already, or a younger load came first.
    fn confirmed(&mut self, line: u64, l1_depth: u64) -> Option<(&mut Stream, u64)> {
        self.streams.iter_mut().filter(|stream| stream.is_confirmed).find_map(|stream| {
            let distance = line.wrapping_sub(stream.line) as i64;
            let steps = distance.checked_div(stream.stride)?;
            let is_on = distance % stream.stride == 0 && (0..=l1_depth as i64 + 1).contains(&steps);
            is_on.then_some((stream, steps as u64))
        })
    }
}

impl Stream {
    fn advance(&mut self, line: u64, steps: u64, parameters: &PrefetchParameters) -> Ahead {
        self.line = line;
        if steps > 0 {
            self.depth = (self.depth + parameters.ramp).min(parameters.last_depth);
        }
        let page = |line: u64| line >> (parameters.page_log2 - u64::from(super::LINE_LOG2));
        let in_page = |step: &u64| {
            let ahead = line.wrapping_add_signed(self.stride.wrapping_mul(*step as i64));
            page(ahead) == page(line)
        };
        let reach = (1..=self.depth).take_while(in_page).last().unwrap_or(0);
        let near = reach.min(parameters.l1_depth);
        let [first, third] = self.fetched.map(|fetched| fetched.saturating_sub(steps) + 1);
        let third = third.max(near + 1);
        self.fetched = [near.max(first - 1), reach.max(third - 1)];
        Ahead { stride: self.stride, first_level: (first, near), third_level: (third, reach) }
    }
}
