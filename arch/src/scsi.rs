//! SCSI: operation codes of the commands that a disk knows, and what it says when it refuses one.
//!
//! Source: `docs/facts/virtual-scsi.md#scsi`.

/// Operation codes, the first byte of a command.
pub mod operation {
    #![expect(missing_docs, reason = "the names are those of SPC and SBC")]
    pub const TEST_UNIT_READY: u8 = 0x00;
    pub const REQUEST_SENSE: u8 = 0x03;
    pub const READ_6: u8 = 0x08;
    pub const WRITE_6: u8 = 0x0A;
    pub const INQUIRY: u8 = 0x12;
    pub const MODE_SENSE_6: u8 = 0x1A;
    pub const START_STOP_UNIT: u8 = 0x1B;
    pub const READ_CAPACITY_10: u8 = 0x25;
    pub const READ_10: u8 = 0x28;
    pub const WRITE_10: u8 = 0x2A;
    pub const VERIFY_10: u8 = 0x2F;
    pub const SYNCHRONIZE_CACHE_10: u8 = 0x35;
    pub const MODE_SENSE_10: u8 = 0x5A;
    pub const READ_16: u8 = 0x88;
    pub const WRITE_16: u8 = 0x8A;
    pub const SYNCHRONIZE_CACHE_16: u8 = 0x91;
    /// With [`READ_CAPACITY_16`] in the low five bits of the second byte.
    pub const SERVICE_ACTION_IN_16: u8 = 0x9E;
    /// A service action.
    pub const READ_CAPACITY_16: u8 = 0x10;
    pub const REPORT_LUNS: u8 = 0xA0;
}

/// Status of a command: it is done.
pub const GOOD: u8 = 0x00;
/// Status of a command: sense data says what is wrong.
pub const CHECK_CONDITION: u8 = 0x02;

/// Sense data in the fixed format has so many bytes.
pub const SENSE_BYTES: usize = 18;

/// What is wrong: sense key, additional sense code and its qualifier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sense {
    /// Sense key.
    pub key: u8,
    /// Additional sense code.
    pub code: u8,
    /// Its qualifier.
    pub qualifier: u8,
}

impl Sense {
    /// Nothing is.
    pub const NONE: Self = Self::new(0x0, 0x00, 0x00);
    /// The operation code is not known.
    pub const INVALID_COMMAND: Self = Self::new(0x5, 0x20, 0x00);
    /// Blocks beyond the end of the disk.
    pub const OUT_OF_RANGE: Self = Self::new(0x5, 0x21, 0x00);
    /// A field of the command has a value that the disk does not know.
    pub const INVALID_FIELD: Self = Self::new(0x5, 0x24, 0x00);
    /// There is no such logical unit.
    pub const NO_LOGICAL_UNIT: Self = Self::new(0x5, 0x25, 0x00);
    /// The disk is read-only.
    pub const WRITE_PROTECTED: Self = Self::new(0x7, 0x27, 0x00);
    /// The data could not be moved: there is no memory of the partition where a descriptor says.
    pub const DATA_PHASE_ERROR: Self = Self::new(0xB, 0x4B, 0x00);

    const fn new(key: u8, code: u8, qualifier: u8) -> Self {
        Self { key, code, qualifier }
    }

    /// In the fixed format.
    #[must_use]
    pub const fn bytes(self) -> [u8; SENSE_BYTES] {
        let mut bytes = [0; SENSE_BYTES];
        bytes[0] = 0x70;
        bytes[2] = self.key;
        bytes[7] = (SENSE_BYTES - 8) as u8;
        bytes[12] = self.code;
        bytes[13] = self.qualifier;
        bytes
    }
}
