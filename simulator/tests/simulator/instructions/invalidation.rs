//! Which translations `tlbie` and `tlbiel` remove, and who may execute them. Source of the rules:
//! Power ISA 3.0B Book III, TLB Management Instructions; `docs/facts/translation.md#invalidation`.

use super::parts::{GUEST, HYPERVISOR, PROBLEM, Parts, vector};
use arch::address::{GuestRealAddress, RealAddress};
use arch::instruction::Mnemonic;
use arch::interrupt::{Vector, program};
use arch::registers::spr::Spr;
use arch::registers::{lpcr, msr};
use simulator::exec::Flow;
use simulator::state::thread::trap::{Cause, StopReason};
use simulator::state::tlb::{Hit, Space, Translation};

const LPID: u32 = 5;
const PID: u32 = 9;
const PAGE: u64 = 0x1234_5000;
const LARGE: u64 = 0x4000_0000;
const GUEST_PAGE: u64 = 0x77_7000;
const GUEST_LARGE: u64 = 0x80_0000;

/// Translations of a partition's processes, of the partition with relocation off, of another
/// partition, and of the hypervisor.
const SPACES: [Space; 6] = [
    Space::Process { lpid: LPID, pid: PID },
    Space::Process { lpid: LPID, pid: PID + 1 },
    Space::GuestReal { lpid: LPID },
    Space::Process { lpid: LPID + 1, pid: PID },
    Space::GuestReal { lpid: LPID + 1 },
    Space::Process { lpid: 0, pid: PID },
];

/// RB for a single page, of 4K and 2M, and for everything in a scope.
const SMALL_AT_PAGE: u64 = PAGE;
const LARGE_AT_LARGE: u64 = LARGE | 1 << 5;
const IS_PID: u64 = 1 << 10;
const IS_LPID: u64 = 2 << 10;
const IS_ALL: u64 = 3 << 10;

const ALL: i64 = 2;
const TLB: i64 = 0;
const PROCESS: i64 = 1;
const PARTITION: i64 = 0;
const RADIX: i64 = 1;

impl Parts {
    fn with_translations(state: u64) -> Self {
        let mut parts = Self::new(state);
        parts.thread.set_spr(Spr::Lpidr, LPID.into());
        parts.thread.set_spr(Spr::Pidr, PID.into());
        for space in SPACES {
            for (page, guest, page_log2) in [(PAGE, GUEST_PAGE, 12), (LARGE, GUEST_LARGE, 21)] {
                let translation = Translation {
                    page_log2,
                    real: RealAddress(0x1_0000_0000),
                    guest_real: (space.lpid() != 0).then_some(GuestRealAddress(guest)),
                    process: None,
                    partition: None,
                    hashed: None,
                };
                parts.shared.cores[0].tlb.insert(space, page, translation);
            }
        }
        parts
    }

    /// The translations that are left, as (LPID, PID, address).
    fn left(&self) -> Vec<(u32, Option<u32>, u64)> {
        let tlb = &self.shared.cores[0].tlb;
        let all = SPACES.iter().flat_map(|space| [PAGE, LARGE].map(|page| (*space, page)));
        let there = all.filter(|(space, page)| tlb.find(*space, page | 0x800) != Hit::None);
        there.map(|(space, page)| (space.lpid(), space.pid(), page)).collect()
    }

    /// `tlbie` or `tlbiel` with RB and RS, RIC and PRS, for radix translation.
    fn invalidate(
        &mut self,
        mnemonic: Mnemonic,
        (rb, rs): (u64, u64),
        ric: i64,
        prs: i64,
    ) -> Result<Flow, Cause> {
        self.thread.gpr[5..7].copy_from_slice(&[rb, rs]);
        self.run(mnemonic, &[5, 6, ric, prs, RADIX])
    }
}

/// What is left of all translations without those that `is_removed` names.
fn without(is_removed: impl Fn(u32, Option<u32>, u64) -> bool) -> Vec<(u32, Option<u32>, u64)> {
    let all = Parts::with_translations(HYPERVISOR).left();
    assert_eq!(all.len(), 2 * SPACES.len());
    all.into_iter().filter(|&(lpid, pid, page)| !is_removed(lpid, pid, page)).collect()
}

