//! What a vCPU does besides what is measured, so that it does that at a rate of its own, and not in step with others.

use crate::random::Numbers;

/// How many rounds a vCPU works before each of its calls.
///
/// In all of an even number of calls the rounds are the same for all vCPUs and seeds.
#[derive(Debug)]
pub struct Pace {
    rounds: u64,
    late: u64,
    /// Half of the calls: the second half has as many rounds more as the first one had fewer.
    half: u64,
    made: u64,
    random: Numbers,
    random_again: Numbers,
}

impl Pace {
    /// So many `rounds` in the mean, with so many calls.
    #[must_use]
    pub fn new(rounds: u64, calls: u64, seed: u64) -> Self {
        let mut random = Numbers::new(seed);
        let late = random.below(rounds + 1);
        Self { rounds, late, half: calls / 2, made: 0, random_again: random.clone(), random }
    }

    /// Rounds before all calls. Behind them follows what this lacks to the mean.
    #[must_use]
    pub const fn late(&self) -> u64 {
        self.late
    }

    /// Rounds before the next call: from half of the mean to one and a half.
    pub fn rounds(&mut self) -> u64 {
        if self.rounds == 0 {
            return 0;
        }
        let (least, is_second) = (self.rounds / 2, self.made / self.half.max(1) == 1);
        self.made += 1;
        let random = if is_second { &mut self.random_again } else { &mut self.random };
        let rounds = least + random.below(self.rounds + 1);
        if is_second { 2 * least + self.rounds - rounds } else { rounds }
    }
}

/// Works: divisions, each of which waits for the one before.
#[inline]
pub fn work(rounds: u64) {
    let quotient = (0..rounds).fold(1, |last, round| !round / (last | 1));
    core::hint::black_box(quotient);
}
