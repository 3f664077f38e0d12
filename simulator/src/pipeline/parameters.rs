//! What the core costs: the tables `[timing.core]`, `[timing.latency]`, `[timing.special]` and
//! `[timing.wake]` of `machines/*.toml`.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::quantity::{DescriptionError, error, parameters};

/// Cycles that units which stay busy are told apart for: no window of operations may keep one of them for longer.
pub(super) const ENGINE_CYCLES: usize = 16_384;

parameters! {
    /// Widths, windows and the front end.
    pub struct CoreParameters / CoreFile in "timing.core" {
        /// Operations that are dispatched in a cycle.
        dispatch_width: [Slices] "operations",
        /// Of them, branches.
        dispatch_branches: [Slices] "operations",
        /// Operations that a pair of threads dispatches in a cycle in SMT4.
        dispatch_width_pair: [Slices] "operations",
        /// Operations in flight with one thread; half of it with two, a quarter with four.
        window: [Slices] "operations",
        /// Operations other than branches that were dispatched and have not issued, of all threads.
        issue_queue: "operations",
        /// How many threads share a part of it in SMT4.
        issue_queue_threads: [Slices] "threads",
        /// Branches that were dispatched and have not issued, of all threads.
        branch_queue: "operations",
        /// Bytes of an aligned block of instructions, which is fetched in a cycle.
        fetch_block: "bytes",
        /// Bytes of an aligned block of data: a load that crosses its end takes longer.
        load_block: "bytes",
        /// Instructions fetched and not yet dispatched, with one thread; divided like the window.
        instruction_buffer: "instructions",
        /// Execution slices.
        slices: [Slices] "operations",
        /// Address generators.
        address_generators: [Slices] "operations",
        /// Slices, with their address generators and queues, that a pair of threads has in SMT4.
        slices_pair: [Slices] "operations",
        /// Branch units.
        branch_units: "operations",
        /// Fixed-point dividers.
        dividers: "operations",
        /// How long a divider is busy with one quotient.
        divider_busy: "cycles",
        /// How long a slice begins no other floating-point quotient or root after `fdivs`.
        floating_divide_single_busy: "cycles",
        /// The same after `fdiv`.
        floating_divide_busy: "cycles",
        /// The same after `fsqrts`.
        floating_root_single_busy: "cycles",
        /// The same after `fsqrt`.
        floating_root_busy: "cycles",
        /// The same of a superslice after a vector's quotient or root.
        vector_divide_busy: "cycles",
        /// How long the decimal unit begins nothing else after a decimal floating-point operation.
        decimal_busy: "cycles",
        /// The same after a quad-precision product.
        quad_multiply_busy: [Quad] "cycles",
        /// The same after a quad-precision quotient or root.
        quad_divide_busy: [Quad] "cycles",
        /// Loads in flight, divided like the window.
        load_queue: "operations",
        /// Stores that have not drained, divided like the window.
        store_queue: "operations",
        /// Load misses outstanding, shared by the threads.
        miss_queue: "operations",
        /// Return addresses that are predicted, with one thread; divided like the window.
        link_stack: "entries",
        /// Entries of each table that predicts directions.
        direction_entries: "entries",
        /// Entries of the table that predicts the targets of indirect branches.
        indirect_entries: "entries",
        /// The most operations that an instruction is cracked into without microcode.
        cracked: "operations",
        /// Lost at dispatch by an instruction of more operations.
        microcode: "cycles",
        /// From the fetch of a taken branch to that of its target, one thread.
        taken_branch: [TargetTable] "cycles",
        /// The same with several threads.
        taken_branch_shared: "cycles",
        /// The same of a return, whose target the link stack has.
        taken_return: "cycles",
        /// From the execution of a mispredicted branch to the dispatch of the right path.
        mispredict: "cycles",
        /// A thread of very low priority has a dispatch slot once in so many cycles.
        very_low_priority: "cycles",
        /// How much one level of priority multiplies a thread's share of the dispatch slots by.
        priority_weight: "ratio",
        /// A change of the core's SMT mode.
        mode_change: "cycles",
    }
}