/// RS of `tlbie`: PID and LPID.
fn rs(pid: u32, lpid: u32) -> u64 {
    u64::from(pid) << 32 | u64::from(lpid)
}

#[test]
fn one_page_of_a_process_goes_alone() {
    let cases = [(SMALL_AT_PAGE, PAGE), (LARGE_AT_LARGE, LARGE)];
    for (rb, gone) in cases {
        let mut parts = Parts::with_translations(HYPERVISOR);
        let done = parts.invalidate(Mnemonic::Tlbie, (rb, rs(PID + 1, LPID)), TLB, PROCESS);
        assert_eq!(done, Ok(Flow::Synchronize));
        let expected = without(|l, p, page| (l, p, page) == (LPID, Some(PID + 1), gone));
        assert_eq!(parts.left(), expected);
    }
    // A 4K invalidation within a larger page removes it; one beside it does not.
    for (rb, gone) in [(LARGE | 0x1F_F000, 1), (LARGE | 0x20_0000, 0)] {
        let mut parts = Parts::with_translations(HYPERVISOR);
        parts.invalidate(Mnemonic::Tlbie, (rb, rs(PID, LPID)), TLB, PROCESS).unwrap();
        assert_eq!(parts.left().len(), 2 * SPACES.len() - gone);
    }
}

#[test]
fn one_page_of_a_partition_takes_every_translation_made_with_it() {
    for (rb, gone) in [(GUEST_PAGE, PAGE), (GUEST_LARGE | 1 << 5, LARGE)] {
        let mut parts = Parts::with_translations(HYPERVISOR);
        parts.invalidate(Mnemonic::Tlbie, (rb, rs(PID, LPID)), TLB, PARTITION).unwrap();
        assert_eq!(parts.left(), without(|lpid, _, page| lpid == LPID && page == gone));
    }
}

