//! What the core costs: the tables `[timing.core]`, `[timing.latency]`, `[timing.special]` and
//! `[timing.wake]` of `machines/*.toml`.

use serde::{Deserialize, Serialize};

use crate::quantity::{DescriptionError, error, parameters};

/// Cycles that units which stay busy are told apart for: no window of operations may keep one of them for longer.
pub(super) const ENGINE_CYCLES: usize = 16_384;

parameters! {
    /// Widths, windows and the front end.
    pub struct CoreParameters / CoreFile in "timing.core" {
        /// Operations that are dispatched in a cycle.
        dispatch_width: "operations",
        /// Of them, branches.
        dispatch_branches: "operations",
        /// Operations that a pair of threads dispatches in a cycle in SMT4.
        dispatch_width_pair: "operations",
        /// Operations in flight with one thread; half of it with two, a quarter with four.
        window: "operations",
        /// Operations other than branches that were dispatched and have not issued, of all threads.
        issue_queue: "operations",
        /// How many threads share a part of it in SMT4.
        issue_queue_threads: "threads",
        /// Branches that were dispatched and have not issued, of all threads.
        branch_queue: "operations",
        /// Bytes of an aligned block of instructions, which is fetched in a cycle.
        fetch_block: "bytes",
        /// Bytes of an aligned block of data: a load that crosses its end takes longer.
        load_block: "bytes",
        /// Instructions fetched and not yet dispatched, with one thread; divided like the window.
        instruction_buffer: "instructions",
        /// Execution slices.
        slices: "operations",
        /// Address generators.
        address_generators: "operations",
        /// Slices, with their address generators and queues, that a pair of threads has in SMT4.
        slices_pair: "operations",
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
        quad_multiply_busy: "cycles",
        /// The same after a quad-precision quotient or root.
        quad_divide_busy: "cycles",
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
        taken_branch: "cycles",
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
    /// From issue to the use of the result.
    pub struct LatencyParameters / LatencyFile in "timing.latency" {
        /// Simple fixed-point.
        fixed: "cycles",
        /// Counting bits.
        count: "cycles",
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
        quad: "cycles",
        /// Quad-precision product, and conversions of decimal integers.
        quad_multiply: "cycles",
        /// Quad-precision quotient and root.
        quad_divide: "cycles",
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
    /// From what wakes a thread to its first instruction, by what its `stop` reached.
    pub struct WakeParameters / WakeFile in "timing.wake" {
        /// PSSCR\[ESL, EC\]=0: nothing was given up.
        lite: "ns",
        /// Level 0 with state loss.
        level_0: "ns",
        /// Level 1.
        level_1: "ns",
        /// Level 2 and 3.
        level_2: "ns",
        /// From level 4 on.
        deep: "ns",
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
    /// `[timing.latency]`.
    pub latency: LatencyParameters,
    /// `[timing.special]`.
    pub special: SpecialParameters,
    /// `[timing.wake]`.
    pub wake: WakeParameters,
}

impl CoreParameters {
    /// Checks that a core can be made of it.
    ///
    /// # Errors
    /// [`DescriptionError`] that names the key.
    pub fn check(&self) -> Result<(), DescriptionError> {
        let ranges = [
            ("dispatch_width", self.dispatch_width, 1..=16),
            ("dispatch_branches", self.dispatch_branches, 1..=16),
            ("dispatch_width_pair", self.dispatch_width_pair, 1..=16),
            ("window", self.window, 32..=4096),
            ("issue_queue", self.issue_queue, 8..=4096),
            ("issue_queue_threads", self.issue_queue_threads, 1..=4),
            ("branch_queue", self.branch_queue, 1..=4096),
            ("slices_pair", self.slices_pair, 2..=16),
            ("instruction_buffer", self.instruction_buffer, 32..=4096),
            ("slices", self.slices, 2..=16),
            ("address_generators", self.address_generators, 2..=16),
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
        for (name, value, range) in ranges {
            if !range.contains(&value) {
                let (low, high) = (range.start(), range.end());
                return Err(error(format!(
                    "timing.core.{name} = {value} is out of range; it must be {low} to {high}"
                )));
            }
        }
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
