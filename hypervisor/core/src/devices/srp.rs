//! What information units say: a command with its descriptors of data, and the answers.
//!
//! Source: `docs/facts/virtual-scsi.md#information-units`.

use arch::scsi::{CHECK_CONDITION, GOOD, SENSE_BYTES, Sense};
use arch::vscsi::UNIT_BYTES_MAX;
use arch::vscsi::srp::{self, DESCRIPTOR_BYTES, command, login, response};

use crate::devices::dma::Dma;
use crate::guest_memory::AccessError;
use crate::hal::{Memory, Platform};

/// A unit as it was read, once, from the partition's memory.
pub type Unit = [u8; UNIT_BYTES_MAX];

/// A guest's tag: it comes back as it was.
pub type Tag = [u8; 8];

/// Bytes at a place of the window.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Descriptor {
    /// The first one's address.
    pub address: u64,
    /// How many.
    pub bytes: u64,
}

/// Descriptors that a unit itself can have, at most.
const LOCAL_MAX: usize = (UNIT_BYTES_MAX - command::REST - DESCRIPTOR_BYTES - 4) / DESCRIPTOR_BYTES;

/// Where a command's data lies: the descriptors that are in the unit, and then those of a table in the
/// partition's memory.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Descriptors {
    local: [Descriptor; LOCAL_MAX],
    local_count: usize,
    table: Descriptor,
    next: usize,
    /// Of all of them, as the unit says.
    pub bytes: u64,
}

impl Descriptors {
    /// The next one, read once.
    ///
    /// # Errors
    /// The table is not where it should be.
    pub fn next<H: Memory + Platform>(
        &mut self,
        dma: &mut Dma<'_, H>,
    ) -> Result<Option<Descriptor>, AccessError> {
        let index = self.next;
        self.next += 1;
        if index < self.local_count {
            return Ok(Some(self.local[index]));
        }
        let offset = (index * DESCRIPTOR_BYTES) as u64;
        if offset + DESCRIPTOR_BYTES as u64 > self.table.bytes {
            return Ok(None);
        }
        let mut bytes = [0; DESCRIPTOR_BYTES];
        dma.read(self.table.address.wrapping_add(offset), &mut bytes)?;
        Ok(Some(descriptor(&bytes)))
    }

    /// Those of `format` at `at` of a unit, which has `count` of a list in itself, and where they end.
    fn parse(unit: &Unit, at: usize, format: u8, count: u8) -> Option<(Self, usize)> {
        let mut all = Self::default();
        let end = match format {
            srp::NO_DATA => at,
            srp::DIRECT => {
                all.local[0] = descriptor(unit.get(at..at + DESCRIPTOR_BYTES)?);
                (all.local_count, all.bytes) = (1, all.local[0].bytes);
                at + DESCRIPTOR_BYTES
            }
            srp::INDIRECT => {
                all.table = descriptor(unit.get(at..at + DESCRIPTOR_BYTES)?);
                let list = at + DESCRIPTOR_BYTES + 4;
                all.bytes = u64::from(word(unit.get(list - 4..list)?));
                // No more than the table is said to have.
                let in_table = all.table.bytes / DESCRIPTOR_BYTES as u64;
                all.local_count = usize::from(count).min(usize::try_from(in_table).ok()?);
                for (index, place) in all.local.get_mut(..all.local_count)?.iter_mut().enumerate() {
                    let at = list + index * DESCRIPTOR_BYTES;
                    *place = descriptor(unit.get(at..at + DESCRIPTOR_BYTES)?);
                }
                list + usize::from(count) * DESCRIPTOR_BYTES
            }
            _ => return None,
        };
        Some((all, end))
    }
}

/// A SCSI command, for a logical unit and with places for its data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Command {
    /// The logical unit.
    pub lun: u64,
    /// What it is to do.
    pub cdb: [u8; 16],
    /// Data to the device.
    pub data_out: Descriptors,
    /// Data from it.
    pub data_in: Descriptors,
}

impl Command {
    /// What a unit says; `None` if its descriptors are not of a known kind or do not fit into it.
    #[must_use]
    pub fn parse(unit: &Unit) -> Option<Self> {
        let at = command::REST + usize::from(unit[command::MORE_BYTES] & !3);
        let formats = unit[command::FORMATS];
        let (data_out, at) = Descriptors::parse(unit, at, formats >> 4, unit[command::OUT_COUNT])?;
        let (data_in, _) = Descriptors::parse(unit, at, formats & 0xF, unit[command::IN_COUNT])?;
        Some(Self {
            lun: doubleword(&unit[command::LUN..command::LUN + 8]),
            cdb: core::array::from_fn(|index| unit[command::CDB + index]),
            data_out,
            data_in,
        })
    }
}

