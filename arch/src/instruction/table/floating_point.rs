//! Scalar floating point: Book I chapter 4, without loads and stores.

macro_rules! floating_point {
    ($next:ident $($more:ident)* => $($rows:tt)*) => { $next! { $($more)* => $($rows)*

    // Arithmetic.
    Fadd       "fadd"       A(63, 21)   [FRT FRA FRB]      rc;
    Fadds      "fadds"      A(59, 21)   [FRT FRA FRB]      rc;
    Fsub       "fsub"       A(63, 20)   [FRT FRA FRB]      rc;
    Fsubs      "fsubs"      A(59, 20)   [FRT FRA FRB]      rc;
    Fmul       "fmul"       A(63, 25)   [FRT FRA FRC]      rc;
    Fmuls      "fmuls"      A(59, 25)   [FRT FRA FRC]      rc;
    Fdiv       "fdiv"       A(63, 18)   [FRT FRA FRB]      rc;
    Fdivs      "fdivs"      A(59, 18)   [FRT FRA FRB]      rc;
    Fsqrt      "fsqrt"      A(63, 22)   [FRT FRB]          rc;
    Fsqrts     "fsqrts"     A(59, 22)   [FRT FRB]          rc;
    Fre        "fre"        A(63, 24)   [FRT FRB]          rc;
    Fres       "fres"       A(59, 24)   [FRT FRB]          rc;
    Frsqrte    "frsqrte"    A(63, 26)   [FRT FRB]          rc;
    Frsqrtes   "frsqrtes"   A(59, 26)   [FRT FRB]          rc;
    Ftdiv      "ftdiv"      X(63, 128)  [BF FRA FRB]       v206;
    Ftsqrt     "ftsqrt"     X(63, 160)  [BF FRB]           v206;

    // Multiply-add.
    Fmadd      "fmadd"      A(63, 29)   [FRT FRA FRC FRB]  rc;
    Fmadds     "fmadds"     A(59, 29)   [FRT FRA FRC FRB]  rc;
    Fmsub      "fmsub"      A(63, 28)   [FRT FRA FRC FRB]  rc;
    Fmsubs     "fmsubs"     A(59, 28)   [FRT FRA FRC FRB]  rc;
    Fnmadd     "fnmadd"     A(63, 31)   [FRT FRA FRC FRB]  rc;
    Fnmadds    "fnmadds"    A(59, 31)   [FRT FRA FRC FRB]  rc;
    Fnmsub     "fnmsub"     A(63, 30)   [FRT FRA FRC FRB]  rc;
    Fnmsubs    "fnmsubs"    A(59, 30)   [FRT FRA FRC FRB]  rc;

    // Rounding and conversion.
    Frsp       "frsp"       X(63, 12)   [FRT FRB]          rc;
    Fctid      "fctid"      X(63, 814)  [FRT FRB]          rc;
    Fctidz     "fctidz"     X(63, 815)  [FRT FRB]          rc;
    Fctidu     "fctidu"     X(63, 942)  [FRT FRB]          rc v206;
    Fctiduz    "fctiduz"    X(63, 943)  [FRT FRB]          rc v206;
    Fctiw      "fctiw"      X(63, 14)   [FRT FRB]          rc;
    Fctiwz     "fctiwz"     X(63, 15)   [FRT FRB]          rc;
    Fctiwu     "fctiwu"     X(63, 142)  [FRT FRB]          rc v206;
    Fctiwuz    "fctiwuz"    X(63, 143)  [FRT FRB]          rc v206;
    Fcfid      "fcfid"      X(63, 846)  [FRT FRB]          rc;
    Fcfidu     "fcfidu"     X(63, 974)  [FRT FRB]          rc v206;
    Fcfids     "fcfids"     X(59, 846)  [FRT FRB]          rc v206;
    Fcfidus    "fcfidus"    X(59, 974)  [FRT FRB]          rc v206;
    Frin       "frin"       X(63, 392)  [FRT FRB]          rc;
    Friz       "friz"       X(63, 424)  [FRT FRB]          rc;
    Frip       "frip"       X(63, 456)  [FRT FRB]          rc;
    Frim       "frim"       X(63, 488)  [FRT FRB]          rc;

    // Compare, select, move.
    Fcmpu      "fcmpu"      X(63, 0)    [BF FRA FRB];
    Fcmpo      "fcmpo"      X(63, 32)   [BF FRA FRB];
    Fsel       "fsel"       A(63, 23)   [FRT FRA FRC FRB]  rc;
    Fmr        "fmr"        X(63, 72)   [FRT FRB]          rc;
    Fneg       "fneg"       X(63, 40)   [FRT FRB]          rc;
    Fabs       "fabs"       X(63, 264)  [FRT FRB]          rc;
    Fnabs      "fnabs"      X(63, 136)  [FRT FRB]          rc;
    Fcpsgn     "fcpsgn"     X(63, 8)    [FRT FRA FRB]      rc;
    Fmrgew     "fmrgew"     X(63, 966)  [FRT FRA FRB]      v207;
    Fmrgow     "fmrgow"     X(63, 838)  [FRT FRA FRB]      v207;

    // Status and control. Bits 11 to 15 tell the forms of `mffs` apart.
    Mffs       "mffs"       X(63, 583)  [FRT]              rc fixed(11, 15, 0);
    Mffsce     "mffsce"     X(63, 583)  [FRT]              power9 fixed(11, 15, 1);
    Mffscdrn   "mffscdrn"   X(63, 583)  [FRT FRB]          power9 fixed(11, 15, 20);
    Mffscdrni  "mffscdrni"  X(63, 583)  [FRT DRM]          power9 fixed(11, 15, 21);
    Mffscrn    "mffscrn"    X(63, 583)  [FRT FRB]          power9 fixed(11, 15, 22);
    Mffscrni   "mffscrni"   X(63, 583)  [FRT RM]           power9 fixed(11, 15, 23);
    Mffsl      "mffsl"      X(63, 583)  [FRT]              power9 fixed(11, 15, 24);
    Mcrfs      "mcrfs"      X(63, 64)   [BF BFA];
    Mtfsfi     "mtfsfi"     X(63, 134)  [BF_fpscr U W]     rc;
    Mtfsf      "mtfsf"      XFL(63, 711) [FLM FRB L_mtfsf W] rc;
    Mtfsb0     "mtfsb0"     X(63, 70)   [BT_fpscr]         rc;
    Mtfsb1     "mtfsb1"     X(63, 38)   [BT_fpscr]         rc;

    }};
}
