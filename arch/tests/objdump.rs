//! The instruction table against binutils.
//!
//! Four questions, over the whole table or the whole opcode space and for both processors: does
//! `objdump` write a valid word as we do; does it refuse a word with a reserved bit set; does it
//! refuse what only the other processor has; does it know an instruction that we do not. Where the
//! answers differ, the difference is listed here with its reason, and a listed difference that does
//! not show fails the test too.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use arch::instruction::{Privilege, Row, TABLE, Word, decode, disassemble, encode};
use arch::registers::pcr::Level;

const OBJDUMP: &str = "powerpc64le-linux-gnu-objdump";

/// Random words for each row and each of its variants by Rc and OE.
const WORDS_PER_VARIANT: usize = 300;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Processor {
    Power8,
    Power9,
}

impl Processor {
    const ALL: [Self; 2] = [Self::Power8, Self::Power9];

    fn has(self, row: &Row) -> bool {
        row.processors.includes(self.ours())
    }

    /// The processor as the table knows it.
    fn ours(self) -> arch::processor::Processor {
        match self {
            Self::Power8 => arch::processor::Processor::Power8,
            Self::Power9 => arch::processor::Processor::Power9,
        }
    }

    /// The bits of `row` that must be zero.
    fn reserved(self, row: &Row) -> u32 {
        match self {
            Self::Power8 => row.reserved | row.reserved_power8,
            Self::Power9 => row.reserved,
        }
    }

    /// What objdump's option -M calls it.
    fn dialect(self) -> &'static str {
        match self {
            Self::Power8 => "power8",
            Self::Power9 => "power9",
        }
    }
}

/// What `objdump` writes for each of `words`, which are taken to be at address 0 and on.
fn objdump(words: &[Word], dialect: &str) -> Vec<String> {
    let directory = tempfile::tempdir().expect("temporary directory");
    let path = directory.path().join("words");
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.0.to_le_bytes()).collect();
    fs::write(&path, bytes).expect("write the words");
    let output = Command::new(OBJDUMP)
        .args(["-D", "-z", "-b", "binary", "-m", "powerpc:common64", "-EL"])
        .args(["-M", &format!("{dialect},raw")])
        .arg(&path)
        .output()
        .unwrap_or_else(|error| {
            panic!("{OBJDUMP}: {error}; it is in Debian's package binutils-powerpc64le-linux-gnu")
        });
    assert!(output.status.success(), "{OBJDUMP}: {output:?}");
    let text = String::from_utf8(output.stdout).expect("objdump writes text");
    // A line is `address:<tab>bytes<tab>mnemonic operands`; sections and headings have no tabs.
    let lines: Vec<String> =
        text.lines().filter_map(|line| line.splitn(3, '\t').nth(2)).map(normalised).collect();
    assert_eq!(lines.len(), words.len(), "{OBJDUMP} wrote a line per word");
    lines
}

/// One space between mnemonic and operands.
fn normalised(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Small deterministic generator (splitmix64): the same words on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        value ^ (value >> 31)
    }
}

/// A valid word of `row`: random operands, tried again until the form is valid.
fn random_word(
    row: &Row,
    processor: Processor,
    (rc, oe): (bool, bool),
    random: &mut Random,
) -> Word {
    loop {
        let operands: Vec<i64> = row
            .operands
            .iter()
            .map(|operand| {
                let (lowest, highest) = operand.range();
                let steps = (highest - lowest) / operand.multiple_of() + 1;
                lowest + (random.next() % steps as u64) as i64 * operand.multiple_of()
            })
            .collect();
        let word = encode(row.mnemonic, &operands, rc, oe).expect("values are in range");
        let word = Word(word.0 & !processor.reserved(row));
        if !row.is_invalid_form(word, processor.ours()) {
            return word;
        }
    }
}

fn random_words(row: &Row, processor: Processor, random: &mut Random) -> Vec<Word> {
    let variants = [(false, false), (false, true), (true, false), (true, true)];
    variants
        .into_iter()
        .filter(|&(rc, oe)| (row.has_rc || !rc) && (row.has_oe || !oe))
        .flat_map(|variant| [variant; WORDS_PER_VARIANT])
        .map(|variant| random_word(row, processor, variant, random))
        .collect()
}

