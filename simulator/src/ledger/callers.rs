//! Who called: the calls that lead to an instruction, each a small number in the account.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::Owner;

/// The calls that lead to an instruction, from [`Callers::calling`]; the default if none is known.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
pub struct Caller(u32);

/// One call: in a function that `outer` called, by whom, and the effective address of the branch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
struct Call {
    outer: Caller,
    owner: Owner,
    address: u64,
}

/// All calls that were ever open.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Callers {
    /// What [`Caller`] has the number of, from 1.
    calls: Vec<Call>,
    /// Finds them; made again from them.
    #[serde(skip)]
    numbers: FxHashMap<Call, Caller>,
}

impl PartialEq for Callers {
    fn eq(&self, other: &Self) -> bool {
        self.calls == other.calls
    }
}

impl Callers {
    /// The call of `owner` at `address`, in a function that `outer` called.
    ///
    /// # Panics
    /// If there were 2^32 - 1 before.
    pub fn calling(&mut self, outer: Caller, owner: Owner, address: u64) -> Caller {
        if self.numbers.len() != self.calls.len() {
            let numbered = self.calls.iter().zip(1..);
            self.numbers = numbered.map(|(call, number)| (*call, Caller(number))).collect();
        }
        let call = Call { outer, owner, address };
        *self.numbers.entry(call).or_insert_with(|| {
            self.calls.push(call);
            Caller(u32::try_from(self.calls.len()).expect("fewer than 2^32 calls"))
        })
    }

    /// Whether no call is known.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// The calls that lead to where `caller` called, and that one: the innermost first.
    pub fn calls(&self, mut caller: Caller) -> impl Iterator<Item = (Owner, u64)> {
        std::iter::from_fn(move || {
            let call = self.calls.get((caller.0 as usize).checked_sub(1)?)?;
            caller = call.outer;
            Some((call.owner, call.address))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Caller, Callers};
    use crate::ledger::Owner;

    #[test]
    fn a_call_has_one_number_and_knows_those_around_it() {
        let mut callers = Callers::default();
        let outer = callers.calling(Caller::default(), Owner::Host, 0x100);
        let inner = callers.calling(outer, Owner::Firmware, 0x200);
        assert_eq!(callers.calling(outer, Owner::Firmware, 0x200), inner);
        assert_ne!(callers.calling(Caller::default(), Owner::Firmware, 0x200), inner);
        let calls: Vec<_> = callers.calls(inner).collect();
        assert_eq!(calls, [(Owner::Firmware, 0x200), (Owner::Host, 0x100)]);
        assert_eq!(callers.calls(Caller::default()).next(), None);
        // As after a save.
        callers.numbers.clear();
        assert_eq!(callers.calling(outer, Owner::Firmware, 0x200), inner);
    }
}
