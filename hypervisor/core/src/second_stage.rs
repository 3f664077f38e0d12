//! The second stage: which page to map when a partition first touches its memory.
//!
//! Memory is given on demand, zeroed through a window before the partition sees it. A page has 2 MiB where the
//! aligned 2 MiB lie wholly in the partition's memory, 64 KiB in the rest. Guest real and real addresses are congruent
//! modulo 2 MiB, since [`crate::load`] aligns.
//!
//! To zero is the work that takes long, so it is done in pieces of [`Partition::piece_bytes`] at most. An exit does one:
//! the vCPU goes on, by way of its slice's end if that has come, faults again and does the next, until the page is
//! whole and is mapped. What the hypervisor itself writes for a partition needs the 64 KiB that it is in.
//!
//! A page of 1 GiB is made of the 512 of 2 MiB when the last of them is mapped, where guest real and real addresses
//! are congruent modulo 1 GiB.

use alloc::vec;
use alloc::vec::Vec;

use arch::address::{GuestRealAddress, RealAddress};

use crate::hal::{Hal, HalError, Page, Window};
use crate::memory::Range;
use crate::partition::{Partition, StopReason};

/// The small page size, as a power of two.
pub const SMALL_LOG2: u32 = 16;
/// The large page size, as a power of two.
pub const LARGE_LOG2: u32 = 21;

/// The page size that full gibibytes get, as a power of two.
pub const HUGE_LOG2: u32 = 30;
/// Large pages of a huge one.
const LARGE_OF_HUGE: u16 = 1 << (HUGE_LOG2 - LARGE_LOG2);

/// Words of a set that are looked at in one piece: 16 GiB of memory.
const WORDS_OF_PIECE: u64 = 4096;

/// A set of pieces of 64 KiB, by their number: one bit each.
#[derive(Debug)]
struct Units(Vec<u64>);

impl Units {
    fn none_of(memory: Range) -> Self {
        Self(vec![0; (memory.bytes >> SMALL_LOG2).div_ceil(64) as usize])
    }

    fn contains(&self, unit: u64) -> bool {
        self.0[(unit / 64) as usize] & (1 << (unit % 64)) != 0
    }

    fn insert(&mut self, units: core::ops::Range<u64>) {
        for unit in units {
            self.0[(unit / 64) as usize] |= 1 << (unit % 64);
        }
    }

    /// The first one from `unit` on, or where to look for it next.
    fn first_from(&self, unit: u64) -> Found {
        for place in unit / 64..unit / 64 + WORDS_OF_PIECE {
            let Some(word) = self.0.get(place as usize) else { return Found::Nothing };
            let before = if place == unit / 64 { unit % 64 } else { 0 };
            let word = word & (u64::MAX << before);
            if word != 0 {
                return Found::Here(64 * place + u64::from(word.trailing_zeros()));
            }
        }
        Found::NothingBefore(64 * (unit / 64 + WORDS_OF_PIECE))
    }
}

enum Found {
    Here(u64),
    NothingBefore(u64),
    Nothing,
}

/// A partition's second stage.
#[derive(Debug)]
pub struct SecondStage<H: Hal> {
    tables: H::Tables,
    /// What was zeroed and is the partition's since.
    given: Units,
    /// What the partition's vCPUs can access.
    mapped: Units,
    /// Large pages that are mapped, by gibibyte, where huge ones are possible.
    large: Vec<u16>,
}

impl<H: Hal> SecondStage<H> {
    /// Nothing is mapped of `memory`.
    #[must_use]
    pub fn new(tables: H::Tables, memory: Range) -> Self {
        let huge = if memory.start.is_aligned(HUGE_LOG2) { memory.bytes >> HUGE_LOG2 } else { 0 };
        let large = vec![0; huge as usize];
        Self { tables, given: Units::none_of(memory), mapped: Units::none_of(memory), large }
    }

    /// Whether the page of `address`, which is in the memory, is mapped.
    pub fn is_mapped(&self, address: GuestRealAddress) -> bool {
        self.mapped.contains(address.0 >> SMALL_LOG2)
    }

