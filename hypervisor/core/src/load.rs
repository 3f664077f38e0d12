//! A partition's birth: memory is found, payload and device tree are copied in through windows, in pieces that nobody
//! has to wait for long for. Before the first partition runs they follow each other; when one starts anew, its first
//! vCPU does them ([`crate::life`]).

use alloc::vec::Vec;
use core::fmt;

use arch::address::{GuestRealAddress, RealAddress};

use crate::bundle::{self, Bundle, BundleError, Description, HEADER_BYTES, Segment};
use crate::guest_tree;
use crate::hal::{Hal, HalError, Window};
use crate::memory::{Range, find_free};
use crate::partition::{Partition, StopReason};
use crate::registers::Registers;
use crate::second_stage::{self, HUGE_LOG2, LARGE_LOG2, SMALL_LOG2};

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

/// Memory for a partition: in `memory`, clear of what is `taken`, and aligned as the largest page that its second stage
/// maps in it. Only a page of 1 GiB is done without, where there is no such place.
///
/// # Errors
/// [`LoadError::NoMemory`].
pub fn find_memory(memory: &[Range], taken: &[Range], bytes: u64) -> Result<Range, LoadError> {
    let find = |log2| find_free(memory.iter().copied(), || taken.iter().copied(), bytes, log2);
    let alignments: &[u32] = match bytes {
        _ if bytes >> HUGE_LOG2 != 0 => &[HUGE_LOG2, LARGE_LOG2],
        _ if bytes >> LARGE_LOG2 != 0 => &[LARGE_LOG2],
        _ => &[SMALL_LOG2],
    };
    alignments.iter().copied().find_map(find).ok_or(LoadError::NoMemory(bytes))
}

/// Bytes of a partition's memory that are zeroed or copied in one piece, unless it says otherwise. A core that writes
/// 10 GB/s needs 26 us for them, a fraction of a slice.
pub const PIECE_BYTES: u64 = 4 << SMALL_LOG2;

/// Bytes that are copied through the hypervisor's own memory at a time.
const CHUNK_BYTES: usize = 0x1000;

/// What a partition is loaded from: a file's segments, and its device tree.
#[derive(Debug, Default)]
pub struct Payload {
    file: RealAddress,
    segments: Vec<Segment>,
    tree_address: GuestRealAddress,
    tree: Vec<u8>,
    entry: GuestRealAddress,
}

