//! A partition's memory: which page to map when the partition first touches it, and how the hypervisor gets at it.
//!
//! Memory is given on demand, zeroed through a window before the partition sees it. A page has 2 MiB where the
//! aligned 2 MiB lie wholly in the partition's memory, 64 KiB in the rest. Guest real and real addresses are congruent
//! modulo 2 MiB, since [`crate::partition::load`] aligns.
//!
//! To zero is the work that takes long, so it is done in pieces of [`GuestMemory::piece_bytes`] at most. An
//! exit does one: the vCPU goes on, by way of its slice's end if that has come, faults again and does the next,
//! until the page is whole and is mapped. What the hypervisor itself writes for a partition needs the 64 KiB
//! that it is in.
//!
//! A partition with a hashed page table names the pages that it maps itself, and has all of its memory, zeroed, before
//! it starts.
//!
//! A page of 1 GiB is made of the 512 of 2 MiB when the last of them is mapped, where guest real and real addresses
//! are congruent modulo 1 GiB.

pub mod given;
pub mod unlocked;

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use arch::address::{GuestRealAddress, RealAddress};
use arch::bundle::Translation;

use crate::guest_memory::given::{Found, Given};
use crate::hal::{HalError, Maps, Memory, Page, Platform, Tables, Window, Work};
use crate::hash_table::{HashTable, Options};
use crate::map_cache::FRAME_LOG2;
use crate::memory::Range;

/// Why bytes of a partition's memory were not given, read or written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessError {
    /// They are not its memory: the guest's mistake.
    Outside(GuestRealAddress),
    /// The hypervisor could not do its part.
    Hypervisor(HalError),
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside(address) => {
                write!(f, "access to guest real address {address}, which is not its memory")
            }
            Self::Hypervisor(error) => write!(f, "the hypervisor failed: {error}"),
        }
    }
}

/// The small page size, as a power of two.
pub const SMALL_LOG2: u32 = 16;
const _: () = assert!(SMALL_LOG2 == FRAME_LOG2, "a frame is one partition's");
/// The large page size, as a power of two.
pub const LARGE_LOG2: u32 = 21;

/// The page size that full gibibytes get, as a power of two.
pub const HUGE_LOG2: u32 = 30;
/// Large pages of a huge one.
const LARGE_OF_HUGE: u16 = 1 << (HUGE_LOG2 - LARGE_LOG2);

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
}

/// What translates for a partition behind what it translates itself.
#[derive(Debug)]
enum SecondStage<H: Tables> {
    /// A radix tree: pages come when they are touched.
    Radix(H::Tables),
    /// The partition's hashed page table: it names them itself, and so has all of its memory from the start.
    Hashed,
}

/// Which kind of partition it is, with what the hypervisor keeps for that kind alone: the one place that says so. Who
/// does something for one kind matches on it, or on its [`Translation`], and names every kind.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a partition has one, and calls of the table find it here"
)]
pub enum Kind {
    /// With radix translation: the partition's trees are its own.
    Radix,
    /// With a hashed page table.
    Hash(HashTable),
}

impl Kind {
    /// How the partition's addresses are translated.
    #[must_use]
    pub const fn translation(&self) -> Translation {
        match self {
            Self::Radix => Translation::Radix,
            Self::Hash(_) => Translation::Hash,
        }
    }

    /// The partition's hashed page table, if it has one.
    #[must_use]
    pub const fn hash_table(&self) -> Option<&HashTable> {
        match self {
            Self::Radix => None,
            Self::Hash(table) => Some(table),
        }
    }
}

/// What of a partition's memory its vCPUs reach with the partition unlocked.
#[derive(Debug)]
pub struct Shared {
    /// What was zeroed and is the partition's since.
    pub given: Given,
    /// Which kind of partition it is.
    pub kind: Kind,
}

/// Bytes that are zeroed or copied in one piece, unless a partition says otherwise. A core that writes 10 GB/s needs
/// 26 us for them, a fraction of a slice.
pub const PIECE_BYTES: u64 = 4 << SMALL_LOG2;

/// Pages of a second stage.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Pages {
    /// Of 64 KiB.
    pub small: u64,
    /// Of 2 MiB.
    pub large: u64,
    /// Of 1 GiB.
    pub huge: u64,
}

/// A partition's memory.
#[derive(Debug)]
pub struct GuestMemory<H: Tables> {
    /// The partition's number to the processor.
    pub lpid: u32,
    /// Where it is; contiguous.
    pub range: Range,
    /// It is zeroed and loaded in pieces of so many bytes, at least 64 KiB: nobody waits for longer
    /// than one takes.
    pub piece_bytes: u64,
    /// The partition is made, and has no vCPUs yet: what is moved for it is marked as such.
    pub is_new: bool,
    /// What is mapped.
    pub pages: Pages,
    stage: SecondStage<H>,
    shared: Arc<Shared>,
    /// What the partition's vCPUs can access.
    mapped: Units,
    /// Large pages that are mapped, by gibibyte, where huge ones are possible.
    large: Vec<u16>,
}

