//! POWER8's pipes, cycle by cycle.
//!
//! A simple fixed-point operation goes to a pipe for any of them, or where those are taken to one for loads or for
//! loads and stores, from where its result comes later. Which one it is sent to at dispatch was not found.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{ISSUE_CYCLES, Table, halves};
use crate::pipeline::parameters::GroupParameters;
use crate::pipeline::units::power8::Pipes as Kinds;

/// What is taken of the pipes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Pipes {
    /// For fixed-point operations, loads and stores, and loads.
    integer: Table<ISSUE_CYCLES>,
    /// For vectors, and for condition fields.
    others: Table<ISSUE_CYCLES>,
    /// How much later a simple result comes from a pipe of loads or stores.
    elsewhere: u64,
}

const FIXED: usize = 0;
const STORE: usize = 2;
const LOAD: usize = 4;
const VECTOR: usize = 0;
const CONDITION: usize = 2;

impl Pipes {
    pub(super) fn new(groups: &GroupParameters) -> Self {
        let [fixed, other_fixed] = halves(groups.fixed_pipes);
        let [store, other_store] = halves(groups.store_pipes);
        let [load, other_load] = halves(groups.load_pipes);
        let [vector, other_vector] = halves(groups.vector_pipes);
        Self {
            integer: Table::new([fixed, other_fixed, store, other_store, load, other_load]),
            others: Table::new([vector, other_vector, 1, 0, 0, 0]),
            elsewhere: groups.simple_elsewhere,
        }
    }

    /// Issues what takes `kinds` of the `half` of its thread, or of both halves, at the first cycle from `at` on at
    /// which they are free. Gives that cycle, and how much later the result comes.
    pub(super) fn issue(&mut self, kinds: Kinds, half: Option<usize>, at: u64) -> (u64, u64) {
        let of = |first: usize| match half {
            None => first..first + 2,
            Some(half) => first + half..first + half + 1,
        };
        if kinds == Kinds::SIMPLE {
            let (cycle, place) = self.first(&[of(FIXED), of(LOAD), of(STORE)], at);
            return (cycle, if place == 0 { 0 } else { self.elsewhere });
        }
        let mut cycle = at;
        if kinds.has(Kinds::STORE) {
            cycle = self.integer.take(of(STORE), 1, cycle);
        }
        if kinds.has(Kinds::LOAD) {
            (cycle, _) = self.first(&[of(LOAD), of(STORE)], cycle);
        }
        if kinds.has(Kinds::LOAD_ONLY) {
            cycle = self.integer.take(of(LOAD), 1, cycle);
        }
        if kinds.has(Kinds::VECTOR) {
            cycle = self.others.take(of(VECTOR), 1, cycle);
        }
        if kinds.has(Kinds::CONDITION) {
            cycle = self.others.take(CONDITION..CONDITION + 1, 1, cycle);
        }
        if kinds.has(Kinds::FIXED) {
            cycle = self.integer.take(of(FIXED), 1, cycle);
        }
        (cycle, 0)
    }

    /// Takes one of `places`, the first of them that is free at the earliest cycle from `at` on. Gives the cycle, and
    /// which it is.
    fn first(&mut self, places: &[Range<usize>], at: u64) -> (u64, usize) {
        let mut cycle = at;
        loop {
            for (index, place) in places.iter().enumerate() {
                if self.integer.try_take(place.clone(), 1, cycle) {
                    return (cycle, index);
                }
            }
            cycle += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{GroupParameters, Kinds, Pipes};

    fn pipes() -> Pipes {
        Pipes::new(&GroupParameters {
            fixed_pipes: 2,
            store_pipes: 2,
            load_pipes: 2,
            vector_pipes: 2,
            simple_elsewhere: 2,
            ..GroupParameters::default()
        })
    }

    #[test]
    fn six_simple_operations_issue_at_once_and_four_of_them_take_longer() {
        let mut pipes = pipes();
        let issued: Vec<_> = (0..7).map(|_| pipes.issue(Kinds::SIMPLE, None, 10)).collect();
        let expected = [(10, 0), (10, 0), (10, 2), (10, 2), (10, 2), (10, 2), (11, 0)];
        assert_eq!(issued, expected);
    }

    #[test]
    fn a_half_has_half_of_the_pipes() {
        let mut pipes = pipes();
        let mut loads = |half| [0; 3].map(|_| pipes.issue(Kinds::LOAD, half, 10).0);
        assert_eq!(loads(Some(0)), [10, 10, 11]);
        assert_eq!(loads(Some(1)), [10, 10, 11]);
        let store = Kinds::STORE.and(Kinds::LOAD_ONLY);
        // The third load of each half took its pipe for loads at 11.
        assert_eq!(pipes.issue(store, None, 10).0, 12);
        let vectors = [0; 3].map(|_| pipes.issue(Kinds::VECTOR, None, 10).0);
        assert_eq!(vectors, [10, 10, 11]);
        let conditions = [0; 2].map(|_| pipes.issue(Kinds::CONDITION, Some(1), 10).0);
        assert_eq!(conditions, [10, 11]);
    }
}
