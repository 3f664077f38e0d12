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

use arch::address::RealAddress;
use arch::papr::tce::WINDOW;

use crate::boot::bundle::Description;
use crate::interrupts::source::Sources;
use crate::memory::Range;

use adapter::Adapter;
use disk::Disk;
use tce::{NoMemory, Window};

/// Numbers of one sort that a partition's tree gives to its devices: of each kind of device the first one's, which the
/// others' follow, and how many there are at most. They begin at `$least`, and those of two kinds are apart.
macro_rules! numbers {
    (
        $(#[$doc:meta])*
        $sort:ident: $least:expr, $bits:literal {
            $($(#[$of_kind:meta])* $kind:ident = $first:literal, $count:expr;)*
        }
    ) => {
        $(#[$doc])*
        pub mod $sort {
            $($(#[$of_kind])* pub const $kind: u32 = $first;)*

            const _: () = super::are_apart(&[$(($first, $count as u64)),*], $least as u64, 1 << $bits);
        }
    };
}

numbers! {
    /// Unit addresses, by which the guest names devices in its calls: 0 is a terminal too.
    unit: 1, 32 {
        /// Of virtual SCSI adapters.
        ADAPTERS = 0x3000_0000, arch::bundle::ADAPTERS_MAX;
        /// Of the terminal, which is the partition's part in the machine's console and no device of [`super::Devices`].
        TERMINAL = 0x7100_0000, 1;
    }
}

numbers! {
    /// Numbers of interrupt sources, as XIRR has them: none is the interrupt between processors.
    source: crate::interrupts::presentation::IPI + 1, 24 {
        /// Of virtual SCSI adapters.
        ADAPTERS = 0x1000, arch::bundle::ADAPTERS_MAX;
    }
}

/// Fails where a constant is made of it unless these ranges, each a first number and a count, ascend from `least` to
/// below `end` and do not overlap.
const fn are_apart(mut ranges: &[(u64, u64)], mut least: u64, end: u64) {
    while let [(first, count), others @ ..] = ranges {
        assert!(least <= *first, "the numbers of two kinds overlap, or do not ascend");
        least = *first + *count;
        assert!(least <= end, "there are no such numbers");
        ranges = others;
    }
}

/// A device, of whichever kind. Who does something with all devices goes over these.
#[derive(Clone, Copy, Debug)]
pub enum Device<'a> {
    /// A virtual SCSI adapter.
    Adapter(&'a Adapter),
}

impl Device<'_> {
    /// The number of its interrupt source.
    #[inline]
    #[must_use]
    pub const fn source(self) -> u32 {
        match self {
            Self::Adapter(adapter) => adapter.source(),
        }
    }

    /// Whether it wants to interrupt.
    #[inline]
    #[must_use]
    pub fn is_requested(self) -> bool {
        match self {
            Self::Adapter(adapter) => adapter.is_requested(),
        }
    }

    /// Its interrupt is accepted. The partition is locked.
    #[inline]
    pub fn accepted(self) {
        match self {
            Self::Adapter(adapter) => adapter.accepted(),
        }
    }
}

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

    /// Those of the partition with this LPID that is described so, in a bundle that begins at `file`, if it has any.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub fn described(
        description: &Description,
        file: RealAddress,
        lpid: u32,
    ) -> Result<Option<Self>, NoMemory> {
        let Some(window_bytes) = description.dma_window else { return Ok(None) };
        let adapters = (0..description.adapters()).map(|number| {
            let its = description.disks.iter().filter(|disk| disk.adapter == number);
            let disks = its.enumerate().map(|(target, disk)| Disk {
                range: Range::new(file.0 + disk.file_offset, disk.bytes),
                is_writable: disk.is_writable,
                serial: u64::from(lpid) << 32 | (number as u64) << 16 | target as u64,
            });
            Adapter::new(number, disks.collect(), description.vcpus as usize)
        });
        let memory_bytes = description.memory_bytes;
        Self::new(adapters.collect(), window_bytes.into(), memory_bytes).map(Some)
    }

    /// All devices, of whichever kind.
    pub fn all(&self) -> impl Iterator<Item = Device<'_>> {
        // By name, so that no kind is left out.
        let Self { windows: _, adapters } = self;
        adapters.iter().map(Device::Adapter)
    }

    /// The interrupt sources of all devices, none of which interrupts anybody yet.
    #[must_use]
    pub fn sources(&self) -> Sources {
        let mut sources = Sources::default();
        self.all().for_each(|device| sources.add(device.source()));
        sources
    }

    /// The device with this unit address, which says of which kind it is.
    #[must_use]
    pub fn unit(&self, address: u64) -> Option<Device<'_>> {
        let number = address.checked_sub(unit::ADAPTERS.into())?;
        self.adapters.get(usize::try_from(number).ok()?).map(Device::Adapter)
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
        let Self { windows, adapters } = self;
        windows.iter().for_each(Window::clear);
        adapters.iter().for_each(Adapter::reset);
    }
}
