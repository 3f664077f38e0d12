//! The rules on our machine and on QEMU, and what is said of them.

mod determinism;
mod readme;
mod registers;
mod rules;
