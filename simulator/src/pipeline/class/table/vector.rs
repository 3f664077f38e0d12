//! The classes of the instructions of `arch/src/instruction/table/vector.rs`.

macro_rules! vector {
    ($next:ident $($more:ident)* => $($rows:tt)*) => { $next! { $($more)* => $($rows)*

    VectorLogical: Vsel Vand Vandc Veqv Vnand Vor Vorc Vnor Vxor Vnegw Vnegd Vextsb2w Vextsh2w
        Vextsb2d Vextsh2d Vextsw2d;
    VectorSimple: Vrlb Vrlh Vrlw Vrld Vslb Vslh Vslw Vsld Vsrb Vsrh Vsrw Vsrd Vsrab Vsrah Vsraw
        Vsrad Vrlwnm Vrlwmi Vrldnm Vrldmi Vaddubm Vadduhm Vadduwm Vaddudm Vadduqm Vaddcuw Vaddcuq
        Vaddubs Vadduhs Vadduws Vaddsbs Vaddshs Vaddsws Vaddeuqm Vaddecuq Vsububm Vsubuhm Vsubuwm
        Vsubudm Vsubuqm Vsubcuw Vsubcuq Vsububs Vsubuhs Vsubuws Vsubsbs Vsubshs Vsubsws Vsubeuqm
        Vsubecuq Vavgub Vavguh Vavguw Vavgsb Vavgsh Vavgsw Vabsdub Vabsduh Vabsduw Vmaxub Vmaxuh
        Vmaxuw Vmaxud Vmaxsb Vmaxsh Vmaxsw Vmaxsd Vminub Vminuh Vminuw Vminud Vminsb Vminsh Vminsw
        Vminsd Vcmpequb Vcmpequh Vcmpequw Vcmpequd Vcmpgtub Vcmpgtuh Vcmpgtuw Vcmpgtud Vcmpgtsb
        Vcmpgtsh Vcmpgtsw Vcmpgtsd Vcmpneb Vcmpneh Vcmpnew Vcmpnezb Vcmpnezh Vcmpnezw Vclzb Vclzh
        Vclzw Vclzd Vpopcntb Vpopcnth Vpopcntw Vpopcntd Vclzlsbb Vctzlsbb Vprtybw Vprtybd Vprtybq
        Vctzb Vctzh Vctzw Vctzd Vshasigmaw Vshasigmad Vmaxfp Vminfp Vcmpeqfp Vcmpgefp Vcmpgtfp
        Vcmpbfp;
    VectorPermute: Lvsl Lvsr Vpkuhum Vpkuwum Vpkudum Vpkuhus Vpkuwus Vpkudus Vpkshus Vpkswus
        Vpksdus Vpkshss Vpkswss Vpksdss Vpkpx Vupkhsb Vupkhsh Vupkhsw Vupklsb Vupklsh Vupklsw
        Vupkhpx Vupklpx Vmrghb Vmrghh Vmrghw Vmrglb Vmrglh Vmrglw Vmrgew Vmrgow Vspltb Vsplth
        Vspltw Vspltisb Vspltish Vspltisw Vperm Vpermr Vpermxor Vsldoi Vextractub Vextractuh
        Vextractuw Vextractd Vinsertb Vinserth Vinsertw Vinsertd Vextublx Vextuhlx Vextuwlx
        Vextubrx Vextuhrx Vextuwrx Vsl Vslo Vsr Vsro Vslv Vsrv Vmul10uq Vmul10cuq Vmul10euq
        Vmul10ecuq Vgbbd Vbpermq Vbpermd Bcdadd Bcdsub Bcdcpsgn Bcdus Bcdutrunc Bcds Bcdtrunc
        Bcdctz Bcdctn Bcdcfz Bcdcfn Bcdsetsgn;
    VectorFloating: Vaddfp Vsubfp Vmaddfp Vnmsubfp Vrefp Vrsqrtefp Vexptefp Vlogefp Vrfin Vrfiz
        Vrfip Vrfim Vcfux Vcfsx Vctuxs Vctsxs;
    Quad: Bcdsr;
    QuadMultiply: Bcdctsq Bcdcfsq;
    VectorComplex: Vmuleub Vmuleuh Vmuleuw Vmulesb Vmulesh Vmulesw Vmuloub Vmulouh Vmulouw Vmulosb
        Vmulosh Vmulosw Vmuluwm Vmhaddshs Vmhraddshs Vmladduhm Vmsumubm Vmsummbm Vmsumuhm Vmsumuhs
        Vmsumshm Vmsumshs Vmsumudm Vsumsws Vsum2sws Vsum4ubs Vsum4sbs Vsum4shs;
    Crypto: Vcipher Vcipherlast Vncipher Vncipherlast Vsbox Vpmsumb Vpmsumh Vpmsumw Vpmsumd;
    VectorStatus: Mfvscr Mtvscr;
    LoadVector: Lvebx Lvehx Lvewx Lvx Lvxl;
    Store: Stvebx Stvehx Stvewx Stvx Stvxl;

    }};
}
