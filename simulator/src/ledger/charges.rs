//! The account: cycles by thread, owner, instruction and cause.
//!
//! Each cycle of each hardware thread is charged once. [`Charges::check`] is asked at the end of every
//! run, in release builds too.
//!
//! An instruction is charged for few causes, and charged often: an account has a chain of lines, in the
//! order in which they were first needed, and charging walks it.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{Cause, Owner};

/// Who and where: an owner's instruction. A small number, from [`Charges::account`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Account(u32);

/// One line of the ledger.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Charge {
    /// Who.
    pub owner: Owner,
    /// The effective address of the instruction.
    pub address: u64,
    /// The hardware thread.
    pub thread: usize,
    /// Why.
    pub cause: Cause,
    /// Whether it is an indirect cost: the owner had the line or translation and lost it to another
    /// (see [`Owner::is_foreign_to`]).
    pub is_refill: bool,
    /// How long.
    pub cycles: u64,
}

/// All charges of a machine since timing began or was last [cleared](Charges::clear).
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Charges {
    accounts: Vec<Head>,
    lines: Vec<Line>,
    /// Cycles charged in all, by thread.
    totals: Vec<u64>,
    #[serde(skip)]
    index: Index,
}

/// An account and its first line.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
struct Head {
    owner: Owner,
    address: u64,
    first: u32,
}

/// What a line is about, beside its account.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Key {
    thread: u16,
    cause: Cause,
    is_refill: bool,
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
struct Line {
    key: Key,
    /// The account's next line.
    next: u32,
    cycles: u64,
}

/// The end of a chain of lines.
const END: u32 = u32::MAX;

/// Finds accounts; made again from them.
#[derive(Clone, Debug, Default)]
struct Index(HashMap<(Owner, u64), Account>);

impl PartialEq for Index {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Charges {
    /// The account of `owner`'s instruction at `address`.
    pub fn account(&mut self, owner: Owner, address: u64) -> Account {
        if self.index.0.len() != self.accounts.len() {
            let numbered = self.accounts.iter().zip(0..);
            self.index.0 = numbered
                .map(|(head, number)| ((head.owner, head.address), Account(number)))
                .collect();
        }
        *self.index.0.entry((owner, address)).or_insert_with(|| {
            self.accounts.push(Head { owner, address, first: END });
            Account(u32::try_from(self.accounts.len() - 1).expect("fewer than 2^32 instructions"))
        })
    }

    /// Charges `cycles` of hardware thread `thread`.
    #[inline]
    pub fn charge(
        &mut self,
        thread: usize,
        account: Account,
        cause: Cause,
        is_refill: bool,
        cycles: u64,
    ) {
        if cycles == 0 {
            return;
        }
        if self.totals.len() <= thread {
            self.totals.resize(thread + 1, 0);
        }
        self.totals[thread] += cycles;
        let key = Key { thread: thread as u16, cause, is_refill };
        let first = self.accounts[account.0 as usize].first;
        let mut last = END;
        let mut at = first;
        while at != END {
            let line = &mut self.lines[at as usize];
            if line.key == key {
                line.cycles += cycles;
                return;
            }
            last = at;
            at = line.next;
        }
        let number = u32::try_from(self.lines.len()).expect("fewer than 2^32 lines");
        self.lines.push(Line { key, next: END, cycles });
        match last {
            END => self.accounts[account.0 as usize].first = number,
            last => self.lines[last as usize].next = number,
        }
    }

    /// Cycles charged to thread `thread` in all.
    #[must_use]
    pub fn total(&self, thread: usize) -> u64 {
        self.totals.get(thread).copied().unwrap_or(0)
    }

    /// Every line, by owner, address, thread and cause.
    pub fn lines(&self) -> impl Iterator<Item = Charge> + '_ {
        let mut charges = Vec::with_capacity(self.lines.len());
        for head in &self.accounts {
            let mut at = head.first;
            while at != END {
                let Line { key, next, cycles } = self.lines[at as usize];
                let Key { thread, cause, is_refill } = key;
                let Head { owner, address, .. } = *head;
                let thread = usize::from(thread);
                charges.push(Charge { owner, address, thread, cause, is_refill, cycles });
                at = next;
            }
        }
        charges.sort_unstable();
        charges.into_iter()
    }

    /// Forgets all charges; accounts stay valid.
    pub fn clear(&mut self) {
        self.lines.clear();
        for head in &mut self.accounts {
            head.first = END;
        }
        self.totals.fill(0);
    }

    /// Checks that what was charged to `thread` is `elapsed`, to the cycle.
    ///
    /// # Panics
    /// If it is not: a figure from such a ledger would be wrong.
    pub fn check(&self, thread: usize, elapsed: u64) {
        let charged = self.total(thread);
        assert!(
            charged == elapsed,
            "ledger: thread {thread} was charged {charged} cycles, and {elapsed} have passed"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::Charges;
    use crate::ledger::{Cause, Owner};

    #[test]
    fn charges_add_up() {
        let mut charges = Charges::default();
        let account = charges.account(Owner::Host, 0x100);
        assert_eq!(account, charges.account(Owner::Host, 0x100));
        assert_ne!(account, charges.account(Owner::Idle, 0x100));
        charges.charge(1, account, Cause::SprMsr, false, 20);
        charges.charge(1, account, Cause::SprMsr, false, 22);
        charges.charge(1, account, Cause::SprLatency, false, 7);
        charges.check(1, 49);
        charges.check(0, 0);
        assert_eq!(charges.lines().map(|line| line.cycles).collect::<Vec<_>>(), [7, 42]);
        charges.clear();
        charges.charge(1, account, Cause::SprMsr, true, 1);
        assert_eq!(charges.lines().map(|line| line.cycles).collect::<Vec<_>>(), [1]);
    }

    #[test]
    #[should_panic(expected = "charged 1 cycles, and 2 have passed")]
    fn a_cycle_that_nobody_is_charged_for_is_found() {
        let mut charges = Charges::default();
        let account = charges.account(Owner::Host, 0);
        charges.charge(0, account, Cause::SprMsr, false, 1);
        charges.check(0, 2);
    }
}
