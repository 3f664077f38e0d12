//! Random cases: valid forms from the instruction table, with states steered so that accesses hit
//! the window, branches one of the exits, and operands the edges.

use arch::instruction::{Mnemonic, Operand, Row, Word, encode};
use arch::processor::Processor;
use arch::registers::{vscr, xer};
use fastrand::Rng;

use crate::access::{Access, access, reserving_load};
use crate::case::Case;
use crate::layout::{LANDING, WINDOW};
use crate::program::BACKWARD;
use crate::state::{State, WINDOW_BYTES};
use crate::values::{self, fixed, floating};
use crate::{decimal, floating_point, vector, vector_scalar};

/// Numbers of special-purpose registers that problem state has and that hold still: XER, LR, CTR,
/// VRSAVE, TAR.
const SPRS: [i64; 5] = [1, 8, 9, 256, 815];

/// Function codes of the atomic operations; the stores have fewer.
const FUNCTIONS: [i64; 13] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 24, 25, 28];

/// A random case of an instruction of `processor`.
#[must_use]
pub fn generate(row: &'static Row, processor: Processor, rng: &mut Rng) -> Case {
    let mut start = state(rng);
    start.xer &= processor.facts().xer;
    let mut word = loop {
        let word = word(row, rng);
        if !row.is_invalid_form(word, processor) {
            break word;
        }
    };
    steer_branch(row.mnemonic, &mut start, rng);
    floating_point::steer(row, word, &mut start, rng);
    decimal::steer(row, word, &mut start, rng);
    vector::steer(row, word, &mut start, rng);
    word = vector_scalar::steer(row, word, &mut start, rng);
    if row.mnemonic == Mnemonic::Lswx && rng.u32(..8) != 0 {
        // A longer string hardly leaves a register for its address.
        start.xer &= !(xer::BYTES & !0x1F);
    }
    let mut words = Vec::new();
    if let Some(access) = access(row.mnemonic, word, start.xer) {
        word = steer_access(row, word, access, &mut start, rng);
        if let Some(load) = reserving_load(row.mnemonic) {
            // Mostly with a reservation. A target register that is not an operand: a load of the
            // address or of the value to store would spoil the case.
            let target = (0..32).step_by(2).find(|pair| {
                let used = [word.rs(), word.ra(), word.rb()];
                used.iter().all(|register| register & !1 != *pair as usize)
            });
            let target = target.expect("three operands leave a pair");
            let operands = [target, word.ra() as i64, word.rb() as i64, 0];
            if rng.u32(..8) != 0 {
                words.push(encode(load, &operands, false, false).expect("a valid load"));
            }
        }
    }
    words.push(word);
    Case { mnemonic: row.mnemonic, words, start }
}

fn state(rng: &mut Rng) -> State {
    // Now and then few values in many registers, so that operands are equal.
    let few = [fixed(rng), fixed(rng)];
    let few_vectors = [values::vector(rng), values::vector(rng)];
    let is_varied = rng.u32(..8) != 0;
    State {
        gpr: std::array::from_fn(|_| if is_varied { fixed(rng) } else { few[rng.usize(..2)] }),
        cr: rng.u32(..).into(),
        xer: rng.u64(..) & xer::MASK,
        lr: fixed(rng),
        ctr: fixed(rng),
        tar: fixed(rng),
        vrsave: rng.u32(..).into(),
        fpscr: floating_point::status(rng),
        exit: 0,
        vscr: [0, (rng.u32(..) & vscr::MASK).into()],
        vsr: std::array::from_fn(|register| match register {
            0..32 if !is_varied => few_vectors[rng.usize(..2)],
            0..32 => [floating(rng), values::vector(rng)[1]],
            _ if is_varied => values::vector(rng),
            _ => few_vectors[rng.usize(..2)],
        }),
        window: std::array::from_fn(|_| rng.u8(..)),
    }
}

/// A random word of a row; it may be an invalid form.
fn word(row: &Row, rng: &mut Rng) -> Word {
    let absolute = rng.u32(..4) == 0;
    let mut value = |operand: Operand| match operand {
        Operand::LI | Operand::BD if absolute => LANDING as i64,
        Operand::LI | Operand::BD => *rng.choice(&[8, BACKWARD]).expect("two exits"),
        Operand::AA => absolute.into(),
        Operand::SPR => *rng.choice(&SPRS).expect("there are registers"),
        Operand::FC if rng.u32(..16) != 0 => *rng.choice(&FUNCTIONS).expect("there are functions"),
        Operand::FXM if matches!(row.mnemonic, Mnemonic::Mtocrf | Mnemonic::Mfocrf) => {
            1 << rng.u32(..8)
        }
        _ => {
            let (lowest, highest) = operand.range();
            let multiple = operand.multiple_of();
            rng.i64(lowest / multiple..=highest / multiple) * multiple
        }
    };
    let operands: Vec<i64> = row.operands.iter().map(|&operand| value(operand)).collect();
    let (rc, oe) = (row.has_rc && rng.bool(), row.has_oe && rng.bool());
    encode(row.mnemonic, &operands, rc, oe).expect("operands in their ranges")
}

/// Makes a branch end at one of the exits, and its counter interesting.
fn steer_branch(mnemonic: Mnemonic, start: &mut State, rng: &mut Rng) {
    const COUNTS: [u64; 6] = [0, 1, 2, 1 << 32, (1 << 32) + 1, 1 << 63];
    if matches!(mnemonic, Mnemonic::Bc | Mnemonic::Bclr | Mnemonic::Bctar) {
        start.ctr = *rng.choice(&COUNTS).expect("there are counts");
    }
    // The low two bits of a target register do not count.
    let target = LANDING | rng.u64(..4);
    match mnemonic {
        Mnemonic::Bclr => start.lr = target,
        Mnemonic::Bcctr => start.ctr = target,
        Mnemonic::Bctar => start.tar = target,
        _ => {}
    }
}

/// Chooses an address in the window and gives the base and index registers values that make it, or
/// without a base register the displacement.
fn steer_access(row: &Row, word: Word, access: Access, start: &mut State, rng: &mut Rng) -> Word {
    let last = WINDOW_BYTES as u64 - access.bytes;
    let page_end = WINDOW_BYTES as u64 / 2;
    let offset = match rng.u32(..4) {
        // Across the end of the page.
        0 if access.bytes > 1 => page_end - rng.u64(1..access.bytes),
        1 => rng.u64(..=last) & !(access.bytes.next_power_of_two() - 1),
        _ => rng.u64(..=last),
    };
    let mostly = if rng.u32(..8) == 0 { 1 } else { access.multiple_of };
    let address = WINDOW + offset.min(last) / mostly * mostly;
    let (ra, rb) = (word.ra(), word.rb());
    let is_displacement = |o: &&Operand| matches!(o, Operand::D | Operand::DS | Operand::DQ);
    if let Some(displacement) = row.operands.iter().find(is_displacement) {
        if ra != 0 {
            start.gpr[ra] = address.wrapping_add_signed(-displacement.extract(word));
            return word;
        }
        let value = address as i64 / displacement.multiple_of() * displacement.multiple_of();
        let bits = displacement.insert(value).expect("the window is in reach of a displacement");
        return Word(word.0 & !displacement.bits() | bits);
    }
    if !row.operands.contains(&Operand::RB) {
        start.gpr[ra] = address;
    } else if ra == 0 {
        start.gpr[rb] = address;
    } else if ra == rb {
        start.gpr[ra] = address / 2;
    } else {
        start.gpr[rb] = address.wrapping_sub(start.gpr[ra]);
    }
    word
}
