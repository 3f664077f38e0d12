//! Vectors: Book I chapter 6. VRs are VSRs 32 to 63.

macro_rules! vector {
    ($next:ident $($more:ident)* => $($rows:tt)*) => { $next! { $($more)* => $($rows)*

    // Loads and stores.
    Lvx        "lvx"        X(31, 103)   [VRT RA0 RB];
    Stvx       "stvx"       X(31, 231)   [VRS RA0 RB];

    // Permutation.
    Vperm      "vperm"      VA(4, 43)    [VRT VRA VRB VRC];

    // Sums.
    Vaddubm    "vaddubm"    VX(4, 0)     [VRT VRA VRB];

    // Comparisons.
    Vcmpequb   "vcmpequb"   VC(4, 6)     [VRT VRA VRB]     rc21;

    // Status and control.
    Mfvscr     "mfvscr"     VX(4, 1540)  [VRT];
    Mtvscr     "mtvscr"     VX(4, 1604)  [VRB];

    }};
}
