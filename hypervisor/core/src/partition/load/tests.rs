//! Loading, second-stage filling and exits, against the fake machine.

use std::string::String;
use std::vec;
use std::vec::Vec;

use arch::address::{GuestRealAddress, RealAddress};
use arch::bundle::Translation;
use arch::interrupt::{Vector, program, storage};
use arch::processor::Processor;
use arch::registers::hfscr::Facility;
use arch::registers::{lpcr, msr};
use dtoolkit::fdt::Fdt;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use dtoolkit::{Node, Property};
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

use super::{LoadError, Payload, Progress, find_memory, load, load_piece};
use crate::boot::bundle::{Description, Segment};
use crate::boot::firmware::Firmware;
use crate::exit::{Action, Door, Exit, handle, machine_check};
use crate::fake::Fake;
use crate::guest_memory::{AccessError, LARGE_LOG2, PIECE_BYTES, Pages, SMALL_LOG2, page_of};
use crate::hal::HalError;
use crate::interrupts::doorbell::Doorbell;
use crate::interrupts::handler::Context;
use crate::life::outcome::{Departure, Outcome, StopReason};
use crate::memory::Range;
use crate::partition::Partition;
use crate::partition::guest_tree::ProcessorNode;
use crate::partition::radix;
use crate::scheduling::queue::WEIGHT_DEFAULT;
use crate::scheduling::schedule::Schedule;
use crate::vcpu::Vcpu;
use crate::vcpu::registers::Registers;
use crate::vcpu_id::VcpuId;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const FILE: u64 = 0x1_0000;

/// A machine's tree: one processor, 16 MiB of memory, every kind of reservation, an initrd.
fn machine() -> Vec<u8> {
    machine_with(16 * MIB)
}

fn machine_with(bytes: u64) -> Vec<u8> {
    let node = |name: &str, properties: &[(&str, &[u8])]| {
        let mut node = DeviceTreeNode::new(name).unwrap();
        for (name, value) in properties {
            node.add_property(DeviceTreeProperty::new(*name, *value).unwrap());
        }
        node
    };
    let cell = |value: u32| value.to_be_bytes();
    let pair = |start: u64, bytes: u64| [start.to_be_bytes(), bytes.to_be_bytes()].concat();
    let mut cpus = node("cpus", &[("#address-cells", &cell(1)), ("#size-cells", &cell(0))]);
    cpus.add_child(node(
        "PowerPC,POWER9@8",
        &[("device_type", b"cpu\0"), ("reg", &cell(8)), ("timebase-frequency", &cell(512_000_000))],
    ));
    let cells = [("#address-cells", &cell(2)[..]), ("#size-cells", &cell(2)[..])];
    let mut reserved = node("reserved-memory", &cells);
    reserved.add_child(node("firmware@200000", &[("reg", &pair(2 * MIB, MIB))]));
    let mut tree = DeviceTree::new();
    tree.root = node("", &cells);
    tree.root.add_property(DeviceTreeProperty::new("reserved-ranges", pair(4 * MIB, MIB)).unwrap());
    tree.memory_reservations.push(dtoolkit::memreserve::MemoryReservation::new(6 * MIB, MIB));
    tree.root
        .add_child(node("memory@0", &[("device_type", b"memory\0"), ("reg", &pair(0, bytes))]));
    tree.root.add_child(node(
        "chosen",
        &[
            ("linux,initrd-start", &cell(FILE as u32)),
            ("linux,initrd-end", &(2 * FILE).to_be_bytes()),
        ],
    ));
    tree.root.add_child(cpus);
    tree.root.add_child(reserved);
    tree.to_dtb()
}

fn description(memory_bytes: u64, segments: Vec<Segment>) -> Description {
    Description {
        name: String::from("test"),
        memory_bytes,
        vcpus: 1,
        weight: None,
        time_limit: None,
        has_performance_monitor: false,
        has_superpages: false,
        has_resizable_table: false,
        guest_stop: None,
        translation: None,
        dma_window: None,
        suspend_at: None,
        image: None,
        disks: Vec::new(),
        entry: GuestRealAddress(0x100),
        segments,
        bootargs: String::from("x=1"),
        initrd: Some([GuestRealAddress(0x1_3000), GuestRealAddress(0x1_3008)]),
    }
}

