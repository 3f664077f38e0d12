//! The platform around the processor: firmware at high level, its console and its device tree.
//!
//! Firmware is OPAL as a payload sees it: an entry address with a real instruction sequence behind
//! it, skiboot's calling convention and skiboot's manners. Source: `docs/facts/opal-and-powernv.md`.

pub mod console;
pub mod device_tree;
pub mod kernel;
pub mod opal;
pub mod quiesce;

use serde::{Deserialize, Serialize};

use crate::power_saving::SelfRestore;
use crate::state::shared::Shared;
use crate::state::xics::FIRMWARE_EVENT;
use console::Console;
use quiesce::Quiesce;

/// Where things lie in real memory, as skiboot has them on QEMU (`docs/facts/opal-and-powernv.md#memory-at-entry`).
pub mod layout {
    /// The kernel image.
    pub const KERNEL: u64 = 0x2000_0000;
    /// Room for the kernel image.
    pub const KERNEL_BYTES: u64 = 0x0800_0000;
    /// The initrd.
    pub const INITRD: u64 = 0x2800_0000;
    /// Room for the initrd.
    pub const INITRD_BYTES: u64 = 0x0800_0000;
    /// Firmware: everything from here for [`FIRMWARE_BYTES`] is reserved.
    pub const FIRMWARE: u64 = 0x3000_0000;
    /// Bytes of firmware, `opal-runtime-size`.
    pub const FIRMWARE_BYTES: u64 = 0x01C5_0000;
    /// The firmware's entry.
    pub const ENTRY: u64 = 0x3000_3760;
    /// The stack that r1 points into at the payload's entry.
    pub const STACK: u64 = 0x31C4_0000;
    /// The flattened device tree, in the firmware's heap.
    pub const DEVICE_TREE: u64 = 0x3076_E7B0;
}

/// Whether the machine is on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Power {
    /// On.
    On,
    /// Somebody asked to switch off; it happens at the next poll for events.
    GoingOff,
    /// Off.
    Off,
    /// A reboot was asked for.
    Rebooting,
}

/// The state of the platform.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Platform {
    /// Whether the machine is on.
    pub power: Power,
    /// The console.
    pub console: Console,
    /// Who is kept out of firmware.
    pub quiesce: Quiesce,
    /// What firmware sets again when a thread comes out of a deep power-saving state.
    pub self_restore: SelfRestore,
}

impl Platform {
    /// A platform after power-on, with so many threads.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self {
            power: Power::On,
            console: Console::default(),
            quiesce: Quiesce::new(threads),
            self_restore: SelfRestore::default(),
        }
    }

    /// Brings the interrupt controller's lines to the threads after something changed at cycle `now`.
    pub fn drive_lines(&mut self, shared: &mut Shared, now: u64) {
        shared.xics.set_level(FIRMWARE_EVENT, self.console.asks());
        shared.drive_lines(now);
    }
}
