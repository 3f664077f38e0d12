//! The guest program: a static executable that runs cases one after the other and writes out what
//! they leave.
//!
//! It is put together word by word with the project's own encoder, so nothing but QEMU is needed.
//! For each case a loop loads all registers from the case's record and goes to the case's stub,
//! which runs the words and leaves through one of the exits; the loop then stores all registers into
//! the record to be written.

use arch::instruction::{Mnemonic as M, Mnemonic, encode};

use crate::case::Case;
use crate::layout::{CODE, INPUT, LANDING, LOW_END, OUTPUT, WINDOW, variable};
use crate::state::{ByteOrder, Exit, RECORD_BYTES, REGISTERS, WINDOW_BYTES};

/// Offsets of the registers in a record, in the order of [`State`](crate::state::State).
mod record {
    pub(super) const CR: i64 = 8 * 32;
    pub(super) const XER: i64 = CR + 8;
    pub(super) const LR: i64 = CR + 16;
    pub(super) const CTR: i64 = CR + 24;
    pub(super) const TAR: i64 = CR + 32;
    pub(super) const VRSAVE: i64 = CR + 40;
    pub(super) const FPSCR: i64 = CR + 48;
    pub(super) const EXIT: i64 = CR + 56;
    pub(super) const VSCR: i64 = CR + 64;
    pub(super) const VSR: i64 = CR + 80;
}

/// Special-purpose registers with the place of each in a record.
const SPRS: [(i64, i64); 5] = [
    (1, record::XER),
    (8, record::LR),
    (9, record::CTR),
    (815, record::TAR),
    (256, record::VRSAVE),
];

/// Words of a stub before the case's own.
const STUB_HEAD: u64 = 4;
/// Words of a stub after the case's own.
const STUB_TAIL: u64 = 2;
/// How far before the instruction under test the backward exit lies, in bytes.
pub const BACKWARD: i64 = -4 * STUB_HEAD as i64;

fn op(mnemonic: Mnemonic, operands: &[i64]) -> u32 {
    encode(mnemonic, operands, false, false).expect("the program is encodable").0
}

/// Code that grows at ascending addresses.
struct Code {
    base: u64,
    words: Vec<u32>,
}

impl Code {
    fn new(base: u64) -> Self {
        Self { base, words: Vec::new() }
    }

    fn here(&self) -> u64 {
        self.base + 4 * self.words.len() as u64
    }

    fn push(&mut self, mnemonic: Mnemonic, operands: &[i64]) {
        self.words.push(op(mnemonic, operands));
    }

    fn branch(&mut self, target: u64) {
        let distance = target.wrapping_sub(self.here()) as i64;
        self.push(M::B, &[distance, 0, 0]);
    }

    /// Loads a number below 2 GiB.
    fn load(&mut self, register: i64, value: u64) {
        self.push(M::Addis, &[register, 0, (value >> 16) as i64]);
        self.push(M::Ori, &[register, register, value as i64 & 0xFFFF]);
    }

    fn bytes(&self, order: ByteOrder) -> Vec<u8> {
        let bytes = |word: &u32| match order {
            ByteOrder::Little => word.to_le_bytes(),
            ByteOrder::Big => word.to_be_bytes(),
        };
        self.words.iter().flat_map(bytes).collect()
    }
}

/// The address at which each case's first word lies.
#[must_use]
pub fn addresses(cases: &[Case]) -> Vec<u64> {
    let mut at = stubs_start();
    let place = |case: &Case| {
        let first = at + 4 * STUB_HEAD;
        at = first + 4 * (case.words.len() as u64 + STUB_TAIL);
        first
    };
    cases.iter().map(place).collect()
}

fn stubs_start() -> u64 {
    let (code, _) = main_loop(0);
    code.here()
}

