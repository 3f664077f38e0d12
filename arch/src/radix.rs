//! Radix translation: partition table, process table and radix tree entries of ISA 3.0.
//!
//! All of these are doublewords in big-endian order in memory, whatever MSR[LE] says; the functions
//! here take and give values, the caller swaps. Source: `docs/facts/translation.md#table-pointers`; Power ISA
//! 3.0B Book III, Radix Tree Translation.

use crate::address::RealAddress;
use crate::bits::{Field, bit};

/// The only tree that POWER9 walks: a 52-bit space, root of 2^13 entries, then 2^9, 2^9, and a last
/// level of 2^9 (4K pages) or 2^5 (64K pages).
pub const SPACE_LOG2: u32 = 52;
/// Entries of the root, as a power of two.
pub const ROOT_ENTRIES_LOG2: u32 = 13;
/// Entries of the two levels below the root, as a power of two.
pub const DIRECTORY_ENTRIES_LOG2: u32 = 9;
/// Entries of the last level when it holds 4K pages, as a power of two.
pub const LEAF_4K_ENTRIES_LOG2: u32 = 9;
/// Entries of the last level when it holds 64K pages, as a power of two.
pub const LEAF_64K_ENTRIES_LOG2: u32 = 5;

/// The partition table on POWER9 is always 64 KiB: 4096 entries of two doublewords.
pub const PARTITION_TABLE_LOG2: u32 = 16;

const RTS_HIGH: Field = Field::new(1, 2);
const RTS_LOW: Field = Field::new(56, 58);
const TABLE_BASE: u64 = 0x0FFF_FFFF_FFFF_FF00;
const TABLE_SIZE: Field = Field::new(59, 63);

/// The root of a radix tree: the word that partition- and process-table entries share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Root {
    /// Size of the translated space as a power of two, 31 to 62; POWER9 accepts 52.
    pub space_log2: u32,
    /// Where the root directory lies, a multiple of its size and of 256 bytes.
    pub base: RealAddress,
    /// Entries of the root as a power of two. Zero disables the walk.
    pub entries_log2: u32,
}

impl Root {
    /// The root as doubleword 0 of an entry has it (without PATE[HR]).
    #[must_use]
    pub const fn from_doubleword(word: u64) -> Self {
        Self {
            space_log2: 31 + (RTS_HIGH.get(word) << 3 | RTS_LOW.get(word)) as u32,
            base: RealAddress(word & TABLE_BASE),
            entries_log2: TABLE_SIZE.get(word) as u32,
        }
    }

    /// Doubleword 0 of an entry that names this root (without PATE[HR]).
    #[must_use]
    pub const fn to_doubleword(self) -> u64 {
        let rts = (self.space_log2 - 31) as u64;
        let word = RTS_LOW.set(RTS_HIGH.set(0, rts >> 3), rts & 7);
        TABLE_SIZE.set(word, self.entries_log2 as u64) | (self.base.0 & TABLE_BASE)
    }
}

/// PATE doubleword 0, bit 0: the partition uses radix translation.
pub const PATE0_HR: u64 = bit(0);

/// Where a process table lies: PATE doubleword 1, and the partition table by PTCR, share this form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableLocation {
    /// Base, a multiple of the table's size.
    pub base: RealAddress,
    /// Size in bytes as a power of two, 12 to 43.
    pub bytes_log2: u32,
}

impl TableLocation {
    /// Reads the base and size fields of PTCR or of PATE doubleword 1.
    #[must_use]
    pub const fn from_doubleword(word: u64) -> Self {
        Self {
            base: RealAddress(word & 0x0FFF_FFFF_FFFF_F000),
            bytes_log2: 12 + TABLE_SIZE.get(word) as u32,
        }
    }

    /// The doubleword with these base and size fields.
    #[must_use]
    pub const fn to_doubleword(self) -> u64 {
        (self.base.0 & 0x0FFF_FFFF_FFFF_F000) | (self.bytes_log2 - 12) as u64
    }
}

/// Access rights of a leaf, the EAA field: bits 60 to 63.
pub mod rights {
    /// Only privileged accesses are allowed (process-scoped trees).
    pub const PRIVILEGED: u64 = 8;
    /// Loads are allowed.
    pub const READ: u64 = 4;
    /// Loads and stores are allowed.
    pub const WRITE: u64 = 2;
    /// Instruction fetches are allowed.
    pub const EXECUTE: u64 = 1;
    /// All four.
    pub const MASK: u64 = 0xF;
}

/// Reference bit of a leaf.
pub const LEAF_R: u64 = bit(55);
/// Change bit of a leaf.
pub const LEAF_C: u64 = bit(56);
/// Attributes of a leaf: 0 normal, 1 strong access order, 2 non-idempotent, 3 tolerant I/O.
pub const LEAF_ATT: Field = Field::new(58, 59);
const LEAF_RPN: u64 = 0x01FF_FFFF_FFFF_F000;
const VALID: u64 = bit(0);
const LEAF: u64 = bit(1);

