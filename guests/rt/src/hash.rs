//! Switching translation on with a hashed page table: effective and guest real addresses are equal.
//!
//! Two segments of 1 TiB have one virtual address space: the payload's, and that of quadrant 3, where the vectors are
//! that LPCR\[AIL\]=3 moves. The hypervisor keeps the table, and H_ENTER fills it; a kernel that runs bare keeps its
//! own (`table.rs`).

use core::arch::asm;
use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};

use arch::hash::{self, EntryForm, GROUP_ENTRIES, GROUP_LOG2, first, second, segment};
use arch::registers::msr;

#[cfg(feature = "bare")]
use crate::table::enter as put;

/// log2 of the partition's table, or 0 if it has none.
static TABLE_LOG2: AtomicU32 = AtomicU32::new(0);

/// The payload's virtual segment. The virtual real mode area has another.
pub const VSID: u64 = 0x12_3456;
const SEGMENT_LOG2: u32 = 40;
/// Pages of 64 KiB, in segments with that base page size.
const PAGE_LOG2: u32 = 16;
const CODE: u64 = 0x1 << 12;

/// pp: privileged state reads and writes, and problem state does nothing, as Kp makes its key 1.
const RIGHTS_PRIVILEGED: u64 = 0;
/// pp: the same, and problem state reads and executes.
#[cfg(not(feature = "bare"))]
const RIGHTS_SHARED: u64 = 1;

/// Says that the partition has a hashed page table of 2^`log2` bytes.
pub(crate) fn use_table(log2: u32) {
    TABLE_LOG2.store(log2, Ordering::Relaxed);
}

/// Whether the partition has one.
#[must_use]
pub fn is_used() -> bool {
    TABLE_LOG2.load(Ordering::Relaxed) != 0
}

/// How many groups the table has, a power of two.
#[must_use]
pub fn groups() -> u64 {
    1 << (TABLE_LOG2.load(Ordering::Relaxed) - GROUP_LOG2)
}

/// A virtual segment of 1 TiB, and what is done with its entries in the table.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// Its number.
    pub vsid: u64,
    /// log2 of its base page size: 12, 16 or 24.
    pub base_log2: u32,
}

impl Segment {
    /// The first doubleword of an entry for the page at `offset`, as far as the segment says it: not valid, and of
    /// the base page size.
    #[must_use]
    pub fn first(&self, offset: u64) -> u64 {
        let high = self.vsid << (SEGMENT_LOG2 - first::AVA_OMITS_LOG2);
        let address = high | offset >> first::AVA_OMITS_LOG2;
        EntryForm::V2.segment_size.set(address << first::AVA_SHIFT, 1)
    }

    /// The low 64 bits of the virtual address at `offset`.
    #[must_use]
    pub const fn address(&self, offset: u64) -> u64 {
        self.vsid << SEGMENT_LOG2 | offset
    }

    /// The first slot of the group in which the page at `offset` is searched by the primary or the secondary hash.
    #[must_use]
    // Who keeps the table asks for each entry of many.
    #[cfg_attr(feature = "bare", inline)]
    pub fn group(&self, offset: u64, is_secondary: bool) -> u64 {
        let groups = (1 << (TABLE_LOG2.load(Ordering::Relaxed) - GROUP_LOG2)) - 1;
        let hashed = hash::hash(self.vsid, SEGMENT_LOG2, self.base_log2, offset);
        ((if is_secondary { !hashed } else { hashed }) & groups) * GROUP_ENTRIES as u64
    }

    /// Puts an entry for the page at `offset` into the table: whether into its secondary group, and the slot there;
    /// `None` if both groups are full. `size` is 0 or L.
    ///
    /// # Panics
    /// If the hypervisor refuses the entry.
    pub fn enter(&self, offset: u64, size: u64, second: u64) -> Option<(bool, u64)> {
        let word = self.first(offset) | size | first::V;
        for (is_secondary, h) in [(false, 0), (true, first::H)] {
            let group = self.group(offset, is_secondary);
            if let Some(slot) = put(group, [word | h, second]) {
                return Some((is_secondary, slot - group));
            }
        }
        None
    }

    /// Puts the segment into place `index` of the segment lookaside buffer, for the 1 TiB at the effective address
    /// `effective`.
    ///
    /// # Panics
    /// If the place or the address belongs to what [`enable_translation`](crate::enable_translation) has mapped.
    pub fn load(&self, effective: u64, index: u64) {
        assert!(index >= KERNEL_SEGMENTS.len() as u64, "a place of the kernel's own");
        let effective = effective >> SEGMENT_LOG2 << SEGMENT_LOG2;
        assert!(!KERNEL_SEGMENTS.contains(&effective), "an address of the kernel's own");
        self.put(effective, index);
    }