/// Collects disagreements and keeps the book of which listed ones were needed.
struct Verdict<'a, T> {
    listed: &'a [T],
    needed: Vec<bool>,
    /// Per row: how many, and the first.
    wrong: BTreeMap<String, (usize, String)>,
}

impl<'a, T: std::fmt::Debug> Verdict<'a, T> {
    fn new(listed: &'a [T]) -> Self {
        Self { listed, needed: vec![false; listed.len()], wrong: BTreeMap::new() }
    }

    /// The answers of `name` disagree as `example` says, unless a listed difference explains it.
    fn disagree(
        &mut self,
        name: &str,
        explains: impl Fn(&T) -> bool,
        example: impl FnOnce() -> String,
    ) {
        match self.listed.iter().position(explains) {
            Some(position) => self.needed[position] = true,
            None => self.wrong.entry(name.to_owned()).or_insert_with(|| (0, example())).0 += 1,
        }
    }

    fn check(self) {
        assert!(self.wrong.is_empty(), "{:#?}", self.wrong);
        for (listed, needed) in self.listed.iter().zip(self.needed) {
            assert!(needed, "listed but not seen: {listed:?}");
        }
    }
}

/// Instructions that binutils no longer writes for either processor, though both have them; they are
/// compared in the dialect of an older one. (Mnemonic, dialect, reason.)
const OLDER_DIALECT: &[(&str, &str, &str)] = &[
    ("mftb", "ppc64", "treated as another name of mfspr from POWER4 on"),
    ("lfdp", "power6", "being phased out in ISA 2.06, known for POWER6 only"),
    ("lfdpx", "power6", "as lfdp"),
    ("stfdp", "power6", "as lfdp"),
    ("stfdpx", "power6", "as lfdp"),
];

fn dialect(row: &Row, processor: Processor) -> &'static str {
    let older = OLDER_DIALECT.iter().find(|(name, _, _)| *name == row.name);
    older.map_or(processor.dialect(), |(_, dialect, _)| dialect)
}

/// One word of a batch and what objdump writes for it.
struct Line {
    row: &'static Row,
    word: Word,
    address: u64,
    text: String,
}

/// Words of the table as objdump writes them, with one run per dialect.
fn objdump_rows(words: Vec<(&'static Row, Word)>, processor: Processor) -> Vec<Line> {
    let mut batches: BTreeMap<&str, Vec<(&Row, Word)>> = BTreeMap::new();
    for (row, word) in words {
        let batch = batches.entry(dialect(row, processor)).or_default();
        batch.push((row, word));
    }
    let mut lines = Vec::new();
    for (dialect, batch) in batches {
        let words: Vec<Word> = batch.iter().map(|&(_, word)| word).collect();
        for (index, (text, (row, word))) in
            objdump(&words, dialect).into_iter().zip(batch).enumerate()
        {
            lines.push(Line { row, word, address: index as u64 * 4, text });
        }
    }
    lines
}

/// A valid word that objdump writes in another way.
struct TextDifference {
    names: &'static [&'static str],
    processors: &'static [Processor],
    reason: &'static str,
    /// Whether this is why `theirs` is not `ours`.
    explains: fn(word: Word, ours: &str, theirs: &str) -> bool,
}

impl std::fmt::Debug for TextDifference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}: {}", self.names, self.reason)
    }
}

const BOTH: &[Processor] = &Processor::ALL;

