//! A payload: what a partition's memory holds when it starts.
//!
//! Read from an ELF64 file for 64-bit Power, of either endianness, or from a flat image, which lies
//! at guest real address 0 and is entered there. ELF segments lie at their physical addresses; the
//! top four bits are dropped, as the processor ignores them with relocation off, so a program
//! linked at 0xC000_0000_0000_0000 lies at 0. A position-independent program that is linked at 0 lies at
//! [`POSITION_INDEPENDENT`], since it brings its own interrupt vectors to 0. [`crate::bundle`] carries payloads to
//! the hypervisor.

use object::Endianness;
use object::elf;
use object::elf::{
    ELFMAG, EM_386, EM_AARCH64, EM_ARM, EM_PPC, EM_PPC64, EM_RISCV, EM_S390, EM_X86_64, ET_DYN,
    FileHeader64, PF_X, PT_LOAD, ProgramHeader64,
};
use object::read::elf::{FileHeader as _, ProgramHeader as _};

use crate::program_file;
use crate::size::Size;

/// The bits of an address that count with relocation off.
const REAL_MODE_ADDRESS: u64 = !(0xF << 60);
/// Where a position-independent program lies that is linked at 0: where QEMU's pseries loads kernels
/// (`KERNEL_LOAD_ADDR` of its `hw/ppc/spapr.h`), which such programs are made for.
const POSITION_INDEPENDENT: u64 = 0x40_0000;
/// Offset of the class (32-bit or 64-bit) in an ELF file.
const ELF_CLASS: usize = 4;
const ELF_CLASS_64: u8 = 2;

/// What a partition starts with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Payload {
    /// Guest real address of the first instruction.
    pub entry: u64,
    /// By ascending address, without overlap.
    pub segments: Vec<Segment>,
    /// Where the second file begins and ends in one of them.
    pub initrd: Option<[u64; 2]>,
}

/// Consecutive bytes of a payload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Guest real address of the first byte.
    pub address: u64,
    /// What the file gives.
    pub bytes: Vec<u8>,
    /// Length in memory; what is longer than `bytes` is zero.
    pub memory_bytes: u64,
}

impl Segment {
    /// The address after the last byte. [`Payload`]s hold only segments for which it exists.
    fn end(&self) -> u64 {
        self.address + self.memory_bytes
    }
}

/// Why a file cannot be a payload, or not one of this partition. Each says what would be right.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum PayloadError {
    #[error("the file is empty; it must be an ELF64 file for 64-bit Power or a flat image")]
    Empty,
    #[error("{0}")]
    NoProgram(String),
    #[error("the file is empty; an initrd has at least one byte")]
    EmptyInitrd,
    #[error("a 32-bit ELF file; it must be ELF64 for 64-bit Power")]
    NotElf64,
    #[error("an ELF file for {}; it must be for 64-bit Power", machine_name(*.0))]
    WrongMachine(u16),
    #[error("the ELF file is cut or damaged ({0}); build or copy it again")]
    Damaged(String),
    #[error(
        "segment {0} is longer in the file than in memory; its memory size must be at least its file size"
    )]
    FileLargerThanMemory(usize),
    #[error("segment {0} ends beyond the last address; link the payload lower")]
    Wraps(usize),
    #[error("the ELF file has nothing to load; it must have a PT_LOAD segment")]
    NothingToLoad,
    #[error("the segments at {0:#x} and {1:#x} overlap; each address may be loaded once")]
    Overlap(u64, u64),
    #[error("the entry {0:#x} lies in no segment's bytes; it must be inside a PT_LOAD segment")]
    EntryOutside(u64),
    #[error("the entry {0:#x} is not the address of an instruction; it must be a multiple of 4")]
    EntryUnaligned(u64),
    #[error(
        "it needs memory up to {end:#x} and 64 KiB above for the device tree, the partition has {memory}; give it at least {needed} or link the payload lower"
    )]
    TooLarge { end: u64, memory: Size, needed: Size },
}

/// How far from where it is linked a payload lies whose file has these bytes.
#[must_use]
pub fn moved_by(file: &[u8]) -> u64 {
    let moved = FileHeader64::<Endianness>::parse(file).and_then(|header| {
        let endian = header.endian()?;
        Ok(base(header, header.program_headers(endian, file)?, endian))
    });
    moved.unwrap_or_default()
}

fn base(
    header: &FileHeader64<Endianness>,
    programs: &[ProgramHeader64<Endianness>],
    endian: Endianness,
) -> u64 {
    let is_at_zero = programs.iter().any(|program| {
        program.p_type(endian) == PT_LOAD
            && program.p_memsz(endian) != 0
            && program.p_vaddr(endian) == 0
    });
    let is_moved = header.e_type.get(endian) == ET_DYN && is_at_zero;
    if is_moved { POSITION_INDEPENDENT } else { 0 }
}

/// What people call the processor of an ELF file's `e_machine`.
fn machine_name(number: u16) -> String {
    let name = match elf::Machine(number) {
        EM_386 => "x86",
        EM_X86_64 => "x86-64",
        EM_ARM => "32-bit Arm",
        EM_AARCH64 => "64-bit Arm",
        EM_RISCV => "RISC-V",
        EM_PPC => "32-bit Power",
        EM_S390 => "z/Architecture",
        _ => return format!("the processor with the number {number}"),
    };
    name.to_owned()
}

