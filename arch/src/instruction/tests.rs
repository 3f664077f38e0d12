//! The table is consistent in itself, and encoder, decoder and accessors agree. Whether the
//! encodings are those of the architecture is for `tests/objdump.rs`.

extern crate std;

use proptest::prelude::*;
use std::string::ToString;
use std::vec::Vec;

use super::*;
use crate::processor::Processor;

fn any_row() -> impl Strategy<Value = &'static Row> {
    (0..TABLE.len()).prop_map(|index| &TABLE[index])
}

/// A row with random values for its operands, Rc and OE.
fn any_instruction() -> impl Strategy<Value = (&'static Row, Vec<i64>, bool, bool)> {
    any_row().prop_flat_map(|row| {
        let operands: Vec<_> = row
            .operands
            .iter()
            .map(|operand| {
                let (lowest, highest) = operand.range();
                let multiple = operand.multiple_of();
                (lowest / multiple..=highest / multiple).prop_map(move |step| step * multiple)
            })
            .collect();
        let flag = |has| {
            if has { any::<bool>().boxed() } else { Just(false).boxed() }
        };
        (Just(row), operands, flag(row.has_rc), flag(row.has_oe))
    })
}

#[test]
fn no_word_matches_two_rows() {
    for (index, row) in TABLE.iter().enumerate() {
        for other in &TABLE[index + 1..] {
            let distinct = (row.value ^ other.value) & row.mask & other.mask;
            assert!(distinct != 0, "{} and {} overlap", row.name, other.name);
        }
    }
}

#[test]
fn every_row_is_at_its_mnemonic() {
    for (index, row) in TABLE.iter().enumerate() {
        assert_eq!(row.mnemonic as usize, index, "{}", row.name);
    }
}

