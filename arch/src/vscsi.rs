//! Virtual SCSI: what a partition and its adapter say to each other, in a command/response queue (CRQ), information
//! units of the SCSI RDMA protocol (SRP), and management datagrams (MAD).
//!
//! All fields are big-endian, but a tag, which is the guest's and comes back as it was. Offsets are in bytes. Source:
//! `docs/facts/virtual-scsi.md`.

/// Bytes of an entry of a queue.
pub const ENTRY_BYTES: usize = 16;
/// A queue has whole pages of so many bytes, by a power of two, and begins at one.
pub const QUEUE_LOG2: u32 = 12;
/// Bytes of the longest information unit or datagram.
pub const UNIT_BYTES_MAX: usize = 256;

/// Fields of a queue's entry, in its first doubleword.
pub mod entry {
    use crate::bits::Field;

    /// What the entry is: [`INITIALIZATION`], [`MESSAGE`], or 0 where nothing is.
    pub const VALID: Field = Field::new(0, 7);
    /// Of an initialization [`BEGINS`] or [`COMPLETE`], of a message [`SRP`] or [`DATAGRAM`].
    pub const FORMAT: Field = Field::new(8, 15);
    /// What became of an answer: [`DONE`] or [`ADAPTER_FAILED`].
    pub const STATUS: Field = Field::new(24, 31);
    /// Bytes of the information unit, whose address in the window is the second doubleword; in an answer the
    /// tag is there.
    pub const LENGTH: Field = Field::new(48, 63);

    /// The partner initializes.
    pub const INITIALIZATION: u64 = 0xC0;
    /// An information unit or a datagram.
    pub const MESSAGE: u64 = 0x80;
    /// Format: the partner is there.
    pub const BEGINS: u64 = 1;
    /// Format: the other partner is there too.
    pub const COMPLETE: u64 = 2;
    /// Format: an information unit of SRP.
    pub const SRP: u64 = 1;
    /// Format: a management datagram.
    pub const DATAGRAM: u64 = 2;
    /// Status: the unit was answered.
    pub const DONE: u64 = 0;
    /// Status: the answer could not be written.
    pub const ADAPTER_FAILED: u64 = 0x10;
}

/// Information units of SRP. The first byte says which.
pub mod srp {
    /// Begins the conversation.
    pub const LOGIN_REQUEST: u8 = 0x00;
    /// Acts on tasks that were sent before.
    pub const TASK_MANAGEMENT: u8 = 0x01;
    /// A SCSI command.
    pub const COMMAND: u8 = 0x02;
    /// Ends the conversation.
    pub const LOGOUT: u8 = 0x03;
    /// Answers [`LOGIN_REQUEST`].
    pub const LOGIN_RESPONSE: u8 = 0xC0;
    /// Answers [`COMMAND`] and [`TASK_MANAGEMENT`].
    pub const RESPONSE: u8 = 0xC1;
    /// Place of the tag, of 8 bytes, in each unit.
    pub const TAG: usize = 8;

    /// Fields of a response to a login.
    pub mod login {
        /// How many requests may wait, 4 bytes.
        pub const LIMIT: usize = 4;
        /// Bytes of the longest unit to the adapter, 4 bytes, and from it, 4 more.
        pub const LENGTHS: usize = 16;
        /// Kinds of descriptors, 2 bytes.
        pub const FORMATS: usize = 24;
        /// Direct and indirect ones.
        pub const BOTH_FORMATS: u16 = 1 << 1 | 1 << 2;
        /// Of the whole.
        pub const BYTES: usize = 52;
    }

    /// Fields of a command.
    pub mod command {
        /// Kinds of descriptors: 4 bits for data to the device, 4 for data from it.
        pub const FORMATS: usize = 5;
        /// How many descriptors of an indirect list are in the unit, for data to the device.
        pub const OUT_COUNT: usize = 6;
        /// The same for data from the device.
        pub const IN_COUNT: usize = 7;
        /// The logical unit, 8 bytes.
        pub const LUN: usize = 20;
        /// How many bytes the command has beyond 16, with its low two bits to be ignored.
        pub const MORE_BYTES: usize = 31;
        /// The SCSI command, 16 bytes.
        pub const CDB: usize = 32;
        /// What comes behind it: the rest of the command, then descriptors.
        pub const REST: usize = 48;
    }

    /// Kinds of descriptors: no data.
    pub const NO_DATA: u8 = 0;
    /// One descriptor: address in the window (8 bytes), key (4), length (4).
    pub const DIRECT: u8 = 1;
    /// A descriptor of a list of descriptors, the bytes that they have in all (4 bytes), and the first of them.
    pub const INDIRECT: u8 = 2;
    /// Bytes of a descriptor.
    pub const DESCRIPTOR_BYTES: usize = 16;

