//! The instructions that write the MSR, and who may leave which of its bits changed.
//! Source of the rules: Power ISA 3.0B Book III, System Linkage and Machine State Register.

use super::parts::{GUEST, HYPERVISOR, PROBLEM, Parts, interrupt, vector};
use arch::instruction::Mnemonic;
use arch::interrupt::{Vector, program};
use arch::registers::msr;
use arch::registers::spr::Spr;
use simulator::exec::Flow;

/// Every bit that is kept, without problem state and transactions.
const ALL: u64 = msr::KEPT & !(msr::PR | msr::TM);

impl Parts {
    fn return_with(&mut self, mnemonic: Mnemonic, address: u64, value: u64) -> u64 {
        let (address_register, value_register) = match mnemonic {
            Mnemonic::Rfid => (Spr::Srr0, Spr::Srr1),
            _ => (Spr::Hsrr0, Spr::Hsrr1),
        };
        self.thread.set_spr(address_register, address);
        self.thread.set_spr(value_register, value);
        assert_eq!(self.run(mnemonic, &[]), Ok(Flow::Return));
        self.thread.msr()
    }

    fn move_to_msr(&mut self, mnemonic: Mnemonic, value: u64, l: i64) -> u64 {
        self.thread.gpr[4] = value;
        // With L=1 nothing is fetched anew, and no interrupt is due here.
        let flow = if l == 1 { Flow::Next } else { Flow::Synchronize };
        assert_eq!(self.run(mnemonic, &[4, l]), Ok(flow));
        self.thread.msr()
    }
}

#[test]
fn a_return_to_problem_state_turns_interrupts_and_relocation_on() {
    let implied = msr::EE | msr::IR | msr::DR;
    for mnemonic in [Mnemonic::Rfid, Mnemonic::Hrfid] {
        let mut parts = Parts::new(HYPERVISOR);
        let value = msr::SF | msr::PR;
        assert_eq!(parts.return_with(mnemonic, 0x1000, value), value | implied);
        let mut parts = Parts::new(HYPERVISOR);
        let value = value | implied;
        assert_eq!(parts.return_with(mnemonic, 0x1000, value), value);
        let mut parts = Parts::new(HYPERVISOR);
        assert_eq!(parts.return_with(mnemonic, 0x1000, msr::SF), msr::SF);
    }
    let mut parts = Parts::new(HYPERVISOR);
    assert_eq!(parts.move_to_msr(Mnemonic::Mtmsrd, msr::SF | msr::PR, 0) & implied, implied);
}

#[test]
fn a_return_goes_to_a_word_and_in_32_bit_mode_to_a_word_below_4_gib() {
    let mut parts = Parts::new(HYPERVISOR);
    parts.return_with(Mnemonic::Rfid, 0x1234_5678_9ABC_DEF3, HYPERVISOR);
    assert_eq!(parts.thread.nia, 0x1234_5678_9ABC_DEF0);
    parts.return_with(Mnemonic::Rfid, 0x1234_5678_9ABC_DEF7, HYPERVISOR & !msr::SF);
    assert_eq!(parts.thread.nia, 0x9ABC_DEF4);
}

#[test]
fn rfid_gives_a_guest_neither_hv_nor_another_me() {
    assert_eq!(Parts::new(HYPERVISOR).return_with(Mnemonic::Rfid, 0, ALL), ALL);
    assert_eq!(Parts::new(HYPERVISOR).return_with(Mnemonic::Rfid, 0, 0), 0);
    for me in [0, msr::ME] {
        let guest = GUEST & !msr::ME | me;
        let all = ALL & !(msr::HV | msr::ME) | me;
        assert_eq!(Parts::new(guest).return_with(Mnemonic::Rfid, 0, ALL), all);
        assert_eq!(Parts::new(guest).return_with(Mnemonic::Rfid, 0, 0), me);
    }
}

