//! What hardware threads share: memory, the registers and TLB of their core and chip, reservations.

use std::collections::BTreeSet;

use arch::marker::Mark;
use arch::processor::{Processor, Way};
use arch::registers::spr::{Scope, Spr};
use serde::{Deserialize, Serialize};

use crate::ledger::Clock;
use crate::state::cores::Core;
use crate::state::memory::{FRAME_LOG2, Memory, Offset, flags};
use crate::state::power_saving::PowerSaving;
use crate::state::prefetch_engine::Rules;
use crate::state::switches::Switches;
use crate::state::thread::counters::Missing;
use crate::state::thread::{Reservation, Thread};
use crate::state::xics::{Register, Xics};

/// log2 of the reservation granule: a cache line of POWER8 and POWER9 (`docs/facts/power9-memory.md#line`).
pub const GRANULE_LOG2: u32 = 7;

/// What others have sent to a thread and it has not taken yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Signals {
    /// A system reset.
    pub system_reset: bool,
    /// A directed hypervisor doorbell.
    pub hypervisor_doorbell: bool,
    /// A directed privileged doorbell.
    pub privileged_doorbell: bool,
    /// The interrupt controller's line, while it lasts; the processor says how it arrives.
    pub external: bool,
    /// The sender's cycle when the latest of them came.
    pub since: u64,
}

/// A thread wrote a register that it shares with its siblings, and they have not heard of it yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SharedWrite {
    /// Index of the thread.
    pub thread: usize,
    /// The register.
    pub spr: Spr,
    /// What the thread keeps of it now.
    pub value: u64,
    /// The cycle of the thread's time.
    pub cycle: u64,
}

/// Where the firmware's one page lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FirmwarePlace {
    /// `opal-base-address`.
    pub base: u64,
    /// `opal-entry-address`: the firmware's entry word.
    pub entry: u64,
}

/// What hardware threads share.
#[derive(Debug)]
pub struct Shared {
    /// The processor of every thread.
    pub processor: Processor,
    /// Core clock and time base.
    pub clock: Clock,
    /// Real memory.
    pub memory: Memory,
    /// The cores, in order of their PIRs.
    pub cores: Vec<Core>,
    /// The firmware's page.
    pub firmware: FirmwarePlace,
    /// The latest time that a thread has shown, in ticks since power-on: see [`Shared::show_time`].
    pub(crate) latest_shown: u64,
    /// The state of the random-number source behind `darn`; it starts as the machine's seed.
    pub random: u64,
    /// What the machine does where the sources are silent.
    pub switches: Switches,
    /// What power-saving levels cost.
    pub power_saving: PowerSaving,
    /// How the prefetch engine is told what to do.
    pub prefetch_engine: Rules,
    /// Whether the machine is in timing mode.
    pub(crate) is_timed: bool,
    /// The cycle at which the first of the prefetch engines has something to do.
    engines_due: u64,
    /// The interrupt controller.
    pub xics: Xics,
    /// PIR and core of each thread, by thread index.
    places: Vec<(u64, usize)>,
    /// Signals on their way to each thread, by thread index.
    signals: Vec<Signals>,
    /// Something happened that may wake a waiting thread.
    attention: bool,
    /// What siblings have to be told before anybody goes on.
    shared_writes: Vec<SharedWrite>,
    /// Marks passed since the machine last looked.
    marks: Vec<(usize, Mark)>,
    /// Reserved granules by thread index, as the threads hold them.
    reservations: Vec<Option<usize>>,
    /// Frames with decoded instructions that were stored into since the machine last looked.
    stale_code: BTreeSet<usize>,
    /// A store did more than store: the machine looks before the thread goes on.
    must_look: bool,
    /// What the performance monitor was asked for and does not have.
    missing: BTreeSet<Missing>,
}

impl Shared {
    /// What performance monitors were asked for so far and do not have: it never happens.
    pub fn missing(&self) -> impl Iterator<Item = Missing> {
        self.missing.iter().copied()
    }

    /// Notes what a performance monitor does not have.
    pub(crate) fn note_missing(&mut self, missing: impl IntoIterator<Item = Missing>) {
        self.missing.extend(missing);
    }

    /// The shared part of a machine with `threads` threads.
    #[must_use]
    pub fn new(
        processor: Processor,
        clock: Clock,
        memory: Memory,
        cores: Vec<Core>,
        firmware: FirmwarePlace,
        threads: usize,
        seed: u64,
    ) -> Self {
        let reservations = vec![None; threads];
        Self {
            processor,
            clock,
            memory,
            cores,
            firmware,
            latest_shown: 0,
            random: seed,
            switches: Switches::default(),
            power_saving: PowerSaving::default(),
            prefetch_engine: Rules::default(),
            is_timed: false,
            engines_due: u64::MAX,
            xics: Xics::default(),
            places: Vec::new(),
            signals: vec![Signals::default(); threads],
            attention: false,
            shared_writes: Vec::new(),
            marks: Vec::new(),
            reservations,
            stale_code: BTreeSet::new(),
            must_look: false,
            missing: BTreeSet::new(),
        }
    }

