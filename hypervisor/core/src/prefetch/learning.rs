//! What is known of one vcore: whether it gets more done where its lines are fetched, and of which caches.
//!
//! Two ways are compared, over blocks of stays. The first block has two, one with each way; the others have one with
//! what seems to be worse so far and [`BLOCK`] - 1 with the other, so that a trial costs little, whichever it is.
//! Chance says which stay is the single one: else two vcores that take turns would try in step, and each would see what
//! the other one's log costs. A trial ends when the difference is far beyond what its scatter explains, or after
//! [`BLOCKS_MAX`] blocks; what is not proved then stays off. What was found out holds for a while, twice as long each
//! time that the next trials find the same, and ends before that when what the vcore gets done is no more like it was.
//!
//! Where the performance monitor has counted the loads that missed the caches, a gain must have come from those that
//! did not: who misses as much as before and completes more instructions waits in a loop. A trial of what avoids too
//! few for any gain ends at once.

use arch::record::{Fetched, Learned};

use super::Levels;

/// What is fetched at the beginning of a stay, and so logged at the end of the one before; nothing where it is off.
pub(super) type Way = Option<Levels>;

/// Stays of a block, but for the first one's two.
const BLOCK: u64 = 4;
/// Blocks before a trial can end: fewer tell nothing of how far they scatter.
const BLOCKS_MIN: i64 = 4;
/// Blocks after which it ends.
const BLOCKS_MAX: i64 = 16;
/// Stays of a trial that do not count because the engine had no time for them; more count as they were, or a vcore for
/// which it never has time would be logged for ever.
const VAIN_MAX: u32 = 32;
/// By how many standard errors a difference is not by chance. A trial is looked at after each of its blocks, and few
/// blocks scatter more than they show: two would be too few before the last one.
const ERRORS: i64 = 4;
const ERRORS_AT_LAST: i64 = 2;
/// The same where too few misses were avoided to be worth anything: whether they were shows sooner.
const BLOCKS_VAIN: i64 = 2;
/// The most that a load waits whose line comes from the core's own L3, and from beyond that: 16 and 250 ns. Guesses,
/// two to four times what our machine takes: what is worth less than a gain even so has not made it.
const L3_TICKS: u64 = 8;
const MEMORY_TICKS: u64 = 128;
/// Parts of a whole, in which differences are.
const WHOLE: i64 = 1 << 16;
/// The least gain that counts, in parts of [`WHOLE`]: 1/512, below which nobody can tell what a log costs others.
const GAIN_MIN: i64 = WHOLE >> 9;
/// Stays for which what was found out holds at first, and at most.
const HOLDS: u32 = 64;
const HOLDS_MAX: u32 = 1024;
/// So many stays behind each other that are unlike the others show that the work has changed.
const UNLIKE: u32 = 4;

/// Loads whose line came from beyond a core's L2, and those of them for which it came from beyond its L3.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Missed {
    /// PM_DATA_FROM_L2MISS.
    pub l2: u64,
    /// PM_DATA_FROM_L3MISS.
    pub l3: u64,
}

impl Missed {
    /// These, and what counters of 32 bits say that was missed between two looks.
    pub(super) fn with(self, before: Self, after: Self) -> Self {
        let more = |before: u64, after: u64| u64::from((after as u32).wrapping_sub(before as u32));
        Self { l2: self.l2 + more(before.l2, after.l2), l3: self.l3 + more(before.l3, after.l3) }
    }
}

/// What came of a stay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    /// Instructions completed.
    pub(super) done: u64,
    /// In so many ticks.
    pub(super) ticks: u64,
    /// With so many misses, if somebody counted them all.
    pub(super) missed: Option<Missed>,
}

