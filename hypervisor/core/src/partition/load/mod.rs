//! A partition's birth: the hypervisor finds memory, and copies payload and device tree in through windows, piece by
//! piece, so that nobody waits for long. Before the first partition runs the pieces follow each other; when one starts
//! anew, its first vCPU does them ([`crate::life`]).

use arch::address::{GuestRealAddress, RealAddress};
use arch::bundle::Translation;

use crate::boot::bundle::{self, Bundle, BundleError, HEADER_BYTES, Segment};
use crate::guest_memory::{
    AccessError, GuestMemory, HUGE_LOG2, Kind, LARGE_LOG2, SMALL_LOG2, pieces,
};
use crate::hal::{HalError, Maps, Memory, Platform, Window, Windows};
use crate::life::outcome::LoadError;
use crate::life::progress::Progress;
use crate::memory::{Range, find_free};
use crate::partition::payload::Payload;
use crate::partition::{Partition, hash};
use crate::vcpu::registers::Registers;

/// Reads the manifest of the bundle that lies at `file`.
///
/// # Errors
/// What is wrong with the bundle, or that it could not be mapped.
pub fn read_bundle<H: Windows>(
    hal: &H,
    file: Range,
) -> Result<Bundle, Result<BundleError, HalError>> {
    if file.bytes < HEADER_BYTES {
        return Err(Ok(BundleError::NotATree));
    }
    let mut header = [0; HEADER_BYTES as usize];
    read(hal, file.start, &mut header).map_err(Err)?;
    let bytes = bundle::manifest_bytes(header, file.bytes).map_err(Ok)?;
    let mut manifest = alloc::vec![0; bytes as usize];
    read(hal, file.start, &mut manifest).map_err(Err)?;
    bundle::parse(&manifest, file.bytes).map_err(Ok)
}

/// Copies out of real memory.
pub(super) fn read<H: Windows>(
    hal: &H,
    from: RealAddress,
    into: &mut [u8],
) -> Result<(), HalError> {
    let maps = hal.maps();
    for (offset, bytes) in pieces(from.0, into.len() as u64) {
        let window = maps.open(from.wrapping_add(offset), bytes)?;
        window.read(0, &mut into[offset as usize..(offset + bytes) as usize]);
    }
    Ok(())
}

/// Memory for a partition: in `memory`, clear of what is `taken`, and aligned as the largest page that its second
/// stage maps in it, or as the largest that a hashed page table may name. Only a page of 1 GiB is done without, where
/// there is no such place.
///
/// # Errors
/// [`LoadError::NoMemory`].
pub fn find_memory(
    memory: &[Range],
    taken: &[Range],
    bytes: u64,
    translation: Translation,
) -> Result<Range, LoadError> {
    let find = |log2| find_free(memory.iter().copied(), || taken.iter().copied(), bytes, log2);
    let of_second_stage: &[u32] = match bytes {
        _ if bytes >> HUGE_LOG2 != 0 => &[HUGE_LOG2, LARGE_LOG2],
        _ if bytes >> LARGE_LOG2 != 0 => &[LARGE_LOG2],
        _ => &[SMALL_LOG2],
    };
    let alignments = match translation {
        Translation::Radix => of_second_stage,
        Translation::Hash if bytes >> hash::LARGEST_LOG2 != 0 => &[hash::LARGEST_LOG2],
        Translation::Hash => of_second_stage,
    };
    alignments.iter().copied().find_map(find).ok_or(LoadError::NoMemory(bytes))
}

/// Bytes that a piece copies at most, from a boundary of as many to the next. To copy takes ten times as long
/// as to zero.
pub(super) const COPY_BYTES: u64 = 0x4000;

/// Slots of a hashed page table that a piece empties at most: 64 KiB, and what is kept beside them.
const SLOTS_OF_PIECE: u64 = 4096;

