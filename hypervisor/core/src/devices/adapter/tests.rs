//! The adapter against the fake machine: queue, descriptors, pieces, and what is wrong.

use std::cell::{Cell, RefCell};
use std::vec;
use std::vec::Vec;

use arch::address::GuestRealAddress;
use arch::bundle::Translation;
use arch::papr::tce::{self, READ, WRITE};
use arch::scsi::{Sense, operation};
use arch::vscsi::{UNIT_BYTES_MAX, datagram, srp as unit};
use proptest::prelude::{any, prop_assert, proptest};

use super::{Adapter, QueueError, Sent};
use crate::devices::Devices;
use crate::devices::disk::Disk;
use crate::devices::dma::Dma;
use crate::devices::tce::Window;
use crate::devices::transfer::Transfer;
use crate::fake::Fake;
use crate::guest_memory::GuestMemory;
use crate::guest_memory::unlocked::Unlocked;
use crate::hash_table::Options;
use crate::memory::Range;

const MIB: u64 = 1 << 20;
/// A partition's memory, and the disks, behind each other.
const MEMORY: Range = Range::new(2 * MIB, 2 * MIB);
const DISKS: u64 = 4 * MIB;
const DISK_BYTES: u64 = 0x4_0000;
/// Pages of the window: the queue, a unit, a table, and 256 KiB of data. They lie in memory in the opposite order.
const QUEUE: u64 = 0;
const UNIT_AT: u64 = 0x1000;
const TABLE: u64 = 0x2000;
const DATA: u64 = 0x4000;
const WINDOW_BYTES: u64 = DATA + DISK_BYTES;

struct Setup {
    hal: Fake,
    memory: RefCell<GuestMemory<Fake>>,
    devices: Devices,
    taken: u64,
}

/// Where in the partition's memory this address of the window is.
const fn guest(address: u64) -> u64 {
    WINDOW_BYTES - 0x1000 - (address & !0xFFF) + (address & 0xFFF)
}

impl Setup {
    /// A partition with a disk that may be written to and one that may not, and a queue.
    fn new() -> Self {
        let hal = Fake::new(8 << 20);
        for (index, byte) in hal.memory.borrow_mut()[DISKS as usize..].iter_mut().enumerate() {
            *byte = (index * 7 + index / 509) as u8;
        }
        let memory =
            GuestMemory::new(&hal, 1, MEMORY, Translation::Radix, Options::default()).unwrap();
        let disk = |index: u64, is_writable| Disk {
            range: Range::new(DISKS + index * DISK_BYTES, DISK_BYTES),
            is_writable,
            serial: index,
        };
        let adapter = Adapter::new(0, vec![disk(0, true), disk(1, false)], 2);
        let devices = Devices::new(vec![adapter], WINDOW_BYTES + 0x1000, MEMORY.bytes).unwrap();
        let window = devices.window(tce::WINDOW).unwrap();
        for address in (0..WINDOW_BYTES).step_by(0x1000) {
            window.pages(address, 1).unwrap()[0].set(guest(address) | READ | WRITE);
        }
        devices.adapters()[0].register(QUEUE, 0x1000, true).unwrap();
        Self { hal, memory: RefCell::new(memory), devices, taken: 0 }
    }

    fn window(&self) -> &Window {
        self.devices.window_of(self.adapter())
    }

    fn adapter(&self) -> &Adapter {
        &self.devices.adapters()[0]
    }

    fn with<R>(&self, act: impl FnOnce(&Adapter, &Dma<'_, Fake>) -> R) -> R {
        let Self { hal, memory, devices, .. } = self;
        let give = |address, bytes| memory.borrow_mut().filled(hal, address, bytes);
        let shared = memory.borrow().shared();
        let given = &shared.given;
        let memory = Unlocked { hal, given, give: &give, gave: Cell::new(0) };
        let adapter = self.adapter();
        act(adapter, &Dma { memory, window: devices.window_of(adapter) })
    }

    fn write(&mut self, address: u64, bytes: &[u8]) {
        self.with(|_, dma| dma.write(address, bytes).unwrap());
    }

    fn read<const BYTES: usize>(&mut self, address: u64) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        self.with(|_, dma| dma.read(address, &mut bytes).unwrap());
        bytes
    }

