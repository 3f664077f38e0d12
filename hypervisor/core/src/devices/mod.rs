//! A partition's devices, and the windows through which they see its memory.
//!
//! | module | what it is |
//! |---|---|
//! | `tce` | a window through which a device sees the partition's memory |
//! | `dma` | their accesses through it |
//! | `adapter` | a virtual SCSI adapter: its queue, its interrupt, its disks |
//! | `srp` | what its information units say |
//! | `disk` | a disk: what it answers to SCSI commands |
//! | `transfer` | data on the way between a disk and the partition |

pub mod adapter;
pub mod disk;
pub mod dma;
pub mod srp;
pub mod tce;
pub mod transfer;

use alloc::vec::Vec;

use arch::papr::tce::WINDOW;

use adapter::{Adapter, UNIT};
use tce::{NoMemory, Window};

/// A partition's devices. Who uses them need not have locked the partition.
#[derive(Debug)]
pub struct Devices {
    /// What they see of its memory: one for each adapter, and one if there is no adapter.
    windows: Vec<Window>,
    /// The virtual SCSI adapters, by number.
    adapters: Vec<Adapter>,
}

impl Devices {
    /// These adapters, by number, each with a window of so many bytes, in a partition with so much memory.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub fn new(
        adapters: Vec<Adapter>,
        window_bytes: u64,
        memory_bytes: u64,
    ) -> Result<Self, NoMemory> {
        let window = |_| Window::new(window_bytes, memory_bytes);
        let windows = (0..adapters.len().max(1)).map(window).collect::<Result<_, _>>()?;
        Ok(Self { windows, adapters })
    }

    /// The adapter with this unit address.
    #[must_use]
    pub fn adapter(&self, unit: u64) -> Option<&Adapter> {
        self.adapters.get(usize::try_from(unit.checked_sub(UNIT.into())?).ok()?)
    }

    /// All adapters, by number.
    #[must_use]
    pub fn adapters(&self) -> &[Adapter] {
        &self.adapters
    }

    /// The window that the guest knows by this number (LIOBN).
    #[must_use]
    pub fn window(&self, number: u64) -> Option<&Window> {
        self.windows.get(usize::try_from(number.checked_sub(WINDOW)?).ok()?)
    }

    /// What an adapter sees of the memory.
    #[must_use]
    pub fn window_of(&self, adapter: &Adapter) -> &Window {
        &self.windows[adapter.number()]
    }

    /// Bytes of the tables of all windows.
    #[must_use]
    pub fn table_bytes(&self) -> u64 {
        self.windows.iter().map(Window::table_bytes).sum()
    }

    /// The partition starts anew. All of its vCPUs are stopped.
    pub fn reset(&self) {
        self.windows.iter().for_each(Window::clear);
        self.adapters.iter().for_each(Adapter::reset);
    }
}
