//! Whether a vCPU may go on as it does: the state that it left with, and the state that it enters with.

mod delivery;

use arch::interrupt::Vector;
use arch::papr::Hypercall;
use arch::processor::Processor;
use arch::registers::spr::Spr;
use arch::registers::{lpcr, monitor, msr};

use super::policy::{Row, Rule, STATUSES, outputs, rows};
use super::register::Register;
use crate::interrupt::STATUS_BITS;
use delivery::{arrival, describes, is_never_relocated, may_deliver, vector_at};

/// Ticks of the time base by which two readings of the time may disagree: the hypervisor reads the time
/// and a timer one after the other, and threads are up to a quantum of 1000 cycles apart, which is 136 ticks.
const SKEW_TICKS: u64 = 160;
/// Ticks by which a decrementer may expire later than it would have: half a microsecond of a 512 MHz time base. The
/// hypervisor has read the time before it waits for a lock that other threads want too.
const LATE_TICKS: i64 = 256;
/// More instructions than a thread completes in a tick: 8 cycles of up to 6 instructions.
const INSTRUCTIONS_PER_TICK: u64 = 48;
/// What an alert changes of MMCR0: it frees the counters that wait for it, or freezes all.
const ALERT: u64 = monitor::PMAE | monitor::PMAO | monitor::FC | monitor::TRIGGER;

/// A vCPU that has left the processor.
#[derive(Clone, Debug)]
pub(super) struct Left {
    /// The number of the exit.
    pub(super) number: u64,
    /// Its registers by row. Next instruction and MSR are those with which it has to go on.
    pub(super) values: Vec<u64>,
    /// Why it left.
    pub(super) vector: Vector,
    /// The number of the hypercall that it made.
    pub(super) call: Option<u64>,
    /// It wanted to `stop`, and may go on behind that: the hypervisor may have let it wait instead.
    pub(super) is_stop: bool,
    /// It wanted something of privileged doorbells, and may go on behind that: the hypervisor may have done it instead.
    pub(super) is_doorbell: bool,
    /// It goes on in front of its hypercall, with what it called with.
    pub(super) is_made_again: bool,
    /// On which thread.
    pub(super) thread: usize,
}

impl Left {
    /// A call of the hashed page table may find that something has to be done before, with nobody in the partition; and
    /// the table may be another one then.
    fn may_be_made_again(&self) -> bool {
        self.call.and_then(Hypercall::of_hash_table).is_some() || self.is_resize()
    }

    fn is_resize(&self) -> bool {
        self.call == Some(Hypercall::ResizeHptCommit as u64)
    }
}

/// A vCPU that enters.
#[derive(Debug)]
pub(super) struct Entry {
    /// Its registers by row.
    pub(super) values: Vec<u64>,
    /// Which of them the partition can see.
    pub(super) is_visible: Vec<bool>,
    /// The thread's LPCR.
    pub(super) lpcr: u64,
    /// Values that only the hypervisor knows.
    pub(super) secrets: Vec<u64>,
}

/// Judges entries by the rules.
#[derive(Clone, Debug)]
pub(super) struct Judge {
    processor: Processor,
    pub(super) rows: Vec<Row>,
    pc: usize,
    msr: usize,
    mmcr0: usize,
    timebase: usize,
    /// The first argument of a hypercall.
    argument: usize,
}

impl Judge {
    pub(super) fn new(processor: Processor) -> Self {
        let rows = rows(processor);
        let place = |register| {
            rows.iter().position(|row| row.register == register).expect("the policy has it")
        };
        let (pc, msr) = (place(Register::Pc), place(Register::Msr));
        let mmcr0 = place(Register::Spr(Spr::Mmcr0));
        let timebase = place(Register::Spr(Spr::Tb));
        let argument = place(Register::Gpr(4));
        Self { processor, pc, msr, mmcr0, timebase, argument, rows }
    }

    /// Makes next instruction and MSR what the interrupt has saved.
    pub(super) fn set_context(&self, values: &mut [u64], pc: u64, msr: u64) {
        (values[self.pc], values[self.msr]) = (pc, msr);
    }

