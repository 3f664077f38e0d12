//! The registers as gdb knows them: their numbers are their places here, and in the description that gdb is given.

use std::fmt::Write as _;

use arch::registers::spr::Spr;
use gdbstub::arch::{Arch, Registers};
use simulator::state::thread::Thread;

/// The special-purpose registers behind those that every Power has: those that keep what was written.
const SPECIAL: [Spr; 24] = [
    Spr::Srr0,
    Spr::Srr1,
    Spr::Hsrr0,
    Spr::Hsrr1,
    Spr::Sprg0,
    Spr::Sprg1,
    Spr::Sprg2,
    Spr::Sprg3,
    Spr::Hsprg0,
    Spr::Hsprg1,
    Spr::Dar,
    Spr::Dsisr,
    Spr::Hdar,
    Spr::Hdsisr,
    Spr::Asdr,
    Spr::Lpidr,
    Spr::Pidr,
    Spr::Lpcr,
    Spr::Hfscr,
    Spr::Fscr,
    Spr::Cfar,
    Spr::Tar,
    Spr::Dscr,
    Spr::Pir,
];

/// 64-bit Power.
#[derive(Debug)]
pub(super) enum Power64 {}

impl Arch for Power64 {
    type Usize = u64;
    type Registers = Values;
    type BreakpointKind = usize;
    type RegId = ();
}

/// What all registers are, in the order of their numbers, with the bytes that gdb takes for each.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Values {
    is_little_endian: bool,
    pc: u64,
    values: Vec<(u128, usize)>,
}

impl Values {
    pub(super) fn of(thread: &Thread, is_little_endian: bool) -> Self {
        let double = |value: u64| (u128::from(value), 8);
        let single = |value: u64| (u128::from(value & 0xFFFF_FFFF), 4);
        let quad = |[high, low]: [u64; 2]| (u128::from(high) << 64 | u128::from(low), 16);
        let mut values: Vec<_> = thread.gpr.map(double).to_vec();
        values.extend([double(thread.nia), double(thread.msr()), single(thread.cr.into())]);
        values.extend([double(thread.lr), double(thread.ctr), single(thread.xer)]);
        values.extend(thread.vsr[..32].iter().map(|register| double(register[0])));
        values.push(single(thread.fpscr));
        values.extend(thread.vsr[32..].iter().map(|register| quad(*register)));
        values.extend([single(thread.vscr.into()), single(thread.spr(Spr::Vrsave))]);
        values.extend(thread.vsr[..32].iter().map(|register| double(register[1])));
        values.extend(SPECIAL.map(|spr| double(thread.spr(spr))));
        Self { is_little_endian, pc: thread.nia, values }
    }
}

impl Registers for Values {
    type ProgramCounter = u64;

    fn pc(&self) -> u64 {
        self.pc
    }

    fn gdb_serialize(&self, mut write: impl FnMut(Option<u8>)) {
        for (value, bytes) in &self.values {
            let mut value = value.to_le_bytes()[..*bytes].to_vec();
            if !self.is_little_endian {
                value.reverse();
            }
            value.into_iter().for_each(|byte| write(Some(byte)));
        }
    }

    /// `write_registers` refuses them all: a refusal here would end the session.
    fn gdb_deserialize(&mut self, _: &[u8]) -> Result<(), ()> {
        Ok(())
    }
}

/// gdb's group of the vectors.
const ALTIVEC: &str = "org.gnu.gdb.power.altivec";
/// What is in one of them, in any of these sizes.
const VECTOR: &str = "<vector id=\"floats\" type=\"ieee_single\" count=\"4\"/>\
    <vector id=\"words\" type=\"int32\" count=\"4\"/>\
    <vector id=\"halfwords\" type=\"int16\" count=\"8\"/>\
    <vector id=\"bytes\" type=\"int8\" count=\"16\"/>\
    <union id=\"vec128\"><field name=\"uint128\" type=\"uint128\"/>\
    <field name=\"v4_float\" type=\"floats\"/><field name=\"v4_int32\" type=\"words\"/>\
    <field name=\"v8_int16\" type=\"halfwords\"/><field name=\"v16_int8\" type=\"bytes\"/></union>";

/// What gdb is told: names, sizes and order of the registers. All groups but the last are gdb's own; it makes
/// vs0 to vs63 of the floating-point registers, their other halves vs0h to vs31h, and the vectors.
pub(super) fn description() -> String {
    let numbered =
        |letter, bits, kind| (0..32).map(move |number| (format!("{letter}{number}"), bits, kind));
    let named = |(name, bits, kind): (&str, u32, &'static str)| (name.to_owned(), bits, kind);
    let core = [
        ("pc", 64, "code_ptr"),
        ("msr", 64, "uint64"),
        ("cr", 32, "uint32"),
        ("lr", 64, "code_ptr"),
        ("ctr", 64, "uint64"),
        ("xer", 32, "uint32"),
    ];
    let core = numbered("r", 64, "uint64").chain(core.map(named)).collect();
    let floating = numbered("f", 64, "ieee_double").chain([named(("fpscr", 32, "int"))]).collect();
    let vectors = numbered("vr", 128, "vec128");
    let vectors = vectors.chain([("vscr", 32, "int"), ("vrsave", 32, "int")].map(named)).collect();
    let halves = numbered("vs", 64, "uint64").map(|(name, bits, kind)| (name + "h", bits, kind));
    let special = SPECIAL.map(|spr| (spr.name().to_lowercase(), 64, "uint64")).to_vec();
    let mut xml = "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">\
        <architecture>powerpc:common64</architecture>"
        .to_owned();
    let groups: [(&str, Vec<_>); 5] = [
        ("org.gnu.gdb.power.core", core),
        ("org.gnu.gdb.power.fpu", floating),
        (ALTIVEC, vectors),
        ("org.gnu.gdb.power.vsx", halves.collect()),
        ("powervisor.special", special),
    ];
    // A String takes all that is written.
    for (group, registers) in groups {
        let _ = write!(xml, "<feature name=\"{group}\">");
        if group == ALTIVEC {
            xml.push_str(VECTOR);
        }
        for (name, bits, kind) in registers {
            let _ = write!(xml, "<reg name=\"{name}\" bitsize=\"{bits}\" type=\"{kind}\"/>");
        }
        xml.push_str("</feature>");
    }
    xml + "</target>"
}