/// The executable that runs `cases`.
#[must_use]
pub fn executable(cases: &[Case], order: ByteOrder) -> Vec<u8> {
    let (mut code, exits) = main_loop(cases.len() as u64);
    let mut input = Vec::new();
    for case in cases {
        let mut start = case.start.clone();
        code.branch(exits[Exit::Backward as usize]);
        start.exit = code.here();
        code.push(M::Mtspr, &[9, 30]);
        code.push(M::Ld, &[30, 8 * 30, 31]);
        code.push(M::Ld, &[31, 8 * 31, 31]);
        code.words.extend(case.words.iter().map(|word| word.0));
        code.branch(exits[Exit::Next as usize]);
        code.branch(exits[Exit::Forward as usize]);
        input.extend(start.to_bytes(order));
    }
    let mut low = vec![0; LOW_END as usize];
    let mut landing = Code::new(LANDING);
    landing.branch(exits[Exit::Landing as usize]);
    low[LANDING as usize..LANDING as usize + 4].copy_from_slice(&landing.bytes(order));
    let output_bytes = (cases.len() * RECORD_BYTES) as u64;
    let segments = [
        Segment { address: 0, contents: low, bytes: LOW_END },
        Segment { address: CODE, bytes: 0, contents: code.bytes(order) },
        Segment { address: INPUT, bytes: 0, contents: input },
        Segment { address: OUTPUT, bytes: output_bytes, contents: Vec::new() },
    ];
    elf(&segments, order)
}

/// The loop over `count` cases, at [`CODE`], and the addresses of the exits.
fn main_loop(count: u64) -> (Code, [u64; 4]) {
    let mut code = Code::new(CODE);
    for (address, value) in
        [(variable::INPUT, INPUT), (variable::OUTPUT, OUTPUT), (variable::LEFT, count)]
    {
        code.load(3, value);
        code.push(M::Std, &[3, address, 0]);
    }
    let next = code.here();
    load_state(&mut code);
    let exits = Exit::ALL.map(|exit| {
        // The code that all exits share follows the last, three words after each one's start.
        let start = code.here();
        code.push(M::Std, &[31, variable::SAVED, 0]);
        code.push(M::Addi, &[31, 0, exit as i64]);
        let common = start + 12 * (Exit::ALL.len() as u64 - exit as u64);
        code.branch(common);
        start
    });
    store_state(&mut code);
    let record_bytes = RECORD_BYTES as i64;
    for pointer in [variable::INPUT, variable::OUTPUT] {
        code.push(M::Ld, &[3, pointer, 0]);
        code.push(M::Addi, &[3, 3, record_bytes]);
        code.push(M::Std, &[3, pointer, 0]);
    }
    code.push(M::Ld, &[3, variable::LEFT, 0]);
    code.push(M::AddicRc, &[3, 3, -1]);
    code.push(M::Std, &[3, variable::LEFT, 0]);
    // Out of the loop past the branch back, which may be too far for a conditional one.
    code.push(M::Bc, &[12, 2, 8, 0, 0]);
    code.branch(next);
    write_and_exit(&mut code, count * RECORD_BYTES as u64);
    (code, exits)
}

/// Loads everything from the record and goes to the stub.
fn load_state(code: &mut Code) {
    code.push(M::Ld, &[31, variable::INPUT, 0]);
    copy_window(code, (31, 8 * REGISTERS as i64), (0, WINDOW as i64));
    // A store conditional ends a reservation that an earlier case may have left.
    code.push(M::Addi, &[3, 0, variable::SAVED]);
    code.push(M::Stwcx, &[3, 0, 3]);
    code.push(M::Lfd, &[0, record::FPSCR, 31]);
    code.push(M::Mtfsf, &[0, 0, 1, 0]);
    // Two doublewords in order are what lxvd2x loads, in either byte order.
    code.push(M::Addi, &[3, 0, record::VSCR]);
    code.push(M::Lxvd2x, &[32, 31, 3]);
    code.push(M::Mtvscr, &[0]);
    for register in 0..64 {
        code.push(M::Addi, &[3, 0, record::VSR + 16 * register]);
        code.push(M::Lxvd2x, &[register, 31, 3]);
    }
    for (spr, place) in SPRS {
        code.push(M::Ld, &[3, place, 31]);
        code.push(M::Mtspr, &[spr, 3]);
    }
    code.push(M::Ld, &[3, record::CR, 31]);
    code.push(M::Mtcrf, &[0xFF, 3]);
    code.push(M::Ld, &[3, record::EXIT, 31]);
    code.push(M::Mtspr, &[9, 3]);
    for register in 0..30 {
        code.push(M::Ld, &[register, 8 * register, 31]);
    }
    // The stub moves this to CTR when CTR has done its duty as the way there.
    code.push(M::Ld, &[30, record::CTR, 31]);
    code.push(M::Bcctr, &[20, 0, 0, 0]);
}

