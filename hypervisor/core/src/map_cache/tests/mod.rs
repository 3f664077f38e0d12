//! The cache against a model that knows nothing of slots, and a table whose processor caches whatever it may.

use std::collections::BTreeMap;
use std::vec::Vec;

use arch::address::RealAddress;
use proptest::prelude::{Just, Strategy, prop_assert_eq, prop_oneof, proptest};

use super::{
    BUCKETS, DEPTH, FRAME_LOG2, Frame, LAPS, MapCache, MapError, Mode, Place, ReleaseError, SLOTS,
    SlotSet, Table,
};

mod all_states;

const BASE: u64 = 0x4000_0000;
const MODES: [Mode; 3] = [Mode::UntilEntry, Mode::UntilRelease, Mode::WhileUnneeded];

/// Entries, and a processor that has cached everything that it could have.
#[derive(Clone, Debug)]
pub(super) struct Worst {
    entries: [Option<Frame>; Place::COUNT],
    cached: [Option<Frame>; Place::COUNT],
    flushes: usize,
}

impl Worst {
    pub(super) const fn new() -> Self {
        Self { entries: [None; Place::COUNT], cached: [None; Place::COUNT], flushes: 0 }
    }

    pub(super) fn reaches(&self, frame: Frame) -> bool {
        self.entries.contains(&Some(frame)) || self.cached.contains(&Some(frame))
    }
}

impl Table for Worst {
    fn set(&mut self, place: Place, frame: Frame) {
        assert_eq!(self.entries[place.index()], None, "valid entries are not rewritten");
        assert_eq!(self.cached[place.index()], None, "a stale translation would be used");
        self.entries[place.index()] = Some(frame);
        self.cached[place.index()] = Some(frame);
    }

    fn clear(&mut self, place: Place) {
        assert!(self.entries[place.index()].take().is_some(), "only valid entries are cleared");
    }

    fn forget(&mut self, slots: SlotSet) {
        self.flushes += 1;
        for place in (0..Place::COUNT).filter_map(Place::new) {
            if slots.contains(place.slot()) && self.entries[place.index()].is_none() {
                self.cached[place.index()] = None;
            }
        }
    }
}

/// The cache, its table, and what is mapped by the model: frames by address, with their counts.
#[derive(Clone)]
struct Setup {
    cache: MapCache,
    table: Worst,
    open: Vec<(Frame, u64)>,
}

impl Setup {
    fn new(mode: Mode) -> Self {
        Self { cache: MapCache::new(mode, BASE), table: Worst::new(), open: Vec::new() }
    }

    /// One whose slots have so many places behind their first ones.
    fn with_spare(mode: Mode, spare: u8) -> Self {
        Self { cache: MapCache::with_spare(mode, BASE, spare), ..Self::new(mode) }
    }

    fn map(&mut self, frame: Frame) -> Result<u64, MapError> {
        let address = self.cache.map(&mut self.table, frame)?.address;
        self.open.push((frame, address));
        Ok(address)
    }

    fn release(&mut self, place: usize) {
        let (_, address) = self.open.swap_remove(place);
        assert_eq!(self.cache.release(&mut self.table, address), Ok(()));
    }

    fn counts(&self) -> BTreeMap<Frame, (u64, usize)> {
        let mut counts = BTreeMap::new();
        for &(frame, address) in &self.open {
            let (known, count) = counts.entry(frame).or_insert((address, 0));
            assert_eq!(*known, address, "one frame has one address");
            *count += 1;
        }
        counts
    }

    /// A frame that is not mapped, and reachable.
    fn released_and_reachable(&self) -> Option<Frame> {
        let counts = self.counts();
        let mut reached = self.table.entries.iter().chain(&self.table.cached).flatten().copied();
        reached.find(|frame| !counts.contains_key(frame))
    }

    /// What holds at any time.
    fn check(&self) {
        let counts = self.counts();
        assert_eq!(self.cache.live(), counts.len());
        for (frame, (address, _)) in &counts {
            let place = ((address - BASE) >> FRAME_LOG2) as usize;
            assert_eq!(self.table.entries[place], Some(*frame), "it shows what was asked for");
        }
        let idle = self.table.entries.iter().flatten().count() - counts.len();
        assert!(idle <= BUCKETS, "{idle} idle slots");
        let live: usize = self.cache.counts.iter().map(|count| usize::from(*count)).sum();
        assert_eq!(live, self.open.len());
    }
}

