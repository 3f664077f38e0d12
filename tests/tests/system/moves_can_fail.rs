//! Each register that moves as another vCPU enters has to: the instruction that saves it, or the one that loads
//! it, is taken out of the hypervisor's image, everywhere, and the oracle sees that a partition goes on with
//! what is not its own.

use arch::processor::Processor;
use lab::on_simulator;
use lab::system::System;
use simulator::{Oracle, RunState};
use system_tests::{changed_system, storm};

/// `mfspr` and `mtspr` without their operands.
const READ: u32 = 31 << 26 | 339 << 1;
const WRITE: u32 = 31 << 26 | 467 << 1;
const REGISTER: u32 = 31 << 21;
const NOTHING: u32 = 24 << 26;

/// A register's name, and the numbers to read and to write it by.
type Moved = (&'static str, u32, u32);

/// Registers that move. The run latch, CTRL, moves too, but it is one bit, and no partition of the storm clears it. So
/// does VTB, which the hypervisor computes and does not read: a lost load shows it later, as one that counts does.
const MOVED: [Moved; 19] = [
    ("SPRG0", 272, 272),
    ("SPRG1", 273, 273),
    ("SPRG2", 274, 274),
    ("SPRG3", 275, 275),
    ("DAR", 19, 19),
    ("DSISR", 18, 18),
    ("PIDR", 48, 48),
    ("AMR", 29, 29),
    ("IAMR", 61, 61),
    ("UAMOR", 157, 157),
    ("PSPB", 159, 159),
    ("DSCR", 17, 17),
    ("FSCR", 153, 153),
    ("TAR", 815, 815),
    ("TIDR", 144, 144),
    ("VRSAVE", 256, 256),
    ("IC", 848, 848),
    ("PURR", 309, 309),
    ("SPURR", 308, 308),
];

/// Those that count: what another vCPU has counted meanwhile is less than the time that has passed, and the
/// oracle knows no more of them. So only a lost save is seen.
const COUNT: [&str; 3] = ["IC", "PURR", "SPURR"];

const fn with_number(word: u32, number: u32) -> u32 {
    word | (number & 31) << 16 | (number >> 5) << 11
}

/// The image with every instruction `word` of any register replaced by what `by` makes of it; how many there were.
fn replace(image: &mut [u8], word: u32, by: impl Fn(u32) -> u32) -> usize {
    let mut replaced = 0;
    for bytes in image.as_chunks_mut::<4>().0 {
        let found = u32::from_le_bytes(*bytes);
        if found & !REGISTER == word {
            *bytes = by(found).to_le_bytes();
            replaced += 1;
        }
    }
    replaced
}

/// Steps of a storm that are long enough for every vCPU of it to have run twice.
const STEPS: u64 = 20_000_000;

/// What the oracle says first of a storm with this image of the hypervisor's, or until it has seen enough.
fn findings(policy: &str, change: impl FnOnce(&mut [u8])) -> Vec<String> {
    let slice = format!("slice_us = 20\npolicy = {{ registers = \"{policy}\" }}");
    let changes = [("slice_us = 20", slice.as_str()), ("rounds=300", "rounds=20")];
    findings_of(changed_system("examples/storm.toml", &changes), change)
}

fn findings_of(mut system: System, change: impl FnOnce(&mut [u8])) -> Vec<String> {
    change(&mut system.kernel);
    let mut oracle = Oracle::new(Processor::Power9);
    let mut machine = on_simulator::start(&system).unwrap_or_else(|failure| panic!("{failure}"));
    while machine.state().steps() < STEPS && oracle.findings().is_empty() {
        if !matches!(machine.run(100_000, &mut oracle), RunState::Running) {
            break;
        }
    }
    oracle.findings().iter().map(ToString::to_string).collect()
}

#[test]
fn a_register_that_is_not_moved_is_found() {
    let mut unseen = Vec::new();
    for policy in ["owned", "released"] {
        assert_eq!(findings(policy, |_| ()), [""; 0], "{policy}");
        for (name, read, write) in MOVED {
            let mut expect = |what, found: &[String]| {
                if !found.iter().any(|one| one.contains(name)) {
                    unseen.push(format!("{policy}: {name} is not {what}: {found:?}"));
                }
            };
            let found = findings(policy, |image| {
                assert!(replace(image, with_number(WRITE, write), |_| NOTHING) > 0, "{name}");
            });
            // Without any write of PIDR the hypervisor finds none of its own windows, and nothing runs.
            if !COUNT.contains(&name) && name != "PIDR" {
                expect("loaded", &found);
            }
            let found = findings(policy, |image| {
                // `li` of a zero is there instead.
                let zero = |word| 14 << 26 | word & REGISTER;
                assert!(replace(image, with_number(READ, read), zero) > 0, "{name}");
            });
            expect("saved", &found);
        }
    }
    assert_eq!(unseen, [""; 0]);
}

/// Registers of facilities that a vCPU gets with their first use.
const ON_DEMAND: [Moved; 10] = [
    ("BESCR", 806, 806),
    ("EBBHR", 804, 804),
    ("EBBRR", 805, 805),
    ("PMC1", 787, 787),
    ("PMC2", 788, 788),
    ("PMC3", 789, 789),
    ("PMC4", 790, 790),
    ("PMC5", 791, 791),
    ("PMC6", 792, 792),
    ("SDAR", 797, 797),
];

/// `lxv` and `stxv` without operands: the hypervisor has no other use for them than to move vectors.
const LOAD_VECTOR: u32 = 61 << 26 | 1;
const STORE_VECTOR: u32 = 61 << 26 | 5;
const VECTOR_OPERATION: u32 = 0x3F << 26 | 7;

#[test]
fn a_register_on_demand_that_is_not_moved_is_found() {
    let storm = |policy: &str| {
        let policy = format!("policy = {{ registers = \"{policy}\" }}");
        storm::in_all_states(60, [1, 1, 1], &policy)
    };
    let mut unseen = Vec::new();
    for policy in ["owned", "released"] {
        let mut expect = |name: &str, what, found: &[String]| {
            if !found.iter().any(|one| one.contains(name)) {
                unseen.push(format!("{policy}: {name} is not {what}: {found:?}"));
            }
        };
        assert_eq!(findings_of(storm(policy), |_| ()), [""; 0], "{policy}");
        for (name, read, write) in ON_DEMAND {
            let found = findings_of(storm(policy), |image| {
                assert!(replace(image, with_number(WRITE, write), |_| NOTHING) > 0, "{name}");
            });
            expect(name, "loaded", &found);
            let found = findings_of(storm(policy), |image| {
                let zero = |word| 14 << 26 | word & REGISTER;
                assert!(replace(image, with_number(READ, read), zero) > 0, "{name}");
            });
            expect(name, "saved", &found);
        }
        for (word, what) in [(LOAD_VECTOR, "loaded"), (STORE_VECTOR, "saved")] {
            // One at a time: VSR32 is the first beyond the floating-point registers.
            for number in [0, 31, 32, 63] {
                let found = findings_of(storm(policy), |image| {
                    let mut replaced = 0;
                    for bytes in image.as_chunks_mut::<4>().0 {
                        let found = u32::from_le_bytes(*bytes);
                        let target = found >> 21 & 31 | (found >> 3 & 1) << 5;
                        if found & VECTOR_OPERATION == word && target == number {
                            *bytes = NOTHING.to_le_bytes();
                            replaced += 1;
                        }
                    }
                    assert!(replaced > 0, "VSR{number}");
                });
                // The oracle calls doubleword 0 of the first 32 by its other name.
                let name =
                    if number < 32 { format!(" f{number} ") } else { format!(" vs{number}.") };
                expect(&name, what, &found);
            }
        }
    }
    assert_eq!(unseen, [""; 0]);
}
