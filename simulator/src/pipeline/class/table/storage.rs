//! The classes of the instructions of `arch/src/instruction/table/storage.rs`.

macro_rules! storage {
    ($next:ident $($more:ident)* => $($rows:tt)*) => { $next! { $($more)* => $($rows)*

    Load: Lbz Lbzu Lbzx Lbzux Lhz Lhzu Lhzx Lhzux Lwz Lwzu Lwzx Lwzux Ld Ldu Ldx Ldux Lq Lhbrx
        Lwbrx Ldbrx Lmw Lswi Lswx Lbzcix Lhzcix Lwzcix Ldcix;
    LoadAlgebraic: Lha Lhau Lhax Lhaux Lwa Lwax Lwaux;
    LoadSingle: Lfs Lfsu Lfsx Lfsux;
    LoadDouble: Lfd Lfdu Lfdx Lfdux Lfiwax Lfiwzx Lfdp Lfdpx;
    Store: Stb Stbu Stbx Stbux Sth Sthu Sthx Sthux Stw Stwu Stwx Stwux Std Stdu Stq Stdx Stdux
        Sthbrx Stwbrx Stdbrx Stmw Stswi Stswx Stfs Stfsu Stfsx Stfsux Stfd Stfdu Stfdx Stfdux
        Stfiwx Stfdp Stfdpx Stbcix Sthcix Stwcix Stdcix;
    LoadReserve: Lbarx Lharx Lwarx Ldarx Lqarx;
    StoreConditional: Stbcx Sthcx Stwcx Stdcx Stqcx;
    Atomic: Lwat Ldat Stwat Stdat;
    Management: Copy Paste Cpabort;

    }};
}
