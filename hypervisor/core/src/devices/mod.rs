//! A partition's devices, and the window through which they see its memory.
//!
//! | module | what it is |
//! |---|---|
//! | `tce` | the window through which devices see the partition's memory |
//! | `dma` | their accesses through it |
//! | `adapter` | the virtual SCSI adapter: its queue, its interrupt, its disks |
//! | `srp` | what its information units say |
//! | `disk` | a disk: what it answers to SCSI commands |
//! | `transfer` | data on the way between a disk and the partition |

pub mod adapter;
pub mod disk;
pub mod dma;
pub mod srp;
pub mod tce;
pub mod transfer;

use adapter::Adapter;
use tce::Window;

/// A partition's devices. Who uses them need not have locked the partition.
#[derive(Debug)]
pub struct Devices {
    /// What they see of its memory.
    pub window: Window,
    /// The virtual SCSI adapter, if it has disks.
    pub adapter: Option<Adapter>,
}

impl Devices {
    /// The partition starts anew. All of its vCPUs are stopped.
    pub fn reset(&self) {
        self.window.clear();
        if let Some(adapter) = &self.adapter {
            adapter.reset();
        }
    }
}
