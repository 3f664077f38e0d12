//! A file that the user names is read whole: a regular file, or a pipe such as a shell makes of `<(command)`.
//!
//! Nothing is read that has no end, and nothing waits where Ctrl-C does not help: a device is refused, a file is
//! bounded, and a pipe is read beside a look for interruptions. Which files were read is remembered, so that a run does
//! not write over one of them.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use crate::failure::Failure;
use crate::interruption::Interruption;
use crate::size::Size;

/// The longest file that is read, but for saved machines: longer than any kernel, initrd or report.
const FILE_MAX: Size = Size(1 << 30);
/// The longest pipe that is read: only its end tells how much it holds.
const PIPE_MAX: Size = Size(256 << 20);
/// Bytes that are read between two looks for an interruption.
const PIECE: u64 = 4 << 20;
/// How long a pipe may keep an interruption waiting.
const LOOK: Duration = Duration::from_millis(50);

/// Files that the user names.
#[derive(Debug)]
pub struct Files {
    interruption: Interruption,
    /// Device and inode of each that was read.
    read: RefCell<BTreeSet<(u64, u64)>>,
}

/// Why a file cannot be read: what is wrong, and what would be right.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Unreadable {
    #[error("cannot be read: {0}; it must be a readable file")]
    Host(io::Error),
    #[error("is neither a file nor a pipe; name one of these")]
    Special,
    #[error("has more than {0}, which is the limit; name a shorter file")]
    Long(Size),
    #[error("reading it was interrupted")]
    Interrupted,
}

impl Unreadable {
    /// The failure to read the file at `path`.
    fn of(self, path: &Path) -> Failure {
        match self {
            Self::Interrupted => Failure::Interrupted,
            other => Failure::input(path.display(), other),
        }
    }
}

impl Default for Files {
    /// Files that nothing interrupts the reading of.
    fn default() -> Self {
        Self::new(Interruption::NEVER)
    }
}

impl Files {
    /// Reading ends by this interruption.
    #[must_use]
    pub const fn new(interruption: Interruption) -> Self {
        Self { interruption, read: RefCell::new(BTreeSet::new()) }
    }

    /// The bytes of a file, of at most 1 GiB.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>, Failure> {
        self.bytes_of(path).map_err(|why| why.of(path))
    }

    /// The same, of a file that may have up to `limit`, and only a pipe less.
    pub fn read_large(&self, path: &Path, limit: Size) -> Result<Vec<u8>, Failure> {
        self.read_up_to(path, limit).map_err(|why| why.of(path))
    }

    /// The same as [`Files::read`], for who says in words of its own what is wrong.
    pub fn bytes_of(&self, path: &Path) -> Result<Vec<u8>, Unreadable> {
        self.read_up_to(path, FILE_MAX)
    }

    /// Whether the file at `path` is one of those that were read, by whatever name.
    #[must_use]
    pub fn have_read(&self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|file| self.read.borrow().contains(&identity(&file)))
    }

    fn read_up_to(&self, path: &Path, limit: Size) -> Result<Vec<u8>, Unreadable> {
        let about = fs::metadata(path).map_err(Unreadable::Host)?;
        let kind = about.file_type();
        if kind.is_fifo() {
            return from_pipe(path.to_owned(), self.interruption);
        }
        // A folder is opened, and the host says what is wrong with that.
        if !kind.is_file() && !kind.is_dir() {
            return Err(Unreadable::Special);
        }
        self.read.borrow_mut().insert(identity(&about));
        read_whole(File::open(path).map_err(Unreadable::Host)?, limit, self.interruption)
    }
}

/// Whether there is one file at both paths.
#[must_use]
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let identity = |path| fs::metadata(path).map(|file| identity(&file)).ok();
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

/// The file that a path names, from any folder: behind symbolic links, where it exists.
#[must_use]
pub fn destination(path: &Path) -> PathBuf {
    let in_folder = || {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
        Some(folder.join(path.file_name()?))
    };
    let absolute = || std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    fs::canonicalize(path).ok().or_else(in_folder).unwrap_or_else(absolute)
}

/// What tells a file from every other.
fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

/// All of a pipe. Its other end may be slow, or not be there yet.
fn from_pipe(path: PathBuf, interruption: Interruption) -> Result<Vec<u8>, Unreadable> {
    let (sender, receiver) = sync_channel(1);
    thread::spawn(move || {
        let file = File::open(path).map_err(Unreadable::Host);
        // Nobody waits for it any more after an interruption.
        let _ = sender.send(file.and_then(|file| read_whole(file, PIPE_MAX, interruption)));
    });
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(read) => return read,
            Err(RecvTimeoutError::Timeout) => {
                interruption.check().map_err(|_| Unreadable::Interrupted)?;
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Unreadable::Host(io::Error::other("the reader failed")));
            }
        }
    }
}

/// All of a file, in pieces, so that an interruption need not wait for a long one.
fn read_whole(
    mut file: File,
    limit: Size,
    interruption: Interruption,
) -> Result<Vec<u8>, Unreadable> {
    let length = file.metadata().map_err(Unreadable::Host)?.len();
    if length > limit.0 {
        return Err(Unreadable::Long(limit));
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length as usize).map_err(|error| Unreadable::Host(error.into()))?;
    loop {
        interruption.check().map_err(|_| Unreadable::Interrupted)?;
        let piece = file.by_ref().take(PIECE).read_to_end(&mut bytes).map_err(Unreadable::Host)?;
        if bytes.len() as u64 > limit.0 {
            return Err(Unreadable::Long(limit));
        }
        if piece == 0 {
            return Ok(bytes);
        }
    }
}
