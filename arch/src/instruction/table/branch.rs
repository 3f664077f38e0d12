//! Branches, system calls and CR logic: Book I chapter 2.

macro_rules! branch {
    ($next:ident $($more:ident)* => $($rows:tt)*) => { $next! { $($more)* => $($rows)*

    B        "b"        I(18)         [LI AA LK];
    Bc       "bc"       B(16)         [BO BI BD AA LK];
    Bclr     "bclr"     XL(19, 16)    [BO BI BH LK];
    Bcctr    "bcctr"    XL(19, 528)   [BO BI BH LK]     unless(Constraint::DecrementsCount);
    Bctar    "bctar"    XL(19, 560)   [BO BI BH LK]     v207;

    Crand    "crand"    XL(19, 257)   [BT BA BB];
    Crandc   "crandc"   XL(19, 129)   [BT BA BB];
    Cror     "cror"     XL(19, 449)   [BT BA BB];
    Crorc    "crorc"    XL(19, 417)   [BT BA BB];
    Crxor    "crxor"    XL(19, 193)   [BT BA BB];
    Creqv    "creqv"    XL(19, 289)   [BT BA BB];
    Crnand   "crnand"   XL(19, 225)   [BT BA BB];
    Crnor    "crnor"    XL(19, 33)    [BT BA BB];
    Mcrf     "mcrf"     XL(19, 0)     [BF BFA];

    Sc       "sc"       SC(17, 1)     [LEV]             unless(Constraint::Level);
    Scv      "scv"      SC(17, 0)     [LEV]             power9 fixed(31, 31, 1);
    Rfebb    "rfebb"    XL(19, 146)   [S_rfebb]         book2 v207;

    }};
}
