//! A partition with a hashed page table: its LPCR, and what its device tree says about translation.
//!
//! Its misses with relocation on are its own: LPCR\[VPM1\] is 0, and it gets the interrupts without an exit. With
//! relocation off its addresses lie in the virtual real mode area, whose misses are the hypervisor's.
//!
//! Source: `docs/facts/hashed-translation.md`, `docs/facts/papr.md#device-tree-of-a-partition`.

use alloc::vec::Vec;
use core::fmt;

use arch::address::GuestRealAddress;
use arch::bundle::{HashCallPolicy, RegisterPolicy};
use arch::hash::{LARGE_PAGES, PageSize, base_code};
use arch::papr::hashed::BLOCK_LOG2;
use arch::processor::Processor;
use arch::registers::lpcr;

use crate::boot::firmware::HardwareThread;
use crate::boot::flat_tree::FlatTree;
use crate::hash_table;

/// Its part of LPCR. Processors with partition tables have no VPM0: there it is always on. LPCR\[VRMASD\] is 0, a base
/// page of 4 KiB ([`hash_table::REAL_MODE_LOG2`]).
pub(super) const LPCR: u64 = lpcr::VPM0;

/// log2 of the largest page that it can have, where all of its memory is aligned to that.
pub const LARGEST_LOG2: u32 = 24;

/// Bytes of `ibm,architecture-vec-5`: translation by a hashed page table.
pub(super) const ARCHITECTURE_VECTOR_5: [(usize, u8); 2] = [(24, 0), (26, 0)];

/// The top four bits of an address do not count with relocation off.
const REAL_MASK: u64 = 0x0FFF_FFFF_FFFF_FFFF;

/// The guest real address of one that the virtual real mode area did not translate.
#[must_use]
pub const fn guest_real(effective: u64) -> GuestRealAddress {
    GuestRealAddress(effective & REAL_MASK)
}

/// Why a machine cannot give a partition a hashed page table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HashError {
    /// Threads of one core cannot translate in both ways at a time: the processor version register.
    Mixed(u32),
    /// The hypervisor was told to move all registers at each exit.
    Eager,
    /// The hypervisor was told to answer calls in a translated context, and has none on this processor.
    Middle(Processor),
}

impl fmt::Display for HashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mixed(pvr) => write!(
                f,
                "translation = \"hash\" needs a POWER9 from DD2.2 on, or one hardware thread for each core: before \
                 it threads of a core cannot translate in both ways; this machine's PVR is {pvr:#010x}"
            ),
            Self::Middle(processor) => write!(
                f,
                "hash_calls = \"middle\" needs a hypervisor that runs with relocation on: on {processor} it never does",
            ),
            Self::Eager => f.write_str(
                "translation = \"hash\" and registers = \"eager\" do not go together: that is KVM's way with radix",
            ),
        }
    }
}

/// The bits of PVR that say which revision a part is, and the first on which threads of one core may differ.
const REVISION: u32 = 0xFFF;
const MIXES_FROM: u32 = 0x202;

/// Whether partitions may have a hashed page table on a machine with these hardware threads.
///
/// # Errors
/// [`HashError`].
pub fn check(
    processor: Processor,
    pvr: u32,
    threads: &[HardwareThread],
    registers: RegisterPolicy,
    calls: HashCallPolicy,
) -> Result<(), HashError> {
    let shares = |(index, thread): (usize, &HardwareThread)| {
        threads[..index].iter().any(|other| other.core == thread.core)
    };
    let is_mixed = processor.facts().has_radix() && pvr & REVISION < MIXES_FROM;
    if is_mixed && threads.iter().enumerate().any(shares) {
        return Err(HashError::Mixed(pvr));
    }
    if calls == HashCallPolicy::Middle && !processor.facts().has_radix() {
        return Err(HashError::Middle(processor));
    }
    match registers {
        RegisterPolicy::Eager { .. } => Err(HashError::Eager),
        RegisterPolicy::Owned | RegisterPolicy::Released => Ok(()),
    }
}

/// What the node of a processor says of it.
pub(super) fn describe(tree: &mut FlatTree, memory_bytes: u64) {
    /// log2 of the segment sizes; an end that is no size.
    const SEGMENTS: [u32; 4] = [28, 40, u32::MAX, u32::MAX];
    tree.add("ibm,pft-size", &[0, hash_table::bytes_log2(memory_bytes)]);
    tree.add("ibm,processor-segment-sizes", &SEGMENTS);
    let sizes: Vec<u8> = page_sizes(memory_bytes).into_iter().flat_map(u32::to_be_bytes).collect();
    tree.add("ibm,segment-page-sizes", &sizes[..]);
}

/// Of which blocks H_BLOCK_REMOVE takes entries out, as the parameter 50 of `ibm,get-system-parameter` says it: log2 of
/// the pages of a block, how many page sizes it is for, and for each L and its code.
#[must_use]
pub fn removed_blocks() -> Vec<u8> {
    const L: u8 = 0x80;
    let is_removed = |page: &&PageSize| page.base_log2 <= hash_table::BLOCK_BASE_LOG2_MAX;
    let large = LARGE_PAGES.iter().filter(is_removed).map(|page| L | page.code as u8);
    let sizes: Vec<u8> = core::iter::once(0).chain(large).collect();
    let mut bytes = alloc::vec![BLOCK_LOG2 as u8, sizes.len() as u8];
    bytes.extend(sizes);
    bytes
}

/// For each base page size: its log2, the segment's code, how many actual sizes, and each of these with its code.
fn page_sizes(memory_bytes: u64) -> Vec<u32> {
    let is_there = |log2: u32| log2 < LARGEST_LOG2 || memory_bytes >> LARGEST_LOG2 != 0;
    let mut cells = Vec::new();
    for base in [12, 16, LARGEST_LOG2] {
        let small = (base == 12).then_some((12, 0));
        let large = LARGE_PAGES.iter().filter(|page| page.base_log2 == base);
        let large = large.map(|page| (page.actual_log2, page.code as u32));
        let sizes: Vec<_> =
            small.into_iter().chain(large).filter(|size| is_there(size.0)).collect();
        if !sizes.is_empty() {
            cells.extend([base, base_code(base) as u32, sizes.len() as u32]);
            cells.extend(sizes.into_iter().flat_map(|(log2, code)| [log2, code]));
        }
    }
    cells
}
