//! What was wrong with the patch of 2014 (`docs/facts/power8.md#defects-of-the-patch`): each defect as a test that
//! finds it in the patch, and in none of our policies. The engines of two cores judge, which know what no source
//! allows.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::vec::Vec;

use arch::address::RealAddress;
use arch::bundle::PrefetchPolicy;
use arch::registers::mppr;
use proptest::collection::vec;
use proptest::{prop_assert, proptest};

use super::{A, B, C, LPID, SUBCORES, alone, whole};
use crate::prefetch::patch::{Patch, Registers};
use crate::prefetch::{Levels, Missed, NoMemory, Place, PrefetchEngine, SHORT_TICKS, Tables};
use crate::vcpu_id::VcpuId;

const CORES: usize = 2;
/// Ticks that a log or a fetch takes, less than a stay.
const TAKES: u64 = SHORT_TICKS / 4;

/// What no source allows, or is of no use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Defect {
    /// A bit of the operand of `logmpp` that means nothing there.
    StrayBitsOfLogmpp,
    /// A bit of MPPR that means nothing there.
    StrayBitsOfMppr,
    /// A table that is not aligned to its size.
    Misaligned,
    /// A table beyond the memory that was given for it.
    Outside,
    /// A log while the engine logs or fetches.
    LogBesideOther,
    /// A fetch while the engine logs.
    FetchBesideLog,
    /// Two engines use a table, of which one writes it.
    TwoEngines,
    /// A fetch of a table that was never logged into.
    FetchOfNothing,
    /// A fetch of a table of which the log is not whole.
    FetchOfPart,
}

/// What a table holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Holds {
    /// An engine writes it until then.
    Until(u64),
    /// A whole log.
    Log,
    /// Part of one, of which the rest never came.
    Part,
}

/// What an engine is at: which table, until when, and whether it logs.
#[derive(Clone, Copy, Debug)]
struct Job {
    table: u64,
    until: u64,
    logs: bool,
}

/// The engines, of which the newest command has its way, and what they were told wrongly.
struct Judge {
    now: Cell<u64>,
    place: Cell<Place>,
    jobs: [Cell<Option<Job>>; CORES],
    tables: RefCell<BTreeMap<u64, Holds>>,
    /// Memory that was given away, and where the next is.
    given: RefCell<Vec<Range<u64>>>,
    next: Cell<u64>,
    /// Bytes of a kernel's page.
    page: u64,
    /// How often it gives memory still.
    left: Cell<u64>,
    commands: Cell<u64>,
    found: RefCell<BTreeSet<Defect>>,
}

impl Judge {
    /// A machine whose kernel has pages of so many bytes.
    fn new(page: u64) -> Self {
        Self {
            now: Cell::new(0),
            place: Cell::new(whole(0)),
            jobs: [const { Cell::new(None) }; CORES],
            tables: RefCell::default(),
            given: RefCell::default(),
            next: Cell::new(0x10_0000 + 5 * page),
            page,
            left: Cell::new(u64::MAX),
            commands: Cell::new(0),
            found: RefCell::default(),
        }
    }

    fn finds(&self, defect: Defect, is_there: bool) {
        if is_there {
            self.found.borrow_mut().insert(defect);
        }
    }

    fn memory(&self, bytes: u64, alignment: u64) -> Option<RealAddress> {
        self.left.set(self.left.get().checked_sub(1)?);
        let start = self.next.get().next_multiple_of(alignment);
        // Something else's memory is between.
        self.next.set(start + bytes + self.page);
        self.given.borrow_mut().push(start..start + bytes);
        Some(RealAddress(start))
    }

    /// What is over by now is over.
    fn catch_up(&self) {
        let now = self.now.get();
        for job in &self.jobs {
            job.set(job.get().filter(|job| job.until > now));
        }
        for holds in self.tables.borrow_mut().values_mut() {
            if matches!(holds, Holds::Until(until) if *until <= now) {
                *holds = Holds::Log;
            }
        }
    }

    fn job(&self) -> &Cell<Option<Job>> {
        &self.jobs[self.place.get().core]
    }

