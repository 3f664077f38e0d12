//! Forms of TLB and SLB instructions that a processor does not have: another generation's, and those with
//! reserved bits. Source of the rules: Power ISA 2.07 and 3.0B Book III; `docs/facts/translation.md#invalidation`.

use super::parts::{GUEST, HYPERVISOR, PROBLEM, Parts};
use arch::instruction::{Mnemonic, Word, encode};
use arch::interrupt::Vector;
use arch::processor::Processor;
use arch::registers::msr;
use simulator::exec::{Flow, Mode, select};
use simulator::state::thread::trap::{Cause, StopReason};

fn execute(state: u64, processor: Processor, word: Word) -> Result<Flow, Cause> {
    execute_with(state, processor, word, 0)
}

/// With this value in r5.
fn execute_with(state: u64, processor: Processor, word: Word, r5: u64) -> Result<Flow, Cause> {
    let mut parts = Parts::new(state);
    parts.shared.processor = processor;
    parts.thread.gpr[5] = r5;
    parts.execute(word)
}

fn word(mnemonic: Mnemonic, operands: &[i64]) -> Word {
    encode(mnemonic, operands, false, false).expect("an instruction")
}

fn invalid(name: &'static str) -> Result<Flow, Cause> {
    Err(Cause::Stop(StopReason::InvalidForm(name)))
}

/// The vector of the interrupt that leaves `word` to the hypervisor.
fn assistance(outcome: Result<Flow, Cause>, word: Word) -> bool {
    let Err(Cause::Interrupt(interrupt)) = outcome else { return false };
    interrupt.vector == Vector::HypervisorEmulationAssistance && interrupt.image == Some(word)
}

#[test]
fn a_reserved_bit_is_ignored_and_what_is_undefined_is_refused_by_name() {
    use Mnemonic::*;
    let mnemonics = [
        Tlbie, Tlbiel, Tlbsync, Slbie, Slbieg, Slbia, Slbiag, Slbmte, Slbmfee, Slbmfev, Slbfee,
        Slbsync,
    ];
    for row in mnemonics.map(Mnemonic::row) {
        let plain = execute(HYPERVISOR, Processor::Power9, Word(row.value));
        for bit in (0..32).map(|bit| 1 << bit).filter(|bit| row.reserved & bit != 0) {
            let outcome = execute(HYPERVISOR, Processor::Power9, Word(row.value | bit));
            assert_eq!(outcome, plain, "{} {bit:#x}", row.name);
        }
        assert!(!matches!(plain, Err(Cause::Stop(_))), "{}: {plain:?}", row.name);
    }
    let group = word(Tlbie, &[5, 3, 3, 0, 1]);
    assert_eq!(execute(HYPERVISOR, Processor::Power9, group), invalid("tlbie"));
    // Hashed translation has groups, which are not modelled.
    let group = word(Tlbie, &[5, 3, 3, 0, 0]);
    let reason = StopReason::InstructionNotModelled("tlbie of a group of pages (R=0 with RIC=3)");
    assert_eq!(execute(HYPERVISOR, Processor::Power9, group), Err(Cause::Stop(reason)));
    for mnemonic in [Slbmfee, Slbmfev] {
        let outcome = execute(HYPERVISOR, Processor::Power9, word(mnemonic, &[3, 4, 1]));
        assert_eq!(outcome, invalid("slbmfee or slbmfev (L=1)"));
    }
}

