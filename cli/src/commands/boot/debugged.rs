//! A run that gdb looks at.

use std::sync::mpsc::Receiver;

use arch::registers::msr;
use lab::history::History;
use lab::images::Images;
use lab::vcpus::Layout;
use simulator::{Input, Machine};

use crate::failure::Failure;
use crate::gdb::{self, Parting};
use crate::saved::Surroundings;

/// What gdb has beside the machine.
struct Around<'a> {
    surroundings: &'a mut Surroundings,
    /// Whoever types, if it is a person.
    typed: Option<&'a Receiver<Vec<u8>>>,
    /// The programs whose files are known.
    programs: Vec<(String, String, u64)>,
    /// Where the hypervisor has its vCPUs.
    layout: Option<Layout>,
}

impl gdb::Surroundings for Around<'_> {
    fn show(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.surroundings.screen.show(bytes)
    }

    fn typed(&mut self) -> Vec<Vec<u8>> {
        self.typed.map_or_else(Vec::new, |typed| typed.try_iter().collect())
    }

    fn partition(&self, lpid: u32) -> Option<&str> {
        let names = &self.surroundings.consoles.partitions;
        names.get((lpid as usize).checked_sub(1)?).map(String::as_str)
    }

    fn partitions(&self) -> usize {
        self.surroundings.consoles.partitions.len()
    }

    fn programs(&self) -> &[(String, String, u64)] {
        &self.programs
    }

    fn layout(&self) -> Option<&Layout> {
        self.layout.as_ref()
    }
}

/// Lets gdb run the machine. `log` is all that was typed and will be, `typed` is whoever types, if it is a person.
pub(super) fn debug(
    port: u16,
    machine: &mut Machine,
    surroundings: &mut Surroundings,
    is_little_endian: bool,
    log: Vec<Input>,
    typed: Option<&Receiver<Vec<u8>>>,
    programs: Vec<(String, String, u64)>,
) -> Result<Parting, Failure> {
    let processor = machine.state().description.processor();
    let image = || Images::find().and_then(|images| images.hypervisor_of(processor));
    let image = surroundings.has_hypervisor.then(image);
    let layout = image.and_then(Result::ok).and_then(|image| Layout::of_image(&image));
    let mut around = Around { surroundings, typed, programs, layout };
    gdb::serve(port, History::new(machine, log), is_little_endian, &mut around)
}

/// How gdb, which knows the program, takes numbers: as the ELF file `kernel` says, or as the machine runs now.
pub(super) fn is_little_endian(machine: &Machine, kernel: Option<&[u8]>) -> bool {
    /// Where an ELF file says it, and the word for little-endian.
    const DATA: (usize, u8) = (5, 1);
    match kernel {
        Some(file) if file.starts_with(b"\x7fELF") => file.get(DATA.0) == Some(&DATA.1),
        _ => machine.state().threads.iter().any(|thread| thread.msr() & msr::LE != 0),
    }
}