impl Outcome {
    fn sample(self) -> Sample {
        let Self { done, ticks, missed } = self;
        let ratio = |of: u64, to: u64, shift: u32| {
            u64::try_from((u128::from(of) << shift) / u128::from(to.max(1))).unwrap_or(u64::MAX)
        };
        let waited = missed.map(|Missed { l2, l3 }| {
            let near = l2.saturating_sub(l3).saturating_mul(L3_TICKS);
            ratio(near.saturating_add(l3.saturating_mul(MEMORY_TICKS)), ticks, 16)
        });
        Sample { rate: ratio(done, ticks, 16), waited }
    }
}

/// The same, as it is compared.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// Instructions for each tick, in parts of 65,536.
    rate: u64,
    /// The most of its time that loads waited, in parts of [`WHOLE`]; more than all of it where they wait together.
    waited: Option<u64>,
}

/// What is known of a vcore.
#[derive(Debug)]
pub(super) struct Learning {
    /// What its trials have left, or the first of two ways that are compared.
    best: Way,
    /// What held before the trials that are under way.
    before: Way,
    /// What the last trials have shown, of the L2 and of both: what was won, in parts of [`WHOLE`].
    won: [Option<i64>; 2],
    /// How often they found something else than before.
    changes: u32,
    /// For how many stays it held, or will.
    holds: u32,
    state: State,
    /// Where chance comes from.
    chance: u64,
}

#[derive(Debug)]
enum State {
    Trial(Trial),
    /// What is best holds for so many stays more.
    Held {
        left: u32,
        rate: Option<u64>,
        unlike: u32,
    },
}

/// `best` and this are compared.
#[derive(Debug)]
struct Trial {
    with: Levels,
    block: Block,
    /// Stays that were to have it, and had not.
    vain: u32,
    blocks: i64,
    /// Sums of what was won, in parts of [`WHOLE`], and of the squares.
    sum: i64,
    squares: i64,
    /// The sum of what the misses that were avoided can have won at most, if all stays' were counted.
    at_most: Option<i64>,
}

/// Stays of which one has another way than the others.
#[derive(Debug)]
struct Block {
    stays: u64,
    /// Which of them, counted from 0.
    single: u64,
    /// Whether that one has what is tried, and the others what was best; else it is the other way round.
    is_tried_once: bool,
    /// How many are over, and what came of them: of the single one, and the sums of the others.
    over: u64,
    alone: Option<Sample>,
    rates: u128,
    waits: Option<u128>,
}

/// What the blocks of a trial show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Open,
    Better,
    NotBetter,
}

impl Learning {
    /// Of a vcore of which nothing is known; no two of them have the same number.
    pub(super) fn new(number: u64) -> Self {
        let mut chance = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let trial = Trial::new(Levels::L2, &mut chance);
        let (best, before) = (None, None);
        let (won, changes, state) = ([None; 2], 0, State::Trial(trial));
        Self { best, before, won, changes, holds: HOLDS, state, chance }
    }

    /// What it has found so far, for whoever reads the record.
    pub(super) fn learned(&self) -> Learned {
        let held = match self.state {
            State::Held { .. } => self.best,
            State::Trial(_) => self.before,
        };
        let best = match held {
            None => Fetched::Nothing,
            Some(Levels::L2) => Fetched::L2,
            Some(Levels::L2AndL3) => Fetched::L2L3,
        };
        let [l2_won, l2_l3_won] = self.won.map(|won| won.map(|won| (won * 10_000 / WHOLE) as i32));
        Learned { best, l2_won, l2_l3_won, changes: self.changes }
    }

    /// Whether somebody should count what the next stay misses.
    pub(super) const fn is_trial(&self) -> bool {
        matches!(self.state, State::Trial(_))
    }

    /// What the next stay has.
    pub(super) fn way(&self) -> Way {
        match &self.state {
            State::Held { .. } => self.best,
            State::Trial(trial) if trial.block.is_tried() => Some(trial.with),
            State::Trial(_) => self.best,
        }
    }

