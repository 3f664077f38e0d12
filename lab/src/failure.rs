//! Why something was not done.

use std::fmt::{self, Display};

/// Why something was not done.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Failure {
    /// A file, a key, a value or the host is not as needed.
    #[error("{0}")]
    Input(Complaint),
    /// The run itself went wrong: the machine stopped, or two machines disagree. May have many lines.
    #[error("{0}")]
    Run(String),
    /// It was asked to end, see [`crate::interruption`].
    #[error("interrupted")]
    Interrupted,
    /// The same, with how far it had come by then.
    #[error("interrupted after {0}")]
    InterruptedAfter(String),
}

/// What is not as needed, where, and what would be right. Its `Display` is one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Complaint {
    /// A file, an option, or what is missing.
    pub place: String,
    /// The line of the file, from 1.
    pub line: Option<usize>,
    /// What is wrong there.
    pub wrong: String,
    /// What would be right, where anything would.
    pub right: Option<String>,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, line, wrong, right } = self;
        f.write_str(place)?;
        line.map_or(Ok(()), |line| write!(f, ":{line}"))?;
        write!(f, ": {wrong}")?;
        right.as_ref().map_or(Ok(()), |right| write!(f, "; {right}"))
    }
}

impl Failure {
    /// A complaint about `place`: `text` says what is wrong and, after its last semicolon, what would be right.
    /// Everything that complains says it so, and this is the one place that takes it apart.
    pub fn input(place: impl Display, text: impl Display) -> Self {
        Self::complaint(place, None, &text.to_string())
    }

    /// The same about a line of the file at `place`, from 1.
    pub fn in_line(place: impl Display, line: usize, text: impl Display) -> Self {
        Self::complaint(place, Some(line), &text.to_string())
    }

    fn complaint(place: impl Display, line: Option<usize>, text: &str) -> Self {
        let (wrong, right) = match text.rsplit_once("; ") {
            Some((wrong, right)) => (wrong.to_owned(), Some(right.to_owned())),
            None => (text.to_owned(), None),
        };
        Self::Input(Complaint { place: place.to_string(), line, wrong, right })
    }
}

#[cfg(test)]
mod tests {
    use super::{Complaint, Failure};

    #[test]
    fn a_complaint_has_its_parts_and_is_one_line() {
        let text = "unknown key `a; b`; did you mean `ab`?";
        let Failure::Input(complaint) = Failure::in_line("x.toml", 3, text) else { panic!() };
        assert_eq!(complaint.to_string(), format!("x.toml:3: {text}"));
        let Complaint { place, line, wrong, right } = complaint;
        assert_eq!(
            (place.as_str(), line, wrong.as_str()),
            ("x.toml", Some(3), "unknown key `a; b`")
        );
        assert_eq!(right.as_deref(), Some("did you mean `ab`?"));
        assert_eq!(Failure::input("--memory", "odd").to_string(), "--memory: odd");
    }
}
