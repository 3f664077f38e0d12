//! Branch prediction: direction, and the targets of indirect branches.
//!
//! Direction: a local table by address, a global one by address and history, and a selector between them;
//! POWER9 has four longer TAGE tables besides, and a selector of the local one, which are left out. Indirect
//! targets: the last target by address; of two such branches in a block of 32 bytes the second is never
//! predicted. Returns: a ring of addresses. Tables belong to a core, history and stack to a thread.

use serde::{Deserialize, Serialize};

use super::parameters::CoreParameters;

/// What is known of a branch before it executes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Always taken, to a target in the instruction.
    Direct,
    /// Taken or not, to a target in the instruction.
    Conditional,
    /// `bclr` that returns.
    Return {
        /// Whether it tests something.
        is_conditional: bool,
    },
    /// `bcctr`, `bctar`, and `bclr` that calls.
    Indirect {
        /// Whether it tests something.
        is_conditional: bool,
    },
}

/// What a core knows of branches.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Tables {
    /// Two-bit counters: taken from 2 on.
    local: Vec<u8>,
    global: Vec<u8>,
    /// Global from 2 on.
    selector: Vec<u8>,
    targets: Vec<u64>,
    /// Whether a branch was taken when it was last executed.
    last: Vec<bool>,
}

/// What was foreseen of a branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Prediction {
    /// Something else.
    Wrong,
    /// The right thing, which is not what the branch did before.
    Right,
    /// The right thing, and the branch did the same before.
    AsLast,
}

/// What a thread knows of its branches.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct History {
    /// The last directions, the latest in bit 0.
    directions: u64,
    /// The last indirect branch.
    indirect: u64,
    /// Return addresses, the youngest at `top`; behind the last place comes the first, so that a
    /// stack that ran empty still says what it said before.
    stack: Vec<u64>,
    top: usize,
}

impl Tables {
    /// Tables that have learnt nothing.
    #[must_use]
    pub fn new(parameters: &CoreParameters) -> Self {
        let directions = parameters.direction_entries as usize;
        Self {
            local: vec![1; directions],
            global: vec![1; directions],
            selector: vec![1; directions],
            targets: vec![0; parameters.indirect_entries as usize],
            last: vec![false; directions],
        }
    }
}

impl Tables {
    /// Forgets the targets of indirect branches.
    pub fn forget_targets(&mut self) {
        self.targets.fill(0);
    }
}

/// Bytes of a block of which one indirect branch is predicted.
const BLOCK: u64 = 32;

fn count(counter: &mut u8, up: bool) {
    *counter = if up { (*counter + 1).min(3) } else { counter.saturating_sub(1) };
}

impl History {
    fn push(&mut self, address: u64, entries: usize) {
        self.top = (self.top + 1) % entries;
        self.stack.resize(entries.max(self.stack.len()), 0);
        self.stack[self.top] = address;
    }

    fn pop(&mut self, entries: usize) -> u64 {
        let address = self.stack.get(self.top % entries).copied().unwrap_or_default();
        self.top = (self.top % entries + entries - 1) % entries;
        address
    }
}

impl Tables {
    /// Predicts a branch and learns what it did.
    pub fn predict(
        &mut self,
        history: &mut History,
        kind: Kind,
        address: u64,
        taken_to: Option<u64>,
        is_call: bool,
        stack_entries: usize,
    ) -> Prediction {
        let is_conditional = match kind {
            Kind::Direct => false,
            Kind::Conditional => true,
            Kind::Return { is_conditional } | Kind::Indirect { is_conditional } => is_conditional,
        };
        let direction_is_right =
            !is_conditional || self.direction(history, address, taken_to.is_some());
        let target_is_right = match (kind, taken_to) {
            (Kind::Return { .. }, Some(target)) => history.pop(stack_entries) == target,
            (Kind::Indirect { .. }, Some(target)) => {
                let last = std::mem::replace(&mut history.indirect, address);
                // Of a block one such branch is predicted.
                let is_second = last / BLOCK == address / BLOCK && last < address;
                self.target(address, target) && !is_second
            }
            _ => true,
        };
        if is_call {
            history.push(address.wrapping_add(4), stack_entries);
        }
        let index = (address >> 2) as usize % self.last.len();
        let last = std::mem::replace(&mut self.last[index], taken_to.is_some());
        match direction_is_right && target_is_right {
            false => Prediction::Wrong,
            true if last == taken_to.is_some() => Prediction::AsLast,
            true => Prediction::Right,
        }
    }

