//! A rule: a folder with a program and what it is to show.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The vector of `scv`, which has one of its own for each level and none in the others' table.
pub const SCV: u64 = 0x1_7000;

/// Who else can say whether the program is right.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Judge {
    /// QEMU with real firmware.
    Qemu,
    /// Nobody; `reason` says why.
    None,
}

/// A processor that a rule is one of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
pub enum Processor {
    /// POWER8: `machines/power8.toml`, and QEMU's `powernv8`.
    #[serde(rename = "POWER8")]
    Power8,
    /// POWER9: `machines/power9.toml`, and QEMU's `powernv9`.
    #[serde(rename = "POWER9")]
    Power9,
}

impl Processor {
    /// The text of our description of a machine with it.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Power8 => include_str!("../../../machines/power8.toml"),
            Self::Power9 => include_str!("../../../machines/power9.toml"),
        }
    }

    /// QEMU's machine with it.
    #[must_use]
    pub fn qemu_machine(self) -> &'static str {
        match self {
            Self::Power8 => "powernv8",
            Self::Power9 => "powernv9",
        }
    }
}

/// `test.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleFile {
    /// The rule, in a sentence.
    pub shows: String,
    /// Where it is from: book and chapter of the Power ISA, an entry of `docs/facts`, or a source of
    /// `docs/facts/sources.md`.
    pub source: String,
    /// The processors that follow it; it runs on each.
    pub processors: Vec<Processor>,
    /// Why our machine does not follow it yet. Such a rule is run and reported, and may not pass.
    pub known_failure: Option<String>,
    /// The vectors whose registers, masking or address the program looks at; [`SCV`] for `scv`. README.md lists
    /// them.
    #[serde(default)]
    pub vectors: Vec<u64>,
    /// Who else can judge.
    pub judge: Judge,
    /// Why nobody else can.
    pub reason: Option<String>,
    /// Text in the report with which the machine stops; without it the program prints `PASS`.
    pub stops: Option<String>,
    /// Cores of the machine, 1 without it.
    pub cores: Option<u32>,
    /// Threads of each core, 1 without it.
    pub threads: Option<u32>,
    /// The program has pages of two sizes at one address of the hashed page table and the TLBs, which the oracle must
    /// see. Without it there may be none.
    #[serde(default)]
    pub two_sizes: bool,
    /// Failures of the machine, in order; QEMU has none.
    #[serde(default)]
    pub maintenance: Vec<Maintenance>,
    /// Switches of the description that the program sets otherwise.
    #[serde(default)]
    pub switches: BTreeMap<String, bool>,
}

/// A cause of a hypervisor maintenance interrupt.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Maintenance {
    /// The thread it comes to.
    pub thread: usize,
    /// After so many steps of the machine (instructions completed and interrupts taken).
    pub step: u64,
    /// The bit of HMER, IBM numbering.
    pub bit: u32,
}

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The folder's name, which no other rule has.
    pub name: String,
    /// The name of the folder around it: what part of the architecture it is about.
    pub area: String,
    /// The program.
    pub program: PathBuf,
    /// What is to be shown.
    pub file: RuleFile,
}

/// The folder of this package.
#[must_use]
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All rules, by name.
///
/// # Panics
/// With the name of the folder in which something is wrong.
#[must_use]
pub fn all() -> Vec<Rule> {
    let areas = folders(&root().join("rules"));
    let mut rules: Vec<_> =
        areas.iter().flat_map(|area| folders(area)).map(|folder| read(&folder)).collect();
    rules.sort_by(|one, other| one.name.cmp(&other.name));
    for pair in rules.windows(2) {
        assert_ne!(pair[0].name, pair[1].name, "in {} and in {}", pair[0].area, pair[1].area);
    }
    rules
}

/// What is in `folder`, which has folders only.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|fault| panic!("{}: {fault}", folder.display()));
    let paths: Vec<_> =
        entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    for path in &paths {
        assert!(path.is_dir(), "{}: a rule is a folder in rules/<area>/", path.display());
    }
    paths
}

fn read(folder: &Path) -> Rule {
    let name_of = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (name, area) = (name_of(folder), name_of(folder.parent().unwrap_or(folder)));
    let text = fs::read_to_string(folder.join("test.toml"))
        .unwrap_or_else(|fault| panic!("{area}/{name}/test.toml: {fault}"));
    let file: RuleFile =
        toml::from_str(&text).unwrap_or_else(|fault| panic!("{area}/{name}/test.toml: {fault}"));
    let is_said = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    let has_reason = is_said(&file.reason);
    assert_eq!(file.judge == Judge::None, has_reason, "{name}: a reason, exactly if nobody judges");
    assert!(!file.source.is_empty(), "{name}: no source");
    assert!(!file.processors.is_empty(), "{name}: no processor follows it");
    assert!(
        file.known_failure.is_none() || is_said(&file.known_failure),
        "{name}: a known failure has its reason"
    );
    let is_judged = file.judge == Judge::Qemu;
    let is_beyond = file.threads.is_some_and(|threads| threads > 1) || file.stops.is_some();
    assert!(!(is_judged && is_beyond), "{name}: QEMU has one thread per core and no strict stops");
    Rule { name, area, program: folder.join("program.S"), file }
}