    fn send(&mut self, bytes: &[u8]) -> (Sent, Transfer) {
        self.write(UNIT_AT, bytes);
        let head = 0x8001 << 48 | bytes.len() as u64;
        let mut transfer = Transfer::nothing(0);
        let message = [head, UNIT_AT];
        let sent = self.with(|adapter, dma| adapter.send(dma, message, &mut transfer).unwrap());
        (sent, transfer)
    }

    /// Sends a command that moves data.
    fn begin(&mut self, unit: &[u8]) -> Transfer {
        let (sent, transfer) = self.send(unit);
        assert_eq!(sent, Sent::Moves);
        transfer
    }

    /// Asks whether the adapter is there.
    fn greet(&self) -> Sent {
        let begin = [0xC001 << 48, 0];
        self.with(|adapter, dma| adapter.send(dma, begin, &mut Transfer::nothing(0)).unwrap())
    }

    /// Moves a piece; the command is answered when that was the last one.
    fn go_on(&self, transfer: &mut Transfer) -> bool {
        self.with(|adapter, dma| {
            let all = adapter.go_on(dma, transfer).unwrap();
            if all {
                adapter.finish(dma, transfer).unwrap();
            }
            all
        })
    }

    /// The next entry of the queue, which is taken.
    fn take(&mut self) -> Option<[u64; 2]> {
        let place = QUEUE + self.taken % 256 * 16;
        let bytes: [u8; 16] = self.read(place);
        let (words, _) = bytes.as_chunks::<8>();
        let words = [words[0], words[1]].map(u64::from_be_bytes);
        (words[0] != 0).then(|| {
            self.write(place, &[0; 8]);
            self.taken += 1;
            words
        })
    }

    /// Sends a command and moves its data: in how many pieces, the SCSI status with the sense data, and flags
    /// with residuals.
    fn command(&mut self, unit: &[u8]) -> (usize, Option<Sense>, [u32; 3]) {
        let mut pieces = 0;
        if let (Sent::Moves, mut transfer) = self.send(unit) {
            while !self.go_on(&mut transfer) {
                pieces += 1;
            }
            pieces += 1;
        }
        let [head, tag] = self.take().expect("an answer");
        assert_eq!((head >> 48, tag.to_be_bytes()), (0x8001, *b"the tag "));
        let answer: [u8; 54] = self.read(UNIT_AT);
        let word = |at: usize| u32::from_be_bytes(core::array::from_fn(|byte| answer[at + byte]));
        assert_eq!((answer[0], &answer[8..16]), (unit::RESPONSE, &b"the tag "[..]));
        let sense = match answer[19] {
            0 => None,
            2 => Some(Sense { key: answer[38], code: answer[48], qualifier: answer[49] }),
            other => panic!("status {other:#x}"),
        };
        assert_eq!(answer[18] & 2 != 0, sense.is_some());
        (pieces, sense, [u32::from(answer[18] & !2), word(20), word(24)])
    }
}

fn command(target: u16, cdb: &[u8], formats: u8, counts: [u8; 2], rest: &[u8]) -> Vec<u8> {
    let mut unit = vec![0; 48];
    unit[0] = unit::COMMAND;
    (unit[5], unit[6], unit[7]) = (formats, counts[0], counts[1]);
    unit[8..16].copy_from_slice(b"the tag ");
    unit[20..22].copy_from_slice(&(0x8000 | target << 8).to_be_bytes());
    unit[32..32 + cdb.len()].copy_from_slice(cdb);
    unit.extend(rest);
    unit
}

fn descriptor(address: u64, bytes: u64) -> Vec<u8> {
    [&address.to_be_bytes()[..], &[0; 4], &(bytes as u32).to_be_bytes()].concat()
}

fn blocks(operation: u8, first: u32, count: u16) -> [u8; 10] {
    let ([a, b, c, d], [e, f]) = (first.to_be_bytes(), count.to_be_bytes());
    [operation, 0, a, b, c, d, 0, e, f, 0]
}

