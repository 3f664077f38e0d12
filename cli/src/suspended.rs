//! A suspended partition in a file: what `--suspend` writes and `--from` reads. In the file's [`Envelope`] is the image
//! as the hypervisor wrote it ([`arch::image`]).

use std::path::Path;

use lab::suspended::Suspended;
use lab::user_file::Files;

use crate::envelope::Envelope;
use crate::failure::Failure;

const ENVELOPE: Envelope = Envelope {
    magic: *b"powervisor-par",
    format: 1,
    what: "suspended partition",
    how: "--suspend",
};

/// Writes an image.
pub fn write(path: &Path, image: &[u8]) -> Result<(), Failure> {
    ENVELOPE.write(path, &[image])
}

/// Reads the image that [`write`] wrote, and what it tells of its partition.
pub fn read(path: &Path, files: &Files) -> Result<(Vec<u8>, Suspended), Failure> {
    let image = ENVELOPE.read(path, files)?;
    let suspended = Suspended::of(&image).map_err(|why| {
        let text = format!("no suspended partition that this powervisor knows ({why}); suspend it again with this one");
        Failure::input(path.display(), text)
    })?;
    Ok((image, suspended))
}