    /// Sets what a vCPU that starts cannot see to what it has to be when it can.
    pub(super) fn set_invisible(&self, entry: &mut Entry) {
        let rows = self.rows.iter().zip(entry.values.iter_mut()).zip(&entry.is_visible);
        for ((row, value), _) in rows.filter(|(_, is_visible)| !**is_visible) {
            *value = row.register.reset(self.processor);
        }
    }

    /// The rows in which `entry` is not what `left` may go on with.
    pub(super) fn differences(&self, left: &Left, entry: &Entry) -> Vec<usize> {
        let again = self.differences_from(left, entry);
        let goes_on_behind = left.is_stop || left.is_doorbell;
        let otherwise = if goes_on_behind { 4 } else { -4 };
        if again.is_empty() || !goes_on_behind && !left.may_be_made_again() {
            return again;
        }
        let mut other = Left { is_made_again: !goes_on_behind, ..left.clone() };
        other.values[self.pc] = other.values[self.pc].wrapping_add_signed(otherwise);
        let mut other = self.differences_from(&other, entry);
        // It may have read DPDES or TIR, of a core with one thread.
        let is_answer = |row: &usize| {
            matches!(self.rows[*row].register, Register::Gpr(_)) && entry.values[*row] <= 1
        };
        if left.is_doorbell && other.len() == 1 && is_answer(&other[0]) {
            other.clear();
        }
        if other.len() < again.len() { other } else { again }
    }

    fn differences_from(&self, left: &Left, entry: &Entry) -> Vec<usize> {
        let delivered = self.delivered(left, entry);
        let wrong =
            |row: &usize| entry.is_visible[*row] && !self.may_be(*row, left, entry, delivered);
        (0..self.rows.len()).filter(wrong).collect()
    }

    /// The interrupt that the hypervisor has given to the vCPU meanwhile.
    pub(super) fn delivered(&self, left: &Left, entry: &Entry) -> Option<Vector> {
        let (from, to) = (left.values[self.pc], entry.values[self.pc]);
        let vector = vector_at(to, entry.lpcr, left.values[self.msr])?;
        (to != from).then_some(vector)
    }

    fn may_be(&self, row: usize, left: &Left, entry: &Entry, delivered: Option<Vector>) -> bool {
        let (was, is) = (left.values[row], entry.values[row]);
        let Row { register, hypercall, exit } = self.rows[row];
        if let Some(vector) = delivered {
            let (pc, msr) = (left.values[self.pc], left.values[self.msr]);
            let lpcr =
                if is_never_relocated(vector) { lpcr::AIL.set(entry.lpcr, 0) } else { entry.lpcr };
            match register {
                Register::Pc => return may_deliver(vector, left.vector, msr),
                Register::Msr => return is == arrival(lpcr, msr).1,
                Register::Spr(Spr::Srr0) => return is == pc,
                Register::Spr(Spr::Srr1) => return (is ^ msr) & !STATUS_BITS == 0,
                Register::Spr(Spr::Dar | Spr::Dsisr) if describes(vector) => return true,
                _ => {}
            }
        }
        let is_set =
            register == Register::Spr(Spr::Sprg0) && left.call == Some(Hypercall::SetSprg0 as u64);
        if is_set {
            return is == left.values[self.argument];
        }
        let elapsed = entry.values[self.timebase].saturating_sub(left.values[self.timebase]);
        let apart = is.wrapping_sub(was);
        let is_spent = is == 0 || is == was;
        match if left.vector == Vector::SystemCall { hypercall } else { exit } {
            Rule::Kept => is == was,
            // The ninth argument.
            Rule::Spent if left.is_made_again && register == Register::Gpr(12) => {
                is == was || is == 0 && left.call != Some(Hypercall::BlockRemove as u64)
            }
            Rule::Spent => is_spent,
            Rule::Segment => is == was || is == 0 && entry.lpcr & lpcr::HR != 0,
            // The eighth argument, which is one of the other calls.
            Rule::Output(_) if left.is_resize() && register == Register::Gpr(11) => is_spent,
            Rule::Status | Rule::Output(_) if left.is_made_again => is == was,
            Rule::Status => STATUSES.contains(&(is as i64)),
            Rule::Output(number) => {
                let has_output = left.call.is_some_and(|call| number < outputs(call));
                let is_answer = || self.is_answer_of_block(left, number, is);
                is_spent || has_output && (is_answer() || !is_hypervisors(is, &entry.secrets))
            }
            Rule::Counts => apart <= elapsed + SKEW_TICKS,
            Rule::Completes => apart <= (elapsed + SKEW_TICKS) * INSTRUCTIONS_PER_TICK,
            Rule::Monitors => {
                let most = (elapsed + SKEW_TICKS) * INSTRUCTIONS_PER_TICK;
                is == was || may_count(left.values[self.mmcr0]) && u64::from(apart as u32) <= most
            }
            Rule::Alerts => is == was || may_alert(was) && (is ^ was) & !ALERT == 0,
            Rule::Sampled => {
                let (before, now) = (left.values[self.mmcr0], entry.values[self.mmcr0]);
                is == was || is == 0 && may_alert(before) && now & monitor::PMAO != 0
            }
            Rule::Time => apart as i64 >= -(SKEW_TICKS as i64),
            Rule::Expires => {
                // It may have counted past its most negative value meanwhile.
                let is_large = entry.lpcr & lpcr::LD != 0;
                let bits = if is_large { self.processor.facts().decrementer_bits } else { 32 };
                let apart = (apart << (64 - bits)) as i64 >> (64 - bits);
                (-(SKEW_TICKS as i64)..=LATE_TICKS).contains(&apart)
            }
            Rule::Machine | Rule::Undefined => true,
        }
    }

