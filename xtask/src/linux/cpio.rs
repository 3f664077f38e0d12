//! An archive as Linux unpacks it for its first root: cpio, "newc" format.
//!
//! Source: Linux, `Documentation/driver-api/early-userspace/buffer-format.rst`.

use std::fmt::Write as _;

/// Kinds of files, as in `st_mode`.
pub(super) const FOLDER: u32 = 0o04_0755;
pub(super) const PROGRAM: u32 = 0o10_0755;
pub(super) const CHARACTER_DEVICE: u32 = 0o02_0600;
/// A symbolic link, whose content is where it leads.
pub(super) const LINK: u32 = 0o12_0777;

/// An archive under way.
#[derive(Default, Debug)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    files: u32,
}

impl Archive {
    /// Adds the file `name`; `device` is the major and minor number of a device.
    pub(super) fn add(&mut self, name: &str, mode: u32, device: (u32, u32), content: &[u8]) {
        self.files += 1;
        let length = content.len() as u32;
        let name_length = name.len() as u32 + 1;
        // Number, mode, owner, group, links, time, length, the archive's device, the file's, name, no sum.
        let numbers =
            [self.files, mode, 0, 0, 1, 0, length, 0, 0, device.0, device.1, name_length, 0];
        let mut head = "070701".to_owned();
        for number in numbers {
            write!(head, "{number:08X}").expect("a string takes all");
        }
        self.bytes.extend(head.bytes().chain(name.bytes()).chain([0]));
        self.align();
        self.bytes.extend(content);
        self.align();
    }

    /// The whole archive.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.add("TRAILER!!!", 0, (0, 0), &[]);
        self.bytes
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::{Archive, PROGRAM};

    #[test]
    fn each_file_has_a_head_a_name_and_its_content_on_words() {
        let mut archive = Archive::default();
        archive.add("init", PROGRAM, (0, 0), b"12345");
        let bytes = archive.finish();
        let number =
            |at: usize| u32::from_str_radix(std::str::from_utf8(&bytes[at..at + 8]).unwrap(), 16);
        assert_eq!(&bytes[..6], b"070701");
        assert_eq!((number(14), number(54), number(94)), (Ok(PROGRAM), Ok(5), Ok(5)));
        assert_eq!(&bytes[110..124], b"init\0\x0012345\0\0\0");
        assert_eq!(&bytes[124..130], b"070701");
        assert!(bytes.ends_with(b"TRAILER!!!\0\0\0\0"));
        assert_eq!(bytes.len() % 4, 0);
    }
}
