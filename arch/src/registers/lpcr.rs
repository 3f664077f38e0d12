//! Logical partitioning control register. Source: Power ISA 3.0B Book III;
//! `docs/facts/special-registers.md#lpcr`; positions as in Linux's `reg.h`.

use crate::bits::{Field, bit};

/// Virtualized partition memory with relocation off (POWER8, hashed).
pub const VPM0: u64 = bit(0);
/// Virtualized partition memory with relocation on (hashed).
pub const VPM1: u64 = bit(1);
/// Ignore SLB large page bits.
pub const ISL: u64 = bit(2);
/// Key-based virtualization (hashed): `docs/facts/hashed-translation.md#key-based-virtualization`.
pub const KBV: u64 = bit(3);
/// Default prefetch depth.
pub const DPFD: Field = Field::new(9, 11);
/// Page size of virtual real mode (POWER8).
pub const VRMASD: Field = Field::new(12, 16);
/// POWER9: `stop` is ended by hypervisor virtualization interrupts.
pub const PECE_HVEE: u64 = bit(17);
/// Real mode limit selector (POWER8): how much a partition reaches with relocation off where VPM0 is 0.
pub const RMLS: Field = Field::new(34, 37);
/// Interrupt little-endian, for interrupts that do not enter the hypervisor.
pub const ILE: u64 = bit(38);
/// Alternate interrupt location: 0 none, 2 offset 0x18000, 3 at 0xC000000000004000.
pub const AIL: Field = Field::new(39, 40);
/// Process table in use.
pub const UPRT: u64 = bit(41);
/// Enhanced virtualization: more is left to the hypervisor.
pub const EVIRT: u64 = bit(42);
/// The partition uses radix translation.
pub const HR: u64 = bit(43);
/// Large decrementer.
pub const LD: u64 = bit(46);
/// Privileged doorbells end a power-saving state.
pub const PECE_PRIVILEGED_DOORBELL: u64 = bit(47);
/// Hypervisor doorbells end a power-saving state.
pub const PECE_HYPERVISOR_DOORBELL: u64 = bit(48);
/// External interrupts end a power-saving state.
pub const PECE_EXTERNAL: u64 = bit(49);
/// The decrementer ends a power-saving state.
pub const PECE_DECREMENTER: u64 = bit(50);
/// Machine check and maintenance end a power-saving state.
pub const PECE_MAINTENANCE: u64 = bit(51);
/// Mediated external exception request.
pub const MER: u64 = bit(52);
/// Guest translation shootdown enabled: a guest may use `tlbie` and `tlbsync`.
pub const GTSE: u64 = bit(53);
/// Translation control (hashed): `docs/facts/hashed-translation.md#translation-control`.
pub const TC: u64 = bit(54);
/// Hypervisor external interrupts are held back in hypervisor state.
pub const HEIC: u64 = bit(59);
/// External interrupts go to the partition (POWER9).
pub const LPES: u64 = bit(60);
/// Hypervisor virtualization interrupts are taken.
pub const HVICE: u64 = bit(62);
/// Hypervisor decrementer interrupts are taken.
pub const HDICE: u64 = bit(63);
