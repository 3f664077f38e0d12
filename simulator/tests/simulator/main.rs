//! The machine through what its crate offers.

mod hierarchy;
mod instructions;
mod interrupts;
mod machine;
mod machine_file;
mod monitor_time;
mod power_saving;
mod prefetch_engine;
mod prefetch_engine_time;
mod siblings;
mod support;
mod timing;
mod translation;
mod translation_time;
