//! Where a debugger finds the vCPUs in the hypervisor's memory: a table in the image, which the compiler makes
//! and no code of the hypervisor reads or writes.
//!
//! It lies at the symbol [`SYMBOL`], little-endian, in words of 64 bits: [`VERSION`], how many [`Register`]s a
//! record has, how many the facilities on demand, [`Places::words`], and the registers. It has offsets and no
//! addresses. What it leads through begins in what each hardware thread has for itself: these structures lie at the
//! symbol [`PER_CPU`] one behind the other, and HSPRG0 has the address of the thread's. It has the address of what all
//! threads share once the thread has entered a guest.

/// The symbol of the table.
pub const SYMBOL: &str = "hal_vcpus";
/// The symbol of what each hardware thread has for itself.
pub const PER_CPU: &str = "hal_per_cpu";
/// Changes with the layout of the table, and with what its words mean.
pub const VERSION: u64 = 2;
/// Words before those of [`Places`].
pub const HEAD: usize = 3;

/// What a vCPU does: the first word of its activity. The second one is the thread, or the time.
pub mod activity {
    /// Nothing: it was not started, or not again.
    pub const STOPPED: u64 = 0;
    /// It waits for a hardware thread.
    pub const READY: u64 = 1;
    /// It runs on the thread with the index that the second word has.
    pub const RUNNING: u64 = 2;
    /// It sleeps until an interrupt or H_PROD comes; the second word is when its decrementer expires, by the time base.
    pub const CEDED: u64 = 3;
    /// It sleeps until H_PROD comes.
    pub const AWAITS_PROD: u64 = 4;
    /// The hypervisor waits for an interrupt in its place, in a `stop`; the second word is as that of [`CEDED`].
    pub const PAUSED: u64 = 5;
}

/// Where the registers of a vCPU are that does not run: the first word. The second one is the index of the thread.
pub mod residence {
    /// In its record.
    pub const RECORD: u64 = 0;
    /// In its record, with a copy of some in the thread.
    pub const RECORD_AND_PROCESSOR: u64 = 1;
    /// Some with the thread, which puts them into the record before it does anything but run the vCPU.
    pub const THREAD: u64 = 2;
}

/// One list of the places makes the structure, and the order in which they are written.
macro_rules! places {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Offsets and sizes, in bytes.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct Places {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Places {
            /// How many words they are.
            pub const WORDS: usize = [$(stringify!($name)),*].len();

            /// They, in their order.
            #[must_use]
            #[inline]
            pub const fn words(&self) -> [u64; Self::WORDS] {
                [$(self.$name),*]
            }

            /// Those of [`Places::words`].
            #[must_use]
            #[inline]
            pub const fn from_words([$($name),*]: [u64; Self::WORDS]) -> Self {
                Self { $($name),* }
            }
        }
    };
}
places! {
    /// Size of what a hardware thread has for itself.
    per_cpu_bytes,
    /// In it: the address of what all threads share, or 0.
    per_cpu_system,
    /// In a list: the address of what is in it.
    list_address,
    /// In a list: how much is in it.
    list_length,
    /// In what all threads share: the list of partitions.
    system_partitions,
    /// Size of a partition with its lock.
    partition_bytes,
    /// In these: the number of the partition to the processor, a word of 32 bits.
    partition_lpid,
    /// In these: the list of its vCPUs, by the number that the partition knows them by.
    partition_vcpus,
    /// Size of a vCPU.
    vcpu_bytes,
    /// In a vCPU: the address of its record, or 0 while a hardware thread has it.
    vcpu_registers,
    /// In a vCPU: the address of the registers of facilities on demand, or 0 if it has used none.
    vcpu_demanded,
    /// In a vCPU: what it does, as in [`activity`].
    vcpu_activity,
    /// In a vCPU: where its registers are, as in [`residence`].
    vcpu_residence,
}

/// A register in a record, or several that are alike and follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Register {
    /// Its name, with zeros behind it; of several what their numbers from 0 are written behind.
    pub name: [u8; Self::NAME],
    /// How many there are.
    pub count: u64,
    /// Bytes of each, 8 or 16, little-endian.
    pub bytes: u64,
    /// Where in the record the first one lies.
    pub offset: u64,
}

impl Register {
    /// Bytes of a name.
    pub const NAME: usize = 24;
    /// Bytes of all.
    pub const BYTES: usize = Self::NAME + 3 * 8;

    /// One register of 64 bits.
    #[must_use]
    #[inline]
    pub const fn new(name: &str, offset: usize) -> Self {
        Self::several(name, 1, 8, offset)
    }

    /// So many registers of so many bytes.
    ///
    /// # Panics
    /// If the name is too long.
    #[must_use]
    #[inline]
    pub const fn several(name: &str, count: u64, bytes: u64, offset: usize) -> Self {
        let mut padded = [0; Self::NAME];
        let mut at = 0;
        while at < name.len() {
            padded[at] = name.as_bytes()[at];
            at += 1;
        }
        Self { name: padded, count, bytes, offset: offset as u64 }
    }
}

/// The table, with so many words of [`Places`] and registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Table<const RECORD: usize, const DEMANDED: usize> {
    head: [u64; HEAD],
    places: [u64; Places::WORDS],
    record: [Register; RECORD],
    demanded: [Register; DEMANDED],
}

impl<const RECORD: usize, const DEMANDED: usize> Table<RECORD, DEMANDED> {
    /// The table of this version.
    #[must_use]
    #[inline]
    pub const fn new(
        places: Places,
        record: [Register; RECORD],
        demanded: [Register; DEMANDED],
    ) -> Self {
        let head = [VERSION, RECORD as u64, DEMANDED as u64];
        Self { head, places: places.words(), record, demanded }
    }
}
