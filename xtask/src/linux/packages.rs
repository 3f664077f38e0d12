//! Debian's package client with a state of its own, for another architecture and any suite.
//!
//! It checks the signature of a suite's lists and the sum of each package, as it does for the system.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::workspace::{output, run};

const ARCHITECTURE: &str = "ppc64el";
/// Where Debian's own sources are named.
const SYSTEM_SOURCES: [&str; 2] =
    ["/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list"];
/// Debian's keys, in the package debian-archive-keyring.
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Below the files of a kernel's package: the modules that are kept of it.
pub(super) const MODULES: &str = "modules";
/// What Debian 12's kernel needs for a file system on a virtual SCSI disk, in the order in which it takes them.
pub(super) const DISK_MODULES: [&str; 15] = [
    "crct10dif_common",
    "crc-t10dif",
    "crc64",
    "crc64-rocksoft",
    "t10-pi",
    "sd_mod",
    "crct10dif_generic",
    "crc64_rocksoft_generic",
    "crc32c_generic",
    "jbd2",
    "mbcache",
    "crc16",
    "ext4",
    "scsi_transport_srp",
    "ibmvscsi",
];

/// What KVM HV needs, in the order in which the kernel takes them.
pub(super) const KVM_MODULES: [&str; 2] = ["kvm", "kvm-hv"];

/// How the packages of kernels begin.
const IMAGE: &str = "linux-image-";

/// The package client for a suite.
pub(super) struct Client {
    folder: PathBuf,
    suite: String,
    options: Vec<String>,
    /// Whether all lists are up to date.
    is_updated: bool,
}

impl Client {
    /// For our machine. Its state is in a folder of `folder` with the suite's name.
    pub(super) fn new(folder: &Path, suite: &str) -> Result<Self> {
        Self::of(folder.join(suite), suite, ARCHITECTURE)
    }

    /// For the machine that it runs on.
    pub(super) fn for_this_machine(folder: &Path, suite: &str) -> Result<Self> {
        let architecture = output(Command::new("dpkg").arg("--print-architecture"))?;
        Self::of(folder.join(format!("{suite}-here")), suite, architecture.trim())
    }

    fn of(folder: PathBuf, suite: &str, architecture: &str) -> Result<Self> {
        let state = folder.join("apt");
        fs::create_dir_all(state.join("lists/partial"))?;
        fs::create_dir_all(state.join("cache/archives/partial"))?;
        // Nothing is installed, as far as this client knows.
        fs::write(state.join("status"), "")?;
        let list = format!("deb [signed-by={KEYS}] {} {suite} main\n", mirror()?);
        fs::write(state.join("sources.list"), list)?;
        let state = state.display();
        let options = vec![
            format!("Dir::State={state}"),
            format!("Dir::State::Lists={state}/lists"),
            format!("Dir::State::status={state}/status"),
            format!("Dir::Cache={state}/cache"),
            format!("Dir::Etc::sourcelist={state}/sources.list"),
            "Dir::Etc::sourceparts=-".to_owned(),
            format!("APT::Architecture={architecture}"),
            format!("APT::Architectures={architecture}"),
            // The folder need not be open to apt's own user.
            "APT::Sandbox::User=root".to_owned(),
            "Acquire::Languages=none".to_owned(),
        ];
        let mut client = Self { folder, suite: suite.to_owned(), options, is_updated: false };
        // Old lists may be enough.
        client.is_updated = client.command("apt-get").args(["-q", "update"]).status()?.success();
        Ok(client)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for option in &self.options {
            command.args(["-o", option]);
        }
        command
    }

