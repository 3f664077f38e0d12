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
    /// QEMU's `powernv9`.
    Qemu,
    /// Nobody; `reason` says why.
    None,
}

/// `test.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleFile {
    /// The rule, in a sentence, with its source.
    pub shows: String,
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
    /// The folder's name.
    pub name: String,
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
    let folders = fs::read_dir(root().join("rules")).expect("there is a folder of rules");
    let mut rules: Vec<_> =
        folders.map(|folder| read(&folder.expect("the folder can be read").path())).collect();
    rules.sort_by(|one, other| one.name.cmp(&other.name));
    rules
}

fn read(folder: &Path) -> Rule {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = fs::read_to_string(folder.join("test.toml"))
        .unwrap_or_else(|fault| panic!("{name}/test.toml: {fault}"));
    let file: RuleFile =
        toml::from_str(&text).unwrap_or_else(|fault| panic!("{name}/test.toml: {fault}"));
    let has_reason = file.reason.as_ref().is_some_and(|reason| !reason.is_empty());
    assert_eq!(file.judge == Judge::None, has_reason, "{name}: a reason, exactly if nobody judges");
    let is_judged = file.judge == Judge::Qemu;
    let is_beyond = file.threads.is_some_and(|threads| threads > 1) || file.stops.is_some();
    assert!(!(is_judged && is_beyond), "{name}: QEMU has one thread per core and no strict stops");
    Rule { name, program: folder.join("program.S"), file }
}
