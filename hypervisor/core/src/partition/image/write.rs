//! Writes an image: what is told of the partition at once, its memory piece by piece.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use arch::image::{
    AREA, CLOCK_OFFSET, COMPATIBLE, ENTRIES, ENTRY_DOUBLEWORDS, FACILITIES, FILE_BYTES, FREQUENCY,
    GUEST_TIME, LOG, LPCR, MANIFEST_BYTES_MAX, MEMORY_BYTES, NAME, PIECE_BYTES, PIECES,
    PROCESS_TABLE, PROCESSOR, RAN, RECORDS, SEGMENTS, SHADOW, STATE, TRANSLATION, UNFINISHED_LINE,
    USED, VCPU,
};
use arch::vcpus::activity;

use super::Suspension;
use crate::boot::flat_tree::{FlatTree, Words};
use crate::facilities::Demanded;
use crate::guest_memory::{AccessError, GuestMemory, Kind, SMALL_LOG2, pieces};
use crate::hal::{Maps, Memory, Platform, Window, Windows};
use crate::life::activity::Activity;
use crate::life::outcome::LoadError;
use crate::life::progress::Progress;
use crate::memory::Range;
use crate::partition::Partition;
use crate::partition::load::COPY_BYTES;
use crate::vcpu::Vcpu;
use crate::vcpu::registers::{Registers, Segments, VERSION};

const _: () = assert!(PIECE_BYTES == 1 << SMALL_LOG2, "memory is given in such pieces");

/// How far an image is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Saved {
    /// So far.
    SoFar(Progress),
    /// All of it: where it is.
    Whole(Range),
}

/// Doublewords, as a property has them.
fn words(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes()).collect()
}

/// Writes what is told of a partition that is at rest `now`, and was charged `ran` ticks.
///
/// # Errors
/// Why that is not possible.
pub fn begin<H: Memory + Platform>(
    partition: &mut Partition<H>,
    hal: &H,
    now: u64,
    ran: u64,
) -> Result<(), LoadError> {
    let Some(suspension) = partition.suspension else { return Err(LoadError::NoMemory(0)) };
    let given = bits(&partition.memory);
    let memory_bytes =
        PIECE_BYTES * given.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
    let room = room(partition, &given);
    let has_room = hal.heap_room().is_some_and(|left| room as u64 <= left);
    let tree = has_room.then(|| FlatTree::with_room(room)).flatten();
    let tree = tree.ok_or(LoadError::NoHeap(room))?;
    let (mut manifest, place) = manifest(tree, partition, &suspension, now, ran, &given);
    if manifest.len() as u64 > MANIFEST_BYTES_MAX {
        return Err(LoadError::ManifestLength(manifest.len()));
    }
    let bytes = (manifest.len() as u64).next_multiple_of(PIECE_BYTES) + memory_bytes;
    manifest[place..place + 8].copy_from_slice(&bytes.to_be_bytes());
    let maps = hal.maps();
    for (offset, length) in pieces(suspension.area.start.0, manifest.len() as u64) {
        let to = maps.open(suspension.area.start.wrapping_add(offset), length);
        let piece = &manifest[offset as usize..(offset + length) as usize];
        to.map_err(LoadError::Hal)?.write(0, piece);
    }
    partition.suspension = Some(Suspension { bytes, ..suspension });
    Ok(())
}

/// Which pieces of the memory the partition has.
pub(super) fn bits<H: Memory>(memory: &GuestMemory<H>) -> Vec<u64> {
    let units = memory.range.bytes >> SMALL_LOG2;
    let mut bits = vec![0; units.div_ceil(64) as usize];
    for unit in (0..units).filter(|unit| memory.has(*unit)) {
        bits[(unit / 64) as usize] |= 1 << (unit % 64);
    }
    bits
}

/// Bytes that suffice for what is told of it: how many there are is the partition's to say, by its entries.
pub(super) fn room<H: Memory>(partition: &Partition<H>, given: &[u64]) -> usize {
    /// Of the root's properties, and of the names of all.
    const ROOT_BYTES: usize = 0x4000;
    /// A register is a property, with a head of its own, and a name.
    const PER_REGISTER: usize = 4;
    let vcpu = size_of::<Registers>() + size_of::<Demanded>() + size_of::<Segments>();
    let entries = match partition.memory.kind() {
        Kind::Radix => 0,
        Kind::Hash(table) => table.written::<H>().count(),
    };
    let texts = partition.name.len() + partition.unfinished_line.len();
    ROOT_BYTES
        + texts
        + size_of_val(given)
        + entries * ENTRY_DOUBLEWORDS * size_of::<u64>()
        + partition.vcpus.len() * PER_REGISTER * vcpu
}