const TEXT_DIFFERENCES: &[TextDifference] = &[
    TextDifference {
        names: &["b", "bc"],
        processors: BOTH,
        reason: "without an ELF header, addresses beyond 4G are cut to 32 bits",
        explains: |_, ours, theirs| ours.replace("0xffffffff", "0x") == *theirs,
    },
    TextDifference {
        names: &["bc", "bclr", "bcctr", "bctar"],
        processors: BOTH,
        reason: "refuses BO with an ignored bit (z) set or with the reserved hint at = 01",
        explains: |word, _, theirs| is_refused(word, theirs) && !is_plain_bo(word.bo()),
    },
    TextDifference {
        names: &["mfocrf", "mtocrf"],
        processors: BOTH,
        reason: "refuses FXM with other than one bit set; the ISA leaves the result undefined",
        explains: |word, _, theirs| is_refused(word, theirs) && !word.fxm().is_power_of_two(),
    },
    TextDifference {
        names: &["mfcr"],
        processors: BOTH,
        reason: "writes an operand FXM that mfcr does not have",
        explains: |_, ours, theirs| format!("{ours},-1") == *theirs,
    },
    TextDifference {
        names: &["tend."],
        processors: BOTH,
        reason: "writes an extended mnemonic in spite of raw",
        explains: |_, ours, theirs| ours == "tend. 1" && theirs == "tendall.",
    },
    TextDifference {
        names: &["tlbie"],
        processors: &[Processor::Power8],
        reason: "RIC, PRS and R are new in ISA 3.0; here they are written as 0",
        explains: |_, ours, theirs| *ours == format!("{theirs},0,0,0"),
    },
    TextDifference {
        names: &["tlbiel"],
        processors: &[Processor::Power8],
        reason: "RS, RIC, PRS and R are new in ISA 3.0; objdump has a field L of before ISA 2.07",
        explains: |_, ours, theirs| {
            theirs.strip_suffix(",0").is_some_and(|theirs| *ours == format!("{theirs},r0,0,0,0"))
        },
    },
    TextDifference {
        names: &["slbmfee", "slbmfev"],
        processors: &[Processor::Power8],
        reason: "L is new in ISA 3.0; here it is written as 0",
        explains: |_, ours, theirs| *ours == format!("{theirs},0"),
    },
    TextDifference {
        names: &["logmpp"],
        processors: &[Processor::Power8],
        reason: "does not know it; without RS it has tlbli of the 603 there",
        explains: |word, _, theirs| {
            is_refused(word, theirs) || word.rs() == 0 && theirs.starts_with("tlbli ")
        },
    },
];

/// Whether objdump takes `word` for data.
fn is_refused(word: Word, theirs: &str) -> bool {
    *theirs == format!(".long {:#x}", word.0)
}

/// BO without ignored bits set and with a defined branch hint (Book I, section 2.4).
fn is_plain_bo(bo: u32) -> bool {
    match (bo >> 4 & 1, bo >> 2 & 1) {
        (0, 0) => bo & 1 == 0,
        (0, 1) => bo & 0b11 != 0b01,
        (1, 0) => bo & 0b01001 != 0b00001,
        _ => bo == 0b10100,
    }
}

#[test]
fn valid_words_are_written_as_objdump_writes_them() {
    let mut random = Random(1);
    let mut verdict = Verdict::new(TEXT_DIFFERENCES);
    for processor in Processor::ALL {
        let rows = TABLE.iter().filter(|row| processor.has(row));
        let words = rows
            .flat_map(|row| {
                random_words(row, processor, &mut random).into_iter().map(move |word| (row, word))
            })
            .collect();
        for Line { row, word, address, text: theirs } in objdump_rows(words, processor) {
            let ours = normalised(&disassemble(word, address).to_string());
            if ours != theirs {
                verdict.disagree(
                    row.name,
                    |listed| {
                        listed.names.contains(&row.name)
                            && listed.processors.contains(&processor)
                            && (listed.explains)(word, &ours, &theirs)
                    },
                    || format!("{processor:?} {:#010x}: ours `{ours}`, objdump `{theirs}`", word.0),
                );
            }
        }
    }
    verdict.check();
}

#[test]
fn older_dialects_are_needed() {
    let mut random = Random(2);
    for &(name, _, reason) in OLDER_DIALECT {
        let row = TABLE.iter().find(|row| row.name == name).expect("is in the table");
        for processor in Processor::ALL {
            let word = random_word(row, processor, (false, false), &mut random);
            let theirs = &objdump(&[word], processor.dialect())[0];
            assert!(is_refused(word, theirs), "{name} ({reason}): {processor:?} has `{theirs}`");
        }
    }
}