    /// Kernels of the kind of which the package `name` depends on the newest; that one is first, and older ones that
    /// the lists still have follow.
    pub(super) fn kernels(&self, name: &str) -> Result<Vec<String>> {
        let text = output(self.command("apt-cache").args(["depends", "--important", name]));
        let text = text.unwrap_or_default();
        let depends = text.lines().find_map(|line| line.trim().strip_prefix("Depends: "));
        let hint = if self.is_updated { "" } else { "; `apt-get update` failed, see above" };
        let newest = depends.with_context(|| {
            format!("the package client finds no {name} for {ARCHITECTURE} in {}{hint}", self.suite)
        })?;
        let names = output(self.command("apt-cache").args(["pkgnames", IMAGE]))?;
        let mut older: Vec<_> = names
            .lines()
            .filter(|&other| other != newest)
            .filter_map(|other| Some((version(other, name)?, other)))
            .collect();
        older.sort_unstable();
        let older = older.into_iter().rev().map(|(_, name)| name);
        Ok([newest].into_iter().chain(older).map(str::to_owned).collect())
    }

    /// Downloads the first of the kernels that the mirror has, as [`Client::fetch`] does: its package and its path. A
    /// mirror may lack the one that its lists call the newest.
    pub(super) fn fetch_kernel<'a>(&self, kernels: &'a [String]) -> Result<(&'a str, PathBuf)> {
        let fetch = |kernel: &'a String| {
            let files = self.fetch(kernel.trim_start_matches("linux-"), &[kernel])?;
            Ok((kernel.as_str(), files))
        };
        let (oldest, newer) = kernels.split_last().expect("there is a newest one");
        for kernel in newer {
            match fetch(kernel) {
                Err(failure) => eprintln!("{failure:#}; trying the next older kernel"),
                fetched => return fetched,
            }
        }
        fetch(oldest)
    }

    /// As [`Client::fetch`], a package and all that it depends on.
    pub(super) fn fetch_with_all_it_needs(&self, name: &str, package: &str) -> Result<PathBuf> {
        let mut command = self.command("apt-get");
        command.args(["-q", "--no-install-recommends", "--print-uris", "install", package]);
        let uris = output(&mut command)
            .with_context(|| format!("the package client finds no {package}"))?;
        // As in `fetch`; the file's name begins with the package's.
        let files = uris.lines().filter(|line| line.starts_with('\''));
        let packages = files.filter_map(|line| line.split(' ').nth(1)?.split('_').next());
        self.fetch(name, &packages.collect::<Vec<_>>())
    }

    /// Downloads packages that are not there yet and unpacks them into the folder `name`; its path.
    pub(super) fn fetch(&self, name: &str, packages: &[&str]) -> Result<PathBuf> {
        let archives = self.folder.join("packages").join(name);
        fs::create_dir_all(&archives)?;
        let mut command = self.command("apt-get");
        let uris = output(command.args(["-q", "download", "--print-uris"]).args(packages))
            .with_context(|| format!("the package client finds none of {}", packages.join(", ")))?;
        // A line has the place, the file's name, its size and its sum.
        let wanted: Vec<_> = uris.lines().filter_map(|line| line.split(' ').nth(1)).collect();
        for old in fs::read_dir(&archives)? {
            let old = old?;
            if !wanted.iter().any(|name| old.file_name() == **name) {
                fs::remove_file(old.path())?;
            }
        }
        let mut command = self.command("apt-get");
        run(command.args(["-q", "download"]).args(packages).current_dir(&archives))?;
        let files = self.folder.join(name);
        if files.exists() {
            fs::remove_dir_all(&files)?;
        }
        for archive in wanted {
            unpack(&archives.join(archive), &files)
                .with_context(|| format!("unpacking {archive}"))?;
            println!("{}", archive.replace("%3a", ":"));
        }
        for modules in ["lib/modules", "usr/lib/modules"] {
            if files.join(modules).exists() {
                gather_modules(&files.join(modules), &files.join(MODULES))?;
                fs::remove_dir_all(files.join(modules))?;
            }
        }
        Ok(files)
    }
}

/// The numbers in a kernel's package, if it is of the kind of which `newest` depends on the newest.
fn version(package: &str, newest: &str) -> Option<Vec<u64>> {
    let kind = newest.strip_prefix(IMAGE)?;
    let version = package.strip_prefix(IMAGE)?.strip_suffix(kind)?.strip_suffix('-')?;
    let is_version = version.starts_with(|first: char| first.is_ascii_digit())
        && version.matches('.').count() == 2;
    let numbers = version.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok());
    is_version.then(|| numbers.collect())
}

