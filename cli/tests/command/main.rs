//! The powervisor command as its users run it.

mod bad_guests;
mod bad_input;
mod boot;
mod disks;
mod ends;
mod explained;
mod gdb;
mod kernel_file;
mod payload;
mod reports;
mod running;
mod support;
mod values;
