//! Whether a vCPU may go on as it does: the state that it left with, and the state that it enters with.

use arch::interrupt::{AIL2_BASE, AIL3_BASE, Vector};
use arch::papr::Hypercall;
use arch::processor::Processor;
use arch::registers::spr::Spr;
use arch::registers::{lpcr, msr};

use super::policy::{Row, Rule, STATUSES, outputs, rows};
use super::register::Register;
use crate::interrupt::STATUS_BITS;

/// Ticks of the time base by which two readings of the time may disagree: the hypervisor reads the time
/// and a timer one after the other, and threads are up to a quantum of 1000 cycles apart, which is 136 ticks.
const SKEW_TICKS: u64 = 160;
/// More instructions than a thread completes in a tick: 8 cycles of up to 6 instructions.
const INSTRUCTIONS_PER_TICK: u64 = 48;

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
    /// On which thread.
    pub(super) thread: usize,
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
        let timebase = place(Register::Spr(Spr::Tb));
        let argument = place(Register::Gpr(4));
        Self { processor, pc, msr, timebase, argument, rows }
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
        let delivered = self.delivered(left, entry);
        let wrong =
            |row: &usize| entry.is_visible[*row] && !self.may_be(*row, left, entry, delivered);
        (0..self.rows.len()).filter(wrong).collect()
    }

    /// The interrupt that the hypervisor has given to the vCPU meanwhile.
    pub(super) fn delivered(&self, left: &Left, entry: &Entry) -> Option<Vector> {
        let (from, to) = (left.values[self.pc], entry.values[self.pc]);
        let at = |lpcr| {
            let (base, _) = arrival(lpcr, left.values[self.msr]);
            Vector::from_offset(to.wrapping_sub(base))
        };
        let unrelocated = at(0).filter(|vector| is_never_relocated(*vector));
        let vector = unrelocated.or_else(|| at(entry.lpcr))?;
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
            Rule::Spent => is_spent,
            Rule::Status => STATUSES.contains(&(is as i64)),
            Rule::Output(number) => {
                let has_output = left.call.is_some_and(|call| number < outputs(call));
                is_spent || has_output && !is_hypervisors(is, &entry.secrets)
            }
            Rule::Counts => apart <= elapsed + SKEW_TICKS,
            Rule::Completes => apart <= (elapsed + SKEW_TICKS) * INSTRUCTIONS_PER_TICK,
            Rule::Time => apart as i64 >= -(SKEW_TICKS as i64),
            Rule::Expires => {
                let is_large = entry.lpcr & lpcr::LD != 0;
                let apart = if is_large { apart as i64 } else { i64::from(apart as i32) };
                apart.unsigned_abs() <= SKEW_TICKS
            }
            Rule::Machine | Rule::Undefined => true,
        }
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
            Register::Spr(Spr::Ctrl | Spr::Ppr) => is == 0 || is == register.reset(self.processor),
            _ => !matches!(exit, Rule::Kept | Rule::Spent) || is == 0,
        }
    }
}

/// Where an interrupt of the partition arrives that interrupts `interrupted`, and with which MSR: Power
/// ISA 3.0B Book III, Interrupt Processing.
fn arrival(lpcr: u64, interrupted: u64) -> (u64, u64) {
    let relocation = msr::IR | msr::DR;
    let base = match lpcr::AIL.get(lpcr) {
        2 => AIL2_BASE,
        3 => AIL3_BASE,
        _ => 0,
    };
    let endian = if lpcr & lpcr::ILE != 0 { msr::LE } else { 0 };
    let msr = msr::SF | interrupted & msr::ME | endian;
    if base != 0 && interrupted & relocation == relocation {
        (base, msr | relocation)
    } else {
        (0, msr)
    }
}

/// Whether the interrupt arrives with relocation off whatever LPCR\[AIL\] says.
fn is_never_relocated(vector: Vector) -> bool {
    matches!(vector, Vector::SystemReset | Vector::MachineCheck)
}

