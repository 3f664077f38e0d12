//! The lab: what to run, runs of it on our machine or on QEMU, and what they found. It knows no terminal:
//! `powervisor` is one user of it.
//!
//! A run goes through these modules: a file from the user ([`partition_file`], [`experiment`], both read
//! through [`toml_file`], with [`number`]s and [`size`]s, see [`workload`]) names a payload ([`payload`]);
//! payloads become a bundle ([`bundle`]); the bundle, the hypervisor's image ([`images`]) and a machine
//! description ([`machine_file`]; its values are [`parameters`], and a [`setting`] changes one) make a
//! [`system::System`], which [`on_simulator`] or [`on_qemu`] runs to its [`system::Exit`]. Long work tells its
//! [`progress`], and an [`interruption`] ends it. [`console`] and [`demultiplex`] say who wrote what on a
//! console, [`record`] has what the hypervisor counted, and [`statistics`] show it; [`comparison`] makes the
//! consoles of the two machines comparable. An experiment's variant is run as often as its figures need by
//! [`trial`], with [`checks`] of them; [`report`] has its figures ([`metric`]), [`events`] what its region met
//! ([`extent`] says when that is over), [`ledger`] where its cycles went, [`steps`] what each of several steps
//! saves. [`calibration`] puts the machine's figures beside published ones. A machine that somebody looks at
//! step by step, also backwards, has a [`history`], and finds the hypervisor's [`vcpus`]. What goes wrong is a
//! [`failure::Failure`].

pub mod bundle;
pub mod calibration;
pub mod checks;
pub mod comparison;
pub mod console;
pub mod demultiplex;
pub mod events;
pub mod experiment;
pub mod extent;
pub mod failure;
pub mod history;
pub mod images;
pub mod interruption;
pub mod kernel_file;
pub mod ledger;
pub mod loss;
pub mod machine_file;
pub mod memory_plan;
pub mod metric;
pub mod number;
pub mod on_qemu;
pub mod on_simulator;
pub mod parameters;
pub mod partition_file;
pub mod payload;
pub mod program_file;
pub mod progress;
pub mod rates;
pub mod reasons;
pub mod record;
pub mod refills;
pub mod report;
pub mod samples;
pub mod setting;
pub mod size;
pub mod statistics;
pub mod steps;
pub mod suspended;
pub mod system;
pub mod timed;
pub mod toml_file;
pub mod trial;
pub mod user_file;
pub mod vcpus;
pub mod workload;
