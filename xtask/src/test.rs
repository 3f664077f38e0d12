//! Every test.

use anyhow::Result;

use crate::check::check;
use crate::images::images;
use crate::workspace::{Workspace, run};

/// Random cases of each property in a nightly run; the usual number is 256.
const NIGHTLY_CASES: &str = "20000";

pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    images(workspace)?;
    check(workspace)?;
    tests(workspace, None)
}

pub(crate) fn nightly(workspace: &Workspace) -> Result<()> {
    images(workspace)?;
    check(workspace)?;
    tests(workspace, Some(NIGHTLY_CASES))
}

fn tests(workspace: &Workspace, cases: Option<&str>) -> Result<()> {
    let mut command = workspace.cargo(&["test", "--quiet", "--workspace"]);
    command.env("POWERVISOR_IMAGES", workspace.images());
    if let Some(cases) = cases {
        command.env("PROPTEST_CASES", cases);
    }
    run(&mut command)
}