/// Whether the hypervisor may give the partition `vector` after an exit with `exit`.
fn may_deliver(vector: Vector, exit: Vector, interrupted_msr: u64) -> bool {
    match vector {
        Vector::SystemReset | Vector::MachineCheck => true,
        Vector::External | Vector::Decrementer | Vector::DirectedPrivilegedDoorbell => {
            interrupted_msr & msr::EE != 0
        }
        Vector::Program => matches!(
            exit,
            Vector::HypervisorEmulationAssistance | Vector::HypervisorFacilityUnavailable
        ),
        Vector::FloatingPointUnavailable
        | Vector::VectorUnavailable
        | Vector::VsxUnavailable
        | Vector::FacilityUnavailable => exit == Vector::HypervisorFacilityUnavailable,
        Vector::DataStorage | Vector::DataSegment => exit == Vector::HypervisorDataStorage,
        Vector::InstructionStorage | Vector::InstructionSegment => {
            exit == Vector::HypervisorInstructionStorage
        }
        _ => false,
    }
}

/// Whether the interrupt writes DAR or DSISR.
fn describes(vector: Vector) -> bool {
    matches!(vector, Vector::MachineCheck | Vector::DataStorage | Vector::DataSegment)
}

/// Whether a value can only be the hypervisor's: an address of its own, which lie in quadrant 3, or one of
/// the values of its registers that say something.
fn is_hypervisors(value: u64, secrets: &[u64]) -> bool {
    const QUADRANT_3: u64 = 0xC000_0000_0000_0000;
    const SPACE_BYTES: u64 = 1 << 52;
    (QUADRANT_3..QUADRANT_3 + SPACE_BYTES).contains(&value) || secrets.contains(&value)
}

#[cfg(test)]
mod tests {
    use arch::interrupt::Vector;
    use arch::papr::Hypercall;
    use arch::processor::Processor;
    use arch::registers::spr::Spr;
    use arch::registers::{lpcr, msr};

    use super::{Entry, Judge, Left, SKEW_TICKS};
    use crate::oracle::register::Register;

    const GUEST: u64 = msr::SF | msr::ME;

    /// A vCPU that left and enters with the same: 0x1000 everywhere but in its MSR.
    struct Case(Judge, Left, Entry);

    impl Case {
        fn new(vector: Vector, msr: u64) -> Self {
            let judge = Judge::new(Processor::Power9);
            let mut values = vec![0x1000; judge.rows.len()];
            judge.set_context(&mut values, 0x1000, msr);
            let is_visible = vec![true; values.len()];
            let left = Left { number: 1, values: values.clone(), vector, call: None, thread: 0 };
            Self(judge, left, Entry { values, is_visible, lpcr: 0, secrets: vec![0x7777] })
        }

        fn call(call: Hypercall) -> Self {
            let mut case = Self::new(Vector::SystemCall, GUEST);
            case.1.call = Some(call as u64);
            case
        }

        fn with(mut self, register: Register, value: u64) -> Self {
            let row = self.0.rows.iter().position(|row| row.register == register).unwrap();
            self.2.values[row] = value;
            self
        }

        /// As if `vector` had been delivered by a processor.
        fn delivered(self, vector: Vector) -> Self {
            let interrupted = self.1.values[self.0.msr];
            self.with(Register::Pc, vector.offset())
                .with(Register::Msr, GUEST)
                .with(Register::Spr(Spr::Srr0), 0x1000)
                .with(Register::Spr(Spr::Srr1), interrupted)
        }

        fn wrong(&self) -> Vec<Register> {
            let wrong = self.0.differences(&self.1, &self.2);
            wrong.into_iter().map(|row| self.0.rows[row].register).collect()
        }
    }

    #[test]
    fn interrupts_are_given_only_where_a_processor_would() {
        let enabled = Case::new(Vector::HypervisorDecrementer, GUEST | msr::EE);
        assert_eq!(enabled.delivered(Vector::External).wrong(), []);
        let disabled = Case::new(Vector::HypervisorDecrementer, GUEST);
        assert_eq!(disabled.delivered(Vector::External).wrong(), [Register::Pc]);
        let refused = Case::new(Vector::HypervisorEmulationAssistance, GUEST);
        assert_eq!(refused.delivered(Vector::Program).wrong(), []);
        let fault = Case::new(Vector::HypervisorDataStorage, GUEST);
        assert_eq!(fault.delivered(Vector::Program).wrong(), [Register::Pc]);
    }

