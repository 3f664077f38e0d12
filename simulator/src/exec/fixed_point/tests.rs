//! What the comparison with QEMU's user mode cannot see: 32-bit mode, privilege, results that the
//! architecture leaves open, and every trap condition.

use arch::instruction::{Mnemonic, Word, encode};
use arch::interrupt::{Vector, program};
use arch::processor::Processor;
use arch::registers::spr::Spr;
use arch::registers::{cr, msr, xer};
use proptest::prelude::{any, prop_assert_eq, proptest};

use super::super::{Mode, Outcome, select};
use crate::ledger::Clock;
use crate::state::cores::Core;
use crate::state::memory::{Memory, Region};
use crate::state::shared::{FirmwarePlace, Shared};
use crate::state::thread::Thread;
use crate::state::thread::trap::{Cause, Interrupt, StopReason};

/// Two threads of one core with 16 KiB of memory from address 0.
pub(in crate::exec) struct Bench {
    pub(in crate::exec) thread: Thread,
    pub(in crate::exec) other: Thread,
    pub(in crate::exec) shared: Shared,
}

/// Hypervisor state in real mode.
pub(in crate::exec) const HYPERVISOR: u64 = msr::SF | msr::HV | msr::LE;

impl Bench {
    pub(in crate::exec) fn new(state: u64) -> Self {
        let region = Region { base: 0, bytes: 0x4000, node: 0 };
        let clock = Clock { core_hz: 4_000_000_000, timebase_hz: 512_000_000 };
        let shared = Shared::new(
            Processor::Power9,
            clock,
            Memory::new(vec![region]),
            vec![Core::new(0)],
            FirmwarePlace { base: 0, entry: 0 },
            2,
            1,
        );
        let [mut thread, mut other] = [0, 1].map(|index| Thread::new(shared.processor, index, 0));
        thread.set_msr(state);
        other.set_msr(state);
        Self { thread, other, shared }
    }

    /// Executes an instruction without Rc and OE.
    pub(in crate::exec) fn run(&mut self, mnemonic: Mnemonic, operands: &[i64]) -> Outcome {
        self.execute(encode(mnemonic, operands, false, false).expect("an instruction"))
    }

    pub(in crate::exec) fn execute(&mut self, word: Word) -> Outcome {
        let mode = Mode::from_msr(self.thread.msr());
        let (handler, word, _) = select(word, self.shared.processor, mode);
        handler(&mut self.thread, &mut self.shared, word)
    }

    /// The interrupt that the last instruction left.
    pub(in crate::exec) fn interrupt(&mut self) -> Interrupt {
        match self.thread.take_cause() {
            Some(Cause::Interrupt(interrupt)) => interrupt,
            cause => panic!("no interrupt but {cause:?}"),
        }
    }

    /// Whether the last instruction stopped the machine as an invalid form.
    pub(in crate::exec) fn is_invalid_form(&mut self) -> bool {
        matches!(self.thread.take_cause(), Some(Cause::Stop(StopReason::InvalidForm(_))))
    }
}

const SUMS: [Mnemonic; 12] = [
    Mnemonic::Add,
    Mnemonic::Addc,
    Mnemonic::Adde,
    Mnemonic::Addme,
    Mnemonic::Addze,
    Mnemonic::Subf,
    Mnemonic::Subfc,
    Mnemonic::Subfe,
    Mnemonic::Subfme,
    Mnemonic::Subfze,
    Mnemonic::Neg,
    Mnemonic::Addex,
];

proptest! {
    /// Book I 3.3.9: in 32-bit mode CA, OV and CR0 tell of the low word; the result does not differ.
    #[test]
    fn in_32_bit_mode_the_status_bits_tell_of_the_low_word(
        index in 0..SUMS.len(), a in any::<u64>(), b in any::<u64>(), status in any::<u64>(),
    ) {
        let row = SUMS[index].row();
        let operands = match row.operands.len() {
            2 => vec![3, 4],
            3 => vec![3, 4, 5],
            _ => vec![3, 4, 5, 0],
        };
        let word = encode(SUMS[index], &operands, row.has_rc, row.has_oe).expect("a sum");
        let [wide, narrow] = [HYPERVISOR, HYPERVISOR & !msr::SF].map(|state| {
            let mut bench = Bench::new(state);
            bench.thread.gpr[4..6].copy_from_slice(&[a, b]);
            bench.thread.xer = status & (xer::CA | xer::OV);
            bench.execute(word).expect("a sum does not trap");
            bench.thread
        });
        prop_assert_eq!(narrow.gpr, wide.gpr);
        let is = |thread: &Thread, bit: u64| thread.xer & bit != 0;
        let carries = !matches!(
            SUMS[index], Mnemonic::Add | Mnemonic::Subf | Mnemonic::Neg | Mnemonic::Addex
        );
        if carries {
            prop_assert_eq!(is(&narrow, xer::CA32), is(&wide, xer::CA32));
            prop_assert_eq!(is(&narrow, xer::CA), is(&wide, xer::CA32));
        }
        // `addex` has its carry there.
        prop_assert_eq!(is(&narrow, xer::OV32), is(&wide, xer::OV32));
        prop_assert_eq!(is(&narrow, xer::OV), is(&wide, xer::OV32));
        if row.has_rc {
            let sign = match (narrow.gpr[3] as i32).signum() {
                -1 => cr::LT,
                0 => cr::EQ,
                _ => cr::GT,
            };
            prop_assert_eq!(narrow.cr_field(0) & !cr::SO, sign);
        }
    }

    #[test]
    fn a_trap_is_taken_exactly_when_one_of_its_conditions_holds(
        to in 0..32_i64, a in any::<i64>(), b in any::<i64>(), edge in 0..4,
    ) {
        let b = match edge {
            0 => a,
            1 => a ^ 1 << 63,
            2 => a ^ 1 << 31,
            _ => b,
        };
        let holds = |a: i64, b: i64| {
            let (c, d) = (a as u64, b as u64);
            let conditions = [a < b, a > b, a == b, c < d, c > d];
            (0..5).any(|bit| to >> (4 - bit) & 1 != 0 && conditions[bit])
        };
        for (mnemonic, expected) in [
            (Mnemonic::Td, holds(a, b)),
            (Mnemonic::Tw, holds(i64::from(a as i32), i64::from(b as i32))),
        ] {
            let mut bench = Bench::new(HYPERVISOR);
            bench.thread.gpr[4..6].copy_from_slice(&[a as u64, b as u64]);
            let outcome = bench.run(mnemonic, &[to, 4, 5]);
            prop_assert_eq!(outcome.is_err(), expected);
            if expected {
                let interrupt = bench.interrupt();
                prop_assert_eq!(interrupt.vector, Vector::Program);
                prop_assert_eq!(interrupt.status, program::TRAP);
            }
        }
    }
}

