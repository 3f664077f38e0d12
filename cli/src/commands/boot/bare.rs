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
    let of_partitions = [
        ("--console", arguments.console.is_some()),
        ("--suspend", arguments.suspend.is_some()),
        ("--from", arguments.from.is_some()),
    ];
    if let Some((option, _)) = of_partitions.into_iter().find(|(_, is_given)| *is_given) {
        let text = format!(
            "{} boots a bare kernel, without partitions; leave the option out",
            path.display()
        );
        return Err(Failure::input(option, text));
    }
    let (file, kernel, append) = (None, Some(image), Some(text));
    let arguments = BootArguments { file, kernel, initrd, append, ..arguments.clone() };
    Ok(Some((arguments, machine)))
}
