//! Hypercalls against the fake machine.

use std::cell::RefCell;
use std::vec;
use std::vec::Vec;

use arch::address::{GuestRealAddress, RealAddress};
use arch::bundle::Translation;
use arch::papr::status::{
    H_BUSY, H_CLOSED, H_FUNCTION, H_HARDWARE, H_P2, H_P3, H_P4, H_PARAMETER, H_RESOURCE, H_SUCCESS,
    H_UNSUPPORTED_FLAG_START,
};
use arch::papr::{Class, Hypercall, area, mode, page, process_table, rtas, tce};
use arch::radix::TableLocation;
use arch::record::{Record, START};
use arch::registers::lpcr;

use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_assert_eq, prop_oneof};
use proptest::test_runner::TestRunner;

use super::{
    Answer, Caller, answer, initialize_owned, of_device, of_interrupts, set_priority, went_on,
    with_others,
};
use crate::boot::characteristics::Characteristics;
use crate::calendar::DateTime;
use crate::console::Console;
use crate::devices::adapter::Adapter;
use crate::devices::disk::Disk;
use crate::devices::{Devices, source, unit};
use crate::fake::Fake;
use crate::guest_memory::GuestMemory;
use crate::hash_table::Options;
use crate::hypercall::Guest;
use crate::life::Pending;
use crate::life::activity::{Activity, Sleep};
use crate::life::outcome::{Departure, Outcome};
use crate::memory::Range;
use crate::partition::{Partition, Terminal};
use crate::scheduling::queue::WEIGHT_DEFAULT;
use crate::scheduling::schedule::Schedule;
use crate::sync::Lock;
use crate::vcpu::Vcpu;
use crate::vcpu::registers::Registers;

const MIB: u64 = 1 << 20;
const MEMORY: Range = Range::new(2 * MIB, 4 * MIB);

struct Setup {
    hal: Fake,
    console: Console,
    partition: Partition<Fake>,
    schedule: Lock<Schedule>,
    is_mediated: bool,
    until: u64,
}

/// Whether the partition is not locked while a call is answered; `answer` answers all others, or
/// [`random_arguments_do_no_harm`] fails.
fn is_unlocked(call: Hypercall) -> bool {
    match call.class() {
        Class::Device | Class::Interrupts => true,
        // A partition without the table gets its answer as from any other call.
        Class::Caller | Class::HashTable | Class::Partition => false,
    }
}

impl Setup {
    fn new() -> Self {
        let hal = Fake::new(8 << 20);
        let mut partition = hal.partition(MEMORY);
        let mut schedule = Schedule::new(1);
        for _ in 0..3 {
            let id = schedule.queue.add(WEIGHT_DEFAULT);
            let registers = Registers::started(GuestRealAddress(0), 0, 0);
            partition.vcpus.push(Vcpu::new(id, registers));
        }
        // The first one runs.
        schedule.start_in(&mut partition, 0, 0);
        schedule.queue.take(0);
        let registers = partition.vcpus[0].run(0, partition.life.may_run().unwrap());
        partition.vcpus[0].registers = registers;
        let console = Console::default();
        Self {
            hal,
            console,
            partition,
            schedule: Lock::new(schedule),
            is_mediated: false,
            until: 0,
        }
    }

    fn call(&mut self, call: Hypercall, arguments: [u64; 4]) -> Answer {
        if is_unlocked(call) {
            return self.call_unlocked(call, arguments);
        }
        let [a1, a2, a3, a4] = arguments;
        let mut guest = Guest {
            hal: &self.hal,
            console: &self.console,
            partition: &mut self.partition,
            vcpu: 0,
            schedule: &self.schedule,
            is_mediated: self.is_mediated,
        };
        answer(&mut guest, call, [a1, a2, a3, a4, 0, 0, 0])
    }

    fn call_unlocked(&mut self, call: Hypercall, arguments: [u64; 4]) -> Answer {
        let devices = self.partition.devices.clone();
        let shared = self.partition.memory.shared();
        let vcpus = &self.partition.vcpus;
        let presentations: Vec<_> = vcpus.iter().map(|vcpu| vcpu.presentation.clone()).collect();
        // Another one is in its place meanwhile.
        let other = self.hal.partition(MEMORY);
        let partition = Lock::new(core::mem::replace(&mut self.partition, other));
        let caller = Caller {
            hal: &self.hal,
            console: &self.console,
            schedule: &self.schedule,
            partition: &partition,
            given: &shared.given,
            devices: devices.as_deref(),
            vcpu: 0,
            is_mediated: self.is_mediated,
            until: self.until,
        };
        let [a1, a2, ..] = arguments;
        let answer = match call {
            Hypercall::Cppr | Hypercall::Eoi => {
                let done = Answer::Status(H_SUCCESS);
                let is_pending = set_priority(&presentations[0], call, a1);
                if is_pending && !self.is_mediated {
                    done.leaving(Departure::Changed)
                } else {
                    done
                }
            }
            call if call.is_of_device() => of_device(&caller, call, arguments),
            _ => of_interrupts(&presentations, 0, self.is_mediated, call, [a1, a2])
                .unwrap_or_else(|| with_others(&caller, call, a1)),
        };
        self.partition = partition.into_inner();
        answer
    }

    fn put_to_sleep(&mut self, index: usize, sleep: Sleep) {
        let Partition { life, vcpus, .. } = &mut self.partition;
        self.schedule.lock().sleep(&mut vcpus[index], sleep, life.may_run().unwrap());
    }

    #[track_caller]
    fn expect(&mut self, call: Hypercall, arguments: [u64; 4], status: i64) {
        assert_eq!(self.call(call, arguments), Answer::Status(status), "{arguments:x?}");
    }
}

#[test]
fn characters_go_to_the_console_and_hypervisor_lines_begin_anew() {
    let mut setup = Setup::new();
    let words = [u64::from_be_bytes(*b"hello, w"), u64::from_be_bytes(*b"orld\0\0\0\0")];
    setup.expect(Hypercall::PutTermChar, [0, 12, words[0], words[1]], H_SUCCESS);
    setup.console.line(&setup.hal, format_args!("a line"));
    setup.console.line(&setup.hal, format_args!("another"));
    setup.expect(Hypercall::PutTermChar, [0x7100_0000, 0, 0, 0], H_SUCCESS);
    setup.expect(Hypercall::PutTermChar, [0, 17, 0, 0], H_PARAMETER);
    setup.expect(Hypercall::PutTermChar, [0, u64::MAX, 0, 0], H_PARAMETER);
    setup.expect(Hypercall::PutTermChar, [1, 1, 0, 0], H_PARAMETER);
    assert_eq!(setup.hal.text(), "hello, world\npowervisor: a line\npowervisor: another\n");
}

#[test]
fn characters_come_from_the_console_sixteen_at_a_time() {
    let mut setup = Setup::new();
    setup.hal.input.borrow_mut().extend(b"0123456789abcdefXY");
    let first = [16, u64::from_be_bytes(*b"01234567"), u64::from_be_bytes(*b"89abcdef")];
    assert_eq!(setup.call(Hypercall::GetTermChar, [0; 4]), Answer::Outputs(H_SUCCESS, first));
    let second = [2, u64::from_be_bytes(*b"XY\0\0\0\0\0\0"), 0];
    assert_eq!(setup.call(Hypercall::GetTermChar, [0; 4]), Answer::Outputs(H_SUCCESS, second));
    assert_eq!(setup.call(Hypercall::GetTermChar, [0; 4]), Answer::Outputs(H_SUCCESS, [0; 3]));
    setup.expect(Hypercall::GetTermChar, [5, 0, 0, 0], H_PARAMETER);
}

#[test]
fn a_partition_without_input_takes_none_from_the_others() {
    let mut setup = Setup::new();
    setup.hal.input.borrow_mut().extend(b"typed");
    setup.partition.terminal = Terminal::Output;
    assert_eq!(setup.call(Hypercall::GetTermChar, [0; 4]), Answer::Outputs(H_SUCCESS, [0; 3]));
    setup.partition.terminal = Terminal::Interactive;
    let typed = [5, u64::from_be_bytes(*b"typed\0\0\0"), 0];
    assert_eq!(setup.call(Hypercall::GetTermChar, [0; 4]), Answer::Outputs(H_SUCCESS, typed));
}

