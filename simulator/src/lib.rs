//! The POWER machine: a full-system simulator of POWER9 and POWER8 with hypervisor mode.
//!
//! | module | what it is |
//! |---|---|
//! | [`exec`] | what an instruction does; knows no time |
//! | [`mmu`] | from effective address to memory, or to the interrupt that says why not |
//! | [`interrupt`] | which interrupt is due and what taking it does |
//! | [`state`] | the ground floor: threads, what they share, memory; plain data |
//! | [`pipeline`], [`cache`] | timing mode: how long an instruction takes, and why |
//! | [`power_saving`] | what a power-saving level costs |
//! | [`ledger`] | the only place that adds cycles |
//! | [`platform`] | firmware, console, device tree |
//! | [`machine`] | puts it together, runs it, saves and restores it |
//! | [`trace`] | observers, which never change state |
//! | [`oracle`] | observers that judge: what partitions see of exits and of each other, and the page sizes in hashed page tables |
//! | [`description`] | `machines/*.toml` |
//!
//! The machine and the hypervisor meet only in `arch`.

pub mod blocks;
pub mod cache;
pub mod description;
pub mod exec;
pub mod interrupt;
pub mod ledger;
pub mod machine;
pub mod mmu;
pub mod oracle;
pub mod pipeline;
pub mod platform;
pub mod power_saving;
pub mod quantity;
pub mod state;
pub mod trace;

pub use description::Description;
pub use machine::{Boot, Machine, Place, Report, RunState, SnapshotError, Whose};
pub use oracle::Oracle;
pub use platform::console::Input;
pub use platform::kernel::BootError;
pub use quantity::DescriptionError;
pub use trace::{Counts, NoObserver, Observer, RegionCounts};
