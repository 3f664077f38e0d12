//! A vCPU's calls of its partition's hashed page table: the partition is not locked.

use alloc::boxed::Box;

use arch::papr::Hypercall;
use arch::papr::hashed::BLOCK;
use arch::papr::status::H_FUNCTION;

use crate::hal::Hal;
use crate::hash_table::HashTable;
use crate::hypercall::{
    HashAnswer, WORDS, block_divides_first, divides_first, of_block, of_hash_table,
};
use crate::life::outcome::Departure;
use crate::partition::Partition;
use crate::vcpu::Vcpu;

use super::{Enter, Running};

impl<'a, H: Hal> Running<'a, H> {
    /// The hashed page table of the vCPU's partition, if it has one.
    #[inline(always)]
    #[must_use]
    pub fn hash_table(&self) -> Option<&'a HashTable> {
        self.system.hash_table(self.place.0)
    }

    /// Whether a call of that table has to wait until the pages of a large block have their own size: the vCPU leaves
    /// then, and makes it again.
    #[inline(always)]
    pub fn waits_for_pages(
        &mut self,
        table: &HashTable,
        call: Hypercall,
        arguments: &[u64; WORDS],
    ) -> bool {
        table.has_large()
            && divides_first::<H>(table, call, arguments)
            && self.makes_again(call, arguments, 0)
    }

    /// The same of H_BLOCK_REMOVE with the arguments r4 to r12.
    pub fn block_waits_for_pages(
        &mut self,
        table: &HashTable,
        arguments: [u64; 1 + BLOCK],
    ) -> bool {
        let [first @ .., ninth] = arguments;
        table.has_large()
            && block_divides_first::<H>(table, arguments)
            && self.makes_again(Hypercall::BlockRemove, &first, ninth)
    }

    #[cold]
    fn makes_again(&mut self, call: Hypercall, arguments: &[u64; WORDS], ninth: u64) -> bool {
        let [a1, a2, a3, a4, a5, a6, a7, a8] = *arguments;
        let again = Box::new([call as u64, a1, a2, a3, a4, a5, a6, a7, a8, ninth]);
        self.registers.answer([0; 3]);
        self.departure = Some(Departure::Retries(again));
        true
    }

    /// Makes the vCPU leave with a call of the hashed page table, which the dispatcher answers.
    pub fn leaves_with(&mut self, call: Hypercall, arguments: [u64; WORDS], ninth: u64) {
        self.registers.gpr[3] = call as u64;
        self.registers.gpr[4..12].copy_from_slice(&arguments);
        self.registers.gpr[12] = ninth;
        self.departure = Some(Departure::CallsTable);
    }

    /// Answers it.
    #[cold]
    pub(super) fn answer_of_table(&mut self) {
        let words: &[u64; WORDS + 1] =
            self.registers.gpr[3..].first_chunk().expect("a call's number and arguments");
        let [number, arguments @ ..] = *words;
        let ninth = self.registers.gpr[12];
        let [a1, a2, a3, a4, a5, a6, a7, a8] = arguments;
        let (status, outputs) = match (self.hash_table(), Hypercall::of_hash_table(number)) {
            (Some(table), Some(Hypercall::BlockRemove)) => {
                self.remove_block(table, [a1, a2, a3, a4, a5, a6, a7, a8, ninth])
            }
            (Some(table), Some(call)) => self.hash_hypercall(table, call, arguments),
            _ => (H_FUNCTION, [0; WORDS]),
        };
        self.registers.answer([0; 3]);
        self.registers.gpr[3] = status as u64;
        self.registers.gpr[4..12].copy_from_slice(&outputs);
    }

    /// Answers H_BLOCK_REMOVE with the arguments r4 to r12, as [`Running::hash_hypercall`] others.
    pub fn remove_block(&self, table: &HashTable, arguments: [u64; 1 + BLOCK]) -> HashAnswer {
        of_block(table, self.system.hal, arguments)
    }

    /// Answers another call of the partition's hashed page table with the arguments r4 to r11: the status, and r4 to
    /// r11.
    pub fn hash_hypercall(
        &self,
        table: &HashTable,
        call: Hypercall,
        arguments: [u64; WORDS],
    ) -> HashAnswer {
        let given = self.system.given(self.place.0);
        of_hash_table(table, given, self.system.hal, call, arguments)
    }
}

impl<H: Enter> Running<'_, H> {
    /// Whether the partition's hashed page table is to be looked at for superpages before the vCPU enters.
    pub(super) fn has_to_look(&self, partition: &Partition<H>) -> bool {
        let next = partition.memory.hash_table().and_then(HashTable::next_look);
        next.is_some_and(|time| time <= self.left)
    }

    /// Looks at it. If a block is to change its size, all vCPUs of the partition have to be outside: those that are in
    /// it are called back, and none enters before.
    pub(super) fn look(&mut self, partition: &mut Partition<H>) -> Departure {
        let hal = self.system.hal;
        self.system.schedule.lock().pay_entry(self.thread, self.id, hal.timebase());
        let is_alone = partition.inside == 0;
        let table = partition.memory.hash_table().expect("a table that has to be looked at");
        if table.look(hal, self.left, is_alone) && !is_alone {
            let others = partition.vcpus.iter().filter_map(Vcpu::thread);
            others.filter(|thread| *thread != self.thread).for_each(|thread| hal.ring(thread));
        }
        self.was_not_entered();
        Departure::Changed
    }
}
