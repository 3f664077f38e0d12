//! What reading and writing a special-purpose register does, for whom it is, and which values stop
//! the machine. Source of the rules: Power ISA 3.0B Book III; `docs/facts/special-registers.md`.

use super::parts::{GUEST, HYPERVISOR, PROBLEM, Parts, interrupt, vector};
use arch::instruction::{Mnemonic, encode};
use arch::interrupt::{Vector, program};
use arch::processor::Processor;
use arch::registers::spr::Spr;
use arch::registers::{lpcr, msr, tfmr};
use simulator::exec::Flow;
use simulator::state::thread::trap::{Cause, StopReason};

const ONES: u64 = u64::MAX;

impl Parts {
    fn write(&mut self, number: i64, value: u64) -> Result<Flow, Cause> {
        self.thread.gpr[4] = value;
        self.run(Mnemonic::Mtspr, &[number, 4])
    }

    fn read(&mut self, number: i64) -> u64 {
        self.thread.gpr[3] = 0xDEAD;
        self.run(Mnemonic::Mfspr, &[3, number])
            .unwrap_or_else(|cause| panic!("{number}: {cause:?}"));
        self.thread.gpr[3]
    }

    /// Lets the time base advance by `ticks`.
    fn wait(&mut self, ticks: u64) {
        let instructions = self.shared.clock.cycles_at(ticks);
        self.thread.run_start = self.thread.run_start.wrapping_sub(4 * instructions);
    }
}

#[test]
fn a_register_keeps_what_its_width_holds() {
    let mut parts = Parts::new(HYPERVISOR);
    let value = 0xFEDC_BA98_7654_3210;
    // LR, CTR, SRR0, SPRG0, HSRR1, HRMOR and PTCR of the core; DSCR, DSISR, VRSAVE, LPIDR.
    let wide = [8, 9, 26, 272, 315, 313, 464].map(|number| (number, value));
    let narrow = [(3, 0x0054_3210), (18, 0x7654_3210), (256, 0x7654_3210), (319, 0x7654_3210)];
    for (number, kept) in wide.into_iter().chain(narrow) {
        parts.write(number, value).unwrap();
        assert_eq!(parts.read(number), kept, "{number}");
    }
    // What was written last is not in any of the others: they are registers of their own.
    parts.write(272, 1).unwrap();
    assert_eq!((parts.read(8), parts.read(9), parts.read(26)), (value, value, value));
    assert_eq!((parts.thread.lr, parts.thread.ctr), (value, value));
    assert_eq!(parts.read(287), 0x004E_1203, "PVR");
}

#[test]
fn xer_and_lpcr_keep_the_bits_that_mean_something() {
    let mut parts = Parts::new(HYPERVISOR);
    parts.write(1, ONES).unwrap();
    assert_eq!(parts.read(1), 0xE00C_007F);
    parts.write(318, ONES).unwrap();
    assert_eq!(parts.read(318), 0x7070_4000_03F7_FE1B);
    assert_eq!(parts.thread.spr(Spr::Lpcr) & lpcr::MER, lpcr::MER);
}

#[test]
fn the_time_base_is_written_in_parts_and_counts_on() {
    let mut parts = Parts::new(HYPERVISOR);
    parts.write(285, 0x1111_1111).unwrap();
    parts.write(284, 0x9999_9999).unwrap();
    assert_eq!(parts.read(268), 0x1111_1111_9999_9999);
    parts.write(285, 0x2222_2222).unwrap();
    assert_eq!(parts.read(268), 0x2222_2222_9999_9999);
    parts.write(286, 0xAAAA_AAAA_AAFF_FFFF).unwrap();
    assert_eq!(parts.read(268), 0xAAAA_AAAA_AA99_9999);
    parts.wait(5);
    assert_eq!(parts.read(268), 0xAAAA_AAAA_AA99_999E);
    assert_eq!(parts.read(269), 0xAAAA_AAAA);
    parts.run(Mnemonic::Mftb, &[3, 268]).unwrap();
    assert_eq!(parts.thread.gpr[3], 0xAAAA_AAAA_AA99_999E);
}

#[test]
fn decrementers_count_down_from_what_was_written() {
    let mut parts = Parts::new(HYPERVISOR);
    parts.write(284, 1000).unwrap();
    parts.write(22, 3).unwrap();
    parts.write(310, 7).unwrap();
    assert_eq!((parts.read(22), parts.read(310)), (3, 7));
    parts.wait(5);
    assert_eq!((parts.read(22), parts.read(310)), (0xFFFF_FFFE, 2));
    parts.thread.set_spr(Spr::Lpcr, lpcr::LD);
    assert_eq!(parts.read(22), ONES - 1, "a large decrementer is sign-extended");
    parts.wait(5);
    assert_eq!(parts.read(310), ONES - 2);
}