/// Stores everything into the record. r31 has been saved and holds the exit's number.
fn store_state(code: &mut Code) {
    code.push(M::Std, &[31, variable::EXIT, 0]);
    code.push(M::Ld, &[31, variable::OUTPUT, 0]);
    for register in 0..31 {
        code.push(M::Std, &[register, 8 * register, 31]);
    }
    code.push(M::Ld, &[0, variable::SAVED, 0]);
    code.push(M::Std, &[0, 8 * 31, 31]);
    code.push(M::Mfcr, &[0]);
    code.push(M::Std, &[0, record::CR, 31]);
    for (spr, place) in SPRS {
        code.push(M::Mfspr, &[0, spr]);
        code.push(M::Std, &[0, place, 31]);
    }
    for register in 0..64 {
        code.push(M::Addi, &[3, 0, record::VSR + 16 * register]);
        code.push(M::Stxvd2x, &[register, 31, 3]);
    }
    code.push(M::Mfvscr, &[0]);
    code.push(M::Addi, &[3, 0, record::VSCR]);
    code.push(M::Stxvd2x, &[32, 31, 3]);
    code.push(M::Mffs, &[0]);
    code.push(M::Stfd, &[0, record::FPSCR, 31]);
    code.push(M::Ld, &[0, variable::EXIT, 0]);
    code.push(M::Std, &[0, record::EXIT, 31]);
    copy_window(code, (0, WINDOW as i64), (31, 8 * REGISTERS as i64));
}

fn copy_window(code: &mut Code, from: (i64, i64), to: (i64, i64)) {
    for offset in (0..WINDOW_BYTES as i64).step_by(8) {
        code.push(M::Ld, &[3, from.1 + offset, from.0]);
        code.push(M::Std, &[3, to.1 + offset, to.0]);
    }
}

/// Linux system calls `write(1, OUTPUT, bytes)` and `exit_group(0)`.
fn write_and_exit(code: &mut Code, bytes: u64) {
    code.load(5, bytes);
    code.load(4, OUTPUT);
    code.push(M::Addi, &[3, 0, 1]);
    code.push(M::Addi, &[0, 0, 4]);
    code.push(M::Sc, &[0]);
    code.push(M::Addi, &[3, 0, 0]);
    code.push(M::Addi, &[0, 0, 234]);
    code.push(M::Sc, &[0]);
}

/// A loadable segment: its contents, followed by zeros up to `bytes`.
struct Segment {
    address: u64,
    contents: Vec<u8>,
    bytes: u64,
}

/// An ELF file for 64-bit PowerPC with ABI version 2, which enters at [`CODE`].
fn elf(segments: &[Segment], order: ByteOrder) -> Vec<u8> {
    const ALIGN: usize = 0x1_0000;
    let mut file = Fields { order, bytes: Vec::new() };
    let data = match order {
        ByteOrder::Little => 1,
        ByteOrder::Big => 2,
    };
    file.bytes.extend(*b"\x7FELF");
    file.bytes.extend([2, data, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    // Executable, EM_PPC64.
    file.half(2).half(21).word(1).double(CODE).double(64).double(0);
    file.word(2).half(64).half(56).half(segments.len() as u16).half(0).half(0).half(0);
    let mut offset = ALIGN;
    for segment in segments {
        let size = segment.contents.len() as u64;
        // PT_LOAD; readable, writable and executable.
        file.word(1).word(7).double(offset as u64).double(segment.address).double(segment.address);
        file.double(size).double(size.max(segment.bytes)).double(ALIGN as u64);
        offset += segment.contents.len().next_multiple_of(ALIGN);
    }
    for segment in segments {
        file.bytes.resize(file.bytes.len().next_multiple_of(ALIGN), 0);
        file.bytes.extend(&segment.contents);
    }
    file.bytes
}

/// Fields of a file in its byte order.
struct Fields {
    order: ByteOrder,
    bytes: Vec<u8>,
}

impl Fields {
    fn put<const N: usize>(&mut self, little: [u8; N]) -> &mut Self {
        match self.order {
            ByteOrder::Little => self.bytes.extend(little),
            ByteOrder::Big => self.bytes.extend(little.iter().rev()),
        }
        self
    }

    fn half(&mut self, value: u16) -> &mut Self {
        self.put(value.to_le_bytes())
    }

    fn word(&mut self, value: u32) -> &mut Self {
        self.put(value.to_le_bytes())
    }

    fn double(&mut self, value: u64) -> &mut Self {
        self.put(value.to_le_bytes())
    }
}
