//! Where a test runs, and how it is started there.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{fmt, fs};

use anyhow::{Context, Result};

use super::Build;
use super::listing::Test;
use super::outcome::{self, Outcome};
use super::talk::{self, Run};
use crate::workspace::Workspace;

const QEMU: &str = "qemu-system-ppc64";
/// QEMU's pseries has these by default, and no POWER9 of QEMU's own code can give them.
const MITIGATIONS: &str =
    "pseries,cap-cfpc=broken,cap-sbbc=broken,cap-ibs=broken,cap-ccf-assist=off";

/// A place.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// QEMU's pseries.
    Pseries,
    /// A partition on our machine.
    Guest,
    /// A partition on QEMU.
    QemuGuest,
    /// QEMU's powernv9.
    QemuBare,
    /// Our machine.
    Bare,
}

impl Place {
    pub(super) const ALL: [Self; 5] =
        [Self::Pseries, Self::Guest, Self::QemuGuest, Self::QemuBare, Self::Bare];

    /// Who says whether a test can pass there.
    pub(super) const fn judge(self) -> Option<Self> {
        match self {
            Self::Guest | Self::QemuGuest => Some(Self::Pseries),
            Self::Bare => Some(Self::QemuBare),
            Self::Pseries | Self::QemuBare => None,
        }
    }

    /// The machine of QEMU's that the suite knows it by.
    const fn machine(self) -> &'static str {
        match self {
            Self::Pseries | Self::Guest | Self::QemuGuest => "pseries",
            Self::QemuBare | Self::Bare => "powernv",
        }
    }

    const fn is_our_machine(self) -> bool {
        matches!(self, Self::Guest | Self::Bare)
    }

    /// Runs a test.
    pub(super) fn run(
        self,
        workspace: &Workspace,
        suite: &Build,
        folder: &Path,
        test: &Test,
        timeout: Duration,
    ) -> Result<Outcome> {
        if !test.is_for(self.machine()) {
            return Ok(Outcome::NotRun("another machine's"));
        }
        if test.accelerator.as_deref() == Some("kvm") {
            return Ok(Outcome::NotRun("for KVM only"));
        }
        if test.date().is_some() && self == Self::QemuGuest {
            return Ok(Outcome::NotRun("skiboot's clock cannot be set from outside"));
        }
        let start = match self {
            Self::Pseries | Self::QemuBare => self.qemu(suite, test)?,
            Self::Guest | Self::QemuGuest | Self::Bare => {
                self.powervisor(workspace, suite, folder, test)?
            }
        };
        let mut run = Run { start, resume: None, is_migrated: test.is_migrated(), timeout };
        if run.is_migrated && self == Self::Guest {
            let saved = ["saved", "saved-again"].map(|name| folder.join(name));
            // Nothing goes on from where another run was.
            for file in saved.iter().filter(|file| file.exists()) {
                fs::remove_file(file)?;
            }
            let [first, second] = saved.map(|file| file.display().to_string());
            run.start.args(["--save", &first]);
            let resume = |from: &str, to: &str| {
                workspace.powervisor(&["boot", "--resume", from, "--save", to])
            };
            run.resume = Some([resume(&first, &second), resume(&second, &first)]);
        }
        let (console, why) = talk::talk(run)?;
        fs::write(folder.join(format!("{}.{self}", test.name)), &console)?;
        Ok(outcome::of_console(&console, &why))
    }

    /// QEMU as the suite's own runner starts it, but with a POWER9.
    fn qemu(self, suite: &Build, test: &Test) -> Result<Command> {
        let mut command = Command::new(QEMU);
        command.args(["-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot"]);
        command.args(["-accel", test.accelerator.as_deref().unwrap_or("tcg")]);
        if self == Self::Pseries {
            command.args(["-machine", MITIGATIONS, "-cpu", "power9"]);
            command.arg("-bios").arg(suite.program("boot_rom.bin")?);
        } else {
            command.args(["-machine", "powernv9"]);
            command.args(["-device", "ipmi-bmc-sim,id=bmc0"]);
            command.args(["-device", "isa-ipmi-bt,bmc=bmc0,irq=10"]);
        }
        command.arg("-kernel").arg(suite.program(&test.file)?);
        let memory = if self == Self::Pseries { test.mebibytes } else { POWERNV_MEBIBYTES };
        // Each a core of its own: QEMU's own code has threads of a core from 8.1 on.
        let processors = test.processors.to_string();
        command.args(["-smp", &processors, "-m", &memory.to_string()]);
        command.args(&test.options);
        let arguments = test.arguments(None)?;
        if !arguments.is_empty() {
            command.args(["-append", &arguments]);
        }
        Ok(command)
    }

    /// PowerVisor with the test in a partition, or the machine with nothing but the test.
    fn powervisor(
        self,
        workspace: &Workspace,
        suite: &Build,
        folder: &Path,
        test: &Test,
    ) -> Result<Command> {
        let program = suite.program(&test.file)?;
        let machine = folder.join("machine.toml");
        let midnight = if self.is_our_machine() {
            Some(write_machine(workspace, &machine, test.date())?)
        } else {
            None
        };
        let arguments = test.arguments(midnight)?;
        let mut command = workspace.powervisor(&["boot"]);
        if self == Self::Bare {
            let memory = format!("{POWERNV_MEBIBYTES} MiB");
            command.arg("--kernel").arg(program).args(["--append", &arguments]);
            command.args(["--memory", &memory]);
        } else {
            let file = folder.join("partition.toml");
            fs::write(
                &file,
                format!(
                    "[[partition]]\nname = \"test\"\npayload = {program:?}\nmemory = \"{} MiB\"\nvcpus = {}\nperformance_monitor = true\n\
                     arguments = {arguments:?}\n",
                    test.mebibytes, test.processors
                ),
            )?;
            command.arg(file);
        }
        if self.is_our_machine() {
            command.arg("--machine").arg(machine);
        } else {
            command.args(["--on", "qemu"]);
        }
        command.args(["--topology", self.topology(test)]);
        Ok(command)
    }

    /// Hardware threads: as many as a bare test asks for; for a guest some fewer, so that its vCPUs share them.
    fn topology(self, test: &Test) -> &'static str {
        match (self, test.processors) {
            (_, 1) => "1x1x1",
            (_, 2) => "1x1x2",
            (Self::Bare, 8) if test.topology.contains("threads=4") => "1x2x4",
            (Self::Bare, 8) => "1x8x1",
            (_, _) => "1x1x4",
        }
    }
}

