//! An oracle that watches partitions: whatever makes a vCPU leave the processor, it goes on with what the
//! architecture and PAPR let it go on with, and nobody sees what is another's.
//!
//! At each exit it notes all registers that the partition can see ([`register`]); at each entry it compares
//! them by a rule for each register ([`policy`], [`judge`]). It does not ask the hypervisor who enters: of
//! the partition's vCPUs that have left, the one that enters is the one that differs least. Values that a
//! payload has tagged ([`arch::tag`]) name the partition that they come from wherever they turn up.
//!
//! It is an observer: it never changes the machine. The hypervisor has a table of its own about its
//! registers; the two share nothing.

pub mod engine;
mod finding;
mod judge;
pub mod maps;
mod owners;
pub mod page_sizes;
pub mod policy;
pub mod register;
pub mod residue;

use std::collections::{BTreeMap, BTreeSet};

use arch::interrupt::{SaveRestore, Vector};
use arch::papr::Hypercall;
use arch::processor::Processor;
use arch::registers::spr::Spr;
use arch::registers::{hfscr, lpcr, msr, psscr};

use crate::exec::Mode;
use crate::exec::spr::stored;
use crate::interrupt::Taken;
use crate::state::shared::Shared;
use crate::state::thread::Thread;
use crate::trace::Observer;
pub use finding::{Fault, Finding, Seen};
use judge::{Entry, Judge, Left};
use owners::Owners;
use register::Register;

/// Findings that are kept; the others are counted.
const FINDINGS_MAX: usize = 100;

/// A vCPU on a thread.
#[derive(Clone, Debug)]
struct Running {
    lpid: u32,
    /// Its registers when it entered. Those that it cannot see are what they were when it could.
    values: Vec<u64>,
}

/// Watches the partitions of a machine, from its start.
#[derive(Clone, Debug)]
pub struct Oracle {
    judge: Judge,
    /// By thread.
    running: BTreeMap<usize, Running>,
    /// By LPID.
    left: BTreeMap<u32, Vec<Left>>,
    /// The exit that was the thread's last.
    last: BTreeMap<usize, u64>,
    owners: Owners,
    seen: Seen,
    findings: Vec<Finding>,
    unkept: u64,
    /// LPIDs of partitions whose `stop` has gone to the hypervisor.
    stopped: BTreeSet<u32>,
    /// Of this register nothing is said.
    ignored: Option<Register>,
}

impl Oracle {
    /// One that has seen nothing yet of a machine of this processor.
    #[must_use]
    pub fn new(processor: Processor) -> Self {
        Self {
            judge: Judge::new(processor),
            running: BTreeMap::new(),
            left: BTreeMap::new(),
            last: BTreeMap::new(),
            owners: Owners::default(),
            seen: Seen::default(),
            findings: Vec::new(),
            unkept: 0,
            stopped: BTreeSet::new(),
            ignored: None,
        }
    }

    /// One that says nothing of this register: another one than the partition may change it.
    #[must_use]
    pub fn without(self, register: Register) -> Self {
        Self { ignored: Some(register), ..self }
    }

    /// What is wrong, in the order of time; at most 100 are kept.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// How much is wrong.
    #[must_use]
    pub fn all_findings(&self) -> u64 {
        self.findings.len() as u64 + self.unkept
    }

    /// What it has seen.
    #[must_use]
    pub fn seen(&self) -> &Seen {
        &self.seen
    }

    fn find(&mut self, thread: &Thread, row: usize, value: u64, fault: Fault) {
        if self.ignored == Some(self.judge.rows[row].register) {
            return;
        }
        if self.findings.len() == FINDINGS_MAX {
            self.unkept += 1;
            return;
        }
        self.findings.push(Finding {
            thread: thread.index,
            lpid: thread.lpid(),
            completed: thread.completed_now(),
            register: self.judge.rows[row].register,
            value,
            fault,
        });
    }

    fn read(&self, thread: &Thread, shared: &Shared) -> Vec<u64> {
        self.judge.rows.iter().map(|row| row.register.read(thread, shared)).collect()
    }

    fn is_visible(&self, thread: &Thread) -> Vec<bool> {
        self.judge.rows.iter().map(|row| row.register.is_visible(thread)).collect()
    }

    /// Looks for what other partitions have tagged, and learns whose the other tagged values are.
    fn find_foreign(&mut self, thread: &Thread, values: &[u64], is_visible: &[bool]) {
        let visible = values.iter().zip(is_visible).map(|(value, seen)| seen.then_some(*value));
        for (row, owner) in self.owners.foreign(thread.lpid(), visible) {
            self.find(thread, row, values[row], Fault::Foreign { owner });
        }
    }

    /// With relocation on, what is outside of quadrant 3 is translated by what a partition says: PIDR is its own.
    fn judge_door(&mut self, thread: &Thread, taken: Taken) {
        const QUADRANT_3: u64 = 3;
        if taken.to_msr & msr::IR == 0 || thread.nia >> 62 == QUADRANT_3 {
            return;
        }
        let is_pc = |row: &policy::Row| row.register == Register::Pc;
        let row = self.judge.rows.iter().position(is_pc).expect("a row of the next instruction");
        self.find(thread, row, thread.nia, Fault::Door);
    }