    /// Ends what the core's engine is at, if it is that.
    fn end(&self, logs: bool) {
        self.commands.set(self.commands.get() + 1);
        self.catch_up();
        if let Some(job) = self.job().get().filter(|job| job.logs == logs) {
            self.job().set(None);
            if logs {
                self.tables.borrow_mut().insert(job.table, Holds::Part);
            }
        }
    }

    /// A log or a fetch of so many bytes at most begins.
    fn begin(&self, table: u64, bytes: u64, logs: bool) {
        self.catch_up();
        self.finds(Defect::Misaligned, !table.is_multiple_of(bytes));
        let is_in = |given: &Range<u64>| given.start <= table && table + bytes <= given.end;
        self.finds(Defect::Outside, !self.given.borrow().iter().any(is_in));
        if let Some(job) = self.job().get() {
            self.finds(Defect::LogBesideOther, logs);
            self.finds(Defect::FetchBesideLog, !logs && job.logs);
        }
        let others =
            self.jobs.iter().enumerate().filter(|(core, _)| *core != self.place.get().core);
        for job in others.filter_map(|(_, job)| job.get()) {
            self.finds(Defect::TwoEngines, job.table == table && (logs || job.logs));
        }
        self.end(true);
        self.end(false);
        let until = self.now.get() + TAKES;
        let mut tables = self.tables.borrow_mut();
        if logs {
            tables.insert(table, Holds::Until(until));
        } else {
            let holds = tables.get(&table);
            self.finds(Defect::FetchOfNothing, holds.is_none());
            self.finds(Defect::FetchOfPart, holds.is_some_and(|holds| *holds != Holds::Log));
        }
        self.job().set(Some(Job { table, until, logs }));
    }
}

impl Registers for Judge {
    fn new_pages(&self, bytes: u64) -> Option<RealAddress> {
        self.memory(bytes, self.page)
    }

    fn logmpp(&self, operand: u64) {
        let (table, control) = (operand & mppr::TABLE, mppr::LOG.get(operand));
        self.finds(Defect::StrayBitsOfLogmpp, operand != mppr::LOG.set(table, control));
        match control {
            mppr::log::NOTHING => {}
            mppr::log::ABORT => self.end(true),
            mppr::log::L2 => self.begin(table, mppr::L2_TABLE_BYTES, true),
            _ => self.begin(table, mppr::L2_AND_L3_TABLE_BYTES, true),
        }
    }

    fn set_mppr(&self, value: u64) {
        let (table, size) = (value & mppr::TABLE, mppr::FETCH.get(value));
        self.finds(Defect::StrayBitsOfMppr, value != mppr::FETCH.set(table, size));
        match size {
            mppr::fetch::TO_THE_END => self.begin(table, mppr::L2_TABLE_BYTES, false),
            _ => self.end(false),
        }
    }
}

impl PrefetchEngine for Judge {
    fn new_log(&self, levels: Levels) -> Option<RealAddress> {
        self.memory(levels.table_bytes(), levels.table_bytes())
    }

    fn begin_log(&self, table: RealAddress, levels: Levels) {
        self.begin(table.0, levels.table_bytes(), true);
    }

    fn end_log(&self) {
        self.end(true);
    }

    fn begin_fetch(&self, table: RealAddress, _: u32) {
        self.begin(table.0, mppr::L2_TABLE_BYTES, false);
    }

    fn end_fetch(&self) {
        self.end(false);
    }

    fn is_at_work(&self) -> bool {
        self.catch_up();
        self.job().get().is_some()
    }

    fn completed(&self) -> u64 {
        self.now.get()
    }

    fn missed(&self) -> Option<Missed> {
        None
    }
}

/// What is judged.
enum Judged {
    Patch(Patch),
    Ours(Tables),
}

impl Judged {
    fn enters(&self, judge: &Judge, vcpu: VcpuId) {
        match self {
            Self::Patch(patch) => patch.enters(judge, vcpu),
            Self::Ours(tables) => {
                tables.enters(judge, judge.place.get(), (vcpu, LPID), judge.now.get());
            }
        }
    }

    fn exits(&self, judge: &Judge, vcpu: VcpuId) {
        match self {
            Self::Patch(patch) => patch.exits(judge, vcpu),
            Self::Ours(tables) => tables.exits(judge, judge.place.get(), judge.now.get()),
        }
    }

