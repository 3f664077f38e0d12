//! Payload files good and bad, made byte by byte.

use proptest::prelude::{any, prop, proptest};

use super::{Payload, PayloadError, Segment};
use crate::size::Size;

/// One program header and the bytes it loads.
#[derive(Clone)]
struct Load {
    flags: u32,
    linked: u64,
    physical: u64,
    bytes: Vec<u8>,
    memory_bytes: u64,
}

const READ_EXECUTE: u32 = 5;
const READ_WRITE: u32 = 6;

fn code(address: u64, bytes: usize) -> Load {
    let bytes = vec![0x60; bytes];
    let memory_bytes = bytes.len() as u64;
    Load { flags: READ_EXECUTE, linked: address, physical: address, bytes, memory_bytes }
}

/// An ELF64 file for 64-bit Power.
fn elf(big_endian: bool, entry: u64, loads: &[Load]) -> Vec<u8> {
    let half = |value: u16| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let word = |value: u32| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let double = |value: u64| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let mut file = b"\x7fELF\x02\x00\x01\0\0\0\0\0\0\0\0\0".to_vec();
    file[5] = if big_endian { 2 } else { 1 };
    file.extend([half(2), half(21)].concat());
    file.extend(word(1));
    file.extend([double(entry), double(64), double(0)].concat());
    file.extend(word(if big_endian { 1 } else { 2 }));
    file.extend([half(64), half(56), half(loads.len() as u16), half(0), half(0), half(0)].concat());
    let mut offset = 64 + 56 * loads.len() as u64;
    for load in loads {
        file.extend([word(1), word(load.flags)].concat());
        let sizes = [load.bytes.len() as u64, load.memory_bytes, 1];
        file.extend([offset, load.linked, load.physical].map(double).concat());
        file.extend(sizes.map(double).concat());
        offset += load.bytes.len() as u64;
    }
    for load in loads {
        file.extend(&load.bytes);
    }
    file
}

fn error(file: &[u8]) -> PayloadError {
    Payload::from_file_bytes(file).unwrap_err()
}

#[test]
fn a_position_independent_program_at_0_is_moved_and_no_other() {
    const TYPE: usize = 16;
    for (kind, linked, lies) in
        [(3, 0, 0x40_0000), (2, 0, 0), (3, 0x1000, 0x1000), (3, 0xC000_0000_0000_0000, 0)]
    {
        let data = Load { flags: READ_WRITE, ..code(linked + 0x100, 8) };
        let mut file = elf(false, linked + 4, &[code(linked, 32), data]);
        file[TYPE] = kind;
        let payload = Payload::from_file_bytes(&file).unwrap();
        assert_eq!(payload.entry, lies + 4, "type {kind} at {linked:#x}");
        let addresses: Vec<u64> = payload.segments.iter().map(|segment| segment.address).collect();
        assert_eq!(addresses, [lies, lies + 0x100], "type {kind} at {linked:#x}");
    }
}

#[test]
fn both_endiannesses_are_read_and_linked_high_addresses_lie_low() {
    for big_endian in [false, true] {
        let mut load = code(0xC000_0000_0001_0000, 32);
        load.memory_bytes = 48;
        let payload = Payload::from_file_bytes(&elf(big_endian, load.linked + 4, &[load])).unwrap();
        let segment = Segment { address: 0x1_0000, bytes: vec![0x60; 32], memory_bytes: 48 };
        assert_eq!(payload, Payload { entry: 0x1_0004, segments: vec![segment], initrd: None });
    }
}

#[test]
fn a_big_endian_entry_in_data_is_a_function_descriptor() {
    let mut data = code(0x2000, 0);
    data.flags = READ_WRITE;
    data.bytes = [0x1008_u64.to_be_bytes(), [0; 8], [0; 8]].concat();
    data.memory_bytes = 24;
    let payload =
        Payload::from_file_bytes(&elf(true, 0x2000, &[code(0x1000, 16), data.clone()])).unwrap();
    assert_eq!(payload.entry, 0x1008);

    data.bytes.truncate(4);
    assert!(matches!(error(&elf(true, 0x2000, &[data])), PayloadError::Damaged(_)));
}

#[test]
fn a_flat_image_lies_at_zero() {
    let payload = Payload::from_file_bytes(&[1, 2, 3]).unwrap();
    assert_eq!(payload.entry, 0);
    assert_eq!(payload.segments, [Segment { address: 0, bytes: vec![1, 2, 3], memory_bytes: 3 }]);
    assert_eq!(error(&[]), PayloadError::Empty);
}

