//! A partition that does anything at all, beside one that must not notice.
//!
//! The fuzzer's bytes are what the first partition's two vCPUs do: hypercalls with any arguments,
//! second-stage faults at any address, any other exit, writes to their own memory, time that passes. The
//! dispatcher runs both partitions on the fake machine to their end. Whatever the bytes are, the
//! hypervisor does not panic, every window is closed again, no byte that is not the first partition's is
//! written, and the second partition ends well.

#![no_main]

use std::cell::RefCell;
use std::rc::Rc;

use arch::address::GuestRealAddress;
use arch::bundle::{HashCallPolicy, RegisterPolicy};
use arch::interrupt::{Vector, storage};
use arch::papr::{Hypercall, area, page, process_table};
use arch::registers::hfscr::Facility;
use arch::registers::msr;
use hypervisor_core::console::Console;
use hypervisor_core::exit::{self, Action, Door, Exit};
use hypervisor_core::fake::Fake;
use hypervisor_core::hypercall::{Answer, Guest, answer};
use hypervisor_core::interrupts::handler::Context;
use hypervisor_core::life::outcome::{Departure, Outcome, StopReason};
use hypervisor_core::memory::Range;
use hypervisor_core::partition::{Partition, Terminal};
use hypervisor_core::scheduling::queue::WEIGHT_DEFAULT;
use hypervisor_core::scheduling::schedule::Schedule;
use hypervisor_core::system::{Policy, System};
use hypervisor_core::vcpu::Vcpu;
use hypervisor_core::vcpu::registers::Registers;
use libfuzzer_sys::fuzz_target;

const MIB: u64 = 1 << 20;
/// One large page and a small one.
const WILD: Range = Range::new(2 * MIB, 2 * MIB + 0x1_0000);
const QUIET: Range = Range::new(WILD.start.0 + WILD.bytes, 0x2_0000);
const MACHINE_BYTES: usize = (QUIET.start.0 + QUIET.bytes + 0x1_0000) as usize;
const ENTRY: GuestRealAddress = GuestRealAddress(0x100);
const WILD_LPID: u32 = 1;
/// What memory begins as, see [`Fake`].
static UNTOUCHED: [u8; WILD.start.0 as usize] = [0xA5; WILD.start.0 as usize];
/// Where the wild partition has its RTAS buffers.
const BUFFER: u64 = 0x1_0000;
/// Arguments that mean something to a call, or lie at the memory's end.
const TELLING: [u64; 12] = [
    page::ZERO,
    page::COPY,
    process_table::REGISTER | process_table::RADIX,
    process_table::REGISTER | process_table::RADIX | process_table::GTSE,
    process_table::DEREGISTER,
    area::FUNCTION.set(0, area::REGISTER_AREA),
    area::FUNCTION.set(0, area::REGISTER_LOG),
    area::FUNCTION.set(0, area::DEREGISTER_AREA),
    BUFFER,
    WILD.bytes,
    WILD.bytes - 0x1000,
    WILD.bytes - 8,
];
/// How often the quiet partition is entered until it ends.
const QUIET_TURNS: u32 = 5;

/// The fuzzer's bytes, taken one after the other.
struct Choices {
    bytes: Vec<u8>,
    taken: usize,
}

impl Choices {
    fn is_over(&self) -> bool {
        self.taken >= self.bytes.len()
    }

