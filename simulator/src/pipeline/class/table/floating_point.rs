//! The classes of the instructions of `arch/src/instruction/table/floating_point.rs`.

macro_rules! floating_point {
    ($next:ident $($more:ident)* => $($rows:tt)*) => { $next! { $($more)* => $($rows)*

    Floating: Fadd Fadds Fsub Fsubs Fmul Fmuls Fre Fres Frsqrte Frsqrtes Ftdiv Ftsqrt Fmadd Fmadds
        Fmsub Fmsubs Fnmadd Fnmadds Fnmsub Fnmsubs Frsp Fctid Fctidz Fctidu Fctiduz Fctiw Fctiwz
        Fctiwu Fctiwuz Fcfid Fcfidu Fcfids Fcfidus Frin Friz Frip Frim Fcmpu Fcmpo Fsel
        Fmrgew Fmrgow Mffs Mffsce Mffscdrn Mffscdrni Mffscrn Mffscrni Mffsl
        Mcrfs Mtfsfi Mtfsf Mtfsb0 Mtfsb1;
    FloatingMove: Fmr Fneg Fabs Fnabs Fcpsgn;
    FloatingDivideSingle: Fdivs;
    FloatingDivide: Fdiv;
    FloatingRootSingle: Fsqrts;
    FloatingRoot: Fsqrt;

    }};
}
