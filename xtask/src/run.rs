//! The demonstration: a figure from our machine and where its cycles went, and QEMU's word that both ran the
//! same.

use anyhow::Result;

use crate::dist;
use crate::images::images;
use crate::workspace::{Workspace, run as run_command};

const EXPERIMENT: &str = "experiments/null-hypercall.toml";
const EXAMPLE: &str = "examples/hello.toml";

/// Builds the powervisor command, optimised.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    run_command(&mut workspace.cargo(&["build", "--quiet", "--release", "--package", "powervisor"]))
}

pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    println!("Building the hypervisor, its payloads and the machine ...");
    images(workspace)?;
    let powervisor = match dist::if_possible(workspace)? {
        Some(powervisor) => powervisor,
        None => build(workspace).map(|()| workspace.release())?,
    };
    let powervisor = |arguments: &[&str]| workspace.command(&powervisor, arguments);
    println!(
        "\nA guest makes 10,000 hypercalls on the hypervisor, on our POWER9. Per hypercall:\n\n\
         $ powervisor run {EXPERIMENT} --explain"
    );
    run_command(&mut powervisor(&["run", EXPERIMENT, "--explain"]))?;
    println!(
        "\nThe same image and the same partitions on QEMU's powernv9 under real skiboot firmware:\n\n\
         $ powervisor compare {EXAMPLE} {EXPERIMENT}"
    );
    run_command(&mut powervisor(&["compare", EXAMPLE, EXPERIMENT]))
}
