//! What one partition left in a processor, and another one found there once: payloads of a few instructions, by their
//! addresses.

use std::fs;
use std::path::Path;

use arch::processor::Processor;
use arch::registers::lpcr;
use arch::registers::spr::Spr;
use lab::on_simulator;
use lab::system::System;
use simulator::oracle::Fault;
use simulator::{Machine, NoObserver, Oracle, RunState};
use system_tests::{on_each, system_of};

/// Words of a payload, and where they lie.
type Code = &'static [(usize, &'static [u32])];

/// Prints r6 as two characters, and waits for the end of its time.
const PRINTS: (usize, &[u32]) = (
    0x4000,
    &[
        0x38C0_4B0A, // li r6, "K\n"
        0x78C6_83C6, // sldi r6, r6, 48
        0x3860_0058, // li r3, H_PUT_TERM_CHAR
        0x3880_0000, // li r4, 0
        0x38A0_0002, // li r5, 2
        0x4400_0022, // sc 1
        0x4800_0000, // b .
    ],
);
/// The same with other characters.
const PRINTS_WRONG: (usize, &[u32]) = (
    0x5004,
    &[
        0x38C0_580A, // li r6, "X\n"
        0x4800_4006, // ba 0x4004
    ],
);

/// A flat image.
fn write(path: &Path, code: Code) {
    let mut image = vec![0; 0x6000];
    for (place, words) in code {
        for (word, bytes) in words.iter().zip(image[*place..].chunks_exact_mut(4)) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
    }
    fs::write(path, image).expect("a file in a folder of our own");
}

/// Two partitions that share the one hardware thread of a machine, each for so many microseconds at most.
fn beside(other: Code, victim: Code, limit: u32, keys: &str, rest: &str) -> System {
    let folder = tempfile::tempdir().expect("a folder of our own");
    let [other_path, victim_path] = ["other", "victim"].map(|name| folder.path().join(name));
    write(&other_path, other);
    write(&victim_path, victim);
    let partition = |name: &str, path: &Path| {
        format!(
            "[[partition]]\nname = \"{name}\"\npayload = \"{}\"\nmemory = \"16 MiB\"\nvcpus = 1\n\
             time_limit_us = {limit}\n{keys}",
            path.display()
        )
    };
    let both = [partition("other", &other_path), partition("victim", &victim_path)].concat();
    system_of(&format!("slice_us = 50\n{both}{rest}"))
}

/// Runs them to their end: what the victim has printed is right. How many instructions that took.
fn run(system: &System) -> u64 {
    let mut machine = on_simulator::start(system).unwrap_or_else(|failure| panic!("{failure}"));
    let state = machine.run(1 << 28, &mut NoObserver);
    let console = String::from_utf8_lossy(&machine.take_console_output()).into_owned();
    assert!(matches!(state, RunState::PoweredOff), "{state:?}: {console}");
    assert!(console.contains("[victim] K"), "{console}");
    machine.instructions()
}

/// What the victim prints is right on each of these machines and with each policy.
fn said(other: Code, victim: Code, machines: &[&str], keys: &str) {
    let with = |registers| {
        move |machine: &&str| {
            format!(
                "[policy]\nregisters = \"{registers}\"\n[machine]\ndescription = \"{machine}\"\n"
            )
        }
    };
    let all =
        ["owned", "released"].iter().flat_map(|registers| machines.iter().map(with(registers)));
    on_each(all.collect(), |rest| {
        run(&beside(other, victim, 6000, keys, &rest));
    });
}

/// Asks for interrupts at 0x1_8000 with relocation on, and turns that on where nothing is translated. Interrupts to the
/// hypervisor would arrive there too: for good, or at an address of its own image if PIDR were 0.
const WITHOUT_DOOR: Code = &[(
    0,
    &[
        0x3860_031C, // li r3, H_SET_MODE
        0x3880_0002, // li r4, 2
        0x38A0_0003, // li r5, 3: where interrupts arrive
        0x38C0_0000, // li r6, 0
        0x38E0_0000, // li r7, 0
        0x4400_0022, // sc 1
        0x3860_0005, // li r3, 5
        0x7C70_0BA6, // mtpid r3
        0x7C80_00A6, // mfmsr r4
        0x6084_0030, // ori r4, r4, IR | DR
        0x7C80_0164, // mtmsrd r4
        0x4800_0000, // b .
    ],
)];

