//! Vector-scalar instructions: Book I chapter 7.

macro_rules! vector_scalar {
    ($next:ident $($more:ident)* => $($rows:tt)*) => { $next! { $($more)* => $($rows)*

    // Loads and stores.
    Lxvd2x     "lxvd2x"     X(31, 844)   [XT RA0 RB];
    Stxvd2x    "stxvd2x"    X(31, 972)   [XS RA0 RB];

    // Moves between GPRs and VSRs.
    Mfvsrd     "mfvsrd"     X(31, 51)    [RA XS];
    Mtvsrd     "mtvsrd"     X(31, 179)   [XT RA];

    // Logic.
    Xxlor      "xxlor"      XX3(60, 146) [XT XA XB];

    }};
}
