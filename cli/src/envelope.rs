//! What the command's own files have in common: [`Envelope::magic`], the format's number, the SHA-256 of all that
//! follows, and one LZ4 frame. A file that is cut, garbled, foreign or from another version is refused with a reason.

use std::fmt::Display;
use std::io::{Read, Write};
use std::path::Path;

use lab::size::Size;
use lab::user_file::Files;
use lz4_flex::frame::{FrameDecoder, FrameEncoder};
use sha2::{Digest, Sha256};

use crate::failure::Failure;
use crate::output::write_whole;

/// The longest file that is read: a machine has less memory than that.
const FILE_MAX: Size = Size(64 << 30);

/// A kind of file.
#[derive(Clone, Copy, Debug)]
pub struct Envelope {
    /// First bytes of every such file.
    pub magic: [u8; 14],
    /// Changes with what is in the frame.
    pub format: u16,
    /// What is in it, such as "saved machine".
    pub what: &'static str,
    /// How such a file is written.
    pub how: &'static str,
}

impl Envelope {
    /// Writes these parts, one behind the other. The file is there whole or not at all.
    pub fn write(&self, path: &Path, contents: &[&[u8]]) -> Result<(), Failure> {
        let mut frame = FrameEncoder::new(Vec::new());
        let in_memory = "writing to memory does not fail";
        contents.iter().for_each(|part| frame.write_all(part).expect(in_memory));
        let frame = frame.finish().expect(in_memory);
        let digest = Sha256::digest(&frame);
        write_whole(path, &[&self.magic[..], &self.format.to_be_bytes(), &digest, &frame].concat())
    }

    /// The contents of a file that [`Envelope::write`] wrote.
    pub fn read(&self, path: &Path, files: &Files) -> Result<Vec<u8>, Failure> {
        let Self { what, how, .. } = self;
        let file = files.read_large(path, FILE_MAX)?;
        let wrong = |text: &str| Failure::input(path.display(), text);
        let rest = file.strip_prefix(&self.magic).ok_or_else(|| {
            wrong(&format!("not a {what}; write one with `powervisor boot {how}`"))
        })?;
        let damaged = |why: &dyn Display| self.damaged(path, why);
        let (format, rest) = rest.split_first_chunk().ok_or_else(|| damaged(&"no format"))?;
        let format = u16::from_be_bytes(*format);
        if format != self.format {
            let text = format!(
                "a {what} of format {format}; this powervisor reads format {}: save it again with this one",
                self.format
            );
            return Err(wrong(&text));
        }
        let (digest, frame) =
            rest.split_first_chunk::<32>().ok_or_else(|| damaged(&"no digest"))?;
        if Sha256::digest(frame)[..] != digest[..] {
            return Err(damaged(&"its digest is another"));
        }
        let mut contents = Vec::new();
        FrameDecoder::new(frame).read_to_end(&mut contents).map_err(|error| damaged(&error))?;
        Ok(contents)
    }

    /// That the file at `path` is not as it was written.
    pub fn damaged(&self, path: &Path, why: &dyn Display) -> Failure {
        let Self { what, how, .. } = self;
        let text = format!("the {what} is cut or damaged ({why}); save it again with {how}");
        Failure::input(path.display(), text)
    }
}