/// The place of the disk that a logical unit is: a target of the first bus with unit 0, in the format that
/// names all three, or the first target's in the simplest one.
#[must_use]
pub const fn target(lun: u64) -> Option<usize> {
    let word = (lun >> 48) as usize;
    if lun << 16 != 0 {
        return None;
    }
    match word >> 14 {
        2 if word & 0xFF == 0 => Some(word >> 8 & 0x3F),
        0 if word == 0 => Some(0),
        _ => None,
    }
}

/// What became of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// Why it was refused, if it was.
    pub sense: Option<Sense>,
    /// Data went to the device.
    pub writes: bool,
    /// Bytes that the guest has described.
    pub described: u64,
    /// Bytes that the device wanted to move.
    pub wanted: u64,
}

/// An answer, and how long it is.
pub type Reply = (Unit, usize);

fn reply(kind: u8, tag: Tag) -> Unit {
    let mut unit = [0; UNIT_BYTES_MAX];
    unit[0] = kind;
    unit[srp::TAG..srp::TAG + 8].copy_from_slice(&tag);
    unit
}

fn put(unit: &mut Unit, at: usize, value: u32) {
    unit[at..at + 4].copy_from_slice(&value.to_be_bytes());
}

/// Requests that may wait: those that a queue of one page can answer, with room for what nobody asked for.
const LIMIT: u32 = 128;

/// The answer to a login: yes.
#[must_use]
pub fn logged_in(tag: Tag) -> Reply {
    let mut unit = reply(srp::LOGIN_RESPONSE, tag);
    put(&mut unit, login::LIMIT, LIMIT);
    put(&mut unit, login::LENGTHS, UNIT_BYTES_MAX as u32);
    put(&mut unit, login::LENGTHS + 4, UNIT_BYTES_MAX as u32);
    unit[login::FORMATS..login::FORMATS + 2].copy_from_slice(&login::BOTH_FORMATS.to_be_bytes());
    (unit, login::BYTES)
}

/// The answer to a task-management request.
#[must_use]
pub fn task_managed(tag: Tag, code: u8) -> Reply {
    let mut unit = reply(srp::RESPONSE, tag);
    put(&mut unit, response::LIMIT, 1);
    unit[response::FLAGS] = response::HAS_RESPONSE;
    put(&mut unit, response::RESPONSE_BYTES, 4);
    unit[response::DATA + 3] = code;
    (unit, response::DATA + 4)
}

/// The answer to a command.
#[must_use]
pub fn completed(tag: Tag, completion: Completion) -> Reply {
    let mut unit = reply(srp::RESPONSE, tag);
    put(&mut unit, response::LIMIT, 1);
    let Completion { sense, writes, described, wanted } = completion;
    let (under, over, at) = if writes {
        (response::OUT_UNDER, response::OUT_OVER, response::OUT_RESIDUAL)
    } else {
        (response::IN_UNDER, response::IN_OVER, response::IN_RESIDUAL)
    };
    if described != wanted {
        unit[response::FLAGS] |= if wanted < described { under } else { over };
        put(&mut unit, at, u32::try_from(wanted.abs_diff(described)).unwrap_or(u32::MAX));
    }
    unit[response::STATUS] = GOOD;
    let Some(sense) = sense else { return (unit, response::DATA) };
    unit[response::STATUS] = CHECK_CONDITION;
    unit[response::FLAGS] |= response::HAS_SENSE;
    put(&mut unit, response::SENSE_BYTES, SENSE_BYTES as u32);
    unit[response::DATA..response::DATA + SENSE_BYTES].copy_from_slice(&sense.bytes());
    (unit, response::DATA + SENSE_BYTES)
}

/// The tag of a unit.
#[must_use]
pub fn tag(unit: &Unit) -> Tag {
    core::array::from_fn(|index| unit[srp::TAG + index])
}

fn descriptor(bytes: &[u8]) -> Descriptor {
    Descriptor { address: doubleword(&bytes[..8]), bytes: u64::from(word(&bytes[12..16])) }
}

/// The first four bytes.
pub(crate) fn word(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(core::array::from_fn(|index| bytes[index]))
}

/// The first eight bytes.
pub(crate) fn doubleword(bytes: &[u8]) -> u64 {
    u64::from_be_bytes(core::array::from_fn(|index| bytes[index]))
}