#[test]
fn blocks_come_and_go_in_pieces_that_end_soon() {
    let mut setup = Setup::new();
    let data = descriptor(DATA, DISK_BYTES);
    let read = command(0, &blocks(operation::READ_10, 0, 512), 1, [0; 2], &data);
    // 16 KiB each, in the first a little less, as it reads a descriptor.
    assert_eq!(setup.command(&read), (17, None, [0; 3]));
    let on_disk = setup.hal.memory.borrow()[DISKS as usize..][..DISK_BYTES as usize].to_vec();
    assert_eq!(setup.read::<{ DISK_BYTES as usize }>(DATA)[..], on_disk);

    setup.write(DATA + 5, b"written");
    let data = descriptor(DATA + 5, 512);
    let write = command(0, &blocks(operation::WRITE_10, 511, 1), 0x10, [0; 2], &data);
    assert_eq!(setup.command(&write), (1, None, [0; 3]));
    let disk = setup.hal.memory.borrow()[DISKS as usize..][..DISK_BYTES as usize].to_vec();
    assert_eq!(&disk[511 * 512..][..7], b"written");
    assert_eq!(disk[..511 * 512], on_disk[..511 * 512]);
    assert_eq!(setup.hal.open_windows.get(), 0);
}

#[test]
fn a_list_is_taken_from_the_unit_and_then_from_its_table() {
    let mut setup = Setup::new();
    // The table says something else of those that the unit has itself.
    let table: Vec<u8> = (0..4)
        .flat_map(|index| {
            let lie = if index < 2 { 0x1_0000 } else { 0 };
            descriptor(DATA + lie + index * 0x100, 0x100)
        })
        .collect();
    setup.write(TABLE, &table);
    setup.write(DATA, &[0xEE; 1024]);
    let local = [descriptor(DATA, 0x100), descriptor(DATA + 0x100, 0x100)].concat();
    let list = [&descriptor(TABLE, 64)[..], &1024u32.to_be_bytes(), &local].concat();
    let read = command(1, &blocks(operation::READ_10, 3, 2), 2, [0, 2], &list);
    assert_eq!(setup.command(&read), (1, None, [0; 3]));
    let from = (DISKS + DISK_BYTES + 3 * 512) as usize;
    let on_disk = setup.hal.memory.borrow()[from..from + 1024].to_vec();
    assert_eq!(setup.read::<1024>(DATA)[..], on_disk);
}

#[test]
fn a_piece_ends_where_the_partition_gets_memory() {
    let mut setup = Setup::new();
    // A byte each, in units of memory that nobody has touched.
    let places: Vec<u8> = (1..5).flat_map(|index| descriptor(index * 0x1_0000 + 8, 1)).collect();
    setup.write(TABLE, &places);
    let list = [&descriptor(TABLE, 64)[..], &4u32.to_be_bytes()].concat();
    let read = command(0, &blocks(operation::READ_10, 0, 1), 2, [0; 2], &list);
    let (pieces, sense, _) = setup.command(&read);
    assert_eq!((pieces, sense), (4, None));
    assert_eq!(setup.command(&read).0, 1, "it has all of it now");
}

#[test]
fn descriptors_of_nothing_take_time_but_not_for_ever() {
    let mut setup = Setup::new();
    let list = [&descriptor(TABLE, 0x2000)[..], &512u32.to_be_bytes()].concat();
    setup.write(TABLE, &[0; 0x2000]);
    let read = command(0, &blocks(operation::READ_10, 0, 1), 2, [0; 2], &list);
    // 512 of them, 64 a piece; the disk had 512 bytes more than went anywhere.
    let (pieces, sense, residuals) = setup.command(&read);
    assert_eq!((pieces, sense, residuals), (9, None, [0x10, 0, 512]));
}

