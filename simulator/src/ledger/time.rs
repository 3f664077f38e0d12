//! A thread's own time in core cycles, and how core cycles and time base relate.

use serde::{Deserialize, Serialize};

/// A thread's own time, in core cycles since power-on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct LocalTime {
    cycles: u64,
}

impl LocalTime {
    /// Cycles since power-on.
    #[must_use]
    pub fn cycles(self) -> u64 {
        self.cycles
    }

    /// The time `instructions` later, in functional mode.
    #[must_use]
    pub fn after_functional(self, instructions: u64) -> Self {
        Self { cycles: self.cycles + instructions }
    }

    /// Charges `steps`, instructions completed and interrupts taken, in functional mode.
    pub fn charge_functional(&mut self, steps: u64) {
        self.cycles += steps;
    }

    /// Goes on to cycle `completion`, at which an instruction completed, in timing mode. Time never runs
    /// back: a completion already past leaves it as it is.
    pub fn charge_completion(&mut self, completion: u64) {
        self.cycles = self.cycles.max(completion);
    }

    /// Charges a wait that ends at cycle `end`; a time already past charges nothing.
    pub fn charge_wait_until(&mut self, end: u64) {
        self.cycles = self.cycles.max(end);
    }
}

/// How core cycles and time base relate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Clock {
    /// Core frequency.
    pub core_hz: u64,
    /// Time base frequency.
    pub timebase_hz: u64,
}

impl Clock {
    /// Time base ticks in `cycles`, rounded down.
    #[must_use]
    pub fn ticks(self, cycles: u64) -> u64 {
        (u128::from(cycles) * u128::from(self.timebase_hz) / u128::from(self.core_hz)) as u64
    }

    /// The first cycle at which `ticks` have passed.
    #[must_use]
    pub fn cycles_at(self, ticks: u64) -> u64 {
        let numerator = u128::from(ticks) * u128::from(self.core_hz);
        numerator.div_ceil(u128::from(self.timebase_hz)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;
    use proptest::prelude::{prop_assert, proptest};

    proptest! {
        #[test]
        fn cycles_at_is_the_first_cycle_of_a_tick(ticks in 1u64..1 << 50) {
            let clock = Clock { core_hz: 3_800_000_000, timebase_hz: 512_000_000 };
            let cycle = clock.cycles_at(ticks);
            prop_assert!(clock.ticks(cycle) >= ticks);
            prop_assert!(clock.ticks(cycle - 1) < ticks);
        }
    }
}