    fn direction(&mut self, history: &mut History, address: u64, is_taken: bool) -> bool {
        let entries = self.local.len();
        let index = (address >> 2) as usize % entries;
        let global = ((address >> 2) ^ history.directions) as usize % entries;
        let says_local = self.local[index] >= 2;
        let says_global = self.global[global] >= 2;
        let prediction = if self.selector[global] >= 2 { says_global } else { says_local };
        if says_local != says_global {
            count(&mut self.selector[global], says_global == is_taken);
        }
        count(&mut self.local[index], is_taken);
        count(&mut self.global[global], is_taken);
        history.directions = history.directions << 1 | u64::from(is_taken);
        prediction == is_taken
    }

    fn target(&mut self, address: u64, target: u64) -> bool {
        let index = ((address >> 2) ^ (address >> 6)) as usize % self.targets.len();
        let known = &mut self.targets[index];
        std::mem::replace(known, target) == target
    }
}

#[cfg(test)]
mod tests {
    use super::{CoreParameters, History, Kind, Prediction, Tables};

    fn tables() -> Tables {
        let entries = CoreParameters {
            direction_entries: 8192,
            indirect_entries: 512,
            ..CoreParameters::default()
        };
        Tables::new(&entries)
    }

    fn misses(kind: Kind, outcomes: impl Iterator<Item = Option<u64>>) -> usize {
        let (mut tables, mut history) = (tables(), History::default());
        outcomes
            .filter(|&taken| {
                let predicted = tables.predict(&mut history, kind, 0x100, taken, false, 64);
                predicted == Prediction::Wrong
            })
            .count()
    }

    #[test]
    fn a_pattern_is_learnt() {
        let every_fourth = (0..4000).map(|turn| (turn % 4 == 0).then_some(0));
        assert!(misses(Kind::Conditional, every_fourth) < 100);
    }

    #[test]
    fn an_indirect_branch_goes_where_it_went_last() {
        let kind = Kind::Indirect { is_conditional: false };
        assert_eq!(misses(kind, (0..100).map(|_| Some(7))), 1);
        assert_eq!(misses(kind, (0..100).map(|turn| Some(turn % 8 + 1))), 100);
    }

    #[test]
    fn forgotten_targets_are_learnt_anew() {
        let (mut tables, mut history) = (tables(), History::default());
        let kind = Kind::Indirect { is_conditional: false };
        let mut predict = |tables: &mut Tables| {
            tables.predict(&mut history, kind, 0x100, Some(7), false, 64) != Prediction::Wrong
        };
        predict(&mut tables);
        assert!(predict(&mut tables));
        tables.forget_targets();
        assert!(!predict(&mut tables));
        assert!(predict(&mut tables));
    }

    #[test]
    fn a_stack_predicts_returns_as_deep_as_it_is() {
        let (mut tables, mut history) = (tables(), History::default());
        for depth in 0..6 {
            tables.predict(&mut history, Kind::Direct, 0x100 * depth, Some(0), true, 4);
        }
        let returns = Kind::Return { is_conditional: false };
        let right = (0..6).rev().filter(|depth| {
            let target = Some(0x100 * depth + 4);
            tables.predict(&mut history, returns, 0x9000, target, false, 4) != Prediction::Wrong
        });
        assert_eq!(right.count(), 4);
    }
}
