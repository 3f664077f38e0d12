//! The first root of a kernel: a shell on the console, its tools, and the torture set.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::cpio::{Archive, CHARACTER_DEVICE, FOLDER, PROGRAM};
use crate::workspace::run;

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
const SCRIPT: &str = include_str!("torture.sh");
const PROGRAM_SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/linux/torture.c");
const COMPILER: &str = "powerpc64le-linux-gnu-gcc";
/// Below `usr/include` and `usr/lib`.
const TRIPLET: &str = "powerpc64le-linux-gnu";

/// Writes `archive`, of the unpacked packages in `files` and of these modules.
pub(super) fn write(files: &Path, modules: &[PathBuf], archive: &Path) -> Result<()> {
    let places = ["bin/busybox", "usr/bin/busybox"].map(|place| files.join(place));
    let place = places.iter().find(|place| place.is_file());
    let shell = fs::read(place.context("the package has no busybox")?)?;
    let program = archive.with_extension("program");
    compile(files, &program)?;
    let mut content = Archive::default();
    for folder in ["bin", "dev", "mnt", "modules", "proc", "sys", "tmp"] {
        content.add(folder, FOLDER, (0, 0), &[]);
    }
    content.add("dev/console", CHARACTER_DEVICE, (5, 1), &[]);
    content.add("bin/busybox", PROGRAM, (0, 0), &shell);
    content.add("bin/torture", PROGRAM, (0, 0), SCRIPT.as_bytes());
    content.add("bin/torture-program", PROGRAM, (0, 0), &fs::read(&program)?);
    for module in modules {
        let name = module.file_name().and_then(|name| name.to_str()).context("a module's name")?;
        content.add(&format!("modules/{name}"), PROGRAM, (0, 0), &fs::read(module)?);
    }
    content.add("init", PROGRAM, (0, 0), INIT.as_bytes());
    fs::write(archive, content.finish())?;
    Ok(())
}

/// Compiles the torture program with the library in `files`; vectors of POWER9 wherever the compiler can.
fn compile(files: &Path, program: &Path) -> Result<()> {
    let library = files.join("usr/lib").join(TRIPLET);
    let includes = files.join("usr/include");
    let mut command = Command::new(COMPILER);
    command.args(["-O3", "-mcpu=power9", "-static", "-Wall", "-Wextra", "-Werror"]);
    for folder in [includes.join(TRIPLET), includes] {
        command.arg("-isystem").arg(folder);
    }
    command.arg("-B").arg(&library).arg("-L").arg(&library);
    run(command.arg("-o").arg(program).arg(PROGRAM_SOURCE))
}
