//! The machine: puts the parts together, boots, and runs.
//!
//! [`State`] is everything that a snapshot holds; [`Machine`] adds what can be made again from it (the
//! decoded blocks). Threads are interleaved by their local time in a fixed order, in slices that end at
//! multiples of [`QUANTUM_CYCLES`], so how often somebody stops the machine to look does not change what
//! it does.

mod agenda;
mod engines;
mod execution;
mod look;
mod places;
mod power;
mod report;
mod run;
mod siblings;
mod snapshot;
pub mod state;
mod step;
mod subcores;
mod timed;

pub use places::{Place, Whose};
pub use report::Report;
pub use run::RunState;
pub use snapshot::SnapshotError;

use arch::address::RealAddress;
use arch::interrupt::Vector;
use arch::marker::{Mark, Region};
use arch::registers::spr::{Scope, Spr};

use crate::blocks::Blocks;
use crate::description::Description;
use crate::machine::state::State;
use crate::pipeline::block::TimedBlocks;
use crate::platform::console::Input;
use crate::platform::kernel::{self, BootError};
use crate::platform::{Platform, device_tree, layout, opal};
use crate::state::cores::Core;
use crate::state::memory::Memory;
use crate::state::shared::{FirmwarePlace, Shared};
use crate::state::thread::Thread;
use crate::state::xics::Xics;
use agenda::Agenda;
use places::Places;

/// Slices of threads end at multiples of so many cycles of their time, in functional mode.
pub const QUANTUM_CYCLES: u64 = 1000;

/// What the firmware is given to boot.
#[derive(Clone, Debug, Default)]
pub struct Boot {
    /// The kernel file: an ELF file laid out as skiboot accepts it, or a flat image.
    pub kernel: Vec<u8>,
    /// The initrd, if any.
    pub initrd: Option<Vec<u8>>,
    /// Kernel arguments, `/chosen/bootargs`.
    pub arguments: String,
}

/// A machine.
#[derive(Debug)]
pub struct Machine {
    state: State,
    blocks: Blocks,
    operations: TimedBlocks,
    /// Behind which marks a run ends, and which was passed, by which thread.
    stop_at: Vec<Mark>,
    at_mark: Option<(usize, Mark)>,
    /// Which interrupt out of a partition begins a region.
    begin_at: Option<(Vector, Region)>,
    /// The last cycle that a run sleeps up to.
    sleep_until: u64,
    places: Places,
    agenda: Agenda,
}

impl Machine {
    /// A machine in this state.
    fn of(state: State) -> Self {
        let (blocks, operations) = (Blocks::default(), TimedBlocks::default());
        let (stop_at, places, agenda) = (Vec::new(), Places::default(), Agenda::default());
        let (at_mark, begin_at, sleep_until) = (None, None, u64::MAX);
        Self { state, blocks, operations, stop_at, at_mark, begin_at, sleep_until, places, agenda }
    }

    /// Ends each run behind one of these marks, with [`RunState::AtMark`]; they are no part of the machine's state.
    pub fn stop_at(&mut self, marks: Vec<Mark>) {
        self.stop_at = marks;
    }

    /// Begins `region` with each interrupt of this vector that takes a thread out of a partition, as if the
    /// thread had passed a mark there; it is no part of the machine's state.
    pub fn begin_at(&mut self, vector: Vector, region: Region) {
        self.begin_at = Some((vector, region));
    }

    /// Ends each run before a thread executes what lies at one of these places, with [`RunState::AtPlace`]; they are
    /// no part of the machine's state.
    pub fn stop_before(&mut self, places: Vec<Place>) {
        self.places.set(places);
    }

    /// Ends each run, with [`RunState::Asleep`], where every thread sleeps and none wakes up to this cycle; it is no
    /// part of the machine's state. Else a run skips such time at once, whatever its length.
    pub fn sleep_until(&mut self, cycle: u64) {
        self.sleep_until = cycle;
    }

    /// A machine after power-on, every thread inside firmware.
    #[must_use]
    pub fn new(description: Description, seed: u64) -> Self {
        let processor = description.processor();
        let (chips, cores_per_chip, threads_per_core) = description.topology();
        let mut cores = Vec::new();
        for chip in 0..chips {
            for _ in 0..cores_per_chip {
                cores.push(Core::new(chip as usize));
            }
        }
        let pirs = device_tree::pirs(&description);
        let mut threads = Vec::new();
        for (index, pir) in pirs.into_iter().enumerate() {
            let mut thread = Thread::new(processor, index, index / threads_per_core as usize);
            let core = &mut cores[thread.core];
            for &spr in Spr::ALL {
                let value = spr.reset(processor);
                match spr.row().scope {
                    Scope::Thread | Scope::Subcore => thread.set_spr(spr, value),
                    Scope::Core => core.set_spr(spr, value),
                    // The time base counts by itself and the PVR never changes.
                    Scope::Chip => {}
                }
            }
            thread.set_spr(Spr::Pir, u64::from(pir));
            thread.set_spr(Spr::Tir, index as u64 % u64::from(threads_per_core));
            threads.push(thread);
        }
        let firmware = FirmwarePlace { base: layout::FIRMWARE, entry: layout::ENTRY };
        let memory = Memory::new(description.memory());
        let clock = description.clock();
        let mut shared =
            Shared::new(processor, clock, memory, cores, firmware, threads.len(), seed);
        shared.switches = description.switches();
        shared.power_saving = description.power_saving();
        shared.prefetch_engine = description.prefetch_engine();
        shared.place_threads(&threads);
        shared.xics = Xics::new(processor, &device_tree::pirs(&description));
        let platform = Platform::new(threads.len());
        let state = State {
            description,
            seed,
            threads,
            shared,
            platform,
            progress_at: 0,
            timing: None,
            timed: None,
            plans: Vec::new(),
        };
        Self::of(state)
    }

