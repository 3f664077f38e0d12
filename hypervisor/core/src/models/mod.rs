//! What the hardware threads hand over to each other, in every order of steps: `cargo xtask loom`.
//!
//! Each test here is run by loom again and again, each time with another order of the threads' steps and with other
//! values that the C11 memory model lets a load return. What runs is the code of this crate, on loom's atomics and
//! locks ([`crate::sync`]). A thread that waits for ever, a lock that is never free, data that two threads have at
//! a time, and what the tests assert are found. `docs/decisions/0006-hand-overs.md` says what is covered.
//!
//! [`hand_overs`] tries the parts, [`hash_tables`] the entries of a hashed page table, [`partitions`] whole partitions
//! on two hardware threads of [`machine`], and [`lives`] and [`pairs`] what may become of a partition while something
//! else does.

mod calls;
mod hand_overs;
mod hash_tables;
mod lives;
mod machine;
mod orders;
mod pairs;
mod partitions;
