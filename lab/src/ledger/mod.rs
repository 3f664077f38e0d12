//! The ledger of a timed run, with names: who spent the cycles, in which function, at which instruction, and
//! why.
//!
//! The simulator charges addresses; [`names`] knows the programs behind them, [`symbols`] reads the symbols that a
//! program's file has not, [`inlined`] what the compiler has put where. [`explain`] prints a ledger
//! top-down, [`difference`] compares two, [`export`] and [`spans`] with [`trace_events`] write files for other
//! tools.

pub mod difference;
pub mod explain;
pub mod export;
mod inlined;
pub mod names;
pub mod spans;
pub mod symbols;
pub mod trace_events;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use simulator::ledger::Charges;

use names::Names;

/// Where the cycles of a region went. The form is part of the JSON's promise.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug, Default)]
pub struct Ledger {
    /// Cycles that passed, summed over the hardware threads: the sum of all charges.
    pub elapsed_thread_cycles: u64,
    /// Largest first.
    pub charges: Vec<Charge>,
    /// The same cycles by who called, if the run knows that. No part of the JSON.
    #[serde(skip)]
    pub called: Vec<Called>,
}

/// One line of those that were called from one place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Called {
    /// The functions that called, the outermost first. Those whose calls began before the run's timing are not known.
    pub callers: Vec<String>,
    /// The line.
    pub charge: Charge,
}

/// One line.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Charge {
    /// Who: `partition NAME`, `hypervisor: INTERRUPT of NAME`, `hypervisor`, `firmware` or `idle`; of a kernel
    /// that runs bare `kernel` and `programs`.
    pub owner: String,
    /// The function, or where the address lies if no symbol tells.
    pub function: String,
    /// Offset of the instruction in its function, in bytes.
    pub offset: u64,
    /// The functions of which the compiler has put the instruction there, one called by the other, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inlined: Vec<String>,
    /// The instruction in assembly; empty where the program's file does not have it.
    pub instruction: String,
    /// Why, see [`simulator::ledger::Cause`].
    pub cause: String,
    /// Whether the owner had the line or the translation and lost it to another.
    pub indirect: bool,
    /// How long.
    pub cycles: u64,
}

impl Ledger {
    /// The charges with names, summed over the hardware threads.
    #[must_use]
    pub fn new(charges: &Charges, names: &Names) -> Self {
        let mut sums = BTreeMap::new();
        let mut called_sums = BTreeMap::new();
        let has_callers = !charges.callers.is_empty();
        for line in charges.lines() {
            let key = (line.owner, line.address, line.cause, line.is_refill);
            *sums.entry(key).or_insert(0) += line.cycles;
            if has_callers {
                *called_sums.entry((line.caller, key)).or_insert(0) += line.cycles;
            }
        }
        let charge = |((owner, address, cause, indirect), cycles)| {
            let place = names.place(owner, address);
            Charge {
                owner: names.owner(owner),
                function: place.function,
                offset: place.offset,
                inlined: place.inlined,
                instruction: place.instruction,
                cause: simulator::ledger::Cause::name(cause).to_owned(),
                indirect,
                cycles,
            }
        };
        let called = called_sums.into_iter().map(|((caller, key), cycles)| {
            let calls = charges.callers.calls(caller);
            let mut callers: Vec<String> =
                calls.map(|(owner, address)| names.place(owner, address).function).collect();
            callers.reverse();
            Called { callers, charge: charge((key, cycles)) }
        });
        let called = called.collect();
        let mut charges: Vec<Charge> = sums.into_iter().map(charge).collect();
        charges.sort_by_key(|charge| std::cmp::Reverse(charge.cycles));
        let elapsed_thread_cycles = charges.iter().map(|charge| charge.cycles).sum();
        Self { elapsed_thread_cycles, charges, called }
    }

    /// Cycles by what `key` makes of a charge, largest first.
    #[must_use]
    pub fn sum_by<K: Ord>(&self, key: impl Fn(&Charge) -> K) -> Vec<(K, u64)> {
        let mut sums = BTreeMap::new();
        for charge in &self.charges {
            *sums.entry(key(charge)).or_insert(0) += charge.cycles;
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by_key(|(_, cycles)| std::cmp::Reverse(*cycles));
        sums
    }
}

impl Charge {
    /// The cause, marked where it is indirect.
    #[must_use]
    pub fn why(&self) -> String {
        why(&self.cause, self.indirect)
    }

    /// The instruction with its offset.
    #[must_use]
    pub fn place(&self) -> String {
        place_of(self.offset, &self.instruction)
    }
}

fn why(cause: &str, is_indirect: bool) -> String {
    if is_indirect { format!("{cause} (indirect)") } else { cause.to_owned() }
}

fn place_of(offset: u64, instruction: &str) -> String {
    format!("+{offset:#x} {instruction}").trim_end().to_owned()
}

#[cfg(test)]
pub(crate) mod examples {
    use super::{Charge, Ledger};

    /// A ledger with these lines: owner, function, offset, cause, indirect, cycles.
    pub(crate) fn ledger(lines: &[(&str, &str, u64, &str, bool, u64)]) -> Ledger {
        let charges: Vec<Charge> = lines
            .iter()
            .map(|&(owner, function, offset, cause, indirect, cycles)| Charge {
                owner: owner.to_owned(),
                function: function.to_owned(),
                offset,
                inlined: Vec::new(),
                instruction: "mfspr r3,lpcr".to_owned(),
                cause: cause.to_owned(),
                indirect,
                cycles,
            })
            .collect();
        let elapsed_thread_cycles = charges.iter().map(|charge| charge.cycles).sum();
        Ledger { elapsed_thread_cycles, charges, called: Vec::new() }
    }
}
