//! How fast our machine runs many hardware threads: all of them at work, and all but one asleep.
//!
//! Instructions of all threads in a second of processor time, beside what a machine with one thread does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{ROUNDS, Run, boot, median};
use crate::workspace::{Workspace, run};

/// Threads of the large machine: 8 cores of 4.
const THREADS: u64 = 32;
/// Instructions of all threads, as a number of rounds of eight.
const LITTLE: u64 = 320_000;
const MUCH: u64 = 64_000_000;

/// A machine, and how many of its threads work.
pub(super) struct Load {
    pub(super) name: &'static str,
    threads: u64,
    runnable: u64,
}

pub(super) const LOADS: [Load; 3] = [
    Load { name: "1 thread", threads: 1, runnable: 1 },
    Load { name: "32 threads", threads: THREADS, runnable: THREADS },
    Load { name: "1 of 32 threads", threads: THREADS, runnable: 1 },
];

pub(super) fn threads(workspace: &Workspace) -> Result<()> {
    let images: Result<Vec<_>> = LOADS.iter().map(|load| load.images(workspace, 1)).collect();
    let images = images?;
    let mut rates = [const { Vec::new() }; LOADS.len()];
    for _ in 0..ROUNDS {
        for ((little, much), rates) in images.iter().zip(&mut rates) {
            let [less, more] = [boot(workspace, little, "PASS")?, boot(workspace, much, "PASS")?];
            rates.push(Run::mips(&less, &more)?);
        }
    }
    let medians = rates.map(median);
    println!("\n{:<16}{:>14}{:>10}", "", "our machine", "of one");
    for (load, rate) in LOADS.iter().zip(medians) {
        println!("{:<16}{rate:>14.1}{:>9.0}%", load.name, 100.0 * rate / medians[0]);
    }
    Ok(())
}

impl Load {
    /// The arguments that boot a little and much of it, of one part in `part`.
    pub(super) fn images(
        &self,
        workspace: &Workspace,
        part: u64,
    ) -> Result<(Vec<String>, Vec<String>)> {
        let folder = workspace.target.join("bench");
        fs::create_dir_all(&folder)?;
        let machine = folder.join(format!("threads-{}.toml", self.threads));
        let (cores, threads) = if self.threads == 1 { (1, 1) } else { (self.threads / 4, 4) };
        let file = workspace.root.join("machines/power9.toml");
        let description = fs::read_to_string(&file)
            .with_context(|| format!("reading {}", file.display()))?
            .replace("cores_per_chip = 1", &format!("cores_per_chip = {cores}"))
            .replace("threads_per_core = 1", &format!("threads_per_core = {threads}"));
        fs::write(&machine, description)?;
        let arguments = |rounds| -> Result<Vec<String>> {
            let image = self.assemble(workspace, &folder, rounds)?;
            let paths = [image, machine.clone()].map(|path| path.display().to_string());
            let [image, machine] = paths;
            Ok(vec!["--kernel".to_owned(), image, "--machine".to_owned(), machine])
        };
        let part = part * self.runnable;
        Ok((arguments(LITTLE / part)?, arguments(MUCH / part)?))
    }

    /// The image in which each runnable thread works for so many rounds.
    fn assemble(&self, workspace: &Workspace, folder: &Path, rounds: u64) -> Result<PathBuf> {
        let image = folder.join(format!("threads-{}-{}-{rounds}", self.threads, self.runnable));
        let object = image.with_extension("o");
        let define = |name: &str, value: u64| format!("-D{name}={value}");
        run(Command::new("powerpc64le-linux-gnu-gcc")
            .args(["-c", "-mbig-endian", "-mcpu=power9"])
            .args([define("THREADS", self.threads), define("RUNNABLE", self.runnable)])
            .args([define("ROUNDS", rounds), "-I".to_owned()])
            .arg(workspace.root.join("tests/conformance/include"))
            .arg("-o")
            .arg(&object)
            .arg(workspace.root.join("tests/conformance/bench/threads.S")))?;
        run(Command::new("powerpc64le-linux-gnu-ld")
            .args(["-m", "elf64ppc", "--oformat", "binary", "-e", "_start", "-Ttext", "0x20000000"])
            .arg("-o")
            .args([&image, &object]))?;
        Ok(image)
    }
}