    /// A prefetch engine was told something, or is further than it was.
    pub fn note_engines(&mut self) {
        let due = self.cores.iter().map(|core| core.engine.due()).min();
        self.engines_due = due.unwrap_or(u64::MAX);
    }

    /// The cycle at which the first of the prefetch engines has something to do.
    #[inline]
    #[must_use]
    pub fn engines_due(&self) -> u64 {
        self.engines_due
    }

    /// Whether each thread has a register of this scope for itself. If the threads of a core share one of
    /// [`Scope::Subcore`], each keeps a copy: [`Shared::tell_siblings`].
    #[must_use]
    pub fn is_of_thread(&self, scope: Scope) -> bool {
        scope == Scope::Thread || scope == Scope::Subcore && self.switches.threads_are_partitions
    }

    /// The time base that `thread` reads now.
    #[must_use]
    pub fn timebase(&self, thread: &Thread) -> u64 {
        self.ticks(thread).wrapping_add(thread.timebase_offset)
    }

    /// The ticks that whatever counts on `thread` has counted by now: to its own time, or to the latest that any thread
    /// has shown, which one that is simulated later may know although it is behind.
    #[must_use]
    pub fn ticks(&self, thread: &Thread) -> u64 {
        let ticks = self.clock.ticks(thread.time_now().cycles()).max(self.latest_shown);
        ticks.wrapping_sub(self.cores[thread.core].ticks_slept)
    }

    /// The same to its own time: what its timers go by, so that they do not depend on when others were simulated.
    #[must_use]
    pub fn own_ticks(&self, thread: &Thread) -> u64 {
        self.ticks_at(thread, thread.time_now().cycles())
    }

    /// The same at `cycle` of its time.
    #[must_use]
    pub fn ticks_at(&self, thread: &Thread, cycle: u64) -> u64 {
        self.clock.ticks(cycle).wrapping_sub(self.cores[thread.core].ticks_slept)
    }

    /// The cycle of the time of `thread` at which it will have counted so many ticks.
    #[must_use]
    pub fn cycle_of(&self, thread: &Thread, ticks: u64) -> u64 {
        self.clock.cycles_at(ticks.saturating_add(self.cores[thread.core].ticks_slept))
    }

    /// Software learns the time of `thread`, and may tell others: from now on nobody reads an earlier one.
    pub fn show_time(&mut self, thread: &Thread) {
        let ticks = self.clock.ticks(thread.time_now().cycles());
        self.latest_shown = self.latest_shown.max(ticks);
    }

    /// Ticks since power-on that were shown last, whatever was added to any time base.
    #[must_use]
    pub fn latest_shown(&self) -> u64 {
        self.latest_shown
    }

    /// Tells where `threads` are: their PIRs and cores.
    pub fn place_threads(&mut self, threads: &[Thread]) {
        let place = |thread: &Thread| (thread.spr(Spr::Pir), thread.core);
        self.places = threads.iter().map(place).collect();
    }

    /// Index of the thread with this PIR.
    #[must_use]
    pub fn thread_with_pir(&self, pir: u64) -> Option<usize> {
        self.places.iter().position(|place| place.0 == pir)
    }

    /// How many threads `core` has.
    #[must_use]
    pub fn threads_of(&self, core: usize) -> usize {
        self.places.iter().filter(|place| place.1 == core).count()
    }

    /// The threads of the core of thread `index`, by their indexes.
    #[must_use]
    pub fn threads_beside(&self, index: usize) -> std::ops::Range<usize> {
        let core = self.places[index].1;
        let first = self.places.partition_point(|place| place.1 < core);
        first..first + self.threads_of(core)
    }

