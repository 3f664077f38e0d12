//! The share of the differential test that runs on every push.

use differential::{Options, Scope, USUAL_CASES, run};

fn agree(scope: Scope) {
    let report = match run(&Options { scope, cases: USUAL_CASES, seed: 1 }) {
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
