//! Disks that go to files of the host's: looked at before the run, and written when the machine was switched off.

use std::path::PathBuf;

use lab::bundle::KeptDisk;
use lab::user_file::{Files, destination, is_same_file};
use simulator::platform::layout;

use crate::failure::Failure;
use crate::output::{check_not_read, check_place, say, write_whole};
use crate::saved::Surroundings;
use crate::visible::one_line;

/// Fails where a disk could not be written, or over another file that the run has read than its own image, or that an
/// option has `written`.
pub(super) fn check(
    disks: &[KeptDisk],
    written: &[(&str, PathBuf)],
    files: &Files,
) -> Result<(), Failure> {
    for KeptDisk { file, .. } in disks {
        let is_disk = |(_, path): &&(&str, PathBuf)| destination(path) == file.path;
        if let Some((option, path)) = written.iter().find(is_disk) {
            let text = format!("{} is what a disk is written to; name another one", path.display());
            return Err(Failure::input(option, text));
        }
        check_place(&file.path)?;
        let is_own = file.image.as_ref().is_some_and(|image| is_same_file(image, &file.path));
        if !is_own {
            check_not_read("write_back", &file.path, files)?;
        }
    }
    Ok(())
}

/// Writes each disk to its file if the machine was switched off in good order; says what came of all, whichever fails.
/// `read` fills bytes from a place of the machine's memory on.
pub(super) fn keep(
    surroundings: &Surroundings,
    is_switched_off: bool,
    read: impl Fn(u64, &mut [u8]) -> Result<(), Failure>,
) -> Result<String, Failure> {
    let mut said = String::new();
    let mut failed = None;
    for KeptDisk { file, offset, bytes } in &surroundings.kept_disks {
        let shown = one_line(&file.path.display().to_string()).into_owned();
        if !is_switched_off {
            said += &format!("; {shown} is not written, as the machine was not switched off");
        } else if surroundings.has_hypervisor && surroundings.screen.said().record.is_none() {
            said += &format!("; {shown} is not written, as the hypervisor gave up");
        } else {
            let mut disk = vec![0; *bytes as usize];
            let written = read(layout::INITRD + offset, &mut disk);
            match (written.and_then(|()| write_whole(&file.path, &disk)), &failed) {
                (Ok(()), _) => said += &format!("; disk written to {shown}"),
                (Err(error), None) => failed = Some(error),
                (Err(error), Some(_)) => say(error),
            }
        }
    }
    let Some(failed) = failed else { return Ok(said) };
    if !said.is_empty() {
        say(said.trim_start_matches("; "));
    }
    Err(failed)
}
