//! Special-purpose registers number by number: what QEMU makes of `mfspr` and `mtspr` in a partition.
//!
//! The rule `spr-map` draws four maps of all numbers, on our machine and on QEMU: reading and writing in a
//! partition's kernel, then in problem state. Where they differ, and why, is listed here.

use std::path::Path;

use conformance::rule::{self, Processor, Rule};
use conformance::{Verdict, assemble, qemu, simulator};

/// Numbers of SPRs.
const NUMBERS: usize = 1024;

/// Numbers of which the two maps differ in the same way.
struct Difference {
    numbers: &'static [usize],
    /// The characters of our four maps, which `spr-map` explains.
    ours: &'static str,
    qemu: &'static str,
    reason: &'static str,
}

const DIFFERENCES: &[Difference] = &[
    Difference {
        numbers: &[3],
        ours: "rwrw",
        qemu: "nwAA",
        reason: "DSCR of problem state; Linux uses it",
    },
    Difference {
        numbers: &[898],
        ours: "rwrw",
        qemu: "nwAA",
        reason: "PPR32; skiboot and Linux use it",
    },
    Difference {
        numbers: &[823],
        ours: "rwPP",
        qemu: "nwPP",
        reason: "PSSCR of a partition, which QEMU has from version 8 on; KVM uses it",
    },
    Difference {
        numbers: &[276, 277, 339, 799, 850, 855, 884, 885, 922],
        ours: "PPPP",
        qemu: "nwPP",
        reason: "the hypervisor's: QEMU has none of them, or PSSCR as a number that others do not have",
    },
    Difference {
        numbers: &[283],
        ours: "rwPP",
        qemu: "nwPP",
        reason: "CIR, which Linux and kvm-unit-tests read: QEMU does not have it",
    },
    Difference {
        numbers: &[1006],
        ours: "nwAw",
        qemu: "nwAA",
        reason: "TRACE, which any state writes, by kvm-unit-tests: QEMU does not have it",
    },
    Difference {
        numbers: &[853],
        ours: "PwPP",
        qemu: "nwPP",
        reason: "PMSR, the hypervisor's and read alone, which QEMU has from version 10 on",
    },
    Difference {
        numbers: &[861],
        ours: "nPPP",
        qemu: "nwPP",
        reason: "L2QOSR, the hypervisor's and written alone: QEMU does not have it",
    },
    Difference {
        numbers: &[31, 888, 889, 890, 892, 893, 894],
        ours: "nwPP",
        qemu: "rwPP",
        reason: "ACOP, TACR, TCSCR, CSIGR, SPMC1, SPMC2, MMCRS: POWER8's, where alone KVM uses them",
    },
    Difference {
        numbers: &[282],
        ours: "nwPP",
        qemu: "rwPP",
        reason: "EAR, which left the architecture before POWER8",
    },
    Difference {
        numbers: &[316],
        ours: "nwPP",
        qemu: "PPPP",
        reason: "MMCRH: POWER8's, where alone Linux sets it",
    },
    Difference {
        numbers: &[136, 259, 268, 269],
        ours: "rwrA",
        qemu: "rPrP",
        reason: "a write of what can be read alone: no register to us, a privileged one to QEMU",
    },
    Difference {
        numbers: &[768, 780, 781, 782],
        ours: "rwrA",
        qemu: "rwrP",
        reason: "a write of what can be read alone, in problem state",
    },
    Difference {
        numbers: &[287, 446, 1023],
        ours: "rwPP",
        qemu: "rPPP",
        reason: "a write of what can be read alone: PVR, TIR, PIR",
    },
    Difference {
        numbers: &[152],
        ours: "nwPP",
        qemu: "PwPP",
        reason: "a read of what can be written alone: CTRL",
    },
    Difference {
        numbers: &[286],
        ours: "nPPP",
        qemu: "PPPP",
        reason: "a read of what can be written alone: TBU40",
    },
    Difference {
        numbers: &[284, 285],
        ours: "nPPP",
        qemu: "rwrP",
        reason: "QEMU lets a partition write the time base, and reads it by the numbers for writing",
    },
    Difference {
        numbers: &[308, 309],
        ours: "rPPP",
        qemu: "rPrP",
        reason: "SPURR and PURR: numbers for privileged software, which QEMU lets problem state read",
    },
    Difference {
        numbers: &[770],
        ours: "rwrw",
        qemu: "rwrP",
        reason: "MMCRA: of the registers that PMCC gives to problem state, but QEMU has no write for it",
    },
    Difference {
        numbers: &[176],
        ours: "rPPP",
        qemu: "HPPP",
        reason: "DPDES: QEMU takes the mask of HFSCR[MSGP] for the number of a bit, and always refuses",
    },
];

/// Our machine's four characters of each number, or QEMU's.
fn draw(judge: impl Fn(&Rule, &[u8], &Path) -> Verdict) -> Vec<String> {
    let mut rules = rule::all().into_iter();
    let rule = rules.find(|rule| rule.name == "spr-map").expect("the rule is there");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let image = assemble::assemble(&rule, Processor::Power9, folder.path());
    let verdict = judge(&rule, &image, folder.path());
    assert_eq!(verdict.complaint(&rule), None);
    let lines = verdict.console.lines().filter(|line| line.len() == 64);
    let maps: Vec<char> = lines.flat_map(str::chars).collect();
    assert_eq!(maps.len(), 4 * NUMBERS);
    assert!(!maps.contains(&'?'), "an outcome that the program does not know");
    (0..NUMBERS).map(|number| maps.iter().skip(number).step_by(NUMBERS).collect()).collect()
}

#[test]
fn qemu_treats_every_number_alike_but_for_those_listed() {
    let ours = draw(|rule, image, _| simulator::run(rule, Processor::Power9, image));
    let theirs = draw(|rule, image, folder| qemu::run(rule, Processor::Power9, image, folder));
    let mut complaints = Vec::new();
    for number in 0..NUMBERS {
        let mut listed = DIFFERENCES.iter().filter(|listed| listed.numbers.contains(&number));
        let found = (ours[number].as_str(), theirs[number].as_str());
        match (listed.next(), listed.next()) {
            (None, _) if found.0 == found.1 => {}
            (Some(listed), None) if found == (listed.ours, listed.qemu) => {}
            (Some(listed), None) => {
                complaints.push(format!("{number}: {found:?}, not as listed: {}", listed.reason));
            }
            (_, other) => {
                complaints.push(format!("{number}: {found:?}; twice: {}", other.is_some()))
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
