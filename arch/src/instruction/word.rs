//! An instruction word and its fields.
//!
//! Accessors have the field names of the Power ISA. Bit 0 is the most significant bit of the word.
//! Register numbers are masked, so an array of 32 registers is indexed without a bounds check;
//! immediate values are sign-extended or zero-extended as the field demands.
//!
//! The letter L names different fields in different instructions: each has an accessor of its own.

/// One 32-bit instruction, as it is in a register after the fetch (host byte order).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(transparent)]
pub struct Word(pub u32);

/// Accessors of unsigned fields: documentation, name, type of the result, first and last bit.
macro_rules! fields {
    ($($(#[$doc:meta])+ $name:ident: $type:ty = $first:literal..=$last:literal;)+) => {
        impl Word {
            $(
                $(#[$doc])+
                #[inline]
                pub const fn $name(self) -> $type {
                    self.field($first, $last) as $type
                }
            )+
        }
    };
}

/// Accessors of single bits as `bool`.
macro_rules! flags {
    ($($(#[$doc:meta])+ $name:ident = $bit:literal;)+) => {
        impl Word {
            $(
                $(#[$doc])+
                #[inline]
                pub const fn $name(self) -> bool {
                    self.field($bit, $bit) != 0
                }
            )+
        }
    };
}

fields! {
    /// Primary opcode.
    primary: u32 = 0..=5;
    /// Extended opcode of the X and XL forms.
    xo: u32 = 21..=30;
    /// Target GPR.
    rt: usize = 6..=10;
    /// Source GPR.
    rs: usize = 6..=10;
    /// GPR RA; whether 0 means the register or the value zero is a matter of the instruction.
    ra: usize = 11..=15;
    /// GPR RB.
    rb: usize = 16..=20;
    /// GPR RC of the multiply-add instructions.
    rc_register: usize = 21..=25;
    /// Target FPR.
    frt: usize = 6..=10;
    /// Source FPR of a store.
    frs: usize = 6..=10;
    /// FPR FRA.
    fra: usize = 11..=15;
    /// FPR FRB.
    frb: usize = 16..=20;
    /// FPR FRC.
    frc: usize = 21..=25;
    /// Target VR.
    vrt: usize = 6..=10;
    /// Source VR of a store.
    vrs: usize = 6..=10;
    /// VR VRA.
    vra: usize = 11..=15;
    /// VR VRB.
    vrb: usize = 16..=20;
    /// VR VRC.
    vrc: usize = 21..=25;
    /// Trap conditions: less, greater, equal, logically less, logically greater.
    to: u32 = 6..=10;
    /// Branch conditions.
    bo: u32 = 6..=10;
    /// CR bit that a branch tests.
    bi: usize = 11..=15;
    /// Branch hint.
    bh: u32 = 19..=20;
    /// Target CR (or FPSCR) field.
    bf: usize = 6..=8;
    /// Source CR (or FPSCR) field.
    bfa: usize = 11..=13;
    /// Target CR (or FPSCR) bit.
    bt: usize = 6..=10;
    /// Source CR bit BA.
    ba: usize = 11..=15;
    /// Source CR bit BB.
    bb: usize = 16..=20;
    /// CR bit that `isel` tests.
    bc: usize = 21..=25;
    /// Unsigned 16-bit immediate.
    ui: u64 = 16..=31;
    /// Shift count of the 32-bit shifts and rotates.
    sh: u32 = 16..=20;
    /// First bit of the mask of the 32-bit rotates.
    mb: u32 = 21..=25;
    /// Last bit of the mask of the 32-bit rotates.
    me: u32 = 26..=30;
    /// CR fields that `mtcrf`, `mtocrf` and `mfocrf` name, field 0 in the most significant bit.
    fxm: u32 = 12..=19;
    /// FPSCR fields that `mtfsf` writes, field 0 in the most significant bit.
    flm: u32 = 7..=14;
    /// Immediate of `mtfsfi`.
    u: u32 = 16..=19;
    /// Rounding mode of `mffscrni`.
    rm: u32 = 19..=20;
    /// Decimal rounding mode of `mffscdrni`.
    drm: u32 = 18..=20;
    /// Rounding of the decimal instructions that name it themselves.
    rmc: u32 = 21..=22;
    /// Sign of the digits that `ddedpd` delivers: 0 and 1 none, 2 and 3 in the last digit.
    sp: u32 = 11..=12;
    /// Data classes that `dtstdc` asks for.
    dcm: u32 = 16..=21;
    /// Data groups that `dtstdg` asks for.
    dgm: u32 = 16..=21;
    /// Number of digits that `dtstsfi` compares with.
    uim: u32 = 10..=15;
    /// Word of a vector.
    uim2: u32 = 14..=15;
    /// Halfword of a vector.
    uim3: u32 = 13..=15;
    /// Byte of a vector.
    uim4: u32 = 12..=15;
    /// Scale of vector conversions: a power of two.
    uim5: u32 = 11..=15;
    /// Data stream.
    strm: u32 = 9..=10;
    /// Byte of `xxspltib`.
    imm8: u8 = 13..=20;
    /// Shift in bytes of `vsldoi`.
    shb: u32 = 22..=25;
    /// Shift in words of `xxsldwi`.
    shw: u32 = 22..=23;
    /// Doublewords that `xxpermdi` takes.
    dm: u32 = 22..=23;
    /// Functions that `vshasigmaw` and `vshasigmad` choose by element.
    six: u32 = 17..=20;
    /// Data classes of the scalar tests.
    dcmx: u32 = 9..=15;
    /// Shift count of the decimal shifts, in digits.
    sh_decimal: u32 = 16..=21;
    /// Operand size of the compare instructions (1: doubleword), and the range count of `cmprb`.
    l_cmp: u32 = 10..=10;
    /// Kind of `sync`: 0 heavyweight, 1 lightweight, 2 page-table.
    l_sync: u32 = 9..=10;
    /// Kind of `dcbf`: 0 whole system, 1 this core, 3 this core's L1.
    l_dcbf: u32 = 9..=10;
    /// Kind of random number `darn` delivers: 0 32 bits, 1 64 bits conditioned, 2 64 bits raw.
    l_darn: u32 = 14..=15;
    /// `mtmsr` and `mtmsrd`: 1 alters EE and RI only.
    l_mtmsr: u32 = 15..=15;
    /// `slbmfee` and `slbmfev`: implementation-specific.
    l_slb: u32 = 15..=15;
    /// `tsr.`: 0 suspend, 1 resume.
    l_tsr: u32 = 10..=10;
    /// `mtfsf`: 1 writes all fields, whatever FLM and W say.
    l_mtfsf: u32 = 6..=6;
    /// `mtfsf` and `mtfsfi`: 1 writes the upper word of FPSCR.
    w: u32 = 15..=15;
    /// `tend.`: 1 ends all levels.
    a_tend: u32 = 6..=6;
    /// `tbegin.`: 1 begins a rollback-only transaction.
    r_tbegin: u32 = 10..=10;
    /// `rfebb`: new value of `BESCR[GE]`.
    s_rfebb: u32 = 20..=20;
    /// `denbcd`: the last digit is a sign.
    s_denbcd: u32 = 11..=11;
    /// Wait condition.
    wc: u32 = 9..=10;
    /// Level of `sc` and `scv`.
    lev: u32 = 20..=26;
    /// Touch hint of `dcbt` and `dcbtst`.
    th: u32 = 6..=10;
    /// Cache target of `icbt`.
    ct: u32 = 7..=10;
    /// Function code of the atomic memory operations.
    fc: u32 = 16..=20;
    /// Which overflow bit `addex` uses as carry; only 0 (OV) is defined.
    cy: u32 = 21..=22;
    /// Entry that `mfbhrbe` reads.
    bhrbe: u32 = 11..=20;
    /// Which SLB entries `slbia` keeps.
    ih: u32 = 8..=10;
    /// Radix invalidation control of `tlbie` and `tlbiel`: 0 TLB, 1 page walk cache, 2 all.
    ric: u32 = 12..=13;
}

flags! {
    /// Absolute address.
    aa = 30;
    /// Set the link register.
    lk = 31;
    /// Record: set CR0 (CR1 for floating point).
    rc = 31;
    /// Set OV and SO.
    oe = 21;
    /// Record, of vector comparisons: set CR6.
    rc21 = 21;
    /// Preferred sign of vector decimal results.
    ps = 22;
    /// Small or capital sigma functions of `vshasigmaw` and `vshasigmad`.
    st = 16;
    /// Exclusive access hint of the load-and-reserve instructions.
    eh = 31;
    /// `tlbie` and `tlbiel`: process scoped.
    prs = 14;
    /// `tlbie` and `tlbiel`: radix (not hash) translations; `drintx` and `drintn`: the second half of the
    /// roundings that RMC names.
    r = 15;
}

impl Word {
    /// `bcctr 2,0,0`, which processors take as a request to empty the count cache
    /// (`docs/facts/speculation.md#count-cache-flush`).
    pub const TARGET_FLUSH: Self = Self(0x4C40_0420);
    /// `eieio` with the hint that keeps loads from the data of earlier stores
    /// (`docs/facts/speculation.md#store-barrier`).
    pub const STORE_BARRIER: Self = Self(0x7E00_06AC);
    /// `ori 31,31,0` (`docs/facts/speculation.md#speculation-barrier`).
    pub const SPECULATION_BARRIER: Self = Self(0x63FF_0000);

    /// Bits `first..=last`, right-justified.
    #[inline]
    pub const fn field(self, first: u32, last: u32) -> u32 {
        (self.0 << first) >> (31 - last + first)
    }

    /// Bits `first..=last`, right-justified and sign-extended.
    #[inline]
    const fn signed(self, first: u32, last: u32) -> i64 {
        (((self.0 << first) as i32) >> (31 - last + first)) as i64
    }

    /// Signed 16-bit immediate.
    #[inline]
    pub const fn si(self) -> i64 {
        self.signed(16, 31)
    }

    /// Signed immediate of `tabortwci.` and `tabortdci.`, which sits in the RB field.
    #[inline]
    pub const fn si5(self) -> i64 {
        self.signed(16, 20)
    }

    /// Exponent that `dquai` rounds to, -16 to 15.
    #[inline]
    pub const fn te(self) -> i64 {
        self.signed(11, 15)
    }

    /// Signed immediate of the vector splats.
    #[inline]
    pub const fn sim(self) -> i64 {
        self.signed(11, 15)
    }

    /// Target VSR, or source VSR of a store: TX || T.
    #[inline]
    pub const fn xt(self) -> usize {
        (self.field(31, 31) << 5 | self.field(6, 10)) as usize
    }

    /// VSR XA: AX || A.
    #[inline]
    pub const fn xa(self) -> usize {
        (self.field(29, 29) << 5 | self.field(11, 15)) as usize
    }

    /// VSR XB: BX || B.
    #[inline]
    pub const fn xb(self) -> usize {
        (self.field(30, 30) << 5 | self.field(16, 20)) as usize
    }

    /// VSR XC: CX || C.
    #[inline]
    pub const fn xc(self) -> usize {
        (self.field(28, 28) << 5 | self.field(21, 25)) as usize
    }

    /// Target or source VSR of the DQ form.
    #[inline]
    pub const fn xt_dq(self) -> usize {
        (self.field(28, 28) << 5 | self.field(6, 10)) as usize
    }

    /// Data classes of the vector tests: dc || dm || dx.
    #[inline]
    pub const fn dcmx_split(self) -> u32 {
        self.field(25, 25) << 6 | self.field(29, 29) << 5 | self.field(11, 15)
    }

    /// Displacement of the D form, bytes.
    #[inline]
    pub const fn d(self) -> i64 {
        self.signed(16, 31)
    }

    /// Displacement of the DS form, bytes; a multiple of 4.
    #[inline]
    pub const fn ds(self) -> i64 {
        self.signed(16, 29) << 2
    }

    /// Displacement of the DQ form, bytes; a multiple of 16.
    #[inline]
    pub const fn dq(self) -> i64 {
        self.signed(16, 27) << 4
    }

    /// Immediate of `addpcis`, before its shift by 16: d0 || d1 || d2.
    #[inline]
    pub const fn d_split(self) -> i64 {
        (self.signed(16, 25) << 6) | (self.field(11, 15) << 1) as i64 | self.field(31, 31) as i64
    }

    /// Target of `b`, bytes, relative or absolute; a multiple of 4.
    #[inline]
    pub const fn li(self) -> i64 {
        self.signed(6, 29) << 2
    }

    /// Target of `bc`, bytes, relative or absolute; a multiple of 4.
    #[inline]
    pub const fn bd(self) -> i64 {
        self.signed(16, 29) << 2
    }

    /// Shift count of the 64-bit shifts and rotates (MD and XS forms).
    #[inline]
    pub const fn sh6(self) -> u32 {
        self.field(30, 30) << 5 | self.field(16, 20)
    }

    /// First bit of the mask of the 64-bit rotates.
    #[inline]
    pub const fn mb6(self) -> u32 {
        self.field(26, 26) << 5 | self.field(21, 25)
    }

    /// Last bit of the mask of the 64-bit rotates; the same bits as [`Word::mb6`].
    #[inline]
    pub const fn me6(self) -> u32 {
        self.mb6()
    }

    /// SPR number, with the two halves of the field put in order.
    #[inline]
    pub const fn spr(self) -> u16 {
        (self.field(16, 20) << 5 | self.field(11, 15)) as u16
    }

    /// Byte count of `lswi` and `stswi`, 1 to 32.
    #[inline]
    pub const fn nb(self) -> u32 {
        match self.field(16, 20) {
            0 => 32,
            count => count,
        }
    }
}
