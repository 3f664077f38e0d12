//! Which renamed registers an instruction reads and writes.
//!
//! Most of it follows from the operands of its row in `arch`; what they do not tell (carry, CR0, the
//! link register, the target of a logical operation) is in one place here.

use arch::instruction::{Mnemonic, Operand, Row, Word};

use super::registers::{
    CARRY, CTR, FPSCR, LR, OVERFLOW, Registers, TAR, XER, cr, fpr, gpr, renamed_spr, vr, vsr,
};

/// Whether an instruction is one of VSX about floating-point numbers.
fn is_vector_scalar(row: &Row) -> bool {
    row.name.starts_with("xs") || row.name.starts_with("xv")
}

/// Whether an instruction of VSX about floating-point numbers does more than move their bits.
fn sets_fpscr(row: &Row) -> bool {
    const MOVES: [&str; 9] =
        ["abs", "neg", "cpsgn", "xexp", "xsig", "iexp", "xvtst", "cvdpspn", "cvspdpn"];
    const TESTS: [&str; 2] = ["tdiv", "tsqrt"];
    !MOVES.iter().chain(&TESTS).any(|part| row.name.contains(part))
}

/// What an instruction reads and writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Effects {
    /// Read.
    pub sources: Registers,
    /// Written.
    pub targets: Registers,
    /// Written when the address is known: RA of an update form.
    pub base: Registers,
}

impl Effects {
    /// What the instruction `word` of `row` reads and writes.
    #[must_use]
    pub fn of(row: &Row, word: Word) -> Self {
        let mut effects = Self::default();
        for (index, &operand) in row.operands.iter().enumerate() {
            effects.operand(row, operand, index == 0, word);
        }
        effects.implied(row, word);
        effects
    }

    fn operand(&mut self, row: &Row, operand: Operand, is_first: bool, word: Word) {
        use Operand as O;
        let Self { sources, targets, base } = self;
        let is_update = matches!(row.operands, [_, O::D | O::DS, O::RA])
            || matches!(row.operands, [O::RT | O::RS | O::FRT | O::FRS, O::RA, O::RB])
                && row.name.ends_with("ux");
        match operand {
            O::RT => targets.add(gpr(word.rt())),
            O::RS => sources.add(gpr(word.rs())),
            O::RTp => targets.pair(gpr(word.rt())),
            O::RSp => sources.pair(gpr(word.rs())),
            // POWER9 ignores data streams.
            O::RA | O::RB if row.operands.ends_with(&[O::STRM]) => {}
            O::RA if is_first && row.operands.len() > 1 => {
                targets.add(gpr(word.ra()));
                // A rotate that inserts keeps the rest of its target.
                if matches!(row.mnemonic, Mnemonic::Rlwimi | Mnemonic::Rldimi) {
                    sources.add(gpr(word.ra()));
                }
            }
            O::RA => {
                sources.add(gpr(word.ra()));
                if is_update {
                    base.add(gpr(word.ra()));
                }
            }
            O::RA0 if word.ra() != 0 => sources.add(gpr(word.ra())),
            O::RB => sources.add(gpr(word.rb())),
            O::RC => sources.add(gpr(word.rc_register())),
            O::FRT => targets.add(fpr(word.frt())),
            O::FRS => sources.add(fpr(word.frs())),
            O::FRTp => targets.pair(fpr(word.frt())),
            O::FRSp => sources.pair(fpr(word.frs())),
            O::FRAp => sources.pair(fpr(word.fra())),
            O::FRBp => sources.pair(fpr(word.frb())),
            O::FRA => sources.add(fpr(word.fra())),
            O::FRB => sources.add(fpr(word.frb())),
            O::FRC => sources.add(fpr(word.frc())),
            O::VRT => targets.add(vr(word.vrt())),
            O::VRS => sources.add(vr(word.vrs())),
            O::VRA => sources.add(vr(word.vra())),
            O::VRB => sources.add(vr(word.vrb())),
            O::VRC => sources.add(vr(word.vrc())),
            O::XT => targets.add(vsr(word.xt())),
            O::XS => sources.add(vsr(word.xt())),
            O::XA => sources.add(vsr(word.xa())),
            O::XB => sources.add(vsr(word.xb())),
            O::XC => sources.add(vsr(word.xc())),
            O::XT_dq => targets.add(vsr(word.xt_dq())),
            O::XS_dq => sources.add(vsr(word.xt_dq())),
            O::BF => targets.add(cr(word.bf())),
            O::BFA if row.mnemonic == Mnemonic::Mcrfs => sources.add(FPSCR),
            O::BFA => sources.add(cr(word.bfa())),
            // A bit is merged into its field.
            O::BT => {
                sources.add(cr(word.bt() / 4));
                targets.add(cr(word.bt() / 4));
            }
            O::BA => sources.add(cr(word.ba() / 4)),
            O::BB => sources.add(cr(word.bb() / 4)),
            O::BC => sources.add(cr(word.bc() / 4)),
            O::BF_fpscr | O::BT_fpscr | O::FLM => targets.add(FPSCR),
            O::FXM => {
                let fields = (0..8).filter(|field| word.fxm() >> (7 - field) & 1 != 0).map(cr);
                let set = if row.mnemonic == Mnemonic::Mfocrf { sources } else { targets };
                fields.for_each(|field| set.add(field));
            }
            O::SPR => {
                let set = if row.mnemonic == Mnemonic::Mfspr { sources } else { targets };
                renamed_spr(word.spr()).iter().for_each(|&register| set.add(register));
            }
            _ => {}
        }
    }

