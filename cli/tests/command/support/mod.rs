//! Runs the real command, with files of the test's own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};

use tempfile::TempDir;

/// A folder with a test's files, in which commands run.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// The command with these arguments, separated by blanks, in this folder. One that does not end is
    /// killed, which no test takes for an answer.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new("/usr/bin/timeout");
        command.args(["--signal=KILL", "120", env!("CARGO_BIN_EXE_powervisor")]);
        command.args(arguments.split(' ')).current_dir(self.path());
        command
    }

    /// The same, but the child is the command itself, for signals.
    pub(crate) fn command_to_signal(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_powervisor"));
        command.args(arguments.split(' ')).current_dir(self.path());
        command
    }
}

/// The path of a file of the project.
pub(crate) fn project(file: &str) -> String {
    format!("{}/../{file}", env!("CARGO_MANIFEST_DIR"))
}

/// Presses Ctrl-C.
pub(crate) fn interrupt(child: &Child) {
    let status = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status();
    assert!(status.unwrap().success());
}

/// What the command wrote to standard error.
pub(crate) fn errors(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A 32-byte program of an ELF64 file, little-endian, at each of the addresses; entered at the first.
pub(crate) fn elf(addresses: &[u64]) -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x15\0\x01\0\0\0".to_vec();
    for value in [addresses[0], 64, 0] {
        file.extend(value.to_le_bytes());
    }
    file.extend(2_u32.to_le_bytes());
    for value in [64, 56, addresses.len() as u16, 0, 0, 0] {
        file.extend(value.to_le_bytes());
    }
    let mut offset = 64 + 56 * addresses.len() as u64;
    for address in addresses {
        file.extend([1_u32.to_le_bytes(), 5_u32.to_le_bytes()].concat());
        for value in [offset, *address, *address, 32, 32, 1] {
            file.extend(value.to_le_bytes());
        }
        offset += 32;
    }
    file.resize(file.len() + 32 * addresses.len(), 0x60);
    file
}

/// The experiment of null hypercalls with its first two variants, in a file of the folder: all of them take
/// long on several threads.
pub(crate) fn short_experiment(folder: &Folder) -> String {
    let text = std::fs::read_to_string(project("experiments/null-hypercall.toml")).unwrap();
    let (first, _) = text.split_once("# H_SET_SPRG0").expect("the third variant has a comment");
    folder.write("null-hypercall.toml", first);
    folder.path().join("null-hypercall.toml").to_str().unwrap().to_owned()
}

/// An example of the project's.
pub(crate) fn example(name: &str) -> String {
    project(&format!("examples/{name}.toml"))
}