#[test]
fn registers_that_count_do_so_from_what_was_written() {
    let mut parts = Parts::new(HYPERVISOR);
    parts.write(284, 1000).unwrap();
    // PURR, SPURR and VTB count as the time base does.
    for number in [309, 308, 849] {
        parts.write(number, 50).unwrap();
        assert_eq!(parts.read(number), 50);
        parts.wait(5);
        assert_eq!(parts.read(number), 55);
    }
    // IC counts instructions.
    parts.write(848, 50).unwrap();
    assert_eq!(parts.read(848), 50);
    parts.thread.cia += 12;
    assert_eq!(parts.read(848), 53);
}

#[test]
fn the_priority_is_all_of_ppr_and_the_same_through_both_numbers() {
    let mut parts = Parts::new(HYPERVISOR);
    parts.write(898, 3 << 18).unwrap();
    assert_eq!((parts.read(896), parts.read(898)), (3 << 50, 3 << 18));
    parts.write(896, !(5 << 50)).unwrap();
    assert_eq!((parts.read(896), parts.read(898)), (2 << 50, 2 << 18));
}

#[test]
fn the_upper_half_of_texasr_has_a_number_of_its_own() {
    let mut parts = Parts::new(PROBLEM | msr::TM);
    parts.write(130, 0x1111_1111_2222_2222).unwrap();
    assert_eq!(parts.read(131), 0x1111_1111);
    parts.write(131, 0x7777_7777_3333_3333).unwrap();
    assert_eq!(parts.read(130), 0x3333_3333_2222_2222);
}

#[test]
fn a_guest_reaches_four_fields_of_psscr_and_leaves_the_others() {
    const FIELDS: u64 = 0xF000_0000_0000_03FF;
    const STATUS_DISABLE: u64 = 0x40_0000;
    let mut parts = Parts::new(GUEST);
    parts.thread.set_spr(Spr::Psscr, !STATUS_DISABLE);
    assert_eq!(parts.read(823), FIELDS);
    parts.write(823, 0x5555_5555_5555_5555).unwrap();
    let kept = !STATUS_DISABLE & !FIELDS;
    assert_eq!(parts.thread.spr(Spr::Psscr), kept | 0x5000_0000_0000_0155);
    let mut parts = Parts::new(HYPERVISOR);
    parts.write(855, 0x1234_5678).unwrap();
    assert_eq!(parts.read(855), 0x1234_5678);
}

#[test]
fn keys_change_only_where_the_masks_of_the_state_above_let_them() {
    const OLD: u64 = 0x00FF_00FF_00FF_00FF;
    const AMOR: u64 = 0xFFFF_0000_FFFF_0000;
    const UAMOR: u64 = 0xFFFF_FFFF_0000_0000;
    // State, number, the register behind it, the bits that may change.
    let cases = [
        (HYPERVISOR, 29, Spr::Amr, ONES),
        (HYPERVISOR, 61, Spr::Iamr, ONES),
        (GUEST, 29, Spr::Amr, AMOR),
        (GUEST, 61, Spr::Iamr, AMOR),
        (GUEST, 157, Spr::Uamor, AMOR),
        (GUEST, 13, Spr::Amr, AMOR & UAMOR),
        (PROBLEM, 13, Spr::Amr, UAMOR),
    ];
    for (state, number, spr, mask) in cases {
        for value in [0, ONES] {
            let mut parts = Parts::new(state);
            parts.thread.set_spr(Spr::Amor, AMOR);
            parts.thread.set_spr(Spr::Uamor, UAMOR);
            let old = if spr == Spr::Uamor { UAMOR } else { OLD };
            parts.thread.set_spr(spr, old);
            parts.write(number, value).unwrap();
            let new = old & !mask | value & mask;
            assert_eq!(parts.thread.spr(spr), new, "SPR {number} with MSR {state:#x}");
        }
    }
}