/// RIC, PRS, and IS in RB, where R=0.
#[test]
fn forms_of_hashed_translation_are_refused_by_what_is_wrong_with_them() {
    const NO_WALKS: &str = "tlbie (R=0 with RIC=1: no page walk is cached)";
    const PROCESS: &str = "tlbie (R=0 and PRS=1 with RIC=0)";
    for (ric, prs, is, expected) in [
        (0, 0, 0, None),
        (0, 0, 2, None),
        (0, 0, 3, None),
        (2, 0, 2, None),
        (2, 0, 3, None),
        // The process table's entries.
        (2, 1, 1, None),
        (2, 1, 2, None),
        (2, 1, 3, None),
        (1, 0, 0, Some(NO_WALKS)),
        (1, 0, 2, Some(NO_WALKS)),
        (1, 1, 3, Some(NO_WALKS)),
        (0, 1, 0, Some(PROCESS)),
        (0, 1, 1, Some(PROCESS)),
        (0, 1, 2, Some(PROCESS)),
        (0, 0, 1, Some("tlbie (R=0 and IS=1 with PRS=0)")),
        (2, 0, 1, Some("tlbie (R=0 and IS=1 with PRS=0)")),
        (2, 0, 0, Some("tlbie (R=0 and IS=0 with RIC=2)")),
    ] {
        for mnemonic in [Mnemonic::Tlbie, Mnemonic::Tlbiel] {
            let form = word(mnemonic, &[5, 3, ric, prs, 0]);
            let outcome = execute_with(HYPERVISOR, Processor::Power9, form, is << 10);
            let expected = expected.map_or(Ok(Flow::Synchronize), invalid);
            assert_eq!(outcome, expected, "{mnemonic:?} RIC={ric} PRS={prs} IS={is}");
        }
    }
}

#[test]
fn power8_ignores_what_isa_3_added_and_takes_the_forms_of_before() {
    use Mnemonic::*;
    // RIC=3 is refused where it is an operand.
    let added: [(Mnemonic, &[i64]); 4] = [
        (Tlbie, &[5, 3, 3, 1, 1]),
        (Tlbiel, &[5, 3, 3, 1, 1]),
        (Slbmfee, &[3, 4, 1]),
        (Slbmfev, &[3, 4, 1]),
    ];
    for (mnemonic, operands) in added {
        let word = word(mnemonic, operands);
        let outcome = execute(HYPERVISOR, Processor::Power8, word);
        assert!(outcome.is_ok(), "{mnemonic:?}: {outcome:?}");
        assert!(execute(HYPERVISOR, Processor::Power9, word).is_err(), "{mnemonic:?}");
    }
    let one_pid = word(Tlbie, &[5, 3, 0, 0, 0]);
    let outcome = execute_with(HYPERVISOR, Processor::Power8, one_pid, 1 << 10);
    assert_eq!(outcome, invalid("tlbie (R=0 and IS=1 with PRS=0)"));
    // `tlbie RB,RS` and `tlbiel RB` of ISA 2.07 are the forms for hashed translation of ISA 3.0.
    for processor in [Processor::Power8, Processor::Power9] {
        for old in [word(Tlbie, &[5, 3, 0, 0, 0]), word(Tlbiel, &[5, 0, 0, 0, 0])] {
            assert_eq!(execute(HYPERVISOR, processor, old), Ok(Flow::Synchronize));
        }
    }
}

#[test]
fn instructions_of_the_other_generation_are_left_to_the_hypervisor() {
    use Mnemonic::*;
    let powers =
        [Doze, Nap, Sleep, Rvwinkle].map(|mnemonic| (word(mnemonic, &[]), Processor::Power9));
    let segments = [word(Slbieg, &[3, 4]), word(Slbiag, &[3]), word(Slbsync, &[]), word(Stop, &[])]
        .map(|word| (word, Processor::Power8));
    for (word, processor) in powers.into_iter().chain(segments) {
        for state in [HYPERVISOR, GUEST] {
            assert!(assistance(execute(state, processor, word), word), "{word:?} on {processor}");
        }
    }
}

#[test]
fn outside_of_hypervisor_state_no_form_stops_the_machine() {
    let form = word(Mnemonic::Ldu, &[3, 8, 0]);
    let contained = |state| {
        let mut parts = Parts::new(state);
        let (handler, ..) = select(form, Processor::Power9, Mode::from_msr(state));
        assert!(handler(&mut parts.thread, &mut parts.shared, form).is_err());
        parts.thread.contain(form);
        Err(parts.thread.take_cause().expect("a trap has a cause"))
    };
    // The last is problem state under a hypervisor that is an operating system too.
    for state in [GUEST, PROBLEM, PROBLEM | msr::HV] {
        assert!(assistance(contained(state), form), "{state:#x}");
    }
    assert_eq!(contained(HYPERVISOR), invalid("ldu"));
}
