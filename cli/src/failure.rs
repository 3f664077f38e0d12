//! How the command fails: what it prints and the exit status that goes with it.

use std::fmt::Display;
use std::process::ExitCode;

use lab::failure;

use crate::visible::one_line;

/// Why a command did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The lab did not do it.
    #[error(transparent)]
    Lab(#[from] failure::Failure),
    /// Nobody reads our standard output or error any more. Nothing is printed: whoever closed it knows.
    #[error("standard output or error is closed")]
    ClosedPipe,
}

impl Failure {
    /// The user interrupted.
    pub const INTERRUPTED: Self = Self::Lab(failure::Failure::Interrupted);

    /// A complaint about `place`: `text` says what is wrong and, after a semicolon, what would be
    /// right.
    pub fn input(place: impl Display, text: impl Display) -> Self {
        Self::Lab(failure::Failure::input(place, text))
    }

    /// The same about a line of the file at `place`, from 1.
    pub fn in_line(place: impl Display, line: usize, text: impl Display) -> Self {
        Self::Lab(failure::Failure::in_line(place, line, text))
    }

    /// The run itself went wrong, as `text` says, which may have many lines.
    pub fn run(text: impl Into<String>) -> Self {
        Self::Lab(failure::Failure::Run(text.into()))
    }

    /// What the user reads of it.
    #[must_use]
    pub fn shown(&self) -> Option<String> {
        match self {
            Self::Lab(failure::Failure::Input(complaint)) => {
                Some(one_line(&complaint.to_string()).into_owned())
            }
            Self::Lab(failure::Failure::Run(text)) => Some(text.clone()),
            Self::Lab(why @ failure::Failure::InterruptedAfter(_)) => Some(why.to_string()),
            // Whoever pressed Ctrl-C knows, and whoever closed the pipe does not care.
            Self::Lab(failure::Failure::Interrupted) | Self::ClosedPipe => None,
        }
    }

    /// The status with which the command ends.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Lab(failure::Failure::Input(_)) => ExitCode::from(2),
            Self::Lab(failure::Failure::Run(_)) => ExitCode::from(1),
            Self::Lab(failure::Failure::Interrupted | failure::Failure::InterruptedAfter(_)) => {
                ExitCode::from(130)
            }
            // As of a program that SIGPIPE ends, so that `set -o pipefail` tells a run that was cut from one
            // that was not.
            Self::ClosedPipe => ExitCode::from(141),
        }
    }
}

/// The exit statuses, for the help.
pub const EXIT_STATUS_HELP: &str = "\
Exit status: 0 all went well, 1 the run went wrong, 2 a file, an argument or the host is not as
needed (one line on standard error says what), 130 interrupted, 141 nobody reads what is written any
more, as of `cat`.";
