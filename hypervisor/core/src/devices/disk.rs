//! A disk in memory, and what it answers to SCSI commands.
//!
//! Nothing that it is told to do outlasts the answer, so it has no cache to synchronize and nothing to abort.
//!
//! Source: `docs/facts/virtual-scsi.md#scsi`.

use arch::bundle::BLOCK_BYTES;
use arch::scsi::{Sense, operation};

use crate::memory::Range;

/// Size of a block, as a power of two.
pub const BLOCK_LOG2: u32 = BLOCK_BYTES.trailing_zeros();

/// Bytes of the longest answer that is no block of a disk.
const ANSWER_BYTES_MAX: usize = 64;

/// A disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Disk {
    /// Where its blocks are: whole ones, at least one.
    pub range: Range,
    /// Whether it may be written to.
    pub is_writable: bool,
    /// What tells it from all other disks of the machine, and not where it is.
    pub serial: u64,
}

/// Bytes of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Given {
    bytes: [u8; ANSWER_BYTES_MAX],
    length: usize,
}

impl Given {
    /// No more of `bytes` than the command asks for.
    fn of(bytes: &[u8], asked: u64) -> Self {
        let length = bytes.len().min(usize::try_from(asked).unwrap_or(usize::MAX));
        let mut all = [0; ANSWER_BYTES_MAX];
        all[..length].copy_from_slice(&bytes[..length]);
        Self { bytes: all, length }
    }

    /// They.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// What a command does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing.
    Nothing,
    /// It answers with these bytes.
    Gives(Given),
    /// It moves blocks.
    Moves {
        /// The first byte of them, on the disk.
        position: u64,
        /// Of all of them.
        bytes: u64,
        /// To the disk.
        writes: bool,
    },
}

