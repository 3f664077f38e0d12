//! The hashed page table of ISA 2.07 and 3.0: its entries, what names it, and the page sizes of POWER8 and POWER9.
//!
//! Doublewords as they are; in memory they are big-endian whatever MSR[LE] says, and the caller swaps. Source:
//! `docs/facts/hashed-translation.md`.

use crate::address::RealAddress;
use crate::bits::{Field, bit};

/// log2 of the bytes of a page-table-entry group: eight entries of 16 bytes.
pub const GROUP_LOG2: u32 = 7;
/// Entries of a group.
pub const GROUP_ENTRIES: usize = 8;
/// log2 of the largest table that software makes: KVM's limit.
pub const TABLE_MAXIMUM_LOG2: u32 = 46;

/// Where the fields lie that ISA 3.0 moved or made smaller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EntryForm {
    /// The doubleword with the segment size, 0 or 1.
    pub segment_size_in: usize,
    /// The segment size there: 0 for 256 MiB, 1 for 1 TiB.
    pub segment_size: Field,
    /// Abbreviated virtual address in the first doubleword: the virtual address without its low 23 bits, as far
    /// as it is kept.
    pub abbreviated: u64,
    /// The page's real address in the second, with the code of its size in the low bits where the page is larger.
    pub address: u64,
}

impl EntryForm {
    /// Of ISA 2.07.
    pub const V2: Self = Self {
        segment_size_in: 0,
        segment_size: Field::new(0, 1),
        abbreviated: 0x3FFF_FFFF_FFFF_FF80,
        address: 0x0FFF_FFFF_FFFF_F000,
    };
    /// Of ISA 3.0.
    pub const V3: Self = Self {
        segment_size_in: 1,
        segment_size: Field::new(4, 5),
        abbreviated: 0x000F_FFFF_FFFF_FF80,
        address: 0x01FF_FFFF_FFFF_F000,
    };

    /// The segment size of an entry.
    #[must_use]
    #[inline(always)]
    pub const fn segment_size_of(&self, entry: [u64; 2]) -> u64 {
        self.segment_size.get(entry[self.segment_size_in])
    }

    /// The entry with this segment size.
    #[must_use]
    #[inline(always)]
    pub const fn with_segment_size(&self, mut entry: [u64; 2], segment_size: u64) -> [u64; 2] {
        entry[self.segment_size_in] =
            self.segment_size.set(entry[self.segment_size_in], segment_size);
        entry
    }
}

/// Fields of an entry's first doubleword, see [`EntryForm`] for the others.
pub mod first {
    /// The entry is valid.
    pub const V: u64 = 1;
    /// It lies where the secondary hash says.
    pub const H: u64 = 2;
    /// The page is larger than 4 KiB, and the low bits of its address say how large.
    pub const L: u64 = 4;
    /// Low bits of a virtual address that the abbreviated one leaves out.
    pub const AVA_OMITS_LOG2: u32 = 23;
    /// The place of its lowest bit.
    pub const AVA_SHIFT: u32 = 7;
}

/// Fields of an entry's second doubleword, see [`EntryForm`] for the others.
pub mod second {
    use super::{Field, bit};

    /// The highest bit of pp.
    pub const PP0: u64 = bit(0);
    /// The two low bits of pp.
    pub const PP: Field = Field::new(62, 63);
    /// The two high bits of the virtual page class key.
    pub const KEY_HIGH: Field = Field::new(2, 3);
    /// Its three low bits.
    pub const KEY_LOW: Field = Field::new(52, 54);
    /// The page was accessed.
    pub const R: u64 = 0x100;
    /// The page was stored into.
    pub const C: u64 = 0x80;
    /// Caching inhibited.
    pub const I: u64 = 0x20;
    /// Guarded.
    pub const G: u64 = 0x08;
    /// Coherence of memory is kept: alone among W, I, M and G, normal memory.
    pub const M: u64 = 0x10;
    /// W, I, M and G.
    pub const WIMG: u64 = 0x78;
    /// W, I and M without G: cached, in strong access order.
    pub const STRONG_ORDER: u64 = 0x70;
    /// No-execute.
    pub const N: u64 = 0x04;
}

/// Fields of the SLB's doubleword "VSID".
pub mod segment {
    use super::Field;