#[test]
fn a_partition_does_not_say_where_the_hypervisor_is_entered() {
    const VICTIM: Code = &[
        (
            0,
            &[
                0x4800_4002, // ba 0x4000
            ],
        ),
        PRINTS,
    ];
    said(WITHOUT_DOOR, VICTIM, &["power9"], "");
    said(WITHOUT_DOOR, VICTIM, &["power9", "power8"], "translation = \"hash\"\n");
}

#[test]
fn the_oracle_sees_a_door_that_is_not_the_hypervisors() {
    let system = beside(WITHOUT_DOOR, WITHOUT_DOOR, 6000, "", "");
    for (ail, is_fault) in [(0, false), (2, true)] {
        let mut machine =
            on_simulator::start(&system).unwrap_or_else(|failure| panic!("{failure}"));
        let mut oracle = Oracle::new(Processor::Power9);
        let turns_on = |machine: &Machine| {
            let thread = &machine.state().threads[0];
            !thread.is_hypervisor() && thread.nia == 0x28
        };
        while !turns_on(&machine) {
            assert!(matches!(machine.run(1, &mut oracle), RunState::Running));
        }
        let thread = &mut machine.parts_mut().0[0];
        thread.set_spr(Spr::Lpcr, lpcr::AIL.set(thread.spr(Spr::Lpcr), ail));
        machine.run(1 << 20, &mut oracle);
        let is_seen = oracle.findings().iter().any(|finding| finding.fault == Fault::Door);
        assert_eq!(is_seen, is_fault, "AIL={ail}: {:?}", oracle.findings());
    }
}

/// With relocation off an access far beyond the memory is the partition's machine check, whichever bits it has.
#[test]
fn an_access_beyond_all_memory_is_a_machine_check() {
    const BEYOND: Code = &[
        (
            0,
            &[
                0x3920_0001, // li r9, 1
                0x7929_E886, // sldi r9, r9, 61
                0x8949_0100, // lbz r10, 0x100(r9)
                0x4800_5006, // ba 0x5004
            ],
        ),
        (
            0x200,
            &[
                0x4800_4002, // ba 0x4000
            ],
        ),
        PRINTS,
        PRINTS_WRONG,
    ];
    said(BEYOND, BEYOND, &["power9"], "");
}

/// The hypervisor gives a vCPU that single-steps a privileged doorbell its trace interrupt as it leaves. Then SRR0 is
/// another one than was read on its way, which the next vCPU had, too.
#[test]
fn a_save_register_that_the_hypervisor_sets_is_not_the_next_partitions() {
    const OTHER: Code = &[
        (
            0,
            &[
                0x3940_3000, // li r10, 0x3000: the victim's SRR0
                0x7D60_00A6, // mfmsr r11
                0x616B_0400, // ori r11, r11, SE
                0x3980_4FFC, // li r12, 0x4FFC
                0x3920_0000, // li r9, 0
                0x4800_0D02, // ba 0xd00
            ],
        ),
        (
            0xD00,
            &[
                0x7D5A_03A6, // mtsrr0 r10
                0x7D89_03A6, // mtctr r12
                0x4E80_0420, // bctr
            ],
        ),
        (
            0x4FFC,
            &[
                0x7D60_0164, // mtmsrd r11
                0x7C00_495C, // msgclrp r9: SRR0 becomes 0x5004
                0x4800_0000, // b .
            ],
        ),
    ];
    const VICTIM: Code = &[
        (
            0,
            &[
                0x3940_3000, // li r10, 0x3000
                0x7D60_00A6, // mfmsr r11
                0x3D80_0006, // lis r12, 6
                0x4800_3002, // ba 0x3000
            ],
        ),
        (
            0x3000,
            &[
                0x7D5A_03A6, // mtsrr0 r10
                0x7D7B_03A6, // mtsrr1 r11
                0x398C_FFFF, // addi r12, r12, -1
                0x2C2C_0000, // cmpdi r12, 0
                0x4082_0008, // bne +8
                0x4800_4002, // ba 0x4000
                0x6000_0000, // nop
                0x6000_0000, // nop
                0x6000_0000, // nop
                0x6000_0000, // nop
                0x6000_0000, // nop
                0x6000_0000, // nop
                0x4C00_0024, // rfid
            ],
        ),
        PRINTS,
        PRINTS_WRONG,
    ];
    said(OTHER, VICTIM, &["power9"], "");
    said(OTHER, VICTIM, &["power9"], "translation = \"hash\"\n");
}