/// Reserved bits that objdump lets pass: (mnemonics, bits, reason).
const LENIENT: &[(&[&str], u32, &str)] = &[
    (&["cmpi", "cmpli"], 0x0040_0000, "takes bit 9 for part of L"),
    (&["dcbz"], 0x0020_0000, "dcbzl, of other processors"),
    (
        &["dst", "dstt", "dstst", "dststt", "dss", "dssall"],
        0x0180_0001,
        "ignores bits 7, 8 and 31 of data streams",
    ),
    (&["dss", "dssall"], 0x007F_F800, "ignores what may be operands of dst"),
    (&["icbt"], 0x0200_0000, "takes bit 6 for part of CT"),
    (&["isel"], 0x0000_0001, "ignores bit 31"),
    (&["lq"], 0x0000_000F, "ignores bits 28 to 31"),
    (&["sc", "scv"], 0x0000_F01C, "ignores all but LEV"),
    (&["tlbiel"], 0x0020_0000, "has a field L of before ISA 2.07"),
    (
        &[
            "dcmpo", "dcmpoq", "dcmpu", "dcmpuq", "dtstdc", "dtstdcq", "dtstdg", "dtstdgq",
            "dtstex", "dtstexq", "dtstsf", "dtstsfq",
        ],
        0x0060_0000,
        "ignores bits 9 and 10 of decimal comparisons and tests",
    ),
    (
        &[
            "dctdp", "dctqpq", "drsp", "drdpq", "dcffixq", "dctfix", "dctfixq", "dxex", "dxexq",
            "ddedpd", "ddedpdq", "denbcd", "denbcdq", "drintx", "drintxq", "drintn", "drintnq",
        ],
        0x001F_0000,
        "ignores what is reserved of bits 11 to 15 in decimal instructions",
    ),
    (
        &["xsrqpi", "xsrqpix", "xsrqpxp"],
        0x001E_0000,
        "ignores bits 11 to 14 of the roundings of quads",
    ),
];

#[test]
fn objdump_refuses_what_is_reserved_here() {
    let mut random = Random(3);
    let mut verdict = Verdict::new(LENIENT);
    for processor in Processor::ALL {
        let mut words = Vec::new();
        for row in TABLE.iter().filter(|row| processor.has(row)) {
            let reserved = processor.reserved(row);
            for bit in (0..32).map(|bit| 1 << bit).filter(|bit| reserved & bit != 0) {
                let word = random_word(row, processor, (false, false), &mut random);
                words.push((row, Word(word.0 | bit)));
            }
        }
        for Line { row, word, text, .. } in objdump_rows(words, processor) {
            let bit = word.0 & processor.reserved(row);
            if !is_refused(word, &text) {
                verdict.disagree(
                    row.name,
                    |(names, bits, _)| names.contains(&row.name) && bits & bit != 0,
                    || format!("{processor:?}, bit {}: `{text}`", bit.leading_zeros()),
                );
            }
        }
    }
    verdict.check();
}

/// Instructions that objdump writes for a processor that does not have them: (mnemonic, reason).
const ANACHRONISMS: &[(&str, &str)] = &[
    ("wait", "POWER8: waitasec, which the ISA does not describe"),
    ("vabsdub", "POWER8: other processors had it before ISA 3.0"),
    ("vabsduh", "as vabsdub"),
    ("vabsduw", "as vabsdub"),
];

#[test]
fn objdump_refuses_what_only_the_other_processor_has() {
    let mut random = Random(4);
    let mut verdict = Verdict::new(ANACHRONISMS);
    for processor in Processor::ALL {
        let words = TABLE
            .iter()
            .filter(|row| !processor.has(row))
            .map(|row| (row, random_word(row, processor, (false, false), &mut random)))
            .collect();
        for Line { row, word, text, .. } in objdump_rows(words, processor) {
            if !is_refused(word, &text) {
                verdict.disagree(
                    row.name,
                    |(name, _)| *name == row.name,
                    || format!("{processor:?} {:#010x}: `{text}`", word.0),
                );
            }
        }
    }
    verdict.check();
}

