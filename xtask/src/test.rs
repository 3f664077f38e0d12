//! Every test.

use std::process::Command;
use std::thread;

use anyhow::Result;

use crate::check::check;
use crate::images::images;
use crate::linux;
use crate::loom::{self, loom};
use crate::workspace::{Workspace, run};

/// Random cases of each property, and of each instruction compared with QEMU, in a nightly run. The
/// usual numbers are 256 and 150.
pub(crate) const NIGHTLY_CASES: &str = "20000";
/// Rounds of each vCPU in the storm of random exits in a nightly run; about nine exits each.
const NIGHTLY_STORM_ROUNDS: &str = "200000";
/// Rounds of each vCPU in the storm in any state in a nightly run: more than a million exits on each of two topologies.
const NIGHTLY_STATES_ROUNDS: &str = "46000";
/// Random hypercalls of a misbehaving partition in a nightly run: 10,000 for each call, and as many numbers
/// that are none.
const NIGHTLY_RANDOM_CALLS: &str = "170000";

/// QEMU's cores where a nightly run uses several; the usual number is 4, and few systems run on them.
const NIGHTLY_CORES: &str = "8";

pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    // Side by side, since each of them uses one processor for much of its time.
    thread::scope(|scope| {
        let beside = scope.spawn(|| images(workspace));
        let built = check(workspace).and_then(|()| run(all_tests(workspace).arg("--no-run")));
        built.and(beside.join().expect("no step panics"))
    })?;
    thread::scope(|scope| {
        let beside = scope.spawn(|| {
            linux::test(workspace)?;
            loom(workspace, loom::Arguments::default())
        });
        let tested = tests(workspace, None);
        tested.and(beside.join().expect("no step panics"))
    })
}

/// All tests, with many more random cases: how many of what.
pub(crate) fn many(workspace: &Workspace) -> Result<String> {
    tests(workspace, Some(NIGHTLY_CASES))?;
    Ok(format!(
        "{NIGHTLY_CASES} cases of each property, {NIGHTLY_STORM_ROUNDS} rounds of storm, {NIGHTLY_STATES_ROUNDS} in any state, \
         {NIGHTLY_RANDOM_CALLS} random hypercalls"
    ))
}

/// Runs the comparison of instructions with QEMU.
pub(crate) fn differential(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let mut command =
        workspace.cargo(&["run", "--quiet", "--release", "--package", "differential", "--"]);
    run(command.args(arguments))
}

fn tests(workspace: &Workspace, cases: Option<&str>) -> Result<()> {
    let mut command = all_tests(workspace);
    if let Some(cases) = cases {
        command.arg("--no-fail-fast");
        command.env("PROPTEST_CASES", cases);
        command.env("POWERVISOR_STORM_ROUNDS", NIGHTLY_STORM_ROUNDS);
        command.env("POWERVISOR_STATES_ROUNDS", NIGHTLY_STATES_ROUNDS);
        command.env("POWERVISOR_RANDOM_CALLS", NIGHTLY_RANDOM_CALLS);
        command.env("POWERVISOR_CORES", NIGHTLY_CORES);
        command.env("POWERVISOR_LONG", "1");
    }
    run(&mut command)
}

/// All of the workspace's tests.
fn all_tests(workspace: &Workspace) -> Command {
    let mut command = workspace.cargo(&["test", "--quiet", "--workspace"]);
    command.env("POWERVISOR_IMAGES", workspace.images());
    command
}
