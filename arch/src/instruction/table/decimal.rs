//! Decimal floating point: Book I chapter 5. The names with q take pairs of registers.

macro_rules! decimal {
    ($next:ident $($more:ident)* => $($rows:tt)*) => { $next! { $($more)* => $($rows)*

    // Arithmetic.
    Dadd       "dadd"       X(59, 2)     [FRT FRA FRB]          rc;
    Daddq      "daddq"      X(63, 2)     [FRTp FRAp FRBp]       rc;
    Dsub       "dsub"       X(59, 514)   [FRT FRA FRB]          rc;
    Dsubq      "dsubq"      X(63, 514)   [FRTp FRAp FRBp]       rc;
    Dmul       "dmul"       X(59, 34)    [FRT FRA FRB]          rc;
    Dmulq      "dmulq"      X(63, 34)    [FRTp FRAp FRBp]       rc;
    Ddiv       "ddiv"       X(59, 546)   [FRT FRA FRB]          rc;
    Ddivq      "ddivq"      X(63, 546)   [FRTp FRAp FRBp]       rc;

    // Compare and test.
    Dcmpo      "dcmpo"      X(59, 130)   [BF FRA FRB];
    Dcmpoq     "dcmpoq"     X(63, 130)   [BF FRAp FRBp];
    Dcmpu      "dcmpu"      X(59, 642)   [BF FRA FRB];
    Dcmpuq     "dcmpuq"     X(63, 642)   [BF FRAp FRBp];
    Dtstdc     "dtstdc"     Z22(59, 194) [BF FRA DCM];
    Dtstdcq    "dtstdcq"    Z22(63, 194) [BF FRAp DCM];
    Dtstdg     "dtstdg"     Z22(59, 226) [BF FRA DGM];
    Dtstdgq    "dtstdgq"    Z22(63, 226) [BF FRAp DGM];
    Dtstex     "dtstex"     X(59, 162)   [BF FRA FRB];
    Dtstexq    "dtstexq"    X(63, 162)   [BF FRAp FRBp];
    Dtstsf     "dtstsf"     X(59, 674)   [BF FRA FRB];
    Dtstsfq    "dtstsfq"    X(63, 674)   [BF FRA FRBp];
    Dtstsfi    "dtstsfi"    X(59, 675)   [BF UIM FRB]           power9;
    Dtstsfiq   "dtstsfiq"   X(63, 675)   [BF UIM FRBp]          power9;

    // Quantum adjustment.
    Dquai      "dquai"      Z23(59, 67)  [TE FRT FRB RMC]       rc;
    Dquaiq     "dquaiq"     Z23(63, 67)  [TE FRTp FRBp RMC]     rc;
    Dqua       "dqua"       Z23(59, 3)   [FRT FRA FRB RMC]      rc;
    Dquaq      "dquaq"      Z23(63, 3)   [FRTp FRAp FRBp RMC]   rc;
    Drrnd      "drrnd"      Z23(59, 35)  [FRT FRA FRB RMC]      rc;
    Drrndq     "drrndq"     Z23(63, 35)  [FRTp FRA FRBp RMC]    rc;
    Drintx     "drintx"     Z23(59, 99)  [R FRT FRB RMC]        rc;
    Drintxq    "drintxq"    Z23(63, 99)  [R FRTp FRBp RMC]      rc;
    Drintn     "drintn"     Z23(59, 227) [R FRT FRB RMC]        rc;
    Drintnq    "drintnq"    Z23(63, 227) [R FRTp FRBp RMC]      rc;

    // Conversion.
    Dctdp      "dctdp"      X(59, 258)   [FRT FRB]              rc;
    Dctqpq     "dctqpq"     X(63, 258)   [FRTp FRB]             rc;
    Drsp       "drsp"       X(59, 770)   [FRT FRB]              rc;
    Drdpq      "drdpq"      X(63, 770)   [FRTp FRBp]            rc;
    Dcffix     "dcffix"     X(59, 802)   [FRT FRB]              rc v206;
    Dcffixq    "dcffixq"    X(63, 802)   [FRTp FRB]             rc;
    Dctfix     "dctfix"     X(59, 290)   [FRT FRB]              rc;
    Dctfixq    "dctfixq"    X(63, 290)   [FRT FRBp]             rc;

    // Format.
    Ddedpd     "ddedpd"     X(59, 322)   [SP FRT FRB]           rc;
    Ddedpdq    "ddedpdq"    X(63, 322)   [SP FRTp FRBp]         rc;
    Denbcd     "denbcd"     X(59, 834)   [S_denbcd FRT FRB]     rc;
    Denbcdq    "denbcdq"    X(63, 834)   [S_denbcd FRTp FRBp]   rc;
    Dxex       "dxex"       X(59, 354)   [FRT FRB]              rc;
    Dxexq      "dxexq"      X(63, 354)   [FRT FRBp]             rc;
    Diex       "diex"       X(59, 866)   [FRT FRA FRB]          rc;
    Diexq      "diexq"      X(63, 866)   [FRTp FRA FRBp]        rc;
    Dscli      "dscli"      Z22(59, 66)  [FRT FRA SH_decimal]   rc;
    Dscliq     "dscliq"     Z22(63, 66)  [FRTp FRAp SH_decimal] rc;
    Dscri      "dscri"      Z22(59, 98)  [FRT FRA SH_decimal]   rc;
    Dscriq     "dscriq"     Z22(63, 98)  [FRTp FRAp SH_decimal] rc;

    }};
}
