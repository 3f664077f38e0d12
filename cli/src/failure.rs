//! How the command fails: what it prints and the exit status that goes with it.

use std::fmt::Display;
use std::process::ExitCode;

use lab::failure::Complaint;

/// Why a command did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A file, a key, a value or the host is not as needed. One line, `PLACE: what is wrong; what
    /// would be right`.
    #[error(transparent)]
    Input(Complaint),
    /// The run itself went wrong: the machine stopped, or two machines disagree. May have many lines.
    #[error("{0}")]
    Run(String),
    /// The user interrupted.
    #[error("interrupted")]
    Interrupted,
    /// Nobody reads our standard output any more. Not an error: nothing is printed.
    #[error("standard output is closed")]
    ClosedPipe,
}

impl From<lab::failure::Failure> for Failure {
    fn from(failure: lab::failure::Failure) -> Self {
        match failure {
            lab::failure::Failure::Input(complaint) => Self::Input(complaint),
            lab::failure::Failure::Run(text) => Self::Run(text),
            lab::failure::Failure::Interrupted => Self::Interrupted,
        }
    }
}

impl Failure {
    /// A complaint about `place`: `text` says what is wrong and, after a semicolon, what would be
    /// right.
    pub fn input(place: impl Display, text: impl Display) -> Self {
        lab::failure::Failure::input(place, text).into()
    }

    /// The status with which the command ends.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Input(_) => ExitCode::from(2),
            Self::Run(_) => ExitCode::from(1),
            Self::Interrupted => ExitCode::from(130),
            Self::ClosedPipe => ExitCode::SUCCESS,
        }
    }
}

/// The exit statuses, for the help.
pub const EXIT_STATUS_HELP: &str = "\
Exit status: 0 all went well, 1 the run went wrong, 2 a file, an argument or the host is not as
needed (one line on standard error says what), 130 interrupted.";