    /// A stay is over that was to have [`Self::way`], and had it or not.
    pub(super) fn note(&mut self, outcome: Outcome, is_as_meant: bool) {
        if let State::Trial(trial) = &mut self.state
            && !is_as_meant
            && trial.vain < VAIN_MAX
        {
            // It has to come again: such a stay tells nothing of what it was to have.
            trial.vain += 1;
            return;
        }
        let sample = outcome.sample();
        match &mut self.state {
            State::Held { left, rate: usual, unlike } => {
                let rate = sample.rate;
                let mean = *usual.get_or_insert(rate);
                if mean.abs_diff(rate) > mean / 4 {
                    *unlike += 1;
                } else {
                    *unlike = 0;
                    *usual = Some(mean - mean / 8 + rate / 8);
                }
                *left -= 1;
                let has_held = *left <= self.holds - self.holds / 4;
                if *left == 0 || *unlike >= UNLIKE && has_held {
                    self.before = self.best;
                    self.best = None;
                    self.compare(Levels::L2);
                }
            }
            State::Trial(trial) => {
                let Some((with, without)) = trial.block.note(sample) else { return };
                trial.note(with, without);
                let (verdict, with) = (trial.verdict(), trial.with);
                if verdict == Verdict::Open {
                    trial.block = Block::new(BLOCK, trial.sum <= 0, &mut self.chance);
                    return;
                }
                self.won[usize::from(with == Levels::L2AndL3)] = Some(trial.sum / trial.blocks);
                if verdict == Verdict::Better {
                    self.best = Some(with);
                }
                self.go_on_behind(with);
            }
        }
    }

    /// The trial of these caches is over.
    fn go_on_behind(&mut self, tried: Levels) {
        match tried {
            Levels::L2 => self.compare(Levels::L2AndL3),
            Levels::L2AndL3 => {
                let is_same = self.best == self.before;
                self.changes += u32::from(!is_same);
                self.holds = if is_same { HOLDS_MAX.min(2 * self.holds) } else { HOLDS };
                self.state = State::Held { left: self.holds, rate: None, unlike: 0 };
            }
        }
    }

    fn compare(&mut self, with: Levels) {
        self.state = State::Trial(Trial::new(with, &mut self.chance));
    }
}

impl Block {
    fn new(stays: u64, is_tried_once: bool, chance: &mut u64) -> Self {
        let single = next(chance) % stays;
        Self { stays, single, is_tried_once, over: 0, alone: None, rates: 0, waits: Some(0) }
    }

    /// Whether its next stay has what is tried.
    fn is_tried(&self) -> bool {
        (self.over == self.single) == self.is_tried_once
    }

    /// A stay is over: if it was the last one, what came of those with what is tried, and of those without.
    fn note(&mut self, sample: Sample) -> Option<(Sample, Sample)> {
        if self.over == self.single {
            self.alone = Some(sample);
        } else {
            self.rates += u128::from(sample.rate);
            self.waits = self.waits.zip(sample.waited).map(|(all, one)| all + u128::from(one));
        }
        self.over += 1;
        let alone = self.alone.filter(|_| self.over == self.stays)?;
        let mean = |sum: u128| (sum / u128::from(self.stays - 1)) as u64;
        let others = Sample { rate: mean(self.rates), waited: self.waits.map(mean) };
        Some(if self.is_tried_once { (alone, others) } else { (others, alone) })
    }
}

impl Trial {
    fn new(with: Levels, chance: &mut u64) -> Self {
        let block = Block::new(2, true, chance);
        Self { with, block, vain: 0, blocks: 0, sum: 0, squares: 0, at_most: Some(0) }
    }

    /// A block is over.
    fn note(&mut self, with: Sample, without: Sample) {
        // More than all of it is something else.
        let part = |part: i128| part.clamp(i128::from(-WHOLE), i128::from(WHOLE)) as i64;
        let more = i128::from(with.rate) - i128::from(without.rate);
        let won = part(more * i128::from(WHOLE) / i128::from(without.rate.max(1)));
        self.blocks += 1;
        self.sum += won;
        self.squares += won * won;
        let waited = with.waited.zip(without.waited);
        let at_most = waited.map(|(with, without)| part(i128::from(without) - i128::from(with)));
        self.at_most = self.at_most.zip(at_most).map(|(all, one)| all + one);
    }