/// One doubleword of a radix tree, understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// V=0: there is no translation.
    Invalid,
    /// V=1, L=0: the next level.
    Directory {
        /// Next level base.
        base: RealAddress,
        /// Next level entries as a power of two.
        entries_log2: u32,
    },
    /// V=1, L=1: a page.
    Leaf(Leaf),
}

/// A page-table entry of a radix tree. Its page size is what remains of the address at its level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leaf {
    /// The page's base; bits below the page size are zero when software built it rightly.
    pub base: RealAddress,
    /// [`rights`], the EAA field.
    pub rights: u64,
    /// ATT field, 0 to 3.
    pub attributes: u64,
    /// Reference bit. POWER9 raises an interrupt instead of setting it.
    pub referenced: bool,
    /// Change bit. POWER9 raises an interrupt instead of setting it.
    pub changed: bool,
}

impl Entry {
    /// Reads a doubleword of a tree.
    #[must_use]
    pub const fn from_doubleword(word: u64) -> Self {
        if word & VALID == 0 {
            Self::Invalid
        } else if word & LEAF == 0 {
            Self::Directory {
                base: RealAddress(word & TABLE_BASE),
                entries_log2: TABLE_SIZE.get(word) as u32,
            }
        } else {
            Self::Leaf(Leaf {
                base: RealAddress(word & LEAF_RPN),
                rights: word & rights::MASK,
                attributes: LEAF_ATT.get(word),
                referenced: word & LEAF_R != 0,
                changed: word & LEAF_C != 0,
            })
        }
    }

    /// The doubleword that says this.
    #[must_use]
    pub const fn to_doubleword(self) -> u64 {
        match self {
            Self::Invalid => 0,
            Self::Directory { base, entries_log2 } => {
                TABLE_SIZE.set(VALID | (base.0 & TABLE_BASE), entries_log2 as u64)
            }
            Self::Leaf(leaf) => {
                let word = VALID | LEAF | (leaf.base.0 & LEAF_RPN) | (leaf.rights & rights::MASK);
                LEAF_ATT.set(word, leaf.attributes)
                    | if leaf.referenced { LEAF_R } else { 0 }
                    | if leaf.changed { LEAF_C } else { 0 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Entry, Leaf, Root, TableLocation, rights};
    use crate::address::RealAddress;
    use proptest::prelude::{any, prop_assert_eq, proptest};

    #[test]
    fn a_52_bit_root_has_the_word_linux_and_xen_write() {
        let root = Root { space_log2: 52, base: RealAddress(0), entries_log2: 0 };
        assert_eq!(root.to_doubleword(), 0x4000_0000_0000_00A0);
    }

    #[test]
    fn fields_lie_where_the_architecture_puts_them() {
        let leaf = Leaf {
            base: RealAddress(0x1234_5000),
            rights: rights::READ | rights::EXECUTE,
            attributes: 2,
            referenced: true,
            changed: false,
        };
        assert_eq!(Entry::Leaf(leaf).to_doubleword(), 0xC000_0000_1234_5125);
        let directory = Entry::Directory { base: RealAddress(0x1234_5600), entries_log2: 9 };
        assert_eq!(directory.to_doubleword(), 0x8000_0000_1234_5609);
        assert_eq!(Entry::from_doubleword(0x7FFF_FFFF_FFFF_FFFF), Entry::Invalid);
        let table = TableLocation { base: RealAddress(0x1234_0000), bytes_log2: 16 };
        assert_eq!(table.to_doubleword(), 0x1234_0004);
    }

    proptest! {
        #[test]
        fn leaves_are_read_back(page in 0u64..1 << 45, eaa in 0u64..16, attributes in 0u64..4,
                                referenced: bool, changed: bool) {
            let leaf = Entry::Leaf(Leaf {
                base: RealAddress(page << 12), rights: eaa & rights::MASK, attributes, referenced, changed,
            });
            prop_assert_eq!(Entry::from_doubleword(leaf.to_doubleword()), leaf);
        }

        #[test]
        fn directories_and_roots_are_read_back(table in 0u64..1 << 52, entries_log2 in 0u32..32,
                                               space_log2 in 31u32..63) {
            let base = RealAddress(table << 8);
            let directory = Entry::Directory { base, entries_log2 };
            prop_assert_eq!(Entry::from_doubleword(directory.to_doubleword()), directory);
            let root = Root { space_log2, base, entries_log2 };
            prop_assert_eq!(Root::from_doubleword(root.to_doubleword()), root);
        }

        #[test]
        fn table_locations_are_read_back(page in any::<u64>(), size in 12u32..44) {
            let location = TableLocation {
                base: RealAddress(page & 0x0FFF_FFFF_FFFF_F000), bytes_log2: size,
            };
            prop_assert_eq!(TableLocation::from_doubleword(location.to_doubleword()), location);
        }
    }
}
