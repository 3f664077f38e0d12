//! Which functions the compiler has put into others: what a program's debug information says of an address.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use addr2line::Context;
use gimli::{Dwarf, EndianArcSlice, RunTimeEndian, SectionId};
use object::{Object, ObjectSection};

type Reader = EndianArcSlice<RunTimeEndian>;

/// Longer debug information is left alone: it is a whole kernel's.
const LONGEST: u64 = 64 << 20;

/// A program's debug information.
#[derive(Clone)]
pub(super) struct Inlined(Arc<Mutex<State>>);

enum State {
    /// As the file has it; most runs never ask.
    Unread(Box<Dwarf<Reader>>),
    Read(Box<Context<Reader>>),
    /// There is none that can be understood.
    Nothing,
}

impl Inlined {
    /// That of a file, unless it is longer than 64 MiB.
    pub(super) fn of(file: &object::File<'_>) -> Self {
        let is_debug = |section: &object::Section<'_, '_>| {
            section.name().is_ok_and(|name| name.starts_with(".debug_"))
        };
        let bytes: u64 = file.sections().filter(is_debug).map(|section| section.size()).sum();
        if bytes > LONGEST {
            return Self::default();
        }
        let endian =
            if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let load = |id: SectionId| {
            let section = file.section_by_name(id.name());
            let data = section.and_then(|section| section.data().ok()).unwrap_or_default();
            Ok::<_, gimli::Error>(Reader::new(data.into(), endian))
        };
        let state = Dwarf::load(load).map(|dwarf| State::Unread(Box::new(dwarf)));
        Self(Arc::new(Mutex::new(state.unwrap_or(State::Nothing))))
    }

    /// The functions that the compiler has put, one into the other, into the function at this address of the file, the
    /// outermost first.
    pub(super) fn at(&self, address: u64) -> Vec<String> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *state = match std::mem::replace(&mut *state, State::Nothing) {
            State::Unread(dwarf) => Context::from_dwarf(*dwarf)
                .map_or(State::Nothing, |context| State::Read(Box::new(context))),
            read => read,
        };
        let State::Read(context) = &*state else { return Vec::new() };
        let Ok(mut frames) = context.find_frames(address).skip_all_loads() else {
            return Vec::new();
        };
        let mut names = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            let name = frame.function.as_ref().and_then(|function| function.raw_name().ok());
            names.push(format!("{:#}", rustc_demangle::demangle(&name.unwrap_or_default())));
        }
        // The last one is the function itself, which has a symbol.
        names.pop();
        names.reverse();
        names
    }
}

impl Default for Inlined {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(State::Nothing)))
    }
}

impl fmt::Debug for Inlined {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Inlined").finish_non_exhaustive()
    }
}

/// A function's own name, without where it is and what it was made for.
pub(super) fn short(name: &str) -> String {
    let (mut depth, mut before) = (0_u32, ' ');
    let mut outside = String::new();
    for letter in name.chars() {
        match letter {
            '<' => depth += 1,
            '>' if before != '-' => depth = depth.saturating_sub(1),
            _ if depth == 0 => outside.push(letter),
            _ => {}
        }
        before = letter;
    }
    let outside = outside.trim_end_matches("::");
    outside.rsplit("::").next().unwrap_or(outside).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Inlined, short};

    #[test]
    fn a_function_is_called_by_its_own_name() {
        for (name, expected) in [
            ("hal::registers::read::<268>", "read"),
            ("<spin::mutex::ticket::TicketMutex<u64, Aside>>::lock", "lock"),
            ("<hal::Machine as hypervisor_core::hal::Platform>::timebase", "timebase"),
            ("<T>::map::<fn(u8) -> <u8 as A>::B>", "map"),
            ("hypervisor_core::run::{closure#0}", "{closure#0}"),
            ("memset", "memset"),
            ("", ""),
        ] {
            assert_eq!(short(name), expected, "{name}");
        }
    }

    #[test]
    fn without_debug_information_nothing_is_inlined() {
        assert_eq!(Inlined::default().at(0), [""; 0]);
    }
}
