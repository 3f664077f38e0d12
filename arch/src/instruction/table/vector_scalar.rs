//! Vector-scalar instructions (VSX): Book I chapter 7, with the moves between GPRs and VSRs.

macro_rules! vector_scalar {
    ($next:ident $($more:ident)* => $($rows:tt)*) => { $next! { $($more)* => $($rows)*

    // Moves from and to general-purpose registers.
    Mfvsrd      "mfvsrd"      XX1(31, 51)    [RA XS]            v207;
    Mfvsrwz     "mfvsrwz"     XX1(31, 115)   [RA XS]            v207;
    Mtvsrd      "mtvsrd"      XX1(31, 179)   [XT RA]            v207;
    Mtvsrwa     "mtvsrwa"     XX1(31, 211)   [XT RA]            v207;
    Mtvsrwz     "mtvsrwz"     XX1(31, 243)   [XT RA]            v207;
    Mfvsrld     "mfvsrld"     XX1(31, 307)   [RA XS]            power9;
    Mtvsrws     "mtvsrws"     XX1(31, 403)   [XT RA]            power9;
    Mtvsrdd     "mtvsrdd"     XX1(31, 435)   [XT RA0 RB]        power9;

    // Loads and stores.
    Lxsiwzx     "lxsiwzx"     XX1(31, 12)    [XT RA0 RB]        v207;
    Lxsiwax     "lxsiwax"     XX1(31, 76)    [XT RA0 RB]        v207;
    Stxsiwx     "stxsiwx"     XX1(31, 140)   [XS RA0 RB]        v207;
    Lxvx        "lxvx"        XX1(31, 268)   [XT RA0 RB]        power9;
    Lxvl        "lxvl"        XX1(31, 269)   [XT RA0 RB]        power9;
    Lxvll       "lxvll"       XX1(31, 301)   [XT RA0 RB]        power9;
    Lxvdsx      "lxvdsx"      XX1(31, 332)   [XT RA0 RB]        v206;
    Lxvwsx      "lxvwsx"      XX1(31, 364)   [XT RA0 RB]        power9;
    Stxvx       "stxvx"       XX1(31, 396)   [XS RA0 RB]        power9;
    Stxvl       "stxvl"       XX1(31, 397)   [XS RA0 RB]        power9;
    Stxvll      "stxvll"      XX1(31, 429)   [XS RA0 RB]        power9;
    Lxsspx      "lxsspx"      XX1(31, 524)   [XT RA0 RB]        v207;
    Lxsdx       "lxsdx"       XX1(31, 588)   [XT RA0 RB]        v206;
    Stxsspx     "stxsspx"     XX1(31, 652)   [XS RA0 RB]        v207;
    Stxsdx      "stxsdx"      XX1(31, 716)   [XS RA0 RB]        v206;
    Lxvw4x      "lxvw4x"      XX1(31, 780)   [XT RA0 RB]        v206;
    Lxsibzx     "lxsibzx"     XX1(31, 781)   [XT RA0 RB]        power9;
    Lxvh8x      "lxvh8x"      XX1(31, 812)   [XT RA0 RB]        power9;
    Lxsihzx     "lxsihzx"     XX1(31, 813)   [XT RA0 RB]        power9;
    Lxvd2x      "lxvd2x"      XX1(31, 844)   [XT RA0 RB]        v206;
    Lxvb16x     "lxvb16x"     XX1(31, 876)   [XT RA0 RB]        power9;
    Stxvw4x     "stxvw4x"     XX1(31, 908)   [XS RA0 RB]        v206;
    Stxsibx     "stxsibx"     XX1(31, 909)   [XS RA0 RB]        power9;
    Stxvh8x     "stxvh8x"     XX1(31, 940)   [XS RA0 RB]        power9;
    Stxsihx     "stxsihx"     XX1(31, 941)   [XS RA0 RB]        power9;
    Stxvd2x     "stxvd2x"     XX1(31, 972)   [XS RA0 RB]        v206;
    Stxvb16x    "stxvb16x"    XX1(31, 1004)  [XS RA0 RB]        power9;
    Lxsd        "lxsd"        DS(57, 2)      [VRT DS RA0]       power9;
    Lxssp       "lxssp"       DS(57, 3)      [VRT DS RA0]       power9;
    Stxsd       "stxsd"       DS(61, 2)      [VRS DS RA0]       power9;
    Stxssp      "stxssp"      DS(61, 3)      [VRS DS RA0]       power9;
    Lxv         "lxv"         DQX(61, 1)     [XT_dq DQ RA0]     power9;
    Stxv        "stxv"        DQX(61, 5)     [XS_dq DQ RA0]     power9;

    // Logical.
    Xxland      "xxland"      XX3(60, 130)   [XT XA XB]         v206;
    Xxlandc     "xxlandc"     XX3(60, 138)   [XT XA XB]         v206;
    Xxlor       "xxlor"       XX3(60, 146)   [XT XA XB]         v206;
    Xxlxor      "xxlxor"      XX3(60, 154)   [XT XA XB]         v206;
    Xxlnor      "xxlnor"      XX3(60, 162)   [XT XA XB]         v206;
    Xxlorc      "xxlorc"      XX3(60, 170)   [XT XA XB]         v207;
    Xxlnand     "xxlnand"     XX3(60, 178)   [XT XA XB]         v207;
    Xxleqv      "xxleqv"      XX3(60, 186)   [XT XA XB]         v207;
    Xxsel       "xxsel"       XX4(60, 3)     [XT XA XB XC]      v206;

    // Permutation.
    Xxpermdi    "xxpermdi"    XX3D(60, 10)   [XT XA XB DM]      v206;
    Xxsldwi     "xxsldwi"     XX3D(60, 2)    [XT XA XB SHW]     v206;
    Xxmrghw     "xxmrghw"     XX3(60, 18)    [XT XA XB]         v206;
    Xxmrglw     "xxmrglw"     XX3(60, 50)    [XT XA XB]         v206;
    Xxspltw     "xxspltw"     XX2(60, 164)   [XT XB UIM2]       v206;
    Xxspltib    "xxspltib"    XX1(60, 360)   [XT IMM8]          power9 fixed(11, 12, 0);
    Xxextractuw "xxextractuw" XX2(60, 165)   [XT XB UIM4]       power9;
    Xxinsertw   "xxinsertw"   XX2(60, 181)   [XT XB UIM4]       power9;
    Xxperm      "xxperm"      XX3(60, 26)    [XT XA XB]         power9;
    Xxpermr     "xxpermr"     XX3(60, 58)    [XT XA XB]         power9;

    // Signs, exponents and significands.
    Xsabsdp     "xsabsdp"     XX2(60, 345)   [XT XB]            v206;
    Xsnabsdp    "xsnabsdp"    XX2(60, 361)   [XT XB]            v206;
    Xsnegdp     "xsnegdp"     XX2(60, 377)   [XT XB]            v206;
    Xscpsgndp   "xscpsgndp"   XX3(60, 176)   [XT XA XB]         v206;
    Xvabsdp     "xvabsdp"     XX2(60, 473)   [XT XB]            v206;
    Xvnabsdp    "xvnabsdp"    XX2(60, 489)   [XT XB]            v206;
    Xvnegdp     "xvnegdp"     XX2(60, 505)   [XT XB]            v206;
    Xvcpsgndp   "xvcpsgndp"   XX3(60, 240)   [XT XA XB]         v206;
    Xvabssp     "xvabssp"     XX2(60, 409)   [XT XB]            v206;
    Xvnabssp    "xvnabssp"    XX2(60, 425)   [XT XB]            v206;
    Xvnegsp     "xvnegsp"     XX2(60, 441)   [XT XB]            v206;
    Xvcpsgnsp   "xvcpsgnsp"   XX3(60, 208)   [XT XA XB]         v206;
    Xsiexpdp    "xsiexpdp"    XX1(60, 918)   [XT RA RB]         power9;
    Xviexpdp    "xviexpdp"    XX3(60, 248)   [XT XA XB]         power9;
    Xviexpsp    "xviexpsp"    XX3(60, 216)   [XT XA XB]         power9;

    // Told apart by bits 11 to 15: exponents, significands and half precision, then the same of vectors
    // and reversals of bytes.
    Xsxexpdp    "xsxexpdp"    XX2(60, 347)   [RT XB]            power9 fixed(11, 15, 0);
    Xsxsigdp    "xsxsigdp"    XX2(60, 347)   [RT XB]            power9 fixed(11, 15, 1);
    Xscvhpdp    "xscvhpdp"    XX2(60, 347)   [XT XB]            power9 fixed(11, 15, 16);
    Xscvdphp    "xscvdphp"    XX2(60, 347)   [XT XB]            power9 fixed(11, 15, 17);
    Xvxexpdp    "xvxexpdp"    XX2(60, 475)   [XT XB]            power9 fixed(11, 15, 0);
    Xvxsigdp    "xvxsigdp"    XX2(60, 475)   [XT XB]            power9 fixed(11, 15, 1);
    Xxbrh       "xxbrh"       XX2(60, 475)   [XT XB]            power9 fixed(11, 15, 7);
    Xvxexpsp    "xvxexpsp"    XX2(60, 475)   [XT XB]            power9 fixed(11, 15, 8);
    Xvxsigsp    "xvxsigsp"    XX2(60, 475)   [XT XB]            power9 fixed(11, 15, 9);
    Xxbrw       "xxbrw"       XX2(60, 475)   [XT XB]            power9 fixed(11, 15, 15);
    Xxbrd       "xxbrd"       XX2(60, 475)   [XT XB]            power9 fixed(11, 15, 23);
    Xvcvhpsp    "xvcvhpsp"    XX2(60, 475)   [XT XB]            power9 fixed(11, 15, 24);
    Xvcvsphp    "xvcvsphp"    XX2(60, 475)   [XT XB]            power9 fixed(11, 15, 25);
    Xxbrq       "xxbrq"       XX2(60, 475)   [XT XB]            power9 fixed(11, 15, 31);

    // Scalar arithmetic.
    Xsadddp     "xsadddp"     XX3(60, 32)    [XT XA XB]         v206;
    Xsaddsp     "xsaddsp"     XX3(60, 0)     [XT XA XB]         v207;
    Xssubdp     "xssubdp"     XX3(60, 40)    [XT XA XB]         v206;
    Xssubsp     "xssubsp"     XX3(60, 8)     [XT XA XB]         v207;
    Xsmuldp     "xsmuldp"     XX3(60, 48)    [XT XA XB]         v206;
    Xsmulsp     "xsmulsp"     XX3(60, 16)    [XT XA XB]         v207;
    Xsdivdp     "xsdivdp"     XX3(60, 56)    [XT XA XB]         v206;
    Xsdivsp     "xsdivsp"     XX3(60, 24)    [XT XA XB]         v207;
    Xssqrtdp    "xssqrtdp"    XX2(60, 75)    [XT XB]            v206;
    Xssqrtsp    "xssqrtsp"    XX2(60, 11)    [XT XB]            v207;
    Xsredp      "xsredp"      XX2(60, 90)    [XT XB]            v206;
    Xsresp      "xsresp"      XX2(60, 26)    [XT XB]            v207;
    Xsrsqrtedp  "xsrsqrtedp"  XX2(60, 74)    [XT XB]            v206;
    Xsrsqrtesp  "xsrsqrtesp"  XX2(60, 10)    [XT XB]            v207;
    Xstdivdp    "xstdivdp"    XX3(60, 61)    [BF XA XB]         v206;
    Xstsqrtdp   "xstsqrtdp"   XX2(60, 106)   [BF XB]            v206;

    // Scalar multiply-add.
    Xsmaddadp   "xsmaddadp"   XX3(60, 33)    [XT XA XB]         v206;
    Xsmaddmdp   "xsmaddmdp"   XX3(60, 41)    [XT XA XB]         v206;
    Xsmsubadp   "xsmsubadp"   XX3(60, 49)    [XT XA XB]         v206;
    Xsmsubmdp   "xsmsubmdp"   XX3(60, 57)    [XT XA XB]         v206;
    Xsnmaddadp  "xsnmaddadp"  XX3(60, 161)   [XT XA XB]         v206;
    Xsnmaddmdp  "xsnmaddmdp"  XX3(60, 169)   [XT XA XB]         v206;
    Xsnmsubadp  "xsnmsubadp"  XX3(60, 177)   [XT XA XB]         v206;
    Xsnmsubmdp  "xsnmsubmdp"  XX3(60, 185)   [XT XA XB]         v206;
    Xsmaddasp   "xsmaddasp"   XX3(60, 1)     [XT XA XB]         v207;
    Xsmaddmsp   "xsmaddmsp"   XX3(60, 9)     [XT XA XB]         v207;
    Xsmsubasp   "xsmsubasp"   XX3(60, 17)    [XT XA XB]         v207;
    Xsmsubmsp   "xsmsubmsp"   XX3(60, 25)    [XT XA XB]         v207;
    Xsnmaddasp  "xsnmaddasp"  XX3(60, 129)   [XT XA XB]         v207;
    Xsnmaddmsp  "xsnmaddmsp"  XX3(60, 137)   [XT XA XB]         v207;
    Xsnmsubasp  "xsnmsubasp"  XX3(60, 145)   [XT XA XB]         v207;
    Xsnmsubmsp  "xsnmsubmsp"  XX3(60, 153)   [XT XA XB]         v207;

    // Scalar comparison, maximum and minimum, class.
    Xscmpodp    "xscmpodp"    XX3(60, 43)    [BF XA XB]         v206;
    Xscmpudp    "xscmpudp"    XX3(60, 35)    [BF XA XB]         v206;
    Xscmpexpdp  "xscmpexpdp"  XX3(60, 59)    [BF XA XB]         power9;
    Xscmpeqdp   "xscmpeqdp"   XX3(60, 3)     [XT XA XB]         power9;
    Xscmpgtdp   "xscmpgtdp"   XX3(60, 11)    [XT XA XB]         power9;
    Xscmpgedp   "xscmpgedp"   XX3(60, 19)    [XT XA XB]         power9;
    Xsmaxdp     "xsmaxdp"     XX3(60, 160)   [XT XA XB]         v206;
    Xsmindp     "xsmindp"     XX3(60, 168)   [XT XA XB]         v206;
    Xsmaxcdp    "xsmaxcdp"    XX3(60, 128)   [XT XA XB]         power9;
    Xsmincdp    "xsmincdp"    XX3(60, 136)   [XT XA XB]         power9;
    Xsmaxjdp    "xsmaxjdp"    XX3(60, 144)   [XT XA XB]         power9;
    Xsminjdp    "xsminjdp"    XX3(60, 152)   [XT XA XB]         power9;
    Xststdcdp   "xststdcdp"   XX2(60, 362)   [BF XB DCMX]       power9;
    Xststdcsp   "xststdcsp"   XX2(60, 298)   [BF XB DCMX]       power9;

    // Scalar rounding and conversion.
    Xsrsp       "xsrsp"       XX2(60, 281)   [XT XB]            v207;
    Xsrdpi      "xsrdpi"      XX2(60, 73)    [XT XB]            v206;
    Xsrdpic     "xsrdpic"     XX2(60, 107)   [XT XB]            v206;
    Xsrdpim     "xsrdpim"     XX2(60, 121)   [XT XB]            v206;
    Xsrdpip     "xsrdpip"     XX2(60, 105)   [XT XB]            v206;
    Xsrdpiz     "xsrdpiz"     XX2(60, 89)    [XT XB]            v206;
    Xscvdpsp    "xscvdpsp"    XX2(60, 265)   [XT XB]            v206;
    Xscvdpspn   "xscvdpspn"   XX2(60, 267)   [XT XB]            v207;
    Xscvspdp    "xscvspdp"    XX2(60, 329)   [XT XB]            v206;
    Xscvspdpn   "xscvspdpn"   XX2(60, 331)   [XT XB]            v207;
    Xscvdpsxds  "xscvdpsxds"  XX2(60, 344)   [XT XB]            v206;
    Xscvdpsxws  "xscvdpsxws"  XX2(60, 88)    [XT XB]            v206;
    Xscvdpuxds  "xscvdpuxds"  XX2(60, 328)   [XT XB]            v206;
    Xscvdpuxws  "xscvdpuxws"  XX2(60, 72)    [XT XB]            v206;
    Xscvsxddp   "xscvsxddp"   XX2(60, 376)   [XT XB]            v206;
    Xscvsxdsp   "xscvsxdsp"   XX2(60, 312)   [XT XB]            v207;
    Xscvuxddp   "xscvuxddp"   XX2(60, 360)   [XT XB]            v206;
    Xscvuxdsp   "xscvuxdsp"   XX2(60, 296)   [XT XB]            v207;

    // Vector arithmetic.
    Xvadddp     "xvadddp"     XX3(60, 96)    [XT XA XB]         v206;
    Xvaddsp     "xvaddsp"     XX3(60, 64)    [XT XA XB]         v206;
    Xvsubdp     "xvsubdp"     XX3(60, 104)   [XT XA XB]         v206;
    Xvsubsp     "xvsubsp"     XX3(60, 72)    [XT XA XB]         v206;
    Xvmuldp     "xvmuldp"     XX3(60, 112)   [XT XA XB]         v206;
    Xvmulsp     "xvmulsp"     XX3(60, 80)    [XT XA XB]         v206;
    Xvdivdp     "xvdivdp"     XX3(60, 120)   [XT XA XB]         v206;
    Xvdivsp     "xvdivsp"     XX3(60, 88)    [XT XA XB]         v206;
    Xvsqrtdp    "xvsqrtdp"    XX2(60, 203)   [XT XB]            v206;
    Xvsqrtsp    "xvsqrtsp"    XX2(60, 139)   [XT XB]            v206;
    Xvredp      "xvredp"      XX2(60, 218)   [XT XB]            v206;
    Xvresp      "xvresp"      XX2(60, 154)   [XT XB]            v206;
    Xvrsqrtedp  "xvrsqrtedp"  XX2(60, 202)   [XT XB]            v206;
    Xvrsqrtesp  "xvrsqrtesp"  XX2(60, 138)   [XT XB]            v206;
    Xvtdivdp    "xvtdivdp"    XX3(60, 125)   [BF XA XB]         v206;
    Xvtdivsp    "xvtdivsp"    XX3(60, 93)    [BF XA XB]         v206;
    Xvtsqrtdp   "xvtsqrtdp"   XX2(60, 234)   [BF XB]            v206;
    Xvtsqrtsp   "xvtsqrtsp"   XX2(60, 170)   [BF XB]            v206;

    // Vector multiply-add.
    Xvmaddadp   "xvmaddadp"   XX3(60, 97)    [XT XA XB]         v206;
    Xvmaddmdp   "xvmaddmdp"   XX3(60, 105)   [XT XA XB]         v206;
    Xvmsubadp   "xvmsubadp"   XX3(60, 113)   [XT XA XB]         v206;
    Xvmsubmdp   "xvmsubmdp"   XX3(60, 121)   [XT XA XB]         v206;
    Xvnmaddadp  "xvnmaddadp"  XX3(60, 225)   [XT XA XB]         v206;
    Xvnmaddmdp  "xvnmaddmdp"  XX3(60, 233)   [XT XA XB]         v206;
    Xvnmsubadp  "xvnmsubadp"  XX3(60, 241)   [XT XA XB]         v206;
    Xvnmsubmdp  "xvnmsubmdp"  XX3(60, 249)   [XT XA XB]         v206;
    Xvmaddasp   "xvmaddasp"   XX3(60, 65)    [XT XA XB]         v206;
    Xvmaddmsp   "xvmaddmsp"   XX3(60, 73)    [XT XA XB]         v206;
    Xvmsubasp   "xvmsubasp"   XX3(60, 81)    [XT XA XB]         v206;
    Xvmsubmsp   "xvmsubmsp"   XX3(60, 89)    [XT XA XB]         v206;
    Xvnmaddasp  "xvnmaddasp"  XX3(60, 193)   [XT XA XB]         v206;
    Xvnmaddmsp  "xvnmaddmsp"  XX3(60, 201)   [XT XA XB]         v206;
    Xvnmsubasp  "xvnmsubasp"  XX3(60, 209)   [XT XA XB]         v206;
    Xvnmsubmsp  "xvnmsubmsp"  XX3(60, 217)   [XT XA XB]         v206;

    // Vector comparison, maximum and minimum, class.
    Xvcmpeqdp   "xvcmpeqdp"   XX3C(60, 99)   [XT XA XB]         rc21 v206;
    Xvcmpgtdp   "xvcmpgtdp"   XX3C(60, 107)  [XT XA XB]         rc21 v206;
    Xvcmpgedp   "xvcmpgedp"   XX3C(60, 115)  [XT XA XB]         rc21 v206;
    Xvcmpeqsp   "xvcmpeqsp"   XX3C(60, 67)   [XT XA XB]         rc21 v206;
    Xvcmpgtsp   "xvcmpgtsp"   XX3C(60, 75)   [XT XA XB]         rc21 v206;
    Xvcmpgesp   "xvcmpgesp"   XX3C(60, 83)   [XT XA XB]         rc21 v206;
    Xvmaxdp     "xvmaxdp"     XX3(60, 224)   [XT XA XB]         v206;
    Xvmindp     "xvmindp"     XX3(60, 232)   [XT XA XB]         v206;
    Xvmaxsp     "xvmaxsp"     XX3(60, 192)   [XT XA XB]         v206;
    Xvminsp     "xvminsp"     XX3(60, 200)   [XT XA XB]         v206;
    Xvtstdcdp   "xvtstdcdp"   XX2D(60, 125)  [XT XB DCMX_split] power9;
    Xvtstdcsp   "xvtstdcsp"   XX2D(60, 109)  [XT XB DCMX_split] power9;

    // Vector rounding and conversion.
    Xvrdpi      "xvrdpi"      XX2(60, 201)   [XT XB]            v206;
    Xvrdpic     "xvrdpic"     XX2(60, 235)   [XT XB]            v206;
    Xvrdpim     "xvrdpim"     XX2(60, 249)   [XT XB]            v206;
    Xvrdpip     "xvrdpip"     XX2(60, 233)   [XT XB]            v206;
    Xvrdpiz     "xvrdpiz"     XX2(60, 217)   [XT XB]            v206;
    Xvrspi      "xvrspi"      XX2(60, 137)   [XT XB]            v206;
    Xvrspic     "xvrspic"     XX2(60, 171)   [XT XB]            v206;
    Xvrspim     "xvrspim"     XX2(60, 185)   [XT XB]            v206;
    Xvrspip     "xvrspip"     XX2(60, 169)   [XT XB]            v206;
    Xvrspiz     "xvrspiz"     XX2(60, 153)   [XT XB]            v206;
    Xvcvdpsp    "xvcvdpsp"    XX2(60, 393)   [XT XB]            v206;
    Xvcvspdp    "xvcvspdp"    XX2(60, 457)   [XT XB]            v206;
    Xvcvdpsxds  "xvcvdpsxds"  XX2(60, 472)   [XT XB]            v206;
    Xvcvdpsxws  "xvcvdpsxws"  XX2(60, 216)   [XT XB]            v206;
    Xvcvdpuxds  "xvcvdpuxds"  XX2(60, 456)   [XT XB]            v206;
    Xvcvdpuxws  "xvcvdpuxws"  XX2(60, 200)   [XT XB]            v206;
    Xvcvspsxds  "xvcvspsxds"  XX2(60, 408)   [XT XB]            v206;
    Xvcvspsxws  "xvcvspsxws"  XX2(60, 152)   [XT XB]            v206;
    Xvcvspuxds  "xvcvspuxds"  XX2(60, 392)   [XT XB]            v206;
    Xvcvspuxws  "xvcvspuxws"  XX2(60, 136)   [XT XB]            v206;
    Xvcvsxddp   "xvcvsxddp"   XX2(60, 504)   [XT XB]            v206;
    Xvcvsxdsp   "xvcvsxdsp"   XX2(60, 440)   [XT XB]            v206;
    Xvcvsxwdp   "xvcvsxwdp"   XX2(60, 248)   [XT XB]            v206;
    Xvcvsxwsp   "xvcvsxwsp"   XX2(60, 184)   [XT XB]            v206;
    Xvcvuxddp   "xvcvuxddp"   XX2(60, 488)   [XT XB]            v206;
    Xvcvuxdsp   "xvcvuxdsp"   XX2(60, 424)   [XT XB]            v206;
    Xvcvuxwdp   "xvcvuxwdp"   XX2(60, 232)   [XT XB]            v206;
    Xvcvuxwsp   "xvcvuxwsp"   XX2(60, 168)   [XT XB]            v206;

    // Quad precision. The forms that round to odd have a one in bit 31.
    Xsaddqp     "xsaddqp"     X(63, 4)       [VRT VRA VRB]      power9 fixed(31, 31, 0);
    Xsaddqpo    "xsaddqpo"    X(63, 4)       [VRT VRA VRB]      power9 fixed(31, 31, 1);
    Xssubqp     "xssubqp"     X(63, 516)     [VRT VRA VRB]      power9 fixed(31, 31, 0);
    Xssubqpo    "xssubqpo"    X(63, 516)     [VRT VRA VRB]      power9 fixed(31, 31, 1);
    Xsmulqp     "xsmulqp"     X(63, 36)      [VRT VRA VRB]      power9 fixed(31, 31, 0);
    Xsmulqpo    "xsmulqpo"    X(63, 36)      [VRT VRA VRB]      power9 fixed(31, 31, 1);
    Xsdivqp     "xsdivqp"     X(63, 548)     [VRT VRA VRB]      power9 fixed(31, 31, 0);
    Xsdivqpo    "xsdivqpo"    X(63, 548)     [VRT VRA VRB]      power9 fixed(31, 31, 1);
    Xsmaddqp    "xsmaddqp"    X(63, 388)     [VRT VRA VRB]      power9 fixed(31, 31, 0);
    Xsmaddqpo   "xsmaddqpo"   X(63, 388)     [VRT VRA VRB]      power9 fixed(31, 31, 1);
    Xsmsubqp    "xsmsubqp"    X(63, 420)     [VRT VRA VRB]      power9 fixed(31, 31, 0);
    Xsmsubqpo   "xsmsubqpo"   X(63, 420)     [VRT VRA VRB]      power9 fixed(31, 31, 1);
    Xsnmaddqp   "xsnmaddqp"   X(63, 452)     [VRT VRA VRB]      power9 fixed(31, 31, 0);
    Xsnmaddqpo  "xsnmaddqpo"  X(63, 452)     [VRT VRA VRB]      power9 fixed(31, 31, 1);
    Xsnmsubqp   "xsnmsubqp"   X(63, 484)     [VRT VRA VRB]      power9 fixed(31, 31, 0);
    Xsnmsubqpo  "xsnmsubqpo"  X(63, 484)     [VRT VRA VRB]      power9 fixed(31, 31, 1);
    Xscmpoqp    "xscmpoqp"    X(63, 132)     [BF VRA VRB]       power9;
    Xscmpuqp    "xscmpuqp"    X(63, 644)     [BF VRA VRB]       power9;
    Xscmpexpqp  "xscmpexpqp"  X(63, 164)     [BF VRA VRB]       power9;
    Xststdcqp   "xststdcqp"   X(63, 708)     [BF VRB DCMX]      power9;
    Xscpsgnqp   "xscpsgnqp"   X(63, 100)     [VRT VRA VRB]      power9;
    Xsiexpqp    "xsiexpqp"    X(63, 868)     [VRT VRA VRB]      power9;
    Xssqrtqp    "xssqrtqp"    X(63, 804)     [VRT VRB]          power9 fixed(11, 15, 27) fixed(31, 31, 0);
    Xsabsqp     "xsabsqp"     X(63, 804)     [VRT VRB]          power9 fixed(11, 15, 0);
    Xsxexpqp    "xsxexpqp"    X(63, 804)     [VRT VRB]          power9 fixed(11, 15, 2);
    Xsnabsqp    "xsnabsqp"    X(63, 804)     [VRT VRB]          power9 fixed(11, 15, 8);
    Xsnegqp     "xsnegqp"     X(63, 804)     [VRT VRB]          power9 fixed(11, 15, 16);
    Xsxsigqp    "xsxsigqp"    X(63, 804)     [VRT VRB]          power9 fixed(11, 15, 18);
    Xssqrtqpo   "xssqrtqpo"   X(63, 804)     [VRT VRB]          power9 fixed(11, 15, 27) fixed(31, 31, 1);
    Xscvqpdp    "xscvqpdp"    X(63, 836)     [VRT VRB]          power9 fixed(11, 15, 20) fixed(31, 31, 0);
    Xscvqpuwz   "xscvqpuwz"   X(63, 836)     [VRT VRB]          power9 fixed(11, 15, 1);
    Xscvudqp    "xscvudqp"    X(63, 836)     [VRT VRB]          power9 fixed(11, 15, 2);
    Xscvqpswz   "xscvqpswz"   X(63, 836)     [VRT VRB]          power9 fixed(11, 15, 9);
    Xscvsdqp    "xscvsdqp"    X(63, 836)     [VRT VRB]          power9 fixed(11, 15, 10);
    Xscvqpudz   "xscvqpudz"   X(63, 836)     [VRT VRB]          power9 fixed(11, 15, 17);
    Xscvdpqp    "xscvdpqp"    X(63, 836)     [VRT VRB]          power9 fixed(11, 15, 22);
    Xscvqpsdz   "xscvqpsdz"   X(63, 836)     [VRT VRB]          power9 fixed(11, 15, 25);
    Xscvqpdpo   "xscvqpdpo"   X(63, 836)     [VRT VRB]          power9 fixed(11, 15, 20) fixed(31, 31, 1);
    Xsrqpi      "xsrqpi"      Z23(63, 5)     [R VRT VRB RMC]    power9 fixed(31, 31, 0);
    Xsrqpix     "xsrqpix"     Z23(63, 5)     [R VRT VRB RMC]    power9 fixed(31, 31, 1);
    Xsrqpxp     "xsrqpxp"     Z23(63, 37)    [R VRT VRB RMC]    power9;
    }};
}
