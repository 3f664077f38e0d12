//! Whatever makes a vCPU leave, it goes on with what it may go on with, and nobody sees what is
//! another's: all systems of the tests, watched by the oracle.

use simulator::{Oracle, RunState};
use system_tests::{all_systems, run_watched};

#[test]
fn every_vcpu_goes_on_with_what_is_its_own() {
    for (name, system) in all_systems() {
        let mut oracle = Oracle::default();
        let state = run_watched(&system, &mut oracle);
        assert!(matches!(state, RunState::PoweredOff), "{name}: {state:?}");
        let findings: Vec<String> = oracle.findings().iter().map(ToString::to_string).collect();
        println!("{name}: {:?}", oracle.seen());
        assert_eq!(oracle.all_findings(), 0, "{name}:\n{}", findings.join("\n"));
        assert!(oracle.seen().entries > 0, "{name}");
    }
}