    /// Puts kernel, initrd and device tree where firmware has them and enters the kernel on the thread
    /// that boots; the others wait inside firmware.
    ///
    /// # Errors
    /// [`BootError`] if firmware would refuse the files; the machine is unchanged then.
    pub fn boot(&mut self, boot: &Boot) -> Result<(), BootError> {
        let entry = kernel::entry(&boot.kernel)?;
        check_room("kernel", &boot.kernel, layout::KERNEL_BYTES)?;
        let initrd = boot.initrd.as_deref().unwrap_or_default();
        check_room("initrd", initrd, layout::INITRD_BYTES)?;
        let State { description, threads, shared, .. } = &mut self.state;
        let first = description.boot_thread();
        let pir = threads[first].spr(Spr::Pir) as u32;
        let initrd_end = layout::INITRD + initrd.len() as u64;
        let chosen = device_tree::Chosen {
            arguments: &boot.arguments,
            initrd: boot.initrd.as_ref().map(|_| (layout::INITRD, initrd_end)),
        };
        let tree = device_tree::build(description, &chosen, pir);
        if tree.len() as u64 > layout::FIRMWARE + layout::FIRMWARE_BYTES - layout::DEVICE_TREE {
            return Err(BootError::DeviceTreeTooLarge(tree.len()));
        }
        for (address, bytes) in [
            (layout::KERNEL, boot.kernel.as_slice()),
            (layout::INITRD, initrd),
            (layout::DEVICE_TREE, &tree),
            (layout::ENTRY, &opal::entry_words()),
        ] {
            shared
                .memory
                .copy_in(RealAddress(address), bytes)
                .expect("a description has memory where firmware puts its files");
        }
        opal::enter_payload(&mut threads[first], entry);
        Ok(())
    }

    /// Instructions completed by all threads.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.state.instructions()
    }

    /// The time base of the first core.
    #[must_use]
    pub fn timebase(&self) -> u64 {
        self.state.shared.timebase(&self.state.threads[0])
    }

    /// The latest cycle that a thread has reached.
    #[must_use]
    pub fn cycle(&self) -> u64 {
        self.state.threads.iter().map(|thread| thread.time.cycles()).max().unwrap_or(0)
    }

    /// Simulated time since power-on.
    #[must_use]
    pub fn simulated_seconds(&self) -> f64 {
        self.cycle() as f64 / self.state.shared.clock.core_hz as f64
    }

    /// What the console sent since the last call.
    pub fn take_console_output(&mut self) -> Vec<u8> {
        self.state.platform.console.take_output()
    }

    /// Types `bytes` on the console now.
    pub fn console_input(&mut self, bytes: &[u8]) {
        let (at_step, timebase) = (self.state.steps(), self.timebase());
        let latest = self.cycle();
        let State { shared, platform, .. } = &mut self.state;
        platform.console.type_in(Input { at_step, timebase, bytes: bytes.to_vec() });
        platform.drive_lines(shared, latest);
    }

    /// Sets causes in the HMER of thread `index`, as a failing part of the machine would: no part of this one
    /// fails by itself. A hypervisor maintenance interrupt follows where HMEER enables one of them.
    ///
    /// # Panics
    /// If there is no such thread.
    pub fn raise_maintenance(&mut self, index: usize, causes: u64) {
        let latest = self.cycle();
        let State { threads, shared, .. } = &mut self.state;
        let thread = &mut threads[index];
        thread.set_spr(Spr::Hmer, thread.spr(Spr::Hmer) | causes);
        shared.arrived(index, latest);
    }

    /// Drops every host-side shortcut: decoded blocks, translations at hand, known timers. The machine
    /// goes on as it would have, only slower; tests use this to show that it does.
    pub fn forget_shortcuts(&mut self) {
        self.blocks.clear(&mut self.state.shared.memory);
        self.operations = TimedBlocks::default();
        for thread in &mut self.state.threads {
            thread.forget_shortcuts();
        }
    }

    /// The threads and what they share, taken out of the machine: for tests of single parts.
    #[must_use]
    pub fn into_parts(self) -> (Vec<Thread>, Shared) {
        (self.state.threads, self.state.shared)
    }

    /// The threads and what they share, to change from outside, as a debugger does and as a test that
    /// breaks something. What the machine has remembered about them is dropped.
    pub fn parts_mut(&mut self) -> (&mut [Thread], &mut Shared) {
        self.forget_shortcuts();
        (&mut self.state.threads, &mut self.state.shared)
    }

    /// The machine's state, to look at.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }
}

fn check_room(what: &'static str, file: &[u8], most: u64) -> Result<(), BootError> {
    let bytes = file.len() as u64;
    if bytes > most { Err(BootError::TooLarge { what, bytes, most }) } else { Ok(()) }
}

/// Two machines are equal when their states are; the decoded blocks do not matter.
impl PartialEq for Machine {
    fn eq(&self, other: &Self) -> bool {
        self.state == other.state
    }
}

#[cfg(test)]
mod tests {
    use super::check_room;

    #[test]
    fn a_file_may_fill_its_place_and_no_more() {
        let fits = |bytes: usize| check_room("kernel", &vec![0; bytes], 16).is_ok();
        assert!(fits(15) && fits(16) && !fits(17) && !fits(100));
    }
}
