//! Vector and vector-scalar instructions: what makes them unavailable.

use super::parts::{GUEST, HYPERVISOR, Parts, interrupt};
use arch::instruction::{VectorFacility, Word, vector_facility};
use arch::interrupt::Vector;
use arch::registers::hfscr::Facility;
use arch::registers::msr;
use arch::registers::spr::Spr;
use simulator::exec::{Flow, Mode, select};
use simulator::state::thread::trap::Cause;

const FACILITIES: [(VectorFacility, u64, Vector, Facility); 3] = [
    (VectorFacility::FloatingPoint, msr::FP, Vector::FloatingPointUnavailable, Facility::Fp),
    (VectorFacility::Vector, msr::VEC, Vector::VectorUnavailable, Facility::VecVsx),
    (VectorFacility::Vsx, msr::VSX, Vector::VsxUnavailable, Facility::VecVsx),
];

/// One word of each kind and opcode space: as GNU as writes them.
const WORDS: [(u32, VectorFacility); 13] = [
    (0x1000_04C4, VectorFacility::Vector),        // vxor 0,0,0
    (0x1043_236C, VectorFacility::Vector),        // vsldoi 2,3,4,13
    (0x7C00_18CE, VectorFacility::Vector),        // lvx 0,0,3
    (0xE443_0002, VectorFacility::Vector),        // lxsd 2,0(3)
    (0xF443_0019, VectorFacility::Vector),        // lxv 34,16(3)
    (0xF443_0011, VectorFacility::Vsx),           // lxv 2,16(3)
    (0x7C00_1E98, VectorFacility::Vsx),           // lxvd2x 0,0,3
    (0xF000_0490, VectorFacility::Vsx),           // xxlor 0,0,0
    (0xFC43_2008, VectorFacility::Vsx),           // xsaddqp 2,3,4
    (0x7C43_2219, VectorFacility::Vector),        // lxvx 34,3,4
    (0x7C43_2218, VectorFacility::Vsx),           // lxvx 2,3,4
    (0x7C43_0066, VectorFacility::FloatingPoint), // mfvsrd 3,2
    (0x7C43_0067, VectorFacility::Vector),        // mfvsrd 3,34
];

fn run(parts: &mut Parts, word: u32) -> Result<Flow, Cause> {
    let (word, mode) = (Word(word), Mode::of(&parts.thread));
    let (handler, word, _) = select(word, parts.shared.processor, mode);
    let outcome = handler(&mut parts.thread, &mut parts.shared, word);
    outcome.map_err(|_| parts.thread.take_cause().expect("a trap has a cause"))
}

#[test]
fn the_bit_of_the_msr_decides_whether_there_is_an_interrupt() {
    let all = msr::FP | msr::VEC | msr::VSX;
    for (word, facility) in WORDS {
        assert_eq!(vector_facility(Word(word)), Some(facility), "{word:#x}");
        let (_, bit, vector, _) = FACILITIES.into_iter().find(|row| row.0 == facility).unwrap();
        for state in [HYPERVISOR, GUEST] {
            // The other bits do not help.
            let taken = interrupt(run(&mut Parts::new(state | all & !bit), word));
            assert_eq!((taken.vector, taken.status), (vector, 0), "{word:#x}");
            assert!(!taken.is_after_instruction);
            if let Err(Cause::Interrupt(taken)) = run(&mut Parts::new(state | bit), word) {
                // What storage says of address 0 or 16.
                let withheld = [vector, Vector::HypervisorFacilityUnavailable];
                assert!(!withheld.contains(&taken.vector), "{word:#x}");
            }
        }
    }
}

#[test]
fn the_hypervisor_is_asked_before_the_msr() {
    for (word, facility) in WORDS {
        let (_, bit, vector, cause) = FACILITIES.into_iter().find(|row| row.0 == facility).unwrap();
        for msr in [GUEST, GUEST | bit] {
            let mut parts = Parts::new(msr);
            parts.thread.set_spr(Spr::Hfscr, !cause.bit());
            let taken = interrupt(run(&mut parts, word));
            let expected = (Vector::HypervisorFacilityUnavailable, Some(cause));
            assert_eq!((taken.vector, taken.facility), expected, "{word:#x}");
        }
        // It is not asked by itself.
        let mut parts = Parts::new(HYPERVISOR);
        parts.thread.set_spr(Spr::Hfscr, 0);
        assert_eq!(interrupt(run(&mut parts, word)).vector, vector);
    }
}

#[test]
fn what_is_no_opcode_of_these_spaces_is_left_to_the_hypervisor() {
    // Holes of primary opcode 4 and 60, and a conversion that does not exist.
    for word in [0x1000_000B, 0x1000_0005, 0xF000_0390, 0x1002_0602, 0xF002_056C] {
        let taken = interrupt(run(&mut Parts::new(GUEST), word));
        assert_eq!(taken.vector, Vector::HypervisorEmulationAssistance, "{word:#x}");
        assert_eq!(taken.image, Some(Word(word)));
    }
}