#[test]
fn opcode_operands_and_reserved_bits_are_the_whole_word_once() {
    for row in TABLE {
        assert_eq!(row.value & !row.mask, 0, "{}: mask covers value", row.name);
        let flags = row.rc_bit | u32::from(row.has_oe) << 10;
        let operands = row.operands.iter().map(|operand| operand.bits());
        let mut union = 0;
        for part in operands.chain([flags, row.mask, row.reserved]) {
            assert_eq!(union & part, 0, "{}: bits with two meanings", row.name);
            union |= part;
        }
        assert_eq!(union, u32::MAX, "{}: bits without meaning", row.name);
        let operand_bits = !(row.mask | row.reserved | flags);
        assert_eq!(row.reserved_power8 & !operand_bits, 0, "{}", row.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

    #[test]
    fn decode_undoes_encode((row, operands, rc, oe) in any_instruction()) {
        let word = encode(row.mnemonic, &operands, rc, oe).unwrap();
        let decoded = decode(word).unwrap();
        prop_assert_eq!(decoded.mnemonic, row.mnemonic);
        prop_assert_eq!(decoded.reserved_bits_set(word), 0);
        let extracted: Vec<i64> = row.operands.iter().map(|operand| operand.extract(word)).collect();
        prop_assert_eq!(extracted, operands);
        prop_assert_eq!((row.is_record(word), row.has_oe && word.oe()), (rc, oe));
    }

    #[test]
    fn decode_finds_what_a_search_of_the_table_finds(row in any_row(), random: u32, other: u32) {
        // Random opcodes, and random words around a row's opcode with a bit or two wrong.
        for word in [random, row.value | random & !row.mask, row.value ^ (1 << (other % 32))] {
            let word = Word(word);
            let found = TABLE.iter().find(|row| row.matches(word)).map(|row| row.mnemonic);
            prop_assert_eq!(decode(word).map(|row| row.mnemonic), found);
        }
    }

    #[test]
    fn accessors_and_operands_read_the_same_bits(random: u32) {
        let word = Word(random);
        for (operand, value) in accessors(word) {
            prop_assert_eq!(operand.extract(word), value, "{:?}", operand);
        }
    }

    #[test]
    fn operands_take_their_range_and_nothing_else(row in any_row(), value: i64) {
        for operand in row.operands {
            let (lowest, highest) = operand.range();
            let fits = (lowest..=highest).contains(&value) && value % operand.multiple_of() == 0;
            prop_assert_eq!(operand.insert(value).is_some(), fits);
            prop_assert!(operand.insert(lowest).is_some() && operand.insert(highest).is_some());
            prop_assert!(operand.insert(lowest - 1).is_none());
            prop_assert!(operand.insert(highest + 1).is_none());
        }
    }
}

/// Every operand with what the accessor of its field says.
fn accessors(word: Word) -> Vec<(Operand, i64)> {
    use Operand::*;
    std::vec![
        (RT, word.rt() as i64),
        (RS, word.rs() as i64),
        (RTp, word.rt() as i64),
        (RSp, word.rs() as i64),
        (RA, word.ra() as i64),
        (RA0, word.ra() as i64),
        (RB, word.rb() as i64),
        (RC, word.rc_register() as i64),
        (FRT, word.frt() as i64),
        (FRS, word.frs() as i64),
        (FRTp, word.frt() as i64),
        (FRSp, word.frs() as i64),
        (FRAp, word.fra() as i64),
        (FRBp, word.frb() as i64),
        (FRA, word.fra() as i64),
        (FRB, word.frb() as i64),
        (FRC, word.frc() as i64),
        (VRT, word.vrt() as i64),
        (VRS, word.vrs() as i64),
        (VRA, word.vra() as i64),
        (VRB, word.vrb() as i64),
        (VRC, word.vrc() as i64),
        (XT, word.xt() as i64),
        (XS, word.xt() as i64),
        (XA, word.xa() as i64),
        (XB, word.xb() as i64),
        (XC, word.xc() as i64),
        (XT_dq, word.xt_dq() as i64),
        (XS_dq, word.xt_dq() as i64),
        (BF, word.bf() as i64),
        (BF_fpscr, word.bf() as i64),
        (BFA, word.bfa() as i64),
        (BT, word.bt() as i64),
        (BT_fpscr, word.bt() as i64),
        (BA, word.ba() as i64),
        (BB, word.bb() as i64),
        (BC, word.bc() as i64),
        (BI, word.bi() as i64),
        (BO, word.bo().into()),
        (BH, word.bh().into()),
        (SI, word.si()),
        (SI5, word.si5()),
        (UI, word.ui() as i64),
        (D, word.d()),
        (DS, word.ds()),
        (DQ, word.dq()),
        (D_split, word.d_split()),
        (LI, word.li()),
        (BD, word.bd()),
        (AA, word.aa().into()),
        (LK, word.lk().into()),
        (SH, word.sh().into()),
        (SH6, word.sh6().into()),
        (MB, word.mb().into()),
        (ME, word.me().into()),
        (MB6, word.mb6().into()),
        (ME6, word.me6().into()),
        (SPR, word.spr().into()),
        (TBR, word.spr().into()),
        (FXM, word.fxm().into()),
        (FLM, word.flm().into()),
        (U, word.u().into()),
        (RM, word.rm().into()),
        (DRM, word.drm().into()),
        (RMC, word.rmc().into()),
        (TE, word.te()),
        (SP, word.sp().into()),
        (S_denbcd, word.s_denbcd().into()),
        (DCM, word.dcm().into()),
        (DGM, word.dgm().into()),
        (DCMX, word.dcmx().into()),
        (DCMX_split, word.dcmx_split().into()),
        (UIM, word.uim().into()),
        (UIM2, word.uim2().into()),
        (UIM3, word.uim3().into()),
        (UIM4, word.uim4().into()),
        (UIM5, word.uim5().into()),
        (IMM8, word.imm8().into()),
        (SIM, word.sim()),
        (SHB, word.shb().into()),
        (SHW, word.shw().into()),
        (DM, word.dm().into()),
        (PS, word.ps().into()),
        (ST, word.st().into()),
        (SIX, word.six().into()),
        (STRM, word.strm().into()),
        (SH_decimal, word.sh_decimal().into()),
        (W, word.w().into()),
        (TO, word.to().into()),
        (NB, word.nb().into()),
        (EH, word.eh().into()),
        (FC, word.fc().into()),
        (CY, word.cy().into()),
        (LEV, word.lev().into()),
        (TH, word.th().into()),
        (CT, word.ct().into()),
        (WC, word.wc().into()),
        (BHRBE, word.bhrbe().into()),
        (IH, word.ih().into()),
        (RIC, word.ric().into()),
        (PRS, word.prs().into()),
        (R, word.r().into()),
        (L_cmp, word.l_cmp().into()),
        (L_sync, word.l_sync().into()),
        (L_dcbf, word.l_dcbf().into()),
        (L_darn, word.l_darn().into()),
        (L_mtmsr, word.l_mtmsr().into()),
        (L_slb, word.l_slb().into()),
        (L_tsr, word.l_tsr().into()),
        (L_mtfsf, word.l_mtfsf().into()),
        (A_tend, word.a_tend().into()),
        (R_tbegin, word.r_tbegin().into()),
        (S_rfebb, word.s_rfebb().into()),
    ]
}

#[test]
fn every_operand_of_the_table_has_an_accessor() {
    let listed = accessors(Word(0));
    for row in TABLE {
        for operand in row.operands {
            assert!(listed.iter().any(|(other, _)| other == operand), "{operand:?}");
        }
    }
}

/// Invalid forms beside the nearest valid ones.
#[test]
fn combinations_that_the_isa_calls_invalid_are_invalid() {
    use Mnemonic::*;
    let cases: &[(Mnemonic, &[i64], bool)] = &[
        (Lwzu, &[3, 8, 4], false),
        (Lwzu, &[3, 8, 0], true),
        (Lwzu, &[3, 8, 3], true),
        (Lwz, &[3, 8, 3], false),
        (Ldux, &[3, 3, 4], true),
        (Ldux, &[3, 4, 3], false),
        (Stdu, &[1, -16, 1], false),
        (Stdu, &[1, -16, 0], true),
        (Lfdu, &[3, 8, 3], false),
        (Lfdu, &[3, 8, 0], true),
        (Lmw, &[30, 0, 29], false),
        (Lmw, &[30, 0, 31], true),
        (Lmw, &[0, 0, 0], true),
        (Lswi, &[30, 1, 9], false),
        (Lswi, &[30, 0, 9], true),
        (Lswi, &[30, 0, 8], false),
        (Lswi, &[5, 4, 32], false),
        (Lswi, &[5, 12, 32], true),
        (Lswx, &[5, 5, 6], true),
        (Lswx, &[5, 6, 5], true),
        (Lswx, &[5, 6, 6], false),
        (Lq, &[4, 16, 5], false),
        (Lq, &[4, 16, 4], true),
        (Lq, &[5, 16, 6], true),
        (Lq, &[0, 16, 0], true),
        (Stq, &[4, 16, 4], false),
        (Stq, &[5, 16, 4], true),
        (Lqarx, &[4, 0, 4, 0], true),
        (Lqarx, &[4, 0, 3, 0], false),
        (Stqcx, &[3, 4, 5], true),
        (Lfdp, &[2, 8, 2], false),
        (Lfdp, &[3, 8, 2], true),
        (Dadd, &[1, 3, 5], false),
        (Daddq, &[2, 4, 6], false),
        (Daddq, &[1, 4, 6], true),
        (Daddq, &[2, 5, 6], true),
        (Daddq, &[2, 4, 7], true),
        (Dtstsfq, &[1, 5, 6], false),
        (Dtstsfq, &[1, 5, 7], true),
        (Dxexq, &[1, 6], false),
        (Dctqpq, &[2, 5], false),
        (Bcctr, &[20, 0, 0, 0], false),
        (Bcctr, &[16, 0, 0, 0], true),
        (Bcctr, &[2, 0, 0, 0], false),
        (Bcctr, &[2, 1, 0, 0], true),
        (Bclr, &[16, 0, 0, 0], false),
        (Bctar, &[16, 0, 0, 0], false),
        (Sync, &[2], false),
        (Sync, &[3], true),
        (Dcbf, &[0, 3, 1], false),
        (Dcbf, &[0, 3, 2], true),
        (Wait, &[0], false),
        (Wait, &[1], true),
        (Sc, &[1], false),
        (Sc, &[2], true),
        (Addex, &[3, 4, 5, 0], false),
        (Addex, &[3, 4, 5, 1], true),
        (Mftb, &[3, 269], false),
        (Mftb, &[3, 270], true),
        (Tlbie, &[5, 3, 2, 1, 0], false),
        (Tlbie, &[5, 3, 3, 0, 1], true),
    ];
    for &(mnemonic, operands, invalid) in cases {
        let word = encode(mnemonic, operands, false, false).unwrap();
        let is_invalid = mnemonic.row().is_invalid_form(word, Processor::Power9);
        assert_eq!(is_invalid, invalid, "{mnemonic:?} {operands:?}");
    }
}

#[test]
fn a_reserved_bit_is_ignored_and_does_not_hide_the_instruction() {
    for row in TABLE {
        for bit in (0..32).map(|bit| 1 << bit).filter(|bit| row.reserved & bit != 0) {
            let word = Word(row.value | bit);
            assert_eq!(decode(word).map(|row| row.mnemonic), Some(row.mnemonic), "{}", row.name);
            assert_eq!(row.reserved_bits_set(word), bit, "{}", row.name);
            let is_hint = row.power9_hint & bit != 0;
            let plain = Word(row.value);
            let read = if is_hint { word } else { plain };
            assert_eq!(row.as_read(word, Processor::Power9), read, "{}", row.name);
            assert_eq!(row.as_read(word, Processor::Power8), plain, "{}", row.name);
            for processor in [Processor::Power8, Processor::Power9] {
                let is_invalid = |word| row.is_invalid_form(word, processor);
                assert_eq!(is_invalid(word), is_invalid(plain), "{}", row.name);
            }
        }
        assert_eq!(row.power9_hint & !row.reserved, 0, "{}", row.name);
    }
    assert_eq!(Mnemonic::Eieio.row().power9_hint, 1 << 25);
}

#[test]
fn power8_ignores_operands_that_power9_added() {
    use Mnemonic::*;
    // Behind their last register all are reserved in ISA 2.07.
    let cases: [(Mnemonic, &[i64], &[i64]); 8] = [
        (Tlbie, &[5, 3, 1, 0, 0], &[5, 3, 0, 0, 0]),
        (Tlbie, &[5, 3, 0, 1, 0], &[5, 3, 0, 0, 0]),
        (Tlbie, &[5, 3, 3, 0, 1], &[5, 3, 0, 0, 0]),
        (Tlbiel, &[5, 3, 0, 0, 0], &[5, 0, 0, 0, 0]),
        (Tlbiel, &[5, 0, 2, 0, 0], &[5, 0, 0, 0, 0]),
        (Tlbiel, &[5, 0, 0, 0, 1], &[5, 0, 0, 0, 0]),
        (Slbmfee, &[3, 4, 1], &[3, 4, 0]),
        (Slbmfev, &[3, 4, 1], &[3, 4, 0]),
    ];
    for (mnemonic, operands, plain) in cases {
        let [word, plain] =
            [operands, plain].map(|operands| encode(mnemonic, operands, false, false).unwrap());
        let row = mnemonic.row();
        assert_eq!(row.as_read(word, Processor::Power8), plain, "{mnemonic:?} {operands:?}");
        assert_eq!(row.as_read(word, Processor::Power9), word, "{mnemonic:?} {operands:?}");
        assert!(!row.is_invalid_form(word, Processor::Power8), "{mnemonic:?} {operands:?}");
    }
}

#[test]
fn encode_refuses_what_there_is_not() {
    use Mnemonic::*;
    let refused = |mnemonic, operands: &[i64], rc, oe| {
        encode(mnemonic, operands, rc, oe).unwrap_err().to_string()
    };
    assert_eq!(refused(Addi, &[3, 4], false, false), "2 operands given, 3 expected");
    assert_eq!(refused(Addi, &[3, 4, 5], true, false), "no variant with Rc = 1");
    assert_eq!(refused(And, &[3, 4, 5], true, true), "no variant with OE = 1");
    assert_eq!(refused(Addi, &[32, 4, 5], false, false), "RT = 32, must be from 0 to 31");
    assert_eq!(
        refused(Ld, &[3, 6, 4], false, false),
        "DS = 6, must be from -32768 to 32764 and a multiple of 4"
    );
}

#[test]
fn fields_that_are_split_are_put_together() {
    // mfspr r3,LPCR (318); rldicl r3,r4,33,35; addpcis r3,-2: from binutils' assembler.
    assert_eq!(Word(0x7C7E_4AA6).spr(), 318);
    assert_eq!((Word(0x7883_08E2).sh6(), Word(0x7883_08E2).mb6()), (33, 35));
    assert_eq!(Word(0x4C7F_FFC4).d_split(), -2);
}

#[test]
fn disassembly_is_in_columns_and_shows_what_it_does_not_know() {
    let text = |word, address| disassemble(Word(word), address).to_string();
    assert_eq!(text(0x3860_0005, 0), "addi    r3,0,5");
    assert_eq!(text(0xE881_FFF8, 0), "ld      r4,-8(r1)");
    assert_eq!(text(0x7C64_2E15, 0), "addo.   r3,r4,r5");
    assert_eq!(text(0x4BFF_FFFD, 0xC000_0000_0000_0000), "bl      0xbffffffffffffffc");
    assert_eq!(text(0x4082_FFFB, 0x1000), "bcla    4,eq,0xfffffffffffffff8");
    assert_eq!(text(0x4C00_0024, 0), "rfid");
    assert_eq!(text(0x0000_0000, 0), ".long 0x0");
    assert_eq!(text(0x4C00_0025, 0), ".long 0x4c000025");
}