#[test]
fn values_that_would_switch_on_what_is_not_modelled_stop_the_machine() {
    // LDBAR that collects counts, or a trace; TFMR with another source of the time base.
    let following = tfmr::FOLLOWS_CLOCK | tfmr::PULSE;
    for (number, refused, accepted) in
        [(850, 1 << 63 | 0x2000, 0x2000), (850, 1 << 62, 0), (317, 0, following)]
    {
        let mut parts = Parts::new(HYPERVISOR);
        parts.write(number, accepted).unwrap();
        let kept = parts.read(number);
        let outcome = parts.write(number, refused);
        let Err(Cause::Stop(StopReason::SprNotModelled { value, .. })) = outcome else {
            panic!("SPR {number} = {refused:#x}: {outcome:?}");
        };
        assert_eq!(value, refused);
        assert_eq!(parts.read(number), kept, "a refused value is not kept");
    }
}

#[test]
fn what_asks_for_more_than_the_machine_does_is_noted_and_kept() {
    // IMC, MMCRC; L2QOSR, which nobody reads.
    for (number, held) in [(799, Some(ONES)), (851, Some(0xFFFF_FFFF)), (861, None)] {
        let mut parts = Parts::new(HYPERVISOR);
        parts.write(number, 0).unwrap();
        assert_eq!(parts.shared.missing().count(), 0, "SPR {number} asks for nothing");
        parts.write(number, ONES).unwrap();
        assert_eq!(parts.shared.missing().count(), 1, "SPR {number}");
        if let Some(held) = held {
            assert_eq!(parts.read(number), held, "SPR {number}");
        }
    }
}

#[test]
fn pcr_keeps_what_the_processor_can_take_away() {
    for (processor, held) in
        [(Processor::Power9, 0x2000_0000_0000_000E), (Processor::Power8, 0x2000_0000_0000_0006)]
    {
        let mut parts = Parts::new(HYPERVISOR);
        parts.shared.processor = processor;
        parts.write(338, ONES).unwrap();
        assert_eq!(parts.read(338), held, "{processor}");
    }
}

#[test]
fn registers_of_the_implementation_keep_what_they_hold() {
    const ALL: u64 = u64::MAX;
    // RPR, TSCR, TTR, RWMR; PMCR keeps the state that is asked for, and its version.
    let kept =
        [(186, ALL), (921, 0xFFFF_FFFF), (922, ALL), (885, ALL), (884, 0x00FF_0000_0000_0001)];
    for (number, held) in kept {
        let mut parts = Parts::new(HYPERVISOR);
        parts.write(number, ALL).unwrap();
        assert_eq!(parts.read(number), held, "SPR {number}");
        parts.write(number, 0).unwrap();
        assert_eq!(parts.read(number), held & 1 & u64::from(number == 884), "SPR {number}");
        for (state, expected) in [
            (GUEST, (Vector::Program, program::PRIVILEGED)),
            (PROBLEM, (Vector::Program, program::PRIVILEGED)),
        ] {
            assert_eq!(vector(Parts::new(state).write(number, 0)), expected, "SPR {number}");
        }
    }
}

#[test]
fn wort_reads_as_zero_whatever_is_written() {
    const WORT: i64 = 895;
    for state in [GUEST, HYPERVISOR] {
        let mut parts = Parts::new(state);
        parts.write(WORT, u64::MAX).unwrap();
        assert_eq!(parts.read(WORT), 0);
    }
}

#[test]
fn a_register_is_for_the_states_that_the_table_names() {
    const SRR0: i64 = 26;
    const HSRR0: i64 = 314;
    let privileged = (Vector::Program, program::PRIVILEGED);
    assert_eq!(vector(Parts::new(PROBLEM).write(SRR0, 0)), privileged);
    assert!(Parts::new(GUEST).write(SRR0, 0).is_ok());
    assert!(Parts::new(HYPERVISOR).write(HSRR0, 0).is_ok());
    assert_eq!(vector(Parts::new(PROBLEM).write(HSRR0, 0)), privileged);
    assert_eq!(vector(Parts::new(GUEST).write(HSRR0, 0)), privileged);
    // With LPCR[EVIRT] the hypervisor may give the guest what it asks for; not problem state.
    for (state, expected) in
        [(GUEST, (Vector::HypervisorEmulationAssistance, 0)), (PROBLEM, privileged)]
    {
        let mut parts = Parts::new(state);
        parts.thread.set_spr(Spr::Lpcr, lpcr::EVIRT | lpcr::HR);
        assert_eq!(vector(parts.write(HSRR0, 0)), expected);
    }
    // What can be read cannot always be written: PURR of a guest, PVR of anyone.
    assert!(Parts::new(GUEST).run(Mnemonic::Mfspr, &[3, 309]).is_ok());
    assert_eq!(vector(Parts::new(GUEST).write(309, 0)), privileged);
    let outcome = Parts::new(HYPERVISOR).write(287, 0);
    let reason = StopReason::NoSuchSpr { number: 287, is_write: true };
    assert_eq!(outcome, Err(Cause::Stop(reason)));
}

