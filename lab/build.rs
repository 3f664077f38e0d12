//! Lists what the tree has in a file each: payloads, calibration rows and experiments. Who adds one adds its
//! file, and no list.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a crate lies in the workspace");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where"));
    let (payloads, kernels) = guests(&root.join("guests"))?;
    fs::write(out.join("guests.rs"), payloads)?;
    fs::write(out.join("bare.rs"), kernels)?;
    for processor in ["power8", "power9"] {
        let files = texts(root, &format!("calibration/{processor}"))?;
        fs::write(out.join(processor).with_extension("rs"), files)?;
    }
    fs::write(out.join("experiments.rs"), texts(root, "experiments")?)
}

/// A folder of `guests/` with a kernel that is no experiment's: there is one for each processor.
const MICRO_BENCHMARKS: &str = "calibrate";

/// The names of the payloads, and of the kernels that run bare, each as a slice of Rust: a payload is a guest that uses
/// `guest-rt`, and one with the feature `bare` is such a kernel, too. The build of the images names programs by their
/// folders too.
fn guests(folder: &Path) -> io::Result<(String, String)> {
    let (mut payloads, mut kernels) = ("&[".to_owned(), "&[".to_owned());
    for guest in sorted(folder)? {
        let manifest = guest.join("Cargo.toml");
        println!("cargo:rerun-if-changed={}", manifest.display());
        let name = guest.file_name().expect("a folder's name");
        let text = fs::read_to_string(manifest)?;
        if text.contains("\nguest-rt") && text.contains("\nbare = ") {
            write!(kernels, "\"{}-bare\", ", name.display()).expect("a string grows");
        }
        let list = match text.contains("\nguest-rt") {
            true => &mut payloads,
            false if name == MICRO_BENCHMARKS || !guest.join("src/main.rs").is_file() => continue,
            false => &mut kernels,
        };
        write!(list, "{name:?}, ").expect("a string grows");
    }
    Ok((payloads + "]", kernels + "]"))
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
