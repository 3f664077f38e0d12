//! Loom: hand-overs between hardware threads, in all interleavings (`cargo xtask loom`).
//!
//! Loom runs each test here again and again, each time with another order of the threads' steps and with other values
//! that the C11 memory model lets a load return. It runs the code of this crate, on its own atomics and locks
//! ([`crate::sync`]). It finds a thread that waits for ever, a lock that is never free, data that two threads have at a
//! time, and what the tests assert. `docs/decisions/0006-hand-overs.md` says what the models cover.
//!
//! [`hand_overs`] tries the parts, [`cores`] whose a core is, [`hash_tables`] the entries of a hashed page table,
//! [`partitions`] whole partitions on two hardware threads of [`machine`], and [`lives`] and [`pairs`] what may become
//! of a partition while something else does.

mod calls;
mod cores;
mod hand_overs;
mod hash_tables;
mod lives;
mod machine;
mod orders;
mod pairs;
mod partitions;
