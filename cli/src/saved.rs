//! A machine in a file: what `--save` writes and `--resume` reads.
//!
//! In the file's [`Envelope`] are the [`Surroundings`] and the simulator's snapshot, which has a format of its own.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use lab::bundle::{Consoles, KeptDisk};
use lab::user_file::Files;
use serde::{Deserialize, Serialize};
use simulator::Machine;

use crate::envelope::Envelope;
use crate::failure::Failure;
use crate::screen::Screen;

/// The format changes when [`Surroundings`] or the order of the contents do.
const ENVELOPE: Envelope =
    Envelope { magic: *b"powervisor-sav", format: 5, what: "saved machine", how: "--save" };

/// What is around a machine that runs: enough to go on as if it had not stopped.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Surroundings {
    /// Who writes to its console.
    pub consoles: Consoles,
    /// Whether the hypervisor runs on it, and not a bare kernel.
    pub has_hypervisor: bool,
    /// What is shown of the console.
    pub screen: Screen,
    /// Disks in the bundle that are written to files when the machine is switched off.
    pub kept_disks: Vec<KeptDisk>,
    /// The partition that is to be suspended, and the file that it goes to.
    pub suspends: Option<(String, PathBuf)>,
}

/// Writes a machine. The file is there whole or not at all.
pub fn save(path: &Path, machine: &Machine, surroundings: &Surroundings) -> Result<(), Failure> {
    let about = postcard::to_stdvec(surroundings).expect("plain data can be written");
    let length = (about.len() as u64).to_be_bytes();
    ENVELOPE.write(path, &[&length, &about, &machine.snapshot()])
}

/// Reads a machine that [`save`] wrote.
pub fn resume(path: &Path, files: &Files) -> Result<(Machine, Surroundings), Failure> {
    let contents = ENVELOPE.read(path, files)?;
    let damaged = |why: &dyn Display| ENVELOPE.damaged(path, why);
    let parts = contents.split_first_chunk().and_then(|(length, rest)| {
        rest.split_at_checked(usize::try_from(u64::from_be_bytes(*length)).ok()?)
    });
    let (about, snapshot) = parts.ok_or_else(|| damaged(&"its parts do not fit"))?;
    let surroundings = postcard::from_bytes(about).map_err(|error| damaged(&error))?;
    let of_another_version = || {
        let text = "a machine that another version of powervisor saved; resume it with that one, or \
            save it again with this one";
        Failure::input(path.display(), text)
    };
    // The file is as it was written, so whatever is strange about it now is not damage.
    let machine = Machine::restore(snapshot).map_err(|_| of_another_version())?;
    if machine.snapshot() != snapshot {
        return Err(of_another_version());
    }
    Ok((machine, surroundings))
}

#[cfg(test)]
mod tests {
    use simulator::{Boot, Description, Machine, NoObserver};

    use super::{ENVELOPE, Surroundings, resume, save};
    use crate::screen::Screen;
    use lab::bundle::Consoles;
    use lab::machine_file::MachineFile;
    use lab::user_file::Files;

    fn machine() -> Machine {
        let description: Description = MachineFile::default().describe().unwrap();
        let mut machine = Machine::new(description, 1);
        // Counts for ever.
        let kernel = vec![0x38, 0x63, 0x00, 0x01, 0x4B, 0xFF, 0xFF, 0xFC];
        machine.boot(&Boot { kernel, ..Boot::default() }).unwrap();
        machine.run(1000, &mut NoObserver);
        machine
    }

    fn surroundings() -> Surroundings {
        let consoles = Consoles { partitions: vec!["a".to_owned()], console: Some("a".to_owned()) };
        let mut screen = Screen::new(&consoles);
        screen.show(b"").unwrap();
        Surroundings {
            consoles,
            has_hypervisor: true,
            screen,
            kept_disks: Vec::new(),
            suspends: None,
        }
    }

    #[test]
    fn what_was_saved_is_resumed_and_goes_on_alike() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("machine");
        let mut machine = machine();
        save(&path, &machine, &surroundings()).unwrap();
        let (mut resumed, about) = resume(&path, &Files::default()).unwrap();
        assert!(resumed == machine);
        assert_eq!(about, surroundings());
        machine.run(1000, &mut NoObserver);
        resumed.run(1000, &mut NoObserver);
        assert!(resumed == machine);
        let only = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(only, 1, "nothing but the file is left");
    }

    #[test]
    fn a_file_that_is_not_as_it_was_written_is_refused() {
        let magic = ENVELOPE.magic.len();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("machine");
        save(&path, &machine(), &surroundings()).unwrap();
        let good = std::fs::read(&path).unwrap();
        let refused = |file: &[u8]| {
            std::fs::write(&path, file).unwrap();
            // A machine is too large to be shown.
            let Err(error) = resume(&path, &Files::default()) else { panic!("it is not refused") };
            let error = error.to_string();
            assert!(error.contains("; ") && !error.contains('\n'), "{error}");
            error
        };
        let damaged = |file: &[u8], what: &str| {
            let error = refused(file);
            assert!(error.contains("the saved machine is cut or damaged"), "{what}: {error}");
        };
        assert!(refused(b"[[partition]]").contains("not a saved machine"));
        assert!(refused(&good[..magic - 1]).contains("not a saved machine"));
        let mut other = good.clone();
        other[magic + 1] = 9;
        let expected =
            format!("format 9; this powervisor reads format {}: save it again", ENVELOPE.format);
        assert!(refused(&other).contains(&expected));
        for length in (magic..good.len()).step_by(good.len() / 61).chain([good.len() - 1]) {
            damaged(&good[..length], &format!("cut to {length}"));
        }
        for place in (magic + 2..good.len()).step_by(good.len() / 97) {
            let mut garbled = good.clone();
            garbled[place] ^= 0x10;
            damaged(&garbled, &format!("garbled at {place}"));
        }
        damaged(&[&good[..], b"more"].concat(), "longer");
    }
}