    /// What no operand names.
    fn implied(&mut self, row: &Row, word: Word) {
        use Mnemonic as M;
        let Self { sources, targets, .. } = self;
        let is_target = |operand: &Operand| matches!(operand, Operand::FRT | Operand::FRTp);
        let is_floating = row.operands.iter().any(is_target);
        let is_vector =
            row.operands.iter().any(|operand| matches!(operand, Operand::VRT | Operand::XT));
        if row.is_record(word) || row.name.ends_with('.') {
            let field = match (is_vector, is_floating) {
                (true, _) => 6,
                (false, true) => 1,
                (false, false) => 0,
            };
            targets.add(cr(field));
        }
        if row.has_oe && word.oe() {
            targets.add(OVERFLOW);
        }
        match row.mnemonic {
            M::Addic
            | M::AddicRc
            | M::Subfic
            | M::Addc
            | M::Subfc
            | M::Sraw
            | M::Srawi
            | M::Srad
            | M::Sradi => targets.add(CARRY),
            M::Adde | M::Addme | M::Addze | M::Subfe | M::Subfme | M::Subfze => {
                sources.add(CARRY);
                targets.add(CARRY);
            }
            M::Addex => {
                sources.add(OVERFLOW);
                targets.add(OVERFLOW);
            }
            M::Mcrxrx => {
                sources.add(CARRY);
                sources.add(OVERFLOW);
            }
            M::Lswx => {
                sources.add(XER);
                (0..32).for_each(|number| targets.add(gpr(number)));
            }
            M::Stswx => {
                sources.add(XER);
                (0..32).for_each(|number| sources.add(gpr(number)));
            }
            // The rest of the target stays.
            M::Vinsertb | M::Vinserth | M::Vinsertw | M::Vinsertd | M::Vrlwmi | M::Vrldmi => {
                sources.add(vr(word.vrt()));
            }
            M::Lvebx | M::Lvehx | M::Lvewx => sources.add(vr(word.vrt())),
            M::Xxinsertw | M::Xxperm | M::Xxpermr => sources.add(vsr(word.xt())),
            M::Lmw => (word.rt()..32).for_each(|number| targets.add(gpr(number))),
            M::Stmw => (word.rs()..32).for_each(|number| sources.add(gpr(number))),
            M::Lswi => registers(word).for_each(|number| targets.add(gpr(number))),
            M::Stswi => registers(word).for_each(|number| sources.add(gpr(number))),
            M::Mfcr => *sources = Registers::CONDITION,
            M::Mffs | M::Mffsl => sources.add(FPSCR),
            M::Mffsce | M::Mffscdrn | M::Mffscdrni | M::Mffscrn | M::Mffscrni => {
                sources.add(FPSCR);
                targets.add(FPSCR);
            }
            M::B => {}
            M::Bc | M::Bclr | M::Bcctr | M::Bctar => self.branch(row.mnemonic, word),
            _ if is_floating && row.has_rc => targets.add(FPSCR),
            _ if is_vector_scalar(row) => {
                if sets_fpscr(row) {
                    targets.add(FPSCR);
                }
                // The target of a multiply-add is an operand.
                if row.name.contains("madd") || row.name.contains("msub") {
                    let is_quad = row.operands.contains(&Operand::VRT);
                    sources.add(if is_quad { vr(word.vrt()) } else { vsr(word.xt()) });
                }
            }
            _ => {}
        }
        if matches!(row.mnemonic, M::B | M::Bc | M::Bclr | M::Bcctr | M::Bctar) && word.lk() {
            self.targets.add(LR);
        }
    }