/// An answer that is no block is moved as blocks are: all of it behind descriptors of nothing, and what has no place is
/// left over.
#[test]
fn an_answer_that_has_no_place_is_left_over() {
    const INQUIRY: [u8; 6] = [operation::INQUIRY, 0, 0, 0, 36, 0];
    let mut setup = Setup::new();
    let mut inquire = |table: &[Vec<u8>], said: u32| {
        setup.write(TABLE, &[0; 0x1000]);
        setup.write(TABLE, &table.concat());
        setup.write(DATA, &[0xEE; 40]);
        let bytes = table.len() as u64 * 16;
        let list = [&descriptor(TABLE, bytes)[..], &said.to_be_bytes()].concat();
        let answer = setup.command(&command(0, &INQUIRY, 2, [0; 2], &list));
        let written = setup.read::<40>(DATA);
        assert!(written[36..] == [0xEE; 4]);
        let count = written.iter().rposition(|byte| *byte != 0xEE).map_or(0, |last| last + 1);
        ((answer.1, answer.2), count)
    };
    let behind = |nothing: usize, bytes| {
        let mut table = vec![descriptor(0, 0); nothing];
        table.push(descriptor(DATA, bytes));
        table
    };
    let (under, over) = (0x20, 0x10);
    assert_eq!(inquire(&behind(40, 36), 36), ((None, [0; 3]), 36));
    assert_eq!(inquire(&behind(0, 64), 64), ((None, [under, 0, 28]), 36));
    assert_eq!(inquire(&behind(0, 64), 20), ((None, [over, 0, 16]), 20), "no more than is said");
    assert_eq!(inquire(&behind(0, 8), 36), ((None, [over, 0, 28]), 8));
    assert_eq!(inquire(&[], 36), ((None, [over, 0, 36]), 0));
    // Nobody waits for a longer list of nothing.
    assert_eq!(inquire(&behind(256, 36), 36), ((None, [over, 0, 36]), 0));
    // The first eight bytes, and then what the window does not show.
    let table = [descriptor(DATA, 8), descriptor(WINDOW_BYTES, 28)];
    let failed = (Some(Sense::DATA_PHASE_ERROR), [under, 0, 28]);
    assert_eq!(inquire(&table, 36), (failed, 8));
}

/// Memory that an answer goes to is zeroed first where the partition has not touched it. Nobody waits for much of that:
/// the partition has to ask again.
#[test]
fn an_answer_goes_to_a_few_untouched_places_at_a_time() {
    const INQUIRY: [u8; 6] = [operation::INQUIRY, 0, 0, 0, 36, 0];
    let mut setup = Setup::new();
    let pages = || (0..8).map(|page| (DATA + page * 0x1000, 0x8_0000 + page * 0x1_0000));
    for (address, at) in pages() {
        setup.window().pages(address, 1).unwrap()[0].set(at | READ | WRITE);
    }
    let table: Vec<_> = pages().flat_map(|(address, _)| descriptor(address, 4)).collect();
    setup.write(TABLE, &table);
    let list = [&descriptor(TABLE, table.len() as u64)[..], &32u32.to_be_bytes()].concat();
    let inquiry = command(0, &INQUIRY, 2, [0; 2], &list);
    let (under, over) = (0x20, 0x10);
    let (_, sense, residuals) = setup.command(&inquiry);
    assert_eq!((sense, residuals), (Some(Sense::DATA_PHASE_ERROR), [under, 0, 16]));
    let (_, sense, residuals) = setup.command(&inquiry);
    assert_eq!((sense, residuals), (None, [over, 0, 4]));
}

#[test]
fn what_a_command_that_failed_did_not_move_is_left_over() {
    let mut setup = Setup::new();
    for (operation, formats, under, at) in
        [(operation::READ_10, 1, 0x20, 2), (operation::WRITE_10, 0x10, 0x08, 1)]
    {
        let left = |bytes| {
            let mut residuals = [under, 0, 0];
            residuals[at] = bytes;
            residuals
        };
        // Beyond the disk: nothing moves.
        let data = descriptor(DATA, 1024);
        let unit = command(0, &blocks(operation, 511, 2), formats, [0; 2], &data);
        assert_eq!(setup.command(&unit), (0, Some(Sense::OUT_OF_RANGE), left(1024)));
        // The first half has a place.
        let table = [descriptor(DATA, 512), descriptor(WINDOW_BYTES, 512)].concat();
        setup.write(TABLE, &table);
        let list = [&descriptor(TABLE, 32)[..], &1024u32.to_be_bytes()].concat();
        let unit = command(0, &blocks(operation, 0, 2), 2 * formats, [0; 2], &list);
        let (_, sense, residuals) = setup.command(&unit);
        assert_eq!((sense, residuals), (Some(Sense::DATA_PHASE_ERROR), left(512)));
    }
    let data = descriptor(DATA, 512);
    let unit = command(1, &blocks(operation::WRITE_10, 0, 1), 0x10, [0; 2], &data);
    assert_eq!(setup.command(&unit), (0, Some(Sense::WRITE_PROTECTED), [0x08, 512, 0]));
    // Of two directions the one from the disk is told, with what was described there.
    let both = [descriptor(DATA, 1024), descriptor(DATA, 8)].concat();
    let unit = command(0, &blocks(operation::READ_10, 511, 2), 0x11, [0; 2], &both);
    assert_eq!(setup.command(&unit), (0, Some(Sense::OUT_OF_RANGE), [0x20, 0, 8]));
    // Nothing to move, and nothing described.
    let unit = command(0, &[operation::TEST_UNIT_READY], 0, [0; 2], &[]);
    assert_eq!(setup.command(&unit), (0, None, [0; 3]));
}

