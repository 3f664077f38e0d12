//! The record: what the hypervisor counted, told to the host when all partitions are over.
//!
//! It is one line of the console, [`START`], the version, a blank and one object of JSON, which the `Display`
//! of [`Record`] writes. [`START`] begins with a [`CONTINUED`](crate::console::CONTINUED) that stands alone,
//! and a partition's own are written twice, so that nothing a partition writes can be a record. A host that
//! does not know the version shows the line as it is.

use core::fmt;

/// What the line begins with.
pub const START: &str = "\x17powervisor: record ";

/// Changes when something is added or removed, or means another thing.
pub const VERSION: u32 = 4;

/// How a count is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name {
    /// In JSON.
    pub key: &'static str,
    /// What it is one of.
    pub group: &'static str,
    /// What it is in its group.
    pub name: &'static str,
    /// Behind the number; empty where it is a plain count.
    pub unit: &'static str,
}

/// One list of the counts makes the structure, its names and the order in which they are written.
macro_rules! counts {
    ($($(#[$doc:meta])* $key:ident: $group:literal $name:literal $unit:literal;)*) => {
        /// What a partition did.
        #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
        pub struct Counts {
            $($(#[$doc])* pub $key: u64,)*
        }

        /// The counts, group by group.
        pub const NAMES: [Name; [$(stringify!($key)),*].len()] =
            [$(Name { key: stringify!($key), group: $group, name: $name, unit: $unit }),*];

        impl Counts {
            /// The counts, in the order of [`NAMES`].
            #[must_use]
            pub const fn values(&self) -> [u64; NAMES.len()] {
                [$(self.$key),*]
            }

            /// The counts that have these values, in the order of [`NAMES`].
            #[must_use]
            pub const fn from_values([$($key),*]: [u64; NAMES.len()]) -> Self {
                Self { $($key),* }
            }
        }
    };
}
counts! {
    /// Microseconds that its vCPUs were charged.
    time_ran_us: "time" "ran" "us";
    /// Microseconds of these that passed in the hypervisor.
    time_in_the_hypervisor_us: "time" "in the hypervisor" "us";
    /// How often the hypervisor made a vCPU leave that ran: mostly as its slice was over.
    time_preempted: "time" "preempted" "";
    /// Exits by the hypervisor's decrementer.
    time_decrementer_exits: "time" "decrementer exits" "";
    /// How often it was started anew.
    time_restarts: "time" "restarts" "";
    /// Hypercalls, from a guest with relocation on.
    virtual_door_hypercall: "virtual door" "hypercall" "";
    /// Loads and stores that the second stage did not translate.
    virtual_door_data_storage: "virtual door" "data storage" "";
    /// Fetches that it did not translate.
    virtual_door_instruction_storage: "virtual door" "instruction storage" "";
    /// Instructions left to the hypervisor.
    virtual_door_emulation_assistance: "virtual door" "emulation assistance" "";
    /// Instructions of a facility that the partition does not have, or not yet.
    virtual_door_facility: "virtual door" "facility" "";
    /// All others but the decrementer's.
    virtual_door_other: "virtual door" "other" "";
    /// The same from a guest with relocation off.
    real_door_hypercall: "real door" "hypercall" "";
    /// The same from a guest with relocation off.
    real_door_data_storage: "real door" "data storage" "";
    /// The same from a guest with relocation off.
    real_door_instruction_storage: "real door" "instruction storage" "";
    /// The same from a guest with relocation off.
    real_door_emulation_assistance: "real door" "emulation assistance" "";
    /// The same from a guest with relocation off.
    real_door_facility: "real door" "facility" "";
    /// The same from a guest with relocation off.
    real_door_other: "real door" "other" "";
    /// Pages of 1 GiB that are mapped.
    pages_1g: "pages" "1G" "";
    /// Pages of 2 MiB.
    pages_2m: "pages" "2M" "";
    /// Pages of 64 KiB.
    pages_64k: "pages" "64K" "";
    /// Blocks of 16 MiB of a hashed page table that the hypervisor made one page each.
    superpages_promotions: "superpages" "promotions" "";
    /// Blocks whose pages got their own size back.
    superpages_demotions: "superpages" "demotions" "";
    /// Times that the block of a page that had been there for a while was not whole.
    superpages_failures: "superpages" "failures" "";
    /// Microseconds that looking for blocks and changing them took.
    superpages_time_us: "superpages" "time" "us";
}

/// Where the time of a hardware thread went that no partition was charged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Thread {
    /// Its number to firmware.
    pub server: u32,
    /// Microseconds in all.
    pub elapsed_us: u64,
    /// Microseconds in which there was nothing to do.
    pub idle_us: u64,
    /// Microseconds of the hypervisor's own.
    pub own_us: u64,
    /// Microseconds that the ends of partitions took, from the decision on.
    pub ends_us: u64,
}

/// How a partition ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It switched itself off.
    PoweredOff,
    /// The hypervisor stopped it.
    Stopped,
    /// It was suspended.
    Suspended,
    /// It never ran.
    DidNotRun,
}

impl Outcome {
    /// In words, as the record has it.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::PoweredOff => "powered off",
            Self::Stopped => "stopped",
            Self::Suspended => "suspended",
            Self::DidNotRun => "did not run",
        }
    }
}