#[test]
fn the_partition_that_the_console_is_for_is_shown_as_it_writes() {
    let mut setup = Setup::new();
    setup.console.set_shared(true);
    setup.partition.terminal = Terminal::Interactive;
    let mut other = setup.hal.partition(Range::new(6 * MIB, MIB));
    (other.name, other.terminal) = ("other".into(), Terminal::Output);
    let Setup { console, hal, partition, .. } = &mut setup;
    console.guest(hal, partition, b"a line\nprom");
    console.guest(hal, &mut other, b"unheard");
    console.guest(hal, partition, b"pt\x17");
    assert_eq!(hal.text(), "[test] a line\n[test] prompt\x17\x17");
    console.guest(hal, &mut other, b" of\n");
    console.guest(hal, partition, b"> ");
    console.line(hal, format_args!("a word"));
    console.guest(hal, partition, b"\n");
    assert_eq!(
        hal.text(),
        "[test] a line\n[test] prompt\x17\x17\x17\n[other] unheard of\n[test] > \x17\n\
         powervisor: a word\n[test] \n"
    );
}

/// What the hypervisor counted begins with a character that stands alone: no partition can write that.
#[test]
fn a_partition_that_has_the_console_for_itself_writes_no_record() {
    let mut setup = Setup::new();
    let Setup { console, hal, partition, .. } = &mut setup;
    let record = Record { threads: &[], partitions: &[] };
    let lie = std::format!("{START}{record}\n");
    for piece in lie.as_bytes().chunks(16) {
        console.guest(hal, partition, piece);
    }
    console.guest(hal, partition, b"prompt");
    console.record(hal, &record);
    assert_eq!(hal.text(), std::format!("\x17{lie}prompt\n{lie}"));
}

#[test]
fn a_long_line_is_cut_where_it_can_be_joined_again() {
    let mut setup = Setup::new();
    setup.console.set_shared(true);
    let Setup { console, hal, partition, .. } = &mut setup;
    console.guest(hal, partition, &[b'x'; 241]);
    console.finish(hal, partition);
    assert_eq!(hal.text(), std::format!("[test] {}\x17\n[test] x\n", "x".repeat(240)));
}

#[test]
fn the_mode_changes_lpcr_only_when_all_arguments_are_right() {
    let mut setup = Setup::new();
    let before = setup.partition.lpcr;
    for (arguments, status) in [
        ([1, mode::INTERRUPT_LOCATION, 0, 0], H_UNSUPPORTED_FLAG_START),
        // Interrupts to the hypervisor would arrive where the partition says what lies there.
        ([2, mode::INTERRUPT_LOCATION, 0, 0], H_UNSUPPORTED_FLAG_START),
        ([4, mode::INTERRUPT_LOCATION, 0, 0], H_UNSUPPORTED_FLAG_START),
        ([2, mode::ENDIANNESS, 0, 0], H_UNSUPPORTED_FLAG_START),
        ([3, mode::INTERRUPT_LOCATION, 1, 0], H_P3),
        ([1, mode::ENDIANNESS, 0, 1], H_P4),
        ([0, mode::CIABR, 0, 0], H_P2),
        ([0, u64::MAX, 0, 0], H_P2),
    ] {
        setup.expect(Hypercall::SetMode, arguments, status);
        assert_eq!(setup.partition.lpcr, before);
    }
    // The change takes effect when the vCPU enters again; without a change it need not.
    let changed = Answer::Departs(H_SUCCESS, [0; 3], Departure::Changed);
    for arguments in [[3, mode::INTERRUPT_LOCATION, 0, 0], [1, mode::ENDIANNESS, 0, 0]] {
        assert_eq!(setup.call(Hypercall::SetMode, arguments), changed);
        setup.expect(Hypercall::SetMode, arguments, H_SUCCESS);
    }
    let set = setup.partition.lpcr;
    assert_eq!((lpcr::AIL.get(set), set & lpcr::ILE), (3, lpcr::ILE));
    assert_eq!(setup.call(Hypercall::SetMode, [0, mode::ENDIANNESS, 0, 0]), changed);
    assert_eq!(setup.partition.lpcr & lpcr::ILE, 0);
}

#[test]
fn a_process_table_must_lie_in_the_partition_and_be_aligned_to_its_size() {
    const NEW: u64 = process_table::REGISTER | process_table::RADIX;
    let mut setup = Setup::new();
    for (arguments, status) in [
        ([process_table::REGISTER, 0, 0, 0], H_PARAMETER),
        ([NEW | 2, 0, 0, 0], H_PARAMETER),
        ([0, 0, 0, 0], H_PARAMETER),
        ([NEW, 0x800, 0, 0], H_P2),
        ([NEW, 0x1000, 0, 1], H_P2),
        ([NEW, 4 * MIB, 0, 0], H_P2),
        ([NEW, 0, 0, 24], H_P2),
        ([NEW, !0xFFF, 0, 0], H_P2),
        ([NEW, 0, 5, 0], H_P3),
        ([NEW, 0, 0, 25], H_P4),
        ([NEW, 0, 0, u64::MAX], H_P4),
    ] {
        setup.expect(Hypercall::RegisterProcTbl, arguments, status);
        assert_eq!(setup.hal.process_table.get(), None);
    }
    let changed = Answer::Departs(H_SUCCESS, [0; 3], Departure::Changed);
    assert_eq!(setup.call(Hypercall::RegisterProcTbl, [NEW, 0x2000, 0, 1]), changed);
    let table = TableLocation { base: RealAddress(0x2000), bytes_log2: 13 };
    assert_eq!(setup.hal.process_table.get(), Some((1, Some(table))));
    assert_eq!(setup.partition.lpcr & lpcr::GTSE, 0);
    setup.call(Hypercall::RegisterProcTbl, [NEW | process_table::GTSE, 0, 0, 0]);
    assert_ne!(setup.partition.lpcr & lpcr::GTSE, 0);
    setup.call(Hypercall::RegisterProcTbl, [process_table::DEREGISTER, 0, 0, 0]);
    assert_eq!(setup.hal.process_table.get(), Some((1, None)));
}

#[test]
fn with_a_hashed_page_table_there_is_no_process_table() {
    let mut setup = Setup::new();
    setup.partition.memory =
        GuestMemory::new(&setup.hal, 1, MEMORY, Translation::Hash, Options::default()).unwrap();
    let lpcr = setup.partition.lpcr;
    for flags in [0, process_table::REGISTER, process_table::DEREGISTER] {
        setup.expect(Hypercall::RegisterProcTbl, [flags, 0, 0, 0], H_SUCCESS);
    }
    let radix = process_table::REGISTER | process_table::RADIX;
    for arguments in [
        [radix, 0, 0, 0],
        [process_table::GTSE, 0, 0, 0],
        [process_table::REGISTER | process_table::SEGMENT_TABLES, 0, 0, 0],
        [process_table::REGISTER, 0x1000, 0, 0],
        [0, 0, 1, 0],
        [0, 0, 0, 1],
    ] {
        setup.expect(Hypercall::RegisterProcTbl, arguments, H_PARAMETER);
    }
    assert_eq!((setup.partition.lpcr, setup.hal.process_table.get()), (lpcr, None));
}

/// As Linux reads them: a length, then log2 of a block's pages, a count, and so many page sizes.
#[test]
fn a_partition_with_a_hashed_page_table_reads_which_blocks_it_can_remove() {
    let mut setup = Setup::new();
    let place = GuestRealAddress(0x1000);
    let asked = |setup: &mut Setup, parameter, address, length| {
        let call = [rtas::GET_SYSTEM_PARAMETER, 3, 1, parameter, address, length];
        rtas_results::<1>(setup, &call)[0] as i32
    };
    assert_eq!(asked(&mut setup, rtas::TLB_BLOCKS, 0x1000, 64), rtas::NOT_SUPPORTED, "radix");
    setup.partition.memory =
        GuestMemory::new(&setup.hal, 1, MEMORY, Translation::Hash, Options::default()).unwrap();
    assert_eq!(asked(&mut setup, 20, 0x1000, 64), rtas::NOT_SUPPORTED);
    assert_eq!(asked(&mut setup, rtas::TLB_BLOCKS, 0x1000, 1), rtas::BUFFER);
    assert_eq!(asked(&mut setup, rtas::TLB_BLOCKS, 0xFFFF_0000, 64), rtas::BUFFER);
    let expected = [0, 7, 3, 5, 0, 0x87, 0xB8, 0x81, 0x88];
    for length in [64, 5] {
        setup.partition.memory.write(&setup.hal, place, &[0xFF; 10]).unwrap();
        assert_eq!(asked(&mut setup, rtas::TLB_BLOCKS, 0x1000, length), rtas::SUCCESS);
        let mut bytes = [0; 10];
        setup.partition.memory.read(&setup.hal, place, &mut bytes).unwrap();
        let written = expected.len().min(length as usize);
        assert_eq!(bytes[..written], expected[..written]);
        assert!(bytes[written..].iter().all(|byte| *byte == 0xFF));
    }
}

