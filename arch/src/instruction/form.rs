//! Instruction forms: where the opcode bits are.
//!
//! Each form has a constructor of the same name that makes the fixed bits of a row from its primary
//! and extended opcode; the rows of `table` read as `X(31, 266)`.

/// Instruction form of the Power ISA.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are those of the Power ISA, Book I section 1.6.1")]
pub enum Form {
    A,
    B,
    D,
    DQ,
    DS,
    DX,
    I,
    M,
    MD,
    MDS,
    SC,
    VA,
    VC,
    VX,
    X,
    XFL,
    XFX,
    XL,
    XO,
    XS,
    XX1,
    XX2,
    XX3,
    XX4,
    Z22,
    Z23,
}

/// The bits that make an instruction what it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opcode {
    pub(super) form: Form,
    pub(super) mask: u32,
    pub(super) value: u32,
}

impl Opcode {
    const fn new(form: Form, primary: u32) -> Self {
        Self { form, mask: 0, value: 0 }.fixed(0, 5, primary)
    }

    /// Adds bits `first..=last`, which must hold `content`.
    pub(super) const fn fixed(mut self, first: u32, last: u32, content: u32) -> Self {
        let ones = u32::MAX >> (31 - last + first);
        assert!(content <= ones, "opcode does not fit its field");
        assert!(self.mask & (ones << (31 - last)) == 0, "opcode field is given twice");
        self.mask |= ones << (31 - last);
        self.value |= content << (31 - last);
        self
    }
}

/// Constructors of forms with a primary opcode only.
macro_rules! primary {
    ($($form:ident)+) => {
        $(
            #[allow(non_snake_case, reason = "named as the form")]
            pub(super) const fn $form(primary: u32) -> Opcode {
                Opcode::new(Form::$form, primary)
            }
        )+
    };
}

/// Constructors of forms with an extended opcode in bits `first..=last`.
macro_rules! extended {
    ($($form:ident $first:literal..=$last:literal;)+) => {
        $(
            #[allow(non_snake_case, reason = "named as the form")]
            pub(super) const fn $form(primary: u32, extended: u32) -> Opcode {
                Opcode::new(Form::$form, primary).fixed($first, $last, extended)
            }
        )+
    };
}

primary! { B D DQ I M }

extended! {
    A   26..=30;
    DS  30..=31;
    DX  26..=30;
    MD  27..=29;
    MDS 27..=30;
    SC  30..=30;
    VA  26..=31;
    VC  22..=31;
    VX  21..=31;
    X   21..=30;
    XFL 21..=30;
    XFX 21..=30;
    XL  21..=30;
    XO  22..=30;
    XS  21..=29;
    XX1 21..=30;
    XX2 21..=29;
    XX3 21..=28;
    XX4 26..=27;
    Z22 22..=30;
    Z23 23..=30;
}

/// The DQ form with an extended opcode in bits 29 to 31.
#[allow(non_snake_case, reason = "named as the form")]
pub(super) const fn DQX(primary: u32, extended: u32) -> Opcode {
    Opcode::new(Form::DQ, primary).fixed(29, 31, extended)
}

/// The XX3 form of comparisons, which have Rc in bit 21.
#[allow(non_snake_case, reason = "named as the form")]
pub(super) const fn XX3C(primary: u32, extended: u32) -> Opcode {
    Opcode::new(Form::XX3, primary).fixed(22, 28, extended)
}

/// The VX form of the decimal instructions, which have 1 and PS in bits 21 and 22.
#[allow(non_snake_case, reason = "named as the form")]
pub(super) const fn VXD(primary: u32, extended: u32) -> Opcode {
    Opcode::new(Form::VX, primary).fixed(21, 21, 1).fixed(23, 31, extended)
}

/// The XX2 form of tests for data classes, which have bits of DCMX between those of the opcode.
#[allow(non_snake_case, reason = "named as the form")]
pub(super) const fn XX2D(primary: u32, extended: u32) -> Opcode {
    Opcode::new(Form::XX2, primary).fixed(21, 24, extended >> 3).fixed(26, 28, extended & 7)
}

/// The XX3 form of the permutations that have an operand in bits 22 and 23, behind a zero.
#[allow(non_snake_case, reason = "named as the form")]
pub(super) const fn XX3D(primary: u32, extended: u32) -> Opcode {
    Opcode::new(Form::XX3, primary).fixed(21, 21, 0).fixed(24, 28, extended)
}