#[test]
fn all_kinds_of_reservations_are_kept_clear() {
    let data = machine();
    let firmware = Firmware::new(&data, RealAddress(8 * MIB)).unwrap();
    assert_eq!(firmware.initrd(), Some(Range::new(FILE, FILE)));
    assert_eq!(firmware.memory_bytes(), 16 * MIB);
    for taken in [FILE, 2 * MIB, 4 * MIB, 6 * MIB, 8 * MIB] {
        assert!(
            firmware.reserved().any(|range| range.overlaps(Range::new(taken, 1))),
            "{taken:#x}"
        );
    }
    let own = [Range::new(0, FILE)];
    let memory: Vec<Range> = firmware.memory().collect();
    let taken: Vec<Range> = own.into_iter().chain(firmware.reserved()).collect();
    let find =
        |bytes| find_memory(&memory, &taken, bytes, Translation::Radix).map(|range| range.start.0);
    assert_eq!(find(FILE), Ok(2 * FILE));
    assert_eq!(find(2 * MIB), Ok(10 * MIB));
    assert_eq!(find(6 * MIB), Ok(10 * MIB));
    assert_eq!(find(8 * MIB), Err(LoadError::NoMemory(8 * MIB)));
}

#[test]
fn memory_for_huge_pages_is_aligned_to_them_where_there_is_such_memory() {
    let taken = [Range::new(0, FILE), Range::new(GIB + 512 * MIB, FILE)];
    let find = |machine_bytes: u64, bytes| {
        let data = machine_with(machine_bytes);
        let firmware = Firmware::new(&data, RealAddress(8 * MIB)).unwrap();
        let memory: Vec<Range> = firmware.memory().collect();
        let taken: Vec<Range> = taken.into_iter().chain(firmware.reserved()).collect();
        find_memory(&memory, &taken, bytes, Translation::Radix).map(|range| range.start.0)
    };
    assert_eq!(find(4 * GIB, GIB + MIB), Ok(2 * GIB));
    assert_eq!(find(4 * GIB, GIB - MIB), Ok(10 * MIB));
    assert_eq!(find(2 * GIB, GIB), Ok(10 * MIB));
    assert_eq!(find(2 * GIB, 2 * GIB), Err(LoadError::NoMemory(2 * GIB)));
}

/// A second stage maps 2 MiB where guest real and real addresses are congruent, so memory that has whole 2 MiB and lies
/// between two of their boundaries is none.
#[test]
fn memory_with_large_pages_is_aligned_to_them_or_there_is_none() {
    let memory = [Range::new(FILE, 4 * MIB)];
    let find =
        |bytes| find_memory(&memory, &[], bytes, Translation::Radix).map(|range| range.start.0);
    assert_eq!(find(2 * MIB), Ok(2 * MIB));
    assert_eq!(find(2 * MIB + FILE), Ok(2 * MIB));
    assert_eq!(find(4 * MIB), Err(LoadError::NoMemory(4 * MIB)));
    assert_eq!(find(MIB), Ok(FILE));
}

/// Maps a page, in pieces.
fn fill_page(
    partition: &mut Partition<Fake>,
    hal: &Fake,
    address: GuestRealAddress,
) -> Result<(), AccessError> {
    partition.memory.fill(hal, address)?;
    while !partition.memory.is_mapped(address) {
        partition.memory.fill(hal, address)?;
    }
    Ok(())
}

