//! An external interrupt is a level: it comes until it is accepted, and then it asks for nothing more.

use lab::on_simulator;
use simulator::{NoObserver, RunState};
use system_tests::{record, systems};

/// What `examples/smp.toml` does not accept, and takes the first time behind its own H_IPI with interrupts off:
/// so often LPCR\[MER\] makes it leave. Each of the others, one for each round of each vCPU, is accepted: with
/// LPCR\[MER\] set behind that, it would leave for nothing.
#[test]
fn a_vcpu_leaves_for_an_interrupt_that_it_has_not_accepted_and_for_no_other() {
    const REFUSED: u64 = 3;
    let (_, system) = systems("examples/smp.toml").remove(0);
    let mut machine = on_simulator::start(&system).unwrap_or_else(|failure| panic!("{failure}"));
    let state = machine.run(u64::MAX, &mut NoObserver);
    assert!(matches!(state, RunState::PoweredOff), "{state:?}");
    let console = machine.take_console_output();
    let counts = &record(&console).partitions[0].counts;
    let left = counts["real_door_other"] + counts["virtual_door_other"];
    assert_eq!(left, REFUSED, "{}", String::from_utf8_lossy(&console));
}