#[test]
fn what_the_window_does_not_show_is_neither_read_nor_written() {
    let mut setup = Setup::new();
    for (operation, formats) in [(operation::READ_10, 1), (operation::WRITE_10, 0x10)] {
        for address in [WINDOW_BYTES, WINDOW_BYTES - 0x200, u64::MAX - 0xFF] {
            let unit =
                command(0, &blocks(operation, 0, 2), formats, [0; 2], &descriptor(address, 1024));
            assert_eq!(setup.command(&unit).1, Some(Sense::DATA_PHASE_ERROR), "{address:#x}");
        }
        // A table that is not there.
        let list = [&descriptor(WINDOW_BYTES, 64)[..], &1024u32.to_be_bytes()].concat();
        let unit = command(0, &blocks(operation, 0, 2), 2 * formats, [0; 2], &list);
        assert_eq!(setup.command(&unit).1, Some(Sense::DATA_PHASE_ERROR));
    }
    // A device may not write where it may only read.
    setup.window().pages(DATA, 1).unwrap()[0].set(guest(DATA) | READ);
    let unit = |operation, formats| {
        command(0, &blocks(operation, 0, 1), formats, [0; 2], &descriptor(DATA, 512))
    };
    assert_eq!(setup.command(&unit(operation::READ_10, 1)).1, Some(Sense::DATA_PHASE_ERROR));
    assert_eq!(setup.command(&unit(operation::WRITE_10, 0x10)).1, None);
}

#[test]
fn an_entry_that_changes_during_a_transfer_counts_from_then_on() {
    let mut setup = Setup::new();
    let data = descriptor(DATA, 0x8000);
    setup.write(DATA, &[0; 0x8000]);
    let read = command(0, &blocks(operation::READ_10, 0, 64), 1, [0; 2], &data);
    let mut transfer = setup.begin(&read);
    assert!(!setup.go_on(&mut transfer));
    setup.window().pages(DATA + 0x5000, 1).unwrap()[0].set(0);
    assert!(setup.go_on(&mut transfer));
    let answer: [u8; 54] = setup.read(UNIT_AT);
    assert_eq!((answer[19], answer[48]), (2, Sense::DATA_PHASE_ERROR.code));
    let place = GuestRealAddress(guest(DATA + 0x5000));
    let mut bytes = [1; 8];
    setup.memory.borrow_mut().read(&setup.hal, place, &mut bytes).unwrap();
    assert_eq!(bytes, [0; 8], "nothing came there");
}

/// Descriptors that overlap each other, and one that overlaps the unit itself: each is done in its turn, the answer
/// last.
#[test]
fn descriptors_may_overlap() {
    let mut setup = Setup::new();
    let on_disk = setup.hal.memory.borrow()[DISKS as usize..][..1024].to_vec();
    let places = [DATA, DATA + 0x80].map(|address| descriptor(address, 0x200)).concat();
    setup.write(TABLE, &places);
    // A piece ends where the partition gets memory.
    setup.write(DATA, &[0; 0x280]);
    let list = [&descriptor(TABLE, 32)[..], &1024u32.to_be_bytes()].concat();
    let read = command(0, &blocks(operation::READ_10, 0, 2), 2, [0; 2], &list);
    assert_eq!(setup.command(&read), (1, None, [0; 3]));
    let expected = [&on_disk[..0x80], &on_disk[0x200..0x400]].concat();
    assert_eq!(setup.read::<0x280>(DATA)[..], expected);
    // To the disk the same bytes go twice.
    let write = command(0, &blocks(operation::WRITE_10, 8, 2), 0x20, [0; 2], &list);
    assert_eq!(setup.command(&write), (1, None, [0; 3]));
    let written = setup.hal.memory.borrow()[DISKS as usize + 8 * 512..][..1024].to_vec();
    assert_eq!(written, [&expected[..0x200], &expected[0x80..]].concat());
    // The unit was read before; `command` finds its answer there.
    let over = descriptor(UNIT_AT, 512);
    let read = command(0, &blocks(operation::READ_10, 0, 1), 1, [0; 2], &over);
    assert_eq!(setup.command(&read), (1, None, [0; 3]));
    assert_eq!(setup.read::<256>(UNIT_AT + 256)[..], on_disk[256..512]);
}

