//! Files that people give as a kernel or a payload and that no machine can start: known by how they begin. Whatever
//! else is no ELF file may be a flat image.

use object::Endianness;
use object::elf::{FileHeader64, PT_INTERP};
use object::read::elf::{FileHeader as _, ProgramHeader as _};

/// What compressed files begin with, who makes them, and what decompresses them.
const COMPRESSED: [(&[u8], &str, &str); 6] = [
    (b"\x1F\x8B", "gzip", "gzip -dc"),
    (b"\xFD7zXZ\0", "xz", "xz -dc"),
    (b"\x28\xB5\x2F\xFD", "zstd", "zstd -dc"),
    (b"\x04\x22\x4D\x18", "lz4", "lz4 -dc"),
    (b"\x02\x21\x4C\x18", "lz4", "lz4 -dc"),
    (b"BZh", "bzip2", "bzip2 -dc"),
];
/// What cpio archives begin with, without and with checksums.
const ARCHIVES: [&[u8]; 2] = [b"070701", b"070702"];

/// Fails if a file with these bytes is something else than a program that a machine starts.
///
/// # Errors
/// What it is, and what would be right.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    if let Some((_, name, command)) = COMPRESSED.iter().find(|(magic, ..)| bytes.starts_with(magic))
    {
        return Err(format!(
            "a file that {name} compressed; decompress it first with `{command} FILE > NEW`"
        ));
    }
    if ARCHIVES.iter().any(|magic| bytes.starts_with(magic)) {
        return Err("a cpio archive; give it with --initrd, beside a kernel".to_owned());
    }
    if has_interpreter(bytes) {
        return Err(
            "a program of an operating system, which a dynamic linker starts (PT_INTERP); it must be a kernel, or \
             another program that runs by itself"
                .to_owned(),
        );
    }
    if is_text(bytes) {
        return Err("a text file; it must be an ELF file or a flat image".to_owned());
    }
    Ok(())
}

fn has_interpreter(bytes: &[u8]) -> bool {
    let asks = FileHeader64::<Endianness>::parse(bytes).and_then(|header| {
        let endian = header.endian()?;
        let mut programs = header.program_headers(endian, bytes)?.iter();
        Ok(programs.any(|program| program.p_type(endian) == PT_INTERP))
    });
    asks.unwrap_or(false)
}

/// Whether people could read it: no instruction of 4 bytes is likely to look so, and no image is.
fn is_text(bytes: &[u8]) -> bool {
    let is_written = |letter: char| !letter.is_control() || letter.is_whitespace();
    !bytes.is_empty() && str::from_utf8(bytes).is_ok_and(|text| text.chars().all(is_written))
}

#[cfg(test)]
mod tests {
    use super::{ARCHIVES, COMPRESSED, check};

    /// A little-endian file for 64-bit Power with one program header of this type.
    fn elf(kind: u32) -> Vec<u8> {
        let mut file = b"\x7FELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x15\0\x01\0\0\0".to_vec();
        for value in [0_u64, 64, 0] {
            file.extend(value.to_le_bytes());
        }
        file.extend(2_u32.to_le_bytes());
        for value in [64_u16, 56, 1, 0, 0, 0] {
            file.extend(value.to_le_bytes());
        }
        file.extend(kind.to_le_bytes());
        file.resize(64 + 56, 0);
        file
    }

    #[test]
    fn what_no_machine_starts_is_named_with_what_would_be_right() {
        let refused = |bytes: &[u8], expected: &str| {
            let error = check(bytes).unwrap_err();
            assert!(error.contains(expected) && error.contains("; "), "{error}");
        };
        for (magic, name, command) in COMPRESSED {
            let file = [magic, b"\x00\x80"].concat();
            refused(&file, &format!("{name} compressed; decompress it first with `{command}"));
        }
        for magic in ARCHIVES {
            refused(magic, "--initrd");
        }
        refused(&elf(3), "PT_INTERP");
        refused("# Größe\n\n* eins\n".as_bytes(), "a text file");
    }

    #[test]
    fn what_may_be_a_program_is_not_refused() {
        for file in [&[][..], &[0x48, 0, 0, 0], &[1; 16], b"\x7FELF", b"B\0", b"\x38\x63\xFF\xFF"] {
            assert_eq!(check(file), Ok(()), "{file:x?}");
        }
        assert_eq!(check(&elf(1)), Ok(()));
    }
}