    /// Whether so few misses were avoided that a gain of this sum over all blocks cannot be theirs.
    fn is_less_than(&self, sum: i64) -> bool {
        self.at_most.is_some_and(|at_most| at_most < sum)
    }

    /// What all blocks show, by the mean of what was won and its standard error.
    fn verdict(&self) -> Verdict {
        let Self { blocks, sum, squares, .. } = *self;
        if blocks >= BLOCKS_VAIN && self.is_less_than(GAIN_MIN * blocks) {
            return Verdict::NotBetter;
        }
        if blocks < BLOCKS_MIN {
            return Verdict::Open;
        }
        let is_last = blocks == BLOCKS_MAX;
        let errors = if is_last { ERRORS_AT_LAST } else { ERRORS };
        // The mean by its standard error, squared, is sum² (n - 1) / (n squares - sum²).
        let scatter = blocks * squares - sum * sum;
        let is_proved = sum * sum * (blocks - 1) > errors * errors * scatter;
        match is_proved {
            true if sum >= GAIN_MIN * blocks && !self.is_less_than(sum) => Verdict::Better,
            true => Verdict::NotBetter,
            false if is_last => Verdict::NotBetter,
            false => Verdict::Open,
        }
    }
}

/// A number by chance (Marsaglia's xorshift).
fn next(chance: &mut u64) -> u64 {
    *chance ^= *chance << 13;
    *chance ^= *chance >> 7;
    *chance ^= *chance << 17;
    *chance >> 32
}

#[cfg(all(test, not(loom)))]
mod tests {
    use arch::record::Fetched;

    use super::{
        BLOCK, BLOCKS_MAX, HOLDS, HOLDS_MAX, Learning, Levels, Missed, Outcome, State, UNLIKE,
        VAIN_MAX, Way, next,
    };

    const TICKS: u64 = 512_000;

    /// A vcore that gets so much done in a stay: with nothing fetched, the L2, and both; all scatter by a part of
    /// 10,000.
    struct Work {
        done: [u64; 3],
        scatter: u64,
        chance: u64,
        /// Loads that miss the caches, if somebody counts them; they scatter as much.
        missed: Option<[u64; 3]>,
    }

    impl Work {
        fn new(done: [u64; 3], scatter: u64) -> Self {
            Self { done, scatter, chance: 99, missed: None }
        }

        /// So many stays: how many of them had each way.
        fn goes_on(&mut self, learning: &mut Learning, stays: u32) -> [u32; 3] {
            let mut had = [0; 3];
            for _ in 0..stays {
                let way = index(learning.way());
                had[way] += 1;
                let done = self.scattered(self.done[way]);
                let missed = self.missed.map(|missed| self.scattered(missed[way]));
                let missed = missed.map(|missed| Missed { l2: missed, l3: missed });
                learning.note(Outcome { done, ticks: TICKS, missed }, true);
            }
            had
        }

        fn scattered(&mut self, mean: u64) -> u64 {
            // Twelve of a number between 0 and 1 have a variance of 1.
            let sum: u64 = (0..12).map(|_| next(&mut self.chance) % 65_536).sum();
            let spread = mean * self.scatter / 10_000;
            mean + spread * sum / 65_536 - 6 * spread
        }
    }

    /// Of a stay of which nobody counted the misses.
    fn uncounted(done: u64, ticks: u64) -> Outcome {
        Outcome { done, ticks, missed: None }
    }

    fn index(way: Way) -> usize {
        match way {
            None => 0,
            Some(Levels::L2) => 1,
            Some(Levels::L2AndL3) => 2,
        }
    }

