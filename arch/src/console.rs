//! The console that several partitions share: how hypervisor and host tell apart what comes over one line.
//!
//! Each line begins with who wrote it: [`HYPERVISOR`], or a partition's name in brackets and a blank,
//! `[name] `. Two partitions are never in one line. A line that had to be ended although its writer had
//! not, because it was too long or because somebody else had to write, ends with [`CONTINUED`]; the
//! writer's next line is the rest of it. A [`CONTINUED`] of a partition's own is written twice, also where it has the
//! console for itself and its lines begin with nothing. So the host can give back every byte of a partition's, and
//! tell what is the hypervisor's ([`crate::record`]); and a terminal, which ignores the character, shows something
//! readable without any host.

/// What a line of the hypervisor's own begins with.
pub const HYPERVISOR: &str = "powervisor: ";

/// ASCII's "end of transmission block".
pub const CONTINUED: u8 = 0x17;
