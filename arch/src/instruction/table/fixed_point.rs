//! Fixed-point instructions: Book I chapter 3, without the storage accesses.

macro_rules! fixed_point {
    ($next:ident $($more:ident)* => $($rows:tt)*) => { $next! { $($more)* => $($rows)*

    // Arithmetic.
    Addi     "addi"     D(14)         [RT RA0 SI];
    Addis    "addis"    D(15)         [RT RA0 SI];
    Addpcis  "addpcis"  DX(19, 2)     [RT D_split]      power9;
    Add      "add"      XO(31, 266)   [RT RA RB]        oe rc;
    Addic    "addic"    D(12)         [RT RA SI];
    AddicRc  "addic."   D(13)         [RT RA SI];
    Addc     "addc"     XO(31, 10)    [RT RA RB]        oe rc;
    Adde     "adde"     XO(31, 138)   [RT RA RB]        oe rc;
    Addme    "addme"    XO(31, 234)   [RT RA]           oe rc;
    Addze    "addze"    XO(31, 202)   [RT RA]           oe rc;
    Addex    "addex"    Z23(31, 170)  [RT RA RB CY]     power9 unless(Constraint::CarrySource);
    Subfic   "subfic"   D(8)          [RT RA SI];
    Subf     "subf"     XO(31, 40)    [RT RA RB]        oe rc;
    Subfc    "subfc"    XO(31, 8)     [RT RA RB]        oe rc;
    Subfe    "subfe"    XO(31, 136)   [RT RA RB]        oe rc;
    Subfme   "subfme"   XO(31, 232)   [RT RA]           oe rc;
    Subfze   "subfze"   XO(31, 200)   [RT RA]           oe rc;
    Neg      "neg"      XO(31, 104)   [RT RA]           oe rc;
    Mulli    "mulli"    D(7)          [RT RA SI];
    Mullw    "mullw"    XO(31, 235)   [RT RA RB]        oe rc;
    Mulhw    "mulhw"    XO(31, 75)    [RT RA RB]        rc;
    Mulhwu   "mulhwu"   XO(31, 11)    [RT RA RB]        rc;
    Mulld    "mulld"    XO(31, 233)   [RT RA RB]        oe rc;
    Mulhd    "mulhd"    XO(31, 73)    [RT RA RB]        rc;
    Mulhdu   "mulhdu"   XO(31, 9)     [RT RA RB]        rc;
    Maddhd   "maddhd"   VA(4, 48)     [RT RA RB RC]     power9;
    Maddhdu  "maddhdu"  VA(4, 49)     [RT RA RB RC]     power9;
    Maddld   "maddld"   VA(4, 51)     [RT RA RB RC]     power9;
    Divw     "divw"     XO(31, 491)   [RT RA RB]        oe rc;
    Divwu    "divwu"    XO(31, 459)   [RT RA RB]        oe rc;
    Divwe    "divwe"    XO(31, 427)   [RT RA RB]        oe rc v206;
    Divweu   "divweu"   XO(31, 395)   [RT RA RB]        oe rc v206;
    Divd     "divd"     XO(31, 489)   [RT RA RB]        oe rc;
    Divdu    "divdu"    XO(31, 457)   [RT RA RB]        oe rc;
    Divde    "divde"    XO(31, 425)   [RT RA RB]        oe rc v206;
    Divdeu   "divdeu"   XO(31, 393)   [RT RA RB]        oe rc v206;
    Modsw    "modsw"    X(31, 779)    [RT RA RB]        power9;
    Moduw    "moduw"    X(31, 267)    [RT RA RB]        power9;
    Modsd    "modsd"    X(31, 777)    [RT RA RB]        power9;
    Modud    "modud"    X(31, 265)    [RT RA RB]        power9;
    Darn     "darn"     X(31, 755)    [RT L_darn]       power9;

    // Compare, trap, select.
    Cmpi     "cmpi"     D(11)         [BF L_cmp RA SI];
    Cmpli    "cmpli"    D(10)         [BF L_cmp RA UI];
    Cmp      "cmp"      X(31, 0)      [BF L_cmp RA RB];
    Cmpl     "cmpl"     X(31, 32)     [BF L_cmp RA RB];
    Cmprb    "cmprb"    X(31, 192)    [BF L_cmp RA RB]  power9;
    Cmpeqb   "cmpeqb"   X(31, 224)    [BF RA RB]        power9;
    Setb     "setb"     X(31, 128)    [RT BFA]          power9;
    Twi      "twi"      D(3)          [TO RA SI];
    Tdi      "tdi"      D(2)          [TO RA SI];
    Tw       "tw"       X(31, 4)      [TO RA RB];
    Td       "td"       X(31, 68)     [TO RA RB];
    Isel     "isel"     A(31, 15)     [RT RA0 RB BC]    v206;

    // Logical. `or rx,rx,rx` also sets the program priority for some rx.
    AndiRc   "andi."    D(28)         [RA RS UI];
    AndisRc  "andis."   D(29)         [RA RS UI];
    Ori      "ori"      D(24)         [RA RS UI];
    Oris     "oris"     D(25)         [RA RS UI];
    Xori     "xori"     D(26)         [RA RS UI];
    Xoris    "xoris"    D(27)         [RA RS UI];
    And      "and"      X(31, 28)     [RA RS RB]        rc;
    Andc     "andc"     X(31, 60)     [RA RS RB]        rc;
    Or       "or"       X(31, 444)    [RA RS RB]        rc;
    Orc      "orc"      X(31, 412)    [RA RS RB]        rc;
    Xor      "xor"      X(31, 316)    [RA RS RB]        rc;
    Eqv      "eqv"      X(31, 284)    [RA RS RB]        rc;
    Nand     "nand"     X(31, 476)    [RA RS RB]        rc;
    Nor      "nor"      X(31, 124)    [RA RS RB]        rc;
    Extsb    "extsb"    X(31, 954)    [RA RS]           rc;
    Extsh    "extsh"    X(31, 922)    [RA RS]           rc;
    Extsw    "extsw"    X(31, 986)    [RA RS]           rc;
    Cntlzw   "cntlzw"   X(31, 26)     [RA RS]           rc;
    Cntlzd   "cntlzd"   X(31, 58)     [RA RS]           rc;
    Cnttzw   "cnttzw"   X(31, 538)    [RA RS]           rc power9;
    Cnttzd   "cnttzd"   X(31, 570)    [RA RS]           rc power9;
    Popcntb  "popcntb"  X(31, 122)    [RA RS];
    Popcntw  "popcntw"  X(31, 378)    [RA RS]           v206;
    Popcntd  "popcntd"  X(31, 506)    [RA RS]           v206;
    Prtyw    "prtyw"    X(31, 154)    [RA RS];
    Prtyd    "prtyd"    X(31, 186)    [RA RS];
    Cmpb     "cmpb"     X(31, 508)    [RA RS RB];
    Bpermd   "bpermd"   X(31, 252)    [RA RS RB]        v206;

    // Rotate and shift.
    Rlwinm   "rlwinm"   M(21)         [RA RS SH MB ME]  rc;
    Rlwnm    "rlwnm"    M(23)         [RA RS RB MB ME]  rc;
    Rlwimi   "rlwimi"   M(20)         [RA RS SH MB ME]  rc;
    Rldicl   "rldicl"   MD(30, 0)     [RA RS SH6 MB6]   rc;
    Rldicr   "rldicr"   MD(30, 1)     [RA RS SH6 ME6]   rc;
    Rldic    "rldic"    MD(30, 2)     [RA RS SH6 MB6]   rc;
    Rldimi   "rldimi"   MD(30, 3)     [RA RS SH6 MB6]   rc;
    Rldcl    "rldcl"    MDS(30, 8)    [RA RS RB MB6]    rc;
    Rldcr    "rldcr"    MDS(30, 9)    [RA RS RB ME6]    rc;
    Slw      "slw"      X(31, 24)     [RA RS RB]        rc;
    Srw      "srw"      X(31, 536)    [RA RS RB]        rc;
    Srawi    "srawi"    X(31, 824)    [RA RS SH]        rc;
    Sraw     "sraw"     X(31, 792)    [RA RS RB]        rc;
    Sld      "sld"      X(31, 27)     [RA RS RB]        rc;
    Srd      "srd"      X(31, 539)    [RA RS RB]        rc;
    Sradi    "sradi"    XS(31, 413)   [RA RS SH6]       rc;
    Srad     "srad"     X(31, 794)    [RA RS RB]        rc;
    Extswsli "extswsli" XS(31, 445)   [RA RS SH6]       rc power9;

    // BCD assist.
    Cdtbcd   "cdtbcd"   X(31, 282)    [RA RS];
    Cbcdtd   "cbcdtd"   X(31, 314)    [RA RS];
    Addg6s   "addg6s"   XO(31, 74)    [RT RA RB];

    // Move to and from system registers. Bit 11 tells the one-field forms from the others.
    Mtspr    "mtspr"    XFX(31, 467)  [SPR RS];
    Mfspr    "mfspr"    XFX(31, 339)  [RT SPR];
    Mtcrf    "mtcrf"    XFX(31, 144)  [FXM RS]          fixed(11, 11, 0);
    Mtocrf   "mtocrf"   XFX(31, 144)  [FXM RS]          fixed(11, 11, 1);
    Mfcr     "mfcr"     XFX(31, 19)   [RT]              fixed(11, 11, 0);
    Mfocrf   "mfocrf"   XFX(31, 19)   [RT FXM]          fixed(11, 11, 1);
    Mcrxrx   "mcrxrx"   X(31, 576)    [BF]              power9;

    }};
}
