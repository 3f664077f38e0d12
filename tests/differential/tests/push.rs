//! The share of the differential test that runs on every push.

use arch::processor::Processor;
use differential::{Options, Scope, run};

/// Cases of each instruction: a third of those of `cargo xtask differential`, since this runs before each push.
const CASES: usize = 100;
/// Cases of POWER8: the handlers are those of POWER9.
const FEW_CASES: usize = 40;

fn agree(scope: Scope) {
    agree_on(Processor::Power9, scope, CASES);
}

fn agree_on(processor: Processor, scope: Scope, cases: usize) {
    let report = match run(&Options { processor, scope, cases, seed: 1 }) {
        Ok(report) => report,
        Err(error) => panic!("{error}"),
    };
    assert!(report.is_clean(), "{report}");
}

#[test]
fn the_simulator_and_qemu_agree_on_branches_integers_and_storage() {
    agree(Scope::FixedPoint);
}

#[test]
fn the_simulator_and_qemu_agree_on_floating_point() {
    agree(Scope::FloatingPoint);
}

#[test]
fn the_simulator_and_qemu_agree_on_decimal_floating_point() {
    agree(Scope::DecimalFloatingPoint);
}

#[test]
fn the_simulator_and_qemu_agree_on_vectors() {
    agree(Scope::Vector);
}

#[test]
fn the_simulator_and_qemu_agree_on_what_power8_has() {
    agree_on(Processor::Power8, Scope::All, FEW_CASES);
}