#[test]
#[cfg_attr(miri, ignore = "a gibibyte takes Miri hours")]
fn a_gibibyte_is_one_page_once_all_of_it_is_filled() {
    const LARGE: u64 = 1 << LARGE_LOG2;
    let hal = Fake::new((GIB + LARGE) as usize);
    let mut partition = hal.partition(Range::new(0, GIB + LARGE));
    let registers = Registers::started(GuestRealAddress(0), 0, 0);
    partition.vcpus.push(Vcpu::new(VcpuId(0), registers));
    partition.vcpus[0].stale_fault = Some(GuestRealAddress(0));
    let pages = |partition: &Partition<Fake>| {
        let Pages { huge, large, small } = partition.memory.pages;
        [huge, large, small]
    };
    fill_page(&mut partition, &hal, GuestRealAddress(GIB)).unwrap();
    // In an order that jumps about.
    let place = |index: u64| GuestRealAddress(index * 77 % 512 * LARGE + 5);
    for index in 0..511 {
        fill_page(&mut partition, &hal, place(index)).unwrap();
        assert_eq!(pages(&partition), [0, 2 + index, 0]);
    }
    assert_eq!(hal.forgotten.take(), []);
    let touch = data_exit(storage::NO_TRANSLATION, place(511).0);
    for _ in 0..LARGE / PIECE_BYTES {
        assert_eq!(pages(&partition), [0, 512, 0]);
        assert_eq!(handle(&mut partition, 0, &hal, Door::Real, touch), Action::Resume);
    }
    assert_eq!(pages(&partition), [1, 1, 0]);
    assert_eq!(hal.forgotten.take(), [(1, true)]);
    assert_eq!(partition.vcpus[0].stale_fault, None);
    assert!(hal.memory.borrow().iter().all(|byte| *byte == 0));
    // A vCPU that met the moment in which nothing was mapped tries again.
    let touch = data_exit(storage::NO_TRANSLATION, place(3).0);
    assert_eq!(handle(&mut partition, 0, &hal, Door::Real, touch), Action::Resume);
}

#[test]
fn memory_that_does_not_lie_right_gets_no_huge_pages() {
    const LARGE: u64 = 1 << LARGE_LOG2;
    let hal = Fake::new((GIB + LARGE) as usize);
    let mut partition = hal.partition(Range::new(LARGE, GIB));
    for index in 0..512 {
        fill_page(&mut partition, &hal, GuestRealAddress(index * LARGE)).unwrap();
    }
    assert_eq!((partition.memory.pages.huge, partition.memory.pages.large), (0, 512));
}

#[test]
fn payload_and_tree_are_copied_and_the_rest_is_zero() {
    let hal = Fake::new(8 << 20);
    let payload: Vec<u8> = (0..0x1_8000u32).map(|index| index as u8 | 1).collect();
    hal.memory.borrow_mut()[0x1_0000..0x2_8000].copy_from_slice(&payload);
    let memory = Range::new(4 * MIB, 2 * MIB + 0x1_0000);
    let mut partition = hal.partition(memory);
    let segment = Segment {
        address: GuestRealAddress(0x1_2340),
        file_offset: 0,
        file_bytes: payload.len() as u64,
        memory_bytes: 0x3_0000,
    };
    let data = machine();
    let firmware = Firmware::new(&data, RealAddress(0)).unwrap();
    let processor = ProcessorNode::new(Processor::Power9, &firmware.processor().unwrap());
    let about = description(memory.bytes, vec![segment]);
    partition.payload = Payload::new(&about, RealAddress(0x1_0000), &processor, None).unwrap();
    let vcpu = load(&mut partition, &hal).unwrap();

    assert_eq!((vcpu.pc, vcpu.gpr[4], vcpu.gpr[5]), (0x100, 0x100, 0));
    assert_eq!(vcpu.msr, msr::SF | msr::ME);
    let tree_address = 2 * MIB;
    assert_eq!(vcpu.gpr[3], tree_address);
    let mut all = vec![0; memory.bytes as usize];
    partition.memory.read(&hal, GuestRealAddress(0), &mut all).unwrap();
    let (first, last) = (0x1_2340, 0x1_2340 + payload.len());
    assert_eq!(all[first..last], payload);
    let rest = [&all[..first], &all[last..tree_address as usize]].concat();
    assert!(rest == vec![0; rest.len()]);
    assert_eq!(partition.memory.pages, Pages::default(), "nothing is mapped before it is used");
    assert_eq!(hal.open_windows.get(), 0);

    let bytes = u32::from_be_bytes(all[tree_address as usize + 4..][..4].try_into().unwrap());
    let tree = Fdt::new(&all[tree_address as usize..][..bytes as usize]).unwrap();
    let text = |path: &str, name: &str| {
        tree.find_node(path).unwrap().property(name).unwrap().value_as::<&str>().unwrap()
    };
    assert_eq!(text("/", "device_type"), "chrp");
    assert_eq!(text("/chosen", "bootargs"), "x=1");
    let chosen = tree.find_node("/chosen").unwrap();
    let number = |name: &str| chosen.property(name).unwrap().value_as::<u64>().unwrap();
    assert_eq!((number("linux,initrd-start"), number("linux,initrd-end")), (0x1_3000, 0x1_3008));
    assert_eq!(text("/vdevice/vty@71000000", "compatible"), "hvterm1");
    let cpu = tree.find_node("/cpus/PowerPC,POWER9@0").unwrap();
    let frequency = cpu.property("timebase-frequency").unwrap().value_as::<u32>().unwrap();
    assert_eq!(frequency, 512_000_000);
    assert_eq!(cpu.property("reg").unwrap().value_as::<u32>(), Ok(0));

    // Behind the tree, where a kernel takes memory for others unless the tree reserves it.
    let rtas = tree.find_node("/rtas").unwrap();
    let cell = |name: &str| rtas.property(name).unwrap().value_as::<u32>().unwrap();
    let (entry, size) = (u64::from(cell("linux,rtas-entry")), u64::from(cell("rtas-size")));
    assert!(
        entry >= tree_address + u64::from(bytes)
            && cell("linux,rtas-base") == cell("linux,rtas-entry")
    );
    let last = (entry + size) as usize;
    assert_eq!(all[last - 4..last], [0x4E, 0x80, 0x00, 0x20], "it ends with blr");
    assert!(all[last..].iter().all(|byte| *byte == 0));
    let reserved: Vec<_> = tree.memory_reservations().map(|it| (it.address(), it.size())).collect();
    assert_eq!(reserved, [(entry, size)]);
}