/// Instructions of whose level the dialects of older processors say something else: (mnemonics, reason).
const LEVEL_DIFFERENCES: &[(&[&str], &str)] = &[
    (&["bc", "bclr", "bcctr", "bctar"], "refused where BO has an ignored bit or the reserved hint"),
    (&["mfocrf", "mtocrf"], "refused where FXM has other than one bit set"),
    (&["tend."], "written as an extended mnemonic in spite of raw"),
    (&["mftb"], "treated as another name of mfspr"),
    (&["lfdp", "lfdpx", "stfdp", "stfdpx"], "known for POWER6 only"),
    (&["vabsdub", "vabsduh", "vabsduw"], "other processors had them before ISA 3.0"),
];

#[test]
fn processors_of_a_level_have_what_is_new_in_it_and_not_what_is_newer() {
    let mut random = Random(6);
    let mut verdict = Verdict::new(LEVEL_DIFFERENCES);
    let dialects = [("power6", Level::V2_05), ("power7", Level::V2_06), ("power8", Level::V2_07)];
    for (dialect, level) in dialects {
        let rows: Vec<&Row> = TABLE
            .iter()
            .filter(|row| Processor::Power9.has(row) && row.privilege == Privilege::Problem)
            .collect();
        let words: Vec<Word> = rows
            .iter()
            .flat_map(|row| {
                (0..20)
                    .map(|_| random_word(row, Processor::Power9, (false, false), &mut random))
                    .collect::<Vec<_>>()
            })
            .collect();
        let texts = objdump(&words, dialect);
        for ((row, word), text) in rows.iter().flat_map(|row| [row; 20]).zip(&words).zip(texts) {
            let ours = disassemble(*word, 0).to_string();
            let is_there = ours.split_whitespace().next() == text.split_whitespace().next();
            if is_there != (row.level <= level) {
                verdict.disagree(
                    row.name,
                    |(names, _)| names.contains(&row.name),
                    || format!("{dialect} {:#010x}: {:?}, objdump `{text}`", word.0, row.level),
                );
            }
        }
    }
    verdict.check();
}

/// Instructions that objdump knows and the table leaves out: why, and the mnemonics, of which `*`
/// stands for any rest.
const LEFT_OUT: &[(&str, &[&str])] = &[
    ("coprocessor request of ISA 2.07", &["icswx", "icswx."]),
    ("split little-endian of ISA 2.07", &["mtsle"]),
    ("the ultravisor's", &["urfid", "msgsndu", "msgclru"]),
    ("new in ISA 3.1, in opcodes that are reserved no-ops before", &["hash*"]),
    ("for the service processor, or undocumented", &["attn", "pbt.", "rmieg"]),
    (
        "of other or older processors",
        &["dcbi", "eciwx", "ecowx", "mtsrd", "mtsrdin", "rfi", "tlbia", "tlbld"],
    ),
];

fn fits(pattern: &str, mnemonic: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => mnemonic.starts_with(start),
        None => mnemonic == pattern,
    }
}

#[test]
fn objdump_knows_nothing_more_but_what_is_left_out_on_purpose() {
    const LOW_BITS: u32 = 0x7FF;
    let mut random = Random(5);
    let mut words = Vec::new();
    for opcode in (0..64 << 11).map(|opcode: u32| (opcode & !LOW_BITS) << 15 | opcode & LOW_BITS) {
        // Bits 6 to 20: those that tell instructions apart somewhere, and some at random.
        let fields = [0, 1 << 20, 1 << 21, 1 << 16, random.next() as u32, random.next() as u32];
        words.extend(fields.map(|fields| Word(opcode | fields & 0x03FF_F800)));
    }
    let patterns: Vec<&str> =
        LEFT_OUT.iter().flat_map(|(_, patterns)| *patterns).copied().collect();
    let mut verdict = Verdict::new(&patterns);
    for processor in Processor::ALL {
        for (text, &word) in objdump(&words, processor.dialect()).iter().zip(&words) {
            if decode(word).is_none() && !is_refused(word, text) {
                let mnemonic = text.split(' ').next().unwrap_or_default();
                verdict.disagree(
                    mnemonic,
                    |pattern| fits(pattern, mnemonic),
                    || format!("{processor:?} {:#010x}: `{text}`", word.0),
                );
            }
        }
    }
    verdict.check();
}