fn rtas_call(setup: &mut Setup, address: u64, words: &[u32]) -> Answer {
    let bytes: std::vec::Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    setup.partition.memory.write(&setup.hal, GuestRealAddress(address), &bytes).unwrap();
    setup.call(Hypercall::Rtas, [address, 0, 0, 0])
}

#[test]
fn rtas_switches_the_partition_off_also_across_a_page_boundary() {
    for address in [0, 0x1_0000 - 4, 0x20_0000 - 8] {
        let mut setup = Setup::new();
        let answer = rtas_call(&mut setup, address, &[rtas::POWER_OFF, 2, 1, 0, 0, 0]);
        assert_eq!(answer, Answer::end(Outcome::PoweredOff));
        assert_eq!(setup.hal.open_windows.get(), 0);
    }
}

#[test]
fn rtas_reports_what_it_does_not_know() {
    let mut setup = Setup::new();
    let answer = rtas_call(&mut setup, 0x100, &[0x2FFF, 1, 2, 7, 0, 0]);
    assert_eq!(answer, Answer::Status(H_SUCCESS));
    let mut status = [0; 4];
    let address = GuestRealAddress(0x100 + 4 * 4);
    setup.partition.memory.read(&setup.hal, address, &mut status).unwrap();
    assert_eq!(i32::from_be_bytes(status), rtas::PARAMETER);
    for words in [[rtas::POWER_OFF, 17, 1], [rtas::POWER_OFF, 2, 17]] {
        assert_eq!(rtas_call(&mut setup, 0, &words), Answer::Status(H_PARAMETER));
    }
    // No result is asked for: there is none.
    let answer = rtas_call(&mut setup, 0, &[0x2FFF, 0, 0]);
    assert_eq!(answer, Answer::Status(H_SUCCESS));
}

#[test]
fn rtas_buffers_outside_of_memory_are_refused() {
    let mut setup = Setup::new();
    for address in [4 * MIB, 4 * MIB - 8, u64::MAX, u64::MAX - 3, 1 << 60] {
        setup.expect(Hypercall::Rtas, [address, 0, 0, 0], H_PARAMETER);
    }
    // The header is inside, the result is not.
    let answer = rtas_call(&mut setup, 4 * MIB - 12, &[0x2001, 0, 1]);
    assert_eq!(answer, Answer::Status(H_PARAMETER));
}

fn changed(outputs: [u64; 3]) -> Answer {
    Answer::Departs(H_SUCCESS, outputs, Departure::Changed)
}

/// The words of a buffer at 0x100 after a call.
fn rtas_results<const N: usize>(setup: &mut Setup, words: &[u32]) -> [u32; N] {
    let mut all = words.to_vec();
    all.extend([0xDEAD_BEEF; N]);
    let answer = rtas_call(setup, 0x100, &all);
    assert!(matches!(answer, Answer::Status(H_SUCCESS)) || answer == changed([0; 3]), "{answer:?}");
    let mut bytes = std::vec![0; 4 * N];
    let address = GuestRealAddress(0x100 + 4 * words.len() as u64);
    setup.partition.memory.read(&setup.hal, address, &mut bytes).unwrap();
    core::array::from_fn(|index| u32::from_be_bytes(*bytes[4 * index..].first_chunk().unwrap()))
}

const FAILED: u32 = rtas::HARDWARE as u32;
const WRONG: u32 = rtas::PARAMETER as u32;

#[test]
fn processors_are_started_once_and_can_be_asked_for() {
    let mut setup = Setup::new();
    let query = |setup: &mut Setup, server| {
        rtas_results::<2>(setup, &[rtas::QUERY_CPU_STOPPED_STATE, 1, 2, server])
    };
    let start = |setup: &mut Setup, server| {
        rtas_results::<1>(setup, &[rtas::START_CPU, 3, 1, server, 0x4000, 7])
    };
    assert_eq!(query(&mut setup, 0), [0, rtas::CPU_STATUS_RUNNING]);
    assert_eq!(query(&mut setup, 2), [0, rtas::CPU_STATUS_STOPPED]);
    assert_eq!(query(&mut setup, 3)[0], WRONG);
    assert_eq!(start(&mut setup, 2), [0]);
    assert_eq!(start(&mut setup, 2), [FAILED], "it runs");
    assert_eq!(start(&mut setup, 3), [WRONG]);
    assert_eq!(query(&mut setup, 2), [0, rtas::CPU_STATUS_RUNNING]);
    let registers = &setup.partition.vcpus[2].registers.as_ref().unwrap();
    assert_eq!((registers.pc, registers.gpr[3]), (0x4000, 7));
    assert_eq!(setup.schedule.lock().queue.take(0), Some(setup.partition.vcpus[2].id));
    let answer = rtas_call(&mut setup, 0, &[rtas::STOP_SELF, 0, 1, 0]);
    assert_eq!(answer, Answer::Departs(H_SUCCESS, [0; 3], Departure::Stopped));
}

#[test]
fn a_partition_sets_its_own_clock_only() {
    let mut setup = Setup::new();
    let get = |setup: &mut Setup| rtas_results::<8>(setup, &[rtas::GET_TIME_OF_DAY, 0, 8]);
    assert_eq!(get(&mut setup)[0], FAILED, "there is no clock");
    setup.hal.date_time.set(DateTime::from_digits(0x2024_0229, 0x2359_5900_0000_0000));
    assert_eq!(get(&mut setup), [0, 2024, 2, 29, 23, 59, 59, 0]);
    let set = |setup: &mut Setup, day| {
        rtas_results::<1>(setup, &[rtas::SET_TIME_OF_DAY, 7, 1, 1999, 12, day, 0, 0, 0, 0])
    };
    assert_eq!(set(&mut setup, 32), [WRONG]);
    assert_eq!(set(&mut setup, 31), [0]);
    setup.hal.date_time.set(DateTime::from_digits(0x2024_0301, 0x2359_5900_0000_0000));
    assert_eq!(get(&mut setup), [0, 2000, 1, 1, 0, 0, 0, 0]);
}

#[test]
fn other_rtas_calls_do_what_they_say() {
    let mut setup = Setup::new();
    assert_eq!(rtas_results(&mut setup, &[rtas::DISPLAY_CHARACTER, 1, 1, 0x41]), [0]);
    assert_eq!(setup.hal.text(), "A");
    // There are no interrupt sources.
    assert_eq!(rtas_results(&mut setup, &[rtas::SET_XIVE, 3, 1, 16, 0, 5]), [WRONG]);
    assert_eq!(rtas_results::<3>(&mut setup, &[rtas::GET_XIVE, 1, 3, 16])[0], WRONG);
    let answer = rtas_call(&mut setup, 0, &[rtas::SYSTEM_REBOOT, 0, 1, 0]);
    assert_eq!(answer, Answer::Departs(H_SUCCESS, [0; 3], Departure::Restarted));
}

#[test]
fn a_prod_wakes_or_is_remembered() {
    let mut setup = Setup::new();
    let ceded = Answer::Departs(H_SUCCESS, [0; 3], Departure::Ceded);
    assert_eq!(setup.call(Hypercall::Cede, [0; 4]), ceded);
    setup.expect(Hypercall::Prod, [3, 0, 0, 0], H_PARAMETER);
    setup.expect(Hypercall::Prod, [u64::MAX, 0, 0, 0], H_PARAMETER);
    setup.expect(Hypercall::Prod, [0, 0, 0, 0], H_SUCCESS);
    assert!(setup.partition.vcpus[0].is_prodded);
    setup.expect(Hypercall::Prod, [1, 0, 0, 0], H_SUCCESS);
    assert!(!setup.partition.vcpus[1].is_prodded, "it is stopped");
    for sleep in [Sleep::Ceded { until: 5 }, Sleep::AwaitsProd] {
        setup.put_to_sleep(1, sleep);
        assert_eq!(setup.call(Hypercall::Prod, [1, 0, 0, 0]), changed([0; 3]));
        assert_eq!(setup.partition.vcpus[1].activity(), Activity::Ready);
        assert_eq!(setup.schedule.lock().timers.next(), None);
        assert_eq!(setup.schedule.lock().queue.take(0), Some(setup.partition.vcpus[1].id));
    }
    // It has not ceded: its H_CEDE is yet to come.
    setup.put_to_sleep(1, Sleep::Paused { until: 5 });
    setup.expect(Hypercall::Prod, [1, 0, 0, 0], H_SUCCESS);
    assert!(setup.partition.vcpus[1].is_prodded);
    assert_eq!(setup.partition.vcpus[1].activity(), Activity::Paused { until: 5 });
}