/// Memory that QEMU's powernv9 has unless it is told otherwise.
const POWERNV_MEBIBYTES: u32 = 1024;

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pseries => "pseries",
            Self::Guest => "guest",
            Self::QemuGuest => "qemu-guest",
            Self::QemuBare => "qemu-bare",
            Self::Bare => "bare",
        })
    }
}

/// Frequency of core and time base in Hz. The tests wait for seconds by polling the time, and
/// take the frequency from the device tree: a second is so many instructions.
const FREQUENCY: u64 = 128_000_000;

/// Our POWER9, whose clock begins on that day or today; the seconds of that midnight.
fn write_machine(workspace: &Workspace, path: &Path, day: Option<&str>) -> Result<u64> {
    let day = match day {
        Some(day) => day.to_owned(),
        None => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
            date(&["-u", "-d", &format!("@{now}"), "+%Y-%m-%d"])?
        }
    };
    let midnight = date(&["-u", "-d", &day, "+%s"])?.parse::<u64>()?;
    let numbers: Vec<u32> = day.split('-').map(str::parse).collect::<Result<_, _>>()?;
    let [year, month, day] = numbers[..] else { anyhow::bail!("`{day}` is no date") };
    let from = workspace.root.join("machines/power9.toml");
    let text = fs::read_to_string(&from)?;
    let text = slower(&text, "core_frequency")?;
    let text = slower(&text, "timebase_frequency")?;
    let (before, rest) = text.split_once("[date]\n").context("the machine file has no date")?;
    let (_, after) = rest.split_once("\n\n").context("the machine file ends with the date")?;
    fs::write(
        path,
        format!("{before}[date]\nyear = {year}\nmonth = {month}\nday = {day}\n\n{after}"),
    )?;
    Ok(midnight)
}

/// The machine file with a clock of [`FREQUENCY`].
fn slower(text: &str, key: &str) -> Result<String> {
    let (before, rest) = text
        .split_once(&format!("{key} = {{ value = "))
        .with_context(|| format!("the machine file has no {key}"))?;
    let (_, after) = rest.split_once(',').context("a value without an end")?;
    Ok(format!("{before}{key} = {{ value = {FREQUENCY},{after}"))
}

fn date(arguments: &[&str]) -> Result<String> {
    let text = crate::workspace::output(Command::new("date").args(arguments))?;
    Ok(text.trim().to_owned())
}
