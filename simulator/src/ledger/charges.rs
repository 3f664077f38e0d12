//! The account: cycles by thread, owner, instruction and cause.
//!
//! Each cycle of each hardware thread is charged once. [`Charges::check`] is asked at the end of every
//! run, in release builds too.
//!
//! An instruction is charged for few causes, and charged often: an account has a chain of lines for each
//! thread, in the order in which they were first needed, and charging walks it.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::callers::{Caller, Callers};
use super::{Cause, Owner};

/// Who and where: an owner's instruction, and who called it. A small number, from [`Charges::account`].
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
pub struct Account(u32);

/// One line of the ledger.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Charge {
    /// Who.
    pub owner: Owner,
    /// The effective address of the instruction.
    pub address: u64,
    /// Who called.
    pub caller: Caller,
    /// The hardware thread.
    pub thread: usize,
    /// Why.
    pub cause: Cause,
    /// Whether it is an indirect cost: the owner's side had the line or translation and lost it to another
    /// (see [`Owner::side`]).
    pub is_refill: bool,
    /// How long.
    pub cycles: u64,
}

/// All charges of a machine since timing began or was last [cleared](Charges::clear).
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Charges {
    /// Owner, address and caller of each account.
    accounts: Vec<(Owner, u64, Caller)>,
    /// What the callers are.
    pub callers: Callers,
    threads: Vec<ThreadCharges>,
    /// What somebody watches beside the whole. No part of the state.
    #[serde(skip)]
    region: Region,
    #[serde(skip)]
    index: Index,
}

/// What was charged to each thread while the region was open there.
#[derive(Clone, Debug, Default)]
struct Region {
    is_open: Vec<bool>,
    threads: Vec<ThreadCharges>,
}

impl PartialEq for Region {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// What one hardware thread was charged.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
struct ThreadCharges {
    /// The first line of each account, as far as this thread has used accounts.
    first: Vec<u32>,
    lines: Vec<Line>,
    /// Cycles in all.
    total: u64,
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
struct Line {
    cause: Cause,
    is_refill: bool,
    /// The account's next line.
    next: u32,
    cycles: u64,
}

/// The end of a chain of lines.
const END: u32 = u32::MAX;

/// Finds accounts; made again from them.
#[derive(Clone, Debug, Default)]
struct Index(FxHashMap<(Owner, u64, Caller), Account>);

impl PartialEq for Index {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Charges {
    /// The account of `owner`'s instruction at `address`, in a function that `caller` called.
    ///
    /// # Panics
    /// If there were 2^32 before.
    pub fn account(&mut self, owner: Owner, address: u64, caller: Caller) -> Account {
        if self.index.0.len() != self.accounts.len() {
            let numbered = self.accounts.iter().zip(0..);
            self.index.0 = numbered.map(|(place, number)| (*place, Account(number))).collect();
        }
        *self.index.0.entry((owner, address, caller)).or_insert_with(|| {
            self.accounts.push((owner, address, caller));
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
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, ThreadCharges::default);
        }
        self.threads[thread].charge(account.0 as usize, cause, is_refill, cycles);
        if self.region.is_open.get(thread) == Some(&true) {
            self.region.threads[thread].charge(account.0 as usize, cause, is_refill, cycles);
        }
    }

    /// Whether what `thread` is charged with from now on belongs to the region too.
    pub fn set_region(&mut self, thread: usize, is_open: bool) {
        let Region { is_open: open, threads } = &mut self.region;
        if open.len() <= thread {
            open.resize(thread + 1, false);
            threads.resize_with(thread + 1, ThreadCharges::default);
        }
        open[thread] = is_open;
    }

    /// What was charged while the region was open.
    #[must_use]
    pub fn of_region(&self) -> Self {
        let Self { accounts, callers, region, .. } = self.clone();
        let (threads, region, index) = (region.threads, Region::default(), Index::default());
        Self { accounts, threads, callers, region, index }
    }

    /// What was charged to this partition, and to the hypervisor that served it.
    #[must_use]
    pub fn of_partition(&self, lpid: u32) -> Self {
        let mut part = Self { callers: self.callers.clone(), ..Self::default() };
        for line in self.lines().filter(|line| line.owner.lpid() == Some(lpid)) {
            let account = part.account(line.owner, line.address, line.caller);
            part.charge(line.thread, account, line.cause, line.is_refill, line.cycles);
        }
        part
    }