#[test]
fn files_of_other_machines_and_classes_are_refused() {
    let good = elf(false, 0, &[code(0, 16)]);
    let mut other = good.clone();
    other[18] = 62;
    assert_eq!(error(&other), PayloadError::WrongMachine(62));
    let mut narrow = good.clone();
    narrow[4] = 1;
    assert_eq!(error(&narrow), PayloadError::NotElf64);
    let mut strange = good;
    strange[5] = 3;
    assert!(matches!(error(&strange), PayloadError::Damaged(_)));
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    let file = elf(false, 0x1000, &[code(0x1000, 32), code(0x2000, 32)]);
    for length in 4..file.len() {
        let error = error(&file[..length]);
        assert!(matches!(error, PayloadError::Damaged(_)), "{length}: {error}");
    }
}

#[test]
fn segments_that_cannot_be_loaded_are_refused() {
    let overlapping = elf(false, 0x1000, &[code(0x1010, 32), code(0x1000, 32)]);
    assert_eq!(error(&overlapping), PayloadError::Overlap(0x1000, 0x1010));
    // The same real address reached through two linked ones.
    assert_eq!(
        error(&elf(false, 0x1000, &[code(0x1000, 32), code(0xC000_0000_0000_1000, 32)])),
        PayloadError::Overlap(0x1000, 0x1000)
    );
    assert_eq!(error(&elf(false, 0x9000, &[code(0x1000, 32)])), PayloadError::EntryOutside(0x9000));
    assert_eq!(
        error(&elf(false, 0x1002, &[code(0x1000, 32)])),
        PayloadError::EntryUnaligned(0x1002)
    );
    let mut zeros = code(0x1000, 32);
    zeros.memory_bytes = 64;
    assert_eq!(error(&elf(false, 0x1020, &[zeros])), PayloadError::EntryOutside(0x1020));
    assert_eq!(error(&elf(false, 0, &[])), PayloadError::NothingToLoad);
    let mut short = code(0x1000, 32);
    short.memory_bytes = 16;
    assert_eq!(error(&elf(false, 0x1000, &[short])), PayloadError::FileLargerThanMemory(0));
    let mut endless = code(0x1000, 32);
    endless.memory_bytes = u64::MAX;
    assert_eq!(error(&elf(false, 0x1000, &[endless])), PayloadError::Wraps(0));
}

#[test]
fn a_second_file_lies_behind_the_payload() {
    let mut load = code(0x1_0000, 32);
    load.memory_bytes = 0x1_0001;
    let mut payload = Payload::from_file_bytes(&elf(false, 0x1_0000, &[load])).unwrap();
    assert_eq!(payload.clone().add_initrd(Vec::new()), Err(PayloadError::EmptyInitrd));
    payload.add_initrd(vec![7; 5]).unwrap();
    assert_eq!(payload.initrd, Some([0x3_0000, 0x3_0005]));
    let segment = Segment { address: 0x3_0000, bytes: vec![7; 5], memory_bytes: 5 };
    assert_eq!(payload.segments[1], segment);
    assert!(payload.check_fits(0x4_0000).is_err());
    assert_eq!(payload.check_fits(0x5_0000), Ok(()));
}

#[test]
fn a_payload_and_its_device_tree_must_fit_their_partition() {
    let payload = Payload::from_file_bytes(&elf(false, 0x1_0000, &[code(0x1_0000, 32)])).unwrap();
    assert_eq!(payload.check_fits(0x3_0000), Ok(()));
    assert_eq!(
        payload.check_fits(0x2_0000),
        Err(PayloadError::TooLarge {
            end: 0x1_0020,
            memory: Size(0x2_0000),
            needed: Size(0x3_0000)
        })
    );
}

proptest! {
    #[test]
    fn no_damage_makes_the_reader_panic(
        changes in prop::collection::vec((0_usize..240, any::<u8>()), 1..8), big_endian: bool,
    ) {
        let mut file = elf(big_endian, 0x1000, &[code(0x1000, 32), code(0x2000, 32)]);
        for (position, value) in changes {
            let length = file.len();
            file[position % length] = value;
        }
        if let Ok(payload) = Payload::from_file_bytes(&file) {
            let _ = payload.check_fits(1 << 20);
        }
    }
}
