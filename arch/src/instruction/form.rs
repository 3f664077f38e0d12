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
    X,
    XFL,
    XFX,
    XL,
    XO,
    XS,
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
    X   21..=30;
    XFL 21..=30;
    XFX 21..=30;
    XL  21..=30;
    XO  22..=30;
    XS  21..=29;
    Z22 22..=30;
    Z23 23..=30;
}