pub(super) const fn frame(number: u64) -> Frame {
    Frame::of(RealAddress(number << FRAME_LOG2))
}

#[test]
fn maps_of_one_frame_are_one_map() {
    for mode in MODES {
        let mut setup = Setup::new(mode);
        let first = setup.map(frame(3)).unwrap();
        // It is evicted from the hash meanwhile, or would be.
        let other = setup.map(frame(3 + BUCKETS as u64)).unwrap();
        assert_ne!(first, other);
        assert_eq!(setup.map(frame(3)), Ok(first));
        assert_eq!(setup.map(frame(3 + BUCKETS as u64)), Ok(other));
        setup.check();
    }
}

/// Xen's posted cache loses the first slot of A here: its bucket names A again, in another slot.
#[test]
fn a_bucket_that_names_the_frame_in_another_slot_loses_none() {
    for mode in MODES {
        let mut setup = Setup::new(mode);
        for _ in 0..10 * SLOTS as u64 {
            for number in [0, BUCKETS as u64, 0] {
                setup.map(frame(number)).unwrap();
            }
            (0..3).for_each(|_| setup.release(0));
            setup.check();
        }
    }
}

#[test]
fn more_frames_than_the_depth_are_refused_and_nothing_is_used_twice() {
    for mode in MODES {
        let mut setup = Setup::new(mode);
        // All in one bucket, which is the worst.
        let colliding = |number: u64| frame(number * BUCKETS as u64);
        for number in 0..DEPTH as u64 {
            setup.map(colliding(number)).unwrap();
        }
        assert_eq!(setup.map(colliding(DEPTH as u64)), Err(MapError::TooDeep));
        assert!(setup.map(colliding(0)).is_ok(), "another map of the same is none more");
        setup.check();
        setup.release(0);
        while !setup.open.is_empty() {
            setup.release(0);
        }
        assert!(setup.map(colliding(DEPTH as u64)).is_ok());
    }
}

#[test]
fn a_frame_is_not_mapped_more_often_than_can_be_counted() {
    let mut setup = Setup::new(Mode::UntilEntry);
    for _ in 0..u16::MAX {
        setup.map(frame(1)).unwrap();
    }
    assert_eq!(setup.map(frame(1)), Err(MapError::TooDeep));
}

#[test]
fn what_is_not_mapped_is_not_released() {
    for mode in MODES {
        let mut setup = Setup::new(mode);
        let address = setup.map(frame(1)).unwrap();
        let (cache, table) = (&mut setup.cache, &mut setup.table);
        let bytes = (Place::COUNT as u64) << FRAME_LOG2;
        for foreign in [0, BASE - 1, BASE + bytes, BASE + (bytes << 8), u64::MAX] {
            assert_eq!(cache.release(table, foreign), Err(ReleaseError::Foreign), "{foreign:#x}");
        }
        let other = if address == BASE { BASE + (1 << FRAME_LOG2) } else { BASE };
        assert_eq!(cache.release(table, other), Err(ReleaseError::NotMapped));
        assert_eq!(cache.release(table, address + 5), Ok(()), "anywhere in the slot");
        let before = cache.clone();
        assert_eq!(cache.release(table, address), Err(ReleaseError::NotMapped), "twice");
        assert_eq!(*cache, before);
    }
}

#[test]
fn each_mode_says_how_long_a_released_frame_is_reachable() {
    for (mode, after_release, after_exit) in [
        (Mode::UntilEntry, true, false),
        (Mode::UntilRelease, false, false),
        (Mode::WhileUnneeded, true, true),
    ] {
        let mut setup = Setup::new(mode);
        setup.map(frame(1)).unwrap();
        setup.release(0);
        assert_eq!(setup.table.reaches(frame(1)), after_release, "{mode:?}");
        setup.cache.end_exit(&mut setup.table);
        assert_eq!(setup.table.reaches(frame(1)), after_exit, "{mode:?}");
        setup.cache.flush(&mut setup.table);
        assert!(!setup.table.reaches(frame(1)));
    }
}

