//! Standard output and input of the command. A reader that went away ends the command quietly, a full disk is a
//! complaint. A standard output that is closed counts as /dev/null: Rust's library opens that in its place
//! before `main`, and nothing tells it from the one that Python's `subprocess.DEVNULL` hands over.

use std::fmt::Display;
use std::fs::Permissions;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use lab::images::Images;
use lab::user_file::{Files, is_same_file};
use tempfile::{Builder, NamedTempFile};

use crate::failure::Failure;
use crate::visible::visible;

/// Writes to standard output, at once.
pub fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    written.map_err(|error| not_written("standard output", &error))
}

/// The failure to write to a stream.
fn not_written(stream: &str, error: &io::Error) -> Failure {
    match error.kind() {
        ErrorKind::BrokenPipe => Failure::ClosedPipe,
        _ => full(stream, error),
    }
}

/// Writes text of our own to standard output, at once: with nothing in it that a terminal acts on.
pub fn print_text(text: &str) -> Result<(), Failure> {
    print(visible(text).as_bytes())
}

/// Why standard error did not take something, the first time.
static LOST: OnceLock<ErrorKind> = OnceLock::new();

/// Fails if standard error did not take all that it was given. There is no other place to say so, but the exit status
/// tells it.
pub fn check_said() -> Result<(), Failure> {
    LOST.get().map_or(Ok(()), |kind| Err(not_written("standard error", &(*kind).into())))
}

/// Says something in lines of its own on standard error; [`check_said`] knows whether they were lost.
pub fn say(text: impl Display) {
    print_error(visible(&format!("powervisor: {text}\n")).as_bytes());
}

/// Writes what was asked for to standard error.
pub fn print_figures(text: &str) -> Result<(), Failure> {
    let written = io::stderr().lock().write_all(visible(text).as_bytes());
    written.map_err(|error| not_written("standard error", &error))
}

/// Writes to standard error; [`check_said`] knows whether it was lost.
pub fn print_error(bytes: &[u8]) {
    if let Err(error) = io::stderr().lock().write_all(bytes) {
        LOST.get_or_init(|| error.kind());
    }
}

/// Writes a file that is there whole or not at all: beside its place first, then moved to it.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut file = place_for(path)?;
    // As a file without a name, of which the user knows nothing, and a complaint need not.
    let written = file.as_file_mut().write_all(bytes).and_then(|()| file.as_file().sync_all());
    let moved = written.and_then(|()| file.persist(path).map_err(|error| error.error));
    moved.map(drop).map_err(|error| full(&path.display().to_string(), &error))
}

/// Fails if [`write_whole`] would, as far as can be told before there is something to write.
pub fn check_place(path: &Path) -> Result<(), Failure> {
    place_for(path).map(drop)
}

/// Fails if the file at `path`, which `option` names, is one that the run reads: one of `files`, or of our images, or
/// what standard input was redirected to.
pub fn check_not_read(option: &str, path: &Path, files: &Files) -> Result<(), Failure> {
    let is_image = || Images::find().is_ok_and(|images| images.have(path));
    let is_input = || path.is_file() && is_same_file(path, Path::new("/dev/stdin"));
    if !files.have_read(path) && !is_image() && !is_input() {
        return Ok(());
    }
    let text = format_args!("{} is a file that this run reads; name another one", path.display());
    Err(Failure::input(option, text))
}

/// A file beside `path` that can be moved to it, gone when it is dropped.
fn place_for(path: &Path) -> Result<NamedTempFile, Failure> {
    let place = path.display().to_string();
    if path.exists() && !path.is_file() {
        return Err(Failure::input(place, "not a file that can be replaced; name a file"));
    }
    // Such as a name that is too long, which no file beside it would show.
    if let Err(error) = path.symlink_metadata()
        && error.kind() != ErrorKind::NotFound
    {
        return Err(full(&place, &error));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let wrong = |error: io::Error| full(&place, &error);
    // Asked first, since it complains without the path of a file that the user knows nothing of.
    std::fs::metadata(folder).map_err(wrong)?;
    // As any new file: the library's own would be for nobody else to read.
    let mode = Permissions::from_mode(0o666);
    let file = Builder::new().permissions(mode).tempfile_in(folder).map_err(|error| {
        // It names a file that the user knows nothing of.
        wrong(io::Error::from(error.kind()))
    })?;
    if let Ok(old) = std::fs::metadata(path) {
        if old.permissions().readonly() {
            return Err(Failure::input(
                place,
                "a file that is read-only; make it writable, or name another one",
            ));
        }
        file.as_file().set_permissions(old.permissions()).map_err(wrong)?;
    }
    Ok(file)
}

/// Writes a file that is there whole or not at all; or to a device or a pipe, which nothing can be put in place of.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if path.exists() && !path.is_file() {
        return std::fs::write(path, bytes)
            .map_err(|error| full(&path.display().to_string(), &error));
    }
    write_whole(path, bytes)
}

/// The complaint about a place that could not be written to.
pub fn full(place: &str, error: &io::Error) -> Failure {
    let remedy = match error.kind() {
        ErrorKind::StorageFull => "free some space and run again",
        ErrorKind::FileTooLarge => "raise the limit on the size of files (`ulimit -f`)",
        _ => "it must be writable",
    };
    Failure::input(place, format_args!("cannot be written: {error}; {remedy}"))
}

/// What arrives on standard input, as it arrives. Read on a thread of its own, which ends with the
/// input or with the command. Fails if it is a folder, or open for writing only, which nothing can be read from.
pub fn input() -> Result<Receiver<Vec<u8>>, Failure> {
    let wrong = |text: &str| Err(Failure::input("standard input", text));
    if Path::new("/dev/stdin").is_dir() {
        return wrong("is a folder; give it a file, a pipe or a terminal");
    }
    if is_for_writing() {
        return wrong("is open for writing only; give it a file, a pipe or a terminal to read");
    }
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        loop {
            match io::stdin().read(&mut buffer) {
                Ok(length @ 1..) if sender.send(buffer[..length].to_vec()).is_ok() => (),
                Ok(_) => break,
                Err(error) => {
                    say(format_args!("standard input cannot be read: {error}; it ends here"));
                    break;
                }
            }
        }
    });
    Ok(receiver)
}

/// Whether standard input was opened for writing only. The standard library takes that for an input that has ended.
fn is_for_writing() -> bool {
    /// `O_ACCMODE` and `O_WRONLY` of Linux.
    const MODE: u32 = 3;
    const WRITING: u32 = 1;
    let about = std::fs::read_to_string("/proc/self/fdinfo/0").unwrap_or_default();
    let flags = about.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & MODE == WRITING)
}
