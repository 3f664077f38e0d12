//! What a machine that cannot go on says: why, and where every thread is.

use std::fmt;

use arch::address::EffectiveAddress;
use arch::instruction::{Word, disassemble};
use arch::interrupt::Vector;
use arch::registers::spr::Spr;

use crate::machine::state::State;
use crate::mmu;
use crate::state::thread::{Activity, Thread};

/// A report of several lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// Why the machine stopped, in one line.
    pub reason: String,
    /// The threads and their surroundings.
    pub details: String,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "the machine stopped: {}", self.reason)?;
        f.write_str(&self.details)
    }
}

/// Instructions shown before and after the one at fault.
const AROUND: u64 = 6;

impl Report {
    /// Looks at `state`; thread `index` is the one at fault.
    #[must_use]
    pub fn new(state: &State, index: usize, reason: String) -> Self {
        let mut details = String::new();
        for thread in &state.threads {
            describe(&mut details, state, thread, thread.index == index)
                .expect("a string takes everything");
        }
        Self { reason, details }
    }
}

fn describe(
    out: &mut impl fmt::Write,
    state: &State,
    thread: &Thread,
    is_at_fault: bool,
) -> fmt::Result {
    let mark = if is_at_fault { '*' } else { ' ' };
    let pir = thread.spr(Spr::Pir);
    if thread.activity == Activity::InFirmware {
        return writeln!(out, "{mark} thread {pir:#x}: waits inside firmware");
    }
    let until = if thread.wakes_at == u64::MAX { "ever" } else { "a timer" };
    if thread.activity == Activity::Stopped {
        let psscr = thread.spr(Spr::Psscr);
        writeln!(out, "{mark} thread {pir:#x}: waits in stop, PSSCR {psscr:#x}, for {until}")?;
    }
    if thread.activity == Activity::Waiting {
        writeln!(out, "{mark} thread {pir:#x}: waits in wait, for {until}")?;
    }
    let core = &state.shared.cores[thread.core];
    writeln!(
        out,
        "{mark} thread {pir:#x}: CIA {:#018x} MSR {:#018x} after {} instructions",
        thread.cia,
        thread.msr(),
        thread.completed,
    )?;
    for row in (0..32).collect::<Vec<_>>().chunks(4) {
        write!(out, "   ")?;
        for &number in row {
            write!(out, " r{number:<2} {:#018x}", thread.gpr[number])?;
        }
        writeln!(out)?;
    }
    writeln!(
        out,
        "    CR {:#010x} XER {:#x} LR {:#x} CTR {:#x}",
        thread.cr, thread.xer, thread.lr, thread.ctr
    )?;
    let shown = [
        [Spr::Srr0, Spr::Srr1, Spr::Dar, Spr::Dsisr],
        [Spr::Hsrr0, Spr::Hsrr1, Spr::Hdar, Spr::Hdsisr],
        [Spr::Lpcr, Spr::Lpidr, Spr::Pidr, Spr::Asdr],
        [Spr::Heir, Spr::Hfscr, Spr::Hsprg0, Spr::Hsprg1],
    ];
    for row in shown {
        write!(out, "   ")?;
        for spr in row {
            write!(out, " {} {:#x}", spr.name(), thread.spr(spr))?;
        }
        writeln!(out)?;
    }
    for exit in &thread.last_exits {
        let name = Vector::from_offset(exit.vector).map_or("unknown", Vector::name);
        writeln!(
            out,
            "    exit {:#05x} {name} at {:#018x} after {} instructions",
            exit.vector, exit.address, exit.completed
        )?;
    }
    writeln!(out, "    PTCR {:#x} HID0 {:#x}", core.spr(Spr::Ptcr), core.spr(Spr::Hid0))?;
    code(out, state, thread)
}

/// The instructions around CIA, read without side effects.
fn code(out: &mut impl fmt::Write, state: &State, thread: &Thread) -> fmt::Result {
    let here = thread.cia & !3;
    match mmu::look(thread, &state.shared, EffectiveAddress(here), mmu::Access::Fetch) {
        Some(real) => writeln!(out, "    CIA is real address {real}")?,
        None => return writeln!(out, "    CIA has no translation"),
    }
    for step in 0..=2 * AROUND {
        let address = here.wrapping_add(4 * step).wrapping_sub(4 * AROUND);
        let place = mmu::look(thread, &state.shared, EffectiveAddress(address), mmu::Access::Fetch);
        let Some(offset) = place.and_then(|real| state.shared.memory.locate(real)) else {
            continue;
        };
        let bytes = state.shared.memory.read(offset);
        let word = Word(if thread.is_little_endian() {
            u32::from_le_bytes(bytes)
        } else {
            u32::from_be_bytes(bytes)
        });
        let mark = if address == here { "=>" } else { "  " };
        writeln!(
            out,
            "    {mark} {address:#018x}: {:08x}  {}",
            word.0,
            disassemble(word, address)
        )?;
    }
    Ok(())
}
