//! What a partition's kernel does with privileged doorbells where HFSCR withholds them: `msgsndp`, `msgclrp`, TIR and
//! DPDES.
//!
//! Its device tree gives each vCPU a core of its own, so that a vCPU is thread 0 there and rings itself alone.
//! Source: Power ISA 3.0B Book III, Processor Control; `docs/facts/special-registers.md#facilities`.

use arch::bits::Field;
use arch::registers::spr::Spr;

use super::presentation::Presentation;

/// RT of an instruction, RB, and the number of a special-purpose register with its halves swapped.
const RT: Field = Field::new(38, 42);
const RB: Field = Field::new(48, 52);
const SPR_LOW: Field = Field::new(43, 47);
const SPR_HIGH: Field = Field::new(48, 52);
/// The primary and the extended opcode.
const OPCODES: u64 = 0xFC00_07FE;
const MFSPR: u64 = 31 << 26 | 339 << 1;
const MTSPR: u64 = 31 << 26 | 467 << 1;
const MSGSNDP: u64 = 31 << 26 | 142 << 1;
const MSGCLRP: u64 = 31 << 26 | 174 << 1;

/// The message type of RB, and that of a doorbell; any other one does nothing.
const TYPE: Field = Field::new(32, 36);
const DOORBELL: u64 = 5;
/// The thread of RB, by TIR.
const THREAD: Field = Field::new(57, 63);
/// TIR of every vCPU.
const OWN_THREAD: u64 = 0;

/// An instruction, with the general-purpose register that it names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Doorbell {
    /// `mfspr` of TIR.
    ReadThread(u8),
    /// `mfspr` of DPDES.
    ReadPending(u8),
    /// `msgsndp`.
    Ring(u8),
    /// `msgclrp`.
    Clear(u8),
    /// `mtspr` of either, which is the hypervisor's.
    Write,
}

impl Doorbell {
    /// What the instruction with this image does, if it is one of these.
    #[must_use]
    pub const fn of(image: u32) -> Option<Self> {
        let image = image as u64;
        let (target, operand) = (RT.get(image) as u8, RB.get(image) as u8);
        let number = SPR_HIGH.get(image) << 5 | SPR_LOW.get(image);
        let is_tir = number == Spr::Tir.number_to_read() as u64;
        let is_dpdes = number == Spr::Dpdes.number_to_read() as u64;
        match image & OPCODES {
            MFSPR if is_tir => Some(Self::ReadThread(target)),
            MFSPR if is_dpdes => Some(Self::ReadPending(target)),
            MTSPR if is_tir || is_dpdes => Some(Self::Write),
            MSGSNDP => Some(Self::Ring(operand)),
            MSGCLRP => Some(Self::Clear(operand)),
            _ => None,
        }
    }

    /// Does it, with the vCPU's general-purpose registers.
    pub fn carry_out(self, gpr: &mut [u64; 32], presentation: &Presentation) {
        let is_doorbell = |register: u8| TYPE.get(gpr[usize::from(register)]) == DOORBELL;
        match self {
            Self::ReadThread(target) => gpr[usize::from(target)] = OWN_THREAD,
            Self::ReadPending(target) => {
                gpr[usize::from(target)] = u64::from(presentation.is_rung()) << OWN_THREAD;
            }
            Self::Ring(operand) => {
                if is_doorbell(operand) && THREAD.get(gpr[usize::from(operand)]) == OWN_THREAD {
                    presentation.set_doorbell(true);
                }
            }
            Self::Clear(operand) => {
                if is_doorbell(operand) {
                    presentation.set_doorbell(false);
                }
            }
            Self::Write => {}
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Doorbell, Presentation};

    /// Encodings by binutils: `mfspr 7,TIR`; `mfspr 31,DPDES`; `msgsndp 9`; `msgclrp 30`; `mtspr TIR,7`.
    #[test]
    fn instructions_are_read_as_binutils_writes_them() {
        assert_eq!(Doorbell::of(0x7CFE_6AA6), Some(Doorbell::ReadThread(7)));
        assert_eq!(Doorbell::of(0x7FF0_2AA6), Some(Doorbell::ReadPending(31)));
        assert_eq!(Doorbell::of(0x7C00_491C), Some(Doorbell::Ring(9)));
        assert_eq!(Doorbell::of(0x7C00_F15C), Some(Doorbell::Clear(30)));
        assert_eq!(Doorbell::of(0x7CFE_6BA6), Some(Doorbell::Write));
        // mfspr 7,LR; mtspr LR,7; msgsnd 9; nop.
        for other in [0x7CE8_02A6, 0x7CE8_03A6, 0x7C00_499C, 0x6000_0000] {
            assert_eq!(Doorbell::of(other), None, "{other:#x}");
        }
    }

    #[test]
    fn a_vcpu_rings_itself_and_nobody_else() {
        const RINGS: u64 = 5 << 27;
        let presentation = Presentation::default();
        let mut gpr = [0xDEAD; 32];
        let mut does = |doorbell: Doorbell, operand| {
            gpr[9] = operand;
            doorbell.carry_out(&mut gpr, &presentation);
            gpr[9]
        };
        assert_eq!(does(Doorbell::ReadThread(9), 7), 0);
        // Another thread, and another type of message.
        for operand in [RINGS | 1, RINGS | 64, 4 << 27] {
            does(Doorbell::Ring(9), operand);
            assert_eq!(does(Doorbell::ReadPending(9), 7), 0, "{operand:#x}");
        }
        // What is above the type and between type and thread does not count.
        does(Doorbell::Ring(9), 0xFFFF_FFFF_0000_0000 | RINGS | 0x80);
        assert_eq!(does(Doorbell::ReadPending(9), 7), 1);
        does(Doorbell::Clear(9), 4 << 27);
        assert_eq!(does(Doorbell::ReadPending(9), 7), 1);
        does(Doorbell::Clear(9), RINGS | 3);
        assert_eq!(does(Doorbell::ReadPending(9), 7), 0);
        assert!(gpr.iter().enumerate().all(|(number, value)| number == 9 || *value == 0xDEAD));
    }
}