/// Unpacks a package into the folder `files`, but of a kernel's modules only those that are kept: all of them take 240
/// MB.
fn unpack(archive: &Path, files: &Path) -> Result<()> {
    fs::create_dir_all(files)?;
    let mut dpkg = Command::new("dpkg-deb")
        .arg("--fsys-tarfile")
        .arg(archive)
        .stdout(Stdio::piped())
        .spawn()?;
    let output = dpkg.stdout.take().context("dpkg-deb has an output")?;
    let unpacked = tar::Archive::new(output).entries().and_then(|mut entries| {
        entries.try_for_each(|entry| {
            let mut entry = entry?;
            let path = entry.path()?;
            let is_module = path.to_string_lossy().contains("/lib/modules/");
            if !is_module || is_kept(&path) {
                entry.unpack_in(files)?;
            }
            Ok(())
        })
    });
    // What dpkg-deb says comes first, since an archive that ends early is only what follows from it.
    let status = dpkg.wait()?;
    unpacked.with_context(|| format!("dpkg-deb ended with {status}"))?;
    ensure!(status.success(), "dpkg-deb ended with {status}");
    Ok(())
}

/// Whether a file is one of [`DISK_MODULES`] and [`KVM_MODULES`].
fn is_kept(path: &Path) -> bool {
    let mut modules = DISK_MODULES.iter().chain(&KVM_MODULES);
    path.extension().is_some_and(|extension| extension == "ko")
        && modules.any(|module| path.file_stem().is_some_and(|stem| stem == *module))
}

/// Moves the modules in a tree of folders into one folder.
fn gather_modules(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.path().is_dir() {
            gather_modules(&entry.path(), to)?;
        } else if is_kept(&entry.path()) {
            fs::rename(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// Where the system gets its own packages from.
fn mirror() -> Result<String> {
    let texts = SYSTEM_SOURCES.into_iter().filter_map(|file| fs::read_to_string(file).ok());
    let words = texts.flat_map(|text| {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        lines
            .flat_map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    });
    match words.into_iter().find(|word| word.starts_with("http")) {
        Some(mirror) => Ok(mirror),
        None => bail!(
            "neither {} nor {} names a mirror: the task needs Debian",
            SYSTEM_SOURCES[0],
            SYSTEM_SOURCES[1]
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{is_kept, version};

    #[test]
    fn only_modules_that_something_loads_are_kept() {
        let folder = "./lib/modules/6.1.0-54-powerpc64le";
        for (name, expected) in [
            ("kernel/fs/ext4/ext4.ko", true),
            ("kernel/arch/powerpc/kvm/kvm-hv.ko", true),
            ("kernel/arch/powerpc/kvm/kvm-pr.ko", false),
            ("kernel/fs/ext4/ext4.ko.xz", false),
            ("modules.builtin", false),
        ] {
            assert_eq!(is_kept(Path::new(&format!("{folder}/{name}"))), expected, "{name}");
        }
    }

    #[test]
    fn kernels_are_told_by_kind_and_version() {
        let of = |package| version(package, "linux-image-powerpc64le");
        assert_eq!(of("linux-image-6.12.113+deb13-powerpc64le"), Some(vec![6, 12, 113, 13]));
        assert_eq!(of("linux-image-6.1.0-54-powerpc64le"), Some(vec![6, 1, 0, 54]));
        for other in [
            "linux-image-6.12.113+deb13-powerpc64le-64k",
            "linux-image-6.12-powerpc64le",
            "linux-image-powerpc64le",
            "linux-image-rt.1.2-powerpc64le",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
        let of = |package| version(package, "linux-image-powerpc64le-64k");
        assert!(
            of("linux-image-6.12.113+deb13-powerpc64le-64k")
                > of("linux-image-6.12.95+deb13-powerpc64le-64k")
        );
    }
}