    /// Counts a large page that was filled: whether a huge one is full now.
    fn count_large(&mut self, address: GuestRealAddress) -> bool {
        let count = self.large.get_mut((address.0 >> HUGE_LOG2) as usize);
        count.is_some_and(|count| {
            *count += 1;
            *count == LARGE_OF_HUGE
        })
    }
}

/// Base and size, as a power of two, of the page to map for `address` in a memory of `memory_bytes`.
#[must_use]
pub const fn page_of(address: GuestRealAddress, memory_bytes: u64) -> (GuestRealAddress, u32) {
    let large = address.align_down(LARGE_LOG2);
    if large.0 + (1 << LARGE_LOG2) <= memory_bytes {
        (large, LARGE_LOG2)
    } else {
        (address.align_down(SMALL_LOG2), SMALL_LOG2)
    }
}

/// Does a piece of what it takes to map the page of `address`, and maps it with the last one; once it is mapped, this
/// is a mistake.
///
/// # Errors
/// Why the partition has to be stopped.
pub fn fill<H: Hal>(
    partition: &mut Partition<H>,
    hal: &H,
    address: GuestRealAddress,
) -> Result<(), StopReason> {
    if partition.real(address, 1).is_none() {
        return Err(StopReason::OutsideMemory(address));
    }
    if partition.second_stage.is_mapped(address) {
        return Err(StopReason::Hypervisor(HalError::MapConflict));
    }
    let (guest, bytes_log2) = page_of(address, partition.memory.bytes);
    let units = guest.0 >> SMALL_LOG2..(guest.0 + (1 << bytes_log2)) >> SMALL_LOG2;
    if !give(partition, hal, units.clone())? {
        return Ok(());
    }
    let real = partition.memory.start.wrapping_add(guest.0);
    let page = Page { guest, real, bytes_log2 };
    hal.map_page(&mut partition.second_stage.tables, page).map_err(StopReason::Hypervisor)?;
    partition.second_stage.mapped.insert(units);
    match bytes_log2 {
        LARGE_LOG2 => partition.statistics.pages_2m += 1,
        _ => partition.statistics.pages_64k += 1,
    }
    if bytes_log2 == LARGE_LOG2 && partition.second_stage.count_large(guest) {
        return merge(partition, hal, guest.align_down(HUGE_LOG2));
    }
    Ok(())
}

/// Zeroes a piece of what is not the partition's yet of `units`, and makes it so: whether all are now.
fn give<H: Hal>(
    partition: &mut Partition<H>,
    hal: &H,
    mut units: core::ops::Range<u64>,
) -> Result<bool, StopReason> {
    let given = &partition.second_stage.given;
    let Some(first) = units.find(|unit| !given.contains(*unit)) else { return Ok(true) };
    let piece = first..units.end.min(first + (partition.piece_bytes >> SMALL_LOG2));
    let end = piece.clone().find(|unit| given.contains(*unit)).unwrap_or(piece.end);
    let is_last = (end..units.end).all(|unit| given.contains(unit));
    zero(partition, hal, first..end)?;
    partition.second_stage.given.insert(first..end);
    Ok(is_last)
}

/// Zeroes pieces of 64 KiB, which are no more than a window.
fn zero<H: Hal>(
    partition: &Partition<H>,
    hal: &H,
    units: core::ops::Range<u64>,
) -> Result<(), StopReason> {
    let real = partition.memory.start.wrapping_add(units.start << SMALL_LOG2);
    let bytes = (units.end - units.start) << SMALL_LOG2;
    let mut window = hal.map_window(real, bytes).map_err(StopReason::Hypervisor)?;
    partition.fills(hal, || window.zero());
    Ok(())
}

/// Does a piece of what it takes to make all memory zero that a partition may have touched, from `unit` on: where the
/// next one begins.
///
/// # Errors
/// Why the partition has to be stopped.
pub fn zero_again<H: Hal>(
    partition: &Partition<H>,
    hal: &H,
    unit: u64,
) -> Result<Option<u64>, StopReason> {
    let given = &partition.second_stage.given;
    match given.first_from(unit) {
        Found::Nothing => Ok(None),
        Found::NothingBefore(next) => Ok(Some(next)),
        Found::Here(first) => {
            let memory_end = partition.memory.bytes >> SMALL_LOG2;
            let end = memory_end.min(first + (partition.piece_bytes >> SMALL_LOG2));
            let end = (first..end).find(|unit| !given.contains(*unit)).unwrap_or(end);
            zero(partition, hal, first..end)?;
            Ok((end < memory_end).then_some(end))
        }
    }
}