/// What Xen's advisory 494 is about: what one vCPU knows of its maps is used on the tables of another.
#[test]
fn a_cache_on_the_table_of_another_thread_is_found() {
    for mode in MODES {
        let (mut own, mut other) = (Setup::new(mode), Setup::new(mode));
        let opened = own.cache.map(&mut other.table, frame(1)).unwrap();
        own.open.push((frame(1), opened.address));
        let check = std::panic::AssertUnwindSafe(|| own.check());
        assert!(std::panic::catch_unwind(check).is_err(), "it shows nothing where it says");
        assert_eq!(other.released_and_reachable(), Some(frame(1)), "the other thread reaches it");
    }
}

#[test]
fn the_flushes_of_one_exit_share_their_barriers() {
    let mut setup = Setup::new(Mode::UntilEntry);
    for number in 0..BUCKETS as u64 {
        setup.map(frame(number)).unwrap();
        setup.release(0);
    }
    assert_eq!(setup.table.flushes, 0);
    setup.cache.end_exit(&mut setup.table);
    setup.cache.end_exit(&mut setup.table);
    assert_eq!(setup.table.flushes, 1);
}

/// Frames of all buckets, each of which is mapped when its bucket names another one: what a lazy cache is worst at.
#[test]
fn a_flush_of_a_lazy_cache_serves_all_places_of_its_slots() {
    let flushes = |spare| {
        let mut setup = Setup::with_spare(Mode::WhileUnneeded, spare);
        for number in 0..10_000 {
            setup.map(frame(number % (3 * BUCKETS as u64))).unwrap();
            setup.release(0);
            setup.check();
        }
        setup.table.flushes
    };
    // The bucket's own slot has retired before.
    let once = SLOTS - (BUCKETS - 1);
    assert_eq!(flushes(0), (10_000 - (BUCKETS - 1)) / once);
    let least = 10_000 / (LAPS * SLOTS);
    assert!((least..=10_000 / (LAPS * once)).contains(&flushes(LAPS as u8 - 1)));
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Map(u64),
    Release(usize),
    EndExit,
    Flush,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        // Few frames, most of them in two buckets.
        8 => (0u64..24).prop_map(|number| Step::Map(if number < 16 { number / 2 * 8 + number % 2 } else { number })),
        8 => (0usize..64).prop_map(Step::Release),
        2 => Just(Step::EndExit),
        1 => Just(Step::Flush),
    ]
}

proptest! {
    #[test]
    fn any_steps_keep_what_is_mapped_and_lose_no_slot(
        mode in 0usize..3,
        spare in 0u8..LAPS as u8,
        is_never_flushed in proptest::bool::ANY,
        steps in proptest::collection::vec(step(), 1..1500),
    ) {
        let mode = MODES[mode];
        let is_lazy = mode == Mode::WhileUnneeded;
        let mut setup = if is_lazy { Setup::with_spare(mode, spare) } else { Setup::new(mode) };
        for step in steps {
            match step {
                Step::Map(number) => {
                    let is_new = !setup.counts().contains_key(&frame(number));
                    let is_full = setup.cache.live() == DEPTH;
                    prop_assert_eq!(setup.map(frame(number)).is_err(), is_new && is_full);
                }
                Step::Release(place) if place < setup.open.len() => setup.release(place),
                Step::Release(_) => {}
                Step::EndExit => setup.cache.end_exit(&mut setup.table),
                // Only a lazy cache that nobody flushes comes to its slots' last places.
                Step::Flush if is_lazy && is_never_flushed => {}
                Step::Flush => setup.cache.flush(&mut setup.table),
            }
            setup.check();
            let is_flushed = match step {
                Step::EndExit => mode != Mode::WhileUnneeded,
                Step::Flush => !(is_lazy && is_never_flushed),
                Step::Release(_) => mode == Mode::UntilRelease,
                Step::Map(_) => false,
            };
            if is_flushed {
                prop_assert_eq!(setup.released_and_reachable(), None, "after {:?}", step);
            }
        }
        while !setup.open.is_empty() {
            setup.release(0);
        }
        setup.cache.flush(&mut setup.table);
        prop_assert_eq!(setup.cache.clean, SlotSet::ALL);
    }
}
