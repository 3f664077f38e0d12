//! Loads and stores, fixed-point and floating-point: Book I sections 3.3 and 4.6, the atomic and
//! copy instructions of Book II, the cache-inhibited ones of Book III.

macro_rules! storage {
    ($next:ident $($more:ident)* => $($rows:tt)*) => { $next! { $($more)* => $($rows)*

    // Fixed-point loads.
    Lbz      "lbz"      D(34)         [RT D RA0];
    Lbzu     "lbzu"     D(35)         [RT D RA]         unless(Constraint::BaseIsZeroOrTarget);
    Lbzx     "lbzx"     X(31, 87)     [RT RA0 RB];
    Lbzux    "lbzux"    X(31, 119)    [RT RA RB]        unless(Constraint::BaseIsZeroOrTarget);
    Lhz      "lhz"      D(40)         [RT D RA0];
    Lhzu     "lhzu"     D(41)         [RT D RA]         unless(Constraint::BaseIsZeroOrTarget);
    Lhzx     "lhzx"     X(31, 279)    [RT RA0 RB];
    Lhzux    "lhzux"    X(31, 311)    [RT RA RB]        unless(Constraint::BaseIsZeroOrTarget);
    Lha      "lha"      D(42)         [RT D RA0];
    Lhau     "lhau"     D(43)         [RT D RA]         unless(Constraint::BaseIsZeroOrTarget);
    Lhax     "lhax"     X(31, 343)    [RT RA0 RB];
    Lhaux    "lhaux"    X(31, 375)    [RT RA RB]        unless(Constraint::BaseIsZeroOrTarget);
    Lwz      "lwz"      D(32)         [RT D RA0];
    Lwzu     "lwzu"     D(33)         [RT D RA]         unless(Constraint::BaseIsZeroOrTarget);
    Lwzx     "lwzx"     X(31, 23)     [RT RA0 RB];
    Lwzux    "lwzux"    X(31, 55)     [RT RA RB]        unless(Constraint::BaseIsZeroOrTarget);
    Lwa      "lwa"      DS(58, 2)     [RT DS RA0];
    Ld       "ld"       DS(58, 0)     [RT DS RA0];
    Ldu      "ldu"      DS(58, 1)     [RT DS RA]        unless(Constraint::BaseIsZeroOrTarget);
    Lwax     "lwax"     X(31, 341)    [RT RA0 RB];
    Lwaux    "lwaux"    X(31, 373)    [RT RA RB]        unless(Constraint::BaseIsZeroOrTarget);
    Ldx      "ldx"      X(31, 21)     [RT RA0 RB];
    Ldux     "ldux"     X(31, 53)     [RT RA RB]        unless(Constraint::BaseIsZeroOrTarget);
    Lq       "lq"       DQ(56)        [RTp DQ RA0]      unless(Constraint::BaseIsTarget);
    Lhbrx    "lhbrx"    X(31, 790)    [RT RA0 RB];
    Lwbrx    "lwbrx"    X(31, 534)    [RT RA0 RB];
    Ldbrx    "ldbrx"    X(31, 532)    [RT RA0 RB]       v206;
    Lmw      "lmw"      D(46)         [RT D RA0]        unless(Constraint::BaseInMultiple);
    Lswi     "lswi"     X(31, 597)    [RT RA0 NB]       unless(Constraint::BaseInString);
    Lswx     "lswx"     X(31, 533)    [RT RA0 RB]       unless(Constraint::AddressIsTarget);

    // Fixed-point stores.
    Stb      "stb"      D(38)         [RS D RA0];
    Stbu     "stbu"     D(39)         [RS D RA]         unless(Constraint::BaseIsZero);
    Stbx     "stbx"     X(31, 215)    [RS RA0 RB];
    Stbux    "stbux"    X(31, 247)    [RS RA RB]        unless(Constraint::BaseIsZero);
    Sth      "sth"      D(44)         [RS D RA0];
    Sthu     "sthu"     D(45)         [RS D RA]         unless(Constraint::BaseIsZero);
    Sthx     "sthx"     X(31, 407)    [RS RA0 RB];
    Sthux    "sthux"    X(31, 439)    [RS RA RB]        unless(Constraint::BaseIsZero);
    Stw      "stw"      D(36)         [RS D RA0];
    Stwu     "stwu"     D(37)         [RS D RA]         unless(Constraint::BaseIsZero);
    Stwx     "stwx"     X(31, 151)    [RS RA0 RB];
    Stwux    "stwux"    X(31, 183)    [RS RA RB]        unless(Constraint::BaseIsZero);
    Std      "std"      DS(62, 0)     [RS DS RA0];
    Stdu     "stdu"     DS(62, 1)     [RS DS RA]        unless(Constraint::BaseIsZero);
    Stq      "stq"      DS(62, 2)     [RSp DS RA0];
    Stdx     "stdx"     X(31, 149)    [RS RA0 RB];
    Stdux    "stdux"    X(31, 181)    [RS RA RB]        unless(Constraint::BaseIsZero);
    Sthbrx   "sthbrx"   X(31, 918)    [RS RA0 RB];
    Stwbrx   "stwbrx"   X(31, 662)    [RS RA0 RB];
    Stdbrx   "stdbrx"   X(31, 660)    [RS RA0 RB]       v206;
    Stmw     "stmw"     D(47)         [RS D RA0];
    Stswi    "stswi"    X(31, 725)    [RS RA0 NB];
    Stswx    "stswx"    X(31, 661)    [RS RA0 RB];

    // Floating-point loads and stores.
    Lfs      "lfs"      D(48)         [FRT D RA0];
    Lfsu     "lfsu"     D(49)         [FRT D RA]        unless(Constraint::BaseIsZero);
    Lfsx     "lfsx"     X(31, 535)    [FRT RA0 RB];
    Lfsux    "lfsux"    X(31, 567)    [FRT RA RB]       unless(Constraint::BaseIsZero);
    Lfd      "lfd"      D(50)         [FRT D RA0];
    Lfdu     "lfdu"     D(51)         [FRT D RA]        unless(Constraint::BaseIsZero);
    Lfdx     "lfdx"     X(31, 599)    [FRT RA0 RB];
    Lfdux    "lfdux"    X(31, 631)    [FRT RA RB]       unless(Constraint::BaseIsZero);
    Lfiwax   "lfiwax"   X(31, 855)    [FRT RA0 RB];
    Lfiwzx   "lfiwzx"   X(31, 887)    [FRT RA0 RB]      v206;
    Lfdp     "lfdp"     DS(57, 0)     [FRTp DS RA0];
    Lfdpx    "lfdpx"    X(31, 791)    [FRTp RA0 RB];
    Stfs     "stfs"     D(52)         [FRS D RA0];
    Stfsu    "stfsu"    D(53)         [FRS D RA]        unless(Constraint::BaseIsZero);
    Stfsx    "stfsx"    X(31, 663)    [FRS RA0 RB];
    Stfsux   "stfsux"   X(31, 695)    [FRS RA RB]       unless(Constraint::BaseIsZero);
    Stfd     "stfd"     D(54)         [FRS D RA0];
    Stfdu    "stfdu"    D(55)         [FRS D RA]        unless(Constraint::BaseIsZero);
    Stfdx    "stfdx"    X(31, 727)    [FRS RA0 RB];
    Stfdux   "stfdux"   X(31, 759)    [FRS RA RB]       unless(Constraint::BaseIsZero);
    Stfiwx   "stfiwx"   X(31, 983)    [FRS RA0 RB];
    Stfdp    "stfdp"    DS(61, 0)     [FRSp DS RA0];
    Stfdpx   "stfdpx"   X(31, 919)    [FRSp RA0 RB];

    // Load and reserve, store conditional.
    Lbarx    "lbarx"    X(31, 52)     [RT RA0 RB EH]    book2 v207;
    Lharx    "lharx"    X(31, 116)    [RT RA0 RB EH]    book2 v207;
    Lwarx    "lwarx"    X(31, 20)     [RT RA0 RB EH]    book2;
    Ldarx    "ldarx"    X(31, 84)     [RT RA0 RB EH]    book2;
    Lqarx    "lqarx"    X(31, 276)    [RTp RA0 RB EH]   book2 unless(Constraint::AddressIsTarget) v207;
    Stbcx    "stbcx."   X(31, 694)    [RS RA0 RB]       dot book2 v207;
    Sthcx    "sthcx."   X(31, 726)    [RS RA0 RB]       dot book2 v207;
    Stwcx    "stwcx."   X(31, 150)    [RS RA0 RB]       dot book2;
    Stdcx    "stdcx."   X(31, 214)    [RS RA0 RB]       dot book2;
    Stqcx    "stqcx."   X(31, 182)    [RSp RA0 RB]      dot book2 v207;

    // Atomic memory operations, copy and paste.
    Lwat     "lwat"     X(31, 582)    [RT RA0 FC]       power9 book2;
    Ldat     "ldat"     X(31, 614)    [RT RA0 FC]       power9 book2;
    Stwat    "stwat"    X(31, 710)    [RS RA0 FC]       power9 book2;
    Stdat    "stdat"    X(31, 742)    [RS RA0 FC]       power9 book2;
    Copy     "copy"     X(31, 774)    [RA0 RB]          power9 book2 fixed(10, 10, 1);
    Paste    "paste."   X(31, 902)    [RA0 RB]          power9 book2 fixed(10, 10, 1) dot;
    Cpabort  "cpabort"  X(31, 838)    []                power9 book2;

    // Cache-inhibited accesses in hypervisor real mode.
    Lbzcix   "lbzcix"   X(31, 853)    [RT RA0 RB]       hypervisor;
    Lhzcix   "lhzcix"   X(31, 821)    [RT RA0 RB]       hypervisor;
    Lwzcix   "lwzcix"   X(31, 789)    [RT RA0 RB]       hypervisor;
    Ldcix    "ldcix"    X(31, 885)    [RT RA0 RB]       hypervisor;
    Stbcix   "stbcix"   X(31, 981)    [RS RA0 RB]       hypervisor;
    Sthcix   "sthcix"   X(31, 949)    [RS RA0 RB]       hypervisor;
    Stwcix   "stwcix"   X(31, 917)    [RS RA0 RB]       hypervisor;
    Stdcix   "stdcix"   X(31, 1013)   [RS RA0 RB]       hypervisor;

    }};
}