#[test]
fn a_restart_zeroes_what_was_touched_a_piece_at_a_time() {
    const UNIT: usize = 1 << SMALL_LOG2;
    let hal = Fake::new(8 << 20);
    let memory = Range::new(2 * MIB, 4 * MIB + 0x1_0000);
    let mut partition = hal.partition(memory);
    // All of one page, a piece of another one, and the last one.
    fill_page(&mut partition, &hal, GuestRealAddress(0)).unwrap();
    partition.memory.fill(&hal, GuestRealAddress(2 * MIB)).unwrap();
    partition.memory.write(&hal, GuestRealAddress(4 * MIB), &[1]).unwrap();
    let is_given = |unit: usize| matches!(unit, 0..36 | 64);
    hal.memory.borrow_mut().fill(7);
    let zeroed = || {
        let memory = hal.memory.borrow();
        let bytes = &memory[memory.len() / 4..][..partition.memory.range.bytes as usize];
        let units: Vec<bool> = bytes.chunks(UNIT).map(|unit| *unit == [0; UNIT]).collect();
        units
    };
    let (mut next, mut before) = (Some(0), 0);
    while let Some(unit) = next {
        next = partition.memory.zero_again(&hal, unit).unwrap();
        let now = zeroed().iter().filter(|unit| **unit).count();
        assert!((now - before) as u64 * UNIT as u64 <= PIECE_BYTES, "{before} to {now}");
        before = now;
    }
    assert!(zeroed().iter().enumerate().all(|(unit, zeroed)| *zeroed == is_given(unit)));
    assert_eq!(hal.open_windows.get(), 0);
}

#[test]
fn a_load_has_pieces_of_16_kib_and_begins_where_the_last_one_ended() {
    let hal = Fake::new(8 << 20);
    let mut partition = hal.partition(Range::new(4 * MIB, 2 * MIB));
    let segment = Segment {
        address: GuestRealAddress(0x1_2340),
        file_offset: 0,
        file_bytes: 0x2_0000,
        memory_bytes: 0x2_0000,
    };
    partition.payload.segments = vec![segment; 2];
    let mut progress = Progress::START;
    let mut seen = Vec::new();
    while let Some(next) = load_piece(&mut partition, &hal, progress).unwrap() {
        seen.push(next);
        progress = next;
    }
    let of_segment = |index| {
        let ends = (0x1CC0..0x2_0000).step_by(0x4000).chain([0x2_0000]);
        ends.map(move |done| Progress::Copied(index, done)).chain([Progress::Copied(index + 1, 0)])
    };
    let all = of_segment(0).chain(of_segment(1)).chain([Progress::TreeCopied(0)]);
    assert_eq!(seen, all.collect::<Vec<_>>());
}

