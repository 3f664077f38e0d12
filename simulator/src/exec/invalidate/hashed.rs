//! `tlbie` and `tlbiel` with R=0: which hashed translations software takes back.
//!
//! RB names a page by the low 64 bits of its virtual address, its base and its actual size; an entry of another size
//! stays. With a base page of 4 KiB the address is compared down to that page, so that an entry of 64 KiB or 16 MiB
//! goes only if it was loaded by the page that is named: Linux issues one `tlbie` for each. With larger ones RB has
//! no room for all bits between base and actual page. Source: `docs/facts/hashed-translation.md#compared-address`.

use arch::bits::Field;
use arch::hash::{LARGE_PAGES, PageSize};
use arch::instruction::Word;

use super::{rb, undefined};
use crate::state::invalidation::{Extent, Invalidation};
use crate::state::thread::Thread;
use crate::state::thread::trap::{StopReason, Trap};

/// Fields of RB that only hashed translation has.
const B: Field = Field::new(54, 55);
/// A base page larger than 4 KiB.
const L: u64 = 1;
/// Which, and the actual page: as in the page-table entry.
const LP: Field = Field::new(44, 51);
/// More bits of the virtual address, with L=1: its bits 13 to 19 from the low end.
const AVAL: u64 = 0xFE;
const AVAL_SHIFT: u32 = 12;
/// The bits of the virtual address with L=1, and with L=0.
const LARGE_ADDRESS: u64 = 0xFFFF_FFFF_FFF0_0000;
const ADDRESS: u64 = 0xFFFF_FFFF_FFFF_F000;

/// What the operands name. Source: `docs/facts/hashed-translation.md#forms`.
pub(super) fn decode(
    thread: &mut Thread,
    i: Word,
    everything: Invalidation,
) -> Result<Invalidation, Trap> {
    let operand = thread.gpr[i.rb()];
    let (ric, is_process, scope) = (i.ric(), i.prs(), rb::IS.get(operand));
    match (ric, is_process, scope) {
        (1, ..) => return undefined(thread, "tlbie (R=0 with RIC=1: no page walk is cached)"),
        (0, true, _) => return undefined(thread, "tlbie (R=0 and PRS=1 with RIC=0)"),
        (3, ..) => {
            let what = "tlbie of a group of pages (R=0 with RIC=3)";
            return Err(thread.stop(StopReason::InstructionNotModelled(what)));
        }
        (2, _, 0) => return undefined(thread, "tlbie (R=0 and IS=0 with RIC=2)"),
        (_, false, 1) => return undefined(thread, "tlbie (R=0 and IS=1 with PRS=0)"),
        _ => (),
    }
    if scope == 0 {
        let Some(extent) = page(operand) else {
            return undefined(thread, "tlbie (R=0: B, AP or LP)");
        };
        return Ok(Invalidation { extent, ..everything });
    }
    // Process-scoped are the process table's entries alone.
    let translations = everything.translations && !is_process;
    Ok(Invalidation { translations, directories: false, ..everything })
}

/// The page that RB names; `None` for a segment or page size that it cannot have.
fn page(operand: u64) -> Option<Extent> {
    let segment_log2 = match B.get(operand) {
        0 => 28,
        1 => 40,
        _ => return None,
    };
    let (base_log2, page_log2, compare_log2, address) = if operand & L == 0 {
        let page_log2 = match rb::AP.get(operand) {
            0 => 12,
            5 => 16,
            4 => 24,
            _ => return None,
        };
        (12, page_log2, 12, operand & ADDRESS)
    } else {
        let is_named = |page: &&PageSize| page.base_log2 > 12 && page.is_named_by(LP.get(operand));
        let page = LARGE_PAGES.iter().find(is_named)?;
        let address = operand & LARGE_ADDRESS | (operand & AVAL) << AVAL_SHIFT;
        (page.base_log2, page.actual_log2, page.actual_log2, address)
    };
    Some(Extent::VirtualPage { address, compare_log2, segment_log2, base_log2, page_log2 })
}

#[cfg(test)]
mod tests {
    use super::page;
    use crate::state::invalidation::Extent;

    #[test]
    fn rb_names_a_page_as_linux_writes_it() {
        let small = |address, segment_log2, page_log2| Extent::VirtualPage {
            address,
            compare_log2: 12,
            segment_log2,
            base_log2: 12,
            page_log2,
        };
        assert_eq!(page(0x1234_5000), Some(small(0x1234_5000, 28, 12)));
        assert_eq!(page(0x1234_5000 | 5 << 5), Some(small(0x1234_5000, 28, 16)));
        assert_eq!(page(0x1234_5000 | 4 << 5 | 1 << 8), Some(small(0x1234_5000, 40, 24)));
        assert_eq!(page(0x1234_5000 | 1 << 5), None);
        assert_eq!(page(0x1234_5000 | 2 << 8), None);
        // 64K in 64K: the address down to its page is in LP's upper bits and in AVAL.
        let address = 0x12_345B_0000;
        let operand = address | 1 << 12 | address >> 12 & 0xFE | 1;
        let large = |address, base_log2, page_log2| Extent::VirtualPage {
            address,
            compare_log2: page_log2,
            segment_log2: 28,
            base_log2,
            page_log2,
        };
        assert_eq!(page(operand), Some(large(address, 16, 16)));
        assert_eq!(page(0x1200_0000 | 8 << 12 | 1), Some(large(0x1200_0000, 16, 24)));
        assert_eq!(page(0x1200_0000 | 1), Some(large(0x1200_0000, 24, 24)));
        assert_eq!(page(0x1200_0000 | 4 << 12 | 1), None);
    }
}