/// Data that comes over the queue is the guest's loss: there is no place for the answer, and no queue from then on.
#[test]
fn data_over_the_queue_closes_it() {
    let mut setup = Setup::new();
    let over = descriptor(QUEUE, 512);
    let read = command(0, &blocks(operation::READ_10, 1, 1), 1, [0; 2], &over);
    let first = setup.hal.memory.borrow()[DISKS as usize + 512];
    assert_ne!(first, 0, "what comes looks like an entry");
    let mut transfer = setup.begin(&read);
    assert!(setup.go_on(&mut transfer));
    assert_eq!(setup.greet(), Sent::Closed);
    assert!(setup.adapter().free());
}

#[test]
fn a_queue_that_the_window_does_not_show_any_more_is_closed() {
    let mut setup = Setup::new();
    for entry in [guest(QUEUE) | READ, guest(QUEUE) | WRITE, 0] {
        setup.window().pages(QUEUE, 1).unwrap()[0].set(entry);
        assert_eq!(setup.greet(), Sent::Done { interrupts: false });
        assert_eq!(setup.greet(), Sent::Closed, "{entry:#x}");
        assert!(setup.adapter().free());
        setup.window().pages(QUEUE, 1).unwrap()[0].set(guest(QUEUE) | READ | WRITE);
        assert_eq!(setup.take(), None, "nothing came there");
        setup.adapter().register(QUEUE, 0x1000, true).unwrap();
    }
}

/// What is behind a unit's length counts as zeros, and not as what lies there.
#[test]
fn a_unit_is_no_longer_than_its_message_says() {
    let mut setup = Setup::new();
    let data = descriptor(DATA, 512);
    let read = command(0, &blocks(operation::READ_10, 0, 1), 1, [0; 2], &data);
    setup.write(DATA, &[0xEE; 512]);
    for length in [16, 32, 33, 48, 60] {
        setup.write(UNIT_AT, &read);
        // A descriptor whose length is cut off has none; without its command, a command is TEST UNIT READY.
        let (sent, mut transfer) = setup.send(&read[..length]);
        if sent == Sent::Moves {
            while !setup.go_on(&mut transfer) {}
        }
        assert!(setup.take().is_some(), "{length}");
        assert_eq!(setup.read::<512>(DATA), [0xEE; 512], "{length}");
    }
    assert_eq!(setup.send(&[0; UNIT_BYTES_MAX + 1]).0, Sent::Wrong);
}

#[test]
fn a_queue_is_registered_once_and_closed_when_nobody_takes_from_it() {
    let mut setup = Setup::new();
    assert_eq!(setup.adapter().register(QUEUE, 0x1000, true), Err(QueueError::Registered));
    for (address, bytes, is_in_window) in
        [(1, 0x1000, true), (0, 0, true), (0, 0x1010, true), (0, 0x1000, false)]
    {
        let wrong = setup.adapter().register(address, bytes, is_in_window);
        assert_eq!(wrong, Err(QueueError::NoPlace), "{address:#x} {bytes:#x}");
    }
    // The 257th finds no place, and there is no queue from then on.
    for _ in 0..257 {
        assert_eq!(setup.greet(), Sent::Done { interrupts: false });
    }
    assert_eq!(setup.greet(), Sent::Closed);
    let answers = core::iter::from_fn(|| setup.take()).count();
    assert_eq!(answers, 256);
    assert!(setup.adapter().free(), "nothing is under way");
    assert_eq!(setup.greet(), Sent::Closed);
    setup.adapter().register(QUEUE, 0x1000, true).unwrap();
    setup.taken = 0;
    assert_eq!(setup.greet(), Sent::Done { interrupts: false });
    assert_eq!(setup.take(), Some([0xC002 << 48, 0]), "a new queue begins at its beginning");
}

