//! Every state that maps and releases of frames of two buckets lead to, each frame mapped once at most: a proof for
//! these, as nothing is left out.
//!
//! Slots are alike, and so are the frames of a bucket and the buckets, so that one cache stands for all that have the
//! same [`Shape`]. A frame that is mapped twice is a count, more buckets do what two do, and a slot's next place is a
//! clean slot: the [property test](super) has all three, and here each slot has one place.

use std::collections::BTreeSet;
use std::vec::Vec;

use super::{BUCKETS, DEPTH, Frame, MODES, MapError, Mode, SLOTS, Setup, frame};

/// The buckets that are used.
const USED: usize = 2;

/// What a bucket names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Named {
    Nothing,
    Idle,
    Live,
}

/// What one cache has in common with others: of each bucket, what it names and how many other frames of it are live;
/// and how many slots are retired.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Shape {
    buckets: Vec<(Named, usize)>,
    retired: usize,
}

impl Setup {
    /// The frame that a bucket names, and whether it is live.
    fn named(&self, bucket: usize) -> Option<(Frame, bool)> {
        let slot = self.cache.buckets[bucket]?;
        Some((self.cache.frames[slot.index()], !self.cache.idle.contains(slot)))
    }

    /// Places among what is open of the frames of a bucket that it does not name.
    fn others(&self, bucket: usize) -> impl Iterator<Item = usize> {
        let named = self.named(bucket).map(|(frame, _)| frame);
        let is_other = move |frame: &Frame| frame.bucket() == bucket && Some(*frame) != named;
        let frames = self.open.iter().enumerate();
        frames.filter_map(move |(place, (frame, _))| is_other(frame).then_some(place))
    }

    fn shape(&self) -> Shape {
        let bucket = |bucket| {
            let named = match self.named(bucket) {
                None => Named::Nothing,
                Some((_, false)) => Named::Idle,
                Some((_, true)) => Named::Live,
            };
            (named, self.others(bucket).count())
        };
        let mut buckets: Vec<_> = (0..USED).map(bucket).collect();
        buckets.sort_unstable();
        Shape { buckets, retired: self.cache.retired.iter().count() }
    }

    /// What one step makes of it, for each step that leads elsewhere.
    fn steps(&self, mode: Mode) -> Vec<Setup> {
        let mut all = Vec::new();
        let mut step = |is_flushed: bool, step: &dyn Fn(&mut Setup)| {
            let mut next = self.clone();
            step(&mut next);
            next.check();
            if is_flushed {
                assert_eq!(next.released_and_reachable(), None);
            }
            all.push(next);
        };
        let mut not_live = Vec::new();
        let is_strict = mode == Mode::UntilRelease;
        for bucket in 0..USED {
            let named = self.named(bucket);
            let place_of = |frame| self.open.iter().position(|(open, _)| *open == frame);
            match named {
                Some((frame, true)) => {
                    let place = place_of(frame).expect("a live frame is open");
                    step(is_strict, &|next| next.release(place));
                }
                Some((frame, false)) => not_live.push(frame),
                None => {}
            }
            if let Some(place) = self.others(bucket).next() {
                let (frame, address) = self.open[place];
                step(is_strict, &|next| next.release(place));
                // Another map of it has its address, and leads nowhere else.
                let mut again = self.clone();
                assert_eq!(again.map(frame), Ok(address));
            }
            let numbers = (bucket as u64..).step_by(BUCKETS);
            let is_unknown = |number: &u64| {
                let frame = frame(*number);
                place_of(frame).is_none() && named.is_none_or(|(named, _)| named != frame)
            };
            let unknown = frame(numbers.into_iter().find(is_unknown).unwrap());
            not_live.push(unknown);
        }
        for frame in not_live {
            match self.cache.live() {
                DEPTH => assert_eq!(self.clone().map(frame), Err(MapError::TooDeep)),
                _ => step(false, &|next| _ = next.map(frame).unwrap()),
            }
        }
        step(mode != Mode::WhileUnneeded, &|next| next.cache.end_exit(&mut next.table));
        step(true, &|next| next.cache.flush(&mut next.table));
        all
    }
}

#[test]
fn no_state_loses_a_slot_shows_what_was_not_asked_for_or_refuses_what_is_allowed() {
    for (mode, least) in MODES.into_iter().zip([5000, 200, 5000]) {
        let first = Setup::with_spare(mode, 0);
        let mut known = BTreeSet::from([first.shape()]);
        let mut waiting = Vec::from([first]);
        let mut deepest = 0;
        while let Some(state) = waiting.pop() {
            for next in state.steps(mode) {
                let cache = &next.cache;
                let sets = [cache.clean, cache.retired, cache.idle].map(|set| set.iter().count());
                assert_eq!(sets.iter().sum::<usize>() + cache.live(), SLOTS);
                deepest = deepest.max(cache.live());
                if known.insert(next.shape()) {
                    waiting.push(next);
                }
            }
        }
        assert_eq!(deepest, DEPTH);
        assert!(known.len() >= least, "{mode:?}: {} states", known.len());
        std::println!("{mode:?}: {} states", known.len());
    }
}
