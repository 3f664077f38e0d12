//! The `powervisor` command as a library, so that the system tests drive what a person drives.
//!
//! [`lab`] runs and measures; here is what a person meets: [`arguments`], what the terminal shows ([`output`],
//! [`screen`], [`spinner`], [`trace`], [`gdb`]), and files that a boot keeps ([`saved`], [`suspended`],
//! [`input_log`]). The subcommands in [`commands`] only put these together.

pub mod arguments;
pub mod commands;
pub mod envelope;
pub mod failure;
pub mod gdb;
pub mod input_log;
pub mod moment;
pub mod output;
pub mod saved;
pub mod screen;
pub mod signals;
pub mod spinner;
pub mod suspended;
pub mod topology;
pub mod trace;
pub mod until;
pub mod visible;
pub mod whole;