/// What is told of it, in a tree that has the room, and where in that the length of the image belongs.
fn manifest<H: Memory>(
    mut tree: FlatTree,
    partition: &mut Partition<H>,
    suspension: &Suspension,
    now: u64,
    ran: u64,
    given: &[u64],
) -> (Vec<u8>, usize) {
    tree.add("compatible", COMPATIBLE);
    let place = tree.add(FILE_BYTES, &0u64);
    tree.add(NAME, partition.name.as_str());
    tree.add(PROCESSOR, suspension.processor);
    tree.add(RECORDS, &VERSION);
    tree.add(MEMORY_BYTES, &partition.memory.range.bytes);
    tree.add(TRANSLATION, partition.translation().name());
    tree.add(FREQUENCY, &suspension.frequency);
    tree.add(GUEST_TIME, &now.wrapping_add(partition.timebase_offset));
    tree.add(CLOCK_OFFSET, &(partition.clock_offset as u64));
    tree.add(LPCR, &partition.lpcr);
    if let Some(table) = partition.process_table {
        let values = [table.base.0, u64::from(table.bytes_log2)];
        tree.add(PROCESS_TABLE, &words(&values)[..]);
    }
    match partition.memory.kind() {
        Kind::Radix => {}
        Kind::Hash(table) => {
            let entries =
                || table.written::<H>().flat_map(|(slot, [first, second])| [slot, first, second]);
            tree.add(ENTRIES, &Words(entries));
        }
    }
    tree.add(FACILITIES, &partition.on_demand);
    tree.add(RAN, &partition.ran_before.saturating_add(ran));
    tree.add(UNFINISHED_LINE, &partition.unfinished_line[..]);
    tree.add(PIECES, &words(given)[..]);
    for (number, vcpu) in partition.vcpus.iter_mut().enumerate() {
        tree.begin(&format!("{VCPU}@{number:x}"));
        add_vcpu(&mut tree, vcpu);
        tree.end();
    }
    (tree.finish(), place)
}

fn add_vcpu<H: Windows>(tree: &mut FlatTree, vcpu: &mut Vcpu<H>) {
    let does = match vcpu.activity() {
        Activity::Stopped => activity::STOPPED,
        // A `stop` may end without a reason.
        Activity::Ready | Activity::Paused { .. } => activity::READY,
        // It was interrupted when it could not be woken any more.
        Activity::Ceded { .. } if vcpu.presentation.is_pending() || vcpu.is_alerted() => {
            activity::READY
        }
        Activity::Ceded { .. } => activity::CEDED,
        Activity::AwaitsProd => activity::AWAITS_PROD,
        Activity::Running { .. } => unreachable!("its partition is at rest"),
    };
    let state = [does, u64::from(vcpu.is_prodded), vcpu.presentation.bits()];
    tree.add(STATE, &words(&state)[..]);
    if let Some(area) = vcpu.vpa.area() {
        tree.add(AREA, &area.0);
    }
    if let Some(log) = vcpu.vpa.log {
        tree.add(LOG, &words(&[log.address.0, log.entries, log.next])[..]);
    }
    if let Some(shadow) = vcpu.vpa.shadow {
        tree.add(SHADOW, &shadow.0);
    }
    let mut add = |name, values: &mut [u64]| {
        tree.add(name, &words(values)[..]);
    };
    // One that is stopped may have none.
    let registers = vcpu.registers.as_deref_mut();
    if let Some(registers) = registers {
        if let Some(segments) = &mut registers.segments {
            add(SEGMENTS, segments.as_flattened_mut());
        }
        Registers::visit(registers, &mut add);
    }
    if let Some(demanded) = &mut vcpu.demanded {
        add(USED, &mut [demanded.facilities]);
        demanded.visit(&mut add);
    }
}

/// Writes the next piece of the memory, at most [`COPY_BYTES`].
///
/// # Errors
/// Why that is not possible.
pub fn save_piece<H: Memory + Platform>(
    partition: &Partition<H>,
    hal: &H,
    from: u64,
    to: u64,
) -> Result<Saved, LoadError> {
    let Some(Suspension { area, bytes, .. }) = partition.suspension else {
        return Err(LoadError::NoMemory(0));
    };
    let memory = &partition.memory;
    if to == 0 {
        // Behind the manifest, whose length the image's is but for the memory.
        let has = (0..memory.range.bytes >> SMALL_LOG2).filter(|unit| memory.has(*unit)).count();
        return Ok(Saved::SoFar(Progress::Saved { from, to: bytes - PIECE_BYTES * has as u64 }));
    }
    if to >= bytes {
        return Ok(Saved::Whole(Range { bytes, ..area }));
    }
    if !memory.has(from >> SMALL_LOG2) {
        let mut next = (from >> SMALL_LOG2)..memory.range.bytes >> SMALL_LOG2;
        let unit = next.find(|unit| memory.has(*unit)).unwrap_or(next.end);
        return Ok(Saved::SoFar(Progress::Saved { from: unit << SMALL_LOG2, to }));
    }
    let maps = hal.maps();
    let source = maps.open(memory.range.start.wrapping_add(from), COPY_BYTES);
    let target = maps.open(area.start.wrapping_add(to), COPY_BYTES);
    let source = source.map_err(AccessError::Hypervisor).map_err(LoadError::Copy)?;
    let mut target = target.map_err(LoadError::Hal)?;
    target.copy_from(0, &source, COPY_BYTES as usize);
    Ok(Saved::SoFar(Progress::Saved { from: from + COPY_BYTES, to: to + COPY_BYTES }))
}
