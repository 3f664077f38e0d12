//! Hypercalls against the fake machine.

use arch::address::{GuestRealAddress, RealAddress};
use arch::papr::status::{
    H_FUNCTION, H_P2, H_P3, H_P4, H_PARAMETER, H_SUCCESS, H_UNSUPPORTED_FLAG_START,
};
use arch::papr::{Hypercall, mode, process_table, rtas};
use arch::radix::TableLocation;
use arch::registers::lpcr;

use super::{Answer, answer};
use crate::console::Console;
use crate::dispatch::Leave;
use crate::fake::Fake;
use crate::memory::Range;
use crate::partition::{Outcome, Partition};
use crate::run::Guest;
use crate::second_stage;
use crate::vcpu::Schedule;

const MIB: u64 = 1 << 20;
const MEMORY: Range = Range::new(2 * MIB, 4 * MIB);

struct Setup {
    hal: Fake,
    console: Console,
    partition: Partition<Fake>,
    schedule: Schedule,
}

impl Setup {
    fn new() -> Self {
        let hal = Fake::new(8 << 20);
        let partition = hal.partition(MEMORY);
        Self { hal, console: Console::default(), partition, schedule: Schedule::default() }
    }

    fn call(&mut self, call: Hypercall, arguments: [u64; 4]) -> Answer {
        let [a1, a2, a3, a4] = arguments;
        let mut guest = Guest {
            hal: &self.hal,
            console: &self.console,
            partition: &mut self.partition,
            vcpu: 0,
            schedule: &mut self.schedule,
            leave: None,
        };
        answer(&mut guest, call, [a1, a2, a3, a4, 0, 0, 0])
    }

    #[track_caller]
    fn expect(&mut self, call: Hypercall, arguments: [u64; 4], status: i64) {
        assert_eq!(self.call(call, arguments), Answer::Status(status), "{arguments:x?}");
    }
}

#[test]
fn what_is_not_offered_is_answered_h_function() {
    const OFFERED: [Hypercall; 5] = [
        Hypercall::PutTermChar,
        Hypercall::GetTermChar,
        Hypercall::SetMode,
        Hypercall::RegisterProcTbl,
        Hypercall::Rtas,
    ];
    let mut setup = Setup::new();
    for call in Hypercall::ALL.iter().filter(|call| !OFFERED.contains(call)) {
        setup.expect(*call, [0; 4], H_FUNCTION);
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
fn the_mode_changes_lpcr_only_when_all_arguments_are_right() {
    let mut setup = Setup::new();
    let before = setup.partition.lpcr;
    for (arguments, status) in [
        ([1, mode::INTERRUPT_LOCATION, 0, 0], H_UNSUPPORTED_FLAG_START),
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
    let changed = Answer::Leave(H_SUCCESS, [0; 3], Leave::Changed);
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
    let changed = Answer::Leave(H_SUCCESS, [0; 3], Leave::Changed);
    assert_eq!(setup.call(Hypercall::RegisterProcTbl, [NEW, 0x2000, 0, 1]), changed);
    let table = TableLocation { base: RealAddress(0x2000), bytes_log2: 13 };
    assert_eq!(setup.hal.process_table.get(), Some((1, Some(table))));
    assert_eq!(setup.partition.lpcr & lpcr::GTSE, 0);
    setup.call(Hypercall::RegisterProcTbl, [NEW | process_table::GTSE, 0, 0, 0]);
    assert_ne!(setup.partition.lpcr & lpcr::GTSE, 0);
    setup.call(Hypercall::RegisterProcTbl, [process_table::DEREGISTER, 0, 0, 0]);
    assert_eq!(setup.hal.process_table.get(), Some((1, None)));
}

fn rtas_call(setup: &mut Setup, address: u64, words: &[u32]) -> Answer {
    let bytes: std::vec::Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    second_stage::write(&mut setup.partition, &setup.hal, GuestRealAddress(address), &bytes)
        .unwrap();
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
    let answer = rtas_call(&mut setup, 0x100, &[0x2001, 1, 2, 7, 0, 0]);
    assert_eq!(answer, Answer::Status(H_SUCCESS));
    let mut status = [0; 4];
    let address = GuestRealAddress(0x100 + 4 * 4);
    second_stage::read(&mut setup.partition, &setup.hal, address, &mut status).unwrap();
    assert_eq!(i32::from_be_bytes(status), rtas::PARAMETER);
    for words in [[rtas::POWER_OFF, 17, 1], [rtas::POWER_OFF, 2, 17], [0x2001, 0, 0]] {
        assert_eq!(rtas_call(&mut setup, 0, &words), Answer::Status(H_PARAMETER));
    }
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
