//! A partition's birth: memory is found, payload and device tree are copied in through windows.

use core::fmt;

use arch::address::{GuestRealAddress, RealAddress};
use arch::bundle::ALIGNMENT;
use dtoolkit::fdt::FdtNode;

use crate::bundle::{self, Bundle, BundleError, Description, HEADER_BYTES};
use crate::hal::{Hal, HalError, Window};
use crate::memory::{Range, find_free};
use crate::partition::{Partition, StopReason};
use crate::registers::Registers;
use crate::second_stage::{self, HUGE_LOG2, LARGE_LOG2, SMALL_LOG2};
use crate::{firmware::Firmware, guest_tree};

/// Why a partition could not be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoadError {
    /// There is no free memory of this size.
    NoMemory(u64),
    /// The device tree does not fit between the payload and the end of the memory.
    NoRoomForTree,
    /// A window or a table is missing.
    Hal(HalError),
    /// The copy was refused.
    Copy(alloc::boxed::Box<StopReason>),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMemory(bytes) => write!(f, "no {bytes:#x} bytes of free memory"),
            Self::NoRoomForTree => f.write_str("no room for the device tree above the payload"),
            Self::Hal(error) => error.fmt(f),
            Self::Copy(reason) => reason.fmt(f),
        }
    }
}

/// Reads the manifest of the bundle that lies at `file`.
///
/// # Errors
/// What is wrong with the bundle, or that it could not be mapped.
pub fn read_bundle<H: Hal>(hal: &H, file: Range) -> Result<Bundle, Result<BundleError, HalError>> {
    if file.bytes < HEADER_BYTES {
        return Err(Ok(BundleError::NotATree));
    }
    let mut header = [0; HEADER_BYTES as usize];
    hal.map_window(file.start, HEADER_BYTES).map_err(Err)?.read(0, &mut header);
    let bytes = bundle::manifest_bytes(header, file.bytes).map_err(Ok)?;
    let mut manifest = alloc::vec![0; bytes as usize];
    hal.map_window(file.start, bytes).map_err(Err)?.read(0, &mut manifest);
    bundle::parse(&manifest, file.bytes).map_err(Ok)
}

/// Memory for a partition: free, and aligned so that its second stage can use large pages.
///
/// # Errors
/// [`LoadError::NoMemory`].
pub fn find_memory(
    firmware: &Firmware<'_>,
    taken: &[Range],
    bytes: u64,
) -> Result<Range, LoadError> {
    let reserved = || firmware.reserved().chain(taken.iter().copied());
    let find = |log2| find_free(firmware.memory(), reserved, bytes, log2);
    let fits = |log2: &u32| bytes >> log2 != 0;
    let large = [HUGE_LOG2, LARGE_LOG2].into_iter().filter(fits);
    large.chain([SMALL_LOG2]).find_map(find).ok_or(LoadError::NoMemory(bytes))
}

/// Copies payload and device tree into a partition: what its first vCPU starts with.
///
/// # Errors
/// Why it cannot start.
pub fn load<H: Hal>(
    partition: &mut Partition<H>,
    hal: &H,
    description: &Description,
    file: RealAddress,
    processor: &FdtNode<'_>,
) -> Result<Registers, LoadError> {
    let mut chunk = alloc::vec![0; ALIGNMENT as usize];
    for segment in &description.segments {
        let mut done = 0;
        while done < segment.file_bytes {
            let bytes = ALIGNMENT.min(segment.file_bytes - done);
            let piece = &mut chunk[..bytes as usize];
            let from = file.wrapping_add(segment.file_offset + done);
            hal.map_window(from, bytes).map_err(LoadError::Hal)?.read(0, piece);
            second_stage::write(partition, hal, segment.address.wrapping_add(done), piece)
                .map_err(|reason| LoadError::Copy(reason.into()))?;
            done += bytes;
        }
    }
    let content = guest_tree::Content {
        memory_bytes: description.memory_bytes,
        vcpus: description.vcpus,
        bootargs: &description.bootargs,
        initrd: description.initrd,
        processor,
    };
    let place = |bytes| tree_address(description, bytes).ok_or(LoadError::NoRoomForTree);
    let (address, tree) = guest_tree::build(&content, place)?;
    second_stage::write(partition, hal, address, &tree)
        .map_err(|reason| LoadError::Copy(reason.into()))?;
    let guest_time = hal.timebase().wrapping_add(partition.timebase_offset);
    Ok(Registers::at_entry(description.entry, address, guest_time))
}

/// The last 64 KiB boundary from which the tree fits, above the payload.
fn tree_address(description: &Description, bytes: u64) -> Option<GuestRealAddress> {
    let address =
        GuestRealAddress(description.memory_bytes.checked_sub(bytes)?).align_down(SMALL_LOG2);
    let payload_end = description.segments.iter().map(bundle::Segment::end).max().unwrap_or(0);
    (address.0 >= payload_end).then_some(address)
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
