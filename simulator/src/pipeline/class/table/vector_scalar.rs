//! The classes of the instructions of `arch/src/instruction/table/vector_scalar.rs`.

macro_rules! vector_scalar {
    ($next:ident $($more:ident)* => $($rows:tt)*) => { $next! { $($more)* => $($rows)*

    Floating: Xscvhpdp Xscvdphp Xsadddp Xsaddsp Xssubdp Xssubsp Xsmuldp Xsmulsp Xsredp Xsresp
        Xsrsqrtedp Xsrsqrtesp Xstdivdp Xstsqrtdp Xsmaddadp Xsmaddmdp Xsmsubadp Xsmsubmdp
        Xsnmaddadp Xsnmaddmdp Xsnmsubadp Xsnmsubmdp Xsmaddasp Xsmaddmsp Xsmsubasp Xsmsubmsp
        Xsnmaddasp Xsnmaddmsp Xsnmsubasp Xsnmsubmsp Xscmpodp Xscmpudp Xscmpexpdp Xscmpeqdp
        Xscmpgtdp Xscmpgedp Xsmaxdp Xsmindp Xsmaxcdp Xsmincdp Xsmaxjdp Xsminjdp Xststdcdp
        Xststdcsp Xsrsp Xsrdpi Xsrdpic Xsrdpim Xsrdpip Xsrdpiz Xscvdpsp Xscvspdp Xscvdpsxds
        Xscvdpsxws Xscvdpuxds Xscvdpuxws Xscvsxddp Xscvsxdsp Xscvuxddp Xscvuxdsp;
    FloatingDivideSingle: Xsdivsp;
    FloatingDivide: Xsdivdp;
    FloatingRootSingle: Xssqrtsp;
    FloatingRoot: Xssqrtdp;
    FloatingMove: Xsabsdp Xsnabsdp Xsnegdp Xscpsgndp;
    VectorLogical: Xxland Xxlandc Xxlor Xxlxor Xxlnor Xxlorc Xxlnand Xxleqv Xxsel Xvabsdp Xvnabsdp Xvnegdp Xvcpsgndp Xvabssp Xvnabssp Xvnegsp Xvcpsgnsp
        Xscpsgnqp Xsabsqp Xsnabsqp Xsnegqp;
    VectorSimple: Xviexpdp Xviexpsp Xvxexpdp Xvxsigdp Xvxexpsp Xvxsigsp Xvcmpeqdp Xvcmpgtdp
        Xvcmpgedp Xvcmpeqsp Xvcmpgtsp Xvcmpgesp Xvmaxdp Xvmindp Xvmaxsp Xvminsp Xvtstdcdp
        Xvtstdcsp;
    VectorPermute: Xxpermdi Xxsldwi Xxmrghw Xxmrglw Xxspltw Xxspltib Xxextractuw Xxinsertw Xxperm
        Xxpermr Xxbrh Xxbrw Xxbrd Xxbrq Xscvdpspn Xscvspdpn Xscmpoqp Xscmpuqp Xscmpexpqp Xststdcqp
        Xsiexpqp Xsxexpqp Xsxsigqp;
    VectorFloating: Xvcvhpsp Xvcvsphp Xvadddp Xvaddsp Xvsubdp Xvsubsp Xvmuldp Xvmulsp Xvredp
        Xvresp Xvrsqrtedp Xvrsqrtesp Xvtdivdp Xvtdivsp Xvtsqrtdp Xvtsqrtsp Xvmaddadp Xvmaddmdp
        Xvmsubadp Xvmsubmdp Xvnmaddadp Xvnmaddmdp Xvnmsubadp Xvnmsubmdp Xvmaddasp Xvmaddmsp
        Xvmsubasp Xvmsubmsp Xvnmaddasp Xvnmaddmsp Xvnmsubasp Xvnmsubmsp Xvrdpi Xvrdpic Xvrdpim
        Xvrdpip Xvrdpiz Xvrspi Xvrspic Xvrspim Xvrspip Xvrspiz Xvcvdpsp Xvcvspdp Xvcvdpsxds
        Xvcvdpsxws Xvcvdpuxds Xvcvdpuxws Xvcvspsxds Xvcvspsxws Xvcvspuxds Xvcvspuxws Xvcvsxddp
        Xvcvsxdsp Xvcvsxwdp Xvcvsxwsp Xvcvuxddp Xvcvuxdsp Xvcvuxwdp Xvcvuxwsp;
    VectorDivide: Xvdivdp;
    VectorDivideSingle: Xvdivsp;
    VectorRoot: Xvsqrtdp;
    VectorRootSingle: Xvsqrtsp;
    Quad: Xsaddqp Xsaddqpo Xssubqp Xssubqpo Xscvqpdp Xscvqpuwz Xscvudqp Xscvqpswz Xscvsdqp
        Xscvqpudz Xscvdpqp Xscvqpsdz Xscvqpdpo Xsrqpi Xsrqpix Xsrqpxp;
    QuadMultiply: Xsmulqp Xsmulqpo Xsmaddqp Xsmaddqpo Xsmsubqp Xsmsubqpo Xsnmaddqp Xsnmaddqpo
        Xsnmsubqp Xsnmsubqpo;
    QuadDivide: Xsdivqp Xsdivqpo Xssqrtqp Xssqrtqpo;
    VectorMove: Mfvsrd Mfvsrwz Mtvsrd Mtvsrwa Mtvsrwz Mfvsrld Mtvsrws Mtvsrdd Xsiexpdp Xsxexpdp
        Xsxsigdp;
    LoadSingle: Lxsspx Lxssp;
    LoadDouble: Lxsiwzx Lxsiwax Lxsdx Lxsibzx Lxsihzx Lxsd;
    LoadVector: Lxvx Lxvl Lxvll Lxvdsx Lxvwsx Lxvw4x Lxvh8x Lxvd2x Lxvb16x Lxv;
    Store: Stxsiwx Stxvx Stxvl Stxvll Stxsspx Stxsdx Stxvw4x Stxsibx Stxvh8x Stxsihx Stxvd2x
        Stxvb16x Stxsd Stxssp Stxv;

    }};
}
