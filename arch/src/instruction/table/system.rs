//! Caches, barriers, time and transactions (Book II), and what the operating system and the
//! hypervisor use (Book III).

macro_rules! system {
    ($next:ident $($more:ident)* => $($rows:tt)*) => { $next! { $($more)* => $($rows)*

    // Barriers and waiting.
    Isync      "isync"      XL(19, 150)  []                 book2;
    Sync       "sync"       X(31, 598)   [L_sync]           book2 unless(Constraint::SyncKind);
    // Bit 6 makes it POWER9's barrier between a store and a later load of the same place; Linux and QEMU
    // know it so.
    Eieio      "eieio"      X(31, 854)   []                 book2 hint(6);
    Wait       "wait"       X(31, 30)    [WC]               power9 book2 unless(Constraint::WaitCondition);

    // Caches.
    Dcbt       "dcbt"       X(31, 278)   [RA0 RB TH]        book2;
    Dcbtst     "dcbtst"     X(31, 246)   [RA0 RB TH]        book2;
    Dcbz       "dcbz"       X(31, 1014)  [RA0 RB]           book2;
    Dcbst      "dcbst"      X(31, 54)    [RA0 RB]           book2;
    Dcbf       "dcbf"       X(31, 86)    [RA0 RB L_dcbf]    book2 unless(Constraint::FlushKind);
    Icbi       "icbi"       X(31, 982)   [RA0 RB]           book2;
    Icbt       "icbt"       X(31, 22)    [CT RA0 RB]        book2;

    // Data streams of the first vector processors, which later ones ignore. Bit 6 is A.
    Dst        "dst"        X(31, 342)   [RA RB STRM]      book2 fixed(6, 6, 0);
    Dstt       "dstt"       X(31, 342)   [RA RB STRM]      book2 fixed(6, 6, 1);
    Dstst      "dstst"      X(31, 374)   [RA RB STRM]      book2 fixed(6, 6, 0);
    Dststt     "dststt"     X(31, 374)   [RA RB STRM]      book2 fixed(6, 6, 1);
    Dss        "dss"        X(31, 822)   [STRM]            book2 fixed(6, 6, 0);
    Dssall     "dssall"     X(31, 822)   []                book2 fixed(6, 6, 1);

    // Time base and branch history.
    Mftb       "mftb"       XFX(31, 371) [RT TBR]           book2 unless(Constraint::TimeBaseNumber);
    Clrbhrb    "clrbhrb"    X(31, 430)   []                 book2 v207;
    Mfbhrbe    "mfbhrbe"    XFX(31, 302) [RT BHRBE]         book2 v207;

    // Transactional memory. Bit 6 of `tbegin.` is for an implementation to define; no use of it by
    // POWER8 or POWER9 is published, so it is reserved here.
    Tbegin     "tbegin."    X(31, 654)   [R_tbegin]         dot book2 v207;
    Tend       "tend."      X(31, 686)   [A_tend]           dot book2 v207;
    Tcheck     "tcheck"     X(31, 718)   [BF]               book2 v207;
    Tsr        "tsr."       X(31, 750)   [L_tsr]            dot book2 v207;
    Tabort     "tabort."    X(31, 910)   [RA]               dot book2 v207;
    Tabortwc   "tabortwc."  X(31, 782)   [TO RA RB]         dot book2 v207;
    Tabortdc   "tabortdc."  X(31, 814)   [TO RA RB]         dot book2 v207;
    Tabortwci  "tabortwci." X(31, 846)   [TO RA SI5]        dot book2 v207;
    Tabortdci  "tabortdci." X(31, 878)   [TO RA SI5]        dot book2 v207;
    Treclaim   "treclaim."  X(31, 942)   [RA]               dot privileged;
    Trechkpt   "trechkpt."  X(31, 1006)  []                 dot privileged;

    // Return from interrupt, power saving.
    Rfid       "rfid"       XL(19, 18)   []                 privileged;
    Hrfid      "hrfid"      XL(19, 274)  []                 hypervisor;
    Rfscv      "rfscv"      XL(19, 82)   []                 power9 privileged;
    Stop       "stop"       XL(19, 370)  []                 power9 privileged;
    Doze       "doze"       XL(19, 402)  []                 power8 hypervisor;
    Nap        "nap"        XL(19, 434)  []                 power8 hypervisor;
    Sleep      "sleep"      XL(19, 466)  []                 power8 hypervisor;
    Rvwinkle   "rvwinkle"   XL(19, 498)  []                 power8 hypervisor;

    // Machine state register.
    Mtmsr      "mtmsr"      X(31, 146)   [RS L_mtmsr]       privileged;
    Mtmsrd     "mtmsrd"     X(31, 178)   [RS L_mtmsr]       privileged;
    Mfmsr      "mfmsr"      X(31, 83)    [RT]               privileged;

    // Segment lookaside buffer.
    Slbie      "slbie"      X(31, 434)   [RB]               privileged;
    Slbieg     "slbieg"     X(31, 466)   [RS RB]            power9 privileged;
    Slbia      "slbia"      X(31, 498)   [IH]               privileged;
    Slbiag     "slbiag"     X(31, 850)   [RS]               power9 privileged;
    Slbmte     "slbmte"     X(31, 402)   [RS RB]            privileged;
    Slbmfev    "slbmfev"    X(31, 851)   [RT RB L_slb]      privileged power8_reserves(15, 15);
    Slbmfee    "slbmfee"    X(31, 915)   [RT RB L_slb]      privileged power8_reserves(15, 15);
    Slbfee     "slbfee."    X(31, 979)   [RT RB]            dot privileged;
    Slbsync    "slbsync"    X(31, 338)   []                 power9 privileged;

    // Translation lookaside buffer. ISA 2.07 has `tlbie RB,RS` and `tlbiel RB`; the hypervisor may
    // keep `tlbie` and `tlbsync` to itself (LPCR[GTSE] = 0, and always on POWER8).
    Tlbie      "tlbie"      X(31, 306)   [RB RS RIC PRS R]  privileged power8_reserves(12, 15) unless(Constraint::GroupInvalidation);
    Tlbiel     "tlbiel"     X(31, 274)   [RB RS RIC PRS R]  privileged power8_reserves(6, 10) power8_reserves(12, 15) unless(Constraint::GroupInvalidation);
    Tlbsync    "tlbsync"    X(31, 566)   []                 privileged;

    // Messages between threads.
    Msgsnd     "msgsnd"     X(31, 206)   [RB]               hypervisor;
    Msgclr     "msgclr"     X(31, 238)   [RB]               hypervisor;
    Msgsndp    "msgsndp"    X(31, 142)   [RB]               privileged;
    Msgclrp    "msgclrp"    X(31, 174)   [RB]               privileged;
    Msgsync    "msgsync"    X(31, 886)   []                 power9 hypervisor;

    // The prefetch engine's log. Which of the two registers is its operand is not agreed
    // (`docs/facts/power8.md#operand-of-logmpp`).
    Logmpp     "logmpp"     X(31, 1010)  [RS RB]            power8 hypervisor;

    }};
}