    /// Fields of a task-management request.
    pub mod task {
        /// The logical unit, 8 bytes.
        pub const LUN: usize = 20;
        /// What to do: [`ABORT`] and others.
        pub const FUNCTION: usize = 30;
        /// The tag of the task that it is for, 8 bytes.
        pub const TAG: usize = 32;
        /// Abort a task.
        pub const ABORT: u8 = 0x01;
        /// Abort the tasks of a set.
        pub const ABORT_SET: u8 = 0x02;
        /// Clear a set of tasks.
        pub const CLEAR_SET: u8 = 0x04;
        /// Reset a logical unit.
        pub const RESET: u8 = 0x08;
        /// The answer: it is done.
        pub const COMPLETE: u8 = 0;
        /// The answer: there is no such function.
        pub const NOT_SUPPORTED: u8 = 4;
    }

    /// Fields of a response.
    pub mod response {
        /// How many requests more may wait, 4 bytes.
        pub const LIMIT: usize = 4;
        /// [`HAS_RESPONSE`], [`HAS_SENSE`], [`OUT_UNDER`] and others.
        pub const FLAGS: usize = 18;
        /// SCSI status.
        pub const STATUS: usize = 19;
        /// Bytes that were too few or too many on the way to the device, 4 bytes.
        pub const OUT_RESIDUAL: usize = 20;
        /// The same on the way from the device.
        pub const IN_RESIDUAL: usize = 24;
        /// Length of the sense data, 4 bytes.
        pub const SENSE_BYTES: usize = 28;
        /// Length of the response data, 4 bytes.
        pub const RESPONSE_BYTES: usize = 32;
        /// Response data, sense data behind it.
        pub const DATA: usize = 36;

        /// There is response data.
        pub const HAS_RESPONSE: u8 = 1 << 0;
        /// There is sense data.
        pub const HAS_SENSE: u8 = 1 << 1;
        /// The device wanted more than the buffer had.
        pub const OUT_OVER: u8 = 1 << 2;
        /// The device wanted less than the buffer had.
        pub const OUT_UNDER: u8 = 1 << 3;
        /// The device had more than went into the buffer.
        pub const IN_OVER: u8 = 1 << 4;
        /// The device had less than went into the buffer.
        pub const IN_UNDER: u8 = 1 << 5;
    }
}

/// Management datagrams.
pub mod datagram {
    /// Which, 4 bytes.
    pub const TYPE: usize = 0;
    /// What became of it, 2 bytes.
    pub const STATUS: usize = 4;
    /// Bytes of the buffer, 2 bytes.
    pub const LENGTH: usize = 6;
    /// Address of the buffer in the window, 8 bytes.
    pub const BUFFER: usize = 16;
    /// What the adapter changes lies before here.
    pub const HEAD_BYTES: usize = 16;

    /// Type: who is there.
    pub const ADAPTER_INFO: u32 = 3;
    /// Type: what both can do, beyond commands. Only the head and the buffer's address belong to it.
    pub const CAPABILITIES: u32 = 5;
    /// Type: commands fail at once while a path to the disk is lost. Only the head belongs to it.
    pub const FAST_FAIL: u32 = 8;

    /// Status: it is done.
    pub const SUCCESS: u16 = 0;
    /// Status: the adapter does not know it.
    pub const NOT_SUPPORTED: u16 = 0xF1;
    /// Status: it could not be done.
    pub const FAILED: u16 = 0xF7;

    /// Fields of what [`CAPABILITIES`] has in the buffer.
    pub mod capabilities {
        /// What the guest has been through, and what it wants: 4 bytes.
        pub const FLAGS: usize = 0;
        /// Whether the adapter supports migration, 2 bytes.
        pub const MIGRATES: usize = 74;
        /// To what degree, 4 bytes.
        pub const MIGRATION_LEVEL: usize = 76;
        /// Whether it supports reservations, 2 bytes.
        pub const RESERVES: usize = 86;
        /// Of which kind, 4 bytes.
        pub const RESERVATION: usize = 88;
        /// Of the whole.
        pub const BYTES: usize = 92;
    }

    /// Fields of what [`ADAPTER_INFO`] puts into the buffer.
    pub mod info {
        /// Version of SRP, 8 bytes of text.
        pub const SRP_VERSION: usize = 0;
        /// Name of the partition at the other end, 96 bytes of text.
        pub const NAME: usize = 8;
        /// Its number, 4 bytes.
        pub const NUMBER: usize = 104;
        /// Version of the datagrams, 4 bytes.
        pub const VERSION: usize = 108;
        /// Its operating system, 4 bytes: [`LINUX`].
        pub const SYSTEM: usize = 112;
        /// Bytes of the longest transfer of each port, 8 words of 4 bytes.
        pub const TRANSFER_MAX: usize = 116;
        /// Of the whole.
        pub const BYTES: usize = 148;
        /// The number of Linux, which guests take as the kind of adapter that has no quirks.
        pub const LINUX: u32 = 2;
    }
}
