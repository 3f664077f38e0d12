//! What all cores share: the broadcasts of `tlbie`, of which the machine serves one at a time.

use serde::{Deserialize, Serialize};

/// The fabric between the cores.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Fabric {
    chips: u64,
    /// When the next broadcast can begin.
    free_at: u64,
}

impl Fabric {
    /// A fabric of `chips` chips with nothing to do.
    #[must_use]
    pub fn new(chips: u64) -> Self {
        Self { chips, free_at: 0 }
    }

    /// The cycle at which a broadcast begins that is asked for at cycle `at`, and keeps others from it for `service`
    /// cycles a chip.
    pub fn broadcast(&mut self, at: u64, service: u64) -> u64 {
        let begin = at.max(self.free_at);
        self.free_at = begin + service * self.chips;
        begin
    }
}

#[cfg(test)]
mod tests {
    use super::Fabric;

    #[test]
    fn broadcasts_are_served_one_by_one_and_longer_with_more_chips() {
        let mut one = Fabric::new(1);
        assert_eq!([10, 10, 500].map(|at| one.broadcast(at, 100)), [10, 110, 500]);
        let mut two = Fabric::new(2);
        assert_eq!([10, 10].map(|at| two.broadcast(at, 100)), [10, 210]);
    }
}