parameters! {
    /// Groups of instructions, and pipes of several kinds.
    pub struct GroupParameters / GroupFile in "timing.groups" {
        /// Operations of a group with one thread, other than branches.
        operations: "operations",
        /// Branches of a group with one thread; the last of them ends it.
        branches: "operations",
        /// Operations of a group with several threads, of which two dispatch one each.
        operations_shared: "operations",
        /// Branches of such a group.
        branches_shared: "operations",
        /// Groups in flight with one thread; there are twice as many of those with several threads, for all.
        in_flight: "groups",
        /// Threads that share one part of what is divided, as much as one thread alone has.
        threads_whole: "threads",
        /// Pipes for any fixed-point operation.
        fixed_pipes: "operations",
        /// Pipes for loads, stores and simple fixed-point operations.
        store_pipes: "operations",
        /// Pipes for loads, stores' data and simple fixed-point operations.
        load_pipes: "operations",
        /// Pipes for floating point and vectors.
        vector_pipes: "operations",
        /// A simple fixed-point operation in a pipe of loads or stores.
        simple_elsewhere: "cycles",
        /// From a simple fixed-point result to an address, beyond what others wait.
        to_address: "cycles",
        /// How long a fixed-point pipe is busy with a quotient of doublewords; the divider of words has its own key.
        divide_doubleword_busy: "cycles",
        /// Operations on condition fields that were dispatched and have not issued.
        condition_queue: "operations",
    }
}

parameters! {
    /// From issue to the use of the result.
    pub struct LatencyParameters / LatencyFile in "timing.latency" {
        /// Simple fixed-point.
        fixed: "cycles",
        /// Counting bits.
        count: "cycles",
        /// A condition that a fixed-point operation makes, where it takes its own time.
        compare: [Groups] "cycles",
        /// Product.
        multiply: "cycles",
        /// Quotient of words.
        divide_word: "cycles",
        /// Quotient of doublewords.
        divide_doubleword: "cycles",
        /// Extended quotient of doublewords.
        divide_extended: "cycles",
        /// XER\[CA\], to the next instruction that uses it.
        carry: "cycles",
        /// CR logic, and moves to CR.
        condition: "cycles",
        /// `mfocrf`, `mcrxrx`.
        field_read: "cycles",
        /// `mfcr`.
        condition_read: "cycles",
        /// From a CR result to a branch, beyond what another instruction waits.
        condition_to_branch: "cycles",
        /// Moves to LR, CTR, TAR and XER.
        renamed_write: "cycles",
        /// Moves from LR, CTR and TAR.
        renamed_read: "cycles",
        /// Moves from XER.
        xer_read: "cycles",
        /// A branch.
        branch: "cycles",
        /// Floating-point sum, product, multiply-add, conversion.
        floating: "cycles",
        /// `fmr`, and what changes the sign alone.
        floating_move: "cycles",
        /// `fdivs`.
        floating_divide_single: "cycles",
        /// `fdiv`.
        floating_divide: "cycles",
        /// `fsqrts`.
        floating_root_single: "cycles",
        /// `fsqrt`.
        floating_root: "cycles",
        /// Decimal floating point, in the one unit of its kind.
        decimal: "cycles",
        /// Vector logic, moves, sign extension.
        vector_logical: "cycles",
        /// Simple vector arithmetic, vector comparisons.
        vector_simple: "cycles",
        /// Vector permutation.
        vector_permute: "cycles",
        /// Vector floating point.
        vector_floating: "cycles",
        /// Vector products and sums across elements.
        vector_complex: "cycles",
        /// Vector quotient of singles.
        vector_divide_single: "cycles",
        /// Vector quotient of doubles.
        vector_divide: "cycles",
        /// Ciphers, hashes and carry-less products.
        crypto: "cycles",
        /// Quad-precision sums and conversions.
        quad: [Quad] "cycles",
        /// Quad-precision product, and conversions of decimal integers.
        quad_multiply: [Quad] "cycles",
        /// Quad-precision quotient and root.
        quad_divide: [Quad] "cycles",
        /// A move between a GPR and a VSR.
        vector_move: "cycles",
        /// A move to or from VSCR.
        vector_status: "cycles",
        /// A load that extends the sign, beyond another load.
        load_algebraic: "cycles",
        /// A load of a single into an FPR, beyond a load into a GPR.
        load_single: "cycles",
        /// A load of a double into an FPR, beyond a load into a GPR.
        load_double: "cycles",
        /// A load into a whole VSR, beyond a load into a GPR.
        load_vector: "cycles",
        /// An access that crosses a 32-byte boundary.
        crossing: "cycles",
        /// A store until it may complete.
        store: "cycles",
        /// From a store's data in the queue to the use of the load that they are forwarded to.
        forward: "cycles",
        /// From a store's data to the queue, from where loads can have them.
        store_data: "cycles",
        /// From the drain of a store that could not be forwarded to the use of the load.
        forward_failed: "cycles",
    }
}