    /// Entries of the SLB of POWER8 and POWER9. Source: `docs/facts/translation.md#slb`.
    pub const ENTRIES: usize = 32;
    /// Segment size: 0 for 256 MiB, 1 for 1 TiB.
    pub const B: Field = Field::new(0, 1);
    /// The virtual segment, of a segment of 256 MiB.
    pub const VSID: Field = Field::new(2, 51);
    /// The virtual segment, of a segment of 1 TiB.
    pub const LARGE_VSID: Field = Field::new(2, 39);
    /// Storage key in privileged state.
    pub const KS: u64 = 0x800;
    /// Storage key in problem state.
    pub const KP: u64 = 0x400;
    /// No-execute.
    pub const N: u64 = 0x200;
    /// L and LP: the base page size.
    pub const SIZE: u64 = 0x130;
    /// Of the doubleword "ESID": the entry is valid.
    pub const V: u64 = 0x0800_0000;
    /// The effective segment in the doubleword "ESID", of a segment of 256 MiB.
    pub const ESID: u64 = 0xFFFF_FFFF_F000_0000;
    /// Bits of the doubleword "VSID" that mean something.
    const MEANING: u64 = 0xFFFF_FFFF_FFFF_FFB0;

    /// Whether `slbmte` takes an entry with these doublewords, the first one without an index: none of their reserved
    /// bits is set, and the base page is one that fits into the segment.
    #[must_use]
    pub const fn is_entry([esid, vsid]: [u64; 2]) -> bool {
        let fits = match super::base_log2(vsid) {
            Some(log2) => log2 <= 28 || B.get(vsid) == 1,
            None => false,
        };
        esid & !(ESID | V) == 0 && vsid & !MEANING == 0 && B.get(vsid) <= 1 && fits
    }

    /// The doubleword of the virtual real mode area, without L and LP.
    pub const VIRTUAL_REAL_MODE: u64 = 0x4001_FFFF_FF00_0000;
}

/// log2 of the base page size that L and LP of the SLB's doubleword "VSID" name; `None` for a reserved code.
#[must_use]
pub const fn base_log2(vsid: u64) -> Option<u32> {
    match vsid & segment::SIZE {
        0x000 => Some(12),
        0x110 => Some(16),
        0x100 => Some(24),
        0x120 => Some(34),
        _ => None,
    }
}

/// L and LP for the base page size of 2^`log2` bytes: what [`base_log2`] reads.
#[must_use]
pub const fn base_code(log2: u32) -> u64 {
    match log2 {
        16 => 0x110,
        24 => 0x100,
        34 => 0x120,
        _ => 0,
    }
}

/// A page size that a base page size allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageSize {
    /// log2 of the base page size.
    pub base_log2: u32,
    /// log2 of the actual page size.
    pub actual_log2: u32,
    /// What the low bits of the LP field are.
    pub code: u64,
}

/// The pages that an entry with L=1 may have.
pub const LARGE_PAGES: [PageSize; 6] = [
    PageSize { base_log2: 12, actual_log2: 16, code: 0x07 },
    PageSize { base_log2: 12, actual_log2: 24, code: 0x38 },
    PageSize { base_log2: 16, actual_log2: 16, code: 0x01 },
    PageSize { base_log2: 16, actual_log2: 24, code: 0x08 },
    PageSize { base_log2: 24, actual_log2: 24, code: 0x00 },
    PageSize { base_log2: 34, actual_log2: 34, code: 0x03 },
];

impl PageSize {
    /// Whether the eight bits of an LP field name this size; the address takes part of them where the page is small.
    #[must_use]
    pub const fn is_named_by(&self, lp: u64) -> bool {
        let bits = if self.actual_log2 < 20 { self.actual_log2 - 12 } else { 8 };
        lp & ((1 << bits) - 1) == self.code
    }
}

/// A page that an entry translates, for who takes translations back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VirtualPage {
    /// The low 64 bits of its virtual address, down to the base page.
    pub address: u64,
    /// Segment size: 0 for 256 MiB, 1 for 1 TiB.
    pub segment_size: u64,
    /// Base and actual page size.
    pub size: PageSize,
}

impl VirtualPage {
    /// RB of a `tlbie` with R=0 and IS=0 for it. Source: `docs/facts/hashed-translation.md#hashed-operands`.
    #[must_use]
    pub const fn operand(&self) -> u64 {
        let Self { address, segment_size, size: PageSize { base_log2, actual_log2, code } } = *self;
        let size = segment_size << 8;
        if base_log2 == 12 {
            let actual = match actual_log2 {
                16 => 5,
                24 => 4,
                _ => 0,
            };
            return address & !0xFFF | size | actual << 5;
        }
        // Above the page's address the field of the size has its low bits.
        let page = address >> actual_log2 << actual_log2;
        page & !0xFFF | code << 12 | size | address >> 12 & 0xFE | 1
    }
}