impl<H: Tables> GuestMemory<H> {
    /// Nothing is mapped of `range`, whose partition is translated so; if that is by a hashed page table, by one that
    /// can so much.
    ///
    /// # Errors
    /// [`HalError::OutOfTables`].
    pub fn new(
        hal: &H,
        lpid: u32,
        range: Range,
        translation: Translation,
        table: Options,
    ) -> Result<Self, HalError> {
        let (stage, kind) = match translation {
            Translation::Radix => (SecondStage::Radix(hal.new_tables(lpid)?), Kind::Radix),
            Translation::Hash => {
                let table = HashTable::new(hal, lpid, range.bytes, table)?;
                (SecondStage::Hashed, Kind::Hash(table))
            }
        };
        Ok(Self::of(stage, kind, lpid, range))
    }

    fn of(stage: SecondStage<H>, kind: Kind, lpid: u32, range: Range) -> Self {
        let huge = if range.start.is_aligned(HUGE_LOG2) { range.bytes >> HUGE_LOG2 } else { 0 };
        Self {
            lpid,
            range,
            piece_bytes: PIECE_BYTES,
            is_new: true,
            pages: Pages::default(),
            stage,
            shared: Arc::new(Shared { given: Given::none_of(range), kind }),
            mapped: Units::none_of(range),
            large: vec![0; huge as usize],
        }
    }

    /// Which kind of partition it is.
    #[must_use]
    pub fn kind(&self) -> &Kind {
        &self.shared.kind
    }

    /// The partition's hashed page table, if it has one.
    #[must_use]
    pub fn hash_table(&self) -> Option<&HashTable> {
        self.kind().hash_table()
    }

    /// Where `address` is, if it and the `bytes` after it are the partition's memory.
    #[must_use]
    pub fn real(&self, address: GuestRealAddress, bytes: u64) -> Option<RealAddress> {
        self.shared.given.real(address, bytes)
    }

    /// What those reach who do not lock the partition.
    #[must_use]
    pub fn shared(&self) -> Arc<Shared> {
        self.shared.clone()
    }

    /// Whether the partition has a piece of 64 KiB, which is in the memory, by its number.
    #[must_use]
    pub fn has(&self, unit: u64) -> bool {
        self.shared.given.contains(unit)
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

    /// Makes a page of 1 GiB of the 512 that are all filled. For a moment none of it is mapped: a vCPU that meets
    /// this faults, and waits for the partition until it is over.
    fn merge(&mut self, hal: &H, guest: GuestRealAddress) -> Result<(), AccessError> {
        let real = self.range.start.wrapping_add(guest.0);
        let page = Page { guest, real, bytes_log2: HUGE_LOG2 };
        let tables = match &mut self.stage {
            SecondStage::Radix(tables) => tables,
            SecondStage::Hashed => return Ok(()),
        };
        hal.merge_pages(self.lpid, tables, page).map_err(AccessError::Hypervisor)?;
        self.pages.large -= u64::from(LARGE_OF_HUGE);
        self.pages.huge += 1;
        Ok(())
    }
}

impl<H: Memory + Platform> GuestMemory<H> {
    /// Moves bytes for the partition; marked as such while it is made.
    pub(crate) fn fills<R>(&self, hal: &H, fill: impl FnOnce() -> R) -> R {
        if !self.is_new {
            return fill();
        }
        hal.mark(Work::Fill);
        let result = fill();
        hal.mark(Work::Start);
        result
    }