parameters! {
    /// Registers that are not renamed, barriers, and flushes.
    pub struct SpecialParameters / SpecialFile in "timing.special" {
        /// Reading a register that is not renamed.
        spr_read: "cycles",
        /// Writing one.
        spr_write: "cycles",
        /// Reading CFAR.
        cfar_read: "cycles",
        /// Writing HDSISR.
        hdsisr_write: "cycles",
        /// How long after the completion of a write a read waits.
        scoreboard: "cycles",
        /// Reading a register that counts time.
        time_base: "cycles",
        /// `mtmsrd` with L=1.
        msr_enable: "cycles",
        /// `mtmsr`, `mtmsrd` with L=0.
        msr_write: "cycles",
        /// Writing a register that changes the context.
        context_write: "cycles",
        /// `isync` behind an operation that altered the context.
        isync: "cycles",
        /// `hwsync`, beyond the stores that it waits for.
        hwsync: "cycles",
        /// `lwsync`.
        lwsync: "cycles",
        /// `eieio`.
        eieio: "cycles",
        /// `ptesync`, beyond the stores that it waits for.
        ptesync: "cycles",
        /// `tlbsync` with no `tlbie` outstanding.
        tlbsync: "cycles",
        /// `tlbiel`, and `tlbie` in its own core.
        tlbiel: "cycles",
        /// How long the broadcast of a `tlbie` is outstanding.
        tlbie_broadcast: "cycles",
        /// How long it keeps other broadcasts from beginning, for each chip of the machine.
        tlbie_service: "cycles",
        /// `larx` and `stcx.`, beyond a load and a store.
        reservation: "cycles",
        /// An SLB instruction.
        segment: "cycles",
        /// Cache management, messages, transactions that fail, `darn`.
        management: "cycles",
        /// `mtspr` of TRIG2, which empties the L1 data cache.
        data_flush: "cycles",
        /// `bcctr 2,0,0`, which empties the count cache.
        target_flush: "cycles",
        /// `ori 31,31,0`.
        speculation_barrier: "cycles",
        /// Taking an interrupt, and returning from it by `rfid`, `hrfid` or `rfscv`, together.
        interrupt_and_return: "cycles",
        /// Of it, taking the interrupt.
        interrupt: "cycles",
    }
}

parameters! {
    /// From what wakes a thread to its first instruction, by what its power saving reached.
    pub struct WakeParameters / WakeFile in "timing.wake" {
        /// PSSCR\[ESL, EC\]=0: nothing was given up.
        lite: [Stop] "ns",
        /// Level 0 with state loss.
        level_0: [Stop] "ns",
        /// Level 1.
        level_1: [Stop] "ns",
        /// Level 2 and 3.
        level_2: [Stop] "ns",
        /// From level 4 on.
        deep: [Stop] "ns",
        /// After `doze`.
        doze: [Nap] "ns",
        /// After `nap`.
        nap: [Nap] "ns",
        /// After `sleep`.
        sleep: [Nap] "ns",
        /// After `rvwinkle`.
        winkle: [Nap] "ns",
    }
}

impl SpecialParameters {
    /// A return from an interrupt, cycles.
    #[must_use]
    pub fn return_from_interrupt(&self) -> u64 {
        self.interrupt_and_return.saturating_sub(self.interrupt)
    }
}

/// All of it, as a run takes it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Parameters {
    /// `[timing.core]`.
    pub core: CoreParameters,
    /// `[timing.groups]`.
    pub groups: GroupParameters,
    /// `[timing.latency]`.
    pub latency: LatencyParameters,
    /// `[timing.special]`.
    pub special: SpecialParameters,
    /// `[timing.wake]`.
    pub wake: WakeParameters,
}

impl Parameters {
    /// Whether instructions are dispatched in groups.
    #[inline]
    #[must_use]
    pub fn has_groups(&self) -> bool {
        self.groups.in_flight > 0
    }

    /// Checks that a core can be made of it.
    ///
    /// # Errors
    /// [`DescriptionError`] that names the key.
    pub fn check(&self) -> Result<(), DescriptionError> {
        self.core.check(self.has_groups())
    }
}