#[test]
fn the_tree_does_not_go_over_the_payload() {
    let memory = Range::new(4 * MIB, 0x2_0000);
    let segment = Segment {
        address: GuestRealAddress(0),
        file_offset: 0,
        file_bytes: 0x200,
        memory_bytes: 0x1_0001,
    };
    let data = machine();
    let processor = Firmware::new(&data, RealAddress(0)).unwrap();
    let processor = ProcessorNode::new(Processor::Power9, &processor.processor().unwrap());
    let about = description(memory.bytes, vec![segment]);
    let payload = Payload::new(&about, RealAddress(0), &processor, None);
    assert_eq!(payload.err(), Some(LoadError::NoRoomForTree));
}

fn data_exit(status: u64, address: u64) -> Exit {
    Exit::DataStorage { status, address: radix::guest_real(address) }
}

#[test]
fn a_first_touch_is_filled_and_resumed_and_counted_by_door() {
    let hal = Fake::new(8 << 20);
    let mut partition = hal.partition(Range::new(2 * MIB, 3 * MIB));
    let touch = data_exit(storage::NO_TRANSLATION | storage::STORE, 0xC000_0000_0000_1000);
    let pieces = 2 * MIB / PIECE_BYTES;
    for piece in 0..pieces {
        assert!(!partition.memory.is_mapped(GuestRealAddress(0)));
        assert_eq!(handle(&mut partition, 0, &hal, Door::Real, touch), Action::Resume);
        let next = (2 * MIB + (piece + 1) * PIECE_BYTES) as usize;
        assert_eq!(hal.memory.borrow()[next], 0xA5, "one piece at a time");
    }
    assert!(partition.memory.is_mapped(GuestRealAddress(0)));
    let fetch = Exit::InstructionStorage {
        status: storage::NO_TRANSLATION,
        address: GuestRealAddress(2 * MIB),
    };
    assert_eq!(handle(&mut partition, 0, &hal, Door::Virtual, fetch), Action::Resume);
    // Compared as a whole: under Miri, a loop over bytes takes minutes.
    assert!(hal.memory.borrow()[2 << 20..4 << 20] == *vec![0; 2 << 20]);
    assert_eq!(hal.memory.borrow()[(4 << 20) + 0x1_0000], 0xA5, "the next page is not touched");
    let statistics = &partition.statistics;
    assert_eq!(statistics.exits[Door::Real as usize].data_storage, pieces);
    assert_eq!(statistics.exits[Door::Virtual as usize].instruction_storage, 1);
}

#[test]
fn what_cannot_be_filled_stops_the_partition_with_the_reason() {
    let cases = [
        (
            data_exit(storage::NO_TRANSLATION | storage::TABLE_WALK, 3 * MIB),
            StopReason::Access(AccessError::Outside(GuestRealAddress(3 * MIB))),
        ),
        (
            data_exit(storage::PROTECTION, 0),
            StopReason::Storage { status: storage::PROTECTION, address: GuestRealAddress(0) },
        ),
        (Exit::Other(Vector::MachineCheck), StopReason::Interrupt(Vector::MachineCheck)),
    ];
    for (exit, reason) in cases {
        let hal = Fake::new(8 << 20);
        let mut partition = hal.partition(Range::new(2 * MIB, 3 * MIB));
        let action = handle(&mut partition, 0, &hal, Door::Real, exit);
        assert_eq!(action, Action::Departs(Departure::Ended(Outcome::Stopped(reason))));
    }
}

#[test]
fn without_tables_the_partition_is_stopped() {
    let hal = Fake::new(8 << 20);
    let mut partition = hal.partition(Range::new(2 * MIB, 3 * MIB));
    hal.tables_left.set(0);
    partition.memory.piece_bytes = 2 * MIB;
    let exit = data_exit(storage::NO_TRANSLATION, 0);
    let action = handle(&mut partition, 0, &hal, Door::Real, exit);
    let reason = StopReason::Access(AccessError::Hypervisor(HalError::OutOfTables));
    assert_eq!(action, Action::Departs(Departure::Ended(Outcome::Stopped(reason))));
}

