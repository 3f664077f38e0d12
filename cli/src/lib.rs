//! The `powervisor` command as a library, so that the system tests drive what a person drives.
//!
//! A run goes through these modules: a file from the user ([`partition_file`], [`experiment`], both
//! read through [`toml_file`], see [`workload`]) names a payload ([`payload`]); payloads become a bundle ([`bundle`]);
//! the bundle, the hypervisor's image ([`images`]) and a machine description ([`machine_file`]) make
//! a [`system::System`], which [`on_simulator`] or [`on_qemu`] runs to its [`system::Exit`].
//! What a boot shows goes through [`screen`] ([`demultiplex`]), what is typed is kept by [`input_log`],
//! a machine is kept by [`saved`], and [`trace`] and [`statistics`] say what happened.
//! An experiment's variant is run as often as its figures need by [`trial`], with [`checks`] of them.
//! [`console`] and [`comparison`] make the consoles of the two machines comparable, [`report`] prints
//! figures. The subcommands in [`commands`] only put these together.

pub mod arguments;
pub mod bundle;
pub mod calibration;
pub mod checks;
pub mod commands;
pub mod comparison;
pub mod console;
pub mod demultiplex;
pub mod experiment;
pub mod failure;
pub mod images;
pub mod input_log;
pub mod interruption;
pub mod ledger;
pub mod machine_file;
pub mod memory_plan;
pub mod metric;
pub mod on_qemu;
pub mod on_simulator;
pub mod output;
pub mod partition_file;
pub mod payload;
pub mod progress;
pub mod report;
pub mod saved;
pub mod screen;
pub mod signals;
pub mod size;
pub mod spinner;
pub mod statistics;
pub mod system;
pub mod timed;
pub mod toml_file;
pub mod topology;
pub mod trace;
pub mod trial;
pub mod until;
pub mod user_file;
pub mod visible;
pub mod workload;
