//! What a partition is loaded from, and how far it is.

use alloc::vec::Vec;

use arch::address::{GuestRealAddress, RealAddress};

use crate::boot::bundle::{Description, Segment};
use crate::guest_memory::SMALL_LOG2;
use crate::partition::features::GuestStop;
use crate::partition::guest_tree;
use crate::partition::outcome::LoadError;

/// What a partition is loaded from: a file's segments, and its device tree.
#[derive(Debug, Default)]
pub struct Payload {
    pub(crate) file: RealAddress,
    pub(crate) segments: Vec<Segment>,
    pub(crate) tree_address: GuestRealAddress,
    pub(crate) tree: Vec<u8>,
    pub(crate) entry: GuestRealAddress,
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
        guest_stop: Option<GuestStop<'_>>,
    ) -> Result<Self, LoadError> {
        let content = guest_tree::Content {
            memory_bytes: description.memory_bytes,
            vcpus: description.vcpus,
            bootargs: &description.bootargs,
            initrd: description.initrd,
            has_window: description.dma_window.is_some(),
            guest_stop,
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

/// The last 64 KiB boundary from which the tree fits, above the payload.
fn tree_address(description: &Description, bytes: u64) -> Option<GuestRealAddress> {
    let address =
        GuestRealAddress(description.memory_bytes.checked_sub(bytes)?).align_down(SMALL_LOG2);
    let payload_end = description.segments.iter().map(Segment::end).max().unwrap_or(0);
    (address.0 >= payload_end).then_some(address)
}