/// What a logical unit does by the command `cdb`; without a disk nothing but to say so.
///
/// # Errors
/// Why it refuses.
pub fn effect(disk: Option<&Disk>, cdb: &[u8; 16]) -> Result<Effect, Sense> {
    let asked = |at: usize, bytes: usize| number(&cdb[at..at + bytes]);
    match (cdb[0], disk) {
        (operation::INQUIRY, disk) => inquiry(disk, cdb[1], cdb[2], asked(3, 2)),
        (operation::REPORT_LUNS, _) => Ok(Effect::Gives(Given::of(
            &[0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            asked(6, 4),
        ))),
        (operation::REQUEST_SENSE, _) => {
            let sense = if disk.is_some() { Sense::NONE } else { Sense::NO_LOGICAL_UNIT };
            Ok(Effect::Gives(Given::of(&sense.bytes(), asked(4, 1))))
        }
        (_, None) => Err(Sense::NO_LOGICAL_UNIT),
        (operation::TEST_UNIT_READY | operation::START_STOP_UNIT, _)
        | (operation::SYNCHRONIZE_CACHE_10 | operation::SYNCHRONIZE_CACHE_16, _) => {
            Ok(Effect::Nothing)
        }
        (operation::READ_6 | operation::WRITE_6, Some(disk)) => {
            let count = if cdb[4] == 0 { 256 } else { u64::from(cdb[4]) };
            disk.moves(asked(1, 3) & 0x1F_FFFF, count, cdb[0] == operation::WRITE_6)
        }
        (operation::READ_10 | operation::WRITE_10, Some(disk)) => {
            disk.moves(asked(2, 4), asked(7, 2), cdb[0] == operation::WRITE_10)
        }
        (operation::READ_16 | operation::WRITE_16, Some(disk)) => {
            disk.moves(asked(2, 8), asked(10, 4), cdb[0] == operation::WRITE_16)
        }
        // BYTCHK asks for a comparison with data, which no disk here makes.
        (operation::VERIFY_10, Some(_)) if cdb[1] & 0x06 != 0 => Err(Sense::INVALID_FIELD),
        (operation::VERIFY_10, Some(disk)) => {
            disk.moves(asked(2, 4), asked(7, 2), false).map(|_| Effect::Nothing)
        }
        (operation::READ_CAPACITY_10, Some(disk)) => {
            let last = u32::try_from(disk.blocks() - 1).unwrap_or(u32::MAX);
            Ok(Effect::Gives(Given::of(&words([last, 1 << BLOCK_LOG2]), u64::MAX)))
        }
        (operation::SERVICE_ACTION_IN_16, Some(disk))
            if cdb[1] & 0x1F == operation::READ_CAPACITY_16 =>
        {
            let last = disk.blocks() - 1;
            let mut bytes = [0; 32];
            bytes[..8].copy_from_slice(&last.to_be_bytes());
            bytes[8..12].copy_from_slice(&(1u32 << BLOCK_LOG2).to_be_bytes());
            Ok(Effect::Gives(Given::of(&bytes, asked(10, 4))))
        }
        (operation::MODE_SENSE_6, Some(disk)) => disk.mode_sense(cdb[2], asked(4, 1), false),
        (operation::MODE_SENSE_10, Some(disk)) => disk.mode_sense(cdb[2], asked(7, 2), true),
        _ => Err(Sense::INVALID_COMMAND),
    }
}

impl Disk {
    /// Number of its blocks.
    #[must_use]
    pub const fn blocks(&self) -> u64 {
        self.range.bytes >> BLOCK_LOG2
    }

    fn moves(&self, first: u64, count: u64, writes: bool) -> Result<Effect, Sense> {
        if first.checked_add(count).is_none_or(|end| end > self.blocks()) {
            return Err(Sense::OUT_OF_RANGE);
        }
        if writes && !self.is_writable {
            return Err(Sense::WRITE_PROTECTED);
        }
        Ok(Effect::Moves { position: first << BLOCK_LOG2, bytes: count << BLOCK_LOG2, writes })
    }

    /// The pages of modes: caching, without a cache, and control. A read-only disk says so in the header.
    fn mode_sense(&self, page: u8, asked: u64, is_long: bool) -> Result<Effect, Sense> {
        const CACHING: u8 = 0x08;
        const CONTROL: u8 = 0x0A;
        const ALL: u8 = 0x3F;
        // Values that can be changed: none.
        let is_changeable = page >> 6 == 1;
        // Saved ones: there are none.
        if page >> 6 == 3 {
            return Err(Sense { key: 0x5, code: 0x39, qualifier: 0x00 });
        }
        let mut bytes = [0; 8 + 20 + 12];
        let header = if is_long { 8 } else { 4 };
        let mut length = header;
        for (number, more) in [(CACHING, 18), (CONTROL, 10)] {
            if [number, ALL].contains(&(page & 0x3F)) {
                bytes[length] = number;
                bytes[length + 1] = more as u8;
                if number == CACHING && !is_changeable {
                    // RCD: nothing that was read is kept either.
                    bytes[length + 2] = 0x01;
                }
                length += 2 + more;
            }
        }
        if length == header {
            return Err(Sense::INVALID_FIELD);
        }
        let protected = if self.is_writable { 0 } else { 0x80 };
        if is_long {
            bytes[..2].copy_from_slice(&(length as u16 - 2).to_be_bytes());
            bytes[3] = protected;
        } else {
            bytes[0] = length as u8 - 1;
            bytes[2] = protected;
        }
        Ok(Effect::Gives(Given::of(&bytes[..length], asked)))
    }
}

/// What is there, or one of the pages that say more of it.
fn inquiry(disk: Option<&Disk>, flags: u8, page: u8, asked: u64) -> Result<Effect, Sense> {
    // A peripheral that can not be there: none of any type.
    let kind = if disk.is_some() { 0x00 } else { 0x7F };
    let gives = |bytes: &[u8]| Ok(Effect::Gives(Given::of(bytes, asked)));
    if flags & 1 == 0 {
        if page != 0 {
            return Err(Sense::INVALID_FIELD);
        }
        let mut bytes = *b"\0\0\x05\x02\x1F\0\0\x02POWERVSRvirtual disk    0   ";
        bytes[0] = kind;
        return gives(&bytes);
    }
    let Some(disk) = disk else { return Err(Sense::NO_LOGICAL_UNIT) };
    match page {
        0x00 => gives(&[kind, 0x00, 0, 4, 0x00, 0x80, 0xB0, 0xB1]),
        0x80 => gives(&serial(kind, disk)),
        0xB0 => {
            let mut bytes = [0; 64];
            bytes[..4].copy_from_slice(&[kind, 0xB0, 0, 60]);
            gives(&bytes)
        }
        0xB1 => {
            let mut bytes = [0; 64];
            // It does not turn.
            bytes[..6].copy_from_slice(&[kind, 0xB1, 0, 60, 0, 1]);
            gives(&bytes)
        }
        _ => Err(Sense::INVALID_FIELD),
    }
}

/// The page with its serial number, as 16 hexadecimal digits.
fn serial(kind: u8, disk: &Disk) -> [u8; 20] {
    let mut bytes = [0; 20];
    bytes[..4].copy_from_slice(&[kind, 0x80, 0, 16]);
    for (place, digit) in bytes[4..].iter_mut().rev().enumerate() {
        let value = (disk.serial >> (4 * place)) as u8 & 0xF;
        *digit = if value < 10 { b'0' + value } else { b'A' + value - 10 };
    }
    bytes
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn words(words: [u32; 2]) -> [u8; 8] {
    let [first, second] = words.map(u64::from);
    (first << 32 | second).to_be_bytes()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::vec::Vec;

    use super::{Disk, Effect, effect};
    use crate::memory::Range;
    use arch::scsi::{Sense, operation};
    use proptest::prelude::{any, prop_assert, proptest};

    const DISK: Disk = Disk {
        range: Range::new(0x12_0000, 100 * 512),
        is_writable: false,
        serial: 0x0123_4567_89AB_CDEF,
    };

    fn ask(disk: Option<&Disk>, cdb: &[u8]) -> Result<Effect, Sense> {
        let mut all = [0; 16];
        all[..cdb.len()].copy_from_slice(cdb);
        effect(disk, &all)
    }

    fn gives(disk: Option<&Disk>, cdb: &[u8]) -> Vec<u8> {
        match ask(disk, cdb).unwrap() {
            Effect::Gives(given) => given.bytes().to_vec(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn blocks_are_those_of_the_disk_in_each_length_of_command() {
        let moves = |position, bytes| Ok(Effect::Moves { position, bytes, writes: false });
        assert_eq!(ask(Some(&DISK), &[operation::READ_6, 0, 0, 3, 2]), moves(3 * 512, 1024));
        let ten = [operation::READ_10, 0, 0, 0, 0, 99, 0, 0, 1];
        assert_eq!(ask(Some(&DISK), &ten), moves(99 * 512, 512));
        let mut sixteen = [0; 16];
        (sixteen[0], sixteen[9], sixteen[13]) = (operation::READ_16, 98, 2);
        assert_eq!(ask(Some(&DISK), &sixteen), moves(98 * 512, 1024));
        sixteen[9] = 99;
        assert_eq!(ask(Some(&DISK), &sixteen), Err(Sense::OUT_OF_RANGE));
        sixteen[2..14].fill(0xFF);
        assert_eq!(ask(Some(&DISK), &sixteen), Err(Sense::OUT_OF_RANGE));
        // A length of 0 is 256 blocks in the oldest command, and none in the others.
        assert_eq!(ask(Some(&DISK), &[operation::READ_6]), Err(Sense::OUT_OF_RANGE));
        assert_eq!(ask(Some(&DISK), &[operation::READ_10]), moves(0, 0));
    }

    #[test]
    fn a_read_only_disk_says_so_before_and_after() {
        assert_eq!(ask(Some(&DISK), &[operation::WRITE_10]), Err(Sense::WRITE_PROTECTED));
        let asks = |disk, cdb: [u8; 9]| gives(Some(disk), &cdb);
        let six = [operation::MODE_SENSE_6, 0, 0x3F, 0, 255, 0, 0, 0, 0];
        let ten = [operation::MODE_SENSE_10, 0, 0x08, 0, 0, 0, 0, 0, 255];
        let writable = Disk { is_writable: true, ..DISK };
        assert_eq!(asks(&DISK, six)[..6], [35, 0, 0x80, 0, 0x08, 18]);
        assert_eq!(asks(&writable, six)[..6], [35, 0, 0, 0, 0x08, 18]);
        assert_eq!(asks(&DISK, ten)[..10], [0, 26, 0, 0x80, 0, 0, 0, 0, 0x08, 18]);
        let unknown = [operation::MODE_SENSE_6, 0, 0x01, 0, 255];
        assert_eq!(ask(Some(&DISK), &unknown), Err(Sense::INVALID_FIELD));
    }

    #[test]
    fn a_disk_tells_its_size_and_name_and_where_none_is_that() {
        assert_eq!(gives(Some(&DISK), &[operation::READ_CAPACITY_10]), [0, 0, 0, 99, 0, 0, 2, 0]);
        let mut cdb = [0; 16];
        (cdb[0], cdb[1], cdb[13]) = (operation::SERVICE_ACTION_IN_16, 0x10, 12);
        let long = gives(Some(&DISK), &cdb);
        assert_eq!(long, [0, 0, 0, 0, 0, 0, 0, 99, 0, 0, 2, 0], "no more than asked for");
        let inquiry = [operation::INQUIRY, 0, 0, 0, 36];
        assert_eq!(gives(Some(&DISK), &inquiry)[8..16], *b"POWERVSR");
        assert_eq!(gives(None, &inquiry)[0], 0x7F);
        let serial = gives(Some(&DISK), &[operation::INQUIRY, 1, 0x80, 0, 255]);
        assert_eq!(serial, *b"\0\x80\0\x100123456789ABCDEF");
        assert_eq!(ask(None, &[operation::TEST_UNIT_READY]), Err(Sense::NO_LOGICAL_UNIT));
        assert_eq!(ask(Some(&DISK), &[0xFF]), Err(Sense::INVALID_COMMAND));
    }

    proptest! {
        /// No command moves what is not the disk's, or gives more than it was asked for.
        #[test]
        fn no_command_is_too_strange(cdb in any::<[u8; 16]>(), is_there: bool, is_writable: bool) {
            let disk = Disk { is_writable, ..DISK };
            match effect(is_there.then_some(&disk), &cdb) {
                Ok(Effect::Moves { position, bytes, writes }) => {
                    prop_assert!(is_there && (is_writable || !writes));
                    prop_assert!(position + bytes <= disk.range.bytes);
                }
                Ok(Effect::Gives(given)) => prop_assert!(given.bytes().len() <= 64),
                Ok(Effect::Nothing) | Err(_) => {}
            }
        }
    }
}
