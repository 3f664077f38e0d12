//! One hardware thread: its architected state, and what the machine remembers while it executes.

pub mod accesses;
pub mod counters;
pub(crate) mod occurrences;
pub mod shortcuts;
pub mod trap;

use std::collections::VecDeque;

use arch::address::EffectiveAddress;
use arch::processor::Processor;
use arch::registers::hfscr::Facility;
use arch::registers::spr::{Scope, Spr};
use arch::registers::{cr, lpcr, msr, xer};
use serde::{Deserialize, Serialize};
use serde_big_array::BigArray;

use crate::ledger::LocalTime;
use crate::state::invalidation::Outstanding;
use crate::state::power_saving::{Asked, Reached};
use crate::state::slb::SlbEntry;
use crate::state::timers::{Timers, Underflow};
use accesses::Accesses;
use counters::Counters;
use shortcuts::Shortcuts;
use trap::Cause;

/// What a thread is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Activity {
    /// Executes instructions.
    Running,
    /// Waits inside OPAL for `OPAL_START_CPU`.
    InFirmware,
    /// Waits in power saving, as it asked.
    Stopped,
    /// Waits in `wait`.
    Waiting,
}

impl Activity {
    /// Whether it is a wait that an exception ends.
    #[must_use]
    pub fn is_asleep(self) -> bool {
        matches!(self, Self::Stopped | Self::Waiting)
    }
}

/// A load-and-reserve that no store has broken yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reservation {
    /// The reserved granule: the place in memory, divided by its 128 bytes.
    pub granule: usize,
    /// Bytes of the load; a store-conditional must have the same.
    pub bytes: u8,
}

/// An interrupt that took the thread from a partition into the hypervisor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LastExit {
    /// The vector's offset.
    pub vector: u64,
    /// The address that the interrupt saved.
    pub address: u64,
    /// Instructions the thread had completed.
    pub completed: u64,
}

/// How many exits a thread remembers, for reports.
pub const LAST_EXITS: usize = 8;

/// A hardware thread.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Thread {
    /// Index in the machine's list.
    pub index: usize,
    /// Index of its core in the machine's list.
    pub core: usize,
    /// What it is doing.
    pub activity: Activity,
    /// The time base is the ticks that the thread has counted plus this, which threads that share it have alike.
    pub timebase_offset: u64,
    /// General-purpose registers.
    pub gpr: [u64; 32],
    /// Vector-scalar registers, doubleword 0 first. FPR n is doubleword 0 of VSR n.
    #[serde(with = "BigArray")]
    pub vsr: [[u64; 2]; 64],
    /// Condition register; field 0 in the top four bits.
    pub cr: u32,
    /// Fixed-point exception register.
    pub xer: u64,
    /// Link register.
    pub lr: u64,
    /// Count register.
    pub ctr: u64,
    /// Floating-point status and control register.
    pub fpscr: u64,
    /// Vector status and control register.
    pub vscr: u32,
    /// Machine state register. Written through [`Thread::set_msr`].
    msr: u64,
    /// The bits of it that the processor keeps.
    msr_kept: u64,
    /// HFSCR bits that are no switch on the processor.
    never_withheld: u64,
    /// Thread- and subcore-scope special-purpose registers that have no field of their own, by [`Spr`]. Of what
    /// siblings share each has a copy.
    #[serde(with = "BigArray")]
    spr: [u64; Spr::COUNT],
    /// The address of the instruction that executes, or executed last.
    pub cia: u64,
    /// The address of the next instruction.
    pub nia: u64,
    /// The reservation, if the thread holds one.
    pub reservation: Option<Reservation>,
    /// The segment lookaside buffer: as many entries as the processor has.
    pub slb: Vec<SlbEntry>,
    /// What the hypervisor decrementer's sign has brought.
    pub(crate) underflow: Underflow,
    /// What counts.
    pub(crate) counters: Counters,
    /// Invalidations that other cores have yet to make for this thread.
    pub outstanding: Outstanding,
    /// Instructions completed since power-on.
    pub completed: u64,
    /// Interrupts taken since power-on.
    pub interrupts: u64,
    /// The last exits, the latest last.
    pub last_exits: VecDeque<LastExit>,
    /// The thread's time at `run_start`.
    pub time: LocalTime,
    /// While it waits in `stop` or `wait`: the cycle at which it wakes, as far as is known; `u64::MAX` if only
    /// another thread can wake it.
    pub wakes_at: u64,
    /// While it waits in power saving: what it asked for.
    pub asked: Asked,
    /// While it waits in power saving: how deep it got.
    pub reached: Reached,
    /// First instruction of the straight run that executes; those from here to `cia` are not yet in
    /// `completed` and `time`.
    pub run_start: u64,

    /// Why the last instruction did not complete.
    #[serde(skip)]
    pub(crate) cause: Option<Cause>,
    /// Host-side shortcuts of translation; they answer what the modelled TLB would.
    #[serde(skip)]
    pub(crate) shortcuts: Shortcuts,
    /// Changes whenever the SLB loses an entry, or has two for one address: shortcuts taken before are void.
    #[serde(skip)]
    pub(crate) slb_version: u64,
    /// What the decrementers ask for, known until one of them changes it.
    #[serde(skip)]
    pub(crate) timers: Timers,
    /// What the instruction that executes has accessed, in timing mode or where an observer wants to know.
    #[serde(skip)]
    pub accesses: Accesses,
}