    fn put(&self, effective: u64, index: u64) {
        let vsid = segment::B.set(segment::LARGE_VSID.set(0, self.vsid), 1);
        let vsid = vsid | segment::KP | hash::base_code(self.base_log2);
        let esid = effective | segment::V | index;
        // SAFETY: with relocation off nothing looks into the buffer, and with relocation on no address that is in use
        // changes its meaning: `load` refuses those.
        unsafe { asm!("slbmte {}, {}", "isync", in(reg) vsid, in(reg) esid, options(nostack)) };
    }
}

/// Puts an entry into a free slot of the group whose first slot is `group`: the slot, or `None` if there is none.
#[cfg(not(feature = "bare"))]
#[inline(always)]
fn put(group: u64, [first, second]: [u64; 2]) -> Option<u64> {
    use arch::papr::Hypercall;
    use arch::papr::status::{H_PTEG_FULL, H_SUCCESS};

    let arguments = [0, group, first, second];
    match crate::hypercall_outputs(Hypercall::Enter as u64, arguments) {
        (H_SUCCESS, [slot, ..]) => Some(slot),
        (H_PTEG_FULL, _) => None,
        (status, _) => panic!("H_ENTER of {first:#x} {second:#x}: {status}"),
    }
}

/// The payload's own.
const KERNEL: Segment = Segment { vsid: VSID, base_log2: PAGE_LOG2 };
/// Where it is.
const KERNEL_SEGMENTS: [u64; 2] = [0, 0xC000_0000_0000_0000];

/// Gives memory another effective address, at which the entries of a segment show it; the old one is not used any
/// more.
///
/// # Panics
/// If an address of it belongs to what [`enable_translation`](crate::enable_translation) has mapped.
pub fn move_memory(memory: &'static mut [u64], effective: u64) -> &'static mut [u64] {
    let end = effective + 8 * memory.len() as u64;
    for address in [effective, end] {
        let segment = address >> SEGMENT_LOG2 << SEGMENT_LOG2;
        assert!(!KERNEL_SEGMENTS.contains(&segment), "an address of the kernel's own");
    }
    // SAFETY: nobody else has this memory, nor these addresses. Where they show nothing, an access is an interrupt;
    // that they show this memory and no other is for who enters the pages to see to, as with every entry.
    unsafe { core::slice::from_raw_parts_mut(effective as *mut u64, memory.len()) }
}

/// Memory that all hardware threads share, at effective addresses where entries of a segment show some that nobody else
/// has.
///
/// # Panics
/// As [`move_memory`].
#[cfg(feature = "bare")]
#[must_use]
pub fn shared_memory(effective: u64, bytes: u64) -> &'static [core::sync::atomic::AtomicU64] {
    // SAFETY: as in `move_memory`, which looks at nothing but the place.
    let memory =
        unsafe { core::slice::from_raw_parts_mut(effective as *mut u64, bytes as usize / 8) };
    crate::share(move_memory(memory, effective))
}

/// Puts an entry for the page at `offset` of the segment into the table, which shows the one at guest real `real`.
fn enter(offset: u64, real: u64, rights: u64) {
    let page = real | CODE | second::M | second::R | second::C | rights;
    let place = KERNEL.enter(offset, first::L, page);
    assert!(place.is_some(), "the hashed page table has no place for {offset:#x}");
}

fn map(base: u64, memory: Range<u64>, rights: u64) {
    let start = memory.start >> PAGE_LOG2 << PAGE_LOG2;
    for real in (start..memory.end).step_by(1 << PAGE_LOG2) {
        enter(base + real, real, rights);
    }
}

/// Maps memory, in whole pages.
pub(crate) fn map_all(memory: Range<u64>) {
    map(0, memory, RIGHTS_PRIVILEGED);
}

/// Maps the first `memory_bytes` again for problem state at `base`, which reads and executes them.
#[cfg(not(feature = "bare"))]
pub(crate) fn share_with_users(base: u64, memory_bytes: u64) {
    map(base, 0..memory_bytes, RIGHTS_SHARED);
}

/// The doubleword "ESID" of an entry of the segment lookaside buffer for addresses that no payload uses: from `esid`,
/// and valid. Its place is another for another `esid`, behind those of [`join`].
#[cfg(not(feature = "bare"))]
pub(crate) fn spare_entry(esid: u64) -> u64 {
    const UNUSED: u64 = 1 << 62;
    const PLACES: u64 = 30;
    esid >> 2 & !0xFFF_FFFF | UNUSED | segment::V | 2 + (esid >> 28) % PLACES
}

/// Turns translation on, on any vCPU, once the pages are mapped.
pub(crate) fn join() {
    const { assert!(msr::IR | msr::DR == 0x30) };
    for (index, effective) in KERNEL_SEGMENTS.into_iter().enumerate() {
        KERNEL.put(effective, index as u64);
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