    /// Does a piece of what it takes to map the page of `address`, and maps it with the last one; once it is
    /// mapped, this is a mistake. Whether pages that were mapped before became one.
    ///
    /// # Errors
    /// That it is not possible.
    pub fn fill(&mut self, hal: &H, address: GuestRealAddress) -> Result<bool, AccessError> {
        if self.real(address, 1).is_none() {
            return Err(AccessError::Outside(address));
        }
        if self.is_mapped(address) {
            return Err(AccessError::Hypervisor(HalError::MapConflict));
        }
        let (guest, bytes_log2) = page_of(address, self.range.bytes);
        let units = guest.0 >> SMALL_LOG2..(guest.0 + (1 << bytes_log2)) >> SMALL_LOG2;
        if !self.give(hal, units.clone())? {
            return Ok(false);
        }
        let real = self.range.start.wrapping_add(guest.0);
        let page = Page { guest, real, bytes_log2 };
        let tables = match &mut self.stage {
            SecondStage::Radix(tables) => tables,
            SecondStage::Hashed => return Err(AccessError::Hypervisor(HalError::MapConflict)),
        };
        hal.map_page(tables, page).map_err(AccessError::Hypervisor)?;
        self.mapped.insert(units);
        match bytes_log2 {
            LARGE_LOG2 => self.pages.large += 1,
            _ => self.pages.small += 1,
        }
        if bytes_log2 == LARGE_LOG2 && self.count_large(guest) {
            self.merge(hal, guest.align_down(HUGE_LOG2))?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Zeroes a piece of what is not the partition's yet of `units`, and makes it so: whether all are now.
    fn give(&mut self, hal: &H, mut units: core::ops::Range<u64>) -> Result<bool, AccessError> {
        let given = &self.shared.given;
        let Some(first) = units.find(|unit| !given.contains(*unit)) else { return Ok(true) };
        let piece = first..units.end.min(first + (self.piece_bytes >> SMALL_LOG2));
        let end = piece.clone().find(|unit| given.contains(*unit)).unwrap_or(piece.end);
        let is_last = (end..units.end).all(|unit| given.contains(unit));
        self.zero(hal, first..end)?;
        self.shared.given.insert(first..end);
        Ok(is_last)
    }

    /// Zeroes pieces of 64 KiB.
    fn zero(&self, hal: &H, units: core::ops::Range<u64>) -> Result<(), AccessError> {
        let maps = hal.maps();
        for unit in units {
            let real = self.range.start.wrapping_add(unit << SMALL_LOG2);
            let mut window = maps.open(real, 1 << SMALL_LOG2).map_err(AccessError::Hypervisor)?;
            self.fills(hal, || window.zero());
        }
        Ok(())
    }

    /// Does a piece of what it takes to make all memory zero that a partition may have touched, from `unit` on:
    /// where the next one begins.
    ///
    /// # Errors
    /// That it is not possible.
    pub fn zero_again(&self, hal: &H, unit: u64) -> Result<Option<u64>, AccessError> {
        let given = &self.shared.given;
        match given.first_from(unit) {
            Found::Nothing => Ok(None),
            Found::NothingBefore(next) => Ok(Some(next)),
            Found::Here(first) => {
                let memory_end = self.range.bytes >> SMALL_LOG2;
                let end = memory_end.min(first + (self.piece_bytes >> SMALL_LOG2));
                let end = (first..end).find(|unit| !given.contains(*unit)).unwrap_or(end);
                self.zero(hal, first..end)?;
                Ok((end < memory_end).then_some(end))
            }
        }
    }

    /// Does a piece of what it takes to give the partition all of its memory, from `unit` on: where the next one
    /// begins.
    ///
    /// # Errors
    /// That it is not possible.
    pub fn give_all(&mut self, hal: &H, unit: u64) -> Result<Option<u64>, AccessError> {
        let end = self.range.bytes >> SMALL_LOG2;
        let next = end.min(unit + (self.piece_bytes >> SMALL_LOG2));
        let is_whole = self.give(hal, unit..next)?;
        Ok(if is_whole { (next < end).then_some(next) } else { Some(unit) })
    }

    /// Where a piece of a partition's memory is that must not cross a 64 KiB boundary, and that is the partition's
    /// from now on if it was not before.
    ///
    /// # Errors
    /// That it is not possible.
    pub(crate) fn filled(
        &mut self,
        hal: &H,
        address: GuestRealAddress,
        bytes: u64,
    ) -> Result<RealAddress, AccessError> {
        let real = self.real(address, bytes).ok_or(AccessError::Outside(address))?;
        let unit = address.0 >> SMALL_LOG2;
        self.give(hal, unit..unit + 1)?;
        Ok(real)
    }

    /// Copies out of a partition's memory.
    ///
    /// # Errors
    /// That it is not possible.
    pub fn read(
        &mut self,
        hal: &H,
        address: GuestRealAddress,
        into: &mut [u8],
    ) -> Result<(), AccessError> {
        let maps = hal.maps();
        for (offset, bytes) in pieces(address.0, into.len() as u64) {
            let real = self.filled(hal, address.wrapping_add(offset), bytes)?;
            let window = maps.open(real, bytes).map_err(AccessError::Hypervisor)?;
            window.read(0, &mut into[offset as usize..(offset + bytes) as usize]);
        }
        Ok(())
    }

    /// Copies into a partition's memory.
    ///
    /// # Errors
    /// That it is not possible.
    pub fn write(
        &mut self,
        hal: &H,
        address: GuestRealAddress,
        bytes: &[u8],
    ) -> Result<(), AccessError> {
        let maps = hal.maps();
        for (offset, length) in pieces(address.0, bytes.len() as u64) {
            let real = self.filled(hal, address.wrapping_add(offset), length)?;
            let mut window = maps.open(real, length).map_err(AccessError::Hypervisor)?;
            let piece = &bytes[offset as usize..(offset + length) as usize];
            self.fills(hal, || window.write(0, piece));
        }
        Ok(())
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

/// The pieces of `bytes` bytes at `address` that lie in one frame each: offset and length.
pub(crate) fn pieces(address: u64, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut offset = 0;
    core::iter::from_fn(move || {
        let room = (1 << SMALL_LOG2) - (address.wrapping_add(offset) & ((1 << SMALL_LOG2) - 1));
        let piece = (offset, room.min(bytes - offset));
        offset += piece.1;
        (piece.1 != 0).then_some(piece)
    })
}
