//! A kernel file instead of `--kernel` and its arguments.

use crate::arguments::BootArguments;
use crate::failure::Failure;
use lab::kernel_file::KernelFile;
use lab::machine_file::MachineFile;
use lab::user_file::Files;

/// The arguments that say what a kernel file says, and its machine; `None` without such a file.
pub(super) fn from_file(
    arguments: &BootArguments,
    files: &Files,
) -> Result<Option<(BootArguments, MachineFile)>, Failure> {
    // A pipe can be read once, and is left to partitions.
    let Some(path) = arguments.file.as_ref().filter(|path| path.is_file()) else { return Ok(None) };
    let Some(KernelFile { machine, image, initrd, arguments: text }) =
        KernelFile::read(path, files)?
    else {
        return Ok(None);
    };
    if arguments.console.is_some() {
        let text = format!(
            "{} boots a bare kernel, without partitions; leave the option out",
            path.display()
        );
        return Err(Failure::input("--console", text));
    }
    let (file, kernel, append) = (None, Some(image), Some(text));
    let arguments = BootArguments { file, kernel, initrd, append, ..arguments.clone() };
    Ok(Some((arguments, machine)))
}