#[test]
fn conferring_helps_only_those_who_wait_for_a_processor() {
    let mut setup = Setup::new();
    let conferred = |to| Answer::Departs(H_SUCCESS, [0; 3], Departure::Conferred(to));
    for all in [u64::MAX, 0xFFFF_FFFF] {
        let to_all = Answer::Departs(H_SUCCESS, [0; 3], Departure::ConferredToAll);
        assert_eq!(setup.call(Hypercall::Confer, [all, 0, 0, 0]), to_all);
    }
    let awaits = Answer::Departs(H_SUCCESS, [0; 3], Departure::AwaitsProd);
    assert_eq!(setup.call(Hypercall::Confer, [0, 0, 0, 0]), awaits);
    setup.expect(Hypercall::Confer, [3, 0, 0, 0], H_PARAMETER);
    let id = setup.partition.vcpus[1].id;
    assert_eq!(setup.call(Hypercall::Confer, [1, 9, 0, 0]), conferred(Some(id)), "no count");
    registered(&mut setup, 1, 0x1000);
    assert_eq!(setup.partition.vcpus[1].vpa.yield_count(), Some(1));
    setup.expect(Hypercall::Confer, [1, 0, 0, 0], H_SUCCESS);
    setup.expect(Hypercall::Confer, [1, 3, 0, 0], H_SUCCESS);
    assert_eq!(setup.call(Hypercall::Confer, [1, 1, 0, 0]), conferred(Some(id)));
    assert_eq!(setup.call(Hypercall::Confer, [1, 1 << 32 | 1, 0, 0]), conferred(Some(id)));
    setup.partition.vcpus[1].vpa.dispatched();
    for count in [1, 2] {
        setup.expect(Hypercall::Confer, [1, count, 0, 0], H_SUCCESS);
    }
}

#[test]
fn calls_that_come_too_late_are_not_carried_out() {
    let mut setup = Setup::new();
    let flags = area::FUNCTION.set(0, area::REGISTER_AREA);
    registered(&mut setup, 1, 0x2000);
    setup.partition.vcpus[1].vpa.clear_area();
    setup.partition.life.conclude(Pending::Restart);
    let lpcr = setup.partition.lpcr;
    let table = process_table::REGISTER | process_table::RADIX;
    for (call, arguments) in [
        (Hypercall::RegisterVpa, [flags, 1, 0x2000, 0]),
        (Hypercall::SetMode, [1, mode::ENDIANNESS, 0, 0]),
        (Hypercall::RegisterProcTbl, [table, 0x2000, 0, 1]),
        (Hypercall::PutTermChar, [0, 5, 0, 0]),
    ] {
        let Answer::Departs(_, _, Departure::Changed) = setup.call(call, arguments) else {
            panic!("{call:?} returns")
        };
    }
    let vcpu = &setup.partition.vcpus[1];
    assert!(!vcpu.vpa.has_area() && vcpu.presentation.poll().1 == 0xFF);
    assert_eq!((setup.partition.lpcr, setup.hal.text().as_str()), (lpcr, ""));
    assert_eq!(setup.hal.process_table.get(), None);
    // These need no lock, and are answered until the vCPU leaves.
    for call in Hypercall::ALL.iter().filter(|call| !is_unlocked(**call)) {
        assert!(matches!(setup.call(*call, [0; 4]), Answer::Departs(_, _, Departure::Changed)));
    }
}

/// What was called while the partition comes to rest is called again, with what it was called with.
#[test]
fn calls_of_a_partition_that_is_to_be_suspended_are_made_again() {
    let mut setup = Setup::new();
    setup.partition.life.conclude(Pending::Suspension);
    for call in Hypercall::ALL.iter().filter(|call| !is_unlocked(**call)) {
        let Answer::Departs(_, _, Departure::Retries(again)) = setup.call(*call, [1, 2, 3, 4])
        else {
            panic!("{call:?} is carried out")
        };
        assert_eq!(again[..5], [*call as u64, 1, 2, 3, 4]);
    }
    assert_eq!(setup.hal.text(), "");
    for (mode, behind, call) in
        [(arch::registers::msr::SF, 0x1_0000_0000, 0xFFFF_FFFC), (0, 0, 0xFFFF_FFFC)]
    {
        let mut registers = Registers::started(GuestRealAddress(behind), 9, 0);
        registers.msr = mode;
        registers.answer([0; 3]);
        registers.retry([7, 1, 2, 3, 4, 5, 6, 8, 9, 0]);
        assert_eq!(registers.pc, call);
        assert_eq!(registers.gpr[3..12], [7, 1, 2, 3, 4, 5, 6, 8, 9]);
    }
}

/// Registers an area for `server` at `address`.
fn registered(setup: &mut Setup, server: u64, address: u64) {
    let place = GuestRealAddress(address + 4);
    setup.partition.memory.write(&setup.hal, place, &640u16.to_be_bytes()).unwrap();
    let flags = area::FUNCTION.set(0, area::REGISTER_AREA);
    setup.expect(Hypercall::RegisterVpa, [flags, server, address, 0], H_SUCCESS);
}

#[test]
fn areas_are_registered_in_order_and_within_a_page() {
    let mut setup = Setup::new();
    let call = |setup: &mut Setup, function, server, address| {
        let flags = area::FUNCTION.set(0, function);
        setup.call(Hypercall::RegisterVpa, [flags, server, address, 0])
    };
    let length = |setup: &mut Setup, address, bytes: &[u8]| {
        let address = GuestRealAddress(address + 4);
        setup.partition.memory.write(&setup.hal, address, bytes).unwrap();
    };
    for (function, address, status) in [
        (0, 0x1000, H_PARAMETER),
        (4, 0x1000, H_PARAMETER),
        (area::REGISTER_AREA, 0, H_HARDWARE),
        (area::REGISTER_AREA, 0x1000, H_PARAMETER),
        (area::REGISTER_AREA, 4 * MIB, H_PARAMETER),
        (area::REGISTER_AREA, u64::MAX - 100, H_PARAMETER),
        (area::REGISTER_LOG, 0x2000, H_RESOURCE),
        (area::REGISTER_SHADOW, 0x3000, H_RESOURCE),
    ] {
        assert_eq!(call(&mut setup, function, 1, address), Answer::Status(status), "{function}");
    }
    for address in [0x1040, 0x1E00] {
        length(&mut setup, address, &640u16.to_be_bytes());
        let answer = call(&mut setup, area::REGISTER_AREA, 1, address);
        assert_eq!(answer, Answer::Status(H_PARAMETER), "{address:#x}");
    }
    registered(&mut setup, 1, 0x1000);
    registered(&mut setup, 1, 0x1000);
    assert_eq!((setup.partition.pinned_pages(), setup.hal.open_windows.get()), (1, 1));
    registered(&mut setup, 0, 0x1280);
    assert_eq!(setup.partition.vcpus[0].vpa.yield_count(), Some(0), "it runs");
    length(&mut setup, 0x2000, &100u32.to_be_bytes());
    assert_eq!(call(&mut setup, area::REGISTER_LOG, 1, 0x2000), Answer::Status(H_SUCCESS));
    assert_eq!(setup.partition.vcpus[1].vpa.log.unwrap().entries, 2);
    assert_eq!(call(&mut setup, area::DEREGISTER_AREA, 1, 0), Answer::Status(H_RESOURCE));
    assert_eq!(call(&mut setup, area::DEREGISTER_LOG, 1, 0), Answer::Status(H_SUCCESS));
    assert_eq!(call(&mut setup, area::DEREGISTER_AREA, 1, 0), Answer::Status(H_SUCCESS));
    assert_eq!((setup.partition.pinned_pages(), setup.hal.open_windows.get()), (1, 1));
    let [first, ..] = &mut setup.partition.vcpus[..] else { unreachable!() };
    setup.schedule.lock().stop(first);
    assert_eq!((setup.partition.pinned_pages(), setup.hal.open_windows.get()), (0, 0));
}