    fn byte(&mut self) -> u8 {
        self.taken += 1;
        self.bytes.get(self.taken - 1).copied().unwrap_or(0)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte()) % limit
    }

    fn doubleword(&mut self) -> u64 {
        u64::from_be_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// Any doubleword, but rather one at which something changes.
    fn argument(&mut self) -> u64 {
        match self.byte() % 10 {
            0 => 0,
            1 => u64::from(self.byte() % 16),
            2 => 1 << (self.byte() % 64),
            3 => (u64::from(self.byte() % 0x24) << 16)
                .wrapping_add_signed(i64::from(self.byte() as i8)),
            4 => u64::MAX - u64::from(self.byte()),
            5 => u64::from(self.byte() % 8) << 45,
            6 => BUFFER + u64::from(self.byte()),
            7 | 8 => TELLING[self.below(TELLING.len())],
            _ => self.doubleword(),
        }
    }

    /// The cause of a second-stage fault: most have this one.
    fn status(&mut self) -> u64 {
        if self.byte() % 4 == 0 { self.argument() } else { storage::NO_TRANSLATION }
    }

    /// What the first partition does until its vCPU leaves.
    fn play(&mut self, hal: &Fake, guest: &mut Guest<'_, Fake>, until: u64) -> Departure {
        loop {
            if self.is_over() {
                return Departure::Ended(Outcome::PoweredOff);
            }
            let departure = match self.byte() % 8 {
                0..3 => self.call(guest),
                3 => self.write(hal, guest),
                4..6 => self.exit(hal, guest),
                6 => {
                    let ticks = self.argument() >> 20;
                    hal.timebase.set(hal.timebase.get().saturating_add(ticks));
                    (hal.timebase.get() >= until).then_some(Departure::Preempted)
                }
                _ => {
                    let expires = self.argument();
                    let vcpu = &mut guest.partition.vcpus[guest.vcpu];
                    let registers = vcpu.registers.as_mut().expect("it runs here");
                    registers.msr ^= msr::EE;
                    registers.supervisor.decrementer_expires = expires;
                    None
                }
            };
            let pinned = guest.partition.pinned_pages();
            assert_eq!(hal.open_windows.get(), pinned, "a window is open");
            if let Some(departure) = departure {
                return departure;
            }
        }
    }

    fn call(&mut self, guest: &mut Guest<'_, Fake>) -> Option<Departure> {
        let call = Hypercall::ALL[self.below(Hypercall::ALL.len())];
        let arguments = std::array::from_fn(|_| self.argument());
        if call.is_of_device() || call.is_of_interrupts() {
            // They want the partition unlocked, which it is not here; `hypercall/tests.rs` makes them at random.
            return None;
        }
        match answer(guest, call, arguments) {
            Answer::Status(_) | Answer::Outputs(..) => None,
            Answer::Departs(_, _, departure) => Some(departure),
        }
    }

    /// Writes to its own memory, as its stores do: RTAS arguments for the most part.
    fn write(&mut self, hal: &Fake, guest: &mut Guest<'_, Fake>) -> Option<Departure> {
        let mut words = [0x2000 + u32::from(self.byte() % 16), 0, 0, 0, 0, 0, 0, 0];
        for word in &mut words[1..3] {
            *word = u32::from(self.byte() % 6);
        }
        for word in &mut words[3..] {
            *word = self.argument() as u32;
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        // There may be no table left for its first page there.
        let written = guest.partition.memory.write(hal, GuestRealAddress(BUFFER), &bytes);
        written.err().map(|reason| Departure::Ended(Outcome::Stopped(StopReason::Access(reason))))
    }

    fn exit(&mut self, hal: &Fake, guest: &mut Guest<'_, Fake>) -> Option<Departure> {
        let door = if self.byte() % 2 == 0 { Door::Real } else { Door::Virtual };
        let interrupted = Context { pc: self.argument(), msr: self.argument() & !(msr::HV) };
        let exit = match self.byte() % 5 {
            0 => Exit::DataStorage {
                status: self.status(),
                address: GuestRealAddress(self.argument()),
            },
            1 => Exit::InstructionStorage {
                status: self.status(),
                address: GuestRealAddress(self.argument()),
            },
            2 => Exit::EmulationAssistance { interrupted, before: self.argument() },
            3 => {
                let facility = Facility::from_cause(self.byte() as u64 % 16);
                Exit::FacilityUnavailable { interrupted, facility }
            }
            _ => Exit::Other(Vector::ALL[self.below(Vector::ALL.len())]),
        };
        match exit::handle(guest.partition, guest.vcpu, hal, door, exit) {
            Action::Resume | Action::MachineCheck => None,
            Action::Departs(departure) => Some(departure),
            Action::Pauses { .. } => Some(Departure::Paused),
            Action::Interrupt { to, .. } => {
                assert_eq!(to.msr & (msr::HV | msr::PR), 0, "a guest's handler is its kernel's");
                None
            }
        }
    }
}

fn partition(
    hal: &Fake,
    schedule: &mut Schedule,
    name: &str,
    lpid: u32,
    memory: Range,
    vcpus: usize,
) -> Partition<Fake> {
    let mut partition =
        Partition::new(hal, name.to_owned(), lpid, memory).expect("the fake has tables");
    for _ in 0..vcpus {
        let id = schedule.queue.add(WEIGHT_DEFAULT);
        partition.vcpus.push(Vcpu::new(id, Registers::started(ENTRY, 0, 0)));
    }
    schedule.start_in(&mut partition, 0, 0);
    partition
}

fuzz_target!(|bytes: &[u8]| {
    let hal = Fake::new(MACHINE_BYTES);
    let mut choices = Choices { bytes: bytes.to_vec(), taken: 0 };
    hal.tables_left.set(if choices.byte() % 16 == 0 { 1 } else { usize::MAX });
    hal.random.set((choices.byte() % 2 == 0).then_some(7));
    let mut schedule = Schedule::new(1);
    let mut wild = partition(&hal, &mut schedule, "wild", WILD_LPID, WILD, 2);
    wild.time_limit = (choices.byte() % 4 == 0).then_some(1 << 40);
    wild.terminal = match choices.byte() % 3 {
        0 => Terminal::Output,
        1 => Terminal::Input,
        _ => Terminal::Interactive,
    };
    let quiet = partition(&hal, &mut schedule, "quiet", WILD_LPID + 1, QUIET, 1);

    let choices = Rc::new(RefCell::new(choices));
    let mut turns = 0;
    hal.play(move |hal, guest, _, until| {
        if guest.partition.lpid == WILD_LPID {
            return choices.borrow_mut().play(hal, guest, until);
        }
        turns += 1;
        if turns == QUIET_TURNS {
            Departure::Ended(Outcome::PoweredOff)
        } else {
            Departure::Preempted
        }
    });

    let console = Console::default();
    console.set_shared(true);
    let policy = Policy {
        slice: 1000,
        patience: 1_000_000,
        registers: RegisterPolicy::Owned,
        hash_calls: HashCallPolicy::Fast,
    };
    let partitions = vec![wild, quiet];
    let system = System::new(&hal, &console, policy, partitions, schedule, vec![0]);
    system.run_thread(0);
    let ended = system.into_partitions();

    assert!(ended[0].life.outcome().is_some());
    assert_eq!(ended[1].life.outcome(), Some(&Outcome::PoweredOff), "the quiet partition");
    assert_eq!(hal.open_windows.get(), 0, "windows that nobody closed");
    let memory = hal.memory.borrow();
    let (before, rest) = memory.split_at(WILD.start.0 as usize);
    // Compared as wholes: what is counted byte by byte is slow.
    for outside in [before, &rest[WILD.bytes as usize..]] {
        assert!(outside == &UNTOUCHED[..outside.len()], "memory that is not its own");
    }
});