/// What the prefetch engine fetches for a vCPU that is back (`docs/decisions/0016-prefetching-that-learns.md`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Fetched {
    /// Nothing.
    Nothing,
    /// The lines that the L2 had.
    L2,
    /// Those, and those that the L3 had.
    L2L3,
}

impl Fetched {
    /// As the record has it.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::L2 => "l2",
            Self::L2L3 => "l2-l3",
        }
    }
}

/// What a vCPU, with those of its vcore, has learned of the prefetch engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Learned {
    /// What it found best.
    pub best: Fetched,
    /// What it got more done with the L2 than with nothing, by the last trial: parts of 10,000.
    pub l2_won: Option<i32>,
    /// The same of L2 and L3, against what was best of the two.
    pub l2_l3_won: Option<i32>,
    /// How often it found something else than before; what holds first is nothing.
    pub changes: u32,
}

/// A number as JSON has it.
fn number(value: Option<i32>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        Some(value) => write!(f, "{value}"),
        None => f.write_str("null"),
    }
}

impl fmt::Display for Learned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { best, l2_won, l2_l3_won, changes } = *self;
        write!(f, "{{\"best\":\"{}\",\"l2_won\":", best.text())?;
        number(l2_won, f)?;
        f.write_str(",\"l2_l3_won\":")?;
        number(l2_l3_won, f)?;
        write!(f, ",\"changes\":{changes}}}")
    }
}

/// A partition in the record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partition<'a> {
    /// Its name, which needs no escapes ([`crate::bundle::is_name`]).
    pub name: &'a str,
    /// How it ended.
    pub outcome: Outcome,
    /// Where in real memory its image lies, and its bytes, if it was suspended.
    pub image: Option<[u64; 2]>,
    /// What its vCPUs have learned, in their order, where they do.
    pub learned: &'a [Learned],
    /// What it did.
    pub counts: Counts,
}

/// What the line has behind [`START`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record<'a> {
    /// The hardware threads that ran partitions.
    pub threads: &'a [Thread],
    /// The partitions, in the order of the bundle.
    pub partitions: &'a [Partition<'a>],
}

impl fmt::Display for Record<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{VERSION} {{\"threads\":[")?;
        for (index, Thread { server, elapsed_us, idle_us, own_us, ends_us }) in
            self.threads.iter().enumerate()
        {
            f.write_str(if index == 0 { "" } else { "," })?;
            write!(
                f,
                "{{\"server\":{server},\"elapsed_us\":{elapsed_us},\"idle_us\":{idle_us},\"own_us\":{own_us},\"ends_us\":{ends_us}}}"
            )?;
        }
        f.write_str("],\"partitions\":[")?;
        for (index, Partition { name, outcome, image, learned, counts }) in
            self.partitions.iter().enumerate()
        {
            f.write_str(if index == 0 { "" } else { "," })?;
            write!(f, "{{\"name\":\"{name}\",\"outcome\":\"{}\",", outcome.text())?;
            if let Some([start, bytes]) = image {
                write!(f, "\"image\":[{start},{bytes}],")?;
            }
            for (index, one) in learned.iter().enumerate() {
                let start = if index == 0 { "\"learned\":[" } else { "," };
                write!(f, "{start}{one}")?;
            }
            f.write_str(if learned.is_empty() { "" } else { "]," })?;
            f.write_str("\"counts\":{")?;
            for (index, (name, count)) in NAMES.iter().zip(counts.values()).enumerate() {
                f.write_str(if index == 0 { "" } else { "," })?;
                write!(f, "\"{}\":{count}", name.key)?;
            }
            f.write_str("}}")?;
        }
        f.write_str("]}")
    }
}