#[test]
fn mtmsrd_changes_all_but_hv_le_and_a_guests_me() {
    let fixed = msr::HV | msr::LE;
    for old in [0, fixed, msr::HV, ALL] {
        let kept = if old & msr::HV == 0 { fixed | msr::ME } else { fixed };
        for new in [0, ALL] {
            let mut parts = Parts::new(old);
            let result = parts.move_to_msr(Mnemonic::Mtmsrd, new, 0);
            assert_eq!(result, new & !kept | old & kept, "{old:#x} to {new:#x}");
            parts.run(Mnemonic::Mfmsr, &[3]).unwrap();
            assert_eq!(parts.thread.gpr[3], result);
            let result = Parts::new(old).move_to_msr(Mnemonic::Mtmsr, new, 0);
            let kept = kept | 0xFFFF_FFFF_0000_0000;
            assert_eq!(result, new & !kept | old & kept, "{old:#x} to {new:#x}, low word");
        }
    }
}

#[test]
fn with_l_set_only_ee_and_ri_change() {
    let changes = msr::EE | msr::RI;
    for mnemonic in [Mnemonic::Mtmsr, Mnemonic::Mtmsrd] {
        for old in [0, HYPERVISOR, ALL] {
            for new in [0, ALL] {
                let result = Parts::new(old).move_to_msr(mnemonic, new, 1);
                assert_eq!(result, old & !changes | new & changes, "{old:#x} to {new:#x}");
            }
        }
    }
}

#[test]
fn a_system_call_is_over_when_it_interrupts_and_level_1_goes_to_the_hypervisor() {
    for (level, to_hypervisor) in [(0, false), (1, true)] {
        let mut parts = Parts::new(GUEST);
        let interrupt = interrupt(parts.run(Mnemonic::Sc, &[level]));
        assert_eq!((interrupt.vector, interrupt.status), (Vector::SystemCall, 0));
        assert!(interrupt.is_after_instruction);
        assert_eq!(interrupt.to_hypervisor, to_hypervisor);
        assert_eq!(parts.thread.nia, parts.thread.cia + 4);
    }
}

#[test]
fn system_instructions_are_privileged_and_some_the_hypervisors() {
    let privileged = (Vector::Program, program::PRIVILEGED);
    let cases: [(Mnemonic, &[i64]); 4] = [
        (Mnemonic::Rfid, &[]),
        (Mnemonic::Mfmsr, &[3]),
        (Mnemonic::Mtmsr, &[3, 0]),
        (Mnemonic::Mtmsrd, &[3, 0]),
    ];
    for (mnemonic, operands) in cases {
        assert_eq!(vector(Parts::new(PROBLEM).run(mnemonic, operands)), privileged, "{mnemonic:?}");
        assert!(Parts::new(GUEST).run(mnemonic, operands).is_ok(), "{mnemonic:?}");
    }
    assert_eq!(vector(Parts::new(GUEST).run(Mnemonic::Hrfid, &[])), privileged);
}

#[test]
fn slbia_synchronizes_with_radix_translation() {
    let mut parts = Parts::new(HYPERVISOR);
    assert_eq!(parts.run(Mnemonic::Slbia, &[0]), Ok(Flow::Synchronize));
}

#[test]
fn a_transaction_state_cannot_be_written_from_outside_of_a_transaction() {
    let bad_thing = (Vector::Program, program::TM_BAD_THING);
    for state in [1, 2, 3] {
        let value = msr::TS.set(HYPERVISOR, state);
        for mnemonic in [Mnemonic::Rfid, Mnemonic::Hrfid] {
            let mut parts = Parts::new(HYPERVISOR);
            parts.thread.set_spr(Spr::Srr1, value);
            parts.thread.set_spr(Spr::Hsrr1, value);
            assert_eq!(vector(parts.run(mnemonic, &[])), bad_thing);
            assert_eq!(parts.thread.msr(), HYPERVISOR, "nothing was written");
        }
        let mut parts = Parts::new(GUEST);
        (parts.thread.gpr[4], parts.thread.ctr) = (value, value);
        assert_eq!(vector(parts.run(Mnemonic::Mtmsrd, &[4, 0])), bad_thing);
        assert_eq!(vector(parts.run(Mnemonic::Rfscv, &[])), bad_thing);
        // These leave the upper half alone.
        assert!(parts.run(Mnemonic::Mtmsr, &[4, 0]).is_ok());
        assert!(parts.run(Mnemonic::Mtmsrd, &[4, 1]).is_ok());
    }
}