    /// Cycles charged to thread `thread` in all.
    #[must_use]
    pub fn total(&self, thread: usize) -> u64 {
        self.threads.get(thread).map_or(0, |charges| charges.total)
    }

    /// Cycles charged to all threads together.
    #[must_use]
    pub fn in_all(&self) -> u64 {
        self.threads.iter().map(|charges| charges.total).sum()
    }

    /// Cycles charged to thread `thread` by cause, in the order of [`Cause::ALL`].
    #[must_use]
    pub fn by_cause(&self, thread: usize) -> [u64; Cause::COUNT] {
        let mut sums = [0; Cause::COUNT];
        for line in self.threads.get(thread).into_iter().flat_map(|charges| &charges.lines) {
            sums[line.cause as usize] += line.cycles;
        }
        sums
    }

    /// Every line, by owner, address, caller, thread and cause.
    pub fn lines(&self) -> impl Iterator<Item = Charge> + use<> {
        let mut charges = Vec::new();
        for (thread, of_thread) in self.threads.iter().enumerate() {
            for (&(owner, address, caller), &first) in self.accounts.iter().zip(&of_thread.first) {
                let mut at = first;
                while at != END {
                    let Line { cause, is_refill, next, cycles } = of_thread.lines[at as usize];
                    let whose = Charge { owner, address, caller, thread, cause, is_refill, cycles };
                    charges.push(whose);
                    at = next;
                }
            }
        }
        charges.sort_unstable();
        charges.into_iter()
    }

    /// Forgets all charges; accounts stay valid.
    pub fn clear(&mut self) {
        self.threads.clear();
        self.region.threads.iter_mut().for_each(|charges| *charges = ThreadCharges::default());
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

impl ThreadCharges {
    #[inline]
    fn charge(&mut self, account: usize, cause: Cause, is_refill: bool, cycles: u64) {
        self.total += cycles;
        if self.first.len() <= account {
            self.first.resize(account + 1, END);
        }
        let mut last = END;
        let mut at = self.first[account];
        while at != END {
            let line = &mut self.lines[at as usize];
            if (line.cause, line.is_refill) == (cause, is_refill) {
                line.cycles += cycles;
                return;
            }
            last = at;
            at = line.next;
        }
        let number = u32::try_from(self.lines.len()).expect("fewer than 2^32 lines");
        self.lines.push(Line { cause, is_refill, next: END, cycles });
        match last {
            END => self.first[account] = number,
            last => self.lines[last as usize].next = number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Caller, Charges};
    use crate::ledger::{Cause, Owner};

    #[test]
    fn charges_add_up() {
        let mut charges = Charges::default();
        let account = charges.account(Owner::Host, 0x100, Caller::default());
        assert_eq!(account, charges.account(Owner::Host, 0x100, Caller::default()));
        assert_ne!(account, charges.account(Owner::Idle, 0x100, Caller::default()));
        charges.charge(1, account, Cause::SprMsr, false, 20);
        charges.charge(1, account, Cause::SprMsr, false, 22);
        charges.charge(1, account, Cause::SprRead, false, 7);
        charges.check(1, 49);
        charges.check(0, 0);
        assert_eq!(charges.lines().map(|line| line.cycles).collect::<Vec<_>>(), [7, 42]);
        charges.clear();
        charges.charge(1, account, Cause::SprMsr, true, 1);
        assert_eq!(charges.lines().map(|line| line.cycles).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn a_partition_has_its_own_and_what_serves_it() {
        let mut charges = Charges::default();
        let serving = |lpid| Owner::Serving { lpid, vector: 0x980 };
        let owners = [Owner::Partition { lpid: 1 }, serving(1), serving(2), Owner::Host];
        for (owner, cycles) in owners.into_iter().zip([1, 20, 300, 4000]) {
            let account = charges.account(owner, 0x100, Caller::default());
            charges.charge(2, account, Cause::SprMsr, false, cycles);
        }
        let part = charges.of_partition(1);
        part.check(2, 21);
        assert_eq!(part.lines().map(|line| line.owner).collect::<Vec<_>>(), owners[..2]);
    }

    #[test]
    #[should_panic(expected = "charged 1 cycles, and 2 have passed")]
    fn a_cycle_that_nobody_is_charged_for_is_found() {
        let mut charges = Charges::default();
        let account = charges.account(Owner::Host, 0, Caller::default());
        charges.charge(0, account, Cause::SprMsr, false, 1);
        charges.check(0, 2);
    }
}
