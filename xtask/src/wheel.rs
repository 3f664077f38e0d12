//! The Python wheel: the command with its images, and the package `powervisor` of `python/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::images::images;
use crate::run::build;
use crate::setup::setup_for_wheel;
use crate::workspace::{Workspace, run};

/// What the tools of the package are, for pip.
const REQUIREMENTS: &str = "requirements.txt";

/// Builds the wheel from the release build of the command, and says where it lies.
pub(crate) fn wheel(workspace: &Workspace) -> Result<PathBuf> {
    setup_for_wheel()?;
    images(workspace)?;
    build(workspace)?;
    stage(workspace)?;
    let tools = Tools::install(workspace)?;
    let wheels = workspace.target.join("wheel");
    for old in wheels_in(&wheels)? {
        fs::remove_file(&old).with_context(|| format!("removing {}", old.display()))?;
    }
    let mut maturin = tools.run("maturin");
    run(maturin.args(["build", "--quiet", "--release", "--out"]).arg(&wheels))?;
    let built = wheels_in(&wheels)?.pop().context("maturin made no wheel")?;
    println!("wheel: {}", built.display());
    Ok(built)
}

/// Checks the package, and tests it as it is installed from the wheel.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    let wheel = wheel(workspace)?;
    let tools = Tools::install(workspace)?;
    run(tools.run("ruff").args(["check", "--quiet", "."]))?;
    run(tools.run("ruff").args(["format", "--quiet", "--check", "."]))?;
    run(tools.run("mypy").args(["--no-error-summary", "powervisor"]))?;
    let mut install = tools.run("pip");
    install.args(["install", "--quiet", "--disable-pip-version-check", "--force-reinstall"]);
    run(install.arg("--no-deps").arg(wheel))?;
    // Away from `python/`, where the package would be found that is not installed.
    let mut pytest = tools.run("pytest");
    pytest.args(["--quiet", "--import-mode=importlib", "-p", "no:cacheprovider"]);
    run(pytest.arg(workspace.root.join("python/tests")).current_dir(&workspace.target))
}

/// Puts what the wheel carries beside the package where maturin takes it from: below the prefix of an installation.
fn stage(workspace: &Workspace) -> Result<()> {
    let prefix = workspace.target.join("wheel/data/data");
    if prefix.exists() {
        fs::remove_dir_all(&prefix).with_context(|| format!("emptying {}", prefix.display()))?;
    }
    let images = prefix.join("share/powervisor/images");
    let manual = prefix.join("share/man/man1");
    for folder in [&images, &manual] {
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    }
    for image in fs::read_dir(workspace.images())? {
        let image = image?;
        if image.file_type()?.is_dir() {
            // Kernels of others do not come along.
            continue;
        }
        fs::copy(image.path(), images.join(image.file_name()))
            .with_context(|| format!("copying {}", image.path().display()))?;
    }
    run(workspace.powervisor(&["manual", "--out"]).arg(manual))
}

fn wheels_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    Ok(paths.into_iter().filter(|path| path.extension().is_some_and(|end| end == "whl")).collect())
}

/// A virtual environment of Python with the package's tools.
struct Tools {
    programs: PathBuf,
    /// The folder of the package.
    package: PathBuf,
}

impl Tools {
    /// Makes it, unless it is there with what REQUIREMENTS names.
    fn install(workspace: &Workspace) -> Result<Self> {
        let folder = workspace.target.join("python/venv");
        let tools = Self { programs: folder.join("bin"), package: workspace.root.join("python") };
        let wanted = fs::read_to_string(tools.package.join(REQUIREMENTS))?;
        let stamp = folder.join(REQUIREMENTS);
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
            return Ok(tools);
        }
        println!("wheel: installing its tools into {} ...", folder.display());
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let mut install = tools.run("pip");
        install.args(["install", "--quiet", "--disable-pip-version-check", "--requirement"]);
        run(install.arg(REQUIREMENTS))?;
        fs::write(stamp, wanted)?;
        Ok(tools)
    }

    /// One of its programs, in the folder of the package.
    fn run(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.current_dir(&self.package).env("RUFF_NO_CACHE", "true");
        command.env("MYPY_CACHE_DIR", self.programs.join("../mypy"));
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }
}
