//! What information units say: a command with its descriptors of data, and the answers.
//!
//! Source: `docs/facts/virtual-scsi.md#information-units`.

use arch::scsi::{CHECK_CONDITION, GOOD, SENSE_BYTES, Sense};
use arch::vscsi::UNIT_BYTES_MAX;
use arch::vscsi::srp::{self, DESCRIPTOR_BYTES, command, login, response};

use crate::devices::dma::Dma;
use crate::guest_memory::AccessError;
use crate::hal::Windows;

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

/// Where a command's data lies: the descriptors that are in its unit, and then those of a table in the
/// partition's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descriptors {
    /// Where those are that the unit has itself, all of which fit into it.
    local_at: usize,
    local_count: usize,
    table: Descriptor,
    next: usize,
    /// Of all of them, as the unit says.
    pub bytes: u64,
}

impl Descriptors {
    /// None.
    pub const NONE: Self = Self {
        local_at: 0,
        local_count: 0,
        table: Descriptor { address: 0, bytes: 0 },
        next: 0,
        bytes: 0,
    };

    /// The next one, read once.
    ///
    /// # Errors
    /// The table is not where it should be.
    pub fn next<H: Windows>(
        &mut self,
        dma: &Dma<'_, H>,
        unit: &Unit,
    ) -> Result<Option<Descriptor>, AccessError> {
        let index = self.next;
        self.next += 1;
        if index < self.local_count {
            return Ok(descriptor_at(unit, self.local_at + index * DESCRIPTOR_BYTES));
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
        let mut all = Self::NONE;
        let end = match format {
            srp::NO_DATA => at,
            srp::DIRECT => {
                let only = descriptor_at(unit, at)?;
                (all.local_at, all.local_count, all.bytes) = (at, 1, only.bytes);
                at + DESCRIPTOR_BYTES
            }
            srp::INDIRECT => {
                all.table = descriptor_at(unit, at)?;
                let list = at + DESCRIPTOR_BYTES + 4;
                all.bytes = u64::from(word(unit.get(list - 4..list)?));
                // No more than the table is said to have.
                let in_table = all.table.bytes / DESCRIPTOR_BYTES as u64;
                let count = usize::from(count);
                (all.local_at, all.local_count) =
                    (list, count.min(usize::try_from(in_table).ok()?));
                if list + all.local_count * DESCRIPTOR_BYTES > unit.len() {
                    return None;
                }
                list + count * DESCRIPTOR_BYTES
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

impl Completion {
    /// Nothing was moved.
    pub const NOTHING: Self = Self { sense: None, writes: false, described: 0, wanted: 0 };

    /// There was no place for the last `left` bytes that should have moved: no more was wanted than had moved before.
    pub fn fail(&mut self, left: u64) {
        self.sense = Some(Sense::DATA_PHASE_ERROR);
        self.wanted = self.wanted.min(self.described) - left;
    }
}

/// Bytes of the longest answer.
const ANSWER_BYTES_MAX: usize = 64;
const _: () = assert!(
    login::BYTES <= ANSWER_BYTES_MAX && response::DATA + SENSE_BYTES <= ANSWER_BYTES_MAX,
    "an answer fits"
);

/// Makes a unit an answer of this kind, with nothing in it but whose it is.
fn reply(unit: &mut Unit, kind: u8, tag: Tag) {
    unit[..ANSWER_BYTES_MAX].fill(0);
    unit[0] = kind;
    unit[srp::TAG..srp::TAG + 8].copy_from_slice(&tag);
}

fn put(unit: &mut Unit, at: usize, value: u32) {
    unit[at..at + 4].copy_from_slice(&value.to_be_bytes());
}

/// Requests that may wait: those that a queue of one page can answer, with room for what nobody asked for.
const LIMIT: u32 = 128;

/// Makes a unit the answer to a login: yes. How long it is.
pub fn logged_in(unit: &mut Unit, tag: Tag) -> usize {
    reply(unit, srp::LOGIN_RESPONSE, tag);
    put(unit, login::LIMIT, LIMIT);
    put(unit, login::LENGTHS, UNIT_BYTES_MAX as u32);
    put(unit, login::LENGTHS + 4, UNIT_BYTES_MAX as u32);
    unit[login::FORMATS..login::FORMATS + 2].copy_from_slice(&login::BOTH_FORMATS.to_be_bytes());
    login::BYTES
}

/// Makes a unit the answer to a task-management request. How long it is.
pub fn task_managed(unit: &mut Unit, tag: Tag, code: u8) -> usize {
    reply(unit, srp::RESPONSE, tag);
    put(unit, response::LIMIT, 1);
    unit[response::FLAGS] = response::HAS_RESPONSE;
    put(unit, response::RESPONSE_BYTES, 4);
    unit[response::DATA + 3] = code;
    response::DATA + 4
}

/// Makes a unit the answer to a command. How long it is.
pub fn completed(unit: &mut Unit, tag: Tag, completion: Completion) -> usize {
    reply(unit, srp::RESPONSE, tag);
    put(unit, response::LIMIT, 1);
    let Completion { sense, writes, described, wanted } = completion;
    let (under, over, at) = if writes {
        (response::OUT_UNDER, response::OUT_OVER, response::OUT_RESIDUAL)
    } else {
        (response::IN_UNDER, response::IN_OVER, response::IN_RESIDUAL)
    };
    if described != wanted {
        unit[response::FLAGS] |= if wanted < described { under } else { over };
        put(unit, at, u32::try_from(wanted.abs_diff(described)).unwrap_or(u32::MAX));
    }
    unit[response::STATUS] = GOOD;
    let Some(sense) = sense else { return response::DATA };
    unit[response::STATUS] = CHECK_CONDITION;
    unit[response::FLAGS] |= response::HAS_SENSE;
    put(unit, response::SENSE_BYTES, SENSE_BYTES as u32);
    unit[response::DATA..response::DATA + SENSE_BYTES].copy_from_slice(&sense.bytes());
    response::DATA + SENSE_BYTES
}

/// The tag of a unit.
#[must_use]
pub fn tag(unit: &Unit) -> Tag {
    core::array::from_fn(|index| unit[srp::TAG + index])
}

/// The one at `at` of a unit, if it fits.
fn descriptor_at(unit: &Unit, at: usize) -> Option<Descriptor> {
    unit.get(at..at + DESCRIPTOR_BYTES).map(descriptor)
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