impl Thread {
    /// A thread as firmware parks it: all registers zero, waiting inside OPAL.
    #[must_use]
    pub fn new(processor: Processor, index: usize, core: usize) -> Self {
        Self {
            index,
            core,
            activity: Activity::InFirmware,
            timebase_offset: 0,
            gpr: [0; 32],
            vsr: [[0; 2]; 64],
            cr: 0,
            xer: 0,
            lr: 0,
            ctr: 0,
            fpscr: 0,
            vscr: 0,
            msr: 0,
            msr_kept: processor.facts().msr,
            never_withheld: !processor.facts().hfscr,
            spr: [0; Spr::COUNT],
            cia: 0,
            nia: 0,
            reservation: None,
            slb: vec![SlbEntry::default(); processor.facts().slb_entries],
            underflow: Underflow::default(),
            counters: Counters::new(processor),
            outstanding: Outstanding::default(),
            completed: 0,
            interrupts: 0,
            last_exits: VecDeque::with_capacity(LAST_EXITS),
            time: LocalTime::default(),
            wakes_at: u64::MAX,
            asked: Asked::default(),
            reached: Reached::default(),
            run_start: 0,
            cause: None,
            shortcuts: Shortcuts::default(),
            slb_version: 0,
            timers: Timers::default(),
            accesses: Accesses::default(),
        }
    }

    /// Remembers an exit.
    pub(crate) fn remember_exit(&mut self, vector: u64, address: u64) {
        if self.last_exits.len() == LAST_EXITS {
            self.last_exits.pop_front();
        }
        self.last_exits.push_back(LastExit { vector, address, completed: self.completed });
    }

    /// Drops what the thread remembers only to be fast.
    pub(crate) fn forget_shortcuts(&mut self) {
        self.shortcuts.forget();
        self.timers = Timers::default();
    }

    /// The machine state register.
    #[inline]
    #[must_use]
    pub fn msr(&self) -> u64 {
        self.msr
    }

    /// Writes what the processor keeps of the MSR. The caller ends the run of instructions, so that nothing
    /// decoded under the old state goes on.
    pub fn set_msr(&mut self, value: u64) {
        let value = value & self.msr_kept;
        if self.may_change_counting(self.msr, value) {
            self.count();
            self.msr = value;
            self.count_anew();
        }
        self.msr = value;
    }

    /// A thread- or subcore-scope register's stored value, without the effects of `mfspr`.
    #[inline]
    #[must_use]
    pub fn spr(&self, spr: Spr) -> u64 {
        debug_assert!(matches!(spr.row().scope, Scope::Thread | Scope::Subcore));
        self.spr[spr as usize]
    }

    /// The number of the partition whose registers it has, or 0 (LPIDR).
    #[inline]
    #[must_use]
    pub fn lpid(&self) -> u32 {
        self.spr(Spr::Lpidr) as u32
    }

    /// Stores a thread- or subcore-scope register's value, without the effects of `mtspr`; siblings that share it keep
    /// theirs.
    #[inline]
    pub fn set_spr(&mut self, spr: Spr, value: u64) {
        debug_assert!(matches!(spr.row().scope, Scope::Thread | Scope::Subcore));
        self.spr[spr as usize] = value;
    }