/// An alert of the one's performance monitor is no event-based branch of the other's.
#[test]
fn an_alert_of_the_vcpu_before_is_no_event_of_the_next_one() {
    const OTHER: Code = &[(
        0,
        &[
            0x7D19_22A6, // mfspr r8, FSCR
            0x6108_0080, // ori r8, r8, EBB
            0x7D19_23A6, // mtspr FSCR, r8
            0x3900_0000, // li r8, 0
            0x7D04_CBA6, // mtspr EBBHR, r8
            0x3CE0_8010, // lis r7, FC | EBE
            0x60E7_0080, // ori r7, r7, PMAO
            0x7CFB_C3A6, // mtspr MMCR0, r7
            0x4800_0000, // b .
        ],
    )];
    const VICTIM: Code = &[
        (
            0,
            &[
                0x7D19_22A6, // mfspr r8, FSCR
                0x6108_0080, // ori r8, r8, EBB
                0x7D19_23A6, // mtspr FSCR, r8
                0x3CE0_8010, // lis r7, FC | EBE
                0x7CFB_C3A6, // mtspr MMCR0, r7
                0x3900_0001, // li r8, 1
                0x7908_07C6, // sldi r8, r8, 32: PME
                0x7D06_CBA6, // mtspr BESCR, r8
                0x3D80_0010, // lis r12, 16
                0x4800_3002, // ba 0x3000
            ],
        ),
        (
            0x3000,
            &[
                0x7CE6_CAA6, // mfspr r7, BESCR
                0x7C27_4000, // cmpd r7, r8
                0x4182_0008, // beq +8
                0x4800_5006, // ba 0x5004
                0x398C_FFFF, // addi r12, r12, -1
                0x2C2C_0000, // cmpdi r12, 0
                0x4082_FFE8, // bne 0x3000
                0x4800_4002, // ba 0x4000
            ],
        ),
        PRINTS,
        PRINTS_WRONG,
    ];
    said(OTHER, VICTIM, &["power9", "power8"], "performance_monitor = true\n");
}

/// A partition that is over leaves an alert, which nobody takes. The thread waits all the same.
#[test]
fn an_alert_that_nobody_takes_keeps_no_thread_awake() {
    const LEAVES_ALERT: Code = &[(
        0,
        &[
            0x3CE0_8000, // lis r7, FC
            0x60E7_0080, // ori r7, r7, PMAO
            0x7CFB_C3A6, // mtspr MMCR0, r7
            0x4800_0000, // b .
        ],
    )];
    const LEAVES_NONE: Code = &[(
        0,
        &[
            0x3CE0_8000, // lis r7, FC
            0x60E7_0000, // ori r7, r7, 0
            0x7CFB_C3A6, // mtspr MMCR0, r7
            0x4800_0000, // b .
        ],
    )];
    const SLEEPER: Code = &[
        (
            0,
            &[
                0x3D00_0027, // lis r8, 39: 5 ms
                0x7D16_03A6, // mtspr DEC, r8
                0x3860_00E0, // li r3, H_CEDE
                0x4400_0022, // sc 1
                0x4800_4002, // ba 0x4000
            ],
        ),
        // The decrementer's interrupt.
        (
            0x900,
            &[
                0x4800_4002, // ba 0x4000
            ],
        ),
        PRINTS,
    ];
    let keys = "performance_monitor = true\n";
    let [with, without] =
        [LEAVES_ALERT, LEAVES_NONE].map(|other| run(&beside(other, SLEEPER, 1000, keys, "")));
    // The thread waits for 4 ms, in which it could execute some 15 million.
    assert!(with < without + 100_000, "{with} instructions, and {without} without the alert");
}