    /// Whether an output of H_BLOCK_REMOVE is a code in its first byte, and behind it what the request has, one
    /// register further on: such a word may look like an address of the hypervisor's.
    fn is_answer_of_block(&self, left: &Left, number: u8, is: u64) -> bool {
        const CODE: u64 = 0xFF << 56;
        let request = Register::Gpr(5 + number);
        let place = self.rows.iter().position(|row| row.register == request);
        let asked = place.map(|place| left.values[place]);
        left.call == Some(Hypercall::BlockRemove as u64)
            && asked.is_some_and(|asked| (is ^ asked) & !CODE == 0)
    }

    /// The rows in which `entry` is not what a vCPU may start with: PAPR gives it an address, real mode and
    /// arguments from r3 on; everything else shows nothing.
    pub(super) fn differences_from_start(&self, entry: &Entry) -> Vec<usize> {
        let wrong = |row: &usize| entry.is_visible[*row] && !self.may_start(*row, entry);
        (0..self.rows.len()).filter(wrong).collect()
    }

    fn may_start(&self, row: usize, entry: &Entry) -> bool {
        let is = entry.values[row];
        let Row { register, exit, .. } = self.rows[row];
        match register {
            Register::Msr => is == msr::SF | msr::ME,
            Register::Pc => true,
            Register::Gpr(3..=5) => !is_hypervisors(is, &entry.secrets),
            Register::Spr(Spr::Ctrl | Spr::Ppr | Spr::Mmcr0) => {
                is == 0 || is == register.reset(self.processor)
            }
            _ => {
                !matches!(
                    exit,
                    Rule::Kept
                        | Rule::Spent
                        | Rule::Monitors
                        | Rule::Alerts
                        | Rule::Sampled
                        | Rule::Segment
                ) || is == 0
            }
        }
    }
}

/// Whether a partition with this MMCR0 has counters that are not frozen.
fn may_count(mmcr0: u64) -> bool {
    mmcr0 & monitor::FC == 0 || monitor::PMCC.get(mmcr0) == monitor::OUTSIDE
}

/// Whether a partition with this MMCR0 may have an alert.
fn may_alert(mmcr0: u64) -> bool {
    may_count(mmcr0) && mmcr0 & monitor::PMAE != 0
}

/// Whether a value can only be the hypervisor's: an address of its own, which lie in quadrant 3, or one of
/// the values of its registers that say something.
fn is_hypervisors(value: u64, secrets: &[u64]) -> bool {
    const QUADRANT_3: u64 = 0xC000_0000_0000_0000;
    const SPACE_BYTES: u64 = 1 << 52;
    (QUADRANT_3..QUADRANT_3 + SPACE_BYTES).contains(&value) || secrets.contains(&value)
}

#[cfg(test)]
mod tests;
