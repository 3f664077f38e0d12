//! A machine in a file: what `--save` writes and `--resume` reads.
//!
//! The file is [`MAGIC`], the format's number, the SHA-256 of all that follows, and one LZ4 frame; in the
//! frame are the [`Surroundings`] and the simulator's snapshot, which has a format of its own. A file
//! that is cut, garbled, foreign or from another version is refused with a reason.

use std::fmt::Display;
use std::io::{Read, Write};
use std::path::Path;

use lab::bundle::{Consoles, KeptDisk};
use lab::size::Size;
use lab::user_file::Files;
use lz4_flex::frame::{FrameDecoder, FrameEncoder};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use simulator::Machine;

use crate::failure::Failure;
use crate::output::write_whole;
use crate::screen::Screen;

/// First bytes of every saved machine.
const MAGIC: [u8; 14] = *b"powervisor-sav";
/// Changes when [`Surroundings`] or the file's layout do.
const FORMAT: u16 = 4;
/// The longest file that is read: a machine has less memory than that.
const FILE_MAX: Size = Size(64 << 30);

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
}

/// Writes a machine. The file is there whole or not at all.
pub fn save(path: &Path, machine: &Machine, surroundings: &Surroundings) -> Result<(), Failure> {
    let about = postcard::to_stdvec(surroundings).expect("plain data can be written");
    let mut frame = FrameEncoder::new(Vec::new());
    let contents = [&(about.len() as u64).to_be_bytes()[..], &about, &machine.snapshot()];
    let in_memory = "writing to memory does not fail";
    contents.iter().for_each(|part| frame.write_all(part).expect(in_memory));
    let frame = frame.finish().expect(in_memory);
    let digest = Sha256::digest(&frame);
    write_whole(path, &[&MAGIC[..], &FORMAT.to_be_bytes(), &digest, &frame].concat())
}

/// Reads a machine that [`save`] wrote.
pub fn resume(path: &Path, files: &Files) -> Result<(Machine, Surroundings), Failure> {
    let file = files.read_large(path, FILE_MAX)?;
    let wrong = |text: &str| Failure::input(path.display(), text);
    let damaged = |why: &dyn Display| {
        wrong(&format!("the saved machine is cut or damaged ({why}); save it again with --save"))
    };
    let rest = file
        .strip_prefix(&MAGIC)
        .ok_or_else(|| wrong("not a saved machine; write one with `powervisor boot --save`"))?;
    let (format, rest) = rest.split_first_chunk().ok_or_else(|| damaged(&"no format"))?;
    let format = u16::from_be_bytes(*format);
    if format != FORMAT {
        let text = format!(
            "a saved machine of format {format}; this powervisor reads format {FORMAT}: save it again \
             with this one"
        );
        return Err(wrong(&text));
    }
    let (digest, frame) = rest.split_first_chunk::<32>().ok_or_else(|| damaged(&"no digest"))?;
    if Sha256::digest(frame)[..] != digest[..] {
        return Err(damaged(&"its digest is another"));
    }
    let mut contents = Vec::new();
    FrameDecoder::new(frame).read_to_end(&mut contents).map_err(|error| damaged(&error))?;
    let parts = contents.split_first_chunk().and_then(|(length, rest)| {
        rest.split_at_checked(usize::try_from(u64::from_be_bytes(*length)).ok()?)
    });
    let (about, snapshot) = parts.ok_or_else(|| damaged(&"its parts do not fit"))?;
    let surroundings = postcard::from_bytes(about).map_err(|error| damaged(&error))?;
    let of_another_version = || {
        let text = "a machine that another version of powervisor saved; resume it with that one, or \
            save it again with this one";
        wrong(text)
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

    use super::{FORMAT, MAGIC, Surroundings, resume, save};
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
        Surroundings { consoles, has_hypervisor: true, screen, kept_disks: Vec::new() }
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
        assert!(refused(&good[..MAGIC.len() - 1]).contains("not a saved machine"));
        let mut other = good.clone();
        other[MAGIC.len() + 1] = 9;
        let expected = format!("format 9; this powervisor reads format {FORMAT}: save it again");
        assert!(refused(&other).contains(&expected));
        for length in (MAGIC.len()..good.len()).step_by(good.len() / 61).chain([good.len() - 1]) {
            damaged(&good[..length], &format!("cut to {length}"));
        }
        for place in (MAGIC.len() + 2..good.len()).step_by(good.len() / 97) {
            let mut garbled = good.clone();
            garbled[place] ^= 0x10;
            damaged(&garbled, &format!("garbled at {place}"));
        }
        damaged(&[&good[..], b"more"].concat(), "longer");
    }
}
