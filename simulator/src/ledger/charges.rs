//! The account: cycles by thread, owner, instruction and cause.
//!
//! Each cycle of each hardware thread is charged once. [`Charges::check`] is asked at the end of every
//! run, in release builds too.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::{Cause, Owner};

/// Who and where: an owner's instruction. A small number, from [`Charges::account`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Account(u32);

/// One line of the ledger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Charge {
    /// The hardware thread.
    pub thread: usize,
    /// Who.
    pub owner: Owner,
    /// The effective address of the instruction.
    pub address: u64,
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
    accounts: Vec<(Owner, u64)>,
    cycles: BTreeMap<Key, u64>,
    /// Cycles charged in all, by thread.
    totals: Vec<u64>,
    #[serde(skip)]
    index: Index,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
struct Key {
    account: Account,
    thread: u16,
    cause: Cause,
    is_refill: bool,
}

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
            self.index.0 = numbered.map(|(key, number)| (*key, Account(number))).collect();
        }
        *self.index.0.entry((owner, address)).or_insert_with(|| {
            self.accounts.push((owner, address));
            Account(u32::try_from(self.accounts.len() - 1).expect("fewer than 2^32 instructions"))
        })
    }

    /// Charges `cycles` of hardware thread `thread`.
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
        let key = Key { account, thread: thread as u16, cause, is_refill };
        *self.cycles.entry(key).or_default() += cycles;
        if self.totals.len() <= thread {
            self.totals.resize(thread + 1, 0);
        }
        self.totals[thread] += cycles;
    }

    /// Cycles charged to thread `thread` in all.
    #[must_use]
    pub fn total(&self, thread: usize) -> u64 {
        self.totals.get(thread).copied().unwrap_or(0)
    }

    /// Every line, by account.
    pub fn lines(&self) -> impl Iterator<Item = Charge> + '_ {
        self.cycles.iter().map(|(key, &cycles)| {
            let (owner, address) = self.accounts[key.account.0 as usize];
            let Key { thread, cause, is_refill, .. } = *key;
            Charge { thread: usize::from(thread), owner, address, cause, is_refill, cycles }
        })
    }

    /// Forgets all charges; accounts stay valid.
    pub fn clear(&mut self) {
        self.cycles.clear();
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
        charges.check(1, 42);
        charges.check(0, 0);
        assert_eq!(charges.lines().map(|line| line.cycles).collect::<Vec<_>>(), [42]);
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
