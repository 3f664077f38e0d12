//! Facts of the Power ISA, PAPR and OPAL, said once.
//!
//! This crate is where the hypervisor and the machine it runs on meet, and the only place where they
//! do: registers and their fields, instruction encodings, interrupt vectors, the layout of translation
//! tables, call numbers. It decides nothing and touches nothing, so it has no `unsafe`, no allocation
//! and no dependency of ours. A fact that both sides share hides a mistake from both; what is here is
//! therefore checked against other readings of the architecture (binutils and QEMU) in `tests/`.
//!
//! Bit numbers are IBM's: bit 0 is the most significant bit of the register, as in the Power ISA.

#![no_std]

pub mod address;
pub mod bits;
pub mod bundle;
pub mod console;
pub mod excess;
pub mod features;
pub mod hash;
pub mod image;
pub mod instruction;
pub mod interrupt;
pub mod marker;
pub mod opal;
pub mod papr;
pub mod processor;
pub mod radix;
pub mod record;
pub mod registers;
pub mod scsi;
pub mod tag;
pub mod vcpus;
pub mod vscsi;