    /// How `core` is split, if it is.
    #[must_use]
    pub fn split_of(&self, core: usize) -> Option<&'static Way> {
        self.processor.facts().hid0.split?.way(self.cores[core].spr(Spr::Hid0))
    }

    /// The threads that share registers of [`Scope::Subcore`] with thread `index`, which is one of them: those of its
    /// core, or of its subcore where the core is split.
    #[must_use]
    pub fn subcore_of(&self, index: usize) -> std::ops::Range<usize> {
        if self.is_of_thread(Scope::Subcore) {
            return index..index + 1;
        }
        let core = self.threads_beside(index);
        let Some(split) = self.processor.facts().hid0.split else { return core };
        let Some(way) = self.split_of(self.places[index].1) else { return core };
        let size = split.threads / way.subcores;
        let first = index - (index - core.start) % size;
        first..core.end.min(first + size)
    }

    /// What is on its way to thread `index`.
    #[must_use]
    pub fn signals(&self, index: usize) -> &Signals {
        &self.signals[index]
    }

    /// All signals, by thread index.
    #[must_use]
    pub fn all_signals(&self) -> &[Signals] {
        &self.signals
    }

    /// Puts the signals of restored threads back.
    pub fn restore_signals(&mut self, signals: Vec<Signals>) {
        self.signals = signals;
    }

    /// Changes what is on its way to thread `index`, at the sender's cycle `now`.
    pub fn signal(&mut self, index: usize, now: u64, change: impl FnOnce(&mut Signals)) {
        let signals = &mut self.signals[index];
        let before = *signals;
        change(signals);
        if *signals != before {
            signals.since = signals.since.max(now);
            self.attention = true;
        }
    }

    /// Brings the interrupt controller's lines to the threads after something changed at cycle `now`.
    pub fn drive_lines(&mut self, now: u64) {
        for index in 0..self.xics.servers() {
            let line = self.xics.line(index);
            self.signal(index, now, |signals| signals.external = line);
        }
    }

    /// `thread` wrote `spr`, which is of [`Scope::Subcore`], or its time base: siblings that share it have the same
    /// from now on. The instruction ends the run of instructions, and the machine tells them before anybody goes on.
    pub fn tell_siblings(&mut self, thread: &Thread, spr: Spr) {
        if self.subcore_of(thread.index).len() > 1 {
            let value = if spr == Spr::Tb { thread.timebase_offset } else { thread.spr(spr) };
            let cycle = thread.time_now().cycles();
            self.shared_writes.push(SharedWrite { thread: thread.index, spr, value, cycle });
        }
    }

    /// What siblings have to be told, the first first.
    #[must_use]
    pub fn shared_writes(&self) -> &[SharedWrite] {
        &self.shared_writes
    }

    /// The siblings have been told.
    pub fn clear_shared_writes(&mut self) {
        self.shared_writes.clear();
    }

    /// Something came to thread `index` at cycle `now` that is no signal of [`Signals`].
    pub fn arrived(&mut self, index: usize, now: u64) {
        let signals = &mut self.signals[index];
        signals.since = signals.since.max(now);
        self.attention = true;
    }

    /// Thread `index` passes a mark: the machine looks before it goes on.
    pub fn pass_mark(&mut self, index: usize, mark: Mark) {
        self.marks.push((index, mark));
        self.attention = true;
    }

    /// The marks passed since this was last asked, each with its thread.
    pub fn take_marks(&mut self) -> Vec<(usize, Mark)> {
        std::mem::take(&mut self.marks)
    }

    /// Something happened that may wake a waiting thread: the machine looks before it goes on.
    pub fn call_attention(&mut self) {
        self.attention = true;
    }

    /// Whether attention was called for, or siblings have to be told something.
    #[inline]
    #[must_use]
    pub fn needs_attention(&self) -> bool {
        self.attention || !self.shared_writes.is_empty()
    }

    /// Whether attention was called for.
    #[must_use]
    pub fn is_calling(&self) -> bool {
        self.attention
    }

    /// Attention was paid.
    pub fn clear_attention(&mut self) {
        self.attention = false;
    }

    /// Stores `value` for `thread` and looks after what a store must look after.
    #[inline]
    pub fn store<const N: usize>(&mut self, thread: &Thread, offset: Offset, value: [u8; N]) {
        if !self.memory.is_plain(offset) {
            self.prepare_store(thread.index, offset, N);
        }
        self.memory.write(offset, value);
    }

    /// Stores a block for an agent that is no thread, as [`Shared::store`] does for one.
    pub fn store_block<const N: usize>(&mut self, offset: Offset, value: [u8; N]) {
        if !self.memory.is_plain(offset) {
            self.prepare_store(usize::MAX, offset, N);
        }
        self.memory.write(offset, value);
    }

    /// Looks after a store of `bytes` bytes within a frame, by `thread`: the first write of the frame,
    /// decoded instructions in it, and the reservations of others that it breaks.
    #[cold]
    pub fn prepare_store(&mut self, thread: usize, offset: Offset, bytes: usize) {
        let found = self.memory.frame_flags(offset);
        self.memory.set_frame_flags(offset, flags::WRITTEN);
        if found & flags::CODE != 0 {
            self.stale_code.insert(offset >> FRAME_LOG2);
            self.must_look = true;
        }
        if found & flags::RESERVED != 0 {
            let granules = offset >> GRANULE_LOG2..=(offset + bytes - 1) >> GRANULE_LOG2;
            let frame = |granule: usize| granule >> (FRAME_LOG2 - GRANULE_LOG2);
            let mut is_reserved = false;
            for (holder, reserved) in self.reservations.iter_mut().enumerate() {
                let Some(granule) = *reserved else { continue };
                if holder != thread && granules.contains(&granule) {
                    *reserved = None;
                } else {
                    is_reserved |= frame(granule) == frame(*granules.start());
                }
            }
            if !is_reserved {
                self.memory.clear_frame_flags(offset, flags::RESERVED);
            }
        }
    }

    /// Gives `thread` a reservation for `bytes` bytes at `offset`.
    pub fn reserve(&mut self, thread: &mut Thread, offset: Offset, bytes: u8) {
        let granule = offset >> GRANULE_LOG2;
        self.memory.set_frame_flags(offset, flags::RESERVED);
        self.reservations[thread.index] = Some(granule);
        thread.reservation = Some(Reservation { granule, bytes });
    }

    /// Takes `thread`'s reservation away and says whether it covered `bytes` bytes at `offset`.
    pub fn take_reservation(&mut self, thread: &mut Thread, offset: Offset, bytes: u8) -> bool {
        let granule = offset >> GRANULE_LOG2;
        let is_unbroken = self.reservations[thread.index].take() == Some(granule);
        thread.reservation.take() == Some(Reservation { granule, bytes }) && is_unbroken
    }

    /// Takes `thread`'s reservation away.
    pub fn drop_reservation(&mut self, thread: &mut Thread) {
        self.reservations[thread.index] = None;
        thread.reservation = None;
    }

    /// The granules that are still reserved, by thread index: a thread does not know yet that its own is
    /// broken.
    #[must_use]
    pub fn all_reservations(&self) -> &[Option<usize>] {
        &self.reservations
    }

    /// Puts the reservations of restored threads back.
    pub fn restore_reservations(&mut self, reservations: Vec<Option<usize>>) {
        self.reservations = reservations;
    }

    /// The frames whose decoded instructions are stale, forgotten by asking.
    pub fn take_stale_code(&mut self) -> BTreeSet<usize> {
        std::mem::take(&mut self.stale_code)
    }

    /// Writes a register of the interrupt controller, at cycle `now`.
    pub fn write_register(&mut self, server: usize, register: Register, value: u32, now: u64) {
        self.xics.write(server, register, value);
        self.drive_lines(now);
        self.must_look = true;
    }

    /// Whether a store since [`Shared::looked`] did more than store.
    #[inline]
    #[must_use]
    pub fn must_look(&self) -> bool {
        self.must_look
    }

    /// The machine looked at what stores did.
    pub fn looked(&mut self) {
        self.must_look = false;
    }

    /// Whether decoded instructions of some frame are stale.
    #[inline]
    #[must_use]
    pub fn has_stale_code(&self) -> bool {
        !self.stale_code.is_empty()
    }
}

