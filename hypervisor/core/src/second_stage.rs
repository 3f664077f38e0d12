//! The second stage: which page to map when a partition first touches its memory.
//!
//! Memory is given on demand, a page at a time, zeroed through a window before the partition sees
//! it. A page has 2 MiB where the aligned 2 MiB lie wholly in the partition's memory, 64 KiB in the
//! rest. Guest real and real addresses are congruent modulo 2 MiB, since [`crate::load`] aligns.
//!
//! To zero 1 GiB at once would keep the partition waiting for it. So a page of 1 GiB is made of the 512 of 2 MiB when
//! the last of them is filled, where guest real and real addresses are congruent modulo 1 GiB.

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

/// A partition's second stage.
#[derive(Debug)]
pub struct SecondStage<H: Hal> {
    tables: H::Tables,
    /// One bit per 64 KiB.
    filled: Vec<u64>,
    /// Large pages that are filled, by gibibyte, where huge ones are possible.
    large: Vec<u16>,
}

impl<H: Hal> SecondStage<H> {
    /// Nothing is mapped of `memory`.
    #[must_use]
    pub fn new(tables: H::Tables, memory: Range) -> Self {
        let words = (memory.bytes >> SMALL_LOG2).div_ceil(64) as usize;
        let huge = if memory.start.is_aligned(HUGE_LOG2) { memory.bytes >> HUGE_LOG2 } else { 0 };
        Self { tables, filled: vec![0; words], large: vec![0; huge as usize] }
    }

    /// Whether the page of `address`, which is in the memory, is mapped.
    pub fn is_filled(&self, address: GuestRealAddress) -> bool {
        let page = address.0 >> SMALL_LOG2;
        self.filled[(page / 64) as usize] & (1 << (page % 64)) != 0
    }

    /// Counts a large page that was filled: whether a huge one is full now.
    fn count_large(&mut self, address: GuestRealAddress) -> bool {
        let count = self.large.get_mut((address.0 >> HUGE_LOG2) as usize);
        count.is_some_and(|count| {
            *count += 1;
            *count == LARGE_OF_HUGE
        })
    }

    fn set_filled(&mut self, page: &Page) {
        let first = page.guest.0 >> SMALL_LOG2;
        for number in first..first + (1 << (page.bytes_log2 - SMALL_LOG2)) {
            self.filled[(number / 64) as usize] |= 1 << (number % 64);
        }
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

/// Maps the page of `address` for the first time; the second time is a mistake.
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
    if partition.second_stage.is_filled(address) {
        return Err(StopReason::Hypervisor(HalError::MapConflict));
    }
    let (guest, bytes_log2) = page_of(address, partition.memory.bytes);
    let real = partition.memory.start.wrapping_add(guest.0);
    let page = Page { guest, real, bytes_log2 };
    hal.map_window(real, 1 << bytes_log2).map_err(StopReason::Hypervisor)?.zero();
    hal.map_page(&mut partition.second_stage.tables, page).map_err(StopReason::Hypervisor)?;
    partition.second_stage.set_filled(&page);
    match bytes_log2 {
        LARGE_LOG2 => partition.statistics.pages_2m += 1,
        _ => partition.statistics.pages_64k += 1,
    }
    if bytes_log2 == LARGE_LOG2 && partition.second_stage.count_large(guest) {
        return merge(partition, hal, guest.align_down(HUGE_LOG2));
    }
    Ok(())
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

/// Makes all of a partition's memory zero that it may have touched.
///
/// # Errors
/// Why the partition has to be stopped.
pub fn zero<H: Hal>(partition: &mut Partition<H>, hal: &H) -> Result<(), StopReason> {
    let mut address = GuestRealAddress(0);
    while address.0 < partition.memory.bytes {
        let (page, bytes_log2) = page_of(address, partition.memory.bytes);
        if partition.second_stage.is_filled(page) {
            let real = partition.memory.start.wrapping_add(page.0);
            hal.map_window(real, 1 << bytes_log2).map_err(StopReason::Hypervisor)?.zero();
        }
        address = page.wrapping_add(1 << bytes_log2);
    }
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
    if !partition.second_stage.is_filled(address) {
        fill(partition, hal, address)?;
    }
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
        window.write(0, &bytes[offset as usize..(offset + length) as usize]);
    }
    Ok(())
}