#[test]
fn every_vcpu_of_many_partitions_registers_all_of_its_areas() {
    const PARTITIONS: u64 = if cfg!(miri) { 8 } else { 512 };
    const VCPUS: u64 = 8;
    let mut setup = Setup::new();
    let mut kept = Vec::new();
    for number in 0..PARTITIONS {
        setup.partition.vcpus.clear();
        for _ in 0..VCPUS {
            let id = setup.schedule.lock().queue.add(WEIGHT_DEFAULT);
            let registers = Registers::started(GuestRealAddress(0), 0, 0);
            setup.partition.vcpus.push(Vcpu::new(id, registers));
        }
        for server in 0..VCPUS {
            let page = 0x1_0000 + 0x1000 * server;
            registered(&mut setup, server, page);
            for (function, offset) in [(area::REGISTER_LOG, 0x400), (area::REGISTER_SHADOW, 0x800)]
            {
                let place = GuestRealAddress(page + offset + 4);
                let length = 96u32.to_be_bytes();
                setup.partition.memory.write(&setup.hal, place, &length).unwrap();
                let flags = area::FUNCTION.set(0, function);
                let arguments = [flags, server, page + offset, 0];
                setup.expect(Hypercall::RegisterVpa, arguments, H_SUCCESS);
            }
        }
        assert_eq!(setup.partition.pinned_pages() as u64, VCPUS);
        assert_eq!(setup.hal.open_windows.get() as u64, VCPUS * (number + 1));
        // The next partition's vCPUs have places of their own.
        kept.append(&mut setup.partition.vcpus);
    }
    drop(kept);
    assert_eq!(setup.hal.open_windows.get(), 0);
    assert!(setup.hal.pinned.borrow().is_empty());
}

#[test]
fn an_area_that_nothing_can_map_is_refused() {
    let mut setup = Setup::new();
    registered(&mut setup, 1, 0x1000);
    setup.hal.tables_left.set(0);
    let flags = area::FUNCTION.set(0, area::REGISTER_AREA);
    setup.expect(Hypercall::RegisterVpa, [flags, 1, 0x1000, 0], H_RESOURCE);
    assert_eq!(setup.partition.pinned_pages(), 0);
}

#[test]
fn an_interrupt_between_vcpus_wakes_is_accepted_and_ended() {
    let mut setup = Setup::new();
    setup.expect(Hypercall::Ipi, [3, 0, 0, 0], H_PARAMETER);
    setup.expect(Hypercall::Ipoll, [3, 0, 0, 0], H_PARAMETER);
    let plain = |outputs| Answer::Outputs(H_SUCCESS, outputs);
    setup.partition.vcpus[1].presentation.set_cppr(0xFF);
    setup.put_to_sleep(1, Sleep::Ceded { until: 9 });
    let without = Answer::Status(H_SUCCESS);
    assert_eq!(setup.call(Hypercall::Ipi, [1, 0xFF, 0, 0]), without, "no request");
    assert_eq!(setup.call(Hypercall::Ipi, [1, 4, 0, 0]), changed([0; 3]));
    assert_eq!(setup.schedule.lock().queue.take(0), Some(setup.partition.vcpus[1].id));
    assert_eq!(setup.call(Hypercall::Ipoll, [1, 0, 0, 0]), plain([0xFF00_0002, 4, 0]));

    // To itself: the processor has to be told when it starts to be pending, but not again.
    assert_eq!(setup.call(Hypercall::Ipi, [0, 4, 0, 0]), without, "none is taken yet");
    assert_eq!(setup.call(Hypercall::Cppr, [5, 0, 0, 0]), changed([0; 3]));
    setup.is_mediated = true;
    assert_eq!(setup.call(Hypercall::Cppr, [6, 0, 0, 0]), without, "it stands");
    assert_eq!(setup.call(Hypercall::Xirr, [0; 4]), plain([0x0600_0002, 0, 0]));
    setup.is_mediated = false;
    setup.call(Hypercall::Ipi, [0, 0xFF, 0, 0]);
    setup.call(Hypercall::Cppr, [5, 0, 0, 0]);
    assert_eq!(setup.call(Hypercall::Ipi, [0, 4, 0, 0]), changed([0; 3]), "it is taken now");
    assert_eq!(setup.call(Hypercall::Xirr, [0; 4]), plain([0x0500_0002, 0, 0]));
    setup.call(Hypercall::Ipi, [0, 0xFF, 0, 0]);
    assert_eq!(setup.call(Hypercall::Eoi, [0x0500_0002, 0, 0, 0]), without);
    assert_eq!(setup.call(Hypercall::Xirr, [0; 4]), plain([0x0500_0000, 0, 0]));
}

#[test]
fn pages_are_zeroed_and_copied() {
    let mut setup = Setup::new();
    let Setup { partition, hal, .. } = &mut setup;
    partition.memory.write(hal, GuestRealAddress(0x5000), &[7; 0x3000]).unwrap();
    let read = |setup: &mut Setup, address| {
        let mut bytes = [1; 0x1000];
        let address = GuestRealAddress(address);
        setup.partition.memory.read(&setup.hal, address, &mut bytes).unwrap();
        bytes
    };
    for (flags, to, from) in [
        (page::ZERO, 0x5800, 0),
        (page::ZERO, 4 * MIB, 0),
        (page::COPY, 0x5000, 0x6001),
        (page::COPY, 0x5000, 4 * MIB),
        (page::ZERO | 1, 0x5000, 0),
    ] {
        setup.expect(Hypercall::PageInit, [flags, to, from, 0], H_PARAMETER);
    }
    setup.expect(Hypercall::PageInit, [page::ZERO, 0x6000, 0x123, 0], H_SUCCESS);
    assert_eq!((read(&mut setup, 0x5000), read(&mut setup, 0x6000)), ([7; 0x1000], [0; 0x1000]));
    let flags = page::COPY | page::ICACHE_SYNCHRONIZE;
    setup.expect(Hypercall::PageInit, [flags, 0x6000, 0x7000, 0], H_SUCCESS);
    assert_eq!(read(&mut setup, 0x6000), [7; 0x1000]);
    assert_eq!(setup.hal.open_windows.get(), 0);
}

/// What answers without the lock answers for pages that the partition has, and for nothing else.
#[test]
fn a_page_that_the_partition_has_needs_no_lock() {
    let mut setup = Setup::new();
    let shared = setup.partition.memory.shared();
    let given = &shared.given;
    let (to, from) = (3 * MIB, 3 * MIB + 0x1000);
    let zero = |setup: &Setup| initialize_owned(given, &setup.hal, page::ZERO, to, 0);
    assert!(!zero(&setup), "it is garbage yet");
    setup.expect(Hypercall::PageInit, [page::ZERO, to, 0, 0], H_SUCCESS);
    setup.partition.memory.write(&setup.hal, GuestRealAddress(to), &[7; 0x2000]).unwrap();
    assert!(zero(&setup));
    let mut bytes = [1; 0x1000];
    setup.partition.memory.read(&setup.hal, GuestRealAddress(to), &mut bytes).unwrap();
    assert_eq!(bytes, [0; 0x1000]);
    assert!(initialize_owned(given, &setup.hal, page::COPY, to, from));
    setup.partition.memory.read(&setup.hal, GuestRealAddress(to), &mut bytes).unwrap();
    assert_eq!(bytes, [7; 0x1000]);
    for (flags, to, from) in [
        (page::ZERO, to + 0x800, 0),
        (page::ZERO, 4 * MIB, 0),
        (page::COPY, to, from + 1),
        (page::COPY, to, 2 * MIB),
        (page::ZERO | 1, to, 0),
        (page::ZERO, u64::MAX << 12, 0),
    ] {
        assert!(
            !initialize_owned(given, &setup.hal, flags, to, from),
            "{flags:#x} {to:#x} {from:#x}"
        );
    }
    assert_eq!(setup.hal.open_windows.get(), 0);
}