    fn exited(&mut self, thread: &Thread, shared: &Shared, taken: Taken) {
        self.judge_door(thread, taken);
        let lpid = thread.lpid();
        *self.seen.exits.entry(taken.vector).or_default() += 1;
        let mut values = self.read(thread, shared);
        let is_visible = self.is_visible(thread);
        let (pc, mut msr) = (saved_address(thread, taken.vector), taken.from_msr);
        let is_call = taken.vector == Vector::SystemCall && msr & msr::PR == 0;
        let call = is_call.then(|| thread.gpr[3]);
        // PAPR: it returns with interrupts enabled.
        if call == Some(Hypercall::Cede as u64) {
            msr |= msr::EE;
        }
        self.judge.set_context(&mut values, pc, msr);
        if let Some(running) = self.running.remove(&thread.index) {
            debug_assert_eq!(running.lpid, lpid, "LPIDR of a partition that runs");
            for (row, value) in values.iter_mut().enumerate() {
                if !is_visible[row] {
                    *value = running.values[row];
                }
            }
        }
        self.find_foreign(thread, &values, &is_visible);
        let number = self.seen.all_exits();
        self.last.insert(thread.index, number);
        let cause = hfscr::INTERRUPT_CAUSE.get(thread.spr(Spr::Hfscr));
        let facility = match taken.vector {
            Vector::HypervisorFacilityUnavailable => hfscr::Facility::from_cause(cause),
            _ => None,
        };
        if facility == Some(hfscr::Facility::Stop) {
            self.stopped.insert(lpid);
        }
        let left = Left {
            number,
            values,
            vector: taken.vector,
            call,
            is_stop: facility == Some(hfscr::Facility::Stop),
            is_doorbell: facility == Some(hfscr::Facility::Msgp),
            is_made_again: false,
            thread: thread.index,
        };
        self.left.entry(lpid).or_default().push(left);
    }

    /// A vCPU may execute `stop` only after its partition had to ask for it, and at level 0, whatever the hypervisor's
    /// own idleness left in PSSCR.
    fn judge_stop(&mut self, thread: &Thread) {
        let is_psscr = |row: &policy::Row| row.register == Register::Spr(Spr::Psscr);
        let Some(row) = self.judge.rows.iter().position(is_psscr) else { return };
        let value = thread.spr(Spr::Psscr);
        let is_withheld = value & (psscr::ESL | psscr::EC) != 0;
        let has_asked = self.stopped.contains(&thread.lpid());
        if !is_withheld && (!has_asked || psscr::PSLL.get(value) != 0) {
            self.find(thread, row, value, Fault::Stop);
        }
    }

    fn entered(&mut self, thread: &Thread, shared: &Shared) {
        self.judge_stop(thread);
        let lpid = thread.lpid();
        let core = |spr| stored(thread, shared, spr);
        // Of the two that name tables a processor has one.
        let secrets = [thread.spr(Spr::Hsprg0), thread.spr(Spr::Lpcr)];
        let secrets = secrets.into_iter().chain([Spr::Ptcr, Spr::Sdr1].map(core));
        let mut entry = Entry {
            values: self.read(thread, shared),
            is_visible: self.is_visible(thread),
            lpcr: thread.spr(Spr::Lpcr),
            secrets: secrets.filter(|value| *value != 0).collect(),
        };
        let all = self.left.entry(lpid).or_default();
        let judged = all
            .iter()
            .enumerate()
            .map(|(place, left)| (place, self.judge.differences(left, &entry)));
        let nearest = judged.min_by_key(|(_, differences)| differences.len());
        let start = match &nearest {
            Some((_, differences)) if differences.is_empty() => None,
            _ => Some(self.judge.differences_from_start(&entry)),
        };
        match (nearest, start) {
            (Some((place, differences)), start)
                if start.as_ref().is_none_or(|start| start.len() >= differences.len()) =>
            {
                let left = all.swap_remove(place);
                self.went_on(thread, &left, &mut entry, &differences);
            }
            (_, start) => {
                self.seen.started += 1;
                for row in start.unwrap_or_default() {
                    self.find(thread, row, entry.values[row], Fault::Started);
                }
                self.judge.set_invisible(&mut entry);
            }
        }
        self.find_foreign(thread, &entry.values, &entry.is_visible);
        self.running.insert(thread.index, Running { lpid, values: entry.values });
    }

    fn went_on(&mut self, thread: &Thread, left: &Left, entry: &mut Entry, differences: &[usize]) {
        self.seen.entries += 1;
        self.seen.migrated += u64::from(left.thread != thread.index);
        self.seen.switched += u64::from(self.last.get(&thread.index) != Some(&left.number));
        if let Some(vector) = self.judge.delivered(left, entry) {
            *self.seen.delivered.entry(vector).or_default() += 1;
        }
        for &row in differences {
            let fault = Fault::Changed { was: left.values[row], exit: left.vector };
            self.find(thread, row, entry.values[row], fault);
        }
        for (row, value) in entry.values.iter_mut().enumerate() {
            if !entry.is_visible[row] {
                *value = left.values[row];
            }
        }
    }
}

impl Observer for Oracle {
    const SEES_INSTRUCTIONS: bool = false;

    fn interrupted(&mut self, thread: &Thread, shared: &Shared, taken: Taken) {
        if taken.is_exit() {
            self.exited(thread, shared, taken);
        }
    }

    fn returned(&mut self, thread: &Thread, shared: &Shared, mode: Mode) {
        if mode.is_hypervisor() && thread.msr() & msr::HV == 0 {
            self.entered(thread, shared);
        }
    }
}

/// The address that the interrupt has saved.
fn saved_address(thread: &Thread, vector: Vector) -> u64 {
    let lpes = thread.spr(Spr::Lpcr) & lpcr::LPES != 0;
    match vector.save_restore_with(lpes) {
        SaveRestore::Srr => thread.spr(Spr::Srr0),
        SaveRestore::Hsrr => thread.spr(Spr::Hsrr0),
    }
}
