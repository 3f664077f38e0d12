//! Every instruction of POWER9 in the table has a handler, but for the list here.
//!
//! The comparison with QEMU passes over what is not modelled, so that an instruction which loses its
//! handler would otherwise go unnoticed.

use super::parts::{HYPERVISOR, Parts};
use arch::instruction::{Mnemonic, Row, TABLE, Word};
use arch::processor::Processor;
use arch::registers::msr;
use simulator::exec::{Mode, select};
use simulator::state::thread::trap::{Cause, StopReason};

/// What is not modelled: it stops the machine with a report that names it. In the order of the table:
/// the copy facility.
const NOT_MODELLED: &[&str] = &["copy", "paste.", "cpabort"];

/// A word of the row that is not an invalid form.
fn valid_word(row: &Row) -> Word {
    let operands = !(row.mask | row.reserved);
    let patterns = [0, 0x0064_2800, 0x0084_2800, 0x0081_0000, 0x0281_0000, 0x006C_4000];
    let words = patterns.into_iter().map(|pattern| Word(row.value | pattern & operands));
    let mut valid = words.filter(|word| !row.is_invalid_form(*word, Processor::Power9));
    valid.next().unwrap_or_else(|| panic!("no pattern is a valid form of {}", row.name))
}

/// Whether executing the word stops the machine because its instruction is not modelled.
fn is_missing(word: Word) -> bool {
    let mut parts = Parts::new(HYPERVISOR | msr::FP | msr::VEC | msr::VSX);
    let mode = Mode::from_msr(parts.thread.msr());
    let (handler, word, _) = select(word, parts.shared.processor, mode);
    let is_trap = handler(&mut parts.thread, &mut parts.shared, word).is_err();
    let cause = if is_trap { parts.thread.take_cause() } else { None };
    matches!(cause, Some(Cause::Stop(StopReason::InstructionNotModelled(_))))
}

#[test]
fn every_instruction_but_those_of_the_list_has_a_handler() {
    let rows = TABLE.iter().filter(|row| row.processors.includes(Processor::Power9));
    let missing = rows.filter(|row| is_missing(valid_word(row))).map(|row| row.name);
    assert_eq!(missing.collect::<Vec<_>>(), NOT_MODELLED);
}

#[test]
fn moves_of_lr_and_ctr_have_handlers_of_their_own() {
    let value = 0x1234_5678_9ABC_DEF0;
    for (number, other) in [(8, 9), (9, 8)] {
        let mut parts = Parts::new(HYPERVISOR);
        (parts.thread.gpr[4], parts.thread.gpr[5]) = (value, 1);
        parts.run(Mnemonic::Mtspr, &[number, 4]).unwrap();
        parts.run(Mnemonic::Mtspr, &[other, 5]).unwrap();
        parts.run(Mnemonic::Mfspr, &[3, number]).unwrap();
        assert_eq!(parts.thread.gpr[3], value);
        assert_eq!([parts.thread.lr, parts.thread.ctr][number as usize - 8], value);
    }
}