#[test]
fn entries_go_into_the_partitions_window_and_come_back() {
    const RIGHTS: u64 = tce::READ | tce::WRITE;
    let mut setup = Setup::new();
    setup.expect(Hypercall::PutTce, [tce::WINDOW, 0, 0x1003, 0], H_PARAMETER);
    setup.expect(Hypercall::GetTce, [tce::WINDOW, 0, 0, 0], H_PARAMETER);
    let devices = Devices::new(Vec::new(), 0x1_0000, MEMORY.bytes).unwrap();
    setup.partition.set_devices(devices);
    setup.expect(Hypercall::PutTce, [tce::WINDOW, 0xF000, 0x3000 | RIGHTS, 0], H_SUCCESS);
    let get =
        |setup: &mut Setup, address| setup.call(Hypercall::GetTce, [tce::WINDOW, address, 0, 0]);
    let is = |entry| Answer::Outputs(H_SUCCESS, [entry, 0, 0]);
    assert_eq!(get(&mut setup, 0xF000), is(0x3000 | RIGHTS));
    for wrong in [
        [0, 0, 0x1000 | RIGHTS, 0],
        [tce::WINDOW + 1, 0, 0x1000 | RIGHTS, 0],
        [tce::WINDOW, 0x1_0000, 0x1000 | RIGHTS, 0],
        [tce::WINDOW, 0x10, 0x1000 | RIGHTS, 0],
        [tce::WINDOW, 0, MEMORY.bytes | tce::READ, 0],
        [tce::WINDOW, 0, 0x1010 | tce::WRITE, 0],
    ] {
        setup.expect(Hypercall::PutTce, wrong, H_PARAMETER);
    }
    setup.expect(Hypercall::StuffTce, [tce::WINDOW, 0x2000, 0x5001, 3], H_SUCCESS);
    for (address, entry) in [(0x1000, 0), (0x2000, 0x5001), (0x4000, 0x5001), (0x5000, 0)] {
        assert_eq!(get(&mut setup, address), is(entry), "{address:#x}");
    }
    setup.expect(Hypercall::StuffTce, [tce::WINDOW, 0x2000, 0, 15], H_PARAMETER);
    setup.expect(Hypercall::StuffTce, [tce::WINDOW, 0, 0, u64::MAX], H_PARAMETER);
    assert_eq!(get(&mut setup, 0x2000), is(0x5001));
    // A partition that starts anew has none of them.
    setup.partition.reset(&setup.hal);
    assert_eq!(get(&mut setup, 0x2000), is(0));
}

#[test]
fn a_list_of_entries_is_taken_whole_or_not_at_all() {
    const LIST: u64 = 0x7000;
    let mut setup = Setup::new();
    let devices = Devices::new(Vec::new(), 0x1_0000, MEMORY.bytes).unwrap();
    setup.partition.set_devices(devices);
    let write = |setup: &mut Setup, entries: &[u64]| {
        let bytes: Vec<u8> = entries.iter().flat_map(|entry| entry.to_be_bytes()).collect();
        setup.partition.memory.write(&setup.hal, GuestRealAddress(LIST), &bytes).unwrap();
    };
    let entries = |setup: &Setup| {
        let window = setup.partition.devices.as_ref().unwrap().window(tce::WINDOW).unwrap();
        [0x3000, 0x4000, 0x5000, 0x6000].map(|address| window.entry(address).unwrap())
    };
    write(&mut setup, &[0x1003, 0x2001, 0x3002]);
    setup.expect(Hypercall::PutTceIndirect, [tce::WINDOW, 0x3000, LIST, 3], H_SUCCESS);
    assert_eq!(entries(&setup), [0x1003, 0x2001, 0x3002, 0]);
    setup.expect(Hypercall::PutTceIndirect, [tce::WINDOW, 0x3000, LIST, 0], H_SUCCESS);
    write(&mut setup, &[0, 0, MEMORY.bytes | tce::READ]);
    for wrong in [
        [tce::WINDOW, 0x3000, LIST, 3],
        [tce::WINDOW, 0x3000, LIST + 8, 1],
        [tce::WINDOW, 0x3000, MEMORY.bytes, 1],
        [tce::WINDOW, 0x3000, MEMORY.bytes, 0],
        [tce::WINDOW, 0xF000, LIST, 2],
        [tce::WINDOW, 0, LIST, 513],
        [tce::WINDOW, 0, LIST, u64::MAX],
        [tce::WINDOW - 1, 0x3000, LIST, 1],
    ] {
        setup.expect(Hypercall::PutTceIndirect, wrong, H_PARAMETER);
    }
    assert_eq!(entries(&setup), [0x1003, 0x2001, 0x3002, 0]);
    assert_eq!(setup.hal.open_windows.get(), 0);
}

#[test]
fn randomness_is_the_machines_or_none() {
    let mut setup = Setup::new();
    setup.expect(Hypercall::Random, [0; 4], H_HARDWARE);
    setup.hal.random.set(Some(0x1234));
    assert_eq!(setup.call(Hypercall::Random, [0; 4]), Answer::Outputs(H_SUCCESS, [0x1234, 0, 0]));
}

#[test]
fn characteristics_are_firmwares_or_none() {
    let mut setup = Setup::new();
    setup.expect(Hypercall::GetCpuCharacteristics, [0; 4], H_FUNCTION);
    setup.partition.characteristics = Some(Characteristics { character: 5, behavior: 6 });
    let answer = setup.call(Hypercall::GetCpuCharacteristics, [0; 4]);
    assert_eq!(answer, Answer::Outputs(H_SUCCESS, [5, 6, 0]));
}

/// A read-only disk behind the partition's memory.
const BEYOND: Disk = Disk { range: Range::new(7 * MIB, 0x1_0000), is_writable: false, serial: 0 };

/// A partition whose adapter has a queue at 0 of its window, of which each page is the page of the memory at
/// the same address.
fn with_adapter() -> Setup {
    with_adapters(1)
}

/// The same with so many adapters, whose queues lie behind one another.
fn with_adapters(adapters: usize) -> Setup {
    let mut setup = Setup::new();
    let all: Vec<_> = (0..adapters).map(|number| Adapter::new(number, vec![BEYOND], 3)).collect();
    setup.partition.set_devices(Devices::new(all, 0x4_0000, MEMORY.bytes).unwrap());
    let devices = setup.partition.devices.clone().unwrap();
    for number in 0..adapters as u64 {
        let window = devices.window(tce::WINDOW + number).unwrap();
        for (page, entry) in window.pages(0, 0x40).unwrap().iter().enumerate() {
            entry.set((page as u64 * 0x1000) | tce::READ | tce::WRITE);
        }
        let queue = [u64::from(unit::ADAPTERS) + number, number * 0x1000, 0x1000, 0];
        setup.expect(Hypercall::RegCrq, queue, H_SUCCESS);
    }
    setup
}

const BEGIN: [u64; 4] = [unit::ADAPTERS as u64, 0xC001 << 48, 0, 0];

#[test]
fn an_adapter_has_one_queue_at_a_time_and_one_unit() {
    let mut setup = with_adapter();
    let unit = u64::from(unit::ADAPTERS);
    setup.expect(Hypercall::RegCrq, [unit, 0, 0x1000, 0], H_RESOURCE);
    setup.expect(Hypercall::SendCrq, BEGIN, H_SUCCESS);
    setup.expect(Hypercall::FreeCrq, [unit, 0, 0, 0], H_SUCCESS);
    setup.expect(Hypercall::SendCrq, BEGIN, H_CLOSED);
    for (address, bytes) in [(0x4_0000, 0x1000), (0, 0x4_1000), (u64::MAX << 12, 0x1000), (0, 0)] {
        setup.expect(Hypercall::RegCrq, [unit, address, bytes, 0], H_PARAMETER);
    }
    for call in [Hypercall::RegCrq, Hypercall::FreeCrq, Hypercall::SendCrq, Hypercall::EnableCrq] {
        setup.expect(call, [unit + 1, 0, 0x1000, 0], H_PARAMETER);
    }
    setup.expect(Hypercall::EnableCrq, [unit, 0, 0, 0], H_SUCCESS);
    let devices = Devices::new(Vec::new(), 0x4_0000, MEMORY.bytes).unwrap();
    setup.partition.set_devices(devices);
    setup.expect(Hypercall::EnableCrq, [unit, 0, 0, 0], H_PARAMETER);
}

/// The message of a unit at 0x3000 that reads 64 KiB, which is longer than a piece, into memory at 0x2_0000.
fn long_read(setup: &mut Setup, number: u64) -> [u64; 4] {
    // A piece ends where the partition gets memory.
    setup.partition.memory.write(&setup.hal, GuestRealAddress(0x2_0000), &[0]).unwrap();
    let mut unit = [0; 64];
    (unit[0], unit[5], unit[32], unit[40], unit[20]) = (2, 1, 0x28, 128, 0x80);
    unit[48..56].copy_from_slice(&0x2_0000u64.to_be_bytes());
    unit[60..64].copy_from_slice(&0x1_0000u32.to_be_bytes());
    setup.partition.memory.write(&setup.hal, GuestRealAddress(0x3000), &unit).unwrap();
    [u64::from(unit::ADAPTERS) + number, 0x8001 << 48 | 64, 0x3000, 0]
}

/// The head of an adapter's first entry.
fn first_entry(setup: &mut Setup, number: u64) -> u64 {
    let mut entry = [0; 8];
    let place = GuestRealAddress(number * 0x1000);
    setup.partition.memory.read(&setup.hal, place, &mut entry).unwrap();
    u64::from_be_bytes(entry)
}

