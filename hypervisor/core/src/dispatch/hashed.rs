//! A vCPU's calls of its partition's hashed page table: the partition is not locked.

use arch::papr::Hypercall;

use crate::hal::Hal;
use crate::hypercall::{HashAnswer, WORDS, of_hash_table};

use super::Running;

impl<H: Hal> Running<'_, H> {
    /// Answers a call of the hashed page table with the arguments r4 to r11: the status, and r4 to r11. `None` if the
    /// partition has no such table.
    pub fn hash_hypercall(&self, call: Hypercall, arguments: [u64; WORDS]) -> Option<HashAnswer> {
        let (partition, _) = self.place;
        let table = self.system.hash_table(partition)?;
        let given = self.system.given(partition);
        Some(of_hash_table(table, given, self.system.hal, call, arguments))
    }
}