#[test]
fn the_upper_word_of_mulhw_is_the_result_again() {
    let mut bench = Bench::new(HYPERVISOR);
    bench.thread.gpr[4] = 0x8000_0000;
    bench.thread.gpr[5] = 6;
    bench.run(Mnemonic::Mulhw, &[3, 4, 5]).expect("it completes");
    assert_eq!(bench.thread.gpr[3], 0xFFFF_FFFD_FFFF_FFFD);
}

#[test]
fn a_quotient_that_does_not_exist_is_zero() {
    let divisions = [Mnemonic::Divd, Mnemonic::Divw, Mnemonic::Divde, Mnemonic::Divweu];
    for mnemonic in divisions {
        let mut bench = Bench::new(HYPERVISOR);
        bench.thread.gpr[3..5].fill(7);
        let word = encode(mnemonic, &[3, 4, 5], false, true).expect("a division");
        bench.execute(word).expect("it completes");
        assert_eq!(bench.thread.gpr[3], 0);
        assert_eq!(bench.thread.xer, xer::SO | xer::OV | xer::OV32);
    }
}

#[test]
fn moves_of_one_field_stop_when_they_name_several() {
    for (mnemonic, operands) in [(Mnemonic::Mfocrf, [3, 0x81]), (Mnemonic::Mtocrf, [0, 3])] {
        let mut bench = Bench::new(HYPERVISOR);
        assert!(bench.run(mnemonic, &operands).is_err());
        assert!(bench.is_invalid_form());
    }
}

#[test]
fn the_priority_follows_the_hint_as_far_as_the_state_may() {
    let problem = HYPERVISOR | msr::PR;
    let guest = HYPERVISOR & !msr::HV;
    let cases = [
        (problem, 1, 2),
        (problem, 6, 3),
        (problem, 2, 4),
        (problem, 5, 0),
        (problem, 3, 0),
        (problem, 31, 0),
        (guest, 31, 1),
        (guest, 5, 5),
        (guest, 3, 6),
        (guest, 7, 0),
        (HYPERVISOR, 7, 7),
        (HYPERVISOR, 8, 0),
    ];
    for (state, register, priority) in cases {
        let mut bench = Bench::new(state);
        bench.run(Mnemonic::Or, &[register, register, register]).expect("a hint completes");
        assert_eq!(bench.thread.spr(Spr::Ppr), priority << 50, "or {register}, MSR {state:#x}");
    }
}

#[test]
fn random_numbers_come_from_the_seed() {
    let numbers = || {
        let mut bench = Bench::new(HYPERVISOR);
        [0, 1, 2].map(|kind| {
            bench.run(Mnemonic::Darn, &[3, kind]).expect("it delivers");
            bench.thread.gpr[3]
        })
    };
    let [word, conditioned, raw] = numbers();
    assert_eq!(numbers(), [word, conditioned, raw]);
    assert!(word >> 32 == 0 && conditioned >> 32 != 0 && conditioned != raw);
    let mut bench = Bench::new(HYPERVISOR);
    assert!(bench.run(Mnemonic::Darn, &[3, 3]).is_err() && bench.is_invalid_form());
}

/// The first numbers of SplitMix64 for the seed 1234567, as its other implementations have them.
#[test]
fn random_numbers_are_those_of_splitmix64() {
    let mut bench = Bench::new(HYPERVISOR);
    bench.shared.random = 1_234_567;
    for number in [6_457_827_717_110_365_317_u64, 3_203_168_211_198_807_973] {
        bench.run(Mnemonic::Darn, &[3, 2]).expect("it delivers");
        assert_eq!(bench.thread.gpr[3], number);
    }
    bench.run(Mnemonic::Darn, &[3, 0]).expect("it delivers");
    assert_eq!(bench.thread.gpr[3], 9_817_491_932_198_370_423 >> 32);
}

#[test]
fn addpcis_counts_from_the_next_instruction() {
    let mut bench = Bench::new(HYPERVISOR);
    bench.thread.cia = 0x1_0000_0000;
    bench.run(Mnemonic::Addpcis, &[3, -1]).expect("it completes");
    assert_eq!(bench.thread.gpr[3], 0xFFFF_0004);
}
