//! Numbers that look random and are the same everywhere: Marsaglia's xorshift with 64 bits.

/// A stream of numbers.
pub(crate) struct Random(u64);

impl Random {
    /// The stream that `seed`, which is not 0, begins.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn fill(&mut self, memory: &mut [u64]) {
        memory.fill_with(|| self.next());
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_stream_is_the_one_of_the_shifts_13_7_17() {
        // From 1: 1 ^ 1 << 13 = 0x2001; ^ 0x2001 >> 7 = 0x2041; ^ 0x2041 << 17 = 0x4082_2041.
        assert_eq!(Random::new(1).next(), 0x4082_2041);
    }
}