    #[test]
    fn an_interrupt_changes_what_it_saves_and_nothing_else() {
        let given = || {
            Case::new(Vector::HypervisorDecrementer, GUEST | msr::EE).delivered(Vector::External)
        };
        for register in [Register::Gpr(3), Register::Spr(Spr::Dar), Register::Spr(Spr::Srr0)] {
            assert_eq!(given().with(register, 0x2000).wrong(), [register]);
        }
        assert_eq!(given().with(Register::Msr, GUEST | msr::EE).wrong(), [Register::Msr]);
    }

    #[test]
    fn a_machine_check_arrives_without_relocation_and_tells_of_data() {
        const RELOCATED: u64 = GUEST | msr::IR | msr::DR;
        let mut given = Case::new(Vector::HypervisorDataStorage, RELOCATED)
            .delivered(Vector::MachineCheck)
            .with(Register::Spr(Spr::Dar), 0x2000);
        given.2.lpcr = lpcr::AIL.set(0, 3);
        assert_eq!(given.wrong(), []);
        assert_eq!(given.with(Register::Msr, RELOCATED).wrong(), [Register::Msr]);
    }

    #[test]
    fn a_call_sets_sprg0_to_its_argument_and_no_other_call_does() {
        let sprg0 = Register::Spr(Spr::Sprg0);
        let set = |call, value| Case::call(call).with(Register::Gpr(4), 0).with(sprg0, value);
        assert_eq!(set(Hypercall::SetSprg0, 0x1000).wrong(), []);
        assert_eq!(set(Hypercall::SetSprg0, 0x2000).wrong(), [sprg0]);
        assert_eq!(set(Hypercall::Cppr, 0x2000).wrong(), [sprg0]);
    }

    #[test]
    fn what_was_never_seen_has_to_be_as_after_a_reset() {
        let mut case = Case::new(Vector::HypervisorFacilityUnavailable, GUEST);
        case.2.is_visible.fill(false);
        case.0.set_invisible(&mut case.2);
        let row = |register| case.0.rows.iter().position(|row| row.register == register).unwrap();
        assert_eq!(case.2.values[row(Register::Vscr)], 0);
        assert_eq!(case.2.values[row(Register::Spr(Spr::Mmcr0))], 0x8000_0000);
    }

    #[test]
    fn what_a_hypercall_may_lose_is_zero_then() {
        let lost = || Case::call(Hypercall::Cppr).with(Register::Gpr(3), 0);
        assert_eq!(lost().with(Register::Gpr(12), 0).wrong(), []);
        assert_eq!(lost().with(Register::Gpr(12), 1).wrong(), [Register::Gpr(12)]);
        assert_eq!(lost().with(Register::Gpr(13), 0).wrong(), [Register::Gpr(13)]);
        assert_eq!(lost().with(Register::Gpr(3), 10_000).wrong(), [Register::Gpr(3)]);
    }

    #[test]
    fn an_output_is_only_where_the_call_has_one_and_never_the_hypervisors() {
        let output = |call, value| Case::call(call).with(Register::Gpr(4), value).wrong();
        assert_eq!(output(Hypercall::Random, 0x1234_5678_9ABC_DEF0), []);
        assert_eq!(output(Hypercall::Cppr, 0x1234_5678_9ABC_DEF0), [Register::Gpr(4)]);
        assert_eq!(output(Hypercall::Random, 0xC000_0000_0005_13D8), [Register::Gpr(4)]);
        assert_eq!(output(Hypercall::Random, 0x7777), [Register::Gpr(4)]);
    }

    #[test]
    fn time_passes_for_counters_and_not_for_the_decrementer() {
        let (timebase, purr) = (Register::Spr(Spr::Tb), Register::Spr(Spr::Purr));
        let later = || Case::new(Vector::HypervisorDecrementer, GUEST).with(timebase, 0x2000);
        assert_eq!(later().with(purr, 0x2000 + SKEW_TICKS).wrong(), []);
        assert_eq!(later().with(purr, 0x2001 + SKEW_TICKS).wrong(), [purr]);
        assert_eq!(later().with(purr, 0xFFF).wrong(), [purr]);
        let expires = Register::Spr(Spr::Dec);
        assert_eq!(later().with(expires, 0x1000 - SKEW_TICKS).wrong(), []);
        assert_eq!(later().with(expires, 0x1001 + SKEW_TICKS).wrong(), [expires]);
        assert_eq!(later().with(timebase, 0xFFF - SKEW_TICKS).wrong(), [timebase]);
    }
}