    /// A vCPU is on a core for so long, in entries between which it looks around, as long as no log takes.
    fn stay(&self, judge: &Judge, core: usize, vcpu: VcpuId, ticks: u64) {
        judge.place.set(whole(core));
        let part = TAKES / 2;
        for left in (0..ticks).step_by(part as usize) {
            self.enters(judge, vcpu);
            judge.now.set(judge.now.get() + part.min(ticks - left));
            self.exits(judge, vcpu);
        }
    }
}

/// Longer than what is left alone.
const LONG: u64 = 4 * SHORT_TICKS;

/// What the judge finds in each policy that uses the engine, on a kernel with pages of so many bytes.
fn judged(page: u64, scenario: impl Fn(&Judged, &Judge)) -> Vec<(PrefetchPolicy, Judge)> {
    let policies = PrefetchPolicy::ALL.into_iter().filter(|&policy| policy != PrefetchPolicy::Off);
    policies
        .map(|policy| {
            let judge = Judge::new(page);
            let judged = match policy {
                PrefetchPolicy::Faithful => Judged::Patch(Patch::new(4)),
                ours => {
                    let tables = Tables::new(&judge, ours, alone(4), CORES);
                    Judged::Ours(tables.unwrap().expect("the engine is used"))
                }
            };
            scenario(&judged, &judge);
            (policy, judge)
        })
        .collect()
}

/// The patch has these, and we have none at all.
fn only_the_patch_has(page: u64, defects: &[Defect], scenario: impl Fn(&Judged, &Judge)) {
    for (policy, judge) in judged(page, scenario) {
        let found = judge.found.take();
        match policy {
            PrefetchPolicy::Faithful => {
                assert!(defects.iter().all(|defect| found.contains(defect)), "{found:?}");
            }
            ours => assert_eq!(found, BTreeSet::new(), "{ours:?}"),
        }
        assert!(judge.commands.get() > 0, "{policy:?} does nothing");
    }
}

/// Pages of which a buffer of the patch is whole tables.
const LARGE: u64 = 64 << 10;
/// Pages of which it is not.
const SMALL: u64 = 4 << 10;

/// They take turns on a core.
fn turns(judged: &Judged, judge: &Judge) {
    for _ in 0..4 {
        judged.stay(judge, 0, A, LONG);
        judged.stay(judge, 0, B, LONG);
    }
}

#[test]
fn defect_2_a_log_is_not_ended_before_a_fetch() {
    only_the_patch_has(LARGE, &[Defect::StrayBitsOfLogmpp, Defect::FetchBesideLog], turns);
}

#[test]
fn defect_3_a_fetch_is_ended_with_bits_of_a_log() {
    only_the_patch_has(LARGE, &[Defect::StrayBitsOfMppr], turns);
}

#[test]
fn defects_4_and_5_a_table_is_neither_aligned_nor_in_its_buffer() {
    only_the_patch_has(SMALL, &[Defect::Misaligned, Defect::Outside], turns);
}

#[test]
fn defect_6_a_buffer_without_memory_is_no_feature_and_nobody_knows() {
    let judge = Judge::new(LARGE);
    judge.left.set(1);
    let refused = Tables::new(&judge, PrefetchPolicy::AlwaysL2, alone(2), CORES);
    assert_eq!(refused.err(), Some(NoMemory));
    let judge = Judge::new(LARGE);
    judge.left.set(1);
    let patch = Patch::new(2);
    patch.enters(&judge, A);
    let commands = judge.commands.get();
    assert!(commands > 0);
    patch.enters(&judge, B);
    assert_eq!(judge.commands.get(), commands);
}

#[test]
fn defect_7_nothing_ends_what_an_engine_is_at_when_all_is_over() {
    for (policy, judge) in judged(LARGE, |judged, judge| {
        turns(judged, judge);
        // B comes, and what A had is being logged.
        judged.stay(judge, 0, A, LONG);
        judged.enters(judge, B);
        judged.exits(judge, B);
        if let Judged::Ours(tables) = judged {
            tables.ends(judge, whole(0));
        }
    }) {
        assert_eq!(judge.is_at_work(), policy == PrefetchPolicy::Faithful, "{policy:?}");
    }
}