/// Makes a page of 1 GiB of the 512 that are all filled. For a moment none of it is mapped: a vCPU that meets
/// this faults, and waits for the partition until it is over.
fn merge<H: Hal>(
    partition: &mut Partition<H>,
    hal: &H,
    guest: GuestRealAddress,
) -> Result<(), StopReason> {
    let real = partition.memory.start.wrapping_add(guest.0);
    let page = Page { guest, real, bytes_log2: HUGE_LOG2 };
    hal.merge_pages(partition.lpid, &mut partition.second_stage.tables, page)
        .map_err(StopReason::Hypervisor)?;
    partition.vcpus.iter_mut().for_each(|vcpu| vcpu.stale_fault = None);
    partition.statistics.pages_2m -= u64::from(LARGE_OF_HUGE);
    partition.statistics.pages_1g += 1;
    Ok(())
}

/// A window onto a partition's memory, which must not cross a 64 KiB boundary.
///
/// # Errors
/// Why the partition has to be stopped; [`StopReason::OutsideMemory`] is the guest's mistake.
pub(crate) fn window<H: Hal>(
    partition: &mut Partition<H>,
    hal: &H,
    address: GuestRealAddress,
    bytes: u64,
) -> Result<H::Window, StopReason> {
    let real = filled(partition, hal, address, bytes)?;
    hal.map_window(real, bytes).map_err(StopReason::Hypervisor)
}

/// Where a piece of a partition's memory is that must not cross a 64 KiB boundary, and that is the partition's
/// from now on if it was not before.
///
/// # Errors
/// Why the partition has to be stopped; [`StopReason::OutsideMemory`] is the guest's mistake.
pub(crate) fn filled<H: Hal>(
    partition: &mut Partition<H>,
    hal: &H,
    address: GuestRealAddress,
    bytes: u64,
) -> Result<RealAddress, StopReason> {
    let real = partition.real(address, bytes).ok_or(StopReason::OutsideMemory(address))?;
    let unit = address.0 >> SMALL_LOG2;
    give(partition, hal, unit..unit + 1)?;
    Ok(real)
}

/// The pieces of `bytes` bytes at `address` that lie in one 64 KiB page each: offset and length.
fn pieces(address: GuestRealAddress, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut offset = 0;
    core::iter::from_fn(move || {
        let room = (1 << SMALL_LOG2) - (address.0.wrapping_add(offset) & ((1 << SMALL_LOG2) - 1));
        let piece = (offset, room.min(bytes - offset));
        offset += piece.1;
        (piece.1 != 0).then_some(piece)
    })
}

/// Copies out of a partition's memory.
///
/// # Errors
/// Why the partition has to be stopped; [`StopReason::OutsideMemory`] is the guest's mistake.
pub fn read<H: Hal>(
    partition: &mut Partition<H>,
    hal: &H,
    address: GuestRealAddress,
    into: &mut [u8],
) -> Result<(), StopReason> {
    for (offset, bytes) in pieces(address, into.len() as u64) {
        let window = window(partition, hal, address.wrapping_add(offset), bytes)?;
        window.read(0, &mut into[offset as usize..(offset + bytes) as usize]);
    }
    Ok(())
}

/// Copies into a partition's memory.
///
/// # Errors
/// Why the partition has to be stopped; [`StopReason::OutsideMemory`] is the guest's mistake.
pub fn write<H: Hal>(
    partition: &mut Partition<H>,
    hal: &H,
    address: GuestRealAddress,
    bytes: &[u8],
) -> Result<(), StopReason> {
    for (offset, length) in pieces(address, bytes.len() as u64) {
        let mut window = window(partition, hal, address.wrapping_add(offset), length)?;
        let piece = &bytes[offset as usize..(offset + length) as usize];
        partition.fills(hal, || window.write(0, piece));
    }
    Ok(())
}
