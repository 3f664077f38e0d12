//! The classes of the instructions of `arch/src/instruction/table/decimal.rs`.

macro_rules! decimal {
    ($next:ident $($more:ident)* => $($rows:tt)*) => { $next! { $($more)* => $($rows)*

    Decimal: Dadd Daddq Dsub Dsubq Dmul Dmulq Ddiv Ddivq Dcmpo Dcmpoq Dcmpu Dcmpuq Dtstdc Dtstdcq
        Dtstdg Dtstdgq Dtstex Dtstexq Dtstsf Dtstsfq Dtstsfi Dtstsfiq Dquai Dquaiq Dqua Dquaq
        Drrnd Drrndq Drintx Drintxq Drintn Drintnq Dctdp Dctqpq Drsp Drdpq Dcffix Dcffixq Dctfix
        Dctfixq Ddedpd Ddedpdq Denbcd Denbcdq Dxex Dxexq Diex Diexq Dscli Dscliq Dscri Dscriq;

    }};
}
