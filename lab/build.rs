//! Lists what the tree has in a file each: payloads, calibration rows and experiments. Who adds one adds its
//! file, and no list.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a crate lies in the workspace");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where"));
    fs::write(out.join("guests.rs"), guests(&root.join("guests"))?)?;
    for processor in ["power8", "power9"] {
        let files = texts(root, &format!("calibration/{processor}"))?;
        fs::write(out.join(processor).with_extension("rs"), files)?;
    }
    fs::write(out.join("experiments.rs"), texts(root, "experiments")?)
}

/// The names of the payloads, as a slice of Rust: a payload is a guest that uses `guest-rt`. The build of the images
/// names programs by their folders too.
fn guests(folder: &Path) -> io::Result<String> {
    let mut list = "&[".to_owned();
    for guest in sorted(folder)? {
        let manifest = guest.join("Cargo.toml");
        println!("cargo:rerun-if-changed={}", manifest.display());
        if fs::read_to_string(manifest)?.contains("\nguest-rt.workspace") {
            write!(list, "{:?}, ", guest.file_name().expect("a folder's name"))
                .expect("a string grows");
        }
    }
    Ok(list + "]")
}

/// Path and text of each file, as a slice of Rust.
fn texts(root: &Path, folder: &str) -> io::Result<String> {
    let mut list = "&[".to_owned();
    for file in sorted(&root.join(folder))? {
        let name = file.file_name().expect("a file's name").to_string_lossy();
        let path = format!("{folder}/{name}");
        write!(list, "({path:?}, include_str!({file:?})), ").expect("a string grows");
    }
    Ok(list + "]")
}

/// What is in a folder; a change of it runs this again.
fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut found =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    found.sort();
    Ok(found)
}