#[test]
fn adapters_have_a_queue_and_a_window_each() {
    let mut setup = with_adapters(2);
    let unit = u64::from(unit::ADAPTERS);
    let [mut first, mut second] = [BEGIN; 2];
    (first[0], second[0]) = (unit, unit + 1);
    setup.expect(Hypercall::SendCrq, second, H_SUCCESS);
    assert_eq!([0, 1].map(|number| first_entry(&mut setup, number)), [0, 0xC002 << 48]);
    // One closes its queue, and the other's stays.
    setup.expect(Hypercall::FreeCrq, [unit + 1, 0, 0, 0], H_SUCCESS);
    setup.expect(Hypercall::SendCrq, second, H_CLOSED);
    setup.expect(Hypercall::SendCrq, first, H_SUCCESS);
    assert_eq!(first_entry(&mut setup, 0), 0xC002 << 48);
    setup.expect(Hypercall::RegCrq, [unit, 0, 0x1000, 0], H_RESOURCE);
    setup.expect(Hypercall::RegCrq, [unit + 1, 0x1000, 0x1000, 0], H_SUCCESS);
    for wrong in [unit + 2, unit - 1, 0, u64::MAX] {
        setup.expect(Hypercall::RegCrq, [wrong, 0, 0x1000, 0], H_PARAMETER);
        setup.expect(Hypercall::SendCrq, [wrong, BEGIN[1], 0, 0], H_PARAMETER);
    }
    // What one sees no more, the other one does.
    setup.expect(Hypercall::StuffTce, [tce::WINDOW + 1, 0x2_0000, 0, 16], H_SUCCESS);
    setup.expect(Hypercall::PutTce, [tce::WINDOW + 2, 0, 0, 0], H_PARAMETER);
    let devices = setup.partition.devices.clone().unwrap();
    let sees = |number| devices.window(tce::WINDOW + number).unwrap().translate(0x2_0000, true);
    assert_eq!([0, 1].map(sees), [Some(GuestRealAddress(0x2_0000)), None]);
    // A partition that starts anew has none of all that.
    setup.partition.reset(&setup.hal);
    assert_eq!([0, 1].map(sees), [None; 2]);
    setup.expect(Hypercall::SendCrq, first, H_CLOSED);
    setup.expect(Hypercall::SendCrq, second, H_CLOSED);
}

#[test]
fn what_is_under_way_to_one_adapter_holds_up_no_other() {
    let mut setup = with_adapters(2);
    let unit = u64::from(unit::ADAPTERS);
    let message = long_read(&mut setup, 1);
    let departs = Answer::Departs(H_SUCCESS, [0; 3], Departure::Changed);
    assert_eq!(setup.call(Hypercall::SendCrq, message), departs);
    // The second one is busy, and the first one is not.
    for (call, number, status) in [
        (Hypercall::RegCrq, 1, H_RESOURCE),
        (Hypercall::FreeCrq, 0, H_SUCCESS),
        (Hypercall::RegCrq, 0, H_SUCCESS),
        (Hypercall::FreeCrq, 1, H_BUSY),
        (Hypercall::RegCrq, 1, H_RESOURCE),
    ] {
        setup.expect(call, [unit + number, number * 0x1000, 0x1000, 0], status);
    }
    // The vCPU's data is of the second one: nobody waits for that now, and it is not answered.
    let mut transfer = setup.partition.vcpus[0].takes_transfer().unwrap();
    assert_eq!(transfer.adapter, 1);
    let devices = setup.partition.devices.clone().unwrap();
    let given = &setup.partition.memory.shared().given;
    let mut guest = Guest {
        hal: &setup.hal,
        console: &setup.console,
        partition: &mut setup.partition,
        vcpu: 0,
        schedule: &setup.schedule,
        is_mediated: false,
    };
    transfer.left = 0;
    went_on(&mut guest, given, &devices, transfer, true).unwrap();
    assert_eq!(first_entry(&mut setup, 1), 0);
    setup.expect(Hypercall::FreeCrq, [unit + 1, 0, 0, 0], H_SUCCESS);
    setup.expect(Hypercall::RegCrq, [unit + 1, 0x1000, 0x1000, 0], H_SUCCESS);
}

/// Each adapter interrupts the vCPU that its own source names, and one that is accepted leaves the other's.
#[test]
fn adapters_interrupt_by_sources_of_their_own() {
    let mut setup = with_adapters(2);
    let unit = u64::from(unit::ADAPTERS);
    for vcpu in [0, 1] {
        setup.partition.vcpus[vcpu].presentation.set_cppr(0xFF);
    }
    let beyond = rtas_status(&mut setup, &[rtas::SET_XIVE, 3, 1, source::ADAPTERS + 2, 0, 5]);
    assert_eq!(beyond, rtas::PARAMETER);
    for (source, vcpu) in [(source::ADAPTERS, 1), (source::ADAPTERS + 1, 0)] {
        let set = [rtas::SET_XIVE, 3, 1, source, vcpu, 5];
        assert_eq!(rtas_status(&mut setup, &set), rtas::SUCCESS);
    }
    let pending = |setup: &Setup| {
        [0, 1].map(|vcpu: usize| setup.partition.vcpus[vcpu].presentation.is_pending())
    };
    for number in [0, 1] {
        setup.expect(Hypercall::VioSignal, [unit + number, 1, 0, 0], H_SUCCESS);
    }
    let send = |setup: &mut Setup, number| {
        let _ = setup.call(Hypercall::SendCrq, [unit + number, BEGIN[1], 0, 0]);
    };
    send(&mut setup, 0);
    assert_eq!(pending(&setup), [false, true]);
    send(&mut setup, 1);
    assert_eq!(pending(&setup), [true, true]);
    setup.is_mediated = true;
    let answer = setup.call(Hypercall::Xirr, [0; 4]);
    let (Answer::Outputs(_, [xirr, ..]) | Answer::Departs(_, [xirr, ..], _)) = answer else {
        panic!("{answer:?}")
    };
    assert_eq!(xirr, 0xFF00_0000 | (u64::from(source::ADAPTERS) + 1));
    let devices = setup.partition.devices.clone().unwrap();
    let requested = [0, 1].map(|number: usize| devices.adapters()[number].is_requested());
    assert_eq!((requested, pending(&setup)), ([true, false], [false, true]));
}

/// Calls RTAS with these words in a buffer; the status.
fn rtas_status(setup: &mut Setup, words: &[u32]) -> i32 {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    setup.partition.memory.write(&setup.hal, GuestRealAddress(0x9000), &bytes).unwrap();
    let _ = setup.call(Hypercall::Rtas, [0x9000, 0, 0, 0]);
    let mut result = [0; 4];
    let place = GuestRealAddress(0x9000 + 4 * (3 + u64::from(words[1])));
    setup.partition.memory.read(&setup.hal, place, &mut result).unwrap();
    i32::from_be_bytes(result)
}

#[test]
fn an_answer_interrupts_the_vcpu_that_rtas_names_and_wakes_it() {
    let mut setup = with_adapter();
    setup.partition.vcpus[2].presentation.set_cppr(0xFF);
    let until = 1 << 40;
    setup.put_to_sleep(2, Sleep::Ceded { until });
    setup.expect(Hypercall::VioSignal, [u64::from(unit::ADAPTERS), 1, 0, 0], H_SUCCESS);
    let is_asleep =
        |setup: &Setup| setup.partition.vcpus[2].activity() == Activity::Ceded { until };
    setup.expect(Hypercall::SendCrq, BEGIN, H_SUCCESS);
    assert!(is_asleep(&setup), "nobody has said whom it interrupts");
    assert_eq!(
        rtas_status(&mut setup, &[rtas::SET_XIVE, 3, 1, source::ADAPTERS + 1, 2, 5]),
        rtas::PARAMETER
    );
    assert_eq!(
        rtas_status(&mut setup, &[rtas::SET_XIVE, 3, 1, source::ADAPTERS, 3, 5]),
        rtas::PARAMETER
    );
    assert_eq!(rtas_status(&mut setup, &[rtas::INT_OFF, 1, 1, source::ADAPTERS]), rtas::SUCCESS);
    assert_eq!(
        rtas_status(&mut setup, &[rtas::SET_XIVE, 3, 1, source::ADAPTERS, 2, 5]),
        rtas::SUCCESS
    );
    assert!(is_asleep(&setup), "it is off");
    assert_eq!(rtas_status(&mut setup, &[rtas::INT_ON, 1, 1, source::ADAPTERS]), rtas::SUCCESS);
    assert_eq!(setup.partition.vcpus[2].activity(), Activity::Ready);
    assert!(setup.partition.vcpus[2].presentation.is_pending());
    assert!(!setup.partition.vcpus[0].presentation.is_pending());
    // It is moved to another one, which accepts it once.
    setup.partition.vcpus[0].presentation.set_cppr(0xFF);
    assert_eq!(
        rtas_status(&mut setup, &[rtas::SET_XIVE, 3, 1, source::ADAPTERS, 0, 5]),
        rtas::SUCCESS
    );
    assert!(!setup.partition.vcpus[2].presentation.is_pending());
    setup.is_mediated = true;
    let accepts = |setup: &mut Setup| match setup.call(Hypercall::Xirr, [0; 4]) {
        Answer::Outputs(H_SUCCESS, [xirr, ..]) | Answer::Departs(H_SUCCESS, [xirr, ..], _) => xirr,
        other => panic!("{other:?}"),
    };
    assert_eq!(accepts(&mut setup), 0xFF00_0000 | u64::from(source::ADAPTERS));
    assert_eq!(accepts(&mut setup), 0x0500_0000, "accepted already");
    assert_eq!(rtas_status(&mut setup, &[rtas::INT_ON, 1, 1, source::ADAPTERS]), rtas::SUCCESS);
    assert!(!setup.partition.vcpus[0].presentation.is_pending());
    // The next answer interrupts again.
    let _ = setup.call(Hypercall::Eoi, [0xFF00_0000, 0, 0, 0]);
    let _ = setup.call(Hypercall::SendCrq, BEGIN);
    assert!(setup.partition.vcpus[0].presentation.is_pending());
}

