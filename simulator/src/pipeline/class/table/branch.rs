//! The classes of the instructions of `arch/src/instruction/table/branch.rs`.

macro_rules! branch {
    ($next:ident $($more:ident)* => $($rows:tt)*) => { $next! { $($more)* => $($rows)*

    Condition: Crand Crandc Cror Crorc Crxor Creqv Crnand Crnor Mcrf;
    Branch: B Bc Bclr Bcctr Bctar;
    Return: Rfebb;
    VectoredCall: Scv;
    ChargedLater: Sc;

    }};
}