#[test]
fn defect_8_who_comes_straight_back_is_logged_and_fetched() {
    for (policy, judge) in judged(LARGE, |judged, judge| judged.stay(judge, 0, A, LONG)) {
        assert_eq!(judge.commands.get() > 0, policy == PrefetchPolicy::Faithful, "{policy:?}");
    }
}

#[test]
fn defect_9_a_table_is_fetched_that_was_never_logged_into() {
    only_the_patch_has(LARGE, &[Defect::FetchOfNothing], turns);
}

#[test]
fn defect_10_subcores_share_an_engine() {
    only_the_patch_has(LARGE, &[Defect::LogBesideOther], |judged, judge| {
        for vcpus in [[A, B], [C, VcpuId(3)]].into_iter().cycle().take(8) {
            for _ in (0..LONG).step_by(TAKES as usize / 2) {
                for (place, vcpu) in SUBCORES.into_iter().zip(vcpus) {
                    judge.place.set(place);
                    judged.enters(judge, vcpu);
                }
                judge.now.set(judge.now.get() + TAKES / 2);
                for (place, vcpu) in SUBCORES.into_iter().zip(vcpus) {
                    judge.place.set(place);
                    judged.exits(judge, vcpu);
                }
            }
        }
    });
}

#[test]
fn reason_4_nobody_learns_whether_a_log_is_whole() {
    only_the_patch_has(LARGE, &[Defect::FetchOfPart], turns);
}

#[test]
fn reason_5_a_log_is_under_way_on_the_core_that_a_vcpu_has_left() {
    only_the_patch_has(LARGE, &[Defect::TwoEngines], |judged, judge| {
        for (core, other) in [(0, 1), (1, 0), (0, 1), (1, 0)] {
            judged.stay(judge, core, A, LONG);
            judged.stay(judge, other, A, LONG);
            // The other one comes in its place on both cores, and it comes back behind each.
            for core in [core, other] {
                judged.stay(judge, core, B, 1);
                judged.stay(judge, 1 - core, A, 1);
                judged.stay(judge, core, A, LONG);
                // Each is logged as it leaves one core, and B comes to the other core at once.
                judged.stay(judge, core, B, 1);
                judged.stay(judge, 1 - core, C, LONG);
                judged.stay(judge, core, B, LONG);
                judged.stay(judge, core, C, 1);
                judged.stay(judge, 1 - core, B, LONG);
            }
        }
    });
}

/// Each core has one of these vCPUs for so long, and both look around, as long as no log takes.
fn together(judged: &Judged, judge: &Judge, vcpus: [VcpuId; CORES], ticks: u64) {
    let part = TAKES / 2;
    for left in (0..ticks).step_by(part as usize) {
        let on = |core: usize| judge.place.set(whole(core));
        for (core, vcpu) in vcpus.into_iter().enumerate() {
            on(core);
            judged.enters(judge, vcpu);
        }
        judge.now.set(judge.now.get() + part.min(ticks - left));
        for (core, vcpu) in vcpus.into_iter().enumerate() {
            on(core);
            judged.exits(judge, vcpu);
        }
    }
}

/// Three vCPUs of which each goes from one core to the other, waits for a slice, and is back on the first: none is ever
/// twice on a core without another one between.
#[test]
fn a_vcore_hops_between_cores_each_slice() {
    only_the_patch_has(LARGE, &[Defect::FetchBesideLog, Defect::FetchOfPart], |judged, judge| {
        for vcpus in [[A, B], [B, C], [C, A]].into_iter().cycle().take(12) {
            together(judged, judge, vcpus, LONG);
        }
    });
}

proptest! {
    /// Whoever is where, and for how long.
    #[test]
    fn none_of_ours_has_a_defect_whoever_goes_where(
        stays in vec((0..4_u32, 1..4_u32, 1..2 * LONG), 1..60),
    ) {
        for (policy, judge) in judged(LARGE, |judged, judge| {
            for &(first, more, ticks) in &stays {
                together(judged, judge, [VcpuId(first), VcpuId((first + more) % 4)], ticks);
            }
        }) {
            let found = judge.found.take();
            prop_assert!(policy == PrefetchPolicy::Faithful || found.is_empty(), "{policy:?}: {found:?}");
        }
    }
}
