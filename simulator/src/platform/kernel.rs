//! Finding the entry of a kernel image the way skiboot does.
//!
//! skiboot copies the file as raw bytes and never loads segments: in an ELF file it looks for the
//! loadable segment that holds the entry and jumps to where those bytes lie in the copy. Anything else
//! is entered at its first byte. Source: `docs/facts/opal-and-powernv.md#image`.

use object::{Object, ObjectSegment};

use super::layout;

/// Why an image cannot be booted.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BootError {
    /// The kernel file is empty or its first word is zero.
    #[error(
        "the kernel is empty or begins with a zero word; an ELF file or a flat image is needed"
    )]
    NoKernel,
    /// The file does not fit its place.
    #[error("the {what} has {bytes} bytes; at most {most} fit")]
    TooLarge {
        /// Kernel or initrd.
        what: &'static str,
        /// Its size.
        bytes: u64,
        /// The room.
        most: u64,
    },
    /// The file begins like an ELF file and is none.
    #[error("the kernel begins like an ELF file but is damaged: {0}")]
    BadElf(String),
    /// The file is for another machine.
    #[error("the kernel is an ELF file for {0}; PowerPC is needed")]
    WrongMachine(String),
    /// No loadable segment holds the entry.
    #[error("the kernel's entry {0:#x} is in none of its loadable segments")]
    EntryOutside(u64),
    /// No instruction lies there.
    #[error("the kernel's entry {0:#x} is no multiple of 4")]
    EntryUnaligned(u64),
    /// The device tree outgrew its place.
    #[error("the device tree has {0} bytes and does not fit the firmware's heap")]
    DeviceTreeTooLarge(usize),
}

/// The real address at which `file`, copied to [`layout::KERNEL`], is entered.
///
/// # Errors
/// [`BootError`] if skiboot would refuse it, or could not have meant it.
pub fn entry(file: &[u8]) -> Result<u64, BootError> {
    if file.len() < 4 || file[..4] == [0; 4] {
        return Err(BootError::NoKernel);
    }
    if !file.starts_with(b"\x7FELF") {
        return Ok(layout::KERNEL);
    }
    let elf = object::File::parse(file).map_err(|fault| BootError::BadElf(fault.to_string()))?;
    if !matches!(
        elf.architecture(),
        object::Architecture::PowerPc | object::Architecture::PowerPc64
    ) {
        return Err(BootError::WrongMachine(format!("{:?}", elf.architecture())));
    }
    let address = elf.entry();
    if !address.is_multiple_of(4) {
        return Err(BootError::EntryUnaligned(address));
    }
    elf.segments()
        .find_map(|segment| {
            let inside = address.checked_sub(segment.address())?;
            let (offset, bytes) = segment.file_range();
            (inside < bytes).then(|| layout::KERNEL + offset + inside)
        })
        .ok_or(BootError::EntryOutside(address))
}

#[cfg(test)]
mod tests {
    use super::{BootError, entry};
    use crate::platform::layout;

    #[test]
    fn a_flat_image_is_entered_at_its_first_byte() {
        assert_eq!(entry(&[0x48, 0, 0, 8]), Ok(layout::KERNEL));
    }

    /// A big-endian file for 64-bit PowerPC with two loadable segments of 0x100 bytes, entered at `entry`.
    fn elf(entry: u64) -> Vec<u8> {
        let mut file = b"\x7FELF\x02\x02\x01".to_vec();
        file.resize(16, 0);
        file.extend([0, 2, 0, 21, 0, 0, 0, 1]);
        file.extend(entry.to_be_bytes());
        file.extend(64u64.to_be_bytes());
        file.extend([0; 12]);
        for half in [64u16, 56, 2, 64, 0, 0] {
            file.extend(half.to_be_bytes());
        }
        for (offset, address) in [(0x1000u64, 0x7000u64), (0x3000, 0x9000)] {
            file.extend([0, 0, 0, 1, 0, 0, 0, 7]);
            for word in [offset, address, address, 0x100, 0x200, 0x1000] {
                file.extend(word.to_be_bytes());
            }
        }
        file.resize(0x3100, 0);
        file
    }

    #[test]
    fn an_elf_file_is_entered_where_the_entrys_bytes_lie_in_the_copy() {
        assert_eq!(entry(&elf(0x7000)), Ok(layout::KERNEL + 0x1000));
        assert_eq!(entry(&elf(0x9010)), Ok(layout::KERNEL + 0x3010));
        assert_eq!(entry(&elf(0x90FC)), Ok(layout::KERNEL + 0x30FC));
        // Behind the file's bytes: skiboot clears nothing, so nothing is there to execute.
        for outside in [0x9100, 0x6FFC, 0x7100] {
            assert_eq!(entry(&elf(outside)), Err(BootError::EntryOutside(outside)));
        }
        assert_eq!(entry(&elf(0x7002)), Err(BootError::EntryUnaligned(0x7002)));
    }

    #[test]
    fn nothing_and_damage_are_refused() {
        assert_eq!(entry(&[]), Err(BootError::NoKernel));
        assert_eq!(entry(&[0; 64]), Err(BootError::NoKernel));
        assert!(matches!(entry(b"\x7FELF\x02\x01"), Err(BootError::BadElf(_))));
    }
}
