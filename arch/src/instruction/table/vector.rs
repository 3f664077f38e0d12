//! Vectors: Book I chapter 6. VRs are VSRs 32 to 63.

macro_rules! vector {
    ($next:ident $($more:ident)* => $($rows:tt)*) => { $next! { $($more)* => $($rows)*

    // Loads and stores.
    Lvebx        "lvebx"        X(31, 7)     [VRT RA0 RB];
    Lvehx        "lvehx"        X(31, 39)    [VRT RA0 RB];
    Lvewx        "lvewx"        X(31, 71)    [VRT RA0 RB];
    Lvx          "lvx"          X(31, 103)   [VRT RA0 RB];
    Lvxl         "lvxl"         X(31, 359)   [VRT RA0 RB];
    Lvsl         "lvsl"         X(31, 6)     [VRT RA0 RB];
    Lvsr         "lvsr"         X(31, 38)    [VRT RA0 RB];
    Stvebx       "stvebx"       X(31, 135)   [VRS RA0 RB];
    Stvehx       "stvehx"       X(31, 167)   [VRS RA0 RB];
    Stvewx       "stvewx"       X(31, 199)   [VRS RA0 RB];
    Stvx         "stvx"         X(31, 231)   [VRS RA0 RB];
    Stvxl        "stvxl"        X(31, 487)   [VRS RA0 RB];

    // Packing, merging, splatting.
    Vpkuhum      "vpkuhum"      VX(4, 14)    [VRT VRA VRB];
    Vpkuwum      "vpkuwum"      VX(4, 78)    [VRT VRA VRB];
    Vpkudum      "vpkudum"      VX(4, 1102)  [VRT VRA VRB]       v207;
    Vpkuhus      "vpkuhus"      VX(4, 142)   [VRT VRA VRB];
    Vpkuwus      "vpkuwus"      VX(4, 206)   [VRT VRA VRB];
    Vpkudus      "vpkudus"      VX(4, 1230)  [VRT VRA VRB]       v207;
    Vpkshus      "vpkshus"      VX(4, 270)   [VRT VRA VRB];
    Vpkswus      "vpkswus"      VX(4, 334)   [VRT VRA VRB];
    Vpksdus      "vpksdus"      VX(4, 1358)  [VRT VRA VRB]       v207;
    Vpkshss      "vpkshss"      VX(4, 398)   [VRT VRA VRB];
    Vpkswss      "vpkswss"      VX(4, 462)   [VRT VRA VRB];
    Vpksdss      "vpksdss"      VX(4, 1486)  [VRT VRA VRB]       v207;
    Vpkpx        "vpkpx"        VX(4, 782)   [VRT VRA VRB];
    Vupkhsb      "vupkhsb"      VX(4, 526)   [VRT VRB];
    Vupkhsh      "vupkhsh"      VX(4, 590)   [VRT VRB];
    Vupkhsw      "vupkhsw"      VX(4, 1614)  [VRT VRB]           v207;
    Vupklsb      "vupklsb"      VX(4, 654)   [VRT VRB];
    Vupklsh      "vupklsh"      VX(4, 718)   [VRT VRB];
    Vupklsw      "vupklsw"      VX(4, 1742)  [VRT VRB]           v207;
    Vupkhpx      "vupkhpx"      VX(4, 846)   [VRT VRB];
    Vupklpx      "vupklpx"      VX(4, 974)   [VRT VRB];
    Vmrghb       "vmrghb"       VX(4, 12)    [VRT VRA VRB];
    Vmrghh       "vmrghh"       VX(4, 76)    [VRT VRA VRB];
    Vmrghw       "vmrghw"       VX(4, 140)   [VRT VRA VRB];
    Vmrglb       "vmrglb"       VX(4, 268)   [VRT VRA VRB];
    Vmrglh       "vmrglh"       VX(4, 332)   [VRT VRA VRB];
    Vmrglw       "vmrglw"       VX(4, 396)   [VRT VRA VRB];
    Vmrgew       "vmrgew"       VX(4, 1932)  [VRT VRA VRB]       v207;
    Vmrgow       "vmrgow"       VX(4, 1676)  [VRT VRA VRB]       v207;
    Vspltb       "vspltb"       VX(4, 524)   [VRT VRB UIM4];
    Vsplth       "vsplth"       VX(4, 588)   [VRT VRB UIM3];
    Vspltw       "vspltw"       VX(4, 652)   [VRT VRB UIM2];
    Vspltisb     "vspltisb"     VX(4, 780)   [VRT SIM];
    Vspltish     "vspltish"     VX(4, 844)   [VRT SIM];
    Vspltisw     "vspltisw"     VX(4, 908)   [VRT SIM];

    // Permutation, selection, extraction, insertion.
    Vperm        "vperm"        VA(4, 43)    [VRT VRA VRB VRC];
    Vpermr       "vpermr"       VA(4, 59)    [VRT VRA VRB VRC]   power9;
    Vpermxor     "vpermxor"     VA(4, 45)    [VRT VRA VRB VRC]   v207;
    Vsel         "vsel"         VA(4, 42)    [VRT VRA VRB VRC];
    Vsldoi       "vsldoi"       VA(4, 44)    [VRT VRA VRB SHB];
    Vextractub   "vextractub"   VX(4, 525)   [VRT VRB UIM4]      power9;
    Vextractuh   "vextractuh"   VX(4, 589)   [VRT VRB UIM4]      power9;
    Vextractuw   "vextractuw"   VX(4, 653)   [VRT VRB UIM4]      power9;
    Vextractd    "vextractd"    VX(4, 717)   [VRT VRB UIM4]      power9;
    Vinsertb     "vinsertb"     VX(4, 781)   [VRT VRB UIM4]      power9;
    Vinserth     "vinserth"     VX(4, 845)   [VRT VRB UIM4]      power9;
    Vinsertw     "vinsertw"     VX(4, 909)   [VRT VRB UIM4]      power9;
    Vinsertd     "vinsertd"     VX(4, 973)   [VRT VRB UIM4]      power9;
    Vextublx     "vextublx"     VX(4, 1549)  [RT RA VRB]         power9;
    Vextuhlx     "vextuhlx"     VX(4, 1613)  [RT RA VRB]         power9;
    Vextuwlx     "vextuwlx"     VX(4, 1677)  [RT RA VRB]         power9;
    Vextubrx     "vextubrx"     VX(4, 1805)  [RT RA VRB]         power9;
    Vextuhrx     "vextuhrx"     VX(4, 1869)  [RT RA VRB]         power9;
    Vextuwrx     "vextuwrx"     VX(4, 1933)  [RT RA VRB]         power9;

    // Shifts and rotations.
    Vsl          "vsl"          VX(4, 452)   [VRT VRA VRB];
    Vslo         "vslo"         VX(4, 1036)  [VRT VRA VRB];
    Vsr          "vsr"          VX(4, 708)   [VRT VRA VRB];
    Vsro         "vsro"         VX(4, 1100)  [VRT VRA VRB];
    Vslv         "vslv"         VX(4, 1860)  [VRT VRA VRB]       power9;
    Vsrv         "vsrv"         VX(4, 1796)  [VRT VRA VRB]       power9;
    Vrlb         "vrlb"         VX(4, 4)     [VRT VRA VRB];
    Vrlh         "vrlh"         VX(4, 68)    [VRT VRA VRB];
    Vrlw         "vrlw"         VX(4, 132)   [VRT VRA VRB];
    Vrld         "vrld"         VX(4, 196)   [VRT VRA VRB]       v207;
    Vslb         "vslb"         VX(4, 260)   [VRT VRA VRB];
    Vslh         "vslh"         VX(4, 324)   [VRT VRA VRB];
    Vslw         "vslw"         VX(4, 388)   [VRT VRA VRB];
    Vsld         "vsld"         VX(4, 1476)  [VRT VRA VRB]       v207;
    Vsrb         "vsrb"         VX(4, 516)   [VRT VRA VRB];
    Vsrh         "vsrh"         VX(4, 580)   [VRT VRA VRB];
    Vsrw         "vsrw"         VX(4, 644)   [VRT VRA VRB];
    Vsrd         "vsrd"         VX(4, 1732)  [VRT VRA VRB]       v207;
    Vsrab        "vsrab"        VX(4, 772)   [VRT VRA VRB];
    Vsrah        "vsrah"        VX(4, 836)   [VRT VRA VRB];
    Vsraw        "vsraw"        VX(4, 900)   [VRT VRA VRB];
    Vsrad        "vsrad"        VX(4, 964)   [VRT VRA VRB]       v207;
    Vrlwnm       "vrlwnm"       VX(4, 389)   [VRT VRA VRB]       power9;
    Vrlwmi       "vrlwmi"       VX(4, 133)   [VRT VRA VRB]       power9;
    Vrldnm       "vrldnm"       VX(4, 453)   [VRT VRA VRB]       power9;
    Vrldmi       "vrldmi"       VX(4, 197)   [VRT VRA VRB]       power9;

    // Sums and differences.
    Vaddubm      "vaddubm"      VX(4, 0)     [VRT VRA VRB];
    Vadduhm      "vadduhm"      VX(4, 64)    [VRT VRA VRB];
    Vadduwm      "vadduwm"      VX(4, 128)   [VRT VRA VRB];
    Vaddudm      "vaddudm"      VX(4, 192)   [VRT VRA VRB]       v207;
    Vadduqm      "vadduqm"      VX(4, 256)   [VRT VRA VRB]       v207;
    Vaddcuw      "vaddcuw"      VX(4, 384)   [VRT VRA VRB];
    Vaddcuq      "vaddcuq"      VX(4, 320)   [VRT VRA VRB]       v207;
    Vaddubs      "vaddubs"      VX(4, 512)   [VRT VRA VRB];
    Vadduhs      "vadduhs"      VX(4, 576)   [VRT VRA VRB];
    Vadduws      "vadduws"      VX(4, 640)   [VRT VRA VRB];
    Vaddsbs      "vaddsbs"      VX(4, 768)   [VRT VRA VRB];
    Vaddshs      "vaddshs"      VX(4, 832)   [VRT VRA VRB];
    Vaddsws      "vaddsws"      VX(4, 896)   [VRT VRA VRB];
    Vaddeuqm     "vaddeuqm"     VA(4, 60)    [VRT VRA VRB VRC]   v207;
    Vaddecuq     "vaddecuq"     VA(4, 61)    [VRT VRA VRB VRC]   v207;
    Vsububm      "vsububm"      VX(4, 1024)  [VRT VRA VRB];
    Vsubuhm      "vsubuhm"      VX(4, 1088)  [VRT VRA VRB];
    Vsubuwm      "vsubuwm"      VX(4, 1152)  [VRT VRA VRB];
    Vsubudm      "vsubudm"      VX(4, 1216)  [VRT VRA VRB]       v207;
    Vsubuqm      "vsubuqm"      VX(4, 1280)  [VRT VRA VRB]       v207;
    Vsubcuw      "vsubcuw"      VX(4, 1408)  [VRT VRA VRB];
    Vsubcuq      "vsubcuq"      VX(4, 1344)  [VRT VRA VRB]       v207;
    Vsububs      "vsububs"      VX(4, 1536)  [VRT VRA VRB];
    Vsubuhs      "vsubuhs"      VX(4, 1600)  [VRT VRA VRB];
    Vsubuws      "vsubuws"      VX(4, 1664)  [VRT VRA VRB];
    Vsubsbs      "vsubsbs"      VX(4, 1792)  [VRT VRA VRB];
    Vsubshs      "vsubshs"      VX(4, 1856)  [VRT VRA VRB];
    Vsubsws      "vsubsws"      VX(4, 1920)  [VRT VRA VRB];
    Vsubeuqm     "vsubeuqm"     VA(4, 62)    [VRT VRA VRB VRC]   v207;
    Vsubecuq     "vsubecuq"     VA(4, 63)    [VRT VRA VRB VRC]   v207;

    // Products.
    Vmuleub      "vmuleub"      VX(4, 520)   [VRT VRA VRB];
    Vmuleuh      "vmuleuh"      VX(4, 584)   [VRT VRA VRB];
    Vmuleuw      "vmuleuw"      VX(4, 648)   [VRT VRA VRB]       v207;
    Vmulesb      "vmulesb"      VX(4, 776)   [VRT VRA VRB];
    Vmulesh      "vmulesh"      VX(4, 840)   [VRT VRA VRB];
    Vmulesw      "vmulesw"      VX(4, 904)   [VRT VRA VRB]       v207;
    Vmuloub      "vmuloub"      VX(4, 8)     [VRT VRA VRB];
    Vmulouh      "vmulouh"      VX(4, 72)    [VRT VRA VRB];
    Vmulouw      "vmulouw"      VX(4, 136)   [VRT VRA VRB]       v207;
    Vmulosb      "vmulosb"      VX(4, 264)   [VRT VRA VRB];
    Vmulosh      "vmulosh"      VX(4, 328)   [VRT VRA VRB];
    Vmulosw      "vmulosw"      VX(4, 392)   [VRT VRA VRB]       v207;
    Vmuluwm      "vmuluwm"      VX(4, 137)   [VRT VRA VRB]       v207;
    Vmhaddshs    "vmhaddshs"    VA(4, 32)    [VRT VRA VRB VRC];
    Vmhraddshs   "vmhraddshs"   VA(4, 33)    [VRT VRA VRB VRC];
    Vmladduhm    "vmladduhm"    VA(4, 34)    [VRT VRA VRB VRC];
    Vmsumubm     "vmsumubm"     VA(4, 36)    [VRT VRA VRB VRC];
    Vmsummbm     "vmsummbm"     VA(4, 37)    [VRT VRA VRB VRC];
    Vmsumuhm     "vmsumuhm"     VA(4, 38)    [VRT VRA VRB VRC];
    Vmsumuhs     "vmsumuhs"     VA(4, 39)    [VRT VRA VRB VRC];
    Vmsumshm     "vmsumshm"     VA(4, 40)    [VRT VRA VRB VRC];
    Vmsumshs     "vmsumshs"     VA(4, 41)    [VRT VRA VRB VRC];
    Vmsumudm     "vmsumudm"     VA(4, 35)    [VRT VRA VRB VRC]   power9;
    Vmul10uq     "vmul10uq"     VX(4, 513)   [VRT VRA]           power9;
    Vmul10cuq    "vmul10cuq"    VX(4, 1)     [VRT VRA]           power9;
    Vmul10euq    "vmul10euq"    VX(4, 577)   [VRT VRA VRB]       power9;
    Vmul10ecuq   "vmul10ecuq"   VX(4, 65)    [VRT VRA VRB]       power9;

    // Sums across elements.
    Vsumsws      "vsumsws"      VX(4, 1928)  [VRT VRA VRB];
    Vsum2sws     "vsum2sws"     VX(4, 1672)  [VRT VRA VRB];
    Vsum4ubs     "vsum4ubs"     VX(4, 1544)  [VRT VRA VRB];
    Vsum4sbs     "vsum4sbs"     VX(4, 1800)  [VRT VRA VRB];
    Vsum4shs     "vsum4shs"     VX(4, 1608)  [VRT VRA VRB];

    // Means, differences, extremes.
    Vavgub       "vavgub"       VX(4, 1026)  [VRT VRA VRB];
    Vavguh       "vavguh"       VX(4, 1090)  [VRT VRA VRB];
    Vavguw       "vavguw"       VX(4, 1154)  [VRT VRA VRB];
    Vavgsb       "vavgsb"       VX(4, 1282)  [VRT VRA VRB];
    Vavgsh       "vavgsh"       VX(4, 1346)  [VRT VRA VRB];
    Vavgsw       "vavgsw"       VX(4, 1410)  [VRT VRA VRB];
    Vabsdub      "vabsdub"      VX(4, 1027)  [VRT VRA VRB]       power9;
    Vabsduh      "vabsduh"      VX(4, 1091)  [VRT VRA VRB]       power9;
    Vabsduw      "vabsduw"      VX(4, 1155)  [VRT VRA VRB]       power9;
    Vmaxub       "vmaxub"       VX(4, 2)     [VRT VRA VRB];
    Vmaxuh       "vmaxuh"       VX(4, 66)    [VRT VRA VRB];
    Vmaxuw       "vmaxuw"       VX(4, 130)   [VRT VRA VRB];
    Vmaxud       "vmaxud"       VX(4, 194)   [VRT VRA VRB]       v207;
    Vmaxsb       "vmaxsb"       VX(4, 258)   [VRT VRA VRB];
    Vmaxsh       "vmaxsh"       VX(4, 322)   [VRT VRA VRB];
    Vmaxsw       "vmaxsw"       VX(4, 386)   [VRT VRA VRB];
    Vmaxsd       "vmaxsd"       VX(4, 450)   [VRT VRA VRB]       v207;
    Vminub       "vminub"       VX(4, 514)   [VRT VRA VRB];
    Vminuh       "vminuh"       VX(4, 578)   [VRT VRA VRB];
    Vminuw       "vminuw"       VX(4, 642)   [VRT VRA VRB];
    Vminud       "vminud"       VX(4, 706)   [VRT VRA VRB]       v207;
    Vminsb       "vminsb"       VX(4, 770)   [VRT VRA VRB];
    Vminsh       "vminsh"       VX(4, 834)   [VRT VRA VRB];
    Vminsw       "vminsw"       VX(4, 898)   [VRT VRA VRB];
    Vminsd       "vminsd"       VX(4, 962)   [VRT VRA VRB]       v207;

    // Comparisons.
    Vcmpequb     "vcmpequb"     VC(4, 6)     [VRT VRA VRB]       rc21;
    Vcmpequh     "vcmpequh"     VC(4, 70)    [VRT VRA VRB]       rc21;
    Vcmpequw     "vcmpequw"     VC(4, 134)   [VRT VRA VRB]       rc21;
    Vcmpequd     "vcmpequd"     VC(4, 199)   [VRT VRA VRB]       rc21 v207;
    Vcmpgtub     "vcmpgtub"     VC(4, 518)   [VRT VRA VRB]       rc21;
    Vcmpgtuh     "vcmpgtuh"     VC(4, 582)   [VRT VRA VRB]       rc21;
    Vcmpgtuw     "vcmpgtuw"     VC(4, 646)   [VRT VRA VRB]       rc21;
    Vcmpgtud     "vcmpgtud"     VC(4, 711)   [VRT VRA VRB]       rc21 v207;
    Vcmpgtsb     "vcmpgtsb"     VC(4, 774)   [VRT VRA VRB]       rc21;
    Vcmpgtsh     "vcmpgtsh"     VC(4, 838)   [VRT VRA VRB]       rc21;
    Vcmpgtsw     "vcmpgtsw"     VC(4, 902)   [VRT VRA VRB]       rc21;
    Vcmpgtsd     "vcmpgtsd"     VC(4, 967)   [VRT VRA VRB]       rc21 v207;
    Vcmpneb      "vcmpneb"      VC(4, 7)     [VRT VRA VRB]       rc21 power9;
    Vcmpneh      "vcmpneh"      VC(4, 71)    [VRT VRA VRB]       rc21 power9;
    Vcmpnew      "vcmpnew"      VC(4, 135)   [VRT VRA VRB]       rc21 power9;
    Vcmpnezb     "vcmpnezb"     VC(4, 263)   [VRT VRA VRB]       rc21 power9;
    Vcmpnezh     "vcmpnezh"     VC(4, 327)   [VRT VRA VRB]       rc21 power9;
    Vcmpnezw     "vcmpnezw"     VC(4, 391)   [VRT VRA VRB]       rc21 power9;

    // Logic.
    Vand         "vand"         VX(4, 1028)  [VRT VRA VRB];
    Vandc        "vandc"        VX(4, 1092)  [VRT VRA VRB];
    Veqv         "veqv"         VX(4, 1668)  [VRT VRA VRB]       v207;
    Vnand        "vnand"        VX(4, 1412)  [VRT VRA VRB]       v207;
    Vor          "vor"          VX(4, 1156)  [VRT VRA VRB];
    Vorc         "vorc"         VX(4, 1348)  [VRT VRA VRB]       v207;
    Vnor         "vnor"         VX(4, 1284)  [VRT VRA VRB];
    Vxor         "vxor"         VX(4, 1220)  [VRT VRA VRB];

    // Counts, parity, negation, sign extension: bits 11 to 15 tell some apart.
    Vclzb        "vclzb"        VX(4, 1794)  [VRT VRB]           v207;
    Vclzh        "vclzh"        VX(4, 1858)  [VRT VRB]           v207;
    Vclzw        "vclzw"        VX(4, 1922)  [VRT VRB]           v207;
    Vclzd        "vclzd"        VX(4, 1986)  [VRT VRB]           v207;
    Vpopcntb     "vpopcntb"     VX(4, 1795)  [VRT VRB]           v207;
    Vpopcnth     "vpopcnth"     VX(4, 1859)  [VRT VRB]           v207;
    Vpopcntw     "vpopcntw"     VX(4, 1923)  [VRT VRB]           v207;
    Vpopcntd     "vpopcntd"     VX(4, 1987)  [VRT VRB]           v207;
    Vclzlsbb     "vclzlsbb"     VX(4, 1538)  [RT VRB]            power9 fixed(11, 15, 0);
    Vctzlsbb     "vctzlsbb"     VX(4, 1538)  [RT VRB]            power9 fixed(11, 15, 1);
    Vnegw        "vnegw"        VX(4, 1538)  [VRT VRB]           power9 fixed(11, 15, 6);
    Vnegd        "vnegd"        VX(4, 1538)  [VRT VRB]           power9 fixed(11, 15, 7);
    Vprtybw      "vprtybw"      VX(4, 1538)  [VRT VRB]           power9 fixed(11, 15, 8);
    Vprtybd      "vprtybd"      VX(4, 1538)  [VRT VRB]           power9 fixed(11, 15, 9);
    Vprtybq      "vprtybq"      VX(4, 1538)  [VRT VRB]           power9 fixed(11, 15, 10);
    Vextsb2w     "vextsb2w"     VX(4, 1538)  [VRT VRB]           power9 fixed(11, 15, 16);
    Vextsh2w     "vextsh2w"     VX(4, 1538)  [VRT VRB]           power9 fixed(11, 15, 17);
    Vextsb2d     "vextsb2d"     VX(4, 1538)  [VRT VRB]           power9 fixed(11, 15, 24);
    Vextsh2d     "vextsh2d"     VX(4, 1538)  [VRT VRB]           power9 fixed(11, 15, 25);
    Vextsw2d     "vextsw2d"     VX(4, 1538)  [VRT VRB]           power9 fixed(11, 15, 26);
    Vctzb        "vctzb"        VX(4, 1538)  [VRT VRB]           power9 fixed(11, 15, 28);
    Vctzh        "vctzh"        VX(4, 1538)  [VRT VRB]           power9 fixed(11, 15, 29);
    Vctzw        "vctzw"        VX(4, 1538)  [VRT VRB]           power9 fixed(11, 15, 30);
    Vctzd        "vctzd"        VX(4, 1538)  [VRT VRB]           power9 fixed(11, 15, 31);

    // Permutations of bits.
    Vgbbd        "vgbbd"        VX(4, 1292)  [VRT VRB]           v207;
    Vbpermq      "vbpermq"      VX(4, 1356)  [VRT VRA VRB]       v207;
    Vbpermd      "vbpermd"      VX(4, 1484)  [VRT VRA VRB]       power9;

    // Ciphers, hashes, carry-less products.
    Vcipher      "vcipher"      VX(4, 1288)  [VRT VRA VRB]       v207;
    Vcipherlast  "vcipherlast"  VX(4, 1289)  [VRT VRA VRB]       v207;
    Vncipher     "vncipher"     VX(4, 1352)  [VRT VRA VRB]       v207;
    Vncipherlast "vncipherlast" VX(4, 1353)  [VRT VRA VRB]       v207;
    Vsbox        "vsbox"        VX(4, 1480)  [VRT VRA]           v207;
    Vshasigmaw   "vshasigmaw"   VX(4, 1666)  [VRT VRA ST SIX]    v207;
    Vshasigmad   "vshasigmad"   VX(4, 1730)  [VRT VRA ST SIX]    v207;
    Vpmsumb      "vpmsumb"      VX(4, 1032)  [VRT VRA VRB]       v207;
    Vpmsumh      "vpmsumh"      VX(4, 1096)  [VRT VRA VRB]       v207;
    Vpmsumw      "vpmsumw"      VX(4, 1160)  [VRT VRA VRB]       v207;
    Vpmsumd      "vpmsumd"      VX(4, 1224)  [VRT VRA VRB]       v207;

    // Floating point.
    Vaddfp       "vaddfp"       VX(4, 10)    [VRT VRA VRB];
    Vsubfp       "vsubfp"       VX(4, 74)    [VRT VRA VRB];
    Vmaddfp      "vmaddfp"      VA(4, 46)    [VRT VRA VRC VRB];
    Vnmsubfp     "vnmsubfp"     VA(4, 47)    [VRT VRA VRC VRB];
    Vmaxfp       "vmaxfp"       VX(4, 1034)  [VRT VRA VRB];
    Vminfp       "vminfp"       VX(4, 1098)  [VRT VRA VRB];
    Vrefp        "vrefp"        VX(4, 266)   [VRT VRB];
    Vrsqrtefp    "vrsqrtefp"    VX(4, 330)   [VRT VRB];
    Vexptefp     "vexptefp"     VX(4, 394)   [VRT VRB];
    Vlogefp      "vlogefp"      VX(4, 458)   [VRT VRB];
    Vrfin        "vrfin"        VX(4, 522)   [VRT VRB];
    Vrfiz        "vrfiz"        VX(4, 586)   [VRT VRB];
    Vrfip        "vrfip"        VX(4, 650)   [VRT VRB];
    Vrfim        "vrfim"        VX(4, 714)   [VRT VRB];
    Vcfux        "vcfux"        VX(4, 778)   [VRT VRB UIM5];
    Vcfsx        "vcfsx"        VX(4, 842)   [VRT VRB UIM5];
    Vctuxs       "vctuxs"       VX(4, 906)   [VRT VRB UIM5];
    Vctsxs       "vctsxs"       VX(4, 970)   [VRT VRB UIM5];
    Vcmpeqfp     "vcmpeqfp"     VC(4, 198)   [VRT VRA VRB]       rc21;
    Vcmpgefp     "vcmpgefp"     VC(4, 454)   [VRT VRA VRB]       rc21;
    Vcmpgtfp     "vcmpgtfp"     VC(4, 710)   [VRT VRA VRB]       rc21;
    Vcmpbfp      "vcmpbfp"      VC(4, 966)   [VRT VRA VRB]       rc21;

    // Decimal integers.
    Bcdadd       "bcdadd."      VXD(4, 1)    [VRT VRA VRB PS]    v207;
    Bcdsub       "bcdsub."      VXD(4, 65)   [VRT VRA VRB PS]    v207;
    Bcdcpsgn     "bcdcpsgn."    VX(4, 833)   [VRT VRA VRB]       power9;
    Bcdus        "bcdus."       VXD(4, 129)  [VRT VRA VRB]       power9;
    Bcdutrunc    "bcdutrunc."   VXD(4, 321)  [VRT VRA VRB]       power9;
    Bcds         "bcds."        VXD(4, 193)  [VRT VRA VRB PS]    power9;
    Bcdsr        "bcdsr."       VXD(4, 449)  [VRT VRA VRB PS]    power9;
    Bcdtrunc     "bcdtrunc."    VXD(4, 257)  [VRT VRA VRB PS]    power9;
    Bcdctsq      "bcdctsq."     VXD(4, 385)  [VRT VRB]           power9 fixed(11, 15, 0);
    Bcdcfsq      "bcdcfsq."     VXD(4, 385)  [VRT VRB PS]        power9 fixed(11, 15, 2);
    Bcdctz       "bcdctz."      VXD(4, 385)  [VRT VRB PS]        power9 fixed(11, 15, 4);
    Bcdctn       "bcdctn."      VXD(4, 385)  [VRT VRB]           power9 fixed(11, 15, 5);
    Bcdcfz       "bcdcfz."      VXD(4, 385)  [VRT VRB PS]        power9 fixed(11, 15, 6);
    Bcdcfn       "bcdcfn."      VXD(4, 385)  [VRT VRB PS]        power9 fixed(11, 15, 7);
    Bcdsetsgn    "bcdsetsgn."   VXD(4, 385)  [VRT VRB PS]        power9 fixed(11, 15, 31);

    // Status and control.
    Mfvscr       "mfvscr"       VX(4, 1540)  [VRT];
    Mtvscr       "mtvscr"       VX(4, 1604)  [VRB];

    }};
}
