//! What each cycle is charged to: the steps that led to what dispatch waited for.
//!
//! Time is charged where it is lost, at dispatch, as it goes on from instruction to instruction. A cycle in
//! which a thread's slots were in use is work. When dispatch was held up beyond that, by an instruction that
//! waits to be next, a full window, a mispredicted branch, it waited for some event, and that came at the end of
//! a chain of steps, each with its reason and its instruction: a result waited for a load, which waited for a
//! line. The chain is followed back as far as there is time to charge. So what passed while dispatch went on
//! anyway is charged to nobody but the work.

use serde::{Deserialize, Serialize};

use super::ready::{Ready, Reason};
use crate::ledger::{Account, Charges};

/// Events that are remembered for each operation of the window. What is further back than that in program
/// order and still to come, a store that drains, is one step without those before it.
const EVENTS_PER_OPERATION: u64 = 2;

/// A thread's events, and how far it is charged.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Chain {
    thread: usize,
    /// The cycle up to which every cycle is charged.
    charged: u64,
    /// The last events, by their number modulo the length, a power of two.
    events: Box<[Event]>,
    /// The number of the next one.
    next: u32,
}

/// How an event came about.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
struct Event {
    /// What its last step began with, a [`Ready`] in its parts: so an event is no larger than it must be.
    key: u64,
    event: u32,
    /// Whose step it was.
    account: Account,
}

impl Chain {
    /// No events, and everything charged up to cycle `now`.
    #[must_use]
    pub fn new(thread: usize, window: u64, now: u64) -> Self {
        let length = (window * EVENTS_PER_OPERATION).next_power_of_two() as usize;
        Self { thread, charged: now, events: vec![Event::default(); length].into(), next: 0 }
    }

    /// The event at cycle `at` that `account` reached from `from` because of `reason`; `from` itself if that took
    /// no time.
    #[inline]
    pub fn step(
        &mut self,
        from: Ready,
        at: u64,
        reason: impl Into<Reason>,
        account: Account,
    ) -> Ready {
        if at <= from.at() {
            return from;
        }
        let number = self.next;
        let last = self.events.len() - 1;
        self.events[number as usize & last] =
            Event { key: from.key(), event: from.event(), account };
        self.next = if number + 1 == Ready::NO_EVENT { 0 } else { number + 1 };
        Ready::new(at, reason).of(number)
    }

    /// The cycle up to which every cycle is charged.
    #[inline]
    #[must_use]
    pub fn charged(&self) -> u64 {
        self.charged
    }

    /// Charges what passed up to cycle `until`, if anything did, to `account`.
    #[inline]
    pub fn charge(
        &mut self,
        charges: &mut Charges,
        until: u64,
        reason: impl Into<Reason>,
        account: Account,
    ) {
        if until > self.charged {
            let reason = reason.into();
            let cycles = until - self.charged;
            charges.charge(self.thread, account, reason.cause(), reason.is_refill(), cycles);
            self.charged = until;
        }
    }

    /// Charges what passed up to `event` to the steps that led to it. Of steps that are not known, `waiting`
    /// is the account.
    #[inline]
    pub fn charge_chain(&mut self, charges: &mut Charges, event: Ready, waiting: Account) {
        self.charge_pending(charges, event, waiting);
        self.charged = self.charged.max(event.at());
    }

    /// Charges the same, and leaves it to be charged again.
    pub fn charge_pending(&self, charges: &mut Charges, mut event: Ready, waiting: Account) {
        while event.at() > self.charged {
            let (from, account) = self.origin(event).unwrap_or((Ready::default(), waiting));
            let (reason, cycles) = (event.reason(), event.at() - from.at().max(self.charged));
            charges.charge(self.thread, account, reason.cause(), reason.is_refill(), cycles);
            event = from;
        }
    }

    /// What the last step to `event` began with, and whose it was.
    fn origin(&self, event: Ready) -> Option<(Ready, Account)> {
        let length = self.events.len() as u32;
        let age = self.next.wrapping_sub(event.event());
        if event.event() == Ready::NO_EVENT || age > length {
            return None;
        }
        let Event { key, event, account } = self.events[(event.event() & (length - 1)) as usize];
        Some((Ready::from_parts(key, event), account))
    }
}

#[cfg(test)]
mod tests {
    use super::Chain;
    use crate::ledger::callers::Caller;
    use crate::ledger::{Cause, Charges, Owner};
    use crate::pipeline::ready::Ready;

    /// Cause, address and cycles of each line.
    fn lines(charges: &Charges) -> Vec<(Cause, u64, u64)> {
        charges.lines().map(|line| (line.cause, line.address, line.cycles)).collect()
    }

    #[test]
    fn a_wait_is_charged_to_the_steps_that_led_to_its_end() {
        let mut charges = Charges::default();
        let [load, add, waits] =
            [0, 4, 8].map(|address| charges.account(Owner::Host, address, Caller::default()));
        let mut chain = Chain::new(0, 8, 100);
        let begin = Ready::new(101, Cause::DispatchWidth);
        let loaded = chain.step(begin, 116, Cause::LoadL2, load);
        let added = chain.step(loaded, 118, Cause::LatencyFixed, add);
        assert_eq!(chain.step(added, 118, Cause::SprMsr, waits), added);
        // Dispatch went on up to cycle 110.
        chain.charge(&mut charges, 110, Cause::DispatchWidth, waits);
        chain.charge_chain(&mut charges, added, waits);
        chain.charge_chain(&mut charges, added, waits);
        assert_eq!(
            lines(&charges),
            [(Cause::LoadL2, 0, 6), (Cause::LatencyFixed, 4, 2), (Cause::DispatchWidth, 8, 10)]
        );
        charges.check(0, 18);
    }

    #[test]
    fn steps_that_are_forgotten_are_one() {
        let mut charges = Charges::default();
        let [load, waits] =
            [0, 4].map(|address| charges.account(Owner::Host, address, Caller::default()));
        let mut chain = Chain::new(0, 1, 0);
        let mut ready = Ready::default();
        for at in 1..=10 {
            ready = chain.step(ready, at, Cause::LoadL1, load);
        }
        chain.charge_pending(&mut charges, ready, waits);
        assert_eq!(lines(&charges), [(Cause::LoadL1, 0, 2), (Cause::LoadL1, 4, 8)]);
        charges.check(0, 10);
    }
}
