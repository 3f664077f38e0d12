//! The workspace as cargo sees it, and running programs in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Where things are.
#[derive(Clone, Debug)]
pub(crate) struct Workspace {
    /// The folder with the workspace's Cargo.toml.
    pub(crate) root: PathBuf,
    /// Where cargo builds.
    pub(crate) target: PathBuf,
    /// The crates of the workspace.
    pub(crate) packages: Vec<Package>,
    /// Which build of the powervisor command runs.
    build: &'static str,
}

/// A crate of the workspace.
#[derive(Clone, Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The crates of the workspace that it uses, for any purpose.
    pub(crate) uses: Vec<String>,
    /// The programs that it is built to.
    pub(crate) programs: Vec<String>,
    /// What it can be built with besides.
    pub(crate) features: Vec<String>,
    /// Where it lies, from the root of the workspace.
    pub(crate) folder: PathBuf,
}

impl Package {
    /// Whether it can be built with this feature.
    pub(crate) fn has_feature(&self, feature: &str) -> bool {
        self.features.iter().any(|known| known == feature)
    }

    /// Whether it lies in `guests/`.
    pub(crate) fn is_guest(&self) -> bool {
        self.folder.starts_with("guests")
    }
}

impl Workspace {
    /// Asks cargo.
    pub(crate) fn load() -> Result<Self> {
        let mut command = cargo();
        command.args(["metadata", "--no-deps", "--format-version", "1"]);
        // The tasks work from any folder.
        command.current_dir(env!("CARGO_MANIFEST_DIR")).stderr(Stdio::inherit());
        let output = command.output().context("cargo cannot be started")?;
        if !output.status.success() {
            bail!("cargo metadata failed");
        }
        let metadata: Value =
            serde_json::from_slice(&output.stdout).context("cargo metadata is not JSON")?;
        let path = |key: &str| {
            metadata[key]
                .as_str()
                .map(PathBuf::from)
                .with_context(|| format!("cargo metadata has no {key}"))
        };
        let packages = metadata["packages"].as_array().context("cargo metadata has no packages")?;
        let root = path("workspace_root")?;
        Ok(Self {
            target: path("target_directory")?,
            packages: packages
                .iter()
                .map(|found| package(found, &root))
                .collect::<Option<_>>()
                .context("a package has no name")?,
            root,
            build: "release",
        })
    }

    /// The folder with the bare-metal programs.
    pub(crate) fn images(&self) -> PathBuf {
        self.target.join("images")
    }

    /// Cargo, to be run in this workspace.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = cargo();
        command.args(arguments).current_dir(&self.root);
        command
    }

    /// The same, where the build of the powervisor command that tests use runs.
    pub(crate) fn of_tests(&self) -> Self {
        Self { build: "debug", ..self.clone() }
    }

    /// Where the release build of the powervisor command lies.
    pub(crate) fn release(&self) -> PathBuf {
        self.target.join("release/powervisor")
    }

    /// The powervisor command.
    pub(crate) fn powervisor(&self, arguments: &[&str]) -> Command {
        self.command(&self.target.join(self.build).join("powervisor"), arguments)
    }

    /// A build of the powervisor command, with our images.
    pub(crate) fn command(&self, powervisor: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(powervisor);
        command.args(arguments).current_dir(&self.root).env("POWERVISOR_IMAGES", self.images());
        command
    }
}

fn package(package: &Value, root: &Path) -> Option<Package> {
    // Path dependencies are the workspace's own crates.
    let own = |dependency: &&Value| dependency["path"].is_string();
    let name = |value: &Value| value["name"].as_str().map(str::to_owned);
    let uses =
        package["dependencies"].as_array()?.iter().filter(own).map(name).collect::<Option<_>>()?;
    let is_program = |target: &&Value| {
        target["kind"].as_array().is_some_and(|kinds| kinds.contains(&"bin".into()))
    };
    let programs = package["targets"]
        .as_array()?
        .iter()
        .filter(is_program)
        .map(name)
        .collect::<Option<_>>()?;
    let features = package["features"].as_object()?.keys().cloned().collect();
    let folder = Path::new(package["manifest_path"].as_str()?).parent()?;
    let folder = folder.strip_prefix(root).ok()?.to_owned();
    Some(Package { name: name(package)?, uses, programs, features, folder })
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs a command to its end; fails if it does.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status =
        command.status().with_context(|| format!("{} cannot be started", shown(command)))?;
    if !status.success() {
        bail!("{} failed with {status}", shown(command));
    }
    Ok(())
}

/// Runs a command to its end and returns what it printed; fails if it does.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output =
        command.output().with_context(|| format!("{} cannot be started", shown(command)))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("{} failed with {}: {}", shown(command), output.status, errors.trim());
    }
    String::from_utf8(output.stdout)
        .with_context(|| format!("{} did not print text", shown(command)))
}

/// Whether PATH leads to a program.
pub(crate) fn is_in_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
