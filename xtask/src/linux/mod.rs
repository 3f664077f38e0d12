//! `cargo xtask linux`: a kernel and a shell that none of us wrote, for our machine.
//!
//! Debian's package client fetches and checks them, with its own state in target/linux: the system's
//! architecture and its lists stay as they are. Nothing of them is committed.

mod boot;
mod cpio;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::outcome::Outcome;
use crate::run::build;
use crate::workspace::{Workspace, run};
use cpio::{Archive, CHARACTER_DEVICE, FOLDER, PROGRAM};

const ARCHITECTURE: &str = "ppc64el";
/// Depends on the kernel of the release.
const KERNEL: &str = "linux-image-powerpc64le";
const SHELL: &str = "busybox-static";
/// Where Debian's own sources are named.
const SOURCES: [&str; 2] = ["/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list"];

/// What the kernel starts: a shell on the console, and power-off behind it.
const INIT: &str = "#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
uname -a
sh
poweroff -f
";

/// What to do with them.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct Arguments {
    /// Boot them on our machine and on QEMU, type a few commands into each, and compare the answers.
    #[arg(long)]
    boot: bool,
}

/// Fetches kernel and shell, makes an initramfs of the shell, and boots them if asked to.
pub(crate) fn linux(workspace: &Workspace, arguments: Arguments) -> Result<()> {
    let (image, initramfs) = fetch(workspace)?;
    if arguments.boot {
        build(workspace)?;
        println!("{}", boot::boot(workspace, &image, &initramfs)?);
        return Ok(());
    }
    println!("target/release/powervisor boot --kernel {} \\", image.display());
    println!("    --initrd {} --append console=hvc0", initramfs.display());
    Ok(())
}

/// As a step of the nightly run: skipped where the packages cannot be reached.
pub(crate) fn nightly(workspace: &Workspace) -> Result<Outcome> {
    match fetch(workspace) {
        Err(error) => Ok(Outcome::Skipped(format!("NOT RUN, there is no kernel: {error:#}"))),
        Ok((image, initramfs)) => {
            build(workspace)?;
            boot::boot(workspace, &image, &initramfs).map(Outcome::Passed)
        }
    }
}

/// Fetches; the kernel and the initramfs.
fn fetch(workspace: &Workspace) -> Result<(PathBuf, PathBuf)> {
    let client = Client::new(workspace.target.join("linux"))?;
    // Some of the lists may be missing while others are enough.
    let is_updated = client.command("apt-get").arg("update").status()?.success();
    let kernel = client.kernel().with_context(|| {
        let hint = if is_updated { "" } else { "; `apt-get update` failed, see above" };
        format!("the package client finds no {KERNEL} for {ARCHITECTURE}{hint}")
    })?;
    let packages = client.folder.join("packages");
    fs::create_dir_all(&packages)?;
    for old in fs::read_dir(&packages)? {
        fs::remove_file(old?.path())?;
    }
    let mut command = client.command("apt-get");
    run(command.args(["download", &kernel, SHELL]).current_dir(&packages))?;
    let files = client.folder.join("files");
    if files.exists() {
        fs::remove_dir_all(&files)?;
    }
    let mut names = Vec::new();
    for package in fs::read_dir(&packages)? {
        let package = package?;
        run(Command::new("dpkg-deb").arg("-x").arg(package.path()).arg(&files))?;
        names.push(package.file_name().to_string_lossy().replace("%3a", ":"));
    }
    let kernel = kernel.trim_start_matches("linux-image-");
    let image = files.join("boot").join(format!("vmlinux-{kernel}"));
    let initramfs = client.folder.join("initramfs");
    fs::write(&initramfs, archive(&files)?)?;
    names.sort();
    println!("{}\n", names.join("\n"));
    Ok((image, initramfs))
}

fn archive(files: &Path) -> Result<Vec<u8>> {
    let places = ["bin/busybox", "usr/bin/busybox"].map(|place| files.join(place));
    let place = places.iter().find(|place| place.is_file());
    let shell = fs::read(place.context("the package has no busybox")?)?;
    let mut archive = Archive::default();
    for folder in ["bin", "dev", "proc", "sys", "tmp"] {
        archive.add(folder, FOLDER, (0, 0), &[]);
    }
    archive.add("dev/console", CHARACTER_DEVICE, (5, 1), &[]);
    archive.add("bin/busybox", PROGRAM, (0, 0), &shell);
    archive.add("init", PROGRAM, (0, 0), INIT.as_bytes());
    Ok(archive.finish())
}

/// The package client with a state of its own.
struct Client {
    folder: PathBuf,
    options: Vec<String>,
}

impl Client {
    fn new(folder: PathBuf) -> Result<Self> {
        let Some(sources) = SOURCES.into_iter().find(|file| Path::new(file).is_file()) else {
            bail!("neither {} nor {} is there: the task needs Debian", SOURCES[0], SOURCES[1]);
        };
        let state = folder.join("apt");
        fs::create_dir_all(state.join("lists/partial"))?;
        fs::create_dir_all(state.join("cache/archives/partial"))?;
        // Nothing is installed, as far as this client knows.
        fs::write(state.join("status"), "")?;
        let state = state.display();
        let options = vec![
            format!("Dir::State={state}"),
            format!("Dir::State::Lists={state}/lists"),
            format!("Dir::State::status={state}/status"),
            format!("Dir::Cache={state}/cache"),
            format!("Dir::Etc::sourcelist={sources}"),
            "Dir::Etc::sourceparts=-".to_owned(),
            format!("APT::Architecture={ARCHITECTURE}"),
            format!("APT::Architectures={ARCHITECTURE}"),
            // The folder need not be open to apt's own user.
            "APT::Sandbox::User=root".to_owned(),
            "Acquire::Languages=none".to_owned(),
        ];
        Ok(Self { folder, options })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for option in &self.options {
            command.args(["-o", option]);
        }
        command
    }

    /// The name of the newest kernel's package.
    fn kernel(&self) -> Result<String> {
        let output = self.command("apt-cache").args(["depends", "--important", KERNEL]).output()?;
        let text = String::from_utf8(output.stdout)?;
        let depends = text.lines().find_map(|line| line.trim().strip_prefix("Depends: "));
        depends.map(str::to_owned).context("it depends on nothing")
    }
}