#[test]
fn a_queue_is_not_free_before_what_is_under_way_is_over() {
    let mut setup = Setup::new();
    let data = descriptor(DATA, 0x8000);
    let read = command(0, &blocks(operation::READ_10, 0, 64), 1, [0; 2], &data);
    let mut transfer = setup.begin(&read);
    assert!(!setup.adapter().free() && !setup.adapter().free());
    let again = setup.adapter().register(QUEUE, 0x1000, true);
    assert_eq!(again, Err(QueueError::Registered));
    assert_eq!(setup.greet(), Sent::Closed);
    assert!(!setup.adapter().is_waited_for(&transfer));
    while !setup.go_on(&mut transfer) {}
    assert_eq!(setup.take(), None);
    assert!(setup.adapter().free());
    setup.adapter().register(QUEUE, 0x1000, true).unwrap();
    assert!(!setup.adapter().is_waited_for(&transfer));
}

#[test]
fn an_answer_interrupts_if_the_guest_wants_it() {
    let setup = Setup::new();
    assert_eq!(setup.greet(), Sent::Done { interrupts: false });
    assert!(!setup.adapter().is_requested());
    setup.adapter().signal(true);
    assert_eq!(setup.greet(), Sent::Done { interrupts: true });
    assert_eq!(setup.greet(), Sent::Done { interrupts: false }, "the one that waits stands for it");
    assert!(setup.adapter().is_requested());
    setup.adapter().accepted();
    assert!(!setup.adapter().is_requested());
    assert_eq!(setup.greet(), Sent::Done { interrupts: true });
    setup.adapter().reset();
    assert!(!setup.adapter().is_requested());
}

#[test]
fn datagrams_are_answered_in_their_head_and_their_buffer() {
    const BUFFER: u64 = 0x3000;
    const FULL: [u8; 96] = [0xFF; 96];
    let mut setup = Setup::new();
    let datagram = |kind: u32, length: u16, buffer: u64| {
        let (kind, length, buffer) =
            (kind.to_be_bytes(), length.to_be_bytes(), buffer.to_be_bytes());
        [&kind[..], &[0; 2], &length, b"the tag.", &buffer].concat()
    };
    let mut ask = |unit: &[u8]| {
        setup.write(BUFFER, &FULL);
        setup.write(UNIT_AT, &[0xEE; 32]);
        setup.write(UNIT_AT, unit);
        let message = [0x8002 << 48 | unit.len() as u64, UNIT_AT];
        let sent = setup
            .with(|adapter, dma| adapter.send(dma, message, &mut Transfer::nothing(0)).unwrap());
        assert_eq!(sent, Sent::Done { interrupts: false });
        let [head, tag] = setup.take().unwrap();
        assert_eq!((head >> 48, tag.to_be_bytes()), (0x8002, *b"the tag."));
        let answer: [u8; 32] = setup.read(UNIT_AT);
        assert_eq!(answer[unit.len()..], [0xEE; 32][unit.len()..], "what lies behind stays");
        (u16::from_be_bytes([answer[4], answer[5]]), setup.read::<96>(BUFFER))
    };
    let (status, list) = ask(&datagram(datagram::CAPABILITIES, 92, BUFFER));
    assert_eq!(status, datagram::SUCCESS);
    let is_cleared = |at| matches!(at, 0..4 | 74..80 | 86..92);
    for (at, byte) in list.into_iter().enumerate() {
        assert_eq!(byte, if is_cleared(at) { 0 } else { 0xFF }, "byte {at}");
    }
    let (status, list) = ask(&datagram(datagram::CAPABILITIES, 3, BUFFER));
    assert_eq!((status, &list[..4]), (datagram::SUCCESS, &[0, 0, 0, 0xFF][..]));
    assert_eq!(ask(&datagram(datagram::CAPABILITIES, 92, u64::MAX - 8)).0, datagram::FAILED);
    assert_eq!(ask(&datagram(datagram::FAST_FAIL, 16, 0)[..16]), (datagram::SUCCESS, FULL));
    let (status, list) = ask(&datagram(datagram::ADAPTER_INFO, 9, BUFFER));
    assert_eq!((status, &list[..10]), (datagram::SUCCESS, &b"16.a\0\0\0\0P\xFF"[..]));
    assert_eq!(ask(&datagram(2, 24, BUFFER)), (datagram::NOT_SUPPORTED, FULL));
}