#[test]
fn an_unknown_instruction_becomes_the_guests_program_interrupt() {
    let hal = Fake::new(8 << 20);
    let mut partition = hal.partition(Range::new(2 * MIB, 3 * MIB));
    partition.lpcr |= lpcr::ILE | lpcr::AIL.set(0, 3);
    let interrupted =
        Context { pc: 0x1234, msr: msr::SF | msr::ME | msr::IR | msr::DR | msr::LE | msr::EE };
    let to =
        Context { pc: 0xC000_0000_0000_4700, msr: msr::SF | msr::ME | msr::IR | msr::DR | msr::LE };
    let srr1 = interrupted.msr | program::ILLEGAL;
    let withheld = |facility| Exit::FacilityUnavailable { interrupted, facility };
    for exit in [
        Exit::EmulationAssistance { interrupted, before: 0 },
        withheld(None),
        withheld(Some(Facility::Tm)),
        withheld(Some(Facility::Pm)),
    ] {
        let action = handle(&mut partition, 0, &hal, Door::Virtual, exit);
        assert_eq!(action, Action::Interrupt { to, srr0: 0x1234, srr1 });
    }
}

#[test]
fn an_instruction_of_doorbells_is_done_for_the_kernel_and_for_nobody_else() {
    let hal = Fake::new(8 << 20);
    let mut partition = hal.partition(Range::new(2 * MIB, 3 * MIB));
    let msgsndp_9 = 0x7C00_491C_u32;
    partition.memory.write(&hal, GuestRealAddress(0x1234), &msgsndp_9.to_le_bytes()).unwrap();
    let mtspr_tir_7 = 0x7CFE_6BA6_u32;
    partition.memory.write(&hal, GuestRealAddress(0x1238), &mtspr_tir_7.to_le_bytes()).unwrap();
    let mut at = |pc, msr| {
        let interrupted = Context { pc, msr };
        let facility = Some(Facility::Msgp);
        let exit = Exit::FacilityUnavailable { interrupted, facility };
        handle(&mut partition, 0, &hal, Door::Real, exit)
    };
    let rings = Action::Departs(Departure::Doorbell(Doorbell::Ring(9)));
    assert_eq!(at(0x1234, msr::SF | msr::LE), rings);
    // In problem state, and a write of TIR.
    for (pc, msr) in [(0x1234, msr::LE | msr::PR), (0x1238, msr::LE)] {
        assert!(matches!(at(pc, msr), Action::Interrupt { .. }), "{pc:#x} {msr:#x}");
    }
    // Another instruction is there now, or nothing: the processor fetches it itself.
    for (pc, msr) in [(0x1234, 0), (0x123C, msr::LE), (3 * MIB, msr::LE)] {
        assert_eq!(at(pc, msr), Action::Resume, "{pc:#x} {msr:#x}");
    }
}

#[test]
fn an_access_beyond_memory_is_the_guests_machine_check() {
    let hal = Fake::new(8 << 20);
    let mut partition = hal.partition(Range::new(2 * MIB, 3 * MIB));
    let fetch = Exit::InstructionStorage {
        status: storage::NO_TRANSLATION,
        address: GuestRealAddress(3 * MIB),
    };
    // The processor keeps all bits but the two of the quadrant.
    let far = data_exit(storage::NO_TRANSLATION, 0x2000_0000_0000_1000);
    for exit in [data_exit(storage::NO_TRANSLATION, 3 * MIB), far, fetch] {
        assert_eq!(handle(&mut partition, 0, &hal, Door::Real, exit), Action::MachineCheck);
    }
    let interrupted =
        Context { pc: 0x1234, msr: msr::SF | msr::ME | msr::IR | msr::DR | msr::LE | msr::EE };
    let lpcr = lpcr::ILE | lpcr::AIL.set(0, 3);
    let to = Context { pc: 0x200, msr: msr::SF | msr::ME | msr::LE };
    let kept = interrupted.msr;
    let checks = |processor, is_fetch| machine_check(processor, interrupted, is_fetch, lpcr);
    // A load from where no memory answers, and a fetch: SRR1[42], SRR1[36 43:45] and DSISR.
    for (processor, fetch, data) in
        [(Processor::Power9, 0x080C_0000, 0x40), (Processor::Power8, 0x0004_0000, 0x8000)]
    {
        assert_eq!(checks(processor, false), (to, 1 << 21 | kept, data), "{processor}");
        let (at, status, _) = checks(processor, true);
        assert_eq!((at, status), (to, fetch | kept), "{processor}");
    }
}

