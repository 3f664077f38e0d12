//! Finds the bare-metal programs: the hypervisor and the payloads that come with it.
//!
//! They lie in the folder that the environment variable `POWERVISOR_IMAGES` names, or where an installed command has
//! them (`../share/powervisor/images/`), or in `images/` of the target folder that this command was built into, or in
//! `target/images/` of the workspace.

use std::env;
use std::path::{Path, PathBuf};

use arch::processor::Processor;

use crate::failure::Failure;
use crate::user_file::is_same_file;

/// The environment variable that names the folder.
pub const VARIABLE: &str = "POWERVISOR_IMAGES";
/// The hypervisor's file, by which the folder is known. It holds the images for all processors.
pub const HYPERVISOR: &str = "hypervisor";
/// Those images, each a file of its own with its symbols.
const HYPERVISORS: [(Processor, &str); 2] =
    [(Processor::Power8, "hypervisor-power8"), (Processor::Power9, "hypervisor-power9")];
/// The files with the micro-benchmarks of `guests/calibrate`, for each processor.
const CALIBRATION: [(Processor, &str); 2] =
    [(Processor::Power8, "calibrate-power8"), (Processor::Power9, "calibrate")];
/// The kernels of ours that run bare in experiments. `build.rs` finds them in `guests/`.
pub const BARE: &[&str] = include!(concat!(env!("OUT_DIR"), "/bare.rs"));
/// The folder with kernels that are compared with the hypervisor.
const RIVALS: &str = "rivals";
/// The payloads' files, in alphabetical order. `build.rs` finds them in `guests/`.
pub const GUESTS: &[&str] = include!(concat!(env!("OUT_DIR"), "/guests.rs"));

/// The folder with the images.
#[derive(Clone, Debug)]
pub struct Images {
    folder: PathBuf,
}

impl Images {
    /// Finds the folder. Fails if there is none with a hypervisor in it.
    pub fn find() -> Result<Self, Failure> {
        let named = env::var_os(VARIABLE).map(PathBuf::from);
        let folders = match &named {
            Some(folder) => vec![folder.clone()],
            None => usual_folders(),
        };
        let found = folders.into_iter().find(|folder| folder.join(HYPERVISOR).is_file());
        found.map(|folder| Self { folder }).ok_or_else(|| match named {
            Some(folder) => Failure::input(
                folder.join(HYPERVISOR).display(),
                format_args!("no hypervisor image; build it with `make build`, and let {VARIABLE} name its folder or unset it"),
            ),
            None => Failure::input("target/images", "no images of hypervisor and payloads; build them with `make build`"),
        })
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The hypervisor, a file that OPAL firmware starts on every processor.
    pub fn hypervisor(&self) -> Result<Vec<u8>, Failure> {
        self.read(HYPERVISOR)
    }

    /// What of it runs on a processor: an image of its own, with symbols.
    pub fn hypervisor_of(&self, processor: Processor) -> Result<Vec<u8>, Failure> {
        self.read(of_processor(&HYPERVISORS, processor))
    }

    /// Where that is.
    #[must_use]
    pub fn path_of(&self, processor: Processor) -> PathBuf {
        self.folder.join(of_processor(&HYPERVISORS, processor))
    }

    /// One of [`GUESTS`].
    pub fn guest(&self, name: &str) -> Result<Vec<u8>, Failure> {
        self.read(name)
    }

    /// Where a bare kernel of ours is, or one that is compared with the hypervisor, or a file of its.
    #[must_use]
    pub fn kernel(&self, name: &str) -> PathBuf {
        if BARE.contains(&name) { self.folder.join(name) } else { self.rival(name) }
    }

    /// The micro-benchmarks of a processor: the file's name, and what is in it.
    pub fn calibration(&self, processor: Processor) -> Result<(&'static str, Vec<u8>), Failure> {
        let name = of_processor(&CALIBRATION, processor);
        Ok((name, self.read(name)?))
    }

    /// Where a kernel that is compared with the hypervisor is, or a file of its, if it was made: none comes with the
    /// command.
    #[must_use]
    pub fn rival(&self, name: &str) -> PathBuf {
        self.folder.join(RIVALS).join(name)
    }

    /// Whether the file at `path` is one of the images, by whatever name.
    #[must_use]
    pub fn have(&self, path: &Path) -> bool {
        let names = CALIBRATION.into_iter().chain(HYPERVISORS).map(|(_, name)| name);
        let names = GUESTS.iter().copied().chain(names).chain([HYPERVISOR]);
        let mut names = names.chain(BARE.iter().copied());
        names.any(|name| is_same_file(path, &self.folder.join(name)))
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, Failure> {
        let path = self.folder.join(name);
        std::fs::read(&path).map_err(|error| {
            Failure::input(
                path.display(),
                format_args!("cannot be read: {error}; build it with `make build`"),
            )
        })
    }
}

/// The file of a processor.
fn of_processor(files: &[(Processor, &'static str)], processor: Processor) -> &'static str {
    let of = |(known, _): &&(Processor, &str)| *known == processor;
    let (_, name) = files.iter().find(of).expect("each processor has one");
    name
}

/// Where the images are unless the user says otherwise, nearest first.
fn usual_folders() -> Vec<PathBuf> {
    let executable = env::current_exe().unwrap_or_default();
    let built_from = Path::new(env!("CARGO_MANIFEST_DIR"));
    let current = env::current_dir().unwrap_or_default();
    let installed =
        executable.ancestors().nth(2).map(|prefix| prefix.join("share/powervisor/images"));
    let beside = executable.ancestors().skip(1).map(|folder| folder.join("images"));
    let below = built_from
        .ancestors()
        .chain(current.ancestors())
        .map(|folder| folder.join("target/images"));
    installed.into_iter().chain(beside).chain(below).collect()
}
