//! What a partition is loaded from.

use alloc::vec::Vec;

use arch::address::{GuestRealAddress, RealAddress};

use crate::boot::bundle::{Description, Segment};
use crate::guest_memory::SMALL_LOG2;
use crate::life::outcome::LoadError;
use crate::partition::features::GuestStop;
use crate::partition::guest_tree::{self, ProcessorNode};

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
        processor: &ProcessorNode,
        guest_stop: Option<GuestStop<'_>>,
    ) -> Result<Self, LoadError> {
        let content = guest_tree::Content {
            memory_bytes: description.memory_bytes,
            vcpus: description.vcpus,
            bootargs: &description.bootargs,
            initrd: description.initrd,
            window_bytes: description.dma_window,
            adapters: description.adapters(),
            guest_stop,
            translation: description.translation(processor.processor()),
            has_resizable_table: description.has_resizable_table,
            processor,
        };
        let place = |bytes| tree_address(description, bytes).ok_or(LoadError::NoRoomForTree);
        let (tree_address, tree) = guest_tree::build(&content, place)?;
        let (segments, entry) = (description.segments.clone(), description.entry);
        Ok(Self { file, segments, tree_address, tree, entry })
    }
}

/// The last 64 KiB boundary from which the tree fits, above the payload.
fn tree_address(description: &Description, bytes: u64) -> Option<GuestRealAddress> {
    let address =
        GuestRealAddress(description.memory_bytes.checked_sub(bytes)?).align_down(SMALL_LOG2);
    let payload_end = description.segments.iter().map(Segment::end).max().unwrap_or(0);
    (address.0 >= payload_end).then_some(address)
}