    fn branch(&mut self, mnemonic: Mnemonic, word: Word) {
        let Self { sources, targets, .. } = self;
        if word.bo() & 0b10000 == 0 {
            sources.add(cr(word.bi() / 4));
        }
        if word.bo() & 0b00100 == 0 {
            sources.add(CTR);
            targets.add(CTR);
        }
        match mnemonic {
            Mnemonic::Bclr => sources.add(LR),
            Mnemonic::Bcctr => sources.add(CTR),
            Mnemonic::Bctar => sources.add(TAR),
            _ => {}
        }
    }
}

/// The GPRs that `lswi` and `stswi` move.
fn registers(word: Word) -> impl Iterator<Item = usize> {
    let count = word.nb().div_ceil(4) as usize;
    (0..count).map(move |index| word.rt() + index)
}

#[cfg(test)]
mod tests {
    use super::Effects;
    use crate::pipeline::registers::Registers;
    use arch::instruction::{Mnemonic, decode, encode};

    fn effects(mnemonic: Mnemonic, operands: &[i64], record: bool) -> [Vec<usize>; 3] {
        let word = encode(mnemonic, operands, record, false).unwrap();
        let Effects { sources, targets, base } = Effects::of(decode(word).unwrap(), word);
        [sources, targets, base].map(Registers::collect)
    }

    #[test]
    fn what_an_instruction_reads_and_writes() {
        use Mnemonic as M;
        assert_eq!(effects(M::Add, &[3, 4, 5], true), [vec![4, 5], vec![3, 64], vec![]]);
        assert_eq!(effects(M::Or, &[3, 4, 5], false), [vec![4, 5], vec![3], vec![]]);
        assert_eq!(effects(M::AndiRc, &[3, 4, 1], false), [vec![4], vec![3, 64], vec![]]);
        assert_eq!(effects(M::Adde, &[3, 4, 5], false), [vec![4, 5, 72], vec![3, 72], vec![]]);
        assert_eq!(effects(M::Rldimi, &[3, 4, 0, 0], false), [vec![3, 4], vec![3], vec![]]);
        assert_eq!(effects(M::Ld, &[3, 8, 0], false), [vec![], vec![3], vec![]]);
        assert_eq!(effects(M::Ldu, &[3, 8, 4], false), [vec![4], vec![3], vec![4]]);
        assert_eq!(effects(M::Lwzux, &[3, 4, 5], false), [vec![4, 5], vec![3], vec![4]]);
        assert_eq!(effects(M::Stdu, &[1, -64, 1], false), [vec![1], vec![], vec![1]]);
        assert_eq!(effects(M::Stdcx, &[3, 4, 5], false), [vec![3, 4, 5], vec![64], vec![]]);
        assert_eq!(effects(M::Cmpi, &[7, 1, 3, 0], false), [vec![3], vec![71], vec![]]);
        assert_eq!(effects(M::Bc, &[16, 0, -4, 0, 0], false), [vec![76], vec![76], vec![]]);
        assert_eq!(effects(M::Bclr, &[20, 0, 0, 0], false), [vec![75], vec![], vec![]]);
        assert_eq!(effects(M::Mtspr, &[9, 3], false), [vec![3], vec![76], vec![]]);
        assert_eq!(effects(M::Mfspr, &[3, 26], false), [vec![], vec![3], vec![]]);
        assert_eq!(effects(M::Fadd, &[1, 2, 3], false), [vec![34, 35], vec![33, 78], vec![]]);
        assert_eq!(effects(M::Xxlor, &[1, 33, 2], false), [vec![34, 80], vec![33], vec![]]);
        assert_eq!(effects(M::Vcmpequb, &[0, 0, 31], true), [vec![79, 110], vec![70, 79], vec![]]);
        assert_eq!(effects(M::Mfvsrd, &[3, 32], false), [vec![79], vec![3], vec![]]);
        assert_eq!(effects(M::Lvx, &[1, 0, 4], false), [vec![4], vec![80], vec![]]);
        assert_eq!(effects(M::Xxperm, &[1, 2, 3], false), [vec![33, 34, 35], vec![33], vec![]]);
        let fused = effects(M::Xvmaddasp, &[33, 2, 3], false);
        assert_eq!(fused, [vec![34, 35, 80], vec![78, 80], vec![]]);
        assert_eq!(effects(M::Xsmaddqp, &[1, 2, 3], false)[0], vec![80, 81, 82]);
        assert_eq!(effects(M::Xsnegdp, &[1, 2], false), [vec![34], vec![33], vec![]]);
        assert_eq!(effects(M::Xvcmpeqdp, &[1, 2, 3], true)[1], vec![33, 70, 78]);
        assert_eq!(effects(M::Isel, &[3, 4, 5, 2], false), [vec![4, 5, 64], vec![3], vec![]]);
    }
}
