//! Why something was not done.

use std::fmt::Display;

/// Why something was not done.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Failure {
    /// A file, a key, a value or the host is not as needed.
    #[error(transparent)]
    Input(Complaint),
    /// The run itself went wrong: the machine stopped, or two machines disagree. May have many lines.
    #[error("{0}")]
    Run(String),
    /// It was asked to end, see [`crate::interruption`].
    #[error("interrupted")]
    Interrupted,
}

/// What is not as needed, where, and what would be right.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}: {text}")]
pub struct Complaint {
    /// Where it is: a file with its line, an option, or what is missing.
    pub place: String,
    /// What is wrong and, after a semicolon, what would be right.
    pub text: String,
}

impl Failure {
    /// A complaint about `place`: `text` says what is wrong and, after a semicolon, what would be
    /// right.
    pub fn input(place: impl Display, text: impl Display) -> Self {
        Self::Input(Complaint { place: place.to_string(), text: text.to_string() })
    }
}
