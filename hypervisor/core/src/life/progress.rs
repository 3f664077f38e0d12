//! How far a partition is that loads, or is being suspended.

/// How far a partition is loaded, or written to where it is suspended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// What it had touched is zeroed, up to this piece of 64 KiB.
    Zeroed(u64),
    /// Of this segment so many bytes are copied.
    Copied(usize, u64),
    /// The hashed page table is emptied up to this slot.
    Emptied(u64),
    /// The partition has all memory up to this piece of 64 KiB, which one with a hashed page table needs.
    Given(u64),
    /// Of the device tree so many bytes are copied.
    TreeCopied(u64),
    /// It is at rest, and being suspended: its memory up to this address is written, up to this place of its image.
    Saved {
        /// Guest real address.
        from: u64,
        /// Bytes from the start of the image.
        to: u64,
    },
}

impl Progress {
    /// Of a partition that starts anew.
    pub const RESTART: Self = Self::Zeroed(0);
    /// Of one that is at rest, and becomes an image.
    pub const SAVE: Self = Self::Saved { from: 0, to: 0 };
    /// Of one that was never there.
    pub const START: Self = Self::Copied(0, 0);
}