impl Payload {
    /// What `description` asks for, from the bundle at `file`.
    ///
    /// # Errors
    /// [`LoadError::NoRoomForTree`].
    pub fn new(
        description: &Description,
        file: RealAddress,
        processor: &[(&'static str, Vec<u8>)],
    ) -> Result<Self, LoadError> {
        let content = guest_tree::Content {
            memory_bytes: description.memory_bytes,
            vcpus: description.vcpus,
            bootargs: &description.bootargs,
            initrd: description.initrd,
            processor,
        };
        let place = |bytes| tree_address(description, bytes).ok_or(LoadError::NoRoomForTree);
        let (tree_address, tree) = guest_tree::build(&content, place)?;
        let (segments, entry) = (description.segments.clone(), description.entry);
        Ok(Self { file, segments, tree_address, tree, entry })
    }
}

/// How far a partition is loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// What it had touched is zeroed, up to this piece of 64 KiB.
    Zeroed(u64),
    /// Of this segment so many bytes are copied.
    Copied(usize, u64),
    /// Of the device tree so many bytes are copied.
    TreeCopied(u64),
}

impl Progress {
    /// Of a partition that starts anew.
    pub const RESTART: Self = Self::Zeroed(0);
    /// Of one that was never there.
    pub const START: Self = Self::Copied(0, 0);
}

/// Does a piece of the work: at most [`Partition::piece_bytes`] are zeroed, or 64 KiB zeroed and copied. How far it is
/// then, unless that was the last one.
///
/// # Errors
/// Why the partition cannot start.
pub fn load_piece<H: Hal>(
    partition: &mut Partition<H>,
    hal: &H,
    progress: Progress,
) -> Result<Option<Progress>, LoadError> {
    let copied = |reason: StopReason| LoadError::Copy(reason.into());
    match progress {
        Progress::Zeroed(unit) => {
            let next = second_stage::zero_again(partition, hal, unit).map_err(copied)?;
            Ok(Some(next.map_or(Progress::START, Progress::Zeroed)))
        }
        Progress::Copied(index, done) => {
            let Some(segment) = partition.payload.segments.get(index).copied() else {
                return Ok(Some(Progress::TreeCopied(0)));
            };
            if done == segment.file_bytes {
                return Ok(Some(Progress::Copied(index + 1, 0)));
            }
            let bytes = copy(partition, hal, segment, done)?;
            Ok(Some(Progress::Copied(index, done + bytes)))
        }
        Progress::TreeCopied(done) => {
            let address = partition.payload.tree_address.wrapping_add(done);
            let tree = core::mem::take(&mut partition.payload.tree);
            let rest = &tree[done as usize..];
            let piece = &rest[..rest.len().min(room(address) as usize)];
            let (is_last, bytes) = (piece.len() == rest.len(), piece.len() as u64);
            let written = second_stage::write(partition, hal, address, piece);
            partition.payload.tree = tree;
            written.map_err(copied)?;
            Ok((!is_last).then_some(Progress::TreeCopied(done + bytes)))
        }
    }
}

/// What the first vCPU of a partition that is loaded starts with.
pub fn first_registers<H: Hal>(partition: &Partition<H>, hal: &H) -> Registers {
    let guest_time = hal.timebase().wrapping_add(partition.timebase_offset);
    let Payload { entry, tree_address, .. } = partition.payload;
    Registers::at_entry(entry, tree_address, guest_time)
}

/// Loads a partition whose vCPUs nobody runs yet: what its first one starts with.
///
/// # Errors
/// Why it cannot start.
pub fn load<H: Hal>(partition: &mut Partition<H>, hal: &H) -> Result<Registers, LoadError> {
    let mut progress = Some(Progress::START);
    while let Some(so_far) = progress {
        progress = load_piece(partition, hal, so_far)?;
    }
    Ok(first_registers(partition, hal))
}

/// Bytes from an address to the next boundary of 64 KiB.
const fn room(address: GuestRealAddress) -> u64 {
    (1 << SMALL_LOG2) - address.0 % (1 << SMALL_LOG2)
}

/// Copies what comes behind the first `done` bytes of a segment, to the next boundary of 64 KiB in the partition's
/// memory: how much that is. Two windows are open meanwhile, of the two that each hardware thread can have.
fn copy<H: Hal>(
    partition: &mut Partition<H>,
    hal: &H,
    segment: Segment,
    done: u64,
) -> Result<u64, LoadError> {
    let address = segment.address.wrapping_add(done);
    let bytes = room(address).min(segment.file_bytes - done);
    let from = partition.payload.file.wrapping_add(segment.file_offset + done);
    let mut to = second_stage::window(partition, hal, address, bytes)
        .map_err(|reason| LoadError::Copy(reason.into()))?;
    let from = hal.map_window(from, bytes).map_err(LoadError::Hal)?;
    partition.fills(hal, || {
        let mut chunk = [0; CHUNK_BYTES];
        for offset in (0..bytes as usize).step_by(CHUNK_BYTES) {
            let chunk = &mut chunk[..CHUNK_BYTES.min(bytes as usize - offset)];
            from.read(offset, chunk);
            to.write(offset, chunk);
        }
    });
    Ok(bytes)
}

/// The last 64 KiB boundary from which the tree fits, above the payload.
fn tree_address(description: &Description, bytes: u64) -> Option<GuestRealAddress> {
    let address =
        GuestRealAddress(description.memory_bytes.checked_sub(bytes)?).align_down(SMALL_LOG2);
    let payload_end = description.segments.iter().map(Segment::end).max().unwrap_or(0);
    (address.0 >= payload_end).then_some(address)
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