/// A hashed page table, as the first doubleword of a partition-table entry names it (ISA 3.0), and SDR1 (2.07).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Table {
    /// Where it lies, a multiple of 256 KiB.
    pub base: RealAddress,
    /// log2 of its bytes, 18 to 49.
    pub bytes_log2: u32,
}

const TABLE_BASE: u64 = 0x0FFF_FFFF_FFFC_0000;
const TABLE_SIZE: Field = Field::new(59, 63);
/// L and LP of the virtual real mode area's base page size, in the first doubleword of a partition-table entry.
const VIRTUAL_REAL_MODE_L: u64 = 0x80;
const VIRTUAL_REAL_MODE_LP: Field = Field::new(57, 58);

impl Table {
    /// The table that the first doubleword of a partition-table entry (with HR=0), or SDR1, names.
    #[must_use]
    pub const fn from_doubleword(word: u64) -> Self {
        Self { base: RealAddress(word & TABLE_BASE), bytes_log2: 18 + TABLE_SIZE.get(word) as u32 }
    }

    /// The first doubleword of a partition-table entry (with HR=0) that names this table, and the base page size of
    /// 2^`area_base_log2` bytes for the virtual real mode area.
    #[must_use]
    pub const fn to_doubleword(self, area_base_log2: u32) -> u64 {
        let code = base_code(area_base_log2);
        let area = VIRTUAL_REAL_MODE_LP.set((code & 0x100) >> 1, code >> 4 & 3);
        TABLE_SIZE.set(self.base.0 & TABLE_BASE, self.bytes_log2 as u64 - 18) | area
    }

    /// Where the group lies that `hash` names.
    #[must_use]
    pub const fn group(&self, hash: u64) -> RealAddress {
        let mask = (1 << (self.bytes_log2 - GROUP_LOG2)) - 1;
        RealAddress(self.base.0 + ((hash & mask) << GROUP_LOG2))
    }
}

/// The SLB's doubleword "VSID" of the virtual real mode area, from the first doubleword of a partition-table entry.
#[must_use]
pub const fn virtual_real_mode(word: u64) -> u64 {
    let l = (word & VIRTUAL_REAL_MODE_L) << 1;
    segment::VIRTUAL_REAL_MODE | l | VIRTUAL_REAL_MODE_LP.get(word) << 4
}

/// The SLB's doubleword "VSID" of the virtual real mode area, from LPCR\[VRMASD\].
#[must_use]
pub const fn virtual_real_mode_of_vrmasd(vrmasd: u64) -> u64 {
    segment::VIRTUAL_REAL_MODE | vrmasd << 4 & segment::SIZE
}

/// The primary hash of the virtual segment `vsid` of 2^`segment_log2` bytes and the base page of 2^`base_log2` bytes
/// at `offset` in it; the secondary one is its complement.
#[must_use]
pub const fn hash(vsid: u64, segment_log2: u32, base_log2: u32, offset: u64) -> u64 {
    let page = offset >> base_log2;
    let hash = if segment_log2 == 40 { vsid ^ vsid << 25 ^ page } else { vsid ^ page };
    hash & 0x7F_FFFF_FFFF
}

#[cfg(test)]
mod tests {
    use super::{
        EntryForm, LARGE_PAGES, PageSize, Table, VirtualPage, base_log2, hash, segment,
        virtual_real_mode, virtual_real_mode_of_vrmasd,
    };
    use crate::address::RealAddress;

    #[test]
    fn a_code_names_one_size_of_a_base() {
        for lp in 0..256 {
            for base in [12, 16, 24, 34] {
                let of = |page: &&super::PageSize| page.base_log2 == base && page.is_named_by(lp);
                assert!(LARGE_PAGES.iter().filter(of).count() <= 1, "LP {lp:#x}, base {base}");
            }
        }
    }

    /// The bits of LP above those that a small page's code has are of the address.
    #[test]
    fn a_size_is_named_by_its_code_alone() {
        for page in LARGE_PAGES {
            let bits = match page.actual_log2 {
                16 => 4,
                _ => 8,
            };
            for lp in 0..256 {
                let named = lp % (1 << bits) == page.code;
                assert_eq!(page.is_named_by(lp), named, "{page:?}, LP {lp:#x}");
            }
        }
    }