/// Checks that values are in their ranges.
fn in_ranges(
    table: &str,
    ranges: impl IntoIterator<Item = (&'static str, u64, RangeInclusive<u64>)>,
) -> Result<(), DescriptionError> {
    for (name, value, range) in ranges {
        if !range.contains(&value) {
            let (low, high) = (range.start(), range.end());
            return Err(error(format!(
                "{table}.{name} = {value} is out of range; it must be {low} to {high}"
            )));
        }
    }
    Ok(())
}

impl GroupParameters {
    /// Operations in flight at most, in groups that are full.
    #[must_use]
    pub fn window(&self) -> u64 {
        self.in_flight * (self.operations + self.branches)
    }

    /// Checks that values are in their ranges.
    ///
    /// # Errors
    /// [`DescriptionError`] that names the key.
    pub fn check(&self) -> Result<(), DescriptionError> {
        let pipes = 2..=8;
        in_ranges(
            "timing.groups",
            [
                ("operations", self.operations, 4..=16),
                ("branches", self.branches, 1..=4),
                ("operations_shared", self.operations_shared, 3..=16),
                ("branches_shared", self.branches_shared, 1..=4),
                ("in_flight", self.in_flight, 8..=256),
                ("threads_whole", self.threads_whole, 1..=8),
                ("fixed_pipes", self.fixed_pipes, pipes.clone()),
                ("store_pipes", self.store_pipes, pipes.clone()),
                ("load_pipes", self.load_pipes, pipes.clone()),
                ("vector_pipes", self.vector_pipes, pipes),
                ("condition_queue", self.condition_queue, 1..=256),
            ],
        )
    }
}

impl CoreParameters {
    /// Checks that a core can be made of it, which dispatches groups or does not.
    fn check(&self, has_groups: bool) -> Result<(), DescriptionError> {
        let of_slices = [
            ("dispatch_width", self.dispatch_width, 1..=16),
            ("dispatch_branches", self.dispatch_branches, 1..=16),
            ("dispatch_width_pair", self.dispatch_width_pair, 1..=16),
            ("issue_queue_threads", self.issue_queue_threads, 1..=4),
            ("slices_pair", self.slices_pair, 2..=16),
            ("slices", self.slices, 2..=16),
            ("address_generators", self.address_generators, 2..=16),
        ];
        let ranges = [
            ("window", self.window, 32..=4096),
            ("issue_queue", self.issue_queue, 8..=4096),
            ("branch_queue", self.branch_queue, 1..=4096),
            ("instruction_buffer", self.instruction_buffer, 32..=4096),
            ("branch_units", self.branch_units, 1..=15),
            ("dividers", self.dividers, 2..=16),
            ("load_queue", self.load_queue, 4..=4096),
            ("store_queue", self.store_queue, 4..=4096),
            ("miss_queue", self.miss_queue, 1..=256),
            ("link_stack", self.link_stack, 4..=4096),
            ("direction_entries", self.direction_entries, 1..=1 << 20),
            ("indirect_entries", self.indirect_entries, 1..=1 << 20),
            ("fetch_block", self.fetch_block, 16..=128),
            ("load_block", self.load_block, 16..=128),
            ("very_low_priority", self.very_low_priority, 1..=1_000_000),
            ("priority_weight", self.priority_weight, 1..=16),
        ];
        let of_slices = of_slices.into_iter().filter(|_| !has_groups);
        in_ranges("timing.core", of_slices.chain(ranges))?;
        let longest = ENGINE_CYCLES as u64 / self.window;
        let busy = [
            ("divider_busy", self.divider_busy),
            ("floating_divide_single_busy", self.floating_divide_single_busy),
            ("floating_divide_busy", self.floating_divide_busy),
            ("floating_root_single_busy", self.floating_root_single_busy),
            ("floating_root_busy", self.floating_root_busy),
            ("vector_divide_busy", self.vector_divide_busy),
            ("decimal_busy", self.decimal_busy),
            ("quad_multiply_busy", self.quad_multiply_busy),
            ("quad_divide_busy", self.quad_divide_busy),
        ];
        if let Some((name, cycles)) = busy.into_iter().find(|(_, cycles)| *cycles > longest) {
            return Err(error(format!(
                "timing.core.{name} = {cycles} is out of range; with a window of {} it must be {longest} at most",
                self.window
            )));
        }
        for (name, bytes) in [("fetch_block", self.fetch_block), ("load_block", self.load_block)] {
            if !bytes.is_power_of_two() {
                let text =
                    format!("timing.core.{name} = {bytes} is not a power of two; it must be");
                return Err(error(text));
            }
        }
        Ok(())
    }

    /// Instructions in a block that is fetched.
    #[must_use]
    pub fn block_instructions(&self) -> u64 {
        self.fetch_block / 4
    }
}