#[test]
fn a_number_without_a_register_does_nothing_for_a_guests_kernel() {
    const MARK: u64 = 0x5555;
    let mut parts = Parts::new(GUEST);
    (parts.thread.gpr[3], parts.thread.gpr[4]) = (MARK, MARK);
    // Of both kinds of numbers; POWER8's SDR1; PVR and TB, which cannot be written.
    for number in [2, 7, 0x3E2, 16, 0x3F2, 25] {
        assert_eq!(parts.run(Mnemonic::Mfspr, &[3, number]), Ok(Flow::Next), "{number}");
        assert_eq!(parts.run(Mnemonic::Mtspr, &[number, 4]), Ok(Flow::Next), "{number}");
    }
    for number in [4, 5, 6, 287, 268] {
        assert_eq!(parts.run(Mnemonic::Mtspr, &[number, 4]), Ok(Flow::Next), "{number}");
    }
    assert_eq!(parts.thread.gpr[3], MARK);
    assert_eq!(parts.run(Mnemonic::Mfspr, &[3, 287]), Ok(Flow::Next));
    assert_eq!(parts.thread.gpr[3], 0x004E_1203);
}

#[test]
fn numbers_set_aside_for_later_do_nothing_to_any_state() {
    for state in [PROBLEM, GUEST, HYPERVISOR] {
        for number in 808..=811 {
            let mut parts = Parts::new(state);
            parts.thread.gpr[3] = 0x5555;
            assert_eq!(parts.run(Mnemonic::Mfspr, &[3, number]), Ok(Flow::Next));
            assert_eq!(parts.write(number, 7), Ok(Flow::Next));
            assert_eq!(parts.thread.gpr[3], 0x5555);
        }
    }
}

const SPRC: i64 = 276;
const SPRD: i64 = 277;

#[test]
fn sprd_reaches_the_register_that_sprc_names() {
    let mut parts = Parts::new(HYPERVISOR);
    for scratch in 0..8 {
        parts.write(SPRC, 8 * scratch).unwrap();
        parts.write(SPRD, 0x1111 * scratch).unwrap();
    }
    for scratch in 0..8 {
        parts.write(SPRC, 8 * scratch).unwrap();
        assert_eq!((parts.read(SPRC), parts.read(SPRD)), (8 * scratch, 0x1111 * scratch));
    }
    // The state of the threads: no core is fused with another.
    parts.write(SPRC, 0x1E0).unwrap();
    assert_eq!(parts.read(SPRD), 0);
}

#[test]
fn the_scratch_registers_are_the_cores_and_their_address_the_threads() {
    let mut parts = Parts::new(HYPERVISOR);
    parts.write(SPRC, 0x38).unwrap();
    parts.write(SPRD, 7).unwrap();
    assert_eq!(parts.shared.cores[0].scratch, [0, 0, 0, 0, 0, 0, 0, 7]);
    assert_eq!(parts.thread.spr(Spr::Sprc), 0x38);
}

#[test]
fn what_sprc_names_and_no_source_tells_of_stops_the_machine() {
    let stop = |value, outcome| {
        let Err(Cause::Stop(StopReason::SprNotModelled { register: "SPRC", value: named, .. })) =
            outcome
        else {
            panic!("SPRC = {value:#x}: {outcome:?}");
        };
        assert_eq!(named, value);
    };
    for address in [0x40, 0x1E8, 0x3F8] {
        let mut parts = Parts::new(HYPERVISOR);
        parts.write(SPRC, address).unwrap();
        stop(address, parts.run(Mnemonic::Mfspr, &[3, SPRD]));
        stop(address, parts.write(SPRD, 0));
    }
    for value in [4, 0x400, 1 << 63] {
        let mut parts = Parts::new(HYPERVISOR);
        parts.write(SPRC, 8).unwrap();
        parts.write(SPRC, value).unwrap();
        assert_eq!(parts.read(SPRC), 8, "what is no address is not kept");
        assert_eq!(parts.shared.missing().count(), 1);
    }
    let mut parts = Parts::new(HYPERVISOR);
    parts.write(SPRC, 0x1E0).unwrap();
    stop(0x1E0, parts.write(SPRD, 1));
}

