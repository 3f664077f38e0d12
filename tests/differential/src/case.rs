//! One case: words to execute and the state to start from.

use arch::instruction::{Mnemonic, Word};

use crate::state::State;

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    /// What is tested.
    pub mnemonic: Mnemonic,
    /// The words: the instruction, perhaps after one that prepares it (a load and reserve).
    pub words: Vec<Word>,
    /// What it starts from.
    pub start: State,
}

impl Case {
    /// The instruction under test.
    #[must_use]
    pub fn word(&self) -> Word {
        *self.words.last().expect("a case has a word")
    }
}
