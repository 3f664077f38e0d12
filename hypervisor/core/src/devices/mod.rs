//! What a partition's devices have of it.

pub mod tce;