/// Two devices want one vCPU: it accepts the more favoured first, and the other when that one is over.
#[test]
fn a_second_source_waits_for_its_turn() {
    const SECOND: u32 = source::ADAPTERS + 1;
    let mut setup = with_adapter();
    setup.partition.sources.add(SECOND);
    setup.partition.vcpus[0].presentation.set_cppr(0xFF);
    assert_eq!(
        rtas_status(&mut setup, &[rtas::SET_XIVE, 3, 1, source::ADAPTERS, 0, 5]),
        rtas::SUCCESS
    );
    assert_eq!(rtas_status(&mut setup, &[rtas::SET_XIVE, 3, 1, SECOND, 0, 3]), rtas::SUCCESS);
    setup.expect(Hypercall::VioSignal, [u64::from(unit::ADAPTERS), 1, 0, 0], H_SUCCESS);
    setup.partition.sources.get_mut(SECOND).unwrap().request();
    setup.is_mediated = true;
    let _ = setup.call(Hypercall::SendCrq, BEGIN);
    let mut accepts = |expected: u64| {
        let answer = setup.call(Hypercall::Xirr, [0; 4]);
        let (Answer::Outputs(_, [xirr, ..]) | Answer::Departs(_, [xirr, ..], _)) = answer else {
            panic!("{answer:?}")
        };
        assert_eq!(xirr, expected);
        let _ = setup.call(Hypercall::Eoi, [0xFF00_0000, 0, 0, 0]);
        setup.partition.vcpus[0].presentation.is_pending()
    };
    assert!(accepts(0xFF00_0000 | u64::from(SECOND)), "the adapter's waits");
    assert!(!accepts(0xFF00_0000 | u64::from(source::ADAPTERS)));
}

#[test]
fn a_command_moves_its_first_piece_at_once_and_the_vcpu_leaves_for_the_others_if_it_has_to() {
    let mut setup = with_adapter();
    // A piece ends where the partition gets memory.
    setup.partition.memory.write(&setup.hal, GuestRealAddress(0x2_0000), &[0]).unwrap();
    for (blocks, until, leaves) in [(16u8, 0, false), (128, u64::MAX, false), (128, 0, true)] {
        setup.until = until;
        let mut unit = [0; 64];
        (unit[0], unit[5], unit[32], unit[40]) = (2, 1, 0x28, blocks);
        unit[20] = 0x80;
        unit[48..56].copy_from_slice(&0x2_0000u64.to_be_bytes());
        unit[60..64].copy_from_slice(&(512 * u32::from(blocks)).to_be_bytes());
        setup.partition.memory.write(&setup.hal, GuestRealAddress(0x2000), &unit).unwrap();
        let answer = setup
            .call(Hypercall::SendCrq, [u64::from(unit::ADAPTERS), 0x8001 << 48 | 64, 0x2000, 0]);
        let departs = Answer::Departs(H_SUCCESS, [0; 3], Departure::Changed);
        assert_eq!(answer, if leaves { departs } else { Answer::Status(H_SUCCESS) });
        assert_eq!(setup.partition.vcpus[0].transfer.is_some(), leaves);
    }
    // While it is under way, there is no other queue.
    let unit = u64::from(unit::ADAPTERS);
    setup.expect(Hypercall::RegCrq, [unit, 0x1000, 0x1000, 0], H_RESOURCE);
    setup.expect(Hypercall::FreeCrq, [unit, 0, 0, 0], H_BUSY);
    setup.expect(Hypercall::RegCrq, [unit, 0x1000, 0x1000, 0], H_RESOURCE);
    // The end of the vCPU is the end of what it moves, and a partition that starts anew has a quiet adapter.
    setup.partition.vcpus[0].stop();
    assert!(setup.partition.vcpus[0].transfer.is_none());
    setup.partition.reset(&setup.hal);
    setup.expect(Hypercall::SendCrq, BEGIN, H_CLOSED);
    setup.expect(Hypercall::RegCrq, [unit, 0, 0x1000, 0], H_SUCCESS);
}

/// Argument sets for each call. The values that matter are near the borders that the calls check.
const ARGUMENT_SETS: u32 = if cfg!(miri) { 2 } else { 10_000 };

fn argument() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        0u64..16,
        any::<u64>(),
        (0u64..64).prop_map(|shift| 1 << shift),
        Just(tce::WINDOW),
        Just(u64::from(unit::ADAPTERS)),
        // The head of a message: that the other end is there, a unit of 64 bytes, a datagram.
        Just(0xC001 << 48),
        Just(0x8001 << 48 | 64),
        Just(0x8002 << 48 | 24),
        // Near a page of the memory, its end and the end of everything.
        (0u64..0x41, -8i64..8).prop_map(|(page, near)| (page << 16).wrapping_add_signed(near)),
        (0u64..9).prop_map(|near| u64::MAX - near),
        (0u64..8).prop_map(|function| function << 45),
    ]
}

/// No arguments make a call panic, reach memory that is not the partition's, leave a window open, or do
/// anything to another partition's vCPU.
#[test]
fn random_arguments_do_no_harm() {
    for call in Hypercall::ALL {
        let setup = with_adapter();
        let other = setup.schedule.lock().queue.add(WEIGHT_DEFAULT);
        let outside = |memory: &[u8]| [&memory[..2 << 20], &memory[6 << 20..]].map(<[u8]>::to_vec);
        let before = outside(&setup.hal.memory.borrow());
        let config = ProptestConfig { cases: ARGUMENT_SETS, ..ProptestConfig::default() };
        let mut runner = TestRunner::new(config);
        let setup = RefCell::new(setup);
        let strategy = (proptest::array::uniform7(argument()), any::<[u32; 6]>(), 0u32..14);
        runner
            .run(&strategy, |(arguments, words, token)| {
                let mut setup = setup.borrow_mut();
                let mut bytes: std::vec::Vec<u8> = [0x2000 + token, words[0] % 9, words[1] % 18]
                    .iter()
                    .chain(&words)
                    .flat_map(|word| word.to_be_bytes())
                    .collect();
                bytes.truncate(36);
                let Setup { partition, hal, .. } = &mut *setup;
                // An argument buffer that is not nonsense from its first word on.
                partition.memory.write(hal, GuestRealAddress(0x1_0000), &bytes).unwrap();
                let [a1, a2, a3, a4, ..] = arguments;
                let a1 = if words[2] % 2 == 0 { 0x1_0000 } else { a1 };
                let answer = setup.call(*call, [a1, a2, a3, a4]);
                if let Answer::Departs(_, _, Departure::Ended(outcome)) = answer {
                    prop_assert_eq!(outcome, Outcome::PoweredOff);
                }
                prop_assert_eq!(setup.hal.open_windows.get(), setup.partition.pinned_pages());
                Ok(())
            })
            .unwrap();
        let setup = setup.into_inner();
        assert!(outside(&setup.hal.memory.borrow()) == before, "{call:?}");
        while let Some(id) = setup.schedule.lock().queue.take(0) {
            assert_ne!(id, other, "{call:?}");
        }
    }
}
