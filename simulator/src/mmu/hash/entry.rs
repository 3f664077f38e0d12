//! R and C of an entry, which hardware sets: each by a store of one byte, so that neither undoes the other.

use arch::hash::second;

use crate::mmu::Access;
use crate::state::memory::Offset;
use crate::state::tlb::Hashed;

/// A byte that the walk stores into the table.
pub(in crate::mmu) type Mark = (Offset, u8);

/// Where the bytes with R and C lie in an entry of 16 bytes.
const R_BYTE: Offset = 14;
const C_BYTE: Offset = 15;

/// Sets R, and C for a store; says which bytes of the table change.
pub(in crate::mmu) fn mark(hashed: &mut Hashed, access: Access) -> [Option<Mark>; 2] {
    let is_first = hashed.second & second::R == 0;
    let is_first_store = access == Access::Store && hashed.second & second::C == 0;
    if is_first {
        hashed.second |= second::R;
    }
    if is_first_store {
        hashed.second |= second::C;
    }
    let [.., r, c] = hashed.second.to_be_bytes();
    [
        is_first.then_some((hashed.place + R_BYTE, r)),
        is_first_store.then_some((hashed.place + C_BYTE, c)),
    ]
}
