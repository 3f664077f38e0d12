//! Switching translation on with a hashed page table: effective and guest real addresses are equal.
//!
//! Two segments of 1 TiB have one virtual address space: the payload's, and that of quadrant 3, where the vectors are
//! that LPCR\[AIL\]=3 moves. The hypervisor keeps the table, and H_ENTER fills it.

use core::arch::asm;
use core::sync::atomic::{AtomicU32, Ordering};

use arch::hash::{self, EntryForm, GROUP_ENTRIES, GROUP_LOG2, first, second, segment};
use arch::papr::Hypercall;
use arch::papr::status::{H_PTEG_FULL, H_SUCCESS};
use arch::registers::msr;

use crate::hypercall::hypercall;

/// log2 of the partition's table, or 0 if it has none.
static TABLE_LOG2: AtomicU32 = AtomicU32::new(0);

/// The virtual segment. The virtual real mode area has another.
const VSID: u64 = 0x12_3456;
const SEGMENT_LOG2: u32 = 40;
/// Pages of 64 KiB, in segments with that base page size.
const PAGE_LOG2: u32 = 16;
const CODE: u64 = 0x1 << 12;

/// pp: privileged state reads and writes, and problem state does nothing, as Kp makes its key 1.
const RIGHTS_PRIVILEGED: u64 = 0;
/// pp: the same, and problem state reads and executes.
const RIGHTS_SHARED: u64 = 1;

/// Says that the partition has a hashed page table of 2^`log2` bytes.
pub(crate) fn use_table(log2: u32) {
    TABLE_LOG2.store(log2, Ordering::Relaxed);
}

/// Whether the partition has one.
pub(crate) fn is_used() -> bool {
    TABLE_LOG2.load(Ordering::Relaxed) != 0
}

/// Puts an entry for the page at `offset` of the segment into the table, which shows the one at guest real `real`.
fn enter(offset: u64, real: u64, rights: u64) {
    let groups = (1 << (TABLE_LOG2.load(Ordering::Relaxed) - GROUP_LOG2)) - 1;
    let hashed = hash::hash(VSID, SEGMENT_LOG2, PAGE_LOG2, offset);
    let address = VSID << (SEGMENT_LOG2 - first::AVA_OMITS_LOG2) | offset >> first::AVA_OMITS_LOG2;
    let segment_size = EntryForm::V2.segment_size.set(0, 1);
    let word = segment_size | address << first::AVA_SHIFT | first::L | first::V;
    let page = real | CODE | second::M | second::R | second::C | rights;
    for (hashed, h) in [(hashed, 0), (!hashed, first::H)] {
        let slot = (hashed & groups) * GROUP_ENTRIES as u64;
        match hypercall(Hypercall::Enter as u64, [0, slot, word | h, page]) {
            H_SUCCESS => return,
            H_PTEG_FULL => {}
            status => panic!("H_ENTER of {offset:#x}: {status}"),
        }
    }
    panic!("the hashed page table has no place for {offset:#x}");
}

fn map(base: u64, memory_bytes: u64, rights: u64) {
    for real in (0..memory_bytes).step_by(1 << PAGE_LOG2) {
        enter(base + real, real, rights);
    }
}

/// Maps the first `memory_bytes` bytes.
pub(crate) fn map_all(memory_bytes: u64) {
    map(0, memory_bytes, RIGHTS_PRIVILEGED);
}

/// Maps them again for problem state at `base`, which reads and executes them.
pub(crate) fn share_with_users(base: u64, memory_bytes: u64) {
    map(base, memory_bytes, RIGHTS_SHARED);
}

/// The doubleword "ESID" of an entry of the segment lookaside buffer for addresses that no payload uses: from `esid`,
/// and valid. Its place is another for another `esid`, behind those of [`join`].
pub(crate) fn spare_entry(esid: u64) -> u64 {
    const UNUSED: u64 = 1 << 62;
    const PLACES: u64 = 30;
    esid >> 2 & !0xFFF_FFFF | UNUSED | segment::V | 2 + (esid >> 28) % PLACES
}

/// Turns translation on, on any vCPU, once the pages are mapped.
pub(crate) fn join() {
    const { assert!(msr::IR | msr::DR == 0x30) };
    let vsid = segment::B.set(segment::LARGE_VSID.set(0, VSID), 1);
    let vsid = vsid | segment::KP | hash::base_code(PAGE_LOG2);
    for (index, esid) in [(0, 0), (1, 0xC000_0000_0000_0000)] {
        // SAFETY: with relocation off nothing looks into the buffer, and each entry is another address's.
        unsafe {
            asm!("slbmte {}, {}", in(reg) vsid, in(reg) esid | segment::V | index, options(nostack));
        }
    }
    // SAFETY: every address keeps its meaning.
    unsafe {
        asm!(
            "isync",
            "mfmsr {msr}",
            "ori {msr}, {msr}, 0x30",
            "mtmsrd {msr}",
            "isync",
            msr = out(reg_nonzero) _,
            options(nostack),
        );
    }
}