#[test]
fn task_management_names_a_command_or_all_of_a_disk() {
    let mut setup = Setup::new();
    let data = descriptor(DATA, 0x8000);
    let read = command(1, &blocks(operation::READ_10, 0, 64), 1, [0; 2], &data);
    let transfer = setup.begin(&read);
    let task = |setup: &mut Setup, function, target: u16, tag: &[u8; 8]| {
        let mut bytes = vec![0; 48];
        bytes[0] = unit::TASK_MANAGEMENT;
        bytes[20..22].copy_from_slice(&(0x8000 | target << 8).to_be_bytes());
        bytes[30] = function;
        bytes[32..40].copy_from_slice(tag);
        let (Sent::Manages(task), _) = setup.send(&bytes) else { panic!("task management") };
        setup.with(|adapter, dma| adapter.manages(dma, &task).unwrap());
        let answer: [u8; 40] = setup.read(UNIT_AT);
        (task.ends(transfer.tag, transfer.target), answer[39])
    };
    use arch::vscsi::srp::task::{ABORT, COMPLETE, NOT_SUPPORTED, RESET};
    assert_eq!(task(&mut setup, ABORT, 1, b"the tag "), (true, COMPLETE));
    assert_eq!(task(&mut setup, ABORT, 1, b"another "), (false, COMPLETE));
    assert_eq!(task(&mut setup, RESET, 1, &[0; 8]), (true, COMPLETE));
    assert_eq!(task(&mut setup, RESET, 0, b"the tag "), (false, COMPLETE));
    assert_eq!(task(&mut setup, 0x40, 1, b"the tag "), (false, NOT_SUPPORTED));
}

/// A task-management request, as an adapter takes it.
fn task(function: u8, target: u16, tag: &[u8; 8]) -> super::Task {
    let mut bytes = vec![0; 48];
    bytes[0] = unit::TASK_MANAGEMENT;
    bytes[20..22].copy_from_slice(&(0x8000 | target << 8).to_be_bytes());
    bytes[30] = function;
    bytes[32..40].copy_from_slice(tag);
    let (Sent::Manages(task), _) = Setup::new().send(&bytes) else { panic!("task management") };
    task
}

#[test]
fn a_command_whose_data_moves_is_forgotten_between_two_pieces() {
    use arch::vscsi::srp::task::{ABORT, RESET};
    let mut setup = Setup::new();
    setup.write(DATA, &[0; 0x8000]);
    let read = blocks(operation::READ_10, 0, 64);
    let read = command(1, &read, 1, [0; 2], &descriptor(DATA, 0x8000));
    for forgets in [task(ABORT, 0, b"the tag "), task(RESET, 1, &[0; 8])] {
        let mut transfer = setup.begin(&read);
        assert!(!setup.go_on(&mut transfer));
        setup.adapter().forget(&task(ABORT, 1, b"another "));
        setup.adapter().forget(&task(RESET, 0, b"the tag "));
        assert!(setup.adapter().is_waited_for(&transfer) && !setup.adapter().is_forgetting());
        setup.adapter().forget(&forgets);
        assert!(!setup.adapter().is_waited_for(&transfer));
        assert!(setup.adapter().is_forgotten(0) && setup.adapter().is_forgetting());
        setup.adapter().end(0);
        assert!(!setup.adapter().is_forgetting());
    }
}

proptest! {
    /// Whatever a unit says, the adapter answers or refuses, ends soon, and opens nothing that it does not close.
    #[test]
    fn no_unit_is_too_strange(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..=UNIT_BYTES_MAX),
        kind in 0u8..4,
        formats in any::<u8>(),
        operation in any::<u8>(),
        near in proptest::array::uniform4(0u64..0x50_0000),
    ) {
        let mut setup = Setup::new();
        for (at, value) in [(0, kind), (5, formats & 0x33), (31, 0), (32, operation)] {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
        }
        // Descriptors that are sometimes right.
        for (index, address) in near.into_iter().enumerate() {
            if let Some(place) = bytes.get_mut(48 + 8 * index..56 + 8 * index) {
                place.copy_from_slice(&address.to_be_bytes());
            }
        }
        let (sent, mut transfer) = setup.send(&bytes);
        if sent == Sent::Moves {
            let bound = 1 + transfer.left / 0x1000 + (1 << 20);
            let mut pieces = 0;
            while !setup.go_on(&mut transfer) {
                pieces += 1;
                prop_assert!(pieces < bound);
            }
        }
        prop_assert!(setup.hal.open_windows.get() == 0);
        // A task-management request is the caller's to answer.
        let is_over = setup.adapter().free();
        prop_assert!(is_over || matches!(sent, Sent::Manages(_)));
    }
}