#[test]
fn a_facility_is_given_once_and_only_if_the_partition_may_have_it() {
    let hal = Fake::new(8 << 20);
    let mut schedule = Schedule::new(1);
    let mut partition = hal.partition(Range::new(2 * MIB, 3 * MIB));
    let id = schedule.queue.add(WEIGHT_DEFAULT);
    partition.vcpus.push(Vcpu::new(id, Registers::started(GuestRealAddress(0), 0, 0)));
    let interrupted = Context { pc: 0x1234, msr: msr::SF | msr::ME };
    let uses = |partition: &mut Partition<Fake>, facility| {
        let exit = Exit::FacilityUnavailable { interrupted, facility: Some(facility) };
        handle(partition, 0, &hal, Door::Real, exit) == Action::Resume
    };
    assert!(uses(&mut partition, Facility::VecVsx));
    assert!(!uses(&mut partition, Facility::VecVsx), "it is on, so nothing would change");
    assert!(!uses(&mut partition, Facility::Pm));
    partition.on_demand |= Facility::Pm.bit();
    assert!(uses(&mut partition, Facility::Pm));
    assert!(uses(&mut partition, Facility::Ebb));
    let on = hal.facilities.borrow().facilities;
    let asked_for = Facility::VecVsx.bit() | Facility::Pm.bit() | Facility::Ebb.bit();
    assert_eq!(on, asked_for | Facility::Fp.bit(), "its registers are parts of vectors");
}

#[test]
fn a_stop_that_a_vcpu_does_not_have_pauses_it_behind_the_instruction() {
    let hal = Fake::new(8 << 20);
    let mut schedule = Schedule::new(1);
    let mut partition = hal.partition(Range::new(2 * MIB, 3 * MIB));
    let id = schedule.queue.add(WEIGHT_DEFAULT);
    partition.vcpus.push(Vcpu::new(id, Registers::started(GuestRealAddress(0), 0, 0)));
    let stops = |partition: &mut Partition<Fake>, pc, msr| {
        let interrupted = Context { pc, msr };
        let facility = Some(Facility::Stop);
        handle(partition, 0, &hal, Door::Real, Exit::FacilityUnavailable { interrupted, facility })
    };
    let last = 0xFFFF_FFFF_FFFF_FFFC;
    assert_eq!(stops(&mut partition, 0x1234, msr::SF), Action::Pauses { next: 0x1238 });
    assert_eq!(stops(&mut partition, last, msr::SF), Action::Pauses { next: 0 });
    assert_eq!(stops(&mut partition, 0xFFFF_FFFC, 0), Action::Pauses { next: 0 });
    partition.on_demand |= Facility::Stop.bit();
    let decides = Action::Departs(Departure::Changed);
    assert_eq!(stops(&mut partition, 0x1234, msr::SF), decides, "it is given, if nobody waits");
    assert_eq!(hal.facilities.borrow().facilities, Facility::Stop.bit());
    let deeper = stops(&mut partition, 0x1234, msr::SF);
    assert_eq!(deeper, Action::Pauses { next: 0x1238 }, "a level that it does not have");
}

proptest! {
    /// Any order of touches fills every touched address, never twice, and within the memory.
    #[test]
    fn touches_in_any_order_are_filled_once(units in 1u64..80, touches in proptest::collection::vec(0u64..80, 1..60)) {
        let hal = Fake::new(8 << 20);
        let memory = Range::new(2 * MIB, units << SMALL_LOG2);
        let mut partition = hal.partition(memory);
        let mut filled = std::collections::HashSet::new();
        for touch in touches {
            let address = GuestRealAddress((touch << SMALL_LOG2) + 0x123);
            let result = fill_page(&mut partition, &hal, address);
            if touch >= units {
                prop_assert_eq!(result, Err(AccessError::Outside(address)));
                continue;
            }
            let (page, log2) = page_of(address, memory.bytes);
            prop_assert!(page <= address && address.0 < page.0 + (1 << log2));
            prop_assert!(page.0 + (1 << log2) <= memory.bytes);
            prop_assert!(log2 == SMALL_LOG2 || log2 == LARGE_LOG2);
            prop_assert_eq!(result.is_ok(), filled.insert(page));
        }
    }
}