/// What threads share is equal when a program could not tell them apart.
impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        self.processor == other.processor
            && self.clock == other.clock
            && self.cores == other.cores
            && self.firmware == other.firmware
            && self.reservations == other.reservations
            && self.latest_shown == other.latest_shown
            && self.random == other.random
            && self.signals == other.signals
            && self.xics == other.xics
            && self.memory == other.memory
    }
}

#[cfg(test)]
mod tests {
    use super::GRANULE_LOG2;
    use crate::{Description, Machine};

    #[test]
    fn a_store_across_a_granule_breaks_the_reservations_of_both() {
        let text = include_str!("../../../machines/power9.toml")
            .replace("threads_per_core = 1", "threads_per_core = 4");
        let machine = Machine::new(Description::from_toml(&text).unwrap(), 1);
        let (mut threads, mut shared) = machine.into_parts();
        let [writer, first, second, _] = &mut threads[..] else { unreachable!("four threads") };
        shared.reserve(first, 0x1000, 8);
        shared.reserve(second, 0x1080, 8);
        shared.store(writer, 0x1078, [0; 8]);
        assert_eq!(shared.all_reservations(), [None, None, Some(0x1080 >> GRANULE_LOG2), None]);
        shared.reserve(first, 0x1000, 8);
        shared.store(writer, 0x107C, [0; 8]);
        assert_eq!(shared.all_reservations(), [None; 4]);
    }

    #[test]
    fn a_threads_own_store_keeps_its_reservation() {
        let text = include_str!("../../../machines/power9.toml");
        let machine = Machine::new(Description::from_toml(text).unwrap(), 1);
        let (mut threads, mut shared) = machine.into_parts();
        let thread = &mut threads[0];
        shared.reserve(thread, 0x1000, 4);
        shared.store(thread, 0x1000, [0; 4]);
        assert!(!shared.take_reservation(thread, 0x1000, 8), "another size");
        shared.reserve(thread, 0x1000, 4);
        assert!(shared.take_reservation(thread, 0x1000, 4));
        assert!(!shared.take_reservation(thread, 0x1000, 4), "it is gone");
    }
}