    /// Instructions completed and interrupts taken.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.completed + self.interrupts
    }

    /// Instructions completed, those of the run under way included.
    #[must_use]
    pub fn completed_now(&self) -> u64 {
        self.completed + self.in_run()
    }

    /// The thread's time at the instruction that executes.
    #[must_use]
    pub fn time_now(&self) -> LocalTime {
        self.time.after_functional(self.in_run())
    }

    fn in_run(&self) -> u64 {
        self.cia.wrapping_sub(self.run_start) / 4
    }

    /// Whether HFSCR lets a partition use the facility, or cannot withhold it.
    #[inline(always)]
    #[must_use]
    pub fn grants(&self, facility: Facility) -> bool {
        (self.spr(Spr::Hfscr) | self.never_withheld) & facility.bit() != 0
    }

    /// Whether the thread is in hypervisor state.
    #[must_use]
    pub fn is_hypervisor(&self) -> bool {
        self.msr & (msr::HV | msr::PR) == msr::HV
    }

    /// Whether the thread is in problem state.
    #[must_use]
    pub fn is_problem(&self) -> bool {
        self.msr & msr::PR != 0
    }

    /// Whether loads and stores are little-endian.
    #[inline]
    #[must_use]
    pub fn is_little_endian(&self) -> bool {
        self.msr & msr::LE != 0
    }

    /// Whether the decrementers are large: LPCR\[LD\].
    #[must_use]
    pub fn has_large_decrementer(&self) -> bool {
        self.spr(Spr::Lpcr) & lpcr::LD != 0
    }

    /// GPR `ra`, or zero when `ra` is 0: the (RA|0) of the Power ISA.
    #[inline]
    #[must_use]
    pub fn gpr_or_zero(&self, ra: usize) -> u64 {
        if ra == 0 { 0 } else { self.gpr[ra] }
    }

    /// An effective address as the thread's mode has it: 32 bits where MSR\[SF\]=0.
    #[inline]
    #[must_use]
    pub fn effective(&self, address: u64) -> EffectiveAddress {
        EffectiveAddress(if self.msr & msr::SF == 0 { address & 0xFFFF_FFFF } else { address })
    }

    /// FPR `number`.
    #[inline]
    #[must_use]
    pub fn fpr(&self, number: usize) -> u64 {
        self.vsr[number & 31][0]
    }

    /// Sets FPR `number`. POWER9 leaves doubleword 1 of the VSR undefined; here it becomes zero.
    #[inline]
    pub fn set_fpr(&mut self, number: usize, value: u64) {
        self.vsr[number & 31] = [value, 0];
    }

    /// VSR `number`, with doubleword 0 in the most significant bits.
    #[inline]
    #[must_use]
    pub fn vsr(&self, number: usize) -> u128 {
        let [high, low] = self.vsr[number & 63];
        u128::from(high) << 64 | u128::from(low)
    }

    /// Sets VSR `number`.
    #[inline]
    pub fn set_vsr(&mut self, number: usize, value: u128) {
        self.vsr[number & 63] = [(value >> 64) as u64, value as u64];
    }

    /// VR `number`, which is VSR 32 + `number`.
    #[inline]
    #[must_use]
    pub fn vr(&self, number: usize) -> u128 {
        self.vsr(32 + (number & 31))
    }

    /// Sets VR `number`.
    #[inline]
    pub fn set_vr(&mut self, number: usize, value: u128) {
        self.set_vsr(32 + (number & 31), value);
    }

    /// The four bits of CR field `field`.
    #[inline]
    #[must_use]
    pub fn cr_field(&self, field: usize) -> u32 {
        self.cr >> (28 - 4 * (field & 7)) & 0xF
    }

    /// Sets CR field `field`.
    #[inline]
    pub fn set_cr_field(&mut self, field: usize, bits: u32) {
        let shift = 28 - 4 * (field & 7);
        self.cr = self.cr & !(0xF << shift) | bits << shift;
    }

    /// CR bit `number`, 0 to 31.
    #[inline]
    #[must_use]
    pub fn cr_bit(&self, number: usize) -> bool {
        self.cr >> (31 - (number & 31)) & 1 != 0
    }

    /// Sets CR0 as a record form does: `result` compared with zero, and XER\[SO\].
    #[inline]
    pub fn record(&mut self, result: u64) {
        let result = if self.msr & msr::SF == 0 { i64::from(result as i32) } else { result as i64 };
        let order = match result.cmp(&0) {
            std::cmp::Ordering::Less => cr::LT,
            std::cmp::Ordering::Greater => cr::GT,
            std::cmp::Ordering::Equal => cr::EQ,
        };
        self.set_cr_field(0, order | self.summary_overflow());
    }

    /// XER\[SO\] as the lowest bit of a CR field.
    #[inline]
    #[must_use]
    pub fn summary_overflow(&self) -> u32 {
        u32::from(self.xer & xer::SO != 0)
    }
}

/// Two threads are equal when everything a program can see, and their time, is.
impl PartialEq for Thread {
    fn eq(&self, other: &Self) -> bool {
        let visible = |thread: &Self| {
            (
                (thread.index, thread.core, thread.activity),
                (thread.gpr, thread.cr, thread.xer, thread.lr, thread.ctr),
                (thread.fpscr, thread.vscr, thread.msr, thread.cia, thread.nia),
                (thread.reservation, thread.completed, thread.interrupts, thread.time),
                (thread.wakes_at, thread.asked, thread.reached, thread.underflow),
                (thread.counters, thread.timebase_offset),
            )
        };
        visible(self) == visible(other)
            && self.outstanding == other.outstanding
            && self.slb == other.slb
            && self.vsr == other.vsr
            && self.spr == other.spr
            && self.last_exits == other.last_exits
    }
}