/// Does a piece of the work: at most [`GuestMemory::piece_bytes`] are zeroed, or 64 KiB zeroed and
/// [`COPY_BYTES`] of them copied. How far it is then, unless that was the last one.
///
/// # Errors
/// Why the partition cannot start.
pub fn load_piece<H: Memory + Platform>(
    partition: &mut Partition<H>,
    hal: &H,
    progress: Progress,
) -> Result<Option<Progress>, LoadError> {
    let Partition { memory, payload, .. } = partition;
    match progress {
        Progress::Zeroed(unit) => {
            let next = memory.zero_again(hal, unit).map_err(LoadError::Copy)?;
            Ok(Some(next.map_or(Progress::Emptied(0), Progress::Zeroed)))
        }
        Progress::Emptied(slot) => {
            match memory.kind() {
                Kind::Radix => {}
                Kind::Hash(table) => {
                    if slot == 0 {
                        table.reset(hal);
                    }
                    if let Some(next) = table.empty(slot, SLOTS_OF_PIECE) {
                        return Ok(Some(Progress::Emptied(next)));
                    }
                    hal.forget_hashed(partition.lpid);
                }
            }
            Ok(Some(Progress::START))
        }
        Progress::Copied(index, done) => {
            let Some(segment) = payload.segments.get(index).copied() else {
                return Ok(Some(Progress::TreeCopied(0)));
            };
            if done == segment.file_bytes {
                return Ok(Some(Progress::Copied(index + 1, 0)));
            }
            let bytes = copy(memory, payload, hal, segment, done)?;
            Ok(Some(Progress::Copied(index, done + bytes)))
        }
        Progress::TreeCopied(done) => {
            let address = payload.tree_address.wrapping_add(done);
            let rest = &payload.tree[done as usize..];
            let piece = &rest[..rest.len().min(room(address) as usize)];
            let (is_last, bytes) = (piece.len() == rest.len(), piece.len() as u64);
            memory.write(hal, address, piece).map_err(LoadError::Copy)?;
            if !is_last {
                return Ok(Some(Progress::TreeCopied(done + bytes)));
            }
            match memory.kind() {
                Kind::Radix => Ok(None),
                Kind::Hash(_) => Ok(Some(Progress::Given(0))),
            }
        }
        Progress::Saved { .. } => unreachable!("what is being suspended is not loaded"),
        Progress::Given(unit) => {
            let next = memory.give_all(hal, unit).map_err(LoadError::Copy)?;
            Ok(next.map(Progress::Given))
        }
    }
}

/// What the first vCPU of a partition that is loaded starts with.
pub fn first_registers<H: Memory + Platform>(partition: &Partition<H>, hal: &H) -> Registers {
    let guest_time = hal.timebase().wrapping_add(partition.timebase_offset);
    let Payload { entry, tree_address, .. } = partition.payload;
    Registers::at_entry(entry, tree_address, guest_time)
}

/// Loads a partition whose vCPUs nobody runs yet: what its first one starts with.
///
/// # Errors
/// Why it cannot start.
pub fn load<H: Memory + Platform>(
    partition: &mut Partition<H>,
    hal: &H,
) -> Result<Registers, LoadError> {
    let mut progress = Some(Progress::START);
    while let Some(so_far) = progress {
        progress = load_piece(partition, hal, so_far)?;
    }
    Ok(first_registers(partition, hal))
}

/// Bytes from an address to where a piece that is copied ends.
const fn room(address: GuestRealAddress) -> u64 {
    COPY_BYTES - address.0 % COPY_BYTES
}

/// Copies what comes behind the first `done` bytes of a segment, to where a piece ends in the partition's
/// memory: how much that is.
fn copy<H: Memory + Platform>(
    memory: &mut GuestMemory<H>,
    payload: &Payload,
    hal: &H,
    segment: Segment,
    done: u64,
) -> Result<u64, LoadError> {
    let address = segment.address.wrapping_add(done);
    let bytes = room(address).min(segment.file_bytes - done);
    let from = payload.file.wrapping_add(segment.file_offset + done);
    let maps = hal.maps();
    let real = memory.filled(hal, address, bytes).map_err(LoadError::Copy)?;
    let to = maps.open(real, bytes).map_err(AccessError::Hypervisor);
    let mut to = to.map_err(LoadError::Copy)?;
    for (first, bytes) in pieces(from.0, bytes) {
        let from = maps.open(from.wrapping_add(first), bytes).map_err(LoadError::Hal)?;
        memory.fills(hal, || to.copy_from(first as usize, &from, bytes as usize));
    }
    Ok(bytes)
}

#[cfg(all(test, not(loom)))]
mod tests;