    /// Parts of 10,000 that were lost against the best way.
    fn lost(work: &Work, had: [u32; 3]) -> u64 {
        let best = work.done.into_iter().max().unwrap();
        let stays: u32 = had.iter().sum();
        let done: u64 =
            had.iter().zip(work.done).map(|(stays, done)| u64::from(*stays) * done).sum();
        10_000 - 10_000 * done / (u64::from(stays) * best)
    }

    #[test]
    fn what_pays_is_found_in_few_stays() {
        for (done, best) in [
            ([1_000_000, 1_030_000, 990_000], 1),
            ([1_000_000, 980_000, 1_020_000], 2),
            ([1_000_000, 1_030_000, 1_050_000], 2),
            ([1_000_000, 990_000, 960_000], 0),
        ] {
            let mut learning = Learning::new(1);
            let mut work = Work::new(done, 10);
            // Two trials of four blocks: four stays of each have what turns out to be worse, or one more.
            let stays = 2 * (2 + 3 * BLOCK as u32);
            let tried = work.goes_on(&mut learning, stays);
            assert_eq!(index(learning.way()), best, "{done:?}");
            let [worse, least] = [stays - tried[best], tried[best]];
            assert!(worse <= 20 && least >= 4, "{done:?}: {tried:?}");
            let found = learning.learned();
            let expected = [Fetched::Nothing, Fetched::L2, Fetched::L2L3][best];
            assert_eq!((found.best, found.changes), (expected, u32::from(best > 0)), "{done:?}");
            let won = (done[1] as i32 - done[0] as i32) / 100;
            assert!((found.l2_won.unwrap() - won).abs() <= 20, "{done:?}: {found:?}");
            let had = work.goes_on(&mut learning, HOLDS);
            assert_eq!(had[best], HOLDS);
        }
    }

    #[test]
    fn what_never_pays_costs_next_to_nothing_in_the_long_run() {
        for scatter in [0, 10, 100, 500] {
            let mut learning = Learning::new(7);
            let mut work = Work::new([1_000_000, 980_000, 960_000], scatter);
            let had = work.goes_on(&mut learning, 20_000);
            assert!(lost(&work, had) <= 10, "scatter {scatter}: {had:?}");
        }
    }

    #[test]
    fn what_makes_no_difference_stays_off() {
        for number in 0..20 {
            let mut learning = Learning::new(number);
            let mut work = Work::new([1_000_000; 3], 100);
            let had = work.goes_on(&mut learning, 10_000);
            assert!(had[1] + had[2] <= 2_500, "{number}: {had:?}");
        }
    }

    #[test]
    fn a_gain_is_found_beneath_as_large_a_scatter() {
        for (number, scatter) in (0..20).flat_map(|number| [(number, 200), (number, 300)]) {
            let mut learning = Learning::new(number);
            let mut work = Work::new([1_000_000, 1_030_000, 1_030_000], scatter);
            let had = work.goes_on(&mut learning, 20_000);
            assert!(lost(&work, had) <= 100, "{number}, {scatter}: {had:?}");
        }
    }

    /// Where misses are counted, what avoids none costs two blocks of each trial, however much the work scatters.
    #[test]
    fn what_avoids_no_miss_is_given_up_soon() {
        for missed in [[0; 3], [40_000, 40_100, 41_000]] {
            let mut learning = Learning::new(4);
            let mut work = Work::new([1_000_000, 980_000, 960_000], 0);
            work.missed = Some(missed);
            let had = work.goes_on(&mut learning, 2 * (2 + BLOCK as u32));
            assert_eq!(learning.way(), None);
            assert!(had[1] + had[2] <= 8 && matches!(learning.state, State::Held { .. }));
        }
        // As many misses, by and large.
        let [mut counted, mut uncounted] = [0; 2];
        for number in 0..100 {
            for (missed, tried) in [(Some([40_000; 3]), &mut counted), (None, &mut uncounted)] {
                let mut learning = Learning::new(number);
                let mut work = Work::new([1_000_000; 3], 100);
                work.missed = missed;
                let had = work.goes_on(&mut learning, 2_000);
                *tried += had[1] + had[2];
            }
        }
        assert!(2 * counted < uncounted, "{counted}, {uncounted}");
    }