#[test]
fn a_wider_scope_takes_what_belongs_to_it() {
    type Removed<'a> = &'a dyn Fn(u32, Option<u32>, u64) -> bool;
    let cases: [(u64, i64, Removed<'_>); 5] = [
        (IS_PID, PROCESS, &|lpid, pid, _| (lpid, pid) == (LPID, Some(PID))),
        (IS_LPID, PROCESS, &|lpid, pid, _| lpid == LPID && pid.is_some()),
        (IS_LPID, PARTITION, &|lpid, _, _| lpid == LPID),
        (IS_ALL, PROCESS, &|_, pid, _| pid.is_some()),
        (IS_ALL, PARTITION, &|lpid, _, _| lpid != 0),
    ];
    for (rb, prs, removed) in cases {
        let mut parts = Parts::with_translations(HYPERVISOR);
        parts.invalidate(Mnemonic::Tlbie, (rb, rs(PID, LPID)), ALL, prs).unwrap();
        assert_eq!(parts.left(), without(removed), "RB {rb:#x}, PRS {prs}");
    }
}

#[test]
fn tlbiel_takes_lpid_from_its_register_pid_from_rs_and_acts_at_the_first_set() {
    const FIRST_OTHER_SET: u64 = 1 << 12;
    let other = rs(PID, LPID + 1);
    // PIDR has no say.
    let mut parts = Parts::with_translations(HYPERVISOR);
    parts.thread.set_spr(Spr::Pidr, u64::from(PID) + 1);
    parts.invalidate(Mnemonic::Tlbiel, (IS_PID | FIRST_OTHER_SET, other), ALL, PROCESS).unwrap();
    assert_eq!(parts.left(), without(|_, _, _| false));
    parts.invalidate(Mnemonic::Tlbiel, (IS_PID, other), ALL, PROCESS).unwrap();
    assert_eq!(parts.left(), without(|lpid, pid, _| (lpid, pid) == (LPID, Some(PID))));
    let mut parts = Parts::with_translations(HYPERVISOR);
    parts.thread.set_spr(Spr::Pidr, u64::from(PID) + 1);
    parts.invalidate(Mnemonic::Tlbiel, (SMALL_AT_PAGE, other), TLB, PROCESS).unwrap();
    assert_eq!(parts.left(), without(|l, p, page| (l, p, page) == (LPID, Some(PID), PAGE)));
}

#[test]
fn a_guest_reaches_its_own_partition_only() {
    let own = |lpid: u32, pid: Option<u32>, _: u64| lpid == LPID && pid.is_some();
    for (mnemonic, rb) in
        [(Mnemonic::Tlbiel, IS_ALL), (Mnemonic::Tlbie, IS_ALL), (Mnemonic::Tlbie, IS_LPID)]
    {
        let mut parts = Parts::with_translations(GUEST);
        parts.thread.set_spr(Spr::Lpcr, lpcr::HR | lpcr::UPRT | lpcr::GTSE);
        parts.invalidate(mnemonic, (rb, rs(PID, LPID + 1)), ALL, PROCESS).unwrap();
        assert_eq!(parts.left(), without(own), "{mnemonic:?}");
    }
}

#[test]
fn the_walk_cache_alone_holds_nothing() {
    let mut parts = Parts::with_translations(HYPERVISOR);
    parts.invalidate(Mnemonic::Tlbie, (IS_ALL, 0), 1, PROCESS).unwrap();
    assert_eq!(parts.left(), without(|_, _, _| false));
    // Nor does the hashed translation that R=0 names.
    parts.thread.gpr[5] = IS_ALL;
    parts.run(Mnemonic::Tlbie, &[5, 6, ALL, PROCESS, 0]).unwrap();
    assert_eq!(parts.left(), without(|_, _, _| false));
}

#[test]
fn combinations_that_are_not_defined_stop_the_machine() {
    // One page and more than the TLB; one PID of a partition's scope; sizes that there are not.
    let cases = [
        (SMALL_AT_PAGE, ALL, PROCESS),
        (SMALL_AT_PAGE, 1, PROCESS),
        (IS_PID, ALL, PARTITION),
        (PAGE | 3 << 5, TLB, PROCESS),
        (PAGE | 7 << 5, TLB, PROCESS),
    ];
    for (rb, ric, prs) in cases {
        let mut parts = Parts::with_translations(HYPERVISOR);
        let outcome = parts.invalidate(Mnemonic::Tlbie, (rb, rs(PID, LPID)), ric, prs);
        let is_stop = matches!(outcome, Err(Cause::Stop(StopReason::InvalidForm(_))));
        assert!(is_stop, "RB {rb:#x}, RIC {ric}, PRS {prs}: {outcome:?}");
    }
    // 4K, 64K, 2M and 1G are the sizes of radix translation.
    for ap in [0, 5, 1, 2] {
        let mut parts = Parts::with_translations(HYPERVISOR);
        let rb = PAGE & !0xFFFF | ap << 5;
        parts.invalidate(Mnemonic::Tlbie, (rb, rs(PID, LPID)), TLB, PROCESS).unwrap();
        let is_within = if ap == 0 { 0 } else { 1 };
        let is_large_within = usize::from(ap == 2 && PAGE >> 30 == LARGE >> 30);
        assert_eq!(parts.left().len(), 2 * SPACES.len() - is_within - is_large_within, "AP {ap}");
    }
}

#[test]
fn tlbie_and_tlbsync_are_the_hypervisors_unless_gtse_gives_them_away() {
    let privileged = (Vector::Program, program::PRIVILEGED);
    let both = |parts: &mut Parts| {
        let tlbie = parts.invalidate(Mnemonic::Tlbie, (IS_ALL, 0), ALL, PROCESS);
        [tlbie, parts.run(Mnemonic::Tlbsync, &[])]
    };
    for outcome in both(&mut Parts::new(GUEST)) {
        assert_eq!(vector(outcome), privileged);
    }
    let mut parts = Parts::new(GUEST);
    parts.thread.set_spr(Spr::Lpcr, lpcr::HR | lpcr::GTSE);
    assert_eq!(both(&mut parts), [Ok(Flow::Synchronize), Ok(Flow::Next)]);
    assert!(both(&mut Parts::new(HYPERVISOR)).iter().all(Result::is_ok));
    // `tlbiel` needs no GTSE, and none of them is for problem state.
    let local = Parts::new(GUEST).invalidate(Mnemonic::Tlbiel, (IS_ALL, 0), ALL, PROCESS);
    assert_eq!(local, Ok(Flow::Synchronize));
    let mut problem = Parts::new(PROBLEM & !msr::HV);
    let local = problem.invalidate(Mnemonic::Tlbiel, (IS_ALL, 0), ALL, PROCESS);
    assert_eq!(vector(local), privileged);
}