impl Payload {
    /// Reads a payload from the bytes of a file: ELF if it begins as ELF does, else flat.
    pub fn from_file_bytes(bytes: &[u8]) -> Result<Self, PayloadError> {
        if bytes.is_empty() {
            return Err(PayloadError::Empty);
        }
        program_file::check(bytes).map_err(PayloadError::NoProgram)?;
        if bytes.starts_with(&ELFMAG) {
            return Self::from_elf(bytes);
        }
        let segment =
            Segment { address: 0, bytes: bytes.to_vec(), memory_bytes: bytes.len() as u64 };
        Ok(Self { entry: 0, segments: vec![segment], initrd: None })
    }

    fn from_elf(bytes: &[u8]) -> Result<Self, PayloadError> {
        let damaged = |error: object::read::Error| PayloadError::Damaged(error.to_string());
        if bytes.get(ELF_CLASS).is_some_and(|&class| class != ELF_CLASS_64) {
            return Err(PayloadError::NotElf64);
        }
        let header = FileHeader64::<Endianness>::parse(bytes).map_err(damaged)?;
        let endian = header.endian().map_err(damaged)?;
        let machine = header.e_machine.get(endian);
        if machine != EM_PPC64 {
            return Err(PayloadError::WrongMachine(machine.0));
        }

        let linked_entry = header.e_entry(endian);
        let programs = header.program_headers(endian, bytes).map_err(damaged)?;
        let base = base(header, programs, endian);
        let mut entry = None;
        let mut segments = Vec::new();
        for (index, program) in programs.iter().enumerate() {
            let memory_bytes = program.p_memsz(endian);
            if program.p_type(endian) != PT_LOAD || memory_bytes == 0 {
                continue;
            }
            if program.p_filesz(endian) > memory_bytes {
                return Err(PayloadError::FileLargerThanMemory(index));
            }
            let address = (program.p_paddr(endian) & REAL_MODE_ADDRESS)
                .checked_add(base)
                .ok_or(PayloadError::Wraps(index))?;
            address.checked_add(memory_bytes).ok_or(PayloadError::Wraps(index))?;
            let data = program.data(endian, bytes).map_err(|()| {
                PayloadError::Damaged(format!("segment {index} is not in the file"))
            })?;

            let offset = linked_entry.wrapping_sub(program.p_vaddr(endian));
            if offset < data.len() as u64 && entry.is_none() {
                let is_code = program.p_flags(endian).contains(PF_X);
                entry =
                    Some(if is_code { linked_entry } else { descriptor(endian, data, offset)? });
            }
            segments.push((
                program.p_vaddr(endian),
                Segment { address, bytes: data.to_vec(), memory_bytes },
            ));
        }
        if segments.is_empty() {
            return Err(PayloadError::NothingToLoad);
        }

        let entry = entry.ok_or(PayloadError::EntryOutside(linked_entry))?;
        let entry = segments
            .iter()
            .find_map(|(linked, segment)| {
                let offset = entry.wrapping_sub(*linked);
                (offset < segment.bytes.len() as u64).then(|| segment.address + offset)
            })
            .ok_or(PayloadError::EntryOutside(entry))?;
        if !entry.is_multiple_of(4) {
            return Err(PayloadError::EntryUnaligned(entry));
        }

        let mut segments: Vec<Segment> = segments.into_iter().map(|(_, segment)| segment).collect();
        segments.sort_by_key(|segment| segment.address);
        for pair in segments.windows(2) {
            if pair[0].end() > pair[1].address {
                return Err(PayloadError::Overlap(pair[0].address, pair[1].address));
            }
        }
        Ok(Self { entry, segments, initrd: None })
    }

    /// Adds a second file, in units of 64 KiB behind the payload's last byte.
    pub fn add_initrd(&mut self, bytes: Vec<u8>) -> Result<(), PayloadError> {
        if bytes.is_empty() {
            return Err(PayloadError::EmptyInitrd);
        }
        let memory_bytes = bytes.len() as u64;
        let address = self.end().checked_next_multiple_of(arch::bundle::ALIGNMENT);
        let address = address.ok_or(PayloadError::Wraps(self.segments.len()))?;
        let end = address.checked_add(memory_bytes);
        let end = end.ok_or(PayloadError::Wraps(self.segments.len()))?;
        self.initrd = Some([address, end]);
        self.segments.push(Segment { address, bytes, memory_bytes });
        Ok(())
    }

    fn end(&self) -> u64 {
        self.segments.iter().map(Segment::end).max().unwrap_or(0)
    }

    /// Checks that all segments lie in a partition's memory, which begins at 0, and leave 64 KiB above for the device
    /// tree.
    pub fn check_fits(&self, memory_bytes: u64) -> Result<(), PayloadError> {
        let end = self.end();
        let aligned = end.checked_next_multiple_of(arch::bundle::ALIGNMENT);
        let needed = aligned.and_then(|end| end.checked_add(arch::bundle::ALIGNMENT));
        if needed.is_some_and(|needed| needed <= memory_bytes) {
            return Ok(());
        }
        let needed = Size(needed.unwrap_or(end));
        Err(PayloadError::TooLarge { end, memory: Size(memory_bytes), needed })
    }
}

/// The code address in a function descriptor: ELFv1 programs, which are big-endian, name one as
/// their entry, and it lies in data.
fn descriptor(endian: Endianness, data: &[u8], offset: u64) -> Result<u64, PayloadError> {
    let doubleword = usize::try_from(offset)
        .ok()
        .and_then(|offset| data.get(offset..)?.first_chunk::<8>())
        .ok_or_else(|| {
            PayloadError::Damaged("the entry's function descriptor is cut".to_owned())
        })?;
    Ok(match endian {
        Endianness::Big => u64::from_be_bytes(*doubleword),
        Endianness::Little => u64::from_le_bytes(*doubleword),
    })
}

#[cfg(test)]
mod tests;
