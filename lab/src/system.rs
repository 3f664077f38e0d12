//! What a machine is started with and how a run on it ends, the same for our machine and for QEMU.

use std::fmt;

use arch::bundle::ALIGNMENT;
use simulator::platform::layout;

use crate::bundle::{self, KeptDisk, Partition, Sharing};
use crate::failure::Failure;
use crate::images::{HYPERVISOR, Images};
use crate::machine_file::MachineFile;
use crate::memory_plan::{self, NoRoom};
use crate::size::Size;

/// Everything that a machine is started with.
#[derive(Clone, Debug)]
pub struct System {
    /// What complaints about the kernel name.
    pub name: String,
    /// The file that firmware starts, as it lies on disk.
    pub kernel: Vec<u8>,
    /// A second file, for the hypervisor the bundle.
    pub initrd: Option<Vec<u8>>,
    /// Disks in it that are written to files when the machine is switched off.
    pub kept_disks: Vec<KeptDisk>,
    /// `bootargs` in the machine's `/chosen`.
    pub arguments: String,
    /// The machine. QEMU takes only the size of its memory.
    pub machine: MachineFile,
    /// Decides whatever a run on our machine leaves to chance.
    pub seed: u64,
}

impl System {
    /// The hypervisor, from the usual place, with this bundle.
    pub fn with_bundle(bundle: Vec<u8>, machine: MachineFile, seed: u64) -> Result<Self, Failure> {
        Ok(Self {
            name: HYPERVISOR.to_owned(),
            kernel: Images::find()?.hypervisor()?,
            initrd: Some(bundle),
            kept_disks: Vec::new(),
            arguments: String::new(),
            machine,
            seed,
        })
    }

    /// The hypervisor with these partitions.
    pub fn with_partitions(
        partitions: &[Partition],
        sharing: &Sharing,
        machine: MachineFile,
        seed: u64,
    ) -> Result<Self, Failure> {
        let mut system = Self::with_bundle(bundle::write(partitions, sharing)?, machine, seed)?;
        system.kept_disks = bundle::kept_disks(partitions, sharing);
        system.check_room(|index| partitions[index].memory_place.clone())?;
        Ok(system)
    }

    /// Fails if the machine has too little memory for the partitions of the bundle, of which `place` says where each
    /// was given its memory.
    pub fn check_room(&self, place: impl Fn(usize) -> String) -> Result<(), Failure> {
        let bundle = self.initrd.as_deref().unwrap_or_default();
        let bundle_bytes = bundle.len() as u64;
        if bundle_bytes > layout::INITRD_BYTES {
            let text = format!(
                "payloads and disks of the partitions have {} together; {} fit: give them smaller ones",
                Size(bundle_bytes),
                Size(layout::INITRD_BYTES)
            );
            return Err(Failure::input("the bundle", text));
        }
        let machine = self.machine.describe()?;
        let memories = bundle::memories(bundle);
        let image = Images::find()?.hypervisor_of(machine.processor())?;
        memory_plan::check(&machine, &image, bundle_bytes, &memories)
            .map_err(|NoRoom { index, text }| Failure::input(place(index), text))
    }
}

/// Checks the size of a partition's memory; the message says what would be right.
pub fn check_memory(bytes: u64) -> Result<(), &'static str> {
    match bytes {
        0 => Err("a partition needs memory; give it some, as in \"64 MiB\""),
        _ if !bytes.is_multiple_of(ALIGNMENT) => {
            Err("memory must be given in whole 64 KiB; use a multiple of \"64 KiB\"")
        }
        _ => Ok(()),
    }
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Exit {
    /// The machine was switched off by what ran on it.
    PoweredOff,
    /// The machine was asked to start over, which ends a run.
    Rebooted,
    /// The machine could not or would not go on; the report says why.
    Stopped(String),
}

impl fmt::Display for Exit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::PoweredOff => "powered off",
            Self::Rebooted => "rebooted",
            Self::Stopped(_) => "stopped",
        })
    }
}

impl Exit {
    /// Fails unless the machine was switched off in good order.
    pub fn require_power_off(&self) -> Result<(), Failure> {
        match self {
            Self::PoweredOff => Ok(()),
            Self::Rebooted => {
                Err(Failure::Run("the machine was asked to reboot, which ends the run".to_owned()))
            }
            Self::Stopped(report) => Err(Failure::Run(format!("the machine stopped\n{report}"))),
        }
    }
}
