//! Passes the linker script, and the images that the file holds, when it is built for the machine.

use std::path::{Path, PathBuf};
use std::{env, fs};

use object::{Object as _, ObjectSegment as _};

/// The folder with the images, and their names.
const FOLDER: &str = "POWERVISOR_PARTS";
const PARTS: [&str; 2] = ["hypervisor-power9", "hypervisor-power8"];

fn main() {
    println!("cargo:rerun-if-changed=both.ld");
    println!("cargo:rerun-if-env-changed={FOLDER}");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("none") {
        return;
    }
    let [own, out] = ["CARGO_MANIFEST_DIR", "OUT_DIR"]
        .map(|name| PathBuf::from(env::var_os(name).expect("cargo sets it")));
    let folder = env::var(FOLDER).expect("`cargo xtask images` says where the images are");
    println!("cargo:rustc-link-arg-bins=-T{}", own.join("both.ld").display());
    println!("cargo:rustc-link-arg-bins=--no-dynamic-linker");
    println!("cargo:rustc-link-arg-bins=--format=binary");
    for name in PARTS {
        let part = Path::new(&folder).join(name);
        println!("cargo:rerun-if-changed={}", part.display());
        let cut = out.join(name);
        fs::write(&cut, without_symbols(&part)).expect("cargo's folder can be written");
        println!("cargo:rustc-link-arg-bins={}", cut.display());
    }
    println!("cargo:rustc-link-arg-bins=--format=default");
}

/// An image up to the end of what runs.
fn without_symbols(image: &Path) -> Vec<u8> {
    let mut bytes = fs::read(image).unwrap_or_else(|error| panic!("{}: {error}", image.display()));
    let elf =
        object::File::parse(&*bytes).unwrap_or_else(|error| panic!("{}: {error}", image.display()));
    let ends =
        elf.segments().map(|segment| segment.file_range()).map(|(start, bytes)| start + bytes);
    let end = ends.max().and_then(|end| usize::try_from(end).ok());
    bytes.truncate(end.unwrap_or_else(|| panic!("{} has no segment", image.display())));
    bytes
}
