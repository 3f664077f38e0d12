//! What a region pays to bring back what its code needs and does not find: lines, translations, and what the branch
//! predictors knew.

use simulator::ledger::{Cause, Charges};

/// Cycles, by what was not there. They are a part of the region's cycles, and count what was never there as
/// well as what was lost to others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Refills {
    /// Lines that the L1 caches did not have, of instructions and of data, with the wait for a memory channel.
    pub caches: u64,
    /// Of these, lines that the caches had and others pushed out.
    pub lost: u64,
    /// Addresses that the ERATs did not have and the TLB had.
    pub erat: u64,
    /// Addresses that the TLB did not have: table walks.
    pub tlb: u64,
    /// Branches that were predicted wrong.
    pub predictor: u64,
}

impl Refills {
    /// Those in these charges.
    #[must_use]
    pub fn of(charges: &Charges) -> Self {
        let mut refills = Self::default();
        for line in charges.lines() {
            match line.cause {
                Cause::FetchL2
                | Cause::FetchL3
                | Cause::FetchRemote
                | Cause::FetchMemory
                | Cause::LoadL2
                | Cause::LoadL3
                | Cause::LoadL4
                | Cause::LoadRemote
                | Cause::LoadChip
                | Cause::LoadMemory
                | Cause::LoadBandwidth => {
                    refills.caches += line.cycles;
                    refills.lost += if line.is_refill { line.cycles } else { 0 };
                }
                Cause::FetchErat | Cause::LoadErat => refills.erat += line.cycles,
                Cause::FetchWalk | Cause::LoadWalk => refills.tlb += line.cycles,
                Cause::FetchMispredict => refills.predictor += line.cycles,
                _ => {}
            }
        }
        refills
    }
}

#[cfg(test)]
mod tests {
    use simulator::ledger::callers::Caller;
    use simulator::ledger::{Cause, Charges, Owner};

    use super::Refills;

    #[test]
    fn lines_that_others_pushed_out_are_a_part_of_all() {
        let mut charges = Charges::default();
        let account = charges.account(Owner::Host, 0x100, Caller::default());
        let charged = [
            (Cause::LoadL3, true, 20),
            (Cause::LoadMemory, false, 300),
            (Cause::LoadWalk, true, 7),
            (Cause::LoadL1, true, 3),
        ];
        for (cause, is_refill, cycles) in charged {
            charges.charge(0, account, cause, is_refill, cycles);
        }
        let refills = Refills { caches: 320, lost: 20, tlb: 7, ..Refills::default() };
        assert_eq!(Refills::of(&charges), refills);
    }
}