#[test]
fn the_processors_insides_stop_the_machine_by_name() {
    let named = |name| Err(Cause::Stop(StopReason::RegisterNotModelled(name)));
    let privileged = (Vector::Program, program::PRIVILEGED);
    // Of a POWER8 no source tells what lies behind these.
    for (number, name) in [(SPRC, "SPRC"), (SPRD, "SPRD")] {
        let mut parts = Parts::new(HYPERVISOR);
        parts.shared.processor = Processor::Power8;
        assert_eq!(parts.run(Mnemonic::Mfspr, &[3, number]), named(name));
        assert_eq!(parts.write(number, 0), named(name));
    }
    for number in [SPRC, SPRD, 317, 799] {
        assert_eq!(vector(Parts::new(GUEST).write(number, 0)), privileged);
    }
}

#[test]
fn some_numbers_without_a_register_are_left_to_the_hypervisor() {
    let assistance = Vector::HypervisorEmulationAssistance;
    for state in [HYPERVISOR, GUEST, PROBLEM] {
        for number in [0, 4, 5, 6] {
            let taken = interrupt(Parts::new(state).run(Mnemonic::Mfspr, &[3, number]));
            assert_eq!(taken.vector, assistance, "{number}");
            let image = encode(Mnemonic::Mfspr, &[3, number], false, false).unwrap();
            assert_eq!(taken.image, Some(image));
        }
        assert_eq!(vector(Parts::new(state).write(0, 0)), (assistance, 0));
    }
    // With LPCR[EVIRT] all of them, and not the hypervisor's own.
    for number in [2, 16, 287] {
        let mut parts = Parts::new(GUEST);
        parts.thread.set_spr(Spr::Lpcr, lpcr::EVIRT | lpcr::HR);
        assert_eq!(vector(parts.write(number, 0)), (assistance, 0), "{number}");
    }
}

#[test]
fn a_number_without_a_register_is_privileged_by_its_bit_and_never_nothing_to_problem_state() {
    for state in [PROBLEM, PROBLEM | msr::HV] {
        for number in [16, 25, 0x3F2] {
            let privileged = (Vector::Program, program::PRIVILEGED);
            assert_eq!(vector(Parts::new(state).run(Mnemonic::Mfspr, &[3, number])), privileged);
            assert_eq!(vector(Parts::new(state).write(number, 0)), privileged);
        }
        for number in [2, 7, 0x3E2] {
            let assistance = (Vector::HypervisorEmulationAssistance, 0);
            assert_eq!(vector(Parts::new(state).run(Mnemonic::Mfspr, &[3, number])), assistance);
            assert_eq!(vector(Parts::new(state).write(number, 0)), assistance);
        }
    }
}

#[test]
fn a_number_without_a_register_stops_the_machine_in_hypervisor_state() {
    for number in [2, 7, 0x3E2, 16, 0x3F2] {
        let no_such =
            |is_write| Err(Cause::Stop(StopReason::NoSuchSpr { number: number as u16, is_write }));
        let mut parts = Parts::new(HYPERVISOR);
        assert_eq!(parts.run(Mnemonic::Mfspr, &[3, number]), no_such(false));
        assert_eq!(parts.write(number, 0), no_such(true));
    }
}

/// The values are what QEMU's `powernv8` and `powernv9` read back of all ones.
#[test]
fn a_register_keeps_what_its_processor_has() {
    let cases = [
        (Processor::Power8, 0xF07F_8000_3F85_FA09, 0xFFFF_FFFF),
        (Processor::Power9, 0x7070_4000_03F7_FE1B, ONES),
    ];
    for (processor, lpcr, hdec) in cases {
        let mut parts = Parts::new(HYPERVISOR);
        parts.shared.processor = processor;
        for (number, kept) in [(318, lpcr), (310, hdec)] {
            parts.write(number, ONES).unwrap();
            assert_eq!(parts.read(number), kept, "{processor}: {number}");
        }
    }
}

#[test]
fn a_facility_is_switched_only_where_the_processor_has_the_switch() {
    const TIR: i64 = 446;
    for (processor, is_switched) in [(Processor::Power8, false), (Processor::Power9, true)] {
        let mut parts = Parts::new(GUEST);
        parts.shared.processor = processor;
        parts.thread.set_spr(Spr::Hfscr, 0);
        let outcome = parts.run(Mnemonic::Mfspr, &[3, TIR]);
        assert_eq!(outcome != Ok(Flow::Next), is_switched, "{processor}: {outcome:?}");
    }
}
