//! The first root of a kernel: busybox, programs and modules beside it, and what the kernel starts of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::cpio::{Archive, CHARACTER_DEVICE, FOLDER, LINK, PROGRAM};
use crate::workspace::run;

/// A shell on the console, and power-off behind it.
const SHELL: &str = "#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
uname -a
sh
poweroff -f
";
const SCRIPT: &str = include_str!("torture.sh");
/// What the script runs with Debian's interpreter and compiler.
const PYTHON: &str = include_str!("torture.py");
const COMPILED: &str = include_str!("compiled.c");
/// What no program of an unpacked package needs to run.
const LEFT_OUT: [&str; 6] = [
    "etc",
    "usr/include",
    "usr/sbin",
    "usr/share",
    "usr/lib/powerpc64le-linux-gnu/gconv",
    "usr/lib/python3.11/pydoc_data",
];
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/linux");
/// The processor of our machine, as both it and the compiler call it.
pub(super) const POWER9: &str = "power9";
const TORTURE: &str = "torture.c";
const COMPILER: &str = "powerpc64le-linux-gnu-gcc";
/// Below `usr/include` and `usr/lib`.
const TRIPLET: &str = "powerpc64le-linux-gnu";

/// What a kernel finds beside busybox.
pub(super) struct Root<'a> {
    /// What it starts.
    pub(super) init: &'a str,
    /// Programs and scripts in `bin`, by name.
    pub(super) programs: Vec<(&'a str, Vec<u8>)>,
    /// Files, which come into `modules`.
    pub(super) modules: Vec<PathBuf>,
    /// A folder of unpacked packages, which come where they belong.
    pub(super) packages: Option<PathBuf>,
}

impl<'a> Root<'a> {
    /// A shell on the console, with the torture set, which is compiled in `folder` of the unpacked packages in `files`.
    pub(super) fn with_shell(files: &Path, folder: &Path) -> Result<Self> {
        let program = compile(files, TORTURE, POWER9, &folder.join("torture"))?;
        let programs = vec![
            ("torture", SCRIPT.into()),
            ("torture-program", program),
            ("torture.py", PYTHON.into()),
            ("compiled.c", COMPILED.into()),
        ];
        Ok(Self { init: SHELL, programs, modules: Vec::new(), packages: None })
    }

    /// The same with the programs of `packages`, which the torture set tries if they are there.
    pub(super) fn with_programs(self, packages: PathBuf) -> Self {
        Self { packages: Some(packages), ..self }
    }

    /// Adds programs that are files, by the names that they get.
    pub(super) fn add(&mut self, files: &'a BTreeMap<String, PathBuf>) -> Result<()> {
        for (name, file) in files {
            let content = fs::read(file).with_context(|| format!("reading {}", file.display()))?;
            self.programs.push((name, content));
        }
        Ok(())
    }

    /// Writes `archive`, with this busybox.
    pub(super) fn write(&self, busybox: &Path, archive: &Path) -> Result<()> {
        let shell = fs::read(busybox)?;
        let mut content = Archive::default();
        for folder in ["bin", "dev", "mnt", "modules", "proc", "sys", "tmp"] {
            content.add(folder, FOLDER, (0, 0), &[]);
        }
        content.add("dev/console", CHARACTER_DEVICE, (5, 1), &[]);
        content.add("bin/busybox", PROGRAM, (0, 0), &shell);
        for (name, program) in &self.programs {
            content.add(&format!("bin/{name}"), PROGRAM, (0, 0), program);
        }
        for module in &self.modules {
            let name =
                module.file_name().and_then(|name| name.to_str()).context("a module's name")?;
            content.add(&format!("modules/{name}"), PROGRAM, (0, 0), &fs::read(module)?);
        }
        content.add("init", PROGRAM, (0, 0), self.init.as_bytes());
        if let Some(packages) = &self.packages {
            add_tree(&mut content, packages, packages)?;
        }
        fs::write(archive, content.finish())?;
        Ok(())
    }
}

/// Adds what is in `folder`, a part of the unpacked packages in `packages`.
fn add_tree(content: &mut Archive, packages: &Path, folder: &Path) -> Result<()> {
    let mut paths = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()
        .with_context(|| format!("reading {}", folder.display()))?;
    paths.sort();
    for path in paths {
        let inside = path.strip_prefix(packages)?;
        let name = inside.to_str().context("a file's name")?;
        if LEFT_OUT.iter().any(|left_out| inside.starts_with(left_out)) {
            continue;
        }
        if path.is_symlink() {
            let to = fs::read_link(&path)?;
            content.add(name, LINK, (0, 0), to.to_str().context("a link's end")?.as_bytes());
        } else if path.is_dir() {
            content.add(name, FOLDER, (0, 0), &[]);
            add_tree(content, packages, &path)?;
        } else {
            content.add(name, PROGRAM, (0, 0), &fs::read(&path)?);
        }
    }
    Ok(())
}

/// Compiles a C program of this folder into `program` with the library in `files`, with what `processor`, a word of the
/// compiler's, has wherever the compiler can; what it makes.
pub(super) fn compile(
    files: &Path,
    source: &str,
    processor: &str,
    program: &Path,
) -> Result<Vec<u8>> {
    let library = files.join("usr/lib").join(TRIPLET);
    let includes = files.join("usr/include");
    let mut command = Command::new(COMPILER);
    command.args(["-O3", "-static", "-Wall", "-Wextra", "-Werror"]);
    command.arg(format!("-mcpu={processor}"));
    for folder in [includes.join(TRIPLET), includes] {
        command.arg("-isystem").arg(folder);
    }
    command.arg("-B").arg(&library).arg("-L").arg(&library);
    run(command.arg("-o").arg(program).arg(Path::new(SOURCES).join(source)))?;
    Ok(fs::read(program)?)
}