    /// Who completes more instructions and misses as much as before waits in a loop, or had less to wait for.
    #[test]
    fn a_gain_without_misses_avoided_is_no_gain() {
        let mut learning = Learning::new(6);
        let mut work = Work::new([1_000_000, 1_100_000, 1_200_000], 0);
        for missed in [[2_000; 3], [2_000, 2_200, 2_400], [2_000, 1_960, 1_920]] {
            work.missed = Some(missed);
            let had = work.goes_on(&mut learning, 5_000);
            assert!(learning.way().is_none() && had[0] >= 4_850, "{missed:?}: {had:?}");
        }
    }

    #[test]
    fn a_gain_by_misses_avoided_is_found_as_without() {
        for (number, scatter) in (0..20).flat_map(|number| [(number, 100), (number, 300)]) {
            let mut learning = Learning::new(number);
            let mut work = Work::new([1_000_000, 1_030_000, 1_030_000], scatter);
            work.missed = Some([3_000, 2_200, 2_100]);
            let had = work.goes_on(&mut learning, 20_000);
            assert!(lost(&work, had) <= 100, "{number}, {scatter}: {had:?}");
        }
    }

    #[test]
    fn work_that_changes_is_tried_anew() {
        let mut learning = Learning::new(3);
        let mut work = Work::new([1_000_000, 1_030_000, 1_000_000], 0);
        assert_eq!(learning.learned().l2_won, None);
        work.goes_on(&mut learning, 20_000);
        assert!(learning.holds == HOLDS_MAX, "{learning:?}");
        // What is left of it would be up to a thousand stays.
        work.done = [500_000, 480_000, 470_000];
        let most = HOLDS_MAX / 4 + UNLIKE + 2 * BLOCKS_MAX as u32 * BLOCK as u32;
        let mut stays = 0;
        while index(learning.way()) == 1 || matches!(learning.state, State::Trial(_)) {
            work.goes_on(&mut learning, 1);
            stays += 1;
            assert!(stays <= most, "{learning:?}");
        }
        assert_eq!(learning.way(), None);
        assert_eq!(learning.learned().changes, 2);
    }

    #[test]
    fn any_numbers_do() {
        for (done, ticks) in [(0, 0), (u64::MAX, 0), (0, u64::MAX), (u64::MAX, u64::MAX), (1, 1)] {
            let mut learning = Learning::new(u64::MAX);
            for stay in 0..500 {
                let (done, ticks) = if stay % 3 == 0 { (done, ticks) } else { (ticks, done) };
                let missed = (stay % 7 != 0).then_some(Missed { l2: ticks, l3: done });
                learning.note(Outcome { done, ticks, missed }, stay % 5 != 0);
            }
        }
    }

    /// What was to be fetched and was not tells nothing; where it never is, the trials end all the same.
    #[test]
    fn only_stays_as_they_were_meant_count() {
        let mut learning = Learning::new(5);
        let mut stays = 0;
        while index(learning.way()) != 1 {
            learning.note(uncounted(1_000_000, TICKS), true);
        }
        for _ in 0..VAIN_MAX {
            learning.note(uncounted(1, TICKS), false);
            assert_eq!(learning.way(), Some(Levels::L2));
        }
        while matches!(learning.state, State::Trial(_)) {
            let is_as_meant = learning.way().is_none();
            learning.note(uncounted(1_000_000, TICKS), is_as_meant);
            stays += 1;
            assert!(stays <= 2 * (VAIN_MAX + BLOCKS_MAX as u32 * BLOCK as u32), "{learning:?}");
        }
        assert_eq!(learning.way(), None);
    }
}
