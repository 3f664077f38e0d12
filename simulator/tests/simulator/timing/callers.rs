//! A ledger that knows who called.

use arch::instruction::Word;
use simulator::pipeline::Settings;
use simulator::{Machine, NoObserver, RunState};

use crate::support::Program;

/// Where firmware has the kernel.
const KERNEL: u64 = 0x2000_0000;

/// Calls one that jumps out of its call, one that returns, one that goes on as another task, and one that
/// returns by CTR; and asks for its own address in the two ways that there are.
const PROGRAM: [u32; 27] = [
    0x3C20_2001, // 0: lis r1,0x2001
    0x4800_0015, // 1: bl 6
    0x3821_0040, // 2: addi r1,r1,64
    0x4800_0015, // 3: bl 8
    0x3B80_0000, // 4: li r28,0
    0x4800_0014, // 5: b 10
    0x3821_FFE0, // 6: addi r1,r1,-32
    0x4BFF_FFEC, // 7: b 2
    0x6000_0000, // 8: nop
    0x4E80_0020, // 9: blr
    0x4800_0009, // 10: bl 12
    0x6000_0000, // 11: nop
    0x3C20_2000, // 12: lis r1,0x2000
    0x429F_0005, // 13: bcl 20,31,14
    0x7CA8_02A6, // 14: mflr r5
    0x38A5_0014, // 15: addi r5,r5,20
    0x7CA8_03A6, // 16: mtlr r5
    0x4E80_0020, // 17: blr
    0x6000_0000, // 18: nop
    0x3BA0_0001, // 19: li r29,1
    0x4800_000D, // 20: bl 23
    0x6000_0000, // 21: nop
    0x4800_0010, // 22: b 26
    0x7CC8_02A6, // 23: mflr r6
    0x7CC9_03A6, // 24: mtctr r6
    0x4E80_0420, // 25: bctr
    0x4800_0005, // 26: bl 27
];

fn timed(callers: bool) -> Machine {
    let words = PROGRAM.into_iter().map(Word);
    let program = words.fold(Program::default(), Program::word).power_off();
    let mut machine = program.boot(|_| {});
    machine.start_timing(Settings { callers, ..Settings::default() });
    machine
}

fn finish(mut machine: Machine, step: u64) -> Machine {
    while let RunState::Running = machine.run(step, &mut NoObserver) {}
    machine
}

#[test]
fn a_caller_is_right_or_not_known() {
    let machine = finish(timed(true), 1000);
    let charges = machine.charges().unwrap();
    let word = |address: u64| (address - KERNEL) / 4;
    let callers_of = |number: u64| {
        let mut found: Vec<Vec<u64>> = charges
            .lines()
            .filter(|line| line.address == KERNEL + 4 * number)
            .map(|line| charges.callers.calls(line.caller).map(|(_, at)| word(at)).collect())
            .collect();
        found.dedup();
        found
    };
    assert_eq!(callers_of(0), [[0; 0]]);
    assert_eq!(callers_of(8), [[3]], "what jumped out of its call is no caller");
    assert_eq!(callers_of(17), [[10]], "to ask for an address is no call");
    let behind = |numbers: std::ops::Range<u64>| numbers.flat_map(callers_of).collect::<Vec<_>>();
    let has_none = |found: Vec<Vec<u64>>| found.iter().all(Vec::is_empty);
    assert!(has_none(behind(18..23)), "nobody called another task");
    assert_eq!(callers_of(25), [[20]]);
    assert!(
        !behind(26..60).is_empty() && has_none(behind(26..60)),
        "to ask for an address is no call"
    );
}

#[test]
fn to_know_callers_changes_no_cycle_and_stopping_changes_no_caller() {
    let [plain, whole] = [false, true].map(|callers| finish(timed(callers), 1000));
    let now = |machine: &Machine| machine.state().threads[0].time.cycles();
    assert_eq!(now(&plain), now(&whole));
    for step in [1, 3] {
        assert!(finish(timed(true), step) == whole, "in steps of {step}");
    }
    let mut machine = timed(true);
    machine.run(9, &mut NoObserver);
    let restored = Machine::restore(&machine.snapshot()).unwrap();
    assert!(machine == restored);
    assert!(finish(restored, 1000) == whole);
}
