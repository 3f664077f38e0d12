//! What a step of the nightly run comes to.

/// How a step ended that did not fail.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It passed, with these figures.
    Passed(String),
    /// It was not run, for this reason.
    Skipped(String),
}