    #[test]
    fn an_entry_of_the_slb_has_no_reserved_bit_and_fits_into_its_segment() {
        let esid = segment::ESID | segment::V;
        for (words, is_entry) in [
            ([esid, 0], true),
            ([0, 0], true),
            // The index, which is no part of it.
            ([esid | 1, 0], false),
            ([esid | 0x0400_0000, 0], false),
            // Bits of the other doubleword that mean nothing.
            ([esid, 0x40], false),
            ([esid, 1], false),
            // L and LP of 64 KiB, of 16 MiB, and of nothing.
            ([esid, 0x110], true),
            ([esid, 0x100], true),
            ([esid, 0x130], false),
            // 16 GiB only in a segment of 1 TiB; segments of other sizes.
            ([esid, segment::B.set(0x120, 0)], false),
            ([esid, segment::B.set(0x120, 1)], true),
            ([esid, segment::B.set(0, 1)], true),
            ([esid, segment::B.set(0, 2)], false),
            ([esid, segment::B.set(0, 3)], false),
        ] {
            assert_eq!(segment::is_entry(words), is_entry, "{words:#x?}");
        }
    }

    #[test]
    fn each_form_has_the_segment_size_where_it_says() {
        for form in [EntryForm::V2, EntryForm::V3] {
            for size in 0..2 {
                let entry = form.with_segment_size([!0, !0], size);
                assert_eq!(form.segment_size_of(entry), size);
                let bits = entry.map(u64::count_zeros);
                assert_eq!(bits.iter().sum::<u32>(), 2 - size as u32, "{form:?} {entry:#x?}");
            }
        }
    }

    #[test]
    fn a_table_of_256_kib_has_2048_groups() {
        let table = Table::from_doubleword(0x1000_0000);
        assert_eq!(table.group(0x801).0, 0x1000_0080);
        assert_eq!(table.group(!0).0, 0x1000_0000 + 2047 * 128);
        assert_eq!(hash(0x1234, 28, 12, 0x5000), 0x1234 ^ 5);
        assert_eq!(hash(1, 40, 24, 0x300_0000), 1 ^ 1 << 25 ^ 3);
    }

    #[test]
    fn an_operand_names_a_page_as_linux_writes_it() {
        let page = |address, segment_size, base_log2, actual_log2, code| {
            let size = PageSize { base_log2, actual_log2, code };
            VirtualPage { address, segment_size, size }.operand()
        };
        assert_eq!(page(0x1234_5000, 0, 12, 12, 0), 0x1234_5000);
        assert_eq!(page(0x1234_5000, 0, 12, 16, 7), 0x1234_5000 | 5 << 5);
        assert_eq!(page(0x1234_5000, 1, 12, 24, 0x38), 0x1234_5000 | 4 << 5 | 1 << 8);
        let address = 0x12_345B_0000;
        assert_eq!(page(address, 0, 16, 16, 1), address | 1 << 12 | address >> 12 & 0xFE | 1);
        assert_eq!(page(0x1200_0000, 0, 16, 24, 8), 0x1200_0000 | 8 << 12 | 1);
        assert_eq!(page(0x1200_0000, 1, 24, 24, 0), 0x1200_0000 | 1 << 8 | 1);
    }

    #[test]
    fn a_table_is_named_as_it_is_read() {
        let table = Table { base: RealAddress(0x1234_0000), bytes_log2: 20 };
        for base in [12, 16, 24] {
            let word = table.to_doubleword(base);
            assert_eq!(Table::from_doubleword(word), table);
            assert_eq!(base_log2(virtual_real_mode(word)), Some(base));
        }
        assert_eq!(table.to_doubleword(12), 0x1234_0002);
    }

    #[test]
    fn the_virtual_real_mode_area_has_the_size_that_the_partition_names() {
        assert_eq!(base_log2(virtual_real_mode(0)), Some(12));
        assert_eq!(base_log2(virtual_real_mode(0x80)), Some(24));
        assert_eq!(base_log2(virtual_real_mode(0xA0)), Some(16));
        assert_eq!(base_log2(virtual_real_mode(0x20)), None);
        for (vrmasd, base) in [(0, Some(12)), (0x10, Some(24)), (0x11, Some(16)), (0x01, None)] {
            assert_eq!(base_log2(virtual_real_mode_of_vrmasd(vrmasd)), base, "{vrmasd:#x}");
        }
    }
}
